"""Geometry of legs and head: their joints, and positions of shoulders, knees, feet and camera."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from posewright.documents import FieldReader, Node, read_record
from posewright.robots.sensors import Camera, SensorSpec, Vector, parse_vector

FRONT = "front"
REAR = "rear"
LEFT = "left"
RIGHT = "right"
LEG_HINT = "its joints from the trunk to the foot, each once"
HEAD_HINT = "[neck tilt, pan, head tilt]"


@dataclass(frozen=True)
class LegGeometry:
    """Geometry of one leg, a chain of joints, with all joints at 0.

    Positions of knee and foot are in the leg's frame: x away from the robot's middle (forward for a front
    leg, backward for a rear leg), y outwards from the body, z up.

    Attributes:
        name: the name of the leg.
        joints: from the trunk to the foot; rotator, elevator and knee of a dog's leg.
        foot: name of its foot.
        outer_end: `front` or `rear`, the direction of its frame's x.
        side: `left` or `right`, the direction of its frame's y.
        shoulder_m: intersection of the axes of rotator and elevator, in the trunk's frame [m].
        knee_m: the knee's axis relative to the shoulder, in the leg's frame [m].
        foot_m: the middle of the foot relative to the knee, in the leg's frame [m].
        foot_radius_m: radius of the foot's ball, 0 for a point [m].
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
        """Factors of x, y and z that convert a vector between the leg's and the trunk's frame."""
        return (1 if self.outer_end == FRONT else -1, 1 if self.side == LEFT else -1, 1)


def parse_legs(node: Node, joints: Sequence[str], feet: Sequence[str]) -> tuple[LegGeometry, ...]:
    """Read `{name: {joints: ..., foot: ..., ...}, ..., source: ...}`; returned in the order of `feet`."""
    legs: dict[str, LegGeometry] = {}
    owners: dict[str, str] = {}  # the leg of each joint and foot
    for name, entry in node.fields().items():
        if name == "source":
            continue
        leg = _parse_leg(name, entry, joints, feet)
        for part in (*leg.joints, leg.foot):
            if part in owners:
                entry.fail(f"{part} is already in {owners[part]}", hint="each joint and foot in one leg only")
            owners[part] = name
        legs[leg.foot] = leg
    return tuple(legs[foot] for foot in feet if foot in legs)


def _parse_leg(name: str, node: Node, joints: Sequence[str], feet: Sequence[str]) -> LegGeometry:
    """Read the geometry of a leg."""
    fields = node.fields(
        required=("joints", "foot", "outer_end", "side", "shoulder_m", "shape"), optional=("source",)
    )
    leg_joints = tuple(entry.choice("joint", joints) for entry in fields["joints"].items())
    if not leg_joints:
        fields["joints"].fail("a leg has at least one joint", hint=LEG_HINT)
    if len(set(leg_joints)) != len(leg_joints):
        fields["joints"].fail("a joint is listed twice", hint=LEG_HINT)
    shape = fields["shape"].fields(required=("knee_m", "foot_m"), optional=("foot_radius_m", "source"))
    radius = shape["foot_radius_m"].number(low=0.0, high=1.0) if "foot_radius_m" in shape else 0.0
    return LegGeometry(
        name=name,
        joints=leg_joints,
        foot=fields["foot"].choice("foot", feet),
        outer_end=fields["outer_end"].choice("end", (FRONT, REAR)),
        side=fields["side"].choice("side", (LEFT, RIGHT)),
        shoulder_m=parse_vector(fields["shoulder_m"]),
        knee_m=_parse_offset(shape["knee_m"], "knee", "shoulder"),
        foot_m=_parse_offset(shape["foot_m"], "foot", "knee"),
        foot_radius_m=radius,
    )


def _parse_offset(node: Node, part: str, origin: str) -> Vector:
    """Read the position of a part relative to the origin; it must not be on the origin's axis."""
    x, y, z = parse_vector(node)
    if math.hypot(x, z) == 0.0:
        node.fail(
            f"the {part} is on the axis of the {origin}",
            hint=f"[ahead, outwards, up] from the {origin}, in metres",
        )
    return x, y, z


@dataclass(frozen=True)
class HeadGeometry:
    """Geometry of a head on a neck, with all joints at 0, in the robot's middle plane: x ahead, z up.

    The neck tilts about -y, up for positive angles. At its end are the pan about z and the head's tilt about
    -y, whose axes intersect.

    Attributes:
        joints: neck tilt, pan, head tilt.
        neck_m: axis of the neck's tilt, in the trunk's frame [m].
        head_m: intersection of the axes of pan and head tilt, relative to the neck's axis [m].
        camera_m: the camera, which looks ahead, relative to that intersection [m].
        camera: name of the camera.
    """

    joints: tuple[str, str, str]
    neck_m: Annotated[Vector, FieldReader(_parse_in_middle_plane)] = field(repr=False)
    head_m: Annotated[Vector, FieldReader(_parse_in_middle_plane)] = field(repr=False)
    camera_m: Annotated[Vector, FieldReader(_parse_in_middle_plane)] = field(repr=False)
    camera: str


def parse_head(node: Node, joints: Sequence[str], sensors: Collection[SensorSpec]) -> HeadGeometry:
    """Read `{joints: [...], neck_m: ..., head_m: ..., camera_m: ..., camera: ..., source: ...}`."""
    fields = node.fields(required=("joints", "neck_m", "head_m", "camera_m", "camera"), optional=("source",))
    head_joints = tuple(entry.choice("joint", joints) for entry in fields["joints"].items())
    n_joints = 3  # neck tilt, pan, head tilt
    if len(head_joints) != n_joints or len(set(head_joints)) != n_joints:
        fields["joints"].fail(f"expected three joints, found {len(set(head_joints))}", hint=HEAD_HINT)
    cameras = [sensor.name for sensor in sensors if isinstance(sensor, Camera)]
    camera = fields["camera"].choice("camera", cameras)
    extra_keys = ("joints", "camera", "source")
    return read_record(node, HeadGeometry, extra_keys=extra_keys, joints=head_joints, camera=camera)


def _parse_in_middle_plane(node: Node) -> Vector:
    x, y, z = parse_vector(node)
    if y != 0.0:
        node.fail(f"y is {y:g}", hint="[ahead, 0, up] in metres, in the middle plane")
    return x, y, z
