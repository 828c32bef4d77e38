"""The smallest upright block around points, and whether the points are that block or a cylinder."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from posewright.arenas.hulls import hull_outline
from posewright.arrays import Floats
from posewright.errors import InputError

EQUAL_M = 1e-3
"""Lengths that differ by less count as equal [m]."""

_RIM_TOLERANCE = 0.01
"""Share of the radius by which points of a rim may differ from it."""

_MIN_EXTENT_M = 1e-6
"""Points that extend less lie on a line, and a shorter edge has no direction [m]."""

_MIN_AREA_DIFFERENCE_M2 = 1e-9
"""Areas that differ by less are equal but for rounding [m2]."""

_MIN_RIM_POINTS = 8
"""A shape with at least so many points on its rim may be a cylinder."""


@dataclass(frozen=True, slots=True)
class BlockFit:
    """The smallest upright block around points.

    Attributes:
        x: the x of its middle [m].
        y: the y of its middle [m].
        base_m: height of its underside [m].
        size_m: edges along its own x, y and z [m].
        yaw_rad: its turn to the left [rad].
        is_block: whether the points are the corners of the block.
        is_round: whether they are those of a cylinder, whose diameter the first two edges are.
    """

    x: float
    y: float
    base_m: float
    size_m: tuple[float, float, float]
    yaw_rad: float
    is_block: bool
    is_round: bool


def fit_block(points: Floats) -> BlockFit:
    """Return the smallest upright block around points `(n, 3)` [m].

    The points are also compared with the block's corners, and with the rims of the upright cylinder in it.
    """
    base = float(points[:, 2].min())
    top = float(points[:, 2].max())
    distinct_points = np.unique(np.round(points[:, :2], 6), axis=0)
    yaw, low, high = _smallest_rectangle(distinct_points)
    cos = math.cos(yaw)
    sin = math.sin(yaw)
    axes = np.array([(cos, -sin), (sin, cos)])  # its columns are the rectangle's own x and y
    x, y = (axes @ ((low + high) / 2.0)).tolist()
    length, width = (high - low).tolist()

    # A block has all points at its corners, and a point at each of them.
    local = points[:, :2] @ axes
    is_at_corner = (np.minimum(np.abs(local - low), np.abs(local - high)) < EQUAL_M).all(axis=1)
    is_at_level = np.minimum(np.abs(points[:, 2] - base), np.abs(points[:, 2] - top)) < EQUAL_M
    octants = np.column_stack([local > (low + high) / 2.0, points[:, 2] > (base + top) / 2.0])
    n_corners = 8 if top - base > EQUAL_M else 4  # a flat block has four; a wedge lacks some
    has_all_corners = len(np.unique(octants, axis=0)) == n_corners
    is_block = bool((is_at_corner & is_at_level).all()) and has_all_corners

    # A cylinder has all points on its two rims, or in the middles of its ends.
    radii = np.hypot(points[:, 0] - x, points[:, 1] - y)
    radius = float(radii.max())
    tolerance = max(EQUAL_M, _RIM_TOLERANCE * radius)
    rim_points = np.unique(np.round(points[radii > radius - tolerance, :2], 4), axis=0)
    is_on_rim_or_axis = np.minimum(radii, np.abs(radii - radius)) < tolerance
    has_round_points = bool((is_at_level & is_on_rim_or_axis).all())
    is_round = not is_block and len(rim_points) >= _MIN_RIM_POINTS and has_round_points
    if is_round:
        length = 2.0 * radius
        width = 2.0 * radius
        yaw = 0.0
    size = (round(length, 4), round(width, 4), round(top - base, 4))
    return BlockFit(x, y, base_m=base, size_m=size, yaw_rad=yaw, is_block=is_block, is_round=is_round)


def _smallest_rectangle(points: Floats) -> tuple[float, Floats, Floats]:
    """Return the smallest rectangle around points `(n, 2)`: its yaw, and its low and high corner on its axes.

    One edge of it lies along an edge of the convex outline.
    """
    has_area = False
    if len(points) >= 3:
        *_, smallest_extent = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        has_area = smallest_extent > _MIN_EXTENT_M
    outline = hull_outline(points) if has_area else points
    edges = np.roll(outline, -1, axis=0) - outline
    edges = edges[np.hypot(*edges.T) > _MIN_EXTENT_M]
    yaws = np.arctan2(edges[:, 1], edges[:, 0]) if len(edges) else np.zeros(1)
    # a rectangle turned by a quarter turn is the same: from -pi/4 to pi/4
    yaws = np.unique(np.round((yaws + math.pi / 4.0) % (math.pi / 2.0) - math.pi / 4.0, 6))
    yaws = yaws[np.argsort(np.abs(yaws), kind="stable")]  # of equal rectangles the least turned one
    smallest: tuple[float, Floats, Floats] | None = None
    smallest_area = math.inf
    for yaw in yaws.tolist():
        cos = math.cos(yaw)
        sin = math.sin(yaw)
        local = outline @ np.array([(cos, -sin), (sin, cos)])
        low = local.min(axis=0)
        high = local.max(axis=0)
        area = float((high - low).prod())
        if smallest is None or area < smallest_area - _MIN_AREA_DIFFERENCE_M2:
            smallest = (yaw, low, high)
            smallest_area = area
    if smallest is None:
        raise InputError("a piece of the scene has no points")
    return smallest


def turn_longer_side_to_x(block: BlockFit) -> BlockFit:
    """Return the same block with its longer edge along its own x."""
    length, width, height = block.size_m
    if length >= width - EQUAL_M:
        return block
    return replace(block, size_m=(width, length, height), yaw_rad=block.yaw_rad + math.pi / 2.0)
