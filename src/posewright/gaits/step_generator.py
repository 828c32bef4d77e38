"""The base of gait generators that plan whole steps, and hand them out frame by frame."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.gaits.command import STILL, GaitStep, VelocityCommand
from posewright.gaits.feedback import UPRIGHT, Tilt


class StepGenerator(ABC):
    """A `GaitGenerator` that plans one step after the other; a class for some number of legs plans them.

    A new command takes effect at the next step. Before the first request the robot steps on the spot.

    Args:
        standing_pose: the pose before the first step, `(n_joints,)` [rad].

    Attributes:
        standing_pose: the pose before the first step, `(n_joints,)` [rad].
        _is_at_rest: whether no step has been planned since it last stood; `take_step` clears it.
    """

    def __init__(self, standing_pose: Floats) -> None:
        self.standing_pose = standing_pose
        self._no_rows: Floats = np.empty((0, len(standing_pose)))
        self.reset()

    @property
    def command(self) -> VelocityCommand:
        """The command requested last."""
        return self._command

    @property
    def stiffness(self) -> Floats | None:
        """None, for the servos' own stiffness."""
        return None

    @property
    def is_standing(self) -> bool:
        """Whether it stood in the last frame, as it does before the first."""
        return self._is_at_rest and not len(self._pending_rows)

    def request(self, command: VelocityCommand) -> None:
        """Set the velocity from the next step on, or raise InputError if it is out of range."""
        requested: object = command  # a caller may pass any type
        if not isinstance(requested, VelocityCommand):
            raise InputError(f"{requested!r} is not a command", hint="VelocityCommand(0.1, 0.0, 0.3)")
        self.require_in_range(command)
        self._command = command
        self._is_halting = False

    def set_excess_tilt(self, tilt: Tilt) -> None:
        """Set the trunk's tilt beyond that of an undisturbed walk; the frames from now on react to it."""
        self._excess_tilt = tilt

    def _react_to_tilt(self, rows: Floats, n_frames_left: int) -> Floats:  # noqa: ARG002 -- for generators that react
        """Return the frames of a step changed by the excess tilt; by default the frames as they are.

        Args:
            rows: next frames of the step, or of standing, `(n, n_joints)` [rad].
            n_frames_left: number of its frames from the first of these rows to its end.
        """
        return rows

    def halt(self) -> None:
        """Slow down, put the feet where they stand at rest, and stand; `frames` then repeats that pose."""
        self._command = STILL
        self._is_halting = True

    def reset(self) -> None:
        """Reset to standing, as before the first step, and drop the command."""
        self._command = STILL
        self._excess_tilt = UPRIGHT
        self._is_halting = False
        self._pending_rows = self._no_rows
        self._stand()

    def frames(self, n: int) -> Floats:
        """Return the next n frames, `(n, n_joints)` [rad].

        Raises:
            InputError: n is not a whole number, 0 or more.
            UnreachableError: a leg is too short for the command.
        """
        requested: object = n  # a caller may pass any type
        if isinstance(requested, bool) or not isinstance(requested, int | np.integer) or n < 0:
            raise InputError(f"the number of frames is {requested!r}", hint="a whole number, 0 or more")
        chunks = []
        n_missing = n
        while n_missing > 0:
            if not len(self._pending_rows):
                self._pending_rows = self._plan_rows(n_missing)
            rows = self._pending_rows[:n_missing]
            n_frames_left = len(self._pending_rows)
            self._pending_rows = self._pending_rows[len(rows) :]
            chunks.append(self._react_to_tilt(rows, n_frames_left))
            n_missing -= len(rows)
        return np.concatenate(chunks) if chunks else self._no_rows

    def _plan_rows(self, missing: int) -> Floats:
        """Return a step's frames, or as many as are missing if it stands, `(n, n_joints)` [rad]."""
        if not self._is_halting:
            return self.take_step(self._command).joint_angles
        if self._is_at_rest:
            return np.tile(self.standing_pose, (missing, 1))
        return self._halting_rows()

    @abstractmethod
    def require_in_range(self, command: VelocityCommand) -> None:
        """Raise InputError unless the gait can follow a command."""

    @abstractmethod
    def clip_command(self, command: VelocityCommand) -> VelocityCommand:
        """Return the nearest command in range: the same direction, slower if necessary."""

    @abstractmethod
    def take_step(self, command: VelocityCommand) -> GaitStep:
        """Return the next step, whose command approaches the given one as far as a single step allows."""

    def _stand(self) -> None:
        """Put all feet where they stand at rest; the next step is the first."""
        self._is_at_rest = True

    @abstractmethod
    def _halting_rows(self) -> Floats:
        """Return the frames of the next step towards standing, `(n_frames, n_joints)` [rad]."""
