"""Native charts: read, refused with the place, written with a person's comments kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.charts import (
    BoolType,
    ChartKind,
    EnumType,
    FloatType,
    IntType,
    Otherwise,
    Priority,
    parse_chart,
    read_chart,
    save_chart,
)
from posewright.errors import PosewrightError

LIFT = """\
# a lift, with everything the language has
chart: lift
description: Up and down.
kind: mealy
period_s: 0.1        # ten a second
inputs:
  call: bool
  floor: {int: [0, 3]}
  speed_m_s: {float: [-1.0, 1.0]}
  way: {enum: [up, down]}
outputs: {motor: {enum: [idle, lifting, lowering]}, bell: bool, trips: int16}
constants: {top: 3, slow_m_s: 0.05}
initial_outputs: {bell: 1}
priority: ordered
otherwise: stay
initial: waiting
states:
  waiting:
    min_s: 0.25
    transitions:
      - when: call and way == up and floor < top   # not beyond the roof
        do: {motor: lifting, bell: 0, trips: trips + 1}
        go: moving
      - when: call and way == down
        do: {motor: lowering, bell: false, trips: trips + 1}
        go: moving
      - {when: call, do: {bell: not bell}}
  moving:
    - when: abs(speed_m_s) < slow_m_s
      after_s: 0.5
      do: {motor: idle}
      go: waiting
    - after_s: 30
      go: waiting
"""


def test_everything_the_language_has_is_read() -> None:
    chart = parse_chart(LIFT)
    assert (chart.kind, chart.priority, chart.otherwise) == (
        ChartKind.MEALY,
        Priority.ORDERED,
        Otherwise.STAY,
    )
    assert chart.inputs == {
        "call": BoolType(),
        "floor": IntType(0, 3),
        "speed_m_s": FloatType(-1.0, 1.0),
        "way": EnumType(("up", "down")),
    }
    assert chart.outputs["trips"] == IntType(-(2**15), 2**15 - 1)
    assert chart.start_outputs() == {"motor": "idle", "bell": True, "trips": 0}
    waiting, moving = chart.states
    assert [transition.goal for transition in waiting.transitions] == ["moving", "moving", None]
    assert chart.wait_ticks(waiting, waiting.transitions[0], leaves=True) == 3
    assert chart.wait_ticks(waiting, waiting.transitions[2], leaves=False) == 0
    assert chart.wait_ticks(moving, moving.transitions[0], leaves=True) == 5
    assert waiting.transitions[0].line == 21


def test_an_unchanged_chart_is_saved_with_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "lift.chart.yaml"
    path.write_text(LIFT.replace("false", "0"))
    before = path.read_bytes()
    save_chart(read_chart(path), path)
    assert path.read_bytes() == before


def test_a_chart_written_anew_reads_the_same(tmp_path: Path) -> None:
    chart = parse_chart(LIFT)
    save_chart(chart, tmp_path / "new.chart.yaml")
    assert read_chart(tmp_path / "new.chart.yaml") == chart


def test_a_moore_chart_comes_back_the_same(tmp_path: Path) -> None:
    text = """\
chart: lamp
kind: moore
period_s: 1
inputs: {key: bool}
outputs: {light: bool, level: {float: [0, 1]}}
initial: dark
states:
  dark:
    - {when: key, go: bright}
  bright:
    do: {light: 1, level: 0.5}
    transitions:
      - {when: not key, go: dark}
