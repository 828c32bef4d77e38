"""The leg of three joints: rotator, elevator, knee."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from posewright.arrays import Floats
from posewright.errors import InputError
from posewright.kinematics import leg_solving, reach
from posewright.kinematics.arrays import ANGLES, POINT, finite_triples, not_finite
from posewright.kinematics.leg_solving import LegShape
from posewright.kinematics.reach import OutOfReach, out_of_reach, refusal


class Form(Enum):
    """The two forms of the document's inverse kinematics."""

    STRICT = "strict"
    """Both parts equally long, no offsets, knee >= 0, rotator and elevator within 90 degrees either way."""

    GENERAL = "general"
    """Any lengths and offsets, elevator within 90 degrees either way, the rotator all round."""


class Knee(Enum):
    """Which way the knee bends.

    It is the bend of the leg that counts, the angle between upper leg and shank: the knee joint's own angle
    where the leg has no offsets, else that angle plus `lower_angle_rad - upper_angle_rad`.
    """

    POSITIVE = 1
    NEGATIVE = -1


class Lift(Enum):
    """Which way the elevator lifts the foot aside.

    Seen along the rotator's way the foot hangs below the shoulder (WITHIN) until the leg points straight
    aside, and is above it (BEYOND) when the leg is lifted further. Without a sideward offset these are
    elevators within 90 degrees and beyond; with one, the line from the shoulder to the foot counts instead.
    """

    WITHIN = 1
    BEYOND = -1


