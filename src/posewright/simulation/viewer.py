"""A window that shows a world while it runs."""

from __future__ import annotations

import os
import sys

from posewright.errors import UnavailableError
from posewright.simulation.cameras import FilmCamera, spectator
from posewright.simulation.world import World

_HINT = "record the run and make a film of it instead"


class LiveView:
    """A window that shows a world while it runs; call `sync` to update it.

    Args:
        world: the world to show.

    Raises:
        InputError: the world was made without its visuals.
        UnavailableError: there is no display, or no window can be opened on it.
    """

    def __init__(self, world: World) -> None:
        """Open the window, with the camera of a spectator."""
        world.require_visuals()
        has_display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
        if sys.platform.startswith("linux") and not has_display:
            message = "a live window needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set"
            raise UnavailableError(message, hint=_HINT)
        try:
            import mujoco.viewer

            self._window: mujoco.viewer.Handle = mujoco.viewer.launch_passive(
                world.model, world.data, show_left_ui=False, show_right_ui=False
            )
        except (ImportError, RuntimeError, AttributeError) as error:  # AttributeError: no viewer built in
            raise UnavailableError(f"no live window can be opened: {error}", hint=_HINT) from error
        camera = spectator(world.arena, FilmCamera.FIELD)
        with self._window.lock():
            self._window.cam.lookat[:] = camera.lookat
            self._window.cam.azimuth = camera.azimuth
            self._window.cam.elevation = camera.elevation
            self._window.cam.distance = camera.distance

    @property
    def is_open(self) -> bool:
        """Whether the window has not been closed."""
        return bool(self._window.is_running())

    def sync(self) -> None:
        """Show the world's current state."""
        if self.is_open:
            self._window.sync()

    def close(self) -> None:
        """Close the window."""
        self._window.close()

    def __enter__(self) -> LiveView:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
