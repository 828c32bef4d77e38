"""A walk from one command to the next, looked at cycle by cycle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from posewright.gaits.arc import Floats
from posewright.gaits.bounds import approached
from posewright.gaits.command import STILL, VelocityCommand
from posewright.gaits.gait import Gait
from posewright.gaits.step import StepPlanner
from posewright.robots import Robot

MOST_CYCLES = 12
"""A command is come to in a few steps, and a cycle later every foot has landed for it."""


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Some cycles of a walk.

    Attributes:
        rows: the frame before them and their own, `(n + 1, n_joints)` [rad].
        points: by foot, where its lowest point is told to be, seen from the trunk, `(n, 3)` [m].
    """

    rows: Floats
    points: Mapping[str, Floats]


class Tour:
    """A robot that walks on from command to command.

    Args:
        gait: what is walked.
        robot: who walks.

    Raises:
        InputError: the gait is another robot's, or the robot's legs are not known.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """

    def __init__(self, gait: Gait, robot: Robot) -> None:
        self._gait = gait
        self._planner = StepPlanner(gait, robot)
        self._feet = self._planner.standing_feet
        self._row = self._planner.standing_pose
        self._in_force = STILL

    def go(self, command: VelocityCommand) -> tuple[Stretch, Stretch]:
        """Walk at a command; return the cycles that come to it, and one of the steady walk."""
        coming = [self._cycle(command)]
        for _ in range(MOST_CYCLES):
            feet, is_there = self._feet, self._in_force == command
            cycle = self._cycle(command)
            if is_there and feet.equals(self._feet):
                break
            coming.append(cycle)
        return _joined(coming), cycle

    def _cycle(self, command: VelocityCommand) -> Stretch:
        steps = []
        for start in range(self._planner.n_starts):
            self._in_force = approached(self._in_force, command, self._gait.parameters, self._planner.timing)
            steps.append(self._planner.plan(self._in_force, self._feet, start))
            self._feet = steps[-1].after
        rows = np.concatenate([self._row[np.newaxis], *[step.rows for step in steps]])
        self._row = rows[-1]
        points = {
            foot: np.concatenate([step.points[place] for step in steps])
            for place, foot in enumerate(self._gait.phases.lift)
        }
        return Stretch(rows, points)


def _joined(cycles: list[Stretch]) -> Stretch:
    """Return cycles that follow each other as one stretch."""
    return Stretch(
        np.concatenate([cycles[0].rows, *[cycle.rows[1:] for cycle in cycles[1:]]]),
        {foot: np.concatenate([cycle.points[foot] for cycle in cycles]) for foot in cycles[0].points},
    )
