"""A fake servo bus: servos as in the manual, on a simulated body or a mock instead of a real robot."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace

from posewright.bodies import BodySpec, ClearCircle
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.fake.damage import BusDamage
from posewright.buses.dynamixel.fake.device import FakeSensor
from posewright.buses.dynamixel.fake.port import FakePort
from posewright.robots import Robot
from posewright.runs.plants import SIMULATION, choose_plant
from posewright.runs.run import ORIGIN
from posewright.runs.streams import Streams

TICK_RAD = math.radians(300.0 / 1024.0)
"""Angle of one tick of an AX-12, the servo of the fake bus."""


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

    Its servos have no torque at first; the robot is kept in its pose until each servo's torque was enabled.

    Args:
        robot: its servos need IDs.
        body: what is behind the bus: `sim`, `mock`, or another plant that `run --body` accepts.
        pose: the pose in which it starts.
        baud: baud rate of the servos; one of those in the manual.
        damage: faults of the bus; None for none.
        seed: the seed of the body's random numbers.
        senses: returns the readings of an AX-S1 sensor with ID 100; None for no sensor.

    Raises:
        InputError: the robot has no servo bus, damage refers to a servo that does not exist, or the baud rate
            is not one of the servo's.
        UnknownNameError: there is no such body or pose.
    """
    choice = choose_plant(body)
    streams = Streams(seed)
    body_spec = BodySpec(
        robot.name,
        robot,
        start_pose=robot.pose(pose),
        start=ORIGIN,
        seed=streams.noise(robot.name, 0),
        domain=choice.domain(streams.body).without_plates_in([ClearCircle.around_start(*ORIGIN[:2])]),
    )
    plant = choice.make([body_spec], None)
    plant.bodies[robot.name].open()
    sensor = None if senses is None else FakeSensor(senses=senses, baud=baud)
    return FakeBus.of(robot, plant, damage=damage, sensor=sensor, baud=baud)


def has_bus_servos(robot: Robot) -> bool:
    """Return whether all servos have IDs and the tick angle of an AX-12."""
    return all(
        servo.id is not None and math.isclose(servo.tick_rad, TICK_RAD, rel_tol=0.01)
        for servo in robot.servos
    )


def with_bus_servos(robot: Robot) -> Robot:
    """Return the robot with AX-12 servos, unless its own servos fit the bus."""
    if has_bus_servos(robot):
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
    """Return the bus on a pseudo-terminal; `with` runs it in a thread, its method `run` in the caller's."""
    return FakePort(bus, now=time.perf_counter, precise=precise)


def fake_counts(port: FakePort) -> dict[str, float]:
    """Return the traffic counts of the bus as plain data."""
    counts = asdict(port.bus.counts)
    return {"seconds": round(port.bus.time_s, 3), **counts, "unread": port.n_unread_bytes}
