"""How a robot stands: on its feet as it is posed, settled on other parts or at a tilt, or falling."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Floats

if TYPE_CHECKING:
    from posewright.simulation.balance import Balance

FLAT_RAD = math.radians(3.0)
"""A sole with at most this angle to the floor lies flat on it [rad]."""

LEVEL_RAD = math.radians(5.0)
"""A base that leans at most this much on round feet is level [rad]."""

MIN_ROUND_FEET = 3
"""Number of round feet that can carry a robot."""


class StanceKind(Enum):
    """How a robot stands.

    `STANDS`: on a flat sole or on level paws. `TIPS`: on edges of its soles only, since the centre of mass is
    beyond each sole. `SETTLED`: at rest on other parts, or at a tilt. `FALLS`: the centre of mass is outside
    the support.
    """

    STANDS = "stands"
    TIPS = "tips"
    SETTLED = "settled"
    FALLS = "falls"


@dataclass(frozen=True, eq=False)
class Stance:
    """How a robot stands.

    Attributes:
        kind: whether it stands, tips, has settled or falls.
        balance: its support polygon, and the margin of the centre of mass.
        carriers: the links that carry it.
        lean_rad: angle between the vertical and the base's z axis [rad].
        lean_side: `forward`, `back`, `left` or `right`, to which the base leans.
        foot: the foot that alone carries it by choice; empty if the parts that touch the floor carry it.
        sunk_m: how far other parts are below the floor while it stands on that foot [m].
    """

    kind: StanceKind
    balance: Balance = field(repr=False)
    carriers: tuple[str, ...]
    lean_rad: float
    lean_side: str
    foot: str = ""
    sunk_m: float = 0.0


def classify_stance(
    balance: Balance, carriers: Collection[str], feet: Collection[str], soles: Floats, base: Floats
) -> StanceKind:
    """Return how a robot stands on the parts that touch the floor.

    Args:
        balance: its balance on these parts.
        carriers: the links that touch the floor.
        feet: the robot's feet.
        soles: the upward normals of the flat soles that touch the floor, `(n, 3)`; empty for round feet.
        base: the upward axis of the base, `(3,)`; decides for robots with round feet.
    """
    if balance.margin_m <= 0.0:
        return StanceKind.FALLS
    if not set(carriers) <= set(feet):
        return StanceKind.SETTLED
    if len(soles):
        is_flat = soles[:, 2] >= math.cos(FLAT_RAD)
        return StanceKind.STANDS if is_flat.any() else StanceKind.TIPS
    is_level = float(base[2]) >= math.cos(LEVEL_RAD)
    stands = is_level and len(carriers) >= MIN_ROUND_FEET
    return StanceKind.STANDS if stands else StanceKind.SETTLED


def measure_lean(rotation: Floats) -> tuple[float, str]:
    """Return the lean of a base with a rotation matrix `(3, 3)` [rad], and the side to which it leans."""
    vertical = rotation[2]  # the vertical in the frame of the base
    angle = math.acos(float(np.clip(vertical[2], -1.0, 1.0)))
    if abs(vertical[0]) >= abs(vertical[1]):
        return angle, "forward" if vertical[0] < 0.0 else "back"
    return angle, "right" if vertical[1] > 0.0 else "left"
