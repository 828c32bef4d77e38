"""Plants by name: the simulation, the mock, links to robots by address, and plants of other packages."""

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
    StartPosture,
    draw_domain,
    quiet_readings,
    require_single_body,
)
from posewright.bodies.domain import domain_randomization, domain_randomization_names
from posewright.documents import is_path, plugins
from posewright.errors import InputError, UnknownNameError, UserCodeError

PLANTS = "posewright.bodies"
"""Group of the entry points of packages that provide a `PlantMaker`."""

LINKS = "posewright.links"
"""Group of the entry points of packages that provide a `LinkMaker`."""

SIMULATION = "sim"
MOCK = "mock"

PlantMaker = Callable[[Sequence[BodySpec], Arena | None], Plant]
"""Makes a plant with bodies at their start positions in an arena; None for a bare floor."""

LinkMaker = Callable[[str, Sequence[BodySpec], Arena | None], Plant]
"""Makes a plant with the robot at an address, such as `dynamixel:/dev/ttyUSB0` or `zenoh:bioloid`."""


@dataclass(frozen=True)
class PlantChoice:
    """The plant of a run by its name.

    Attributes:
        name: as requested: `sim`, `random`, `dynamixel:/dev/ttyUSB0`.
        make: makes the plant.
        ranges: the ranges from which a simulated body's domain parameters are drawn; None for the robot's
            model.
    """

    name: str
    make: PlantMaker
    ranges: DomainRandomization | None = None

    @property
    def is_simulation(self) -> bool:
        """Whether it is Posewright's simulation, in which all figures can be measured."""
        return self.make is make_simulation

    @property
    def may_be_real(self) -> bool:
        """Whether a real robot may be at the other end: it is neither the simulation nor the mock body."""
        return self.make is not make_simulation and self.make is not make_mock

    def require_posture(self, posture: StartPosture) -> None:
        """Raise an InputError if the robot is to lie at the start, but nobody can lay it down."""
        if posture is not StartPosture.STANDING and not self.is_simulation:
            raise InputError(
                f"a robot on the body {self.name} cannot start {posture.value}",
                hint="only a simulated robot can be put down lying",
            )

    def domain(self, seed: int) -> DomainParameters:
        """Return the domain parameters that a seed draws; nominal ones without ranges."""
        return NOMINAL if self.ranges is None else draw_domain(self.ranges, seed)


def choose_plant(name: str, *, extra_names: Collection[str] = ()) -> PlantChoice:
    """Return the plant of a name.

    Args:
        name: one of `plant_names()`; the address of a link (`dynamixel:PORT`); or the name of ranges, or the
            path of a document of ranges (`*.bodies.yaml`), from which the seed draws a simulated body.
        extra_names: names that the caller accepts, too, for the message.

    Raises:
        UnknownNameError: it is none of these.
        InputError: the document of ranges cannot be read, or the package that provides the plant is broken.
    """
    kind = name.partition(":")[0] if ":" in name else ""
    link: LinkMaker | None = _LINKS.get(kind) or plugins(LINKS).get(kind)
    if link is not None:
        return PlantChoice(name, _checked(name, lambda bodies, arena: link(name, bodies, arena)))
    if name in _PLANTS:
        return PlantChoice(name, _PLANTS[name])
    make: PlantMaker | None = plugins(PLANTS).get(name)
    if make is not None:
        return PlantChoice(name, _checked(name, make))
    ranges = domain_randomization_names()
    if name in ranges or is_path(name):
        return PlantChoice(name, make_simulation, domain_randomization(name))
    links = (f"{link_kind}:" for link_kind in sorted({*_LINKS, *plugins(LINKS)}))
    raise UnknownNameError.among("body", name, (*extra_names, *plant_names(), *ranges, *links))


