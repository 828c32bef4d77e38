"""Putting a robot down.

A person who sets a robot down lets it stand as its joints are: on the facet of its soles over which the
centre of mass lies. In a walking pose that leans a Bioloid's base forward by 10 to 16 degrees. What
kneels, sits or lies is carried by other parts as well.
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
from posewright.simulation.resting import find_supports, outside_of, resting_up

if TYPE_CHECKING:
    from posewright.simulation.instance import Addresses, ModelInstance

_SAME_PLANE_M = 0.001
"""Corners this near to the plane the robot stands on are taken to stand on it."""

_BURIED_M = 0.001
"""A part may be this deep in the floor when the robot is put on its soles: no more than soles may hover."""

_LEAST_UP = 0.3
"""Cosine of the farthest lean, 73 degrees: what leans farther lies, and does not stand on its soles."""

_BELOW_M = 1e-6
"""A corner this little below a facet is on it: rounding."""

_NO_AREA_M2 = 1e-8
"""Three corners whose parallelogram is smaller than this lie on a line and carry nothing."""

_NO_WIDTH_M = 0.01
"""Corners that spread less than this across their longest way give no plane: its tilt would be rounding's."""


_LEVEL = math.sqrt(0.5)
"""Cosine of the farthest that a sole leans on which a robot stands: 45 degrees."""

_DOWN_M = 0.004
"""Steps in which a robot is let down on what stands fast: less than a sole is thick."""

_NEAR_M = 1e-5
"""How near to what carries it a robot is let down."""


class Lean(NamedTuple):
    """How a base leans: roll positive to the right, pitch positive forward [rad]."""

    roll_rad: float = 0.0
    pitch_rad: float = 0.0


def place(
    one: ModelInstance, x_m: float, y_m: float, yaw_rad: float, joints: Floats, *, lean: Lean | None = None
) -> None:
    """Put a robot there, at rest, with its lowest point on the floor; boxes and other robots are left alone.

    Upright, it stands on its soles, where they are flat. A robot with round feet, or one of which another
    part would then be in the floor, stands, kneels, sits or lies on whatever carries it in that pose.

    Where it would then be in a step, a ring or furniture, it is let down on that from above: on its soles, or
    else with its base upright, as it sits on a chair.

    Args:
        one: the robot.
        x_m: of the base [m].
        y_m: of the base [m].
        yaw_rad: heading of the base [rad].
        joints: `(n_joints,)` [rad].
        lean: of the base; None for upright, as the pose lets it stand.

    Raises:
        InputError: a number is not finite.
    """
    if not np.isfinite([x_m, y_m, yaw_rad, *joints, *(lean or ())]).all():
        raise InputError(f"cannot put the robot at {x_m}, {y_m}, {yaw_rad}", hint="finite numbers")
    data, at = one.data, one.addresses
    data.qpos[at.joint_qpos] = at.of_moving(joints)
    data.qpos[at.base_qpos] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    mujoco.mj_kinematics(one.model, data)
    mujoco.mj_comPos(one.model, data)
    stance = _stance(one, lean)
    carriers = _carriers(one)
    seated = stance if stance.is_held or not len(carriers) else _stance(one, Lean())
    turn = _yaw(yaw_rad)
    data.qvel[at.base_qvel] = 0.0
    data.qvel[at.joint_qvel] = 0.0
    data.qacc[:] = 0.0
    data.qacc_warmstart[:] = 0.0
    _put(one, (x_m, y_m, stance.height_m), turn @ stance.tilt)
    if _depth(one, carriers) > _BURIED_M:
        _let_down(one, carriers, (x_m, y_m, seated.height_m), turn @ seated.tilt)
    mujoco.mj_forward(one.model, data)


class _Stance(NamedTuple):
    """How the base is turned, `(3, 3)`, how high it is above the floor [m], and whether only so."""

    tilt: Floats
    height_m: float
    is_held: bool


def _stance(one: ModelInstance, lean: Lean | None) -> _Stance:
    """Return how it stands on a floor; `is_held` where its lean is told, or its soles tell it."""
    centre, supports = one.data.subtree_com[one.addresses.base_body], find_supports(one)
    if lean is not None:
        tilt = _pitch(lean.pitch_rad) @ _roll(lean.roll_rad)
        return _Stance(tilt, -float(supports.heights(tilt[2]).min()), is_held=True)
    if not one.addresses.round_soles:
        corners = sole_corners(one).reshape(-1, 3)
        tilt = _tilt(standing_up(corners, centre))
        lowest = float((corners @ tilt.T)[:, 2].min())
        if supports.heights(tilt[2]).min() >= lowest - _BURIED_M:
            soles = one.data.geom_xmat[one.addresses.sole_geoms].reshape(-1, 3, 3)
            return _Stance(tilt, -lowest, is_held=bool((soles[:, :, 2] @ tilt[2] > _LEVEL).all()))
    tilt = _tilt(resting_up(supports, centre))
    return _Stance(tilt, -float(supports.heights(tilt[2]).min()), is_held=False)


def _put(one: ModelInstance, where: tuple[float, float, float], rotation: Floats) -> None:
    """Put the base there [m], turned so, and find what it then touches."""
    one.data.qpos[one.addresses.base_qpos] = (*where, *_quaternion(rotation))
    mujoco.mj_fwdPosition(one.model, one.data)


