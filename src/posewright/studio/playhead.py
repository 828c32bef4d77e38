"""The playhead: a time that goes on by itself while something plays."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from typing import Annotated

from posewright.documents import Bounds
from posewright.studio.requests import action
from posewright.studio.session import Panel, Session

SLOWEST = 0.05
FASTEST = 16.0
Time = Annotated[float, Bounds(0.0, 86_400.0)]


class Playhead(Panel, ABC):
    """Base of panels that play: each knows how long it lasts, and shows where the playhead is."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._time_s = 0.0
        self._speed = 1.0
        self._loops = False
        self._since: float | None = None  # the clock's time at the last tick; None while it rests

    @property
    def time_s(self) -> float:
        """Where the playhead is [s]."""
        return self._time_s

    @property
    @abstractmethod
    def _duration_s(self) -> float:
        """How long what is played lasts [s]."""

    @abstractmethod
    def _show(self) -> None:
        """Show where the playhead is."""

    def close(self) -> None:
        """Stop."""
        self._rest()

    @action
    def play(self) -> None:
        """Play from the playhead; from the beginning where it is at the end."""
        if self._is_over():
            self._time_s = 0.0
        self._since = time.monotonic()
        self._session.tick(self.name, self._tick)
        self._show()

    @action
    def pause(self) -> None:
        """Stop where the playhead is."""
        self._rest()
        self._show()

    @action
    def seek(self, *, time_s: Time) -> None:
        """Put the playhead there."""
        self._time_s = min(time_s, self._duration_s)
        self._show()

    @action
    def manner(
        self, *, speed: Annotated[float, Bounds(SLOWEST, FASTEST)] | None = None, loop: bool | None = None
    ) -> None:
        """Set how fast it plays, and whether it begins again at the end."""
        self._speed = self._speed if speed is None else speed
        self._loops = self._loops if loop is None else loop
        self._show()

    def _is_over(self) -> bool:
        return self._time_s >= self._duration_s - 1e-9

    def _rest(self) -> None:
        self._since = None
        self._session.tick(self.name, None)

    def _tick(self, now: float) -> None:
        if self._since is None:
            return
        time_s = self._time_s + (now - self._since) * self._speed
        end_s = self._duration_s
        self._since = now
        self._time_s = math.fmod(time_s, end_s) if self._loops and end_s > 0.0 else min(time_s, end_s)
        if self._is_over():
            self._rest()
        self._show()
