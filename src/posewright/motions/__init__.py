"""Motions: poses, keyframes, what happens between them, and the rules they should keep."""

from __future__ import annotations

from posewright.motions.checked import DesignRules
from posewright.motions.design_rules import check_motion
from posewright.motions.easing import DEFAULT_ACCEL_SHARE, Easing, robotis_accel_share
from posewright.motions.finding import Finding, Level
from posewright.motions.motion import Motion, Samples
from posewright.motions.pose import LONGEST_S, SHORTEST_S, Attitude, Keyframe, Pose
from posewright.motions.retarget import Carried, Clip, carried_over, mirrored
from posewright.motions.sample_table import SampleTable, sample_motion
from posewright.motions.straighten import straightened

__all__ = [
    "DEFAULT_ACCEL_SHARE",
    "LONGEST_S",
    "SHORTEST_S",
    "Attitude",
    "Carried",
    "Clip",
    "DesignRules",
    "Easing",
    "Finding",
    "Keyframe",
    "Level",
    "Motion",
    "Pose",
    "SampleTable",
    "Samples",
    "carried_over",
    "check_motion",
    "mirrored",
    "robotis_accel_share",
    "sample_motion",
    "straightened",
]
