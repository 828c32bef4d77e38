"""Calibration: how the servos of one robot sit otherwise than its card says, and how that is found.

`NAME.calibration.yaml` says it, `apply` gives the card of this very robot; nothing else changes.

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

MOST_OFFSET_TICKS = 102
"""A servo that is 30 degrees off is no matter of calibration: its horn sits elsewhere, or it is another's."""

Offset = Annotated[int, Bounds(-MOST_OFFSET_TICKS, MOST_OFFSET_TICKS)]
BusId = Annotated[int, Bounds(0, MAX_ID)]


@dataclass(frozen=True)
class Calibration:
    """How one robot differs from its card.

    Attributes:
        name: of this very robot.
        robot: name of its card.
        offsets_ticks: how many ticks more than by the card a servo says, by joint.
        reversed: joints whose servo is built in as in a mirror: its degrees count from the other end.
        ids: the ID that a joint's servo really has, by joint, where it is not the card's.
    """

    name: str
    robot: str
    offsets_ticks: Mapping[str, Offset] = field(default_factory=dict)
    reversed: tuple[str, ...] = ()
    ids: Mapping[str, BusId] = field(default_factory=dict)

    @property
    def says_nothing(self) -> bool:
        """Whether the robot is as its card says."""
        return not (any(self.offsets_ticks.values()) or self.reversed or self.ids)


def read_calibration(path: Path | str) -> Calibration:
    """Read a `*.calibration.yaml`, or raise DocumentError."""
    document = read_document(Path(path))
    name = document.fields(required=("calibration",))["calibration"].text()
    return read_record(document, Calibration, extra_keys=("calibration",), name=name)


def write_calibration(calibration: Calibration, path: Path | str) -> None:
    """Write it; a file that stands there keeps its comments."""
    data = {
        "calibration": calibration.name,
        "robot": calibration.robot,
        "offsets_ticks": dict(calibration.offsets_ticks),
        "reversed": list(calibration.reversed),
        "ids": dict(calibration.ids),
    }
    save_document(path, {key: value for key, value in data.items() if value})


def apply(robot: Robot, calibration: Calibration) -> Robot:
    """Return the card of this very robot: centres, directions and IDs of its servos as they really are.

    The joints' angles mean what they meant. Where a servo no longer reaches a limit, the limit moves in.

    Raises:
        InputError: it is another robot's, or two servos would have one ID.
        UnknownNameError: the robot has no such joint.
    """
    if calibration.robot != robot.name:
        raise InputError(f"{calibration.name} is a calibration of {calibration.robot}", hint=robot.name)
    for joint in (*calibration.offsets_ticks, *calibration.reversed, *calibration.ids):
        robot.index(joint)
    servos = tuple(_as_built(servo, calibration) for servo in robot.servos)
    ids = [servo.id for servo in servos if servo.id is not None]
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice:
        said = ", ".join(f"{servo.joint}: {servo.id}" for servo in servos if servo.id in twice)
        raise InputError(f"servos share an ID: {said}", hint="give each joint's servo its own in `ids`")
    joints = tuple(map(_within_reach, robot.joints, servos, robot.servos))
    return replace(robot, servos=servos, joints=joints)


def _as_built(servo: Servo, calibration: Calibration) -> Servo:
    is_reversed = servo.joint in calibration.reversed
    centre_deg = servo.range_deg - servo.centre_deg if is_reversed else servo.centre_deg
    return replace(
        servo,
        id=calibration.ids.get(servo.joint, servo.id),
        direction=-servo.direction if is_reversed else servo.direction,
        centre_deg=centre_deg + calibration.offsets_ticks.get(servo.joint, 0) * servo.tick_deg,
    )


def _within_reach(joint: Joint, built: Servo, before: Servo) -> Joint:
    if built.centre_deg == before.centre_deg and built.direction == before.direction:
        return joint
    lower, upper = built.reach_rad
    return replace(joint, lower_rad=max(joint.lower_rad, lower), upper_rad=min(joint.upper_rad, upper))


def measure_offsets(bus: Bus, robot: Robot, pose: Floats) -> dict[str, int]:
    """Return by how many ticks each servo differs from where its card has it in a pose.

    Args:
        bus: nothing is moved on it.
        robot: its card, with directions and IDs as they are.
        pose: what the robot was put into by hand, `(n_joints,)` [rad].

    Raises:
        InputError: one is so far off that it is another fault.
    """
    apart = read_ticks(bus, robot) - robot.to_ticks(pose)
    offsets = {joint: round(apart[robot.index(joint)]) for joint in servo_ids(robot)}
    far = {joint: ticks for joint, ticks in offsets.items() if abs(ticks) > MOST_OFFSET_TICKS}
    if far:
        said = ", ".join(f"{joint} by {ticks:+d} ticks" for joint, ticks in far.items())
        hint = f"at most {MOST_OFFSET_TICKS}: put the robot into the pose, or look for swapped IDs first"
        raise InputError(f"servos are far off the pose: {said}", hint=hint)
    return {joint: ticks for joint, ticks in offsets.items() if ticks}
