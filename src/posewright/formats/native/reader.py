"""From the tree of a native motion file to a motion, every mistake with its line."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from posewright.documents import Node
from posewright.errors import UnknownNameError
from posewright.motions import (
    DEFAULT_ACCEL_SHARE,
    LONGEST_S,
    SHORTEST_S,
    Attitude,
    Easing,
    Keyframe,
    Motion,
    Pose,
)
from posewright.robots import Led, Light, Robot, robot
from posewright.robots.lights import BRIGHTEST

REQUIRED = ("motion", "robot", "joints", "keyframes")
DEFAULTS = ("easing", "accel_share", "stiffness_nm_rad")
"""Given for the whole motion, they hold for every keyframe that does not say otherwise."""

OPTIONAL = ("source", "extras", *DEFAULTS, "repeat", "speed", "next", "exit", "start_pose", "start_pose_deg")
KEYFRAME_REQUIRED = ("reach_s", "pose_deg")
KEYFRAME_OPTIONAL = ("pause_s", "attitude_deg", "lights", *DEFAULTS)

FREE = "free"  # stands for the angle of a joint whose torque is off; nothing (`~`) for one that is held


Fields = dict[str, Node]

MOST_DEG = 3600.0  # ten turns: beyond, somebody took ticks for degrees
MOST_REPEATS = 1_000_000  # beyond, `repeat: true` is meant: over a day of the shortest motion worth its name
SLOWEST, FASTEST = 0.001, 1000.0  # speeds beyond are a slip of the pen


def motion_of(root: Node, card: Robot | None = None) -> Motion:
    """Return the motion a document describes.

    Where the document is for the robot of `card` that card is taken; else the one that ships is looked up.
    """
    fields = root.fields(required=REQUIRED, optional=OPTIONAL)
    card = _robot(fields["robot"], card)
    joints = _joints(fields["joints"], card)
    reader = _Reader(joints, _Manner().told_by(fields, joints), card)
    start = _start(fields, reader, card)
    keyframes = fields["keyframes"].items() or fields["keyframes"].fail("there is no keyframe")
    extras = fields["extras"].fields() if "extras" in fields else {}
    repeat = _repeat(fields["repeat"]) if "repeat" in fields else 1
    frames = tuple(reader.keyframe(node) for node in keyframes)
    if repeat != 1 and not any(frame.duration for frame in frames):
        fields["repeat"].fail("it repeats but takes no time", hint="give a keyframe a reach_s or a pause_s")
    return Motion(
        _name(fields["motion"]),
        fields["robot"].text(),
        joints,
        frames,
        repeat=repeat,
        next=_reference(fields.get("next")),
        exit=_reference(fields.get("exit")),
        speed=_speed(fields["speed"]) if "speed" in fields else 1.0,
        start=start,
        source=fields["source"].text() if "source" in fields else "",
        extras={key: value.text() for key, value in extras.items()},
    )


def _start(fields: Fields, reader: _Reader, card: Robot) -> Pose | None:
    """Return the pose it is to be started from: by name, one of the robot's, or in degrees."""
    if "start_pose" not in fields:
        return reader.pose(fields["start_pose_deg"]) if "start_pose_deg" in fields else None
    if "start_pose_deg" in fields:
        fields["start_pose"].fail("there is a start_pose_deg too", hint="one of the two")
    named = card.poses[fields["start_pose"].choice(f"pose of {card.name}", card.poses)]
    return Pose.of(reader.joints, {joint: named[joint] for joint in reader.joints})


def _robot(node: Node, card: Robot | None) -> Robot:
    if card is not None and card.name == node.text():
        return card
    try:
        return robot(node.text())
    except UnknownNameError as error:
        raise UnknownNameError(error.message, where=node.where, hint=error.hint) from error


def _joints(node: Node, card: Robot) -> tuple[str, ...]:
    joints = [item.choice(f"joint of {card.name}", card.joint_names) for item in node.items()]
    for place, item in enumerate(node.items()):
        if item.text() in joints[:place]:
            item.fail(f"{item.text()} is named twice", hint="a joint has one column")
    if not joints:
        node.fail("there is no joint")
    return tuple(joints)


def _name(node: Node) -> str:
    return node.text() or node.fail("a motion needs a name")


def _repeat(node: Node) -> int | None:
    if isinstance(node.value, bool):
        return None if node.value else 1
    return node.integer(low=1, high=MOST_REPEATS)


