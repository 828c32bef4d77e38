"""Which states exclude one another: those of one level of one region make a row over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from posewright.charts.model import Chart, State


@dataclass(frozen=True)
class Level:
    """States of which at most one is active.

    Attributes:
        region: the region they are in; empty for the chart itself.
        depth: levels above them in that region.
    """

    region: str
    depth: int
    states: tuple[str, ...]


def levels_of(chart: Chart) -> list[Level]:
    """Return the levels of a chart, outer ones first, each region's together."""
    if chart.parallel:
        return [
            level for region in chart.states for level in _levels(region.name, region.states or (region,))
        ]
    return list(_levels("", chart.states))


def _levels(region: str, states: Sequence[State]) -> Iterator[Level]:
    level, depth, parallel = list(states), 0, []
    while level:
        yield Level(region, depth, tuple(state.name for state in level))
        parallel += [state for state in level if state.parallel]
        level = [child for state in level if not state.parallel for child in state.states]
        depth += 1
    for state in parallel:
        for inner in state.states:
            yield from _levels(inner.name, inner.states or (inner,))
