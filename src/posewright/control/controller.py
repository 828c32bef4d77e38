"""Whatever decides what a robot is commanded."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from posewright.bodies import BodyState, JointCommands


@runtime_checkable
class Controller(Protocol):
    """Decides what a robot is commanded."""

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the commands for the next frames, at least one row and at most `n`.

        The controller is asked again when its rows are used up: one that returns a single row sees the
        robot's state every frame, one that returns many costs nothing meanwhile.
        """
