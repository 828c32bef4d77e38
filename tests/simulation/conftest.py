"""Robots in worlds, for the tests of this room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from posewright.arenas import Box, arena
from posewright.arrays import Floats
from posewright.bodies import JointCommands
from posewright.robots import Robot, robot
from posewright.simulation import SimulatedBody, World
from posewright.simulation.contacts import ContactRecorder


@pytest.fixture(scope="session")
def bioloid() -> Robot:
    return robot("robotis_bioloid")


@pytest.fixture(scope="session")
def ers7() -> Robot:
    return robot("sony_ers7")


@pytest.fixture
def dog(ers7: Robot) -> SimulatedBody:
    """An ERS-7 on a bare floor."""
    return SimulatedBody(World(ers7))


@pytest.fixture
def bare(bioloid: Robot) -> SimulatedBody:
    """A robot on a bare floor."""
    return SimulatedBody(World(bioloid))


@pytest.fixture
def among_boxes(bioloid: Robot) -> Callable[..., SimulatedBody]:
    """Give a robot at the start of the field with boxes where the test wants them."""

    def build(*boxes: tuple[float, float] | tuple[float, float, float], **options: object) -> SimulatedBody:
        field = replace(arena(), boxes=tuple(Box(*box) for box in boxes))
        where = {"start": (0.25, 0.0, 0.0), **options}
        return SimulatedBody(World(bioloid, field), **where)  # type: ignore[arg-type]  # passed on as given

    return build


@pytest.fixture
def hold() -> Callable[..., JointCommands]:
    """Give frames that hold a pose."""

    def frames(pose: Floats, seconds: float, **options: object) -> JointCommands:
        return JointCommands(np.tile(pose, (round(seconds * 128), 1)), **options)  # type: ignore[arg-type]  # as given

    return frames


@pytest.fixture
def touching() -> Callable[[World], frozenset[tuple[str, str]]]:
    """Give which parts of the robot touch each other or the floor now; the floor is the second."""

    def pairs(world: World) -> frozenset[tuple[str, str]]:
        recorder = ContactRecorder(world.instance())
        recorder.record_frame()
        found, _ = recorder.take_contacts()
        return frozenset((found.names[one], found.names[other]) for one, other in found.pairs.tolist())

    return pairs
