"""A motion to begin with."""

from __future__ import annotations

import numpy as np

from posewright.errors import InputError, UnknownNameError
from posewright.motions.motion import STAND, Motion
from posewright.motions.pose import Keyframe, Pose
from posewright.robots import Robot

REACH_S = 1.0
"""So long the first pose is on its way [s]."""


DECIMALS = 2
"""Of the angles in degrees: far below a servo's tick, and short to read."""


def begin_motion(name: str, robot: Robot, pose: str | None = None) -> Motion:
    """Return a motion of one keyframe, in which every joint is as in a named pose of the robot.

    Args:
        name: of the motion.
        robot: whose it is.
        pose: one of the robot's; default `stand`, or its first.

    Raises:
        UnknownNameError: the robot has no such pose.
        InputError: the name is empty.
    """
    if not name.strip():
        raise InputError("a motion needs a name")
    if pose is None:
        pose = STAND if STAND in robot.poses else next(iter(robot.poses), None)
    elif pose not in robot.poses:
        raise UnknownNameError.among("pose", pose, robot.poses)
    lower, upper = robot.hardware_limits
    wanted = np.zeros(len(robot.joints)) if pose is None else robot.pose(pose)
    angles = np.clip(np.deg2rad(np.round(np.rad2deg(wanted), DECIMALS)), lower, upper)
    joints = tuple(robot.joint_names)
    return Motion(name, robot.name, joints, (Keyframe(Pose(joints, angles), REACH_S),))


def file_stem(name: str) -> str:
    """Return what the file of a motion is called, without its ending."""
    stem = "".join(sign if sign.isalnum() or sign in "-_" else "_" for sign in name.strip())
    return stem.strip("_")[:100] or "motion"
