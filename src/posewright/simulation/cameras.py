"""Where a spectator of the field stands, and how near a camera may come to show the whole of a robot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.robots import Camera, CodeReader
from posewright.simulation.arena_model import FOV_DEG
from posewright.simulation.resting import find_supports

if TYPE_CHECKING:
    from posewright.arenas import Arena
    from posewright.robots import SensorSpec
    from posewright.simulation.instance import ModelInstance
    from posewright.simulation.world import World

_MARGIN = 1.06
_CLOSE_MARGIN = 1.12
"""Size of the picture over that of the robot: about five per cent of it stay free on either side."""

_ROOM_TO_LEAD = 1.1
"""Further room for a robot that runs ahead of a camera that follows it softly."""

_BARE_SIZE_M = (1.5, 1.2)
"""The part of a bare floor that is looked at."""


class FilmCamera(Enum):
    """What a spectator looks at, and from where."""

    FIELD = "field"
    """The whole field, from above the right wall."""
    TOP = "top"
    """The whole field, straight down and without perspective; its x runs to the right."""
    CHASE = "chase"
    """The robot, from behind and above its right shoulder; follows it, in a field into its course too."""
    SIDE = "side"
    """The robot, from the field's right; follows it."""
    FRONT = "front"
    """The robot, from where it looks to at the start; follows it."""


FOLLOWING = (FilmCamera.CHASE, FilmCamera.SIDE, FilmCamera.FRONT)
STANDING_DEG = {
    FilmCamera.FIELD: (74.0, -47.0),
    FilmCamera.TOP: (90.0, -90.0),
    FilmCamera.CHASE: (50.0, -24.0),
    FilmCamera.SIDE: (90.0, -14.0),
    FilmCamera.FRONT: (180.0, -14.0),
}
"""Azimuth and elevation of a spectator's line of sight, where nothing is in the way."""

LOOKING_UP = 0.485
"""How high above the floor a camera that follows the robot looks, over the robot's size: at its middle."""

_SIZES_AWAY = 3.14
"""How far away it is, over the robot's size: there is room for a step, and for a fall."""


def camera_names(sensors: Mapping[str, Iterable[SensorSpec]]) -> list[str]:
    """Return the names of spectators, and of robots' camera sensors: after the robot's own, of several."""
    robots = {f"{name}/" if len(sensors) > 1 else "": own for name, own in sensors.items()}
    cameras = [
        at + one.name for at, own in robots.items() for one in own if isinstance(one, Camera | CodeReader)
    ]
    return [*(view.value for view in FilmCamera), *cameras]


@dataclass(frozen=True, slots=True)
class CloseUp:
    """How a camera that follows the robot looks at it.

    Attributes:
        height_m: how high above the floor it looks [m].
        distance_m: from how far away [m].
        place: where on the floor it looks, instead of following the robot, x and y [m].
    """

    height_m: float = 0.17
    distance_m: float = 1.1
    place: tuple[float, float] | None = None


_FROM_AFAR = CloseUp()


def spectator(
    arena: Arena | None, view: FilmCamera, aspect: float = 4.0 / 3.0, close_up: CloseUp = _FROM_AFAR
) -> Any:
    """Return MuJoCo's camera for a spectator.

    `aspect` is the width of the picture over its height, `close_up` how one who follows the robot looks at
    it.
    """
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FREE
    camera.azimuth, camera.elevation = STANDING_DEG[view]
    camera.orthographic = int(view is FilmCamera.TOP)
    if view in FOLLOWING:
        camera.lookat[:] = (0.0, 0.0, close_up.height_m)
        camera.distance = close_up.distance_m
    else:
        camera.lookat[:], camera.distance = _field_in(arena, view, aspect)
    return camera


def direction(azimuth_deg: float, elevation_deg: float) -> Floats:
    """Return the unit vector of a line of sight, `(3,)`."""
    azimuth, elevation = math.radians(azimuth_deg), math.radians(elevation_deg)
    flat = math.cos(elevation)
    return np.array([math.cos(azimuth) * flat, math.sin(azimuth) * flat, math.sin(elevation)])


def _field_in(arena: Arena | None, view: FilmCamera, aspect: float) -> tuple[Floats, float]:
    """Return where to look and from how far away [m], so that the whole field fits into the picture."""
    length, width = _size(arena)
    height = 0.0 if arena is None else max((wall.size_m[2] for wall in arena.walls), default=0.0)
    middle = np.array([0.0 if arena is None else length / 2.0, 0.0, height / 2.0])
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    return middle, _MARGIN * _distance(corners * (length, width, height), 0.0, STANDING_DEG[view], aspect)


