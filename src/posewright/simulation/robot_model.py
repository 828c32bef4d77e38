"""A robot's model file: reading it, removing visuals and welding joints, and its links for a recording."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError, UnknownNameError, Where

if TYPE_CHECKING:
    from posewright.robots import Robot

NO_MODEL_HINT = "choose a robot that has a model with --robot; the motion is then converted to it"

_LIMIT_TOLERANCE_RAD = 1e-4
"""A welded angle may be this far outside its limits, as files round their angles [rad]."""

LIGHT_SHARE = 0.01
"""A joint that moves less than this share of the robot's mass hardly affects its walk: the mouth, ears and
tail of an AIBO weigh 31 g of 1628 together."""

_FIRST_HIDDEN_GROUP = 3
"""MuJoCo's viewers show geoms of lower groups."""

_DEFAULT_RGBA = [0.5, 0.5, 0.5, 1.0]
"""MuJoCo's colour of a geom without a colour of its own."""

_SHAPE_KINDS = {
    int(mujoco.mjtGeom.mjGEOM_SPHERE): "sphere",
    int(mujoco.mjtGeom.mjGEOM_CAPSULE): "capsule",
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): "cylinder",
    int(mujoco.mjtGeom.mjGEOM_ELLIPSOID): "ellipsoid",
}

_IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def read_model(robot: Robot) -> mujoco.MjSpec:
    """Return the model of a robot's card.

    Raises:
        InputError: the card has no model, or its file is not a MuJoCo model.
    """
    if robot.model_path is None:
        message = f"{robot.name} has no model, so it cannot be simulated"
        raise InputError(message, hint=NO_MODEL_HINT)
    try:
        return mujoco.MjSpec.from_file(str(robot.model_path))
    except ValueError as error:
        raise InputError(f"not a MuJoCo model: {error}", where=Where(robot.model_path)) from error


def find_base(spec: mujoco.MjSpec, robot: Robot) -> mujoco.MjsBody:
    """Return the body with the free joint.

    Raises:
        InputError: no body has a free joint.
    """
    body = spec.worldbody.first_body()
    while body is not None:
        if any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in body.joints):
            return body
        body = spec.worldbody.next_body(body)
    raise InputError(
        "no body of the model has a free joint",
        where=Where(robot.model_path),
        hint="give the base a freejoint",
    )


def compile_spec(spec: mujoco.MjSpec, path: Path | None) -> mujoco.MjModel:
    """Compile a model.

    Args:
        spec: the model.
        path: its file, for the error message.

    Raises:
        InputError: it does not compile.
    """
    try:
        # MuJoCo warns of bodies that touch too many others to sleep at first, which changes no result
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return spec.compile()
    except ValueError as error:
        raise InputError(f"the model does not compile: {error}", where=Where(path)) from error


def light_joints(robot: Robot) -> tuple[str, ...]:
    """Return the joints that move hardly any mass, in the card's order; they can be welded to save time."""
    spec = read_model(robot)
    base = str(find_base(spec, robot).name)
    model = compile_spec(spec, robot.model_path)
    masses = model.body_subtreemass
    limit_kg = LIGHT_SHARE * float(masses[model.body(base).id])
    return tuple(name for name in robot.joint_names if masses[int(model.joint(name).bodyid[0])] < limit_kg)


def remove_visual_geoms(spec: mujoco.MjSpec) -> None:
    """Remove every geom that neither collides nor has mass, and every mesh that is then unused.

    These are two thirds of the geoms of an ERS-7, and MuJoCo moves and sorts every geom at every step. The
    states are the same without them, to the last bit. Sites, cameras and bodies remain, as sensors are
    mounted on them.
    """
    geoms_have_mass = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    paired_geoms = {name for pair in spec.pairs for name in (pair.geomname1, pair.geomname2)}
    for geom in list(spec.geoms):
        collides = geom.contype or geom.conaffinity or geom.name in paired_geoms
        if not collides and not _has_mass(geom, geoms_have_mass):
            spec.delete(geom)
    used_meshes = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        if mesh.name not in used_meshes:
            spec.delete(mesh)


def _has_mass(geom: mujoco.MjsGeom, geoms_have_mass: bool) -> bool:
    """Return whether the mass of a body is computed from this geom.

    Args:
        geom: the geom.
        geoms_have_mass: whether the model computes all masses from geoms, even of bodies with explicit
            inertia.
    """
    is_massless = geom.parent.name == "world" or geom.mass == 0.0 or geom.density == 0.0
    return not is_massless and (geoms_have_mass or not geom.parent.explicitinertial)


