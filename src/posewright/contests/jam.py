"""Jams: a robot that stays in contact with a box or a wall and gets nowhere."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from posewright.arenas import Arena
from posewright.contests.rules import JamRules
from posewright.rotation import heading
from posewright.units import wrap_angle

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Jam:
    """A jam.

    Attributes:
        since_s: when the robot last got anywhere [s].
        box: the box it is jammed at, counted from 0; None for a wall.
    """

    since_s: float
    box: int | None


@dataclass(slots=True)
class _Hold:
    """The place a robot in contact has not left."""

    x_m: float
    y_m: float
    heading_rad: float
    since_s: float


class JamWatch:
    """Watches for contact without progress: no step away from a place, and no turn."""

    def __init__(self, rules: JamRules, arena: Arena) -> None:
        self._rules = rules
        self._arena = arena
        self._hold: _Hold | None = None
        self._touched_s = -math.inf
        self._box: int | None = None

    def advance(self, time_s: float, base: Floats, contacts: Flags) -> Jam | None:
        """Look at one more block.

        Args:
            time_s: at its end [s].
            base: x y z qw qx qy qz at its end, `(7,)`.
            contacts: boxes touched during it, `(n, n_boxes)`.
        """
        x_m, y_m = base[:2].tolist()
        if self._touches(x_m, y_m, contacts):
            self._touched_s = time_s
        if time_s - self._touched_s > self._rules.contact_gap_s:
            self._hold = None
            return None
        hold, heading_rad = self._hold, float(heading(base[3:]))
        if hold is None or self._left(hold, x_m, y_m, heading_rad):
            self._hold = _Hold(x_m, y_m, heading_rad, time_s)
            return None
        if time_s - hold.since_s < self._rules.lasting_s:
            return None
        return Jam(hold.since_s, self._box)

    def forget(self) -> None:
        """Begin anew: somebody has put the robot elsewhere."""
        self._hold, self._touched_s = None, -math.inf

    def _touches(self, x_m: float, y_m: float, contacts: Flags) -> bool:
        if contacts.any():
            self._box = int(contacts.any(axis=0).argmax())
            return True
        near = self._rules.wall_near_m
        room = min(x_m, self._arena.size_x - x_m, self._arena.size_y / 2.0 - abs(y_m))
        if room < near:
            self._box = None
            return True
        return False

    def _left(self, hold: _Hold, x_m: float, y_m: float, heading_rad: float) -> bool:
        turned = abs(wrap_angle(heading_rad - hold.heading_rad))
        away = math.hypot(x_m - hold.x_m, y_m - hold.y_m)
        return away > self._rules.radius_m or turned > self._rules.turn_rad