def _distance(
    offsets: Floats, reach: Floats | float, angles_deg: tuple[float, float], aspect: float, room: float = 1.0
) -> float:
    """Return from how far away all balls are in the picture [m].

    They are `offsets` `(n, 3)` from the place that is looked at, `reach` large [m].
    """
    sight = direction(*angles_deg)
    azimuth = math.radians(angles_deg[0])
    right = np.array([math.sin(azimuth), -math.cos(azimuth), 0.0])
    aside, above, beyond = (offsets @ np.stack([right, np.cross(right, sight), sight], axis=-1)).T
    slope = math.tan(math.radians(FOV_DEG) / 2.0)
    extent = np.maximum((np.abs(aside) + reach) / aspect, np.abs(above) + reach)
    return float((room * extent / slope - beyond).max())


def top_height_m(arena: Arena | None, aspect: float) -> float:
    """Return how many metres of the field a picture from the top is high."""
    length, width = _size(arena)
    return _MARGIN * max(width, length / aspect)


def _size(arena: Arena | None) -> tuple[float, float]:
    return _BARE_SIZE_M if arena is None else (arena.size_x, arena.size_y)


def close_up_on(one: ModelInstance) -> CloseUp:
    """Return a close-up that has the whole robot in the picture with some room around, all joints at zero."""
    model = one.model
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    own = one.own_geoms()
    turns = data.geom_xmat[own].reshape(-1, 3, 3)
    middles = data.geom_xpos[own] + np.einsum("gij,gj->gi", turns, model.geom_aabb[own, :3])
    halves = np.einsum("gij,gj->gi", np.abs(turns), model.geom_aabb[own, 3:])
    size_m = float(((middles + halves).max(axis=0) - (middles - halves).min(axis=0)).max())
    return CloseUp(height_m=LOOKING_UP * size_m, distance_m=_SIZES_AWAY * size_m)


def close_up_on_all(world: World, places: Floats, aspect: float) -> CloseUp:
    """Return how a camera at rest has all robots in the picture, whose bases are at places `(n, 2)` [m]."""
    one = max(map(close_up_on, world.instances.values()), key=lambda near: near.distance_m)
    middle = (places.min(axis=0) + places.max(axis=0)) / 2.0
    reach = float(np.linalg.norm(places - middle, axis=1).max())
    slope = aspect * math.tan(math.radians(FOV_DEG) / 2.0)
    distance_m = one.distance_m + reach * math.hypot(1.0, 1.0 / slope)
    return CloseUp(one.height_m, distance_m, place=(float(middle[0]), float(middle[1])))


def eye(camera: Any) -> Floats:
    """Return where the camera itself is, `(3,)` [m]."""
    sight = direction(camera.azimuth, camera.elevation)
    return np.asarray(camera.lookat - camera.distance * sight)


def framed(
    world: World, moments: Iterable[tuple[ArrayLike, ArrayLike]], camera: str, aspect: float, *, steady: bool
) -> CloseUp | None:
    """Return how a camera that follows the robot sees all of it at every moment, from as near as can be.

    Where the camera is none that follows, there is nothing to choose: None.

    The world, with the robot on a bare floor, is changed. Moments are poses of the base `(7,)` and of the
    joints `(n_joints,)` [rad], `aspect` is the width of the picture over its height. A `steady` camera
    follows a moving robot softly; another looks right at it in each picture.
    """
    view = next((view for view in FOLLOWING if view.value == camera), None)
    if view is None:
        return None
    points, radii = [], []
    for base, joints in moments:
        world.show((base, joints))
        supports = find_supports(world.instance())
        middle = np.asarray(base, dtype=np.float64)[:3] * (1.0, 1.0, 0.0)
        points.append(supports.centres - middle)
        radii.append(supports.radii)
    offsets, reach = np.concatenate(points), np.concatenate(radii)
    top, bottom = float((offsets[:, 2] + reach).max()), float((offsets[:, 2] - reach).min())
    height = 0.5 * (top + bottom)
    room = _CLOSE_MARGIN * (_ROOM_TO_LEAD if steady else 1.0)
    return CloseUp(height, _distance(offsets - (0.0, 0.0, height), reach, STANDING_DEG[view], aspect, room))