def weld_joints(spec: mujoco.MjSpec, robot: Robot, welded: Mapping[str, float]) -> None:
    """Remove joints from a model, with their bodies rotated to the given angles.

    Args:
        spec: the model; it is changed.
        robot: its card.
        welded: the angles by joint [rad].

    Raises:
        UnknownNameError: the robot has no such joint.
        InputError: an angle is outside the joint's limits, a joint is not its body's only joint and a hinge,
            or no joint would remain.
    """
    _require_weldable(robot, welded)
    if not welded:
        return
    # values of a spec are as written in the file; those of a compiled model are normalised and complete
    model = spec.copy().compile()
    for actuator in list(spec.actuators):
        if actuator.target in welded:
            spec.delete(actuator)
    for joint in list(spec.joints):
        if joint.name in welded:
            _weld(spec, robot, model, joint, angle_rad=welded[joint.name])
    # keyframes have the positions of all joints, and do not fit the reduced model
    for keyframe in list(spec.keys):
        spec.delete(keyframe)


def _require_weldable(robot: Robot, welded: Mapping[str, float]) -> None:
    """Raise unless the joints exist, their angles are within the limits, and another joint remains."""
    for name, angle in welded.items():
        if name not in robot.joint_names:
            raise UnknownNameError.among("joint", name, robot.joint_names)
        low, high = (float(limit[robot.index(name)]) for limit in robot.limits)
        if not low - _LIMIT_TOLERANCE_RAD <= angle <= high + _LIMIT_TOLERANCE_RAD:
            raise InputError(
                f"the joint {name!r} cannot be welded at {angle:g} rad",
                hint=f"its limits are {low:.4g}..{high:.4g} rad",
            )
    if len(welded) == len(robot.joint_names):
        raise InputError("all joints are welded", hint="leave at least one joint free to move")


def _weld(
    spec: mujoco.MjSpec,
    robot: Robot,
    model: mujoco.MjModel,
    joint: mujoco.MjsJoint,
    angle_rad: float,
) -> None:
    """Remove one joint from a spec, and rotate its body about the hinge.

    Args:
        spec: the spec; it is changed.
        robot: its card, for the error message.
        model: the compiled model of the unchanged spec.
        joint: the joint.
        angle_rad: the angle at which it is welded [rad].

    Raises:
        InputError: it is not its body's only joint, or not a hinge.
    """
    body = joint.parent
    joint_id = int(model.joint(joint.name).id)
    body_id = int(model.jnt_bodyid[joint_id])
    if joint.type != mujoco.mjtJoint.mjJNT_HINGE or model.body_jntnum[body_id] != 1:
        raise InputError(
            f"the joint {joint.name!r} cannot be welded",
            where=Where(robot.model_path),
            hint="only a hinge that is the only joint of its body can be welded",
        )
    zero_angle = float(model.qpos0[model.jnt_qposadr[joint_id]])
    rotation = _axis_angle_quaternion(model.jnt_axis[joint_id], angle_rad - zero_angle)
    quaternion = _multiply_quaternions(model.body_quat[body_id], rotation)
    # the hinge keeps its place, so the origin of a body beside it moves
    anchor = model.jnt_pos[joint_id]
    anchor_in_parent = model.body_pos[body_id] + _rotate(model.body_quat[body_id], anchor)
    body.pos = anchor_in_parent - _rotate(quaternion, anchor)
    body.quat = quaternion
    body.alt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
    spec.delete(joint)


def _axis_angle_quaternion(axis: Floats, angle_rad: float) -> Floats:
    """Return the quaternion w x y z of a rotation about a unit vector."""
    return np.array([math.cos(angle_rad / 2.0), *(axis * math.sin(angle_rad / 2.0))])


def _multiply_quaternions(left: Floats, right: Floats) -> Floats:
    product = np.empty(4)
    mujoco.mju_mulQuat(product, left, right)
    return product


def _rotate(quaternion: Floats, vector: Floats) -> Floats:
    rotated = np.empty(3)
    mujoco.mju_rotVecQuat(rotated, vector, quaternion)
    return rotated


@lru_cache(maxsize=8)  # a tuning makes thousands of recordings of one robot
def robot_links(robot: Robot) -> tuple[dict[str, Any], ...]:
    """Return a robot's links as in `recordings.RobotHeader.links`, the base first.

    A link's `position` and `rotation` are those with its joint at 0. A body whose joint axis does not pass
    through its origin becomes two links: one at the axis, which the joint rotates, and the body itself, fixed
    to it. The `size` of a shape is that of its bounding box along its own x y z; a capsule or a cylinder is
    along its z, and a mesh is given as its box.

    Raises:
        InputError: the card has no model, the model does not compile, or a joint is not a hinge.
    """
    spec = read_model(robot)
    base_name = str(find_base(spec, robot).name)
    model = compile_spec(spec, robot.model_path)
    base = int(model.body(base_name).id)
    bodies = np.flatnonzero(model.body_rootid == base).tolist()
    return tuple(link for body in bodies for link in _body_links(model, body, base))


