"""Rendering of a world off the screen, by a spectator's camera or a camera sensor."""

from __future__ import annotations

import copy
import importlib
import math
import os
import sys
from collections.abc import Mapping
from typing import Protocol

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from posewright.arenas import WALLS, Colour
from posewright.arrays import Floats
from posewright.errors import InputError, UnavailableError, UnknownNameError
from posewright.robots import Camera, CodeReader
from posewright.simulation.arena_model import PICTURE_HEIGHT, PICTURE_WIDTH, SUN
from posewright.simulation.assembly import camera_name
from posewright.simulation.camera_path import CameraPose
from posewright.simulation.cameras import (
    FOLLOWING,
    CloseUp,
    FilmCamera,
    camera_position,
    close_up_on,
    spectator,
    top_height_m,
)
from posewright.simulation.leds import LedGeoms, Lights, geom_colour
from posewright.simulation.world import Pose, World

Picture = NDArray[np.uint8]
"""`(height, width, 3)` uint8: red, green, blue, the top row first."""

_GL_HINT = "install EGL (Debian: libegl1 libgl1-mesa-dri), or set MUJOCO_GL to egl, osmesa or glfw"
_GL_MODULES = {"egl": "mujoco.egl", "osmesa": "mujoco.osmesa", "glfw": "mujoco.glfw", "cgl": "mujoco.cgl"}
_MAX_GEOMS = 2000

_QUICK_QUALITY = (2048, 2)
_FINE_QUALITY = (1024, 0)
"""Edge of the shadow map [pixels] and samples per pixel: of one rendering, and of the mean of several."""

_SUN_RADIUS = 0.09
"""Radius of the sun over its distance; as large as on a hazy day, for soft shadows."""

_N_SAMPLES = 8


def _disc_points(n: int) -> Floats:
    """Return `(n, 2)` points that fill the unit disc evenly (Vogel's sunflower spiral)."""
    indices = np.arange(n)
    radii = np.sqrt((indices + 0.5) / n)
    angles = indices * math.pi * (3.0 - math.sqrt(5.0))
    return np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=-1)


_SAMPLES = _disc_points(_N_SAMPLES)
"""A fine picture is the mean of renderings with the sun, and within a pixel the camera, at each of these
offsets: shadows and edges become soft."""

_QUICK_FACETS = (24, 14)
_FINE_FACETS = (40, 24)
"""Facets around a ball and from pole to pole; few of them render round robots in a third of the time."""

_TINT_SHARE = 0.5
"""Share of the tint in the colours of a tinted robot."""

_GLASS_OPACITY = 0.07
"""Opacity of a wall between the spectator and the field."""


class _GlContext(Protocol):
    """An OpenGL context of MuJoCo's `GLContext` classes."""

    def make_current(self) -> None:
        """Make it the context of this thread."""

    def free(self) -> None:
        """Release it."""


