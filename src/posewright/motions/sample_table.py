"""A sampled motion as a table of numbers in a chosen unit and joint order."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from posewright.arrays import Floats
from posewright.documents import PlainData
from posewright.errors import InputError, UnknownNameError
from posewright.motions.motion import Motion, Samples, robot_of_motion
from posewright.motions.pose import Pose
from posewright.robots import Robot, Servo

MAX_ROWS = 1_000_000
"""Longer tables are taken for a mistake."""

DIGITS = 9

UNITS: dict[str, Callable[[Servo, Floats], Floats]] = {
    "deg": lambda _servo, angles: np.rad2deg(angles),
    "rad": lambda _servo, angles: angles,
    "servo_deg": lambda servo, angles: servo.to_servo_deg(angles),
    "ticks": lambda servo, angles: servo.to_ticks(angles),
}
"""Conversions from joint angles [rad] to each unit; ticks are not rounded."""


@dataclass(frozen=True, eq=False)
class SampleTable:
    """A sampled motion.

    Attributes:
        numbering: the servo numbering whose IDs order and name the columns; None for joint names in the
            motion's order.
    """

    motion: Motion
    robot: Robot
    samples: Samples = field(repr=False)
    rate_hz: float
    unit: str
    numbering: str | None

    @property
    def times(self) -> Floats:
        """(n,) [s]."""
        return self.samples.times

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """The joints in the order of the columns."""
        if self.numbering is None:
            return self.motion.joints
        ids = self.robot.ids(self.numbering)
        return tuple(sorted((joint for joint in self.motion.joints if joint in ids), key=ids.__getitem__))

    def values(self, unit: str) -> Floats:
        """Return the table in a unit, (n, n_columns); NaN if free or never given."""
        columns = [self.motion.joints.index(joint) for joint in self.joints]
        return self._convert(self.samples.angles[:, columns], unit)

    def _convert(self, angles: Floats, unit: str) -> Floats:
        """Return joint angles [rad], one column for each of `joints`, in a unit, rounded."""
        convert = UNITS[unit]
        columns = [
            convert(self.robot.servo(joint), angles[:, index]) for index, joint in enumerate(self.joints)
        ]
        rounded = np.round(np.stack(columns, axis=1), DIGITS)
        return np.asarray(rounded + 0.0, dtype=np.float64)  # + 0.0 turns -0.0 into 0.0

    def csv(self) -> str:
        """Return the table as CSV; a cell is empty if a joint is free or was never given an angle."""
        ids = {} if self.numbering is None else self.robot.ids(self.numbering)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["time_s", *(ids.get(joint, joint) for joint in self.joints)])
        rows = zip(np.round(self.times, DIGITS).tolist(), self.values(self.unit).tolist(), strict=True)
        for time, row in rows:
            writer.writerow([time, *("" if math.isnan(value) else value for value in row)])
        return text.getvalue()

    def to_dict(self) -> dict[str, PlainData]:
        """Return the table as JSON has it: rows by time, the exact keyframes, and all servo IDs."""
        start, *frames = self.motion.resolved_poses()
        times = self.motion.keyframe_times.tolist()
        return {
            "motion": self.motion.name,
            "robot": self.motion.robot,
            "rate_hz": self.rate_hz,
            "unit": self.unit,
            "joints": list(self.joints),
            "servo_ids": {
                name: [self.robot.ids(name).get(joint) for joint in self.joints]
                for name in self.robot.numberings
            },
            "times_s": self.times.tolist(),
            "values": _json_rows(self.values(self.unit)),
            "angles_deg": _json_rows(self.values("deg")),
            "servo_deg": _json_rows(self.values("servo_deg")),
            "start": self._describe_keyframe(0.0, start),
            "keyframes": [
                self._describe_keyframe(time, pose) for time, pose in zip(times, frames, strict=True)
            ],
        }

    def _describe_keyframe(self, time: float, pose: Pose) -> dict[str, PlainData]:
        """Return a keyframe's time [s] and its joint angles in several units, as plain data."""
        table_of_one_row = pose.with_joints(self.joints).angles[np.newaxis]

        def values_in(unit: str) -> PlainData:
            (values,) = _json_rows(self._convert(table_of_one_row, unit))
            return values

        return {
            "time_s": time,
            "values": values_in(self.unit),
            "angles_deg": values_in("deg"),
            "servo_deg": values_in("servo_deg"),
            "free": sorted(pose.free),
        }


def sample_motion(
    motion: Motion,
    robot: Robot | str | None = None,
    *,
    rate_hz: float,
    unit: str = "deg",
    numbering: str | None = None,
    until_s: float | None = None,
) -> SampleTable:
    """Sample a motion as a table.

    Args:
        motion: the motion.
        robot: the robot whose servos it moves, or its name; default the motion's own.
        rate_hz: rows a second.
        unit: the unit of the values, one of `UNITS`.
        numbering: the servo numbering that orders and names the columns; default the motion's joint names.
        until_s: time of the last row [s]; default the motion's end.

    Raises:
        UnknownNameError: there is no such unit or numbering.
        InputError: the rate or the time is no number, or the table would be too long.
    """
    robot = robot_of_motion(motion, robot)
    if unit not in UNITS:
        raise UnknownNameError.among("unit", unit, UNITS)
    if numbering is not None:
        robot.numbering(numbering)
    if until_s is not None and not (math.isfinite(until_s) and until_s >= 0.0):
        raise InputError(f"the end time is {until_s} s", hint="a time is 0 or more")
    one_pass_or_all = motion.duration if motion.repeat is None else motion.total_duration
    end_s = one_pass_or_all if until_s is None else until_s
    if rate_hz * end_s >= MAX_ROWS:
        raise InputError(
            f"the table would have {rate_hz * end_s:.3g} rows; at most {MAX_ROWS:,} are allowed",
            hint="lower the rate or end earlier",
        )
    return SampleTable(
        motion,
        robot,
        samples=motion.sample(rate_hz, until_s=until_s),
        rate_hz=rate_hz,
        unit=unit,
        numbering=numbering,
    )


def _json_rows(values: Floats) -> list[list[float | None]]:
    """Return the rows with None, JSON's null, for every number that is not finite."""
    rows: list[list[float | None]] = []
    for row in values.tolist():
        rows.append([number if math.isfinite(number) else None for number in row])
    return rows
