"""What happened in a motion's trial: one row a frame, from the moment the robot is let go."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Flags, Floats
from posewright.experiments.motion.commands import Numbers
from posewright.robots import Robot
from posewright.rotation import roll_pitch_yaw, uprightness

if TYPE_CHECKING:
    from posewright.bodies import Contacts


FLOOR = "floor"


@dataclass(frozen=True, eq=False)
class Contact:
    """Two things that touch, over time.

    Attributes:
        parts: a part of the robot, and another or the floor.
        frames: in which they touch, `(n,)`.
        depths: how far they lie in each other, `(n,)` [m].
        forces: how hard they press against each other, `(n,)` [N]; NaN against the floor.
        speeds: how fast the part came down on the floor, `(n,)` [m/s]; NaN where it lay there already.
    """

    parts: tuple[str, str]
    frames: Numbers
    depths: Floats
    forces: Floats
    speeds: Floats

    @property
    def with_floor(self) -> bool:
        """Whether it is the floor that the part touches."""
        return self.parts[1] == FLOOR


@dataclass(frozen=True, eq=False)
class Course:
    """What was commanded and what the robot did; n frames, each taken at its end.

    Attributes:
        robot: whose joints and feet these are.
        times: since the motion began; 0 or less while the robot only stands in its first pose, `(n,)` [s].
        ends_s: when the motion was over; after that its last pose is held [s].
        keyframes: number of the keyframe that is gone to or stayed in, from 1; 0 before the motion, `(n,)`.
        commands: joint angles asked for, within the hardware's limits, `(n, n_joints)` [rad].
        free: joints whose torque is off, `(n, n_joints)`.
        positions: joint angles, `(n, n_joints)` [rad].
        efforts: joint torques, `(n, n_joints)` [N m].
        base: pose of the base x y z qw qx qy qz, `(n, 7)` [m, unit quaternion].
        foot_contacts: whether each foot touches the floor, `(n, n_feet)`.
        slips: how far each foot slid over the floor in the frame, `(n, n_feet)` [m].
        contacts: parts of the robot that touch each other or the floor, frame by frame.
        wanted: roll and pitch of the base its author had in mind, `(n, 2)` [rad]; None where nobody says.
    """

    robot: Robot
    times: Floats
    ends_s: float
    keyframes: Numbers
    commands: Floats
    free: Flags
    positions: Floats
    efforts: Floats
    base: Floats
    foot_contacts: Flags
    slips: Floats
    contacts: Contacts
    wanted: Floats | None

    @property
    def frame_s(self) -> float:
        """Time from frame to frame [s]."""
        return self.robot.frame_period_s

    @cached_property
    def begin(self) -> int:
        """The motion's own first frame."""
        return int(np.searchsorted(self.times, 0.5 * self.frame_s))

    @cached_property
    def moving(self) -> Flags:
        """Which frames are the motion's own: neither before nor after it, `(n,)`."""
        moving: Flags = (self.times > 0.5 * self.frame_s) & (self.times < self.ends_s + 0.5 * self.frame_s)
        return moving

    @cached_property
    def _up(self) -> Floats:
        """Where the sky is, seen from the base, `(n, 3)`."""
        return _up(*roll_pitch_yaw(self.base[:, 3:]).T[:2])

    @cached_property
    def lean(self) -> Floats:
        """How far the base leans from upright, `(n,)` [deg]."""
        upright = np.clip(uprightness(self.base[:, 3:]), -1.0, 1.0)
        return np.degrees(np.arccos(upright))

    @cached_property
    def sideways(self) -> Floats:
        """How far the base leans to either side, `(n,)` [deg]."""
        sideways: Floats = np.degrees(np.arcsin(np.clip(np.abs(self._up[:, 1]), 0.0, 1.0)))
        return sideways

    @cached_property
    def off(self) -> Floats:
        """How far the base is from where its author wants it, else from where it was at first [deg]."""
        wanted = self._up[max(0, self.begin - 1)] if self.wanted is None else _up(*self.wanted.T)
        off: Floats = np.degrees(np.arccos(np.clip((self._up * wanted).sum(axis=-1), -1.0, 1.0)))
        return off

    def turned(self, before: int, after: int) -> tuple[float, str]:
        """Return by how much the base leans otherwise in one frame than in another [deg], and where to."""
        ups = self._up[[before, after]]
        angle = math.degrees(math.acos(max(-1.0, min(1.0, float(ups[0] @ ups[1])))))
        return angle, _side(ups[0] - ups[1])

    def when(self, frame: int) -> str:
        """Return in words when a frame was."""
        time_s = float(self.times[frame])
        if time_s > self.ends_s + 0.5 * self.frame_s:
            return f"at {time_s:.2f} s ({time_s - self.ends_s:.2f} s after the end)"
        return f"at {time_s:.2f} s (keyframe {self.keyframes[frame]})"

    @cached_property
    def lag(self) -> Floats:
        """How far each joint is behind its command, `(n, n_joints)` [deg]; 0 where its torque is off."""
        behind = np.degrees(np.abs(self.commands - self.positions))
        return np.where(self.free, 0.0, behind)

    @cached_property
    def asked_speeds(self) -> Floats:
        """How fast the commands change, `(n, n_joints)` [rad/s]; 0 where the torque is off or was."""
        steps = np.abs(np.diff(self.commands, axis=0, prepend=self.commands[:1])) / self.frame_s
        off = self.free | np.roll(self.free, 1, axis=0)
        return np.where(off, 0.0, steps)

    def effort(self, share: float) -> Flags:
        """Return where a servo gives at least this share of its stall torque, `(n, n_joints)`."""
        stall = np.array([servo.stall_torque_nm for servo in self.robot.servos])
        return np.asarray(np.abs(self.efforts) >= share * stall)

    @cached_property
    def touching_pairs(self) -> tuple[Contact, ...]:
        """Any two things that ever touch; the floor is the second."""
        found = self.contacts
        kinds, which = np.unique(found.pairs, axis=0, return_inverse=True)
        rows = [which.ravel() == kind for kind in range(len(kinds))]
        return tuple(
            Contact(
                parts=(found.names[one], found.names[other]),
                frames=found.frames[own],
                depths=found.depths[own],
                forces=found.forces[own],
                speeds=found.speeds[own],
            )
            for own, (one, other) in zip(rows, kinds.tolist(), strict=True)
        )

    def way_of_leaning(self, frame: int) -> str:
        """Return where the base leans to: forward, back, to the left or to the right."""
        return _side(-self._up[frame])


def _up(roll: NDArray[np.float64], pitch: NDArray[np.float64]) -> Floats:
    """Return where the sky is, seen from the base, `(n, 3)`."""
    return np.stack([-np.sin(pitch), np.cos(pitch) * np.sin(roll), np.cos(pitch) * np.cos(roll)], axis=-1)


def _side(way: Floats) -> str:
    """Return in words where a way in the base's frame leads to, seen from above."""
    x, y, _ = way.tolist()
    if abs(x) >= abs(y):
        return "forward" if x > 0.0 else "back"
    return "to the left" if y > 0.0 else "to the right"
