"""The solver as checks ask it: whether claims about names of known types can be true at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from posewright.charts.checks.conditions import with_values
from posewright.charts.expression import Expression
from posewright.charts.proof import DividesByZero, Holds, Outside, Prover, Saturates, SolverBudget
from posewright.charts.types import Type, Value

CheckClaim = Holds | Outside | DividesByZero | Saturates
"""A claim about an expression."""

OTHER = "another."
"""Prefix of an input's name that stands for the same input with another value."""


@dataclass(frozen=True)
class SolverAnswer:
    """Whether some claims can be true at once.

    Attributes:
        possible: None where that could not be decided.
        case: values of every name the claims read for which they are true.
        reason: why it could not be decided.
    """

    possible: bool | None
    case: Mapping[str, Value] | None = None
    reason: str = ""


class CheckSolver:
    """Answers questions about the names in `types`.

    Attributes:
        proved: how many questions were decided.
    """

    def __init__(
        self,
        types: Mapping[str, Type],
        pool: SolverBudget | None = None,
        is_over: Callable[[], bool] = bool,
    ) -> None:
        self.prover = Prover(types, pool=pool)
        self.is_over = is_over
        self.proved = 0

    def ask(self, claims: Sequence[CheckClaim]) -> SolverAnswer:
        """Return whether all claims can be true at once.

        Raises:
            MissingExtraError: the solver is needed and not installed.
        """
        if self.is_over():
            return SolverAnswer(None, reason="the time is over")
        answer = self.prover.ask(claims)
        if answer.possible is None:
            return SolverAnswer(None, reason="the prover gave up")
        self.proved += 1
        return SolverAnswer(answer.possible, answer.case)

    def excludes(self, claims: Sequence[CheckClaim]) -> bool:
        """Return whether it is proved that the claims cannot all be true at once."""
        return self.ask(claims).possible is False


def claims(true: Iterable[Expression] = (), false: Iterable[Expression] = ()) -> tuple[CheckClaim, ...]:
    """Return the claims that some conditions hold and others do not."""
    return (*map(Holds, true), *(Holds(condition, wanted=False) for condition in false))


def claim_with_values(claim: CheckClaim, values: Mapping[str, Value]) -> CheckClaim:
    """Return a claim in which some names have the given values."""
    return replace(claim, expression=with_values(claim.expression, values))


def all_hold(claims: Iterable[CheckClaim], values: Mapping[str, Value]) -> bool:
    """Return whether all claims are true for these values."""
    return all(claim.seen(values) for claim in claims)