"""
    chart = parse_chart(text)
    save_chart(chart, tmp_path / "lamp.chart.yaml")
    assert read_chart(tmp_path / "lamp.chart.yaml") == chart


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("go: moving", "go: moveing", 23, "did you mean moving"),
        ("when: call and way", "when: cal and way", 21, "did you mean call"),
        ("floor < top", "floor < call", 21, "needs a number"),
        ("{motor: idle}", "{moter: idle}", 31, "did you mean motor"),
        ("{motor: idle}", "{motor: up}", 31, "it must be one of idle"),
        ("{motor: idle}", "{motor: 1}", 31, "a number where a name"),
        ("trips: trips + 1", "trips: trips / 2", 22, "whole number is needed"),
        ("trips: trips + 1", "trips: 40000", 22, "out of range"),
        ("initial: waiting\n", "", 1, "'initial' is missing"),
        ("initial: waiting\n", "inital: waiting\n", 16, "did you mean initial"),
        ("otherwise: stay", "otherwise: go", 15, "unknown otherwise 'go'"),
        ("  moving:\n", "  waiting:\n", 28, "duplicate key"),
        ("call: bool", "call: boolean", 7, "did you mean bool"),
        ("call: bool", "motor: bool", 11, "occurs twice"),
        ("call: bool", "up: bool", 10, "occurs twice"),
        ("outputs: {motor", "events: [go_up]\noutputs: {motor", 11, "a mealy chart has no events"),
        ("    min_s: 0.25", "    entry: {bell: 1}", 19, "use kind: statechart"),
        ("initial_outputs: {bell: 1}", "initial_outputs: {bel: 1}", 13, "did you mean bell"),
        ("initial_outputs: {bell: 1}", "initial_values: {bell: call}", 13, "'call'"),
        ("top: 3", "top: 3 apples", 12, "no unit"),
        ("call: bool", "not: bool", 7, "a reserved word"),
        ("{int: [0, 3]}", "{int: [3, 0]}", 8, "is empty"),
        ("{int: [0, 3]}", "{int: [0, 3.5]}", 8, "a whole number"),
        ("{int: [0, 3]}", "[0, 3]", 8, "expected a type"),
        ("period_s: 0.1", "period_s: 0", 5, "out of range"),
        ("period_s: 0.1", "period_s: .nan", 5, "finite number"),
        ("kind: mealy", "kind: melay", 4, "did you mean mealy"),
        ("kind: mealy", "kind: moore", 22, "a Moore transition sets no outputs"),
        ("- when: call and", "- wen: call and", 21, "did you mean when"),
        ("min_s: 0.25", "min_s: -1", 19, "out of range"),
        ("    min_s: 0.25", "    do: {bell: 1}", 19, "a Mealy state sets no outputs"),
        ("- {when: call, do: {bell: not bell}}", "- {when: call}", 27, "it has no effect"),
        ("when: call and way == down", "when: [call]", 24, "expected an expression"),
        ("kind: mealy", "kind: [mealy", 4, "the [ is never closed"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, line: int, message: str) -> None:
    text = LIFT.replace(old, new, 1)
    assert text != LIFT
    with pytest.raises(PosewrightError) as caught:
        parse_chart(text, Path("lift.chart.yaml"))
    assert message in str(caught.value)
    assert caught.value.where is not None
    assert caught.value.where.line == line


def test_an_error_in_an_expression_points_at_its_column_in_the_file() -> None:
    with pytest.raises(PosewrightError) as caught:
        parse_chart(LIFT.replace("floor < top", "flor < top"), Path("lift.chart.yaml"))
    assert str(caught.value).startswith("lift.chart.yaml:21:38: ")
    quoted = LIFT.replace("when: call and way == down", "when: 'call and wya == down'")
    with pytest.raises(PosewrightError) as caught:
        parse_chart(quoted, Path("lift.chart.yaml"))
    assert str(caught.value).startswith("lift.chart.yaml:24:25: ")


def test_names_that_differ_only_in_case_are_read_for_the_checks_to_find() -> None:
    text = LIFT.replace("call: bool", "call: bool\n  Call: bool")
    assert parse_chart(text).inputs.keys() >= {"call", "Call"}


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PosewrightError, match="No such file"):
        read_chart(tmp_path / "none.chart.yaml")
    with pytest.raises(PosewrightError):
        read_chart(tmp_path)
    (tmp_path / "b.chart.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PosewrightError, match="not a text file"):
        read_chart(tmp_path / "b.chart.yaml")
