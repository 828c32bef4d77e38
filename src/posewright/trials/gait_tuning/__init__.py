"""Gaits found by search: what is searched, walked, and what it is worth. `tuning` does the searching."""

from __future__ import annotations

from posewright.trials.gait_tuning.reading import read_tune, tune_names
from posewright.trials.gait_tuning.search import GaitProblem, TunedGait, tune_gait
from posewright.trials.gait_tuning.task import GaitTask

__all__ = ["GaitProblem", "GaitTask", "TunedGait", "read_tune", "tune_gait", "tune_names"]
