"""A robot in an arena, compiled into one MuJoCo model with its state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from posewright.bodies import Floats
from posewright.simulation.addresses import Addresses, find_addresses
from posewright.simulation.assembly import compile_world, substeps
from posewright.simulation.complaints import listen

if TYPE_CHECKING:
    from posewright.arenas import Arena
    from posewright.robots import Robot, SensorSpec


class World:
    """A robot in an arena: the model, its state, and where everything stands in it.

    Args:
        robot: the card; its model file is loaded.
        arena: with its boxes; None for a bare floor.
        sensors: further ones besides the card's; one of the same name takes its place.

    Raises:
        InputError: the card has no model, or the model does not fit the card.
    """

    def __init__(
        self, robot: Robot, arena: Arena | None = None, *, sensors: Sequence[SensorSpec] = ()
    ) -> None:
        listen()
        self.robot = robot
        self.arena = arena
        by_name = {sensor.name: sensor for sensor in (*robot.sensors, *sensors)}
        self.sensors: tuple[SensorSpec, ...] = tuple(by_name.values())
        self.n_boxes = 0 if arena is None else len(arena.boxes)
        self.model: Any = compile_world(robot, arena, self.sensors)
        self.data: Any = mujoco.MjData(self.model)
        self.addresses: Addresses = find_addresses(self.model, robot, self.n_boxes)
        self.n_substeps = substeps(robot, float(self.model.opt.timestep))

    @property
    def robot_mass_kg(self) -> float:
        """The mass of the whole robot [kg]."""
        return float(self.model.body_subtreemass[self.addresses.trunk_body])

    @property
    def trunk(self) -> Floats:
        """Pose of the trunk x y z qw qx qy qz, `(7,)` [m, unit quaternion]."""
        pose: Floats = self.data.qpos[self.addresses.trunk_qpos].copy()
        return pose

    @property
    def boxes(self) -> Floats:
        """Pose of each box x y z qw qx qy qz, `(n_boxes, 7)`."""
        poses: Floats = self.data.qpos[self.addresses.box_qpos].copy()
        return poses.reshape(self.n_boxes, 7)

    @property
    def joint_positions(self) -> Floats:
        """Joint angles, `(n_joints,)` [rad]."""
        angles: Floats = self.data.qpos[self.addresses.joint_qpos]
        return angles

    def reset(self) -> None:
        """Put everything back to the very beginning: boxes as the arena has them, no velocities."""
        mujoco.mj_resetData(self.model, self.data)

    def qpos_from(self, trunk: ArrayLike, joint_positions: ArrayLike, boxes: ArrayLike = ()) -> Floats:
        """Return MuJoCo's position vector for poses as a track has them.

        Args:
            trunk: `(7,)`.
            joint_positions: `(n_joints,)` [rad].
            boxes: `(n_boxes, 7)`; empty to leave the boxes where the arena has them.
        """
        qpos: Floats = np.array(self.model.qpos0, dtype=np.float64)
        qpos[self.addresses.trunk_qpos] = trunk
        qpos[self.addresses.joint_qpos] = joint_positions
        places = np.asarray(boxes, dtype=np.float64)
        if places.size:
            qpos[self.addresses.box_qpos] = places.ravel()
        return qpos

    def show(self, trunk: ArrayLike, joint_positions: ArrayLike, boxes: ArrayLike = ()) -> None:
        """Set the state to poses of a track, without velocities and without physics."""
        self.data.qpos[:] = self.qpos_from(trunk, joint_positions, boxes)
        self.data.qvel[:] = 0.0
        mujoco.mj_forward(self.model, self.data)
