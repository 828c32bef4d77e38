"""One robot of a world: its card, and its addresses in MuJoCo's arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import mujoco
import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Flags, Floats, Indices
from posewright.errors import InputError, Where
from posewright.simulation.arena_model import box_name

if TYPE_CHECKING:
    from posewright.arenas import Arena
    from posewright.bodies import Plate
    from posewright.robots import Robot, SensorSpec

_Scalar = TypeVar("_Scalar", bound=np.generic)

_POSE_LENGTH = 7
_VELOCITY_LENGTH = 6
"""Numbers of a free body in `qpos` and `qvel`."""

_CORNER_SIGNS = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)], dtype=np.float64)
"""Signs of x (front) and y (left): front-left, front-right, rear-right, rear-left."""


def slice_if_even(indices: Indices) -> slice | Indices:
    """Return ascending, evenly spaced indices as a slice, and others unchanged.

    Indexing an array by a slice takes a view, which is faster than a copy.
    """
    if len(indices) == 0:
        return slice(0, 0)
    first = int(indices[0])
    if len(indices) == 1:
        return slice(first, first + 1)
    step, *other_steps = set(np.diff(indices).tolist())
    if other_steps or step < 1:
        return indices
    return slice(first, int(indices[-1]) + 1, step)


def foot_sensor(foot: str) -> str:
    """Return the name of the contact sensor between a foot and the ground."""
    return f"foot_contact:{foot}"


def box_sensor(index: int) -> str:
    """Return the name of the contact sensor between the robot and a box."""
    return f"box_contact:{index}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Addresses:
    """Indices into MuJoCo's arrays; joints in the order of `robot.joint_names`.

    Welded joints are not in MuJoCo's model. So arrays for MuJoCo have a column for each of the `n_moving`
    other joints, and arrays for users one for each of all `n_joints`; two methods convert between them.

    Attributes:
        base_body: body with the free joint.
        base_qpos: the base's pose x y z qw qx qy qz in `qpos`.
        base_qvel: the base's velocity in `qvel`.
        joint_qpos: the joints' angles in `qpos`, `(n_moving,)`.
        joint_qvel: the joints' velocities in `qvel`, `(n_moving,)`.
        actuators: the joints' actuators, `(n_moving,)`.
        moving_joints: indices of the joints that are not welded, `(n_moving,)`.
        welded_angles: angles of the welded joints, `(n_joints,)` [rad]; 0 for moving joints.
        sole_geoms: the geom that each foot stands on, `(n_feet,)`.
        sole_corners: corners of the soles' undersides, front-left, front-right, rear-right, rear-left,
            `(n_feet, 4, 3)` [m]; in the geom's frame, or for a ball relative to its centre along the field's
            axes.
        ball_soles: numbers of the soles that are balls, whose underside does not rotate with them.
        foot_contacts: the feet's contact sensors in `sensordata`.
        box_qpos: the boxes' poses in `qpos`, seven numbers each.
        box_qvel: the boxes' velocities in `qvel`, six numbers each.
        box_contacts: the boxes' contact sensors in `sensordata`.
    """

    base_body: int
    base_qpos: slice
    base_qvel: slice
    joint_qpos: Indices
    joint_qvel: Indices
    actuators: Indices
    moving_joints: Indices
    welded_angles: Floats
    sole_geoms: Indices
    sole_corners: Floats
    ball_soles: tuple[int, ...]
    foot_contacts: slice
    box_qpos: slice
    box_qvel: slice
    box_contacts: slice

    @property
    def _has_welded_joints(self) -> bool:
        return len(self.moving_joints) < len(self.welded_angles)

    def select_moving(self, columns: NDArray[_Scalar]) -> NDArray[_Scalar]:
        """Return the columns of the moving joints, `(..., n_moving)`, out of all `(..., n_joints)`."""
        return columns[..., self.moving_joints] if self._has_welded_joints else columns

    def extend_to_all(self, moving_columns: Floats, welded_value: Floats | float) -> Floats:
        """Return columns of all joints, `(..., n_joints)`, from those of the moving ones, `(..., n_moving)`.

        Welded joints get `welded_value`: one number, or one for each joint, `(n_joints,)`.
        """
        if not self._has_welded_joints:
            return moving_columns
        n_joints = len(self.welded_angles)
        columns = np.empty((*moving_columns.shape[:-1], n_joints))
        columns[:] = welded_value
        columns[..., self.moving_joints] = moving_columns
        return columns


@dataclass(frozen=True, eq=False, repr=False)
class ModelInstance:
    """One robot of a world.

    Attributes:
        name: its name in the world.
        robot: its card.
        sensors: the card's sensors, and those added by the world.
        arena: the arena; None for a bare floor.
        plates: the plates on its floor.
        prefix: what precedes its names in the model; empty for the only robot.
        model: MuJoCo's model of the whole world.
        data: the world's state.
        addresses: the robot's indices in both.
    """

    name: str
    robot: Robot
    sensors: tuple[SensorSpec, ...]
    arena: Arena | None
    plates: tuple[Plate, ...]
    prefix: str
    model: mujoco.MjModel
    data: mujoco.MjData
    addresses: Addresses

    def __repr__(self) -> str:
        return f"<ModelInstance {self.name}, a {self.robot.name}>"

    @property
    def n_boxes(self) -> int:
        """Number of boxes in the arena."""
        return 0 if self.arena is None else len(self.arena.boxes)

    @property
    def shares_world(self) -> bool:
        """Whether there are other robots in the world; only then the names in the model have a prefix."""
        return bool(self.prefix)

    @property
    def mass_kg(self) -> float:
        """Mass of the whole robot [kg]."""
        return float(self.model.body_subtreemass[self.addresses.base_body])

    @property
    def welded_joints(self) -> tuple[str, ...]:
        """Names of the welded joints, in the card's order."""
        moving_indices = set(self.addresses.moving_joints.tolist())
        return tuple(name for index, name in enumerate(self.robot.joint_names) if index not in moving_indices)

    @property
    def base(self) -> Floats:
        """Pose of the base x y z qw qx qy qz, `(7,)` [m, unit quaternion]."""
        return np.array(self.data.qpos[self.addresses.base_qpos])

    @property
    def joint_positions(self) -> Floats:
        """Joint angles, `(n_joints,)` [rad]."""
        addresses = self.addresses
        return addresses.extend_to_all(self.data.qpos[addresses.joint_qpos], addresses.welded_angles)

    @property
    def bodies(self) -> Indices:
        """Numbers of the robot's bodies in the model, the base first."""
        return np.flatnonzero(self.model.body_rootid == self.addresses.base_body)

    def own_geoms(self) -> Flags:
        """Return which of the model's geoms belong to the robot, `(n_geoms,)`."""
        return np.asarray(self.model.body_rootid[self.model.geom_bodyid] == self.addresses.base_body)


