"""Where legs and head lie: which joints move them, and their shoulders, knees, feet and camera."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from posewright.documents import FieldReader, Node, read_record
from posewright.robots.sensors import Camera, SensorSpec, Vector, parse_vector

FRONT, REAR = "front", "rear"
LEFT, RIGHT = "left", "right"
LEG_HINT = "its joints from the trunk to the foot, each once"
HEAD_HINT = "[neck tilt, pan, head tilt]"


@dataclass(frozen=True)
class LegGeometry:
    """One leg, a chain of joints, all of them at 0.

    Knee and foot are given in the leg's frame: x to the robot's own end of the leg (a front leg's forward, a
    rear leg's backward), y outwards from the body, z up.

    Attributes:
        joints: from the trunk to the foot; of a dog's leg rotator, elevator and knee.
        outer_end: `front` or `rear`, where its frame's x points.
        side: `left` or `right`, where its frame's y points.
        shoulder_m: where the axes of rotator and elevator meet, in the trunk's frame [m].
        knee_m: the knee's axis from the shoulder, in the leg's frame [m].
        foot_m: the middle of the foot from the knee, in the leg's frame [m].
        foot_radius_m: radius of the foot's ball, 0 of a point [m].
    """

    name: str
    joints: tuple[str, ...] = field(repr=False)
    foot: str
    outer_end: str
    side: str
    shoulder_m: Vector = field(repr=False)
    knee_m: Vector = field(repr=False)
    foot_m: Vector = field(repr=False)
    foot_radius_m: float = 0.0

    @property
    def mirror(self) -> tuple[int, int, int]:
        """Signs that take a vector from the leg's frame to the trunk's, and back."""
        return (1 if self.outer_end == FRONT else -1, 1 if self.side == LEFT else -1, 1)


def parse_legs(node: Node, joints: Sequence[str], feet: Sequence[str]) -> tuple[LegGeometry, ...]:
    """Read `{name: {joints: ..., foot: ..., ...}, ..., source: ...}`; returned in the order of `feet`."""
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
    if not moved:
        fields["joints"].fail("a leg has at least one joint", hint=LEG_HINT)
    if len(set(moved)) != len(moved):
        fields["joints"].fail("a joint stands here twice", hint=LEG_HINT)
    shape = fields["shape"].fields(required=("knee_m", "foot_m"), optional=("foot_radius_m", "source"))
    radius = shape["foot_radius_m"].number(low=0.0, high=1.0) if "foot_radius_m" in shape else 0.0
    return LegGeometry(
        name=name,
        joints=moved,
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


@dataclass(frozen=True)
class HeadGeometry:
    """A head on a neck, all of its joints at 0: x ahead, z up; everything lies in the robot's middle plane.

    The neck tilts about -y, so that + looks up; on its end sit the pan, about z, and the tilt of the head,
    about -y, whose axes meet.

    Attributes:
        joints: neck tilt, pan, head tilt.
        neck_m: axis of the neck's tilt, in the trunk's frame [m].
        head_m: where the axes of pan and head tilt meet, from there [m].
        camera_m: the camera, from there; it looks ahead [m].
    """

    joints: tuple[str, str, str]
    neck_m: Annotated[Vector, FieldReader(_in_middle)] = field(repr=False)
    head_m: Annotated[Vector, FieldReader(_in_middle)] = field(repr=False)
    camera_m: Annotated[Vector, FieldReader(_in_middle)] = field(repr=False)
    camera: str


def parse_head(node: Node, joints: Sequence[str], sensors: Collection[SensorSpec]) -> HeadGeometry:
    """Read `{joints: [...], neck_m: ..., head_m: ..., camera_m: ..., camera: ..., source: ...}`."""
    fields = node.fields(required=("joints", "neck_m", "head_m", "camera_m", "camera"), optional=("source",))
    turned = tuple(entry.choice("joint", joints) for entry in fields["joints"].items())
    if len(turned) != 3 or len(set(turned)) != 3:
        fields["joints"].fail(f"expected three joints, found {len(set(turned))}", hint=HEAD_HINT)
    cameras = [sensor.name for sensor in sensors if isinstance(sensor, Camera)]
    camera, besides = fields["camera"].choice("camera", cameras), ("joints", "camera", "source")
    return read_record(node, HeadGeometry, extra_keys=besides, joints=turned, camera=camera)


def _in_middle(node: Node) -> Vector:
    x, y, z = parse_vector(node)
    if y != 0.0:
        node.fail(f"y is {y:g}", hint="a head lies in the middle plane: [ahead, 0, up] in metres")
    return x, y, z
