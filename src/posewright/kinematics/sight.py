"""Looking at a point: the head's formulas over many points (docs/kinematics.md)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posewright.kinematics.arrays import Flags, Floats
from posewright.robots import Coupling, Robot

SLACK = 1e-12
"""How far beyond a limit an angle may be by rounding [rad]."""

Pair = tuple[float, float]


@dataclass(frozen=True)
class HeadShape:
    """Where the parts of a head lie in its middle plane, ahead and up [m], all joints at 0.

    Attributes:
        neck: axis of the neck's tilt, in the trunk's frame.
        head: where pan and head tilt cross, from there.
        camera: the camera, from there.
    """

    neck: Pair
    head: Pair
    camera: Pair


@dataclass(frozen=True, eq=False)
class Limits:
    """How far neck tilt, pan and head tilt may turn.

    Attributes:
        single: lower and upper limit of each joint [rad].
        coupling: limits of joints where others stand so and so.
        pose: all joints of the robot as they stand besides, `(n_joints,)` [rad]: as near to 0 as they can be,
            an AIBO's mouth shut.
        columns: places of the three joints in it.
        tilt: name of the head's tilt.
    """

    single: tuple[Pair, Pair, Pair]
    coupling: Coupling
    pose: Floats
    columns: tuple[int, int, int]
    tilt: str

    @classmethod
    def of(cls, robot: Robot, columns: tuple[int, int, int]) -> Limits:
        """Take the limits from a card."""
        lower, upper = robot.limits
        neck, pan, tilt = ((float(lower[column]), float(upper[column])) for column in columns)
        return cls(
            (neck, pan, tilt),
            robot.coupling,
            np.clip(0.0, lower, upper),
            columns,
            robot.joint_names[columns[2]],
        )

    def allow(self, angles: Floats) -> Flags:
        """Tell which angles `(n, 3)` [rad] keep all limits, `(n,)`."""
        fine = np.ones(len(angles), dtype=np.bool_)
        for column, (low, high) in zip(angles.T, self.single, strict=True):
            fine &= (column >= low - SLACK) & (column <= high + SLACK)
        if len(self.coupling):
            fine &= (self.coupling.beyond(self._poses(angles)) <= SLACK).all(axis=1)
        return fine

    def tilts(self, angles: Floats) -> tuple[Floats, Floats]:
        """Return how far the head may tilt with the neck as in `angles` `(n, 3)`, `(n,)` each [rad]."""
        low, high = (np.full(len(angles), limit) for limit in self.single[2])
        if len(self.coupling):
            lower, upper = self.coupling.bounds(self._poses(angles))
            for table, joint in enumerate(self.coupling.joints):
                if joint == self.tilt:
                    low, high = np.maximum(low, lower[:, table]), np.minimum(high, upper[:, table])
        return low, high

    def _poses(self, angles: Floats) -> Floats:
        poses = np.tile(self.pose, (len(angles), 1))
        poses[:, list(self.columns)] = angles
        return poses


def camera(shape: HeadShape, angles: Floats) -> tuple[Floats, Floats]:
    """Return where the camera is and the way it looks, `(n, 3)` each [m], for angles `(n, 3)` [rad]."""
    neck, pan, tilt = angles.T
    ahead, up = _tilted(tilt, *shape.camera)
    place = _from_head(neck, pan, ahead, up, at=shape.head)
    way = _from_head(neck, pan, np.cos(tilt), np.sin(tilt), at=(0.0, 0.0))
    return place + np.array([shape.neck[0], 0.0, shape.neck[1]]), way


def _tilted(angle: Floats, ahead: Floats | float, up: Floats | float) -> tuple[Floats, Floats]:
    """Return a vector of the middle plane, ahead and up, tilted up by an angle."""
    sine, cosine = np.sin(angle), np.cos(angle)
    return cosine * ahead - sine * up, sine * ahead + cosine * up


def _from_head(neck: Floats, pan: Floats, ahead: Floats, up: Floats, *, at: Pair) -> Floats:
    """Return a vector of the plane that the pan turns, from `at` on the neck, in the trunk's axes."""
    x, z = _tilted(neck, at[0] + np.cos(pan) * ahead, at[1] + up)
    return np.column_stack([x, np.sin(pan) * ahead, z])


def look(shape: HeadShape, limits: Limits, points: Floats, necks: Floats) -> tuple[Floats, Flags]:
    """Return angles `(n, 3)` [rad] that look at points with the neck so tilted, and which keep the limits.

    The pan turns the head's plane through the point. In it the camera's line of sight passes the axis of the
    tilt at a distance of `camera[1]`, so that a right angle gives how far along the line the point lies; then
    the tilt is a difference of two directions.

    Args:
        shape: the head.
        limits: of its joints.
        points: `(n, 3)` [m].
        necks: `(n,)` [rad].
    """
    x, y, z = _seen_from_head(shape, points, necks)
    pan = np.arctan2(y, x)
    angles = np.column_stack([necks, pan, np.zeros_like(pan)])
    angles[:, 2], ahead_of_camera = _tilt_towards(shape, np.hypot(x, y), z)
    return angles, ahead_of_camera & limits.allow(angles)


def _seen_from_head(shape: HeadShape, points: Floats, necks: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the points from where pan and tilt cross, in the neck's frame, `(n,)` each [m]."""
    ahead, up = _tilted(-necks, points[:, 0] - shape.neck[0], points[:, 2] - shape.neck[1])
    return ahead - shape.head[0], points[:, 1], up - shape.head[1]


def _tilt_towards(shape: HeadShape, ahead: Floats, up: Floats) -> tuple[Floats, Flags]:
    """Return the tilt [rad] that looks at points of the head's plane, and which are ahead of the camera."""
    forward, above = shape.camera
    along_sq = ahead * ahead + up * up - above * above
    along = np.sqrt(np.maximum(along_sq, 0.0))
    tilt = np.arctan2(up, ahead) - np.arctan2(above, along)
    return np.remainder(tilt + np.pi, 2.0 * np.pi) - np.pi, (along_sq > 0.0) & (along > forward)


def best_in_limits(shape: HeadShape, limits: Limits, point: Floats, necks: Floats) -> Floats:
    """Return the angles `(3,)` [rad] within the limits that look past a point least, with one of `necks`.

    For each neck the pan goes as far as it can, then the tilt as far as it can for that pan.
    """
    points = np.tile(point, (len(necks), 1))
    x, y, z = _seen_from_head(shape, points, necks)
    pan = np.clip(np.arctan2(y, x), *limits.single[1])
    ahead = np.cos(pan) * x + np.sin(pan) * y
    tilt, _ = _tilt_towards(shape, ahead, z)
    angles = np.column_stack([necks, pan, tilt])
    angles[:, 2] = np.clip(tilt, *limits.tilts(angles))
    place, way = camera(shape, angles)
    towards = points - place
    towards /= np.maximum(np.linalg.norm(towards, axis=1), 1e-300)[:, None]
    best: Floats = angles[np.einsum("nk,nk->n", towards, way).argmax()]
    return best
