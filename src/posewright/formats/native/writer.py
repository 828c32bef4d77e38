"""From a motion to the tree of a native motion file, in the words of the file it is written over."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from posewright.documents import PlainMapping, flow_mapping
from posewright.formats.native.reader import FREE
from posewright.motions import DEFAULT_ACCEL_SHARE, Attitude, Easing, Keyframe, Motion, Pose
from posewright.robots import Light

Tree: TypeAlias = PlainMapping
Stiffness = dict[str, float] | None

DIGITS = 9  # decimals of an angle in degrees: a hundred-millionth of a tick


@dataclass(frozen=True)
class Before:
    """The document that a motion is written over, and the motion that it describes."""

    tree: Tree
    motion: Motion


@dataclass(frozen=True)
class _Manner:
    easing: Easing
    accel_share: float
    stiffness: Stiffness

    @classmethod
    def of(cls, keyframes: tuple[Keyframe, ...]) -> _Manner:
        """Choose what most keyframes have; stiffness only where all have the same."""
        easing = Counter(k.easing for k in keyframes).most_common(1)[0][0]
        shares = Counter(k.accel_share for k in keyframes if k.easing is Easing.TRAPEZOID)
        stiffness = _stiffness(keyframes[0])
        alike = all(_stiffness(k) == stiffness for k in keyframes)
        share = shares.most_common(1)[0][0] if shares else DEFAULT_ACCEL_SHARE
        return cls(easing, share, stiffness if alike else None)

    @classmethod
    def told_in(cls, tree: Tree) -> _Manner:
        """Return what an honest document says."""
        stiffness = tree.get("stiffness_nm_rad")
        return cls(
            Easing(tree.get("easing", Easing.LINEAR.value)),
            float(tree.get("accel_share", DEFAULT_ACCEL_SHARE)),
            None if stiffness is None else dict(stiffness),
        )

    def entries(self) -> Iterator[tuple[str, object]]:
        yield "easing", self.easing.value
        if self.accel_share != DEFAULT_ACCEL_SHARE:
            yield "accel_share", self.accel_share
        if self.stiffness is not None:
            yield "stiffness_nm_rad", flow_mapping(self.stiffness)


def tree_of(motion: Motion, before: Before | None = None) -> dict[str, object]:
    """Return the document of a motion; what means the same as before keeps its value as it stood."""
    if before is None:
        return dict(_entries(motion, _Manner.of(motion.keyframes), None))
    fresh = dict(_entries(motion, _Manner.told_in(before.tree), before))
    old = dict(before.tree)
    for key in ("easing", "accel_share", "stiffness_nm_rad"):
        fresh.pop(key, None)
        if key in old:
            fresh[key] = old[key]
    if "start_pose" in old and motion.joints == before.motion.joints and motion.start == before.motion.start:
        fresh["start_pose"] = old["start_pose"]  # by its name, as it stood
        del fresh["start_pose_deg"]
    for key, same in _unchanged(motion, before.motion).items():
        if same:
            fresh.pop(key, None)
            fresh.update({key: old[key]} if key in old else {})
    return fresh


def _unchanged(motion: Motion, old: Motion) -> dict[str, bool]:
    same_joints = motion.joints == old.joints
    own = ("source", "repeat", "speed", "next", "exit")
    return {
        "motion": motion.name == old.name,
        **{key: getattr(motion, key) == getattr(old, key) for key in own},
        "joints": same_joints,
        "start_pose_deg": same_joints and motion.start == old.start,
        "keyframes": same_joints and motion.keyframes == old.keyframes,
    }


def _entries(motion: Motion, manner: _Manner, before: Before | None) -> Iterator[tuple[str, object]]:
    yield "motion", motion.name
    yield "robot", motion.robot
    if motion.source:
        yield "source", motion.source
    if motion.repeat != 1:
        yield "repeat", True if motion.repeat is None else motion.repeat
    if motion.speed != 1.0:
        yield "speed", motion.speed
    for key, name in (("next", motion.next), ("exit", motion.exit)):
        if name is not None:
            yield key, name
    if motion.extras:
        yield "extras", dict(motion.extras)
    yield from manner.entries()
    yield "joints", list(motion.joints)
    if motion.start is not None:
        yield "start_pose_deg", _pose(motion.start, _old_start(before))
    yield "keyframes", list(_keyframes(motion, manner, before))


def _old_start(before: Before | None) -> tuple[Pose, list[object]] | None:
    if before is None or "start_pose_deg" not in before.tree or before.motion.start is None:
        return None
    return before.motion.start, before.tree["start_pose_deg"]


def _keyframes(motion: Motion, manner: _Manner, before: Before | None) -> Iterator[Tree]:
    """Yield the keyframes' entries; the same keyframe in the same place is as it was."""
    known = () if before is None else before.motion.keyframes
    for place, keyframe in enumerate(motion.keyframes):
        if before is None or place >= len(known):
            yield _keyframe(keyframe, manner, None)
        elif keyframe == known[place]:
            yield before.tree["keyframes"][place]
        else:
            yield _keyframe(keyframe, manner, (known[place], before.tree["keyframes"][place]))


