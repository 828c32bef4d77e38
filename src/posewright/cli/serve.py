"""`posewright serve`: lets other programs command, observe and drive a robot over Zenoh or YARP."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import robots, runs
from posewright.bodies import TorquePolicy
from posewright.cli import console
from posewright.cli.motion_play import OnEnd
from posewright.cli.options import AsJson, add_command, argument, option, require_recording_path
from posewright.controllers import behaviours
from posewright.display import format_count
from posewright.errors import InputError
from posewright.units import parse_whole_number

if TYPE_CHECKING:
    from posewright.arenas import Arena
    from posewright.network.host import ServiceStatus
    from posewright.network.yarp.transport import YarpTransport
    from posewright.network.zenoh.transport import ZenohTransport
    from posewright.robots import Robot, SensorSpec
    from posewright.runs.serving import ServiceReport

Listen = Annotated[
    str | None,
    option(
        "--listen ENDPOINT",
        "Address: for Zenoh such as tcp/127.0.0.1:7447; for YARP HOST:PORT of the name server.",
    ),
]
Body = Annotated[
    str, option("--body B", "sim, mock, dynamixel:PORT, robonova:PORT, or a body of an installed package.")
]
ArenaName = Annotated[str | None, option("--arena ARENA", "The field of a simulated robot.")]
LayoutName = Annotated[
    str,
    option("--layout NAME", "Layout of the boxes on the field: a name, a *.layout.yaml file, or 'random'."),
]
Start = Annotated[
    str | None,
    option(
        "--start X,Y,YAW",
        "Start position in metres and heading in degrees, counter-clockwise. Default: 0,0,0, or the middle "
        "of the field's start zone.",
    ),
]
SensorsOf = Annotated[
    str | None, option("--sensors-of BEHAVIOUR", "Mount the sensors that this behaviour needs.")
]
Record = Annotated[
    Path | None,
    option(
        "--record FILE",
        "Write a recording (MCAP) at the end, with every fourth frame; with a client, every frame.",
    ),
]
HoldAfter = Annotated[
    float,
    option(
        "--hold-after S", "Release the command after this many seconds without a message from the commander."
    ),
]
RelaxAfter = Annotated[
    float | None,
    option(
        "--relax-after S",
        "Switch the torque off after this many seconds without a commander. Default: never.",
    ),
]
Seconds = Annotated[float | None, option("--for S", "How long to serve, in seconds. Default: until Ctrl-C.")]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "serve", serve, python_equivalents="serve")


def serve(
    robot: Annotated[str, argument("ROBOT", "A robot's name, or the path of its card.")],
    zenoh: Annotated[bool, option("--zenoh", "Serve over Zenoh, with the messages of ROS 2.")] = False,
    yarp: Annotated[bool, option("--yarp", "Serve over YARP, as a control board.")] = False,
    body: Body = "sim",
    name: Annotated[
        str | None,
        option("--name NAME", "Name of the robot on the network. Default: ROBOT; over YARP ravebot."),
    ] = None,
    listen: Listen = None,
    name_server: Annotated[bool, option("--name-server", "Also start a YARP name server.")] = False,
    yarp_version: Annotated[
        int, option("--yarp-version V", "Send the extended state in the layout of YARP 3 or 4.")
    ] = 3,
    cameras: Annotated[
        bool, option("--cameras", "Publish the cameras of a simulated robot over Zenoh.")
    ] = False,
    pose: Annotated[str, option("--pose POSE", "Pose in which a simulated robot starts.")] = "stand",
    arena: ArenaName = None,
    layout: LayoutName = "",
    start: Start = None,
    sensors_of: SensorsOf = None,
    seed: Annotated[int, option("--seed N", "Seed of a random layout and of sensor noise.")] = 0,
    hold_after: HoldAfter = 0.25,
    relax_after: RelaxAfter = None,
    on_end: OnEnd = TorquePolicy.RELEASE,
    seconds: Seconds = None,
    record: Record = None,
    as_json: AsJson = False,
) -> None:
    """Serve a robot over a network: one program commands it, several observe it.

    Alternatively, one client steps the robot's time itself (lock-step). By default only programs on this
    computer can connect. With --listen on another address, Zenoh needs users or TLS (POSEWRIGHT_ZENOH_*
    in the environment). Press Ctrl-C to end; the numbers of accepted, rejected and missed messages are
    printed then.

    [bold]Examples[/]
      posewright serve robotis_bioloid --zenoh
      posewright serve robotis_bioloid --zenoh --body dynamixel:/dev/ttyUSB0 --relax-after 30
      posewright serve robotis_bioloid --yarp --name-server --arena ceabot_obstacles --layout example_1
    """
    from posewright.network.commander import Watchdog

    require_recording_path(record, robot)
    card = robots.robot(robot)
    _require_consistent(zenoh, yarp, listen, cameras=cameras, name_server=name_server)
    transports: dict[str, ZenohTransport | YarpTransport] = {}
    if zenoh:
        transports["zenoh"] = _zenoh_transport(name or card.name, listen, cameras=cameras)
    if yarp:
        transports["yarp"] = _yarp_transport(
            name, listen, start_name_server=name_server, layout_version=yarp_version
        )
    field = _read_arena(arena, layout, seed)
    names = ", ".join(f"{kind} as {transport.name}" for kind, transport in transports.items())
    address = f" at {listen}" if listen else ""
    first_line = f"{card.name} ({body}) is served over {names}{address}; press Ctrl-C to end"
    with console.spinner(f"{card.name}: starting", quiet=as_json) as show_status:
        service = runs.serve(
            card,
            transports,
            now=time.monotonic,
            sleep=time.sleep,
            body=body,
            pose=pose,
            arena=field,
            start=_start_pose(start, field),
            sensors=_missing_sensors(sensors_of, card),
            seed=seed,
            watchdog=Watchdog(hold_after, relax_after),
            seconds=math.inf if seconds is None else seconds,
            on_end=on_end,
            record=record,
            on_progress=_progress_printer(first_line, show_status),
        )
    console.print_result(service.to_dict(), _summary_lines(service), as_json=as_json)
    if service.signal not in {0, 130}:
        raise typer.Exit(service.signal)


def _require_consistent(
    zenoh: bool, yarp: bool, listen: str | None, *, cameras: bool, name_server: bool
) -> None:
    """Raise InputError for options that contradict each other."""
    if not (zenoh or yarp):
        raise InputError("no transport is selected", hint="add --zenoh, --yarp, or both")
    if listen is not None and zenoh and yarp:
        raise InputError(
            "--listen is for one transport", hint="serve over one of the two, or leave --listen out"
        )
    if name_server and not yarp:
        raise InputError("--name-server needs --yarp", hint="Zenoh has no name server")
    if cameras and not zenoh:
        raise InputError("--cameras needs --zenoh", hint="YARP transfers no pictures")


def _zenoh_transport(name: str, listen: str | None, *, cameras: bool) -> ZenohTransport:
    """Return a transport for Zenoh at an address, with users and TLS as in the environment."""
    from posewright.network.zenoh.session import LOOPBACK, SessionConfig
    from posewright.network.zenoh.transport import ZenohTransport

    config = SessionConfig.from_environment(os.environ, listen=(listen or LOOPBACK,))
    return ZenohTransport(config, name, pictures=cameras)


def _yarp_transport(
    name: str | None, listen: str | None, *, start_name_server: bool, layout_version: int
) -> YarpTransport:
    """Return a transport for YARP.

    Args:
        name: name of the robot on the network; None for the default.
        listen: HOST:PORT of the name server; None for the default.
        start_name_server: whether to start one there.
        layout_version: the version of YARP, 3 or 4, whose layout of the extended state is sent.
    """
    from posewright.network.yarp.transport import NAME, YarpTransport

    host, _, port_text = (listen or "127.0.0.1:10000").rpartition(":")
    port = parse_whole_number(port_text)
    if port is None:
        raise InputError(
            f"--listen {listen} is not an address of YARP's name server", hint="HOST:PORT, 127.0.0.1:10000"
        )
    return YarpTransport(
        name or NAME,
        host=host or "127.0.0.1",
        port=port,
        start_name_server=start_name_server,
        layout=layout_version,
    )


def _missing_sensors(behaviour: str | None, card: Robot) -> list[SensorSpec]:
    """Return the sensors that a behaviour needs and the robot lacks; none without a behaviour."""
    own_names = {sensor.name for sensor in card.sensors}
    needed = () if behaviour is None else behaviours.read_behaviour(behaviour, robot=card).sensors
    return [sensor for sensor in needed if sensor.name not in own_names]


def _read_arena(name: str | None, layout: str, seed: int) -> Arena | None:
    """Return the arena that `--arena` names, with the boxes of `--layout`; None without one."""
    from posewright.contests.contest import arena_with_layout

    if name is None and layout:
        raise InputError("--layout needs --arena", hint="such as --arena ceabot_obstacles")
    if name is None:
        return None
    from posewright.arenas import arena

    if not layout:
        return arena(name)
    return arena_with_layout(name, layout, seed, legal=False)  # even with boxes that the rules forbid


def _start_pose(text: str | None, field: Arena | None) -> tuple[float, float, float]:
    """Return the start pose (x, y, yaw) [m, m, rad] that `--start` gives, or the default on a field."""
    if text is None:
        if field is None or not field.lines:
            return 0.0, 0.0, 0.0
        zone_start_x, _ = field.box_zone
        return zone_start_x / 2.0, 0.0, 0.0  # midway between the start wall and the first line
    try:
        x, y, yaw_deg = (float(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(
            f"--start {text} is not a position", hint="write X,Y,YAW, such as 0.3,0,90"
        ) from error
    return x, y, math.radians(yaw_deg)


def _progress_printer(first_line: str, show_status: Callable[[str], None]) -> Callable[[ServiceStatus], None]:
    """Return a function that prints a line when the service has started, and shows every status."""
    is_first = True

    def on_progress(status: ServiceStatus) -> None:
        """Show the time, rate and clients of the service on the status line."""
        nonlocal is_first
        if is_first:
            console.print_to_stderr(first_line)
            is_first = False
        if status.client:
            activity = f"{_shorten(status.client)} drives"
        else:
            activity = f"{_shorten(status.commander or 'nobody')} commands"
        observers = sum(int(count) for name, count in status.counts.items() if name.endswith(": observers"))
        late = int(status.counts["late"])
        show_status(
            f"{status.time_s:8.1f} s  {status.rate_hz:5.1f} Hz  {late} late  {activity}  "
            f"{format_count(observers, 'observer')}"
        )

    return on_progress


def _summary_lines(service: ServiceReport) -> list[str]:
    """Return the time served, and those counters that are not zero, as lines."""
    status = service.status
    counts = [f"{_counter_title(name)} {count:g}" for name, count in status.counts.items() if count]
    lines = [f"{status.time_s:.1f} s served"]
    if counts:
        lines.append(", ".join(counts))
    return lines


def _counter_title(name: str) -> str:
    """Return the title of a counter in the summary; that of a transport begins with the transport."""
    transport, _, counter = name.rpartition(": ")
    if counter in _TRANSPORT_COUNTERS and transport:
        return f"{transport}: {_TRANSPORT_COUNTERS[counter]}"
    return _COUNTERS.get(name, name)


def _shorten(name: str) -> str:
    """Return a client's name, which may have any length, cut to fit on a line."""
    return name if len(name) <= _MAX_NAME_LENGTH else f"{name[:_MAX_NAME_LENGTH]}..."


_MAX_NAME_LENGTH = 32
_COUNTERS = {
    "late": "late frames",
    "taken": "trajectories accepted",
    "stops": "stops accepted",
    "refused": "commands rejected",
    "held": "commanders timed out",
    "relaxed": "torque switched off after silence",
    "clients' sessions": "clients",
    "clients' asks": "requests of clients",
    "clients' refused": "requests of clients rejected",
    "clients' lapsed": "clients timed out",
}
_TRANSPORT_COUNTERS = {
    "accepted": "trajectories accepted",
    "answered": "requests answered",
    "refused": "messages rejected",
    "damaged": "messages damaged",
    "malformed": "messages malformed",
    "missed": "frames missed by observers",
}
