"""Trials: robot + behaviour + arena + seed, run, judged, shown; and motions, tried under gravity."""

from __future__ import annotations

from posewright.trials.field import lay_out
from posewright.trials.film import film_trial, stage_of
from posewright.trials.gait_pages import draw_gait, draw_parameter
from posewright.trials.gait_tuning import (
    GaitProblem,
    GaitTask,
    TunedGait,
    read_tune,
    tune_gait,
    tune_names,
)
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
from posewright.trials.walking import (
    GaitReport,
    GaitTrial,
    ManyReport,
    draw_gait_trial,
    walk_gait,
    walk_many,
)

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
