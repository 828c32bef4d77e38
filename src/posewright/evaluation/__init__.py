"""Evaluation: measures of what a recording tells of a walk or a motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.evaluation.motion.thresholds import PhysicsRules as PhysicsRules
    from posewright.evaluation.walking.report import GaitReport as GaitReport
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
