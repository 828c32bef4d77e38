"""A controller that adds a correction, computed from the robot's state, to another controller's commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from posewright.arrays import Floats
from posewright.bodies import BodyState, JointCommands
from posewright.control import Controller

Correction = Callable[[BodyState], Floats]
"""Returns the angles to be added to the commands of one frame, `(n_joints,)` [rad]."""


class Feedback(Controller):
    """A controller that adds a correction to another controller's commands in every frame.

    Balance is an example: `correction` turns the tilt read from the IMU into angles of hips and ankles.

    Args:
        inner: returns the commands without the correction; it is called as often as it would be alone.
        correction: called in every frame.
    """

    def __init__(self, inner: Controller, correction: Correction) -> None:
        self._inner = inner
        self._correction = correction
        self._remaining: JointCommands | None = None

    def restart(self) -> None:
        """Restart the inner controller."""
        self._inner.restart()
        self._remaining = None

    def close(self) -> None:
        """Close the inner controller."""
        self._inner.close()

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return one corrected row."""
        rows = self._inner.next(state, n) if self._remaining is None else self._remaining
        first_row = rows[:1]
        self._remaining = rows[1:] if len(rows) > 1 else None
        return replace(first_row, angles=first_row.angles + self._correction(state))
