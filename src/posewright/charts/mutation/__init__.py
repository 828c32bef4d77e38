"""Mutation: a chart with one small fault in it should fail some scenario."""

from __future__ import annotations

from posewright.charts.mutation.distinguish import Distinction, Distinguisher, InputRow, MutantStatus
from posewright.charts.mutation.mutants import mutants
from posewright.charts.mutation.mutation import Mutant, MutationKind
from posewright.charts.mutation.mutation_run import MutationResult, explore_small_variables, mutate_chart

__all__ = [
    "Distinction",
    "Distinguisher",
    "InputRow",
    "Mutant",
    "MutantStatus",
    "MutationKind",
    "MutationResult",
    "explore_small_variables",
    "mutants",
    "mutate_chart",
]
