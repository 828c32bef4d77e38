"""The step: what one tick does, exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.charts import Interpreter, parse_chart
from posewright.errors import ExpressionError, InputError, UnknownNameError

from .work import counted

HEAD = """\
chart: c
kind: mealy
period_s: 0.1
inputs: {a: bool, b: bool, n: {int: [0, 5]}, d: {float: [0, 2]}}
outputs: {x: bool, count: {int: [0, 3]}, far: float}
priority: ordered
otherwise: stay
initial: one
states:
"""
NOTHING = {"a": False, "b": False, "n": 0, "d": 0.0}


def interpreter(states: str, head: str = HEAD) -> Interpreter:
    return Interpreter(parse_chart(head + states))


def names(run: Interpreter, *rows: dict[str, object]) -> list[str]:
    return [state.state for state in run.run({**NOTHING, **row} for row in rows)]


def test_the_first_guard_that_holds_is_taken_and_one_transition_a_tick() -> None:
    run = interpreter("""\
  one: [{when: a, go: two}, {when: a or b, go: three}]
  two: [{when: a, go: three}]
  three: []
""")
    assert names(run, {"a": True, "b": True}) == ["two"]
    assert names(run, {"b": True}) == ["three"]
    assert names(run, {"a": True}, {"a": True}) == ["two", "three"]
    assert names(run, {}, {}) == ["one", "one"]


def test_outputs_are_registers_and_guards_read_the_value_before_the_tick() -> None:
    run = interpreter("  one: [{when: a and count < 3, do: {count: count + 1, x: count == 1}}]\n")
    outputs = [
        (state.outputs["count"], state.outputs["x"]) for state in run.run([{**NOTHING, "a": True}] * 5)
    ]
    assert outputs == [(1, False), (2, True), (3, False), (3, False), (3, False)]


def test_an_output_saturates_at_its_range() -> None:
    run = interpreter("  one: [{when: true, do: {count: count + 2, far: far * 10 + 1e308}}]\n")
    ends = list(run.run([NOTHING] * 400))
    assert ends[-1].outputs["count"] == 3
    assert math.isfinite(ends[-1].outputs["far"])


@pytest.mark.parametrize(("min_s", "ticks"), [(0.0, 0), (0.05, 1), (0.1, 1), (0.11, 2), (0.3, 3), (5.0, 50)])
def test_a_least_time_lasts_at_least_that_long(min_s: float, ticks: int) -> None:
    run = interpreter(f"  one: {{min_s: {min_s}, transitions: [{{when: true, go: two}}]}}\n  two: []\n")
    states = names(run, *[{}] * (ticks + 2))
    assert states.index("two") == ticks


def test_a_later_state_is_held_as_long_as_the_first() -> None:
    run = interpreter("""\
  one: [{when: true, go: two}]
  two: {min_s: 0.3, transitions: [{when: true, go: one}]}
""")
    assert names(run, *[{}] * 6) == ["two", "two", "two", "one", "two", "two"]


def test_a_transition_to_its_own_state_starts_its_time_anew_and_one_without_go_does_not() -> None:
    again = interpreter("  one: [{when: a, go: one}, {after_s: 0.2, go: two}]\n  two: []\n")
    inside = interpreter("  one: [{when: a, do: {x: 1}}, {after_s: 0.2, go: two}]\n  two: []\n")
    rows = [{}, {"a": True}, {}, {}, {}]
    assert names(again, *rows) == ["one", "one", "one", "two", "two"]
    assert names(inside, *rows) == ["one", "one", "two", "two", "two"]


def test_the_time_in_a_state_counts_its_ticks_as_far_as_the_chart_asks() -> None:
    run = interpreter("  one: [{when: a, go: two}]\n  two: [{after_s: 0.3, go: one}]\n")
    rows = [NOTHING, {**NOTHING, "a": True}, NOTHING, NOTHING, NOTHING]
    assert [run.initial().ticks_in_state, *(state.ticks_in_state for state in run.run(rows))] == [
        0,
        1,
        1,
        2,
        3,
        1,
    ]


def test_a_moore_chart_shows_its_state_and_forgets_what_the_state_does_not_say() -> None:
    run = interpreter(
        """\
  one: {do: {x: 1}, transitions: [{when: a, go: two}]}
  two: {do: {level: 4}, transitions: [{when: x, go: one}, {when: level == 4, go: one}]}