def _keyframe(keyframe: Keyframe, manner: _Manner, old: tuple[Keyframe, Tree] | None) -> Tree:
    told: Tree = {} if old is None else old[1]
    entries: dict[str, object] = {"reach_s": keyframe.reach_s}
    if keyframe.pause_s or "pause_s" in told:
        entries["pause_s"] = keyframe.pause_s
    if keyframe.easing is not manner.easing or "easing" in told:
        entries["easing"] = keyframe.easing.value
    shared = keyframe.easing is not Easing.TRAPEZOID or keyframe.accel_share == manner.accel_share
    if not shared or "accel_share" in told:
        entries["accel_share"] = keyframe.accel_share
    stiffness = _stiffness(keyframe)
    if stiffness != manner.stiffness or "stiffness_nm_rad" in told:
        entries["stiffness_nm_rad"] = None if stiffness is None else flow_mapping(stiffness)
    if keyframe.attitude is not None:
        entries["attitude_deg"] = _attitude(keyframe.attitude, old)
    if keyframe.lights is not None:
        entries["lights"] = (
            told["lights"]
            if old is not None and old[0].lights == keyframe.lights
            else _lights(keyframe.lights)
        )
    entries["pose_deg"] = _pose(keyframe.pose, None if old is None else (old[0].pose, told["pose_deg"]))
    return flow_mapping(entries)


def _attitude(attitude: Attitude, old: tuple[Keyframe, Tree] | None) -> list[object]:
    if old is not None and old[0].attitude == attitude:
        return list(old[1]["attitude_deg"])
    return [round(math.degrees(angle), DIGITS) + 0.0 for angle in attitude]


def _lights(lights: Mapping[str, Light]) -> Tree:
    return {
        name: [_whole(value) for value in light] if isinstance(light, tuple) else _whole(light)
        for name, light in lights.items()
    }


def _whole(value: float) -> float:
    return int(value) if value.is_integer() else value


def _stiffness(keyframe: Keyframe) -> Stiffness:
    return None if keyframe.stiffness is None else dict(keyframe.stiffness)


def _pose(pose: Pose, old: tuple[Pose, list[object]] | None) -> list[object]:
    """Return what stands for each joint; an angle that is as it was stands as it stood."""
    degrees: list[float] = (np.round(np.degrees(pose.angles), DIGITS) + 0.0).tolist()
    values: list[object] = [*degrees]
    if pose.free or any(map(math.isnan, degrees)):
        free = pose.free_mask.tolist()
        values = [
            FREE if off else None if math.isnan(angle) else angle
            for angle, off in zip(degrees, free, strict=True)
        ]
    if old is None or old[0].joints != pose.joints:
        return values
    same = pose.same_as(old[0]).tolist()
    return [stood if kept else value for value, stood, kept in zip(values, old[1], same, strict=True)]
