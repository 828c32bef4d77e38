"""A trajectory: one robot of a recording, and what follows from where it was and what its joints did."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Flags, Floats, Indices
from posewright.bodies import DomainParameters
from posewright.documents import Node, PlainData, read_record
from posewright.errors import InputError, UnknownNameError
from posewright.evaluation.thresholds import PhysicsRules
from posewright.recordings import Recording, RobotHeader, RobotRecord
from posewright.recordings.falls import DownInterval, FallDetector, FallLimits, tilt, up_in_base_frame
from posewright.recordings.plausibility import MAX_VALUE
from posewright.robots import Robot, robot
from posewright.rotation import heading, rotation_matrices

S = TypeVar("S", bound=np.generic)

EARTH = (0.0, 0.0, -9.81)
"""Gravity where a recording does not say [m/s^2]."""

HEADER_PATH = Path("header of the recording")
"""What errors in a header name as their file."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Where one robot was and what its joints did: the rows of its record, and before them row 0.

    Row 0 is the robot before the first frame. All arrays end with row `last`.
    """

    recording: Recording
    name: str
    robot: Robot
    last: int

    @classmethod
    def of(cls, recording: Recording, name: str | None = None, *, robot: Robot | None = None) -> Self:
        """Return the trajectory of one robot, of the first where none is named.

        The card `robot` is needed where it is one that does not ship.
        """
        name = next(iter(recording.robots)) if name is None else name
        if name not in recording.robots:
            raise UnknownNameError.among("robot of the recording", name, recording.robots)
        record = recording.robots[name]
        return cls(recording, name, card_for(record.header, robot), len(record))

    def __repr__(self) -> str:
        return f"<Trajectory of {self.name}: {self.times[-1]:.3f} s, {self.last} rows>"

    def until(self, last: int) -> Self:
        """Return the trajectory up to a row, that one too."""
        return replace(self, last=last)

    @property
    def record(self) -> RobotRecord:
        """What was recorded of the robot."""
        return self.recording.robots[self.name]

    def fact(self, name: str) -> PlainData:
        """Return what the body knew of itself, such as its `mass_kg`."""
        facts = self.record.header.facts
        if name not in facts:
            raise InputError(
                f"the recording does not say the {name} of {self.name}", hint="one made in simulation"
            )
        fact: PlainData = facts[name]
        return fact

    def numbers(self, name: str, *shape: int) -> Floats:
        """Return a fact that is numbers, of this shape."""
        try:
            found = np.array(self.fact(name), dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            found = np.full((), np.nan)
        if found.shape != shape or not (np.abs(found) <= MAX_VALUE).all():
            raise InputError(f"the {name} of {self.name} is no number", hint=f"of the shape {shape}")
        return found

    @cached_property
    def frames_a_row(self) -> int:
        """So many frames passed from row to row."""
        return max(1, round(1.0 / (self.recording.header.rate_hz * self.robot.frame_period_s)))

    @property
    def row_s(self) -> float:
        """Time from row to row [s]."""
        return self.frames_a_row * self.robot.frame_period_s

    @property
    def knows_place(self) -> bool:
        """Whether it is known where the robot was, before the first row too."""
        return bool(self.record.knows_place and np.isfinite(self.record.start_base).all())

    def expect_every_frame(self, what: str) -> None:
        """Raise an InputError where the recording lacks frames or the robot's places, which `what` need."""
        if not self.knows_place:
            raise InputError(
                f"the recording does not say where {self.name} was", hint="one made in simulation"
            )
        if self.frames_a_row != 1:
            raise InputError(
                f"{what} need every frame, but this recording keeps one in {self.frames_a_row}",
                hint="record it with `gait run --record` or `motion check --physics --record`",
            )

    @cached_property
    def times(self) -> Floats:
        """Time of each row, `(last + 1,)` [s]; row 0 is 0 where the recording began with the body's time."""
        times = self.recording.times[: self.last]
        first = times[0] - self.row_s if len(times) else 0.0
        return np.concatenate([[first], times])

    @cached_property
    def base(self) -> Floats:
        """Pose of the base x y z qw qx qy qz, `(last + 1, 7)` [m, unit quaternion]."""
        return self._from_start(self.record.start_base, self.record.base)

    @cached_property
    def positions(self) -> Floats:
        """Joint angles, `(last + 1, n_joints)` [rad]."""
        return self._from_start(self.record.start_positions, self.record.positions)

    @cached_property
    def efforts(self) -> Floats:
        """Joint torques, `(last + 1, n_joints)` [N m]; 0 in row 0, where nobody has looked."""
        return self._from_start(np.zeros(len(self.record.header.joints)), self.record.efforts)

    @cached_property
    def foot_contacts(self) -> Flags:
        """Whether each foot touches the ground, `(last + 1, n_feet)`; in row 0 nobody has looked."""
        nobody = np.zeros(len(self.record.header.feet), dtype=np.bool_)
        return self._from_start(nobody, self.record.foot_contacts)

    def _from_start(self, first: NDArray[S], rows: NDArray[S]) -> NDArray[S]:
        return np.concatenate([first[np.newaxis], rows[: self.last]])

    @cached_property
    def gravity(self) -> Floats:
        """In the field's frame, which leans with the ground, `(3,)` [m/s^2]."""
        told = self.numbers("gravity", 3) if "gravity" in self.record.header.facts else np.array(EARTH)
        if not told.any():
            raise InputError("the recording was made without gravity", hint="a robot that walks has some")
        return told

    @property
    def sky(self) -> Floats:
        """Straight against gravity, in the field's frame, `(3,)`."""
        return -self.gravity / np.linalg.norm(self.gravity)

    @cached_property
    def yaw(self) -> Floats:
        """Heading of the base without jumps at half a turn, `(last + 1,)` [rad]."""
        return np.asarray(np.unwrap(heading(self.base[:, 3:])), dtype=np.float64)

    @cached_property
    def turned(self) -> Floats:
        """How the base is turned: its axes as columns, in the field's frame, `(last + 1, 3, 3)`."""
        return rotation_matrices(self.base[:, 3:])

    @cached_property
    def up(self) -> Floats:
        """Where the sky is, straight against gravity, seen from the base, `(last + 1, 3)`."""
        return up_in_base_frame(self.base, self.sky)

    @cached_property
    def tilt_deg(self) -> Floats:
        """How far the base leans from the vertical, `(last + 1,)` [deg]."""
        return np.degrees(tilt(self.base, self.sky))

    @property
    def attitude_deg(self) -> tuple[Floats, Floats]:
        """Roll and pitch of the base against the vertical, `(last + 1,)` each [deg]."""
        x, y, z = self.up.T
        return np.degrees(np.arctan2(y, z)), np.degrees(np.arctan2(-x, np.hypot(y, z)))

    def falls(self, limits: FallLimits) -> list[DownInterval]:
        """Return when the robot was down for long, by rows that count from row 0."""
        detector = FallDetector(limits, up=self.sky)
        detector.advance(self.times, self.base)
        return detector.falls()

    def tip_overs(self, rules: PhysicsRules) -> list[DownInterval]:
        """Return when the base lay on a side, or leaned too far either way; row 0 counts.

        How high it was does not matter, and an AIBO leans by 47 deg while it sits down. In an arena
        with spots the robot begins on furniture, which may prop it up when it falls: there it also lies where
        its base leans by more than `off_deg` against how it was put down.
        """
        sideways = np.degrees(np.arcsin(np.clip(np.abs(self.up[:, 1]), 0.0, 1.0)))
        down = (sideways > rules.side_deg) | (self.tilt_deg > rules.fall_deg)
        if self.recording.header.arena.get("spots"):
            down |= self.up @ self.up[0] < math.cos(math.radians(rules.off_deg))
        detector = FallDetector(rules.fall_limits(self.row_s))
        detector.add(self.times, down)
        return detector.falls()

    @property
    def way_m(self) -> Floats:
        """How far the base went over the ground from row to row, `(last,)` [m]."""
        ways: Floats = np.linalg.norm(np.diff(self.base[:, :2], axis=0), axis=1)
        return ways

    @cached_property
    def legs(self) -> Indices:
        """The columns of the joints of legs."""
        return np.array([self.robot.index(joint) for joint in self.leg_joints], dtype=np.intp)

    @property
    def leg_joints(self) -> tuple[str, ...]:
        """The joints of legs, in the order of `legs`."""
        return tuple(joint for leg in self.robot.legs for joint in leg.joints)

    @property
    def stall_nm(self) -> Floats:
        """The greatest torques of the drives, `(n_joints,)` [N m]."""
        return np.array([servo.stall_torque_nm for servo in self.robot.servos])

    def speeds(self, angles: Floats) -> Floats:
        """Return how fast angles `(n, n_joints)` [rad] change between rows, `(n - 1, n_joints)` [rad/s]."""
        changes: Floats = np.abs(np.diff(angles, axis=0)) / self.row_s
        return changes


def domain_of(fact: PlainData) -> DomainParameters:
    """Return how a recorded body differed from its model, by its fact `domain`, or raise an InputError."""
    return read_record(Node(fact, HEADER_PATH, "domain"), DomainParameters, degrees=False)


def card_for(header: RobotHeader, given: Robot | None) -> Robot:
    """Return the card of a recorded robot: the one given, which must be its own, or the one that ships."""
    card = robot(header.robot) if given is None else given
    if (card.name, card.joint_names) != (header.robot, header.joints):
        raise InputError(f"the recording is not of {card.name!r}", hint=f"it is of {header.robot!r}")
    return card
