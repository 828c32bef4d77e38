"""What a promise still owes: how old its oldest unanswered question is.

A promise that `when` leads to `goal` in time is answered for all its questions at once, whenever the goal
holds. So the oldest question is the only one that has to be remembered.
"""

from __future__ import annotations

from dataclasses import dataclass

from posewright.charts.model import Chart, Promise, PropertyKind

NOTHING = 0
"""The age while nothing is owed; 1 at the tick of the question itself."""


@dataclass(frozen=True)
class Obligation:
    """A promise, counted in ticks.

    Attributes:
        ticks: after which an answer comes too late.
    """

    promise: Promise
    ticks: int

    @classmethod
    def of(cls, promise: Promise, chart: Chart) -> Obligation:
        """Return the duty that a chart's promise makes."""
        return cls(promise, chart.ticks_within(promise.within_s))

    @property
    def conditions(self) -> int:
        """How many answers it needs after every tick."""
        return 2 if self.promise.vow is PropertyKind.LEADS_TO else 1

    def onward(self, age: int, when: bool, goal: bool) -> int:
        """Return the age of the oldest question after a tick."""
        if self.promise.vow is not PropertyKind.LEADS_TO:
            return NOTHING
        if goal:
            return NOTHING
        return age + 1 if age else int(when)

    def is_broken(self, age: int, when: bool) -> bool:
        """Return whether the promise is broken by a tick: `age` is that after it."""
        if self.promise.vow is PropertyKind.LEADS_TO:
            return age > self.ticks
        return when is (self.promise.vow is PropertyKind.NEVER)
