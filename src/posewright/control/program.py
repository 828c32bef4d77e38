"""The interfaces of programs, which drive robots, and of the kinds of programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from posewright.arrays import Floats
from posewright.control.controller import Controller
from posewright.errors import UnknownNameError
from posewright.robots import Robot, SensorSpec

Seed = int | np.random.SeedSequence
"""The seed of a stream of random numbers, as `numpy.random.default_rng` accepts it."""


@runtime_checkable
class Program(Protocol):
    """Drives a robot, any number of times: a behaviour, a gait, a motion, a robot's old program."""

    @property
    def name(self) -> str:
        """The program's name, such as `obstacle_race` or `move_head`."""

    @property
    def kind(self) -> str:
        """The name of its kind for tables and recordings, such as `behaviour`, `openr` or `gait`."""

    @property
    def robot(self) -> Robot:
        """The robot that it drives."""

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """All sensors of the body: those of the robot's card and additional ones."""

    @property
    def start_pose(self) -> Floats:
        """Joint angles at the start, `(n_joints,)` [rad]."""

    @property
    def documents(self) -> Mapping[str, str]:
        """The texts it was read from, by file name; a recording contains them."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the program."""

    @property
    def extras(self) -> Mapping[str, Any]:
        """Additional plain data for a recording, by the name of its reader; mostly empty."""

    def controller(self, seed: Seed) -> Controller:
        """Return a controller that runs the program with random numbers from the seed."""


ControllerFactory = Callable[[Program, Seed], Controller]
"""Creates a custom controller for the robot of a program; a class with these two parameters is one."""


@dataclass(frozen=True)
class ProgramWithController:
    """A program whose robot, sensors and start pose are used with a custom controller.

    Attributes:
        program: the program replaced by the controller.
        factory: creates the controller.
        name: the name of the controller, for people and recordings.
        source: the texts that define the controller, by file name.
        kind: precedes the name in recordings.
    """

    program: Program
    factory: ControllerFactory
    name: str
    source: Mapping[str, str] = field(default_factory=dict)
    kind: str = "python"

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
        """The program's start pose, `(n_joints,)` [rad]."""
        return self.program.start_pose

    @property
    def documents(self) -> Mapping[str, str]:
        """The program's documents, and the source of the controller."""
        return {**self.program.documents, **self.source}

    @property
    def warnings(self) -> tuple[str, ...]:
        """The program's warnings."""
        return self.program.warnings

    @property
    def extras(self) -> Mapping[str, Any]:
        """The program's additional data for a recording."""
        return self.program.extras

    def controller(self, seed: Seed) -> Controller:
        """Return the custom controller."""
        return self.factory(self.program, seed)


@runtime_checkable
class ProgramKind(Protocol):
    """Finds and reads programs of one kind.

    A package registers its own kinds in the entry point group `posewright.programs`.
    """

    @property
    def name(self) -> str:
        """The name of the kind, as `Program.kind` has it."""

    @property
    def option_names(self) -> tuple[str, ...]:
        """The options that `read` accepts, such as `motions` for a behaviour."""

    def names(self, robot: Robot | None) -> tuple[str, ...]:
        """Return the names of the programs that ship, for one robot or for all."""

    def recognises(self, name: str) -> bool:
        """Return whether a path, or another text that is no shipped name, is a program of this kind."""

    def read(self, name: str, robot: Robot | None, options: Mapping[str, str]) -> Program:
        """Read a program by name or path, for a robot or, with None, for the program's own.

        Raises:
            PosewrightError: there is no such program, it cannot be read, it is for another robot, or an
                option is wrong.
        """


def require_known_options(options: Mapping[str, str], option_names: Sequence[str], kind: str) -> None:
    """Raise an UnknownNameError unless all options are among those of a kind of programs."""
    for name in options:
        if name not in option_names:
            raise UnknownNameError.among("option", name, option_names, owner=f"of a {kind}")
