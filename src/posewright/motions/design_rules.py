"""The design rules of a motion: may it run at any time, and can the robot do it?

Three rules are those of the ITAM Eagle Knights' motion sequences (2006), which every motion must meet: begin
and end near a known pose, be short since a moving head costs camera frames, take small steps. They are made
general, those frames are counted, and they are joined by what any servo asks: limits of joints, alone and of
several together, speed, and numbers that are numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from posewright.arrays import Floats
from posewright.errors import InputError, UnknownNameError
from posewright.motions.checked import (
    AGAIN,
    NEAREST,
    Checked,
    DesignRules,
    Finding,
    Level,
    Segment,
    gathered,
    onto,
    place,
)
from posewright.motions.motion import Motion, card_of
from posewright.motions.rule_sets import HARDWARE, design_rules, rule_names
from posewright.motions.servo_rules import coupled_limits, finite, limits, returns_from_free, speeds
from posewright.robots import Robot

ROUNDING_DEG = 1e-4
"""So little beyond is rounding: a step of 60 deg between two angles in whole micro-radians may be more."""

MOST_TOLD = 5
"""How many stretches without pictures are named; of more it is said how many."""

ROUNDING = 1e-9
"""A picture and a fast stretch that share less than this part of a picture only touch."""


def steps(checked: Checked) -> Iterator[Finding]:
    """Successive poses are near each other: not so is an error, or a warning where a card says so."""
    most, large = checked.rules.max_step_deg, min(checked.rules.large_step_deg, checked.rules.max_step_deg)
    for way in checked.ways:
        with np.errstate(invalid="ignore"):
            step = np.nan_to_num(np.abs(way.end - way.begin), nan=0.0, posinf=np.inf)
        when = (way.begins_s + way.reach_s / 2.0,)
        for joint, value in zip(checked.motion.joints, step.tolist(), strict=True):
            if value <= large + ROUNDING_DEG:
                continue
            level, limit, told = (
                (Level.ERROR, most, f"the most is {most:g} deg")
                if value > most + ROUNDING_DEG
                else (Level.WARNING, large, f"more than {large:g} deg is large")
            )
            message = f"{place(way.number)}: {joint} goes {value:.1f} deg in one step, {told}"
            yield Finding(level, "step", message, way.number, joint, value, limit, "deg", when)


def durations(checked: Checked) -> Iterator[Finding]:
    """It is short, unless it loops or celebrates."""
    duration, limit = checked.motion.duration, checked.rules.max_duration_s
    if duration > limit + 1e-9 and not (checked.motion.loops or checked.celebration):
        message = f"it lasts {duration:.2f} s, the most is {limit:g} s unless it celebrates"
        yield Finding(Level.ERROR, "duration", message, value=duration, limit=limit, unit="s")


def ends(checked: Checked) -> Iterator[Finding]:
    """It begins and ends near a pose that others begin and end near too.

    A loop has no end, and a page that says what is next is not the end of its chain: of these only the
    beginning is looked at.
    """
    first = 1 if checked.motion.start is None else 0
    numbers = [first]
    if not checked.motion.loops and checked.motion.next is None:
        numbers.append(len(checked.motion.keyframes))
    for number in dict.fromkeys(numbers):
        yield from _far(checked, number)


def _far(checked: Checked, number: int) -> Iterator[Finding]:
    """Find the joints far from the pose wanted; of many one finding, since it is the pose that is another."""
    angles = np.rad2deg(checked.poses[number].angles)
    away = {name: _away(checked, angles, name) for name in checked.robot.poses}
    if not away:
        return
    nearest = min(away, key=lambda name: float(away[name].max()))
    wanted = min(checked.near_poses or away, key=lambda name: float(away[name].max()))
    limit = checked.rules.near_pose_deg
    rather = f"; it is near pose {nearest}" if float(away[nearest].max()) <= limit else ""
    far = [
        _far_joint(checked, number, joint, value, wanted)
        for joint, value in zip(checked.motion.joints, away[wanted].tolist(), strict=True)
        if value > limit
    ]
    if len(far) >= AGAIN:
        worst = max(far, key=lambda finding: finding.excess)
        far = [replace(worst, message=f"{worst.message}; {len(far) - 1} more joints are not near either")]
    yield from (replace(finding, message=finding.message + rather) for finding in far)


def _far_joint(checked: Checked, number: int, joint: str, value: float, wanted: str) -> Finding:
    limit, when = checked.rules.near_pose_deg, (checked.arrival_s(number),)
    message = f"{place(number)}: {joint} is {value:.1f} deg from pose {wanted}, near is {limit:g} deg"
    return Finding(Level.ERROR, "pose", message, number, joint, value, limit, "deg", when)


def _away(checked: Checked, angles: Floats, name: str) -> Floats:
    pose = np.rad2deg(checked.robot.pose(name)[checked.columns])
    return np.nan_to_num(np.abs(angles - pose), nan=0.0, posinf=np.inf)


@dataclass(frozen=True)
class _Turn:
    """The fastest that a joint turns: how fast [deg/s], which, on the way into which keyframe, when [s]."""

    speed: float
    joint: str
    number: int
    time_s: float


def camera(checked: Checked) -> Iterator[Finding]:
    """The head is still enough to see.

    A picture is lost if a joint that moves the camera turns faster than the threshold at any time while it is
    the picture's turn, from k / rate to (k + 1) / rate seconds; the first picture begins with the motion.
    """
    rules = checked.rules
    columns = [checked.motion.joints.index(j) for j in rules.camera_joints if j in checked.motion.joints]
    rate, stretches = rules.camera_rate_hz, _lost(checked, columns)
    lost = sum(after - first for first, after in stretches)
    if lost <= rules.camera_lost_frames:
        return
    turn = max((_fastest(checked, way, columns) for way in checked.ways), key=lambda turn: turn.speed)
    over = checked.motion.duration
    spans = ", ".join(
        f"{first / rate:.2f}-{min(after / rate, over):.2f}" for first, after in stretches[:MOST_TOLD]
    )
    more = f" and {len(stretches) - MOST_TOLD} times more" if len(stretches) > MOST_TOLD else ""
    turns = "jumps" if math.isinf(turn.speed) else f"turns {turn.speed:.0f} deg/s"
    taken = _pictures(checked)
    share = f"{lost} of {taken} pictures ({lost / taken:.0%})"
    message = (
        f"the camera loses {share}, at {spans} s{more}: {turn.joint} {turns} {onto(turn.number)}, "
        f"pictures blur above {rules.camera_speed_deg_s:g} deg/s"
    )
    middles = ((first + after) / 2.0 / rate for first, after in stretches)
    counts, when = (float(lost), float(rules.camera_lost_frames), "frames"), (turn.time_s, *middles)
    yield Finding(Level.WARNING, "camera", message, turn.number, turn.joint, *counts, when)


def _pictures(checked: Checked) -> int:
    """Return how many pictures are begun during the motion, and on a loop's way back."""
    until = max(checked.motion.duration, *(way.begins_s + way.reach_s for way in checked.ways))
    return max(math.ceil(until * checked.rules.camera_rate_hz - ROUNDING), 1)


