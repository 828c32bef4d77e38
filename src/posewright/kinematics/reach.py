"""Points that a leg cannot reach: which they are, why, and the nearest it can reach (docs/kinematics.md).

What a leg reaches looks the same from all sides of the rotator's axis. So the search for the nearest happens
in the half plane of `aside`, the distance along that axis, and `off`, the distance from it. There, for each
bend, the foot lies on an arc about the shoulder, from the middle to where the elevator points straight aside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Floats, Indices
from posewright.errors import UnreachableError
from posewright.kinematics.leg_solving import LegShape, solve

SHOWN = 3
"""So many points are told one by one."""

BENDS = 129
"""Bends looked at before the best is refined."""

HALVINGS = 54
"""Then the interval is as small as numbers are."""

CHUNK = 1024
"""Points worked on at once."""


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
        ("the point " if len(points) == 1 else f"index {place}, ")
        + f"{_as_text(point)} is {out_of_reach(shape, point, knee=knee).words}"
        for place, point in shown
    ]
    more = f"; and {len(missed) - SHOWN} more" if len(missed) > SHOWN else ""
    count = "" if len(points) == 1 else f"{len(missed)} of {len(points)} points cannot be reached: "
    return UnreachableError(
        f"{count}{'; '.join(told)}{more}", hint="nearest=True gives the nearest point that can be reached"
    )


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


def nearest(shape: LegShape, points: Floats, *, knee: float, lift: float) -> Floats:
    """Return the angles `(n, 3)` [rad] of the points within reach nearest to others, `(n, 3)` [m]."""
    if not len(points):
        return np.empty((0, 3))
    parts = [
        _nearest_of(shape, points[start : start + CHUNK], knee, lift)
        for start in range(0, len(points), CHUNK)
    ]
    return np.concatenate(parts)


def _nearest_of(shape: LegShape, points: Floats, knee: float, lift: float) -> Floats:
    x, y, z = points.T
    aside, off = np.abs(y), np.hypot(x, z)
    distance = np.hypot(aside, off)
    side_sq = shape.side * shape.side
    shortest, longest = math.sqrt(shape.near_sq + side_sq), math.sqrt(shape.far_sq + side_sq)
    # Straight towards the shoulder, or away from it, where the elevator goes so far.
    bend = np.where(distance > longest, 0.0, math.pi)
    radius = np.where(distance > longest, longest, shortest)
    scale = radius / np.maximum(distance, 1e-300)
    centred = distance < 1e-300
    straight_aside = np.where(centred, 0.0, aside * scale)
    straight_off = np.where(centred, radius, off * scale)
    a, h = foot_in_plane(shape, bend, knee)
    straight = ((distance > longest) | (distance < shortest)) & (straight_off >= np.abs(a))
    bend = np.where(straight, bend, _bend_straight_aside(shape, aside, off, knee))
    a, h = foot_in_plane(shape, bend, knee)
    limit_sq = h * h + side_sq
    y_found = np.copysign(np.where(straight, straight_aside, np.sqrt(limit_sq)), y)
    below = np.sqrt(np.maximum(limit_sq - y_found * y_found, 0.0))
    b = np.copysign(np.where(straight, below, 0.0), lift * h)
    on_axis = off == 0.0
    x, z = np.where(on_axis, a, x), np.where(on_axis, -b, z)
    return np.column_stack(
        [
            np.arctan2(b * x + a * z, a * x - b * z),
            np.arctan2(h * y_found - shape.side * b, h * b + shape.side * y_found),
            knee * bend + shape.knee_zero,
        ]
    )


def foot_in_plane(shape: LegShape, bend: Floats, knee: float) -> tuple[Floats, Floats]:
    """Return how far the foot is ahead of and below the shoulder in the leg's plane [m]."""
    along, across = shape.upper + shape.lower * np.cos(bend), knee * shape.lower * np.sin(bend)
    return (
        shape.sin_upper * along + shape.cos_upper * across,
        shape.cos_upper * along - shape.sin_upper * across,
    )


def _bend_straight_aside(shape: LegShape, aside: Floats, off: Floats, knee: float) -> Floats:
    """Return the bends `(n,)` [rad] that come nearest with the elevator straight aside."""
    bends = np.linspace(0.0, math.pi, BENDS)
    a, h = foot_in_plane(shape, bends, knee)
    limit = np.hypot(h, shape.side)
    misses = (aside[:, None] - limit) ** 2 + (off[:, None] - np.abs(a)) ** 2
    best = misses.argmin(axis=1)
    low, high = bends[np.maximum(best - 1, 0)], bends[np.minimum(best + 1, BENDS - 1)]
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        rising = _slope(shape, middle, aside, off, knee) > 0.0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    bend: Floats = 0.5 * (low + high)
    return bend


def _slope(shape: LegShape, bend: Floats, aside: Floats, off: Floats, knee: float) -> Floats:
    """Return how the squared miss grows with the bend, but for a factor of two."""
    a, h = foot_in_plane(shape, bend, knee)
    sine, cosine = shape.lower * np.sin(bend), knee * shape.lower * np.cos(bend)
    a_grows = shape.cos_upper * cosine - shape.sin_upper * sine
    h_grows = -shape.sin_upper * cosine - shape.cos_upper * sine
    limit = np.maximum(np.hypot(h, shape.side), 1e-300)
    slope: Floats = -(aside - limit) * h * h_grows / limit - (off - np.abs(a)) * np.sign(a) * a_grows
    return slope


def nearest_strict(shape: LegShape, points: Floats) -> Floats:
    """Return the same of the strict form, which turns the rotator no further than 90 degrees either way.

    Where that is in the way the rotator stops at one of its ends, and the foot moves on a ring about the axis
    of the elevator.
    """
    angles, missed = solve(shape, points, knee=1.0, lift=1.0)
    angles[missed] = nearest(shape, points[missed], knee=1.0, lift=1.0)
    stopped = np.abs(angles[:, 0]) > 0.5 * math.pi
    if stopped.any():
        x, y, z = points[stopped].T
        up, up_miss = _on_ring(shape, z, y, -x)
        back, back_miss = _on_ring(shape, -z, y, x)
        ahead = up_miss <= back_miss
        rotator = np.where(ahead, 0.5 * math.pi, -0.5 * math.pi)
        angles[stopped] = np.column_stack([rotator, np.where(ahead[:, None], up, back)])
    return angles


def _on_ring(shape: LegShape, x: Floats, y: Floats, z: Floats) -> tuple[Floats, Floats]:
    """Return elevator and knee `(n, 2)` [rad] that come nearest, the rotator at 0, and the squared miss."""
    q2 = np.clip(np.arctan2(y, -z), -0.5 * math.pi, 0.5 * math.pi)
    out = np.where(z < 0.0, np.hypot(y, z), np.abs(y))
    towards = out - shape.upper
    q3 = np.where(x >= 0.0, np.arctan2(x, towards), np.where(towards >= 0.0, 0.0, math.pi))
    a, h = foot_in_plane(shape, q3, 1.0)
    miss = (x - a) ** 2 + (out - h) ** 2 + np.where(z < 0.0, 0.0, z) ** 2
    return np.column_stack([q2, q3]), miss
