"""The design rules of a motion: may it run at any time, and can the robot do it?

Three rules are those of the ITAM Eagle Knights' motion sequences (2006), which every motion must meet: begin
and end near a known pose, be short since a moving head costs camera frames, take small steps. They are
generalised here, with lost camera frames counted, and joined by what any servo needs: joint limits (single
and coupled), speed, and angles that are finite numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from posewright.errors import InputError, UnknownNameError
from posewright.motions.checked_motion import (
    MIN_REPEATS,
    NEAREST,
    CheckedMotion,
    DesignRules,
    Finding,
    Level,
    Segment,
    keyframe_name,
    merge_repeated,
    segment_name,
)
from posewright.motions.motion import Motion, robot_of_motion
from posewright.motions.rule_sets import HARDWARE, design_rules, rule_names
from posewright.motions.servo_rules import (
    check_coupled_limits,
    check_finite,
    check_limits,
    check_returns_from_free,
    check_speeds,
)
from posewright.robots import Robot

ROUNDING_DEG = 1e-4
"""Tolerance of a step: 60 deg between two angles in whole micro-radians may be a little more."""

MAX_LISTED_SPANS = 5
"""Spans of lost pictures that a message lists; it counts the others."""

ROUNDING = 1e-9
"""A picture and a fast span that share less than this part of a picture only touch."""


def check_steps(checked: CheckedMotion) -> Iterator[Finding]:
    """Yield a finding for every joint that goes too far between two keyframes."""
    max_deg = checked.rules.max_step_deg
    warning_deg = min(checked.rules.large_step_deg, max_deg)
    for segment in checked.segments:
        with np.errstate(invalid="ignore"):
            steps_deg = np.nan_to_num(np.abs(segment.end - segment.begin), nan=0.0, posinf=np.inf)
        middle_s = segment.begins_s + segment.reach_s / 2.0
        for joint, step_deg in zip(checked.motion.joints, steps_deg.tolist(), strict=True):
            if step_deg <= warning_deg + ROUNDING_DEG:
                continue
            if step_deg > max_deg + ROUNDING_DEG:
                level = Level.ERROR
                limit_deg = max_deg
                reason = f"the maximum is {max_deg:g} deg"
            else:
                level = Level.WARNING
                limit_deg = warning_deg
                reason = f"more than {warning_deg:g} deg is large"
            keyframe = keyframe_name(segment.keyframe_number)
            message = f"{keyframe}: {joint} goes {step_deg:.1f} deg in one step, {reason}"
            yield Finding(
                level,
                "step",
                message,
                keyframe=segment.keyframe_number,
                joint=joint,
                value=step_deg,
                limit=limit_deg,
                unit="deg",
                times_s=(middle_s,),
            )


def check_duration(checked: CheckedMotion) -> Iterator[Finding]:
    """Yield an error if the motion is too long and neither loops nor celebrates."""
    duration = checked.motion.duration
    limit = checked.rules.max_duration_s
    if duration > limit + 1e-9 and not (checked.motion.loops or checked.is_celebration):
        message = f"it lasts {duration:.2f} s, the maximum is {limit:g} s unless it celebrates"
        yield Finding(Level.ERROR, "duration", message, value=duration, limit=limit, unit="s")


def check_ends(checked: CheckedMotion) -> Iterator[Finding]:
    """Yield an error for every joint far from the known poses at the beginning or the end.

    A loop has no end, and a page that names its successor is not the end of its chain: of these only the
    beginning is checked.
    """
    first_number = 1 if checked.motion.start is None else 0  # 0 is the start pose
    keyframe_numbers = [first_number]
    if not checked.motion.loops and checked.motion.next is None:
        keyframe_numbers.append(len(checked.motion.keyframes))
    for number in dict.fromkeys(keyframe_numbers):
        yield from _pose_findings(checked, number)


def _pose_findings(checked: CheckedMotion, keyframe_number: int) -> Iterator[Finding]:
    """Yield a finding for each joint far from the required pose, or a single one if they are many.

    Of several required poses, the nearest one counts.

    Args:
        checked: the motion on its robot.
        keyframe_number: number of the keyframe, from 1; 0 for the start pose.
    """
    angles_deg = np.rad2deg(checked.poses[keyframe_number].angles)
    distances_by_pose = {}  # of each joint from the robot's poses [deg]
    for name in checked.robot.poses:
        pose_deg = np.rad2deg(checked.robot.pose(name)[checked.columns])
        distances_by_pose[name] = np.nan_to_num(np.abs(angles_deg - pose_deg), nan=0.0, posinf=np.inf)
    if not distances_by_pose:
        return
    max_distances = {name: float(distances.max()) for name, distances in distances_by_pose.items()}
    nearest_pose = min(max_distances, key=max_distances.__getitem__)
    required_pose = min(checked.near_poses or max_distances, key=max_distances.__getitem__)
    limit = checked.rules.near_pose_deg
    times_s = (checked.arrival_s(keyframe_number),)
    findings = []
    distances_deg = distances_by_pose[required_pose].tolist()
    for joint, value in zip(checked.motion.joints, distances_deg, strict=True):
        if value > limit:
            message = (
                f"{keyframe_name(keyframe_number)}: {joint} is {value:.1f} deg from pose {required_pose}, "
                f"near is {limit:g} deg"
            )
            findings.append(
                Finding(
                    Level.ERROR,
                    "pose",
                    message,
                    keyframe=keyframe_number,
                    joint=joint,
                    value=value,
                    limit=limit,
                    unit="deg",
                    times_s=times_s,
                )
            )
    if len(findings) >= MIN_REPEATS:
        worst = max(findings, key=lambda finding: finding.excess)
        summary = f"; {len(findings) - 1} more joints are not near either"
        findings = [replace(worst, message=worst.message + summary)]
    alternative = f"; it is near pose {nearest_pose}" if max_distances[nearest_pose] <= limit else ""
    for finding in findings:
        yield replace(finding, message=finding.message + alternative)


class _PictureSpan(NamedTuple):
    """Successive pictures of the camera: the index of the first, and of the one after the last."""

    first: int
    end: int


@dataclass(frozen=True)
class _FastestTurn:
    """The fastest turn of any camera joint.

    Attributes:
        speed: its speed [deg/s], infinite for a jump.
        joint: the joint that turns.
        keyframe_number: the number of the keyframe that the joint is on the way to.
        time_s: when [s].
    """

    speed: float
    joint: str
    keyframe_number: int
    time_s: float


def check_camera(checked: CheckedMotion) -> Iterator[Finding]:
    """Yield a warning if the camera loses more pictures than allowed.

    A picture is lost if a joint that moves the camera turns faster than the threshold at any time while it is
    taken. Picture k is taken from k / rate to (k + 1) / rate seconds after the motion begins.
    """
    rules = checked.rules
    camera_columns = [
        checked.motion.joints.index(joint) for joint in rules.camera_joints if joint in checked.motion.joints
    ]
    lost_spans = _lost_picture_spans(checked, camera_columns)
    n_lost = sum(span.end - span.first for span in lost_spans)
    if n_lost <= rules.camera_lost_frames:
        return
    n_pictures = _count_pictures(checked)
    turns = [_fastest_turn(checked, segment, camera_columns) for segment in checked.segments]
    fastest = max(turns, key=lambda turn: turn.speed)
    movement = "jumps" if math.isinf(fastest.speed) else f"turns {fastest.speed:.0f} deg/s"
    message = (
        f"the camera loses {n_lost} of {n_pictures} pictures ({n_lost / n_pictures:.0%}), "
        f"at {_list_span_times(checked, lost_spans)}: "
        f"{fastest.joint} {movement} {segment_name(fastest.keyframe_number)}, "
        f"pictures blur above {rules.camera_speed_deg_s:g} deg/s"
    )
    middles_s = [(span.first + span.end) / 2.0 / rules.camera_rate_hz for span in lost_spans]
    yield Finding(
        Level.WARNING,
        "camera",
        message,
        keyframe=fastest.keyframe_number,
        joint=fastest.joint,
        value=float(n_lost),
        limit=float(rules.camera_lost_frames),
        unit="frames",
        times_s=(fastest.time_s, *middles_s),
    )


def _list_span_times(checked: CheckedMotion, spans: Sequence[_PictureSpan]) -> str:
    """Return the times of the first spans as text, such as `0.10-0.25 s`, and how many more there are."""
    rate_hz = checked.rules.camera_rate_hz
    listed = []
    for span in spans[:MAX_LISTED_SPANS]:
        end_s = min(span.end / rate_hz, checked.motion.duration)
        listed.append(f"{span.first / rate_hz:.2f}-{end_s:.2f}")
    n_unlisted = len(spans) - MAX_LISTED_SPANS
    unlisted = f" and {n_unlisted} times more" if n_unlisted > 0 else ""
    return f"{', '.join(listed)} s{unlisted}"


def _count_pictures(checked: CheckedMotion) -> int:
    """Return how many pictures begin during the motion and a loop's segment back to its beginning."""
    segment_ends_s = [segment.begins_s + segment.reach_s for segment in checked.segments]
    end_s = max(checked.motion.duration, *segment_ends_s)
    return max(math.ceil(end_s * checked.rules.camera_rate_hz - ROUNDING), 1)


