"""Where joints stand that a motion never sets, for formats that need an angle of each."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from posewright.arrays import Floats
from posewright.formats.motion_file import origin_of
from posewright.motions import Motion, robot_of_motion
from posewright.robots import Robot

STAND = "stand"
"""The pose of a robot that stands for every joint nobody gives an angle."""

SLACK_RAD = 1e-6  # a joint that stays this near to where the robot stands says nothing [rad]


def standing(card: Robot) -> dict[str, float]:
    """Return where each joint stands when nobody moves it [rad]."""
    if STAND in card.poses:
        return dict(card.poses[STAND])
    return {joint.name: min(max(0.0, joint.lower_rad), joint.upper_rad) for joint in card.joints}


def filled(rows: Floats) -> Floats:
    """Return rows in which a joint that is not given an angle stays as it was, and begins as it will be.

    `rows` (n, n_joints) are angles [rad], NaN where not given.
    """
    if not np.isnan(rows).any():
        return rows
    rows = rows.copy()
    for i in range(1, len(rows)):
        rows[i] = np.where(np.isnan(rows[i]), rows[i - 1], rows[i])
    for i in reversed(range(len(rows) - 1)):
        rows[i] = np.where(np.isnan(rows[i]), rows[i + 1], rows[i])
    return rows


def never_set(joints: Sequence[str], card: Robot) -> tuple[str, ...]:
    """Return a remark on joints that the motion never sets, if there are any."""
    if not joints:
        return ()
    where = f"as in the pose {STAND!r}" if STAND in card.poses else "at 0 degrees, or as near as they can"
    return (f"{', '.join(joints)}: never set, so they stand {where}",)


def moved_joints(motion: Motion) -> set[str]:
    """Return the joints that the motion ever gives an angle, in its start pose or later."""
    start = [] if motion.start is None else [motion.start.angles]
    given = ~np.all(np.isnan([*start, *(frame.pose.angles for frame in motion.keyframes)]), axis=0)
    return {joint for joint, is_given in zip(motion.joints, given, strict=True) if is_given}


LABELS = ("creator", "design", "omtn_minor", "omtn_frame_ms", "robobasic_speed")
"""Extras that say who made a file and how, and nothing of the motion."""

_SHOWN = 60

OURS = "Posewright"  # who made a motion that does not say, in the files we write


def unsaid(
    motion: Motion,
    *,
    extras: Collection[str] = (),
    start: bool = False,
) -> tuple[str, ...]:
    """Return what gets lost where only the path of the joints is written, in words.

    Args:
        motion: what is to be written.
        extras: which of the motion's extras the format keeps.
        start: whether the format tells of the pose it is to be started from by itself.
    """
    frames = motion.keyframes
    free = {joint for frame in frames for joint in frame.pose.free}
    stiff = {joint for frame in frames for joint in frame.stiffness or ()}
    easings = sorted({frame.easing.value for frame in frames if frame.is_curved})
    firm = _listed(motion, stiff)
    often = "for ever" if motion.repeat is None else f"{motion.repeat} times"
    checks = (
        (bool(easings), f"easing {', '.join(easings)}: the file goes straight from keyframe to keyframe"),
        (bool(stiff), f"stiffness of {firm}: the file says where joints go, not how firmly"),
        (bool(free), f"torque off at {_listed(motion, free)}: no joint is let go, so it stays where it was"),
        (motion.loops, f"that it repeats {often}"),
        (motion.next is not None, f"that motion {motion.next!r} comes next"),
        (motion.exit is not None, f"that it is left through motion {motion.exit!r}"),
        (motion.start is not None and not start, "the pose it is to be started from"),
    )
    return (
        *(text for is_lost, text in checks if is_lost),
        *unlit(motion),
        *_unkept_extras(motion, {*extras, *LABELS}),
    )


def unlit(motion: Motion) -> tuple[str, ...]:
    """Return that a motion's lights get lost, in words, if it has any."""
    return (
        (f"the lights {', '.join(motion.lights)}: only what the joints do is written",)
        if motion.lights
        else ()
    )


def unwritten(motion: Motion, path: Path) -> tuple[str, ...]:
    """Return a remark on what a file does not say that moves no joint: name, author, attitude of the trunk.

    The attitude is what the author had in mind; no servo makes it. Of the name, the file's own is enough.
    """
    leans = any(keyframe.attitude is not None and any(keyframe.attitude) for keyframe in motion.keyframes)
    labels = [key for key in motion.extras if key not in LABELS]
    missing = (
        *([] if _is_called_after_a_file(motion, path) else [f"its name {motion.name!r}"]),
        *(["the attitude of the trunk"] if leans else []),
        *_unkept_extras(motion, labels),
    )
    return (f"not written, as such a file has no place for it: {'; '.join(missing)}",) if missing else ()


def _unkept_extras(motion: Motion, kept: Collection[str]) -> tuple[str, ...]:
    """Return what a motion's file said besides and a format does not keep, in words.

    What any file of its kind says is not lost: it is said again when one is written.
    """
    said = [
        f"{key} {text if len(text) <= _SHOWN else text[:_SHOWN] + '...'!r}"
        for key, text in motion.extras.items()
        if text and key not in kept and not _goes_without_saying(motion, key, text)
    ]
    return (f"what its file says besides: {', '.join(said)}",) if said else ()


def _goes_without_saying(motion: Motion, key: str, text: str) -> bool:
    if key == "design":
        return robot_of_motion(motion).designs.get(text) == motion.joints
    return key == "creator" and text == OURS


def _listed(motion: Motion, joints: set[str]) -> str:
    """Return joints in the motion's order; all of them in a word."""
    if joints >= set(motion.joints):
        return "all joints"
    return ", ".join(joint for joint in motion.joints if joint in joints)


def _is_called_after_a_file(motion: Motion, path: Path) -> bool:
    """Tell whether the name is only that of the file it came from, or that of the file it goes to."""
    origin = origin_of(motion)
    stems = {path.stem} if origin is None or origin.path is None else {path.stem, origin.path.stem}
    return motion.name in stems


def unheld(motion: Motion, held: Collection[str], card: Robot) -> tuple[str, ...]:
    """Return what gets lost of joints that a format has no place for, in words.

    Nothing does of a joint that stays where it is in the robot's pose `stand`.
    """
    stand = card.poses.get(STAND, {})
    lost = [
        joint
        for column, joint in enumerate(motion.joints)
        if joint not in held
        and _says_something([k.pose.angles[column] for k in motion.keyframes], stand.get(joint))
    ]
    return (f"{', '.join(lost)}: there is no place for such joints",) if lost else ()


def _says_something(angles: list[float], standing: float | None) -> bool:
    given = [angle for angle in angles if not math.isnan(angle)]
    at_rest = given[0] if given and standing is None else standing
    return any(at_rest is None or abs(angle - at_rest) > SLACK_RAD for angle in given)