def _checked(name: str, make: PlantMaker) -> PlantMaker:
    """Return a maker that raises a UserCodeError unless `make` makes a plant of all robots."""
    if not callable(make):
        raise UserCodeError(f"the entry point of the body {name} is not a function", hint="see PlantMaker")

    def make_checked(bodies: Sequence[BodySpec], arena: Arena | None) -> Plant:
        plant: object = make(bodies, arena)
        if not isinstance(plant, Plant):
            members = sorted(member for member in dir(Plant) if not member.startswith("_"))
            missing = [member for member in members if member not in dir(plant)]
            raise UserCodeError(
                f"the maker of {name} returned an object of the type {type(plant).__name__}, which is not a "
                f"Plant: it lacks {', '.join(missing)}",
                hint="see posewright.bodies.Plant",
            )
        robots = [body.name for body in bodies]
        if sorted(plant.bodies) != sorted(robots):
            raise UserCodeError(
                f"the plant {name} has the robots {', '.join(plant.bodies) or '(none)'}, "
                f"not {', '.join(robots)}",
                hint="name each body as its BodySpec does",
            )
        return plant

    return make_checked


def plant_names() -> tuple[str, ...]:
    """Return the names of all plants except links, which have addresses."""
    return tuple(sorted({*_PLANTS, *plugins(PLANTS)}))


def make_plant(name: str, bodies: Sequence[BodySpec], arena: Arena | None) -> Plant:
    """Return the plant of a name, as for `choose_plant`, with these bodies.

    Raises:
        UnknownNameError: there is no such plant.
        InputError: it does not support so many robots, or the package that provides it is broken.
        BodyError: there is no answer at the other end of a link.
    """
    return choose_plant(name).make(bodies, arena)


def make_simulation(bodies: Sequence[BodySpec], arena: Arena | None) -> Plant:
    """Return a simulated world; each robot also has the additional sensors of the other robots."""
    from posewright.simulation import SimulatedBody, World

    sensors = list({sensor.name: sensor for body in bodies for sensor in body.sensors}.values())
    is_single = len(bodies) == 1
    robots = bodies[0].robot if is_single else {body.name: body.robot for body in bodies}
    world = World(
        robots,
        arena,
        sensors=sensors,
        touches=any(body.record_contacts for body in bodies),
        plates=bodies[0].domain.plates,
    )
    for body in bodies:
        SimulatedBody(
            world,
            None if is_single else body.name,
            start_pose=body.start_pose,
            start=body.start,
            seed=body.seed,
            domain=body.domain,
            posture=body.posture,
        )
    return world


def make_mock(bodies: Sequence[BodySpec], arena: Arena | None) -> Plant:  # noqa: ARG001 -- it has no field
    """Return a mock body, whose joints follow their commands and whose sensors detect nothing nearby."""
    body = require_single_body(bodies, "a mock body")
    readings = quiet_readings((*body.robot.sensors, *body.sensors))
    return MockBody(body.robot, lambda _time_s: readings, positions=body.start_pose, store_commands=False)


def _open_dynamixel(address: str, bodies: Sequence[BodySpec], arena: Arena | None) -> Plant:
    from posewright.buses.dynamixel.link import open_link

    return open_link(address, bodies, arena)


def _open_robonova(address: str, bodies: Sequence[BodySpec], arena: Arena | None) -> Plant:
    from posewright.buses.robonova.link import open_link

    return open_link(address, bodies, arena)


def _open_yarp(address: str, bodies: Sequence[BodySpec], arena: Arena | None) -> Plant:
    from posewright.network.yarp.link import open_link

    return open_link(address, bodies, arena)


def _open_zenoh(address: str, bodies: Sequence[BodySpec], arena: Arena | None) -> Plant:
    from posewright.network.zenoh.link import open_link

    return open_link(address, bodies, arena)


_PLANTS: Mapping[str, PlantMaker] = {SIMULATION: make_simulation, MOCK: make_mock}

_LINKS: Mapping[str, LinkMaker] = {
    "dynamixel": _open_dynamixel,
    "robonova": _open_robonova,
    "yarp": _open_yarp,
    "zenoh": _open_zenoh,
}
"""The built-in links by the first part of an address; each is imported when it is opened."""
