"""Falls in a race, as its referee sees them: where a fallen robot last stood."""

from __future__ import annotations

import math
from dataclasses import dataclass

from posewright.arrays import Floats
from posewright.contests.obstacle_race.rules import FallRules
from posewright.recordings.falls import FallDetector
from posewright.rotation import heading, uprightness


@dataclass(frozen=True, slots=True)
class Fall:
    """A fall: when the base went down, and where the robot last stood, between its soles, and looked.

    That heading, 0 along the field's x, is the fall's direction.
    """

    since_s: float
    x_m: float
    y_m: float
    heading_rad: float


class FallWatch:
    """Watches a base; a fall is seen when it has been down for the rules' time without a break."""

    def __init__(self, rules: FallRules) -> None:
        self._cos_upright = math.cos(rules.upright_rad)
        self._detector = FallDetector(rules.limits)
        self._stood: tuple[Floats, Floats] | None = None

    def advance(self, times: Floats, base: Floats, footprints: Floats) -> Fall | None:
        """Look at some more frames; return a fall if there is one at their end.

        Of each: base x y z qw qx qy qz `(n, 7)`, sole corners in the field frame `(n, n_feet, 4, 3)` [m].
        """
        if not len(times):
            return None
        if self._stood is None:
            self._stood = base[0].copy(), footprints[0].copy()
        upright = uprightness(base[:, 3:])
        standing = (upright > self._cos_upright).nonzero()[0]
        if len(standing):
            self._stood = base[standing[-1]].copy(), footprints[standing[-1]].copy()
        spell = self._detector.add(times, self._detector.down(base, upright))
        if spell is None:
            return None
        stood, soles = self._stood
        x, y = soles[..., :2].reshape(-1, 2).mean(axis=0).tolist()
        return Fall(spell.since_s, x, y, float(heading(stood[3:])))

    def forget(self) -> None:
        """Begin anew: somebody has put the robot on its feet."""
        self._detector.forget()
