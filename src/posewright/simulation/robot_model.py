"""A robot's own model file: read, made lighter for a world, and told as links for a recording."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.errors import InputError, UnknownNameError, Where

if TYPE_CHECKING:
    from posewright.robots import Robot

WITH_A_MODEL = "name a robot that has one with --robot: the motion is then carried over"

_ROUNDING_RAD = 1e-4
"""An angle this little outside its limits is on them: files round their angles."""

LIGHT_SHARE = 0.01
"""A joint that carries less than this share of the robot's mass does not matter to how it walks: the mouth,
ears and tail of an AIBO weigh 31 g of 1628 together."""

_HIDDEN_GROUP = 3
"""Viewers of MuJoCo show the geoms of the groups below."""

_NO_COLOUR = [0.5, 0.5, 0.5, 1.0]
"""What MuJoCo's compiler gives a geom that asks for none."""

_KINDS = {
    int(mujoco.mjtGeom.mjGEOM_SPHERE): "sphere",
    int(mujoco.mjtGeom.mjGEOM_CAPSULE): "capsule",
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): "cylinder",
    int(mujoco.mjtGeom.mjGEOM_ELLIPSOID): "ellipsoid",
}

_STRAIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def read_model(robot: Robot) -> Any:
    """Return the model of a robot's card as an `MjSpec`; an `InputError` where there is none."""
    if robot.model_path is None:
        raise InputError(f"{robot.name} has no model: it cannot be simulated", hint=WITH_A_MODEL)
    try:
        return mujoco.MjSpec.from_file(str(robot.model_path))
    except ValueError as error:
        raise InputError(f"not a MuJoCo model: {error}", where=Where(robot.model_path)) from error


def find_base(spec: Any, robot: Robot) -> Any:
    """Return the body that carries the free joint; an `InputError` where there is none."""
    body = spec.worldbody.first_body()
    while body is not None:
        if any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in body.joints):
            return body
        body = spec.worldbody.next_body(body)
    where, hint = Where(robot.model_path), "give the base a freejoint"
    raise InputError("the model has no free body", where=where, hint=hint)


def compiled(spec: Any, path: Path | None) -> Any:
    """Return MuJoCo's model of a spec; an `InputError` where it does not compile.

    What MuJoCo warns of meanwhile, bodies that touch too many others to sleep at first, changes no result.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return spec.compile()
    except ValueError as error:
        raise InputError(f"the model does not compile: {error}", where=Where(path)) from error


def light_joints(robot: Robot) -> tuple[str, ...]:
    """Return the joints that carry next to nothing, in the card's order: welded, they cost nothing."""
    spec = read_model(robot)
    base = str(find_base(spec, robot).name)
    model = compiled(spec, robot.model_path)
    masses = model.body_subtreemass
    most = LIGHT_SHARE * float(masses[model.body(base).id])
    return tuple(name for name in robot.joint_names if masses[int(model.joint(name).bodyid[0])] < most)


def leave_out_visuals(spec: Any) -> None:
    """Take out every geom that can touch nothing and weighs nothing, and every mesh that then is idle.

    These are two thirds of the shapes of an ERS-7. MuJoCo moves each geom along at every step, and sorts it
    among the others before it looks at what it may touch. The states are the same without, to the last bit.
    Sites, cameras and bodies stay: a sensor finds its mount.
    """
    all_weigh = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    in_pairs = {name for pair in spec.pairs for name in (pair.geomname1, pair.geomname2)}
    for geom in list(spec.geoms):
        touches = geom.contype or geom.conaffinity or geom.name in in_pairs
        if not touches and not _has_weight(geom, all_weigh):
            spec.delete(geom)
    used = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        if mesh.name not in used:
            spec.delete(mesh)


def _has_weight(geom: Any, all_weigh: bool) -> bool:
    """Tell whether a body's mass is worked out from this geom: it must then stay."""
    is_weightless = geom.parent.name == "world" or geom.mass == 0.0 or geom.density == 0.0
    return not is_weightless and (all_weigh or not geom.parent.explicitinertial)


def weld_joints(spec: Any, robot: Robot, welded: Mapping[str, float]) -> None:
    """Take joints out of a model, and turn what they carry as they would stand at these angles.

    Raises:
        UnknownNameError: the robot has no such joint.
        InputError: an angle is outside the joint's limits, a joint is no hinge with a body of its own, or no
            joint would be left to move.
    """
    _check_welded(robot, welded)
    if not welded:
        return
    # The numbers of a spec are as they were written; a compiled model's are normalised and complete.
    model = spec.copy().compile()
    for actuator in list(spec.actuators):
        if actuator.target in welded:
            spec.delete(actuator)
    for joint in list(spec.joints):
        if joint.name in welded:
            _weld(spec, robot, model, joint, welded[joint.name])
    for key in list(spec.keys):  # poses of a model that has more joints
        spec.delete(key)


def _check_welded(robot: Robot, welded: Mapping[str, float]) -> None:
    for name, angle in welded.items():
        if name not in robot.joint_names:
            raise UnknownNameError.among("joint", name, robot.joint_names)
        low, high = (float(limit[robot.index(name)]) for limit in robot.limits)
        if not low - _ROUNDING_RAD <= angle <= high + _ROUNDING_RAD:
            hint = f"its limits are {low:.4g}..{high:.4g} rad"
            raise InputError(f"{name} cannot be welded at {angle:g} rad", hint=hint)
    if len(welded) == len(robot.joint_names):
        raise InputError("every joint is welded", hint="leave at least one to move")


