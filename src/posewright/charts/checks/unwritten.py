"""Paths on which a variable has not been written yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from posewright.charts.checks.inspection import Inspection
from posewright.charts.checks.journey import Edge
from posewright.charts.checks.recorder import Rows
from posewright.charts.model import Kind
from posewright.charts.reachability import AbstractState


class Effect(NamedTuple):
    """What a tick does with the variables that are looked at.

    Attributes:
        reads: those that it reads before it writes them.
        writes: those that it writes.
        tells: those that it gives a value worth telling: not zero, or on a transition that says so itself.
    """

    reads: frozenset[str]
    writes: frozenset[str]
    tells: frozenset[str]


class Unwritten:
    """Paths on which a variable has not been written yet."""

    def __init__(self, inspection: Inspection, effects: Mapping[tuple[AbstractState, int], Effect]) -> None:
        self.inspection = inspection
        self.effects = effects
        self.journeys = inspection.journeys
        self.start = self.journeys.walk.places[0][0]

    def to_reading(self, name: str) -> Rows | None:
        """Return the shortest rows to a tick that reads a variable that nothing has written."""
        return self.path(name, lambda situation, edge: name in self.of(situation, edge).reads)

    def to_unset(self, name: str) -> Rows | None:
        """Return the shortest rows to states in which an output ought to have been set and was not."""
        start = self.journeys.configuration(self.start)
        told = self.told(name) if self.inspection.chart.kind is Kind.STATECHART else None

        def ends(situation: AbstractState, edge: Edge) -> bool:
            if edge.rest is None or name in self.of(situation, edge).writes:
                return False
            configuration = self.journeys.configuration(edge.rest)
            return configuration != start and (told is None or configuration in told)

        return self.path(name, ends)

    def told(self, name: str) -> set[tuple[int, ...]]:
        """Return the innermost states in which some tick ends that gave the output a value worth telling."""
        return {
            self.journeys.configuration(edge.rest)
            for situations in self.journeys.situations_at.values()
            for situation in situations
            for edge in self.journeys.edges(situation)
            if edge.rest is not None and name in self.of(situation, edge).tells
        }

    def path(self, name: str, ends: Callable[[AbstractState, Edge], bool]) -> Rows | None:
        """Return the shortest rows on which a variable stays unwritten up to a tick that `ends` it."""
        if not self.is_likely(name, ends):
            return None
        return self.journeys.shortest(lambda one, edge: name not in self.of(one, edge).writes, ends)

    def is_likely(self, name: str, ends: Callable[[AbstractState, Edge], bool]) -> bool:
        """Return whether there is such a path if time were not counted; that is found out much faster."""
        met, waiting = {self.start}, [self.start]
        while waiting:
            for situation in self.journeys.situations_at.get(waiting.pop(), ()):
                for edge in self.journeys.edges(situation):
                    if ends(situation, edge):
                        return True
                    rest = edge.rest
                    if rest is None or rest in met or name in self.of(situation, edge).writes:
                        continue
                    met.add(rest)
                    waiting.append(rest)
        return False

    def of(self, situation: AbstractState, edge: Edge) -> Effect:
        """Return what a tick does."""
        return self.effects[situation, edge.case]
