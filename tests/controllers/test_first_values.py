"""Outputs of a chart that nothing has set when they are first read are told of when a behaviour is read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from posewright.controllers.behaviours import behaviour_names, read_behaviour
from posewright.robots import robot

SHIPPED = robot("robotis_bioloid").folder


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Give the shipped passivity test as a behaviour of one's own, without first values."""
    assert SHIPPED is not None
    for name in ("passivity_test.behaviour.yaml", "passivity_test.chart.yaml"):
        shutil.copy(SHIPPED / "behaviours" / name, tmp_path)
    changed(tmp_path, "initial_values: {walks: 0}\n", "")
    return tmp_path / "passivity_test.behaviour.yaml"


def changed(folder: Path, old: str, new: str) -> None:
    chart = folder / "passivity_test.chart.yaml"
    text = chart.read_text(encoding="utf-8")
    assert old in text
    chart.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("name", behaviour_names())
def test_what_ships_has_nothing_to_warn_of(name: str) -> None:
    assert read_behaviour(name).warnings == ()


def test_an_output_without_a_first_value_is_named(own: Path) -> None:
    (warning,) = read_behaviour(own).warnings
    assert "the chart passivity_test gives no first value to walks" in warning
    assert "`initial_values`" in warning


def test_an_output_that_the_first_state_sets_by_itself_has_a_first_value(own: Path) -> None:
    changed(own.parent, "kind: mealy", "kind: statechart")
    start = "  waiting:\n    - {when: clock_s >= wait_s, do: {walks: 1}, go: walking}"
    changed(own.parent, start, start.replace("    - {", "    entry: {walks: 0}\n    transitions:\n      - {"))
    assert read_behaviour(own).warnings == ()


SETTLED = """\
chart: settled
kind: mealy
period_s: 0.1
inputs: {clock_s: float, near: bool}
outputs: {walks: bool}
initial: only
states:
  only:
    - {when: near or clock_s < 5, do: {walks: 0}, go: only}
    - {when: not near and clock_s >= 5, do: {walks: 1}, go: only}
"""


def test_an_output_that_every_first_step_sets_has_a_first_value(own: Path) -> None:
    chart = own.parent / "passivity_test.chart.yaml"
    chart.write_text(SETTLED, encoding="utf-8")
    assert read_behaviour(own).warnings == ()
    chart.write_text(SETTLED.replace("inputs:", "otherwise: stay\ninputs:"), encoding="utf-8")
    assert len(read_behaviour(own).warnings) == 1, "it may stay and set nothing"
