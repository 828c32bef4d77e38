"""Step after step: the one place that remembers where the feet are and which command is in force."""

from __future__ import annotations

from posewright.errors import InputError
from posewright.gaits.bounds import approached
from posewright.gaits.command import STILL, VelocityCommand
from posewright.gaits.gait import Gait
from posewright.gaits.step import Feet, Step, StepPlanner
from posewright.robots import Robot

MOST_CYCLES = 12
"""From the greatest command to its opposite it takes eight steps, at worst a cycle each; a cycle later every
foot has landed for the new one, and another later lifted from there."""


class Walker:
    """A robot that walks, one step after the other, from standing on.

    Args:
        gait: what is walked.
        robot: who walks.

    Raises:
        InputError: the gait is another robot's, a leg of the robot is not known, or the times of the gait do
            not go together.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """

    def __init__(self, gait: Gait, robot: Robot) -> None:
        self.gait = gait
        self.planner = StepPlanner(gait, robot)
        self._in_force = STILL
        self._feet = self.planner.standing_feet
        self._start = 0
        self._last: dict[int, tuple[VelocityCommand, Feet, Step]] = {}

    def step(self, command: VelocityCommand) -> Step:
        """Return the next step; its command comes as near to the one wanted as a single step may."""
        self._in_force = approached(self._in_force, command, self.gait.parameters, self.planner.timing)
        step = self._planned(self._in_force, self._feet, self._start)
        self._start = (self._start + 1) % self.planner.n_starts
        self._feet = step.after
        return step

    def until_steady(self, command: VelocityCommand) -> tuple[list[Step], list[Step]]:
        """Walk whole cycles until one ends as it began, and would be walked again and again.

        Returns:
            The steps on the way there, a cycle of them at least, and those of the steady cycle.

        Raises:
            InputError: there is none within `MOST_CYCLES`.
        """
        coming: list[Step] = []
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

    def _planned(self, command: VelocityCommand, feet: Feet, start: int) -> Step:
        """Return a step; who walks on as before makes the very step of the cycle before."""
        if start in self._last:
            same, from_where, step = self._last[start]
            if same == command and feet.equals(from_where):
                return step
        step = self.planner.plan(command, feet, start)
        self._last[start] = (command, feet, step)
        return step