def _weld(spec: Any, robot: Robot, model: Any, joint: Any, angle_rad: float) -> None:
    body, index = joint.parent, int(model.joint(joint.name).id)
    at = int(model.jnt_bodyid[index])
    if joint.type != mujoco.mjtJoint.mjJNT_HINGE or model.body_jntnum[at] != 1:
        where, hint = Where(robot.model_path), "a hinge that is the only joint of its body can"
        raise InputError(f"the joint {joint.name!r} cannot be welded", where=where, hint=hint)
    turn = _turn(model.jnt_axis[index], angle_rad - float(model.qpos0[model.jnt_qposadr[index]]))
    quaternion = _product(model.body_quat[at], turn)
    # The hinge itself stays where it is: an axis beside the body's origin carries that along.
    anchor = model.jnt_pos[index]
    body.pos = model.body_pos[at] + _turned(model.body_quat[at], anchor) - _turned(quaternion, anchor)
    body.quat = quaternion
    body.alt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
    spec.delete(joint)


def _turn(axis: Any, angle_rad: float) -> Any:
    """Return the quaternion w x y z of a turn about a unit vector."""
    return np.array([math.cos(angle_rad / 2.0), *(axis * math.sin(angle_rad / 2.0))])


def _product(one: Any, other: Any) -> Any:
    product = np.empty(4)
    mujoco.mju_mulQuat(product, one, other)
    return product


def _turned(quaternion: Any, vector: Any) -> Any:
    turned = np.empty(3)
    mujoco.mju_rotVecQuat(turned, vector, quaternion)
    return turned


@lru_cache(maxsize=8)  # a tuning makes thousands of recordings of one robot
def robot_links(robot: Robot) -> tuple[dict[str, Any], ...]:
    """Return what a robot is built of, as `recordings.RobotHeader.links` has it, the base first.

    A link's `position` and `rotation` are those with its joint at 0. One whose joint turns about an axis
    beside its own origin comes as two: a link at the axis, which the joint turns, and the body, fixed to
    that. The `size` of a shape is that of the box around it, along its own x y z; a capsule or a cylinder
    lies along its z, and a mesh is told as its box.

    Raises:
        InputError: the card has no model, the model does not compile, or a joint is no hinge.
    """
    spec = read_model(robot)
    name = str(find_base(spec, robot).name)
    model = compiled(spec, robot.model_path)
    base = int(model.body(name).id)
    own = np.flatnonzero(model.body_rootid == base).tolist()
    return tuple(link for body in own for link in _links(model, body, base))


def _links(model: Any, body: int, base: int) -> Iterator[dict[str, Any]]:
    """Yield the link of a body, and before it one for each joint whose axis is not at its origin."""
    name, parent = body_name(model, body), ""
    position, rotation, turned = np.zeros(3), _STRAIGHT, {}
    if body != base:
        parent = body_name(model, int(model.body_parentid[body]))
        position, rotation = model.body_pos[body], model.body_quat[body]
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        for left, joint in zip(range(count - 1, -1, -1), range(first, first + count), strict=True):
            if model.jnt_type[joint] != int(mujoco.mjtJoint.mjJNT_HINGE):
                named = model.joint(joint).name
                raise InputError(f"the joint {named!r} is no hinge", hint="hinges turn links")
            axis, anchor = model.jnt_axis[joint], model.jnt_pos[joint]
            zero = -float(model.qpos0[model.jnt_qposadr[joint]])
            position = position + _turned(rotation, anchor)
            rotation = _product(rotation, _turn(axis, zero))
            turned = {"joint": model.joint(joint).name, "axis": axis.tolist()}
            if left or anchor.any():
                yield _link(f"{name}:{turned['joint']}", parent, position, rotation, turned)
                parent, position, rotation, turned = f"{name}:{turned['joint']}", -anchor, _STRAIGHT, {}
    yield {**_link(name, parent, position, rotation, turned), "shapes": list(_shapes(model, body))}


def body_name(model: Any, body: int) -> str:
    """Return what a body is called; one without a name has its number."""
    return model.body(body).name or f"part_{body}"


def _link(name: str, parent: str, position: Any, rotation: Any, turned: dict[str, Any]) -> dict[str, Any]:
    place = {"position": position.tolist(), "rotation": rotation.tolist()}
    return {"name": name, "parent": parent, **place, **turned, "shapes": []}


def _shapes(model: Any, body: int) -> Iterator[dict[str, Any]]:
    """Yield the shapes of a body that are seen, each in the body's frame."""
    for geom, colour in seen_geoms(model, body):
        kind = _KINDS.get(int(model.geom_type[geom]), "box")
        # The box around a shape need not have its middle where the shape has its origin.
        middle = _turned(model.geom_quat[geom], model.geom_aabb[geom, :3])
        yield {
            "kind": kind,
            "size": (2.0 * model.geom_aabb[geom, 3:]).tolist(),
            "position": (model.geom_pos[geom] + middle).tolist(),
            "rotation": model.geom_quat[geom].tolist(),
            "colour": colour,
        }


def seen_geoms(model: Any, body: int) -> Iterator[tuple[int, list[float]]]:
    """Yield the geoms of a body that are seen, each with its red, green, blue and opacity, 0..1."""
    first = int(model.body_geomadr[body])
    for geom in range(first, first + int(model.body_geomnum[body])):
        colour = _colour(model, geom)
        if model.geom_group[geom] < _HIDDEN_GROUP and colour[3] > 0.0:
            yield geom, colour


def _colour(model: Any, geom: int) -> list[float]:
    """Return red, green, blue and opacity, 0..1; a shape without a colour has its material's."""
    own, material = model.geom_rgba[geom].tolist(), int(model.geom_matid[geom])
    told: list[float] = model.mat_rgba[material].tolist() if material >= 0 and own == _NO_COLOUR else own
    return [round(part, 3) for part in told]
