"""From a RoboPlus page to a motion: the values on its lines, and its columns as joints.

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
    """Return the last position of a servo: 10-bit for type 0, else 12-bit."""
    return 4095 if motor_type else 1023


@dataclass
class ValueReader:
    """Reads values off lines and remarks what is odd about them."""

    remarks: Remarks
    motor_types: tuple[int, ...] = (0,) * IDS
    off_grid: int = 0

    def version(self, line: TextLine) -> None:
        """Check the `version=` line."""
        (word,) = line.words(1, "one number, 1.01")
        self._note_comma(line)
        if line.decimal(word, "the version", 0.0, 1e6) not in (1.0, 1.01):
            self.remarks.add(f"version {quote_bytes(word)} is unknown; 1.00 and 1.01 are known", line)

    def numbers(self, line: TextLine, high: int) -> tuple[int, ...]:
        """Return a whole number 0..`high` for each ID."""
        words = line.words(IDS, f"one for each of the IDs 0..{IDS - 1}")
        key = line.key.decode("latin-1")
        return tuple(line.whole(word, f"{key} of ID {i}", 0, high) for i, word in enumerate(words))

    def play(self, line: TextLine) -> PlayParam:
        """Return the values of a `play_param=` line."""
        words = line.words(5, "next page, exit page, repeat, rate, inertial force")
        self._note_comma(line)
        return PlayParam(
            next=line.whole(words[0], "the next page", 0, MAX_PAGES),
            exit=line.whole(words[1], "the exit page", 0, MAX_PAGES),
            repeat=line.whole(words[2], "the repeat count", 1, 255),
            rate=line.decimal(words[3], "the rate", 0.01, MAX_RATE),
            accel=line.whole(words[4], "the inertial force", 0, 255),
        )

    def step(self, line: TextLine) -> Step:
        """Return the values of a `step=` line."""
        words = line.words(IDS + 2, f"{IDS} positions, seconds of pause, seconds of play")
        self._note_comma(line)
        ticks = tuple(
            line.whole(word, f"the position of ID {i}", 0, max_ticks(kind))
            for i, (word, kind) in enumerate(zip(words, self.motor_types, strict=False))
        )
        pause = line.decimal(words[IDS], "the time of the pause", 0.0, MAX_SECONDS)
        play = line.decimal(words[IDS + 1], "the time of the way", 0.0, MAX_SECONDS)
        self._note_times(line, pause, play)
        return Step(ticks, pause, play)

    def _note_comma(self, line: TextLine) -> None:
        if b"," in line.value:
            self.remarks.add_once("numbers have a decimal comma (written under such a Windows)", line)

    def _note_times(self, line: TextLine, *times: float) -> None:
        for seconds in times:
            if not is_on_grid(seconds):
                self.off_grid += 1
                self.remarks.add_once(f"a time is no multiple of {GRID_S:g} s; a controller rounds it", line)
            if seconds > MAX_TIME_S + 1e-9:
                self.remarks.add_once(
                    f"a time is longer than the {MAX_TIME_S:.3f} s a controller counts", line
                )


def is_on_grid(seconds: float) -> bool:
    """Tell whether a time is a multiple of `GRID_S`."""
    units = seconds / GRID_S
    return abs(units - round(units)) < 1e-6


NUMBERING = "robotis"  # name of the numbering, on a robot's card, that says which ID moves which joint
MAX_SLOPE_POWER = 7
"""The widest slope a Dynamixel of the AX series knows is two to this power (robots.md 2.6)."""

_SPAN_DEG = {1023: 300.0, 4095: 360.0}


@dataclass(frozen=True)
class Columns:
    """The joints of a robot in a page, in the robot's order."""

    ids: tuple[int, ...]
    servos: tuple[Servo, ...]
    motor_types: tuple[int, ...]  # what the file says of each joint's servo: 0 has 10 bits, anything else 12

    @classmethod
    def of(cls, robot: Robot, enabled: tuple[bool, ...], motor_types: tuple[int, ...]) -> Columns:
        """Return the enabled columns that move a joint of `robot`."""
        numbers = robot.ids(NUMBERING)
        ids = [numbers[joint] for joint in robot.joint_names if joint in numbers]
        used = tuple(number for number in ids if number < IDS and enabled[number])
        joints = robot.numbering(NUMBERING)
        servos = tuple(robot.servo(joints[number]) for number in used)
        return cls(used, servos, tuple(motor_types[number] for number in used))

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(servo.joint for servo in self.servos)

    def angles(self, ticks: tuple[int, ...]) -> Floats:
        """Return (n_joints,) [rad] for the 26 positions of a step."""
        return np.array([self._angle(i, float(ticks[number])) for i, number in enumerate(self.ids)])

    def ticks(self, angles: Floats) -> list[float]:
        """Return the position, not rounded, of each joint for angles (n_joints,) [rad]."""
        return [self._ticks(i, angle) for i, angle in enumerate(angles.tolist())]

    def last_tick(self, column: int) -> int:
        """Return the last position of a joint's servo, as the file counts."""
        return max_ticks(self.motor_types[column])

    def is_foreign(self, column: int) -> bool:
        """Tell whether the file means a servo of other resolution there than the robot has.

        Positions are then counted from the middle of both, the horn being mounted there.
        """
        return self.servos[column].ticks != self.last_tick(column) + 1

    def _angle(self, column: int, ticks: float) -> float:
        servo = self.servos[column]
        if not self.is_foreign(column):
            return servo.from_ticks(ticks)
        middle, tick_deg = self._foreign_scale(column)
        return servo.from_servo_deg(servo.range_deg / 2.0 + (ticks - middle) * tick_deg)

    def _ticks(self, column: int, angle: float) -> float:
        servo = self.servos[column]
        if not self.is_foreign(column):
            return servo.to_ticks(angle)
        middle, tick_deg = self._foreign_scale(column)
        return (servo.to_servo_deg(angle) - servo.range_deg / 2.0) / tick_deg + middle

    def _foreign_scale(self, column: int) -> tuple[float, float]:
        last = self.last_tick(column)
        return (last + 1) / 2.0, _SPAN_DEG[last] / (last + 1)

    def stiffness(self, compliance: tuple[int, ...]) -> dict[str, float] | None:
        """Return the stiffness [N m/rad] of the joints whose compliance is not the servo's own.

        The slope is two to the power of the compliance, in ticks of error at which the torque is full.
        """
        soft = {}
        for number, servo in zip(self.ids, self.servos, strict=True):
            slope = 2.0 ** min(compliance[number], MAX_SLOPE_POWER)
            if slope != servo.compliance_slope:
                soft[servo.joint] = servo.stall_torque_nm / (slope * servo.tick_rad)
        return soft or None


