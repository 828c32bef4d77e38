"""Goals: what there is to be covered in a chart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import chain

from posewright.charts.coverage.decision import Decision, Site, has_choice
from posewright.charts.coverage.watching import bit_of
from posewright.charts.expression import Expression
from posewright.charts.machine import CompoundTransition, Machine, Node, lower
from posewright.charts.model import (
    Actions,
    Assign,
    Branch,
    Chart,
    Kind,
    Transition,
    every_action,
    segments_of,
)

Fact = tuple[str | int | bool, ...]
"""Something that was seen in a run."""

Owner = tuple[str, int | None]


class Measure(Enum):
    """What is counted."""

    STATES = "states"
    TRANSITIONS = "transitions"
    SEGMENTS = "segments"
    DECISIONS = "decisions"
    CONDITIONS = "conditions"
    MCDC = "mc/dc"


@dataclass(frozen=True)
class TestObligation:
    """One thing to be covered.

    Attributes:
        name: in words.
        owner: the state that it belongs to and, where it is one's, the number of the transition.
        met_by: facts; it is covered where all of one of these sets were seen.
    """

    measure: Measure
    name: str
    line: int | None
    owner: Owner | None
    met_by: tuple[frozenset[Fact], ...]

    def met(self, facts: frozenset[Fact]) -> bool:
        """Return whether it is covered by what was seen."""
        return any(needed <= facts for needed in self.met_by)


@dataclass(frozen=True, eq=False)
class Goals:
    """All that there is to be covered in a machine."""

    machine: Machine

    @property
    def chart(self) -> Chart:
        """The machine's chart."""
        return self.machine.chart

    @cached_property
    def every(self) -> tuple[TestObligation, ...]:
        """All goals, measure by measure."""
        return (*self._states(), *self._transitions(), *self._segments(), *self._decided())

    @cached_property
    def sites(self) -> tuple[tuple[int, Site], ...]:
        """Every site, with the index of its first decision."""
        found, first = [], 0
        for site in _sites(self.machine):
            found.append((first, site))
            first += len(site.parts)
        return tuple(found)

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """Every decision, by its index."""
        return tuple(decision for first, site in self.sites for decision in site.decisions(first))

    @cached_property
    def segments(self) -> dict[int, int]:
        """The number of every segment after a junction, by its identity."""
        chart = self.chart
        shared = chain.from_iterable(chart.junctions.values())
        own = (one.then for state in chart.every_state for one in state.transitions)
        inner = segments_of((*shared, *chain.from_iterable(own)))
        return {id(segment): number for number, segment in enumerate(inner)}

    def _states(self) -> Iterator[TestObligation]:
        for node in self.machine.nodes[1:]:
            line = node.state.line if node.state else None
            yield _goal(Measure.STATES, node.name, line, (node.name, None), ("state", node.index))

    def _transitions(self) -> Iterator[TestObligation]:
        for way in self.machine.ways:
            owner = (self.machine.nodes[way.source].name, way.transition)
            name = way_name(self.machine, way)
            yield _goal(Measure.TRANSITIONS, name, way.line, owner, ("way", way.source, way.index))

    def _segments(self) -> Iterator[TestObligation]:
        met: dict[int, tuple[Transition, Owner]] = {}
        for way in self.machine.ways:
            owner: Owner = (self.machine.nodes[way.source].name, way.transition)
            for segment in way.segments[1:]:
                met.setdefault(self.segments[id(segment)], (segment, owner))
        for number, (segment, owner) in sorted(met.items(), key=lambda item: item[0]):
            name = f"{segment.when} -> {_goals(segment)}"
            yield _goal(Measure.SEGMENTS, name, segment.line, owner, ("segment", number))

    def _decided(self) -> Iterator[TestObligation]:
        for one in self.decisions:
            for value in (True, False):
                name = f"{one.text} is {str(value).lower()}"
                yield _goal(Measure.DECISIONS, name, one.line, one.owner, ("decision", one.index, value))
        for one, number, text in self._conditions():
            for value in (True, False):
                name = f"{text} is {str(value).lower()}{_in(one, text)}"
                fact = ("condition", one.index, bit_of(number, value))
                yield _goal(Measure.CONDITIONS, name, one.line, one.owner, fact)
        for one, number, text in self._conditions():
            pairs = tuple(_pair(one.index, number, outcome) for outcome in (True, False))
            yield TestObligation(Measure.MCDC, f"{text} decides{_in(one, text)}", one.line, one.owner, pairs)

    def _conditions(self) -> Iterator[tuple[Decision, int, str]]:
        for decision in self.decisions:
            for number, text in enumerate(decision.conditions):
                yield decision, number, text