""",
        HEAD.replace("mealy", "moore").replace("count: {int: [0, 3]}", "level: {int: [2, 9]}"),
    )
    assert run.initial().outputs == {"x": True, "level": 2, "far": 0.0}
    first, second = run.run([{**NOTHING, "a": True}, NOTHING])
    assert (first.state, first.outputs, first.ticks_in_state) == (
        "two",
        {"x": False, "level": 4, "far": 0.0},
        1,
    )
    assert second.state == "one"


def test_a_step_changes_nothing_it_was_given() -> None:
    run = interpreter("  one: [{when: a, do: {x: not x}}]\n")
    start, row = run.initial(), {**NOTHING, "a": True}
    before = dict(start.outputs)
    assert run.step(start, row) == run.step(start, row)
    assert (start.outputs, row) == (before, {**NOTHING, "a": True})


def test_inputs_outside_their_range_count_as_its_end() -> None:
    run = interpreter("  one: [{when: n == 5 and d == 2, go: two}]\n  two: []\n")
    assert names(run, {"n": 7, "d": 2.5}) == ["two"]


def test_numpy_scalars_and_whole_numbers_for_fractions_are_taken() -> None:
    run = interpreter("  one: [{when: a and n == 2 and d == 1, go: two}]\n  two: []\n")
    assert names(run, {"a": np.bool_(True), "n": np.int64(2), "d": 1}) == ["two"]
    assert names(run, {"a": True, "n": 2, "d": np.float32(1)}) == ["two"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": 1}, "a = 1 does not fit"),
        ({"n": 1.5}, "n = 1.5 does not fit"),
        ({"n": True}, "n = True does not fit"),
        ({"d": math.nan}, "d = nan does not fit"),
        ({"d": "1"}, "does not fit"),
        ({"e": 1}, "unknown input 'e'"),
    ],
)
def test_an_input_of_another_type_is_refused(row: dict[str, object], message: str) -> None:
    run = interpreter("  one: []\n")
    with pytest.raises(InputError, match=message):
        run.step(run.initial(), {**NOTHING, **row})


def test_a_missing_input_an_unknown_state_and_the_state_of_another_chart_are_refused() -> None:
    run = interpreter("  one: []\n")
    with pytest.raises(InputError, match="'b' is missing"):
        run.step(run.initial(), {"a": True})
    with pytest.raises(UnknownNameError, match="did you mean one"):
        run.snapshot_in("oen")
    with pytest.raises(InputError, match="another chart"):
        run.step(interpreter("  one: []\n  two: []\n").initial(), NOTHING)
    assert run.step(interpreter("  one: []\n").initial(), NOTHING).state == "one"


def test_dividing_by_zero_stops_the_run_and_says_where() -> None:
    run = interpreter("  one: [{when: 1 / n > 0, go: one}]\n")
    with pytest.raises(ExpressionError, match="10:18: division by zero"):
        run.step(run.initial(), NOTHING)


def test_the_transition_that_is_taken_can_be_asked_for() -> None:
    run = interpreter("  one: [{when: a, go: two}, {when: b, go: two}]\n  two: []\n")
    (way,) = run.outcome(run.initial(), {**NOTHING, "b": True}).taken_transitions
    assert way.segments == (run.chart.states[0].transitions[1],)
    assert run.outcome(run.initial(), NOTHING).taken_transitions == ()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 5)), max_size=30))
def test_the_same_inputs_always_give_the_same_states(rows: list[tuple[bool, bool, int]]) -> None:
    text = """\
  one: [{when: a and n > count, do: {count: n}, go: two}, {when: b, do: {x: not x}}]
  two: {min_s: 0.2, transitions: [{when: not a or x, do: {count: 0}, go: one}]}
"""
    inputs = [{"a": a, "b": b, "n": n, "d": 0.0} for a, b, n in rows]
    chart = interpreter(text).chart
    remembering, forgetful = Interpreter(chart), Interpreter(chart, remember=False)
    for one, again, other in zip(
        remembering.run(inputs), remembering.run(inputs), forgetful.run(inputs), strict=True
    ):
        assert one == again
        assert one.key == other.key


def test_a_step_that_was_met_before_is_a_few_calls() -> None:
    run = interpreter(
        "  one:\n" + "".join(f"    - {{when: a and n == {i % 6}, go: one}}\n" for i in range(10))
    )
    state = run.initial()
    state = run.step(state, NOTHING)
    with counted() as work:
        for _ in range(100):
            state = run.step(state, NOTHING)
    assert work.calls < 5000
