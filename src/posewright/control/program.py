"""What a person hands in to drive a robot, before it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from posewright.arrays import Floats
from posewright.control.controller import Controller
from posewright.errors import UnknownNameError
from posewright.robots import Robot, SensorSpec

Seed = int | np.random.SeedSequence
"""Of a stream of random numbers, as `numpy.random.default_rng` takes it."""


@runtime_checkable
class Program(Protocol):
    """A behaviour, a gait, a motion, a policy, a robot's old program: read once, run as often as wanted."""

    @property
    def name(self) -> str:
        """What people call it: `obstacle_race`, `move_head`."""

    @property
    def kind(self) -> str:
        """What it is, in a word for tables and recordings: `behaviour`, `openr`, `robobasic`, `gait`."""

    @property
    def robot(self) -> Robot:
        """The robot that it drives."""

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """All the body must have: those of the robot's card and further ones."""

    @property
    def start_pose(self) -> Floats:
        """In which the robot begins, `(n_joints,)` [rad]."""

    @property
    def documents(self) -> Mapping[str, str]:
        """The texts it was read from, by file name; a recording carries them."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is doubtful about it, in words."""

    @property
    def extras(self) -> Mapping[str, Any]:
        """What a recording says of it besides, as plain data by the name of who reads it; mostly nothing."""

    def controller(self, seed: Seed) -> Controller:
        """Return a controller that runs it; what it draws by chance, it draws from the seed."""


ControllerMaker = Callable[[Program, Seed], Controller]
"""Makes a controller of one's own for a program's robot. A class with these two parameters is one."""


@dataclass(frozen=True)
class ProgramWithController:
    """A program whose robot, sensors and start pose count, driven by a controller of one's own.

    Attributes:
        program: in whose place the controller drives.
        make: makes the controller.
    """

    program: Program
    make: ControllerMaker

    @property
    def name(self) -> str:
        """The name of the program."""
        return self.program.name

    @property
    def kind(self) -> str:
        """The kind of the program."""
        return self.program.kind

    @property
    def robot(self) -> Robot:
        """The program's robot."""
        return self.program.robot

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """The program's sensors."""
        return self.program.sensors

    @property
    def start_pose(self) -> Floats:
        """In which the robot begins, `(n_joints,)` [rad]."""
        return self.program.start_pose

    @property
    def documents(self) -> Mapping[str, str]:
        """The program's documents."""
        return self.program.documents

    @property
    def warnings(self) -> tuple[str, ...]:
        """The program's warnings."""
        return self.program.warnings

    @property
    def extras(self) -> Mapping[str, Any]:
        """What a recording says of the program besides."""
        return self.program.extras

    def controller(self, seed: Seed) -> Controller:
        """Return a controller of one's own."""
        return self.make(self.program, seed)


@runtime_checkable
class ProgramKind(Protocol):
    """How programs of one kind are found and read.

    A package names its own in the entry point group `posewright.programs`.
    """

    @property
    def name(self) -> str:
        """What programs of this kind are, as `Program.kind` says it."""

    @property
    def option_names(self) -> tuple[str, ...]:
        """What may be said to a program of this kind when it is read, such as `motions` to a behaviour."""

    def names(self, robot: Robot | None) -> tuple[str, ...]:
        """Return the names of those that ship, for a robot or for any."""

    def recognises(self, name: str) -> bool:
        """Tell whether a path, or another text that is no shipped name, is of a program of this kind."""

    def read(self, name: str, robot: Robot | None, options: Mapping[str, str]) -> Program:
        """Return the program of a name or path, for a robot; for its own where none is given.

        Raises:
            PosewrightError: there is none, it cannot be read, it is another robot's, or an option is wrong.
        """


def check_options(options: Mapping[str, str], known: Sequence[str], kind: str) -> None:
    """Raise an UnknownNameError where an option is none of those that programs of a kind have."""
    for name in options:
        if name not in known:
            raise UnknownNameError.among(f"option of a program of the kind {kind}", name, known)
