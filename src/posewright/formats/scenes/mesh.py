"""What a scene is made of, and how much of it there may be."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from posewright.arenas import spread_directions
from posewright.arrays import Array, Floats

MAX_SCENE_BYTES = 24_000_000
MAX_POINTS = 400_000
MAX_MESHES = 5_000
"""Bounds of a scene: a drawn field has some hundred points, one from a scanner is no field."""

Colour = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class SceneMesh:
    """Points and the faces between them.

    Attributes:
        name: as the file has it, or empty.
        points: `(n, 3)`, in the unit and the axes of the file.
        faces: places in `points`, `(m, 3)`; None where all the points are one body.
        colour: red, green, blue 0..1; None where the file tells none.
        line: where it begins in a text file; None in others.
    """

    name: str
    points: Floats
    faces: Array | None = None
    colour: Colour | None = None
    line: int | None = field(default=None)


def turn_about(axis: Floats, angle_rad: float) -> Floats:
    """Return the rotation matrix `(3, 3)` about an axis of any length but 0; no turn about one of 0."""
    length = float(np.linalg.norm(axis))
    if length == 0.0 or angle_rad == 0.0:
        return np.eye(3)
    x, y, z = (axis / length).tolist()
    cross = np.array([(0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)])
    return np.asarray(np.eye(3) + math.sin(angle_rad) * cross + (1.0 - math.cos(angle_rad)) * cross @ cross)


def box_points(size: Floats) -> Floats:
    """Return the corners of a box about the origin, `(8, 3)`."""
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return np.asarray(signs * (size / 2.0))


def round_points(radius: float, height: float, *, top: float | None = None, corners: int = 32) -> Floats:
    """Return points of a cylinder about y, or of a cone where its radius at the `top` is another."""
    turn = np.arange(corners) * (2.0 * math.pi / corners)
    ring = np.stack([np.cos(turn), np.zeros(corners), np.sin(turn)], axis=1)
    rings = [radius * ring - (0.0, height / 2.0, 0.0)]
    rings.append((radius if top is None else top) * ring + (0.0, height / 2.0, 0.0))
    return np.concatenate(rings)


def ball_points(radius: float) -> Floats:
    """Return points of a sphere, evenly spread, and its six poles."""
    return radius * spread_directions(126)
