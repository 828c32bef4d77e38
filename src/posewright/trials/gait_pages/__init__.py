"""Gaits and their parameters as pictures. Nothing is simulated here, and MuJoCo is not needed."""

from __future__ import annotations

from posewright.trials.gait_pages.drawing import draw_gait
from posewright.trials.gait_pages.parameter import draw_parameter

__all__ = ["draw_gait", "draw_parameter"]
