"""Resting poses of a robot that does not stand on flat soles, but on paws, on its belly, or sitting.

The parts that may touch the floor are bounded by balls. Three balls carry a robot if the plane that touches
them from below has no ball under it and the centre of mass is above the triangle of their contact points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from posewright.arrays import Floats, Indices
from posewright.errors import InputError, Where
from posewright.simulation.arena_model import FLOOR

if TYPE_CHECKING:
    from posewright.simulation.instance import ModelInstance

_N_DIRECTIONS = 4096
"""Number of directions sampled to find the balls that can be lowest; they are 1.5 degrees apart."""

_MIN_UP = 0.25
"""Cosine of the greatest lean of a resting robot, 75 degrees: it does not lie on its back."""

_TOUCHING_M = 1e-6
_MIN_AREA_M2 = 1e-8
"""A smaller triangle carries nothing [m^2]."""

_CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
_ENDS = np.array([(0, 0, -1), (0, 0, 1)], dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Supports:
    """Balls whose convex hull is that of the robot.

    Attributes:
        centres: `(n, 3)` [m].
        radii: `(n,)` [m].
        geoms: the geom that each ball bounds, `(n,)`; empty if they are of no model.
    """

    centres: Floats
    radii: Floats
    geoms: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    def bottom_heights(self, up: Floats) -> Floats:
        """Return the height of each ball's lowest point, `(..., n)` [m], for unit vectors up, `(..., 3)`."""
        return np.asarray(up @ self.centres.T - self.radii)


def find_supports(instance: ModelInstance) -> Supports:
    """Return the balls that bound the robot's geoms that collide with the floor, in the field frame.

    They are exact for spheres, capsules and boxes; other shapes are replaced by their bounding boxes.

    Raises:
        InputError: nothing of the robot can touch the floor.
    """
    model = instance.model
    data = instance.data
    floor = int(model.geom(FLOOR).id)
    floor_contype = int(model.geom_contype[floor])
    floor_conaffinity = int(model.geom_conaffinity[floor])
    collides = ((model.geom_contype & floor_conaffinity) | (model.geom_conaffinity & floor_contype)) != 0
    centres = []
    radii = []
    geoms = []
    for geom in np.flatnonzero(instance.own_geoms() & collides).tolist():
        local_centres, radius = _bounding_balls(model, geom)
        centres.append(data.geom_xpos[geom] + local_centres @ data.geom_xmat[geom].reshape(3, 3).T)
        radii.append(np.full(len(local_centres), radius))
        geoms.append(np.full(len(local_centres), geom, dtype=np.intp))
    if not centres:
        raise InputError(
            f"the model of {instance.robot.name} has no shape that can touch the floor",
            where=Where(instance.robot.model_path),
            hint="give its links shapes: <collision> or <visual> in a URDF, geoms in a MuJoCo model",
        )
    return Supports(np.concatenate(centres), np.concatenate(radii), np.concatenate(geoms))


def _bounding_balls(model: mujoco.MjModel, geom: int) -> tuple[Floats, float]:
    """Return the centres `(k, 3)` in a geom's frame and the common radius [m] of the balls that bound it.

    A sphere is one ball, and a capsule has one at each end. Other geoms have points at the corners of their
    bounding box.
    """
    kind = int(model.geom_type[geom])
    size = model.geom_size[geom]
    if kind == int(mujoco.mjtGeom.mjGEOM_SPHERE):
        return np.zeros((1, 3)), float(size[0])
    if kind == int(mujoco.mjtGeom.mjGEOM_CAPSULE):
        return _ENDS * size[1], float(size[0])
    return model.geom_aabb[geom, :3] + _CORNERS * model.geom_aabb[geom, 3:], 0.0


def find_resting_normal(supports: Supports, centre_of_mass: Floats) -> Floats:
    """Return the normal of the floor on which a robot rests after it is put down upright.

    Of the stable poses it takes the one with the least lean; if none is stable, the one in which the centre
    of mass is least far outside its triangle of contact points. If no three balls can carry the robot, it is
    the floor under the upright robot.

    Args:
        supports: the balls whose convex hull bounds the robot.
        centre_of_mass: `(3,)` [m].

    Returns:
        A unit vector in the frame of the supports, `(3,)`.
    """
    balls = _find_lowest_balls(supports)
    normals, triangles = _find_floor_planes(supports, balls)
    if not len(normals):
        return np.array([0.0, 0.0, 1.0])
    distances = distance_outside(triangles, centre_of_mass, normals)
    is_stable = distances <= _TOUCHING_M
    if is_stable.any():
        lean_cosines = normals[:, 2]
        return np.asarray(normals[np.argmax(np.where(is_stable, lean_cosines, -1.0))])
    return np.asarray(normals[np.argmin(distances)])


