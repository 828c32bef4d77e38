"""Pictures of a world: what a spectator sees, what a camera on the robot sees, and replays."""

from __future__ import annotations

import copy
import importlib
import math
import os
import sys
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from posewright.arenas import WALLS
from posewright.arrays import Floats
from posewright.errors import InputError, UnavailableError, UnknownNameError
from posewright.robots import Camera, CodeReader
from posewright.simulation.arena_model import PICTURE_HEIGHT, PICTURE_WIDTH, SUN
from posewright.simulation.assembly import camera_name
from posewright.simulation.cameras import (
    FOLLOWING,
    CloseUp,
    FilmCamera,
    close_up_on,
    eye,
    spectator,
    top_height_m,
)
from posewright.simulation.lamps import Lamps, Lights
from posewright.simulation.sights import Sight
from posewright.simulation.world import Pose, World

Picture = NDArray[np.uint8]
"""`(height, width, 3)`: red, green, blue, the top row first."""

_NO_GL = "install EGL (Debian: libegl1 libgl1-mesa-dri), or set MUJOCO_GL to egl, osmesa or glfw"
_WAYS = {"egl": "mujoco.egl", "osmesa": "mujoco.osmesa", "glfw": "mujoco.glfw", "cgl": "mujoco.cgl"}
_MAX_GEOMS = 2000

_HARD, _SOFT = (2048, 2), (1024, 0)
"""Edge of the shadow map and samples a pixel, of a picture that is drawn once and of the mean of many."""

_SUN_WIDTH = 0.09
"""How large the sun is, over its distance: as large as on a hazy day, for soft shadows."""

_SUNS = 8
_RADII, _ANGLES = (
    np.sqrt((np.arange(_SUNS) + 0.5) / _SUNS),
    np.arange(_SUNS) * math.pi * (3.0 - math.sqrt(5.0)),
)
_ASIDE = np.stack([_RADII * np.cos(_ANGLES), _RADII * np.sin(_ANGLES)], axis=-1)
"""Points that fill a disc evenly, as a sunflower's seeds do. A picture that takes its time is the mean of so
many, with the sun, and within a pixel the camera, at each of them: shadows and edges are soft."""

_FEW_FACETS, _FACETS = (24, 14), (40, 24)
"""Around a ball, and from pole to pole: with few a robot of round parts is drawn in a third of the time."""

_GLASS = 0.07
"""Opacity of a wall that stands between the spectator and the field."""


