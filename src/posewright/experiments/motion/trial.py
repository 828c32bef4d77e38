"""The trial of a motion under gravity: what an editor without physics never showed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from posewright.errors import InputError
from posewright.evaluation.motion.course import Course
from posewright.evaluation.motion.numbers import numbers_of
from posewright.evaluation.motion.stability import Fall, falls_of, stability
from posewright.evaluation.motion.strain import strain
from posewright.evaluation.motion.thresholds import PhysicsRules
from posewright.evaluation.motion.touching import touching
from posewright.experiments.motion.commands import commands_of
from posewright.experiments.motion.stage import Attitude, play, put_down
from posewright.formats import card_of
from posewright.motions import Finding, Level, Motion
from posewright.robots import Robot

SETTLE_S = 1.0
"""Time the robot is given to stand still before the motion begins [s]."""

HOLD_S = 1.0
"""Time the last pose is held, to see whether the robot stays up [s]."""

LONGEST_S = 60.0
"""A motion is played no longer than this [s]."""

MOST_S = 3600.0


@dataclass(frozen=True, eq=False)
class MotionTrial:
    """What a motion does to a robot under gravity.

    Attributes:
        motion: what was played.
        robot: on what.
        rules: what counts as fallen, late, ...
        course: what happened, frame by frame.
        is_whole: whether the motion was played to its end.
        falls: when the robot went down and stayed so.
        findings: what a person should know, the worst first.
    """

    motion: Motion
    robot: Robot
    rules: PhysicsRules
    course: Course
    is_whole: bool
    falls: tuple[Fall, ...]
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and the findings, ready for JSON."""
        return {
            "motion": self.motion.name,
            "robot": self.robot.name,
            "is_whole": self.is_whole,
            **numbers_of(self.course, self.rules, self.falls),
            "findings": [told(finding) for finding in self.findings],
        }


def try_motion(
    motion: Motion,
    robot: Robot | None = None,
    *,
    pose: str | None = None,
    attitude: Attitude | None = None,
    friction: float | None = None,
    settle_s: float = SETTLE_S,
    hold_s: float = HOLD_S,
    longest_s: float = LONGEST_S,
    rules: PhysicsRules | None = None,
) -> MotionTrial:
    """Play a motion under gravity, from its own first pose on a bare floor; say what it does to the robot.

    The robot is put down in the first pose, stands for a moment, is commanded as a player would command it,
    and holds the last pose for a moment. Commands stay within the stops of the mechanism, but nothing slows
    them down: a motion that is too fast shows as joints that lag. A motion that repeats for ever is played
    three times. The same motion gives the same trial, to the last bit.

    Args:
        motion: what is tried.
        robot: on what; default the motion's own.
        pose: name of the pose of the joints that the motion does not move; default `stand`.
        attitude: roll and pitch of the base the robot is put down with [rad], such as (0, pi/2) on its face;
            default what the motion's author says, else as it stands on its feet.
        friction: of the floor with whatever touches it; default what the robot's model says.
        settle_s: how long it stands before [s].
        hold_s: how long it holds the last pose [s].
        longest_s: what lies later in the motion is not played [s].
        rules: what counts as fallen, late, ...

    Raises:
        InputError: the motion is another robot's, the robot has no model, or a number makes no sense.
        UnknownNameError: the robot is not known, or has no such pose.
        BodyError: the simulation failed.
    """
    robot = card_of(motion) if robot is None else robot
    _refuse_nonsense({"settle_s": settle_s, "hold_s": hold_s, "longest_s": longest_s}, friction)
    rules = rules or PhysicsRules()
    commands = commands_of(motion, robot, pose=pose, longest_s=longest_s)
    body = put_down(robot, commands, attitude, friction)
    settle, hold = (round(seconds / robot.frame_period_s) for seconds in (settle_s, hold_s))
    course = play(body, commands, settle=settle, hold=hold)
    falls = falls_of(course, rules)
    found = (*stability(course, rules, falls), *touching(course, rules), *strain(course, rules))
    badness = list(Level)
    findings = tuple(sorted(found, key=lambda finding: badness.index(finding.level)))
    return MotionTrial(motion, robot, rules, course, commands.is_whole, falls, findings)


def told(finding: Finding) -> dict[str, Any]:
    """Return a finding, ready for JSON."""
    return {
        "level": finding.level.value,
        "rule": finding.rule,
        "message": finding.message,
        "keyframe": finding.keyframe,
        "joint": finding.joint,
        "value": finding.value,
        "limit": finding.limit,
        "unit": finding.unit,
        "times_s": list(finding.times_s),
    }


def _refuse_nonsense(times: dict[str, float], friction: float | None) -> None:
    for what, seconds in times.items():
        if not 0.0 <= seconds <= MOST_S:
            raise InputError(f"{what} is {seconds}", hint=f"0 to {MOST_S:g} seconds")
    if friction is not None and not (math.isfinite(friction) and friction > 0.0):
        raise InputError(f"the friction is {friction}", hint="above 0: 0.2 is a polished floor, 1 a carpet")
