"""Every form of a chart in docs/charts.md goes through every command that takes a chart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from posewright.charts import Interpreter, read_chart, write_chart
from posewright.cli.app import run as run_words
from posewright.codegen import generate, verify_folder

from .conftest import need_tool

NATIVE = """
chart: turnstile
kind: mealy
period_s: 0.1
inputs: {coin: bool, push: bool}
outputs: {unlocked: bool}
initial: locked
states:
  locked:
    transitions:
      - {when: coin, do: {unlocked: true}, go: open}
      - {when: not coin, do: {unlocked: false}, go: locked}
  open:
    transitions:
      - {when: push, do: {unlocked: false}, go: locked}
      - {when: not push, do: {unlocked: true}, go: open}
"""
MOORE = """
chart: turnstile_moore
kind: moore
period_s: 0.1
inputs: {coin: bool, push: bool}
outputs: {unlocked: bool}
initial: locked
states:
  locked:
    do: {unlocked: false}
    transitions: [{when: coin, go: open}, {when: not coin, go: locked}]
  open:
    do: {unlocked: true}
    transitions: [{when: push, go: locked}, {when: not push, go: open}]
"""
REGIONS = """
chart: turnstile_regions
kind: statechart
period_s: 0.1
events: [coin, push]
outputs: {unlocked: bool, count: {int: [0, 9]}}
regions:
  gate:
    initial: locked
    states:
      locked: {entry: {unlocked: false}, transitions: [{on: coin, go: open}]}
      open: {entry: {unlocked: true}, transitions: [{on: push, go: locked}]}
  counter:
    initial: counting
    states:
      counting: {transitions: [{on: coin, when: count < 9, do: {count: count + 1}}]}
"""
TRUTH_TABLE_BITS = """q0,push,coin,q0_next,unlocked
0,X,0,0,0
0,X,1,1,1
1,0,X,1,1
1,1,X,0,0
"""
TRUTH_TABLE_NAMES = """state,push,coin,next,unlocked
locked,X,0,locked,0
locked,X,1,open,1
open,0,X,open,1
open,1,X,locked,0
"""
TRANSITION_TABLE = """# kind: mealy
# inputs: {coin: bool, push: bool}
# outputs: {unlocked: bool}
state,on,when,do,go
locked,,coin,unlocked: true,open
,,not coin,unlocked: false,locked
open,,push,unlocked: false,locked
,,not push,unlocked: true,open
"""
FOREIGN_SCXML = """<scxml xmlns="http://www.w3.org/2005/07/scxml" version="1.0" initial="locked">
 <datamodel><data id="unlocked" expr="false"/></datamodel>
 <state id="locked">
  <transition event="coin" target="open"><assign location="unlocked" expr="true"/></transition>
 </state>
 <state id="open">
  <transition event="push" target="locked"><assign location="unlocked" expr="false"/></transition>
 </state>
</scxml>
"""
FORMS = {
    "mealy.chart.yaml": NATIVE,
    "moore.chart.yaml": MOORE,
    "regions.chart.yaml": REGIONS,
    "bits.csv": TRUTH_TABLE_BITS,
    "names.csv": TRUTH_TABLE_NAMES,
    "transitions.csv": TRANSITION_TABLE,
    "foreign.scxml": FOREIGN_SCXML,
    "own.scxml": "",  # written from the native document
}


@pytest.fixture(params=FORMS)
def chart_path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / str(request.param)
    if path.name == "own.scxml":
        (tmp_path / "turnstile.chart.yaml").write_text(NATIVE)
        write_chart(read_chart(tmp_path / "turnstile.chart.yaml"), path)
    else:
        path.write_text(FORMS[path.name])
    return path


def run(*words: object) -> int:
    return run_words([str(word) for word in words])


def test_a_chart_of_any_form_is_checked_run_covered_drawn_and_mutated(chart_path: Path) -> None:
    folder = chart_path.parent
    assert run("chart", "check", chart_path) == 0
    names = {*read_chart(chart_path).inputs, *read_chart(chart_path).events}
    tick = ",".join(f"{name}=1" for name in sorted(names))
    assert run("chart", "run", chart_path, "--input", tick, "--input", tick) == 0
    assert run("chart", "run", chart_path, "--input", tick, "--native") == 0
    assert run("chart", "cover", chart_path, "-o", folder / "scenarios") == 0
    assert run("chart", "test", chart_path, *sorted((folder / "scenarios").iterdir())) == 0
    assert run("chart", "draw", chart_path, "-o", folder / "chart.svg") == 0
    assert run("chart", "draw", chart_path, "-o", folder / "chart.mmd") == 0
    assert run("chart", "diff", chart_path, chart_path) == 0


@pytest.mark.parametrize("suffix", [".chart.yaml", ".scxml", ".csv"])
def test_a_chart_of_any_form_is_converted_to_every_other_and_stays_the_same(
    chart_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    written = chart_path.parent / f"written{suffix}"
    code = run("chart", "convert", chart_path, "-o", written)
    if code == 2 and suffix == ".csv":  # a transition table has no regions, and says so
        assert chart_path.name == "regions.chart.yaml"
        assert "region" in capsys.readouterr().err
        return
    assert code == 0
    assert run("chart", "diff", chart_path, written) == 0


def test_a_chart_of_any_form_runs_compiled_as_it_runs_interpreted(chart_path: Path) -> None:
    need_tool("gcc")
    chart = read_chart(chart_path)
    interpreter = Interpreter(chart)
    machine = Interpreter(chart, native=True)
    interpreted = interpreter.initial()
    compiled = machine.initial()
    for tick in range(12):
        values = {"coin": bool(tick & 1), "push": bool(tick & 2)}
        interpreted = interpreter.step(interpreted, values)
        compiled = machine.step(compiled, values)
        assert interpreted.configuration == compiled.configuration
        assert interpreted.values == compiled.values


@pytest.mark.parametrize("target", ["host", "arduino-uno", "cm900"])
def test_a_chart_of_any_form_is_generated_built_and_verified(
    chart_path: Path, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    need_tool({"host": "gcc", "arduino-uno": "avr-gcc", "cm900": "arm-none-eabi-gcc"}[target])
    assert run("board", "verify", chart_path, "--target", target, "--steps", 500, "--json") == 0
    assert json.loads(capsys.readouterr().out)["mismatches"] == 0
    folder = chart_path.parent / "board"
    generate(chart_path, folder, target)
    assert run("board", "build", folder) == 0
    assert verify_folder(folder, steps=500).same
