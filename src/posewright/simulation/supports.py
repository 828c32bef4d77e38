"""What of a robot may touch the floor: balls, and the corners of boxes as balls of no size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.arrays import Floats
from posewright.simulation.arena_model import FLOOR

if TYPE_CHECKING:
    from posewright.simulation.world import World

_CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
_ENDS = np.array([(0, 0, -1), (0, 0, 1)], dtype=np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Supports:
    """Balls whose convex hull is that of a robot.

    Attributes:
        centres: `(n, 3)` [m].
        radii: `(n,)` [m].
    """

    centres: Floats
    radii: Floats

    def heights(self, up: Floats) -> Floats:
        """Return how high the lowest point of each ball is along `up` `(..., 3)`: `(..., n)` [m]."""
        heights: Floats = up @ self.centres.T - self.radii
        return heights


def find_supports(world: World) -> Supports:
    """Return what of the robot may touch the floor, as it stands now, in the field frame.

    Spheres, capsules and boxes are exact; of any other shape, the corners of the box around it count.
    """
    model, data = world.model, world.data
    centres, radii = [], []
    for geom in _geoms(world):
        points, radius = _balls(model, geom)
        centres.append(data.geom_xpos[geom] + points @ data.geom_xmat[geom].reshape(3, 3).T)
        radii.append(np.full(len(points), radius))
    return Supports(np.concatenate(centres), np.concatenate(radii))


def _geoms(world: World) -> list[int]:
    """Return the robot's geoms that the floor stops."""
    model, floor = world.model, int(world.model.geom(FLOOR).id)
    kind, stops = int(model.geom_contype[floor]), int(model.geom_conaffinity[floor])
    own = model.body_rootid[model.geom_bodyid] == world.addresses.base_body
    touches = ((model.geom_contype & stops) | (model.geom_conaffinity & kind)) != 0
    return [int(geom) for geom in np.flatnonzero(own & touches)]


def _balls(model: Any, geom: int) -> tuple[Floats, float]:
    """Return the balls that bound a geom: their centres in its frame, `(k, 3)`, and their radius [m]."""
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    if kind == int(mujoco.mjtGeom.mjGEOM_SPHERE):
        return np.zeros((1, 3)), float(size[0])
    if kind == int(mujoco.mjtGeom.mjGEOM_CAPSULE):
        return _ENDS * size[1], float(size[0])
    return model.geom_aabb[geom, :3] + _CORNERS * model.geom_aabb[geom, 3:], 0.0
