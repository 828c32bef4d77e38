"""The torque of a robot's servos by joint: off, to be moved by hand, or on, to hold their position."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from posewright.buses.dynamixel.control_table import control_table
from posewright.errors import InputError

if TYPE_CHECKING:
    from posewright.arrays import Floats
    from posewright.buses.dynamixel.bus import Bus
    from posewright.robots import Robot

HAND_SPEED = 40
"""Moving speed of a joint that a person is handling: 0.46 rad/s."""


def servo_ids(robot: Robot, joints: Iterable[str] | None = None) -> dict[str, int]:
    """Return the IDs of servos by joint.

    Args:
        robot: the robot.
        joints: whose servos; None for all servos with an ID.

    Raises:
        InputError: the servo of one of `joints` has no ID.
    """
    if joints is None:
        return {servo.joint: servo.id for servo in robot.servos if servo.id is not None}
    ids: dict[str, int] = {}
    for joint in joints:
        servo_id = robot.servo(joint).id
        if servo_id is None:
            message = f"the servo of {joint} has no ID"
            raise InputError(message, hint="by the robot's card it is not on a bus")
        ids[joint] = servo_id
    return ids


def read_ticks(bus: Bus, robot: Robot) -> Floats:
    """Read the positions of all servos of a robot, `(n_joints,)` [ticks]; NaN for a servo without an ID."""
    ticks = np.full(len(robot.joints), np.nan)
    for joint, servo_id in servo_ids(robot).items():
        ticks[robot.index(joint)] = bus.read(servo_id, "present_position")
    return ticks


REPEATS = 3
"""How often torque off is sent, which no servo answers: a single damaged packet leaves no torque on."""


def release(bus: Bus, ids: Iterable[int]) -> None:
    """Switch the torque of servos off with one packet, which they do not answer."""
    register = control_table("AX-12A").register("torque_enable")
    off_by_id = dict.fromkeys(ids, register.encode(0))
    for _ in range(REPEATS):
        bus.sync_write(register.address, off_by_id)


def hold_position(bus: Bus, servo_id: int) -> int:
    """Let a servo hold its position, with a gentle speed for later goals; return the position [ticks]."""
    position = bus.read(servo_id, "present_position")
    bus.write(servo_id, "moving_speed", HAND_SPEED)
    bus.write(servo_id, "goal_position", position)  # before the torque, or it would move to an old goal
    bus.write(servo_id, "torque_enable", 1)
    return position


@contextmanager
def released_after_errors(bus: Bus, robot: Robot) -> Iterator[None]:
    """Switch all torque of a robot off if the block ends with an exception, Ctrl-C included."""
    try:
        yield
    except BaseException:
        release(bus, servo_ids(robot).values())
        raise
