"""Whether a motion begins and ends in the postures that its name says: MoNet believes the name."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posewright.formats.monet.finding import MonetFinding
from posewright.formats.monet.names import postures_of
from posewright.formats.motion_file import card_of
from posewright.motions import DesignRules, Level, Motion, Pose

LEGS = "legs"
"""The group of an AIBO's card that holds the joints of its legs."""


def posture_warnings(motion: Motion) -> Iterator[MonetFinding]:
    """Yield where the legs are far from the robot's pose of the name that the motion's name says.

    Far is what the design rules call far from a pose. Sony's own motions for MoNet begin and end within 9
    degrees of these poses, but for a walk backwards, 27 degrees, of which this is said, too.
    """
    poses = motion.resolved()
    first = poses[0] if motion.start is not None else poses[1]
    said = postures_of(motion.name)
    for pose, posture, verb in ((first, said.start, "begins"), (poses[-1], said.end, "ends")):
        yield from _far(motion, pose, posture, verb)


def _far(motion: Motion, pose: Pose, posture: str, verb: str) -> Iterator[MonetFinding]:
    card = card_of(motion)
    legs = [joint for joint in card.groups.get(LEGS, ()) if joint in motion.joints]
    if posture not in card.poses or not legs:
        return
    wanted = np.array([card.poses[posture][joint] for joint in legs])
    away = np.nan_to_num(np.rad2deg(np.abs(pose.on(tuple(legs)).angles - wanted)), nan=0.0)
    worst, limit = int(away.argmax()), DesignRules.of(card).near_pose_deg
    if away[worst] > limit:
        message = (
            f"the motion {verb} with {legs[worst]} {away[worst]:.0f} deg from where it is in {posture!r}, "
            "which its name says: the robot would jump"
        )
        yield MonetFinding(Level.WARNING, "posture", message, hint="give it the --name of what it does")
