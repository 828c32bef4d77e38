"""Simulation of robots in an arena with MuJoCo, which loads when a name of this package is first used.

MuJoCo's bindings are compiled and ship no type stubs: to a type checker, `mujoco.MjModel`, `mujoco.MjData`
and their relatives are `Any` (see `tool.mypy.overrides` in pyproject.toml). Annotations name the real classes
all the same, so that a reader knows what an argument is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.simulation.arena_model import arena_mjcf as arena_mjcf
    from posewright.simulation.body import SimulatedBody as SimulatedBody
    from posewright.simulation.cameras import FilmCamera as FilmCamera
    from posewright.simulation.film import Film as Film
    from posewright.simulation.mounts import sensor_poses as sensor_poses
    from posewright.simulation.placement import Lean as Lean
    from posewright.simulation.robot_model import light_joints as light_joints
    from posewright.simulation.viewer import LiveView as LiveView
    from posewright.simulation.world import World as World
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
