"""Joints that are held: welded at an angle, so that a simulation need not move them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.errors import InputError, UnknownNameError, Where

if TYPE_CHECKING:
    from posewright.robots import Robot


_ROUNDING_RAD = 1e-4
"""An angle this little outside its limits is on them: files round their angles."""


LIGHT_SHARE = 0.01
"""A joint that carries less than this share of the robot's mass does not matter to how it walks: the mouth,
ears and tail of an AIBO weigh 31 g of 1628 together."""


def light_joints(robot: Robot) -> tuple[str, ...]:
    """Return the joints that carry next to nothing, in the card's order: holding them makes a world faster.

    Raises:
        InputError: the card has no model, or the model does not compile.
    """
    from posewright.simulation.world import World

    world = World(robot, looks=False)
    masses = world.model.body_subtreemass
    most = LIGHT_SHARE * world.robot_mass_kg
    return tuple(name for name in robot.joint_names if masses[int(world.model.joint(name).bodyid[0])] < most)


def check_held(robot: Robot, held: Mapping[str, float]) -> None:
    """Refuse to hold what is no joint, or is no angle of it, or everything.

    Raises:
        UnknownNameError: the robot has no such joint.
        InputError: an angle is outside the joint's limits, or no joint would be left to move.
    """
    for name, angle in held.items():
        if name not in robot.joint_names:
            raise UnknownNameError.among("joint", name, robot.joint_names)
        low, high = (float(limit[robot.index(name)]) for limit in robot.limits)
        if not low - _ROUNDING_RAD <= angle <= high + _ROUNDING_RAD:
            raise InputError(
                f"{name} cannot be held at {angle:g} rad", hint=f"its limits are {low:.4g}..{high:.4g} rad"
            )
    if len(held) == len(robot.joint_names):
        raise InputError("every joint is held", hint="leave at least one to move")


def hold_joints(spec: Any, robot: Robot, held: Mapping[str, float]) -> None:
    """Take joints out of a model, and turn what they carry as they would stand at these angles.

    Args:
        spec: the model.
        robot: its card.
        held: angle by joint [rad].

    Raises:
        UnknownNameError: the robot has no such joint.
        InputError: an angle is outside the joint's limits, or a joint is no hinge with a body of its own.
    """
    check_held(robot, held)
    if not held:
        return
    # The numbers of a spec are as they were written; a compiled model's are normalised and complete.
    model = spec.copy().compile()
    for actuator in list(spec.actuators):
        if actuator.target in held:
            spec.delete(actuator)
    for joint in list(spec.joints):
        if joint.name in held:
            _weld(spec, robot, model, joint, held[joint.name])
    for key in list(spec.keys):  # poses of a model that has more joints
        spec.delete(key)


def _weld(spec: Any, robot: Robot, model: Any, joint: Any, angle_rad: float) -> None:
    body, index = joint.parent, int(model.joint(joint.name).id)
    at = int(model.jnt_bodyid[index])
    if joint.type != mujoco.mjtJoint.mjJNT_HINGE or model.body_jntnum[at] != 1:
        raise InputError(
            f"the joint {joint.name!r} cannot be held",
            where=Where(robot.model_path),
            hint="a hinge that is the only joint of its body can",
        )
    turn = angle_rad - float(model.qpos0[model.jnt_qposadr[index]])
    quaternion = np.empty(4)
    axis = model.jnt_axis[index] * math.sin(turn / 2.0)
    mujoco.mju_mulQuat(quaternion, model.body_quat[at], np.array([math.cos(turn / 2.0), *axis]))
    # The hinge itself stays where it is: an axis beside the body's origin carries that along.
    anchor = model.jnt_pos[index]
    body.pos = model.body_pos[at] + _turned(model.body_quat[at], anchor) - _turned(quaternion, anchor)
    body.quat = quaternion
    body.alt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
    spec.delete(joint)


def _turned(quaternion: Any, vector: Any) -> Any:
    turned = np.empty(3)
    mujoco.mju_rotVecQuat(turned, vector, quaternion)
    return turned
