"""What of a chart can be covered at all, and why the rest cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from posewright.charts.coverage.both_ways import BothWays
from posewright.charts.coverage.coverage import Coverage
from posewright.charts.coverage.goal import Fact, Goals, Measure, TestObligation
from posewright.charts.coverage.recording import CoverageRecorder
from posewright.charts.machine import CompoundTransition, Snapshot
from posewright.charts.reachability import Exploration
from posewright.charts.types import Value
from posewright.errors import PosewrightError


class Shown(NamedTuple):
    """What a tick shows.

    Attributes:
        ends: whether the tick comes to an end, and does not fail.
    """

    inputs: Mapping[str, Value]
    facts: frozenset[Fact]
    ends: bool


@dataclass(frozen=True, eq=False)
class Feasible:
    """What the cases of an exploration cover.

    Attributes:
        coverage: of all cases together, with what cannot be covered.
        shown: what can be seen in a tick from each situation, by the situation's state.
    """

    exploration: Exploration
    coverage: Coverage
    shown: Mapping[Snapshot, tuple[Shown, ...]] = field(repr=False)

    @property
    def infeasible(self) -> Mapping[TestObligation, str]:
        """Goals that no run can meet, and why; none where the exploration is not complete."""
        return self.coverage.infeasible

    @property
    def infeasible_ways(self) -> dict[CompoundTransition, str]:
        """Ways that no run can take, and why."""
        reasons = {next(iter(goal.met_by[0])): reason for goal, reason in self.infeasible.items()}
        ways = ((way, ("way", way.source, way.index)) for way in self.exploration.machine.ways)
        return {way: reasons[fact] for way, fact in ways if fact in reasons}


def feasible(exploration: Exploration, goals: Goals | None = None) -> Feasible:
    """Return what of an explored chart can be covered: every case of every situation is run and looked at."""
    recorder = CoverageRecorder(exploration.interpreter, goals)
    both = BothWays(exploration, recorder.goals)
    shown: dict[Snapshot, tuple[Shown, ...]] = {}
    for state in exploration.situations:
        rows = [case.inputs for case in exploration.cases(state)]
        rows += [row for row in both.rows(state) if row not in rows]
        shown[state] = tuple(_shown(recorder, state, row) for row in rows)
    coverage = recorder.coverage
    if exploration.complete:
        vague = both.choices if both.doubtful else frozenset[int]()
        coverage = replace(coverage, infeasible=dict(_Reasons(exploration, coverage, vague).all()))
    return Feasible(exploration, coverage, shown)


def with_feasible(coverage: Coverage, possible: Feasible) -> Coverage:
    """Return a coverage of which the goals that cannot be met are left out."""
    return replace(coverage, infeasible=possible.infeasible)


def _shown(recorder: CoverageRecorder, state: Snapshot, inputs: Mapping[str, Value]) -> Shown:
    """Return what a tick shows; of one that fails, what it shows before."""
    try:
        return Shown(inputs, recorder.shown(recorder.outcome(state, inputs)), ends=True)
    except PosewrightError:
        return Shown(inputs, recorder.shown(None), ends=False)


class _Reasons:
    """Says why goals cannot be met, in words."""

    def __init__(self, exploration: Exploration, coverage: Coverage, unsure: frozenset[int]) -> None:
        self.exploration = exploration
        self.unsure = unsure
        self.coverage = coverage
        self.goals = coverage.goals
        self.nodes = exploration.machine.nodes
        self.guards = {id(site.written): first for first, site in self.goals.sites if site.decides}
        raised = (case.raised for state in exploration.situations for case in exploration.cases(state))
        self.raised = {event for events in raised for event in events} | {*exploration.chart.events}

    def all(self) -> Iterator[tuple[TestObligation, str]]:
        vague = self.vague() | self.unsure
        for goal in self.coverage.missing:
            decision = self.decision_of(goal)
            if decision not in vague:
                yield goal, self.reason(goal, decision)

    def vague(self) -> set[int]:
        """Return decisions inside values that nothing reads: of those the exploration saw one way only."""
        if not any(keep.drops for keep in self.exploration.looked.keeps.values()):
            return set()
        values = (
            range(first, first + len(site.parts)) for first, site in self.goals.sites if not site.decides
        )
        return {number for numbers in values for number in numbers}

    def decision_of(self, goal: TestObligation) -> int:
        """Return the decision that a goal asks about, -1 where it asks about none."""
        if goal.measure not in (Measure.DECISIONS, Measure.CONDITIONS, Measure.MCDC):
            return -1
        return int(next(iter(goal.met_by[0]))[1])

    def reason(self, goal: TestObligation, decision: int) -> str:
        """Return why a goal cannot be met."""
        if goal.measure is Measure.STATES:
            return "no way that can be taken leads there"
        if goal.measure is Measure.TRANSITIONS:
            return self.way_reason(goal)
        if goal.measure is Measure.SEGMENTS:
            return "no way by it can be taken"
        if decision not in {evaluation[0] for evaluation in self.coverage.evaluations}:
            return "it is never asked"
        if goal.measure is Measure.MCDC:
            return "whenever it is asked, another condition decides"
        return "whenever it is asked, it comes out the other way"

    def way_reason(self, goal: TestObligation) -> str:
        _, source, index = next(iter(goal.met_by[0]))
        way = self.nodes[int(source)].ways[int(index)]
        if way.source not in self.coverage.visited:
            return f"{self.nodes[way.source].name} is never active"
        if way.events and not any(event in self.raised for event in way.events):
            return f"{' or '.join(way.events)} is never raised"
        for segment in way.segments:
            reason = self.guard_reason(self.guards.get(id(segment.when)), str(segment.when))
            if reason is not None:
                return reason
        return "a transition before it is always taken first"

    def guard_reason(self, decision: int | None, text: str) -> str | None:
        if decision is None or ("decision", decision, True) in self.coverage.facts:
            return None
        if ("decision", decision, False) in self.coverage.facts:
            return f"`{text}` never holds when it is asked"
        return "it is never asked: a transition before it is always taken first"
