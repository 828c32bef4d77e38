"""Journeys: the explored ticks one after the other, from the very start, as far as somebody wants to go."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from posewright.charts.checks.recorder import Rows
from posewright.charts.reachability import AbstractState, Exploration, SymbolicStep
from posewright.charts.types import Value

OUT: tuple[int, ...] = (-1,)
"""What follows on a state from which the exploration did not go on: anything."""


class Edge(NamedTuple):
    """A tick from one situation.

    Attributes:
        case: which of the situation's cases it is.
        rest: number of what the state is afterwards, its counters aside; None where the tick fails.
        running: counters that went on.
    """

    case: int
    rest: int | None
    running: tuple[int, ...] = ()


class Journeys:
    """The ticks of an exploration as edges between the states that were reached."""

    def __init__(self, exploration: Exploration) -> None:
        self.exploration = exploration
        self.looked = exploration.looked
        self.walk = exploration.walk
        self.known: dict[AbstractState, list[Edge]] = {}

    @cached_property
    def situations(self) -> tuple[AbstractState, ...]:
        """The situations that were explored, those reached earlier first."""
        return tuple(dict.fromkeys(self.walk.situations))

    @cached_property
    def situations_at(self) -> Mapping[int, Collection[AbstractState]]:
        """The same, by the number of what the state is, its counters aside."""
        found: dict[int, dict[AbstractState, None]] = {}
        for (rest, _), situation in zip(self.walk.places, self.walk.situations, strict=False):
            found.setdefault(rest, {})[situation] = None
        return found

    def configuration(self, rest: int) -> tuple[int, ...]:
        """Return the innermost active states of what a state is, its counters aside."""
        return self.looked.rests[rest][1]

    def edges(self, situation: AbstractState) -> list[Edge]:
        """Return the ticks from a situation, one for each of its cases."""
        if situation not in self.known:
            self.known[situation] = [self.edge(i, case) for i, case in enumerate(situation.cases)]
        return self.known[situation]

    def edge(self, number: int, case: SymbolicStep) -> Edge:
        """Return the tick of a case."""
        if case.after is None:
            return Edge(number, None)
        rest, counts = self.looked.split(case.after)
        return Edge(number, rest, self.looked.clocks.running(counts))

    def onward(self, number: int, edge: Edge) -> int:
        """Return the state that a tick leads to; -1 where it fails, or leads out of what was explored."""
        if edge.rest is None:
            return -1
        counts = self.walk.places[number][1]
        found = self.walk.numbers.get((edge.rest, self.looked.clocks.onward(counts, edge.running)), -1)
        return found if found < len(self.walk.situations) else -1

    def following(self, number: int) -> Sequence[int]:
        """Return the states that may follow on one."""
        return self.walk.following[number] if number < len(self.walk.following) else OUT

    def never_out_of(self, inside: set[int]) -> set[int]:
        """Return those of some reached states from which no journey leads out of them."""
        before: dict[int, list[int]] = {}
        out = list[int]()
        for number in inside:
            for following in self.following(number):
                if following in inside:
                    before.setdefault(following, []).append(number)
                else:
                    out.append(number)
        leaving = set(out)
        while out:
            for number in before.get(out.pop(), ()):
                if number not in leaving:
                    leaving.add(number)
                    out.append(number)
        return inside - leaving

    def shortest(
        self, goes: Callable[[AbstractState, Edge], bool], ends: Callable[[AbstractState, Edge], bool]
    ) -> Rows | None:
        """Return the shortest rows of inputs from the start to a tick that ends a journey.

        Args:
            goes: whether a journey may go on over a tick.
            ends: whether it may end with a tick.
        """
        before: dict[int, tuple[int, int] | None] = {0: None}
        waiting = deque(before)
        while waiting:
            number = waiting.popleft()
            situation = self.walk.situations[number]
            for edge in self.edges(situation):
                if ends(situation, edge):
                    return (*reversed([*self.back(number, before)]), situation.cases[edge.case].inputs)
                following = self.onward(number, edge) if goes(situation, edge) else -1
                if following >= 0 and following not in before:
                    before[following] = (number, edge.case)
                    waiting.append(following)
        return None

    def back(
        self, number: int, before: Mapping[int, tuple[int, int] | None]
    ) -> Iterator[Mapping[str, Value]]:
        """Yield the inputs of the ticks that lead to a state, the last ones first."""
        step = before[number]
        while step is not None:
            number, case = step
            yield self.walk.situations[number].cases[case].inputs
            step = before[number]
