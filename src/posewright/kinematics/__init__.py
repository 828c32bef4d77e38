"""Legs and heads in closed form: angles to places and back, exact, for one point or a million.

It knows robots by their cards and nothing of physics. docs/kinematics.md derives the formulas.
"""

from __future__ import annotations

from posewright.kinematics.head import Head, head_of
from posewright.kinematics.mounted_leg import MountedLeg, legs_by_foot, legs_of
from posewright.kinematics.reach import OutOfReach
from posewright.kinematics.three_joint_leg import Form, Knee, Lift, ThreeJointLeg

__all__ = [
    "Form",
    "Head",
    "Knee",
    "Lift",
    "MountedLeg",
    "OutOfReach",
    "ThreeJointLeg",
    "head_of",
    "legs_by_foot",
    "legs_of",
]
