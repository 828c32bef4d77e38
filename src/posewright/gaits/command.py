"""What a gait is asked for, a velocity of the trunk over the ground, and what answers with joint angles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.gaits.arc import se2_log

STANDS = 1e-9
"""Less than this is standing still [m/s, rad/s]: a nanometre, a nanoradian a second."""


@dataclass(frozen=True, slots=True)
class VelocityCommand:
    """Forward, left and turn, seen from the trunk.

    A number below `STANDS` is taken as 0.

    Attributes:
        forward_m_s: ahead [m/s]; negative backwards.
        left_m_s: to the left [m/s]; negative to the right.
        turn_rad_s: to the left, counter-clockwise from above [rad/s].

    Raises:
        InputError: a velocity is no finite number.
    """

    forward_m_s: float = 0.0
    left_m_s: float = 0.0
    turn_rad_s: float = 0.0

    def __post_init__(self) -> None:
        for name, value in self.by_name.items():
            given: object = value
            if isinstance(given, bool) or not isinstance(given, int | float | np.integer | np.floating):
                raise InputError(f"{name} is {given!r}", hint="a number")
            if not math.isfinite(value):
                raise InputError(f"{name} is {value}", hint="a finite number")
            object.__setattr__(self, name, 0.0 if abs(value) < STANDS else float(value))

    @classmethod
    def covering(cls, displacement: ArrayLike, seconds: float) -> VelocityCommand:
        """Return the command that leads along one arc to a displacement in so many seconds.

        Args:
            displacement: x, y and turn of where the trunk is to be then, seen from where it is now, `(3,)`
                [m, m, rad].
            seconds: above 0 [s].

        Raises:
            InputError: a whole turn or more, no time, or a number that is not finite.
        """
        if not 0.0 < seconds < math.inf:
            raise InputError(f"{seconds:g} s for a displacement", hint="more than 0 s")
        forward, left, turn = (se2_log(displacement) / seconds).tolist()
        return cls(forward, left, turn)

    @property
    def by_name(self) -> dict[str, float]:
        """The three by name."""
        return {"forward_m_s": self.forward_m_s, "left_m_s": self.left_m_s, "turn_rad_s": self.turn_rad_s}

    @property
    def mirrored(self) -> VelocityCommand:
        """The command as a mirror shows it: the other side, the other way round."""
        return VelocityCommand(self.forward_m_s, -self.left_m_s, -self.turn_rad_s)

    def components(self, seconds: float) -> Floats:
        """Return way forward, way left and turn in so many seconds, `(3,)` [m, m, rad]."""
        return np.array([self.forward_m_s, self.left_m_s, self.turn_rad_s]) * seconds


STILL = VelocityCommand()
"""Stepping on the spot."""


class GaitGenerator(Protocol):
    """Whatever makes joint angles from velocity commands, frame by frame, on any number of legs.

    A joint never jumps: commands take effect at steps. Whoever comes from a motion brings the joints to
    `standing_pose` first; whoever leaves calls `halt` and takes frames until `is_standing`.
    """

    @property
    def standing_pose(self) -> Floats:
        """The pose before the first step and after the last, `(n_joints,)` [rad]."""

    @property
    def command(self) -> VelocityCommand:
        """What was asked for last."""

    @property
    def is_standing(self) -> bool:
        """Whether it stood in the last frame, as it does before the first; here another motion may follow."""

    def request(self, command: VelocityCommand) -> None:
        """Ask for a velocity from the next step on (STILL steps on the spot), or raise InputError."""

    def clipped(self, command: VelocityCommand) -> VelocityCommand:
        """Return what can be requested in place of a command: the same direction, slower if need be."""

    def halt(self) -> None:
        """Come to stand in the standing pose, and stay so until something else is asked for."""

    def reset(self) -> None:
        """Stand as before the first step, wherever it was; nothing is asked for."""

    def frames(self, n: int) -> Floats:
        """Return the joints in the next n frames, in the order of the robot's, `(n, n_joints)` [rad]."""
