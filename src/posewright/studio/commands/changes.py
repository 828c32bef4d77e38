"""Base classes and functions of commands that change a motion, its poses or its keyframes."""

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
"""Index of a motion's start pose, before its keyframes."""


@dataclass(frozen=True)
class MotionCommand(ABC):
    """A change of the motion of one page."""

    page: int

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages with the motion changed, or raise InputError if that is not possible."""
        return pages.with_changed_motion(self.page, lambda motion: self._change_motion(motion, robot))

    @abstractmethod
    def _change_motion(self, motion: Motion, robot: Robot) -> Motion: ...


@dataclass(frozen=True)
class PoseCommand(MotionCommand):
    """The same change of one pose of a motion, or of several.

    Attributes:
        keyframe: index of the keyframe; -1 for the start pose.
        also: indices of further keyframes.
    """

    keyframe: int
    also: tuple[int, ...] = field(default=(), kw_only=True)

    @property
    def indices(self) -> tuple[int, ...]:
        """All indices, each once."""
        return tuple(dict.fromkeys((self.keyframe, *self.also)))


@dataclass(frozen=True)
class KeyframesCommand(MotionCommand):
    """The same change of several keyframes."""

    keyframes: tuple[int, ...]

    def _change_motion(self, motion: Motion, robot: Robot) -> Motion:
        frames = list(motion.keyframes)
        for index in sorted_indices(motion, self.keyframes):
            frames[index] = self._change_keyframe(frames[index])
        return replace(motion, keyframes=tuple(frames))

    @abstractmethod
    def _change_keyframe(self, frame: Keyframe) -> Keyframe: ...


def require_joints(pose: Pose, joints: Iterable[str]) -> None:
    """Raise InputError if a pose lacks one of the joints."""
    missing = next((name for name in joints if name not in pose.joints), None)
    if missing is not None:
        raise InputError(f"the motion does not move {missing}", hint="add the joint to the motion first")


def require_keyframe(motion: Motion, index: int) -> None:
    """Raise InputError if a motion has no keyframe of this index."""
    count = len(motion.keyframes)
    if not 0 <= index < count:
        raise InputError(f"there is no keyframe {index + 1}", hint=f"the motion has {count}")


def sorted_indices(motion: Motion, keyframes: Collection[int]) -> list[int]:
    """Return indices of keyframes in ascending order.

    Raises:
        InputError: there is no index, or the motion has no such keyframe.
    """
    if not keyframes:
        raise InputError("no keyframe is selected", hint="select one on the time line")
    indices = sorted(set(keyframes))
    for index in indices:
        require_keyframe(motion, index)
    return indices


def with_angles(pose: Pose, angles: Mapping[str, float], robot: Robot) -> Pose:
    """Return a pose with new angles of some joints [rad], clipped to their limits; these get their torque on.

    Raises:
        InputError: the pose lacks one of the joints.
        UnknownNameError: the robot lacks one of the joints.
    """
    joints = {name: robot.joint(name) for name in angles}
    require_joints(pose, angles)
    new_angles = dict(zip(pose.joints, pose.angles.tolist(), strict=True))
    for name, angle in angles.items():
        new_angles[name] = float(np.clip(angle, joints[name].lower_rad, joints[name].upper_rad))
    free_joints = pose.free - set(angles)  # free joints have their torque off
    return Pose(pose.joints, np.array(list(new_angles.values())), free_joints)


def with_poses(motion: Motion, indices: Iterable[int], change: Callable[[int, Pose], Pose]) -> Motion:
    """Return a motion with some poses changed.

    Args:
        motion: the motion.
        indices: indices of the keyframes whose poses are changed; -1 for the start pose. A motion without a
            start pose gets one, of held joints.
        change: returns the new pose for an index and the present pose.
    """
    frames = list(motion.keyframes)
    start = motion.start
    for index in indices:
        if index == START:
            start = change(index, start or Pose.of(motion.joints, {}))
        else:
            require_keyframe(motion, index)
            frames[index] = replace(frames[index], pose=change(index, frames[index].pose))
    return replace(motion, keyframes=tuple(frames), start=start)


def with_range(motion: Motion, begin: int, end: int, frames: Sequence[Keyframe]) -> Motion:
    """Return a motion in which keyframes replace those from index `begin` up to `end`."""
    return replace(motion, keyframes=(*motion.keyframes[:begin], *frames, *motion.keyframes[end:]))
