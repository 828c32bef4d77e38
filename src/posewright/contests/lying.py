"""Lying: of every row whether the base is down, and when it stayed down for long."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posewright.contests.rules import FallRules
from posewright.rotation import uprightness

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Lying:
    """A time the robot lay without a break.

    Attributes:
        since_s: first seen down [s].
        until_s: last seen down [s].
    """

    since_s: float
    until_s: float


class DownGauge:
    """Tells whether a base is down: tilted too far, or too low against the height it began at."""

    def __init__(self, rules: FallRules) -> None:
        self._cos_tilt = math.cos(rules.tilt_rad)
        self._height_share = rules.height_share
        self._low_m: float | None = None

    def down(self, base: Floats, upright: Floats | None = None) -> Flags:
        """Return which rows are down.

        Args:
            base: x y z qw qx qy qz, `(n, 7)`, n above 0; the first row ever seen sets the height.
            upright: the cosine of its tilt, where it is known already, `(n,)`.
        """
        if self._low_m is None:
            self._low_m = self._height_share * float(base[0, 2])
        tilt = uprightness(base[:, 3:]) if upright is None else upright
        return np.asarray((tilt < self._cos_tilt) | (base[:, 2] < self._low_m))


class LyingWatch:
    """Notes every time the robot lay; the answer does not depend on how the rows are cut into calls.

    Nobody asks for it before the race is over, so the rows are only looked at then, all at once.
    """

    def __init__(self, rules: FallRules) -> None:
        self._gauge = DownGauge(rules)
        self._lasting_s = rules.lasting_s
        self._unseen: list[tuple[Floats, Floats]] = []
        self._spells: list[Lying] = []
        self._is_down = False

    def advance(self, times: Floats, base: Floats) -> None:
        """Take some more rows; they are copied.

        Args:
            times: `(n,)` [s].
            base: x y z qw qx qy qz, `(n, 7)`.
        """
        if len(times):
            self._unseen.append((times.copy(), base.copy()))

    def _look(self) -> None:
        """Look at the rows that nobody has looked at."""
        if not self._unseen:
            return
        times, base = (np.concatenate(column) for column in zip(*self._unseen, strict=True))
        self._unseen.clear()
        down = self._gauge.down(base)
        if down.any():
            for first, last in _runs(down):
                since = float(times[first])
                if first == 0 and self._is_down:
                    since = self._spells.pop().since_s
                self._spells.append(Lying(since, float(times[last])))
        self._is_down = bool(down[-1])

    def until(self, end_s: float) -> list[Lying]:
        """Return the times before `end_s` that lasted for as long as a fall does."""
        self._look()
        seen = [Lying(spell.since_s, min(spell.until_s, end_s)) for spell in self._spells]
        return [spell for spell in seen if spell.until_s - spell.since_s >= self._lasting_s]


def unanswered(spells: Sequence[Lying], times_s: Iterable[float], margin_s: float) -> list[Lying]:
    """Return the spells to which none of the times belongs.

    A time belongs to a spell from its beginning until `margin_s` after its end, or until the next begins.
    """
    at = np.sort(np.fromiter(times_s, dtype=np.float64))
    begins = np.array([spell.since_s for spell in spells])
    ends = np.minimum([spell.until_s + margin_s for spell in spells], np.append(begins[1:], np.inf))
    none = np.searchsorted(at, begins) == np.searchsorted(at, ends, side="right")
    return [spell for spell, alone in zip(spells, none.tolist(), strict=True) if alone]


def _runs(flags: Flags) -> list[tuple[int, int]]:
    """Return the first and last index of every run of true flags."""
    steps = np.diff(np.concatenate([[0], flags.astype(np.int8), [0]]))
    starts, stops = (steps > 0).nonzero()[0], (steps < 0).nonzero()[0] - 1
    return list(zip(starts.tolist(), stops.tolist(), strict=True))
