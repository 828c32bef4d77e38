"""A machine is all that a generator of code needs: typed expressions, storage, tables, starting values."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import BoolType, Chart, EnumType, FloatType, Interpreter, IntType, lower, parse_chart
from posewright.charts.expression import Name, nodes_of
from posewright.charts.types import INT_RANGES, Type

from .random_charts import charts

MOORE = """
chart: light
kind: moore
period_s: 0.1
inputs: {on: bool}
outputs: {lamp: bool, level: {int: [0, 9]}}
otherwise: stay
initial: dark
states:
  dark: {transitions: [{when: "on", go: bright}], do: {level: 3}}
  bright: {transitions: [{when: not on, go: dark}], do: {lamp: 1}}
"""
TABLE = """
chart: table
period_s: 0.1
inputs: {n: {int: [0, 20]}, p: bool}
outputs: {o: {int: [0, 9]}, x: float, y: bool}
otherwise: stay
functions:
  grade:
    takes: {k: {int: [0, 5]}}
    gives: {int: [0, 9]}
    rows: [["< 3", 1], [">= 3", 2]]
initial: s
states:
  s: [{when: WHEN, do: {o: VALUE}}]
"""


def table(when: str = "p", value: str = "1") -> str:
    return TABLE.replace("WHEN", f'"{when}"').replace("VALUE", f'"{value}"')


@pytest.mark.parametrize(
    ("kind", "storage"),
    [
        (BoolType(), "bool"),
        (IntType(0, 9), "int8"),
        (IntType(0, 200), "uint8"),
        (IntType(-1, 200), "int16"),
        (IntType(0, 60_000), "uint16"),
        (IntType(), "int32"),
        (FloatType(), "float64"),
        (FloatType(0, 1, single=True), "float32"),
        (EnumType(("slow", "fast")), "int8"),
    ],
)
def test_a_type_says_how_it_is_stored(kind: Type, storage: str) -> None:
    assert kind.storage == storage


@given(st.integers(*INT_RANGES["int32"]), st.integers(*INT_RANGES["int32"]))
def test_whole_numbers_are_stored_in_what_holds_their_range(one: int, other: int) -> None:
    kind = IntType(min(one, other), max(one, other))
    low, high = INT_RANGES[kind.storage]
    assert low <= kind.low <= kind.high <= high


def test_the_names_of_an_enumeration_have_codes() -> None:
    assert EnumType(("slow", "fast", "still")).codes == {"slow": 0, "fast": 1, "still": 2}


@settings(max_examples=40)
@given(charts())
def test_every_node_of_every_expression_of_a_machine_knows_its_type(chart: Chart) -> None:
    machine = lower(chart)
    for expression in machine.expressions:
        for node in nodes_of(expression.tree):
            assert isinstance(node.type, BoolType | IntType | FloatType | EnumType)
        numbers = IntType | FloatType
        one, other = expression.tree.type, expression.type
        assert type(one) is type(other) or (isinstance(one, numbers) and isinstance(other, numbers))


def test_expressions_have_numbers() -> None:
    machine = lower(parse_chart(table("p and n > 3")))
    numbers = [machine.expression_number(one) for one in machine.expressions]
    assert numbers == list(range(len(machine.expressions)))


def test_a_moore_machine_says_what_its_outputs_are_in_each_state() -> None:
    machine = lower(parse_chart(MOORE))
    outputs = {machine.nodes[number].name: dict(values) for number, values in machine.moore_outputs.items()}
    assert outputs == {"dark": {"lamp": False, "level": 3}, "bright": {"lamp": True, "level": 0}}
    assert machine.start_values((1,)) == {"lamp": False, "level": 3}


def test_a_queue_is_needed_only_where_a_raised_event_is_heard() -> None:
    assert lower(parse_chart(table())).queue_limit == 0


def test_an_argument_that_may_be_cut_is_told_with_where_it_is_computed() -> None:
    machine = lower(parse_chart(table("p and grade(n) > 1")))
    (argument,) = (one for expression in machine.expressions for one in expression.clamped_arguments)
    assert (argument.function, argument.parameter) == ("grade", "k")
    assert argument.tree == Name("n")
    assert (argument.type.low, argument.type.high) == (0, 5)
    assert Name("p") in nodes_of(argument.when)


def test_an_argument_within_its_range_is_not_told() -> None:
    machine = lower(parse_chart(table("p and grade(n % 6) > 1", "grade(min(n, 5))")))
    told = [one.tree for expression in machine.expressions for one in expression.clamped_arguments]
    assert Name("n") not in told
    assert not machine.expressions[-1].clamped_arguments


def test_what_is_set_to_a_result_that_is_not_a_number_holds_zero() -> None:
    text = """
chart: wide
period_s: 0.1
inputs: {a: float}
outputs: {x: float, y: {float: [1, 2]}}
initial: s
states:
  s: [{when: true, do: {x: a * a - a * a, y: a * a * 0}}]
"""
    interpreter = Interpreter(parse_chart(text))
    after = interpreter.step(interpreter.initial(), {"a": 1e300})
    assert after.outputs == {"x": 0.0, "y": 1.0}
    assert not math.isnan(float(after.outputs["x"]))


def test_a_tick_in_which_nothing_happens_gives_back_the_same_state() -> None:
    interpreter = Interpreter(parse_chart(table()), remember=False)
    first = interpreter.step(interpreter.initial(), {"n": 0, "p": False})
    assert interpreter.step(first, {"n": 20, "p": False}) is first
