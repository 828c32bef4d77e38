"""`posewright board verify` as a person and as a program use it."""

from __future__ import annotations

import json

import pytest

from posewright.charts import read_chart
from posewright.charts.machine import lower
from posewright.cli.app import run
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.proof.proving import verify
from posewright.errors import InputError

from .conftest import need_tool
from .swapped import crossed

LAMP = "examples/charts/button_lamp/button_lamp.chart.yaml"


def test_verify_tells_a_program_everything_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    need_tool("gcc")
    assert run(["board", "verify", LAMP, "--steps", "2000", "--seed", "3", "--coverage", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["steps"], data["mismatches"], data["mismatch"]) == (2000, 0, None)
    assert (data["transitions_taken"], data["transitions"]) == (8, 8)
    assert data["line_coverage"] == 1.0


def test_too_few_steps_to_take_every_transition_are_no_ok(capsys: pytest.CaptureFixture[str]) -> None:
    need_tool("gcc")
    assert run(["board", "verify", LAMP, "--steps", "2"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("warning")
    assert "of 8 transitions taken" in said
    assert "never taken" in said


def test_a_behaviour_on_an_uno_is_refused_before_anything_is_compiled() -> None:
    with pytest.raises(InputError, match="an Arduino UNO runs charts"):
        verify("document_mealy", "arduino-uno", steps=10)


def test_a_broken_generator_is_caught_and_the_shortest_inputs_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    need_tool("gcc")
    chart = read_chart(LAMP)
    broken = ChartUnitSpec(chart, machine=crossed(lower(chart), "bright", 0, 1))
    found = verify(broken, steps=2000)
    assert found.mismatches > 0
    assert found.mismatch is not None
    assert found.mismatch.inputs["button"].tolist() == [1, 0, 0]
    monkeypatch.setattr("posewright.codegen.read_unit_spec", lambda *_, **__: broken)
    assert run(["board", "verify", LAMP, "--steps", "2000"]) == 1
    said = capsys.readouterr().out
    assert "host differs in active" in said
    assert "bright" in said


def test_verify_on_a_board_says_what_the_chart_needs_there() -> None:
    need_tool("avr-gcc")
    found = verify(ChartUnitSpec(read_chart(LAMP)), "arduino-uno", steps=2000)
    assert found.same
    assert found.footprint is not None
    assert found.footprint.flash_bytes < 200
    assert found.footprint.step_cycles_worst is not None
    assert found.footprint.step_cycles_worst < 150