def find_addresses(
    model: mujoco.MjModel, robot: Robot, prefix: str, n_boxes: int, welded: Mapping[str, float]
) -> Addresses:
    """Return the addresses of a robot's joints, actuators, soles, sensors and of the boxes, found by name.

    Args:
        model: the model of the world.
        robot: the robot's card.
        prefix: what precedes the robot's names in the model.
        n_boxes: number of boxes in the arena.
        welded: angles of the welded joints, by name [rad].

    Raises:
        InputError: the model lacks a joint or an actuator of the card, or has additional actuators.
    """
    moving_joints = [index for index, name in enumerate(robot.joint_names) if name not in welded]
    names = [robot.joint_names[index] for index in moving_joints]
    joints = _find_joints(model, robot, names, prefix)
    base = int(model.body_rootid[model.jnt_bodyid[joints[0]]])
    first_box = int(model.body(box_name(0)).jntadr[0]) if n_boxes else 0
    free_joint = int(model.body_jntadr[base])
    soles = [_find_sole(model, robot, prefix + foot) for foot in robot.feet]
    return Addresses(
        base_body=base,
        base_qpos=_joint_span(model.jnt_qposadr, free_joint, length=_POSE_LENGTH),
        base_qvel=_joint_span(model.jnt_dofadr, free_joint, length=_VELOCITY_LENGTH),
        joint_qpos=np.array([model.jnt_qposadr[joint] for joint in joints], dtype=np.intp),
        joint_qvel=np.array([model.jnt_dofadr[joint] for joint in joints], dtype=np.intp),
        actuators=_find_actuators(model, robot, names, joints, base),
        moving_joints=np.array(moving_joints, dtype=np.intp),
        welded_angles=np.array([float(welded.get(name, 0.0)) for name in robot.joint_names]),
        sole_geoms=np.array(soles, dtype=np.intp),
        sole_corners=np.array([_underside_corners(model, sole) for sole in soles]).reshape(-1, 4, 3),
        ball_soles=tuple(number for number, sole in enumerate(soles) if _is_ball(model, sole)),
        foot_contacts=_sensor_span(model, [prefix + foot_sensor(foot) for foot in robot.feet]),
        # the boxes were added to the model one after the other, so their addresses are contiguous
        box_qpos=_joint_span(model.jnt_qposadr, first_box, length=_POSE_LENGTH * n_boxes),
        box_qvel=_joint_span(model.jnt_dofadr, first_box, length=_VELOCITY_LENGTH * n_boxes),
        box_contacts=_sensor_span(model, [prefix + box_sensor(index) for index in range(n_boxes)]),
    )


