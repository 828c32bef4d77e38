"""Forward and inverse kinematics of legs and heads in closed form, for one point or many.

The geometry comes from the robots' cards; docs/kinematics.md derives the formulas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.kinematics.biped_leg import BipedLeg as BipedLeg
    from posewright.kinematics.biped_leg import LegAngles as LegAngles
    from posewright.kinematics.biped_leg import biped_legs_of as biped_legs_of
    from posewright.kinematics.head import Head as Head
    from posewright.kinematics.head import head_of as head_of
    from posewright.kinematics.leg_length import leg_length_m as leg_length_m
    from posewright.kinematics.mounted_leg import MountedLeg as MountedLeg
    from posewright.kinematics.mounted_leg import legs_by_foot as legs_by_foot
    from posewright.kinematics.mounted_leg import legs_of as legs_of
    from posewright.kinematics.reach import OutOfReach as OutOfReach
    from posewright.kinematics.three_joint_leg import IkForm as IkForm
    from posewright.kinematics.three_joint_leg import Knee as Knee
    from posewright.kinematics.three_joint_leg import Lift as Lift
    from posewright.kinematics.three_joint_leg import ThreeJointLeg as ThreeJointLeg
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
