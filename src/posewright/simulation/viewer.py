"""A live window on a world."""

from __future__ import annotations

import os
import sys
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
        has_display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        if sys.platform.startswith("linux") and not has_display:
            raise UnavailableError("a live window needs a display, and there is none here", hint=_HINT)
        try:
            import mujoco.viewer

            self._window: Any = mujoco.viewer.launch_passive(
                world.model, world.data, show_left_ui=False, show_right_ui=False
            )
        except (ImportError, RuntimeError, AttributeError) as error:  # the last: without its studio part
            raise UnavailableError(f"no live window can be opened: {error}", hint=_HINT) from error
        camera = spectator(world.arena, FilmCamera.FIELD)
        with self._window.lock():
            self._window.cam.lookat[:] = camera.lookat
            self._window.cam.azimuth, self._window.cam.elevation = camera.azimuth, camera.elevation
            self._window.cam.distance = camera.distance

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

    def __exit__(self, *_: object) -> None:
        self.close()