def _joint_span(starts: NDArray[np.integer], joint: int, length: int) -> slice:
    """Return the span of MuJoCo's numbers that begins where a joint's numbers start, by `starts`."""
    start = int(starts[joint])
    return slice(start, start + length)


def _find_joints(model: mujoco.MjModel, robot: Robot, names: list[str], prefix: str) -> list[int]:
    """Return the numbers of a robot's joints in a model; raise an InputError if one is missing."""
    ids = [int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, prefix + name)) for name in names]
    missing = [
        name for name, joint_id in zip(names, ids, strict=True) if joint_id < 0
    ]  # -1 for no such joint
    if missing:
        raise InputError(
            f"the model has no joint {missing[0]!r}",
            where=Where(robot.model_path),
            hint="every joint of the card must be a joint of its model",
        )
    return ids


def _find_actuators(
    model: mujoco.MjModel, robot: Robot, names: Sequence[str], joints: list[int], base: int
) -> Indices:
    """Return the actuator of each joint.

    Args:
        model: the model of the world.
        robot: the robot's card.
        names: names of the joints on the card.
        joints: their numbers in the model.
        base: number of the robot's base.

    Raises:
        InputError: a joint has no actuator, or the robot has actuators that drive none of the joints.
    """
    joint_actuators = np.flatnonzero(model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_JOINT)).tolist()
    actuator_of_joint = {int(model.actuator_trnid[index, 0]): index for index in joint_actuators}
    for name, joint in zip(names, joints, strict=True):
        if joint not in actuator_of_joint:
            raise InputError(
                f"no actuator of the model drives {name!r}",
                where=Where(robot.model_path),
                hint="give every joint a position actuator",
            )
    # what is not known to drive a joint of another robot counts as this robot's
    n_foreign = sum(model.body_rootid[model.jnt_bodyid[joint]] != base for joint in actuator_of_joint)
    n_own = model.nu - n_foreign
    if n_own != len(joints):
        raise InputError(
            f"the model has {n_own} actuators for {len(joints)} joints of the card",
            where=Where(robot.model_path),
            hint="use one actuator for each joint",
        )
    return np.array([actuator_of_joint[joint] for joint in joints], dtype=np.intp)


def _find_sole(model: mujoco.MjModel, robot: Robot, foot: str) -> int:
    """Return the lowest geom of a foot that can touch something.

    Raises:
        InputError: no geom of the foot can touch anything.
    """
    body = int(model.body(foot).id)
    first = int(model.body_geomadr[body])
    foot_geoms = range(first, first + int(model.body_geomnum[body]))
    colliding = [geom for geom in foot_geoms if model.geom_contype[geom] or model.geom_conaffinity[geom]]
    if not colliding:
        raise InputError(
            f"no geom of the foot {foot!r} can touch anything",
            where=Where(path=robot.model_path),
            hint="give it a geom with contype or conaffinity",
        )
    return min(colliding, key=lambda geom: float(model.geom_pos[geom, 2] - model.geom_rbound[geom]))


def _is_ball(model: mujoco.MjModel, geom: int) -> bool:
    return int(model.geom_type[geom]) == int(mujoco.mjtGeom.mjGEOM_SPHERE)


def _underside_corners(model: mujoco.MjModel, geom: int) -> Floats:
    """Return the corners of the underside of a geom's bounding box, in the geom's frame, `(4, 3)` [m].

    For a ball these are the corners of the largest square inside its outline as seen from above.
    """
    # MuJoCo's bounding box of a geom: its centre, then half its sizes
    centre = model.geom_aabb[geom, :3]
    half_x, half_y, half_z = model.geom_aabb[geom, 3:].tolist()
    if _is_ball(model, geom):
        half_x *= math.sqrt(0.5)
        half_y *= math.sqrt(0.5)
    corners_xy = _CORNER_SIGNS * (half_x, half_y)
    return np.asarray(centre + np.hstack([corners_xy, np.full((4, 1), -half_z)]))


def _sensor_span(model: mujoco.MjModel, names: list[str]) -> slice:
    """Return the span in `sensordata` of sensors of one number each that were added one after the other."""
    start = int(model.sensor(names[0]).adr[0]) if names else 0
    return slice(start, start + len(names))
