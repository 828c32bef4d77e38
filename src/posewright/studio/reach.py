"""How far joints can turn as the others stand: coupled limits for windows to show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from posewright.arrays import Floats
from posewright.robots import Robot

SLACK_RAD = math.radians(0.05)
"""So little beyond a limit is rounding."""


def reach_view(robot: Robot, angles: Floats) -> Mapping[str, Any]:
    """Return, by joint, the range that other joints leave it, where that is less than its own.

    For angles of all joints `(n_joints,)` [rad]: `lower_deg`, `upper_deg`, and `wrong`, which says in words
    that the joint is beyond it; empty where it is not.
    """
    lower, upper = robot.limits
    ranges = np.stack([lower, upper])
    given: dict[str, tuple[str, ...]] = {}
    bounds = zip(
        robot.coupling.joints,
        robot.coupling.given,
        *(side[0].tolist() for side in robot.coupling.bounds(angles)),
        strict=True,
    )
    for joint, others, low, high in bounds:
        place = robot.index(joint)
        if low > ranges[0, place] or high < ranges[1, place]:
            ranges[:, place] = max(low, ranges[0, place]), min(high, ranges[1, place])
            given[joint] = (*given.get(joint, ()), *others)
    return {joint: _range_view(robot, joint, others, angles, ranges) for joint, others in given.items()}


def _range_view(
    robot: Robot, joint: str, others: tuple[str, ...], angles: Floats, ranges: Floats
) -> Mapping[str, Any]:
    place = robot.index(joint)
    low, high = ranges[:, place].tolist()
    angle, wrong = float(angles[place]), ""
    if not low - SLACK_RAD <= angle <= high + SLACK_RAD:
        way, limit = ("lower", low) if angle < low else ("higher", high)
        told = " and ".join(
            f"{other.replace('_', ' ')} at {math.degrees(angles[robot.index(other)]):.1f}°"
            for other in dict.fromkeys(others)
        )
        wrong = f"out of reach: with {told} it goes no {way} than {math.degrees(limit):.1f}°"
    return {
        "lower_deg": round(math.degrees(low), 3),
        "upper_deg": round(math.degrees(high), 3),
        "wrong": wrong,
    }
