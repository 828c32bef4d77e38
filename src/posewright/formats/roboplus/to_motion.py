"""Reading RoboPlus pages as motions: the values of lines, and columns as joints.

Source: formats.md section 2.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posewright.arrays import Floats
from posewright.formats.motion_file import Origin
from posewright.formats.roboplus.document import (
    IDS,
    MAX_PAGES,
    ROBOPLUS_TEXT,
    Page,
    PlayParam,
    RoboplusDocument,
    Step,
)
from posewright.formats.text_lines import Remarks, TextLine, quote_bytes
from posewright.motions import Easing, Keyframe, Motion, Pose, robotis_accel_share
from posewright.robots import Robot, Servo

GRID_S = 0.008  # step of the times that RoboPlus writes [s]
MAX_TIME_S = 2.040  # longest time of a step: 255 units of `GRID_S` [s]
MAX_SECONDS = 9999.0  # longest time that is read at all [s]
MAX_RATE = 32.0  # the controller's speed byte is 32 / rate, and at least 1
MAX_COMPLIANCE = 15  # the controller keeps the compliance in half a byte


def max_ticks(motor_type: int) -> int:
    """Return the largest position of a servo: of 10 bits for type 0, else of 12 bits."""
    return 4095 if motor_type else 1023


@dataclass
class ValueReader:
    """Reads the values of lines, and adds remarks on unusual ones.

    Attributes:
        remarks: the list of remarks.
        motor_types: the type of each ID's servo.
        n_off_grid: number of times that are no multiple of `GRID_S`.
    """

    remarks: Remarks
    motor_types: tuple[int, ...] = (0,) * IDS
    n_off_grid: int = 0

    def check_version(self, line: TextLine) -> None:
        """Check a `version=` line; add a remark on an unknown version."""
        (word,) = line.words(1, "one number, 1.01")
        self._remark_on_comma(line)
        if line.decimal(word, "the version", 0.0, 1e6) not in (1.0, 1.01):
            self.remarks.add(f"version {quote_bytes(word)} is unknown; 1.00 and 1.01 are known", line)

    def read_numbers(self, line: TextLine, high: int) -> tuple[int, ...]:
        """Return the integer 0..`high` of each ID."""
        words = line.words(IDS, f"one for each of the IDs 0..{IDS - 1}")
        key = line.key.decode("latin-1")
        return tuple(line.whole(word, f"{key} of ID {i}", 0, high) for i, word in enumerate(words))

    def read_play_param(self, line: TextLine) -> PlayParam:
        """Return a `play_param=` line as `PlayParam`."""
        next_page, exit_page, repeat, rate, inertial_force = line.words(
            5, "next page, exit page, repeat, rate, inertial force"
        )
        self._remark_on_comma(line)
        return PlayParam(
            next=line.whole(next_page, "the next page", 0, MAX_PAGES),
            exit=line.whole(exit_page, "the exit page", 0, MAX_PAGES),
            repeat=line.whole(repeat, "the repeat count", 1, 255),
            rate=line.decimal(rate, "the rate", 0.01, MAX_RATE),
            inertial_force=line.whole(inertial_force, "the inertial force", 0, 255),
        )

    def read_step(self, line: TextLine) -> Step:
        """Return a `step=` line as `Step`."""
        *positions, pause_word, play_word = line.words(
            IDS + 2, f"{IDS} positions, seconds of pause, seconds of play"
        )
        self._remark_on_comma(line)
        ticks = tuple(
            line.whole(word, f"the position of ID {i}", 0, max_ticks(motor_type))
            for i, (word, motor_type) in enumerate(zip(positions, self.motor_types, strict=True))
        )
        pause_s = line.decimal(pause_word, "the time of the pause", 0.0, MAX_SECONDS)
        play_s = line.decimal(play_word, "the time of the movement", 0.0, MAX_SECONDS)
        self._remark_on_times(line, pause_s, play_s)
        return Step(ticks, pause_s, play_s)

    def _remark_on_comma(self, line: TextLine) -> None:
        if b"," in line.value:
            self.remarks.add_once("numbers have a decimal comma (from a Windows with that setting)", line)

    def _remark_on_times(self, line: TextLine, *times: float) -> None:
        """Add remarks about times [s] that a controller rounds or cannot count."""
        for seconds in times:
            if not is_on_grid(seconds):
                self.n_off_grid += 1
                self.remarks.add_once(
                    f"a time is not a multiple of {GRID_S:g} s; a controller rounds it", line
                )
            if seconds > MAX_TIME_S + 1e-9:
                self.remarks.add_once(
                    f"a time is longer than the {MAX_TIME_S:.3f} s a controller counts", line
                )


def is_on_grid(seconds: float) -> bool:
    """Return whether a time is a multiple of `GRID_S`."""
    units = seconds / GRID_S
    return abs(units - round(units)) < 1e-6


NUMBERING = "robotis"
"""The numbering on a robot's card that gives the ID of each joint."""

