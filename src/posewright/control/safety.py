"""What stands between player and body: no command passes that a servo cannot or must not follow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import NoReturn

import numpy as np

from posewright.bodies import Flags, Floats, JointCommands
from posewright.errors import UnsafeCommandError
from posewright.robots import Robot

SLACK_RAD = 1e-9
"""Rounding that is not worth a word."""


class Guard(Enum):
    """What a command ran against."""

    JOINT_LIMIT = "joint limit"
    SPEED_LIMIT = "speed limit"

    @property
    def unit(self) -> str:
        """The unit of what was asked and of the limit."""
        return "rad" if self is Guard.JOINT_LIMIT else "rad/s"


@dataclass(frozen=True, slots=True)
class Intervention:
    """The worst correction of one joint by one guard within one block.

    Attributes:
        guard: what the command ran against.
        joint: the joint it was for.
        value: what was asked: an angle [rad], or the speed needed from the command before [rad/s].
        limit: what was let through at most, in the same unit.
        frame: the first row of the block that was corrected.
    """

    guard: Guard
    joint: str
    value: float
    limit: float
    frame: int


@dataclass(frozen=True, slots=True)
class SafeFrames:
    """JointCommands that may reach a body, and what had to be done to make them so."""

    frames: JointCommands
    interventions: tuple[Intervention, ...] = ()


class Safety:
    """Clips commands to the joints' limits and their change to the servos' no-load speed."""

    def __init__(self, robot: Robot) -> None:
        self._joints = robot.joint_names
        self._period_s = robot.frame_period_s
        self._lower, self._upper = robot.limits
        self._step = robot.max_speeds * robot.frame_period_s
        self._loose = (self._lower - SLACK_RAD, self._upper + SLACK_RAD, self._step + SLACK_RAD)

    def filter(self, frames: JointCommands, last: Floats) -> SafeFrames:
        """Return what may be sent of `frames`, `last` `(n_joints,)` being what was sent before [rad].

        Raises:
            UnsafeCommandError: an angle is not finite, or the frames are of another robot.
        """
        angles = frames.angles
        if angles.ndim != 2 or angles.shape[1] != len(self._joints):
            raise UnsafeCommandError(
                f"frames of the shape {angles.shape}", hint=f"(n, {len(self._joints)}) fits this robot"
            )
        if self._fits(angles, last):
            return SafeFrames(frames)
        return self._correct(frames, last)

    def _fits(self, angles: Floats, last: Floats) -> bool:
        """Return whether nothing is to be done; a NaN fits nowhere."""
        lower, upper, step = self._loose
        path = np.concatenate((last[np.newaxis], angles))
        change = path[1:] - path[:-1]
        np.abs(change, out=change)
        return bool(((angles >= lower) & (angles <= upper) & (change <= step)).all())

    def _correct(self, frames: JointCommands, last: Floats) -> SafeFrames:
        asked = frames.angles
        if not np.isfinite(asked).all():
            self._refuse(asked)
        clipped = np.clip(asked, self._lower, self._upper)
        limited = np.empty_like(clipped)
        changes = np.empty_like(clipped)
        before = last
        for row, change, sent in zip(
            clipped, changes, limited, strict=True
        ):  # one after the other: few and fast
            np.subtract(row, before, out=change)
            np.minimum(np.maximum(row, before - self._step), before + self._step, out=sent)
            before = sent
        speeds = np.abs(changes) / self._period_s
        beyond = np.maximum(asked - self._loose[1], self._loose[0] - asked)
        too_fast = speeds - self._loose[2] / self._period_s
        limit = np.where(asked > self._upper, self._upper, self._lower)
        interventions = (
            *self._report(Guard.JOINT_LIMIT, beyond, asked, limit),
            *self._report(Guard.SPEED_LIMIT, too_fast, speeds, self._step / self._period_s),
        )
        return SafeFrames(replace(frames, angles=limited), interventions)

    def _report(self, guard: Guard, excess: Floats, values: Floats, limits: Floats) -> list[Intervention]:
        """Return the worst of each joint whose `excess` `(n, n_joints)` is positive anywhere."""
        limits = np.broadcast_to(limits, values.shape)
        over: Flags = excess > 0.0
        found = []
        for j in np.flatnonzero(over.any(axis=0)):
            worst = int(excess[:, j].argmax())
            first = int(over[:, j].argmax())
            value, limit = float(values[worst, j]), float(limits[worst, j])
            found.append(Intervention(guard, self._joints[j], value, limit, first))
        return found

    def _refuse(self, angles: Floats) -> NoReturn:
        frame, joint = (int(i) for i in np.argwhere(~np.isfinite(angles))[0])
        raise UnsafeCommandError(
            f"{self._joints[joint]} is asked to go to {angles[frame, joint]} in frame {frame}",
            hint="an angle is a finite number of radians",
        )
