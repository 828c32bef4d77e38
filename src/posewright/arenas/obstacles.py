"""The fixed obstacles on a field: walls inside it, steps, rings and furniture, and distances from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from posewright.arenas.arena import WALLS, Arena, Shape
from posewright.arenas.hulls import hull_outline, place_hull
from posewright.arenas.rectangles import corners, point_distances
from posewright.arrays import Flags, Floats

HEADROOM_M = 0.5
"""A shape whose underside is this high is above every robot of the contests [m]."""


_MIN_HEIGHT_M = 1e-3
"""A shape that rises less above the floor is part of it, such as a ring let into the floor [m]."""


_ROUND_CORNERS = 48
"""Corners of the polygon that stands for a round shape: it is at most 0.2 % of the radius smaller."""

_MIN_EDGE_M = 1e-9


def fixed_obstacles(arena: Arena, below_m: float = HEADROOM_M) -> tuple[Shape, ...]:
    """Return the solid shapes that stand on a field, without the walls at its edges.

    Args:
        arena: the field.
        below_m: shapes whose underside is at least this high are left out [m].
    """
    return tuple(
        shape
        for shape in arena.shapes
        if shape.is_solid
        and shape.name not in WALLS
        and shape.base_m < below_m
        and shape.top_m > _MIN_HEIGHT_M
    )


def obstacle_distances(points: ArrayLike, arena: Arena) -> Floats:
    """Return the distance of points `(n, 2)` from the fixed obstacles, `(n, n_obstacles)` [m]; 0 inside."""
    point_array = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    obstacles = fixed_obstacles(arena)
    distances = np.empty((len(point_array), len(obstacles)))
    for column, shape in enumerate(obstacles):
        distances[:, column] = _shape_distances(point_array, shape)
    return distances


def overlap_depth(pose: tuple[float, float, float], size_m: tuple[float, float], shape: Shape) -> float:
    """Return how deep a rectangle on the floor is in a shape, seen from above [m]; 0 if it is outside.

    Args:
        pose: x, y [m] and yaw [rad] of the rectangle's middle.
        size_m: its edges along its own x and y [m].
        shape: the shape.
    """
    if shape.is_round:
        radius_m = shape.size_m[0] / 2.0
        gap = float(point_distances([(shape.x, shape.y)], [pose], size_m)[0, 0]) - radius_m
        return max(0.0, -gap)
    return max(0.0, -_widest_gap(corners([pose], size_m)[0], shape_outline(shape)))


def _widest_gap(first: Floats, second: Floats) -> float:
    """Return the widest gap between two convex outlines along their normals [m]; negative if they overlap.

    By the separating axis theorem, the widest gap decides.
    """
    normals = np.concatenate([_edge_normals(first), _edge_normals(second)])
    first_projections = first @ normals.T
    second_projections = second @ normals.T
    gaps = np.maximum(
        first_projections.min(axis=0) - second_projections.max(axis=0),
        second_projections.min(axis=0) - first_projections.max(axis=0),
    )
    return float(gaps.max())


def outline_distance(first: Floats, second: Floats) -> float:
    """Return the distance of two convex outlines, `(n, 2)` and `(m, 2)` [m]; 0 if they overlap."""
    if _widest_gap(first, second) <= 0.0:
        return 0.0
    return min(_vertex_distance(first, second), _vertex_distance(second, first))


def _vertex_distance(vertices: Floats, outline: Floats) -> float:
    """Return the least distance of some points `(n, 2)` from the edges of an outline `(m, 2)` [m]."""
    edges = np.roll(outline, -1, axis=0) - outline
    offsets = vertices[:, None] - outline
    shares = (offsets * edges).sum(axis=-1) / np.maximum((edges**2).sum(axis=-1), _MIN_EDGE_M**2)
    nearest = outline + np.clip(shares, 0.0, 1.0)[..., None] * edges
    return float(np.linalg.norm(vertices[:, None] - nearest, axis=-1).min())


def obstacle_outline(shape: Shape) -> Floats:
    """Return the outline of any shape seen from above, a round one as a polygon, `(n, 2)` [m]."""
    if not shape.is_round:
        return shape_outline(shape)
    angles = np.linspace(0.0, 2.0 * np.pi, _ROUND_CORNERS, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return np.asarray((shape.x, shape.y) + shape.size_m[0] / 2.0 * circle)


def shape_outline(shape: Shape) -> Floats:
    """Return the outline of a block or hull seen from above, counter-clockwise, `(n, 2)` [m]."""
    if shape.hull_m:
        placed = place_hull(shape.hull_m, shape.x, shape.y, shape.base_m, shape.yaw_rad)
        return hull_outline(placed[:, :2])
    outline: Floats = corners([(shape.x, shape.y, shape.yaw_rad)], shape.size_m[:2])[0]
    return outline


def _shape_distances(points: Floats, shape: Shape) -> Floats:
    """Return the distance of each point `(n, 2)` from a shape, `(n,)` [m]; 0 inside."""
    if shape.is_round:
        offsets = points - (shape.x, shape.y)
        return np.maximum(np.hypot(offsets[:, 0], offsets[:, 1]) - shape.size_m[0] / 2.0, 0.0)
    if not shape.hull_m:
        pose = (shape.x, shape.y, shape.yaw_rad)
        return np.asarray(point_distances(points, [pose], shape.size_m[:2])[:, 0])
    outline = shape_outline(shape)
    edges = np.roll(outline, -1, axis=0) - outline
    offsets = points[:, None, :] - outline  # from the begin of each edge, (n, n_edges, 2)
    shares = np.clip((offsets * edges).sum(axis=-1) / (edges**2).sum(axis=-1), 0.0, 1.0)
    nearest = np.linalg.norm(offsets - shares[..., None] * edges, axis=-1).min(axis=1)
    is_left: Flags = edges[:, 0] * offsets[..., 1] - edges[:, 1] * offsets[..., 0] >= 0.0
    return np.where(is_left.all(axis=1), 0.0, nearest)


def _edge_normals(outline: Floats) -> Floats:
    """Return a unit normal of each edge of an outline, `(n, 2)`."""
    edges = np.roll(outline, -1, axis=0) - outline
    lengths = np.linalg.norm(edges, axis=1, keepdims=True)
    return np.asarray(np.stack([edges[:, 1], -edges[:, 0]], axis=1) / lengths)
