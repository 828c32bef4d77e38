"""One robot of a world: its card, and where its things stand in MuJoCo's arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Flags, Floats, Indices
from posewright.errors import InputError, Where
from posewright.simulation.arena_model import box_name

if TYPE_CHECKING:
    from posewright.arenas import Arena
    from posewright.robots import Robot, SensorSpec

_CORNER_SIGNS = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)], dtype=np.float64)
"""Signs of x (front) and y (left): front-left, front-right, rear-right, rear-left."""


def evenly(numbers: Indices) -> slice | Indices:
    """Return the slice that takes these numbers, where they rise by even steps: it copies nothing."""
    if not len(numbers):
        return slice(0, 0)
    steps = set(np.diff(numbers).tolist()) or {1}
    if len(steps) > 1 or min(steps) < 1:
        return numbers
    return slice(int(numbers[0]), int(numbers[-1]) + 1, steps.pop())


def foot_sensor(foot: str) -> str:
    """Return the name of the contact sensor between a foot and the floor."""
    return f"foot_contact:{foot}"


def box_sensor(index: int) -> str:
    """Return the name of the contact sensor between the robot and a box."""
    return f"box_contact:{index}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Addresses:
    """Indices into MuJoCo's arrays; joints in the order of `robot.joint_names`.

    A joint that is welded is none of MuJoCo's: `moving` says which columns of `(n_joints,)` the others are.

    Attributes:
        base_body: body that carries the free joint.
        base_qpos: of its pose x y z qw qx qy qz.
        base_qvel: of its velocity.
        joint_qpos: `(n_moving,)`.
        joint_qvel: `(n_moving,)`.
        actuators: `(n_moving,)`.
        moving: the joints that are not welded, `(n_moving,)`.
        welded: the angles of those that are, `(n_joints,)` [rad]; 0 of those that move.
        sole_geoms: the geom each foot stands on, `(n_feet,)`.
        sole_corners: corners of its underside, front-left, front-right, rear-right, rear-left,
            `(n_feet, 4, 3)` [m]: in the geom's frame, or, where the sole is round, from its middle along
            the field's axes.
        round_soles: the soles that are balls: their underside does not turn with them.
        foot_contacts: of each foot, in `sensordata`.
        box_qpos: of the boxes' poses, one after the other, seven numbers each.
        box_qvel: of the boxes' velocities, one after the other, six numbers each.
        box_contacts: of each box, in `sensordata`.
    """

    base_body: int
    base_qpos: slice
    base_qvel: slice
    joint_qpos: Indices
    joint_qvel: Indices
    actuators: Indices
    moving: Indices
    welded: Floats
    sole_geoms: Indices
    sole_corners: Floats
    round_soles: tuple[int, ...]
    foot_contacts: slice
    box_qpos: slice
    box_qvel: slice
    box_contacts: slice

    def of_moving(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the columns of the joints that move, `(..., n_moving)`, out of all `(..., n_joints)`."""
        return columns if len(self.moving) == len(self.welded) else columns[..., self.moving]

    def of_all(self, columns: Floats, of_welded: Floats | float) -> Floats:
        """Return columns of all joints, `(..., n_joints)`, from those that move, `(..., n_moving)`.

        The others have `of_welded`: one number, or `(n_joints,)`.
        """
        if len(self.moving) == len(self.welded):
            return columns
        spread = np.empty((*columns.shape[:-1], len(self.welded)))
        spread[:] = of_welded
        spread[..., self.moving] = columns
        return spread


@dataclass(frozen=True, eq=False, repr=False)
class ModelInstance:
    """One robot of a world.

    Attributes:
        name: what it is called in the world.
        robot: its card.
        sensors: the card's, and those the world was given besides.
        arena: what it is in; None for a bare floor.
        prefix: before the names of all that is its own in the model; empty where it is alone.
        model: MuJoCo's, of the whole world.
        data: its state.
        addresses: where this robot's things stand in both.
    """

    name: str
    robot: Robot
    sensors: tuple[SensorSpec, ...]
    arena: Arena | None
    prefix: str
    model: Any
    data: Any
    addresses: Addresses

    def __repr__(self) -> str:
        return f"<ModelInstance {self.name}, a {self.robot.name}>"

    @property
    def n_boxes(self) -> int:
        """How many boxes there are."""
        return 0 if self.arena is None else len(self.arena.boxes)

    @property
    def mass_kg(self) -> float:
        """The mass of the whole robot [kg]."""
        return float(self.model.body_subtreemass[self.addresses.base_body])

    @property
    def welded_joints(self) -> tuple[str, ...]:
        """The joints that are welded, in the card's order."""
        moving = set(self.addresses.moving.tolist())
        return tuple(name for place, name in enumerate(self.robot.joint_names) if place not in moving)

    @property
    def base(self) -> Floats:
        """Pose of the base x y z qw qx qy qz, `(7,)` [m, unit quaternion]."""
        return np.array(self.data.qpos[self.addresses.base_qpos])

    @property
    def joint_positions(self) -> Floats:
        """Joint angles, `(n_joints,)` [rad]."""
        at = self.addresses
        return at.of_all(self.data.qpos[at.joint_qpos], at.welded)

    @property
    def bodies(self) -> Indices:
        """The bodies that it is made of."""
        return np.flatnonzero(self.model.body_rootid == self.addresses.base_body)

    def own_geoms(self) -> Flags:
        """Return which geoms are its own, `(n_geoms,)`."""
        return np.asarray(self.model.body_rootid[self.model.geom_bodyid] == self.addresses.base_body)


