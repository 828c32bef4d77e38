"""A head on a neck: where its camera is, and which angles look at a place (docs/kinematics.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Flags, Floats, Indices
from posewright.errors import InputError, UnreachableError
from posewright.kinematics.arrays import ANGLES, POINT, finite_triples
from posewright.robots import Coupling, Robot

SLACK = 1e-12
"""How far beyond a limit an angle may be by rounding [rad]."""

Pair = tuple[float, float]

NECKS = 301
"""Neck tilts looked at where the one at rest does not do: a quarter of a degree apart on an AIBO."""

HALVINGS = 50
"""Then the last neck tilt that does is known to the last digit."""

SHOWN = 3
"""So many points are told one by one."""

CHUNK = 512
"""Points tried at once with all neck tilts."""


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
        pose: all joints of the robot as they stand besides, `(n_joints,)` [rad]: as near to 0 as they can be,
            an AIBO's mouth shut.
        columns: places of the three joints in it.
    """

    single: tuple[Pair, Pair, Pair]
    coupling: Coupling = field(repr=False)
    pose: Floats = field(repr=False)
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
    """Return angles `(n, 3)` [rad] that look at points `(n, 3)` [m] with necks `(n,)`, and which keep limits.

    The pan turns the head's plane through the point. In it the camera's line of sight passes the axis of the
    tilt at a distance of `camera[1]`, so that a right angle gives how far along the line the point lies; then
    the tilt is a difference of two directions.
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


@dataclass(frozen=True, eq=False)
class Head:
    """The head of a robot; everything is in the frame of the trunk: x forward, y left, z up.

    Attributes:
        joints: neck tilt, pan, head tilt.
        indices: their places in `robot.joint_names`.
        rest_rad: the neck's tilt that `look_at` keeps near to [rad].
    """

    joints: tuple[str, str, str]
    indices: tuple[int, int, int] = field(repr=False)
    shape: HeadShape = field(repr=False)
    limits: Limits = field(repr=False)
    rest_rad: float
    camera: str

    def forward(self, angles: ArrayLike) -> tuple[Floats, Floats]:
        """Return where the camera is `(..., 3)` [m] and the way it looks `(..., 3)`, of length 1.

        Args:
            angles: neck tilt, pan, head tilt, `(..., 3)` [rad].

        Raises:
            InputError: not three angles each, or not finite.
        """
        array = finite_triples(angles, "angles", ANGLES)
        place, way = camera(self.shape, array.reshape(-1, 3))
        return place.reshape(array.shape), way.reshape(array.shape)

    def look_at(self, points: ArrayLike, *, neck_tilt: float | None = None, nearest: bool = False) -> Floats:
        """Return the angles that bring points to the middle of the picture, `(..., 3)` [rad].

        Args:
            points: `(..., 3)` in the trunk's frame [m].
            neck_tilt: where the neck is to stay [rad]; None turns it as little as may be from `rest_rad` so
                that all limits hold.
            nearest: for a point out of sight, give the angles within the limits that look past it least,
                with pan and head tilt each as far as they go.

        Raises:
            UnreachableError: no angles within the limits look there.
            InputError: not three finite numbers each, or a neck that does not tilt so far.
        """
        array = finite_triples(points, "points", POINT)
        rows = array.reshape(-1, 3)
        if neck_tilt is not None:
            self._check_neck(neck_tilt)
        necks = np.full(len(rows), self.rest_rad if neck_tilt is None else neck_tilt)
        angles, fine = look(self.shape, self.limits, rows, necks)
        hidden = np.flatnonzero(~fine)
        if hidden.size and neck_tilt is None:
            angles[hidden], found = self._with_any_neck(rows[hidden])
            hidden = hidden[~found]
        if hidden.size:
            if not nearest:
                raise self._refusal(rows, hidden)
            necks = np.linspace(*self.limits.single[0], NECKS) if neck_tilt is None else np.array([neck_tilt])
            found_best = [best_in_limits(self.shape, self.limits, rows[place], necks) for place in hidden]
            angles[hidden] = np.array(found_best)
        return angles.reshape(array.shape)

    def _check_neck(self, neck_tilt: float) -> None:
        low, high = self.limits.single[0]
        if not low - 1e-9 <= neck_tilt <= high + 1e-9:
            raise InputError(
                f"the neck cannot tilt by {math.degrees(neck_tilt):g} degrees",
                hint=f"the range is {math.degrees(low):g}..{math.degrees(high):g}",
            )

    def _with_any_neck(self, points: Floats) -> tuple[Floats, Flags]:
        """Return angles with the neck nearest to rest, `(n, 3)` [rad], and for which points there are any."""
        necks = np.linspace(*self.limits.single[0], NECKS)
        necks = necks[np.argsort(np.abs(necks - self.rest_rad), kind="stable")]
        angles, found = np.zeros((len(points), 3)), np.zeros(len(points), dtype=np.bool_)
        for start in range(0, len(points), CHUNK):
            part = points[start : start + CHUNK]
            tried = np.tile(necks, len(part))
            _, fine = look(self.shape, self.limits, np.repeat(part, NECKS, axis=0), tried)
            fine = fine.reshape(len(part), NECKS)
            good = necks[fine.argmax(axis=1)]
            found[start : start + CHUNK] = fine.any(axis=1)
            angles[start : start + CHUNK] = self._nearer_to_rest(part, good)
        return angles, found

    def _nearer_to_rest(self, points: Floats, good: Floats) -> Floats:
        """Return angles with the neck moved from a `good` tilt as near to rest as still does."""
        low, high = self.limits.single[0]
        step = (high - low) / (NECKS - 1)
        bad = good + np.clip(self.rest_rad - good, -step, step)
        for _ in range(HALVINGS):
            middle = 0.5 * (good + bad)
            _, fine = look(self.shape, self.limits, points, middle)
            good, bad = np.where(fine, middle, good), np.where(fine, bad, middle)
        angles, _ = look(self.shape, self.limits, points, good)
        return angles

    def _refusal(self, points: Floats, hidden: Indices) -> UnreachableError:
        told = [
            "(" + ", ".join(f"{number:.6g}" for number in points[place].tolist()) + ") m"
            for place in hidden[:SHOWN]
        ]
        more = f" and {len(hidden) - SHOWN} more" if len(hidden) > SHOWN else ""
        first = f", the first at index {hidden[0]}" if len(points) > 1 else ""
        return UnreachableError(
            f"the head cannot look at {', '.join(told)}{more}{first}",
            hint="nearest=True looks past it as little as the limits allow",
        )


def head_of(robot: Robot, *, rest_rad: float | None = None) -> Head:
    """Return the head of a robot.

    Args:
        robot: its card.
        rest_rad: the neck's tilt at rest [rad]; None takes that of its pose `stand`, or 0.

    Raises:
        InputError: the card says nothing of its head, or the neck does not tilt so far.
    """
    geometry = robot.head
    if geometry is None:
        raise InputError(f"the card of {robot.name} has no head", hint="describe it in its block `head:`")
    neck, pan, tilt = (robot.index(joint) for joint in geometry.joints)
    limits = Limits.of(robot, (neck, pan, tilt))
    low, high = limits.single[0]
    if rest_rad is None:
        rest_rad = min(max(robot.poses.get("stand", {}).get(geometry.joints[0], 0.0), low), high)
    head = Head(
        geometry.joints,
        (neck, pan, tilt),
        HeadShape(*((x, z) for x, _, z in (geometry.neck_m, geometry.head_m, geometry.camera_m))),
        limits,
        rest_rad,
        geometry.camera,
    )
    head._check_neck(rest_rad)
    return head
