"""Writing native motion files: motions to documents; unchanged values stay as the old file has them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from posewright.documents import PlainMapping, flow_mapping
from posewright.formats.native.reader import FREE
from posewright.motions import DEFAULT_ACCEL_SHARE, Attitude, Easing, Keyframe, Motion, Pose, Tangent
from posewright.robots import Light

Tree: TypeAlias = PlainMapping
Stiffness = dict[str, float] | None

DIGITS = 9
"""Decimals of an angle in degrees: a hundred-millionth of a servo's tick."""


@dataclass(frozen=True)
class OldDocument:
    """The document that a motion is written over, and the motion that it describes."""

    tree: Tree
    motion: Motion


@dataclass(frozen=True)
class _KeyframeDefaults:
    """Easing, ramps and stiffness that are written once for the whole motion."""

    easing: Easing
    accel_share: float
    stiffness: Stiffness

    @classmethod
    def of(cls, keyframes: tuple[Keyframe, ...]) -> _KeyframeDefaults:
        """Return the values of most keyframes; a stiffness only if all have the same."""
        easing = Counter(k.easing for k in keyframes).most_common(1)[0][0]
        shares = Counter(k.accel_share for k in keyframes if k.easing is Easing.TRAPEZOID)
        stiffness = _stiffness(keyframes[0])
        is_same = all(_stiffness(k) == stiffness for k in keyframes)
        share = shares.most_common(1)[0][0] if shares else DEFAULT_ACCEL_SHARE
        return cls(easing, share, stiffness if is_same else None)

    @classmethod
    def from_document(cls, tree: Tree) -> _KeyframeDefaults:
        """Return the values in a valid document."""
        stiffness = tree.get("stiffness_nm_rad")
        return cls(
            Easing(tree.get("easing", Easing.LINEAR.value)),
            float(tree.get("accel_share", DEFAULT_ACCEL_SHARE)),
            None if stiffness is None else dict(stiffness),
        )

    def entries(self) -> Iterator[tuple[str, object]]:
        """Yield the entries of the document that state the defaults, except usual ramps and no stiffness."""
        yield "easing", self.easing.value
        if self.accel_share != DEFAULT_ACCEL_SHARE:
            yield "accel_share", self.accel_share
        if self.stiffness is not None:
            yield "stiffness_nm_rad", flow_mapping(self.stiffness)


def tree_of(
    motion: Motion, old: OldDocument | None = None, robot_reference: str | None = None
) -> dict[str, object]:
    """Return the document of a motion.

    Args:
        motion: the motion.
        old: the document that is written over, if there is one. Values that mean the same in both stay as
            they are written there, and so do its defaults: easing, ramps and stiffness of keyframes that
            state none.
        robot_reference: how the document names the robot; by default by its name.
    """
    robot_reference = motion.robot if robot_reference is None else robot_reference
    if old is None:
        return dict(_entries(motion, robot_reference, _KeyframeDefaults.of(motion.keyframes), old=None))
    tree = dict(_entries(motion, robot_reference, _KeyframeDefaults.from_document(old.tree), old))
    for key in ("easing", "accel_share", "stiffness_nm_rad"):
        tree.pop(key, None)
        if key in old.tree:
            tree[key] = old.tree[key]
    has_same_start = motion.joints == old.motion.joints and motion.start == old.motion.start
    if "start_pose" in old.tree and has_same_start:
        tree["start_pose"] = old.tree["start_pose"]  # keeps the name of the pose
        del tree["start_pose_deg"]
    for key, is_unchanged in _are_values_equal(motion, old.motion).items():
        if is_unchanged:
            tree.pop(key, None)
            if key in old.tree:
                tree[key] = old.tree[key]
    return tree


def _are_values_equal(motion: Motion, old: Motion) -> dict[str, bool]:
    """Return, by key of the document, whether two motions have the same value for it."""
    same_joints = motion.joints == old.joints
    attributes = ("source", "repeat", "speed", "next", "exit", "sound")
    return {
        "motion": motion.name == old.name,
        **{key: getattr(motion, key) == getattr(old, key) for key in attributes},
        "joints": same_joints,
        "start_pose_deg": same_joints and motion.start == old.start,
        "keyframes": same_joints and motion.keyframes == old.keyframes,
    }


def _entries(
    motion: Motion, robot_reference: str, defaults: _KeyframeDefaults, old: OldDocument | None
) -> Iterator[tuple[str, object]]:
    """Yield the entries of the document in order, leaving out those with default values."""
    yield "motion", motion.name
    yield "robot", robot_reference
    if motion.source:
        yield "source", motion.source
    if motion.repeat != 1:
        yield "repeat", True if motion.repeat is None else motion.repeat
    if motion.speed != 1.0:
        yield "speed", motion.speed
    for key, name in (("next", motion.next), ("exit", motion.exit)):
        if name is not None:
            yield key, name
    if motion.sound is not None:
        start = {"start_s": motion.sound.start_s} if motion.sound.start_s else {}
        yield "sound", flow_mapping({"file": motion.sound.file, **start})
    if motion.extras:
        yield "extras", dict(motion.extras)
    yield from defaults.entries()
    yield "joints", list(motion.joints)
    if motion.start is not None:
        yield "start_pose_deg", _joint_values(motion.start, _find_old_start(old))
    yield "keyframes", list(_keyframe_entries(motion, defaults, old))


class _OldPose(NamedTuple):
    """A pose of the old document, and the value that the document has for each joint."""

    pose: Pose
    values: list[object]


