"""Trials: robot + behaviour + arena + seed, run, judged, shown; and motions, tried under gravity.

Names load on first use: a process that only walks loads what it walks with, and nothing that draws or races.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from posewright.trials.field import lay_out
    from posewright.trials.film import film_trial, stage_of
    from posewright.trials.gait_pages import draw_gait, draw_parameter
    from posewright.trials.gait_tuning.reading import read_tune, tune_names
    from posewright.trials.gait_tuning.search import GaitProblem, TunedGait, tune_gait
    from posewright.trials.gait_tuning.task import GaitTask
    from posewright.trials.motion_film import film_motion
    from posewright.trials.motion_picture import draw_motion
    from posewright.trials.motion_thresholds import PhysicsRules
    from posewright.trials.motion_trial import MotionTrial, try_motion
    from posewright.trials.outcome import Outcome
    from posewright.trials.picture import draw_trial
    from posewright.trials.recording import Progress
    from posewright.trials.replaying import replay
    from posewright.trials.run import run_trial
    from posewright.trials.trial import Trial, read_trial, trial_names
    from posewright.trials.walking.many import walk_many
    from posewright.trials.walking.many_report import ManyReport
    from posewright.trials.walking.picture import draw_gait_trial
    from posewright.trials.walking.report import GaitReport
    from posewright.trials.walking.trial import GaitTrial, walk_gait

_ROOM = {
    "GaitProblem": "gait_tuning.search",
    "GaitReport": "walking.report",
    "GaitTask": "gait_tuning.task",
    "GaitTrial": "walking.trial",
    "ManyReport": "walking.many_report",
    "MotionTrial": "motion_trial",
    "Outcome": "outcome",
    "PhysicsRules": "motion_thresholds",
    "Progress": "recording",
    "Trial": "trial",
    "TunedGait": "gait_tuning.search",
    "draw_gait": "gait_pages",
    "draw_gait_trial": "walking.picture",
    "draw_motion": "motion_picture",
    "draw_parameter": "gait_pages",
    "draw_trial": "picture",
    "film_motion": "motion_film",
    "film_trial": "film",
    "lay_out": "field",
    "read_trial": "trial",
    "read_tune": "gait_tuning.reading",
    "replay": "replaying",
    "run_trial": "run",
    "stage_of": "film",
    "trial_names": "trial",
    "try_motion": "motion_trial",
    "tune_gait": "gait_tuning.search",
    "tune_names": "gait_tuning.reading",
    "walk_gait": "walking.trial",
    "walk_many": "walking.many",
}

__all__ = [
    "GaitProblem",
    "GaitReport",
    "GaitTask",
    "GaitTrial",
    "ManyReport",
    "MotionTrial",
    "Outcome",
    "PhysicsRules",
    "Progress",
    "Trial",
    "TunedGait",
    "draw_gait",
    "draw_gait_trial",
    "draw_motion",
    "draw_parameter",
    "draw_trial",
    "film_motion",
    "film_trial",
    "lay_out",
    "read_trial",
    "read_tune",
    "replay",
    "run_trial",
    "stage_of",
    "trial_names",
    "try_motion",
    "tune_gait",
    "tune_names",
    "walk_gait",
    "walk_many",
]


if not TYPE_CHECKING:  # else any name, misspelt ones too, would be there for who checks types

    def __getattr__(name: str) -> object:
        if name not in _ROOM:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{__name__}.{_ROOM[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
