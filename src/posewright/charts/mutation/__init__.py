"""Mutation: a chart with one small fault in it should fail some scenario."""

from __future__ import annotations

from posewright.charts.mutation.faults import FaultKind, Mutant
from posewright.charts.mutation.mutants import mutants
from posewright.charts.mutation.mutating import MutationResult, explore_kept, mutate_chart
from posewright.charts.mutation.telling import InputRow, MutantStatus, Teller, Told

__all__ = [
    "FaultKind",
    "InputRow",
    "Mutant",
    "MutantStatus",
    "MutationResult",
    "Teller",
    "Told",
    "explore_kept",
    "mutants",
    "mutate_chart",
]