class _OldKeyframe(NamedTuple):
    """A keyframe of the old document, and its entry there."""

    keyframe: Keyframe
    entry: Tree


def _find_old_start(old: OldDocument | None) -> _OldPose | None:
    """Return the start pose of the old document, None if it gives none in degrees."""
    if old is None or "start_pose_deg" not in old.tree or old.motion.start is None:
        return None
    return _OldPose(old.motion.start, old.tree["start_pose_deg"])


def _keyframe_entries(motion: Motion, defaults: _KeyframeDefaults, old: OldDocument | None) -> Iterator[Tree]:
    """Yield the entries of the keyframes; one that is unchanged keeps its entry in the old document.

    Args:
        motion: the motion.
        defaults: easing, ramps and stiffness that the document states once; an entry states others only.
        old: the document that is written over, if there is one. A keyframe is compared with the one at the
            same index there.
    """
    old_keyframes = () if old is None else old.motion.keyframes
    for index, keyframe in enumerate(motion.keyframes):
        if old is None or index >= len(old_keyframes):
            yield _keyframe_entry(keyframe, defaults, old=None)
            continue
        old_keyframe = _OldKeyframe(old_keyframes[index], entry=old.tree["keyframes"][index])
        if keyframe == old_keyframe.keyframe:
            yield old_keyframe.entry
        else:
            yield _keyframe_entry(keyframe, defaults, old_keyframe)


def _keyframe_entry(keyframe: Keyframe, defaults: _KeyframeDefaults, old: _OldKeyframe | None) -> Tree:
    """Return the entry of a keyframe, without values that equal the defaults.

    A key that the `old` keyframe of the same number states is written even so.
    """
    old_entry: Tree = {} if old is None else old.entry
    entries: dict[str, object] = {"reach_s": keyframe.reach_s}
    if keyframe.pause_s or "pause_s" in old_entry:
        entries["pause_s"] = keyframe.pause_s
    if keyframe.easing is not defaults.easing or "easing" in old_entry:
        entries["easing"] = keyframe.easing.value
    is_trapezoid = keyframe.easing is Easing.TRAPEZOID
    has_default_ramps = not is_trapezoid or keyframe.accel_share == defaults.accel_share
    if not has_default_ramps or "accel_share" in old_entry:
        entries["accel_share"] = keyframe.accel_share
    stiffness = _stiffness(keyframe)
    if stiffness != defaults.stiffness or "stiffness_nm_rad" in old_entry:
        entries["stiffness_nm_rad"] = None if stiffness is None else flow_mapping(stiffness)
    if keyframe.attitude is not None:
        entries["attitude_deg"] = _attitude_angles(keyframe.attitude, old)
    if keyframe.lights is not None:
        has_same_lights = old is not None and old.keyframe.lights == keyframe.lights
        entries["lights"] = old_entry["lights"] if has_same_lights else _lights(keyframe.lights)
    if keyframe.tangents is not None:
        has_same_tangents = old is not None and old.keyframe.tangents == keyframe.tangents
        entries["tangents_deg_s"] = (
            old_entry["tangents_deg_s"] if has_same_tangents else _tangents(keyframe.tangents)
        )
    old_pose = None if old is None else _OldPose(old.keyframe.pose, old_entry["pose_deg"])
    entries["pose_deg"] = _joint_values(keyframe.pose, old_pose)
    return flow_mapping(entries)


def _attitude_angles(attitude: Attitude, old: _OldKeyframe | None) -> list[object]:
    """Return roll, pitch and yaw [deg]; an unchanged attitude keeps its old numbers."""
    if old is not None and old.keyframe.attitude == attitude:
        return list(old.entry["attitude_deg"])
    return [round(math.degrees(angle), DIGITS) + 0.0 for angle in attitude]  # + 0.0 turns -0.0 into 0.0


def _lights(lights: Mapping[str, Light]) -> Tree:
    return {
        name: [_as_integer(value) for value in light] if isinstance(light, tuple) else _as_integer(light)
        for name, light in lights.items()
    }


def _tangents(tangents: Mapping[str, Tangent]) -> Tree:
    """Return tangents for a document [deg/s]: one number where a joint leaves as fast as it arrives."""
    entries: dict[str, object] = {}
    for joint, tangent in tangents.items():
        speeds = [round(math.degrees(speed), DIGITS) + 0.0 for speed in tangent]  # + 0.0 turns -0.0 into 0.0
        entries[joint] = speeds[0] if speeds[0] == speeds[1] else speeds
    return flow_mapping(entries)


def _as_integer(value: float) -> float:
    return int(value) if value.is_integer() else value


def _stiffness(keyframe: Keyframe) -> Stiffness:
    return None if keyframe.stiffness is None else dict(keyframe.stiffness)


def _joint_values(pose: Pose, old: _OldPose | None) -> list[object]:
    """Return the value of each joint for a document: its angle [deg], None to hold it, or `FREE`.

    A joint that is unchanged since the `old` pose keeps its old value.
    """
    degrees: list[float] = (np.round(np.degrees(pose.angles), DIGITS) + 0.0).tolist()  # no -0.0
    values: list[object] = [*degrees]
    if pose.free or any(map(math.isnan, degrees)):
        free = pose.free_mask.tolist()
        for i, angle in enumerate(degrees):
            if free[i]:
                values[i] = FREE
            elif math.isnan(angle):
                values[i] = None
    if old is None or old.pose.joints != pose.joints:
        return values
    for i, is_unchanged in enumerate(pose.same_as(old.pose).tolist()):
        if is_unchanged:
            values[i] = old.values[i]
    return values
