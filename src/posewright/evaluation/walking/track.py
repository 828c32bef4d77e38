"""What happened while a gait walked: one row a frame, from the moment the robot was let go."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from posewright.bodies import Flags, Floats
from posewright.gaits import GaitTiming, PhaseTable, VelocityCommand
from posewright.robots import Robot
from posewright.rotation import heading, matrices

Indices = NDArray[np.intp]

SAME_S = 1e-6
"""Times closer than this are the same [s]."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What safety would not let through of one joint for a while.

    Attributes:
        time_s: end of the first frame that was corrected, since the robot was let go [s].
        joint: whose command it was.
        guard: what it ran against: `joint limit` or `speed limit`.
        value: what was asked for at worst [rad or rad/s].
        limit: what was let through at most, in the same unit.
    """

    time_s: float
    joint: str
    guard: str
    value: float
    limit: float


@dataclass(frozen=True, slots=True)
class Timed:
    """A command and when it is given, since the robot was let go [s]; it takes effect with the next step."""

    time_s: float
    command: VelocityCommand


@dataclass(frozen=True, eq=False)
class GaitTrack:
    """What was asked for and what the robot did; n frames, each taken at its end, and before them row 0.

    Row 0 is the robot as it was put down, before the first frame.

    Attributes:
        robot: whose joints and feet these are.
        timing: the times of the gait's cycle.
        phases: which foot is to lift when.
        commands: what the gait was asked for, in the order of time; the first holds from the beginning.
        begin: the row the measuring begins after: so many frames the robot was left to settle into its walk.
        asked: joint angles as the gait made them, `(n + 1, n_joints)` [rad].
        sent: as safety let them through, `(n + 1, n_joints)` [rad].
        positions: joint angles, `(n + 1, n_joints)` [rad].
        efforts: torques of the drives, before what turning costs them, `(n + 1, n_joints)` [N m].
        base: pose of the base x y z qw qx qy qz, `(n + 1, 7)` [m, unit quaternion].
        foot_contacts: whether each foot touches the ground, `(n + 1, n_feet)`; in row 0 nobody has looked.
        stiffness: of the servos of this body, `(n_joints,)` [N m/rad]; 0 of a joint that was welded.
        damping: what turning costs a drive, `(n_joints,)` [N m s/rad]; 0 of a joint that was welded.
        latency_frames: so many frames a command waits before it takes effect.
        mass_kg: of the whole robot [kg].
        gravity: in the field's frame, which leans with the ground, `(3,)` [m/s^2].
        corrections: what safety would not let through.
        held_joints: that were welded in the gait's pose, as they carry next to nothing.
    """

    robot: Robot
    timing: GaitTiming
    phases: PhaseTable
    commands: tuple[Timed, ...]
    begin: int
    asked: Floats
    sent: Floats
    positions: Floats
    efforts: Floats
    base: Floats
    foot_contacts: Flags
    stiffness: Floats
    damping: Floats
    latency_frames: int
    mass_kg: float
    gravity: Floats
    corrections: tuple[Correction, ...] = ()
    held_joints: tuple[str, ...] = ()

    @property
    def frame_s(self) -> float:
        """Time from row to row [s]."""
        return self.robot.frame_period_s

    @cached_property
    def times(self) -> Floats:
        """Time since the robot was let go, `(n + 1,)` [s]."""
        return np.arange(len(self.base), dtype=np.float64) * self.frame_s

    @cached_property
    def yaw(self) -> Floats:
        """Heading of the base without jumps at half a turn, `(n + 1,)` [rad]."""
        return np.asarray(np.unwrap(heading(self.base[:, 3:])), dtype=np.float64)

    @cached_property
    def turned(self) -> Floats:
        """How the base is turned: its axes as columns, in the field's frame, `(n + 1, 3, 3)`."""
        return matrices(self.base[:, 3:])

    @cached_property
    def up(self) -> Floats:
        """Where the sky is, straight against gravity, seen from the base, `(n + 1, 3)`."""
        sky = -self.gravity / np.linalg.norm(self.gravity)
        up: Floats = np.einsum("nji,j->ni", self.turned, sky.astype(np.float64))
        return up

    @cached_property
    def legs(self) -> Indices:
        """The columns of the joints of legs."""
        return np.array([self.robot.index(joint) for leg in self.robot.legs for joint in leg.joints])

    @property
    def leg_joints(self) -> tuple[str, ...]:
        """The joints of legs, in the order of `legs`."""
        return tuple(joint for leg in self.robot.legs for joint in leg.joints)

    @property
    def stall_nm(self) -> Floats:
        """The greatest torques of the legs' drives, in the order of `legs`, `(n_leg_joints,)` [N m]."""
        return np.array([self.robot.servo(joint).stall_torque_nm for joint in self.leg_joints])

    def until(self, end: int) -> GaitTrack:
        """Return the track up to a row, that one too."""
        rows = slice(0, end + 1)
        kept = tuple(one for one in self.corrections if one.time_s <= end * self.frame_s + SAME_S)
        return replace(
            self,
            asked=self.asked[rows],
            sent=self.sent[rows],
            positions=self.positions[rows],
            efforts=self.efforts[rows],
            base=self.base[rows],
            foot_contacts=self.foot_contacts[rows],
            corrections=kept,
        )
