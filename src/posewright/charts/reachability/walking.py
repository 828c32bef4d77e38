"""The walk through all that a chart can come to, breadth first: the first way to a state is a shortest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from posewright.charts.machine import Snapshot
from posewright.charts.reachability.case import SymbolicStep
from posewright.charts.reachability.clocks import Counts
from posewright.charts.reachability.limits import Limits
from posewright.charts.reachability.situations import AbstractState, AbstractStates

Place = tuple[int, Counts]
"""A state: the number of what it is, its counters aside, and its counters."""


@dataclass(frozen=True)
class Step:
    """A tick from one place to another.

    Attributes:
        to: number of the place that follows.
        case: that leads there; others may as well, with the same answers.
    """

    to: int
    case: SymbolicStep


class ReachabilityGraph:
    """The places that were reached, numbered in the order in which they were.

    Attributes:
        before: for each, from where it was reached first, and which case there led to it; None for the start.
        situations: of the places from which the walk went on: the first ones, or all of them.
        following: for each of those, the places that follow, in the order of `Situation.onward`.
        stopped: in words, why it did not go on; empty where it came to its end.
    """

    def __init__(self, looked: AbstractStates) -> None:
        self.looked = looked
        self.before: list[tuple[int, int] | None] = []
        self.situations: list[AbstractState] = []
        self.following: list[tuple[int, ...]] = []
        self.stopped = ""
        self._places: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, int], int] = {}

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """What each place is; to be asked once the walk is over."""
        every = self.looked.clocks.every
        return tuple((rest, every[number]) for rest, number in self._places)

    @cached_property
    def numbers(self) -> Mapping[Place, int]:
        """The number of each place."""
        return {place: number for number, place in enumerate(self.places)}

    def __len__(self) -> int:
        """Return how many places were reached."""
        return len(self._places)

    def go(self, start: Snapshot, limits: Limits) -> None:
        """Go to every place, from a state before the first tick."""
        rest, counts = self.looked.split(start)
        self.note((rest, self.looked.clocks.number(counts)), None)
        while len(self.situations) < len(self._places):
            self.stopped = self.too_far(limits)
            if self.stopped:
                return
            self.go_on()

    def note(self, place: tuple[int, int], before: tuple[int, int] | None) -> int:
        """Return the number of a place, having noted it if it is new."""
        number = len(self._places)
        found = self._numbers.setdefault(place, number)
        if found == number:
            self._places.append(place)
            self.before.append(before)
        return found

    def go_on(self) -> None:
        """Take the ticks from the next place."""
        number = len(self.situations)
        rest, counts = self._places[number]
        situation = self.looked.at_number(rest, counts)
        onward, note = self.looked.clocks.number_onward, self.note
        steps = [
            note((one.rest, onward(counts, one.running)), (number, one.case)) for one in situation.onward
        ]
        self.following.append(tuple(steps))
        self.situations.append(situation)

    def too_far(self, limits: Limits) -> str:
        """Return why not to go on, nothing where there is no reason."""
        looked = self.looked
        if len(self) > (limits.doubtful_states if looked.doubts else limits.states):
            return f"more than {len(self) - 1} states"
        return f"more than {looked.count - 1} cases" if looked.count > limits.cases else ""

    def steps(self, number: int) -> Iterator[Step]:
        """Yield the ticks from a place: to every other one, with every combination of answers, once."""
        if number < len(self.situations):
            situation = self.situations[number]
            for to, one in zip(self.following[number], situation.onward, strict=True):
                yield Step(to, situation.cases[one.case])

    def depth(self, number: int) -> int:
        """Return how many ticks lead to a place."""
        count = 0
        while (step := self.before[number]) is not None:
            number, count = step[0], count + 1
        return count

    @property
    def whole_depth(self) -> int:
        """The number of ticks up to which every place was reached."""
        left = len(self.situations)
        return self.depth(left) if left < len(self) else self.depth(left - 1)
