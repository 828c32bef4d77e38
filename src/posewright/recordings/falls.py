"""Falls: when a base is down for long, found block by block by a referee or in a whole recording at once.

What counts as down differs between a race, a walk and a motion: it is given as limits. How the rows are cut
into blocks does not change the answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.rotation import rotation_matrices, uprightness

SKY = np.array((0.0, 0.0, 1.0))
"""Up, where the field is level."""


def up_seen_from(base: Floats, up: Floats = SKY) -> Floats:
    """Return where up is, seen from a base x y z qw qx qy qz `(n, 7)`, as `(n, 3)`.

    `up` is straight against gravity in the field's frame, `(3,)`, unit length.
    """
    seen: Floats = np.einsum("...ji,j->...i", rotation_matrices(base[..., 3:]), up)
    return seen


def tilt(base: Floats, up: Floats = SKY) -> Floats:
    """Return the angle between a base's own z and up, `(n,)` [rad]: 0 upright, pi on its head."""
    seen = up_seen_from(base, up)
    return np.asarray(np.arctan2(np.hypot(seen[..., 0], seen[..., 1]), seen[..., 2]))


def side_of(way: Floats) -> str:
    """Return in words where a way `(3,)` in the base's frame leads: forward, back, to the left or right."""
    x, y, _ = way.tolist()
    if abs(x) >= abs(y):
        return "forward" if x > 0.0 else "back"
    return "to the left" if y > 0.0 else "to the right"


def runs(flags: Flags, *, bridge: int = 0) -> list[tuple[int, int]]:
    """Return begin and end (exclusive) of every run of true; gaps of up to `bridge` rows do not end one."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    found: list[tuple[int, int]] = []
    for begin, end in edges.reshape(-1, 2).tolist():
        if found and begin - found[-1][1] <= bridge:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found


@dataclass(frozen=True, slots=True)
class FallLimits:
    """What counts as a fall.

    Attributes:
        tilt_rad: a base tilted farther is down [rad].
        height_share: so is one lower than this share of the height it was first seen at; 0 for any height.
        lasting_s: time from the first row it is seen down to the last, from which on it has fallen [s].
        bridge_s: two such times are one if no more than this lies between the last row of the first and the
            first row of the second [s].
        ends_down: whether one that is down in the last row of all has fallen, however short a time.
    """

    tilt_rad: float
    height_share: float = 0.0
    lasting_s: float = 0.0
    bridge_s: float = 0.0
    ends_down: bool = False


@dataclass(frozen=True, slots=True)
class DownInterval:
    """A time a base was down without a break, first and last seen so; `end` is the row after its last."""

    since_s: float
    until_s: float
    begin: int
    end: int

    @property
    def lasting_s(self) -> float:
        """How long it was seen down [s]."""
        return self.until_s - self.since_s


class FallDetector:
    """Finds falls in rows that come in blocks of any size; `up` is as of `up_seen_from`."""

    def __init__(self, limits: FallLimits, *, up: Floats = SKY) -> None:
        self._limits = limits
        self._cos_tilt = math.cos(limits.tilt_rad)
        self._up = None if up is SKY else up
        self._low_m: float | None = None
        self._rows = 0
        self._is_down = False
        self._may_join = False
        self._spells: list[DownInterval] = []

    def down(self, base: Floats, upright: Floats | None = None) -> Flags:
        """Return in which rows a base x y z qw qx qy qz `(n, 7)` is down, `(n,)`; n is above 0.

        The first row ever seen sets the height; `upright` is the cosine of the tilts, where that is known.
        """
        if self._low_m is None:
            self._low_m = self._limits.height_share * float(base[0, 2])
        if upright is None:
            upright = (
                uprightness(base[:, 3:])
                if self._up is None
                else rotation_matrices(base[:, 3:])[..., 2] @ self._up
            )
        tilted = upright < self._cos_tilt
        return np.asarray(tilted | (base[:, 2] < self._low_m) if self._limits.height_share else tilted)

    def advance(self, times: Floats, base: Floats) -> DownInterval | None:
        """Look at some more rows, of times [s] and bases; return the fall they end in, if they do."""
        return self.add(times, self.down(base)) if len(times) else None

    def add(self, times: Floats, down: Flags) -> DownInterval | None:
        """Do what `advance` does where the caller says which rows are down, `(n,)`: by contacts, for one."""
        if not len(times):
            return None
        if down.any():
            for begin, end in runs(down):
                rows = self._rows + begin, self._rows + end
                self._join(DownInterval(float(times[begin]), float(times[end - 1]), *rows))
        self._is_down = bool(down[-1])
        self._rows += len(times)
        now = self._spells[-1] if self._is_down else None
        return now if now is not None and now.lasting_s >= self._limits.lasting_s else None

    def _join(self, spell: DownInterval) -> None:
        last = self._spells[-1] if self._may_join else None
        goes_on = last is not None and (
            last.end == spell.begin or spell.since_s - last.until_s <= self._limits.bridge_s
        )
        if last is not None and goes_on:
            self._spells[-1] = replace(last, until_s=spell.until_s, end=spell.end)
        else:
            self._spells.append(spell)
        self._may_join = True

    def forget(self) -> None:
        """Let the next row begin anew: somebody has put the robot on its feet."""
        self._may_join = False

    def falls(self, until_s: float = math.inf) -> list[DownInterval]:
        """Return all falls so far, as they looked at a time [s]."""
        seen = [replace(spell, until_s=min(spell.until_s, until_s)) for spell in self._spells]
        last = seen[-1] if seen and self._is_down and self._limits.ends_down else None
        return [spell for spell in seen if spell is last or spell.lasting_s >= self._limits.lasting_s]
