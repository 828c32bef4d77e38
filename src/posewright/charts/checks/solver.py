"""Asks the prover, and says so where there is none to ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from posewright.charts.checks.conditions import holding
from posewright.charts.checks.trying import Undecided, case_of
from posewright.charts.expression import Expression
from posewright.charts.proof import DividesByZero, Holds, Outside, Prover, Saturates, SolverBudget
from posewright.charts.types import Type, Value
from posewright.errors import MissingExtraError

Claim = Holds | Outside | DividesByZero | Saturates
"""Something that may be so of an expression."""

OTHER = "another."
"""What precedes the name of an input to tell it from itself with another value."""

GAVE_UP = "the prover gave up"


@dataclass(frozen=True)
class Answer:
    """Whether some claims can be so at once.

    Attributes:
        possible: None where that could not be decided.
        case: values with which they are, of every name they read.
        reason: why it could not be decided.
    """

    possible: bool | None
    case: Mapping[str, Value] | None = None
    reason: str = ""


class Solver:
    """Answers questions about the names in `types`.

    Attributes:
        proved: how many questions were decided.
        missing: why there is no prover to ask; empty where there is one, or none was needed.
    """

    def __init__(self, types: Mapping[str, Type], pool: SolverBudget | None = None) -> None:
        self.prover = Prover(types, pool=pool)
        self.proved = 0
        self.missing = ""

    def ask(self, claims: Sequence[Claim]) -> Answer:
        """Return whether all that is claimed can be so at once."""
        try:
            told = self.prover.ask(claims)
        except MissingExtraError as error:
            return self.tried(claims, str(error))
        self.proved += told.possible is not None
        return Answer(told.possible, told.case, "" if told.possible is not None else GAVE_UP)

    def tried(self, claims: Sequence[Claim], missing: str) -> Answer:
        """Return what can be told without a prover."""
        wanted = [(claim.expression, claim.wanted) for claim in claims if isinstance(claim, Holds)]
        try:
            if len(wanted) < len(claims):
                raise Undecided
            case = case_of(wanted, self.prover.types)
        except Undecided:
            self.missing = missing
            return Answer(None, reason=missing)
        self.proved += 1
        return Answer(case is not None, case)

    def excludes(self, claims: Sequence[Claim]) -> bool:
        """Return whether it is proved that not all that is claimed can be so at once."""
        return self.ask(claims).possible is False


def claims(true: Iterable[Expression] = (), false: Iterable[Expression] = ()) -> tuple[Claim, ...]:
    """Return the claims that some conditions hold and others do not."""
    return (*map(Holds, true), *(Holds(one, wanted=False) for one in false))


def standing(claim: Claim, held: Mapping[str, Value]) -> Claim:
    """Return a claim with some names held at values."""
    return replace(claim, expression=holding(claim.expression, held))


def shows(claims: Iterable[Claim], held: Mapping[str, Value]) -> bool:
    """Return whether all that is claimed is so with these values."""
    return all(claim.seen(held) for claim in claims)
