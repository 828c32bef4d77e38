"""Units in expressions: what is converted, what is refused, and what stays a plain number."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import BoolType, FloatType, IntType, Scope, parse_expression
from posewright.charts.expression import format_tree
from posewright.charts.types import UNITS, conversion_factor, parse_quantity
from posewright.errors import ExpressionError, InputError

SCOPE = Scope(
    {
        "x": FloatType(0, 5, unit="m"),
        "y": FloatType(0, 500, unit="cm"),
        "steps": IntType(0, 400, unit="cm"),
        "paces": IntType(0, 9, unit="m"),
        "heading": FloatType(unit="deg"),
        "short": FloatType(single=True, unit="m"),
        "n": IntType(-9, 9),
        "near": BoolType(),
    },
    {"arrived": 36, "tolerance": 18, "plain": 0.35},
    units={"arrived": "cm", "tolerance": "deg"},
)
METRES = st.floats(0, 5, allow_nan=False).map(lambda value: round(value, 3))


def value(text: str, **names: Any) -> Any:
    return parse_expression(text, SCOPE).evaluate(names)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 500), st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), METRES)
def test_centimetres_compare_with_metres_as_their_hundredth_does(cm: int, sign: str, x: float) -> None:
    hundredth = str(float(Fraction(cm, 100)))
    measured = parse_expression(f"x {sign} {cm} cm", SCOPE)
    plain = parse_expression(f"x {sign} {hundredth}", SCOPE)
    assert measured.evaluate({"x": x}) == plain.evaluate({"x": x})
    assert value(f"x {sign} {cm} cm", x=float(hundredth)) == value(f"1 {sign} 1")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("x < 35 cm", "x < 0.35"),
        ("35 cm < x", "0.35 < x"),
        ("x < arrived", "x < 0.36"),
        ("arrived + x < -3.6 cm", "0.36 + x < -0.036"),
        ("steps < 0.35 m", "steps < 35"),
        ("steps < 0.355 m", "steps < 35.5"),
        ("steps < paces", "steps < paces * 100"),
        ("paces < steps", "paces < steps * 0.01"),
        ("x < y", "x < y * 0.01"),
        ("x < max(3 cm, 1 mm)", "x < max(0.03, 0.001)"),
        ("x > (1 m if near else 50 cm)", "x > (1.0 if near else 0.5)"),
        ("x > (35 cm if near else 50 cm)", "x > (0.35 if near else 0.5)"),
        ("short < 35 cm", f"short < {float(np.float32(0.35))!r}"),
        ("x < 1.5", "x < 1.5"),
        ("x < n", "x < n"),
        ("abs(heading) > tolerance", "abs(heading) > tolerance"),
        ("n > 90 deg/s", "n > 90"),
    ],
)
def test_literals_and_constants_follow_and_plain_numbers_go_with_all(text: str, tree: str) -> None:
    assert format_tree(parse_expression(text, SCOPE).tree) == tree


def test_degrees_and_radians_convert() -> None:
    assert value("heading > 0.5 rad", heading=28.7)
    assert not value("heading > 0.5 rad", heading=28.6)
    factor = conversion_factor("deg", "rad")
    assert factor is not None
    assert float(factor * 180) == math.pi


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("x + y", "m"),
        ("arrived + x", "m"),
        ("-x", "m"),
        ("abs(y)", "cm"),
        ("min(1 cm, x)", "m"),
        ("x * 2", "m"),
        ("n * y", "cm"),
        ("x / 2", "m"),
        ("x % 20 cm", "m"),
        ("x if near else 3", "m"),
        ("x * x", None),
        ("x / y", None),
        ("2 / x", None),
        ("n + plain", None),
    ],
)
def test_a_result_has_the_unit_that_it_has_on_paper(text: str, unit: str | None) -> None:
    kind = parse_expression(text, SCOPE).type
    assert getattr(kind, "unit", None) == unit


def test_a_quotient_of_lengths_is_taken_in_one_unit() -> None:
    assert value("x / y", x=1.0, y=10.0) == 10
    assert value("1 m / 1 cm") == 100


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("x < 3 deg", 3, "`<` compares m with deg"),
        ("3 deg < x", 7, "`<` compares deg with m"),
        ("x == heading", 3, "`==` compares m with deg"),
        ("x + 2 s > 3", 3, "`+` mixes m with s"),
        ("x - heading", 3, "m measures length, deg angle"),
        ("x % 1 kg", 3, "`%` mixes m with kg"),
        ("max(x, 1, 2 V)", 1, "`max` mixes m with V"),
        ("x if near else 2 s", 3, "`if` mixes m with s"),
        ("x < arrived + tolerance", 13, "`+` mixes cm with deg"),
        ("x < 3 cmm", 7, "did you mean mm or cm"),
        ("x < 3 parsecs", 7, "there is no unit parsecs"),
        ("x < 35cm", 5, "with a space before a unit"),
        ("x < 1e308 km", 5, "too large once its unit is converted"),
        ("90 deg/s < heading", 10, "`<` compares deg/s with deg"),
    ],
)
def test_units_that_do_not_mix_are_named(text: str, column: int, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_expression(text, SCOPE)
    assert message in str(caught.value)
    assert caught.value.where is not None
    assert caught.value.where.column == column


def test_what_is_assigned_takes_the_unit_of_the_variable() -> None:
    assert parse_expression("36 cm", SCOPE, FloatType(unit="m")).constant == 0.36
    assert parse_expression("0.36 m", SCOPE, IntType(0, 99, unit="cm")).constant == 36
    assert parse_expression("x", SCOPE, FloatType(unit="mm")).evaluate({"x": 0.5}) == 500
    assert parse_expression("paces", SCOPE, IntType(unit="mm")).evaluate({"paces": 3}) == 3000
    chosen = parse_expression("36 cm if near else 1 m", SCOPE, FloatType(unit="m"))
    assert (chosen.evaluate({"near": True}), chosen.evaluate({"near": False})) == (0.36, 1.0)
    with pytest.raises(ExpressionError, match="a value in deg where one in m is needed"):
        parse_expression("heading", SCOPE, FloatType(unit="m"))
    with pytest.raises(ExpressionError, match="a float where a whole number"):
        parse_expression("0.365 m", SCOPE, IntType(0, 99, unit="cm"))
    with pytest.raises(ExpressionError, match=r"3 is out of range.*0\.\.2"):
        parse_expression("300 cm", SCOPE, FloatType(0, 2, unit="m"))


def test_whole_numbers_saturate_in_the_unit_they_are_converted_to() -> None:
    assert parse_expression("n", SCOPE, IntType(unit="mm")).evaluate({"n": 3}) == 3
    wide = Scope({"far": IntType(unit="km")})
    assert parse_expression("far", wide, IntType(unit="mm")).evaluate({"far": 5000}) == 2**31 - 1


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(UNITS)), st.sampled_from(sorted(UNITS)), st.sampled_from(sorted(UNITS)))
def test_there_and_back_is_the_same_and_a_way_round_changes_nothing(a: str, b: str, c: str) -> None:
    there, back, onward, straight = (conversion_factor(*way) for way in ((a, b), (b, a), (b, c), (a, c)))
    assert (there is None) == (back is None)
    if there is not None and back is not None:
        assert there * back == 1
        assert (straight is None) == (onward is None)
    if there is not None and onward is not None:
        assert straight == there * onward


def test_a_unit_that_is_not_in_the_table_goes_with_itself_only() -> None:
    scope = Scope({"a": FloatType(unit="ticks"), "b": FloatType(unit="ticks"), "m": FloatType(unit="m")})
    assert parse_expression("a < b", scope).type == BoolType()
    with pytest.raises(ExpressionError, match="`<` compares ticks with m"):
        parse_expression("a < m", scope)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("36 cm", (36.0, "cm")),
        (" -0.5 s ", (-0.5, "s")),
        ("1e3 mm", (1000.0, "mm")),
        ("9 deg/s", (9.0, "deg/s")),
    ],
)
def test_a_quantity_reads_as_number_and_unit(text: str, found: tuple[float, str]) -> None:
    assert parse_quantity(text) == found


@pytest.mark.parametrize("text", ["36", "cm", "36cm", "36 cm m", "", "1e999 s", "3 parsec", "x" * 10**6])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_quantity(text)
    assert len(str(caught.value)) < 400
    assert caught.value.hint
