"""Counts the steps of one context of the solver, and tells how many more may be taken."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from posewright.charts.proof.pool import SolverBudget


@dataclass
class Count:
    """How many steps were read off a context last; the solver counts on from question to question."""

    last: int = 0


@dataclass(frozen=True)
class Meter:
    """Counts the steps of one context.

    Attributes:
        pool: where they are taken from.
        by_bits: which of the two sorts of steps they are.
        parts: one part in so many of what the pool allows may be taken at a time.
    """

    pool: SolverBudget
    by_bits: bool
    parts: int = 1
    count: Count = field(default_factory=Count)

    def part(self, parts: int) -> Meter:
        """Return the meter for questions that get one part in so many."""
        return replace(self, parts=parts)

    def allowed(self, weight: int) -> int:
        """Return how many steps of a weight the next check may take; zero would be no limit to the solver."""
        allowed = self.pool.bit_steps_allowed if self.by_bits else self.pool.steps_allowed
        return max(1, allowed(weight) // self.parts)

    def read(self, steps: int, weight: int, *, is_open: bool) -> None:
        """Note what the context says after a check, what its steps weigh, and whether it stayed open."""
        taken, self.count.last = (steps - self.count.last) * weight, steps
        self.pool.open += is_open
        if self.by_bits:
            self.pool.bit_steps += taken
        else:
            self.pool.steps += taken
