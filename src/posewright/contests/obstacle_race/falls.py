"""Falls in a race: where a fallen robot last stood, and which times it lay nobody answered."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats
from posewright.contests.obstacle_race.rules import FallRules
from posewright.recordings.falls import FallDetector, FallLimits, Spell
from posewright.rotation import heading, uprightness


def limits_of(rules: FallRules) -> FallLimits:
    """Return what the rules call a fall."""
    return FallLimits(rules.tilt_rad, rules.height_share, rules.lasting_s)


@dataclass(frozen=True, slots=True)
class LastStood:
    """Where a robot last stood: the middle between its soles, and where it looked, 0 along the field's x."""

    x_m: float
    y_m: float
    heading_rad: float


@dataclass(frozen=True, slots=True)
class Fall:
    """A fall: when the base went down, and where the robot last stood, which is the fall's direction."""

    since_s: float
    stood: LastStood


class FallWatch:
    """Watches a base; a fall is seen when it has been down for the rules' time without a break."""

    def __init__(self, rules: FallRules) -> None:
        self._cos_upright = math.cos(rules.upright_rad)
        self._detector = FallDetector(limits_of(rules))
        self._stood: tuple[Floats, Floats] | None = None

    def advance(self, times: Floats, base: Floats, footprints: Floats) -> Fall | None:
        """Look at some more frames; return a fall if there is one at their end.

        Of each: base x y z qw qx qy qz `(n, 7)`, sole corners in the field frame `(n, n_feet, 4, 3)` [m].
        """
        if not len(times):
            return None
        if self._stood is None:
            self._stood = base[0].copy(), footprints[0].copy()
        elif self._stands(base[-1]):  # nearly always; a time it was down within the block is over
            self._stood = base[-1].copy(), footprints[-1].copy()
            self._detector.forget()
            return None
        upright = uprightness(base[:, 3:])
        standing = (upright > self._cos_upright).nonzero()[0]
        if len(standing):
            self._stood = base[standing[-1]].copy(), footprints[standing[-1]].copy()
        spell = self._detector.add(times, self._detector.down(base, upright))
        return None if spell is None else Fall(spell.since_s, _last_stood(*self._stood))

    def _stands(self, base: Floats) -> bool:
        """Return whether a base `(7,)` is upright and not down, as `advance` finds it for many."""
        _, _, z, _, turn_x, turn_y, _ = base.tolist()
        upright = 1.0 - 2.0 * (turn_x * turn_x + turn_y * turn_y)
        return upright > self._cos_upright and not self._detector.is_down(z, upright)

    def forget(self) -> None:
        """Begin anew: somebody has put the robot on its feet."""
        self._detector.forget()


def _last_stood(base: Floats, footprints: Floats) -> LastStood:
    x, y = footprints[..., :2].reshape(-1, 2).mean(axis=0).tolist()
    return LastStood(x, y, float(heading(base[3:])))


def unanswered(spells: Sequence[Spell], times_s: Iterable[float], margin_s: float) -> list[Spell]:
    """Return the times a robot lay to which none of the times belongs.

    A time belongs to a spell from its beginning until `margin_s` after its end, or until the next begins.
    """
    at = np.sort(np.fromiter(times_s, dtype=np.float64))
    begins = np.array([spell.since_s for spell in spells])
    ends = np.minimum([spell.until_s + margin_s for spell in spells], np.append(begins[1:], np.inf))
    none = np.searchsorted(at, begins) == np.searchsorted(at, ends, side="right")
    return [spell for spell, alone in zip(spells, none.tolist(), strict=True) if alone]
