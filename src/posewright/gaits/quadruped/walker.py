"""The gait generator of quadrupeds: steps and frames from a command that may change at any time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.gaits.command import STILL, VelocityCommand
from posewright.gaits.quadruped.step import Feet, PlannedStep, StepPlanner
from posewright.gaits.quadruped.timing import (
    GaitTiming,
    approach_command,
    clip_command,
    require_command_in_range,
)
from posewright.gaits.quadruped.values import GaitValues
from posewright.robots import Robot


class _CachedStep(NamedTuple):
    """A planned step, with the command and the feet that it was planned for."""

    command: VelocityCommand
    start_feet: Feet
    step: PlannedStep


class Walker:
    """Plans one step after the other, beginning from standing.

    Attributes:
        is_standing: whether no step has been taken since it last stood.
        _command_in_force: the command of the last step, on its way to the requested one.
        _feet: state of the feet at the end of the last step.
        _next_step_index: index of the next step in the cycle.
        _cached_steps: the steps of the last cycle, by index.
    """

    def __init__(self, gait: GaitValues, robot: Robot) -> None:
        self.gait = gait
        self.planner = StepPlanner(gait, robot)
        self.reset()
        self._cached_steps: dict[int, _CachedStep] = {}

    def reset(self) -> None:
        """Stand on all equilibrium points, as before the first step."""
        self.is_standing = True
        self._command_in_force = STILL
        self._feet = self.planner.standing_feet
        self._next_step_index = 0

    def halt(self) -> Floats:
        """Return the frames of the next step towards standing, `(n_frames, n_joints)` [rad].

        Steps first slow down to no velocity, then put each foot on its equilibrium point. The last step ends
        with one more frame, the standing pose.
        """
        if self._command_in_force != STILL:
            return self.take_step(STILL).joint_angles
        rows = self._record_step(self.planner.plan_step(None, self._feet, self._next_step_index)).joint_angles
        if not self.planner.are_in_place(self._feet).all():
            return rows
        self.reset()
        return np.vstack([rows, self.planner.standing_pose])

    def take_step(self, command: VelocityCommand) -> PlannedStep:
        """Return the next step, whose command approaches the given one as far as a single step allows."""
        self._command_in_force = approach_command(
            self._command_in_force, command, self.gait.parameters, self.planner.timing
        )
        return self._record_step(self._plan_step(self._command_in_force, self._feet, self._next_step_index))

    def _record_step(self, step: PlannedStep) -> PlannedStep:
        """Store a step as taken, so that the next one goes on from its end; return the step."""
        self.is_standing = False
        self._next_step_index = (self._next_step_index + 1) % self.planner.n_steps_per_cycle
        self._feet = step.feet_after
        return step

    def _plan_step(self, command: VelocityCommand, feet: Feet, step_index: int) -> PlannedStep:
        """Return a step, from the cache if the previous cycle planned it with the same command and feet."""
        cached = self._cached_steps.get(step_index)
        if cached is not None and cached.command == command and feet.equals(cached.start_feet):
            step = cached.step
        else:
            step = self.planner.plan_step(command, feet, step_index)
        # also after a hit store these feet: comparing them by identity is fast in the next cycle
        self._cached_steps[step_index] = _CachedStep(command, feet, step)
        return step


class QuadrupedGenerator:
    """Generates joint angles of a quadruped from velocity commands; a `GaitGenerator`.

    A new command takes effect at the next step, where feet lift, and is reached within four steps, or eight
    from its opposite. Before the first request the robot steps on the spot.

    Raises:
        InputError: the gait is another robot's, a leg is missing in the robot's card, or the times of the
            gait are inconsistent.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """

    def __init__(self, gait: GaitValues, robot: Robot) -> None:
        self._walker = Walker(gait, robot)
        self.gait = gait
        self._no_rows: Floats = np.empty((0, len(robot.joints)))
        self.reset()

    @property
    def timing(self) -> GaitTiming:
        """The times of a cycle."""
        return self._walker.planner.timing

    @property
    def standing_pose(self) -> Floats:
        """The pose before the first step, `(n_joints,)` [rad]."""
        return self._walker.planner.standing_pose

    @property
    def command(self) -> VelocityCommand:
        """The command requested last."""
        return self._command

    def request(self, command: VelocityCommand) -> None:
        """Set the velocity from the next step on, or raise InputError if it is out of range."""
        requested: object = command  # a caller may pass any type
        if not isinstance(requested, VelocityCommand):
            raise InputError(f"{requested!r} is not a command", hint="VelocityCommand(0.1, 0.0, 0.3)")
        self.require_in_range(command)
        self._command = command
        self._is_halting = False

    def require_in_range(self, command: VelocityCommand) -> None:
        """Raise InputError unless a command is within the maximum displacement and the maximum turn."""
        require_command_in_range(command, self.gait.parameters, self.timing)

    def clip_command(self, command: VelocityCommand) -> VelocityCommand:
        """Return the nearest command in range: the same direction, slower if necessary."""
        return clip_command(command, self.gait.parameters, self.timing)

    def halt(self) -> None:
        """Come to stand: at most four steps to slow down, then all feet to their equilibrium points.

        It takes seven cycles at most; then `frames` returns the standing pose.
        """
        self._command = STILL
        self._is_halting = True

    @property
    def is_standing(self) -> bool:
        """Whether it stood in the last frame, as it does before the first."""
        return self._walker.is_standing and not len(self._pending_rows)

    def reset(self) -> None:
        """Reset to standing, as before the first step, and drop the command."""
        self._walker.reset()
        self._command = STILL
        self._is_halting = False
        self._pending_rows = self._no_rows

    def frames(self, n: int) -> Floats:
        """Return the next n frames, `(n, n_joints)` [rad]."""
        requested: object = n  # a caller may pass any type
        if isinstance(requested, bool) or not isinstance(requested, int | np.integer) or n < 0:
            raise InputError(f"the number of frames is {requested!r}", hint="a whole number, 0 or more")
        chunks = []
        missing = n
        while missing > 0:
            if not len(self._pending_rows):
                self._pending_rows = self._plan_rows(missing)
            chunks.append(self._pending_rows[:missing])
            self._pending_rows = self._pending_rows[len(chunks[-1]) :]
            missing -= len(chunks[-1])
        return np.concatenate(chunks) if chunks else self._no_rows

    def take_step(self, command: VelocityCommand) -> PlannedStep:
        """Return the next step, whose command approaches the given one as far as a single step allows."""
        return self._walker.take_step(command)

    def _plan_rows(self, missing: int) -> Floats:
        """Return a step's frames, or as many as are missing if it stands, `(n, n_joints)` [rad]."""
        if not self._is_halting:
            return self._walker.take_step(self._command).joint_angles
        if self._walker.is_standing:
            return np.tile(self.standing_pose, (missing, 1))
        return self._walker.halt()
