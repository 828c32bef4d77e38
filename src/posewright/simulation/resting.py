"""How a robot comes to rest that does not stand on flat soles: on paws, on its belly, or sitting.

What may touch the floor is a set of balls. Three of them carry a robot, where the plane that touches all
three from below has no ball under it, and the centre of mass lies over the triangle they touch it at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.arrays import Floats, Indices
from posewright.simulation.arena_model import FLOOR

if TYPE_CHECKING:
    from posewright.simulation.instance import ModelInstance

_N_DIRECTIONS = 4096
"""Directions tried for which balls can be lowest at all: 1.5 degrees from one to the next."""

_LEAST_UP = 0.25
"""A robot put down may lean by 75 degrees, but not lie on its back."""

_TOUCHING_M = 1e-6
_FLAT_M2 = 1e-8
"""A triangle this small [m^2] carries nothing."""

_CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
_ENDS = np.array([(0, 0, -1), (0, 0, 1)], dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Supports:
    """Balls whose convex hull is that of a robot: their centres `(n, 3)` and radii `(n,)` [m]."""

    centres: Floats
    radii: Floats

    def heights(self, up: Floats) -> Floats:
        """Return how high the lowest point of each ball is along `up` `(..., 3)`: `(..., n)` [m]."""
        return np.asarray(up @ self.centres.T - self.radii)


def find_supports(one: ModelInstance) -> Supports:
    """Return what of the robot may touch the floor, as it stands now, in the field frame.

    Spheres, capsules and boxes are exact; of any other shape, the corners of the box around it count.
    """
    model, data = one.model, one.data
    centres, radii, floor = [], [], int(model.geom(FLOOR).id)
    kind, stops = int(model.geom_contype[floor]), int(model.geom_conaffinity[floor])
    touches = ((model.geom_contype & stops) | (model.geom_conaffinity & kind)) != 0
    for geom in np.flatnonzero(one.own_geoms() & touches).tolist():
        points, radius = _balls(model, geom)
        centres.append(data.geom_xpos[geom] + points @ data.geom_xmat[geom].reshape(3, 3).T)
        radii.append(np.full(len(points), radius))
    return Supports(np.concatenate(centres), np.concatenate(radii))


def _balls(model: Any, geom: int) -> tuple[Floats, float]:
    """Return the balls that bound a geom: their centres in its frame, `(k, 3)`, and their radius [m]."""
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if kind == int(mujoco.mjtGeom.mjGEOM_SPHERE):
        return np.zeros((1, 3)), float(size[0])
    if kind == int(mujoco.mjtGeom.mjGEOM_CAPSULE):
        return _ENDS * size[1], float(size[0])
    return model.geom_aabb[geom, :3] + _CORNERS * model.geom_aabb[geom, 3:], 0.0


def resting_up(supports: Supports, centre: Floats) -> Floats:
    """Return which way is up when a robot is put down upright and let go.

    The floor's normal, `(3,)`, a unit vector in the frame of `supports`: of the stable ways to lie that with
    the least lean, or, where none is stable, that in which the centre of mass `(3,)` is least far outside.
    """
    balls = _lowest_anywhere(supports)
    ups, corners = _planes(supports, balls)
    if not len(ups):
        return np.array([0.0, 0.0, 1.0])
    outside = outside_of(corners, centre, ups)
    is_stable = outside <= _TOUCHING_M
    best = np.argmax(np.where(is_stable, ups[:, 2], -1.0)) if is_stable.any() else np.argmin(outside)
    return np.asarray(ups[best])


def _lowest_anywhere(supports: Supports) -> list[int]:
    """Return the balls that are the lowest for some direction of up."""
    steps = np.arange(_N_DIRECTIONS) + 0.5
    z = 1.0 - (1.0 - _LEAST_UP) * steps / _N_DIRECTIONS
    around = steps * math.pi * (3.0 - math.sqrt(5.0))
    flat = np.sqrt(1.0 - z * z)
    ups = np.stack([flat * np.cos(around), flat * np.sin(around), z], axis=-1)
    return [int(ball) for ball in np.unique(supports.heights(ups).argmin(axis=-1))]


def _planes(supports: Supports, balls: list[int]) -> tuple[Floats, Floats]:
    """Return normals `(k, 3)` of planes on three balls with none below, and where they touch, `(k, 3, 3)`."""
    triples = np.array(list(combinations(balls, 3)), dtype=np.intp).reshape(-1, 3)
    ups, triples = _tangents(supports.centres[triples], supports.radii[triples], triples)
    heights = supports.heights(ups)
    own = np.take_along_axis(heights, triples[:, :1], axis=-1)
    carries = (heights.min(axis=-1, initial=math.inf) > own[:, 0] - _TOUCHING_M) & (ups[:, 2] > _LEAST_UP)
    ups, triples = ups[carries], triples[carries]
    corners = supports.centres[triples] - supports.radii[triples][..., None] * ups[:, None, :]
    return ups, corners


def _tangents(centres: Floats, radii: Floats, triples: Indices) -> tuple[Floats, Indices]:
    """Return the normals of the planes that touch three balls each from the same side.

    Of the balls `triples` `(k, 3)` with `centres` `(k, 3, 3)` and `radii` `(k, 3)` [m]; up to two normals a
    triple, `(m, 3)`, and the triple of each, `(m, 3)`.
    """
    first, second = centres[:, 1] - centres[:, 0], centres[:, 2] - centres[:, 0]
    across = np.cross(first, second)
    area2 = (across * across).sum(-1)
    fat = area2 > _FLAT_M2**2
    first, second, across, area2 = first[fat], second[fat], across[fat], area2[fat]
    triples, radii = triples[fat], radii[fat]
    # The normal's part in the triangle's plane follows from how the radii differ.
    rise = radii[:, 1:] - radii[:, :1]
    within = rise[:, :1] * np.cross(second, across) + rise[:, 1:] * np.cross(across, first)
    within /= area2[:, None]
    rest = 1.0 - (within * within).sum(-1)
    real = rest > 0.0
    beyond = across[real] * np.sqrt(rest[real] / area2[real])[:, None]
    ups = np.concatenate([within[real] + beyond, within[real] - beyond])
    return ups, np.concatenate([triples[real], triples[real]])


def outside_of(corners: Floats, centre: Floats, ups: Floats) -> Floats:
    """Return how far the centre's foot on each plane lies outside its triangle, `(k,)` [m]."""
    middle = corners.mean(axis=1)
    worst = np.full(len(ups), -math.inf)
    for edge in range(3):
        start, end = corners[:, edge], corners[:, (edge + 1) % 3]
        outward = np.cross(end - start, ups)
        outward /= np.linalg.norm(outward, axis=-1, keepdims=True)
        inside = ((middle - start) * outward).sum(-1, keepdims=True)
        outward = np.where(inside > 0.0, -outward, outward)
        worst = np.maximum(worst, ((centre - start) * outward).sum(-1))
    return np.asarray(np.maximum(worst, 0.0))
