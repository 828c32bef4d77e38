"""A robot's lights in a picture: the geom of its model that is called as the LED is glows in its colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from posewright.arrays import Floats
from posewright.simulation.instance import ModelInstance

Lights = Mapping[str, Mapping[str, Floats]]
"""Colours `(3,)`, 0..1, by robot and LED; NaN where a light was told nothing."""

_DEFAULT = (0.5, 0.5, 0.5, 1.0)
"""MuJoCo's colour of a geom that has none of its own, and so that of its material."""


class Lamps:
    """Lights geoms of a model that nobody else draws.

    Args:
        model: MuJoCo's; its colours are changed.
        instances: the robots in it.
    """

    def __init__(self, model: Any, instances: Sequence[ModelInstance]) -> None:
        self._model = model
        self._geoms: dict[tuple[str, str], int] = {}
        kind = int(mujoco.mjtObj.mjOBJ_GEOM)
        for one in instances:
            for led in one.robot.leds:
                geom = int(mujoco.mj_name2id(model, kind, one.prefix + led.name))
                if geom >= 0:
                    self._geoms[one.name, led.name] = geom
        self._unlit = {geom: _colour(model, geom) for geom in self._geoms.values()}
        self._glow: dict[int, float] = {}

    def show(self, lights: Lights) -> None:
        """Give the geoms their colours: unlit they look as in the model, fully lit as their light."""
        self._glow = {}
        for (robot, led), geom in self._geoms.items():
            colour = np.nan_to_num(lights.get(robot, {}).get(led, np.zeros(3)))
            bright = float(np.clip(colour.max(), 0.0, 1.0))
            self._model.geom_rgba[geom, :3] = (1.0 - bright) * self._unlit[geom] + colour
            self._glow[geom] = bright

    def kindle(self, scene: Any) -> None:
        """Let the geoms of a scene give light of their own, so that they are seen lit from all sides."""
        if not any(self._glow.values()):
            return
        kind = int(mujoco.mjtObj.mjOBJ_GEOM)
        for geom in scene.geoms[: scene.ngeom]:
            if geom.objtype == kind and geom.objid in self._glow:
                geom.emission = max(geom.emission, self._glow[geom.objid])


def _colour(model: Any, geom: int) -> Floats:
    """Return what a geom looks like, red, green and blue `(3,)`."""
    material, own = int(model.geom_matid[geom]), model.geom_rgba[geom]
    from_material = material >= 0 and np.allclose(own, _DEFAULT)
    return np.array(model.mat_rgba[material, :3] if from_material else own[:3], dtype=np.float64)