def _speed(node: Node) -> float:
    speed = node.number()
    if not SLOWEST <= speed <= FASTEST:
        node.fail(f"a speed is {SLOWEST:g} to {FASTEST:g}, 1 is unchanged; found {speed:g}")
    return speed


def _reference(node: Node | None) -> str | None:
    if node is None or node.value is None:
        return None
    return str(node.integer()) if isinstance(node.value, int) else node.text()


@dataclass(frozen=True)
class _Manner:
    """How keyframes are reached unless they say otherwise."""

    easing: Easing = Easing.LINEAR
    accel_share: float = DEFAULT_ACCEL_SHARE
    stiffness: dict[str, float] | None = None

    def told_by(self, fields: Fields, joints: tuple[str, ...]) -> _Manner:
        """Return this manner as changed by the keys of the motion or of a keyframe."""
        easing, share, stiffness = (fields.get(key) for key in ("easing", "accel_share", "stiffness_nm_rad"))
        return _Manner(
            self.easing if easing is None else Easing(easing.choice("easing", [e.value for e in Easing])),
            self.accel_share if share is None else share.number(low=0.0, high=0.5),
            self.stiffness if stiffness is None else _stiffness(stiffness, joints),
        )


def _stiffness(node: Node, joints: tuple[str, ...]) -> dict[str, float] | None:
    if node.value is None:
        return None
    return {joint: value.number(low=0.0) for joint, value in node.fields(optional=joints).items()}


@dataclass(frozen=True)
class _Reader:
    joints: tuple[str, ...]
    manner: _Manner
    card: Robot

    def keyframe(self, node: Node) -> Keyframe:
        fields = node.fields(required=KEYFRAME_REQUIRED, optional=KEYFRAME_OPTIONAL)
        manner = self.manner.told_by(fields, self.joints)
        pause = fields.get("pause_s")
        return Keyframe(
            self.pose(fields["pose_deg"]),
            _seconds(fields["reach_s"]),
            0.0 if pause is None else _seconds(pause),
            manner.easing,
            manner.stiffness,
            manner.accel_share,
            _attitude(fields["attitude_deg"]) if "attitude_deg" in fields else None,
            self.lights(fields["lights"]) if "lights" in fields else None,
        )

    def lights(self, node: Node) -> dict[str, Light]:
        leds = {led.name: led for led in self.card.leds}
        told = node.fields()
        for name, light in told.items():
            if name not in leds:
                raise UnknownNameError.among(f"LED of {self.card.name}", name, leds, where=light.where)
        return {name: read_light(light, leds[name]) for name, light in told.items()}

    def pose(self, node: Node) -> Pose:
        items = node.items()
        if len(items) != len(self.joints):
            what = f"{len(items)} angles for {len(self.joints)} joints"
            node.fail(what, hint="one a joint; ~ holds, free lets go")
        free = {joint for joint, item in zip(self.joints, items, strict=True) if item.value == FREE}
        return Pose(self.joints, np.array([_angle(item) for item in items]), frozenset(free))


def read_light(node: Node, led: Led) -> Light:
    """Read how bright a light is, 0..255, or `[red, green, blue]`; a DocumentError for what it cannot be."""
    if not isinstance(node.value, list):
        return node.number(low=0.0, high=BRIGHTEST)
    items = node.items()
    if len(items) != 3 or not led.has_colours:
        right = (
            "[red, green, blue] or one number" if led.has_colours else f"how bright, as it is {led.colour}"
        )
        node.fail(f"{len(items)} numbers", hint=f"{right}, 0..{BRIGHTEST:g}")
    red, green, blue = (item.number(low=0.0, high=BRIGHTEST) for item in items)
    return red, green, blue


def _attitude(node: Node) -> Attitude:
    items = node.items()
    if len(items) != 3:
        node.fail(f"{len(items)} angles", hint="an attitude is roll, pitch and yaw in degrees")
    roll, pitch, yaw = (math.radians(item.number(low=-MOST_DEG, high=MOST_DEG)) for item in items)
    return roll, pitch, yaw


def _angle(node: Node) -> float:
    if node.value is None or node.value == FREE:
        return math.nan
    if isinstance(node.value, str):
        node.fail(f"{node.value!r} is no angle", hint="degrees, or ~ to hold the joint, or free to let it go")
    return math.radians(node.number(low=-MOST_DEG, high=MOST_DEG))


def _seconds(node: Node) -> float:
    seconds = node.number(low=0.0, high=LONGEST_S)
    if 0.0 < seconds < SHORTEST_S:
        node.fail(f"{seconds:g} s is shorter than {SHORTEST_S:g} s", hint="0 is none at all")
    return seconds
