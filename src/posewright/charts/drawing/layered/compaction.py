"""Everything moved together along r as far as nothing passes anything else: layers leave much room empty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from posewright.charts.drawing.layered.simplex import Gap, shortest


class Sort(Enum):
    """What takes room."""

    ITEM = "item"
    LABEL = "label"
    LANE = "lane"
    EDGE = "edge"


BESIDE: Mapping[frozenset[Sort], int] = {
    frozenset({Sort.ITEM}): 26,
    frozenset({Sort.ITEM, Sort.LABEL}): 16,
    frozenset({Sort.ITEM, Sort.LANE}): 14,
    frozenset({Sort.LABEL}): 10,
    frozenset({Sort.LABEL, Sort.LANE}): 6,
    frozenset({Sort.LANE}): 9,
}
"""Room along r between two things that are next to each other [px]."""

AT_EDGE = 12
"""Room between a border and what is inside it [px]."""

MARGIN = 5
"""Things nearer than this across are in each other's way [px]."""


@dataclass(frozen=True)
class Thing:
    """Something that takes room: a rectangle, or a lane, which is as thin as a line."""

    sort: Sort
    r: int
    thick: int
    low: int
    high: int


def compact(things: Sequence[Thing], chains: Iterable[tuple[Sequence[int], int]]) -> list[int]:
    """Return the new r of every thing.

    Args:
        things: in their places; the first is the edge before all others, the last the edge after them.
        chains: things that a wire joins, from the lowest r to the highest, and the cost of their distances.
    """
    gaps = [_gap(things, one, other, 0) for one, other in _neighbours(things)]
    gaps += [_gap(things, a, b, cost) for chain, cost in chains for a, b in pairwise(chain)]
    gaps.append(Gap(0, len(things) - 1, 0, 2))
    return shortest(len(things), gaps)


def _gap(things: Sequence[Thing], one: int, other: int, weight: int) -> Gap:
    first, second = things[one], things[other]
    sorts = frozenset({first.sort, second.sort})
    wanted = AT_EDGE if Sort.EDGE in sorts else BESIDE[sorts]
    found = second.r - first.r - first.thick
    return Gap(one, other, first.thick + min(found, wanted), weight)


def _neighbours(things: Sequence[Thing]) -> Iterable[tuple[int, int]]:
    """Yield things that see each other along r: those further away are kept apart by those between."""
    order = sorted(range(len(things)), key=lambda i: (things[i].r, things[i].r + things[i].thick))
    skyline: list[tuple[int, int, int]] = []
    for i in order:
        thing = things[i]
        low, high = thing.low - MARGIN, thing.high + MARGIN
        for a, b, other in skyline:
            if a < high and low < b and things[other].r + things[other].thick <= thing.r:
                yield other, i
        rest = [part for line in skyline for part in _without(line, thing.low, thing.high)]
        skyline = [*rest, (thing.low, thing.high, i)]


def _without(line: tuple[int, int, int], low: int, high: int) -> Iterable[tuple[int, int, int]]:
    """Yield what of a stretch of the skyline is not hidden."""
    a, b, thing = line
    if b <= low or high <= a:
        yield line
        return
    if a < low:
        yield a, low, thing
    if high < b:
        yield high, b, thing
