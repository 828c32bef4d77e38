"""Where a touched robot is put: at the same place, or as near to it as a hand finds room."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from posewright.arenas import Arena, point_distances
from posewright.contests.attitude import heading, uprightness
from posewright.units import wrap_angle

Floats = NDArray[np.float64]

_RING_M = 0.01
_RINGS = 60
_DIRECTIONS = 72
_LYING = 0.5
"""Below this cosine of its tilt a box lies on its side."""


def clear_place(
    x_m: float, y_m: float, boxes: Floats, arena: Arena, *, clearance_m: float, forward: float
) -> tuple[float, float]:
    """Return the nearest place with room around it.

    Of two equally near ones the one further back is taken, so that being put back gains nothing. Where
    there is no room anywhere near, the roomiest place is taken.

    Args:
        x_m: of the wanted place [m].
        y_m: of the wanted place [m].
        boxes: poses x y z qw qx qy qz, `(n_boxes, 7)`.
        arena: the field.
        clearance_m: room needed to every box and wall [m].
        forward: +1 where the leg leads along the field's x, -1 where it leads back.
    """
    points = np.array([x_m, y_m]) + _offsets(forward)
    room = _room(points, boxes, arena)
    enough = room >= clearance_m
    best = points[int(enough.argmax() if enough.any() else room.argmax())]
    return float(best[0]), float(best[1])


def turned_towards(heading_rad: float, goal_rad: float, at_most_rad: float) -> float:
    """Return `heading_rad` turned towards the goal, by no more than is allowed [rad]."""
    off = wrap_angle(goal_rad - heading_rad)
    return wrap_angle(heading_rad + math.copysign(min(abs(off), at_most_rad), off))


def _offsets(forward: float) -> Floats:
    """Return offsets around a place, nearest first and of those the furthest back first `(n, 2)` [m]."""
    angles = np.arange(_DIRECTIONS) * 2.0 * np.pi / _DIRECTIONS
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    ring = ring[np.lexsort((np.abs(angles - np.pi), forward * ring[:, 0].round(9)))]
    radii = _RING_M * np.arange(1, _RINGS + 1)
    return np.concatenate([np.zeros((1, 2)), (radii[:, None, None] * ring).reshape(-1, 2)])


def _room(points: Floats, boxes: Floats, arena: Arena) -> Floats:
    """Return how far each point is from the nearest box or wall, negative outside the field `(n,)` [m]."""
    x, y = points[:, 0], points[:, 1]
    room = np.minimum.reduce([x, arena.size_x - x, arena.size_y / 2.0 - np.abs(y)])
    if len(boxes):
        room = np.minimum(room, point_distances(points, *_shadows(boxes, arena)).min(axis=1))
    return np.asarray(room)


def _shadows(boxes: Floats, arena: Arena) -> tuple[Floats, Floats]:
    """Return what standing and lying boxes cover of the floor: places `(n, 3)` and sizes `(n, 2)`."""
    length, width, height = arena.box_size
    w, qx, qy, qz = np.moveaxis(boxes[:, 3:], -1, 0)
    lying = np.abs(uprightness(boxes[:, 3:])) < _LYING
    tipped = np.arctan2(2.0 * (qy * qz - w * qx), 2.0 * (qx * qz + w * qy))
    yaw = np.where(lying, tipped, heading(boxes[:, 3:]))
    sizes = np.where(lying[:, None], (height, max(length, width)), (length, width))
    return np.column_stack([boxes[:, :2], yaw]), sizes