MAX_SLOPE_POWER = 7
"""The widest slope of a Dynamixel of the AX series is two to this power (robots.md 2.6)."""

_SPAN_DEG = {1023: 300.0, 4095: 360.0}
"""The range of a servo by its largest position [deg]."""


@dataclass(frozen=True)
class Columns:
    """The joints of a robot in a page, in the robot's order.

    Attributes:
        ids: the ID of each joint.
        servos: the servo of each joint.
        motor_types: the type of each joint's servo in the file: 0 for 10 bits, anything else for 12.
    """

    ids: tuple[int, ...]
    servos: tuple[Servo, ...]
    motor_types: tuple[int, ...]

    @classmethod
    def of(cls, robot: Robot, enabled: tuple[bool, ...], motor_types: tuple[int, ...]) -> Columns:
        """Return the enabled columns that move a joint of `robot`."""
        id_by_joint = robot.ids(NUMBERING)
        robot_ids = [id_by_joint[joint] for joint in robot.joint_names if joint in id_by_joint]
        ids = tuple(servo_id for servo_id in robot_ids if servo_id < IDS and enabled[servo_id])
        joint_by_id = robot.numbering(NUMBERING)
        servos = tuple(robot.servo(joint_by_id[servo_id]) for servo_id in ids)
        return cls(ids, servos, tuple(motor_types[servo_id] for servo_id in ids))

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(servo.joint for servo in self.servos)

    def angles(self, ticks: tuple[int, ...]) -> Floats:
        """Return the joint angles, `(n_joints,)` [rad], of the 26 positions of a step."""
        return np.array([self._joint_angle(i, float(ticks[number])) for i, number in enumerate(self.ids)])

    def ticks(self, angles: Floats) -> list[float]:
        """Return the unrounded position of each joint for joint angles `(n_joints,)` [rad]."""
        return [self._joint_ticks(i, angle) for i, angle in enumerate(angles.tolist())]

    def last_tick(self, column: int) -> int:
        """Return the largest position of a joint's servo in the file."""
        return max_ticks(self.motor_types[column])

    def has_other_resolution(self, column: int) -> bool:
        """Return whether the file's servo has another resolution than the robot's.

        Positions are then counted from the middle of both, where the horn is mounted.
        """
        return self.servos[column].ticks != self.last_tick(column) + 1

    def _joint_angle(self, column: int, ticks: float) -> float:
        """Return the angle of one joint [rad] at a position [ticks]."""
        servo = self.servos[column]
        if not self.has_other_resolution(column):
            return servo.from_ticks(ticks)
        middle, tick_deg = self._file_servo_scale(column)
        return servo.from_servo_deg(servo.range_deg / 2.0 + (ticks - middle) * tick_deg)

    def _joint_ticks(self, column: int, angle: float) -> float:
        """Return the position of one joint [ticks] at an angle [rad]; the inverse of `_joint_angle`."""
        servo = self.servos[column]
        if not self.has_other_resolution(column):
            return servo.to_ticks(angle)
        middle, tick_deg = self._file_servo_scale(column)
        return (servo.to_servo_deg(angle) - servo.range_deg / 2.0) / tick_deg + middle

    def _file_servo_scale(self, column: int) -> tuple[float, float]:
        """Return the middle position of the servo in the file [ticks], and the angle of its tick [deg]."""
        last_tick = self.last_tick(column)
        n_ticks = last_tick + 1
        return n_ticks / 2.0, _SPAN_DEG[last_tick] / n_ticks

    def stiffness(self, compliance: tuple[int, ...]) -> dict[str, float] | None:
        """Return the stiffness [N m/rad] of the joints whose compliance differs from the servo's default.

        The slope, two to the power of the compliance, is the error in ticks at which the torque is full.
        """
        stiffness: dict[str, float] = {}
        for number, servo in zip(self.ids, self.servos, strict=True):
            slope = 2.0 ** min(compliance[number], MAX_SLOPE_POWER)
            if slope != servo.compliance_slope:
                stiffness[servo.joint] = servo.stall_torque_nm / (slope * servo.tick_rad)
        return stiffness or None


