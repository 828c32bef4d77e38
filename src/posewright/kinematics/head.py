"""A head on a neck: where its camera is, and which angles look at a place."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from posewright.errors import InputError, UnreachableError
from posewright.kinematics.arrays import ANGLES, POINT, Flags, Floats, Indices, finite_triples
from posewright.kinematics.sight import HeadShape, Limits, best_in_limits, camera, look
from posewright.robots import Robot

NECKS = 301
"""Neck tilts looked at where the one at rest does not do: a quarter of a degree apart on an AIBO."""

HALVINGS = 50
"""Then the last neck tilt that does is known to the last digit."""

SHOWN = 3
"""So many points are told one by one."""

CHUNK = 512
"""Points tried at once with all neck tilts."""


@dataclass(frozen=True, eq=False)
class Head:
    """The head of a robot; everything is in the frame of the trunk: x forward, y left, z up.

    Attributes:
        joints: neck tilt, pan, head tilt.
        indices: their places in `robot.joint_names`.
        shape: where neck, head and camera lie.
        limits: of the three joints, of single ones and of several at once.
        rest_rad: the neck's tilt that `look_at` keeps near to [rad].
        camera: name of the camera's sensor.
    """

    joints: tuple[str, str, str]
    indices: tuple[int, int, int]
    shape: HeadShape
    limits: Limits
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
