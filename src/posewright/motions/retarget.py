"""Motions for the other side, and for other robots.

Carried over to another robot, a motion goes joint by joint, by what the joints are called. Two joints are the
same if their cards give them the same name, as a name says which part of which limb moves and how. Nothing is
invented: a joint that the other robot lacks is left out, and said to be. So is one whose angle is 0 somewhere
else on the other; one of which nobody says which way is positive, or which of several it is, is carried over,
and said to be doubtful.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from posewright.errors import InputError
from posewright.motions.motion import Motion
from posewright.motions.pose import Keyframe, Pose
from posewright.robots import Robot, robot_names
from posewright.robots import robot as robot_named
from posewright.robots.joint import DOUBTS, SIDE, SIGN, ZERO

Partners = Mapping[str, tuple[str, float]]

SLACK_RAD = 1e-6
"""So little beyond a limit is rounding: files of old robots count whole micro-radians."""

_DOUBTFUL = {
    SIGN: "nobody says which way is positive on {}; it may be the other way",
    SIDE: "which is which is a guess on {}; left and right, or front and rear, may have changed places",
}


def mirrored(motion: Motion, robot: Robot, *, name: str | None = None) -> Motion:
    """Return the motion seen in a mirror that stands in the plane between left and right.

    Joints of no mirror pair (a head that nods) keep their angle.

    Raises:
        InputError: the motion moves a joint but not its partner.
    """
    partners = _partners(motion, robot)
    return replace(
        motion,
        name=motion.name if name is None else name,
        keyframes=tuple(_mirrored_keyframe(k, partners) for k in motion.keyframes),
        start=None if motion.start is None else mirrored_pose(motion.start, partners),
    )


def mirrored_pose(pose: Pose, partners: Partners) -> Pose:
    """Return the pose in which every joint takes its partner's angle times the pair's sign."""
    places = [pose.joints.index(partners[joint][0]) for joint in pose.joints]
    signs = np.array([partners[joint][1] for joint in pose.joints])
    free = frozenset(partners[joint][0] for joint in pose.free)
    return Pose(pose.joints, signs * pose.angles[places], free)


def _mirrored_keyframe(keyframe: Keyframe, partners: Partners) -> Keyframe:
    stiffness = keyframe.stiffness
    if stiffness is not None:
        stiffness = {partners[joint][0]: value for joint, value in stiffness.items()}
    attitude = keyframe.attitude
    if attitude is not None:
        attitude = (-attitude[0], attitude[1], -attitude[2])
    return replace(
        keyframe, pose=mirrored_pose(keyframe.pose, partners), stiffness=stiffness, attitude=attitude
    )


def _partners(motion: Motion, robot: Robot) -> Partners:
    """Return, for every joint of the motion, the joint across and the sign between the two."""
    across: dict[str, tuple[str, float]] = {joint: (joint, 1.0) for joint in motion.joints}
    for pair in robot.mirror_pairs:
        for joint, partner in ((pair.left, pair.right), (pair.right, pair.left)):
            if joint in across:
                across[joint] = (partner, float(pair.sign))
    for joint, (partner, _) in across.items():
        if partner not in motion.joints:
            raise InputError(
                f"motion {motion.name!r} moves {joint} but not {partner}", hint="a mirror needs both sides"
            )
    return across


@dataclass(frozen=True)
class Clip:
    """An angle that the other robot cannot take.

    Attributes:
        keyframe: counted from 1; 0 is the start pose.
        given_rad: the limit it got instead [rad].
    """

    keyframe: int
    joint: str
    asked_rad: float
    given_rad: float

    def __str__(self) -> str:
        asked, given = np.rad2deg([self.asked_rad, self.given_rad])
        where = "the start pose" if self.keyframe == 0 else f"keyframe {self.keyframe}"
        return f"{where}: {self.joint} {asked:.2f} deg is beyond the limit, clipped to {given:.2f} deg"


@dataclass(frozen=True)
class Carried:
    """A motion on another robot, and what became of it on the way.

    Attributes:
        missing: joints of the motion that the other robot does not have.
        unmoved: joints of the other robot that the motion says nothing of.
        clips: every angle that was beyond the other robot's limits.
        unmatched: joints that both have, but that are not 0 at the same place; they are left out.
        remarks: what is doubtful about joints that were carried over, in words.
    """

    motion: Motion
    missing: tuple[str, ...] = field(repr=False)
    unmoved: tuple[str, ...] = field(repr=False)
    clips: tuple[Clip, ...] = field(repr=False)
    unmatched: tuple[str, ...] = field(default=(), repr=False)
    remarks: tuple[str, ...] = field(default=(), repr=False)


def carried_over(motion: Motion, robot: Robot, source: Robot | None = None) -> Carried:
    """Return the motion as one of another robot, its angles within that robot's limits.

    Stiffness stays behind, as it belongs to the servos; the trunk's attitude is kept. `source` is the robot
    that the motion is made for; default the one of that name that ships, if there is one.

    Raises:
        InputError: the two have no joint in common.
    """
    doubts = _doubts(motion, robot, source or _shipped(motion.robot))
    unmatched = tuple(name for name in motion.joints if doubts[ZERO].get(name))
    joints = tuple(name for name in robot.joint_names if name in motion.joints and name not in unmatched)
    if not joints:
        raise InputError(
            f"motion {motion.name!r} moves no joint that {robot.name} has"
            + (", and that is 0 at the same place" if unmatched else ""),
            hint=f"it is made for {motion.robot}: {', '.join(motion.joints[:6])}, ...",
        )
    clips: list[Clip] = []
    keyframes = tuple(
        _keyframe(number, keyframe, joints, robot, clips)
        for number, keyframe in enumerate(motion.keyframes, 1)
    )
    start = None if motion.start is None else _pose(0, motion.start, joints, robot, clips)
    moved = replace(motion, robot=robot.name, joints=joints, keyframes=keyframes, start=start, origin=None)
    missing = tuple(name for name in motion.joints if name not in (*joints, *unmatched))
    unmoved = tuple(name for name in robot.joint_names if name not in (*joints, *unmatched))
    return Carried(moved, missing, unmoved, tuple(clips), unmatched, tuple(_remarks(doubts)))


def _shipped(name: str) -> Robot | None:
    return robot_named(name) if name in robot_names() else None


def _doubts(motion: Motion, robot: Robot, source: Robot | None) -> dict[str, dict[str, str]]:
    """Return, by doubt, the joints that have it on one of the two robots, and which robot that is."""
    found: dict[str, dict[str, str]] = {doubt: {} for doubt in DOUBTS}
    for card in (source, robot) if motion.robot != robot.name else ():
        known = () if card is None else card.joints
        shared = (joint for joint in known if joint.name in motion.joints and joint.name in robot.joint_names)
        for joint in shared:
            if joint.uncertain and card is not None:
                found[joint.uncertain].setdefault(joint.name, card.name)
    return found


def _remarks(doubts: dict[str, dict[str, str]]) -> Iterator[str]:
    for doubt, told in _DOUBTFUL.items():
        for card in dict.fromkeys(doubts[doubt].values()):
            names = [name for name, owner in doubts[doubt].items() if owner == card]
            yield f"{', '.join(names)}: {told.format(card)}"


def _keyframe(
    number: int, keyframe: Keyframe, joints: tuple[str, ...], robot: Robot, clips: list[Clip]
) -> Keyframe:
    return replace(keyframe, pose=_pose(number, keyframe.pose, joints, robot, clips), stiffness=None)


def _pose(number: int, pose: Pose, joints: tuple[str, ...], robot: Robot, clips: list[Clip]) -> Pose:
    pose = pose.on(joints)
    lower, upper = (side[[robot.index(name) for name in joints]] for side in robot.limits)
    fits = (pose.angles >= lower - SLACK_RAD) & (pose.angles <= upper + SLACK_RAD)
    within = np.where(fits, pose.angles, np.clip(pose.angles, lower, upper))
    clips.extend(_clips(number, pose, Pose(joints, within, pose.free)))
    return Pose(joints, within, pose.free)


def _clips(number: int, asked: Pose, given: Pose) -> Iterator[Clip]:
    rows = zip(asked.joints, asked.angles.tolist(), given.angles.tolist(), strict=True)
    return (Clip(number, name, before, after) for name, before, after in rows if abs(before - after) > 0.0)
