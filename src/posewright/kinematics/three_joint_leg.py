"""Kinematics of a leg of three joints: rotator, elevator, knee."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.kinematics import leg_solving, reach
from posewright.kinematics.arrays import ANGLES, POINT, build_not_finite_error, require_finite_triples
from posewright.kinematics.leg_solving import LegShape
from posewright.kinematics.reach import OutOfReach, build_unreachable_error, explain_out_of_reach


class IkForm(Enum):
    """The two forms of inverse kinematics in the lecture the leg comes from."""

    STRICT = "strict"
    """Both parts equally long, no offsets, knee >= 0, rotator and elevator within 90 degrees either way."""

    GENERAL = "general"
    """Any lengths and offsets, elevator within 90 degrees either way, a full turn of the rotator."""


class Knee(Enum):
    """The direction in which the leg bends.

    It is the sign of the angle between upper leg and shank: the knee joint's own angle if the leg has no
    offsets, else that angle plus `lower_angle_rad - upper_angle_rad`.
    """

    POSITIVE = 1
    NEGATIVE = -1


class Lift(Enum):
    """Whether the elevator lifts the leg beyond straight aside.

    In the plane of the elevator the foot hangs below the shoulder (WITHIN) until the leg points straight
    aside, and is above it (BEYOND) when the leg is lifted further. Without a sideward offset these are
    elevator angles within 90 degrees and beyond; with one, the line from the shoulder to the foot counts.
    """

    WITHIN = 1
    BEYOND = -1


@dataclass(frozen=True)
class ThreeJointLeg:
    """A leg of three joints, as in the lecture on walking and in the AIBO.

    The leg's frame has its origin in the shoulder, where the axes of rotator and elevator meet; x points to
    the robot's own end of that leg, y outwards from the body, z up. At zero the leg hangs straight down. The
    rotator q1 swings it towards x, the elevator q2 lifts it outwards, the knee q3 bends the shank towards x:
    `H = Ry(-q1) Rx(q2) Tz(-upper) Ry(-q3) Tz(-lower)`.

    Every point within reach has up to four solutions, by two signs: of the bend (`Knee`) and of the elevator
    (`Lift`). `inverse` recovers the angles given to `forward` to within 8 EPS R |J^-1| rad (32 where one part
    is many times as long as the other), with EPS = 2.2e-16, R the reach and J the Jacobian: the knee to
    4 EPS R^2 / (upper lower sin(bend)), and to 2e-7 rad at worst where the leg is stretched.
    docs/kinematics.md derives all formulas and this bound.

    Attributes:
        upper_m: from the shoulder to the knee [m].
        lower_m: from the knee to the foot, seen in the leg's plane [m].
        upper_angle_rad: rotation of the upper leg towards x at rest [rad]: the ERS-7's knee is in front of
            its shoulder.
        lower_angle_rad: rotation of the shank towards x at q3 = 0 [rad].
        side_m: distance of the foot outwards from the leg's plane [m]; it moves with q2.
    """

    upper_m: float
    lower_m: float
    upper_angle_rad: float = field(default=0.0, kw_only=True)
    lower_angle_rad: float = field(default=0.0, kw_only=True)
    side_m: float = field(default=0.0, kw_only=True)
    _leg_shape: LegShape = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        shape = LegShape.of(
            self.upper_m,
            lower=self.lower_m,
            upper_angle=self.upper_angle_rad,
            lower_angle=self.lower_angle_rad,
            side=self.side_m,
        )
        object.__setattr__(self, "_leg_shape", shape)

    @property
    def reach_m(self) -> tuple[float, float]:
        """Distance from the shoulder to the nearest and to the farthest reachable point [m]."""
        nearest = abs(self.upper_m - self.lower_m)
        farthest = self.upper_m + self.lower_m
        return math.hypot(nearest, self.side_m), math.hypot(farthest, self.side_m)

    def forward(self, angles: ArrayLike) -> Floats:
        """Return the position of the foot, `(..., 3)` [m].

        Args:
            angles: q1, q2, q3, `(..., 3)` [rad].

        Raises:
            InputError: not three angles each, or not finite.
        """
        array = require_finite_triples(angles, "angles", ANGLES)
        return leg_solving.forward(self._leg_shape, array.reshape(-1, 3)).reshape(array.shape)

    def inverse(
        self,
        points: ArrayLike,
        *,
        form: IkForm = IkForm.GENERAL,
        knee: Knee = Knee.POSITIVE,
        lift: Lift = Lift.WITHIN,
        nearest: bool = False,
    ) -> Floats:
        """Return the angles that bring the foot to points, `(..., 3)` [rad]; the rotator within (-pi, pi].

        Args:
            points: `(..., 3)` [m].
            form: the general or the strict form of the solution.
            knee: direction of the bend.
            lift: whether the foot is below the shoulder or lifted beyond.
            nearest: return the angles of the nearest reachable point instead of raising UnreachableError.

        Raises:
            UnreachableError: points are too far, too near or too far aside.
            InputError: not three finite numbers each, or the strict form does not support the leg or bend.
        """
        array = require_finite_triples(points, "points", POINT)
        rows = array.reshape(-1, 3)
        if form is IkForm.STRICT:
            self._require_strict_form(knee, lift)
            angles, unreachable = leg_solving.solve_strict(self._leg_shape, rows)
        else:
            angles, unreachable = leg_solving.solve(self._leg_shape, rows, knee=knee.value, lift=lift.value)
        if unreachable.size:
            if not nearest:
                raise build_unreachable_error(self._leg_shape, rows, unreachable, knee=knee.value)
            angles[unreachable] = self._nearest_angles(rows[unreachable], form, knee, lift)
        return angles.reshape(array.shape)

    def _nearest_angles(self, points: Floats, form: IkForm, knee: Knee, lift: Lift) -> Floats:
        if form is IkForm.STRICT:
            return reach.nearest_strict(self._leg_shape, points)
        return reach.nearest(self._leg_shape, points, knee=knee.value, lift=lift.value)

    def _require_strict_form(self, knee: Knee, lift: Lift) -> None:
        """Raise an InputError unless the strict form applies to this leg and these options."""
        if self.upper_m != self.lower_m or not self._leg_shape.has_no_offsets:
            raise InputError(
                "the strict form is for two equal parts without offsets",
                hint=f"{self!r} needs IkForm.GENERAL",
            )
        if knee is not Knee.POSITIVE or lift is not Lift.WITHIN:
            raise InputError("the strict form bends the knee forward only", hint="Knee.POSITIVE, Lift.WITHIN")

    def out_of_reach(self, x: float, y: float, z: float, *, knee: Knee = Knee.POSITIVE) -> OutOfReach | None:
        """Return why a point [m] is out of reach, or None if the general form of `inverse` reaches it."""
        point = require_finite_triples((x, y, z), "points", POINT)
        _, unreachable = leg_solving.solve(
            self._leg_shape, point[np.newaxis], knee=knee.value, lift=Lift.WITHIN.value
        )
        return explain_out_of_reach(self._leg_shape, point, knee=knee.value) if unreachable.size else None

    def jacobian(self, angles: ArrayLike) -> Floats:
        """Return the Jacobian of the foot's position, `(..., 3, 3)` [m/rad]: x, y, z by q1, q2, q3.

        Its determinant is upper lower sin(bend) b with b = h cos q2 - side sin q2, the height of the shoulder
        above the foot in the plane of the elevator. It vanishes where the leg is stretched or folded and
        where it points straight aside; a foot on the rotator's axis is a case of that.
        """
        array = require_finite_triples(angles, "angles", ANGLES)
        return leg_solving.jacobian(self._leg_shape, array.reshape(-1, 3)).reshape(*array.shape, 3)

    def shank_rotations(self, angles: ArrayLike) -> Floats:
        """Return the rotation of the shank in the leg's frame, `(..., 3, 3)`: Ry(-q1) Rx(q2) Ry(-q3)."""
        array = require_finite_triples(angles, "angles", ANGLES)
        return leg_solving.shank_rotations(array.reshape(-1, 3)).reshape(*array.shape, 3)

    def forward_scalar(self, q1: float, q2: float, q3: float) -> tuple[float, float, float]:
        """Return the position of the foot [m]: `forward` in plain numbers, ten times as fast."""
        if not (math.isfinite(q1) and math.isfinite(q2) and math.isfinite(q3)):
            raise build_not_finite_error(np.array([q1, q2, q3]), "angles", ANGLES)
        return leg_solving.forward_scalar(self._leg_shape, q1, q2, q3)

    def inverse_scalar(
        self,
        x: float,
        y: float,
        z: float,
        *,
        knee: Knee = Knee.POSITIVE,
        lift: Lift = Lift.WITHIN,
        nearest: bool = False,
    ) -> tuple[float, float, float]:
        """Return the angles of one point [rad]: `inverse` in general form, in plain numbers, much faster.

        Raises:
            UnreachableError: the point is too far, too near or too far aside.
        """
        knee_sign = 1 if knee is Knee.POSITIVE else -1
        lift_sign = 1 if lift is Lift.WITHIN else -1
        angles = leg_solving.solve_scalar(self._leg_shape, x, y, z, knee=knee_sign, lift=lift_sign)
        if angles is None:  # raises, or finds the nearest point
            q1, q2, q3 = self.inverse((x, y, z), knee=knee, lift=lift, nearest=nearest).tolist()
            return q1, q2, q3
        return angles
