"""Every planted fault is found, where it was planted, and nothing else; charts that are clean are clean."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from posewright.charts import Finding, Level, check_chart, read_chart

from .replay import shows

HERE = Path(__file__).parent
FAULTS = sorted(path.parent for path in HERE.glob("faults/*/expected.json"))
ROOT = HERE.parents[1]
CLEAN = sorted(ROOT.glob("src/posewright/robots/catalogue/**/*.chart.yaml"))
WITHOUT_A_RUN = {"unreachable", "never_holds", "case_twins", "function_gap", "function_overlap"}

# what a state that cannot be reached, or not be left, brings along
COMPANIONS = {"unreachable": {"never_holds"}, "dead_end": {"never_holds"}}


def name_of(path: Path) -> str:
    return path.name


def the_finding(fault: Path) -> Finding:
    expected = json.loads((fault / "expected.json").read_text())
    findings = check_chart(read_chart(fault / "chart.chart.yaml"))
    (found,) = [one for one in findings if one.rule.value == expected["rule"]]
    return found


@pytest.mark.parametrize("fault", FAULTS, ids=name_of)
def test_a_planted_fault_is_found_where_it_was_planted(fault: Path) -> None:
    expected = json.loads((fault / "expected.json").read_text())
    found = the_finding(fault)
    assert (found.level.value, found.state, found.line) == (
        expected["level"],
        expected["state"],
        expected["line"],
    )
    assert found.proved
    given = found.counterexample.inputs if found.counterexample is not None else {}
    assert expected.get("inputs", {}).items() <= dict(given).items()
    assert len(found.trace) == expected.get("ticks", len(found.trace))


@pytest.mark.parametrize("fault", FAULTS, ids=name_of)
def test_nothing_else_is_found(fault: Path) -> None:
    expected = json.loads((fault / "expected.json").read_text())["rule"]
    rules = {one.rule.value for one in check_chart(read_chart(fault / "chart.chart.yaml"))}
    assert expected in rules <= {expected, *COMPANIONS.get(expected, ())}


@pytest.mark.parametrize("fault", FAULTS, ids=name_of)
def test_the_run_that_comes_with_it_shows_it(fault: Path) -> None:
    found = the_finding(fault)
    if not found.trace:
        # circles of junctions are in what is written, not in a run
        assert found.rule.value in WITHOUT_A_RUN or fault.name.endswith("circle_of_junctions")
        return
    assert shows(read_chart(fault / "chart.chart.yaml"), found)


@pytest.mark.parametrize("fault", FAULTS, ids=name_of)
def test_it_is_told_what_was_planted_and_why_it_hurts(fault: Path) -> None:
    text = (fault / "README.md").read_text()
    assert text.startswith("# ")
    assert len(text.split()) > 30


def test_there_are_twenty_of_them_at_least() -> None:
    assert len(FAULTS) >= 20


@pytest.mark.parametrize("path", CLEAN, ids=name_of)
def test_a_chart_that_comes_with_a_robot_has_no_fault(path: Path) -> None:
    assert [
        one.message for one in check_chart(read_chart(path), within_s=6.0) if one.level is not Level.NOTE
    ] == []
