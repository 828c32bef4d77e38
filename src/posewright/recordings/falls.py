"""Detection of falls: intervals in which a base is down, in blocks of rows or a whole recording.

The limits of a fall differ between a race, a walk and a motion. The result does not depend on how rows are
split into blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.rotation import rotation_matrices, uprightness

LEVEL_UP = np.array((0.0, 0.0, 1.0))
"""The vertical in the frame of a level field."""

FALL_TILT_DEG = 60.0
"""A base tilted more is down [deg]; about the tilt at which a referee intervenes."""

FALL_SIDEWAYS_DEG = 40.0
"""A base tilted more to a side is down [deg]: an AIBO sits 38 deg back, but at 45 deg to a side it lies."""

TILTED_COS_SQUARED = math.cos(math.radians(FALL_TILT_DEG)) ** 2
SIDEWAYS_SIN_SQUARED = math.sin(math.radians(FALL_SIDEWAYS_DEG)) ** 2


class FallenSide(Enum):
    """The side on which a robot lies."""

    FRONT = "front"
    BACK = "back"
    SIDE = "side"


def find_fallen_side(x: float, y: float, z: float) -> FallenSide | None:
    """Return the side on which a robot lies, by `FALL_TILT_DEG` and `FALL_SIDEWAYS_DEG`; None if it is up.

    Args:
        x: forward component of the vertical in the base's frame, in any unit: an acceleration at rest, too.
        y: its component to the left.
        z: its component upwards.
    """
    length_squared = x * x + y * y + z * z
    is_tilted = z < 0.0 or z * z < TILTED_COS_SQUARED * length_squared
    if not is_tilted and y * y <= SIDEWAYS_SIN_SQUARED * length_squared:
        return None
    if abs(y) > abs(x):
        return FallenSide.SIDE
    return FallenSide.FRONT if x < 0.0 else FallenSide.BACK


def up_in_base_frame(base: Floats, up: Floats = LEVEL_UP) -> Floats:
    """Return the vertical in the base's frame, `(n, 3)`.

    Args:
        base: x y z qw qx qy qz, `(n, 7)`.
        up: opposite to gravity, a unit vector in the field's frame, `(3,)`.
    """
    local_up: Floats = np.einsum("...ji,j->...i", rotation_matrices(base[..., 3:]), up)
    return local_up


def tilt(base: Floats, up: Floats = LEVEL_UP) -> Floats:
    """Return the angle between a base's z axis and the vertical, 0 upright, pi upside down, `(n,)` [rad]."""
    local_up = up_in_base_frame(base, up)
    return np.asarray(np.arctan2(np.hypot(local_up[..., 0], local_up[..., 1]), local_up[..., 2]))


def describe_direction(direction: Floats) -> str:
    """Describe a direction `(3,)` in the base's frame: forward, back, to the left or to the right."""
    x, y, _ = direction.tolist()
    if abs(x) >= abs(y):
        return "forward" if x > 0.0 else "back"
    return "to the left" if y > 0.0 else "to the right"


def true_intervals(flags: Flags, *, max_gap: int = 0) -> list[tuple[int, int]]:
    """Return begin and end (exclusive) of every run of True; gaps of at most `max_gap` rows are ignored."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    intervals: list[tuple[int, int]] = []
    for begin, end in edges.reshape(-1, 2).tolist():
        if intervals:
            previous_begin, previous_end = intervals[-1]
            if begin - previous_end <= max_gap:
                intervals[-1] = (previous_begin, end)
                continue
        intervals.append((begin, end))
    return intervals


def longest_interval(intervals: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the longest of at least one interval, of equals the first; each has its begin and its end."""

    def length(interval: tuple[int, int]) -> int:
        begin, end = interval
        return end - begin

    return max(intervals, key=length)


@dataclass(frozen=True, slots=True)
class FallLimits:
    """The conditions of a fall.

    Attributes:
        tilt_rad: a base tilted more is down [rad].
        height_share: a base lower than this share of its first height is down; 0 to ignore the height.
        lasting_s: shortest time from the first to the last row down that is a fall [s].
        bridge_s: two intervals with at most this time between them are one [s].
        ends_down: whether a base that is down in the last row has fallen, however short the time.
    """

    tilt_rad: float
    height_share: float = 0.0
    lasting_s: float = 0.0
    bridge_s: float = 0.0
    ends_down: bool = False


