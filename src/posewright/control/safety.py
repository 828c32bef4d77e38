"""The filter between a controller and its body, which limits joint angles and speeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.bodies import JointCommands
from posewright.errors import UnsafeCommandError
from posewright.robots import Robot

SLACK_RAD = 1e-6
"""Tolerance for rounding: a pose may hold a joint exactly at its limit, as the ERS-7 does with its tail."""


class SafetyLimit(Enum):
    """The kind of limit that a command exceeded."""

    JOINT_LIMIT = "joint limit"
    SPEED_LIMIT = "speed limit"

    @property
    def unit(self) -> str:
        """The unit of the requested value and of the limit."""
        return "rad" if self is SafetyLimit.JOINT_LIMIT else "rad/s"


@dataclass(frozen=True, slots=True, eq=False)
class Interventions:
    """The k corrections of a block of commands: first those at joint limits, then those of speeds.

    Attributes:
        guards: the kind of limit exceeded, k of them.
        frames: the row corrected, `(k,)`.
        joints: the column corrected, `(k,)`.
        values: the requested angle [rad], or the speed from the previous command [rad/s], `(k,)`.
        limits: the limit in the same unit, `(k,)`.
    """

    guards: tuple[SafetyLimit, ...]
    frames: Indices
    joints: Indices
    values: Floats
    limits: Floats

    def __len__(self) -> int:
        return len(self.guards)

    def within(self, begin: int, end: int) -> Interventions | None:
        """Return the corrections of the rows from `begin` up to `end` (exclusive); None if there are none.

        Args:
            begin: the first row of the block; the frames of the result are counted from it.
            end: the row after the last one.
        """
        selected = np.flatnonzero((self.frames >= begin) & (self.frames < end))  # indices of corrections
        if not len(selected):
            return None
        return Interventions(
            tuple(self.guards[k] for k in selected),
            frames=self.frames[selected] - begin,
            joints=self.joints[selected],
            values=self.values[selected],
            limits=self.limits[selected],
        )


@dataclass(frozen=True, slots=True, eq=False)
class SafeCommands:
    """Commands within the limits of a robot.

    Attributes:
        commands: the commands.
        interventions: the corrections made; None where there are none.
    """

    commands: JointCommands
    interventions: Interventions | None = None


class Safety:
    """Clips commands to the joints' limits and their change to the servos' no-load speed.

    Args:
        robot: the robot.
        hardware: whether to clip to the stops of the mechanism instead of the joints' limits and not to limit
            speeds, so that a motion moves as written.
    """

    def __init__(self, robot: Robot, *, hardware: bool = False) -> None:
        """Read the limits of the robot."""
        self._joints = robot.joint_names
        self._period_s = robot.frame_period_s
        self._lower, self._upper = robot.hardware_limits if hardware else robot.limits
        speeds = np.full(len(self._joints), np.inf) if hardware else robot.max_speeds
        self._max_change = speeds * robot.frame_period_s  # from row to row, `(n_joints,)` [rad]
        # with tolerance for rounding
        self._tolerated_lower = self._lower - SLACK_RAD
        self._tolerated_upper = self._upper + SLACK_RAD
        self._tolerated_change = self._max_change + SLACK_RAD

    def filter(self, requests: JointCommands, last_angles: Floats) -> SafeCommands:
        """Return the requests as they are if they keep all limits, else corrected, with the corrections.

        Args:
            requests: the commands of a controller.
            last_angles: the angles sent before them, `(n_joints,)` [rad].

        Raises:
            BodyError: the commands have the shape of another robot.
            UnsafeCommandError: an angle is not finite, or a stiffness is not a number of 0 or more.
        """
        requests.require_fit(self._joints)
        angles = requests.angles
        stiffness = requests.stiffness
        if stiffness is not None and not (np.isfinite(stiffness) & (stiffness >= 0.0)).all():
            raise UnsafeCommandError("a stiffness is negative or not finite", hint="0 N m/rad or more")
        if self._fits(angles, last_angles):
            return SafeCommands(requests)
        return self._correct(requests, last_angles)

    def _fits(self, angles: Floats, last_angles: Floats) -> bool:
        """Return whether all limits hold with tolerance; NaN does not fit."""
        path = np.concatenate((last_angles[np.newaxis], angles))
        changes = path[1:] - path[:-1]
        np.abs(changes, out=changes)
        is_within = (angles >= self._tolerated_lower) & (angles <= self._tolerated_upper)
        return bool((is_within & (changes <= self._tolerated_change)).all())

    def _correct(self, requests: JointCommands, last_angles: Floats) -> SafeCommands:
        """Return the requests clipped to the limits of angles, then to those of changes from row to row.

        What exceeds a limit by less than the tolerance stays exactly as it is.
        """
        requested = requests.angles
        if requests.free is not None:  # a free joint may have NaN
            requested = np.where(np.isfinite(requested), requested, last_angles)
        is_within = (requested >= self._tolerated_lower) & (requested <= self._tolerated_upper)
        clipped = np.where(is_within, requested, np.clip(requested, self._lower, self._upper))
        safe_angles = np.empty_like(clipped)
        changes = np.empty_like(clipped)
        previous_row = last_angles
        # row by row, as each change counts from the row that was sent before
        for row, change, safe_row in zip(clipped, changes, safe_angles, strict=True):
            np.subtract(row, previous_row, out=change)
            lowest = previous_row - self._max_change
            highest = previous_row + self._max_change
            np.minimum(np.maximum(row, lowest), highest, out=safe_row)
            np.copyto(safe_row, row, where=np.abs(change) <= self._tolerated_change)
            previous_row = safe_row
        interventions = self._report(requested, np.abs(changes))
        return SafeCommands(replace(requests, angles=safe_angles), interventions)

    def _report(self, requested: Floats, changes: Floats) -> Interventions | None:
        """Return the joints and frames that exceed a limit of angle or speed; None where there are none.

        Args:
            requested: angles, `(n, n_joints)` [rad].
            changes: absolute changes from row to row, `(n, n_joints)` [rad].
        """
        is_beyond = (requested > self._tolerated_upper) | (requested < self._tolerated_lower)
        is_too_fast = changes > self._tolerated_change
        if not (is_beyond.any() or is_too_fast.any()):
            return None
        beyond_frames, beyond_joints = np.nonzero(is_beyond)
        fast_frames, fast_joints = np.nonzero(is_too_fast)
        angles = requested[beyond_frames, beyond_joints]
        speeds = changes[fast_frames, fast_joints] / self._period_s
        upper = self._upper[beyond_joints]
        angle_limits = np.where(angles > upper, upper, self._lower[beyond_joints])
        speed_limits = self._max_change[fast_joints] / self._period_s
        return Interventions(
            (SafetyLimit.JOINT_LIMIT,) * len(angles) + (SafetyLimit.SPEED_LIMIT,) * len(speeds),
            frames=np.concatenate((beyond_frames, fast_frames)),
            joints=np.concatenate((beyond_joints, fast_joints)),
            values=np.concatenate((angles, speeds)),
            limits=np.concatenate((angle_limits, speed_limits)),
        )
