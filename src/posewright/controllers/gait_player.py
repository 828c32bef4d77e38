"""Controllers that walk a gait, by scheduled velocity commands or by steering."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from posewright.arrays import Floats
from posewright.bodies import BodyState, Decision, JointCommands
from posewright.control import Controller, Seed
from posewright.controllers.walker import REACTION_FRAMES, Walker, feedback_sensors
from posewright.errors import InputError
from posewright.gaits import Gait, VelocityCommand, gait_text
from posewright.gaits.reading import SUFFIX
from posewright.robots import Robot, SensorSpec

BLOCK_FRAMES = 64
"""Frames computed at once, 0.512 s of an AIBO; fewer before a command changes."""


NO_FEEDBACK = "no_feedback"
"""Kind of the event of a walk on a body that lacks a channel which the gait's feedback reads."""


class GaitController(Controller):
    """Walks a gait by scheduled velocity commands. A command takes effect with the next step after its time.

    With feedback, the walk reacts to the sensors every few frames.

    Args:
        gait: the gait.
        robot: the robot.
        commands: velocity commands with their times from the first frame [s]; the first one at 0.

    Raises:
        InputError: there is no command at 0 s, the gait does not fit the robot, or the robot lacks a sensor
            that the gait's feedback reads.
    """

    def __init__(self, gait: Gait, robot: Robot, commands: Sequence[tuple[float, VelocityCommand]]) -> None:
        """Convert the times of the commands to frames, and stand."""
        self._gait = gait
        self._walker = Walker(gait, robot)
        self._commands = {
            round(time_s / robot.frame_period_s): command for time_s, command in commands
        }  # by frame
        if 0 not in self._commands:
            raise InputError("the walk has no command at 0 s", hint="give the first command at 0 s")
        self._block_frames = REACTION_FRAMES if self._walker.reads_sensors else BLOCK_FRAMES
        self.restart()

    def restart(self) -> None:
        """Start again in the standing pose, with the first command."""
        self._walker.reset()
        self._frame = 0

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the next frames of the walk: at most `n`, and none beyond the end of a block or a command.

        A block is the number of frames computed at once: `BLOCK_FRAMES`, or `REACTION_FRAMES` of a walk that
        reacts to sensors. A command that is due becomes the decision of these frames. With the first one,
        each sensor channel that the walk's feedback reads and the body lacks is noted as an event.

        Args:
            state: the joint angles and sensor values at the last frame.
            n: most frames to return.
        """
        decision = None
        if self._frame in self._commands:
            command = self._commands[self._frame]
            self._walker.request(command)
            is_first_frame = self._frame == 0
            missing_channels = self._walker.find_missing_channels(state) if is_first_frame else ()
            events = tuple((NO_FEEDBACK, {"channel": channel}) for channel in missing_channels)
            decision = Decision(outputs=command.by_name, playing=self._gait.name, events=events)
        # blocks end at multiples of their size
        block_begin = self._frame - self._frame % self._block_frames
        block_end = block_begin + self._block_frames
        next_command_frame = min(
            (frame for frame in self._commands if frame > self._frame), default=block_end
        )
        end_frame = min(block_end, next_command_frame)
        stiffness = self._walker.stiffness
        rows = self._walker.frames(state, min(n, end_frame - self._frame))
        self._frame += len(rows)
        return JointCommands(rows, stiffness=stiffness, decision=decision)


class SteeredGaitController(Controller):
    """Walks a gait by the velocity commands that `steering` returns, each effective with the next step.

    A command beyond the gait's range is scaled down in the same direction.

    Args:
        gait: the gait.
        robot: the robot.
        steering: called before each few frames; returns the velocity of the trunk requested at that time.
    """

    def __init__(self, gait: Gait, robot: Robot, steering: Callable[[], VelocityCommand]) -> None:
        self._gait = gait
        self._walker = Walker(gait, robot)
        self._steering = steering
        self.restart()

    def restart(self) -> None:
        """Start again in the standing pose."""
        self._walker.reset()
        self._command: VelocityCommand | None = None

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the next frames of the walk, `REACTION_FRAMES` at most.

        Args:
            state: the joint angles and sensor values at the last frame.
            n: most frames to return.
        """
        command = self._walker.clip_command(self._steering())
        decision = None
        if command != self._command:
            self._command = command
            self._walker.request(command)
            decision = Decision(outputs=command.by_name, playing=self._gait.name)
        stiffness = self._walker.stiffness
        rows = self._walker.frames(state, min(n, REACTION_FRAMES))
        return JointCommands(rows, stiffness=stiffness, decision=decision)


@dataclass(frozen=True)
class GaitProgram:
    """A gait as a program.

    Attributes:
        gait: the gait.
        robot: the robot.
        commands: velocity commands with their times from the first frame [s]; unused with `steering`.
        steering: returns the present velocity command.
        extras: additional data for the recording.
    """

    gait: Gait
    robot: Robot
    commands: Sequence[tuple[float, VelocityCommand]] = ((0.0, VelocityCommand()),)
    steering: Callable[[], VelocityCommand] | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)

    kind = "gait"
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The gait's name."""
        return self.gait.name

    @property
    def sensors(self) -> tuple[SensorSpec, ...]:
        """The sensors that its feedback reads; all sensors of the card if it has no feedback."""
        if self.gait.feedback.is_open_loop:
            return self.robot.sensors
        return feedback_sensors(self.gait, self.robot)

    @cached_property
    def start_pose(self) -> Floats:
        """The gait's standing pose, `(n_joints,)` [rad]."""
        return self.gait.generator(self.robot).standing_pose

    @property
    def documents(self) -> Mapping[str, str]:
        """The gait, as a document."""
        return {f"{self.gait.name}{SUFFIX}": gait_text(self.gait)}

    def controller(self, seed: Seed) -> Controller:  # noqa: ARG002 -- nothing is drawn by chance
        """Return a controller that walks the gait."""
        if self.steering is not None:
            return SteeredGaitController(self.gait, self.robot, self.steering)
        return GaitController(self.gait, self.robot, self.commands)
