"""Reading native motion files: documents to motions, with every error at its line."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posewright.documents import Node, is_path
from posewright.errors import InputError, UnknownNameError
from posewright.motions import (
    DEFAULT_ACCEL_SHARE,
    LONGEST_S,
    SHORTEST_S,
    Attitude,
    Easing,
    Keyframe,
    Motion,
    Pose,
    SoundTrack,
    Tangent,
)
from posewright.motions.motion import WAV_SUFFIX
from posewright.robots import Led, Light, Robot, is_same_card, robot
from posewright.robots.lights import MAX_BRIGHTNESS

REQUIRED = ("motion", "robot", "joints", "keyframes")
DEFAULTS = ("easing", "accel_share", "stiffness_nm_rad")
"""Keys of the motion that apply to every keyframe that does not have them itself."""

OPTIONAL = (
    "source",
    "extras",
    *DEFAULTS,
    "repeat",
    "speed",
    "next",
    "exit",
    "sound",
    "start_pose",
    "start_pose_deg",
)
KEYFRAME_REQUIRED = ("reach_s", "pose_deg")
KEYFRAME_OPTIONAL = ("pause_s", "attitude_deg", "lights", "tangents_deg_s", *DEFAULTS)

FREE = "free"
"""The angle of a joint whose torque is off; `~` is the angle of a held joint."""


Fields = dict[str, Node]

MAX_DEG = 3600.0
"""Largest angle; a larger one is probably in ticks."""

MAX_DEG_S = 36_000.0
"""Largest speed of a tangent: a hundred turns a second."""

MAX_REPEATS = 1_000_000
"""Largest repeat count; more is better written as `repeat: true`."""

MIN_SPEED = 0.001
MAX_SPEED = 1000.0


def motion_of(root: Node, card: Robot | None = None) -> Motion:
    """Return the motion that a document describes.

    Args:
        root: the document.
        card: the card of its robot; by default, or if the document is for another robot, the one that the
            document names: a robot of the catalogue, or a card by its path relative to the document.

    Raises:
        DocumentError: a value is invalid.
        UnknownNameError: a key, joint, easing, pose or robot does not exist.
    """
    fields = root.fields(required=REQUIRED, optional=OPTIONAL)
    card = _read_robot(fields["robot"], card)
    is_named_by_path = is_path(fields["robot"].text())
    joints = _read_joints(fields["joints"], card)
    reader = _KeyframeReader(joints, _KeyframeDefaults().overridden_by(fields, joints), card)
    start = _read_start(fields, reader, card)
    keyframes = fields["keyframes"].items() or fields["keyframes"].fail(
        "a motion needs at least one keyframe"
    )
    extras = fields["extras"].fields() if "extras" in fields else {}
    repeat = _read_repeat(fields["repeat"]) if "repeat" in fields else 1
    frames = tuple(reader.read_keyframe(node) for node in keyframes)
    if repeat != 1 and not any(frame.duration for frame in frames):
        fields["repeat"].fail(
            "the motion repeats but takes no time", hint="give a keyframe a reach_s or a pause_s"
        )
    return Motion(
        _read_name(fields["motion"]),
        card.name,
        joints,
        frames,
        repeat=repeat,
        next=_read_reference(fields.get("next")),
        exit=_read_reference(fields.get("exit")),
        speed=_read_speed(fields["speed"]) if "speed" in fields else 1.0,
        start=start,
        source=fields["source"].text() if "source" in fields else "",
        sound=_read_sound(fields["sound"]) if "sound" in fields else None,
        extras={key: value.text() for key, value in extras.items()},
        card=card if is_named_by_path else None,
    )


def _read_start(fields: Fields, reader: _KeyframeReader, card: Robot) -> Pose | None:
    """Return the start pose, which is given by the name of a robot's pose or in degrees."""
    if "start_pose" not in fields:
        return reader.read_pose(fields["start_pose_deg"]) if "start_pose_deg" in fields else None
    if "start_pose_deg" in fields:
        fields["start_pose"].fail("start_pose and start_pose_deg are both given", hint="keep one of them")
    pose = card.poses[fields["start_pose"].choice("pose", card.poses)]
    return Pose.of(reader.joints, {joint: pose[joint] for joint in reader.joints})