@dataclass(frozen=True, slots=True)
class DownInterval:
    """An interval in which a base was down.

    Attributes:
        since_s: time of its first row [s].
        until_s: time of its last row [s].
        begin: its first row.
        end: the row after its last.
    """

    since_s: float
    until_s: float
    begin: int
    end: int

    @property
    def lasting_s(self) -> float:
        """Time from the first to the last row [s]."""
        return self.until_s - self.since_s


class FallDetector:
    """Detects falls in rows that are processed in blocks of any size.

    Args:
        limits: the conditions of a fall.
        up: the vertical, as for `up_in_base_frame`.
    """

    def __init__(self, limits: FallLimits, *, up: Floats = LEVEL_UP) -> None:
        """Begin before the first row."""
        self._limits = limits
        self._cos_tilt = math.cos(limits.tilt_rad)
        self._up_in_base = None if up is LEVEL_UP else up  # None computes the tilt faster
        self._height_limit_m: float | None = None  # set by the first row
        self._n_rows = 0
        self._is_down = False
        self._may_extend = False  # whether a new interval may continue the last one
        self._intervals: list[DownInterval] = []

    def find_down_rows(self, base: Floats, upright: Floats | None = None) -> Flags:
        """Return whether the base is down in each row, `(n,)`.

        Args:
            base: x y z qw qx qy qz, `(n, 7)`, at least one row. The first row ever sets the height.
            upright: cosine of the tilt in each row, `(n,)`, if the caller has it; None to compute it.
        """
        if self._height_limit_m is None:
            self._height_limit_m = self._limits.height_share * float(base[0, 2])
        if upright is None:
            if self._up_in_base is None:
                upright = uprightness(base[:, 3:])
            else:
                upright = rotation_matrices(base[:, 3:])[..., 2] @ self._up_in_base
        is_tilted = upright < self._cos_tilt
        if not self._limits.height_share:
            return np.asarray(is_tilted)
        return np.asarray(is_tilted | (base[:, 2] < self._height_limit_m))

    def advance(self, times: Floats, base: Floats) -> DownInterval | None:
        """Process further rows of times [s] and bases, and return the fall that they end in, if any."""
        return self.advance_flags(times, self.find_down_rows(base)) if len(times) else None

    def advance_flags(self, times: Floats, is_down: Flags) -> DownInterval | None:
        """Process further rows, of which is known in which of them the base is down.

        Args:
            times: the times of the rows, `(n,)` [s].
            is_down: as `find_down_rows` returns it, `(n,)`.

        Returns:
            The interval of the last row if the base is down there long enough for a fall; else None.
        """
        if not len(times):
            return None
        if is_down.any():  # a shortcut, as it rarely is
            for begin, end in true_intervals(is_down):
                self._add_interval(
                    DownInterval(
                        since_s=float(times[begin]),
                        until_s=float(times[end - 1]),
                        begin=self._n_rows + begin,
                        end=self._n_rows + end,
                    )
                )
        self._is_down = bool(is_down[-1])
        self._n_rows += len(times)
        if self._is_down and self._intervals[-1].lasting_s >= self._limits.lasting_s:
            return self._intervals[-1]
        return None

    def _add_interval(self, interval: DownInterval) -> None:
        """Extend the last interval if the new one continues it, else append the new one."""
        last = self._intervals[-1] if self._may_extend else None
        if last is not None and (
            last.end == interval.begin or interval.since_s - last.until_s <= self._limits.bridge_s
        ):
            self._intervals[-1] = replace(last, until_s=interval.until_s, end=interval.end)
        else:
            self._intervals.append(interval)
        self._may_extend = True

    def start_new_interval(self) -> None:
        """Let the next row down begin a new interval, after the robot was put on its feet."""
        self._may_extend = False

    def falls(self, until_s: float = math.inf) -> list[DownInterval]:
        """Return all falls so far, in order: the intervals that lasted long enough.

        With `ends_down` in the limits, the interval of the last row is included however short it is.

        Args:
            until_s: intervals are cut off at this time [s].
        """
        intervals = [
            replace(interval, until_s=min(interval.until_s, until_s)) for interval in self._intervals
        ]
        final = intervals[-1] if intervals and self._is_down and self._limits.ends_down else None
        return [
            interval
            for interval in intervals
            if interval is final or interval.lasting_s >= self._limits.lasting_s
        ]
