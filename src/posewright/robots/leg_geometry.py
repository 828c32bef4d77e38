"""The legs of a robot: which joints move them, and where shoulder, knee and foot lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from posewright.documents import Node
from posewright.robots.vectors import Vector, parse_vector

FRONT, REAR = "front", "rear"
LEFT, RIGHT = "left", "right"
JOINTS_HINT = "[rotator, elevator, knee]"


@dataclass(frozen=True)
class LegGeometry:
    """One leg of three joints, all of them at 0.

    Knee and foot are given in the leg's frame: x to the robot's own end of the leg (a front leg's forward, a
    rear leg's backward), y outwards from the body, z up.

    Attributes:
        name: of the leg.
        joints: rotator, elevator and knee.
        foot: name of its foot.
        outer_end: `front` or `rear`, where its frame's x points.
        side: `left` or `right`, where its frame's y points.
        shoulder_m: where the axes of rotator and elevator meet, in the trunk's frame [m].
        knee_m: the knee's axis from the shoulder, in the leg's frame [m].
        foot_m: the middle of the foot from the knee, in the leg's frame [m].
        foot_radius_m: radius of the foot's ball, 0 of a point [m].
    """

    name: str
    joints: tuple[str, str, str]
    foot: str
    outer_end: str
    side: str
    shoulder_m: Vector
    knee_m: Vector
    foot_m: Vector
    foot_radius_m: float = 0.0

    @property
    def mirror(self) -> tuple[int, int, int]:
        """Signs that take a vector from the leg's frame to the trunk's, and back."""
        return (1 if self.outer_end == FRONT else -1, 1 if self.side == LEFT else -1, 1)


def parse_legs(node: Node, joints: Sequence[str], feet: Sequence[str]) -> tuple[LegGeometry, ...]:
    """Read `{name: {joints: ..., foot: ..., ...}, ..., source: ...}`; returned in the order of `feet`.

    Raises:
        DocumentError: a leg lacks something, a joint or a foot belongs to two legs, or two places are one.
        UnknownNameError: a joint or a foot that the robot has not.
    """
    legs: dict[str, LegGeometry] = {}
    owners: dict[str, str] = {}
    for name, entry in node.fields().items():
        if name == "source":
            continue
        leg = _leg(name, entry, joints, feet)
        for part in (*leg.joints, leg.foot):
            if part in owners:
                entry.fail(f"{part} is already in {owners[part]}", hint="a joint or a foot is in one leg")
            owners[part] = name
        legs[leg.foot] = leg
    return tuple(legs[foot] for foot in feet if foot in legs)


def _leg(name: str, node: Node, joints: Sequence[str], feet: Sequence[str]) -> LegGeometry:
    fields = node.fields(
        required=("joints", "foot", "outer_end", "side", "shoulder_m", "shape"), optional=("source",)
    )
    moved = tuple(entry.choice("joint", joints) for entry in fields["joints"].items())
    if len(moved) != 3:
        fields["joints"].fail(f"expected three joints, found {len(moved)}", hint=JOINTS_HINT)
    if len(set(moved)) != 3:
        fields["joints"].fail("a joint stands here twice", hint=JOINTS_HINT)
    shape = fields["shape"].fields(required=("knee_m", "foot_m"), optional=("foot_radius_m", "source"))
    radius = shape["foot_radius_m"].number(low=0.0, high=1.0) if "foot_radius_m" in shape else 0.0
    return LegGeometry(
        name=name,
        joints=(moved[0], moved[1], moved[2]),
        foot=fields["foot"].choice("foot", feet),
        outer_end=fields["outer_end"].choice("end", (FRONT, REAR)),
        side=fields["side"].choice("side", (LEFT, RIGHT)),
        shoulder_m=parse_vector(fields["shoulder_m"]),
        knee_m=_part(shape["knee_m"], "the knee is", "the shoulder"),
        foot_m=_part(shape["foot_m"], "the foot is", "the knee"),
        foot_radius_m=radius,
    )


def _part(node: Node, what: str, where: str) -> Vector:
    """Read where the end of a part is, seen from its beginning; the part has a length in the leg's plane."""
    x, y, z = parse_vector(node)
    if math.hypot(x, z) == 0.0:
        node.fail(f"{what} on the axis of {where}", hint=f"[ahead, outwards, up] from {where}, in metres")
    return x, y, z
