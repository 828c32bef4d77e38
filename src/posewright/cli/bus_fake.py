"""`posewright bus fake`: a bus of simulated servos on a port that any program can open."""

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

RobotName = Annotated[str, option("--robot R", "The robot; its card must state the IDs of its servos.")]
Body = Annotated[str, option("--body BODY", "Its body: sim, mock (without physics), or a *.bodies.yaml.")]
Pose = Annotated[str, option("--pose POSE", "Its pose until its servos have torque.")]
Baud = Annotated[int, option("--baud N", "The rate of the servos, in bits per second.")]
Faults = Annotated[
    list[str] | None,
    option(
        "--fault FAULT[:ID][@BEGIN[-END]]",
        "silent, hot, low-voltage, wrong-baud, overload or cable; of one servo or all; from BEGIN to END in "
        "seconds, such as silent:7@2-3.5. Repeatable.",
    ),
]
Dropped = Annotated[float, option("--dropped SHARE", "Share of bytes that are lost, in both directions.")]
Doubled = Annotated[float, option("--doubled SHARE", "Share of bytes that arrive twice.")]
Flipped = Annotated[float, option("--flipped SHARE", "Share of bytes with one wrong bit.")]
Sensor = Annotated[bool, option("--sensor", "Add an AX-S1 sensor module with ID 100.")]
Seed = Annotated[int, option("--seed N", "Seed of all random numbers.")]
Precise = Annotated[
    bool, option("--precise", "Answer within about 10 us of the right time; uses most of a processor core.")
]
Seconds = Annotated[float | None, option("--seconds S", "Stop after S seconds; default at Ctrl-C.")]


def add_verbs(bus: typer.Typer) -> None:
    """Add the verb to the group `bus`."""
    add_verb(bus, "fake", fake, python_equivalents="fake_bus fake_port")


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
    """Run a fake bus of AX-12 servos on a pseudo-terminal, and print its port; Ctrl-C stops it.

    The servos answer as in ROBOTIS's manual, bytes take their time, and the simulated robot moves. A program
    opens the port like that of a USB adapter; programs take turns. With --json, the first line is a JSON
    document with the port, and the last line is one with the traffic.

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
            metadata = {"port": port.path, "robot": robot, "body": body, "baud": baud, "ids": ids}
            console.print_document(json.dumps(metadata) + "\n")
        else:
            console.print_line(port.path)
            console.print_note(f"{len(ids)} devices at {baud} bits per second; press Ctrl-C to stop")
        sys.stdout.flush()
        try:
            port.run(math.inf if seconds is None else seconds)
        except KeyboardInterrupt:
            pass
        finally:
            _print_traffic(port, runs.fake_counts(port), as_json=as_json)
    if port.error is not None:
        raise port.error


def _print_traffic(port: FakePort, counts: Mapping[str, float], *, as_json: bool) -> None:
    """Print how many packets, answers and damaged bytes went over the line."""
    if as_json:
        console.print_document(json.dumps(counts) + "\n")
        return
    errors = port.bus.counts.byte_errors
    damage = f"{errors.dropped} bytes dropped, {errors.doubled} doubled, {errors.flipped} flipped"
    traffic = f"{counts['packets']} packets ({counts['broken']} broken), {counts['answers']} answers"
    console.print_note(f"{counts['seconds']:.1f} s: {traffic}, {counts['collisions']} collisions; {damage}")
