"""Values over ticks, with equal neighbours taken together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from posewright.charts.types import Value


@dataclass(frozen=True)
class Run:
    """A value that holds from the beginning of one tick to the beginning of another.

    Attributes:
        start, end: numbers of ticks.
        value: what holds; None where nothing does.
    """

    start: int
    end: int
    value: Value | None


def runs_of(values: Iterable[Value | None]) -> list[Run]:
    """Return the runs of values, one value a tick."""
    found, start = [], 0
    for value, group in groupby(values):
        end = start + sum(1 for _ in group)
        found.append(Run(start, end, value))
        start = end
    return found


def envelope(values: Sequence[float], columns: int) -> list[tuple[float, float, float, float]]:
    """Return, for each of some columns, the first, the least, the greatest and the last of its values.

    A curve through these looks like the curve through all values, however many there are.
    """
    count = len(values)
    edges = [round(i * count / columns) for i in range(columns + 1)]
    parts = [values[a:b] for a, b in pairwise(edges) if a < b]
    return [(part[0], min(part), max(part), part[-1]) for part in parts]