def _read_robot(node: Node, card: Robot | None) -> Robot:
    """Return the robot that a motion names; `card` is used if it has that name, or if it is in that file.

    A document without a path, such as one in a recording, has no folder that the path of a card could be
    relative to: then `card` is used.
    """
    if is_path(node.text()):
        return _read_card_by_path(node, card)
    if card is not None and card.name == node.text():
        return card
    try:
        return robot(node.text())
    except UnknownNameError as error:
        raise UnknownNameError(error.message, where=node.where, hint=error.hint) from error


def _read_card_by_path(node: Node, card: Robot | None) -> Robot:
    """Return the card at a path relative to the document; `card` if that is the one, or if there is none."""
    document_path = node.where.path
    if document_path is None and card is not None:
        return card
    path = node.text() if document_path is None else document_path.parent / node.text()
    try:
        named_card = robot(Path(path))
    except InputError as error:
        if card is not None:
            return card
        node.fail(
            f"the card {node.text()!r:.80} cannot be read: {error.message}",
            hint="write the path of a robot.yaml, relative to this file",
        )
    return card if card is not None and is_same_card(card, named_card) else named_card


def _read_joints(node: Node, card: Robot) -> tuple[str, ...]:
    """Return the joints of a motion, each of which must be named once."""
    joints = [item.choice("joint", card.joint_names) for item in node.items()]
    for index, item in enumerate(node.items()):
        if item.text() in joints[:index]:
            item.fail(f"{item.text()} is named twice", hint="name each joint once")
    if not joints:
        node.fail("a motion needs at least one joint")
    return tuple(joints)


def _read_name(node: Node) -> str:
    return node.text() or node.fail("a motion needs a name")


def _read_sound(node: Node) -> SoundTrack:
    """Return the sound of a motion: its file, and when it starts."""
    fields = node.fields(required=("file",), optional=("start_s",))
    file = fields["file"].text()
    if not file.lower().endswith(WAV_SUFFIX):
        fields["file"].fail(
            f"{file!r:.80} is no sound", hint=f"write the path of a file that ends in {WAV_SUFFIX}"
        )
    start_s = fields["start_s"].number(low=0.0, high=LONGEST_S) if "start_s" in fields else 0.0
    return SoundTrack(file, start_s)


def _read_repeat(node: Node) -> int | None:
    if isinstance(node.value, bool):
        return None if node.value else 1
    return node.integer(low=1, high=MAX_REPEATS)


def _read_speed(node: Node) -> float:
    speed = node.number()
    if not MIN_SPEED <= speed <= MAX_SPEED:
        node.fail(f"the speed is {speed:g}", hint=f"write {MIN_SPEED:g} to {MAX_SPEED:g}; 1 is unchanged")
    return speed


def _read_reference(node: Node | None) -> str | None:
    if node is None or node.value is None:
        return None
    return str(node.integer()) if isinstance(node.value, int) else node.text()


@dataclass(frozen=True)
class _KeyframeDefaults:
    """Easing, ramps and stiffness of keyframes that do not have these keys themselves."""

    easing: Easing = Easing.LINEAR
    accel_share: float = DEFAULT_ACCEL_SHARE
    stiffness: dict[str, float] | None = None

    def overridden_by(self, fields: Fields, joints: tuple[str, ...]) -> _KeyframeDefaults:
        """Return the values with those replaced that the keys of the motion or of a keyframe give."""
        easing = self.easing
        if "easing" in fields:
            easing = Easing(fields["easing"].choice("easing", [member.value for member in Easing]))
        accel_share = self.accel_share
        if "accel_share" in fields:
            accel_share = fields["accel_share"].number(low=0.0, high=0.5)
        stiffness = self.stiffness
        if "stiffness_nm_rad" in fields:
            stiffness = _read_stiffness(fields["stiffness_nm_rad"], joints)
        return _KeyframeDefaults(easing, accel_share, stiffness)


def _read_stiffness(node: Node, joints: tuple[str, ...]) -> dict[str, float] | None:
    if node.value is None:
        return None
    return {joint: value.number(low=0.0) for joint, value in node.fields(optional=joints).items()}


