"""Safety: no command passes that a servo cannot or must not follow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.bodies import JointCommands
from posewright.errors import UnsafeCommandError
from posewright.robots import Robot

SLACK_RAD = 1e-6
"""Rounding that is not worth a word: in whole micro-radians a joint cannot be right at its limit, as the
ERS-7's tail is when it stands, at 5 degrees."""


class Guard(Enum):
    """What a command ran against."""

    JOINT_LIMIT = "joint limit"
    SPEED_LIMIT = "speed limit"

    @property
    def unit(self) -> str:
        """The unit of what was asked and of the limit."""
        return "rad" if self is Guard.JOINT_LIMIT else "rad/s"


@dataclass(frozen=True, slots=True, eq=False)
class Interventions:
    """Every correction of a joint in a frame, k in all: first those at joint limits, then those of speed.

    Attributes:
        guards: what each command ran against, k of them.
        frames: the rows that were corrected, `(k,)`.
        joints: the columns, `(k,)`.
        values: what was asked: an angle [rad], or the speed needed from the command before [rad/s], `(k,)`.
        limits: what was let through at most, in the same unit, `(k,)`.
    """

    guards: tuple[Guard, ...]
    frames: Indices
    joints: Indices
    values: Floats
    limits: Floats

    def __len__(self) -> int:
        return len(self.guards)

    def within(self, begin: int, end: int) -> Interventions | None:
        """Return those of rows `begin` up to `end`, counted from there; None where there are none."""
        chosen = np.flatnonzero((self.frames >= begin) & (self.frames < end))
        if not len(chosen):
            return None
        guards = tuple(self.guards[k] for k in chosen)
        rest = (self.joints[chosen], self.values[chosen], self.limits[chosen])
        return Interventions(guards, self.frames[chosen] - begin, *rest)


@dataclass(frozen=True, slots=True, eq=False)
class SafeCommands:
    """Commands that may reach a body, and what had to be changed; None where nothing had to."""

    commands: JointCommands
    interventions: Interventions | None = None


class Safety:
    """Clips commands to the joints' limits and their change to the servos' no-load speed.

    Args:
        robot: whose joints these are.
        hardware: clip to the stops of the mechanism instead of the joints' limits, and let any speed through:
            what shows a motion as it was written.
    """

    def __init__(self, robot: Robot, *, hardware: bool = False) -> None:
        self._joints = robot.joint_names
        self._period_s = robot.frame_period_s
        self._lower, self._upper = robot.hardware_limits if hardware else robot.limits
        speeds = np.full(len(self._joints), np.inf) if hardware else robot.max_speeds
        self._step = speeds * robot.frame_period_s
        self._loose = (self._lower - SLACK_RAD, self._upper + SLACK_RAD, self._step + SLACK_RAD)

    def filter(self, requests: JointCommands, last: Floats) -> SafeCommands:
        """Return what may be sent of `requests`, `last` `(n_joints,)` being what was sent before [rad].

        Raises:
            BodyError: the commands are another robot's.
            UnsafeCommandError: an angle is not finite, or a stiffness makes no sense.
        """
        requests.check(self._joints)
        angles = requests.angles
        stiffness = requests.stiffness
        if stiffness is not None and not (np.isfinite(stiffness) & (stiffness >= 0.0)).all():
            raise UnsafeCommandError("a stiffness that is no number", hint="0 N m/rad or more")
        if self._fits(angles, last):
            return SafeCommands(requests)
        return self._correct(requests, last)

    def _fits(self, angles: Floats, last: Floats) -> bool:
        """Return whether nothing is to be done; a NaN fits nowhere."""
        lower, upper, step = self._loose
        path = np.concatenate((last[np.newaxis], angles))
        change = path[1:] - path[:-1]
        np.abs(change, out=change)
        return bool(((angles >= lower) & (angles <= upper) & (change <= step)).all())

    def _correct(self, requests: JointCommands, last: Floats) -> SafeCommands:
        asked = requests.angles
        if requests.free is not None:  # what has no torque may be asked for nothing
            asked = np.where(np.isfinite(asked), asked, last)
        lower, upper, step = self._loose
        is_within = (asked >= lower) & (asked <= upper)  # passes as it is, whatever stands beside it
        clipped = np.where(is_within, asked, np.clip(asked, self._lower, self._upper))
        limited = np.empty_like(clipped)
        changes = np.empty_like(clipped)
        before = last
        # one after the other: few and fast
        for row, change, sent in zip(clipped, changes, limited, strict=True):
            np.subtract(row, before, out=change)
            np.minimum(np.maximum(row, before - self._step), before + self._step, out=sent)
            np.copyto(sent, row, where=np.abs(change) <= step)
            before = sent
        return SafeCommands(replace(requests, angles=limited), self._report(asked, np.abs(changes)))

    def _report(self, asked: Floats, changes: Floats) -> Interventions | None:
        """Return every joint and frame that is beyond a limit of angle or speed."""
        beyond = np.argwhere((asked > self._loose[1]) | (asked < self._loose[0]))
        too_fast = np.argwhere(changes > self._loose[2])
        if not len(beyond) + len(too_fast):
            return None
        angles, speeds = asked[tuple(beyond.T)], changes[tuple(too_fast.T)] / self._period_s
        joints = beyond[:, 1]
        both = np.concatenate((beyond, too_fast))
        limits = np.where(angles > self._upper[joints], self._upper[joints], self._lower[joints])
        return Interventions(
            (Guard.JOINT_LIMIT,) * len(beyond) + (Guard.SPEED_LIMIT,) * len(too_fast),
            both[:, 0],
            both[:, 1],
            np.concatenate((angles, speeds)),
            np.concatenate((limits, self._step[too_fast[:, 1]] / self._period_s)),
        )
