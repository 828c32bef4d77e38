"""Whoever takes part in a trial: a behaviour, or a robot's own old program in its place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from posewright.arrays import Floats
from posewright.controllers.behaviours import Behaviour, BehaviourController, read_behaviour
from posewright.errors import InputError
from posewright.robots import Robot, SensorSpec
from posewright.runtimes.robobasic import RoboBasicController, RoboBasicProgram, set_up_basic
from posewright.runtimes.robobasic.opening import ROBOT, is_program


class Played(Protocol):
    """What a trial must know of whoever takes part; `Behaviour` says what each of these is."""

    @property
    def name(self) -> str: ...  # noqa: D102 -- said there
    @property
    def robot(self) -> Robot: ...  # noqa: D102
    @property
    def sensors(self) -> tuple[SensorSpec, ...]: ...  # noqa: D102
    @property
    def start_pose(self) -> Floats: ...  # noqa: D102
    @property
    def documents(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def warnings(self) -> tuple[str, ...]: ...  # noqa: D102


def read_played(name: str, robot: Robot, *, vendor_file: str | Path | None = None) -> Played:
    """Read a behaviour, or a RoboBASIC program by its file.

    Raises:
        InputError: it cannot be read, has errors, or is another robot's.
    """
    if not is_program(name):
        return read_behaviour(name, robot=robot, vendor_file=vendor_file)
    if vendor_file is not None:
        raise InputError(f"{name} has its motions in itself", hint="leave the file of motions out")
    return set_up_basic(name, on=robot)


def robot_for(behaviour: str | Path | None, robot: str) -> str:
    """Return who plays a behaviour that is not the shipped trial's own: a program's is a RoboNova-1."""
    return ROBOT if behaviour is not None and is_program(behaviour) else robot


def controller_of(played: Played, seed: int) -> BehaviourController | RoboBasicController:
    """Return what lets a robot do it; `seed` is of what it draws by chance."""
    if isinstance(played, Behaviour):
        return BehaviourController(played, seed)
    if isinstance(played, RoboBasicProgram):
        return played.controller(seed)
    raise TypeError(type(played))
