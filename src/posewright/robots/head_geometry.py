"""The head of a robot: which joints turn it, and where they and its camera lie."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from posewright.documents import Node
from posewright.robots.sensor import Camera, SensorSpec
from posewright.robots.vectors import Vector, parse_vector

JOINTS_HINT = "[neck tilt, pan, head tilt]"


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
        camera: name of the camera among the sensors.
    """

    joints: tuple[str, str, str]
    neck_m: Vector
    head_m: Vector
    camera_m: Vector
    camera: str


def parse_head(node: Node, joints: Sequence[str], sensors: Collection[SensorSpec]) -> HeadGeometry:
    """Read `{joints: [...], neck_m: ..., head_m: ..., camera_m: ..., camera: ..., source: ...}`.

    Raises:
        DocumentError: something is missing, or lies beside the middle plane.
        UnknownNameError: a joint or a camera that the robot has not.
    """
    fields = node.fields(required=("joints", "neck_m", "head_m", "camera_m", "camera"), optional=("source",))
    turned = tuple(entry.choice("joint", joints) for entry in fields["joints"].items())
    if len(turned) != 3 or len(set(turned)) != 3:
        fields["joints"].fail(f"expected three joints, found {len(set(turned))}", hint=JOINTS_HINT)
    cameras = [sensor.name for sensor in sensors if isinstance(sensor, Camera)]
    return HeadGeometry(
        joints=(turned[0], turned[1], turned[2]),
        neck_m=_in_middle(fields["neck_m"]),
        head_m=_in_middle(fields["head_m"]),
        camera_m=_in_middle(fields["camera_m"]),
        camera=fields["camera"].choice("camera", cameras),
    )


def _in_middle(node: Node) -> Vector:
    x, y, z = parse_vector(node)
    if y != 0.0:
        node.fail(f"y is {y:g}", hint="a head lies in the middle plane: [ahead, 0, up] in metres")
    return x, y, z
