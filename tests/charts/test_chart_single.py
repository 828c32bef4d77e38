"""Numbers of 32 bits: every step is rounded as a board's float rounds it."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import BoolType, FloatType, IntType, Scope, parse_expression
from posewright.charts.expression import format_tree
from posewright.charts.types import INT_RANGES, SINGLE_MAX, convert_value, to_single
from posewright.errors import ExpressionError, InputError

SCOPE = Scope(
    {
        "a": FloatType(single=True),
        "b": FloatType(single=True),
        "d": FloatType(),
        "n": IntType(-9, 9),
        "k": IntType(),
        "c": BoolType(),
    },
    {"tenth": 0.1, "three": 3},
)
SINGLES = st.floats(width=32, allow_nan=False, allow_infinity=False)
TENTH = float(np.float32(0.1))


@settings(max_examples=120, deadline=None)
@given(st.sampled_from("+-*/%"), SINGLES, SINGLES)
def test_every_operator_gives_what_numpy_gives_in_32_bits(sign: str, a: float, b: float) -> None:
    expression = parse_expression(f"a {sign} b", SCOPE)
    assert expression.type == FloatType(single=True)
    if b == 0 and sign in "/%":
        with pytest.raises(ExpressionError, match="division by zero"):
            expression.evaluate({"a": a, "b": b})
        return
    apply = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "%": np.mod}[sign]
    with np.errstate(all="ignore"):
        wanted = float(apply(np.float32(a), np.float32(b)))
    assert expression.evaluate({"a": a, "b": b}) == wanted


def test_chains_are_rounded_step_by_step() -> None:
    env = {"a": TENTH, "b": 1e7}
    wanted = (np.float32(0.1) + np.float32(1e7)) * np.float32(0.1) - np.float32(1e7)
    assert parse_expression("(a + b) * 0.1 - b", SCOPE).evaluate(env) == float(wanted)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a < 0.1", f"a < {TENTH!r}"),
        ("tenth == a", f"{TENTH!r} == a"),
        ("a < 0.5", "a < 0.5"),
        ("a < 16777217", "a < 16777216.0"),
        ("a + 2", "single(a + 2)"),
        ("a + n", "single(a + n)"),
        ("a + k", "single(a + single(k))"),
        ("a + tenth", f"single(a + {TENTH!r})"),
        ("a + 1 / three", "single(a + single(1 / three))"),
        ("a * (0.1 if c else 0.5)", f"single(a * ({TENTH!r} if c else 0.5))"),
        ("a if c else 1", "a if c else 1.0"),
        ("min(a, 0.1)", f"min(a, {TENTH!r})"),
        ("max(a, -0.1)", f"max(a, -{TENTH!r})"),
        ("-abs(a)", "-abs(a)"),
        ("a + d", "a + d"),
        ("a * b + d", "single(a * b) + d"),
        ("a < d", "a < d"),
        ("a < k", "a < k"),
        ("single(d) * a", "single(single(d) * a)"),
        ("single(a)", "a"),
        ("single(k)", "single(k)"),
    ],
)
def test_what_is_written_there_is_rounded_and_64_bits_win(text: str, tree: str) -> None:
    assert format_tree(parse_expression(text, SCOPE).tree) == tree
    assert format_tree(parse_expression(tree, SCOPE).tree) == tree


def test_a_tenth_is_a_tenth_at_both_widths() -> None:
    assert parse_expression("a == 0.1", SCOPE).evaluate({"a": TENTH}) is True
    assert parse_expression("d == 0.1", SCOPE).evaluate({"d": 0.1}) is True


def test_a_number_beyond_32_bits_is_refused_beside_one_of_32_bits() -> None:
    with pytest.raises(ExpressionError, match=r"1:5: 1e\+39 is too large for 32 bits"):
        parse_expression("a < 1e39", SCOPE)


@settings(max_examples=60, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_register_of_32_bits_holds_what_fits_in_32_bits(value: float) -> None:
    kind = FloatType(single=True)
    kept = kind.clamp(value)
    assert kind.contains(kept)
    assert struct.unpack("f", struct.pack("f", kept))[0] == kept
    assert convert_value("x", kind, value) == kept
    assert abs(kept) <= SINGLE_MAX
    if abs(value) < SINGLE_MAX:
        assert kept == to_single(value) == kind.parse(repr(value))


def test_a_range_of_32_bits_is_rounded_and_written_as_a_person_would() -> None:
    kind = FloatType(0.1, 0.3, single=True)
    assert all(kind.contains(kind.parse(text)) for text in ("0.1", "0.2", "0.3"))
    assert not kind.contains(0.2)
    assert (str(kind), kind.written_range, kind.is_unbounded) == ("float32 0.1..0.3", (0.1, 0.3), False)
    assert parse_expression("0.3", SCOPE, kind).constant == 0.3
    with pytest.raises(ExpressionError, match=r"out of range.*0\.1\.\.0\.3"):
        parse_expression("0.31", SCOPE, kind)
    with pytest.raises(InputError, match="out of range"):
        kind.parse("0.31")


def test_types_say_their_width_and_their_unit() -> None:
    assert str(FloatType(single=True)) == "float32"
    assert str(FloatType(0, 5, unit="m")) == "float 0..5 [m]"
    assert str(IntType(*INT_RANGES["uint8"], keyword="uint8", unit="cm")) == "uint8 [cm]"
    assert INT_RANGES["uint16"] == (0, 65535)
    assert FloatType(0, 5, unit="m") == FloatType(0, 5)
    assert FloatType(single=True) != FloatType()
    assert FloatType(single=True, unit="m").is_unbounded


def test_not_a_number_becomes_zero_in_a_register() -> None:
    assert FloatType(single=True).clamp(float("nan")) == 0.0


def value(text: str, **names: Any) -> Any:
    return parse_expression(text, SCOPE).evaluate(names)


def test_whole_operands_stay_whole_until_they_meet_a_fraction() -> None:
    assert value("k + 1 == k", k=2**31 - 1) is True
    assert value("a + (k + 1) == a + k", a=1.0, k=2**24) is True
