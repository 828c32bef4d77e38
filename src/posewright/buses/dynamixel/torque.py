"""Torque of a robot's servos by joint: off, so that a hand can move them, or on where they stand."""

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
"""Moving speed of a joint that a person has hands near: 0.46 rad/s."""


def servo_ids(robot: Robot, joints: Iterable[str] | None = None) -> dict[str, int]:
    """Return the ID of each joint's servo, by default of all that are on a bus, by joint.

    Raises:
        InputError: a joint's servo has none.
    """
    if joints is None:
        return {servo.joint: servo.id for servo in robot.servos if servo.id is not None}
    ids: dict[str, int] = {}
    for joint in joints:
        number = robot.servo(joint).id
        if number is None:
            raise InputError(f"the servo of {joint} has no ID", hint="it is on no bus by its card")
        ids[joint] = number
    return ids


def read_ticks(bus: Bus, robot: Robot) -> Floats:
    """Return where all servos of a robot stand, `(n_joints,)` ticks; NaN for one that is on no bus."""
    ticks = np.full(len(robot.joints), np.nan)
    for joint, number in servo_ids(robot).items():
        ticks[robot.index(joint)] = bus.read(number, "present_position")
    return ticks


REPEATS = 3
"""What no servo answers is sent so often: one damaged packet leaves no torque on."""


def release(bus: Bus, ids: Iterable[int]) -> None:
    """Take the torque off servos by a packet to all of them, which none answers."""
    register = control_table("AX-12A").register("torque_enable")
    off = dict.fromkeys(ids, register.encode(0))
    for _ in range(REPEATS):
        bus.sync_write(register.address, off)


def hold_here(bus: Bus, number: int) -> int:
    """Let a servo hold where it stands, its way to a later goal gentle; return where that is [ticks]."""
    here = bus.read(number, "present_position")
    bus.write(number, "moving_speed", HAND_SPEED)
    bus.write(number, "goal_position", here)  # before the torque, or it would go to an old goal
    bus.write(number, "torque_enable", 1)
    return here


@contextmanager
def released_after_errors(bus: Bus, robot: Robot) -> Iterator[None]:
    """Take all torque off a robot where what happens within ends by an error or by Ctrl-C."""
    try:
        yield
    except BaseException:
        release(bus, servo_ids(robot).values())
        raise
