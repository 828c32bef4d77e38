"""What of a chart can be covered at all, and why the rest cannot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import NamedTuple

from posewright.charts.coverage.coverage import Coverage
from posewright.charts.coverage.obligation import (
    Fact,
    Measure,
    Site,
    TestObligation,
    TestObligations,
    conditions_of,
    decisions_in,
    is_choice,
)
from posewright.charts.coverage.recording import CoverageRecorder, cover_run
from posewright.charts.expression import Expression, Tree, names_in
from posewright.charts.machine import CompoundTransition, Snapshot
from posewright.charts.model import Chart
from posewright.charts.reachability import (
    Exploration,
    PathCondition,
    Registers,
    SymbolicCompiler,
    SymbolicFunction,
    explore,
    explore_paths,
)
from posewright.charts.running import rows_given
from posewright.charts.scenarios import Scenario
from posewright.charts.types import Type, Value
from posewright.errors import ExpressionError, PosewrightError


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
    """What the steps of an exploration cover.

    Attributes:
        coverage: of all steps together; what cannot be covered is known where the exploration is complete.
        shown: what can be seen in a tick from each situation, by the situation's state.
    """

    exploration: Exploration
    coverage: Coverage
    shown: Mapping[Snapshot, tuple[Shown, ...]] = field(repr=False)

    @property
    def infeasible_ways(self) -> dict[CompoundTransition, str]:
        """Ways that no run can take, and why."""
        reasons = {next(iter(one.met_by[0])): reason for one, reason in self.coverage.infeasible.items()}
        ways = ((way, ("way", way.source, way.index)) for way in self.exploration.machine.transitions)
        return {way: reasons[fact] for way, fact in ways if fact in reasons}


def feasible(exploration: Exploration) -> Feasible:
    """Return what of an explored chart can be covered: every step of every situation is run."""
    recorder = CoverageRecorder(exploration.interpreter)
    both = _BothWays(exploration, recorder.obligations)
    shown: dict[Snapshot, tuple[Shown, ...]] = {}
    for state in exploration.distinct_states:
        rows = [case.inputs for case in exploration.cases(state)]
        rows += [row for row in both.rows(state) if row not in rows]
        shown[state] = tuple(_shown(recorder, state, row) for row in rows)
    coverage = recorder.coverage
    if exploration.complete:
        vague = both.choices if both.doubtful else frozenset[int]()
        coverage = replace(coverage, infeasible=dict(_Reasons(exploration, coverage, vague).all()))
    return Feasible(exploration, coverage, shown)


def with_feasible(coverage: Coverage, possible: Feasible) -> Coverage:
    """Return a coverage of which the obligations that cannot be met are left out."""
    return replace(coverage, infeasible=possible.coverage.infeasible)


def coverage_of(chart: Chart, runs: Iterable[Scenario | Path | str]) -> Coverage:
    """Return what runs of a chart cover together; what no run can cover, as was proved, is left out.

    Args:
        chart: what is run.
        runs: scenarios, or paths of scenarios or of CSV files of inputs.

    Raises:
        InputError: there is no run, or a run is not what it should be.
        ExpressionError: a guard or an action divides by zero.
    """
    possible = feasible(explore(chart))
    nothing = cover_run(chart, [])
    found = reduce(add, (cover_run(chart, rows_given(chart, run)) for run in runs), nothing)
    return with_feasible(found, possible)


def _shown(recorder: CoverageRecorder, state: Snapshot, inputs: Mapping[str, Value]) -> Shown:
    """Return what a tick shows; of one that fails, what it shows before."""
    try:
        return Shown(inputs, recorder.shown(recorder.outcome(state, inputs)), ends=True)
    except PosewrightError:
        return Shown(inputs, recorder.shown(None), ends=False)


class _BothWays:
    """Takes ticks that ask every condition of a decision, needed or not.

    A tick never asks about the other branch of an `a if c else b`, nor does an exploration ask for a
    condition beside one that has decided. Its steps part by what is asked only: of the inputs that one of
    them stands for, some may show that a condition decides, and others not.

    Attributes:
        choices: the numbers of the decisions of which something may be left out.
        doubtful: whether there may be inputs that were not found.
    """

    def __init__(self, exploration: Exploration, obligations: TestObligations) -> None:
        self.exploration = exploration
        self.state_space = exploration.state_space
        self.choices = frozenset(
            number
            for site in obligations.sites
            for number, tree in enumerate(site.parts, start=site.first)
            if self.is_shortened(tree)
        )
        sites = [site for site in obligations.sites if any(map(self.is_shortened, site.parts))]
        follower = self.state_space.symbolic_interpreter
        asking = {
            id(one): self.asking(one, site, follower.functions[id(one)])
            for site in sites
            for one in site.lowered
        }
        self.follower = follower.with_functions(asking) if asking else None
        self.doubtful = False

    def is_shortened(self, tree: Tree) -> bool:
        """Return whether an exploration may leave out some condition of a decision.

        It does with the branch not taken of an `if`, and where another condition, known in that state, has
        decided: of `near and after(1 s)` it need not ask for `near` in the first second.
        """
        conditions = list(conditions_of(tree))
        inputs = self.exploration.chart.inputs
        return is_choice(tree) or (
            len(conditions) > 1 and any(not names_in(one) & inputs.keys() for one in conditions)
        )

    def asking(self, expression: Expression, site: Site, answer: SymbolicFunction) -> SymbolicFunction:
        """Return an answer that asks every condition of such decisions that an expression holds before."""
        axes = self.state_space.inputs.domains
        types: dict[str, Type] = {name: axis.kind for name, axis in axes.items()}
        questions = SymbolicCompiler(axes, {**self.exploration.machine.types, **types})
        trees = filter(self.is_shortened, decisions_in(expression.tree, decides=site.decides))
        conditions = [one for tree in trees for one in conditions_of(tree)]
        asked = [questions.compile_condition(expression.with_tree(one)) for one in conditions]

        def ask(env: Registers, path: PathCondition) -> Value:
            for one in asked:
                with suppress(ExpressionError):  # a division that the tick itself may never come to
                    one(env, path)
            return answer(env, path)

        return ask

    def rows(self, state: Snapshot) -> Iterator[Mapping[str, Value]]:
        """Yield inputs for every way in which a tick from a state can go, and what it leaves can come to.

        Of a tick that fails, what it shows before counts as well.
        """
        follower, limit = self.follower, self.state_space.limits.cases_of_one
        if follower is not None:
            for path, _ in explore_paths(
                self.state_space.inputs, lambda path: follower.run_tick(state, path), limit
            ):
                self.doubtful = self.doubtful or bool(path.doubts)
                yield path.inputs()


class _Reasons:
    """Says why obligations cannot be met, in words."""

    def __init__(self, exploration: Exploration, coverage: Coverage, unsure: frozenset[int]) -> None:
        self.exploration = exploration
        self.unsure = unsure
        self.coverage = coverage
        self.sites = coverage.obligations.sites
        self.nodes = exploration.machine.nodes
        self.guards = {id(site.written): site.first for site in self.sites if site.decides}
        raised = (case.raised for state in exploration.distinct_states for case in exploration.cases(state))
        self.raised = {event for events in raised for event in events} | {*exploration.chart.events}

    def all(self) -> Iterator[tuple[TestObligation, str]]:
        vague = self.vague() | self.unsure
        for one in self.coverage.missing:
            decided = one.measure in (Measure.DECISIONS, Measure.CONDITIONS, Measure.MCDC)
            decision = int(next(iter(one.met_by[0]))[1]) if decided else -1
            if decision not in vague:
                yield one, self.reason(one, decision)

    def vague(self) -> set[int]:
        """Return decisions inside values that nothing reads: of those the exploration saw one way only."""
        if not any(keep.drops for keep in self.exploration.state_space.abstractions.values()):
            return set()
        values = [site for site in self.sites if not site.decides]
        return {site.first + i for site in values for i in range(len(site.parts))}

    def reason(self, one: TestObligation, decision: int) -> str:
        if one.measure is Measure.STATES:
            return "no way that can be taken leads there"
        if one.measure is Measure.TRANSITIONS:
            return self.way_reason(one)
        if one.measure is Measure.SEGMENTS:
            return "no way by it can be taken"
        if not {("decision", decision, True), ("decision", decision, False)} & self.coverage.facts:
            return "it is never asked"
        if one.measure is Measure.MCDC:
            return "whenever it is asked, another condition decides"
        return "whenever it is asked, it comes out the other way"

    def way_reason(self, one: TestObligation) -> str:
        _, source, index = next(iter(one.met_by[0]))
        way = self.nodes[int(source)].transitions[int(index)]
        if ("state", way.source) not in self.coverage.facts:
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
