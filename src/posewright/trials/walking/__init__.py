"""A gait walked on a simulated body, and measured: how fast, how upright, how hard for its joints."""

from __future__ import annotations

from posewright.trials.walking.many import ManyReport, walk_many
from posewright.trials.walking.picture import draw_gait_trial
from posewright.trials.walking.report import GaitReport
from posewright.trials.walking.trial import GaitTrial, walk_gait

__all__ = ["GaitReport", "GaitTrial", "ManyReport", "draw_gait_trial", "walk_gait", "walk_many"]
