"""Clocks that pace the frames of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """Paces the frames of a run."""

    @property
    def is_real(self) -> bool:
        """Whether frames are due at real times; a run then sends them one by one."""

    def restart(self) -> None:
        """Start a drive: the first time passed to `wait_until` is due at once."""

    def wait_until(self, time_s: float) -> None:
        """Wait for a time of the run [s]."""

    def delay(self, time_s: float, tolerance_s: float) -> float:
        """Return how late the plant has reached a time of the run [s]; a delay is reported once only.

        Args:
            time_s: the time of the run [s].
            tolerance_s: delays from this one on are reported once, and then forgotten [s].
        """


class SimulatedClock:
    """Never waits."""

    is_real = False

    def restart(self) -> None:
        """Do nothing: simulated frames are never due at a real time."""

    def wait_until(self, time_s: float) -> None:
        """Return at once."""

    def delay(self, time_s: float, tolerance_s: float) -> float:  # noqa: ARG002 -- never late
        """Return 0: simulated frames are never late."""
        return 0.0


class RealClock:
    """Waits for each frame. After a late frame the schedule shifts; no frames are hurried to catch up.

    Args:
        now: returns the time of a monotonic clock [s], such as `time.monotonic`.
        sleep: waits for a duration [s], such as `time.sleep`.

    Attributes:
        late_frames: number of delays of the tolerance or more.
        late_s: sum of these delays [s].
    """

    is_real = True

    def __init__(self, now: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._now = now
        self._sleep = sleep
        self._zero_s: float | None = None  # time by `now` at which the run's time is 0
        self.late_frames = 0
        self.late_s = 0.0

    def restart(self) -> None:
        """Start a drive: the first time waited for is due at once, so a pause before it is not a delay."""
        self._zero_s = None

    def wait_until(self, time_s: float) -> None:
        """Wait for a time of the run [s]; the first one after `restart` is due at once."""
        now_s = self._now()
        if self._zero_s is None:
            self._zero_s = now_s - time_s
        remaining_s = self._zero_s + time_s - now_s
        if remaining_s > 0.0:
            self._sleep(remaining_s)

    def delay(self, time_s: float, tolerance_s: float) -> float:
        """Return how late a time of the run is reached [s].

        A delay of the tolerance or more is counted, and shifts the schedule: the frames that follow are due
        later by as much.
        """
        delay_s = self._now() - (self._zero_s or 0.0) - time_s
        if delay_s >= tolerance_s and self._zero_s is not None:
            self._zero_s += delay_s
            self.late_frames += 1
            self.late_s += delay_s
        return delay_s
