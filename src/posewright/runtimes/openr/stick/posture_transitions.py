"""Checks whether a motion begins and ends in the postures of its name; if not, the robot jumps.

MoNet moves the robot to the first posture in a name, and then sends the first pose of the motion at once,
however far away it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posewright.motions import DesignRules, Level, Motion, Pose, robot_of_motion
from posewright.runtimes.openr.stick.finding import MonetFinding
from posewright.runtimes.openr.stick.limits import (
    ANY,
    ANY_TO_ANY,
    FIRST_POSTURE,
    POSTURES,
    MotionPostures,
)

LEGS = "legs"  # the group of an AIBO's card that holds the joints of its legs

JUMP = "jump"
"""Rule of the findings about jumps."""

FARTHEST_DEG = 30.0
"""Largest distance of a leg joint from a posture without harm [deg]. Ours: just above the 27 degrees of
Sony's walk backwards; the other motions of Sony's SDK begin and end within 9 degrees."""


STANCES = frozenset(POSTURES - {ANY, FIRST_POSTURE})
"""The postures in which MoNet's motions begin and end; `any` and `nt` are none that a robot takes."""


def check_jumps(motion: Motion, postures: MotionPostures) -> Iterator[MonetFinding]:
    """Yield findings about a motion whose legs begin or end far from the postures in its name.

    A leg that is very far is an error, one that is nearer a warning; the design rules define which distance
    is worth a warning. The postures `any` and `nt`, and a name without postures, stand for the nearest pose
    of the robot's card. A posture that the card lacks is unknown, which is a note. Where the card lacks some
    of `STANCES`, its other poses are guesses: what is far from one is a warning at most, and nothing is
    compared with the nearest.
    """
    poses = motion.resolved_poses()
    # a motion without a start begins where the robot is, so its first own pose is that of its first keyframe
    first_pose = poses[0] if motion.start is not None else poses[1]
    start_posture, end_posture = postures if postures.has_start_and_end else ANY_TO_ANY
    yield from _check_distance(motion, first_pose, start_posture, verb="begins")
    yield from _check_distance(motion, poses[-1], end_posture, verb="ends")


def _check_distance(motion: Motion, pose: Pose, posture: str, verb: str) -> Iterator[MonetFinding]:
    """Yield a finding if a leg joint in a pose of a motion is far from its angle in a posture.

    Args:
        motion: the motion.
        pose: its first or last pose.
        posture: the posture in its name.
        verb: what the motion does there, `begins` or `ends`.
    """
    robot = robot_of_motion(motion)
    legs = [joint for joint in robot.groups.get(LEGS, ()) if joint in motion.joints]
    knows_all_stances = robot.poses.keys() >= STANCES
    states_no_pose = posture in {ANY, FIRST_POSTURE}
    if not legs or (states_no_pose and not knows_all_stances):
        return
    if not states_no_pose and posture not in robot.poses:
        message = f"whether the motion {verb} in {posture!r} is unknown: {robot.name} has no such pose"
        yield MonetFinding(Level.NOTE, JUMP, message)
        return
    candidates = list(robot.poses) if states_no_pose else [posture]
    goals = np.array([[robot.poses[name][joint] for joint in legs] for name in candidates])
    differences = np.abs(pose.with_joints(tuple(legs)).angles - goals)
    differences_deg = np.nan_to_num(np.rad2deg(differences), nan=0.0)  # a joint without an angle is held
    nearest = int(differences_deg.max(axis=1).argmin())  # index of the nearest candidate
    distances_deg = differences_deg[nearest]
    posture = candidates[nearest]
    farthest = int(distances_deg.argmax())  # index of the leg joint
    reason = "the nearest posture, as its name states none" if states_no_pose else "the posture in its name"
    if distances_deg[farthest] > DesignRules.of(robot).near_pose_deg:
        message = (
            f"the motion {verb} with {legs[farthest]} {distances_deg[farthest]:.0f} deg from where it is in "
            f"{posture!r}, {reason}: the robot would jump"
        )
        is_error = knows_all_stances and distances_deg[farthest] > FARTHEST_DEG
        level = Level.ERROR if is_error else Level.WARNING
        option, keyframe = ("from", "first") if verb == "begins" else ("to", "last")
        hint = (
            f"lead it there: `gait sample --{option} {posture}`, or a {keyframe} keyframe; "
            "or state the right posture in its name"
        )
        yield MonetFinding(level, JUMP, message, hint=hint)
