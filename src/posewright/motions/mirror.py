"""The mirror: a motion of the left side made one of the right side, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from posewright.errors import InputError
from posewright.motions.keyframe import Keyframe
from posewright.motions.motion import Motion
from posewright.motions.pose import Pose
from posewright.robots import Robot

Partners = Mapping[str, tuple[str, float]]


def mirrored(motion: Motion, robot: Robot, *, name: str | None = None) -> Motion:
    """Return the motion seen in a mirror that stands in the plane between left and right.

    Joints of no mirror pair (a head that nods) keep their angle.

    Args:
        motion: what to mirror.
        robot: whose mirror pairs count.
        name: of the new motion; default unchanged.

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
