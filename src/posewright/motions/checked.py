"""What the design rules look at: a motion on its robot, its poses and its ways in degrees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from posewright.motions.motion import Motion
from posewright.motions.pose import Angles, Pose
from posewright.motions.thresholds import DesignRules
from posewright.robots import Robot


@dataclass(frozen=True, eq=False)
class Way:
    """The way into a keyframe.

    Attributes:
        number: of the keyframe, counted from 1.
        reach_s: time for it as it is played [s].
        begin: (n_joints,) resolved pose it leaves [deg].
        end: (n_joints,) resolved pose it reaches [deg].
        points: (n_points, n_joints) [deg], both ends included; NaN where free.
    """

    number: int
    reach_s: float
    begin: Angles
    end: Angles
    points: Angles

    @property
    def mean(self) -> Angles:
        """(n_joints,) mean speed over the way [deg/s]; infinite where it jumps, 0 where free."""
        way = np.nan_to_num(np.abs(self.end - self.begin), nan=0.0, posinf=np.inf)
        if self.reach_s == 0.0:
            return np.where(way > 0.0, np.inf, 0.0)
        return np.asarray(way / self.reach_s, dtype=np.float64)

    @property
    def fastest(self) -> Angles:
        """(n_joints,) fastest between two of the points [deg/s], at least the mean."""
        if self.reach_s == 0.0:
            return self.mean
        with np.errstate(invalid="ignore"):
            steps = np.abs(np.diff(self.points, axis=0)).max(axis=0)
        speeds = np.nan_to_num(steps * (len(self.points) - 1) / self.reach_s, nan=0.0, posinf=np.inf)
        return np.asarray(np.fmax(speeds, self.mean), dtype=np.float64)


@dataclass(frozen=True)
class Checked:
    """A motion on its robot, and by what it is checked.

    Attributes:
        motion: what is checked.
        robot: whose limits, servos and poses count.
        rules: the thresholds.
        near_pose: name of the pose it must begin and end near; None for the nearest.
        celebration: whether it may take its time.
    """

    motion: Motion
    robot: Robot
    rules: DesignRules
    near_pose: str | None
    celebration: bool

    @cached_property
    def columns(self) -> list[int]:
        """Where the motion's joints stand among the robot's."""
        return [self.robot.joint_names.index(name) for name in self.motion.joints]

    @cached_property
    def poses(self) -> tuple[Pose, ...]:
        """The start pose and the keyframe poses of the first pass, nothing held."""
        return self.motion.resolved()

    @cached_property
    def ways(self) -> tuple[Way, ...]:
        """Every way of the first pass, and a loop's way from its end back into its first keyframe."""
        ways = tuple(self._ways(self.motion.resolved(), later=False))
        if not self.motion.loops or self.motion.start is None:
            return ways
        seam = next(self._ways(self.motion.resolved(self.motion.resolved()[-1]), later=True))
        return (*ways, seam)

    def _ways(self, poses: tuple[Pose, ...], *, later: bool) -> Iterator[Way]:
        rows = np.rad2deg(np.stack([pose.angles for pose in poses]))
        points = np.rad2deg(self.motion.ways(self.rules.points_per_way, later=later))
        for i, keyframe in enumerate(self.motion.keyframes):
            yield Way(i + 1, keyframe.reach_s / self.motion.speed, rows[i], rows[i + 1], points[i])


def place(number: int) -> str:
    """Return what a keyframe, counted from 1, is called; 0 is the start pose."""
    return "the start pose" if number == 0 else f"keyframe {number}"
