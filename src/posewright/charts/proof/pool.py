"""What provers share that work on one chart: the effort that is left, and the cases that were found."""

from __future__ import annotations

from collections.abc import Iterator

from posewright.charts.proof.answer import Case, Effort

KEPT = 64
"""Cases that are kept: the youngest."""

SHARE = 3
"""No question may take more than one part in so many of the effort that is left."""


class SolverBudget:
    """The effort for all questions of one or several provers, and what they came upon.

    A chart may ask a thousand questions that are easy, or a few that are hard; where many are hard, each gets
    less. All is counted in steps of the solver, never timed.

    Attributes:
        effort: what there was at first.
        steps: of reasoning about real numbers that were taken so far.
        bit_steps: of reasoning bit by bit.
        open: checks that the solver left undecided.
    """

    def __init__(self, effort: Effort | None = None) -> None:
        self.effort = effort or Effort()
        self.steps = 0
        self.bit_steps = 0
        self.open = 0
        self._cases: dict[tuple[object, ...], Case] = {}

    def steps_allowed(self, weight: int = 1) -> int:
        """Return how many steps of a weight the next question about real numbers may take."""
        left = (self.effort.all_steps - self.steps) // SHARE
        return min(self.effort.steps, max(self.effort.least_steps, left // weight))

    def bit_steps_allowed(self, weight: int = 1) -> int:
        """Return how many steps of a weight the next question bit by bit may take; zero: not one."""
        left = min(self.effort.bit_steps, self.effort.all_bit_steps - self.bit_steps)
        return max(0, left // weight)

    @property
    def is_strained(self) -> bool:
        """Whether nothing is left but the least for each question."""
        return self.effort.all_steps - self.steps < SHARE * self.effort.least_steps

    def keep(self, case: Case) -> None:
        """Keep a case: what shows that one thing can happen often shows another."""
        self._cases.setdefault(tuple(case.items()), case)
        if len(self._cases) > KEPT:
            del self._cases[next(iter(self._cases))]

    @property
    def cases(self) -> Iterator[Case]:
        """The cases that were found, the youngest first."""
        return reversed(self._cases.values())
