"""A controller around another one that corrects its commands from the robot's state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from posewright.arrays import Floats
from posewright.bodies import BodyState, JointCommands
from posewright.control import Controller

Correction = Callable[[BodyState], Floats]
"""What is to be added to the commands of one frame, `(n_joints,)` [rad]."""


class Feedback(Controller):
    """A controller around another one: each frame it adds a correction made from the robot's state.

    Balance is one: `correction` turns the tilt that the IMU reads into angles of hips and ankles.

    Args:
        inner: decides what is commanded without the correction; it is asked as often as it would be alone.
        correction: made anew every frame.
    """

    def __init__(self, inner: Controller, correction: Correction) -> None:
        self._inner = inner
        self._correction = correction
        self._coming: JointCommands | None = None

    def restart(self) -> None:
        """Let the inner controller begin anew."""
        self._inner.restart()
        self._coming = None

    def close(self) -> None:
        """Close the inner controller."""
        self._inner.close()

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return one corrected row."""
        coming = self._inner.next(state, n) if self._coming is None else self._coming
        now = coming[:1]
        self._coming = coming[1:] if len(coming) > 1 else None
        return replace(now, angles=now.angles + self._correction(state))
