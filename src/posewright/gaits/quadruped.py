"""A quadruped that walks: poses frame by frame, from a command that may change at any time."""

from __future__ import annotations

import numpy as np

from posewright.errors import InputError
from posewright.gaits.arc import Floats
from posewright.gaits.bounds import refuse_out_of_range
from posewright.gaits.command import STILL, VelocityCommand
from posewright.gaits.gait import Gait
from posewright.gaits.timing import GaitTiming
from posewright.gaits.walker import Walker
from posewright.robots import Robot


class QuadrupedGait:
    """Makes poses from a velocity command, one step after the other.

    A new command takes effect at the next step, where feet lift, and is come to within four steps, or eight
    from its opposite. Until the first one the robot steps on the spot.

    Args:
        gait: what is walked.
        robot: who walks; its frame period is the time between two poses.

    Raises:
        InputError: the gait is another robot's, a leg of the robot is not known, or the times of the gait do
            not go together.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """

    def __init__(self, gait: Gait, robot: Robot) -> None:
        self._walker = Walker(gait, robot)
        self.gait = gait
        self._command = STILL
        self._rows: Floats = np.empty((0, len(robot.joints)))

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
        """Ask for a velocity from the next step on.

        Raises:
            InputError: it is more than the gait's maximum displacement or turn in the time a foot is down,
                or no command.
        """
        asked: object = command
        if not isinstance(asked, VelocityCommand):
            raise InputError(f"{asked!r} is no command", hint="VelocityCommand(0.1, 0.0, 0.3)")
        refuse_out_of_range(command, self.gait.parameters, self.timing)
        self._command = command

    def frames(self, n: int) -> Floats:
        """Return the joints in the next n frames, `(n, n_joints)` [rad].

        Raises:
            InputError: n is no whole number, or below 0.
        """
        asked: object = n
        if isinstance(asked, bool) or not isinstance(asked, int | np.integer) or n < 0:
            raise InputError(f"{asked!r} frames are asked for", hint="a whole number, 0 or more")
        parts, missing = [], n
        while missing > 0:
            if not len(self._rows):
                self._rows = self._walker.step(self._command).rows
            parts.append(self._rows[:missing])
            self._rows = self._rows[len(parts[-1]) :]
            missing -= len(parts[-1])
        return np.concatenate(parts) if parts else self._rows[:0]
