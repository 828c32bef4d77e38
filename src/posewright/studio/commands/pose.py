"""Commands on poses: angles, what is held or let go, and poses that are made out of others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Annotated

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
        angles_rad: by joint [rad].
        symmetric: whether the joints on the other side go along, as in a mirror.
    """

    angles_rad: Mapping[str, float]
    symmetric: bool = field(default=False, kw_only=True)

    @property
    def label(self) -> str:
        """The words behind "Undo" in the menu."""
        return f"turn {next(iter(self.angles_rad))}" if len(self.angles_rad) == 1 else "turn joints"

    def _changed(self, motion: Motion, robot: Robot) -> Motion:
        own = dict(self.angles_rad)
        across = {other: sign * own[joint] for joint, other, sign in sides(robot, own)}
        angles = {**across, **own} if self.symmetric else own
        return with_poses(motion, self.places, lambda _, pose: with_angles(pose, angles, robot))


class Left(Enum):
    """What becomes of a joint that a pose gives no angle: it stays where it was, or its torque is off."""

    HELD = "held"
    FREE = "free"


@dataclass(frozen=True)
class LeaveJoints(PoseCommand):
    """Hold joints where they were before a pose, or take their torque off; `symmetric` as in `SetAngles`."""

    joints: tuple[str, ...]
    left: Left
    symmetric: bool = field(default=False, kw_only=True)

    @property
    def label(self) -> str:
        """The words behind "Undo" in the menu."""
        joints = self.joints[0] if len(self.joints) == 1 else "joints"
        return f"hold {joints}" if self.left is Left.HELD else f"let go of {joints}"

    def _changed(self, motion: Motion, robot: Robot) -> Motion:
        names = set(self.joints)
        if self.symmetric:
            names |= {other for _, other, _ in sides(robot, names)}

        def left(_: int, pose: Pose) -> Pose:
            require_joints(pose, names)
            angles = np.where(np.isin(pose.joints, list(names)), np.nan, pose.angles)
            return Pose(
                pose.joints, angles, pose.free | names if self.left is Left.FREE else pose.free - names
            )

        return with_poses(motion, self.places, left)


@dataclass(frozen=True)
class MirrorPose(PoseCommand):
    """Exchange left and right, of stiffness and lights too."""

    label = "mirror pose"

    def _changed(self, motion: Motion, robot: Robot) -> Motion:
        mirror = mirror_motion(replace(motion, repeat=1), robot)
        frames = list(motion.keyframes)
        start = motion.start
        for place in self.places:
            if place == START:
                start = mirror.start
            else:
                require_keyframe(motion, place)
                frames[place] = mirror.keyframes[place]
        return replace(motion, keyframes=tuple(frames), start=start)


@dataclass(frozen=True)
class CopyAcross(PoseCommand):
    """Let the joints on the other side do as some joints do, as in a mirror, held or free like them.

    Attributes:
        joints: those that are copied, such as a limb.
    """

    joints: tuple[str, ...]
    label = "copy to the other side"

    def _changed(self, motion: Motion, robot: Robot) -> Motion:
        pairs = [
            (joint, other, sign)
            for joint, other, sign in sides(robot, self.joints)
            if other not in self.joints
        ]
        if not pairs:
            raise InputError("these joints have no other side", hint="a leg, an arm or an ear has")

        def copied(_: int, pose: Pose) -> Pose:
            require_joints(pose, [name for joint, other, _ in pairs for name in (joint, other)])
            own = dict(zip(pose.joints, pose.angles.tolist(), strict=True))
            own |= {other: sign * own[joint] for joint, other, sign in pairs}
            free = pose.free - {other for _, other, _ in pairs}
            free |= {other for joint, other, _ in pairs if joint in pose.free}
            return Pose(pose.joints, np.array(list(own.values())), free)

        return with_poses(motion, self.places, copied)


@dataclass(frozen=True)
class BlendPose(PoseCommand):
    """Bring poses towards another one, or all the way to it; what has an angle in neither keeps none.

    Attributes:
        share: how far, 0..1; 1 takes the other pose, with what it holds and lets go.
        named: a pose of the robot's card; or else
        other: a pose of the motion, counted as `keyframe`.
        joints: only these; empty for all.
    """

    share: Annotated[float, Bounds(0.0, 1.0)] = 1.0
    named: str | None = None
    other: int | None = None
    joints: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The words behind "Undo" in the menu."""
        source = self.named or f"keyframe {(self.other or 0) + 1}"
        if self.other == START:
            source = "the start"
        if self.share < 1.0:
            return f"blend with {source}"
        return f"start from {source}" if self.places == (START,) else f"take the pose of {source}"

    def _changed(self, motion: Motion, robot: Robot) -> Motion:
        resolved = motion.resolved_poses()
        stated, standing = self._target(motion, resolved, robot)
        require_joints(stated, self.joints)
        if self.share == 0.0:
            return motion
        chosen = np.array([not self.joints or name in self.joints for name in motion.joints])

        def mixed(place: int, pose: Pose) -> Pose:
            own = resolved[place + 1].angles
            between = own + self.share * (standing - own)
            if self.share == 1.0:
                return _with_joints(pose, stated.angles, stated.free_mask, chosen)
            has_angle = ~(np.isnan(pose.angles) & np.isnan(stated.angles)) & np.isfinite(between)
            return _with_joints(pose, between, np.zeros_like(stated.free_mask), chosen & has_angle)

        return with_poses(motion, self.places, mixed)

    def _target(self, motion: Motion, resolved: tuple[Pose, ...], robot: Robot) -> tuple[Pose, Floats]:
        """Return the other pose as it is stated, and its angles with held joints filled in [rad]."""
        if self.named is not None:
            pose = create_motion(self.named, robot, self.named).keyframes[0].pose.on(motion.joints)
            return pose, pose.angles
        if self.other is None or not START <= self.other < len(motion.keyframes):
            hint = f"a pose of the card, or a keyframe of {len(motion.keyframes)}"
            raise InputError("there is no such pose to take", hint=hint)
        standing = resolved[self.other + 1]
        if self.other == START:
            return motion.start or standing, standing.angles
        return motion.keyframes[self.other].pose, standing.angles


def _with_joints(pose: Pose, angles: Floats, free: Flags, chosen: Flags) -> Pose:
    """Return a pose with other angles of the chosen joints [rad]; of those the ones in `free` are free."""
    is_free = np.where(chosen, free, pose.free_mask)
    joints = frozenset(np.array(pose.joints)[is_free].tolist())
    return Pose(pose.joints, np.where(chosen, angles, pose.angles), joints)


def sides(robot: Robot, joints: Collection[str]) -> Iterator[tuple[str, str, float]]:
    """Yield joints that have another across, each with that one and the sign between their angles."""
    for pair in robot.mirror_pairs:
        for joint, other in ((pair.left, pair.right), (pair.right, pair.left)):
            if joint in joints and joint != other:
                yield joint, other, float(pair.sign)
