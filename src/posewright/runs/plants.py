"""Plants by name: a simulation, a mock, what is at the address of a link, what a package offers."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from posewright.arenas import Arena
from posewright.bodies import (
    NOMINAL,
    DomainParameters,
    DomainRandomization,
    MockBody,
    Part,
    Plant,
    RealClock,
    draw_domain,
    quiet_readings,
)
from posewright.bodies.domain import domain_randomization, domain_randomization_names
from posewright.documents import is_path, plugins
from posewright.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from posewright.buses.serial_port import SerialPort
    from posewright.network.served.door import Wire
    from posewright.robots import Robot

PLANTS = "posewright.bodies"
"""The group of entry points in which a package names what makes a plant: a `PlantMaker`."""

LINKS = "posewright.links"
"""The group of entry points in which a package names what makes a plant of an address: a `LinkMaker`."""

SIMULATION = "sim"
MOCK = "mock"

PlantMaker = Callable[[Sequence[Part], Arena | None], Plant]
"""Makes a plant of robots that stand where they begin, in an arena; without one on a bare floor."""

LinkMaker = Callable[[str, Sequence[Part], Arena | None], Plant]
"""Makes a plant of what is at an address: `dynamixel:/dev/ttyUSB0`, `zenoh:bioloid`."""


@dataclass(frozen=True)
class PlantChoice:
    """What a run happens on, as a person names it.

    Attributes:
        name: as it was named: `sim`, `random`, `dynamixel:/dev/ttyUSB0`.
        make: makes it.
        ranges: from which a simulated body is drawn; None for one like the robot's model.
    """

    name: str
    make: PlantMaker
    ranges: DomainRandomization | None = None

    @property
    def is_simulation(self) -> bool:
        """Whether it is our own simulation, in which every figure of a walk or a motion can be measured."""
        return self.make is make_simulation

    def domain(self, seed: int) -> DomainParameters:
        """Return how the body differs from the robot's model, drawn by a seed."""
        return NOMINAL if self.ranges is None else draw_domain(self.ranges, seed)


def choose_plant(name: str) -> PlantChoice:
    """Return the plant that a name means.

    Args:
        name: one of `plant_names()`; the address of a link (`dynamixel:PORT`); or the name of ranges, or the
            path of a document of ranges (`*.bodies.yaml`), from which the seed draws a simulated body.

    Raises:
        UnknownNameError: it is none of them.
        InputError: there is no such document, it cannot be read, or the package of the plant is broken.
    """
    kind = name.partition(":")[0] if ":" in name else ""
    link: LinkMaker | None = _LINKS.get(kind) or plugins(LINKS).get(kind)
    if link is not None:
        return PlantChoice(name, lambda parts, arena: link(name, parts, arena))
    make: PlantMaker | None = _PLANTS.get(name) or plugins(PLANTS).get(name)
    if make is not None:
        return PlantChoice(name, make)
    ranges = domain_randomization_names()
    if name in ranges or is_path(name):
        return PlantChoice(name, make_simulation, domain_randomization(name))
    links = (f"{link_kind}:" for link_kind in sorted({*_LINKS, *plugins(LINKS)}))
    raise UnknownNameError.among("body", name, (*plant_names(), *ranges, *links))


def plant_names() -> tuple[str, ...]:
    """Return the names of all that a run can happen on, but for links, which have addresses."""
    return tuple(sorted({*_PLANTS, *plugins(PLANTS)}))


def make_plant(name: str, parts: Sequence[Part], arena: Arena | None) -> Plant:
    """Return a plant of that name, as `choose_plant` finds it, with these robots.

    Raises:
        UnknownNameError: there is none of that name.
        InputError: it does not take so many robots, or the package that offers it is broken.
        BodyError: nobody answers at the other end of a link.
    """
    return choose_plant(name).make(parts, arena)


