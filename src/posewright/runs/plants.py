"""Plants by name: a simulation, a mock, what is at the address of a link, what a package offers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from posewright.arenas import Arena
from posewright.bodies import (
    NOMINAL,
    BodySpec,
    DomainParameters,
    DomainRandomization,
    MockBody,
    Plant,
    draw_domain,
    quiet_readings,
    require_single_body,
)
from posewright.bodies.domain import domain_randomization, domain_randomization_names
from posewright.documents import is_path, plugins
from posewright.errors import UnknownNameError

PLANTS = "posewright.bodies"
"""The group of entry points in which a package names what makes a plant: a `PlantMaker`."""

LINKS = "posewright.links"
"""The group of entry points in which a package names what makes a plant of an address: a `LinkMaker`."""

SIMULATION = "sim"
MOCK = "mock"

PlantMaker = Callable[[Sequence[BodySpec], Arena | None], Plant]
"""Makes a plant of robots that stand where they begin, in an arena; without one on a bare floor."""

LinkMaker = Callable[[str, Sequence[BodySpec], Arena | None], Plant]
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


def choose_plant(name: str, *, also: Collection[str] = ()) -> PlantChoice:
    """Return the plant that a name means.

    Args:
        name: one of `plant_names()`; the address of a link (`dynamixel:PORT`); or the name of ranges, or the
            path of a document of ranges (`*.bodies.yaml`), from which the seed draws a simulated body.
        also: names that the caller knows besides, for the message.

    Raises:
        UnknownNameError: it is none of them.
        InputError: there is no such document, it cannot be read, or a package that offers it is broken.
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
    raise UnknownNameError.among("body", name, (*also, *plant_names(), *ranges, *links))


def plant_names() -> tuple[str, ...]:
    """Return the names of all that a run can happen on, but for links, which have addresses."""
    return tuple(sorted({*_PLANTS, *plugins(PLANTS)}))


def make_plant(name: str, parts: Sequence[BodySpec], arena: Arena | None) -> Plant:
    """Return a plant of that name, as `choose_plant` finds it, with these robots.

    Raises:
        UnknownNameError: there is none of that name.
        InputError: it does not take so many robots, or the package that offers it is broken.
        BodyError: nobody answers at the other end of a link.
    """
    return choose_plant(name).make(parts, arena)


def make_simulation(parts: Sequence[BodySpec], arena: Arena | None) -> Plant:
    """Return a simulated world; sensors of any robot beyond its card's are on all of them."""
    from posewright.simulation import SimulatedBody, World

    sensors = list({sensor.name: sensor for part in parts for sensor in part.sensors}.values())
    is_single = len(parts) == 1
    robots = parts[0].robot if is_single else {part.name: part.robot for part in parts}
    world = World(robots, arena, sensors=sensors, touches=any(part.record_contacts for part in parts))
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


def make_mock(parts: Sequence[BodySpec], arena: Arena | None) -> Plant:  # noqa: ARG001 -- it knows no field
    """Return a mock body, whose joints follow their commands and whose sensors see nothing near."""
    part = require_single_body(parts, "a mock body")
    quiet = quiet_readings((*part.robot.sensors, *part.sensors))
    return MockBody(part.robot, lambda _time_s: quiet, positions=part.start_pose, store_commands=False)


def _open_dynamixel(address: str, parts: Sequence[BodySpec], arena: Arena | None) -> Plant:
    from posewright.buses.dynamixel.link import open_link

    return open_link(address, parts, arena)


def _open_robonova(address: str, parts: Sequence[BodySpec], arena: Arena | None) -> Plant:
    from posewright.buses.robonova.link import open_link

    return open_link(address, parts, arena)


def _open_yarp(address: str, parts: Sequence[BodySpec], arena: Arena | None) -> Plant:
    from posewright.network.yarp.link import open_link

    return open_link(address, parts, arena)


def _open_zenoh(address: str, parts: Sequence[BodySpec], arena: Arena | None) -> Plant:
    from posewright.network.zenoh.link import open_link

    return open_link(address, parts, arena)


_PLANTS: Mapping[str, PlantMaker] = {SIMULATION: make_simulation, MOCK: make_mock}

_LINKS: Mapping[str, LinkMaker] = {
    "dynamixel": _open_dynamixel,
    "robonova": _open_robonova,
    "yarp": _open_yarp,
    "zenoh": _open_zenoh,
}
"""The links that ship, by what stands before the colon of an address; each is imported when it is opened."""