def _body_links(model: mujoco.MjModel, body: int, base: int) -> Iterator[dict[str, Any]]:
    """Yield the link of a body, after one link for each joint whose axis does not pass through its origin.

    Raises:
        InputError: a joint is not a hinge.
    """
    name = body_name(model, body)
    parent = ""
    position = np.zeros(3)
    rotation = _IDENTITY
    hinge: dict[str, Any] = {}  # joint and axis of the next link, in JSON types
    if body != base:
        parent = body_name(model, int(model.body_parentid[body]))
        position = model.body_pos[body]
        rotation = model.body_quat[body]
        first_joint = int(model.body_jntadr[body])
        last_joint = first_joint + int(model.body_jntnum[body]) - 1
        for joint in range(first_joint, last_joint + 1):
            joint_name = model.joint(joint).name
            if model.jnt_type[joint] != int(mujoco.mjtJoint.mjJNT_HINGE):
                raise InputError(f"the joint {joint_name!r} is not a hinge", hint="use hinges only")
            axis = model.jnt_axis[joint]
            anchor = model.jnt_pos[joint]
            zero_angle = float(model.qpos0[model.jnt_qposadr[joint]])
            # the link's frame is that of the joint: at its axis, and with the joint at 0
            position = position + _rotate(rotation, anchor)
            rotation = _multiply_quaternions(rotation, _axis_angle_quaternion(axis, -zero_angle))
            hinge = {"joint": joint_name, "axis": axis.tolist()}
            if joint != last_joint or anchor.any():  # the body's own frame lies elsewhere, behind this link
                yield _link_record(f"{name}:{joint_name}", parent, position, rotation, hinge)
                parent = f"{name}:{joint_name}"
                position = -anchor
                rotation = _IDENTITY
                hinge = {}
    link = _link_record(name, parent, position, rotation, hinge)
    link["shapes"] = list(_visible_shapes(model, body))
    yield link


def body_name(model: mujoco.MjModel, body: int) -> str:
    """Return the name of a body; `part_` and its number if it has none."""
    return model.body(body).name or f"part_{body}"


def _link_record(
    name: str, parent: str, position: Floats, rotation: Floats, hinge: dict[str, Any]
) -> dict[str, Any]:
    """Return a link without shapes in JSON types; `hinge` has its joint and axis, or is empty."""
    pose = {"position": position.tolist(), "rotation": rotation.tolist()}
    return {"name": name, "parent": parent, **pose, **hinge, "shapes": []}


def _visible_shapes(model: mujoco.MjModel, body: int) -> Iterator[dict[str, Any]]:
    """Yield the visible shapes of a body in the body's frame, in JSON types."""
    for geom, colour in visible_geoms(model, body):
        kind = _SHAPE_KINDS.get(int(model.geom_type[geom]), "box")
        # the centre of a shape's bounding box may differ from the shape's origin
        centre = _rotate(model.geom_quat[geom], model.geom_aabb[geom, :3])
        yield {
            "kind": kind,
            "size": (2.0 * model.geom_aabb[geom, 3:]).tolist(),
            "position": (model.geom_pos[geom] + centre).tolist(),
            "rotation": model.geom_quat[geom].tolist(),
            "colour": colour,
        }


def visible_geoms(model: mujoco.MjModel, body: int) -> Iterator[tuple[int, list[float]]]:
    """Yield the visible geoms of a body, each with its red, green, blue and opacity, 0..1."""
    first = int(model.body_geomadr[body])
    for geom in range(first, first + int(model.body_geomnum[body])):
        colour = _geom_rgba(model, geom)
        if model.geom_group[geom] < _FIRST_HIDDEN_GROUP and colour[3] > 0.0:
            yield geom, colour


def _geom_rgba(model: mujoco.MjModel, geom: int) -> list[float]:
    """Return red, green, blue and opacity of a geom, or of its material if it has none, 0..1."""
    rgba: list[float] = model.geom_rgba[geom].tolist()
    material = int(model.geom_matid[geom])
    if material >= 0 and rgba == _DEFAULT_RGBA:
        rgba = model.mat_rgba[material].tolist()
    return [round(channel, 3) for channel in rgba]
