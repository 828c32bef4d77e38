"""`posewright serve`: a robot for others to command, observe and drive, over Zenoh or YARP."""

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

if TYPE_CHECKING:
    from posewright.arenas import Arena
    from posewright.network.host import ServiceStatus
    from posewright.network.yarp.transport import YarpTransport
    from posewright.network.zenoh.transport import ZenohTransport
    from posewright.robots import Robot, SensorSpec
    from posewright.runs.serving import ServiceReport

Listen = Annotated[
    str | None,
    option("--listen ENDPOINT", "Where: tcp/127.0.0.1:7447 of Zenoh; HOST:PORT of YARP's name server."),
]
Body = Annotated[str, option("--body B", "sim, mock, dynamixel:PORT, robonova:PORT or a package's.")]
ArenaName = Annotated[str | None, option("--arena ARENA", "The field a simulated robot is in.")]
LayoutName = Annotated[str, option("--layout", "Where boxes stand on it: a name, a *.layout.yaml, 'random'.")]
Start = Annotated[
    str | None,
    option(
        "--start X,Y,YAW",
        "Where the robot begins: metres, and degrees to the left; default 0,0,0, or in the middle of a "
        "field's start zone.",
    ),
]
SensorsOf = Annotated[str | None, option("--sensors-of BEHAVIOUR", "Mount what this behaviour senses by.")]
Record = Annotated[
    Path | None,
    option("--record FILE", "When it ends, write a recording (MCAP): every fourth frame but a client's."),
]
HoldAfter = Annotated[float, option("--hold-after S", "Nobody commands after so much silence.")]
RelaxAfter = Annotated[float | None, option("--relax-after S", "Torque off after so much; default never.")]
Seconds = Annotated[float | None, option("--for S", "Serve for so long; default until Ctrl-C.")]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "serve", serve, python_names="serve")


def serve(
    robot: Annotated[str, argument("ROBOT", "A robot's name, or the path of its card.")],
    zenoh: Annotated[bool, option("--zenoh", "Over Zenoh, with ROS 2's messages.")] = False,
    yarp: Annotated[bool, option("--yarp", "Over YARP, as a control board.")] = False,
    body: Body = "sim",
    name: Annotated[
        str | None, option("--name NAME", "What others call it; default ROBOT, over YARP ravebot.")
    ] = None,
    listen: Listen = None,
    name_server: Annotated[
        bool, option("--name-server", "Start YARP's name server, too, as no other runs.")
    ] = False,
    yarp_version: Annotated[int, option("--yarp-version V", "Tell the extended state of YARP 3 or 4.")] = 3,
    cameras: Annotated[bool, option("--cameras", "Show a simulated robot's cameras over Zenoh.")] = False,
    pose: Annotated[str, option("--pose POSE", "In which a simulated robot begins.")] = "stand",
    arena: ArenaName = None,
    layout: LayoutName = "",
    start: Start = None,
    sensors_of: SensorsOf = None,
    seed: Annotated[int, option("--seed N", "Seed of what is drawn at random.")] = 0,
    hold_after: HoldAfter = 0.25,
    relax_after: RelaxAfter = None,
    on_end: OnEnd = TorquePolicy.RELEASE,
    seconds: Seconds = None,
    record: Record = None,
    as_json: AsJson = False,
) -> None:
    """Serve a robot: one commands it, several observe it; a client may drive its time in lock-step.

    It is reached from this computer alone, unless --listen says otherwise; Zenoh then wants users or TLS
    (POSEWRIGHT_ZENOH_* in the environment). Ctrl-C ends it; what was taken, refused and missed is told then.

    [bold]Examples[/]
      posewright serve robotis_bioloid --zenoh
      posewright serve robotis_bioloid --zenoh --body dynamixel:/dev/ttyUSB0 --relax-after 30
      posewright serve robotis_bioloid --yarp --name-server --arena ceabot_obstacles --layout example_1
    """
    from posewright.network.commander import Watchdog

    require_recording_path(record, robot)
    card = robots.robot(robot)
    _refuse(zenoh, yarp, listen, cameras=cameras, name_server=name_server)
    transports: dict[str, ZenohTransport | YarpTransport] = {}
    if zenoh:
        transports["zenoh"] = _zenoh(name or card.name, listen, cameras=cameras)
    if yarp:
        transports["yarp"] = _yarp(name, listen, starts=name_server, layout=yarp_version)
    field = _arena(arena, layout, seed)
    names = ", ".join(f"{kind} as {transport.name}" for kind, transport in transports.items())
    address = f" at {listen}" if listen else ""
    begun = f"{card.name} ({body}) is served over {names}{address}; Ctrl-C ends it"
    with console.spinner(f"{card.name}: starting", quiet=as_json) as say:
        service = runs.serve(
            card,
            transports,
            now=time.monotonic,
            sleep=time.sleep,
            body=body,
            pose=pose,
            arena=field,
            start=_place(start, field),
            sensors=_sensors(sensors_of, card),
            seed=seed,
            watchdog=Watchdog(hold_after, relax_after),
            seconds=math.inf if seconds is None else seconds,
            on_end=on_end,
            record=record,
            on_progress=_teller(begun, say),
        )
    console.print_result(service.to_dict(), _lines(service), as_json=as_json)
    if service.signal not in {0, 130}:
        raise typer.Exit(service.signal)