class Film:
    """Draws a world, off the screen; close it when done, or use it in a `with` statement.

    Its pictures never disturb the world: it keeps a model and a state of its own.

    Args:
        world: what is drawn.
        width: of the pictures, even for most video formats.
        height: of the pictures.
        camera: a `FilmCamera`, its name, or the name of a camera sensor of a robot, after the robot's own
            and a slash where there are several. What follows a robot follows the first.
        quick: draw hard shadows, in a fifth of the time: for long films on a machine without a GPU.
        close_up: how a camera that follows the robot looks at it; None for the whole robot with room around.

    Raises:
        InputError: the picture is too large, or the world was made without its visuals.
        UnknownNameError: there is no such camera.
        UnavailableError: nothing can be drawn on this machine.
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
    ) -> None:
        world.refuse_bare()
        if not (0 < width <= PICTURE_WIDTH and 0 < height <= PICTURE_HEIGHT):
            at_most = f"at most {PICTURE_WIDTH} x {PICTURE_HEIGHT}"
            raise InputError(f"cannot draw a picture of {width} x {height}", hint=at_most)
        self._world = world
        first = next(iter(world.instances.values()))
        self._close_up = close_up or close_up_on(first)
        self._followed = first.addresses.base_body
        self._view = _view(world, camera)
        self._model: Any = copy.copy(world.model)
        # A box that sleeps is not moved by new positions, and replay is nothing but new positions.
        self._model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        quality = self._model.vis.quality
        quality.numslices, quality.numstacks = _FEW_FACETS if quick else _FACETS
        quality.shadowsize, quality.offsamples = _HARD if quick else _SOFT
        self._suns = np.zeros((1, 2)) if quick else _ASIDE
        self._sun = int(mujoco.mj_name2id(world.model, int(mujoco.mjtObj.mjOBJ_LIGHT), SUN))
        if self._view is FilmCamera.TOP:
            self._model.vis.global_.fovy = top_height_m(world.arena, width / height)
            self._model.vis.global_.orthographic = 1  # MuJoCo 3 does not heed the camera's own
        self._data: Any = mujoco.MjData(self._model)
        self._camera = _camera(world, self._view, width / height, self._close_up)
        standing = [] if world.arena is None else [wall.name for wall in world.arena.walls]
        self._walls = {name: int(self._model.geom(name).id) for name in WALLS if name in standing}
        self._lamps = Lamps(self._model, list(world.instances.values()))
        self._rectangle = mujoco.MjrRect(0, 0, width, height)
        self._pixels = np.empty((height, width, 3), dtype=np.uint8)
        self._gl: Any = _gl_context(width, height)
        self._gl.make_current()
        self._context: Any = mujoco.MjrContext(self._model, int(mujoco.mjtFontScale.mjFONTSCALE_100))
        mujoco.mjr_setBuffer(int(mujoco.mjtFramebuffer.mjFB_OFFSCREEN), self._context)
        self._scene: Any = mujoco.MjvScene(self._model, maxgeom=_MAX_GEOMS)
        self._options: Any = mujoco.MjvOption()

    def now(self) -> Picture:
        """Return a picture of the world as it is now, `(height, width, 3)` uint8."""
        return self._draw(self._world.data.qpos)

    def frame(
        self,
        poses: Pose | Mapping[str, Pose],
        boxes: ArrayLike = (),
        sight: Sight | None = None,
        lights: Lights | None = None,
    ) -> Picture:
        """Return a picture of poses as a recording has them, as `World.qpos_of` takes them.

        A `sight` says how a camera that follows the robot looks at it; None for where it always stands.
        Lights of robots that `lights` does not name are off.
        """
        self._lamps.show(lights or {})
        return self._draw(self._world.qpos_of(poses, boxes), sight)

    def _draw(self, qpos: Floats, sight: Sight | None = None) -> Picture:
        self._data.qpos[:] = qpos
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        mujoco.mj_camlight(self._model, self._data)
        if self._view in FOLLOWING:
            self._follow(sight)
        if isinstance(self._view, FilmCamera):
            self._see_through_near_walls()
        self._gl.make_current()
        every = int(mujoco.mjtCatBit.mjCAT_ALL)
        shining, total = self._data.light_xdir[self._sun].copy(), np.zeros(self._pixels.shape, np.uint16)
        for aside in self._suns:
            sun = shining + _SUN_WIDTH * np.append(aside, 0.0)
            self._data.light_xdir[self._sun] = sun / np.linalg.norm(sun)
            mujoco.mjv_updateScene(
                self._model, self._data, self._options, None, self._camera, every, self._scene
            )
            self._lamps.kindle(self._scene)
            for lens in self._scene.camera:
                pixel = (lens.frustum_top - lens.frustum_bottom) / self._rectangle.height
                lens.frustum_center += 0.5 * pixel * aside[0]
                lens.frustum_top += 0.5 * pixel * aside[1]
                lens.frustum_bottom += 0.5 * pixel * aside[1]
            mujoco.mjr_render(self._rectangle, self._scene, self._context)
            mujoco.mjr_readPixels(self._pixels, None, self._rectangle, self._context)
            total += self._pixels
        mean = (total + len(self._suns) // 2) // len(self._suns)
        return np.ascontiguousarray(mean[::-1].astype(np.uint8))

    def _follow(self, sight: Sight | None) -> None:
        if sight is None:
            base = self._close_up.place or self._data.xpos[self._followed]
            self._camera.lookat[:] = (base[0], base[1], self._close_up.height_m)
        else:
            self._camera.lookat[:] = sight.place
            self._camera.azimuth, self._camera.elevation = sight.azimuth_deg, sight.elevation_deg
            self._camera.distance = sight.distance_m

    def _see_through_near_walls(self) -> None:
        """Draw those walls as glass that the spectator stands behind."""
        (x, y), arena = eye(self._camera)[:2], self._world.arena
        if arena is None or self._view is FilmCamera.TOP:
            return
        beyond = (x < 0.0, x > arena.size_x, y > arena.size_y / 2.0, y < -arena.size_y / 2.0)
        for name, is_beyond in zip(WALLS, beyond, strict=True):
            if name in self._walls:
                self._model.geom_rgba[self._walls[name], 3] = _GLASS if is_beyond else 1.0

    def close(self) -> None:
        """Give back what the graphics driver holds."""
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
    """Return what a camera sensor of a robot sees now, in its own size, `(height, width, 3)` uint8."""
    one = world.instance(robot)
    cameras = {sensor.name: sensor for sensor in one.sensors if isinstance(sensor, Camera | CodeReader)}
    if sensor not in cameras:
        raise UnknownNameError.among("camera", sensor, cameras)
    spec = cameras[sensor]
    with Film(world, spec.width, spec.height, one.prefix + sensor) as film:
        return film.now()


def _view(world: World, wanted: FilmCamera | str) -> FilmCamera | str:
    """Return a spectator's place, or the name of a robot's camera in the model."""
    if isinstance(wanted, FilmCamera):
        return wanted
    cameras: dict[str, FilmCamera | str] = {view.value: view for view in FilmCamera}
    for one in world.instances.values():
        for sensor in one.sensors:
            if isinstance(sensor, Camera | CodeReader):
                cameras[one.prefix + sensor.name] = one.prefix + camera_name(sensor.name)
    if wanted not in cameras:
        raise UnknownNameError.among("camera", wanted, cameras)
    return cameras[wanted]


def _camera(world: World, view: FilmCamera | str, aspect: float, close_up: CloseUp) -> Any:
    if isinstance(view, FilmCamera):
        return spectator(world.arena, view, aspect, close_up)
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
    camera.fixedcamid = world.model.camera(view).id
    return camera


def _gl_context(width: int, height: int) -> Any:
    """Return an OpenGL context for drawing off the screen.

    MUJOCO_GL chooses the way, as everywhere in MuJoCo; unset on Linux, EGL is taken: it needs no display.
    """
    default = "egl" if sys.platform.startswith("linux") else "cgl" if sys.platform == "darwin" else "glfw"
    way = os.environ.get("MUJOCO_GL", "").lower().strip() or default
    if way not in _WAYS:
        raise UnavailableError(f"MUJOCO_GL={way!r} draws nothing", hint=_NO_GL)
    try:
        return importlib.import_module(_WAYS[way]).GLContext(width, height)
    except (ImportError, AttributeError, RuntimeError, OSError) as error:
        raise UnavailableError(f"no pictures can be drawn here: {way}: {error}", hint=_NO_GL) from error
