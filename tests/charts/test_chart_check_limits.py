"""What the checks prove and what they cannot: fractions, long counters, no prover, regions at their end."""

from __future__ import annotations

import pytest

from posewright.charts import Level, Rule, check_chart, inspect_chart, parse_chart
from posewright.charts.reachability import Limits
from posewright.errors import MissingExtraError

from .checked import BACK, chart, found
from .replay import shows


def test_guards_over_products_of_fractions_are_proved_too() -> None:
    text = "  one: [{when: d * d > 2, go: one}, {when: d * d <= 2, go: one}]\n"
    assert not [finding for finding in check_chart(chart(text)) if finding.level is Level.ERROR]
    (overlap,) = found(text.replace("<= 2", "< 2.0001"), Rule.OVERLAP)
    assert shows(chart(text.replace("<= 2", "< 2.0001")), overlap)


def test_a_register_that_counts_too_far_leaves_things_unproved() -> None:
    text = """\
  one:
    - {when: a and m < 2000000, do: {m: m + 1}}
    - {when: m >= 1999999, go: two}
  two: {final: true}
"""
    extra = "locals: {m: int}\ninitial_values: {m: 0}\notherwise: stay\n"
    report = inspect_chart(chart(text, extra=extra), limits=Limits(states=300))
    assert not report.complete
    (overlap,) = [finding for finding in report.findings if finding.rule is Rule.OVERLAP]
    assert (overlap.level, overlap.proved, overlap.trace) == (Level.ERROR, False, ())
    assert overlap.counterexample is not None
    assert overlap.counterexample.outputs["m"] == 1999999
    assert any(finding.rule is Rule.NOT_PROVED for finding in report.findings)
    assert not any(finding.rule in (Rule.UNREACHABLE, Rule.NEVER) for finding in report.findings)


def test_without_a_prover_that_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise MissingExtraError.for_extra("proof", "charts")

    text = "  one: [{when: n * n > 2 and d > 0.5, go: one}, {when: n * n > 3 and d <= 0.5, go: one}]\n"
    monkeypatch.setattr("posewright.charts.proof.prover.Prover.ask", missing)
    notes = found(text, Rule.NOT_PROVED, extra="otherwise: stay\n")
    assert len([note for note in notes if "posewright[charts]" in note.message]) == 1


def test_without_a_prover_what_each_input_decides_by_itself_is_proved_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(*_: object) -> None:
        raise MissingExtraError.for_extra("proof", "charts")

    monkeypatch.setattr("posewright.charts.proof.prover.Prover.ask", missing)
    text = "  one: [{when: n <= 12345, go: two}, {when: n >= 12345, go: one}]\n" + BACK
    (overlap,) = found(text, Rule.OVERLAP)
    assert shows(chart(text), overlap)
    assert found(text, Rule.NOT_PROVED) == []


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
