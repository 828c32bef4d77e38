"""A fake servo bus of a robot that is not there: its servos by the manual, its body simulated or a mock."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace

from posewright.bodies import BodySpec
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.fake.damage import BusDamage
from posewright.buses.dynamixel.fake.device import FakeSensor
from posewright.buses.dynamixel.fake.port import FakePort
from posewright.robots import Robot
from posewright.runs.plants import SIMULATION, choose_plant
from posewright.runs.run import ORIGIN
from posewright.runs.streams import Streams

TICK_RAD = math.radians(300.0 / 1024.0)
"""Of the servos of the bus, AX-12."""


def fake_bus(
    robot: Robot,
    *,
    body: str = SIMULATION,
    pose: str = "stand",
    baud: int = 1_000_000,
    damage: BusDamage | None = None,
    seed: int = 0,
    senses: Callable[[], Mapping[str, int]] | None = None,
) -> FakeBus:
    """Return the bus of a robot that has just been switched on, standing on the floor.

    Its servos have no torque yet; somebody holds it until each has had it for the first time.

    Args:
        robot: whose servos have IDs.
        body: sim, mock, or what else `run --body` takes.
        pose: in which it is held.
        baud: of the servos, one of the manual's.
        damage: what goes wrong.
        seed: of what the body draws by chance.
        senses: what an AX-S1 at ID 100 senses; None: there is none.

    Raises:
        InputError: the robot has no servo bus, a fault is of a servo that is not there, or of the baud rate.
        UnknownNameError: there is no such body or pose.
    """
    choice = choose_plant(body)
    streams = Streams(seed)
    part = BodySpec(
        robot.name,
        robot,
        robot.pose(pose),
        ORIGIN,
        seed=streams.noise(robot.name, 0),
        domain=choice.domain(streams.body),
    )
    plant = choice.make([part], None)
    plant.bodies[robot.name].open()
    sensor = None if senses is None else FakeSensor(senses=senses, baud=baud)
    return FakeBus.of(robot, plant, damage=damage, sensor=sensor, baud=baud)


def is_on_a_bus(robot: Robot) -> bool:
    """Return whether all servos have IDs, and count as those of the bus do."""
    return all(
        servo.id is not None and math.isclose(servo.tick_rad, TICK_RAD, rel_tol=0.01)
        for servo in robot.servos
    )


def as_on_a_bus(robot: Robot) -> Robot:
    """Return a robot for a fake bus: one whose own servos are of another kind has AX-12s instead."""
    if is_on_a_bus(robot):
        return robot
    servos = tuple(
        replace(
            servo,
            id=number,
            stiffness_nm_rad=servo.stiffness,
            ticks=1024,
            range_deg=300.0,
            first_tick=0,
            tick_urad=None,
            centre_deg=150.0,
            direction=1,
            compliance_slope=None,
        )
        for number, servo in enumerate(robot.servos, 1)
    )
    return replace(robot, servos=servos)


def fake_port(bus: FakeBus, *, precise: bool = False) -> FakePort:
    """Return the bus on a pseudo-terminal; `with` runs it in a thread, `run` here."""
    return FakePort(bus, now=time.perf_counter, precise=precise)


def fake_counts(port: FakePort) -> dict[str, float]:
    """Return what went over the wire, as plain data."""
    counts = asdict(port.bus.counts)
    return {"seconds": round(port.bus.time_s, 3), **counts, "unread": port.unread}
