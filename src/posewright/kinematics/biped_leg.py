"""A biped's leg in closed form: yaw, roll and pitch at the hip, the knee, pitch and roll at the ankle.

At hip and ankle the axes of roll and pitch meet, or one is over the other; the yaw's may lie in front of
the hip or behind. A leg of five joints has no yaw: its foot points where its joints let it, and only its
tilt can be chosen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from posewright.arrays import Floats
from posewright.errors import UnreachableError
from posewright.robots import LEG_PARTS, OUTWARDS, SIDES, Robot
from posewright.rotation import rotations_about_axis

Planar = tuple[float, float]
"""A vector in the plane of a leg: forward, up [m]."""

_COSINE_TOLERANCE = 1e-12
"""A stretched leg is not out of reach by rounding."""


class LegAngles(NamedTuple):
    """Angles of the joints from the trunk to the foot, each a number or an array [rad]."""

    hip_yaw: Floats
    hip_roll: Floats
    hip_pitch: Floats
    knee: Floats
    ankle_pitch: Floats
    ankle_roll: Floats


@dataclass(frozen=True)
class BipedLeg:
    """A leg of five or six joints, for one foot frame or many; lengths in metres, with all joints at 0.

    Attributes:
        joints: names of its joints from the trunk to the foot.
        indices: their indices in `robot.joint_names`.
        hip_m: a point of the yaw's axis at the height of the roll axis, in the trunk's frame.
        hip_ahead_m: how far in front of the yaw's axis the pitch axis is.
        thigh_m: from the hip's pitch axis to the knee's axis, forward and up.
        shank_m: from there to the ankle's pitch axis, forward and up.
        sole_m: from the ankle's roll axis to the middle of the sole, in the foot's frame.
        hip_drop_m: how far under the hip's roll axis its pitch axis is.
        ankle_drop_m: how far under the ankle's pitch axis its roll axis is.
        directions: 1 or -1 for each joint: the angle in a pose is that of `LegAngles` times this.
    """

    joints: tuple[str, ...] = field(repr=False)
    indices: tuple[int, ...] = field(repr=False)
    directions: tuple[int, ...] = field(repr=False)
    hip_m: tuple[float, float, float]
    hip_ahead_m: float
    thigh_m: Planar = field(repr=False)
    shank_m: Planar = field(repr=False)
    sole_m: tuple[float, float, float] = field(repr=False)
    hip_drop_m: float = field(default=0.0, repr=False)
    ankle_drop_m: float = field(default=0.0, repr=False)

    @property
    def has_yaw(self) -> bool:
        """Whether the hip has a yaw."""
        return len(self.joints) == len(LEG_PARTS)

    @property
    def reach_m(self) -> float:
        """Distance from the roll axis of the hip to that of the ankle with the leg stretched [m]."""
        return self.hip_drop_m + math.hypot(*self.thigh_m) + math.hypot(*self.shank_m) + self.ankle_drop_m

    def ankle_position(self, sole: Floats, turn: Floats) -> Floats:
        """Return the ankle's roll axis `(..., 3)` [m] from the middle of the sole and the foot's rotation."""
        point: Floats = sole - turn @ np.array(self.sole_m)
        return point

    def solve(self, sole: Floats, turn: Floats) -> LegAngles:
        """Return the angles that give the foot a position and a rotation, or without a yaw its tilt.

        The pitch axes are perpendicular to the foot's x and to the yaw's axis alike, which gives the yaw.

        Args:
            sole: the middle of the sole, `(..., 3)` in the trunk's frame [m].
            turn: the foot's rotation in the trunk's frame, `(..., 3, 3)`.

        Raises:
            UnreachableError: the leg is too short, or cannot fold so far.
        """
        foot_ahead = turn[..., 0]
        foot_left = turn[..., 1]
        foot_up = turn[..., 2]
        yaw_to_ankle = self.ankle_position(sole, turn) - np.array(self.hip_m)
        if not self.has_yaw:  # the leg's plane contains the trunk's x, so the foot points straight ahead
            foot_ahead = np.zeros_like(foot_ahead)
            foot_ahead[..., 0] = 1.0
            yaw_to_ankle = yaw_to_ankle - self.hip_ahead_m * foot_ahead
        # the direction of the pitch axes, normal to the leg's plane
        across = _cross(foot_ahead, yaw_to_ankle)
        across /= np.sqrt((across * across).sum(-1, keepdims=True))
        horizontal = np.hypot(across[..., 0], across[..., 1])
        # the axes of the leg's plane, and the leg in it from the hip to the ankle
        level = np.zeros_like(across)
        level[..., 0] = across[..., 1] / horizontal
        level[..., 1] = -across[..., 0] / horizontal
        upward = _cross(level, across)
        hip_to_ankle = yaw_to_ankle - self.hip_ahead_m * level if self.has_yaw else yaw_to_ankle
        # the foot's pitch in the leg's plane and its roll out of it, from its x, or from its z without a yaw
        if self.has_yaw:
            foot_pitch = np.arctan2(-_dot(foot_ahead, upward), _dot(foot_ahead, level))
            ankle_roll = np.arctan2(_dot(foot_left, _cross(foot_ahead, across)), _dot(foot_left, across))
        else:
            foot_pitch = np.arctan2(_dot(foot_up, level), _dot(foot_up, upward))
            ankle_roll = -np.arcsin(np.clip(_dot(foot_up, across), -1.0, 1.0))
        # from pitch axis to pitch axis
        x = _dot(hip_to_ankle, level) + self.ankle_drop_m * np.sin(foot_pitch)
        z = _dot(hip_to_ankle, upward) + self.ankle_drop_m * np.cos(foot_pitch) + self.hip_drop_m
        knee = self._knee_angle(np.hypot(x, z))
        # the hip's pitch turns the bent leg from where it is at pitch 0
        thigh_x, thigh_z = self.thigh_m
        shank_x, shank_z = _pitch(self.shank_m, knee)
        direction_at_zero = np.arctan2(thigh_x + shank_x, thigh_z + shank_z)
        hip_pitch = _wrap_angle(np.arctan2(x, z) - direction_at_zero)
        return LegAngles(
            hip_yaw=np.arctan2(-across[..., 0], across[..., 1]),
            hip_roll=np.arctan2(across[..., 2], horizontal),
            hip_pitch=hip_pitch,
            knee=knee,
            ankle_pitch=_wrap_angle(foot_pitch - hip_pitch - knee),
            ankle_roll=ankle_roll,
        )

    def _knee_angle(self, distance: Floats) -> Floats:
        """Return the knee's angles for ankles at distances from the hip [rad], by the law of cosines."""
        thigh = math.hypot(*self.thigh_m)
        shank = math.hypot(*self.shank_m)
        cosine = (distance * distance - thigh * thigh - shank * shank) / (2.0 * thigh * shank)
        is_in_reach = np.abs(cosine) <= 1.0 + _COSINE_TOLERANCE  # false for NaN
        if not is_in_reach.all():
            worst = float(np.asarray(distance).ravel()[np.argmin(is_in_reach.ravel())])
            bounds = f"{abs(thigh - shank):.4g} to {thigh + shank:.4g} m"
            raise UnreachableError(
                f"the ankle is {worst:.4g} m from the hip",
                hint=f"the leg reaches {bounds}",
                part=self.joints[-3],  # the knee; two joints of the ankle follow
                excess_m=max(worst - (thigh + shank), abs(thigh - shank) - worst),
            )
        bend = np.arccos(np.clip(cosine, -1.0, 1.0))
        return _wrap_angle(bend - math.atan2(*self.shank_m) + math.atan2(*self.thigh_m))

    def forward(self, angles: LegAngles) -> tuple[Floats, Floats]:
        """Return the middle of the sole `(..., 3)` [m] and the foot's rotation `(..., 3, 3)`.

        Both are in the trunk's frame.
        """
        hip = rotations_about_axis(2, angles.hip_yaw)
        block = hip @ rotations_about_axis(0, angles.hip_roll)
        thigh = block @ rotations_about_axis(1, angles.hip_pitch)
        shank = thigh @ rotations_about_axis(1, angles.knee)
        ankle = shank @ rotations_about_axis(1, angles.ankle_pitch)
        foot = ankle @ rotations_about_axis(0, angles.ankle_roll)
        point = self.knee_positions(angles) + shank @ _embed(self.shank_m)
        return point - ankle[..., 2] * self.ankle_drop_m + foot @ np.array(self.sole_m), foot

    def knee_positions(self, angles: LegAngles) -> Floats:
        """Return the position of the knee's axis in the trunk's frame, `(..., 3)` [m]."""
        hip = rotations_about_axis(2, angles.hip_yaw)
        block = hip @ rotations_about_axis(0, angles.hip_roll)
        thigh = block @ rotations_about_axis(1, angles.hip_pitch)
        pitch_axis: Floats = (
            np.array(self.hip_m) + hip[..., 0] * self.hip_ahead_m - block[..., 2] * self.hip_drop_m
        )
        return pitch_axis + thigh @ _embed(self.thigh_m)

    def pick_angles(self, pose: Floats) -> LegAngles:
        """Return the angles of its joints in poses of the robot `(..., n_joints)`; a missing yaw is 0."""
        columns = [
            direction * pose[..., index]
            for index, direction in zip(self.indices, self.directions, strict=True)
        ]
        missing_yaw = [] if self.has_yaw else [np.zeros_like(columns[0])]
        return LegAngles(*missing_yaw, *columns)

    def put_angles(self, pose: Floats, angles: LegAngles) -> None:
        """Write the angles of the leg's joints into poses of the robot `(..., n_joints)` [rad]."""
        columns = angles if self.has_yaw else angles[1:]
        for index, direction, column in zip(self.indices, self.directions, columns, strict=True):
            pose[..., index] = direction * column