def compliance_of(servo: Servo, stiffness: float | None) -> tuple[int, bool]:
    """Return the compliance nearest to a stiffness [N m/rad], and whether it is exact.

    Args:
        servo: the servo.
        stiffness: the stiffness, None for the servo's default.
    """
    target_stiffness = servo.stiffness if stiffness is None else stiffness
    if target_stiffness <= 0.0:
        return MAX_SLOPE_POWER, False
    slope = servo.stall_torque_nm / (target_stiffness * servo.tick_rad)
    power = min(max(round(math.log2(slope)), 0), MAX_SLOPE_POWER)
    is_exact = abs(2.0**power - slope) <= 0.01 * slope  # within 1 %
    return power, is_exact


def page_motion(document: RoboplusDocument, number: int, robot: Robot, path: Path | None = None) -> Motion:
    """Return a page with steps as a motion of `robot`; the document is its origin.

    The motion repeats for ever if the page is its own next page. Next and exit pages are named by their
    numbers; missing and empty ones are left out, since a controller ignores them.
    """
    page = document.page(number)
    columns = columns_of(document, robot)
    keyframes = _keyframes(page, columns)
    takes_time = any(frame.reach_s or frame.pause_s for frame in keyframes)  # if not, it cannot be repeated
    is_own_next = page.play.next == number
    loops = is_own_next and takes_time
    repeat = page.play.repeat if takes_time else 1
    return Motion(
        document.page_name(number),
        robot.name,
        columns.joints,
        keyframes,
        repeat=None if loops else repeat,
        next=None if is_own_next else _reference(document, page.play.next),
        exit=_reference(document, page.play.exit),
        speed=page.play.rate,
        source=f"RoboPlus page {number}",
        origin=Origin(ROBOPLUS_TEXT, document, number, remarks=document.remarks, path=path, robot=robot),
    )


def columns_of(document: RoboplusDocument, robot: Robot) -> Columns:
    """Return the joints of `robot` that the document moves."""
    return Columns.of(robot, document.enabled, document.motor_types)


def remarks_on(document: RoboplusDocument, robot: Robot) -> tuple[str, ...]:
    """Return remarks on what of a document does not fit `robot`."""
    columns = columns_of(document, robot)
    unknown_ids = [i for i in range(1, IDS) if document.enabled[i] and i not in columns.ids]
    foreign_joints = [joint for i, joint in enumerate(columns.joints) if columns.has_other_resolution(i)]
    remarks: list[str] = []
    if unknown_ids:
        ids = ", ".join(map(str, unknown_ids))
        remarks.append(f"the file moves IDs {ids}, which are not joints of {robot.name}: left out")
    if foreign_joints:
        joints = ", ".join(foreign_joints)
        remarks.append(f"the file has other servos than {robot.name} at {joints}: same middle assumed")
    return tuple(remarks)


def _keyframes(page: Page, columns: Columns) -> tuple[Keyframe, ...]:
    """Return the steps of a page as keyframes."""
    stiffness = columns.stiffness(page.compliance)
    inertial_force = page.play.inertial_force
    rate = page.play.rate
    return tuple(
        Keyframe(
            Pose(columns.joints, columns.angles(step.ticks)),
            step.play_s,
            step.pause_s,
            easing=Easing.TRAPEZOID if inertial_force else Easing.LINEAR,
            stiffness=stiffness,
            accel_share=robotis_accel_share(inertial_force, step.play_s / rate),
        )
        for step in page.steps
    )


def _reference(document: RoboplusDocument, number: int) -> str | None:
    return None if document.page(number).is_empty else str(number)
