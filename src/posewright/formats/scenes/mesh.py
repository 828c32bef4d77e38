"""Meshes of a scene, what was left out of it, limits of their number, and points of simple shapes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from posewright.arenas import spread_directions
from posewright.arrays import Array, Floats
from posewright.errors import Where

MAX_SCENE_BYTES = 24_000_000
MAX_POINTS = 400_000
MAX_MESHES = 5_000
"""Limits of a scene; a drawn arena has some hundred points."""

MAX_COORDINATE = 1e9
"""Largest coordinate of a point, in the unit of the file."""

Colour = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class SceneMesh:
    """Points and the faces between them.

    Attributes:
        name: its name in the file, or empty.
        points: the points, `(n, 3)`, in the unit and axes of the file.
        faces: indices into `points`, `(m, 3)`; None if all points are one body.
        colour: red, green, blue 0..1; None if the file gives none.
        line: its line in a text file; None in binary files.
        group_names: the names of the groups around it, the outermost first.
    """

    name: str
    points: Floats
    faces: Array | None = None
    colour: Colour | None = None
    line: int | None = field(default=None)
    group_names: tuple[str, ...] = ()


class Up(Enum):
    """The axis of a file that points up."""

    AUTO = "auto"
    Y = "y"
    Z = "z"


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """The content of a scene file.

    Attributes:
        meshes: its meshes.
        notes: descriptions of what was left out, with file and line.
        up: the axis that the file says points up; `Up.AUTO` if it says none.
    """

    meshes: tuple[SceneMesh, ...]
    notes: tuple[str, ...] = ()
    up: Up = Up.AUTO


_MAX_OMISSIONS = 200


class Omissions:
    """Collects what a reader leaves out; what is left out several times is listed once, with its count."""

    def __init__(self) -> None:
        self._first_places: dict[str, Where | None] = {}
        self._counts: dict[str, int] = {}

    def add(self, message: str, where: Where | None) -> None:
        """Add a message about something that is left out."""
        self._first_places.setdefault(message, where)
        self._counts[message] = self._counts.get(message, 0) + 1

    def extend(self, other: Omissions) -> None:
        """Add all messages of another collection after those of this one."""
        for message, where in other._first_places.items():
            self._first_places.setdefault(message, where)
            self._counts[message] = self._counts.get(message, 0) + other._counts[message]

    def notes(self) -> tuple[str, ...]:
        """Return a sentence for each message, with its first place; the last one counts those not listed."""
        notes: list[str] = []
        for message, where in list(self._first_places.items())[:_MAX_OMISSIONS]:
            place = "" if where is None else f"{where}: "
            times = f" ({self._counts[message]} times)" if self._counts[message] > 1 else ""
            notes.append(f"{place}{message}{times}")
        n_hidden = len(self._counts) - len(notes)
        return (*notes, f"{n_hidden} more") if n_hidden else tuple(notes)


def turn_about(axis: Floats, angle_rad: float) -> Floats:
    """Return the rotation matrix `(3, 3)` about an axis of any length; the identity for a length of 0."""
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
    """Return points of a cylinder about the y axis, or of a cone if the radius at the `top` differs."""
    angles = np.arange(corners) * (2.0 * math.pi / corners)
    circle = np.stack([np.cos(angles), np.zeros(corners), np.sin(angles)], axis=1)
    top_radius = radius if top is None else top
    half_height = (0.0, height / 2.0, 0.0)
    return np.concatenate([radius * circle - half_height, top_radius * circle + half_height])


def ball_points(radius: float) -> Floats:
    """Return evenly spread points of a sphere, and its six poles."""
    return radius * spread_directions(126)
