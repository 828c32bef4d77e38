"""Guards of one state that hold at once, where only one of them should."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from posewright.charts.checks.conditions import (
    any_of,
    branch_key,
    by_event,
    divides,
    events_of,
    halves,
    outcome_differs,
    two_of,
    wait_conditions,
)
from posewright.charts.checks.finding import Finding, Level, Rule
from posewright.charts.checks.inspection import Check, suspected
from posewright.charts.checks.question import AtChoice, CheckQuestion, When
from posewright.charts.checks.search import Witness, WitnessSearch
from posewright.charts.checks.solver import CheckClaim, claims
from posewright.charts.checks.wording import transition_text
from posewright.charts.expression import Expression
from posewright.charts.machine import CompoundTransition, Machine, Snapshot, StateNode, TickExecution
from posewright.charts.model import Priority
from posewright.errors import PosewrightError


@dataclass(frozen=True)
class OverlapPair:
    """Two ways that may hold at once, as far as types tell.

    Attributes:
        search: for a tick in which they do, and do different things.
        alike: for a tick in which they do, whatever they do; the same search where they always differ.
    """

    node: StateNode
    one: CompoundTransition
    other: CompoundTransition
    search: WitnessSearch | None
    alike: WitnessSearch


class Overlaps(Check):
    """Looks for pairs of ways that hold at once; that they then do the same is worth no more than a note."""

    def ask(self) -> None:
        """Ask which guards may hold at once, and have runs searched for in which they do."""
        self.pairs: list[OverlapPair] = []
        for node in self.machine.nodes[1:]:
            if node.state is not None and self.chart.priority_in(node.state) is not Priority.ORDERED:
                self.pairs += [self._pair(node, one, other) for one, other in self._suspects(node)]

    def _suspects(self, node: StateNode) -> Iterator[tuple[CompoundTransition, CompoundTransition]]:
        """Yield the pairs that may hold at once, over the whole domain of what they read."""
        for ways in by_event(node.transitions).values():
            if any(divides(way.guard) for way in ways):
                yield from (pair for pair in combinations(ways, 2) if self._may_meet(*pair))
            else:
                yield from self.within(ways)

    def within(
        self, ways: Sequence[CompoundTransition]
    ) -> Iterator[tuple[CompoundTransition, CompoundTransition]]:
        """Yield the pairs among some ways; where no two hold at once, one question tells."""
        if len(ways) < 2 or self._excludes([two_of([way.guard for way in ways])]):
            return
        left, right = halves(ways)
        yield from self.within(left)
        yield from self.across(left, right)
        yield from self.within(right)

    def across(
        self, left: Sequence[CompoundTransition], right: Sequence[CompoundTransition]
    ) -> Iterator[tuple[CompoundTransition, CompoundTransition]]:
        """Yield the pairs of one of the left with one of the right."""
        if len(left) == 1 == len(right):
            if self._may_meet(left[0], right[0]):
                yield left[0], right[0]
        elif not self._excludes([any_of([way.guard for way in ways]) for ways in (left, right)]):
            if len(left) >= len(right):
                for part in halves(left):
                    yield from self.across(part, right)
            else:
                for part in halves(right):
                    yield from self.across(left, part)

    def _excludes(self, conditions: Sequence[Expression]) -> bool:
        return self.inspection.solver.excludes(claims(conditions))

    def _may_meet(self, one: CompoundTransition, other: CompoundTransition) -> bool:
        return not self.inspection.solver.excludes(both(one, other))

    def _pair(self, node: StateNode, one: CompoundTransition, other: CompoundTransition) -> OverlapPair:
        place = AtChoice(node.index, events_of(one) & events_of(other), When.ASKED)
        alike = self.inspection.search(CheckQuestion(place, both(one, other)))
        different = outcome_differs(one, other, self.chart.variables)
        if isinstance(different, bool):
            return OverlapPair(node, one, other, alike if different else None, alike)
        asked = CheckQuestion(place, (*both(one, other), *claims([different])))
        search = self.inspection.search(asked, exact=different.names)
        return OverlapPair(node, one, other, search, alike)

    def findings(self) -> Iterator[Finding]:
        """Yield the overlaps: of the ways by two segments that part, the one that matters most."""
        told: dict[object, Finding] = {}  # of the ways by two segments that part, the worst pair is told
        for pair in self.pairs:
            finding = self._told_of(pair)
            key = branch_key(pair.one, pair.other)
            if finding is not None and (key not in told or rank(finding) < rank(told[key])):
                told[key] = finding
        yield from told.values()

    def _told_of(self, pair: OverlapPair) -> Finding | None:
        if pair.search is not None and pair.search.witness is not None:
            found = self._found(pair, pair.search.witness, Level.ERROR)
            if self._comes_to_the_same(pair, pair.search.witness):
                message = f"{found.message}; here both come to the same, elsewhere they may not"
                return replace(found, message=message, proved=False)
            return found
        if pair.search is not None and self.inspection.is_open(pair.search, pair.node):
            ways = f"{transition_text(pair.one)} and {transition_text(pair.other)}"
            claim = f"{ways} hold at once in {pair.node.name}"
            found = suspected(self.inspection, pair.search, Rule.OVERLAP, claim, pair.node)
            return replace(found, line=pair.other.line)
        return self._found(pair, pair.alike.witness, Level.NOTE) if pair.alike.witness is not None else None

    def _comes_to_the_same(self, pair: OverlapPair, witness: Witness) -> bool:
        """Return whether a tick ends the same whichever of two ways is taken in it."""
        if pair.one.targets != pair.other.targets:
            return False
        ends = []
        for refused in (pair.one, pair.other):
            tick = TickRefusing(self.inspection.machine, witness.state, refused)
            given = {name: witness.inputs[name] for name in self.chart.inputs}
            try:
                ends.append(tick.run(given, [event for event in self.chart.events if witness.inputs[event]]))
            except PosewrightError:
                return False
        return ends[0] == ends[1]

    def _found(self, pair: OverlapPair, witness: Witness, level: Level) -> Finding:
        name = pair.node.name
        case, told = self.inspection.case(name, witness, pair.alike.names)
        message = f"two guards hold {told}: {transition_text(pair.one)} and {transition_text(pair.other)}"
        if level is Level.ERROR:
            message += "; make them exclude each other, or say `priority: ordered`"
        else:
            message += "; both do the same"
        return Finding(level, Rule.OVERLAP, message, name, case, pair.other.line, witness.trace)


class TickRefusing(TickExecution):
    """A tick in which one way is not taken."""

    def __init__(self, machine: Machine, state: Snapshot, refused: CompoundTransition) -> None:
        super().__init__(machine, state)
        self.refused = refused

    def holds(self, way: CompoundTransition) -> bool:
        """Return whether a way may be taken."""
        return way is not self.refused and super().holds(way)


def both(one: CompoundTransition, other: CompoundTransition) -> tuple[CheckClaim, ...]:
    """Return what holds where both of two ways may be taken."""
    return claims([one.guard, other.guard, *wait_conditions(one), *wait_conditions(other)])


def rank(finding: Finding) -> int:
    """Return how much a finding matters, the most important first."""
    if finding.level is Level.ERROR:
        return 0 if finding.proved else 1
    return 2 if finding.rule is Rule.NOT_PROVED else 3
