"""The bus that the verbs of `posewright bus` talk on, and the servos they talk to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from posewright.cli.options import option
from posewright.errors import InputError

if TYPE_CHECKING:
    from posewright.buses.dynamixel import Bus
    from posewright.robots import Robot

BAUD = 1_000_000
"""What a servo of the maker is set to [bit/s]."""

MAX_ID = 253


def _a_port(port: str | None) -> str | None:
    if port is not None and (not port or port.startswith("-")):  # an empty $PORT lets it swallow an option
        raise InputError(f"--port {port!r} is no port", hint="such as /dev/ttyUSB0; is your $PORT empty?")
    return port


Port = Annotated[
    str | None,
    option(
        "--port",
        "Where the bus is plugged in, such as /dev/ttyUSB0; needed if there are several.",
        callback=_a_port,
    ),
]
Baud = Annotated[int, option("--baud", "Bits a second.", min=1)]
RobotName = Annotated[
    str, option("--robot", "Whose joints the servos move: a robot's name, or its robot.yaml.")
]


def open_port(port: str | None, baud: int, robot: Robot) -> Bus:
    """Return the bus on a port, the only one plugged in where none is named."""
    from posewright.buses.dynamixel.bus import open_bus, require_dynamixel_sdk
    from posewright.buses.serial_port import present_ports

    require_dynamixel_sdk()
    if port is None:
        there = present_ports(usb=True)
        if len(there) != 1:
            found = f"there is {', '.join(there)}" if there else "no USB adapter is plugged in"
            raise InputError("which port?", hint=f"--port names it; {found}")
        (port,) = there
    return open_bus(port, baud, robot)


def servo_ids(text: str, robot: Robot) -> list[int]:
    """Return the IDs that `5`, `1-18,100`, a joint's name or `all` means, in that order.

    Raises:
        InputError: it means none.
        UnknownNameError: the robot has no joint of that name.
    """
    from posewright.buses.dynamixel.bus import joints_of

    joints = joints_of(robot)
    if text == "all":
        if not joints:
            raise InputError(
                f"{robot.name} has no servos on a bus", hint="its card gives no IDs; ask for IDs"
            )
        return sorted(joints)
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if first.isdecimal() and (last.isdecimal() if dash else True):
            found += range(int(first), int(last if dash else first) + 1)
        else:
            servo = robot.servo(part.strip()).id
            found += [] if servo is None else [servo]
    if not found or max(found) > MAX_ID:
        raise InputError(f"{text!r} names no servo", hint=f"IDs 0..{MAX_ID}, such as 5, 1-18 or 1,3,100")
    return list(dict.fromkeys(found))
