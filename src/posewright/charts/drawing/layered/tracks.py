"""Lanes between two layers: where each wire that has to change its place across does so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

CLOSE = 7
"""Lines nearer to each other than this would be taken for one [px]."""


@dataclass(frozen=True)
class Jog:
    """A wire that enters the space between two layers at one v and leaves it at another."""

    wire: int
    start: int
    end: int

    @property
    def low(self) -> int:
        """Its lowest v."""
        return min(self.start, self.end)

    @property
    def high(self) -> int:
        """Its highest v."""
        return max(self.start, self.end)


def assign(jogs: Sequence[Jog]) -> list[int]:
    """Return the lane of every jog, 0 being the first; those that would touch are in different ones."""
    before = _order(jogs)
    lanes = [0] * len(jogs)
    for i in _sorted(len(jogs), before):
        lanes[i] = max((lanes[k] + 1 for k in before[i]), default=0)
    return lanes


def _order(jogs: Sequence[Jog]) -> list[set[int]]:
    """Return for each jog those that must be in an earlier lane; dear wishes come first, none in a circle."""
    wishes = []
    for i, k in combinations(range(len(jogs)), 2):
        if jogs[i].low - CLOSE < jogs[k].high and jogs[k].low - CLOSE < jogs[i].high:
            forth, back = _cost(jogs[i], jogs[k]), _cost(jogs[k], jogs[i])
            earlier, later = (i, k) if forth <= back else (k, i)
            wishes.append((-abs(forth - back), earlier, later))
    before: list[set[int]] = [set() for _ in jogs]
    for _, earlier, later in sorted(wishes):
        if _reaches(before, earlier, later):
            before[earlier].add(later)
        else:
            before[later].add(earlier)
    return before


def _cost(one: Jog, other: Jog) -> int:
    """Return how often two jogs cross, and much more where they touch, were `one` in the earlier lane."""
    crossings = (other.low <= one.end <= other.high) + (one.low <= other.start <= one.high)
    return crossings + 50 * (abs(one.end - other.start) < CLOSE)


def _reaches(before: Sequence[set[int]], start: int, goal: int) -> bool:
    """Return whether `goal` is before `start`."""
    waiting, seen = [start], {start}
    while waiting:
        for other in before[waiting.pop()] - seen:
            if other == goal:
                return True
            seen.add(other)
            waiting.append(other)
    return False


def _sorted(count: int, before: Sequence[set[int]]) -> list[int]:
    done: list[int] = []
    ready: set[int] = set()
    while len(done) < count:
        i = next(k for k in range(count) if k not in ready and before[k] <= ready)
        done.append(i)
        ready.add(i)
    return done