@dataclass(frozen=True)
class _KeyframeReader:
    """Reads the keyframes of a motion.

    Attributes:
        joints: the joints of the motion, one for each angle of a pose.
        defaults: the motion's own easing, ramps and stiffness, for keyframes without them.
        card: the robot.
    """

    joints: tuple[str, ...]
    defaults: _KeyframeDefaults
    card: Robot

    def read_keyframe(self, node: Node) -> Keyframe:
        """Read a keyframe; what it does not state comes from the motion's defaults."""
        fields = node.fields(required=KEYFRAME_REQUIRED, optional=KEYFRAME_OPTIONAL)
        values = self.defaults.overridden_by(fields, self.joints)
        return Keyframe(
            self.read_pose(fields["pose_deg"]),
            reach_s=_read_seconds(fields["reach_s"]),
            pause_s=_read_seconds(fields["pause_s"]) if "pause_s" in fields else 0.0,
            easing=values.easing,
            stiffness=values.stiffness,
            accel_share=values.accel_share,
            attitude=_read_attitude(fields["attitude_deg"]) if "attitude_deg" in fields else None,
            lights=self.read_lights(fields["lights"]) if "lights" in fields else None,
            tangents=self.read_tangents(fields["tangents_deg_s"]) if "tangents_deg_s" in fields else None,
        )

    def read_tangents(self, node: Node) -> dict[str, Tangent]:
        """Read the tangents of a keyframe, by joint: one speed, or those of arriving and leaving."""
        return {joint: _read_tangent(value) for joint, value in node.fields(optional=self.joints).items()}

    def read_lights(self, node: Node) -> dict[str, Light]:
        """Read the lights that a keyframe sets, by LED."""
        leds = {led.name: led for led in self.card.leds}
        lights = node.fields()
        for name, light in lights.items():
            if name not in leds:
                raise UnknownNameError.among(
                    "LED", name, leds, owner=f"of {self.card.name}", where=light.where
                )
        return {name: read_light(light, leds[name]) for name, light in lights.items()}

    def read_pose(self, node: Node) -> Pose:
        """Read a pose, a list with one entry per joint."""
        angles = node.items()
        if len(angles) != len(self.joints):
            message = f"{len(angles)} angles for {len(self.joints)} joints"
            node.fail(message, hint="write one per joint; ~ holds it, free switches its torque off")
        free = {joint for joint, angle in zip(self.joints, angles, strict=True) if angle.value == FREE}
        return Pose(self.joints, np.array([_read_angle(angle) for angle in angles]), frozenset(free))


def read_light(node: Node, led: Led) -> Light:
    """Return a brightness, 0..255, or `[red, green, blue]`; raise DocumentError for anything else."""
    if not isinstance(node.value, list):
        return node.number(low=0.0, high=MAX_BRIGHTNESS)
    values = node.items()
    if len(values) != 3 or not led.has_colours:
        if led.has_colours:
            hint = f"write [red, green, blue] or one number, 0..{MAX_BRIGHTNESS:g}"
        else:
            hint = f"write one number, 0..{MAX_BRIGHTNESS:g}: the LED is {led.colour} only"
        node.fail(f"{len(values)} numbers", hint=hint)
    red, green, blue = (value.number(low=0.0, high=MAX_BRIGHTNESS) for value in values)
    return red, green, blue


def _read_attitude(node: Node) -> Attitude:
    """Return roll, pitch and yaw of the base [rad]."""
    angles = node.items()
    if len(angles) != 3:
        node.fail(f"{len(angles)} angles", hint="write roll, pitch and yaw in degrees")
    roll, pitch, yaw = (math.radians(angle.number(low=-MAX_DEG, high=MAX_DEG)) for angle in angles)
    return roll, pitch, yaw


def _read_tangent(node: Node) -> Tangent:
    """Return the speeds of a joint at a keyframe: one for both sides, or `[arriving, leaving]` [deg/s]."""
    speeds = node.items() if isinstance(node.value, list) else [node, node]
    if len(speeds) != 2:
        node.fail(f"{len(speeds)} speeds", hint="write one, or [arriving, leaving], in degrees a second")
    arrive_rad_s, leave_rad_s = (
        math.radians(speed.number(low=-MAX_DEG_S, high=MAX_DEG_S)) for speed in speeds
    )
    return Tangent(arrive_rad_s, leave_rad_s)


def _read_angle(node: Node) -> float:
    """Read an angle in degrees, and return it in radians; NaN for a held or free joint."""
    if node.value is None or node.value == FREE:
        return math.nan
    if isinstance(node.value, str):
        node.fail(
            f"{node.value!r} is not an angle",
            hint="write degrees, ~ to hold the joint, or free to switch its torque off",
        )
    return math.radians(node.number(low=-MAX_DEG, high=MAX_DEG))


def _read_seconds(node: Node) -> float:
    seconds = node.number(low=0.0, high=LONGEST_S)
    if 0.0 < seconds < SHORTEST_S:
        node.fail(f"{seconds:g} s is shorter than {SHORTEST_S:g} s", hint="write 0 for no time at all")
    return seconds