def find_addresses(
    model: Any, robot: Robot, prefix: str, n_boxes: int, welded: Mapping[str, float]
) -> Addresses:
    """Look everything up by name.

    `prefix` stands before the names of all that is the robot's own in the model; `welded` has the angles of
    joints that are welded, by name [rad].

    Raises:
        InputError: the model lacks a joint or an actuator of the card, or has more.
    """
    moving = [index for index, name in enumerate(robot.joint_names) if name not in welded]
    names = [robot.joint_names[index] for index in moving]
    joints = _joints(model, robot, names, prefix)
    base = int(model.body_rootid[model.jnt_bodyid[joints[0]]])
    first_box = int(model.body(box_name(0)).jntadr[0]) if n_boxes else 0
    root = int(model.body_jntadr[base])
    soles = [_sole(model, robot, prefix + foot) for foot in robot.feet]
    return Addresses(
        base_body=base,
        base_qpos=_span(model.jnt_qposadr, root, 7),
        base_qvel=_span(model.jnt_dofadr, root, 6),
        joint_qpos=np.array([model.jnt_qposadr[joint] for joint in joints], dtype=np.intp),
        joint_qvel=np.array([model.jnt_dofadr[joint] for joint in joints], dtype=np.intp),
        actuators=_actuators(model, robot, names, joints, base),
        moving=np.array(moving, dtype=np.intp),
        welded=np.array([float(welded.get(name, 0.0)) for name in robot.joint_names]),
        sole_geoms=np.array(soles, dtype=np.intp),
        sole_corners=np.array([_underside(model, sole) for sole in soles]).reshape(-1, 4, 3),
        round_soles=tuple(place for place, sole in enumerate(soles) if _is_ball(model, sole)),
        foot_contacts=_sensors(model, [prefix + foot_sensor(foot) for foot in robot.feet]),
        # The boxes were added to the model one after the other, and so do their numbers stand.
        box_qpos=_span(model.jnt_qposadr, first_box, 7 * n_boxes),
        box_qvel=_span(model.jnt_dofadr, first_box, 6 * n_boxes),
        box_contacts=_sensors(model, [prefix + box_sensor(index) for index in range(n_boxes)]),
    )


def _span(starts: Any, joint: int, length: int) -> slice:
    start = int(starts[joint])
    return slice(start, start + length)


def _joints(model: Any, robot: Robot, names: list[str], prefix: str) -> list[int]:
    ids = [int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, prefix + name)) for name in names]
    missing = [name for name, joint in zip(names, ids, strict=True) if joint < 0]
    if missing:
        hint = "every joint of the card is a joint of its model"
        raise InputError(f"the model has no joint {missing[0]!r}", where=Where(robot.model_path), hint=hint)
    return ids


def _actuators(model: Any, robot: Robot, names: Sequence[str], joints: list[int], base: int) -> Indices:
    driving = np.flatnonzero(model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_JOINT)).tolist()
    of_joint = {int(model.actuator_trnid[index, 0]): index for index in driving}
    for name, joint in zip(names, joints, strict=True):
        if joint not in of_joint:
            hint = "give every joint a position actuator"
            missing = f"no actuator of the model drives {name!r}"
            raise InputError(missing, where=Where(robot.model_path), hint=hint)
    own = model.nu - sum(model.body_rootid[model.jnt_bodyid[joint]] != base for joint in of_joint)
    if own != len(joints):
        count = f"the model has {own} actuators for {len(joints)} joints of the card"
        raise InputError(count, where=Where(robot.model_path), hint="one actuator a joint")
    return np.array([of_joint[joint] for joint in joints], dtype=np.intp)


def _sole(model: Any, robot: Robot, foot: str) -> int:
    """Return the geom of a foot that reaches lowest and can touch something."""
    body = int(model.body(foot).id)
    first = int(model.body_geomadr[body])
    own = range(first, first + int(model.body_geomnum[body]))
    geoms = [geom for geom in own if model.geom_contype[geom] or model.geom_conaffinity[geom]]
    if not geoms:
        raise InputError(f"the foot {foot!r} has no geom that touches", where=Where(path=robot.model_path))
    return min(geoms, key=lambda geom: float(model.geom_pos[geom, 2] - model.geom_rbound[geom]))


def _is_ball(model: Any, geom: int) -> bool:
    return int(model.geom_type[geom]) == int(mujoco.mjtGeom.mjGEOM_SPHERE)


def _underside(model: Any, geom: int) -> Floats:
    """Return the corners `(4, 3)` of the underside of the box around a geom, in the geom's frame.

    Of a ball, they are those of the largest square inside its outline, as seen from above.
    """
    centre, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    if _is_ball(model, geom):
        half = half * (math.sqrt(0.5), math.sqrt(0.5), 1.0)
    return np.asarray(centre + np.hstack([_CORNER_SIGNS * half[:2], np.full((4, 1), -half[2])]))


def _sensors(model: Any, names: list[str]) -> slice:
    """Return where sensors of one number each, added one after the other, stand in `sensordata`."""
    start = int(model.sensor(names[0]).adr[0]) if names else 0
    return slice(start, start + len(names))
