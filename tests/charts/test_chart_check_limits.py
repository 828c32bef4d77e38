"""What the checks prove and what they cannot: fractions, long counters, no prover, regions at their end."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from posewright.charts import (
    Level,
    Rule,
    check_chart,
    cover_chart,
    draw_svg,
    inspect_chart,
    parse_chart,
    read_chart,
    run_chart,
    write_chart,
)
from posewright.charts.reachability import ExplorationLimits
from posewright.errors import MissingExtraError

from .checked import BACK, HEAD, chart, found
from .replay import shows


def test_guards_over_products_of_fractions_are_proved_too() -> None:
    """Of 32 bits, whose products are proved ten times faster than those of 64."""
    head = HEAD.replace("d: float", "d: float32")
    text = "  one: [{when: d * d > 2, go: one}, {when: d * d <= 2, go: one}]\n"
    overlapping = parse_chart(head + text.replace("<= 2", "< 2.0001"))
    assert inspect_chart(parse_chart(head + text)).sound
    (overlap,) = [finding for finding in check_chart(overlapping) if finding.rule is Rule.OVERLAP]
    assert shows(overlapping, overlap)


def test_a_register_that_counts_too_far_leaves_things_unproved() -> None:
    text = """\
  one:
    - {when: a and m < 2000000, do: {m: m + 1}}
    - {when: m >= 1999999, go: two}
  two: {final: true}
"""
    extra = "locals: {m: int}\ninitial_values: {m: 0}\notherwise: stay\n"
    report = inspect_chart(
        chart(text, extra=extra), limits=ExplorationLimits(max_states=300, max_work=50_000)
    )
    assert not report.complete
    (overlap,) = [finding for finding in report.findings if finding.rule is Rule.OVERLAP]
    assert (overlap.level, overlap.proved, overlap.trace) == (Level.ERROR, False, ())
    assert overlap.counterexample is not None
    assert overlap.counterexample.outputs["m"] == 1999999
    assert any(finding.rule is Rule.NOT_PROVED for finding in report.findings)
    assert not any(finding.rule in (Rule.UNREACHABLE, Rule.NEVER) for finding in report.findings)


@pytest.fixture
def no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bitwuzla", None)


@pytest.mark.usefixtures("no_solver")
def test_without_the_solver_a_check_names_the_extra_that_brings_it() -> None:
    with pytest.raises(MissingExtraError, match=r"posewright\[charts\]"):
        check_chart(chart("  one: [{when: a, go: one}, {when: not a, go: one}]\n"))


@pytest.mark.usefixtures("no_solver")
def test_without_the_solver_a_chart_is_read_run_drawn_covered_and_converted(tmp_path: Path) -> None:
    """A run warns that the chart is not checked."""
    machine = chart("  one: [{when: a, go: two}]\n" + BACK, extra="otherwise: stay\n")
    write_chart(machine, tmp_path / "c.chart.yaml")
    machine = read_chart(tmp_path / "c.chart.yaml")
    with pytest.warns(UserWarning, match=r"not checked.*posewright\[charts\]"):
        ticks = run_chart(machine, ["a=1", "a=0"])
    assert [tick.after.state for tick in ticks] == ["two", "two"]
    assert "<svg" in draw_svg(machine)
    assert cover_chart(machine).complete
    write_chart(machine, tmp_path / "c.scxml")


def test_a_value_that_grows_until_it_leaves_its_range_is_followed_though_nothing_reads_it() -> None:
    text = """\
  one: [{when: a, do: {big: big * 2}}, {when: b and not a, go: two}]
  two: {final: true}
"""
    extra = "locals: {big: int}\ninitial_values: {big: 1}\notherwise: stay\n"
    (overflow,) = found(text, Rule.OVERFLOW, extra=extra)
    assert len(overflow.trace) == 31
    assert overflow.counterexample is not None
    assert overflow.counterexample.outputs == {"big": 2**30}


def test_a_region_that_waits_while_another_is_at_its_end_is_no_dead_end() -> None:
    regions = """\
chart: c
period_s: 0.1
inputs: {a: bool}
outputs: {x: bool}
initial_values: {x: 0}
regions:
  body: {initial: going, states: {going: [{when: a, go: over}], over: {final: true}}}
  lamp:
    initial: dark
    states: {dark: [{when: in(going) and a, do: {x: 1}, go: lit}], lit: [{when: not a, go: dark}]}
"""
    assert [one for one in check_chart(parse_chart(regions)) if one.rule is Rule.DEAD_END] == []
    stuck = regions.replace("over: {final: true}", "over: []")
    assert {one.state for one in check_chart(parse_chart(stuck)) if one.rule is Rule.DEAD_END} == {
        "over",
        "dark",
    }
