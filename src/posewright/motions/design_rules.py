"""The design rules of a motion: may it run at any time, and can the robot do it?

Three rules are those of the ITAM Eagle Knights' motion sequences (2006), which every motion must meet: begin
and end near a known pose, be short, take small steps. They are made general and joined by what any servo
asks: joint limits, speed, and numbers that are numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from posewright.errors import InputError, UnknownNameError
from posewright.motions.checked import Checked
from posewright.motions.finding import Finding, Level
from posewright.motions.motion import Motion
from posewright.motions.sequence_rules import durations, ends, steps
from posewright.motions.servo_rules import finite, limits, returns_from_free, speeds
from posewright.motions.thresholds import DesignRules
from posewright.robots import Robot

RULES: tuple[Callable[[Checked], Iterator[Finding]], ...] = (
    finite,
    limits,
    speeds,
    steps,
    ends,
    durations,
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

    Args:
        motion: what to check.
        robot: whose limits, servos and named poses count.
        near_pose: name of the pose it must begin and end near; default whichever of the robot's is nearest.
        celebration: a motion that may take its time.
        rules: thresholds other than the defaults.

    Raises:
        UnknownNameError: the robot has no such pose.
        InputError: the motion moves a joint that the robot does not have.
    """
    if near_pose is not None and near_pose not in robot.poses:
        raise UnknownNameError.among("pose", near_pose, robot.poses)
    strange = [joint for joint in motion.joints if joint not in robot.joint_names]
    if strange:
        raise InputError(
            f"motion {motion.name!r} moves {strange[0]}, which {robot.name} does not have",
            hint=f"it is made for {motion.robot}",
        )
    checked = Checked(motion, robot, rules or DesignRules(), near_pose, celebration)
    findings = [finding for rule in RULES for finding in rule(checked)]
    badness = list(Level)
    return tuple(sorted(findings, key=lambda f: (badness.index(f.level), f.keyframe or 0)))
