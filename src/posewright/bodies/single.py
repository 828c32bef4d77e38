"""A base class of plants with one robot, such as buses, boards and mocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from posewright.bodies.body import Supervisor, TorquePolicy, count_command_frames
from posewright.bodies.clock import Clock
from posewright.bodies.joints import BodyState, JointCommands, JointStates
from posewright.robots import Robot


class SingleBodyPlant(ABC):
    """A `Plant` that is its own only `Body`; its time counts frames.

    A subclass opens, reads and stops the robot, and `play` sends it rows of commands. `control.drive` paces
    the frames by the clock and adds faults for late ones.

    Args:
        robot: its card.
        name: the name of the robot in the plant; the card's name by default.
        clock: paces the frames; None where the run may choose one.

    Attributes:
        n_frames_played: number of frames that have passed.
    """

    is_real = True

    def __init__(self, robot: Robot, name: str | None = None, clock: Clock | None = None) -> None:
        self.robot = robot
        self.name = name or robot.name
        self.clock = clock
        self.n_frames_played = 0

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.robot.name}, {self.time_s:.3f} s>"

    @property
    def bodies(self) -> Mapping[str, SingleBodyPlant]:
        """This plant as the only body, under its name."""
        return {self.name: self}

    @property
    def frame_period_s(self) -> float:
        """The time between two commands [s]."""
        return self.robot.frame_period_s

    @property
    def time_s(self) -> float:
        """Duration of the frames that have passed [s]."""
        return self.n_frames_played * self.robot.frame_period_s

    def supervisor(self, name: str) -> Supervisor | None:  # noqa: ARG002 -- the same for every name
        """Return None: a program cannot place a real robot."""
        return None

    def advance(self, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
        """Play the robot's commands and return its joint states; raises as `Plant.advance` does."""
        count_command_frames(commands, self.bodies)
        return {self.name: self.play(commands[self.name])}

    @abstractmethod
    def play(self, rows: JointCommands) -> JointStates:
        """Send rows whose shape and angles have been validated; return as many rows of states.

        Raises:
            BodyError: the robot does not answer.
        """

    @abstractmethod
    def open(self) -> None:
        """Connect to the robot, as `Body.open` does."""

    @abstractmethod
    def read(self) -> BodyState:
        """Return the present state, as `Body.read` does."""

    @abstractmethod
    def observe(self) -> JointStates:
        """Return one row of joint states, as `Body.observe` does."""

    def facts(self) -> Mapping[str, Any]:
        """Return an empty mapping; a subclass returns what `Body.facts` describes."""
        return {}

    @abstractmethod
    def stop(self, policy: TorquePolicy) -> None:
        """Stop moving at once, as `Body.stop` does."""

    @abstractmethod
    def close(self) -> None:
        """Release the robot, as `Body.close` does."""
