"""The trajectory of one robot of a recording: poses of its base and states of its joints over time."""

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
from posewright.recordings import Recording, RobotHeader, RobotRecord, card_document
from posewright.recordings.falls import DownInterval, FallDetector, FallLimits, tilt, up_in_base_frame
from posewright.recordings.plausibility import MAX_VALUE
from posewright.robots import Robot, parse_robot
from posewright.robots import robot as shipped_robot
from posewright.rotation import heading, rotation_matrices

ScalarT = TypeVar("ScalarT", bound=np.generic)

EARTH_GRAVITY = (0.0, 0.0, -9.81)
"""Gravity if the recording does not state it [m/s^2]."""

GOT_UP_S = 1.0
"""A robot that lay at first has got up when it is not down for so long [s].

On the way a trunk rises, and leans far forward again within 0.3 s."""

HEADER_PATH = Path("header of the recording")
"""The file name in errors about a header."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One robot's rows in a recording, preceded by row 0: the robot before the first frame.

    Attributes:
        recording: the recording with the robot.
        name: the name of the robot in the recording.
        robot: its card.
        last_row: the last row; all arrays end with it.
    """

    recording: Recording
    name: str
    robot: Robot
    last_row: int

    @classmethod
    def of(cls, recording: Recording, name: str | None = None, *, robot: Robot | None = None) -> Self:
        """Return the trajectory of a robot.

        Args:
            recording: the recording with the robot.
            name: the name of the robot in the recording; the first by default.
            robot: the recorded robot; by default the recorded card, or else the one that ships.

        Raises:
            UnknownNameError: the recording has no such robot, or no such card ships.
            InputError: `robot` is not the recorded one.
        """
        name = next(iter(recording.robots)) if name is None else name
        if name not in recording.robots:
            raise UnknownNameError.among("robot", name, recording.robots, owner="in the recording")
        record = recording.robots[name]
        card_text = recording.header.documents.get(card_document(record.header.robot))
        if robot is None and card_text is not None:
            robot = parse_robot(card_text)
        return cls(recording, name, card_for(record.header, robot), len(record))

    def __repr__(self) -> str:
        return f"<Trajectory of {self.name}: {self.times[-1]:.3f} s, {self.last_row} rows>"

    def until(self, last: int) -> Self:
        """Return the trajectory up to a row, inclusive."""
        return replace(self, last_row=last)

    @property
    def record(self) -> RobotRecord:
        """The robot's record."""
        return self.recording.robots[self.name]

    def read_body_value(self, name: str) -> PlainData:
        """Return a recorded fact about the body, such as its `mass_kg`.

        Raises:
            InputError: the recording does not have it.
        """
        facts = self.record.header.facts
        if name not in facts:
            raise InputError(
                f"the recording has no {name} of {self.name}", hint="use a recording made in simulation"
            )
        fact: PlainData = facts[name]
        return fact

    def read_body_array(self, name: str, *shape: int) -> Floats:
        """Return a recorded fact as an array of a shape.

        Raises:
            InputError: the recording does not have it, or it has another shape or a value too large.
        """
        try:
            values = np.array(self.read_body_value(name), dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            values = np.full((), np.nan)
        if values.shape != shape or not (np.abs(values) <= MAX_VALUE).all():
            raise InputError(
                f"the recorded {name} of {self.name} is malformed",
                hint=f"numbers of the shape {shape}, at most {MAX_VALUE:g}",
            )
        return values

    @cached_property
    def frames_per_row(self) -> int:
        """Number of frames from row to row."""
        return max(1, round(1.0 / (self.recording.header.rate_hz * self.robot.frame_period_s)))

    @property
    def row_s(self) -> float:
        """Time from row to row [s]."""
        return self.frames_per_row * self.robot.frame_period_s

    @property
    def knows_place(self) -> bool:
        """Whether the poses of the base are known in all rows, including row 0."""
        return bool(self.record.knows_place and np.isfinite(self.record.start_base).all())

    def require_every_frame(self, subject: str) -> None:
        """Raise unless the recording has every frame and the poses of the base.

        Args:
            subject: what needs them, a plural noun for the error message.
        """
        if not self.knows_place:
            raise InputError(
                f"the recording has no poses of {self.name}", hint="use a recording made in simulation"
            )
        if self.frames_per_row != 1:
            raise InputError(
                f"{subject} need every frame, but this recording has one in {self.frames_per_row}",
                hint="record it with `gait run --record` or `motion check --physics --record`",
            )

    @cached_property
    def times(self) -> Floats:
        """Time of each row, `(last + 1,)` [s]; row 0 is one row before the first."""
        times = self.recording.times[: self.last_row]
        start_s = times[0] - self.row_s if len(times) else 0.0
        return np.concatenate([[start_s], times])

    @cached_property
    def base(self) -> Floats:
        """Pose of the base x y z qw qx qy qz, `(last + 1, 7)` [m, unit quaternion]."""
        return self._prepend_row(self.record.start_base, self.record.base)

    @cached_property
    def positions(self) -> Floats:
        """Joint angles, `(last + 1, n_joints)` [rad]."""
        return self._prepend_row(self.record.start_positions, self.record.positions)

    @cached_property
    def efforts(self) -> Floats:
        """Joint torques, `(last + 1, n_joints)` [N m]; 0 in row 0, where they are not recorded."""
        return self._prepend_row(np.zeros(len(self.record.header.joints)), self.record.efforts)

    @cached_property
    def foot_contacts(self) -> Flags:
        """Whether each foot is on the ground, `(last + 1, n_feet)`; not recorded in row 0, so False."""
        no_contacts = np.zeros(len(self.record.header.feet), dtype=np.bool_)
        return self._prepend_row(no_contacts, self.record.foot_contacts)

    def _prepend_row(self, row: NDArray[ScalarT], rows: NDArray[ScalarT]) -> NDArray[ScalarT]:
        return np.concatenate([row[np.newaxis], rows[: self.last_row]])

    @cached_property
    def gravity(self) -> Floats:
        """Gravity in the field's frame, which is inclined on a slope, `(3,)` [m/s^2]."""
        has_gravity = "gravity" in self.record.header.facts
        gravity = self.read_body_array("gravity", 3) if has_gravity else np.array(EARTH_GRAVITY)
        if not gravity.any():
            raise InputError("the recording was made without gravity", hint="use a gravity other than 0")
        return gravity

    @property
    def up_in_field(self) -> Floats:
        """The vertical in the field's frame: a unit vector opposite to gravity, `(3,)`."""
        return -self.gravity / np.linalg.norm(self.gravity)

    @cached_property
    def up_in_base(self) -> Floats:
        """The vertical in the base's frame, a unit vector, `(last + 1, 3)`."""
        return up_in_base_frame(self.base, self.up_in_field)

    @cached_property
    def yaw(self) -> Floats:
        """Heading of the base, continuous over half a turn, `(last + 1,)` [rad]."""
        return np.asarray(np.unwrap(heading(self.base[:, 3:])), dtype=np.float64)

    @cached_property
    def base_rotations(self) -> Floats:
        """Rotation matrices of the base in the field's frame, `(last + 1, 3, 3)`."""
        return rotation_matrices(self.base[:, 3:])

    @cached_property
    def tilt_deg(self) -> Floats:
        """Angle between the base's z axis and the vertical, `(last + 1,)` [deg]."""
        return np.degrees(tilt(self.base, self.up_in_field))

    @property
    def roll_pitch_deg(self) -> tuple[Floats, Floats]:
        """Roll and pitch of the base relative to the vertical, `(last + 1,)` each [deg]."""
        x, y, z = self.up_in_base.T
        return np.degrees(np.arctan2(y, z)), np.degrees(np.arctan2(-x, np.hypot(y, z)))

    def falls(self, limits: FallLimits) -> list[DownInterval]:
        """Return the falls by these limits; their rows count from row 0."""
        detector = FallDetector(limits, up=self.up_in_field)
        detector.advance(self.times, self.base)
        return detector.falls()

    def tip_overs(self, rules: PhysicsRules) -> list[DownInterval]:
        """Return the falls of a robot that may sit or lie down on purpose; their rows count from row 0.

        The base has fallen if it is tilted sideways by more than `fall_sideways_deg` or in any direction by
        more than `fall_tilt_deg`, whatever its height: an AIBO that sits down is tilted back by 47 deg.

        In an arena with spots the robot begins on furniture, which may support it when it falls. There the
        base has also fallen if its vertical differs by more than `fall_attitude_error_deg` from that of row
        0.

        A robot that lay at first has not fallen if it gets up, which is when it is not down for `GOT_UP_S`.
        """
        sideways_deg = np.degrees(np.arcsin(np.clip(np.abs(self.up_in_base[:, 1]), 0.0, 1.0)))
        is_down = (sideways_deg > rules.fall_sideways_deg) | (self.tilt_deg > rules.fall_tilt_deg)
        if self.recording.header.arena.get("spots"):
            is_down |= self.up_in_base @ self.up_in_base[0] < math.cos(
                math.radians(rules.fall_attitude_error_deg)
            )
        detector = FallDetector(rules.fall_limits(self.row_s))
        detector.advance_flags(self.times, is_down)
        return _without_lying_at_first(detector.falls(), len(is_down))

    @property
    def step_lengths_m(self) -> Floats:
        """Horizontal distance that the base moves from each row to the next, `(last,)` [m]."""
        lengths: Floats = np.linalg.norm(np.diff(self.base[:, :2], axis=0), axis=1)
        return lengths

    @property
    def leg_joints(self) -> tuple[str, ...]:
        """Names of the legs' joints."""
        if self.robot.biped is not None:
            return tuple(joint for joints in self.robot.biped.joints.values() for joint in joints)
        return tuple(joint for leg in self.robot.legs for joint in leg.joints)

    @cached_property
    def leg_columns(self) -> Indices:
        """Columns of the `leg_joints` in arrays of all joints."""
        return np.array([self.robot.index(joint) for joint in self.leg_joints], dtype=np.intp)

    @property
    def stall_torques_nm(self) -> Floats:
        """Stall torques of the servos, `(n_joints,)` [N m]."""
        return np.array([servo.stall_torque_nm for servo in self.robot.servos])

    def max_speeds(self, angles: Floats) -> Floats:
        """Return the greatest speed of each joint between two successive known angles, `(n_joints,)` [rad/s].

        A bus does not read every joint in every frame, so there may be unknown angles between two known ones.

        Args:
            angles: the angles of all rows, `(n, n_joints)` [rad]; NaN where unknown.

        Returns:
            The speeds; NaN for a joint with fewer than two known angles.
        """
        speeds = np.full(angles.shape[1], np.nan)
        for joint, joint_angles in enumerate(angles.T):
            rows = np.flatnonzero(np.isfinite(joint_angles))
            if len(rows) > 1:
                speeds[joint] = np.abs(np.diff(joint_angles[rows]) / np.diff(rows)).max() / self.row_s
        return speeds


def _without_lying_at_first(falls: list[DownInterval], n_rows: int) -> list[DownInterval]:
    """Return the falls without the intervals until a robot that lay at first got up; all if it did not lie.

    Args:
        falls: in the order of time.
        n_rows: number of rows of the recording; an interval that ends there is kept, as the robot stays down.
    """
    if not falls or falls[0].begin > 0:
        return falls
    last_lying = 0
    while last_lying + 1 < len(falls):
        if falls[last_lying + 1].since_s - falls[last_lying].until_s >= GOT_UP_S:
            break
        last_lying += 1
    is_still_lying = falls[last_lying].end == n_rows
    return falls[last_lying if is_still_lying else last_lying + 1 :]


def domain_of(fact: PlainData) -> DomainParameters:
    """Return a body's differences from its model, from its recorded fact `domain`.

    Raises:
        DocumentError: the fact is malformed.
    """
    return read_record(Node(fact, HEADER_PATH, "domain"), DomainParameters, degrees=False)


def card_for(header: RobotHeader, card: Robot | None) -> Robot:
    """Return the card of a recorded robot: the given one after a check, or by default the one that ships.

    Raises:
        InputError: `robot` is not the recorded one.
        UnknownNameError: no card of the robot's name ships.
    """
    if card is None:
        card = shipped_robot(header.robot)
    if (card.name, card.joint_names) != (header.robot, header.joints):
        raise InputError(f"the recording is not of {card.name!r}", hint=f"it is of {header.robot!r}")
    return card
