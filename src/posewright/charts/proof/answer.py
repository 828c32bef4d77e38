"""What a question comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from posewright.charts.types import Value

Case = Mapping[str, Value]
"""A value for every name that a question's expressions read."""


@dataclass(frozen=True)
class Answer:
    """Whether something can happen.

    Attributes:
        possible: True comes with a case; False is proved for every value of every name; None: it could not
            be decided within the effort allowed.
        case: a case in which it happens; the expressions were computed in it before it was handed out.
    """

    possible: bool | None
    case: Case | None = None


IMPOSSIBLE = Answer(False)
UNKNOWN = Answer(None)


@dataclass(frozen=True)
class Effort:
    """How hard a prover tries; counted in steps of the solver, so that every machine answers alike.

    Attributes:
        combinations: so many combinations of values are just tried one after the other.
        steps: of reasoning about real numbers, for one question; a million takes about 0.3 s.
        all_steps: of that for all questions together; what is left is shared out among those to come.
        least_steps: so many a question may take even when nothing is left.
        bit_steps: of reasoning bit by bit, for one question that real numbers did not decide.
        all_bit_steps: of that for all questions together.
    """

    combinations: int = 256
    steps: int = 2_000_000
    all_steps: int = 6_000_000
    least_steps: int = 20_000
    bit_steps: int = 1_500_000
    all_bit_steps: int = 3_000_000
