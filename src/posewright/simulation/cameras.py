"""Spectators' cameras: their directions, and the distance at which a field or a robot fits the picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.robots import Camera, CodeReader
from posewright.simulation.arena_model import FOV_DEG
from posewright.simulation.resting_pose import find_supports

if TYPE_CHECKING:
    from posewright.arenas import Arena
    from posewright.robots import SensorSpec
    from posewright.simulation.instance import ModelInstance
    from posewright.simulation.world import World

_FIELD_MARGIN = 1.06
"""Size of the picture over that of a field."""

_ROBOT_MARGIN = 1.12
"""Size of the picture over that of a robot: about 5 per cent stay free on either side."""

_SMOOTHING_MARGIN = 1.1
"""Additional margin for a robot that runs ahead of a camera with smoothed motion."""

_BARE_SIZE_M = (1.5, 1.2)
"""Length and width of the part of a bare floor that is shown [m]."""


class FilmCamera(Enum):
    """A spectator's camera, by what it shows and from where."""

    FIELD = "field"
    """The whole field, from above the right wall."""
    TOP = "top"
    """The whole field from above without perspective; its x points to the right."""
    CHASE = "chase"
    """The robot, from behind and above its right shoulder; follows it, and turns with it in a field."""
    SIDE = "side"
    """The robot, from the field's right; follows it."""
    FRONT = "front"
    """The robot, from the direction it faces at the start; follows it."""


FOLLOWING = (FilmCamera.CHASE, FilmCamera.SIDE, FilmCamera.FRONT)
DEFAULT_DIRECTION_DEG = {
    FilmCamera.FIELD: (74.0, -47.0),
    FilmCamera.TOP: (90.0, -90.0),
    FilmCamera.CHASE: (50.0, -24.0),
    FilmCamera.SIDE: (90.0, -14.0),
    FilmCamera.FRONT: (180.0, -14.0),
}
"""Azimuth and elevation of each camera's line of sight, if nothing hides the robot [deg]."""

TARGET_HEIGHT_SHARE = 0.485
"""Height of the point that a following camera looks at, over the robot's size: the robot's middle."""

_DISTANCE_SHARE = 3.14
"""Distance of a following camera, over the robot's size: leaves room for a step and for a fall."""


def camera_names(sensors: Mapping[str, Iterable[SensorSpec]]) -> list[str]:
    """Return the names of all cameras of a world: the spectators', then those of the robots' camera sensors.

    Args:
        sensors: each robot's sensors, by the robot's name; with several robots, a sensor's camera is
            `ROBOT/SENSOR`.
    """
    names = [view.value for view in FilmCamera]
    for robot, robot_sensors in sensors.items():
        prefix = f"{robot}/" if len(sensors) > 1 else ""
        for sensor in robot_sensors:
            if isinstance(sensor, Camera | CodeReader):
                names.append(prefix + sensor.name)
    return names


@dataclass(frozen=True, slots=True)
class CloseUp:
    """The target and the distance of a camera that follows a robot.

    Attributes:
        height_m: height of the target above the floor [m].
        distance_m: distance of the camera from the target [m].
        target: a fixed target on the floor, x and y [m]; None to follow the robot.
    """

    height_m: float = 0.17
    distance_m: float = 1.1
    target: tuple[float, float] | None = None


_DEFAULT_CLOSE_UP = CloseUp()


def spectator(
    arena: Arena | None, view: FilmCamera, aspect: float = 4.0 / 3.0, close_up: CloseUp = _DEFAULT_CLOSE_UP
) -> mujoco.MjvCamera:
    """Return MuJoCo's camera of a spectator.

    Args:
        arena: the field; None for a bare floor.
        view: which spectator.
        aspect: width of the picture over its height.
        close_up: target and distance of a camera that follows the robot.
    """
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FREE
    camera.azimuth, camera.elevation = DEFAULT_DIRECTION_DEG[view]
    camera.orthographic = int(view is FilmCamera.TOP)
    if view in FOLLOWING:
        camera.lookat[:] = (0.0, 0.0, close_up.height_m)
        camera.distance = close_up.distance_m
    else:
        camera.lookat[:], camera.distance = _fit_field(arena, view, aspect)
    return camera


def direction(azimuth_deg: float, elevation_deg: float) -> Floats:
    """Return the unit vector of a line of sight, `(3,)`."""
    azimuth = math.radians(azimuth_deg)
    elevation = math.radians(elevation_deg)
    horizontal = math.cos(elevation)
    return np.array([math.cos(azimuth) * horizontal, math.sin(azimuth) * horizontal, math.sin(elevation)])


def _fit_field(arena: Arena | None, view: FilmCamera, aspect: float) -> tuple[Floats, float]:
    """Return the target `(3,)` and the distance [m] of a camera that shows the whole field."""
    length, width = _field_size(arena)
    height = 0.0 if arena is None else max((wall.size_m[2] for wall in arena.walls), default=0.0)
    centre = np.array([0.0 if arena is None else length / 2.0, 0.0, height / 2.0])
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    offsets = corners * (length, width, height)
    return centre, _FIELD_MARGIN * _compute_fitting_distance(
        offsets, radii=0.0, direction_deg=DEFAULT_DIRECTION_DEG[view], aspect=aspect
    )


