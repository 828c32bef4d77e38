"""Test obligations: what there is to be covered in a chart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import chain

from posewright.charts.coverage.decision import Owner, Site, conditions_of, sites_of
from posewright.charts.coverage.watching import bit_of
from posewright.charts.expression import shortened, text_of
from posewright.charts.machine import CompoundTransition, Machine
from posewright.charts.model import Chart, Transition, segments_of

Fact = tuple[str | int | bool, ...]
"""Something that was seen in a run."""


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
class TestObligations:
    """All that there is to be covered in a machine."""

    machine: Machine

    @property
    def chart(self) -> Chart:
        """The machine's chart."""
        return self.machine.chart

    @cached_property
    def every(self) -> tuple[TestObligation, ...]:
        """All of them, measure by measure."""
        return (*self._states(), *self._transitions(), *self._segments(), *self._decided())

    @cached_property
    def sites(self) -> tuple[Site, ...]:
        """Where something is decided."""
        return sites_of(self.machine)

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
            yield _obligation(Measure.STATES, node.name, line, (node.name, None), ("state", node.index))

    def _transitions(self) -> Iterator[TestObligation]:
        for way in self.machine.ways:
            owner = (self.machine.nodes[way.source].name, way.transition)
            name = way_name(self.machine, way)
            yield _obligation(Measure.TRANSITIONS, name, way.line, owner, ("way", way.source, way.index))

    def _segments(self) -> Iterator[TestObligation]:
        met: dict[int, tuple[Transition, Owner]] = {}
        for way in self.machine.ways:
            owner: Owner = (self.machine.nodes[way.source].name, way.transition)
            for segment in way.segments[1:]:
                met.setdefault(self.segments[id(segment)], (segment, owner))
        for number, (segment, owner) in sorted(met.items(), key=lambda item: item[0]):
            name = f"{segment.when} -> {_targets(segment)}"
            yield _obligation(Measure.SEGMENTS, name, segment.line, owner, ("segment", number))

    def _decided(self) -> list[TestObligation]:
        decisions, conditions, effects = [], [], []
        for site in self.sites:
            for number, tree in enumerate(site.parts, start=site.first):
                whole = number == site.first and site.decides
                text = shortened(str(site.written) if whole else text_of(tree))
                for value in (True, False):
                    name, fact = f"{text} is {_word(value)}", ("decision", number, value)
                    decisions.append(_obligation(Measure.DECISIONS, name, site.line, site.owner, fact))
                for i, condition in enumerate(conditions_of(tree)):
                    asked = shortened(text_of(condition))
                    place = f" in {text}" if text != asked else ""
                    for value in (True, False):
                        name, seen = (
                            f"{asked} is {_word(value)}{place}",
                            ("condition", number, bit_of(i, value)),
                        )
                        conditions.append(_obligation(Measure.CONDITIONS, name, site.line, site.owner, seen))
                    pairs = (_pair(number, i, True), _pair(number, i, False))
                    name = f"{asked} decides{place}"
                    effects.append(TestObligation(Measure.MCDC, name, site.line, site.owner, pairs))
        return [*decisions, *conditions, *effects]


def way_name(machine: Machine, way: CompoundTransition) -> str:
    """Return a way in words: `walking -> kicking (near and wall < arrived)`."""
    asked = " / ".join(str(one.when) for one in way.segments if str(one.when) != "true")
    asked = " ".join(part for part in (" or ".join(way.events), f"[{asked}]" if asked else "") if part)
    arrow = f" -> {_targets(way.segments[-1])}" if way.goals else ": stays"
    return f"{machine.nodes[way.source].name}{arrow}{' on ' + asked if asked else ''}"


def _targets(segment: Transition) -> str:
    if segment.leads_on:
        return segment.junction or "a junction"
    return ", ".join(target.state for target in segment.go) or "nothing"


def _obligation(
    measure: Measure, name: str, line: int | None, owner: Owner | None, fact: Fact
) -> TestObligation:
    return TestObligation(measure, name, line, owner, (frozenset({fact}),))


def _pair(decision: int, condition: int, outcome: bool) -> frozenset[Fact]:
    """Return evaluations that show a condition's own effect: true with this outcome, false with the other."""
    one = ("effect", decision, bit_of(condition, True), outcome)
    other = ("effect", decision, bit_of(condition, False), not outcome)
    return frozenset({one, other})


def _word(value: bool) -> str:
    return str(value).lower()