class Film:
    """Renders single pictures or all frames of a film of a world off the screen.

    Close it after use, or use it in a `with` statement.

    Rendering never changes the world, as a film has a copy of the model and a state of its own.

    Args:
        world: the world.
        width: the width of the pictures [pixels]; even for most video formats.
        height: the height of the pictures [pixels].
        camera: a `FilmCamera`, its name, or the name of a robot's camera sensor (`ROBOT/SENSOR` with several
            robots). Cameras that follow a robot follow the first.
        quick: render with hard shadows in a fifth of the time, for long films without a GPU.
        close_up: target and distance of a camera that follows the robot; None to show the whole robot.
        tints: colours that the robots of some names are tinted with, red, green, blue, 0..1.

    Raises:
        InputError: the picture is too large, or the world was made without its visuals.
        UnknownNameError: there is no such camera.
        UnavailableError: nothing can be rendered on this machine.
    """

    def __init__(
        self,
        world: World,
        width: int = 960,
        height: int = 720,
        camera: FilmCamera | str = FilmCamera.FIELD,
        *,
        quick: bool = False,
        close_up: CloseUp | None = None,
        tints: Mapping[str, Colour] | None = None,
    ) -> None:
        """Copy the model, set its quality, and create the graphics context."""
        world.require_visuals()
        if not (0 < width <= PICTURE_WIDTH and 0 < height <= PICTURE_HEIGHT):
            raise InputError(
                f"cannot render a picture of {width} x {height} pixels",
                hint=f"1 x 1 to {PICTURE_WIDTH} x {PICTURE_HEIGHT}",
            )
        self._world = world
        first_robot = next(iter(world.instances.values()))
        self._close_up = close_up or close_up_on(first_robot)
        self._followed_body = first_robot.addresses.base_body
        self._view = _find_view(world, camera)
        self._model: mujoco.MjModel = copy.copy(world.model)
        # new positions do not move a sleeping box, and a replay only sets positions
        self._model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        quality = self._model.vis.quality
        quality.numslices, quality.numstacks = _QUICK_FACETS if quick else _FINE_FACETS
        quality.shadowsize, quality.offsamples = _QUICK_QUALITY if quick else _FINE_QUALITY
        self._sample_offsets = np.zeros((1, 2)) if quick else _SAMPLES
        self._sun_light = int(mujoco.mj_name2id(world.model, int(mujoco.mjtObj.mjOBJ_LIGHT), SUN))
        if self._view is FilmCamera.TOP:
            self._model.vis.global_.fovy = top_height_m(world.arena, width / height)
            self._model.vis.global_.orthographic = 1  # MuJoCo 3 ignores the camera's own setting
        self._data: mujoco.MjData = mujoco.MjData(self._model)
        self._camera = _create_camera(world, self._view, aspect=width / height, close_up=self._close_up)
        wall_names = [] if world.arena is None else [wall.name for wall in world.arena.walls]
        self._wall_geoms = {name: int(self._model.geom(name).id) for name in WALLS if name in wall_names}
        for name, tint in (tints or {}).items():
            self._tint_robot(name, tint)
        self._leds = LedGeoms(self._model, list(world.instances.values()))
        self._rectangle = mujoco.MjrRect(0, 0, width, height)
        self._pixels = np.empty((height, width, 3), dtype=np.uint8)
        self._gl: _GlContext | None = _create_gl_context(width, height)
        self._gl.make_current()
        font_scale = int(mujoco.mjtFontScale.mjFONTSCALE_100)
        self._context: mujoco.MjrContext = mujoco.MjrContext(self._model, font_scale)
        mujoco.mjr_setBuffer(int(mujoco.mjtFramebuffer.mjFB_OFFSCREEN), self._context)
        self._scene: mujoco.MjvScene = mujoco.MjvScene(self._model, maxgeom=_MAX_GEOMS)
        self._options: mujoco.MjvOption = mujoco.MjvOption()

    def _tint_robot(self, name: str, tint: Colour) -> None:
        """Blend the colours of a robot's geoms with another colour, so that two robots of a kind differ."""
        for geom in np.flatnonzero(self._world.instances[name].own_geoms()).tolist():
            own_colour = geom_colour(self._model, geom)
            self._model.geom_rgba[geom, :3] = (1.0 - _TINT_SHARE) * own_colour + _TINT_SHARE * np.array(tint)
            self._model.geom_matid[geom] = -1

    def now(self) -> Picture:
        """Return a picture of the world's current state, `(height, width, 3)` uint8."""
        return self._render(self._world.data.qpos)

    def frame(
        self,
        poses: Pose | Mapping[str, Pose],
        boxes: ArrayLike = (),
        camera_pose: CameraPose | None = None,
        lights: Lights | None = None,
    ) -> Picture:
        """Return a picture of recorded poses, `(height, width, 3)` uint8.

        Args:
            poses: the poses of the robots, as for `World.qpos_of`.
            boxes: poses of the boxes, as for `World.qpos_of`.
            camera_pose: pose of a camera that follows the robot; None for its default direction.
            lights: colours of the LEDs; those of robots that it does not name are off.
        """
        self._leds.show(lights or {})
        return self._render(self._world.qpos_of(poses, boxes), camera_pose)

    def _render(self, qpos: Floats, camera_pose: CameraPose | None = None) -> Picture:
        """Render a state of the world, as the mean of several pictures for soft shadows and smooth edges.

        Each picture is rendered with the sun and the camera shifted by one of `_sample_offsets`.

        Args:
            qpos: the state, as MuJoCo's position vector.
            camera_pose: where a camera that follows the robot is; None for where it is best.
        """
        if self._gl is None:
            raise UnavailableError("this film is closed", hint="create another Film")
        self._data.qpos[:] = qpos
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)
        if self._view in FOLLOWING:
            self._follow_robot(camera_pose)
        if isinstance(self._view, FilmCamera):
            self._make_near_walls_transparent()
        self._gl.make_current()
        all_categories = int(mujoco.mjtCatBit.mjCAT_ALL)
        sun_direction = self._data.light_xdir[self._sun_light].copy()
        total = np.zeros(self._pixels.shape, np.uint16)
        for offset in self._sample_offsets:
            direction = sun_direction + _SUN_RADIUS * np.append(offset, 0.0)
            self._data.light_xdir[self._sun_light] = direction / np.linalg.norm(direction)
            mujoco.mjv_updateScene(
                self._model, self._data, self._options, None, self._camera, all_categories, self._scene
            )
            self._leds.set_emission(self._scene)
            # shift the picture by less than a pixel
            for gl_camera in self._scene.camera:
                pixel_height = (gl_camera.frustum_top - gl_camera.frustum_bottom) / self._rectangle.height
                gl_camera.frustum_center += 0.5 * pixel_height * offset[0]
                gl_camera.frustum_top += 0.5 * pixel_height * offset[1]
                gl_camera.frustum_bottom += 0.5 * pixel_height * offset[1]
            mujoco.mjr_render(self._rectangle, self._scene, self._context)
            mujoco.mjr_readPixels(self._pixels, None, self._rectangle, self._context)
            total += self._pixels
        mean = (total + len(self._sample_offsets) // 2) // len(self._sample_offsets)  # rounded to the nearest
        # OpenGL has the bottom row first
        return np.ascontiguousarray(mean[::-1].astype(np.uint8))

    def _follow_robot(self, camera_pose: CameraPose | None) -> None:
        """Point the camera at the close-up's target or the robot, or move it to the given pose."""
        if camera_pose is None:
            target = self._close_up.target or self._data.xpos[self._followed_body]
            self._camera.lookat[:] = (target[0], target[1], self._close_up.height_m)
        else:
            self._camera.lookat[:] = camera_pose.target
            self._camera.azimuth = camera_pose.azimuth_deg
            self._camera.elevation = camera_pose.elevation_deg
            self._camera.distance = camera_pose.distance_m

    def _make_near_walls_transparent(self) -> None:
        """Make walls between the spectator and the field transparent, and the others opaque."""
        x, y, _z = camera_position(self._camera)
        arena = self._world.arena
        if arena is None or self._view is FilmCamera.TOP:
            return
        # whether the camera is behind the start wall, the end wall, the left wall and the right wall
        is_behind = (x < 0.0, x > arena.size_x, y > arena.size_y / 2.0, y < -arena.size_y / 2.0)
        opacity_column = 3
        for name, hides_field in zip(WALLS, is_behind, strict=True):
            if name in self._wall_geoms:
                geom = self._wall_geoms[name]
                self._model.geom_rgba[geom, opacity_column] = _GLASS_OPACITY if hides_field else 1.0

    def close(self) -> None:
        """Release the graphics context."""
        if self._gl is not None:
            self._gl.make_current()
            self._context.free()
            self._gl.free()
            self._gl = None

    def __enter__(self) -> Film:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def camera_picture(world: World, sensor: str, robot: str | None = None) -> Picture:
    """Return a camera sensor's current image in the sensor's size, `(height, width, 3)` uint8.

    Args:
        world: the world.
        sensor: the sensor's name.
        robot: the robot's name in the world; may be omitted if it is the only one.

    Raises:
        UnknownNameError: there is no such robot or camera sensor.
        UnavailableError: nothing can be rendered on this machine.
    """
    instance = world.instance(robot)
    cameras = {camera.name: camera for camera in instance.sensors if isinstance(camera, Camera | CodeReader)}
    if sensor not in cameras:
        raise UnknownNameError.among("camera", sensor, cameras)
    camera = cameras[sensor]
    with Film(world, camera.width, camera.height, camera=instance.prefix + sensor) as film:
        return film.now()


def _find_view(world: World, camera: FilmCamera | str) -> FilmCamera | str:
    """Return the spectator of that name, or the name of a camera sensor's camera in the model.

    Raises:
        UnknownNameError: there is no such camera.
    """
    if isinstance(camera, FilmCamera):
        return camera
    views: dict[str, FilmCamera | str] = {view.value: view for view in FilmCamera}
    for instance in world.instances.values():
        for sensor in instance.sensors:
            if isinstance(sensor, Camera | CodeReader):
                views[instance.prefix + sensor.name] = instance.prefix + camera_name(sensor.name)
    if camera not in views:
        raise UnknownNameError.among("camera", camera, views)
    return views[camera]


def _create_camera(
    world: World, view: FilmCamera | str, aspect: float, close_up: CloseUp
) -> mujoco.MjvCamera:
    """Return MuJoCo's camera of a view: one of the film's own, or a camera of the model by name."""
    if isinstance(view, FilmCamera):
        return spectator(world.arena, view, aspect, close_up)
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
    camera.fixedcamid = world.model.camera(view).id
    return camera


def _create_gl_context(width: int, height: int) -> _GlContext:
    """Return an OpenGL context for rendering off the screen.

    The environment variable MUJOCO_GL selects the backend, as everywhere in MuJoCo. On Linux the default is
    EGL, which needs no display.

    Raises:
        UnavailableError: the backend is unknown or does not work here.
    """
    default = "glfw"
    if sys.platform.startswith("linux"):
        default = "egl"
    elif sys.platform == "darwin":
        default = "cgl"
    backend = os.environ.get("MUJOCO_GL", "").lower().strip() or default
    if backend not in _GL_MODULES:
        raise UnavailableError(f"MUJOCO_GL={backend!r} is not a rendering backend", hint=_GL_HINT)
    try:
        context: _GlContext = importlib.import_module(_GL_MODULES[backend]).GLContext(width, height)
    except (ImportError, AttributeError, RuntimeError, OSError) as error:
        message = f"no picture can be rendered with {backend}: {error}"
        raise UnavailableError(message, hint=_GL_HINT) from error
    return context
