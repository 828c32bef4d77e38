"""Brightness and height of an arena's floor at a point, for sensors that look down."""

from __future__ import annotations

import math

from posewright.arenas import Arena, Shape
from posewright.simulation.arena_model import BARE_FLOOR, FLOOR

_LUMA_WEIGHTS = (0.299, 0.587, 0.114)
"""Weights of red, green and blue in a colour's brightness: ITU-R BT.601."""


class FloorPaint:
    """The floor of an arena with the shapes painted or standing on it, without the movable boxes.

    Args:
        arena: the arena; None for a bare floor.
    """

    def __init__(self, arena: Arena | None) -> None:
        self._shapes: tuple[Shape, ...] = ()  # the highest first
        self._brightness_of_shape: dict[str, float] = {}
        self._floor_brightness = _brightness(BARE_FLOOR)
        if arena is not None:
            self._shapes = tuple(sorted(arena.shapes, key=lambda shape: -shape.top_m))
            self._floor_brightness = _brightness(arena.colours[FLOOR])
            self._brightness_of_shape = {
                shape.name: _brightness(arena.colour_of(shape)) for shape in arena.shapes
            }

    def reflectance(self, x: float, y: float) -> float:
        """Return the brightness of the uppermost surface at a point, 0..1."""
        shape = self._uppermost_shape(x, y)
        return self._floor_brightness if shape is None else self._brightness_of_shape[shape.name]

    def height_m(self, x: float, y: float) -> float:
        """Return the height of the ground at a point [m]; painted shapes have no height."""
        shape = self._uppermost_shape(x, y)
        return 0.0 if shape is None or not shape.is_solid else shape.top_m

    def _uppermost_shape(self, x: float, y: float) -> Shape | None:
        return next((shape for shape in self._shapes if _covers(shape, x, y)), None)


def _brightness(colour: tuple[float, float, float]) -> float:
    """Return the brightness of a colour, 0..1."""
    return sum(weight * channel for weight, channel in zip(_LUMA_WEIGHTS, colour, strict=True))


def _covers(shape: Shape, x: float, y: float) -> bool:
    """Return whether a point of the floor lies in a shape."""
    dx = x - shape.x
    dy = y - shape.y
    if shape.is_round:
        return math.hypot(dx, dy) <= shape.size_m[0] / 2.0
    c = math.cos(shape.yaw_rad)
    s = math.sin(shape.yaw_rad)
    local_x = c * dx + s * dy
    local_y = c * dy - s * dx
    return abs(local_x) <= shape.size_m[0] / 2.0 and abs(local_y) <= shape.size_m[1] / 2.0
