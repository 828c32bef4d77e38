"""Whatever decides: a behaviour, a gait, a motion, a robot's own old program, a person with a slider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from posewright.arrays import Floats
from posewright.bodies import BodyState, JointCommands
from posewright.errors import InputError


@runtime_checkable
class Controller(Protocol):
    """Decides what a robot is commanded."""

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the commands for the next frames, at least one row and at most `n`.

        The controller is asked again when its rows are used up: one that returns a single row sees the
        robot's state every frame, one that returns many costs nothing meanwhile.
        """
        ...


class Script:
    """A controller that commands what was laid down before, then holds the last frame.

    Raises:
        InputError: there is not a single frame.
    """

    def __init__(self, blocks: Sequence[JointCommands]) -> None:
        self._blocks = [block for block in blocks if len(block)]
        if not self._blocks:
            raise InputError("a script without a frame", hint="at least one row of angles")
        self._begun = 0

    def next(self, state: BodyState, n: int) -> JointCommands:  # noqa: ARG002 -- a script looks at nothing
        """Return the next rows of the script."""
        block = self._blocks[0]
        if self._begun == len(block):
            if len(self._blocks) == 1:
                return replace(block, angles=block.angles[-1:], decision=None)
            self._blocks, self._begun = self._blocks[1:], 0
            block = self._blocks[0]
        rows = block[self._begun : self._begun + n]
        self._begun += len(rows)
        return rows


Correction = Callable[[BodyState], Floats]
"""What is to be added to the commands of one frame, `(n_joints,)` [rad]."""


class Feedback:
    """A controller around another one: each frame it adds a correction made from the robot's state.

    Balance is one: `correction` turns the tilt that the IMU reads into angles of hips and ankles.

    Args:
        inner: decides what is commanded without the correction; it is asked as often as it would be alone.
        correction: made anew every frame.
    """

    def __init__(self, inner: Controller, correction: Correction) -> None:
        self._inner, self._correction = inner, correction
        self._coming: JointCommands | None = None

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return one corrected row."""
        coming = self._inner.next(state, n) if self._coming is None else self._coming
        now = coming[:1]
        self._coming = coming[1:] if len(coming) > 1 else None
        return replace(now, angles=now.angles + self._correction(state))
