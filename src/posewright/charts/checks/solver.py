"""The solver of the checks: decides whether claims about names of known types can all be true together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from posewright.charts.checks.conditions import substitute
from posewright.charts.expression import Expression
from posewright.charts.proof import DividesByZero, Holds, OutOfRange, Prover, Saturates, SolverBudget
from posewright.charts.types import Type, Value

CheckClaim = Holds | OutOfRange | DividesByZero | Saturates
"""A claim about an expression."""

ALTERNATE_PREFIX = "another."
"""Prefix of a second copy of an input, for questions about two values of the same input."""


@dataclass(frozen=True)
class SolverAnswer:
    """Whether some claims can all be true together.

    Attributes:
        possible: True, False, or None if that could not be decided.
        case: a value for every name in the claims with which they are true.
        reason: why it could not be decided.
    """

    possible: bool | None
    case: Mapping[str, Value] | None = None
    reason: str = ""


class CheckSolver:
    """Decides whether claims about names of known types can be true, until the time of the check is over.

    Attributes:
        prover: decides single questions.
        is_time_over: returns whether the time of the check is over.
        n_decided_questions: number of calls of `solve` that were decided; a report states it.
    """

    def __init__(
        self,
        types: Mapping[str, Type],
        budget: SolverBudget | None = None,
        is_time_over: Callable[[], bool] = lambda: False,
    ) -> None:
        """Prepare a prover for names of these types.

        Args:
            types: the type of every name that claims may use.
            budget: the effort of proving; None for a budget of its own.
            is_time_over: returns whether the time of the check is over; questions after that are undecided.
        """
        self.prover = Prover(types, budget=budget)
        self.is_time_over = is_time_over
        self.n_decided_questions = 0

    def solve(self, claims: Sequence[CheckClaim]) -> SolverAnswer:
        """Return whether all claims can be true together, with a case in which they are.

        Raises:
            MissingExtraError: the solver is needed and not installed.
        """
        if self.is_time_over():
            return SolverAnswer(possible=None, reason="the time limit was reached")
        answer = self.prover.solve(claims)
        if answer.possible is None:
            return SolverAnswer(possible=None, reason="the prover gave up")
        self.n_decided_questions += 1
        return SolverAnswer(answer.possible, answer.case)

    def excludes(self, claims: Sequence[CheckClaim]) -> bool:
        """Return whether it is proved that the claims cannot all be true together."""
        return self.solve(claims).possible is False


def build_claims(true: Iterable[Expression] = (), false: Iterable[Expression] = ()) -> tuple[CheckClaim, ...]:
    """Return the claims that the conditions in `true` hold and those in `false` do not."""
    return (*map(Holds, true), *(Holds(condition, expected=False) for condition in false))


def substitute_in_claim(claim: CheckClaim, values: Mapping[str, Value]) -> CheckClaim:
    """Return a claim in which the names in `values` are replaced by their values."""
    return replace(claim, expression=substitute(claim.expression, values))


def all_hold(claims: Iterable[CheckClaim], values: Mapping[str, Value]) -> bool:
    """Return whether all claims are true for the given value of every name."""
    return all(claim.holds_in(values) for claim in claims)
