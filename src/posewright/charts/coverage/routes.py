"""Routes: the shortest inputs that lead from where a chart stands to where something new is to be seen."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from posewright.charts.machine import Snapshot
from posewright.charts.reachability import Exploration
from posewright.charts.types import Value

Inputs = Mapping[str, Value]

MAX_PLACES = 20_000
"""Places that are looked at for a way on, before it is begun anew from the start."""


class Routes:
    """Finds ways through what was explored."""

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration
        self.walk = exploration.walk

    def number(self, state: Snapshot) -> int | None:
        """Return the number of the place that a state is, None where it was not reached."""
        return self.walk.numbers.get(self.exploration.looked.split(state))

    def nearest(
        self, start: Snapshot, wanted: Callable[[int], bool]
    ) -> tuple[int, tuple[Inputs, ...]] | None:
        """Return the nearest place that is wanted, and inputs that lead there; None where none is near."""
        first = self.number(start)
        if first is None:
            return None
        before: dict[int, tuple[int, int]] = {}
        met, waiting = {first}, deque([first])
        while waiting and len(met) <= MAX_PLACES:
            number = waiting.popleft()
            if wanted(number):
                return number, self.rows(first, number, before)
            if number >= len(self.walk.situations):
                continue
            onward = self.walk.situations[number].onward
            for to, one in zip(self.walk.following[number], onward, strict=True):
                if to not in met:
                    met.add(to)
                    before[to] = number, one.case
                    waiting.append(to)
        return None

    def rows(self, first: int, number: int, before: Mapping[int, tuple[int, int]]) -> tuple[Inputs, ...]:
        """Return the inputs that lead from one place to another."""
        found = []
        while number != first:
            number, case = before[number]
            found.append(self.walk.situations[number].cases[case].inputs)
        return tuple(reversed(found))

    def alike(self, start: Snapshot, state: Snapshot) -> tuple[Inputs, ...] | None:
        """Return inputs that lead to where a tick can go the same ways as in a state; None: that is far."""
        situation = self.exploration.looked.at(*self.exploration.looked.split(state))
        known = self.walk.situations
        found = self.nearest(start, lambda number: number < len(known) and known[number] is situation)
        return None if found is None else found[1]

    def exactly(self, start: Snapshot, state: Snapshot) -> tuple[Inputs, ...] | None:
        """Return inputs that lead from one state to another, time and all; None where that is far."""
        goal = self.number(state)
        found = self.nearest(start, lambda number: number == goal)
        return None if found is None else found[1]