def compliance_of(servo: Servo, stiffness: float | None) -> tuple[int, bool]:
    """Return the compliance nearest to a stiffness [N m/rad], and whether it says the same.

    None stands for the stiffness of the servo itself.
    """
    wanted = servo.stiffness if stiffness is None else stiffness
    if wanted <= 0.0:
        return MAX_SLOPE_POWER, False
    slope = servo.stall_torque_nm / (wanted * servo.tick_rad)
    power = min(max(round(math.log2(slope)), 0), MAX_SLOPE_POWER)
    return power, abs(2.0**power - slope) <= 0.01 * slope


def page_motion(document: RoboplusDocument, number: int, robot: Robot, path: Path | None = None) -> Motion:
    """Return a page that is not empty as a motion of `robot`, which remembers the document.

    The page plays for ever where it is its own next page. Next and exit pages are named by their numbers;
    a page that does not exist or is empty is none, as on the controller.
    """
    page = document.page(number)
    columns = columns_of(document, robot)
    keyframes = _keyframes(page, columns)
    lasts = any(frame.reach_s or frame.pause_s for frame in keyframes)
    loops = page.play.next == number and lasts
    return Motion(
        document.page_name(number),
        robot.name,
        columns.joints,
        keyframes,
        repeat=None if loops else page.play.repeat if lasts else 1,
        next=None if loops or page.play.next == number else _reference(document, page.play.next),
        exit=_reference(document, page.play.exit),
        speed=page.play.rate,
        source=f"RoboPlus page {number}",
        origin=Origin(ROBOPLUS_TEXT, document, number, remarks=document.remarks, path=path, robot=robot),
    )


def columns_of(document: RoboplusDocument, robot: Robot) -> Columns:
    """Return the joints of `robot` that the document moves."""
    return Columns.of(robot, document.enabled, document.motor_types)


def remarks_on(document: RoboplusDocument, robot: Robot) -> tuple[str, ...]:
    """Return what is odd about a document as one of `robot`, in words."""
    columns = columns_of(document, robot)
    strange = [i for i in range(1, IDS) if document.enabled[i] and i not in columns.ids]
    foreign = [joint for i, joint in enumerate(columns.joints) if columns.is_foreign(i)]
    remarks = []
    if strange:
        listed = ", ".join(map(str, strange))
        remarks.append(f"the file moves IDs {listed}, which are no joints of {robot.name}: left out")
    if foreign:
        listed = ", ".join(foreign)
        remarks.append(f"the file has other servos than {robot.name} at {listed}: same middle assumed")
    return tuple(remarks)


def _keyframes(page: Page, columns: Columns) -> tuple[Keyframe, ...]:
    stiffness = columns.stiffness(page.compliance)
    accel, rate = page.play.accel, page.play.rate
    return tuple(
        Keyframe(
            Pose(columns.joints, columns.angles(step.ticks)),
            step.play_s,
            step.pause_s,
            Easing.TRAPEZOID if accel else Easing.LINEAR,
            stiffness,
            robotis_accel_share(accel, step.play_s / rate),
        )
        for step in page.steps
    )


def _reference(document: RoboplusDocument, number: int) -> str | None:
    return None if document.page(number).is_empty else str(number)
