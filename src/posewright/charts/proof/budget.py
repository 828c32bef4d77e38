"""What a question comes to, and what deciding it may cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from posewright.charts.types import Value

Case = Mapping[str, Value]
"""A value for every name that a question's expressions read."""

KEPT = 64
"""Cases that are kept: the youngest."""

SHARE = 2
"""No question may take more than one part in so many of the effort that is left."""


@dataclass(frozen=True)
class ProverAnswer:
    """Whether something can happen.

    Attributes:
        possible: True comes with a case; False is proved for every value of every name; None: it could not
            be decided within the effort allowed.
        case: a case in which it happens; the expressions were computed in it before it was handed out.
    """

    possible: bool | None
    case: Case | None = None


IMPOSSIBLE = ProverAnswer(False)
UNKNOWN = ProverAnswer(None)


@dataclass(frozen=True)
class Effort:
    """How hard a prover tries; counted in steps of the solver, so that every machine answers alike.

    Attributes:
        combinations: so many combinations of values are just tried one after the other.
        steps: for one question; a thousand take 0.02 s to 0.2 s.
        all_steps: for all questions together; what is left is shared out among those to come.
        least_steps: so many a question may take even when nothing is left.
    """

    combinations: int = 256
    steps: int = 30_000
    all_steps: int = 60_000
    least_steps: int = 300


class SolverBudget:
    """The effort for all questions of one or several provers that work on one chart, and what they found.

    A chart may ask a thousand questions that are easy, or a few that are hard; where many are hard, each gets
    less. All is counted in steps of the solver, never timed.

    Attributes:
        effort: what there was at first.
        steps: that were taken so far.
    """

    def __init__(self, effort: Effort | None = None) -> None:
        self.effort = effort or Effort()
        self.steps = 0
        self._cases: dict[tuple[object, ...], Case] = {}

    @property
    def steps_allowed(self) -> int:
        """How many steps the next question may take."""
        left = (self.effort.all_steps - self.steps) // SHARE
        return min(self.effort.steps, max(self.effort.least_steps, left))

    def keep(self, case: Case) -> None:
        """Keep a case: what shows that one thing can happen often shows another."""
        self._cases.setdefault(tuple(case.items()), case)
        if len(self._cases) > KEPT:
            del self._cases[next(iter(self._cases))]

    @property
    def cases(self) -> Iterator[Case]:
        """The cases that were found, the youngest first."""
        return reversed(self._cases.values())
