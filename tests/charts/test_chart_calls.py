"""Calls of truth tables: they mean what their rows say, and become conditions like any other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import BoolType, EnumType, FloatType, IntType, Scope, parse_expression
from posewright.charts.expression import Function, FunctionRow, If, format_tree, names_in, split_cases
from posewright.charts.types import Type
from posewright.errors import ExpressionError

from .work import counted

WAY = EnumType(("straight", "left", "right"))
VALUES = dict.fromkeys(WAY.values, WAY)


def table(
    name: str,
    takes: Mapping[str, Type],
    gives: Type,
    rows: Iterable[tuple[str, str]],
    functions: Mapping[str, Function] | None = None,
) -> Function:
    inner = Scope(takes, enum_of_value=VALUES, functions=functions or {})
    found = tuple(
        FunctionRow(parse_expression(when, inner, BoolType()), parse_expression(give, inner, gives))
        for when, give in rows
    )
    return Function(name, takes, gives, found)


STEER = table(
    "steer",
    {"w": BoolType(), "v": BoolType(), "u": BoolType()},
    WAY,
    [
        ("not w and not v and not u", "straight"),
        ("not w and not v and u", "left"),
        ("not w and v", "right"),
        ("w", "left"),
    ],
)
SPEED = table(
    "speed",
    {"far": FloatType(0, 5, unit="m"), "level": IntType(0, 3)},
    FloatType(0, 2, unit="m/s"),
    [("far < 35 cm", "0"), ("level == 0", "10 cm/s"), ("true", "far / 1 s * level")],
)
THIRD = table(
    "third", {"z": FloatType(single=True)}, FloatType(single=True), [("z > 0.1", "z / 3"), ("true", "0")]
)
TWICE = table("twice", {"i": IntType(0, 9)}, IntType(0, 9), [("i < 5", "2 * i"), ("true", "9")])
SCOPE = Scope(
    {
        "a": BoolType(),
        "b": BoolType(),
        "c": BoolType(),
        "x": FloatType(0, 4, unit="m"),
        "y": FloatType(0, 999, unit="cm"),
        "n": IntType(-99, 99),
        "d": FloatType(),
        "angle": FloatType(unit="deg"),
        "w": BoolType(),
    },
    {"level_two": 2},
    VALUES,
    functions={one.name: one for one in (STEER, SPEED, THIRD, TWICE)},
)


@given(st.booleans(), st.booleans(), st.booleans())
def test_a_call_is_what_the_row_that_fits_gives(a: bool, b: bool, c: bool) -> None:
    call = parse_expression("steer(a, not b, c)", SCOPE)
    rows = [row for row in STEER.rows if row.when.evaluate({"w": a, "v": not b, "u": c})]
    assert call.type == WAY
    assert call.evaluate({"a": a, "b": b, "c": c}) == rows[0].value.constant


def test_a_call_becomes_a_chain_of_conditions_over_the_names_of_the_caller() -> None:
    tree = parse_expression("steer(a, b, w)", SCOPE).tree
    assert isinstance(tree, If)
    cases, rest = split_cases(tree)
    assert (len(cases), format_tree(rest)) == (3, "left")
    assert names_in(tree) == {"a", "b", "w", *WAY.values}
    assert format_tree(cases[1][0]) == "not a and not b and w"


def test_parameters_do_not_catch_names_of_the_caller() -> None:
    assert parse_expression("steer(b, w, a) == right", SCOPE).evaluate({"a": True, "b": False, "w": True})


@settings(max_examples=60, deadline=None)
@given(st.floats(0, 999), st.integers(-99, 99))
def test_arguments_are_converted_and_kept_in_range_and_so_is_what_is_given(y: float, n: int) -> None:
    call = parse_expression("speed(y, n)", SCOPE)
    far, level = min(y * 0.01, 5.0), min(max(n, 0), 3)
    wanted = 0.0 if far < 0.35 else 0.1 if level == 0 else min(far * level, 2.0)
    assert call.evaluate({"y": y, "n": n}) == wanted
    assert type(call.evaluate({"y": y, "n": n})) is float


def test_nothing_is_kept_in_range_that_cannot_leave_it() -> None:
    assert "max" not in format_tree(parse_expression("speed(x, 2)", SCOPE).tree)
    assert format_tree(parse_expression("speed(x, 2)", SCOPE).tree).count("min") == 1  # of what it gives
    assert format_tree(parse_expression("twice(3)", SCOPE).tree) == "2 * 3 if 3 < 5 else 9"


def test_calls_stand_wherever_a_value_may_and_within_each_other() -> None:
    guard = parse_expression("twice(twice(n)) + 1 > 5 and steer(a, a, a) != left", SCOPE)
    assert guard.evaluate({"n": 2, "a": False}) is True
    assert guard.evaluate({"n": 1, "a": False}) is False
    assert parse_expression("speed(x, level_two) > 90 cm/s", SCOPE).evaluate({"x": 0.5}) is True
    assert parse_expression("steer(1, 0, 0)", SCOPE, WAY).constant == "left"


def test_a_table_may_call_another_that_stands_before_it() -> None:
    outer = table(
        "outer", {"j": IntType(0, 9)}, IntType(0, 99), [("true", "twice(j) * 10")], {"twice": TWICE}
    )
    scope = Scope({"n": IntType(-9, 9)}, functions={"outer": outer})
    assert parse_expression("outer(n)", scope).evaluate({"n": 3}) == 60


def test_32_bits_go_in_and_come_out() -> None:
    call = parse_expression("third(d)", SCOPE)
    assert call.evaluate({"d": 0.3}) == float(np.float32(0.3) / np.float32(3))
    assert call.type == FloatType(single=True)
    assert call.evaluate({"d": 0.1}) == 0.0


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("steer(a, b)", 1, "steer takes 3 values, not 2"),
        ("twice()", 1, "it takes i"),
        ("steer(a, n, c)", 10, "steer cannot take a number for v"),
        ("steer(a, 2, c)", 10, "v is bool"),
        ("twice(d)", 7, "twice takes a whole number for i"),
        ("twice(a)", 7, "twice cannot take a truth value for i"),
        ("twice(12)", 7, "12 is out of range for i"),
        ("speed(angle, 2)", 7, "speed takes far in m, not in deg"),
        ("speed(600 cm, 2)", 7, "6 is out of range for far"),
        ("ster(a, b, c)", 1, "did you mean steer"),
        ("steer == left", 1, "`steer` is a function"),
        ("steer(a, b, c) and a", 1, "`and` needs a truth value, not a name"),
        ("steer(a, b, nothing)", 13, "unknown input, output or constant"),
        ("i > 3", 1, "unknown input, output or constant"),
    ],
)
def test_a_wrong_call_is_refused_where_it_stands(text: str, column: int, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_expression(text, SCOPE)
    assert message in str(caught.value)
    assert caught.value.where is not None
    assert caught.value.where.column == column


def test_tables_of_eight_inputs_are_put_in_whole() -> None:
    names = [f"i{k}" for k in range(8)]
    rows = []
    for number in range(256):
        bits = [(name if number >> k & 1 else f"not {name}") for k, name in enumerate(names)]
        rows.append((" and ".join(bits), str(number % 7)))
    big = table("big", dict.fromkeys(names, BoolType()), IntType(0, 6), rows)
    scope = Scope(dict.fromkeys(names, BoolType()), functions={"big": big})
    call = parse_expression(f"big({', '.join(names)}) + 1", scope)
    assert call.evaluate(dict.fromkeys(names, True)) == 255 % 7 + 1
    assert call.evaluate(dict.fromkeys(names, False)) == 1
    assert hash(call.tree) == hash(parse_expression(str(call), scope).tree)


@pytest.mark.parametrize(
    "text",
    ["grow(" * 20 + "n" + ")" * 20, " + ".join(["grow(grow(n))"] * 80)],
    ids=["nested", "beside"],
)
def test_calls_cannot_make_an_expression_grow_without_bounds(text: str) -> None:
    rows = [(f"i == {k}", "i + i + i") for k in range(9)] + [("true", "i")]
    grow = table("grow", {"i": IntType()}, IntType(), rows)
    scope = Scope({"n": IntType()}, functions={"grow": grow})
    with (
        counted() as work,
        pytest.raises(ExpressionError, match=r"more than \d+ (parts|levels) once grow is inlined"),
    ):
        parse_expression(text, scope)
    assert work.calls < 1_000_000


def test_deep_calls_are_refused_and_not_a_crash() -> None:
    rows = [(f"i == {k}", "i") for k in range(200)] + [("true", "i + 1")]
    long = table("long", {"i": IntType()}, IntType(), rows)
    scope = Scope({"n": IntType()}, functions={"long": long})
    with pytest.raises(ExpressionError, match="is inlined"):
        parse_expression("long(long(n))", scope)
