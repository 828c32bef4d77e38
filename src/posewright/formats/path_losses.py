"""Losses and remarks of formats that hold only the path of the joints."""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path

from posewright.formats.default_angles import STAND
from posewright.formats.motion_file import origin_of
from posewright.motions import Motion, robot_of_motion
from posewright.robots import Robot

SLACK_RAD = 1e-6
"""A joint that stays this near to its angle in the pose `stand` does not move [rad]."""

LABELS = ("creator", "design", "omtn_minor", "omtn_frame_ms", "robobasic_speed")
"""Extras about the file and its author, not about the motion."""

_MAX_EXTRA_LENGTH = 60

OURS = "Posewright"
"""The creator in files we write, if the motion names none."""


def describe_path_losses(
    motion: Motion,
    *,
    extras: Collection[str] = (),
    holds_start_pose: bool = False,
) -> tuple[str, ...]:
    """Return a description of everything that is lost if only the path of the joints is written.

    Args:
        motion: the motion to write.
        extras: the extras that the format keeps.
        holds_start_pose: whether the format has a place for the start pose.
    """
    frames = motion.keyframes
    free = {joint for frame in frames for joint in frame.pose.free}
    stiff = {joint for frame in frames for joint in frame.stiffness or ()}
    easings = sorted({frame.easing.value for frame in frames if frame.is_curved})
    losses: list[str] = []
    if easings:
        losses.append(f"easing {', '.join(easings)}: the file goes straight from keyframe to keyframe")
    if stiff:
        losses.append(f"stiffness of {_list_joints(motion, stiff)}: the file has angles only")
    if free:
        losses.append(f"torque off at {_list_joints(motion, free)}: the file holds these joints in place")
    if motion.loops:
        times = "for ever" if motion.repeat is None else f"{motion.repeat} times"
        losses.append(f"that it repeats {times}")
    if motion.next is not None:
        losses.append(f"that motion {motion.next!r} comes next")
    if motion.exit is not None:
        losses.append(f"that motion {motion.exit!r} is its exit")
    if motion.start is not None and not holds_start_pose:
        losses.append("its start pose")
    losses += describe_lost_tracks(motion)
    losses += _describe_lost_extras(motion, {*extras, *LABELS})
    return tuple(losses)


def describe_lost_tracks(motion: Motion) -> tuple[str, ...]:
    """Return a description of the lights and the sound that are lost; empty for a motion without them."""
    if not motion.lights:
        return describe_lost_sound(motion)
    lights = f"the lights {', '.join(motion.lights)}: only the joints are written"
    return (lights, *describe_lost_sound(motion))


def describe_lost_sound(motion: Motion) -> tuple[str, ...]:
    """Return a description of the sound that is lost; empty for a motion without one."""
    return () if motion.sound is None else (f"the sound {motion.sound.file}: there is no place for it",)


def describe_unwritten_labels(motion: Motion, path: Path) -> tuple[str, ...]:
    """Return a remark on what the file does not hold but no joint needs: name, author, trunk attitude.

    The attitude is the author's intention; no servo makes it. A name that equals the file's name is kept.
    """
    has_attitude = any(
        keyframe.attitude is not None and any(keyframe.attitude) for keyframe in motion.keyframes
    )
    labels = [key for key in motion.extras if key not in LABELS]
    unwritten: list[str] = []
    if not _is_named_after_file(motion, path):
        unwritten.append(f"its name {motion.name!r}")
    if has_attitude:
        unwritten.append("the attitude of the trunk")
    unwritten += _describe_lost_extras(motion, labels)
    if not unwritten:
        return ()
    return (f"not written, as such a file has no place for it: {'; '.join(unwritten)}",)


def _describe_lost_extras(motion: Motion, stored_keys: Collection[str]) -> tuple[str, ...]:
    """Return a description of the extras that the format does not keep.

    An extra that every file of the format has is not lost: it is written again.
    """
    descriptions: list[str] = []
    for key, text in motion.extras.items():
        if text and key not in stored_keys and not _is_implied(motion, key, text):
            short_text = text if len(text) <= _MAX_EXTRA_LENGTH else text[:_MAX_EXTRA_LENGTH] + "..."
            descriptions.append(f"{key} {short_text!r}")
    return (f"further entries of its file: {', '.join(descriptions)}",) if descriptions else ()


def _is_implied(motion: Motion, key: str, text: str) -> bool:
    """Return whether an extra is written anyway: the design of exactly these joints, or our own name."""
    if key == "design":
        return robot_of_motion(motion).designs.get(text) == motion.joints
    return key == "creator" and text == OURS


def _list_joints(motion: Motion, joints: set[str]) -> str:
    """Return joints in the motion's order; `all joints` if they are all of them."""
    if joints >= set(motion.joints):
        return "all joints"
    return ", ".join(joint for joint in motion.joints if joint in joints)


def _is_named_after_file(motion: Motion, path: Path) -> bool:
    """Return whether the motion has the name of the file it was read from, or of the file it goes to."""
    origin = origin_of(motion)
    stems = {path.stem} if origin is None or origin.path is None else {path.stem, origin.path.stem}
    return motion.name in stems


def describe_unsupported_joints(motion: Motion, supported: Collection[str], card: Robot) -> tuple[str, ...]:
    """Return a description of the joints that a format has no place for.

    A joint that keeps its angle of the robot's pose `stand` is not lost; without such a pose, one that keeps
    its first angle.
    """
    stand = card.poses.get(STAND, {})
    lost_joints: list[str] = []
    for column, joint in enumerate(motion.joints):
        angles = [keyframe.pose.angles[column] for keyframe in motion.keyframes]
        if joint not in supported and _changes_angle(angles, stand.get(joint)):
            lost_joints.append(joint)
    return (f"{', '.join(lost_joints)}: there is no place for such joints",) if lost_joints else ()


def _changes_angle(angles: list[float], standing_angle: float | None) -> bool:
    """Return whether a joint leaves its angle of the pose `stand`; without one, its first angle."""
    set_angles = [angle for angle in angles if not math.isnan(angle)]
    if not set_angles:
        return False
    rest_angle = set_angles[0] if standing_angle is None else standing_angle
    return any(abs(angle - rest_angle) > SLACK_RAD for angle in set_angles)
