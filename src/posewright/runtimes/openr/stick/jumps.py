"""Whether a motion begins and ends where its name says: where not, MoNet makes the robot jump.

MoNet takes the robot to the posture that a name says first, and sends the first pose of the motion at once,
however far from there it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posewright.motions import DesignRules, Level, Motion, Pose, robot_of_motion
from posewright.runtimes.openr.stick.finding import MonetFinding
from posewright.runtimes.openr.stick.limits import Postures

LEGS = "legs"  # the group of an AIBO's card that holds the joints of its legs

JUMP = "jump"
"""The rule by which jumps are found."""

FARTHEST_DEG = 30.0
"""So far from a posture a leg may be without being hurt. Ours: just above Sony's own farthest, 27 degrees of
its walk backwards; the other motions of Sony's SDK begin and end within 9 degrees."""


def jumps(motion: Motion, said: Postures) -> Iterator[MonetFinding]:
    """Yield where the legs are far from the robot's poses that a name says: an error, or nearer by a warning.

    What the design rules call far from a pose is worth a warning. A name that says no pose, such as `any`, is
    taken for the nearest one.
    """
    poses = motion.resolved_poses()
    first = poses[0] if motion.start is not None else poses[1]
    for pose, posture, verb in ((first, said.start, "begins"), (poses[-1], said.end, "ends")):
        yield from _far(motion, pose, posture, verb)


def _far(motion: Motion, pose: Pose, posture: str, verb: str) -> Iterator[MonetFinding]:
    card = robot_of_motion(motion)
    legs = [joint for joint in card.groups.get(LEGS, ()) if joint in motion.joints]
    named = [posture] if posture in card.poses else list(card.poses)
    if not named or not legs:
        return
    wanted = np.array([[card.poses[name][joint] for joint in legs] for name in named])
    away_from = np.nan_to_num(np.rad2deg(np.abs(pose.on(tuple(legs)).angles - wanted)), nan=0.0)
    nearest = int(away_from.max(axis=1).argmin())
    away, posture = away_from[nearest], named[nearest]
    worst = int(away.argmax())
    says = "which its name says" if len(named) == 1 else "the nearest pose to it, as its name says none"
    if away[worst] > DesignRules.of(card).near_pose_deg:
        message = (
            f"the motion {verb} with {legs[worst]} {away[worst]:.0f} deg from where it is in {posture!r}, "
            f"{says}: the robot would jump"
        )
        level = Level.ERROR if away[worst] > FARTHEST_DEG else Level.WARNING
        way, end = ("from", "first") if verb == "begins" else ("to", "last")
        hint = (
            f"lead it there: `gait sample --{way} {posture}`, or a {end} keyframe; or give it a fitting name"
        )
        yield MonetFinding(level, JUMP, message, hint=hint)
