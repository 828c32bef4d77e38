"""The verdict on a motion before it reaches a robot: what `motion check` reports as an error stops it.

Everything that writes a motion to a memory stick, an archive, a board or another file that a robot plays, and
everything that plays one on a robot, asks `find_faults` and `require_no_faults`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from posewright.errors import UnsafeMotionError, Where
from posewright.motions.checked_motion import Level
from posewright.motions.design_rules import check_motion
from posewright.motions.motion import Motion
from posewright.robots import Robot


def find_faults(motion: Motion, robot: Robot | None = None) -> tuple[str, ...]:
    """Return the errors that `motion check` reports by its default rules, a sentence each.

    Args:
        motion: the motion.
        robot: the robot that plays it; by default the motion's own.
    """
    findings = check_motion(motion, robot)
    return tuple(finding.message for finding in findings if finding.level is Level.ERROR)


def find_faults_of_several(motions: Iterable[Motion], robot: Robot | None = None) -> tuple[str, ...]:
    """Return the errors in several motions, each after the name of its motion."""
    return tuple(f"{motion.name}: {fault}" for motion in motions for fault in find_faults(motion, robot))


def require_no_faults(
    faults: Sequence[str], subject: str, *, accept_faults: bool, path: Path | None = None
) -> None:
    """Raise an UnsafeMotionError if a motion has faults, unless they are accepted.

    Args:
        faults: what `find_faults` returns.
        subject: the name of the motion, or what holds the motions, for the message.
        accept_faults: whether to go on although there are faults.
        path: the file of the motion, for the message.

    Raises:
        UnsafeMotionError: there are faults, and `accept_faults` is false; its message lists them.
    """
    if not faults or accept_faults:
        return
    raise UnsafeMotionError(
        f"{subject} could harm the robot: {'; '.join(faults)}",
        where=None if path is None else Where(path=path),
        hint="accept_faults=True goes on all the same",
        faults=faults,
    )
