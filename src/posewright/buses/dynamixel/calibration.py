"""Calibration: how the servos of one robot differ from its card, and how the offsets are measured.

`NAME.calibration.yaml` holds the differences; `apply_calibration` returns the card with them.

    calibration: my_bioloid
    robot: robotis_bioloid
    offsets_ticks: {right_knee: -4}
    reversed: [left_elbow]
    ids: {right_hip_roll: 11, right_hip_pitch: 9}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from posewright.buses.dynamixel.control_table import MAX_ID
from posewright.buses.dynamixel.torque import read_ticks, servo_ids
from posewright.documents import Bounds, read_document, read_record, save_document
from posewright.errors import InputError

if TYPE_CHECKING:
    from posewright.arrays import Floats
    from posewright.buses.dynamixel.bus import Bus
    from posewright.robots import Joint, Robot, Servo

MAX_OFFSET_TICKS = 102
"""Beyond 30 degrees the horn is mounted wrongly, or the ID belongs to another joint."""

Offset = Annotated[int, Bounds(-MAX_OFFSET_TICKS, MAX_OFFSET_TICKS)]
BusId = Annotated[int, Bounds(0, MAX_ID)]


@dataclass(frozen=True)
class Calibration:
    """How one robot differs from its card.

    Attributes:
        name: the name of this one robot.
        robot: name of its card.
        offsets_ticks: by how many ticks a servo's position exceeds that by the card, by joint.
        reversed: joints whose servo is mounted mirrored: its angle counts from the other end.
        ids: actual IDs of servos that differ from the card, by joint.
    """

    name: str
    robot: str
    offsets_ticks: Mapping[str, Offset] = field(default_factory=dict)
    reversed: tuple[str, ...] = ()
    ids: Mapping[str, BusId] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether the robot does not differ from its card."""
        return not (any(self.offsets_ticks.values()) or self.reversed or self.ids)


def read_calibration(path: Path | str) -> Calibration:
    """Read a `*.calibration.yaml`; raise a DocumentError if it is faulty."""
    document = read_document(Path(path))
    name = document.fields(required=("calibration",))["calibration"].text()
    return read_record(document, Calibration, extra_keys=("calibration",), name=name)


def write_calibration(calibration: Calibration, path: Path | str) -> None:
    """Write a calibration; an existing file keeps its comments."""
    data = {
        "calibration": calibration.name,
        "robot": calibration.robot,
        "offsets_ticks": dict(calibration.offsets_ticks),
        "reversed": list(calibration.reversed),
        "ids": dict(calibration.ids),
    }
    save_document(path, {key: value for key, value in data.items() if value})


def apply_calibration(robot: Robot, calibration: Calibration) -> Robot:
    """Return a card with the actual centres, directions and IDs of the servos of one robot.

    Joint angles keep their meaning. If a servo no longer reaches a joint's limit, the limit is narrowed.

    Raises:
        InputError: the calibration is of another robot, or two servos would have one ID.
        UnknownNameError: the robot has no such joint.
    """
    if calibration.robot != robot.name:
        message = f"the calibration {calibration.name} is of {calibration.robot}, not of {robot.name}"
        raise InputError(message, hint=f"use a calibration of {robot.name}")
    for joint in (*calibration.offsets_ticks, *calibration.reversed, *calibration.ids):
        robot.index(joint)
    servos = tuple(_calibrate_servo(servo, calibration) for servo in robot.servos)
    ids = [servo.id for servo in servos if servo.id is not None]
    duplicates = {servo_id for servo_id in ids if ids.count(servo_id) > 1}
    if duplicates:
        names = ", ".join(f"{servo.joint}: {servo.id}" for servo in servos if servo.id in duplicates)
        raise InputError(f"servos share an ID: {names}", hint="give each joint's servo its own ID in `ids`")
    joints = tuple(map(_narrow_limits, robot.joints, servos, robot.servos))
    return replace(robot, servos=servos, joints=joints)


def _calibrate_servo(servo: Servo, calibration: Calibration) -> Servo:
    """Return a servo with the ID, direction and centre of a calibration."""
    is_reversed = servo.joint in calibration.reversed
    centre_deg = servo.range_deg - servo.centre_deg if is_reversed else servo.centre_deg
    return replace(
        servo,
        id=calibration.ids.get(servo.joint, servo.id),
        direction=-servo.direction if is_reversed else servo.direction,
        centre_deg=centre_deg + calibration.offsets_ticks.get(servo.joint, 0) * servo.tick_deg,
    )


def _narrow_limits(joint: Joint, calibrated: Servo, card_servo: Servo) -> Joint:
    """Return a joint with limits that its calibrated servo reaches."""
    is_unchanged = calibrated.centre_deg == card_servo.centre_deg
    if is_unchanged and calibrated.direction == card_servo.direction:
        return joint
    lower, upper = calibrated.reach_rad
    return replace(joint, lower_rad=max(joint.lower_rad, lower), upper_rad=min(joint.upper_rad, upper))


def measure_offsets(bus: Bus, robot: Robot, pose: Floats) -> dict[str, int]:
    """Measure by how many ticks each servo's position differs from that by the card; moves nothing.

    Args:
        bus: the open bus.
        robot: its card, with actual directions and IDs.
        pose: the pose into which the robot was put by hand, `(n_joints,)` [rad].

    Raises:
        InputError: a servo is farther off than a calibration can correct.
    """
    differences = read_ticks(bus, robot) - robot.to_ticks(pose)
    offsets = {joint: round(differences[robot.index(joint)]) for joint in servo_ids(robot)}
    too_large = {joint: ticks for joint, ticks in offsets.items() if abs(ticks) > MAX_OFFSET_TICKS}
    if too_large:
        names = ", ".join(f"{joint} by {ticks:+d} ticks" for joint, ticks in too_large.items())
        hint = f"at most {MAX_OFFSET_TICKS}: put the robot into the pose, or look for swapped IDs first"
        raise InputError(f"servos are far off the pose: {names}", hint=hint)
    return {joint: ticks for joint, ticks in offsets.items() if ticks}
