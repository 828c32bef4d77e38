"""A live window on a trial: shows every block and waits for real time to catch up."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from posewright.control import Block

if TYPE_CHECKING:
    from posewright.simulation import World


class Live:
    """Shows a world while it is simulated, no faster than real time.

    Raises:
        UnavailableError: there is no display.
    """

    def __init__(self, world: World) -> None:
        from posewright.simulation import LiveView

        self._view = LiveView(world)
        self._began: float | None = None

    def watch(self, block: Block) -> bool:
        """Show a block; return whether the person closed the window."""
        now = time.perf_counter()
        if self._began is None:
            self._began = now - block.state.time_s
        ahead_s = float(block.states.times[-1]) - (now - self._began)
        if ahead_s > 0.0:
            time.sleep(ahead_s)
        self._view.sync()
        return not self._view.is_open
