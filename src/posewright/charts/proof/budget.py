"""Budget of the prover, and its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from posewright.charts.types import Value

Case = Mapping[str, Value]
"""A value for every name that the claims of a question read."""

MAX_REMEMBERED_CASES = 64
"""Cases that are remembered; the oldest are dropped."""

BUDGET_FRACTION = 2
"""No question may take more than the remaining budget divided by this."""


@dataclass(frozen=True)
class ProverAnswer:
    """Whether some claims can all be true.

    Attributes:
        possible: True, with a case; False, proved for all values of all names; None, where that could not be
            decided within the budget.
        case: a case in which the claims are true, as evaluating the expressions has confirmed.
    """

    possible: bool | None
    case: Case | None = None


IMPOSSIBLE = ProverAnswer(possible=False)
UNKNOWN = ProverAnswer(possible=None)


@dataclass(frozen=True)
class Effort:
    """How hard a prover tries, counted in steps of the solver, so that every machine gives the same answers.

    Attributes:
        max_combinations: up to this many combinations of values are tried one by one, without the solver.
        max_steps_per_question: maximum of one question; a thousand take 0.02 s to 0.2 s.
        max_steps_in_all: maximum of all questions together, shared among those to come.
        min_steps_per_question: the steps that each question may take even if no budget remains.
    """

    max_combinations: int = 256
    max_steps_per_question: int = 30_000
    max_steps_in_all: int = 60_000
    min_steps_per_question: int = 300


class SolverBudget:
    """The budget of one or several provers that work on the same chart, and the cases they found.

    A chart may pose a thousand easy questions or a few hard ones; where many are hard, each gets less.

    Attributes:
        effort: the limits.
        steps_taken: steps of the solver taken so far.
    """

    def __init__(self, effort: Effort | None = None) -> None:
        self.effort = effort or Effort()
        self.steps_taken = 0
        self._cases: dict[tuple[object, ...], Case] = {}

    @property
    def steps_allowed(self) -> int:
        """How many steps the next question may take."""
        share = (self.effort.max_steps_in_all - self.steps_taken) // BUDGET_FRACTION
        return min(self.effort.max_steps_per_question, max(self.effort.min_steps_per_question, share))

    def remember(self, case: Case) -> None:
        """Store a case; a case of one question often answers another."""
        self._cases.setdefault(tuple(case.items()), case)
        if len(self._cases) > MAX_REMEMBERED_CASES:
            del self._cases[next(iter(self._cases))]

    @property
    def remembered_cases(self) -> Iterator[Case]:
        """The stored cases, the newest first."""
        return reversed(self._cases.values())
