"""A head on a neck: its camera's pose, and the angles that look at a point (docs/kinematics.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Flags, Floats, Indices
from posewright.errors import InputError, UnreachableError
from posewright.kinematics.arrays import ANGLES, POINT, require_finite_triples
from posewright.robots import Coupling, Robot

SLACK = 1e-12
"""Tolerance of a joint limit, for rounding [rad]."""

Range = tuple[float, float]
"""Lower and upper limit [rad]."""


class PlanePoint(NamedTuple):
    """A point or vector in the head's middle plane, forward and up [m]."""

    ahead: float
    up: float


class HeadRanges(NamedTuple):
    """Lower and upper limit of each joint of a head [rad]."""

    neck: Range
    pan: Range
    tilt: Range


N_NECK_TILTS = 301
"""Neck tilts tried if the one at rest does not reach the point: a quarter of a degree apart on an AIBO."""

N_BISECTIONS = 50
"""Enough to refine a neck tilt to the last digit."""

MAX_LISTED_POINTS = 3
"""Points that a message lists; it counts the others."""

CHUNK_SIZE = 512
"""Points tried at once with all neck tilts."""


@dataclass(frozen=True)
class HeadShape:
    """Positions of the parts of a head in its middle plane, forward and up [m], all joints at 0.

    Attributes:
        neck: axis of the neck's tilt, in the trunk's frame.
        head: intersection of pan and head tilt, from the neck.
        camera: the camera, from the head.
    """

    neck: PlanePoint
    head: PlanePoint
    camera: PlanePoint


@dataclass(frozen=True, eq=False)
class HeadLimits:
    """Limits of neck tilt, pan and head tilt, each alone and coupled.

    Attributes:
        ranges: lower and upper limit of each joint alone [rad].
        coupling: limits that depend on other joints.
        other_joints: angles of the robot's other joints, `(n_joints,)` [rad]: as near to 0 as possible, an
            AIBO's mouth shut.
        joint_columns: indices of the three joints in it.
        tilt_joint: name of the head tilt joint.
    """

    ranges: HeadRanges
    coupling: Coupling = field(repr=False)
    other_joints: Floats = field(repr=False)
    joint_columns: tuple[int, int, int] = field(repr=False)
    tilt_joint: str

    @classmethod
    def of(cls, robot: Robot, columns: tuple[int, int, int]) -> HeadLimits:
        """Return the limits of a robot's head.

        Args:
            robot: the robot.
            columns: indices of neck tilt, pan and head tilt among its joints.
        """
        lower, upper = robot.limits
        neck_range, pan_range, tilt_range = (
            (float(lower[column]), float(upper[column])) for column in columns
        )
        _, _, tilt_column = columns
        return cls(
            HeadRanges(neck_range, pan_range, tilt_range),
            coupling=robot.coupling,
            other_joints=np.clip(0.0, lower, upper),
            joint_columns=columns,
            tilt_joint=robot.joint_names[tilt_column],
        )

    def are_within(self, angles: Floats) -> Flags:
        """Return which angles `(n, 3)` [rad] are within all limits, `(n,)`."""
        is_within = np.ones(len(angles), dtype=np.bool_)
        for joint_angles, (low, high) in zip(angles.T, self.ranges, strict=True):
            is_within &= (joint_angles >= low - SLACK) & (joint_angles <= high + SLACK)
        if len(self.coupling):
            # how far each joint exceeds its coupled limits [rad]
            excess = self.coupling.excess(self._robot_poses(angles))
            is_within &= (excess <= SLACK).all(axis=1)
        return is_within

    def tilt_range(self, angles: Floats) -> tuple[Floats, Floats]:
        """Return the lower and upper limit of the head tilt, `(n,)` each [rad].

        It is narrowed by the coupled limits that hold at `angles` `(n, 3)` of the head's joints [rad].
        """
        low, high = (np.full(len(angles), limit) for limit in self.ranges.tilt)
        if len(self.coupling):
            # limits of the joint of each coupling, one column for each
            lower, upper = self.coupling.bounds(self._robot_poses(angles))
            for column, joint in enumerate(self.coupling.joints):
                if joint == self.tilt_joint:
                    low = np.maximum(low, lower[:, column])
                    high = np.minimum(high, upper[:, column])
        return low, high

    def _robot_poses(self, angles: Floats) -> Floats:
        """Return poses of the whole robot with these angles of the head, `(n, n_joints)` [rad]."""
        poses = np.tile(self.other_joints, (len(angles), 1))
        poses[:, list(self.joint_columns)] = angles
        return poses