def _refuse(zenoh: bool, yarp: bool, listen: str | None, *, cameras: bool, name_server: bool) -> None:
    """Refuse options that do not go together."""
    if not (zenoh or yarp):
        raise InputError("no way in", hint="--zenoh, --yarp, or both")
    if listen is not None and zenoh and yarp:
        raise InputError("--listen for two transports", hint="serve over one, or both where they are")
    if name_server and not yarp:
        raise InputError("--name-server without --yarp", hint="Zenoh needs none")
    if cameras and not zenoh:
        raise InputError("--cameras without --zenoh", hint="over YARP no pictures are shown")


def _zenoh(name: str, listen: str | None, *, cameras: bool) -> ZenohTransport:
    from posewright.network.zenoh.session import LOOPBACK, SessionConfig
    from posewright.network.zenoh.transport import ZenohTransport

    config = SessionConfig.from_environment(os.environ, listen=(listen or LOOPBACK,))
    return ZenohTransport(config, name, pictures=cameras)


def _yarp(name: str | None, listen: str | None, *, starts: bool, layout: int) -> YarpTransport:
    from posewright.network.yarp.transport import NAME, YarpTransport

    host, _, port = (listen or "127.0.0.1:10000").rpartition(":")
    if not port.isdecimal():
        raise InputError(f"--listen {listen}", hint="HOST:PORT of YARP's name server, 127.0.0.1:10000")
    return YarpTransport(
        name or NAME,
        host=host or "127.0.0.1",
        port=int(port),
        start_name_server=starts,
        layout=layout,
    )


def _sensors(behaviour: str | None, card: Robot) -> list[SensorSpec]:
    """Return what a behaviour senses by that the robot does not have."""
    own = {sensor.name for sensor in card.sensors}
    needed = () if behaviour is None else behaviours.read_behaviour(behaviour, robot=card).sensors
    return [sensor for sensor in needed if sensor.name not in own]


def _arena(name: str | None, layout: str, seed: int) -> Arena | None:
    from posewright.contests.contest import arena_with_layout

    if name is None and layout:
        raise InputError("a layout, and no field", hint="--arena ceabot_obstacles, for one")
    if name is None:
        return None
    from posewright.arenas import arena

    return arena_with_layout(name, layout, seed, legal=False) if layout else arena(name)


def _place(text: str | None, field: Arena | None) -> tuple[float, float, float]:
    if text is None:
        return (0.0 if field is None or not field.lines else field.box_zone[0] / 2.0, 0.0, 0.0)
    try:
        x, y, yaw_deg = (float(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(f"--start {text}", hint="X,Y,YAW: 0.3,0,90") from error
    return x, y, math.radians(yaw_deg)


def _teller(begun: str, say: Callable[[str], None]) -> Callable[[ServiceStatus], None]:
    first = iter([begun])

    def tell(standing: ServiceStatus) -> None:
        for line in first:
            console.print_to_stderr(line)
        counts, drives = standing.counts, "drives" if standing.client else "commands"
        who = f"{_short(standing.client or standing.commander or 'nobody')} {drives}"
        observers = sum(int(count) for what, count in counts.items() if what.endswith(": observers"))
        late, rate = int(counts["late"]), f"{standing.rate_hz:5.1f} Hz"
        say(f"{standing.time_s:8.1f} s  {rate}  {late} late  {who}  {format_count(observers, 'observer')}")

    return tell


def _lines(service: ServiceReport) -> list[str]:
    standing = service.status
    told = [f"{_named(what)} {count:g}" for what, count in standing.counts.items() if count]
    return [f"{standing.time_s:.1f} s served", *([", ".join(told)] if told else [])]


def _named(what: str) -> str:
    """Return what a counter is called where it ends a run: of several of one name each its own."""
    transport, _, count = what.rpartition(": ")
    if count in _TRANSPORT_COUNTERS and transport:
        return f"{transport}: {_TRANSPORT_COUNTERS[count]}"
    return _WORDS.get(what, what)


def _short(name: str) -> str:
    """Return the name of a stranger, who may call himself anything, for a line among others."""
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}..."


_LONGEST = 32
_WORDS = {
    "late": "late frames",
    "taken": "trajectories taken",
    "stops": "stops taken",
    "refused": "commands refused",
    "held": "commanders fallen silent",
    "relaxed": "torque taken after silence",
    "clients' sessions": "clients",
    "clients' asks": "clients' questions",
    "clients' refused": "clients' questions refused",
    "clients' lapsed": "clients fallen silent",
}
_TRANSPORT_COUNTERS = {
    "accepted": "trajectories taken",
    "answered": "questions answered",
    "refused": "messages refused",
    "damaged": "messages damaged",
    "malformed": "messages malformed",
    "missed": "frames missed by observers",
}
