"""The gait generator of quadrupeds: steps and frames from a command that may change at any time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posewright.arrays import Floats
from posewright.gaits.command import STILL, VelocityCommand
from posewright.gaits.quadruped.step import Feet, PlannedStep, StepPlanner
from posewright.gaits.quadruped.timing import (
    GaitTiming,
    approach_command,
    clip_command,
    require_command_in_range,
)
from posewright.gaits.quadruped.values import QuadrupedValues
from posewright.gaits.step_generator import StepGenerator
from posewright.robots import Robot


class _CachedStep(NamedTuple):
    """A planned step, with the command and the feet that it was planned for."""

    command: VelocityCommand
    start_feet: Feet
    step: PlannedStep


class QuadrupedGenerator(StepGenerator):
    """Generates joint angles of a quadruped from velocity commands; a `GaitGenerator`.

    A new command takes effect where feet lift, and is reached within four steps, or eight from its opposite.
    After `halt` it takes seven cycles at most until it stands: four steps to slow down, then all feet go to
    their equilibrium points.

    Attributes:
        _command_in_force: the command of the last step, on its way to the requested one.
        _feet: state of the feet at the end of the last step.
        _next_step_index: index of the next step in the cycle.
        _cached_steps: the steps of the last cycle, by index.

    Raises:
        InputError: the gait is another robot's, a leg is missing in the robot's card, or the times of the
            gait are inconsistent.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """

    def __init__(self, gait: QuadrupedValues, robot: Robot) -> None:
        self.gait = gait
        self.planner = StepPlanner(gait, robot)
        self._cached_steps: dict[int, _CachedStep] = {}
        super().__init__(self.planner.standing_pose)

    def _stand(self) -> None:
        super()._stand()
        self._command_in_force = STILL
        self._feet = self.planner.standing_feet
        self._next_step_index = 0

    @property
    def timing(self) -> GaitTiming:
        """The times of a cycle."""
        return self.planner.timing

    def require_in_range(self, command: VelocityCommand) -> None:
        """Raise InputError unless a command is within the maximum displacement and the maximum turn."""
        require_command_in_range(command, self.gait.parameters, self.timing)

    def clip_command(self, command: VelocityCommand) -> VelocityCommand:
        """Return the nearest command in range: the same direction, slower if necessary."""
        return clip_command(command, self.gait.parameters, self.timing)

    def take_step(self, command: VelocityCommand) -> PlannedStep:
        """Return the next step, whose command approaches the given one as far as a single step allows."""
        self._command_in_force = approach_command(
            self._command_in_force, command, self.gait.parameters, self.timing
        )
        return self._record_step(self._plan_step(self._command_in_force, self._feet, self._next_step_index))

    def _halting_rows(self) -> Floats:
        """Return the frames of the next step towards standing; see `StepGenerator`.

        The last step ends with one more frame, the standing pose.
        """
        if self._command_in_force != STILL:
            return self.take_step(STILL).joint_angles
        rows = self._record_step(self.planner.plan_step(None, self._feet, self._next_step_index)).joint_angles
        if not self.planner.are_in_place(self._feet).all():
            return rows
        self._stand()
        return np.vstack([rows, self.standing_pose])

    def _record_step(self, step: PlannedStep) -> PlannedStep:
        """Store a step as taken, so that the next one goes on from its end; return the step."""
        self._is_at_rest = False
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
