"""The playhead: a time that advances while something plays."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from typing import Annotated

from posewright.documents import Bounds
from posewright.studio.requests import action
from posewright.studio.session import Panel, Session

MIN_SPEED = 0.05
MAX_SPEED = 16.0
Time = Annotated[float, Bounds(0.0, 86_400.0)]

END_TOLERANCE_S = 1e-9
"""A playhead closer than this to the end is at the end [s]."""


class Playhead(Panel, ABC):
    """Base class of panels that play something."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._time_s = 0.0
        self._speed = 1.0
        self._loops = False
        self._last_tick_s: float | None = None  # the clock's time at the last tick; None if it is paused

    @property
    def time_s(self) -> float:
        """Position of the playhead [s]."""
        return self._time_s

    @property
    @abstractmethod
    def _duration_s(self) -> float:
        """Duration of what is played [s]."""

    @abstractmethod
    def _show_at_playhead(self) -> None:
        """Show what is played at the time of the playhead, and publish that time."""

    def close(self) -> None:
        """Stop."""
        self._stop_ticking()

    @action
    def play(self) -> None:
        """Play from the playhead, or from the beginning if it is at the end."""
        if self._is_over():
            self._time_s = 0.0
        self._last_tick_s = time.monotonic()
        self._session.set_ticker(self.name, self._tick)
        self._show_at_playhead()

    @action
    def pause(self) -> None:
        """Pause."""
        self._stop_ticking()
        self._show_at_playhead()

    @action
    def seek(self, *, time_s: Time) -> None:
        """Move the playhead to a time."""
        self._time_s = min(time_s, self._duration_s)
        self._show_at_playhead()

    @action
    def manner(
        self, *, speed: Annotated[float, Bounds(MIN_SPEED, MAX_SPEED)] | None = None, loop: bool | None = None
    ) -> None:
        """Set the speed, and whether it starts again at the end; None leaves a setting unchanged."""
        if speed is not None:
            self._speed = speed
        if loop is not None:
            self._loops = loop
        self._show_at_playhead()

    def _is_over(self) -> bool:
        return self._time_s >= self._duration_s - END_TOLERANCE_S

    def _stop_ticking(self) -> None:
        self._last_tick_s = None
        self._session.set_ticker(self.name, None)

    def _tick(self, now_s: float) -> None:
        """Advance the playhead by the time passed since the last tick, and show it; pause at the end.

        Args:
            now_s: the time of `time.monotonic` [s].
        """
        if self._last_tick_s is None:
            return
        time_s = self._time_s + (now_s - self._last_tick_s) * self._speed
        end_s = self._duration_s
        self._last_tick_s = now_s
        if self._loops and end_s > 0.0:
            self._time_s = math.fmod(time_s, end_s)
        else:
            self._time_s = min(time_s, end_s)
        if self._is_over():
            self._stop_ticking()
        self._show_at_playhead()
