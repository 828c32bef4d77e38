"""A new motion of one keyframe, and the file name of a motion."""

from __future__ import annotations

import re

import numpy as np

from posewright.documents import is_device_name
from posewright.errors import InputError, UnknownNameError
from posewright.motions.motion import STAND, Motion
from posewright.motions.pose import Keyframe, Pose
from posewright.robots import Robot

REACH_S = 1.0
"""Time to reach the first pose [s]."""


DECIMALS = 2
"""Decimals of the angles in degrees: far below a servo's tick, and short to read."""


def create_motion(name: str, robot: Robot, pose: str | None = None) -> Motion:
    """Return a motion of one keyframe, a named pose of the robot.

    Args:
        name: the name of the motion.
        robot: the robot it is for.
        pose: one of the robot's; default `stand`, or its first.

    Raises:
        UnknownNameError: the robot has no such pose.
        InputError: the name is empty.
    """
    if not name.strip():
        raise InputError("the name of the motion is empty")
    if pose is None:
        pose = STAND if STAND in robot.poses else next(iter(robot.poses), None)
    elif pose not in robot.poses:
        raise UnknownNameError.among("pose", pose, robot.poses)
    lower, upper = robot.hardware_limits
    pose_angles = np.zeros(len(robot.joints)) if pose is None else robot.pose(pose)
    rounded = np.deg2rad(np.round(np.rad2deg(pose_angles), DECIMALS))
    angles = np.clip(rounded, lower, upper)
    joints = tuple(robot.joint_names)
    keyframe = Keyframe(Pose(joints, angles), REACH_S)
    return Motion(name, robot.name, joints, keyframes=(keyframe,), card=robot)


def file_stem(name: str) -> str:
    """Return the file name for a motion, without its suffix."""
    stem = re.sub(r"[^\w-]", "_", name.strip()).strip("_")[:100] or "motion"
    return f"{stem}_" if is_device_name(stem) else stem
