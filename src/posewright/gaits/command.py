"""Velocity commands of a gait, and the interface of gait generators."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.gaits.arc import se2_log
from posewright.gaits.feedback import Tilt

MIN_COMMAND = 1e-9
"""Smaller speeds count as 0 [m/s, rad/s]: a nanometre, a nanoradian a second."""

_FLOOR_TOLERANCE = 1e-6


def bound_text(value: float, digits: int = 3) -> str:
    """Return a bound as text, rounded down, so that the printed value is a valid command."""
    return f"{math.floor(value * 10**digits + _FLOOR_TOLERANCE) / 10**digits:.{digits}f}"


@dataclass(frozen=True, slots=True)
class VelocityCommand:
    """Velocity of the trunk over the ground, in the trunk's frame.

    A number below `MIN_COMMAND` is taken as 0.

    Attributes:
        forward_m_s: ahead [m/s]; negative backwards.
        left_m_s: to the left [m/s]; negative to the right.
        turn_rad_s: to the left, counter-clockwise from above [rad/s].

    Raises:
        InputError: a velocity is not a finite number.
    """

    forward_m_s: float = 0.0
    left_m_s: float = 0.0
    turn_rad_s: float = 0.0

    def __post_init__(self) -> None:
        """Check the velocities, and store them as floats, 0 where they are below `MIN_COMMAND`."""
        for name, value in self.by_name.items():
            number: object = value  # a caller may pass any type
            if isinstance(number, bool) or not isinstance(number, int | float | np.integer | np.floating):
                raise InputError(f"{name} is {number!r}", hint="a number")
            if not math.isfinite(value):
                raise InputError(f"{name} is {value}", hint="use a finite number")
            object.__setattr__(self, name, 0.0 if abs(value) < MIN_COMMAND else float(value))

    @classmethod
    def covering(cls, displacement: ArrayLike, seconds: float) -> VelocityCommand:
        """Return the command that leads along one arc to a displacement in a given time.

        Args:
            displacement: final pose of the trunk in its present frame: x, y and turn, `(3,)` [m, m, rad].
            seconds: above 0 [s].

        Raises:
            InputError: a turn of 2 pi or more, a time not above 0, or a number that is not finite.
        """
        if not 0.0 < seconds < math.inf:
            raise InputError(f"a displacement is to take {seconds:g} s", hint="more than 0 s")
        forward, left, turn = (se2_log(displacement) / seconds).tolist()
        return cls(forward, left, turn)

    @property
    def by_name(self) -> dict[str, float]:
        """The three velocities by name."""
        return {"forward_m_s": self.forward_m_s, "left_m_s": self.left_m_s, "turn_rad_s": self.turn_rad_s}

    @property
    def mirrored(self) -> VelocityCommand:
        """The command with left and right swapped."""
        return VelocityCommand(self.forward_m_s, -self.left_m_s, -self.turn_rad_s)

    def components(self, seconds: float) -> Floats:
        """Return the distances forward and left and the turn in a time [s], `(3,)` [m, m, rad]."""
        return np.array([self.forward_m_s, self.left_m_s, self.turn_rad_s]) * seconds


STILL = VelocityCommand()
"""Stepping on the spot."""


@dataclass(frozen=True, slots=True)
class VelocityLimits:
    """The greatest velocities of a gait, each commanded alone.

    Attributes:
        forward_m_s: forward [m/s].
        backward_m_s: backward [m/s].
        left_m_s: to either side [m/s].
        turn_rad_s: turn to either side [rad/s].
    """

    forward_m_s: float
    backward_m_s: float
    left_m_s: float
    turn_rad_s: float


class GaitStep(Protocol):
    """A planned step."""

    @property
    def joint_angles(self) -> Floats:
        """The joints in every frame, `(n_frames, n_joints)` [rad]."""

    @property
    def foot_errors_m(self) -> Mapping[str, float]:
        """How far each foot stays at most from where it is planned to be, by foot [m]."""

    def ends_like(self, step: Self) -> bool:
        """Return whether the feet end as after another step, so that the walk goes on in the same way."""


class GaitGenerator(Protocol):
    """A generator of joint angles from velocity commands, frame by frame, for any number of legs.

    Joint angles are continuous: commands take effect at steps. Before the first frame the joints must be in
    `standing_pose`; to stop, call `halt` and take frames until `is_standing`.
    """

    @property
    def standing_pose(self) -> Floats:
        """The pose before the first step and after the last, `(n_joints,)` [rad]."""

    @property
    def command(self) -> VelocityCommand:
        """The command requested last."""

    @property
    def is_standing(self) -> bool:
        """Whether it stood in the last frame, as it does before the first; another motion may follow."""

    def request(self, command: VelocityCommand) -> None:
        """Set the velocity from the next step on (STILL steps on the spot), or raise InputError."""

    def require_in_range(self, command: VelocityCommand) -> None:
        """Raise InputError unless the gait can follow a command."""

    def clip_command(self, command: VelocityCommand) -> VelocityCommand:
        """Return the nearest command in range: the same direction, slower if necessary."""

    def set_excess_tilt(self, tilt: Tilt) -> None:
        """Set the trunk's tilt beyond that of an undisturbed walk; bipeds react in the frames from now on."""

    def halt(self) -> None:
        """Come to stand in the standing pose, and stay so until the next request."""

    def reset(self) -> None:
        """Reset to standing, as before the first step, and drop the command."""

    @property
    def stiffness(self) -> Floats | None:
        """Stiffness of the joints in the next frame, `(n_joints,)` [N m/rad]; None for the servos' own."""

    def frames(self, n: int) -> Floats:
        """Return the next n frames, in the order of the robot's joints, `(n, n_joints)` [rad]."""


class SteppingGenerator(GaitGenerator, Protocol):
    """A generator that plans whole steps."""

    def take_step(self, command: VelocityCommand) -> GaitStep:
        """Return the next step, whose command approaches the given one as far as a single step allows.

        Frames of the step before that are left come after it, so take all of them first.
        """


_BEYOND_RANGE = 1024.0
"""Faster than any gait [m/s, rad/s]; scaling by a power of two rounds nothing."""


def velocity_limits(generator: GaitGenerator) -> VelocityLimits:
    """Return the greatest velocities that a generator's gait follows."""
    return VelocityLimits(
        forward_m_s=generator.clip_command(VelocityCommand(forward_m_s=_BEYOND_RANGE)).forward_m_s,
        backward_m_s=-generator.clip_command(VelocityCommand(forward_m_s=-_BEYOND_RANGE)).forward_m_s,
        left_m_s=generator.clip_command(VelocityCommand(left_m_s=_BEYOND_RANGE)).left_m_s,
        turn_rad_s=generator.clip_command(VelocityCommand(turn_rad_s=_BEYOND_RANGE)).turn_rad_s,
    )
