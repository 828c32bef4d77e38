"""The expression language: what it means, what it refuses, and that it never runs code."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from posewright.charts import BoolType, EnumType, FloatType, IntType, Scope, parse_expression
from posewright.charts.checks.guard_gaps import find_change_points
from posewright.charts.expression import format_tree
from posewright.charts.reachability import Domain
from posewright.errors import ExpressionError

from .work import counted

MODE = EnumType(("slow", "fast"))
SCOPE = Scope(
    {"front": BoolType(), "left": BoolType(), "n": IntType(-9, 9), "d": FloatType(), "mode": MODE},
    {"near": 0.5, "three": 3},
    {"slow": MODE, "fast": MODE},
)
INT_HIGH = 2**31 - 1

Meaning = Callable[[dict[str, Any]], Any]
Phrase = tuple[str, Meaning]


def value(text: str, **names: Any) -> Any:
    return parse_expression(text, SCOPE).evaluate(names)


def join(left: Phrase, word: str, right: Phrase, apply: Callable[[Any, Any], Any]) -> Phrase:
    return f"({left[0]} {word} {right[0]})", lambda env: apply(left[1](env), right[1](env))


def choose(phrases: tuple[Phrase, Phrase, Phrase]) -> Phrase:
    then, condition, other = phrases
    return (
        f"({then[0]} if {condition[0]} else {other[0]})",
        lambda env: then[1](env) if condition[1](env) else other[1](env),
    )


NUMBERS: st.SearchStrategy[Phrase] = st.deferred(
    lambda: (
        st.integers(0, 9).map(lambda i: (str(i), lambda _env: i))
        | st.just(("n", lambda env: env["n"]))
        | st.just(("d", lambda env: env["d"]))
        | st.tuples(NUMBERS, NUMBERS).map(lambda p: join(p[0], "+", p[1], lambda a, b: a + b))
        | st.tuples(NUMBERS, NUMBERS).map(lambda p: join(p[0], "-", p[1], lambda a, b: a - b))
        | NUMBERS.map(lambda p: (f"abs({p[0]})", lambda env: abs(p[1](env))))
        | NUMBERS.map(lambda p: (f"-{p[0]}", lambda env: -p[1](env)))
        | st.tuples(NUMBERS, TRUTHS, NUMBERS).map(choose)
        | st.tuples(NUMBERS, NUMBERS).map(
            lambda p: (f"max({p[0][0]}, {p[1][0]})", lambda env: max(p[0][1](env), p[1][1](env)))
        )
    )
)
TRUTHS: st.SearchStrategy[Phrase] = st.deferred(
    lambda: (
        st.just(("front", lambda env: env["front"]))
        | st.just(("left", lambda env: env["left"]))
        | st.tuples(NUMBERS, NUMBERS).map(lambda p: join(p[0], "<", p[1], lambda a, b: a < b))
        | st.tuples(NUMBERS, NUMBERS).map(lambda p: join(p[0], "!=", p[1], lambda a, b: a != b))
        | st.tuples(TRUTHS, TRUTHS).map(lambda p: join(p[0], "and", p[1], lambda a, b: a and b))
        | st.tuples(TRUTHS, TRUTHS).map(lambda p: join(p[0], "or", p[1], lambda a, b: a or b))
        | TRUTHS.map(lambda p: (f"(not {p[0]})", lambda env: not p[1](env)))
        | st.tuples(TRUTHS, TRUTHS, TRUTHS).map(choose)
    )
)
ENVS = st.fixed_dictionaries(
    {
        "front": st.booleans(),
        "left": st.booleans(),
        "n": st.integers(-9, 9),
        "d": st.sampled_from([-1.5, 0.0, 2.25]),
    }
)


@settings(max_examples=80, deadline=None)
@given(TRUTHS, ENVS)
def test_an_expression_means_what_it_says(phrase: Phrase, env: dict[str, Any]) -> None:
    text, meaning = phrase
    assume(len(text) < 1500)
    assert parse_expression(text, SCOPE).evaluate(env) == meaning(env)


@settings(max_examples=50, deadline=None)
@given(TRUTHS)
def test_a_tree_is_printed_as_text_that_parses_to_it_again(phrase: Phrase) -> None:
    assume(len(phrase[0]) < 1500)
    tree = parse_expression(phrase[0], SCOPE).tree
    text = format_tree(tree)
    assert parse_expression(text, SCOPE).tree == tree
    assert text.count("(") <= phrase[0].count("(")


@settings(max_examples=120, deadline=None)
@given(st.text("abdn frontlef()<>=!+-*/%,.0123456789eé'\"[]{}&|_", max_size=40))
def test_no_text_does_anything_but_parse_or_be_refused(text: str) -> None:
    with contextlib.suppress(ExpressionError):
        parse_expression(text, SCOPE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("-2 * 3", -6),
        ("2 - 3 - 4", -5),
        ("7 % 3", 1),
        ("-7 % 3", 2),
        ("7 / 2", 3.5),
        ("near + three", 3.5),
        ("not true or true", True),
        ("not (true or true)", False),
        ("not 1 > 2", True),
        ("true or false and false", True),
        ("min(4, 2.5, 3)", 2.5),
        ("1e-3 < .5", True),
        ("slow == fast", False),
        ("1 if true else 2 + 5", 1),
        ("1 + 2 if false else 5", 5),
        ("1 if false else 2 if true else 3", 2),
        ("(1 if true else 2) if false else 3", 3),
        ("1 if false or true else 2", 1),
        ("not true if true else true", False),
        ("2 * (3 if 1 < 2 else 4)", 6),
        ("max(1 if false else 2, 1)", 2),
        ("fast == (slow if false else fast)", True),
    ],
)
def test_operators_bind_as_they_do_on_paper(text: str, expected: object) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{INT_HIGH} + 1", INT_HIGH),
        (f"-{INT_HIGH} - 5", -INT_HIGH - 1),
        (f"{INT_HIGH} * {INT_HIGH}", INT_HIGH),
        (f"-{INT_HIGH} * {INT_HIGH}", -INT_HIGH - 1),
        ("2000000000 * 2 < 4e9", True),
        ("min(2000000000, 2.5e9) * 2 == 4e9", True),
    ],
)
def test_whole_numbers_saturate_at_32_bits_and_fractions_do_not(text: str, expected: object) -> None:
    assert value(text) == expected


def test_a_guard_may_ask_before_it_divides() -> None:
    assert value("n != 0 and 1 / n > 0", n=0) is False
    with pytest.raises(ExpressionError, match=r"1:3: division by zero.*test the divisor first"):
        value("1 / n > 0", n=0)
    with pytest.raises(ExpressionError, match="division by zero"):
        value("1 / n > 0 or n < 5", n=0)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("frnt", 1, "did you mean front"),
        ("front + 1 > 2", 1, "needs a number"),
        ("n and front", 1, "needs a truth value"),
        ("front and n == 1 and n", 22, "needs a truth value"),
        ("front == 1", 7, "a truth value is a condition already"),
        ("0 < n < 5", 7, "do not chain"),
        ("n = 2", 3, "write =="),
        ("front && left", 7, "write and"),
        ("!front", 1, "write not"),
        ("front left", 7, "join two conditions"),
        ("front and", 10, "found the end"),
        ("(front", 7, "expected )"),
        ("sqrt(n)", 1, "no function sqrt"),
        ("abs(n, n)", 1, "takes one value"),
        ("min(n)", 1, "two or more values"),
        ("mode == n", 6, "a name with a number"),
        ("mode < fast", 1, "needs a number, not a name"),
        ("99999999999 > n", 1, "too large"),
        ("d > 1e999", 5, "too large"),
        ("1.2.3 > n", 1, "not a valid number"),
        ("front AND left", 7, "expected the end"),
        ("__import__('os')", 12, "not part of the language"),
        ("d.real > 1", 2, "not a valid number"),
        ("n ** 2", 4, "expected a value"),
        ("n if front", 11, "expected else"),
        ("n if front else", 16, "expected a value, found the end"),
        ("if front else n", 1, "expected a value, found if"),
        ("n if d else 2", 6, "`if` needs a truth value"),
        ("n if front else left", 3, "`if` chooses between a number and a truth value"),
        ("mode if front else n", 6, "`if` chooses between a name and a number"),
        ("front IF left ELSE front", 7, "expected the end"),
        ("abs", 1, "`abs` is a function"),
        ("abs() > 2", 1, "takes one value"),
        ("n > 2 front", 7, "two values are joined with an operator"),
    ],
)
def test_what_is_wrong_is_said_with_its_column(text: str, column: int, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_expression(text, SCOPE)
    assert message in str(caught.value)
    assert caught.value.where is not None
    assert caught.value.where.column == column


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "front" + ")" * 5000,
        "not " * 490 + "front",
        " and ".join(["front"] * 300),
        "front if left else " * 100 + "front",
        "(front if left else " * 99 + "front" + ")" * 99,
        "(" * 90 + "+".join(["n"] * 90) + "".join(")" + "+n" * 5 for _ in range(90)) + " > 1",
        "x" * 1_000_000,
    ],
    ids=["brackets", "nots", "chain", "choices", "choices in brackets", "both", "letters"],
)
def test_depth_and_length_are_bounded(text: str) -> None:
    with counted() as work, pytest.raises(ExpressionError, match=r"deeper|levels|longer"):
        parse_expression(text, SCOPE)
    assert work.calls < 100_000


def test_only_the_way_that_is_taken_divides() -> None:
    careful = parse_expression("0 if n == 0 else 1 / n", SCOPE)
    assert [careful.evaluate({"n": n}) for n in (0, 4)] == [0, 0.25]
    assert value("1 / n if n == 0 else 0", n=4) == 0
    with pytest.raises(ExpressionError, match="division by zero"):
        value("1 / n if n == 0 else 0", n=0)


def test_a_choice_of_a_whole_number_and_a_fraction_is_a_fraction() -> None:
    chosen = parse_expression("n if front else d", SCOPE)
    assert chosen.type == FloatType()
    assert type(chosen.evaluate({"n": 3, "d": 0.5, "front": True})) is float
    assert value("(2000000000 if front else d) * 2", front=True, d=0.5) == 4e9


def test_zero_and_one_are_truth_values_also_where_one_of_them_is_chosen() -> None:
    assert parse_expression("1 if n > 2 else 0", SCOPE, BoolType()).evaluate({"n": 3}) is True


def test_an_expression_takes_another_tree_and_keeps_its_text() -> None:
    guard = parse_expression("front and left", SCOPE)
    other = guard.with_tree(parse_expression("front", SCOPE).tree)
    assert (str(other), other.names, guard.names) == ("front and left", {"front"}, {"front", "left"})


def test_expressions_are_equal_whatever_their_spaces_and_brackets() -> None:
    assert parse_expression("front and(left)", SCOPE) == parse_expression("front  and left", SCOPE)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("d > 2", {2}),
        ("2 * d + 1 <= near", {-0.25}),
        ("abs(d) > 10", {-10, 10}),
        ("abs(d - 3) > abs(d)", {1.5}),
        ("min(d, 5) > 4", {4}),
        ("max(d, 5) > 4", set()),
        ("d / 4 == three", {12}),
        ("(d if front else 2 * d) > 3", {3, 1.5}),
        ("(d if d > 2 else 5) > 3", {2, 3}),
        ("min(d, 8 if left else 9) > (4 if front else near)", {4, 0.5}),
        ("single(d) + 1 > 3", {2}),
        ("d * d > 4", {-2, 2}),
        ("d > n", {0}),
    ],
)
def test_a_comparison_changes_at_its_critical_values(text: str, places: set[float]) -> None:
    types = {"front": BoolType(), "left": BoolType(), "n": IntType(-9, 9), "d": FloatType(-1e3, 1e3)}
    axis, found = Domain(types["d"]), find_change_points([parse_expression(text, SCOPE)], "d", types)
    inside = {at for at in found if axis.full_set[0][0] < at <= axis.full_set[0][1]}
    assert {round(float(axis.value_at(at)), 6) for at in inside} == places
