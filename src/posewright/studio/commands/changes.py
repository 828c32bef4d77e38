"""What commands have in common: the motion that they change, some of its poses, or some of its keyframes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from posewright.errors import InputError
from posewright.motions import Keyframe, Motion, Pose
from posewright.robots import Robot
from posewright.studio.pages import Pages

START = -1
"""Stands for the pose a motion is started from, among its keyframes."""


@dataclass(frozen=True)
class MotionCommand(ABC):
    """Change the motion of one page."""

    page: int

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages with the motion changed; an `InputError` where that makes no sense."""
        return pages.changed(self.page, lambda motion: self._changed(motion, robot))

    @abstractmethod
    def _changed(self, motion: Motion, robot: Robot) -> Motion: ...


@dataclass(frozen=True)
class PoseCommand(MotionCommand):
    """Change one pose of a motion, or several alike.

    Attributes:
        keyframe: from 0; -1 for the pose the motion is started from.
        also: further ones.
    """

    keyframe: int
    also: tuple[int, ...] = field(default=(), kw_only=True)

    @property
    def places(self) -> tuple[int, ...]:
        """All of them, each once."""
        return tuple(dict.fromkeys((self.keyframe, *self.also)))


@dataclass(frozen=True)
class KeyframesCommand(MotionCommand):
    """Change some keyframes alike."""

    keyframes: tuple[int, ...]

    def _changed(self, motion: Motion, robot: Robot) -> Motion:
        frames = list(motion.keyframes)
        for place in places_of(motion, self.keyframes):
            frames[place] = self._each(frames[place])
        return replace(motion, keyframes=tuple(frames))

    @abstractmethod
    def _each(self, frame: Keyframe) -> Keyframe: ...


def require_joints(pose: Pose, joints: Iterable[str]) -> None:
    """Raise an InputError unless a pose has these joints."""
    missing = next((name for name in joints if name not in pose.joints), None)
    if missing is not None:
        raise InputError(f"the motion does not move {missing}", hint="add the joint to the motion first")


def require_keyframe(motion: Motion, place: int) -> None:
    """Raise an InputError unless a motion has that keyframe, from 0."""
    count = len(motion.keyframes)
    if not 0 <= place < count:
        raise InputError(f"there is no keyframe {place + 1}", hint=f"the motion has {count}")


def places_of(motion: Motion, keyframes: Collection[int]) -> list[int]:
    """Return keyframes in rising order; an `InputError` where there is none, or not such a one."""
    if not keyframes:
        raise InputError("no keyframe is chosen", hint="choose one on the time line")
    places = sorted(set(keyframes))
    for place in places:
        require_keyframe(motion, place)
    return places


def with_angles(pose: Pose, angles: Mapping[str, float], robot: Robot) -> Pose:
    """Return a pose with other angles of some joints [rad], each brought within the joint's limits."""
    limits = {name: robot.joint(name) for name in angles}
    require_joints(pose, angles)
    own = dict(zip(pose.joints, pose.angles.tolist(), strict=True))
    for name, angle in angles.items():
        own[name] = float(np.clip(angle, limits[name].lower_rad, limits[name].upper_rad))
    return Pose(pose.joints, np.array(list(own.values())), pose.free - set(angles))


def with_poses(motion: Motion, places: Iterable[int], change: Callable[[int, Pose], Pose]) -> Motion:
    """Return a motion with some poses changed, each by its place: a keyframe from 0, or -1 for the start."""
    frames = list(motion.keyframes)
    start = motion.start
    for place in places:
        if place == START:
            start = change(place, start or Pose.of(motion.joints, {}))
        else:
            require_keyframe(motion, place)
            frames[place] = replace(frames[place], pose=change(place, frames[place].pose))
    return replace(motion, keyframes=tuple(frames), start=start)


def with_range(motion: Motion, begin: int, end: int, frames: Sequence[Keyframe]) -> Motion:
    """Return a motion with other keyframes from one place up to another, from 0."""
    return replace(motion, keyframes=(*motion.keyframes[:begin], *frames, *motion.keyframes[end:]))
