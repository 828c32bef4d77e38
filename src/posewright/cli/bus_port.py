"""Options that name a bus and its servos, for the verbs of `posewright bus`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from posewright.cli.options import option
from posewright.errors import InputError
from posewright.units import parse_whole_number

if TYPE_CHECKING:
    from posewright.buses.dynamixel import Bus
    from posewright.robots import Robot

BAUD = 1_000_000
"""The rate of a new servo [bits per second]."""

MAX_ID = 253
"""The largest ID of a servo."""


def _require_port_name(port: str | None) -> str | None:
    """Return the value of `--port`; raise an InputError if it is empty or looks like an option."""
    if port is not None and (not port or port.startswith("-")):  # after an empty $PORT comes the next option
        raise InputError(
            f"--port {port!r} is not a serial port", hint="such as /dev/ttyUSB0; is your $PORT empty?"
        )
    return port


Port = Annotated[
    str | None,
    option(
        "--port PORT",
        "The serial port of the bus, such as /dev/ttyUSB0; required if there are several.",
        callback=_require_port_name,
    ),
]
Baud = Annotated[int, option("--baud N", "The rate of the bus, in bits per second.", min=1)]
RobotName = Annotated[str, option("--robot R", "The robot of the servos: its name, or its robot.yaml.")]


def open_port(port: str | None, baud: int, robot: Robot) -> Bus:
    """Open the bus on a serial port; None takes the only USB adapter.

    Raises:
        InputError: no port is named, and there is not exactly one USB adapter.
        BodyError: the port cannot be opened.
    """
    from posewright.buses.dynamixel.bus import open_bus, require_dynamixel_sdk
    from posewright.buses.serial_port import present_ports

    require_dynamixel_sdk()
    if port is None:
        ports = present_ports(usb=True)
        if len(ports) != 1:
            present = f"there is {', '.join(ports)}" if ports else "no USB adapter is plugged in"
            raise InputError("no serial port is selected", hint=f"name one with --port; {present}")
        (port,) = ports
    return open_bus(port, baud, robot)


def servo_ids(text: str, robot: Robot) -> list[int]:
    """Return the IDs of servos in the order of the text, each once.

    Args:
        text: IDs, ranges and joint names, separated by commas: `5`, `1-18,100`, `right_knee`; or `all`.
        robot: its card gives the IDs of joints.

    Raises:
        InputError: the text names no servo.
        UnknownNameError: the robot has no joint of that name.
    """
    from posewright.buses.dynamixel.bus import joints_of

    joints = joints_of(robot)
    if text == "all":
        if not joints:
            raise InputError(
                f"{robot.name} has no servos on a bus", hint="its card states no IDs; use IDs instead of all"
            )
        return sorted(joints)
    ids: list[int] = []
    is_in_range = True
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if first.isdecimal() and (last.isdecimal() or not dash):
            first_id = parse_whole_number(first)
            last_id = parse_whole_number(last) if dash else first_id
            if first_id is None or last_id is None or max(first_id, last_id) > MAX_ID:
                is_in_range = False
                break
            ids += range(first_id, last_id + 1)
        else:
            joint_id = robot.servo(part.strip()).id
            if joint_id is not None:
                ids.append(joint_id)
    if not ids or not is_in_range:
        raise InputError(f"{text!r} names no servo", hint=f"IDs 0..{MAX_ID}, such as 5, 1-18 or 1,3,100")
    return list(dict.fromkeys(ids))
