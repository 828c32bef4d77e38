"""`dynamixel:PORT[@BAUD][+CALIBRATION]`: a robot on a bus of Dynamixel servos, as a plant."""

from __future__ import annotations

import time
from collections.abc import Sequence

from posewright.arenas import Arena
from posewright.bodies import BodySpec, Plant, require_single_body
from posewright.buses.dynamixel.body import DynamixelPlant
from posewright.buses.dynamixel.bus import BAUD
from posewright.buses.dynamixel.calibration import apply_calibration, read_calibration
from posewright.buses.serial_port import SerialPort
from posewright.robots import Robot


def open_link(address: str, parts: Sequence[BodySpec], arena: Arena | None) -> Plant:  # noqa: ARG001 -- its own floor
    """Return the plant of the robot at an address: its servos on a bus, run by the clock of this computer.

    The plant's `open()` opens the bus.

    Args:
        address: `PORT[@BAUD][+CALIBRATION]`.
        parts: the robots to run, of which there must be one, with its start pose.
        arena: ignored, as the robot stands on a floor of its own.

    Raises:
        InputError: the address names no port, the calibration cannot be read, or there are several robots.
    """
    part = require_single_body(parts, "a servo bus")
    port, robot = parse_address(address, part.robot)
    return DynamixelPlant(
        robot,
        port,
        start_pose=part.start_pose,
        name=part.name,
        now=time.perf_counter,
        sleep=time.sleep,
    )


def parse_address(address: str, robot: Robot) -> tuple[SerialPort, Robot]:
    """Return the port of `dynamixel:/dev/ttyUSB0+my.calibration.yaml`, and the robot with that calibration.

    Raises:
        InputError: the address names no port, or the calibration cannot be read.
    """
    port_text, _, calibration = address.partition("+")
    port = SerialPort.parse(port_text, "dynamixel:", BAUD)
    return port, apply_calibration(robot, read_calibration(calibration)) if calibration else robot
