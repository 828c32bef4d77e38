"""Commands that change poses: angles, held and free joints, mirroring and blending."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Annotated, NamedTuple

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.documents import Bounds
from posewright.errors import InputError
from posewright.motions import Motion, Pose, create_motion, mirror_motion
from posewright.robots import Robot
from posewright.studio.commands.changes import (
    START,
    PoseCommand,
    require_joints,
    require_keyframe,
    with_angles,
    with_poses,
)


@dataclass(frozen=True)
class SetAngles(PoseCommand):
    """Turn joints, each within its limits.

    Attributes:
        angles_rad: angles by joint [rad].
        symmetric: whether the joints on the other side turn as well, mirrored.
    """

    angles_rad: Mapping[str, float]
    symmetric: bool = field(default=False, kw_only=True)

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        return f"turn {next(iter(self.angles_rad))}" if len(self.angles_rad) == 1 else "turn joints"

    def _change_motion(self, motion: Motion, robot: Robot) -> Motion:
        """Return the motion with the angles set in the chosen poses, mirrored as well if `symmetric`."""
        angles = dict(self.angles_rad)
        if self.symmetric:
            mirrored = {
                pair.opposite: pair.sign * angles[pair.joint] for pair in opposite_joints(robot, angles)
            }
            angles = mirrored | angles  # an angle that the command states has priority
        return with_poses(motion, self.indices, lambda _, pose: with_angles(pose, angles, robot))


class UnsetState(Enum):
    """State of a joint without an angle: it holds its last goal, or its torque is off."""

    HELD = "held"
    FREE = "free"


@dataclass(frozen=True)
class UnsetJoints(PoseCommand):
    """Remove the angles of joints in some poses.

    Attributes:
        joints: the joints.
        left: whether they are held or free afterwards.
        symmetric: whether the opposite joints on the other side of the body lose their angles, too.
    """

    joints: tuple[str, ...]
    left: UnsetState
    symmetric: bool = field(default=False, kw_only=True)

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        joints = self.joints[0] if len(self.joints) == 1 else "joints"
        return f"hold {joints}" if self.left is UnsetState.HELD else f"let go of {joints}"

    def _change_motion(self, motion: Motion, robot: Robot) -> Motion:
        """Return the motion with the joints held or free in the chosen poses, instead of at an angle."""
        names = set(self.joints)
        if self.symmetric:
            names |= {pair.opposite for pair in opposite_joints(robot, names)}

        def unset_joints(_: int, pose: Pose) -> Pose:
            """Return the pose without the angles of these joints: NaN is no angle."""
            require_joints(pose, names)
            angles = np.where(np.isin(pose.joints, list(names)), np.nan, pose.angles)
            free = pose.free | names if self.left is UnsetState.FREE else pose.free - names
            return Pose(pose.joints, angles, free)

        return with_poses(motion, self.indices, unset_joints)


@dataclass(frozen=True)
class MirrorPose(PoseCommand):
    """Exchange left and right, including stiffness and lights."""

    label = "mirror pose"

    def _change_motion(self, motion: Motion, robot: Robot) -> Motion:
        """Return the motion with the chosen keyframes and start pose mirrored."""
        mirror = mirror_motion(replace(motion, repeat=1), robot)
        frames = list(motion.keyframes)
        start = motion.start
        for index in self.indices:
            if index == START:
                start = mirror.start
            else:
                require_keyframe(motion, index)
                frames[index] = mirror.keyframes[index]
        return replace(motion, keyframes=tuple(frames), start=start)


@dataclass(frozen=True)
class CopyAcross(PoseCommand):
    """Copy the angles of joints to the other side, mirrored; held and free joints as well.

    Attributes:
        joints: the joints to copy, such as a limb.
    """

    joints: tuple[str, ...]
    label = "copy to the other side"

    def _change_motion(self, motion: Motion, robot: Robot) -> Motion:
        """Return the motion with the joints of each chosen pose copied to the other side."""
        pairs = [pair for pair in opposite_joints(robot, self.joints) if pair.opposite not in self.joints]
        if not pairs:
            raise InputError(
                "these joints have none on the other side", hint="choose a leg, an arm or an ear"
            )

        def copy_across(_: int, pose: Pose) -> Pose:
            require_joints(pose, [name for pair in pairs for name in (pair.joint, pair.opposite)])
            angles = dict(zip(pose.joints, pose.angles.tolist(), strict=True))
            angles |= {pair.opposite: pair.sign * angles[pair.joint] for pair in pairs}
            free_joints = pose.free - {pair.opposite for pair in pairs}
            free_joints |= {pair.opposite for pair in pairs if pair.joint in pose.free}
            return Pose(pose.joints, np.array(list(angles.values())), free_joints)

        return with_poses(motion, self.indices, copy_across)


@dataclass(frozen=True)
class BlendPose(PoseCommand):
    """Blend poses with another pose, or replace them by it.

    Joints without an angle in both poses stay without one.

    Attributes:
        share: weight of the other pose, 0 to 1; 1 replaces the pose, with its held and free joints.
        named: name of a pose of the robot's card; or
        other: index of a keyframe of the motion; -1 for the start pose.
        joints: only these joints; empty for all.
    """

    share: Annotated[float, Bounds(0.0, 1.0)] = 1.0
    named: str | None = None
    other: int | None = None
    joints: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        source = self.named or f"keyframe {(self.other or 0) + 1}"
        if self.other == START:
            source = "the start"
        if self.share < 1.0:
            return f"blend with {source}"
        return f"start from {source}" if self.indices == (START,) else f"take the pose of {source}"

    def _change_motion(self, motion: Motion, robot: Robot) -> Motion:
        """Return the motion with the chosen poses blended with the other pose, or replaced by it."""
        resolved_poses = motion.resolved_poses()  # the start pose, then those of the keyframes
        target, target_angles = self._find_target(motion, resolved_poses, robot)
        require_joints(target, self.joints)
        if self.share == 0.0:
            return motion
        is_chosen = np.array([not self.joints or name in self.joints for name in motion.joints])

        def blend(index: int, pose: Pose) -> Pose:
            if self.share == 1.0:
                return _with_joints(pose, target.angles, is_free=target.free_mask, is_chosen=is_chosen)
            angles = resolved_poses[index + 1].angles
            blended = angles + self.share * (target_angles - angles)
            has_angle = ~(np.isnan(pose.angles) & np.isnan(target.angles)) & np.isfinite(blended)
            return _with_joints(
                pose, angles=blended, is_free=np.zeros_like(target.free_mask), is_chosen=is_chosen & has_angle
            )

        return with_poses(motion, self.indices, blend)

    def _find_target(
        self, motion: Motion, resolved_poses: tuple[Pose, ...], robot: Robot
    ) -> tuple[Pose, Floats]:
        """Return the pose that this command names, and its angles with those of held joints filled in [rad].

        It is a pose of the robot, `named`, or that of the keyframe with the index `other`.

        Args:
            motion: the motion.
            resolved_poses: start pose and keyframes with the angles of held joints, so that the pose of the
                keyframe with an index `i` is `resolved_poses[i + 1]`.
            robot: its robot.
        """
        if self.named is not None:
            pose = create_motion(self.named, robot, self.named).keyframes[0].pose.with_joints(motion.joints)
            return pose, pose.angles
        if self.other is None or not START <= self.other < len(motion.keyframes):
            hint = f"name a pose of the robot, or one of {len(motion.keyframes)} keyframes"
            raise InputError("there is no such pose", hint=hint)
        resolved_pose = resolved_poses[self.other + 1]
        if self.other == START:
            return motion.start or resolved_pose, resolved_pose.angles
        return motion.keyframes[self.other].pose, resolved_pose.angles


def _with_joints(pose: Pose, angles: Floats, is_free: Flags, is_chosen: Flags) -> Pose:
    """Return a pose with new angles [rad] and free joints where `is_chosen`; arrays are `(n_joints,)`."""
    is_free = np.where(is_chosen, is_free, pose.free_mask)
    joints = frozenset(np.array(pose.joints)[is_free].tolist())
    return Pose(pose.joints, np.where(is_chosen, angles, pose.angles), joints)


class OppositeJoint(NamedTuple):
    """A joint, the joint on the other side, and the sign between their angles in mirrored poses."""

    joint: str
    opposite: str
    sign: float


def opposite_joints(robot: Robot, joints: Collection[str]) -> Iterator[OppositeJoint]:
    """Yield those of some joints that have an opposite joint, with that joint."""
    for pair in robot.mirror_pairs:
        for joint, opposite in ((pair.left, pair.right), (pair.right, pair.left)):
            if joint in joints and joint != opposite:
                yield OppositeJoint(joint, opposite, float(pair.sign))
