"""Read the named poses of a robot's card."""

from __future__ import annotations

import math
from collections.abc import Sequence

from posewright.documents import Node
from posewright.robots.joint import Joint
from posewright.robots.per_joint import per_joint
from posewright.robots.servo import Servo

ROUNDING_RAD = 1e-9
"""Degrees in a card are radians inside, to so much."""


def parse_pose(node: Node, joints: Sequence[Joint], servos: Sequence[Servo]) -> dict[str, float]:
    """Read `{ticks: [...], source: ...}` or `{deg: [...], source: ...}` into angles by joint [rad].

    Ticks are the servos' own positions; degrees are joint angles. Both come one a joint.

    Raises:
        DocumentError: neither or both are given, or a joint would stand outside its limits.
    """
    fields = node.fields(optional=("ticks", "deg", "source"))
    if ("ticks" in fields) == ("deg" in fields):
        node.fail("expected either 'ticks' or 'deg'", hint="servo positions, or joint angles in degrees")
    unit = "ticks" if "ticks" in fields else "deg"
    entries = per_joint(fields[unit], [joint.name for joint in joints])
    pose = {}
    for joint, servo, entry in zip(joints, servos, entries, strict=True):
        if unit == "ticks":  # half a tick beyond a limit is the limit, rounded
            angle, slack_rad = _ticks(entry, servo), max(servo.tick_rad / 2.0, ROUNDING_RAD)
        else:
            angle, slack_rad = math.radians(entry.number()), ROUNDING_RAD
        _check_limits(joint, angle, slack_rad, entry)
        pose[joint.name] = angle
    return pose


def _ticks(node: Node, servo: Servo) -> float:
    return servo.from_ticks(float(node.integer(low=servo.first_tick, high=servo.last_tick)))


def _check_limits(joint: Joint, angle: float, slack_rad: float, node: Node) -> None:
    if not joint.allows(angle, slack_rad=slack_rad):
        lower, upper = math.degrees(joint.lower_rad), math.degrees(joint.upper_rad)
        node.fail(
            f"{joint.name} would stand at {math.degrees(angle):.1f} degrees",
            hint=f"its limits are {lower:g}..{upper:g}",
        )
