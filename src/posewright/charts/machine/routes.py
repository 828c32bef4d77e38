"""Routes: the ways by which junctions lead from a state's transitions to their goals, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from posewright.charts.model import Chart, State, Transition
from posewright.errors import InputError, Where

MAX_SEGMENTS = 20_000
"""Segments on all routes out of one state; junctions that part and meet again would make them endless."""


@dataclass(frozen=True)
class Route:
    """A transition and the segments after it.

    Attributes:
        transition: which of the state's transitions it begins with.
    """

    transition: int
    segments: tuple[Transition, ...]


def routes_of(chart: Chart, state: State) -> tuple[list[Route], list[tuple[str, ...]]]:
    """Return the routes out of a state, in the order in which they are tried, and circles of junctions met.

    A route that would come by a junction twice ends there and is left out.

    Raises:
        InputError: there are more than `MAX_SEGMENTS` segments on them.
    """
    walker = _Walker(chart, state)
    routes: list[Route] = []
    for index, transition in enumerate(state.transitions):
        routes += [Route(index, segments) for segments in walker.onward(transition)]
    return routes, walker.cycles


class _Walker:
    def __init__(self, chart: Chart, state: State) -> None:
        self.chart = chart
        self.state = state
        self.cycles: list[tuple[str, ...]] = []
        self.segments = 0

    def onward(self, first: Transition) -> Iterator[tuple[Transition, ...]]:
        """Yield the routes that begin with a transition, in the order in which they are tried."""
        waiting: list[tuple[tuple[Transition, ...], tuple[str, ...]]] = [((first,), ())]
        while waiting:
            segments, passed = waiting.pop()
            self.count()
            last = segments[-1]
            following = last.then
            if last.junction is not None:
                if last.junction in passed:
                    self.cycles.append(passed[passed.index(last.junction) :])
                    continue
                passed = (*passed, last.junction)
                following = self.chart.junctions[last.junction]
            elif not following:
                yield segments
            waiting += [((*segments, segment), passed) for segment in reversed(following)]

    def count(self) -> None:
        """Give up where junctions part and meet again too often."""
        self.segments += 1
        if self.segments > MAX_SEGMENTS:
            where = Where(self.chart.path, self.state.line)
            message = f"too many ways lead out of {self.state.name} by junctions: over {MAX_SEGMENTS}"
            raise InputError(message, where=where, hint="ask fewer questions, or use a truth table")
