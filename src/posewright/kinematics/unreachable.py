"""Points that a leg cannot reach: which they are, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass

from posewright.errors import UnreachableError
from posewright.kinematics.arrays import Floats, Indices
from posewright.kinematics.leg_shape import LegShape

SHOWN = 3
"""So many points are told one by one."""


@dataclass(frozen=True, slots=True)
class OutOfReach:
    """Why a leg cannot reach a point.

    Attributes:
        words: as they follow "the point is", with the numbers.
        is_far: whether the point lies beyond the leg, and one nearer to the shoulder may do.
    """

    words: str
    is_far: bool


def refusal(shape: LegShape, points: Floats, missed: Indices, *, knee: float) -> UnreachableError:
    """Build the error for the points `(n, 3)` at the places `missed`."""
    shown = [(place, points[place]) for place in missed[:SHOWN].tolist()]
    told = [
        f"{_which(points, place)}{_as_text(point)} is {out_of_reach(shape, point, knee=knee).words}"
        for place, point in shown
    ]
    more = f"; and {len(missed) - SHOWN} more" if len(missed) > SHOWN else ""
    count = "" if len(points) == 1 else f"{len(missed)} of {len(points)} points cannot be reached: "
    return UnreachableError(
        f"{count}{'; '.join(told)}{more}", hint="nearest=True gives the nearest point that can be reached"
    )


def _which(points: Floats, place: int) -> str:
    return "the point " if len(points) == 1 else f"index {place}, "


def _as_text(point: Floats) -> str:
    return "(" + ", ".join(f"{number:.6g}" for number in point.tolist()) + ") m"


def out_of_reach(shape: LegShape, point: Floats, *, knee: float) -> OutOfReach:
    """Return why a point `(3,)` that cannot be reached is out of reach."""
    x, y, z = point.tolist()
    distance = math.sqrt(x * x + y * y + z * z)
    r_sq = distance * distance - shape.side * shape.side
    if r_sq > shape.far_sq + shape.slack:
        farthest = math.hypot(math.sqrt(shape.far_sq), shape.side)
        words = f"too far: {distance:.6g} m from the shoulder, at most {farthest:.6g}"
        return OutOfReach(words, is_far=True)
    if r_sq < shape.near_sq - shape.slack:
        nearest = math.hypot(math.sqrt(shape.near_sq), shape.side)
        words = f"too near: {distance:.6g} m from the shoulder, at least {nearest:.6g}"
        return OutOfReach(words, is_far=False)
    aside = math.hypot(_below(shape, r_sq, knee), shape.side)
    if abs(y) > aside + math.sqrt(shape.slack):
        words = f"too far aside: {abs(y):.6g} m, at most {aside:.6g} at this distance from the shoulder"
        return OutOfReach(words, is_far=True)
    return OutOfReach("beyond what the strict form turns the rotator: 90 degrees either way", is_far=False)


def _below(shape: LegShape, r_sq: float, knee: float) -> float:
    """Return how far below the shoulder a foot is whose distance in the leg's plane is sqrt(r_sq) [m]."""
    sine = knee * math.sqrt(max(shape.far_sq - r_sq, 0.0) * max(r_sq - shape.near_sq, 0.0))
    along, across = (r_sq + shape.diff_sq) * shape.half, sine * shape.half
    return shape.cos_upper * along - shape.sin_upper * across
