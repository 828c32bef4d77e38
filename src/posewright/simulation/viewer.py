"""A live window on a world."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Any

from posewright.errors import UnavailableError
from posewright.simulation.cameras import FilmCamera, spectator
from posewright.simulation.world import World

_HINT = "record the run and make a film of it instead"


class LiveView:
    """A window that shows a world while it runs; `sync` it now and then.

    Args:
        world: what is shown.

    Raises:
        InputError: the world was made without its visuals.
        UnavailableError: there is no display, or no window can be opened on it.
    """

    def __init__(self, world: World) -> None:
        world.refuse_bare()
        if sys.platform.startswith("linux") and not _has_display():
            raise UnavailableError("a live window needs a display, and there is none here", hint=_HINT)
        self._window: Any = _open(world)

    @property
    def is_open(self) -> bool:
        """Whether the person has not closed the window."""
        return bool(self._window.is_running())

    def sync(self) -> None:
        """Show the world as it is now."""
        if self.is_open:
            self._window.sync()

    def close(self) -> None:
        """Close the window."""
        self._window.close()

    def __enter__(self) -> LiveView:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _has_display() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _open(world: World) -> Any:
    try:
        import mujoco.viewer

        window = mujoco.viewer.launch_passive(
            world.model, world.data, show_left_ui=False, show_right_ui=False
        )
    except (
        ImportError,
        RuntimeError,
        AttributeError,
    ) as error:  # AttributeError: MuJoCo without its studio part
        raise UnavailableError(f"no live window can be opened: {error}", hint=_HINT) from error
    camera = spectator(world.arena, FilmCamera.FIELD)
    with window.lock():
        window.cam.lookat[:] = camera.lookat
        window.cam.azimuth, window.cam.elevation = camera.azimuth, camera.elevation
        window.cam.distance = camera.distance
    return window
