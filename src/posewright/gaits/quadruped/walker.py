"""A quadruped that walks: step after step, frame by frame, from a command that may change at any time."""

from __future__ import annotations

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.gaits.command import STILL, VelocityCommand
from posewright.gaits.quadruped.gait import Gait
from posewright.gaits.quadruped.step import Feet, PlannedStep, StepPlanner
from posewright.gaits.quadruped.timing import GaitTiming, approached, clipped, refuse_out_of_range
from posewright.robots import Robot

MOST_CYCLES = 12
"""From the greatest command to its opposite it takes eight steps, at worst a cycle each; a cycle later every
foot has landed for the new one, and another later lifted from there."""


class Walker:
    """A robot that walks, one step after the other, from standing on."""

    def __init__(self, gait: Gait, robot: Robot) -> None:
        self.gait = gait
        self.planner = StepPlanner(gait, robot)
        self.reset()
        self._last: dict[int, tuple[VelocityCommand, Feet, PlannedStep]] = {}

    def reset(self) -> None:
        """Stand on all equilibrium points, as before the first step."""
        self.stands = True
        self._in_force = STILL
        self._feet = self.planner.standing_feet
        self._start = 0

    def halt(self) -> Floats:
        """Return the frames of the next step on the way to standing; after the last one that of standing."""
        if self._in_force != STILL:
            return self.step(STILL).rows
        rows = self._went(self.planner.plan(None, self._feet, self._start)).rows
        if not self.planner.in_place(self._feet).all():
            return rows
        self.reset()
        return np.vstack([rows, self.planner.standing_pose])

    def step(self, command: VelocityCommand) -> PlannedStep:
        """Return the next step; its command comes as near to the one wanted as a single step may."""
        self._in_force = approached(self._in_force, command, self.gait.parameters, self.planner.timing)
        return self._went(self._planned(self._in_force, self._feet, self._start))

    def _went(self, step: PlannedStep) -> PlannedStep:
        self.stands = False
        self._start = (self._start + 1) % self.planner.n_starts
        self._feet = step.after
        return step

    def until_steady(self, command: VelocityCommand) -> tuple[list[PlannedStep], list[PlannedStep]]:
        """Walk whole cycles until one ends as it began, and would be walked again and again.

        Returns:
            The steps on the way there, a cycle of them at least, and those of the steady cycle.

        Raises:
            InputError: there is none within `MOST_CYCLES`.
        """
        coming: list[PlannedStep] = []
        for _ in range(MOST_CYCLES):
            feet, is_there = self._feet, self._in_force == command
            cycle = [self.step(command) for _ in range(self.planner.n_starts)]
            if coming and is_there and feet.equals(self._feet):
                return coming, cycle
            coming += cycle
        raise InputError(
            f"gait {self.gait.name} does not come to repeat itself at this command",
            hint=f"within {MOST_CYCLES} cycles",
        )

    def _planned(self, command: VelocityCommand, feet: Feet, start: int) -> PlannedStep:
        """Return a step; who walks on as before makes the very step of the cycle before."""
        if start in self._last:
            same, from_where, step = self._last[start]
            if same == command and feet.equals(from_where):
                self._last[start] = (
                    command,
                    feet,
                    step,
                )  # the very feet, which the next cycle comes to again
                return step
        step = self.planner.plan(command, feet, start)
        self._last[start] = (command, feet, step)
        return step


class QuadrupedGait:
    """Makes poses from a velocity command, one step after the other.

    A new command takes effect at the next step, where feet lift, and is come to within four steps, or eight
    from its opposite. Until the first one the robot steps on the spot. It is a `GaitGenerator`.

    Raises:
        InputError: the gait is another robot's, a leg of the robot is not known, or the times of the gait do
            not go together.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """

    def __init__(self, gait: Gait, robot: Robot) -> None:
        self._walker = Walker(gait, robot)
        self.gait = gait
        self._none: Floats = np.empty((0, len(robot.joints)))
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
        """What was asked for last."""
        return self._command

    def request(self, command: VelocityCommand) -> None:
        """Ask for a velocity from the next step on, or raise InputError where it is out of range."""
        asked: object = command
        if not isinstance(asked, VelocityCommand):
            raise InputError(f"{asked!r} is no command", hint="VelocityCommand(0.1, 0.0, 0.3)")
        refuse_out_of_range(command, self.gait.parameters, self.timing)
        self._command, self._halts = command, False

    def clipped(self, command: VelocityCommand) -> VelocityCommand:
        """Return what can be requested in place of a command: the same direction, slower if need be."""
        return clipped(command, self.gait.parameters, self.timing)

    def halt(self) -> None:
        """Come to stand: four steps, at most, to slow down, then all feet to their equilibrium points.

        It takes seven cycles at most, and `frames` gives the standing pose from there on.
        """
        self._command, self._halts = STILL, True

    @property
    def is_standing(self) -> bool:
        """Whether it stood in the last frame, as it does before the first."""
        return self._walker.stands and not len(self._rows)

    def reset(self) -> None:
        """Stand as before the first step, wherever it was; nothing is asked for."""
        self._walker.reset()
        self._command, self._halts, self._rows = STILL, False, self._none

    def frames(self, n: int) -> Floats:
        """Return the joints in the next n frames, `(n, n_joints)` [rad]."""
        asked: object = n
        if isinstance(asked, bool) or not isinstance(asked, int | np.integer) or n < 0:
            raise InputError(f"{asked!r} frames are asked for", hint="a whole number, 0 or more")
        parts, missing = [], n
        while missing > 0:
            if not len(self._rows):
                self._rows = self._next_rows(missing)
            parts.append(self._rows[:missing])
            self._rows = self._rows[len(parts[-1]) :]
            missing -= len(parts[-1])
        return np.concatenate(parts) if parts else self._none

    def _next_rows(self, missing: int) -> Floats:
        """Return a step's rows, or as many as are missing where it stands, `(n, n_joints)` [rad]."""
        if not self._halts:
            return self._walker.step(self._command).rows
        if self._walker.stands:
            return np.tile(self.standing_pose, (missing, 1))
        return self._walker.halt()
