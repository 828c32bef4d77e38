"""Measuring a robot's model in a pose: how tall it stands, what it weighs, how long its soles are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.arrays import Floats
from posewright.simulation.body import SimulatedBody
from posewright.simulation.placing import sole_corners
from posewright.simulation.world import World

if TYPE_CHECKING:
    from posewright.robots import Robot


@dataclass(frozen=True, slots=True)
class ModelMeasures:
    """What a model measures in a pose: its height and mass, and the longer edge of each sole."""

    height_m: float
    mass_kg: float
    soles_m: tuple[float, ...]


def measure(robot: Robot, pose: Floats) -> ModelMeasures:
    """Measure a robot's model in a pose, `(n_joints,)` [rad].

    Raises:
        InputError: the card has no model.
    """
    world = World(robot)
    SimulatedBody(world, start_pose=pose)
    soles = sole_corners(world.instance())
    edges = np.linalg.norm(np.roll(soles, -1, axis=1) - soles, axis=-1)
    own = np.flatnonzero(world.model.geom_bodyid)  # all but the floor: there is nothing else on it
    lows, highs = zip(*(_reach(world.model, world.data, int(geom)) for geom in own), strict=True)
    return ModelMeasures(
        max(highs) - min(lows), float(world.model.body_mass.sum()), tuple(edges.max(axis=1).tolist())
    )


def _reach(model: Any, data: Any, geom: int) -> tuple[float, float]:
    """Return the lowest and the highest z of a shape [m]."""
    middle, up = float(data.geom_xpos[geom, 2]), data.geom_xmat[geom, 6:9]
    kind, size = model.geom_type[geom], model.geom_size[geom]
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        first = model.mesh_vertadr[mesh]
        z = middle + model.mesh_vert[first : first + model.mesh_vertnum[mesh]] @ up
        return float(z.min()), float(z.max())
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        half = float(size[0])
    elif kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        half = float(size[0] + abs(up[2]) * size[1])
    elif kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        half = float(abs(up[2]) * size[1] + math.sqrt(max(0.0, 1.0 - up[2] ** 2)) * size[0])
    elif kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        half = float(np.linalg.norm(up * size))
    else:
        half = float(np.abs(up) @ size)
    return middle - half, middle + half
