"""What halving only guessed about one number is settled by proof: each mistake found is put right."""

from __future__ import annotations

from collections.abc import Callable

from posewright.charts.reachability.axis import Domain, Spans, parted
from posewright.charts.reachability.relation import Decider, Relation

ROUNDS = 12
"""Mistakes put right before the guess is given up."""

STEPS = 1000
"""Neighbours of a mistake that are looked at one by one."""


class Settling:
    """A condition over one number, and the set of values for which it is thought to hold.

    Args:
        name: of the number.
        axis: its values.
        relation: the condition.
        decider: who proves.
        holds: what the condition is at the value of that number on the axis.
    """

    def __init__(
        self, name: str, axis: Domain, relation: Relation, decider: Decider, holds: Callable[[int], bool]
    ) -> None:
        self.name = name
        self.axis = axis
        self.relation = relation
        self.decider = decider
        self.holds = holds

    def settle(self, spans: Spans) -> tuple[Spans, bool]:
        """Return the set for which the condition holds, and whether that is proved."""
        for _ in range(ROUNDS):
            outside = parted(self.axis.whole, spans)[1]
            known, wrong = self.mistake(spans, self.relation.turned())
            if known and wrong is None:
                known, wrong = self.mistake(outside, self.relation)
            if not known or wrong is None:
                return spans, known
            around = (self.around(wrong),)
            spans = _sorted(spans + around) if self.holds(wrong) else parted(spans, around)[1]
        return spans, False

    def mistake(self, spans: Spans, relation: Relation) -> tuple[bool, int | None]:
        """Return whether it is known if a relation can hold in a set, and a number for which it does."""
        if not spans:
            return True, None
        found = self.decider.decide({self.name: self.axis}, {self.name: spans}, [relation])
        value = None if found.values is None else found.values.get(self.name)
        return not found.unknown, None if value is None else self.axis.index(value)

    def around(self, index: int) -> tuple[int, int]:
        """Return the values beside one for which the condition is the same, as far as they were looked at."""
        ((low, high),) = self.axis.whole
        answer, ends = self.holds(index), []
        for step in (-1, 1):
            at = index
            while low <= at + step <= high and abs(at - index) < STEPS and self.holds(at + step) is answer:
                at += step
            ends.append(at)
        return ends[0], ends[1]


def _sorted(spans: Spans) -> Spans:
    """Return spans in order, those that meet as one."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)
