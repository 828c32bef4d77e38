"""Placement of a robot at rest on the floor, or on steps and furniture.

A robot that is put down stands on the facet of its soles' convex hull that its centre of mass is above. In a
walking pose that leans a Bioloid's base forward by 10 to 16 degrees. A robot that kneels, sits or lies rests
on other parts.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

from posewright.arenas import Role
from posewright.arrays import Floats, Indices
from posewright.errors import InputError
from posewright.simulation.arena_model import plate_name
from posewright.simulation.resting_pose import Supports, distance_outside, find_resting_normal, find_supports

if TYPE_CHECKING:
    from posewright.simulation.instance import Addresses, ModelInstance

_SAME_PLANE_M = 0.001
"""Corners at most this far from the plane on which the robot stands count as on the plane [m]."""

_MAX_DEPTH_M = 0.001
"""Greatest depth of another part in the floor when the robot stands on its soles [m]."""

_MIN_UP = 0.3
"""Cosine of the greatest lean on the soles, 73 degrees; a robot that leans more lies [-]."""

_ROUNDING_M = 1e-6
"""A corner this little below a facet is on it [m]."""

_DISTANCE_TOLERANCE_M = 1e-9
"""Distances from the centre of mass that differ by less than this are equal [m]."""

_MIN_AREA_M2 = 1e-8
"""Three corners whose parallelogram is smaller than this lie on a line [m^2]."""

_MIN_WIDTH_M = 0.01
"""Corners narrower than this define no plane, as its tilt would depend on rounding [m]."""

_MIN_SOLE_UP = math.sqrt(0.5)
"""Cosine of the greatest lean of a sole that a robot stands on, 45 degrees."""

_LOWERING_STEP_M = 0.004
"""Step in which a robot is lowered onto a shape; less than the thickness of a sole [m]."""

_LOWERING_TOLERANCE_M = 1e-5
"""Accuracy of the height at which a robot touches a shape [m]."""


class Lean(NamedTuple):
    """Lean of a robot's base: roll positive to the right, pitch positive forward [rad]."""

    roll_rad: float = 0.0
    pitch_rad: float = 0.0


def place(
    instance: ModelInstance,
    x_m: float,
    y_m: float,
    yaw_rad: float,
    joints: Floats,
    *,
    lean: Lean | None = None,
) -> None:
    """Place a robot at rest with its lowest point on the floor; boxes and other robots do not move.

    Without a `lean` a robot stands on its soles if they are flat. A robot with round feet, or one with
    another part below its soles, stands, kneels, sits or lies on the parts that carry it in that pose.

    A robot that would then overlap a step, a ring, furniture or a plate is lowered onto that from above: on
    its soles, or else with its base upright, as it sits on a chair.

    Args:
        instance: the robot.
        x_m: the x of the base [m].
        y_m: the y of the base [m].
        yaw_rad: heading of the base [rad].
        joints: joint angles, `(n_joints,)` [rad].
        lean: the lean of the base; None for the lean with which the robot rests in this pose.

    Raises:
        InputError: a number is not finite, or nothing of the robot can touch the floor.
    """
    if not np.isfinite([x_m, y_m, yaw_rad, *joints, *(lean or ())]).all():
        raise InputError(
            f"cannot place the robot at x {x_m}, y {y_m}, yaw {yaw_rad}",
            hint="place, joint angles and lean must be finite numbers",
        )
    data = instance.data
    addresses = instance.addresses
    data.qpos[addresses.joint_qpos] = addresses.select_moving(joints)
    data.qpos[addresses.base_qpos] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    mujoco.mj_kinematics(instance.model, data)
    mujoco.mj_comPos(instance.model, data)
    pose_on_floor = _find_base_pose(instance, lean)
    platforms = _find_platforms(instance)
    pose_on_platform = pose_on_floor
    if len(platforms) and not pose_on_floor.keeps_tilt_on_step:
        pose_on_platform = _find_base_pose(instance, Lean())
    yaw = _rotation_z(yaw_rad)
    data.qvel[addresses.base_qvel] = 0.0
    data.qvel[addresses.joint_qvel] = 0.0
    data.qacc[:] = 0.0
    data.qacc_warmstart[:] = 0.0
    _set_base(instance, (x_m, y_m, pose_on_floor.height_m), yaw @ pose_on_floor.tilt)
    if _penetration_depth(instance, platforms) > _MAX_DEPTH_M:
        _lower_onto(
            instance,
            platforms,
            floor_position=(x_m, y_m, pose_on_platform.height_m),
            rotation=yaw @ pose_on_platform.tilt,
        )
    mujoco.mj_forward(instance.model, data)


class _BasePose(NamedTuple):
    """Tilt and height of a base at rest on the floor.

    Attributes:
        tilt: rotation by roll and pitch, `(3, 3)`.
        height_m: above the floor [m].
        keeps_tilt_on_step: whether the tilt also holds on a step: it was requested, or all soles are nearly
            level.
    """

    tilt: Floats
    height_m: float
    keeps_tilt_on_step: bool


