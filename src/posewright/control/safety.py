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
        """Return those of some rows, counted from `begin`; None where there are none."""
        selected = np.flatnonzero((self.frames >= begin) & (self.frames < end))
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
    """Commands within the limits of a robot, and the corrections made; None where there are none."""

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
        self._joints = robot.joint_names
        self._period_s = robot.frame_period_s
        self._lower, self._upper = robot.hardware_limits if hardware else robot.limits
        speeds = np.full(len(self._joints), np.inf) if hardware else robot.max_speeds
        self._step = speeds * robot.frame_period_s
        self._tolerated = (self._lower - SLACK_RAD, self._upper + SLACK_RAD, self._step + SLACK_RAD)

    def filter(self, requests: JointCommands, last: Floats) -> SafeCommands:
        """Return the requests within the limits.

        Args:
            requests: the commands of a controller.
            last: the angles sent before them, `(n_joints,)` [rad].

        Raises:
            BodyError: the commands have the shape of another robot.
            UnsafeCommandError: an angle is not finite, or a stiffness is not a number of 0 or more.
        """
        requests.require_fit(self._joints)
        angles = requests.angles
        stiffness = requests.stiffness
        if stiffness is not None and not (np.isfinite(stiffness) & (stiffness >= 0.0)).all():
            raise UnsafeCommandError("a stiffness is negative or not finite", hint="0 N m/rad or more")
        if self._fits(angles, last):
            return SafeCommands(requests)
        return self._correct(requests, last)

    def _fits(self, angles: Floats, last: Floats) -> bool:
        """Return whether all limits hold with tolerance; NaN does not fit."""
        lower, upper, step = self._tolerated
        path = np.concatenate((last[np.newaxis], angles))
        change = path[1:] - path[:-1]
        np.abs(change, out=change)
        return bool(((angles >= lower) & (angles <= upper) & (change <= step)).all())

    def _correct(self, requests: JointCommands, last: Floats) -> SafeCommands:
        """Return the requests clipped to the limits of angles, then of changes from row to row."""
        requested = requests.angles
        if requests.free is not None:  # a free joint may have NaN
            requested = np.where(np.isfinite(requested), requested, last)
        lower, upper, step = self._tolerated
        is_within = (requested >= lower) & (
            requested <= upper
        )  # within tolerance an angle stays exactly as it is
        clipped = np.where(is_within, requested, np.clip(requested, self._lower, self._upper))
        limited = np.empty_like(clipped)
        changes = np.empty_like(clipped)
        previous = last
        for row, change, limited_row in zip(clipped, changes, limited, strict=True):
            np.subtract(row, previous, out=change)
            np.minimum(np.maximum(row, previous - self._step), previous + self._step, out=limited_row)
            np.copyto(limited_row, row, where=np.abs(change) <= step)
            previous = limited_row
        return SafeCommands(replace(requests, angles=limited), self._report(requested, np.abs(changes)))

    def _report(self, requested: Floats, changes: Floats) -> Interventions | None:
        """Return the joints and frames that exceed a limit of angle or speed; None where there are none.

        Args:
            requested: angles, `(n, n_joints)` [rad].
            changes: absolute changes from row to row, `(n, n_joints)` [rad].
        """
        lower, upper, step = self._tolerated
        beyond = np.argwhere((requested > upper) | (requested < lower))
        too_fast = np.argwhere(changes > step)
        if not len(beyond) + len(too_fast):
            return None
        angles = requested[tuple(beyond.T)]
        speeds = changes[tuple(too_fast.T)] / self._period_s
        joints = beyond[:, 1]
        limits = np.where(angles > self._upper[joints], self._upper[joints], self._lower[joints])
        places = np.concatenate((beyond, too_fast))
        return Interventions(
            (SafetyLimit.JOINT_LIMIT,) * len(beyond) + (SafetyLimit.SPEED_LIMIT,) * len(too_fast),
            frames=places[:, 0],
            joints=places[:, 1],
            values=np.concatenate((angles, speeds)),
            limits=np.concatenate((limits, self._step[too_fast[:, 1]] / self._period_s)),
        )