def camera_pose(shape: HeadShape, angles: Floats) -> tuple[Floats, Floats]:
    """Return the camera's position and viewing direction, `(n, 3)` each [m], for angles `(n, 3)` [rad]."""
    neck_tilts, pans, head_tilts = angles.T
    # the camera seen from the intersection of pan and head tilt, in the plane that the pan turns
    camera_ahead, camera_up = _tilt(head_tilts, shape.camera.ahead, shape.camera.up)
    positions = _pan_and_tilt(neck_tilts, pans, camera_ahead, camera_up, offset_in_neck=shape.head)
    directions = _pan_and_tilt(
        neck_tilts,
        pans,
        ahead=np.cos(head_tilts),
        up=np.sin(head_tilts),
        offset_in_neck=PlanePoint(0.0, 0.0),  # a direction has no position
    )
    neck_position = np.array([shape.neck.ahead, 0.0, shape.neck.up])
    return positions + neck_position, directions


def _tilt(angle: Floats, ahead: Floats | float, up: Floats | float) -> tuple[Floats, Floats]:
    """Return the components forward and up of vectors in the middle plane, tilted up by an angle [rad]."""
    sine = np.sin(angle)
    cosine = np.cos(angle)
    return cosine * ahead - sine * up, sine * ahead + cosine * up


def _pan_and_tilt(
    neck_tilts: Floats, pans: Floats, ahead: Floats, up: Floats, *, offset_in_neck: PlanePoint
) -> Floats:
    """Turn vectors of the head by the pan, add an offset, and tilt the sum by the neck.

    Args:
        neck_tilts: angle of the neck's tilt, `(n,)` [rad].
        pans: angle of the head's pan, `(n,)` [rad].
        ahead: the vectors' component forward, in the plane that the pan turns, `(n,)`.
        up: their component upwards, `(n,)`.
        offset_in_neck: the offset, in the neck's frame.

    Returns:
        The vectors in the axes of the trunk (x forward, y left, z up), `(n, 3)`.
    """
    forward_in_neck = offset_in_neck.ahead + np.cos(pans) * ahead
    up_in_neck = offset_in_neck.up + up
    x, z = _tilt(neck_tilts, forward_in_neck, up_in_neck)
    y = np.sin(pans) * ahead
    return np.column_stack([x, y, z])


def solve_look(
    shape: HeadShape, limits: HeadLimits, points: Floats, neck_tilts: Floats
) -> tuple[Floats, Flags]:
    """Return angles `(n, 3)` [rad] that look at points, and which of them are valid `(n,)`.

    The pan turns the head's plane through the point. In it the camera's line of sight passes the axis of the
    tilt at a distance of `camera.up`, so that a right angle gives how far along the line the point lies; then
    the tilt is a difference of two directions.

    Args:
        shape: the shape of the head.
        limits: the limits of its joints.
        points: `(n, 3)` in the trunk's frame [m].
        neck_tilts: tilt of the neck for each point, `(n,)` [rad].
    """
    x, y, z = _points_in_head_frame(shape, points, neck_tilts)
    pan = np.arctan2(y, x)
    tilt, is_ahead_of_camera = _tilt_towards(shape, np.hypot(x, y), z)
    angles = np.column_stack([neck_tilts, pan, tilt])
    return angles, is_ahead_of_camera & limits.are_within(angles)


