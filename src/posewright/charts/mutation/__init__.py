"""Mutation: a chart with one small fault in it should fail some scenario."""

from __future__ import annotations

from posewright.charts.mutation.fault import Mutant, Sort
from posewright.charts.mutation.mutants import mutants
from posewright.charts.mutation.mutating import MutationResult, explore_kept, mutate_chart
from posewright.charts.mutation.telling import MutantStatus, Teller, Told

__all__ = [
    "Mutant",
    "MutantStatus",
    "MutationResult",
    "Sort",
    "Teller",
    "Told",
    "explore_kept",
    "mutants",
    "mutate_chart",
]
