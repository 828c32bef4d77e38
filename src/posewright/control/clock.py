"""Clocks of a run: simulated time takes as long as it takes, real time is waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """How the frames of a run are paced."""

    @property
    def is_real(self) -> bool:
        """Whether frames are due at real times; a run then sends them one by one."""
        ...

    def wait_until(self, time_s: float) -> float:
        """Wait until a time of the run [s] has come; return how long ago that was already [s]."""
        ...


class SimulatedClock:
    """Never waits."""

    is_real = False

    def wait_until(self, time_s: float) -> float:  # noqa: ARG002 -- any time has come
        """Return at once: nobody is late."""
        return 0.0


class RealClock:
    """Waits for each frame; a run that is late goes on from there, nothing is hurried to catch up.

    Args:
        now: a clock that only runs forward [s], such as `time.monotonic`.
        sleep: waits for so long [s], such as `time.sleep`.
        tolerance_s: a run may be so late without being set back; one frame, say [s].
    """

    is_real = True

    def __init__(
        self, now: Callable[[], float], sleep: Callable[[float], None], tolerance_s: float = 1.0 / 128.0
    ) -> None:
        self._now, self._sleep, self._tolerance_s = now, sleep, tolerance_s
        self._zero_s: float | None = None

    def wait_until(self, time_s: float) -> float:
        """Wait until a time of the run has come; return how long ago that was already [s]."""
        now = self._now()
        if self._zero_s is None:
            self._zero_s = now - time_s
        late_s = now - self._zero_s - time_s
        if late_s < 0.0:
            self._sleep(-late_s)
            return 0.0
        if late_s >= self._tolerance_s:
            self._zero_s += late_s
        return late_s
