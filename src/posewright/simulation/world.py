"""A robot in an arena, compiled into one MuJoCo model with its state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.bodies import DomainParameters
from posewright.simulation.addresses import Addresses, find_addresses
from posewright.simulation.assembly import Economy, compile_world, substeps
from posewright.simulation.complaints import listen
from posewright.simulation.varying import ModelVariation

if TYPE_CHECKING:
    from posewright.arenas import Arena
    from posewright.bodies import JointCommands, JointStates
    from posewright.robots import Robot, SensorSpec
    from posewright.simulation.body import SimulatedBody


class World:
    """A robot in an arena: the model, its state, and where everything stands in it.

    Args:
        robot: the card; its model file is loaded.
        arena: with its boxes; None for a bare floor.
        sensors: further ones besides the card's; one of the same name takes its place.
        looks: whether things that touch nothing are there; without them it runs faster, with the same states
            to the last bit, but cannot be drawn.
        held: joints that are welded, and at which angle [rad]: they cost nothing. A track still has all
            joints, these with that angle and without load; commands to them are ignored.
        timestep_s: of the physics, such as a coarser one for a search; None for the model's own [s].

    Raises:
        InputError: the card has no model, the model does not fit the card, an angle is outside its joint's
            limits, or the time step does not divide the card's frame.
        UnknownNameError: the robot has no joint of that name.
    """

    def __init__(
        self,
        robot: Robot,
        arena: Arena | None = None,
        *,
        sensors: Sequence[SensorSpec] = (),
        looks: bool = True,
        held: Mapping[str, float] | None = None,
        timestep_s: float | None = None,
    ) -> None:
        listen()
        self.robot = robot
        self.arena = arena
        by_name = {sensor.name: sensor for sensor in (*robot.sensors, *sensors)}
        self.sensors: tuple[SensorSpec, ...] = tuple(by_name.values())
        self.n_boxes = 0 if arena is None else len(arena.boxes)
        self.looks = looks
        economy = Economy(looks, dict(held or {}), timestep_s)
        self.model: Any = compile_world(robot, arena, self.sensors, economy)
        self.data: Any = mujoco.MjData(self.model)
        self.addresses: Addresses = find_addresses(self.model, robot, self.n_boxes, economy.held)
        self.n_substeps = substeps(robot, float(self.model.opt.timestep))
        self._variation: ModelVariation | None = None
        self.bodies: dict[str, SimulatedBody] = {}

    @property
    def frame_period_s(self) -> float:
        """The time between two commands [s]."""
        return self.robot.frame_period_s

    def advance(self, commands: Mapping[str, JointCommands]) -> Mapping[str, JointStates]:
        """Let every robot follow its commands."""
        return {name: body.play(commands[name]) for name, body in self.bodies.items()}

    @property
    def robot_mass_kg(self) -> float:
        """The mass of the whole robot [kg]."""
        return float(self.model.body_subtreemass[self.addresses.base_body])

    @property
    def held_joints(self) -> tuple[str, ...]:
        """The joints that are welded, in the card's order."""
        moving = set(self.addresses.moving.tolist())
        return tuple(name for place, name in enumerate(self.robot.joint_names) if place not in moving)

    @property
    def base(self) -> Floats:
        """Pose of the base x y z qw qx qy qz, `(7,)` [m, unit quaternion]."""
        pose: Floats = self.data.qpos[self.addresses.base_qpos].copy()
        return pose

    @property
    def boxes(self) -> Floats:
        """Pose of each box x y z qw qx qy qz, `(n_boxes, 7)`."""
        poses: Floats = self.data.qpos[self.addresses.box_qpos].copy()
        return poses.reshape(self.n_boxes, 7)

    @property
    def joint_positions(self) -> Floats:
        """Joint angles, `(n_joints,)` [rad]."""
        at = self.addresses
        return at.of_all(self.data.qpos[at.joint_qpos], at.held)

    def vary(self, variation: DomainParameters) -> None:
        """Give the model the masses, rotors and ground of one body; the state is left alone.

        A body does this when it begins; its servos and its latency are its own affair. What was changed in
        the model by hand before the first variation belongs to the nominal body; later changes are lost.
        """
        if self._variation is None:
            if variation.is_nominal:
                return
            self._variation = ModelVariation(self)
        self._variation.apply(variation)

    def reset(self) -> None:
        """Put everything back to the very beginning: boxes as the arena has them, no velocities."""
        mujoco.mj_resetData(self.model, self.data)

    def qpos_from(self, base: ArrayLike, joint_positions: ArrayLike, boxes: ArrayLike = ()) -> Floats:
        """Return MuJoCo's position vector for poses as a track has them.

        Args:
            base: `(7,)`.
            joint_positions: `(n_joints,)` [rad]; of held joints they are ignored.
            boxes: `(n_boxes, 7)`; empty to leave the boxes where the arena has them.
        """
        qpos: Floats = np.array(self.model.qpos0, dtype=np.float64)
        qpos[self.addresses.base_qpos] = base
        qpos[self.addresses.joint_qpos] = self.addresses.of_moving(np.asarray(joint_positions))
        places = np.asarray(boxes, dtype=np.float64)
        if places.size:
            qpos[self.addresses.box_qpos] = places.ravel()
        return qpos

    def show(self, base: ArrayLike, joint_positions: ArrayLike, boxes: ArrayLike = ()) -> None:
        """Set the state to poses of a track, without velocities and without physics."""
        self.data.qpos[:] = self.qpos_from(base, joint_positions, boxes)
        self.data.qvel[:] = 0.0
        mujoco.mj_forward(self.model, self.data)
