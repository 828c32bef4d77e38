"""The design rules of a motion: may it run at any time, and can the robot do it?

Three rules are those of the ITAM Eagle Knights' motion sequences (2006), which every motion must meet: begin
and end near a known pose, be short since a moving head costs camera frames, take small steps. They are made
general, those frames are counted, and they are joined by what any servo asks: limits of joints, alone and of
several together, speed, and numbers that are numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from posewright.errors import InputError, UnknownNameError
from posewright.motions.checked import NEAREST, Checked, DesignRules
from posewright.motions.finding import Finding, Level, gathered
from posewright.motions.motion import Motion
from posewright.motions.sequence_rules import camera, durations, ends, steps
from posewright.motions.servo_rules import coupled_limits, finite, limits, returns_from_free, speeds
from posewright.robots import Robot

RULES: tuple[Callable[[Checked], Iterator[Finding]], ...] = (
    finite,
    limits,
    coupled_limits,
    speeds,
    steps,
    ends,
    durations,
    camera,
    returns_from_free,
)


def check_motion(
    motion: Motion,
    robot: Robot,
    *,
    near_pose: str | None = None,
    celebration: bool = False,
    rules: DesignRules | None = None,
) -> tuple[Finding, ...]:
    """Return where the motion breaks the design rules, the worst first, then in the order of keyframes.

    Of what a joint does again and again there is one finding, the worst, that names all keyframes.

    Args:
        motion: what to check.
        robot: whose limits, servos and named poses count.
        near_pose: name of the pose it must begin and end near, `nearest` for whichever of the robot's is;
            default one of those that the rules name.
        celebration: a motion that may take its time.
        rules: thresholds other than `DesignRules.of(robot)`.

    Raises:
        UnknownNameError: the robot has no such pose.
        InputError: the motion moves a joint that the robot does not have.
    """
    thresholds = DesignRules.of(robot) if rules is None else rules
    poses = thresholds.near_pose if near_pose is None else _named(near_pose)
    strange = [joint for joint in motion.joints if joint not in robot.joint_names]
    if strange:
        raise InputError(
            f"motion {motion.name!r} moves {strange[0]}, which {robot.name} does not have",
            hint=f"it is made for {motion.robot}",
        )
    for name in poses:
        if name not in robot.poses:
            raise UnknownNameError.among("pose", name, robot.poses)
    checked = Checked(motion, robot, thresholds, poses, celebration)
    findings = gathered(finding for rule in RULES for finding in rule(checked))
    badness = list(Level)
    return tuple(sorted(findings, key=lambda f: (badness.index(f.level), f.keyframe or 0)))


def _named(name: str) -> tuple[str, ...]:
    """Return the poses that a name asks for; none stands for all."""
    return () if name == NEAREST else (name,)
