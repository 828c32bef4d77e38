"""Proof: what is called impossible never happens, what is called possible comes with a case that is so."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import BoolType, EnumType, Expression, FloatType, IntType, Scope, parse_expression
from posewright.charts.expression import Binary, If, Literal, Name, Operator, join_cases
from posewright.charts.proof import (
    ArithmeticOperation,
    DividesByZero,
    Effort,
    Holds,
    OutOfRange,
    ProofClaim,
    Prover,
    ProverAnswer,
    Saturates,
    compute_value,
    operations_in,
)
from posewright.charts.types import INT_HIGH, INT_LOW
from posewright.errors import InputError, MissingExtraError, UnknownNameError

MODE = EnumType(("slow", "fast", "mad"))
TYPES = {
    "near": BoolType(),
    "left": BoolType(),
    "mode": MODE,
    "few": IntType(0, 9),
    "n": IntType(-(2**15), 2**15 - 1),
    "k": IntType(),
    "heading": FloatType(-180.0, 180.0),
    "detour": FloatType(-180.0, 180.0),
    "wall": FloatType(0.0, 5.0),
    "door": FloatType(0.0, 5.0),
    "open": FloatType(),
    "wide": FloatType(),
    "s": FloatType(-10.0, 10.0, single=True),
}
SCOPE = Scope(TYPES, {"tol": 18, "top": INT_HIGH - 7}, dict.fromkeys(MODE.values, MODE))


def exp(text: str) -> Expression:
    return parse_expression(text, SCOPE)


def asked(true: Sequence[str] = (), false: Sequence[str] = (), failing: Sequence[str] = ()) -> ProverAnswer:
    parts = [[exp(text) for text in texts] for texts in (true, false, failing)]
    answer = Prover(TYPES).satisfiable(true=parts[0], false=parts[1], failing=parts[2])
    if answer.case is not None:
        seen = [[compute_value(one, answer.case) for one in part] for part in parts]
        assert set(seen[0]) <= {True}
        assert set(seen[1]) <= {False}
        assert set(seen[2]) <= {None}
    return answer


Found = list[tuple[ArithmeticOperation, ProverAnswer]]


def divisions(prover: Prover, expression: Expression) -> Found:
    """Return the divisions that can be reached with a divisor of zero, and those not decided."""
    operations = [operation for operation in operations_in(expression.tree) if operation.is_division]
    answers = [(operation, prover.solve([DividesByZero(expression, operation)])) for operation in operations]
    return [(operation, answer) for operation, answer in answers if answer.possible is not False]


def saturations(prover: Prover, expression: Expression, *given: ProofClaim) -> Found:
    """Return the operations whose exact value can need more than 32 bits, and those not decided."""
    answers = [
        (operation, prover.solve([*given, Saturates(expression, operation)]))
        for operation in operations_in(expression.tree)
    ]
    return [(operation, answer) for operation, answer in answers if answer.possible is not False]


# needles: cases that sampling misses


@pytest.mark.parametrize(
    ("true", "false", "case"),
    [
        (["n == 12345", "n >= 12345"], [], {"n": 12345}),
        ([], ["n < 777", "n > 777"], {"n": 777}),
        ([], ["heading < 0.1", "heading > 0.1"], {"heading": 0.1}),
        (["heading <= 0.5", "heading >= 0.5"], [], {"heading": 0.5}),
        (["n * n == 12321", "n > 0"], [], {"n": 111}),
        (["k + 1 == k"], [], {"k": INT_HIGH}),
        (["-k == k", "k < 0"], [], None),
        (["abs(k) == 2147483647", "k + 2147483647 < 0"], [], {"k": INT_LOW}),
        (["n * 0.1 == 0.30000000000000004"], [], {"n": 3}),
        (["s > 0.1"], ["s >= 0.10000000894069672"], None),
        (["few / 2 == 3.5"], [], {"few": 7}),
        (
            ["mode == fast", "few == 4", "near"],
            ["left"],
            {"near": True, "left": False, "mode": "fast", "few": 4},
        ),
    ],
)
def test_a_case_at_a_single_value_is_found(
    true: list[str], false: list[str], case: Mapping[str, Any] | None
) -> None:
    answer = asked(true, false)
    assert answer.case == case
    assert answer.possible is (case is not None)


@pytest.mark.parametrize(
    "true",
    [
        ["n == 12345", "n < 12345"],
        ["heading < detour - tol", "heading > detour + tol"],
        ["open < wide - 0.1", "open > wide + 0.1"],
        ["open - wide > 0.1", "open - wide < 0.05"],
        ["heading - detour > 0", "heading <= detour"],
        ["heading + 1e-9 == heading"],
        ["abs(heading - detour) < 0.1", "abs(heading - detour) > 0.2"],
        ["abs(heading) + abs(detour) < 1", "heading + detour > 1"],
        ["max(heading, detour) < min(heading, detour)"],
        ["wall * door > 10", "wall < 5", "door < 1.99"],
        ["heading * heading + detour * detour < 1", "heading + detour > 1.5"],
        ["wall / door > 10", "wall < 5", "door >= 0.5"],
        ["n % 7 == 3", "n % 7 == 4"],
        ["heading % 360 < 0"],
        ["k + 1 < k"],
        ["n * 0.1 == 0.3"],
        ["few * 0.5 > 4.5"],
        ["n * few == 12347", "few > 1"],
        ["s > 0.1", "s < 0.1000000015"],
        ["s * s < 0"],
        ["wall * wall == 2"],
        ["open / 0.3 == 7", "near"],
        ["(heading if near else detour) > 3", "heading < 3", "detour < 3"],
    ],
)
def test_what_cannot_be_is_proved(true: list[str]) -> None:
    assert asked(true).possible is False


@pytest.mark.parametrize(
    "true",
    [
        ["n % 7 == 3", "n > 30000"],
        ["n * k > 100000", "n > 3", "k > 5"],
        ["heading + 0.1 == 0.3"],
        ["heading * 3 == detour", "heading * 3 > 1"],
        ["wall * door == 10.0", "door < 3.99"],
        ["heading % 360 == 360"],
        ["open % 7 == 3", "open > 1e10"],
        ["wall + 1e-18 == wall", "wall > 0"],
        ["heading * heading + detour * detour < 1", "heading + detour > 1.3"],
        ["s * 3 > 14.9", "s < 4.97"],
        ["open - wide > 1e308"],
        ["heading - detour > 0.1", "heading <= detour + 0.1"],
        ["heading * 3.0 != detour", "heading == detour / 3"],
    ],
)
def test_what_can_be_is_shown(true: list[str]) -> None:
    assert asked(true).possible is True


def test_a_remainder_may_round_up_to_the_divisor_itself() -> None:
    case = asked(["heading % 360 == 360"]).case
    assert case is not None
    assert -1e-10 < case["heading"] < 0  # type: ignore[operator]


def test_cases_are_plain() -> None:
    case = asked(["n > 10", "heading > 0.1"], ["mode == mad"]).case
    assert case == {"mode": "slow", "n": 11, "heading": 1.0}
    assert asked(["wall > 0.1", "wall < 0.25"]).case == {"wall": 0.2}


def test_the_same_question_has_the_same_answer() -> None:
    question = ["heading < detour - tol", "n % 7 == 3", "wall * door > 3"]
    assert asked(question) == asked(question)


# division by zero


@pytest.mark.parametrize(
    ("text", "possible"),
    [
        ("n / few > 2", True),
        ("few != 0 and n / few > 2", False),
        ("few == 0 or n / few > 2", False),
        ("not (few > 1 and n / few > 2)", False),
        ("near and n / few > 2", True),
        ("(0 if few == 0 else n / few) > 2", False),
        ("(n / few if few < 1 else 0.0) > 2", True),
        ("n % (few + 1) == 0", False),
        ("wall / (door - wall) > 1", True),
        ("1 / (few - 0.1) > 0", False),
    ],
)
def test_a_division_counts_only_where_it_is_reached(text: str, possible: bool) -> None:
    assert asked(failing=[text]).possible is possible
    found = divisions(Prover(TYPES), exp(text))
    assert bool(found) is possible
    for operation, answer in found:
        assert isinstance(operation.tree, Binary)
        assert text[operation.tree.offset] in "/%"
        assert answer.case is not None
        assert compute_value(exp(text), answer.case) is None


def test_what_holds_is_computed_without_a_division_by_zero() -> None:
    answer = asked(["n / few > 2 or n / few <= 2"], failing=["1 / (few - 1) > 0"])
    assert answer.case is not None
    assert answer.case["few"] == 1
    assert asked(["n / few > 2 or n / few <= 2", "few == 0"]).possible is False


# numbers that leave 32 bits, or a range


def test_the_step_that_leaves_32_bits_is_named() -> None:
    text = "n * 65536 + (k - 1) > 0"
    found = saturations(Prover(TYPES), exp(text))
    assert [text[operation.tree.offset] for operation, _ in found] == ["-", "+"]
    for _, answer in found:
        assert answer.case is not None


def test_a_guard_keeps_a_number_within_32_bits() -> None:
    prover, step = Prover(TYPES), exp("k + few")
    assert saturations(prover, step)
    assert not saturations(prover, step, Holds(exp("k < 1000")))
    assert not saturations(prover, step, Holds(exp("k >= 1000"), expected=False))
    assert not saturations(prover, exp("(k + few if k < 1000 else 1000) > 3"))


def test_a_value_outside_its_range_is_found() -> None:
    prover = Prover(TYPES)
    assert prover.solve([OutOfRange(exp("few + 1"), 0, 9)]).case == {"few": 9}
    assert prover.solve([Holds(exp("few < 9")), OutOfRange(exp("few + 1"), 0, 9)]).possible is False
    assert prover.solve([OutOfRange(exp("wall * 0.2"), 0.0, 1.0)]).possible is False
    assert prover.solve([OutOfRange(exp("open * 2"), -1.7e308, 1.7e308)]).possible is True
    assert prover.solve([OutOfRange(exp("min(max(n, 0), 9)"), 0, 9)]).possible is False


def test_two_expressions_of_one_meaning_never_differ() -> None:
    assert asked(["(not (near and left)) != (not near or not left)"]).possible is False
    assert asked(["abs(n) != (n if n > 0 else -n)"]).possible is False
    assert asked(["abs(n) != (n if n > 1 else -n)"]).case == {"n": 1}
    assert asked(["heading + 0.1 + 0.2 != heading + (0.1 + 0.2)"]).possible is True


# what a prover does not do


def test_too_little_effort_is_said_not_guessed() -> None:
    prover = Prover(TYPES, Effort(max_steps_per_question=1))
    hard = exp("heading * detour == 7.3 and heading + detour == 11.7")
    assert prover.satisfiable(true=[hard]).possible is None


def test_a_long_chain_of_choices_is_no_burden() -> None:
    cases = [(Binary(Operator.EQUAL, Name("n"), Literal(7 * i)), Literal(i % 3)) for i in range(600)]
    table = join_cases(cases, Literal(5))
    assert isinstance(table, If)
    two = Expression(Binary(Operator.EQUAL, table, Literal(2)), BoolType())
    case = Prover(TYPES).satisfiable(true=[two]).case
    assert case is not None
    assert two.evaluate(case)
    beyond = Expression(Binary(Operator.GREATER, table, Literal(5)), BoolType())
    assert Prover(TYPES).satisfiable(true=[beyond]).possible is False


def test_a_name_without_a_type_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="wal"):
        Prover({"wall": FloatType()}).satisfiable(true=[Expression(Name("wal"), BoolType())])


def test_a_question_of_time_is_refused() -> None:
    timed = parse_expression("in(walking) or near", Scope(TYPES, states=frozenset({"walking"})))
    with pytest.raises(InputError, match="lower"):
        Prover(TYPES).satisfiable(true=[timed])


def test_constants_are_what_each_expression_says() -> None:
    prover, tree = Prover(TYPES), exp("few > 3").tree
    held = [Expression(tree, BoolType(), constant_values={"few": value}) for value in (3, 4)]
    assert [prover.satisfiable(true=[one]).possible for one in held] == [False, True]


def test_without_the_solver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bitwuzla", None)
    prover = Prover(TYPES)
    assert prover.satisfiable(true=[exp("near and few > 3")]).possible
    with pytest.raises(MissingExtraError, match=r"posewright\[charts\]"):
        prover.satisfiable(true=[exp("heading > 3")])


def test_the_solver_is_loaded_only_when_it_is_needed() -> None:
    code = "import sys, posewright.charts.proof; sys.exit('bitwuzla' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603 -- our own words


# the answers are those of trying everything

SMALL = {
    "a": IntType(-4, 4),
    "b": IntType(-4, 4),
    "p": BoolType(),
    "mode": MODE,
}
SMALL_SCOPE = Scope(SMALL, {"top": INT_HIGH - 7}, dict.fromkeys(MODE.values, MODE))
EVERYTHING = [
    dict(zip(SMALL, values, strict=True))
    for values in product(range(-4, 5), range(-4, 5), (False, True), MODE.values)
]


def joined(operands: st.SearchStrategy[str], words: str) -> st.SearchStrategy[str]:
    return st.tuples(operands, st.sampled_from(words.split()), operands).map(
        lambda p: f"({p[0]} {p[1]} {p[2]})"
    )


ATOMS = st.sampled_from(["a", "b", "a", "b", "0", "1", "2", "3", "0.5", "0.1", "top", "2147483647"])


def numbers(levels: int) -> st.SearchStrategy[str]:
    if levels == 0:
        return ATOMS
    inner, truth = numbers(levels - 1), truths(levels - 1)
    return st.one_of(
        ATOMS,
        joined(inner, "+ - * / %"),
        inner.map(lambda x: f"abs({x})"),
        inner.map(lambda x: f"(-{x})"),
        st.tuples(inner, inner).map(lambda p: f"max({p[0]}, {p[1]})"),
        st.tuples(inner, truth, inner).map(lambda p: f"({p[0]} if {p[1]} else {p[2]})"),
    )


def truths(levels: int) -> st.SearchStrategy[str]:
    plain = st.sampled_from(["p", "mode == fast", "mode != slow"])
    if levels == 0:
        return plain | joined(ATOMS, "< <= > >= == !=")
    inner = truths(levels - 1)
    compared = joined(numbers(levels - 1), "< <= > >= == !=")
    return st.one_of(plain, compared, joined(inner, "and or"), inner.map(lambda x: f"(not {x})"))


def small(text: str) -> Expression:
    return parse_expression(text, SMALL_SCOPE)


TWO = st.tuples(truths(3), truths(3))


@settings(max_examples=40, deadline=None)
@given(TWO, st.sampled_from([0, 500]))
def test_conditions_are_met_as_trying_everything_says(texts: tuple[str, str], combinations: int) -> None:
    one, other = map(small, texts)
    seen = {(compute_value(one, case), compute_value(other, case)) for case in EVERYTHING}
    prover = Prover(SMALL, Effort(max_combinations=combinations))
    asked_of = {
        (True, True): prover.satisfiable(true=[one, other]),
        (True, False): prover.satisfiable(true=[one], false=[other]),
        (False, None): prover.satisfiable(false=[one], failing=[other]),
    }
    for wanted, answer in asked_of.items():
        assert answer.possible in (None, wanted in seen)
        if answer.case is not None:
            assert (compute_value(one, answer.case), compute_value(other, answer.case)) == wanted


@settings(max_examples=30, deadline=None)
@given(truths(1), numbers(3))
def test_numbers_go_wrong_where_trying_everything_says(guard: str, text: str) -> None:
    when, value = small(guard), small(text)
    cases = [case for case in EVERYTHING if compute_value(when, case) is True]
    prover = Prover(SMALL, Effort(max_combinations=0))
    values = [compute_value(value, case) for case in cases]
    outside = any(one is not None and not -4 <= one <= 4 for one in values)
    assert prover.solve([Holds(when), OutOfRange(value, -4, 4)]).possible in (None, outside)
    for operation in operations_in(value.tree):
        for claim in (
            Saturates(value, operation),
            *([DividesByZero(value, operation)] if operation.is_division else ()),
        ):
            wrong = any(claim.holds_in(case) for case in cases)
            assert prover.solve([Holds(when), claim]).possible in (None, wrong)


FRACTIONS = st.sampled_from(["x", "y", "s", "n", "0.1", "3.0", "1e16", "-0.5"])
SUMS = joined(FRACTIONS, "+ - * +") | FRACTIONS | joined(joined(FRACTIONS, "+ - *"), "+ -")
FLOATS = {
    "x": FloatType(-180.0, 180.0),
    "y": FloatType(),
    "s": FloatType(-5.0, 5.0, single=True),
    "n": IntType(-100, 100),
}
SPECIAL = [0.0, 0.1, -0.1, 0.3, 0.5, 1.0, -1.0, 3.0, 1e16, 180.0, 5e-324, 1.7e308, -1.7e308, 0.1 + 0.2]


@settings(max_examples=25, deadline=None)
@given(
    joined(SUMS, "< <= > >= == !="),
    joined(SUMS, "< <= > >= == !="),
    st.lists(st.tuples(*[st.sampled_from(SPECIAL) | st.floats(-200, 200)] * 4), min_size=20, max_size=20),
)
def test_no_case_is_met_that_was_called_impossible(
    one: str, other: str, tried: list[tuple[float, ...]]
) -> None:
    scope = Scope(FLOATS)
    both = [parse_expression(text, scope) for text in (one, other)]
    answer = Prover(FLOATS, Effort(max_steps_per_question=20_000)).satisfiable(true=both)
    if answer.possible:
        assert all(one.evaluate(answer.case) for one in both)
    if answer.possible is not False:
        return
    for values in tried:
        case = {name: kind.clamp(value) for (name, kind), value in zip(FLOATS.items(), values, strict=True)}
        assert not all(one.evaluate(case) for one in both)
