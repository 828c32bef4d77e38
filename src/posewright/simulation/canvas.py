"""Drawing a MuJoCo state without a window."""

from __future__ import annotations

import importlib
import os
import sys
from types import TracebackType
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from posewright.errors import InputError, UnavailableError
from posewright.simulation.arena_model import PICTURE_HEIGHT, PICTURE_WIDTH

Picture = NDArray[np.uint8]
"""`(height, width, 3)`: red, green, blue, the top row first."""

_NO_GL = "install EGL (Debian: libegl1 libgl1-mesa-dri), or set MUJOCO_GL to egl, osmesa or glfw"
_WAYS = {"egl": "mujoco.egl", "osmesa": "mujoco.osmesa", "glfw": "mujoco.glfw", "cgl": "mujoco.cgl"}
_MAX_GEOMS = 2000


class Canvas:
    """A picture in memory that states of one model are drawn into; close it when done.

    Args:
        model: whose states are drawn.
        width: of the picture, at most `PICTURE_WIDTH`.
        height: of the picture, at most `PICTURE_HEIGHT`.

    Raises:
        InputError: the picture is too large or empty.
        UnavailableError: nothing can be drawn on this machine.
    """

    def __init__(self, model: Any, width: int, height: int) -> None:
        if not (0 < width <= PICTURE_WIDTH and 0 < height <= PICTURE_HEIGHT):
            raise InputError(
                f"cannot draw a picture of {width} x {height}",
                hint=f"at most {PICTURE_WIDTH} x {PICTURE_HEIGHT}",
            )
        self._model = model
        self._rectangle = mujoco.MjrRect(0, 0, width, height)
        self._pixels = np.empty((height, width, 3), dtype=np.uint8)
        self._gl: Any = _gl_context(width, height)
        self._gl.make_current()
        self._context: Any = mujoco.MjrContext(model, int(mujoco.mjtFontScale.mjFONTSCALE_100))
        mujoco.mjr_setBuffer(int(mujoco.mjtFramebuffer.mjFB_OFFSCREEN), self._context)
        self._scene: Any = mujoco.MjvScene(model, maxgeom=_MAX_GEOMS)
        self._options: Any = mujoco.MjvOption()

    def draw(self, data: Any, camera: Any) -> Picture:
        """Return a new picture of a state as a camera sees it."""
        self._gl.make_current()
        mujoco.mjv_updateScene(
            self._model, data, self._options, None, camera, int(mujoco.mjtCatBit.mjCAT_ALL), self._scene
        )
        mujoco.mjr_render(self._rectangle, self._scene, self._context)
        mujoco.mjr_readPixels(self._pixels, None, self._rectangle, self._context)
        return np.ascontiguousarray(self._pixels[::-1])

    def close(self) -> None:
        """Give back what the graphics driver holds."""
        if self._gl is not None:
            self._gl.make_current()
            self._context.free()
            self._gl.free()
            self._gl = None

    def __enter__(self) -> Canvas:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


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