def _lost(checked: Checked, columns: Sequence[int]) -> list[tuple[int, int]]:
    """Return the stretches of pictures that are lost: the first, and the one after the last."""
    rate, most = checked.rules.camera_rate_hz, checked.rules.camera_speed_deg_s * (1.0 + ROUNDING)
    last = _pictures(checked) - 1
    stretches: list[tuple[int, int]] = []
    for way in checked.ways:
        fast = np.any(way.speeds[:, columns] > most, axis=1)
        for span in np.flatnonzero(fast).tolist():
            first = min(math.floor(way.time_s(span) * rate + ROUNDING), last)
            after = max(math.ceil(way.time_s(span + 1) * rate - ROUNDING), first + 1)
            if stretches and first <= stretches[-1][1]:
                first, after = stretches[-1][0], max(after, stretches.pop()[1])
            stretches.append((first, after))
    return stretches


def _fastest(checked: Checked, way: Segment, columns: Sequence[int]) -> _Turn:
    column = columns[int(way.fastest[columns].argmax())]
    return _Turn(float(way.fastest[column]), checked.motion.joints[column], way.number, way.fastest_s(column))


RULES: Mapping[str, Callable[[Checked], Iterator[Finding]]] = MappingProxyType(
    {
        "finite": finite,
        "limit": limits,
        "coupled": coupled_limits,
        "speed": speeds,
        "step": steps,
        "pose": ends,
        "duration": durations,
        "camera": camera,
        "free": returns_from_free,
    }
)


def check_motion(
    motion: Motion,
    robot: Robot | str | None = None,
    *,
    near_pose: str | None = None,
    celebration: bool = False,
    rules: str | Path | DesignRules = HARDWARE,
) -> tuple[Finding, ...]:
    """Return where the motion breaks design rules, the worst first, then in the order of keyframes.

    Of what a joint does again and again there is one finding, the worst, that names all keyframes.

    Args:
        motion: what to check.
        robot: whose limits, servos and named poses count, or the name; default the motion's own.
        near_pose: name of the pose it must begin and end near, `nearest` for whichever of the robot's is,
            whether or not the rules ask for one; default one of those that the rules name.
        celebration: a motion that may take its time.
        rules: which rules, by name, as a file, or as they are; default what the robot can do.

    Raises:
        UnknownNameError: the robot has no such pose, or there are no such rules.
        InputError: the motion moves a joint that the robot does not have, or `celebration` lifts no rule.
    """
    robot = card_of(motion, robot)
    thresholds = rules if isinstance(rules, DesignRules) else design_rules(rules, robot)
    wanted = {*thresholds.checks, *(() if near_pose is None else ("pose",))}
    if celebration and "duration" not in wanted:
        hint = "a team's rules may ask: " + ", ".join(name for name in rule_names() if name != HARDWARE)
        raise InputError("these rules do not ask how long a motion lasts", hint=hint)
    poses = thresholds.near_pose if near_pose is None else (near_pose,)
    poses = () if near_pose == NEAREST else poses  # none stands for all
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
    findings = gathered(
        finding for name, rule in RULES.items() if name in wanted for finding in rule(checked)
    )
    badness = list(Level)
    return tuple(sorted(findings, key=lambda f: (badness.index(f.level), f.keyframe or 0)))
