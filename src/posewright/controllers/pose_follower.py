"""A controller that moves a robot to a pose which somebody edits meanwhile."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import BodyState, JointCommands
from posewright.control import Controller
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import Robot

FOLLOW_SPEED_RAD_S = math.radians(60.0)
"""Greatest speed of a joint [rad/s]: close to that of a Dynamixel's way to its start pose; ours."""


@dataclass(frozen=True, eq=False)
class _Target:
    """A pose to move to: the pose for the verdict, and angles `(n_joints,)` [rad] of all joints."""

    pose: Pose
    angles: Floats


class PoseFollower(Controller):
    """Moves all joints to a pose in a straight line of the joint space, and holds it.

    The joints arrive together; none exceeds `FOLLOW_SPEED_RAD_S` or its own greatest speed. Free joints have
    their torque off; a joint that is no longer free starts from where it was measured. The pose may be
    replaced by another thread than the one that calls `next`.

    Args:
        robot: the robot.
        pose: the first pose, of all joints of the robot; the robot is expected to be there.
        angles: angles of all joints in that pose, those of free joints included, `(n_joints,)` [rad].
    """

    def __init__(self, robot: Robot, pose: Pose, angles: Floats) -> None:
        self._robot = robot
        self._target = _Target(pose, angles)
        self._commanded = angles
        self._speeds = np.minimum(robot.max_speeds, FOLLOW_SPEED_RAD_S)

    @property
    def start_pose(self) -> Floats:
        """The angles of the pose that it moves to, `(n_joints,)` [rad]."""
        return self._target.angles

    def plan(self, pose: Pose) -> Motion:
        """Return the movement from the present command to another pose, as a motion that can be checked.

        Args:
            pose: the pose, of all joints of the robot.
        """
        joints = self._robot.joint_names
        start = Pose(joints, self._commanded)
        duration_s = max(self._duration_s(pose.angles), self._robot.frame_period_s)
        return Motion(
            "pose", self._robot.name, joints, (Keyframe(pose, duration_s),), start=start, card=self._robot
        )

    def set_target(self, pose: Pose, angles: Floats) -> None:
        """Move to another pose from the next frame on; arguments as for the constructor."""
        self._target = _Target(pose, angles)

    def next(self, state: BodyState, n: int) -> JointCommands:  # noqa: ARG002 -- the pose may change any time
        """Return one row, a frame's distance closer to the pose."""
        target = self._target
        is_free = target.pose.free_mask
        distances = np.where(is_free, 0.0, target.angles - self._commanded)
        n_frames = max(self._duration_s(self._commanded + distances) / self._robot.frame_period_s, 1.0)
        angles = self._commanded + distances / n_frames
        measured = np.where(np.isfinite(state.positions), state.positions, angles)
        self._commanded = np.where(is_free, measured, angles)
        return JointCommands(self._commanded[np.newaxis], free=is_free if is_free.any() else None)

    def _duration_s(self, angles: Floats) -> float:
        """Return how long the joints need from the present command to angles, NaN for free joints [s]."""
        durations_s = np.abs(angles - self._commanded) / self._speeds
        return float(np.nan_to_num(durations_s, nan=0.0).max())
