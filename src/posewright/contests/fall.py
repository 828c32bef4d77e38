"""Falls: seen from the base, which tilts too far, or sinks too low, for too long."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posewright.contests.lying import DownGauge
from posewright.contests.rules import FallRules
from posewright.rotation import heading, uprightness

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LastStood:
    """Where a robot last stood.

    Attributes:
        x_m: of the middle between its soles [m].
        y_m: of the middle between its soles [m].
        heading_rad: where it looked: 0 along the field's x [rad].
    """

    x_m: float
    y_m: float
    heading_rad: float


@dataclass(frozen=True, slots=True)
class Fall:
    """A fall.

    Attributes:
        since_s: when the base went down [s].
        stood: where the robot last stood; its heading there is the fall's direction.
    """

    since_s: float
    stood: LastStood


class FallWatch:
    """Watches a base; a fall is seen when it has been down for the rules' time without a break."""

    def __init__(self, rules: FallRules) -> None:
        self._rules = rules
        self._gauge = DownGauge(rules)
        self._begun = False
        self._down_since_s: float | None = None
        self._stood: tuple[Floats, Floats] = (np.zeros(7), np.zeros((1, 4, 3)))

    def advance(self, times: Floats, base: Floats, footprints: Floats) -> Fall | None:
        """Look at some more frames; return a fall if there is one at their end.

        Args:
            times: `(n,)` [s].
            base: x y z qw qx qy qz, `(n, 7)`.
            footprints: sole corners in the field frame, `(n, n_feet, 4, 3)` [m].
        """
        if not len(times):
            return None
        if not self._begun:
            self._begun = True
            self._stands(base[0], footprints[0])
        upright = uprightness(base[:, 3:])
        standing = (upright > math.cos(self._rules.upright_rad)).nonzero()[0]
        if len(standing):
            self._stands(base[standing[-1]], footprints[standing[-1]])
        return self._verdict(times, self._gauge.down(base, upright))

    def forget(self) -> None:
        """Begin anew: somebody has put the robot on its feet."""
        self._down_since_s = None

    def _stands(self, base: Floats, footprints: Floats) -> None:
        self._stood = base.copy(), footprints.copy()

    def _last_stood(self) -> LastStood:
        base, footprints = self._stood
        x, y = footprints[..., :2].reshape(-1, 2).mean(axis=0).tolist()
        return LastStood(x, y, float(heading(base[3:])))

    def _verdict(self, times: Floats, down: NDArray[np.bool_]) -> Fall | None:
        if not down[-1]:
            self._down_since_s = None
            return None
        up = np.flatnonzero(~down)
        if len(up):
            self._down_since_s = float(times[up[-1] + 1])
        since = float(times[0]) if self._down_since_s is None else self._down_since_s
        self._down_since_s = since
        return Fall(since, self._last_stood()) if times[-1] - since >= self._rules.lasting_s else None