@dataclass(frozen=True)
class ThreeJointLeg:
    """A leg of three joints, as the walking document and the AIBO have it.

    The leg's frame has its origin in the shoulder, where the axes of rotator and elevator meet; x points to
    the robot's own end of that leg, y outwards from the body, z up. At zero the leg hangs straight down. The
    rotator q1 swings it towards x, the elevator q2 lifts it outwards, the knee q3 bends the shank towards x:
    `H = Ry(-q1) Rx(q2) Tz(-upper) Ry(-q3) Tz(-lower)`.

    Every point within reach is reached in up to four ways, by two signs: of the bend (`Knee`) and of the
    elevator (`Lift`). Angles come back from their point to within 8 EPS R |J^-1| rad (32 where one part is
    many times as long as the other), with EPS = 2.2e-16, R the reach and J the Jacobian: the knee to
    4 EPS R^2 / (upper lower sin(bend)), and to 2e-7 rad at worst where the leg is stretched.
    docs/kinematics.md derives all formulas and this bound.

    Attributes:
        upper_m: from the shoulder to the knee [m].
        lower_m: from the knee to the foot, seen in the leg's plane [m].
        upper_angle_rad: by how much the upper leg is turned towards x when the knee's angle is counted from
            straight down [rad]: the ERS-7's knee is ahead of its shoulder.
        lower_angle_rad: by how much the shank is turned towards x at q3 = 0 [rad].
        side_m: how far outwards of the leg's plane the foot lies [m]; it moves with q2.
    """

    upper_m: float
    lower_m: float
    upper_angle_rad: float = field(default=0.0, kw_only=True)
    lower_angle_rad: float = field(default=0.0, kw_only=True)
    side_m: float = field(default=0.0, kw_only=True)
    _shape: LegShape = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        shape = LegShape.of(
            self.upper_m, self.lower_m, self.upper_angle_rad, self.lower_angle_rad, self.side_m
        )
        object.__setattr__(self, "_shape", shape)

    @property
    def reach_m(self) -> tuple[float, float]:
        """Distance from the shoulder to the nearest and to the farthest point it reaches [m]."""
        nearest, farthest = abs(self.upper_m - self.lower_m), self.upper_m + self.lower_m
        return math.hypot(nearest, self.side_m), math.hypot(farthest, self.side_m)

    def forward(self, angles: ArrayLike) -> Floats:
        """Return where the foot is, `(..., 3)` [m].

        Args:
            angles: q1, q2, q3, `(..., 3)` [rad].

        Raises:
            InputError: not three angles each, or not finite.
        """
        array = finite_triples(angles, "angles", ANGLES)
        return leg_solving.forward(self._shape, array.reshape(-1, 3)).reshape(array.shape)

    def inverse(
        self,
        points: ArrayLike,
        *,
        form: Form = Form.GENERAL,
        knee: Knee = Knee.POSITIVE,
        lift: Lift = Lift.WITHIN,
        nearest: bool = False,
    ) -> Floats:
        """Return the angles that bring the foot to points, `(..., 3)` [rad]; the rotator within (-pi, pi].

        Args:
            points: `(..., 3)` [m].
            form: the document's general or strict form.
            knee: which way the leg bends.
            lift: whether the foot is below the shoulder or lifted beyond.
            nearest: give the angles of the nearest reachable point instead of refusing one out of reach.

        Raises:
            UnreachableError: points are too far, too near or too far aside.
            InputError: not three finite numbers each, or a leg or a bend that the strict form does not know.
        """
        array = finite_triples(points, "points", POINT)
        rows = array.reshape(-1, 3)
        if form is Form.STRICT:
            self._check_strict(knee, lift)
            angles, missed = leg_solving.solve_strict(self._shape, rows)
        else:
            angles, missed = leg_solving.solve(self._shape, rows, knee=knee.value, lift=lift.value)
        if missed.size:
            if not nearest:
                raise refusal(self._shape, rows, missed, knee=knee.value)
            angles[missed] = self._nearest(rows[missed], form, knee, lift)
        return angles.reshape(array.shape)

    def _nearest(self, points: Floats, form: Form, knee: Knee, lift: Lift) -> Floats:
        if form is Form.STRICT:
            return reach.nearest_strict(self._shape, points)
        return reach.nearest(self._shape, points, knee=knee.value, lift=lift.value)

    def _check_strict(self, knee: Knee, lift: Lift) -> None:
        if self.upper_m != self.lower_m or not self._shape.is_plain:
            raise InputError(
                "the strict form is for two equal parts without offsets", hint=f"{self!r} needs Form.GENERAL"
            )
        if knee is not Knee.POSITIVE or lift is not Lift.WITHIN:
            raise InputError("the strict form bends the knee forward only", hint="Knee.POSITIVE, Lift.WITHIN")

    def out_of_reach(self, x: float, y: float, z: float, *, knee: Knee = Knee.POSITIVE) -> OutOfReach | None:
        """Return why a point [m] is out of reach, or None where the general form of `inverse` reaches it."""
        point = finite_triples((x, y, z), "points", POINT)
        _, missed = leg_solving.solve(self._shape, point[np.newaxis], knee=knee.value, lift=Lift.WITHIN.value)
        return out_of_reach(self._shape, point, knee=knee.value) if missed.size else None

    def jacobian(self, angles: ArrayLike) -> Floats:
        """Return how the foot moves with the angles, `(..., 3, 3)` [m/rad]: rows x, y, z, columns q1, q2, q3.

        Its determinant is upper lower sin(bend) b with b = h cos q2 - side sin q2, how far the foot hangs
        below the shoulder seen along the rotator's way. It vanishes where the leg is stretched or folded and
        where it points straight aside; a foot on the rotator's axis is a case of that.
        """
        array = finite_triples(angles, "angles", ANGLES)
        return leg_solving.jacobian(self._shape, array.reshape(-1, 3)).reshape(*array.shape, 3)

    def turns(self, angles: ArrayLike) -> Floats:
        """Return how the shank is turned in the leg's frame, `(..., 3, 3)`: Ry(-q1) Rx(q2) Ry(-q3)."""
        array = finite_triples(angles, "angles", ANGLES)
        return leg_solving.turns(array.reshape(-1, 3)).reshape(*array.shape, 3)

    def forward_one(self, q1: float, q2: float, q3: float) -> tuple[float, float, float]:
        """Return where the foot is [m], as `forward` for one leg now: plain numbers, ten times as fast."""
        if not (math.isfinite(q1) and math.isfinite(q2) and math.isfinite(q3)):
            raise not_finite(np.array([q1, q2, q3]), "angles", ANGLES)
        return leg_solving.forward_one(self._shape, q1, q2, q3)

    def inverse_one(
        self,
        x: float,
        y: float,
        z: float,
        *,
        knee: Knee = Knee.POSITIVE,
        lift: Lift = Lift.WITHIN,
        nearest: bool = False,
    ) -> tuple[float, float, float]:
        """Return the angles of one point [rad], as `inverse` in general form: plain numbers, much faster.

        Raises:
            UnreachableError: the point is too far, too near or too far aside.
        """
        bend, below = 1 if knee is Knee.POSITIVE else -1, 1 if lift is Lift.WITHIN else -1
        angles = leg_solving.solve_one(self._shape, x, y, z, knee=bend, lift=below)
        if angles is None:
            found = self.inverse((x, y, z), knee=knee, lift=lift, nearest=nearest).tolist()
            return found[0], found[1], found[2]
        return angles
