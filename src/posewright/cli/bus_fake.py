"""`posewright bus fake`: a bus of servos that are not there, on a port that any program can open."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

from posewright import robots
from posewright.cli import console
from posewright.cli.options import AsJson, add_verb, option

if TYPE_CHECKING:
    import typer

    from posewright.buses.dynamixel.fake.port import FakePort

RobotName = Annotated[str, option("--robot R", "Whose servos: a robot with IDs on its card.")]
Body = Annotated[str, option("--body", "What moves: sim; mock, which has no weight; or a *.bodies.yaml.")]
Pose = Annotated[str, option("--pose POSE", "In which somebody holds it until its servos have torque.")]
Baud = Annotated[int, option("--baud N", "Bits a second that the servos are set to.")]
Faults = Annotated[
    list[str] | None,
    option(
        "--fault FAULT[:ID][@BEGIN[-END]]",
        "silent, hot, low-voltage, wrong-baud, overload or cable: of a servo, or of all, from when to when "
        "in seconds: silent:7@2-3.5. Repeatable.",
    ),
]
Dropped = Annotated[float, option("--dropped SHARE", "Share of bytes that get lost, both ways.")]
Doubled = Annotated[float, option("--doubled SHARE", "Share of bytes that come twice.")]
Flipped = Annotated[float, option("--flipped SHARE", "Share of bytes with one wrong bit.")]
Sensor = Annotated[bool, option("--sensor", "An AX-S1 sensor module at ID 100, too.")]
Seed = Annotated[int, option("--seed N", "Seed of what is by chance.")]
Precise = Annotated[
    bool, option("--precise", "Answer within some 10 us of the right time; costs much of a core.")
]
Seconds = Annotated[float | None, option("--seconds S", "End after so long; default at Ctrl-C.")]


def add_verbs(bus: typer.Typer) -> None:
    """Add the verb to the group `bus`."""
    add_verb(bus, "fake", fake, python_names="fake_bus fake_port")


def fake(
    robot: RobotName = "robotis_bioloid",
    body: Body = "sim",
    pose: Pose = "stand",
    baud: Baud = 1_000_000,
    fault: Faults = None,
    dropped: Dropped = 0.0,
    doubled: Doubled = 0.0,
    flipped: Flipped = 0.0,
    sensor: Sensor = False,
    seed: Seed = 0,
    precise: Precise = False,
    seconds: Seconds = None,
    as_json: AsJson = False,
) -> None:
    """Run a fake AX-12 bus of a robot on a pseudo-terminal until Ctrl-C, and say its port.

    Servos answer as ROBOTIS's manual says, bytes cost their time, and behind them the simulated robot moves.
    Programs open the port as they would an adapter's, one after the other. With --json the first line says
    the port and the last one what went over the wire, each a JSON document of its own.

    [bold]Examples[/]
      posewright bus fake --robot robotis_bioloid
      posewright bus fake --robot robotis_bioloid --body mock --precise
      posewright bus fake --fault silent:7@5-6 --fault hot:13@10 --flipped 0.01 --seed 3
    """
    from posewright import runs
    from posewright.buses.dynamixel.fake.damage import BusDamage, ScheduledFault

    events = tuple(ScheduledFault.parse(text) for text in fault or ())
    damage = BusDamage(dropped, doubled, flipped, events, seed)
    bus = runs.fake_bus(
        robots.robot(robot),
        body=body,
        pose=pose,
        baud=baud,
        damage=damage,
        seed=seed,
        senses=dict if sensor else None,
    )
    with closing(runs.fake_port(bus, precise=precise)) as port:
        ids = [device.id for device in bus.devices]
        if as_json:
            facts = {"port": port.path, "robot": robot, "body": body, "baud": baud, "ids": ids}
            console.print_document(json.dumps(facts) + "\n")
        else:
            console.print_line(port.path)
            console.print_note(f"{len(ids)} devices at {baud} bits a second; Ctrl-C ends")
        sys.stdout.flush()
        try:
            port.run(math.inf if seconds is None else seconds)
        except KeyboardInterrupt:
            pass
        finally:
            _tell(port, runs.fake_counts(port), as_json=as_json)
    if port.error is not None:
        raise port.error


def _tell(port: FakePort, counts: Mapping[str, float], *, as_json: bool) -> None:
    if as_json:
        console.print_document(json.dumps(counts) + "\n")
        return
    worn = port.bus.counts.byte_errors
    damaged = f"{worn.dropped} bytes dropped, {worn.doubled} doubled, {worn.flipped} flipped"
    heard = f"{counts['packets']} packets ({counts['broken']} broken), {counts['answers']} answers"
    console.print_note(f"{counts['seconds']:.1f} s: {heard}, {counts['collisions']} collisions; {damaged}")