def _lost_picture_spans(checked: CheckedMotion, columns: Sequence[int]) -> list[_PictureSpan]:
    """Return the spans of lost pictures; those that touch are merged.

    Args:
        checked: the motion on its robot.
        columns: the columns of the joints that move the camera.
    """
    rate = checked.rules.camera_rate_hz
    max_speed = checked.rules.camera_speed_deg_s * (1.0 + ROUNDING)
    last_picture = _count_pictures(checked) - 1
    spans: list[_PictureSpan] = []
    for segment in checked.segments:
        # speeds are those between two points of the segment's curve
        is_fast = np.any(segment.speeds[:, columns] > max_speed, axis=1)
        for point in np.flatnonzero(is_fast).tolist():
            first = min(math.floor(segment.time_s(point) * rate + ROUNDING), last_picture)
            end = max(math.ceil(segment.time_s(point + 1) * rate - ROUNDING), first + 1)
            touches_previous = bool(spans) and first <= spans[-1].end
            if touches_previous:
                previous = spans.pop()
                first = previous.first
                end = max(end, previous.end)
            spans.append(_PictureSpan(first, end))
    return spans


def _fastest_turn(checked: CheckedMotion, segment: Segment, columns: Sequence[int]) -> _FastestTurn:
    """Return the fastest turn in a segment of any joint in the given columns."""
    column = columns[int(segment.greatest_speeds[columns].argmax())]
    speed = float(segment.greatest_speeds[column])
    return _FastestTurn(
        speed, checked.motion.joints[column], segment.keyframe_number, time_s=segment.fastest_s(column)
    )