def _depth(one: ModelInstance, carriers: Indices) -> float:
    """Return how deep a robot is in these geoms; 0 where it is not [m]."""
    if not len(carriers):
        return 0.0
    own, contact = one.own_geoms(), one.data.contact
    pairs = contact.geom
    meets = (np.isin(pairs, carriers) & own[pairs[:, ::-1]]).any(axis=-1)
    return float(-np.min(contact.dist[meets], initial=0.0))


def _carriers(one: ModelInstance) -> Indices:
    """Return the geoms of the arena's steps, rings and furniture."""
    shapes = () if one.arena is None else one.arena.shapes
    carry = [shape.name for shape in shapes if shape.is_solid and shape.role is not Role.WALL]
    return np.array([one.model.geom(name).id for name in carry], dtype=np.intp)


def _let_down(
    one: ModelInstance, carriers: Indices, where: tuple[float, float, float], rotation: Floats
) -> None:
    """Let a robot down from above, turned so, until it touches what stands there; `where` is on the floor."""
    x, y, floor = where
    model = (
        one.model
    )  # the axes of a mesh are turned as MuJoCo likes, so that its box says nothing of its top
    is_mesh = model.geom_type[carriers] == mujoco.mjtGeom.mjGEOM_MESH
    above = np.where(is_mesh, model.geom_rbound[carriers], model.geom_aabb[carriers, 5])
    tops = model.geom_pos[carriers, 2] + above
    high = floor + float(tops.max()) + _DOWN_M
    low = high
    while low > floor:
        low = max(high - _DOWN_M, floor)
        _put(one, (x, y, low), rotation)
        if _depth(one, carriers):
            break
        high = low
    while high - low > _NEAR_M:
        middle = (high + low) / 2.0
        _put(one, (x, y, middle), rotation)
        low, high = (middle, high) if _depth(one, carriers) else (low, middle)
    _put(one, (x, y, high), rotation)


def sole_corners(one: ModelInstance) -> Floats:
    """Return the corners of the soles where they are now, `(n_feet, 4, 3)` [m]."""
    at, data = one.addresses, one.data
    return footprints(data.geom_xpos[at.sole_geoms], data.geom_xmat[at.sole_geoms], at)


def footprints(positions: Floats, rotations: Floats, addresses: Addresses) -> Floats:
    """Return the corners of the soles in the field frame, `(..., n_feet, 4, 3)` [m]; a ball's lie level.

    The soles' positions are `(..., n_feet, 3)` [m], their rotations, row by row, `(..., n_feet, 9)`.
    """
    matrices = rotations.reshape(*rotations.shape[:-1], 3, 3)
    turned: Floats = addresses.sole_corners @ np.swapaxes(matrices, -1, -2)
    for sole in addresses.round_soles:
        turned[..., sole, :, :] = addresses.sole_corners[sole]
    turned += positions[..., None, :]
    return turned


def standing_up(points: Floats, centre: Floats) -> Floats:
    """Return which way is up when these points stand on a floor.

    The normal `(3,)` of the facet of their convex hull over which the centre of mass `(3,)` lies, or is least
    far outside: a unit vector in the frame of `points` `(n, 3)` [m].
    """
    triangles = points[np.array([*combinations(range(len(points)), 3)])]
    starts = triangles[:, 0]
    normals = np.cross(triangles[:, 1] - starts, triangles[:, 2] - starts)
    lengths = np.linalg.norm(normals, axis=-1)
    fat = lengths >= _NO_AREA_M2
    triangles, starts, normals, lengths = triangles[fat], starts[fat], normals[fat], lengths[fat]
    normals /= np.copysign(lengths, normals[:, 2])[:, np.newaxis]
    lowest = np.einsum("tpi,ti->tp", points - starts[:, np.newaxis], normals).min(axis=-1, initial=math.inf)
    carry = (lowest > -_BELOW_M) & (normals[:, 2] > _LEAST_UP)
    if not carry.any():
        return _fitted(points, np.array([0.0, 0.0, 1.0]))
    outside = outside_of(triangles[carry], centre, normals[carry])
    return _fitted(points, normals[carry][np.argmax(outside < outside.min() + 1e-9)])


def _fitted(points: Floats, up: Floats) -> Floats:
    """Return the normal of the plane through all the points that stand on the floor.

    Which three of them carry the facet depends on rounding; all of them together do not.
    """
    heights = points @ up
    standing = points[heights < heights.min() + _SAME_PLANE_M]
    if len(standing) < 3:
        return up
    spread = standing - standing.mean(axis=0)
    _, sizes, axes = np.linalg.svd(spread)
    if sizes[1] < _NO_WIDTH_M:
        return up
    return np.asarray(axes[2] if axes[2] @ up > 0.0 else -axes[2])


def _tilt(up: Floats) -> Floats:
    """Return the rotation by roll and pitch alone that turns `up` to the vertical, `(3, 3)`."""
    roll = math.atan2(up[1], up[2])
    pitch = math.atan2(-up[0], math.hypot(up[1], up[2]))
    return _pitch(pitch) @ _roll(roll)


def _roll(angle: float) -> Floats:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _pitch(angle: float) -> Floats:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def _yaw(angle: float) -> Floats:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _quaternion(rotation: Floats) -> Floats:
    """Return qw qx qy qz of a rotation matrix."""
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(rotation).ravel())
    return quaternion
