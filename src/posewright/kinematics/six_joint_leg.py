"""A biped's leg in closed form: yaw, roll and pitch at the hip, the knee, pitch and roll at the ankle.

The axes of roll and pitch meet at the hip and at the ankle; the yaw's may lie in front of the hip or behind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from posewright.arrays import Floats
from posewright.errors import UnreachableError

Planar = tuple[float, float]


class LegAngles(NamedTuple):
    """Angles of the joints from the trunk to the foot [rad]."""

    hip_yaw: float
    hip_roll: float
    hip_pitch: float
    knee: float
    ankle_pitch: float
    ankle_roll: float


@dataclass(frozen=True)
class SixJointLeg:
    """A leg of six joints; lengths in metres, with all joints at 0.

    Attributes:
        hip_m: a point of the yaw's axis at the height where roll and pitch meet, in the trunk's frame.
        hip_ahead_m: how far in front of the yaw's axis roll and pitch meet.
        thigh_m: from the hip to the knee's axis, forward and up.
        shank_m: from there to the ankle, forward and up.
        sole_m: from the ankle to the middle of the sole, in the foot's frame.
    """

    hip_m: tuple[float, float, float]
    hip_ahead_m: float
    thigh_m: Planar = field(repr=False)
    shank_m: Planar = field(repr=False)
    sole_m: tuple[float, float, float] = field(repr=False)

    @property
    def reach_m(self) -> float:
        """Distance from hip to ankle with the leg stretched [m]."""
        return math.hypot(*self.thigh_m) + math.hypot(*self.shank_m)

    def ankle_position(self, sole: Floats, turn: Floats) -> Floats:
        """Return the ankle's position `(3,)` [m] from the middle of the sole and the foot's rotation."""
        point: Floats = sole - turn @ np.array(self.sole_m)
        return point

    def solve(self, sole: Floats, turn: Floats) -> LegAngles:
        """Return the angles that give the foot a position and a rotation.

        The pitch axes are perpendicular to the foot's x and to the yaw's axis alike, which gives the yaw.

        Args:
            sole: the middle of the sole, `(3,)` in the trunk's frame [m].
            turn: the foot's rotation in the trunk's frame, `(3, 3)`.

        Raises:
            UnreachableError: the leg is too short, or cannot fold so far.
        """
        foot_ahead = turn[:, 0]
        foot_left = turn[:, 1]
        yaw_to_ankle = self.ankle_position(sole, turn) - np.array(self.hip_m)
        # the direction of the pitch axes, normal to the leg's plane
        across = np.cross(foot_ahead, yaw_to_ankle)
        across /= np.linalg.norm(across)
        yaw = math.atan2(-across[0], across[1])
        # the axes of the leg's plane, and the leg in it from the hip to the ankle
        level = np.array([math.cos(yaw), math.sin(yaw), 0.0])
        upward = np.cross(level, across)
        hip_to_ankle = yaw_to_ankle - self.hip_ahead_m * level
        x = float(hip_to_ankle @ level)
        z = float(hip_to_ankle @ upward)
        knee = self._knee_angle(math.hypot(x, z))
        # the hip's pitch turns the bent leg from where it is at pitch 0
        thigh_x, thigh_z = self.thigh_m
        shank_x, shank_z = _pitch(self.shank_m, knee)
        direction_at_zero = math.atan2(thigh_x + shank_x, thigh_z + shank_z)
        hip_pitch = _wrap_angle(math.atan2(x, z) - direction_at_zero)
        foot_pitch = math.atan2(-float(foot_ahead @ upward), float(foot_ahead @ level))
        ankle_roll = math.atan2(float(foot_left @ np.cross(foot_ahead, across)), float(foot_left @ across))
        hip_roll = math.atan2(across[2], math.hypot(across[0], across[1]))
        return LegAngles(
            yaw,
            hip_roll,
            hip_pitch,
            knee,
            ankle_pitch=_wrap_angle(foot_pitch - hip_pitch - knee),
            ankle_roll=ankle_roll,
        )

    def _knee_angle(self, distance: float) -> float:
        """Return the knee's angle for an ankle at a distance from the hip [rad], by the law of cosines."""
        thigh = math.hypot(*self.thigh_m)
        shank = math.hypot(*self.shank_m)
        cosine = (distance * distance - thigh * thigh - shank * shank) / (2.0 * thigh * shank)
        if not abs(cosine) <= 1.0 + 1e-12:  # also if it is NaN
            bounds = f"{abs(thigh - shank):.4g} to {thigh + shank:.4g} m"
            raise UnreachableError(
                f"the ankle is {distance:.4g} m from the hip", hint=f"the leg reaches {bounds}"
            )
        bend = math.acos(max(-1.0, min(1.0, cosine)))
        return _wrap_angle(bend - math.atan2(*self.shank_m) + math.atan2(*self.thigh_m))

    def forward(self, angles: LegAngles) -> tuple[Floats, Floats]:
        """Return the middle of the sole `(3,)` [m] and the foot's rotation `(3, 3)`, in the trunk's frame."""
        hip = _rotation_about(2, angles.hip_yaw)
        thigh = hip @ _rotation_about(0, angles.hip_roll) @ _rotation_about(1, angles.hip_pitch)
        shank = thigh @ _rotation_about(1, angles.knee)
        foot = shank @ _rotation_about(1, angles.ankle_pitch) @ _rotation_about(0, angles.ankle_roll)
        point = np.array(self.hip_m) + hip[:, 0] * self.hip_ahead_m
        point = point + thigh @ _embed(self.thigh_m) + shank @ _embed(self.shank_m)
        return point + foot @ np.array(self.sole_m), foot


def _embed(vector: Planar) -> Floats:
    """Return a vector of the leg's plane, forward and up, in three dimensions, `(3,)`."""
    x, z = vector
    return np.array([x, 0.0, z])


def _pitch(vector: Planar, angle: float) -> Planar:
    """Return a vector of the leg's plane turned by a pitch [rad]."""
    x, z = vector
    cosine = math.cos(angle)
    sine = math.sin(angle)
    return x * cosine + z * sine, z * cosine - x * sine


def _wrap_angle(angle: float) -> float:
    return math.remainder(angle, 2.0 * math.pi)


def _rotation_about(axis: int, angle: float) -> Floats:
    """Return the rotation about axis 0, 1 or 2 (x, y, z) by an angle [rad], `(3, 3)`."""
    cosine = math.cos(angle)
    sine = math.sin(angle)
    rotation = np.eye(3)
    u = (axis + 1) % 3  # the other two axes, in cyclic order
    v = (axis + 2) % 3
    rotation[u, u] = cosine
    rotation[v, v] = cosine
    rotation[u, v] = -sine
    rotation[v, u] = sine
    return rotation