RULES: Mapping[str, Callable[[CheckedMotion], Iterator[Finding]]] = MappingProxyType(
    {
        "finite": check_finite,
        "limit": check_limits,
        "coupled": check_coupled_limits,
        "speed": check_speeds,
        "step": check_steps,
        "pose": check_ends,
        "duration": check_duration,
        "camera": check_camera,
        "free": check_returns_from_free,
    }
)


def check_design_rules(
    motion: Motion,
    robot: Robot | str | None = None,
    *,
    near_pose: str | None = None,
    celebration: bool = False,
    rules: str | Path | DesignRules = HARDWARE,
) -> tuple[Finding, ...]:
    """Return the findings of the design rules, errors first, then in the order of keyframes.

    Links of the robot that would collide are not found here: `posewright.check_motion` finds both.

    What a joint does at many keyframes is one finding, the worst, that lists them all.

    Args:
        motion: what to check.
        robot: the robot whose limits, servos and named poses count, or the name; default the motion's own.
        near_pose: name of the pose it must begin and end near, `nearest` for whichever of the robot's is,
            whether or not the rules require one; default one of those that the rules name.
        celebration: the motion may last longer.
        rules: a set's name, a file, or the rules themselves; default what the robot can do.

    Raises:
        UnknownNameError: the robot has no such pose, or there are no such rules.
        InputError: the motion moves a joint that the robot does not have, or `celebration` lifts no rule.
    """
    robot = robot_of_motion(motion, robot)
    thresholds = rules if isinstance(rules, DesignRules) else design_rules(rules, robot)
    selected_rules = set(thresholds.checks)
    poses = thresholds.near_pose
    if near_pose is not None:
        selected_rules.add("pose")
        poses = () if near_pose == NEAREST else (near_pose,)
    if celebration and "duration" not in selected_rules:
        team_rules = ", ".join(name for name in rule_names() if name != HARDWARE)
        raise InputError(
            "these rules do not limit the duration of a motion",
            hint=f"a team's rules may: {team_rules}",
        )
    unknown_joints = [joint for joint in motion.joints if joint not in robot.joint_names]
    if unknown_joints:
        raise InputError(
            f"motion {motion.name!r} moves {unknown_joints[0]}, which {robot.name} does not have",
            hint=f"it is made for {motion.robot}",
        )
    for name in poses:
        if name not in robot.poses:
            raise UnknownNameError.among("pose", name, robot.poses)
    checked = CheckedMotion(motion, robot, rules=thresholds, near_poses=poses, is_celebration=celebration)
    rules_to_check = [rule for name, rule in RULES.items() if name in selected_rules]
    findings = merge_repeated(finding for rule in rules_to_check for finding in rule(checked))
    severities = list(Level)  # errors first
    return tuple(
        sorted(findings, key=lambda finding: (severities.index(finding.level), finding.keyframe or 0))
    )