def _find_lowest_balls(supports: Supports) -> list[int]:
    """Return the balls that are lowest for some direction of up, sampled on a spiral around the vertical."""
    steps = np.arange(_N_DIRECTIONS) + 0.5
    z = 1.0 - (1.0 - _MIN_UP) * steps / _N_DIRECTIONS
    azimuths = steps * math.pi * (3.0 - math.sqrt(5.0))  # the golden angle distributes them evenly
    horizontal = np.sqrt(1.0 - z * z)
    ups = np.stack([horizontal * np.cos(azimuths), horizontal * np.sin(azimuths), z], axis=-1)
    return [int(ball) for ball in np.unique(supports.bottom_heights(ups).argmin(axis=-1))]


def _find_floor_planes(supports: Supports, balls: list[int]) -> tuple[Floats, Floats]:
    """Return the planes that touch three balls and have no ball below.

    Args:
        supports: the balls that bound the robot.
        balls: numbers of those that may be touched.

    Returns:
        Normals `(k, 3)`, and the triangles of contact points `(k, 3, 3)` [m].
    """
    triples = np.array(list(combinations(balls, 3)), dtype=np.intp).reshape(-1, 3)
    normals, triples = _find_tangent_planes(supports.centres[triples], supports.radii[triples], triples)
    heights = supports.bottom_heights(normals)
    # a plane is as high as the lowest point of any ball that it touches
    plane_heights = np.take_along_axis(heights, triples[:, :1], axis=-1)[:, 0]
    has_none_below = heights.min(axis=-1, initial=math.inf) > plane_heights - _TOUCHING_M
    is_floor = has_none_below & (normals[:, 2] > _MIN_UP)
    normals = normals[is_floor]
    triples = triples[is_floor]
    contact_points = supports.centres[triples] - supports.radii[triples][..., None] * normals[:, None, :]
    return normals, contact_points


def _find_tangent_planes(centres: Floats, radii: Floats, triples: Indices) -> tuple[Floats, Indices]:
    """Return the planes that touch three balls from the same side.

    Args:
        centres: the centres of the balls of each triple, `(k, 3, 3)` [m].
        radii: the radii of the balls of each triple, `(k, 3)` [m].
        triples: numbers of the balls, `(k, 3)`.

    Returns:
        Normals `(m, 3)`, up to two for each triple, and the triple of each normal, `(m, 3)`.
    """
    first_edges = centres[:, 1] - centres[:, 0]
    second_edges = centres[:, 2] - centres[:, 0]
    # the triangles of the centres: normals, as long as twice the area
    crosses = np.cross(first_edges, second_edges)
    crosses_sq = (crosses * crosses).sum(-1)
    has_area = crosses_sq > _MIN_AREA_M2**2
    first_edges = first_edges[has_area]
    second_edges = second_edges[has_area]
    crosses = crosses[has_area]
    crosses_sq = crosses_sq[has_area]
    triples = triples[has_area]
    radii = radii[has_area]
    # the normal's component in the triangle's plane follows from the differences of the radii
    rises = radii[:, 1:] - radii[:, :1]
    in_plane = rises[:, :1] * np.cross(second_edges, crosses) + rises[:, 1:] * np.cross(crosses, first_edges)
    in_plane /= crosses_sq[:, None]
    # the component across the triangle's plane makes the normal a unit vector, upwards or downwards
    across_sq = 1.0 - (in_plane * in_plane).sum(-1)
    has_plane = across_sq > 0.0
    across = crosses[has_plane] * np.sqrt(across_sq[has_plane] / crosses_sq[has_plane])[:, None]
    normals = np.concatenate([in_plane[has_plane] + across, in_plane[has_plane] - across])
    return normals, np.concatenate([triples[has_plane], triples[has_plane]])


def distance_outside(triangles: Floats, centre_of_mass: Floats, normals: Floats) -> Floats:
    """Return how far the centre of mass, projected onto each triangle's plane, is outside the triangle [m].

    It is outside if it lies beyond one of the three edges; the greatest distance from an edge counts.

    Args:
        triangles: corners, `(k, 3, 3)` [m].
        centre_of_mass: `(3,)` [m].
        normals: the normals of the planes, `(k, 3)`.

    Returns:
        The distances, `(k,)` [m]; 0 inside.
    """
    centroids = triangles.mean(axis=1)
    greatest_distances = np.full(len(normals), -math.inf)
    for edge in range(3):
        start = triangles[:, edge]
        end = triangles[:, (edge + 1) % 3]
        edge_normals = np.cross(end - start, normals)
        edge_normals /= np.linalg.norm(edge_normals, axis=-1, keepdims=True)
        # the corners may be in either order, so make the edge's normal point away from the centroid
        centroid_side = ((centroids - start) * edge_normals).sum(-1, keepdims=True)
        outward = np.where(centroid_side > 0.0, -edge_normals, edge_normals)
        distances = ((centre_of_mass - start) * outward).sum(-1)
        greatest_distances = np.maximum(greatest_distances, distances)
    return np.asarray(np.maximum(greatest_distances, 0.0))