def _find_base_pose(instance: ModelInstance, lean: Lean | None) -> _BasePose:
    """Return the pose of the base on the floor.

    With `lean` the robot leans so and touches the floor with its lowest part. Otherwise it stands on its flat
    soles if no other part is deeper, or else rests on whatever parts carry it.

    Args:
        instance: the robot, with its base upright at the origin.
        lean: the requested lean; None for the one with which the robot rests in its pose.
    """
    supports = find_supports(instance)
    if lean is not None:
        tilt = _rotation_y(lean.pitch_rad) @ _rotation_x(lean.roll_rad)
        return _BasePose(tilt, _height_above_lowest_part(supports, tilt), keeps_tilt_on_step=True)
    has_flat_soles = not instance.addresses.ball_soles
    standing_pose = _find_standing_pose(instance, supports) if has_flat_soles else None
    if standing_pose is not None:
        return standing_pose
    centre_of_mass = instance.data.subtree_com[instance.addresses.base_body]
    tilt = _tilt_to_vertical(find_resting_normal(supports, centre_of_mass))
    return _BasePose(tilt, _height_above_lowest_part(supports, tilt), keeps_tilt_on_step=False)


def _find_standing_pose(instance: ModelInstance, supports: Supports) -> _BasePose | None:
    """Return the pose of the base of a robot that stands on its flat soles; None if another part is deeper.

    Args:
        instance: the robot, with its base upright at the origin.
        supports: the balls that bound it there.
    """
    centre_of_mass = instance.data.subtree_com[instance.addresses.base_body]
    corners = sole_corners(instance).reshape(-1, 3)
    tilt = _tilt_to_vertical(find_standing_normal(corners, centre_of_mass))
    height_above_soles = -float((corners @ tilt.T)[:, 2].min())
    if _height_above_lowest_part(supports, tilt) > height_above_soles + _MAX_DEPTH_M:
        return None
    sole_rotations = instance.data.geom_xmat[instance.addresses.sole_geoms].reshape(-1, 3, 3)
    sole_normals = sole_rotations[:, :, 2]
    soles_are_level = bool((sole_normals @ tilt[2] > _MIN_SOLE_UP).all())
    return _BasePose(tilt, height_above_soles, keeps_tilt_on_step=soles_are_level)


def _height_above_lowest_part(supports: Supports, tilt: Floats) -> float:
    """Return the height of the base when the lowest part of the tilted robot touches the floor [m].

    Args:
        supports: the balls that bound the robot, with the base upright at the origin.
        tilt: the rotation of the base, `(3, 3)`.
    """
    up = tilt[2]  # the vertical in the base's frame
    return -float(supports.bottom_heights(up).min())


def _set_base(instance: ModelInstance, position: tuple[float, float, float], rotation: Floats) -> None:
    """Set the pose of the base and compute the contacts it then has."""
    instance.data.qpos[instance.addresses.base_qpos] = (*position, *_quaternion(rotation))
    mujoco.mj_fwdPosition(instance.model, instance.data)


def _penetration_depth(instance: ModelInstance, platforms: Indices) -> float:
    """Return the greatest depth of the robot in some geoms; 0 if it touches none of them [m]."""
    if not len(platforms):
        return 0.0
    is_own_geom = instance.own_geoms()
    contact = instance.data.contact
    pairs = contact.geom
    partners = pairs[:, ::-1]  # of each geom the one that it touches
    is_with_platform = (np.isin(pairs, platforms) & is_own_geom[partners]).any(axis=-1)
    return float(-np.min(contact.dist[is_with_platform], initial=0.0))


def _find_platforms(instance: ModelInstance) -> Indices:
    """Return the geoms of the arena's steps, rings and furniture, and of the plates on the floor."""
    shapes = () if instance.arena is None else instance.arena.shapes
    names = [shape.name for shape in shapes if shape.is_solid and shape.role is not Role.WALL]
    names += [plate_name(index) for index in range(len(instance.plates))]
    return np.array([instance.model.geom(name).id for name in names], dtype=np.intp)


def _lower_onto(
    instance: ModelInstance, platforms: Indices, floor_position: tuple[float, float, float], rotation: Floats
) -> None:
    """Lower a robot from above until it touches a platform or the floor.

    Args:
        instance: the robot.
        platforms: geoms that it may land on.
        floor_position: position of its base when it is on the floor [m].
        rotation: the rotation of its base, `(3, 3)`.
    """
    x, y, floor_z = floor_position
    model = instance.model
    is_mesh = model.geom_type[platforms] == mujoco.mjtGeom.mjGEOM_MESH
    # MuJoCo rotates the axes of a mesh, so the mesh's bounding sphere is used instead of its box
    half_heights = np.where(is_mesh, model.geom_rbound[platforms], model.geom_aabb[platforms, 5])
    tops = model.geom_pos[platforms, 2] + half_heights
    free_z = floor_z + float(tops.max()) + _LOWERING_STEP_M
    touching_z = free_z
    while touching_z > floor_z:
        touching_z = max(free_z - _LOWERING_STEP_M, floor_z)
        _set_base(instance, (x, y, touching_z), rotation)
        if _penetration_depth(instance, platforms):
            break
        free_z = touching_z
    # bisection between a height without contact and one with contact
    while free_z - touching_z > _LOWERING_TOLERANCE_M:
        middle_z = (free_z + touching_z) / 2.0
        _set_base(instance, (x, y, middle_z), rotation)
        if _penetration_depth(instance, platforms):
            touching_z = middle_z
        else:
            free_z = middle_z
    _set_base(instance, (x, y, free_z), rotation)


