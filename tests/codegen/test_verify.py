"""Streams reach what there is to reach, differences are found, and shrunk to what a person can read."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.charts import Interpreter, parse_chart, read_chart
from posewright.charts.machine import Machine, lower
from posewright.codegen.proof.input_generation import chart_fields, chart_stream, rows_of
from posewright.codegen.proof.reference import InterpreterRun
from posewright.codegen.proof.shrinking import shrink
from posewright.codegen.proof.verification import Comparison
from posewright.codegen.records import RecordFormat

from .swapped import crossed, swapped

CHARTS = sorted(Path("examples/charts").glob("*/*.chart.yaml"))
LAMP = Path("examples/charts/button_lamp/button_lamp.chart.yaml")
RACE = Path("examples/charts/race/obstacle_race_13_5.chart.yaml")

DIVIDER = """\
chart: divider
period_s: 0.1
inputs: {n: {int: [-3, 3]}, x: {float32: [-1, 1]}, y: {float: [0, 5]}, fast: {enum: [slow, quick]}}
outputs: {out: {int: [0, 100]}, part: float32}
events: [go]
initial: one
states:
  one:
    during: [{out: out + 1}]
    transitions:
      - {on: go, when: 12 / n > 3.5, do: {part: x}, go: two}
  two:
    transitions: [{after_s: 0.4, go: one}]
"""


def form_of(path: Path) -> RecordFormat:
    return RecordFormat(lower(read_chart(path)))


def beside(right: Machine, wrong: Machine, steps: int = 3000) -> Comparison:
    """Compare a machine with another one of the same chart."""
    form = RecordFormat(right)
    other = {"other": InterpreterRun(RecordFormat(wrong))}
    comparison = Comparison(InterpreterRun(form), other)
    comparison.run(chart_stream(form).episodes(3), steps, lambda *_: None)
    return comparison


@pytest.mark.parametrize("path", CHARTS, ids=lambda path: path.stem)
def test_a_stream_takes_every_transition_of_the_examples(path: Path) -> None:
    form = form_of(path)
    reference = InterpreterRun(form)
    Comparison(reference, {}).run(chart_stream(form).episodes(1), 3000, lambda *_: None)
    assert {*reference.transitions_taken} == {(way.source, way.index) for way in form.machine.transitions}


def test_a_stream_is_the_same_again_for_the_same_seed_only() -> None:
    stream = chart_stream(form_of(RACE), covering=False)
    assert stream.take_records(2000, 5).tobytes() == stream.take_records(2000, 5).tobytes()
    assert stream.take_records(2000, 5).tobytes() != stream.take_records(2000, 6).tobytes()


def test_a_stream_asks_at_the_very_limits_of_comparisons_and_of_types() -> None:
    form = RecordFormat(lower(parse_chart(DIVIDER)))
    records = chart_stream(form, covering=False).take_records(50_000, 1)
    assert {*range(-4, 5), -128, 127} <= {*records["n"].tolist()}
    assert {0, 1} == {*records["fast"].tolist()} == {*records["go"].tolist()}
    singles, doubles = {*records["x"].tolist()}, {*records["y"].tolist()}
    assert {float(np.nextafter(np.float32(1), np.float32(2))), float(np.finfo(np.float32).max)} <= singles
    assert {np.nextafter(5.0, 6.0), 5e-324, -5e-324} <= doubles
    assert any(np.signbit(records["y"][records["y"] == 0]))
    assert np.isfinite(records["x"]).all()
    assert np.isfinite(records["y"]).all()


def test_the_reference_is_the_interpreter_and_stands_still_after_a_failure() -> None:
    chart = parse_chart(DIVIDER)
    form = RecordFormat(lower(chart))
    run, interpreter = InterpreterRun(form), Interpreter(chart)
    stream = chart_stream(form, covering=False)
    episodes = stream.episodes(2)
    for episode in [next(episodes) for _ in range(30)]:
        run.reset()
        states, at = run.run(episode), interpreter.initial()
        failed = int(np.argmax(states["status"])) if states["status"].any() else len(states)
        for row, snapshot in zip(
            rows_of(chart, episode[:failed]), form.unpack_all(states[:failed]), strict=True
        ):
            at = interpreter.step(at, row)
            assert snapshot == at
        for name in ("active", "out", "part"):
            last = states[name][max(failed - 1, 0)].tobytes()
            assert {one.tobytes() for one in states[name][failed:]} <= {last}
        assert {*states["status"][failed:].tolist()} <= {1}


def test_monitors_tell_which_promises_are_broken_after_each_tick() -> None:
    text = LAMP.read_text().replace("states:", "promises: [{never: lamp, name: dark}]\nstates:", 1)
    form = RecordFormat(lower(parse_chart(text)), monitors=True)
    run = InterpreterRun(form)
    states = run.run(form.pack([{"button": pressed} for pressed in map(bool, (0, 1, 0, 1, 1))]))
    assert states["broken"][:, 0].tolist() == states["lamp"].tolist() == [0, 1, 1, 0, 0]


def test_a_machine_whose_transitions_lead_to_each_others_goals_is_caught() -> None:
    right = lower(read_chart(LAMP))
    comparison = beside(right, crossed(right, "bright", 0, 1))
    found = comparison.mismatch()
    assert comparison.n_mismatched_ticks > 0
    assert found is not None
    assert len(found.inputs) == 3  # pressed, let go, and in `bright` all goes the other way
    assert found.inputs["button"].tolist() == [1, 0, 0]
    assert "active" in found.fields


@pytest.mark.parametrize(
    ("name", "state"),
    [("document/obstacle_mealy", "walking"), ("handshake/handshake", "sending"), ("stairs/stairs", "course")],
)
def test_any_two_transitions_of_a_state_that_are_swapped_are_caught(name: str, state: str) -> None:
    right = lower(read_chart(Path(f"examples/charts/{name}.chart.yaml")))
    ways = right.node(state).transitions
    for one, other in pairwise(range(len(ways))):
        if ways[one].targets != ways[other].targets:
            found = beside(right, crossed(right, state, one, other)).mismatch()
            assert found is not None, (one, other)
            assert len(found.inputs) < 20


def test_the_order_of_transitions_that_exclude_each_other_changes_nothing() -> None:
    right = lower(read_chart(LAMP))
    assert beside(right, swapped(right, "bright", 0, 1)).n_mismatched_ticks == 0


@given(st.lists(st.integers(0, 9), max_size=60), st.integers(1, 4))
def test_the_shortest_inputs_still_show_it_and_no_tick_of_them_can_be_left_out(
    numbers: list[int], wanted: int
) -> None:
    def shows(records: np.ndarray) -> bool:
        return int(np.count_nonzero(records["n"] > 6)) >= wanted

    inputs = np.array([(7, 1), *((n, n) for n in numbers), *[(8, 2)] * 4], [("n", "u1"), ("x", "u1")])
    found = shrink(inputs, shows)
    assert shows(found)
    assert len(found) == wanted
    assert not found["x"].any()


def test_fields_of_a_chart_without_inputs_are_none() -> None:
    head = "chart: c\nperiod_s: 0.1\noutputs: {x: bool}\ninitial: a\n"
    text = head + "states: {a: [{when: true, go: b}], b: [{when: true, go: a}]}\n"
    form = RecordFormat(lower(parse_chart(text)))
    assert chart_fields(form) == ()
    assert InterpreterRun(form).run(chart_stream(form).take_records(4, 1))["status"].tolist() == [0] * 4
