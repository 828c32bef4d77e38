"""A plant with one robot, which is its own body: a base for buses, boards and mocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from posewright.bodies.body import Supervisor, TorquePolicy, frames_in
from posewright.bodies.clock import Clock
from posewright.bodies.joints import BodyState, JointCommands, JointStates
from posewright.robots import Robot


class SingleBodyPlant(ABC):
    """A `Plant` that is its own, only `Body`; its time counts frames.

    A subclass opens, reads and stops the robot, and `play` sends it rows that fit. The loop that drives it
    paces the frames by its clock, and makes the faults of late ones.

    Args:
        robot: its card.
        name: in the plant; the robot's by default.
        clock: what paces its frames; None where they take no time of their own.

    Attributes:
        frames: how many have passed.
    """

    is_real = True

    def __init__(self, robot: Robot, name: str | None = None, clock: Clock | None = None) -> None:
        self.robot = robot
        self.name = name or robot.name
        self.clock = clock
        self.frames = 0

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.robot.name}, {self.time_s:.3f} s>"

    @property
    def bodies(self) -> Mapping[str, SingleBodyPlant]:
        """Itself, under its name."""
        return {self.name: self}

    @property
    def frame_period_s(self) -> float:
        """The time between two commands [s]."""
        return self.robot.frame_period_s

    @property
    def time_s(self) -> float:
        """How many frames have passed, as a time [s]."""
        return self.frames * self.robot.frame_period_s

    def supervisor(self, name: str) -> Supervisor | None:  # noqa: ARG002 -- nobody can, whatever it is called
        """Return None: a person puts a real robot somewhere."""
        return None

    def advance(self, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
        """Send the rows for the robot, and return what its joints did; errors as of `Plant.advance`."""
        frames_in(commands, self.bodies)
        return {self.name: self.play(commands[self.name])}

    @abstractmethod
    def play(self, rows: JointCommands) -> JointStates:
        """Send rows of the right shape, whose driven joints are finite; return as many rows of states.

        Raises:
            BodyError: the robot does not answer.
        """

    @abstractmethod
    def open(self) -> None:
        """Take hold of the robot, as `Body.open`."""

    @abstractmethod
    def read(self) -> BodyState:
        """Return the state now, as `Body.read`."""

    @abstractmethod
    def observe(self) -> JointStates:
        """Return one row, as `Body.observe`."""

    def facts(self) -> Mapping[str, Any]:
        """Return nothing; what a body knows of itself is plain data for a recording."""
        return {}

    @abstractmethod
    def stop(self, policy: TorquePolicy) -> None:
        """Stop moving at once, as `Body.stop`."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the robot, as `Body.close`."""
