"""The least upright block around points, and whether they are that block."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from posewright.arenas.hulls import hull_outline
from posewright.arrays import Floats
from posewright.errors import InputError

EXACT_M = 1e-3
"""What differs by less is the same [m]."""

_ROUND_CORNERS = 8
"""From so many corners on its rim on, what is round is meant to be."""


@dataclass(frozen=True, slots=True)
class Block:
    """The upright block around a piece, and whether it is that block, or round."""

    x: float
    y: float
    base_m: float
    size_m: tuple[float, float, float]
    yaw_rad: float
    is_block: bool
    is_round: bool


def fit_block(points: Floats) -> Block:
    """Return the least upright block around points `(n, 3)`, and whether they are its corners."""
    base, top = float(points[:, 2].min()), float(points[:, 2].max())
    flat = np.unique(np.round(points[:, :2], 6), axis=0)
    yaw, low, high = _least_rectangle(flat)
    cos, sin = math.cos(yaw), math.sin(yaw)
    across = np.array([(cos, -sin), (sin, cos)])  # from the block's own axes to the scene's
    x, y = (across @ ((low + high) / 2.0)).tolist()
    length, width = (high - low).tolist()
    own = points[:, :2] @ across
    at_corner = (np.minimum(np.abs(own - low), np.abs(own - high)) < EXACT_M).all(axis=1)
    at_level = np.minimum(np.abs(points[:, 2] - base), np.abs(points[:, 2] - top)) < EXACT_M
    reach = np.hypot(points[:, 0] - x, points[:, 1] - y)
    rim = reach > reach.max() - max(EXACT_M, 0.01 * float(reach.max()))
    on_rim = len(np.unique(np.round(points[rim, :2], 4), axis=0))
    ends = np.column_stack([own > (low + high) / 2.0, points[:, 2] > (base + top) / 2.0])
    corners = 8 if top - base > EXACT_M else 4  # a wedge has only some of them
    is_block = bool((at_corner & at_level).all()) and len(np.unique(ends, axis=0)) == corners
    centred = np.minimum(reach, np.abs(reach - reach.max())) < max(EXACT_M, 0.01 * float(reach.max()))
    is_round = not is_block and on_rim >= _ROUND_CORNERS and bool((at_level & centred).all())
    if is_round:
        length = width = 2.0 * float(reach.max())
        yaw = 0.0
    size = (round(length, 4), round(width, 4), round(top - base, 4))
    return Block(x, y, base, size, yaw, is_block, is_round)


def _least_rectangle(flat: Floats) -> tuple[float, Floats, Floats]:
    """Return the yaw of the least rectangle around points `(n, 2)`, and its ends on its own axes."""
    is_area = len(flat) >= 3 and np.linalg.svd(flat - flat.mean(axis=0), compute_uv=False)[-1] > 1e-6
    outline = hull_outline(flat) if is_area else flat
    edges = np.roll(outline, -1, axis=0) - outline
    edges = edges[np.hypot(*edges.T) > 1e-6]
    turns = np.arctan2(edges[:, 1], edges[:, 0]) if len(edges) else np.zeros(1)
    turns = np.unique(np.round((turns + math.pi / 4.0) % (math.pi / 2.0) - math.pi / 4.0, 6))
    turns = turns[np.argsort(np.abs(turns), kind="stable")]  # of equal ones the least turned
    best: tuple[float, Floats, Floats] | None = None
    least = math.inf
    for yaw in turns.tolist():
        cos, sin = math.cos(yaw), math.sin(yaw)
        own = outline @ np.array([(cos, -sin), (sin, cos)])
        low, high = own.min(axis=0), own.max(axis=0)
        area = float((high - low).prod())
        if best is None or area < least - 1e-9:
            best, least = (yaw, low, high), area
    if best is None:
        raise InputError("a piece without points")
    return best


def lengthwise(block: Block) -> Block:
    """Return the same block with its longer edge along its own x."""
    length, width, height = block.size_m
    if length >= width - EXACT_M:
        return block
    return replace(block, size_m=(width, length, height), yaw_rad=block.yaw_rad + math.pi / 2.0)