def sole_corners(instance: ModelInstance) -> Floats:
    """Return the current corners of the soles in the field frame, `(n_feet, 4, 3)` [m]."""
    addresses = instance.addresses
    data = instance.data
    return footprints(data.geom_xpos[addresses.sole_geoms], data.geom_xmat[addresses.sole_geoms], addresses)


def footprints(positions: Floats, rotations: Floats, addresses: Addresses) -> Floats:
    """Return the corners of the soles in the field frame, `(..., n_feet, 4, 3)` [m].

    Args:
        positions: the positions of the soles' geoms, `(..., n_feet, 3)` [m].
        rotations: the rotations of the soles' geoms, matrices row by row, `(..., n_feet, 9)`.
        addresses: the robot's, with its sole corners; those of a ball do not rotate with it.
    """
    matrices = rotations.reshape(*rotations.shape[:-1], 3, 3)
    corners: Floats = addresses.sole_corners @ np.swapaxes(matrices, -1, -2)
    for sole in addresses.ball_soles:
        corners[..., sole, :, :] = addresses.sole_corners[sole]
    corners += positions[..., None, :]
    return corners


def find_standing_normal(points: Floats, centre_of_mass: Floats) -> Floats:
    """Return the normal of the floor on which a set of points stands.

    It is the normal of the facet of their convex hull that the centre of mass is above, or is least far
    outside.

    Args:
        points: `(n, 3)` [m].
        centre_of_mass: `(3,)` [m].

    Returns:
        A unit vector in the frame of the points, `(3,)`.
    """
    triangles = points[np.array([*combinations(range(len(points)), 3)])]
    starts = triangles[:, 0]
    normals = np.cross(triangles[:, 1] - starts, triangles[:, 2] - starts)
    lengths = np.linalg.norm(normals, axis=-1)
    has_area = lengths >= _MIN_AREA_M2
    triangles = triangles[has_area]
    starts = starts[has_area]
    normals = normals[has_area]
    lengths = lengths[has_area]
    normals /= np.copysign(lengths, normals[:, 2])[:, np.newaxis]  # all upward
    # a facet of the hull has all points above it
    lowest = np.einsum("tpi,ti->tp", points - starts[:, np.newaxis], normals).min(axis=-1, initial=math.inf)
    is_support = (lowest > -_ROUNDING_M) & (normals[:, 2] > _MIN_UP)
    if not is_support.any():
        return _fit_floor_normal(points, np.array([0.0, 0.0, 1.0]))
    distances = distance_outside(triangles[is_support], centre_of_mass, normals[is_support])
    # the first of the nearest, as which one is least depends on rounding
    nearest = np.argmax(distances < distances.min() + _DISTANCE_TOLERANCE_M)
    return _fit_floor_normal(points, normals[is_support][nearest])


def _fit_floor_normal(points: Floats, up: Floats) -> Floats:
    """Return the normal of the plane fitted to all points on the floor, near an approximate normal `up`.

    Which three points span the facet depends on rounding; the fit through all of them does not.
    """
    heights = points @ up
    standing = points[heights < heights.min() + _SAME_PLANE_M]
    if len(standing) < 3:
        return up
    spread = standing - standing.mean(axis=0)
    # the principal axes, that of the largest extent first
    _, extents, axes = np.linalg.svd(spread)
    if extents[1] < _MIN_WIDTH_M:  # the points are nearly on a line
        return up
    normal = axes[2]
    return np.asarray(normal if normal @ up > 0.0 else -normal)


def lean_of_normal(up: Floats) -> Lean:
    """Return the lean of a base on a floor whose normal in the frame of the base is `up` `(3,)`."""
    return Lean(math.atan2(up[1], up[2]), math.atan2(-up[0], math.hypot(up[1], up[2])))


def _tilt_to_vertical(up: Floats) -> Floats:
    """Return the rotation by roll and pitch alone that turns `up` `(3,)` to the vertical, `(3, 3)`."""
    lean = lean_of_normal(up)
    return _rotation_y(lean.pitch_rad) @ _rotation_x(lean.roll_rad)


def _rotation_x(angle: float) -> Floats:
    c = math.cos(angle)
    s = math.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _rotation_y(angle: float) -> Floats:
    c = math.cos(angle)
    s = math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def _rotation_z(angle: float) -> Floats:
    c = math.cos(angle)
    s = math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _quaternion(rotation: Floats) -> Floats:
    """Return the quaternion w x y z of a rotation matrix, `(4,)`."""
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(rotation).ravel())
    return quaternion
