"""`posewright chart` where a chart is tried: events, keys, test, coverage, cover, mutate, diff, convert."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from posewright.charts import parse_chart
from posewright.cli.app import run
from posewright.cli.chart_run import parse_line
from posewright.errors import InputError

CHART = """\
chart: door
period_s: 0.1
inputs: {near: bool}
events: [knock]
outputs: {open: bool}
initial_values: {open: 0}
promises: [{never: open and not near, name: open_for_somebody}]
initial: shut
states:
  shut: [{on: knock, go: ajar}]
  ajar:
    transitions: [{when: not near, go: shut}, {when: 'near and after(0.3 s)', go: shut}]
    entry: {open: 1}
    exit: {open: 0}
priority: ordered
"""
FAIR = CHART.replace("promises: [{never: open and not near, name: open_for_somebody}]\n", "")
SCENARIO = """\
scenario: somebody_knocks
chart: door.chart.yaml
steps:
  - {set: {near: 1}, send: [knock], expect: {in: ajar, open: 1}}
  - {for: 0.3 s, expect: {in: shut, open: 0}}
"""

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def door(tmp_path: Path) -> Path:
    (tmp_path / "door.scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    path = tmp_path / "door.chart.yaml"
    path.write_text(CHART, encoding="utf-8")
    return path


def told(capsys: Captured, *words: str | Path, code: int = 0) -> str:
    assert run(["chart", *map(str, words)]) == code
    return capsys.readouterr().out


def test_a_scenario_beside_the_chart_is_found_and_passes(door: Path, capsys: Captured) -> None:
    assert "1 of 1 scenarios passed" in told(capsys, "test", door)
    answer = json.loads(told(capsys, "test", door, "--json"))
    assert answer["passed"] is True
    assert answer["scenarios"][0]["ticks"] == 4


def test_a_scenario_that_fails_says_line_and_tick_and_exits_with_1(door: Path, capsys: Captured) -> None:
    wrong = door.parent / "door.scenario.yaml"
    wrong.write_text(SCENARIO.replace("in: shut", "in: ajar"), encoding="utf-8")
    said = told(capsys, "test", door, code=1)
    assert "line 5" in said
    assert "tick 3" in said


def test_a_broken_promise_is_told_by_a_run_and_found_by_the_check(door: Path, capsys: Captured) -> None:
    found = json.loads(told(capsys, "check", door, "--json", "--witness", door.parent / "w", code=1))
    (finding,) = (one for one in found["findings"] if one["rule"] == "promise_broken")
    ran = told(capsys, "run", door, "--unchecked", "--inputs", finding["witness"], "--json", code=1)
    (broken,) = json.loads(ran)["broken_promises"]
    assert broken["promise"] == "open_for_somebody"
    assert broken["tick"] == len(finding["trace"]) - 1


def test_a_chart_is_run_at_the_keyboard(
    door: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("near=1 knock\nbogus\n0.2 s\n\nquit\n"))
    answer = json.loads(told(capsys, "run", door, "--keys", "--unchecked", "--json"))
    assert [tick["state"] for tick in answer["ticks"]] == ["ajar", "ajar", "ajar", "shut"]
    assert answer["ticks"][0]["events"] == ["knock"]


@pytest.mark.parametrize("line", ["near", "nera=1", "near=2", "1.5", "inf", "-3", "2000000"])
def test_a_line_that_makes_no_sense_is_refused(line: str) -> None:
    with pytest.raises(InputError):
        parse_line(parse_chart(CHART), line)


def test_cover_writes_scenarios_that_pass_cover_and_find_faults(door: Path, capsys: Captured) -> None:
    door.write_text(FAIR, encoding="utf-8")
    folder, before = door.parent / "made" / "here", set(door.parent.iterdir())
    assert "nothing is written" in told(capsys, "cover", door)
    assert json.loads(told(capsys, "cover", door, "--json"))["files"] == []
    assert set(door.parent.iterdir()) == before
    written = json.loads(told(capsys, "cover", door, "-o", folder, "--json", "--draw", door.parent / "c.svg"))
    assert written["files"]
    assert all(row["missing"] == [] for row in written["measures"].values())
    assert "passed" in told(capsys, "test", door, folder)
    assert (door.parent / "c.svg").read_text(encoding="utf-8").startswith("<svg")
    covered = json.loads(told(capsys, "coverage", door, folder, "--json"))
    assert covered["measures"]["transitions"]["covered"] == 3
    assert json.loads(told(capsys, "mutate", door, folder, "--json"))["score"] >= 0.9


def test_two_charts_are_compared_and_the_inputs_that_tell_them_apart_are_written(
    door: Path, capsys: Captured
) -> None:
    other = door.parent / "other.chart.yaml"
    door.write_text(FAIR, encoding="utf-8")
    other.write_text(FAIR.replace("0.3 s", "0.4 s"), encoding="utf-8")
    assert "behave alike: proved" in told(capsys, "diff", door, door)
    found = json.loads(told(capsys, "diff", door, other, "--json", "-o", door.parent / "apart.csv", code=1))
    assert found["equal"] is False
    assert len(found["inputs"]) == 4
    ends = [
        json.loads(told(capsys, "run", chart, "--unchecked", "--inputs", door.parent / "apart.csv", "--json"))
        for chart in (door, other)
    ]
    assert ends[0]["ticks"][-1]["outputs"] != ends[1]["ticks"][-1]["outputs"]


@pytest.mark.parametrize("ending", [".scxml", ".csv", ".chart.yaml"])
def test_a_chart_goes_into_another_form_and_comes_back(door: Path, capsys: Captured, ending: str) -> None:
    there = door.parent / f"there{ending}"
    told(capsys, "convert", door, "-o", there)
    assert "behave alike: proved" in told(capsys, "diff", door, there)


def test_an_unknown_form_and_overwriting_are_refused(door: Path, capsys: Captured) -> None:
    told(capsys, "convert", door, "-o", door.parent / "there.docx", code=2)
    told(capsys, "convert", door, "-o", door, code=2)
    assert door.read_text(encoding="utf-8") == CHART
