"""Mutation: a chart with one small fault in it should fail some scenario."""

from posewright.charts.mutation.fault import Mutant, Sort
from posewright.charts.mutation.mutants import mutants
from posewright.charts.mutation.mutating import MutationResult, explore_kept, mutate_chart
from posewright.charts.mutation.telling import Teller, Told, Verdict

__all__ = [
    "Mutant",
    "MutationResult",
    "Sort",
    "Teller",
    "Told",
    "Verdict",
    "explore_kept",
    "mutants",
    "mutate_chart",
]