def biped_legs_of(robot: Robot) -> Mapping[str, BipedLeg]:
    """Return the legs of a biped by side, the right one first.

    Raises:
        InputError: the robot's card does not describe the legs of a biped.
    """
    geometry = robot.require_biped()
    legs = {}
    for side in SIDES:
        mirror = -OUTWARDS[side]  # the geometry is that of the right leg
        hip_x, hip_y, hip_z = geometry.hip_m
        sole_x, sole_y, sole_z = geometry.sole_m
        legs[side] = BipedLeg(
            joints=geometry.joints[side],
            indices=tuple(robot.index(joint) for joint in geometry.joints[side]),
            directions=geometry.directions[side],
            hip_m=(hip_x, mirror * hip_y, hip_z),
            hip_ahead_m=geometry.hip_ahead_m,
            thigh_m=geometry.thigh_m,
            shank_m=geometry.shank_m,
            sole_m=(sole_x, mirror * sole_y, sole_z),
            hip_drop_m=geometry.hip_drop_m,
            ankle_drop_m=geometry.ankle_drop_m,
        )
    return legs


def _embed(vector: Planar) -> Floats:
    """Return a vector of the leg's plane, forward and up, in three dimensions, `(3,)`."""
    x, z = vector
    return np.array([x, 0.0, z])


def _pitch(vector: Planar, angle: Floats) -> tuple[Floats, Floats]:
    """Return a vector of the leg's plane turned by pitches [rad]: forward, up."""
    x, z = vector
    cosine = np.cos(angle)
    sine = np.sin(angle)
    return x * cosine + z * sine, z * cosine - x * sine


def _wrap_angle(angle: Floats) -> Floats:
    """Return the angle from -pi to less than pi [rad]."""
    wrapped: Floats = (angle + math.pi) % (2.0 * math.pi) - math.pi
    return wrapped


def _dot(a: Floats, b: Floats) -> Floats:
    """Return the scalar products of vectors `(..., 3)`."""
    products: Floats = (a * b).sum(-1)
    return products


def _cross(a: Floats, b: Floats) -> Floats:
    """Return the vector products of vectors `(..., 3)`; `np.cross` takes five times as long for a few."""
    product = np.empty(np.broadcast_shapes(a.shape, b.shape))
    product[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    product[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    product[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return product