def _points_in_head_frame(
    shape: HeadShape, points: Floats, neck_tilts: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return x, y and z of points in the head's frame, `(n,)` each [m].

    Its origin is the intersection of pan and head tilt; its axes are tilted with the neck.

    Args:
        shape: the shape of the head.
        points: `(n, 3)` in the trunk's frame [m].
        neck_tilts: tilt of the neck for each point, `(n,)` [rad].
    """
    forward_from_neck = points[:, 0] - shape.neck.ahead
    up_from_neck = points[:, 2] - shape.neck.up
    x_in_neck, z_in_neck = _tilt(-neck_tilts, forward_from_neck, up_from_neck)
    return x_in_neck - shape.head.ahead, points[:, 1], z_in_neck - shape.head.up


def _tilt_towards(shape: HeadShape, ahead: Floats, up: Floats) -> tuple[Floats, Flags]:
    """Return the tilt of the head that looks at points, and which of them lie in front of the camera.

    `along` is how far along the line of sight a point lies, from where the line passes the tilt's axis.

    Args:
        shape: the shape of the head.
        ahead: how far each point is ahead of the tilt's axis, in the plane that the pan turns, `(n,)` [m].
        up: how far it is above that axis, `(n,)` [m].

    Returns:
        The tilts, `(n,)` [rad]; and whether each point is in front of the camera, `(n,)`.
    """
    camera = shape.camera
    along_sq = ahead * ahead + up * up - camera.up * camera.up  # below 0 for points too near to the axis
    along = np.sqrt(np.maximum(along_sq, 0.0))
    tilt = np.arctan2(up, ahead) - np.arctan2(camera.up, along)
    is_in_front = (along_sq > 0.0) & (along > camera.ahead)
    wrapped_tilt = np.remainder(tilt + np.pi, 2.0 * np.pi) - np.pi  # to -pi..pi
    return wrapped_tilt, is_in_front


def nearest_within_limits(shape: HeadShape, limits: HeadLimits, point: Floats, neck_tilts: Floats) -> Floats:
    """Return the angles `(3,)` [rad] within the limits that look most nearly at a point.

    For each of `neck_tilts` the pan goes as far as it can, then the tilt as far as it can for that pan; of
    these the angles are returned whose viewing direction deviates least.

    Args:
        shape: the shape of the head.
        limits: the limits of its joints.
        point: `(3,)` in the trunk's frame [m].
        neck_tilts: the tilts of the neck to try, `(n,)` [rad].
    """
    points = np.tile(point, (len(neck_tilts), 1))
    x, y, z = _points_in_head_frame(shape, points, neck_tilts)
    pan = np.clip(np.arctan2(y, x), *limits.ranges.pan)
    ahead = np.cos(pan) * x + np.sin(pan) * y
    tilt, _ = _tilt_towards(shape, ahead, z)
    angles = np.column_stack([neck_tilts, pan, tilt])
    angles[:, 2] = np.clip(tilt, *limits.tilt_range(angles))
    positions, directions = camera_pose(shape, angles)
    target_directions = points - positions
    distances = np.maximum(np.linalg.norm(target_directions, axis=1), 1e-300)  # never 0, to divide by
    target_directions /= distances[:, None]
    cosines = np.einsum("nk,nk->n", target_directions, directions)
    best: Floats = angles[cosines.argmax()]
    return best


@dataclass(frozen=True, eq=False)
class Head:
    """The head of a robot; everything is in the frame of the trunk: x forward, y left, z up.

    Attributes:
        joints: neck tilt, pan, head tilt.
        indices: their indices in `robot.joint_names`.
        shape: positions of its parts.
        limits: the limits of its joints.
        rest_rad: the neck's tilt that `look_at` stays near [rad].
        camera: name of the camera.
    """

    joints: tuple[str, str, str]
    indices: tuple[int, int, int] = field(repr=False)
    shape: HeadShape = field(repr=False)
    limits: HeadLimits = field(repr=False)
    rest_rad: float
    camera: str

    def forward(self, angles: ArrayLike) -> tuple[Floats, Floats]:
        """Return the camera's position `(..., 3)` [m] and its viewing direction `(..., 3)`, of length 1.

        Args:
            angles: neck tilt, pan, head tilt, `(..., 3)` [rad].

        Raises:
            InputError: not three angles each, or not finite.
        """
        array = require_finite_triples(angles, "angles", ANGLES)
        positions, directions = camera_pose(self.shape, array.reshape(-1, 3))
        return positions.reshape(array.shape), directions.reshape(array.shape)

    def look_at(self, points: ArrayLike, *, neck_tilt: float | None = None, nearest: bool = False) -> Floats:
        """Return the angles that bring points to the middle of the picture, `(..., 3)` [rad].

        Args:
            points: `(..., 3)` in the trunk's frame [m].
            neck_tilt: the neck's angle [rad]; None moves it as little as possible from `rest_rad` so that all
                limits hold.
            nearest: for a point out of sight, return the angles within the limits that look most nearly at
                it, with pan and head tilt each as far as they go.

        Raises:
            UnreachableError: no angles within the limits look at a point.
            InputError: not three finite numbers each, or `neck_tilt` is beyond the neck's limits.
        """
        array = require_finite_triples(points, "points", POINT)
        rows = array.reshape(-1, 3)
        if neck_tilt is not None:
            self._require_neck_tilt(neck_tilt)
        neck_tilts = np.full(len(rows), self.rest_rad if neck_tilt is None else neck_tilt)
        angles, is_visible = solve_look(self.shape, self.limits, points=rows, neck_tilts=neck_tilts)
        hidden_indices = np.flatnonzero(~is_visible)
        if hidden_indices.size and neck_tilt is None:
            angles[hidden_indices], is_reached = self._solve_with_any_neck(rows[hidden_indices])
            hidden_indices = hidden_indices[~is_reached]
        if not hidden_indices.size:
            return angles.reshape(array.shape)
        if not nearest:
            raise self._build_unreachable_error(rows, hidden_indices)
        if neck_tilt is None:
            tried_tilts = np.linspace(*self.limits.ranges.neck, N_NECK_TILTS)
        else:
            tried_tilts = np.array([neck_tilt])
        for index in hidden_indices:
            angles[index] = nearest_within_limits(self.shape, self.limits, rows[index], tried_tilts)
        return angles.reshape(array.shape)

    def _require_neck_tilt(self, neck_tilt: float) -> None:
        """Raise an InputError if an angle is beyond the limits of the neck [rad]."""
        low, high = self.limits.ranges.neck
        if not low - 1e-9 <= neck_tilt <= high + 1e-9:
            raise InputError(
                f"the neck cannot tilt to {math.degrees(neck_tilt):g} degrees",
                hint=f"the range is {math.degrees(low):g}..{math.degrees(high):g}",
            )

    def _solve_with_any_neck(self, points: Floats) -> tuple[Floats, Flags]:
        """Return angles with the neck nearest to rest, `(n, 3)` [rad], and which points they reach `(n,)`.

        Neck tilts on a grid are tried, the nearest to rest first; the first that reaches a point is refined.
        """
        neck_tilts = np.linspace(*self.limits.ranges.neck, N_NECK_TILTS)
        neck_tilts = neck_tilts[np.argsort(np.abs(neck_tilts - self.rest_rad), kind="stable")]
        angles = np.zeros((len(points), 3))
        is_reached = np.zeros(len(points), dtype=np.bool_)
        for start in range(0, len(points), CHUNK_SIZE):
            points_chunk = points[start : start + CHUNK_SIZE]
            tilts = np.tile(neck_tilts, len(points_chunk))
            _, is_visible = solve_look(
                self.shape,
                self.limits,
                points=np.repeat(points_chunk, N_NECK_TILTS, axis=0),
                neck_tilts=tilts,
            )
            is_visible = is_visible.reshape(len(points_chunk), N_NECK_TILTS)
            visible_tilts = neck_tilts[is_visible.argmax(axis=1)]  # argmax finds the first true one
            is_reached[start : start + CHUNK_SIZE] = is_visible.any(axis=1)
            angles[start : start + CHUNK_SIZE] = self._move_neck_towards_rest(points_chunk, visible_tilts)
        return angles, is_reached

    def _move_neck_towards_rest(self, points: Floats, visible_tilts: Floats) -> Floats:
        """Return angles `(n, 3)` [rad] with the neck as near to rest as the limits allow, by bisection.

        Args:
            points: the points to look at, `(n, 3)` [m].
            visible_tilts: a tilt of the neck that reaches each point, `(n,)` [rad]; the next one on the grid
                towards rest does not.
        """
        low, high = self.limits.ranges.neck
        step = (high - low) / (N_NECK_TILTS - 1)
        hidden_tilts = visible_tilts + np.clip(self.rest_rad - visible_tilts, -step, step)
        for _ in range(N_BISECTIONS):
            middle = 0.5 * (visible_tilts + hidden_tilts)
            _, is_visible = solve_look(self.shape, self.limits, points, neck_tilts=middle)
            visible_tilts = np.where(is_visible, middle, visible_tilts)
            hidden_tilts = np.where(is_visible, hidden_tilts, middle)
        angles, _ = solve_look(self.shape, self.limits, points, neck_tilts=visible_tilts)
        return angles

    def _build_unreachable_error(self, points: Floats, hidden_indices: Indices) -> UnreachableError:
        """Return the error that lists those of the points which the head cannot look at."""
        listed = []
        for index in hidden_indices[:MAX_LISTED_POINTS]:
            numbers = ", ".join(f"{number:.6g}" for number in points[index].tolist())
            listed.append(f"({numbers}) m")
        n_unlisted = len(hidden_indices) - MAX_LISTED_POINTS
        count = f" and {n_unlisted} more" if n_unlisted > 0 else ""
        first = f", the first at index {hidden_indices[0]}" if len(points) > 1 else ""
        return UnreachableError(
            f"the head cannot look at {', '.join(listed)}{count}{first}",
            hint="nearest=True looks as nearly at it as the limits allow",
        )


def head_of(robot: Robot, *, rest_rad: float | None = None) -> Head:
    """Return the head of a robot.

    Args:
        robot: its card.
        rest_rad: the neck's tilt at rest [rad]; None takes that of its pose `stand`, or 0.

    Raises:
        InputError: the card has no head, or `rest_rad` is beyond the neck's limits.
    """
    geometry = robot.head
    if geometry is None:
        raise InputError(f"the card of {robot.name} has no head", hint="describe it in its block `head:`")
    neck, pan, tilt = (robot.index(joint) for joint in geometry.joints)
    limits = HeadLimits.of(robot, (neck, pan, tilt))
    low, high = limits.ranges.neck
    if rest_rad is None:
        neck_joint, _, _ = geometry.joints
        standing_tilt = robot.poses.get("stand", {}).get(neck_joint, 0.0)
        rest_rad = min(max(standing_tilt, low), high)
    head = Head(
        geometry.joints,
        indices=(neck, pan, tilt),
        shape=HeadShape(
            neck=_to_plane(geometry.neck_m),
            head=_to_plane(geometry.head_m),
            camera=_to_plane(geometry.camera_m),
        ),
        limits=limits,
        rest_rad=rest_rad,
        camera=geometry.camera,
    )
    head._require_neck_tilt(rest_rad)
    return head


def _to_plane(position_m: tuple[float, float, float]) -> PlanePoint:
    """Return a position x, y, z of the middle plane, where y is 0, as a point of it."""
    x, _, z = position_m
    return PlanePoint(ahead=x, up=z)
