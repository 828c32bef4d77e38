"""The solver computes as the interpreter does, to the last bit; what it leaves open is not called decided."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import BoolType, Expression, FloatType, IntType, Scope, Value, parse_expression
from posewright.charts.expression import Binary, Function, FunctionRow, Literal, Name, Operator, Tree
from posewright.charts.proof import (
    Effort,
    Fails,
    Holds,
    OutOfRange,
    ProofClaim,
    Prover,
    Saturates,
    compute_value,
    operations_in,
)
from posewright.charts.types import INT_HIGH, INT_LOW, Type

TYPES: dict[str, Type] = {
    "x": FloatType(),
    "y": FloatType(),
    "h": FloatType(-180.0, 180.0),
    "s": FloatType(single=True),
    "t": FloatType(-5.0, 5.0, single=True),
    "n": IntType(-100, 100),
    "k": IntType(),
    "p": BoolType(),
    "far": FloatType(0.0, 5.0, unit="m"),
}


def _table(name: str, rows: list[tuple[str, str]]) -> Function:
    takes = {"v": IntType(-9, 9)}
    inner = Scope(takes)
    found = [FunctionRow(parse_expression(when, inner), parse_expression(give, inner)) for when, give in rows]
    return Function(name, takes, FloatType(), tuple(found))


TURN = _table("turn", [("v < 0", "0.1"), ("v == 0", "v / 4"), ("true", "v * 2.5")])
SCOPE = Scope(TYPES, functions={"turn": TURN})


def _joined(operands: st.SearchStrategy[str], words: str) -> st.SearchStrategy[str]:
    return st.tuples(operands, st.sampled_from(words.split()), operands).map(lambda p: f"({' '.join(p)})")


ATOMS = st.sampled_from(
    [
        "x",
        "y",
        "h",
        "s",
        "t",
        "n",
        "k",
        "0",
        "1",
        "3",
        "0.1",
        "2.5",
        "1e16",
        "1e-320",
        "2147483647",
        "turn(n)",
        "far / (1 m)",
    ]
)


def _numbers(levels: int) -> st.SearchStrategy[str]:
    if levels == 0:
        return ATOMS
    inner = _numbers(levels - 1)
    return st.one_of(
        ATOMS,
        _joined(inner, "+ - * / %"),
        _joined(inner, "/ %"),
        inner.map("abs({})".format),
        inner.map("(-{})".format),
        inner.map("single({})".format),
        st.tuples(inner, inner).map(lambda p: f"max({p[0]}, {p[1]})"),
        st.tuples(inner, inner, inner).map(lambda p: f"min({p[0]}, {p[1]}, {p[2]})"),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} if p or {p[1]} < {p[2]} else {p[1]})"),
    )


SPECIAL = [
    0.0,
    -0.0,
    0.1,
    -0.1,
    1.0,
    -3.0,
    180.0,
    2.0**24 + 1,
    5e-324,
    -2.3e-308,
    1e-45,
    3e38,
    1.7e308,
    -1.7e308,
]
FRACTIONS = st.sampled_from(SPECIAL) | st.floats(-200, 200) | st.floats(allow_nan=False, allow_infinity=False)
WHOLES = st.sampled_from([0, 1, -1, INT_LOW, INT_HIGH, 46341]) | st.integers(-100, 100)


def _values(kind: Type) -> st.SearchStrategy[Value]:
    if isinstance(kind, BoolType):
        return st.booleans()
    return (FRACTIONS if isinstance(kind, FloatType) else WHOLES).map(kind.clamp)


CASES = st.fixed_dictionaries({name: _values(kind) for name, kind in TYPES.items()})


def _held(case: Mapping[str, Value]) -> list[ProofClaim]:
    """Return the claims that the names have these values."""
    return [
        Holds(Expression(Name(name), BoolType()), expected=value)
        if isinstance(value, bool)
        else Holds(Expression(Binary(Operator.EQUAL, Name(name), Literal(value)), BoolType()))
        for name, value in case.items()
    ]


def _compared(number: Expression, sign: Operator, other: Tree) -> Expression:
    return Expression(Binary(sign, number.tree, other), BoolType(), number.source, number.constant_values)


@settings(max_examples=80, deadline=None)
@given(_numbers(3), CASES)
def test_a_number_is_computed_as_the_interpreter_does(text: str, case: dict[str, Value]) -> None:
    number = parse_expression(text, SCOPE)
    value = compute_value(number, case)
    failed, undefined = value is None, value is not None and math.isnan(value)
    here = _held({name: held for name, held in case.items() if name in number.names})
    compared = not failed and not undefined
    asked: list[tuple[ProofClaim, bool]] = [
        (Fails(number), failed),
        (Holds(_compared(number, Operator.EQUAL, number.tree)), compared),
        (Holds(_compared(number, Operator.UNEQUAL, number.tree)), undefined),
        (OutOfRange(number, -100, 100), not failed and not -100 <= value <= 100),
        *(
            (claim := Saturates(number, operation), claim.holds_in(case))
            for operation in operations_in(number.tree)
        ),
    ]
    if compared:
        asked.append((Holds(_compared(number, Operator.EQUAL, Literal(value))), True))
        asked.append((Holds(_compared(number, Operator.UNEQUAL, Literal(value))), False))
    prover = Prover(TYPES)
    for claim, wanted in asked:
        possible = prover.solve([*here, claim]).possible
        # the remainder of a quotient of 52 bits and more may be left open
        assert possible is wanted or ("%" in text and possible is None)


EQUALITY = (Operator.EQUAL, Operator.UNEQUAL)
REMAINDERS = [
    (7.5, 2.5),
    (-7.5, 2.5),
    (7.5, -2.0),
    (-1e-300, 360.0),
    (5e-324, -1.0),
    (0.3, 0.1),
    (2.0**52 - 1, 1.5),
    (5e-324, 1.7e308),
    (-1.0, 1.7e308),
    (1e300, 3.0),
    (1.7e308, 5e-324),
]


@pytest.mark.parametrize(("left", "right"), REMAINDERS)
def test_a_remainder_of_fractions_is_pythons(left: float, right: float) -> None:
    number, prover = parse_expression("x % y", SCOPE), Prover(TYPES)
    here = _held({"x": left, "y": right})
    same, other = (Holds(_compared(number, sign, Literal(left % right))) for sign in EQUALITY)
    assert prover.solve([*here, same]).possible is True
    written_out = abs(left / right) < 2.0**52
    assert prover.solve([*here, other]).possible is (False if written_out else None)


def test_infinity_and_not_a_number_are_followed() -> None:
    prover = Prover(TYPES)
    ask = [
        ("x * 10 == x and x > 1", False),
        ("x * y - x * y != 0 and x * y == x * y", True),
        ("(x * y - x * y) != (x * y - x * y)", True),
        ("(h * t - h * t) != (h * t - h * t)", False),
        ("x + y == x + y + 1e308 and x + y > 0", True),
        ("(x * y) % 3 == (x * y) % 3", True),
        ("h % (x * y) == 3 and h == 3 and x > 1e300 and y > 1e300", True),
        ("h % (x * y) > 3 and h == -3 and x > 1e300 and y > 1e300", True),
        ("max(x * y - x * y, 1) == 1", True),
        ("max(1, x * y - x * y) == 1 and (x * y - x * y) != (x * y - x * y)", True),
        ("not (max(1, x * y - x * y) == 1) and (x * y - x * y) != (x * y - x * y)", False),
        ("single(x) * 2 < single(x) and x > 0", False),
    ]
    for text, possible in ask:
        assert (text, prover.satisfiable(true=[parse_expression(text, SCOPE)]).possible) == (text, possible)


@settings(max_examples=40, deadline=None)
@given(_joined(_numbers(2), "< <= == !="), CASES, st.sampled_from([1, 30, 1000]))
def test_with_little_effort_nothing_is_called_impossible_that_is_so(
    text: str, case: dict[str, Value], steps: int
) -> None:
    condition = parse_expression(text, SCOPE)
    value = compute_value(condition, case)
    prover = Prover(TYPES, Effort(max_combinations=0, max_steps_per_question=steps))
    answers = {
        True: prover.satisfiable(true=[condition]),
        False: prover.satisfiable(false=[condition]),
        None: prover.satisfiable(failing=[condition]),
    }
    assert answers[value].possible is not False
    for wanted, answer in answers.items():
        if answer.case is not None:
            assert compute_value(condition, answer.case) is wanted
