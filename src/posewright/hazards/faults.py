"""The verdict on a motion before it reaches a robot: what `motion check` reports as an error stops it.

Everything that writes a motion to a memory stick, an archive, a board or another file that a robot plays, and
everything that plays one on a robot, asks `find_faults` and `require_no_faults`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from posewright.errors import UnsafeMotionError, Where
from posewright.motions import (
    HARDWARE,
    DesignRules,
    Finding,
    Level,
    Motion,
    check_design_rules,
    robot_of_motion,
)
from posewright.robots import Robot


def check_motion(
    motion: Motion,
    robot: Robot | str | None = None,
    *,
    near_pose: str | None = None,
    celebration: bool = False,
    rules: str | Path | DesignRules = HARDWARE,
) -> tuple[Finding, ...]:
    """Return the findings of the design rules and the self-collisions of a motion, errors first.

    What a joint does at many keyframes is one finding, the worst, that lists them all.

    Args:
        motion: what to check.
        robot: the robot whose limits, servos, named poses and shapes count, or the name; default the motion's
            own.
        near_pose: name of the pose it must begin and end near, `nearest` for whichever of the robot's is,
            whether or not the rules require one; default one of those that the rules name.
        celebration: the motion may last longer.
        rules: a set's name, a file, or the rules themselves; default what the robot can do.

    Raises:
        UnknownNameError: the robot has no such pose, or there are no such rules.
        InputError: the motion moves a joint that the robot does not have, `celebration` lifts no rule, or the
            robot's model is not valid.
    """
    card = robot_of_motion(motion, robot)
    findings = check_design_rules(motion, card, near_pose=near_pose, celebration=celebration, rules=rules)
    if any(finding.rule == "finite" for finding in findings):
        return findings  # there is no pose in which links could collide
    from posewright.hazards.self_collision import find_self_collisions  # loads MuJoCo

    n_errors = sum(finding.level is Level.ERROR for finding in findings)
    collisions = find_self_collisions(motion, card)
    return (*findings[:n_errors], *collisions, *findings[n_errors:])


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
