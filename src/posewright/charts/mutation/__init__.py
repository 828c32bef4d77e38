"""Mutation: a chart with one small fault in it should fail some scenario."""

from __future__ import annotations

from posewright.charts.mutation.distinguish import Distinction, Distinguisher, InputRow, MutantStatus
from posewright.charts.mutation.faults import FaultKind, Mutant
from posewright.charts.mutation.mutants import mutants
from posewright.charts.mutation.mutating import MutationResult, explore_kept, mutate_chart

__all__ = [
    "Distinction",
    "Distinguisher",
    "FaultKind",
    "InputRow",
    "Mutant",
    "MutantStatus",
    "MutationResult",
    "explore_kept",
    "mutants",
    "mutate_chart",
]
