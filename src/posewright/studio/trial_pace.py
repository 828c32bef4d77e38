"""The pace of a trial that is watched while it runs."""

from __future__ import annotations

import threading
import time
from concurrent.futures import CancelledError

from posewright.control import Block

HURRY_S = 0.5
"""A trial that fell behind its clock by more goes on from there: nothing is hurried to catch up."""

_POLL_S = 0.02


class Pace:
    """Paces a trial so that it can be watched: a clock of `drive`, and a watcher that ends the run.

    Attributes:
        speed: seconds of the trial a second.
        is_paused: whether it waits.
    """

    is_real = False

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self.is_paused = False
        self._stopped, self._is_dropped = threading.Event(), False
        self._told_s = self._due = 0.0

    def wait_until(self, time_s: float) -> None:
        """Wait until a time of the trial has come, as fast as it is to go now."""
        self._due = max(self._due, time.monotonic() - HURRY_S) + (time_s - self._told_s) / self.speed
        self._told_s = time_s
        while self.is_paused or time.monotonic() < self._due:
            if self._stopped.wait(_POLL_S):
                return
            if self.is_paused:
                self._due = time.monotonic()

    def delay(self, time_s: float, tolerance_s: float) -> float:
        """Return 0: nobody is late."""
        return 0.0

    def watch(self, block: Block) -> bool:
        """Tell whether it is to end; a CancelledError where nobody wants to know what came of it."""
        if self._is_dropped:
            raise CancelledError
        return self._stopped.is_set()

    def stop(self) -> None:
        """End the trial after the block that is under way."""
        self._stopped.set()

    def drop(self) -> None:
        """End it there too, and let nobody judge it."""
        self._is_dropped = True
        self.stop()
