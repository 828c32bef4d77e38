"""Where a spectator of the field stands."""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.bodies import Floats

if TYPE_CHECKING:
    from posewright.arenas import Arena

FOV_DEG = 40.0
"""Opening of a spectator's view from the bottom to the top [deg]."""

_MARGIN = 1.06
_BARE_SIZE_M = (1.5, 1.2)
"""The part of a bare floor that is looked at."""


class FilmCamera(Enum):
    """What a spectator looks at, and from where."""

    FIELD = "field"
    """The whole field, from above the right wall."""
    TOP = "top"
    """The whole field, straight down and without perspective; its x runs to the right."""
    CHASE = "chase"
    """The robot, from behind and above its right shoulder at the start; follows it."""
    SIDE = "side"
    """The robot, from the field's right; follows it."""


FOLLOWING = (FilmCamera.CHASE, FilmCamera.SIDE)
ROBOT_HEIGHT_M = 0.17
"""How high above the floor a camera that follows the robot looks."""

_ANGLES_DEG = {
    FilmCamera.FIELD: (74.0, -47.0),
    FilmCamera.TOP: (90.0, -90.0),
    FilmCamera.CHASE: (50.0, -24.0),
    FilmCamera.SIDE: (90.0, -14.0),
}
"""Azimuth and elevation of the line of sight."""

_ROBOT_DISTANCE_M = 1.1


def spectator(arena: Arena | None, view: FilmCamera, aspect: float = 4.0 / 3.0) -> Any:
    """Return MuJoCo's camera for a spectator.

    Args:
        arena: what is looked at; None for a bare floor.
        view: where the spectator stands.
        aspect: width of the picture over its height.
    """
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FREE
    camera.azimuth, camera.elevation = _ANGLES_DEG[view]
    camera.orthographic = int(view is FilmCamera.TOP)
    middle_x = 0.0 if arena is None else arena.size_x / 2.0
    if view in FOLLOWING:
        camera.lookat[:] = (0.0, 0.0, ROBOT_HEIGHT_M)
        camera.distance = _ROBOT_DISTANCE_M
    else:
        camera.lookat[:] = (middle_x, 0.0, 0.05)
        camera.distance = _field_distance(arena, aspect)
    return camera


def _field_distance(arena: Arena | None, aspect: float) -> float:
    """Return from how far away the whole field fits into the picture [m]."""
    length, width = _size(arena)
    half_view = math.tan(math.radians(FOV_DEG) / 2.0)
    return 0.5 * width + 0.5 * _MARGIN * max(1.06 * length / aspect, 0.95 * width) / half_view


def top_height_m(arena: Arena | None, aspect: float) -> float:
    """Return how many metres of the field a picture from the top is high."""
    length, width = _size(arena)
    return _MARGIN * max(width, length / aspect)


def _size(arena: Arena | None) -> tuple[float, float]:
    return _BARE_SIZE_M if arena is None else (arena.size_x, arena.size_y)


def eye(camera: Any) -> Floats:
    """Return where the camera itself is, `(3,)` [m]."""
    azimuth, elevation = math.radians(camera.azimuth), math.radians(camera.elevation)
    flat = math.cos(elevation)
    sight = np.array([math.cos(azimuth) * flat, math.sin(azimuth) * flat, math.sin(elevation)])
    position: Floats = np.array(camera.lookat) - camera.distance * sight
    return position
