"""The simulated body: a robot in an arena, in MuJoCo.

Names load on first use, so that importing this package does not load MuJoCo.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from posewright.simulation.body import SimulatedBody
    from posewright.simulation.film import Film
    from posewright.simulation.holding import light_joints
    from posewright.simulation.mounting import sensor_poses
    from posewright.simulation.placing import Lean
    from posewright.simulation.spectator import FilmCamera
    from posewright.simulation.viewer import LiveView
    from posewright.simulation.world import World

_ROOM = {
    "Film": "film",
    "FilmCamera": "spectator",
    "Lean": "placing",
    "LiveView": "viewer",
    "SimulatedBody": "body",
    "World": "world",
    "light_joints": "holding",
    "sensor_poses": "mounting",
}

__all__ = [
    "Film",
    "FilmCamera",
    "Lean",
    "LiveView",
    "SimulatedBody",
    "World",
    "light_joints",
    "sensor_poses",
]


if not TYPE_CHECKING:  # else any name, misspelt ones too, would be there for who checks types

    def __getattr__(name: str) -> object:
        if name not in _ROOM:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{__name__}.{_ROOM[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
