"""Measurements of a robot's model in a pose: its height, its mass and the length of its soles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from posewright.arrays import Floats
from posewright.simulation.body import SimulatedBody
from posewright.simulation.placement import sole_corners
from posewright.simulation.world import World

if TYPE_CHECKING:
    from posewright.robots import Robot


@dataclass(frozen=True, slots=True)
class ModelMeasures:
    """Height and mass of a model in a pose, and the longer edge of each sole."""

    height_m: float
    mass_kg: float
    sole_lengths_m: tuple[float, ...]


def measure(robot: Robot, pose: Floats) -> ModelMeasures:
    """Measure a robot's model as it stands in a pose, `(n_joints,)` [rad].

    Raises:
        InputError: the card has no model.
    """
    world = World(robot)
    SimulatedBody(world, start_pose=pose)  # puts the robot down in the pose
    corners = sole_corners(world.instance())
    next_corners = np.roll(corners, -1, axis=1)
    edge_lengths = np.linalg.norm(next_corners - corners, axis=-1)
    # body 0 is the world with its floor; all other geoms are the robot's
    robot_geoms = np.flatnonzero(world.model.geom_bodyid)
    bottoms, tops = zip(
        *(_vertical_extent(world.model, world.data, int(geom)) for geom in robot_geoms), strict=True
    )
    return ModelMeasures(
        height_m=max(tops) - min(bottoms),
        mass_kg=float(world.model.body_mass.sum()),
        sole_lengths_m=tuple(edge_lengths.max(axis=1).tolist()),
    )


def _vertical_extent(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> tuple[float, float]:
    """Return the lowest and the highest z of a geom [m]."""
    centre_z = float(data.geom_xpos[geom, 2])
    up = data.geom_xmat[geom, 6:9]  # the vertical in the geom's frame
    geom_type = model.geom_type[geom]
    size = model.geom_size[geom]
    if geom_type == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        first = model.mesh_vertadr[mesh]
        vertices = model.mesh_vert[first : first + model.mesh_vertnum[mesh]]
        heights = centre_z + vertices @ up
        return float(heights.min()), float(heights.max())
    if geom_type == mujoco.mjtGeom.mjGEOM_SPHERE:
        half_height = float(size[0])
    elif geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE:
        half_height = float(size[0] + abs(up[2]) * size[1])
    elif geom_type == mujoco.mjtGeom.mjGEOM_CYLINDER:
        half_height = float(abs(up[2]) * size[1] + math.sqrt(max(0.0, 1.0 - up[2] ** 2)) * size[0])
    elif geom_type == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        half_height = float(np.linalg.norm(up * size))
    else:
        half_height = float(np.abs(up) @ size)
    return centre_z - half_height, centre_z + half_height
