"""Tells doors of frames without ever waiting for one: each has a thread of its own and a short queue."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress

from posewright.bodies import BodyState, JointCommands
from posewright.links.served.door import Door

WAITING = 16
"""So many frames wait for a door; what comes besides is missed by its observers, and counted."""

PATIENCE_S = 0.5
"""How long a door may still take when all is over [s]."""


class Publisher:
    """Hands frames to a door in a thread of its own.

    A door that is slow misses frames, one that is stuck all of them: neither is waited for.

    Attributes:
        missed: frames that the door had no time for.
    """

    def __init__(self, door: Door, patience_s: float = PATIENCE_S) -> None:
        self.missed = 0
        self._door, self._patience_s = door, patience_s
        self._queue: queue.Queue[tuple[BodyState, JointCommands] | None] = queue.Queue(WAITING)
        self._thread = threading.Thread(target=self._work, name="observers", daemon=True)
        self._thread.start()

    def publish(self, state: BodyState, commands: JointCommands) -> None:
        """Queue a frame, or count it as missed."""
        try:
            self._queue.put_nowait((state, commands))
        except queue.Full:
            self.missed += 1

    def close(self) -> None:
        """End the thread; one that is stuck in its door is left behind, and ends with the program."""
        with suppress(queue.Full):
            self._queue.put(None, timeout=self._patience_s)
        self._thread.join(self._patience_s)

    def _work(self) -> None:
        while (frame := self._queue.get()) is not None:
            self._door.publish(*frame)
