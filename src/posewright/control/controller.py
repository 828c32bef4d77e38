"""Whatever decides what a robot is commanded."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from posewright.bodies import BodyState, JointCommands


@runtime_checkable
class Controller(Protocol):
    """Decides what a robot is commanded: a behaviour, a gait, a robot's old program, a person with a slider.

    A class of one's own inherits the two methods that most have no use for:

    ```python
    class Wave(Controller):
        def next(self, state, n):
            angles = state.positions.copy()
            angles[0] = 0.5 * math.sin(state.time_s)
            return JointCommands(angles[np.newaxis])
    ```
    """

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the commands for the next frames, at least one row and at most `n`.

        The controller is asked again when its rows are used up: one that returns a single row sees the
        robot's state every frame, one that returns many costs nothing meanwhile.
        """

    def restart(self) -> None:
        """Begin anew from the start pose: the referee begins another try. Does nothing by default."""
        return

    def close(self) -> None:
        """Release what the controller holds, a serial line say: the run is over. Does nothing by default."""
        return
