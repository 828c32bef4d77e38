"""A walk from one command to the next, looked at cycle by cycle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from posewright.gaits.arc import Floats
from posewright.gaits.command import VelocityCommand
from posewright.gaits.gait import Gait
from posewright.gaits.step import Step
from posewright.gaits.walker import Walker
from posewright.robots import Robot


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
        InputError: the gait is another robot's, or a leg of the robot is not known.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """

    def __init__(self, gait: Gait, robot: Robot) -> None:
        self._walker = Walker(gait, robot)
        self._feet = tuple(gait.phases.lift)
        self._row = self._walker.planner.standing_pose

    def go(self, command: VelocityCommand) -> tuple[Stretch, Stretch]:
        """Walk at a command; return the cycles that come to it, and one of the steady walk.

        Raises:
            InputError: the walk does not come to repeat itself.
        """
        coming, cycle = self._walker.until_steady(command)
        return self._stretch(coming), self._stretch(cycle)

    def _stretch(self, steps: list[Step]) -> Stretch:
        rows = np.concatenate([self._row[np.newaxis], *[step.rows for step in steps]])
        self._row = rows[-1]
        points = {
            foot: np.concatenate([step.points[place] for step in steps])
            for place, foot in enumerate(self._feet)
        }
        return Stretch(rows, points)