def make_simulation(parts: Sequence[Part], arena: Arena | None) -> Plant:
    """Return a simulated world; sensors of any robot beyond its card's are on all of them."""
    from posewright.simulation import SimulatedBody, World

    sensors = list({sensor.name: sensor for part in parts for sensor in part.sensors}.values())
    is_single = len(parts) == 1
    robots = parts[0].robot if is_single else {part.name: part.robot for part in parts}
    world = World(robots, arena, sensors=sensors, touches=any(part.touches for part in parts))
    for part in parts:
        SimulatedBody(
            world,
            None if is_single else part.name,
            start_pose=part.start_pose,
            start=part.start,
            seed=part.seed,
            domain=part.domain,
        )
    return world


def make_mock(parts: Sequence[Part], arena: Arena | None) -> Plant:  # noqa: ARG001 -- it knows no field
    """Return a mock body, whose joints follow their commands and whose sensors see nothing near."""
    part = only_part(parts, "a mock body")
    quiet = quiet_readings((*part.robot.sensors, *part.sensors))
    return MockBody(part.robot, lambda _time_s: quiet, positions=part.start_pose, keeps=False)


def only_part(parts: Sequence[Part], plant: str) -> Part:
    """Return the only one of some parts, for plants of one robot.

    Raises:
        InputError: there are several.
    """
    if len(parts) != 1:
        raise InputError(f"{plant} for {len(parts)} robots", hint="it is of one")
    return parts[0]


_PLANTS: Mapping[str, PlantMaker] = {SIMULATION: make_simulation, MOCK: make_mock}


def dynamixel_at(address: str, robot: Robot) -> tuple[SerialPort, Robot]:
    """Return the port of `dynamixel:/dev/ttyUSB0+my.calibration.yaml`, and the robot with that calibration.

    Raises:
        InputError: it names no port, or the calibration cannot be read.
    """
    from posewright.buses.dynamixel.bus import BAUD
    from posewright.buses.dynamixel.calibration import apply, read_calibration
    from posewright.buses.serial_port import SerialPort

    where, _, calibration = address.partition("+")
    port = SerialPort.parse(where, "dynamixel:", BAUD)
    return port, apply(robot, read_calibration(calibration)) if calibration else robot


def _dynamixel(address: str, parts: Sequence[Part], arena: Arena | None) -> Plant:  # noqa: ARG001 -- as above
    from posewright.buses.dynamixel.body import DynamixelPlant

    part = only_part(parts, "a servo bus")
    port, card = dynamixel_at(address, part.robot)
    how: Any = {"now": time.perf_counter, "sleep": time.sleep}
    return DynamixelPlant(card, port, start_pose=part.start_pose, name=part.name, **how)


def _zenoh(address: str, parts: Sequence[Part], arena: Arena | None) -> Plant:
    from posewright.network.zenoh.wire import ZenohWire

    return _remote(ZenohWire.to(address, os.environ), parts, arena)


def _yarp(address: str, parts: Sequence[Part], arena: Arena | None) -> Plant:
    from posewright.network.yarp.body import board_at, served_at

    if wire := served_at(address):
        return _remote(wire, parts, arena)
    return board_at(address, parts, RealClock(time.monotonic, time.sleep))


def _remote(wire: Wire, parts: Sequence[Part], arena: Arena | None) -> Plant:
    """Return the plant at the other end of a wire, under a name by which others know who drives it."""
    from posewright.network.served.remote_plant import RemotePlant

    who = f"process {os.getpid()} on {platform.node() or 'some machine'}"
    return RemotePlant(wire, parts, arena, who=who[:100], now=time.perf_counter)


def _robonova(address: str, parts: Sequence[Part], arena: Arena | None) -> Plant:  # noqa: ARG001 -- it has its own
    from posewright.buses.robonova import BAUD, RobonovaPlant
    from posewright.buses.serial_port import SerialPort

    part = only_part(parts, "a RoboNova's line")
    clock = RealClock(time.monotonic, time.sleep)
    how: dict[str, Any] = {"clock": clock, "now": time.monotonic, "start_pose": part.start_pose}
    port = SerialPort.parse(address, "robonova:", BAUD)
    return RobonovaPlant(part.robot, port, name=part.name, **how)


_LINKS: Mapping[str, LinkMaker] = {
    "dynamixel": _dynamixel,
    "robonova": _robonova,
    "yarp": _yarp,
    "zenoh": _zenoh,
}
"""The links that ship, by what stands before the colon of an address."""
