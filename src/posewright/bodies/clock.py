"""Clocks: how the frames of a run are paced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """How the frames of a run are paced."""

    @property
    def is_real(self) -> bool:
        """Whether frames are due at real times; a run then sends them one by one."""

    def restart(self) -> None:
        """Begin a drive: its first frame is due when it is waited for, however long after the last drive."""

    def wait_until(self, time_s: float) -> None:
        """Wait until a time of the run [s] has come."""

    def delay(self, time_s: float, tolerance_s: float) -> float:
        """Return how long ago a time of the run was [s]; a delay beyond the tolerance is returned once."""


class SimulatedClock:
    """Never waits."""

    is_real = False

    def restart(self) -> None:
        """Do nothing: no frame is ever due."""

    def wait_until(self, time_s: float) -> None:
        """Return at once."""

    def delay(self, time_s: float, tolerance_s: float) -> float:  # noqa: ARG002 -- any time has come
        """Return 0: nobody is late."""
        return 0.0


class RealClock:
    """Waits for each frame; a run that is late goes on from there, nothing is hurried to catch up.

    Args:
        now: a clock that only runs forward [s], such as `time.monotonic`.
        sleep: waits for so long [s], such as `time.sleep`.

    Attributes:
        late_frames: how many times a delay was beyond the tolerance.
        late_s: how much time these delays cost together [s].
    """

    is_real = True

    def __init__(self, now: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._now = now
        self._sleep = sleep
        self._zero_s: float | None = None  # of the run's time, by `now`
        self.late_frames = 0
        self.late_s = 0.0

    def restart(self) -> None:
        """Begin a drive: its first frame is due when it is waited for, so a pause before it is not late."""
        self._zero_s = None

    def wait_until(self, time_s: float) -> None:
        """Wait until a time of the run has come; the first one has come when it is asked for."""
        now = self._now()
        if self._zero_s is None:
            self._zero_s = now - time_s
        ahead_s = self._zero_s + time_s - now
        if ahead_s > 0.0:
            self._sleep(ahead_s)

    def delay(self, time_s: float, tolerance_s: float) -> float:
        """Return how long ago a time of the run was [s]; beyond the tolerance the run goes on from now."""
        delay_s = self._now() - (self._zero_s or 0.0) - time_s
        if delay_s >= tolerance_s and self._zero_s is not None:
            self._zero_s += delay_s
            self.late_frames += 1
            self.late_s += delay_s
        return delay_s
