"""How long an answer may be waited for: the longest journeys on which the goal never holds."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from posewright.charts.reachability import AbstractState, ReachabilityGraph, SymbolicStep


class Waiting:
    """The ticks of a walk after which a goal does not hold.

    Args:
        walk: through all that a chart can do.
        when: which of the watched conditions asks.
        goal: which of them answers.
    """

    def __init__(self, walk: ReachabilityGraph, when: int, goal: int) -> None:
        self.walk = walk
        self.when = when
        self.goal = goal
        self.known: dict[AbstractState, tuple[int, ...]] = {}
        self.longest = self._longest()

    def missing(self, situation: AbstractState) -> tuple[int, ...]:
        """Return which of the ticks from a situation the goal does not hold after."""
        if situation not in self.known:
            onward = enumerate(situation.onward)
            self.known[situation] = tuple(i for i, one in onward if not one.answers[self.goal])
        return self.known[situation]

    def steps(self, place: int) -> Iterator[tuple[int, SymbolicStep]]:
        """Yield the places that follow without the goal, and a case that leads there."""
        if place < len(self.walk.situations):
            situation, following = self.walk.situations[place], self.walk.following[place]
            for i in self.missing(situation):
                yield following[i], situation.cases[situation.onward[i].case]

    def _longest(self) -> list[float]:
        """Return for how many ticks the goal may be missing from each place on; infinity for ever.

        The places are taken up from those behind which there is none; what is never taken up leads into a
        circle.
        """
        places = range(len(self.walk))
        before: list[list[int]] = [[] for _ in places]
        left = [0] * len(places)
        for place, situation in enumerate(self.walk.situations):
            following = self.walk.following[place]
            for i in self.missing(situation):
                before[following[i]].append(place)
                left[place] += 1
        found = [0.0 if not count else inf for count in left]
        ready = [place for place in places if not left[place]]
        length = [0.0] * len(places)
        for place in ready:
            for earlier in before[place]:
                length[earlier] = max(length[earlier], found[place] + 1)
                left[earlier] -= 1
                if not left[earlier]:
                    found[earlier] = length[earlier]
                    ready.append(earlier)
        return found

    def question(self, ticks: int) -> tuple[int, int, SymbolicStep] | None:
        """Return the earliest tick that asks and may get no answer within `ticks` more.

        Returns:
            the place before that tick, the one after it, and a case that leads there.
        """
        for place, situation in enumerate(self.walk.situations):
            following = self.walk.following[place]
            for i in self.missing(situation):
                asked = situation.onward[i]
                if asked.answers[self.when] and self.longest[following[i]] >= ticks:
                    return place, following[i], situation.cases[asked.case]
        return None

    def journey(self, place: int, ticks: int) -> Iterator[SymbolicStep]:
        """Yield the cases of a journey of so many ticks without the goal."""
        for left in range(ticks - 1, -1, -1):
            place, case = next(one for one in self.steps(place) if self.longest[one[0]] >= left)
            yield case
