"""Proof: whether something can happen at all, over every value that every name may have.

    prover = Prover({"n": IntType(0, 9), "d": FloatType(0.0, 5.0)})
    answer = prover.satisfiable(true=[guard, other_guard])      # do two guards ever hold at once?

`answer.possible` is False where it is proved that they do not; it is True with a case in which they do,
which has been tried; it is None where that could not be decided within the effort allowed.

Expressions become terms (`translation`, `terms`); terms are written for an SMT solver twice: in real numbers,
quick and a little loose (`smt/reals`), and bit by bit, exact and slow (`smt/bits`).
"""

from __future__ import annotations

from posewright.charts.proof.answer import Answer, Effort
from posewright.charts.proof.claim import FAILED, Claim, Holds, Outside, compute
from posewright.charts.proof.place import Place, places_in
from posewright.charts.proof.place_claim import DividesByZero, Saturates
from posewright.charts.proof.pool import SolverBudget
from posewright.charts.proof.prover import Prover
from posewright.charts.proof.rounding import DOUBLE, SINGLE
from posewright.charts.proof.translation import Translator

__all__ = [
    "DOUBLE",
    "FAILED",
    "SINGLE",
    "Answer",
    "Claim",
    "DividesByZero",
    "Effort",
    "Holds",
    "Outside",
    "Place",
    "Prover",
    "Saturates",
    "SolverBudget",
    "Translator",
    "compute",
    "places_in",
]
