"""Proof: decides whether conditions can hold, over every value that every name may have.

    prover = Prover({"n": IntType(0, 9), "d": FloatType(0.0, 5.0)})
    answer = prover.satisfiable(true=[guard, second_guard])      # can both guards be true?

`answer.possible` is False if it is proved that they do not; True, with a confirmed case in which they do;
None if that could not be decided within the budget.

Expressions become terms (`translation`, `terms`), which are encoded as bit vectors (`encoder`) for an SMT
solver, Bitwuzla (`search`).
"""

from __future__ import annotations

from posewright.charts.proof.budget import Effort, ProverAnswer, SolverBudget
from posewright.charts.proof.claims import (
    DividesByZero,
    Fails,
    Holds,
    OutOfRange,
    ProofClaim,
    Saturates,
    compute_value,
)
from posewright.charts.proof.operations import ArithmeticOperation, operations_in
from posewright.charts.proof.prover import Prover, require_solver
from posewright.charts.proof.translation import Translator

__all__ = [
    "ArithmeticOperation",
    "DividesByZero",
    "Effort",
    "Fails",
    "Holds",
    "OutOfRange",
    "ProofClaim",
    "Prover",
    "ProverAnswer",
    "Saturates",
    "SolverBudget",
    "Translator",
    "compute_value",
    "operations_in",
    "require_solver",
]
