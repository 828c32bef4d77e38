"""Legs to try laws on."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posewright.arrays import Floats
from posewright.kinematics import Knee, ThreeJointLeg, legs_of
from posewright.robots import robot

EQUAL = ThreeJointLeg(0.0695, 0.0695)
PLAIN = {
    "equal parts": EQUAL,
    "nearly equal": ThreeJointLeg(0.0695, 0.0702),
    "short shank": ThreeJointLeg(0.09, 0.05),
    "long shank": ThreeJointLeg(0.05, 0.09),
}
FRONT, REAR = (leg.leg for leg in legs_of(robot("sony_ers7"))[:2])
ODD = ThreeJointLeg(0.06, 0.08, upper_angle_rad=0.5, lower_angle_rad=-0.3, side_m=-0.02)
WITH_OFFSETS = {"front": FRONT, "rear": REAR, "odd": ODD}

plain_legs = pytest.mark.parametrize("leg", PLAIN.values(), ids=PLAIN.keys())
all_legs = pytest.mark.parametrize(
    "leg", [*PLAIN.values(), *WITH_OFFSETS.values()], ids=[*PLAIN, *WITH_OFFSETS]
)
both_knees = pytest.mark.parametrize("knee", list(Knee))


def knee_zero(leg: ThreeJointLeg) -> float:
    """Return the knee's angle where the leg is straight [rad]."""
    return leg.upper_angle_rad - leg.lower_angle_rad


def legal_angles(n: int, seed: int, *, knee: tuple[float, float] = (0.0, 122.0)) -> Floats:
    """Return angles within an ERS-7 front leg's limits, `(n, 3)` [rad]."""
    low, high = np.radians([-115.0, -10.0, knee[0]]), np.radians([130.0, 88.0, knee[1]])
    return np.random.default_rng(seed).uniform(low, high, (n, 3))


def bent_angles(leg: ThreeJointLeg, n: int, seed: int, knee: Knee) -> Floats:
    """Return angles well away from every singular place, bent to one side, `(n, 3)` [rad]."""
    rng = np.random.default_rng(seed)
    bend = knee.value * rng.uniform(0.2, 1.5, n)
    return np.column_stack(
        [rng.uniform(-math.pi, math.pi, n), rng.uniform(-0.6, 0.6, n), knee_zero(leg) + bend]
    )
