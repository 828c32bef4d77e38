"""Thresholds with hysteresis: from a number to true or false without flutter."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Threshold:
    """True below a limit, or with `above` true above it, and once true, true for a little longer.

    `below 0.35, hysteresis 0.05`: true as soon as the reading is under 0.35, false again as soon as it
    is over 0.40; in between it stays what it was. Before the first reading it is false.

    Attributes:
        limit: where it becomes true, in inner units.
        above: whether it is true above the limit.
        hysteresis: how far back the reading must go to make it false again, in inner units.
    """

    limit: float
    above: bool = False
    hysteresis: float = 0.0

    def holds(self, value: float, before: bool) -> bool:
        """Return whether it is true now, having been `before`; NaN changes nothing."""
        if math.isnan(value):
            return before
        over = value - self.limit if self.above else self.limit - value
        return over > 0.0 or (before and over >= -self.hysteresis)
