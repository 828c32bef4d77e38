"""How bright the floor of an arena is from place to place, by what is painted or stands on it."""

from __future__ import annotations

import math

from posewright.arenas import Arena, Shape
from posewright.simulation.arena_model import BARE_FLOOR, FLOOR

_WEIGHTS = (0.299, 0.587, 0.114)
"""Of red, green and blue in how bright a colour is: ITU-R BT.601."""


class FloorPaint:
    """What an arena's shapes make of its floor; boxes, which can be moved, are no part of it.

    Args:
        arena: whose floor it is; None for a bare one.
    """

    def __init__(self, arena: Arena | None) -> None:
        self._shapes: tuple[Shape, ...] = ()
        self._bare = _brightness(BARE_FLOOR)
        if arena is not None:
            self._shapes = tuple(sorted(arena.shapes, key=lambda shape: -shape.top_m))
            self._bare = _brightness(arena.colours[FLOOR])
            self._painted = {shape.name: _brightness(arena.colour_of(shape)) for shape in arena.shapes}

    def reflectance(self, x: float, y: float) -> float:
        """Return how bright the uppermost thing is there, 0..1."""
        shape = self._uppermost(x, y)
        return self._bare if shape is None else self._painted[shape.name]

    def height_m(self, x: float, y: float) -> float:
        """Return how high what one stands on is there [m]: paint has no height."""
        shape = self._uppermost(x, y)
        return 0.0 if shape is None or not shape.is_solid else shape.top_m

    def _uppermost(self, x: float, y: float) -> Shape | None:
        return next((shape for shape in self._shapes if _covers(shape, x, y)), None)


def _brightness(colour: tuple[float, float, float]) -> float:
    return sum(weight * part for weight, part in zip(_WEIGHTS, colour, strict=True))


def _covers(shape: Shape, x: float, y: float) -> bool:
    dx, dy = x - shape.x, y - shape.y
    if shape.is_round:
        return math.hypot(dx, dy) <= shape.size_m[0] / 2.0
    c, s = math.cos(shape.yaw_rad), math.sin(shape.yaw_rad)
    along, across = c * dx + s * dy, c * dy - s * dx
    return abs(along) <= shape.size_m[0] / 2.0 and abs(across) <= shape.size_m[1] / 2.0
