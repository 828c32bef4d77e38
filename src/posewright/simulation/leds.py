"""A robot's LEDs in rendered pictures: the geom of its model with the LED's name takes the LED's colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import mujoco
import numpy as np

from posewright.arrays import Floats
from posewright.simulation.instance import ModelInstance

Lights = Mapping[str, Mapping[str, Floats]]
"""Colours `(3,)`, 0..1, by robot and LED; NaN for a channel without a value, which is dark."""

_DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)
"""MuJoCo's colour of a geom without a colour of its own, which has that of its material."""


class LedGeoms:
    """The geoms of a model that stand for LEDs.

    Args:
        model: a model used for rendering only; its colours are changed.
        instances: the robots in it.
    """

    def __init__(self, model: mujoco.MjModel, instances: Sequence[ModelInstance]) -> None:
        """Find the geoms that have the names of LEDs, and store their colours."""
        self._model = model
        self._geoms: dict[tuple[str, str], int] = {}  # by the names of robot and LED
        for instance in instances:
            for led in instance.robot.leds:
                geom_name = instance.prefix + led.name
                geom = int(mujoco.mj_name2id(model, int(mujoco.mjtObj.mjOBJ_GEOM), geom_name))
                if geom >= 0:
                    self._geoms[instance.name, led.name] = geom
        self._unlit_colours = {geom: geom_colour(model, geom) for geom in self._geoms.values()}
        self._brightness_of_geom: dict[int, float] = {}  # 0..1

    def show(self, lights: Lights) -> None:
        """Set the geoms' colours, blended from the model's colour (off) to the light's (full brightness)."""
        self._brightness_of_geom = {}
        for (robot, led), geom in self._geoms.items():
            colour = np.nan_to_num(lights.get(robot, {}).get(led, np.zeros(3)))
            brightness = float(np.clip(colour.max(), 0.0, 1.0))
            self._model.geom_rgba[geom, :3] = (1.0 - brightness) * self._unlit_colours[geom] + colour
            self._brightness_of_geom[geom] = brightness

    def set_emission(self, scene: mujoco.MjvScene) -> None:
        """Make the lit geoms of a scene emit light, so that they look lit from all sides."""
        if not any(self._brightness_of_geom.values()):
            return
        geom_type = int(mujoco.mjtObj.mjOBJ_GEOM)
        for geom in scene.geoms[: scene.ngeom]:
            if geom.objtype == geom_type and geom.objid in self._brightness_of_geom:
                geom.emission = max(geom.emission, self._brightness_of_geom[geom.objid])


def geom_colour(model: mujoco.MjModel, geom: int) -> Floats:
    """Return red, green and blue of a geom, its material's if it has none of its own, `(3,)`."""
    material = int(model.geom_matid[geom])
    rgba = model.geom_rgba[geom]
    if material >= 0 and np.allclose(rgba, _DEFAULT_RGBA):
        rgba = model.mat_rgba[material]
    return np.array(rgba[:3], dtype=np.float64)
