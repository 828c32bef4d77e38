"""The interface of controllers."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from posewright.bodies import BodyState, JointCommands


@runtime_checkable
class Controller(Protocol):
    """Decides the commands of a robot: a behaviour, a gait, a robot's old program, a person with a slider.

    Your own class inherits `restart` and `close`, which most controllers do not need:

    ```python
    class Wave(Controller):
        def next(self, state, n):
            angles = state.positions.copy()
            angles[0] = 0.5 * math.sin(state.time_s)
            return JointCommands(angles[np.newaxis])
    ```
    """

    def next(self, state: BodyState, n: int) -> JointCommands:
        """Return the commands of the next frames, at least one row and at most `n`.

        The loop calls this again when the rows are used up: a controller that returns a single row sees the
        robot's state every frame; one that returns many rows costs less.
        """

    def restart(self) -> None:
        """Start again from the start pose, as at another attempt of a contest. Does nothing by default."""
        return

    def close(self) -> None:
        """Release resources, such as a serial line, after the run. Does nothing by default."""
        return