def _compute_fitting_distance(
    offsets: Floats,
    radii: Floats | float,
    direction_deg: tuple[float, float],
    aspect: float,
    margin: float = 1.0,
) -> float:
    """Return the least distance of a camera from its target that shows all of some balls [m].

    Args:
        offsets: centres of the balls, relative to the target, `(n, 3)` [m].
        radii: the radii of the balls, `(n,)` [m].
        direction_deg: azimuth and elevation of the line of sight [deg].
        aspect: width of the picture over its height.
        margin: size of the picture over what must fit.
    """
    azimuth_deg, elevation_deg = direction_deg
    sight = direction(azimuth_deg, elevation_deg)
    azimuth = math.radians(azimuth_deg)
    right = np.array([math.sin(azimuth), -math.cos(azimuth), 0.0])
    to_right, upward, depth = (offsets @ np.stack([right, np.cross(right, sight), sight], axis=-1)).T
    half_height_at_1_m = math.tan(math.radians(FOV_DEG) / 2.0)
    # half the height of a picture that shows the ball, which may be its width that decides
    half_height = np.maximum((np.abs(to_right) + radii) / aspect, np.abs(upward) + radii)
    return float((margin * half_height / half_height_at_1_m - depth).max())


def top_height_m(arena: Arena | None, aspect: float) -> float:
    """Return the height in metres of what a picture from the top shows."""
    length, width = _field_size(arena)
    return _FIELD_MARGIN * max(width, length / aspect)


def _field_size(arena: Arena | None) -> tuple[float, float]:
    return _BARE_SIZE_M if arena is None else (arena.size_x, arena.size_y)


def close_up_on(instance: ModelInstance) -> CloseUp:
    """Return a close-up that shows the whole robot with some margin, sized with all its joints at zero."""
    model = instance.model
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    geoms = instance.own_geoms()
    rotations = data.geom_xmat[geoms].reshape(-1, 3, 3)
    # a geom's bounding box in its own frame: centre and half sizes
    local_centres = model.geom_aabb[geoms, :3]
    local_half_sizes = model.geom_aabb[geoms, 3:]
    centres = data.geom_xpos[geoms] + np.einsum("gij,gj->gi", rotations, local_centres)
    half_sizes = np.einsum("gij,gj->gi", np.abs(rotations), local_half_sizes)
    size_m = float(((centres + half_sizes).max(axis=0) - (centres - half_sizes).min(axis=0)).max())
    return CloseUp(height_m=TARGET_HEIGHT_SHARE * size_m, distance_m=_DISTANCE_SHARE * size_m)


def close_up_on_all(world: World, places: Floats, aspect: float) -> CloseUp:
    """Return a fixed close-up that shows all robots of a world wherever they go.

    Args:
        world: the world.
        places: all positions of the robots' bases, `(n, 2)` [m].
        aspect: width of the picture over its height.
    """
    largest = max(map(close_up_on, world.instances.values()), key=lambda close_up: close_up.distance_m)
    centre = (places.min(axis=0) + places.max(axis=0)) / 2.0
    radius = float(np.linalg.norm(places - centre, axis=1).max())
    half_width_at_1_m = aspect * math.tan(math.radians(FOV_DEG) / 2.0)
    # a disc of this radius is seen entirely from this much farther away
    distance_m = largest.distance_m + radius * math.hypot(1.0, 1.0 / half_width_at_1_m)
    return CloseUp(largest.height_m, distance_m, target=(float(centre[0]), float(centre[1])))


def camera_position(camera: mujoco.MjvCamera) -> Floats:
    """Return the position of a free camera, `(3,)` [m]."""
    sight = direction(camera.azimuth, camera.elevation)
    return np.asarray(camera.lookat - camera.distance * sight)


def close_up_on_poses(
    world: World, poses: Iterable[tuple[ArrayLike, ArrayLike]], camera: str, aspect: float, *, steady: bool
) -> CloseUp | None:
    """Return the nearest close-up in which the robot is entirely visible in all poses.

    Changes the state of the world, which must have one robot on a bare floor.

    Args:
        world: the world.
        poses: the poses of the base `(7,)` and of the joints `(n_joints,)` [rad].
        camera: the camera's name.
        aspect: width of the picture over its height.
        steady: whether the camera's motion is smoothed, so that it needs more margin; otherwise it looks
            exactly at the robot in each picture.

    Returns:
        The close-up; None if the camera does not follow the robot.
    """
    view = next((view for view in FOLLOWING if view.value == camera), None)
    if view is None:
        return None
    centres = []
    radii = []
    for base, joints in poses:
        world.show((base, joints))
        supports = find_supports(world.instance())
        base_on_floor = np.asarray(base, dtype=np.float64)[:3] * (1.0, 1.0, 0.0)
        centres.append(supports.centres - base_on_floor)
        radii.append(supports.radii)
    all_centres = np.concatenate(centres)
    all_radii = np.concatenate(radii)
    top = float((all_centres[:, 2] + all_radii).max())
    bottom = float((all_centres[:, 2] - all_radii).min())
    height = 0.5 * (top + bottom)
    margin = _ROBOT_MARGIN * (_SMOOTHING_MARGIN if steady else 1.0)
    distance = _compute_fitting_distance(
        all_centres - (0.0, 0.0, height),
        all_radii,
        direction_deg=DEFAULT_DIRECTION_DEG[view],
        aspect=aspect,
        margin=margin,
    )
    return CloseUp(height, distance)
