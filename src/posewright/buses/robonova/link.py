"""`robonova:PORT[@BAUD]`: a RoboNova on a serial line, as a plant."""

from __future__ import annotations

import time
from collections.abc import Sequence

from posewright.arenas import Arena
from posewright.bodies import BodySpec, Plant, RealClock, require_single_body
from posewright.buses.robonova.plant import RobonovaPlant
from posewright.buses.robonova.protocol import BAUD
from posewright.buses.serial_port import SerialPort


def open_link(address: str, parts: Sequence[BodySpec], arena: Arena | None) -> Plant:  # noqa: ARG001 -- its own floor
    """Return the plant of the robot at an address; its `open()` opens the line.

    Raises:
        InputError: the address names no port, or there are several robots.
    """
    part = require_single_body(parts, "a RoboNova's line")
    return RobonovaPlant(
        part.robot,
        SerialPort.parse(address, "robonova:", BAUD),
        clock=RealClock(time.monotonic, time.sleep),
        now=time.monotonic,
        start_pose=part.start_pose,
        name=part.name,
    )
