"""Tuning: a search over a box of named numbers, kept in a journal that outlives whatever stops it.

The room knows neither robots nor gaits. A `Problem` says which numbers there are and how good some values of
them are; `tune` looks for the best with CMA-ES (Hansen's evolution strategy with an adapted covariance, from
the package `cma`), writes every evaluation into a journal, and goes on where a journal ends.
"""

from __future__ import annotations

from posewright.search.attempt import Attempt, Ending, Generation, Tuned
from posewright.search.journal_reading import Journal, read_journal
from posewright.search.plan import Plan
from posewright.search.problem import REASON, Dimension, Evaluation, Fact, Problem
from posewright.search.running import tune

__all__ = [
    "REASON",
    "Attempt",
    "Dimension",
    "Ending",
    "Evaluation",
    "Fact",
    "Generation",
    "Journal",
    "Plan",
    "Problem",
    "Tuned",
    "read_journal",
    "tune",
]
