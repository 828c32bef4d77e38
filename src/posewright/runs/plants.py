"""Plants: what a trial is run on, by name: a simulation, a mock, or what an installed package offers."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from posewright.arenas import Arena
from posewright.bodies import NOMINAL, DomainParameters, MockBody, Part, Plant, draw_domain, quiet_readings
from posewright.bodies.domain import domain_randomization, domain_randomization_names
from posewright.control import RealClock
from posewright.documents import is_path, plugins
from posewright.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from posewright.buses.serial_port import SerialPort
    from posewright.network.served.door import Wire
    from posewright.robots import Robot

GROUP = "posewright.bodies"
"""The group of entry points in which a package names what makes a plant: a function like those here."""

SIMULATION = "sim"
MOCK = "mock"


PlantMaker = Callable[[Sequence[Part], Arena | None], Plant]

LinkMaker = Callable[[str, Sequence[Part], Arena | None], Plant]
"""Makes a plant of what is at an address: `dynamixel:/dev/ttyUSB0`, `zenoh:bioloid`."""


def plant_names() -> tuple[str, ...]:
    """Return the names of all that a trial can be run on."""
    return tuple(sorted({*_SHIPPED, *plugins(GROUP)}))


def is_plant(name: str) -> bool:
    """Tell whether a trial can be run on what is called so: a plant's name, or the address of a link."""
    return bool(_link_of(name)) or name in plant_names()


def body_of(name: str, seed: int) -> tuple[str, DomainParameters]:
    """Return the plant that a body's name means, and how that body differs from the robot's model.

    The name is a plant's, or that of ranges or the path of a document of ranges (`*.bodies.yaml`), from which
    the seed draws a simulated body.

    Raises:
        UnknownNameError: it is none of them.
        InputError: there is no such document, or it cannot be read.
    """
    ranges = domain_randomization_names()
    if _link_of(name):
        return name, NOMINAL
    if name in plant_names() or not (name in ranges or is_path(name)):
        if name not in plant_names():
            raise UnknownNameError.among("body", name, (*plant_names(), *ranges))
        return name, NOMINAL
    return SIMULATION, draw_domain(domain_randomization(name), seed)


def make_plant(name: str, parts: Sequence[Part], arena: Arena | None) -> Plant:
    """Return a plant of that name with these robots, each under its name, standing where they begin.

    Without an arena they stand on a bare floor.

    Raises:
        UnknownNameError: there is none of that name.
        InputError: it does not take so many robots, or the package that offers it is broken.
        BodyError: nobody answers at the other end of a link.
    """
    if linked := _link_of(name):
        return _LINKED[linked](name, parts, arena)
    make: PlantMaker | None = _SHIPPED.get(name) or plugins(GROUP).get(name)
    if make is None:
        raise UnknownNameError.among("body", name, plant_names())
    return make(parts, arena)


def _simulation(parts: Sequence[Part], arena: Arena | None) -> Plant:
    from posewright.simulation import SimulatedBody, World

    further = list({sensor.name: sensor for part in parts for sensor in part.sensors}.values())
    several: Any = {part.name: part.robot for part in parts} if len(parts) > 1 else parts[0].robot
    world = World(several, arena, sensors=further, touches=any(part.touches for part in parts))
    for part in parts:
        named: Any = {"name": part.name} if len(parts) > 1 else {}
        begin: Any = {"start_pose": part.start_pose, "start": part.start, "seed": part.seed}
        SimulatedBody(world, **named, **begin, domain=part.domain)
    return world


def _mock(parts: Sequence[Part], arena: Arena | None) -> Plant:  # noqa: ARG001 -- it knows no field
    part = _only(parts, "a mock body")
    quiet = quiet_readings((*part.robot.sensors, *part.sensors))
    return MockBody(part.robot, lambda _time_s: quiet, positions=part.start_pose, keeps=False)


def _only(parts: Sequence[Part], what: str) -> Part:
    if len(parts) != 1:
        raise InputError(f"{what} for {len(parts)} robots", hint="it is of one")
    return parts[0]


_SHIPPED: dict[str, PlantMaker] = {SIMULATION: _simulation, MOCK: _mock}


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

    part = _only(parts, "a servo bus")
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

    part = _only(parts, "a RoboNova's line")
    clock = RealClock(time.monotonic, time.sleep)
    how: dict[str, Any] = {"clock": clock, "now": time.monotonic, "start_pose": part.start_pose}
    port = SerialPort.parse(address, "robonova:", BAUD)
    return RobonovaPlant(part.robot, port, name=part.name, **how)


_LINKED: Mapping[str, LinkMaker] = {
    "dynamixel": _dynamixel,
    "robonova": _robonova,
    "yarp": _yarp,
    "zenoh": _zenoh,
}
"""What is real or far away, by what stands before the colon of its address."""


def _link_of(name: str) -> str:
    """Return what kind of link an address is of; nothing where it is none."""
    kind = name.partition(":")[0] if ":" in name else ""
    return kind if kind in _LINKED else ""