def goals_of(chart: Chart, machine: Machine | None = None) -> Goals:
    """Return all that there is to be covered in a chart."""
    return Goals(lower(chart) if machine is None else machine)


def way_name(machine: Machine, way: CompoundTransition) -> str:
    """Return a way in words: `walking -> kicking (near and wall < arrived)`."""
    asked = " / ".join(str(one.when) for one in way.segments if str(one.when) != "true")
    asked = " ".join(part for part in (" or ".join(way.events), f"[{asked}]" if asked else "") if part)
    arrow = f" -> {_goals(way.segments[-1])}" if way.goals else ": stays"
    return f"{machine.nodes[way.source].name}{arrow}{' on ' + asked if asked else ''}"


def _goals(segment: Transition) -> str:
    if segment.leads_on:
        return segment.junction or "a junction"
    return ", ".join(target.state for target in segment.go) or "nothing"


def _goal(measure: Measure, name: str, line: int | None, owner: Owner | None, fact: Fact) -> TestObligation:
    return TestObligation(measure, name, line, owner, (frozenset({fact}),))


def _pair(decision: int, condition: int, outcome: bool) -> frozenset[Fact]:
    """Return evaluations that show a condition's own effect: true with this outcome, false with the other."""
    one = ("effect", decision, bit_of(condition, True), outcome)
    other = ("effect", decision, bit_of(condition, False), not outcome)
    return frozenset({one, other})


def _in(decision: Decision, condition: str) -> str:
    return f" in {decision.text}" if decision.text != condition else ""


def _sites(machine: Machine) -> Iterator[Site]:
    """Yield the places where something is decided, each once, in the order in which they are written."""
    found: dict[int, Site] = {}
    for node in machine.nodes[1:]:
        for site in _sites_of(machine.chart, node):
            known = found.setdefault(id(site.written), site)
            if known is not site:
                found[id(site.written)] = _shared(known, site)
    yield from (site for site in found.values() if site.parts)


def _shared(one: Site, other: Site) -> Site:
    """Return the site of a segment that several ways come by, perhaps from several states."""
    owner = one.owner if one.owner == other.owner else None
    return replace(one, lowered=(*one.lowered, *other.lowered), owner=owner)


def _sites_of(chart: Chart, node: Node) -> Iterator[Site]:
    state = node.state
    for way in node.ways:
        owner = (node.name, way.transition)
        for segment, guard in zip(way.segments, way.guards, strict=True):
            if not segment.is_else and guard.constant is None:
                yield Site(segment.when, (guard,), True, _line(segment.when) or segment.line, owner)
        written = tuple(action for segment in way.segments for action in segment.do)
        yield from _acts(written, way.do, owner)
    for counter in node.counters:
        if counter.condition is not None and counter.condition.constant is None:
            held = counter.condition
            yield Site(held, (held,), True, _line(held), (node.name, None))
    if state is not None and chart.kind is not Kind.MOORE:
        for written, lowered in zip((state.entry, state.during, state.exit), node.actions, strict=True):
            yield from _acts(written, lowered, (node.name, None))


def _acts(written: Actions, lowered: Actions, owner: Owner) -> Iterator[Site]:
    for one, other in zip(every_action(written), every_action(lowered), strict=True):
        if isinstance(one, Branch) and isinstance(other, Branch):
            if other.when.constant is None:
                yield Site(one.when, (other.when,), True, one.line, owner)
        elif isinstance(one, Assign) and isinstance(other, Assign):
            yield from _values(one, other, owner)


def _values(written: Assign, lowered: Assign, owner: Owner) -> Iterator[Site]:
    for one, other in zip(written.values.values(), lowered.values.values(), strict=True):
        if has_choice(one.tree):
            yield Site(one, (other,), False, _line(one) or written.line, owner)


def _line(expression: Expression) -> int | None:
    return expression.source.where.line
