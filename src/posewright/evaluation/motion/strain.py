"""What the servos bear: joints behind their commands, asked for too much speed, out of torque."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from posewright.evaluation.motion.course import Course
from posewright.evaluation.motion.thresholds import PhysicsRules
from posewright.evaluation.runs import unbroken
from posewright.motions import Finding, Level


@dataclass(frozen=True, slots=True)
class Lag:
    """How far a joint is behind its command.

    Attributes:
        joint: which.
        max_deg: at most [deg].
        rms_deg: root of the mean square over the motion [deg].
        frame: when it was worst.
        asked_deg_s: fastest the command changed in the quarter of a second before that [deg/s].
    """

    joint: str
    max_deg: float
    rms_deg: float
    frame: int
    asked_deg_s: float


@dataclass(frozen=True, slots=True)
class Saturation:
    """How long a servo gives all its torque.

    Attributes:
        joint: its joint.
        share: of the motion's time, 0..1.
        total_s: in all [s].
        longest_s: longest without a break [s].
        begin: the frame the longest began in.
        end: the frame after it.
    """

    joint: str
    share: float
    total_s: float
    longest_s: float
    begin: int
    end: int


BEFORE_S = 0.25
"""So long before it is farthest behind, a joint was asked for what it could not do [s]."""

AGAIN = 3
"""From so many joints on, one finding speaks for them all."""


def _driven(course: Course) -> list[tuple[int, str]]:
    """Return column and name of each joint that goes where it is told; one that only snaps is never late."""
    return [(column, joint.name) for column, joint in enumerate(course.robot.joints) if not joint.two_state]


def lags(course: Course) -> list[Lag]:
    """Return of each joint how far it is behind, from the motion's beginning to the end of the hold."""
    behind = np.abs(course.lag[course.begin :])
    rms = np.sqrt(np.square(course.lag[course.moving]).mean(axis=0))
    worst = course.begin + behind.argmax(axis=0)
    before = round(BEFORE_S / course.frame_s)
    found = []
    for column, joint in _driven(course):
        frame = int(worst[column])
        asked = course.asked_speeds[max(course.begin, frame - before) : frame + 1, column].max()
        found.append(
            Lag(
                joint=joint,
                max_deg=float(behind[:, column].max()),
                rms_deg=float(rms[column]),
                frame=frame,
                asked_deg_s=math.degrees(asked),
            )
        )
    return found


def saturations(course: Course, rules: PhysicsRules) -> list[Saturation]:
    """Return of each joint that ever gives all its torque how long it does."""
    full = course.effort(rules.torque_share)
    full[: course.begin] = False
    found = []
    for column, joint in _driven(course):
        stretches = unbroken(full[:, column], bridge=1)
        if not stretches:
            continue
        begin, end = max(stretches, key=lambda stretch: stretch[1] - stretch[0])
        found.append(
            Saturation(
                joint=joint,
                share=float(full[course.moving, column].mean()),
                total_s=int(full[:, column].sum()) * course.frame_s,
                longest_s=(end - begin) * course.frame_s,
                begin=begin,
                end=end,
            )
        )
    return found


def strain(course: Course, rules: PhysicsRules) -> Iterator[Finding]:
    """Yield what there is to say about the servos; of a joint asked for too much speed only that."""
    late = sorted((lag for lag in lags(course) if lag.max_deg > rules.lag_deg), key=lambda lag: -lag.max_deg)
    fast = [lag for lag in late if lag.asked_deg_s > rules.speed_share * _top_deg_s(course, lag.joint)]
    names = {lag.joint for lag in fast}
    yield from _gathered([_too_fast(course, lag) for lag in fast])
    yield from _gathered([_late(course, rules, lag) for lag in late if lag.joint not in names])
    full = sorted(saturations(course, rules), key=lambda stretch: -stretch.longest_s)
    yield from _gathered(
        [_saturated(course, rules, f) for f in full if f.joint not in names and _is_long(f, rules)]
    )


def _gathered(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings of one rule; of many the first, which names the others."""
    if len(findings) < AGAIN:
        yield from findings
        return
    worst, *others = findings
    joints = ", ".join(finding.joint for finding in others if finding.joint)
    yield replace(worst, message=f"{worst.message}; less so {joints}")


def _top_deg_s(course: Course, joint: str) -> float:
    return math.degrees(course.robot.servo(joint).no_load_speed_rad_s)


def _is_long(stretch: Saturation, rules: PhysicsRules) -> bool:
    is_often = stretch.share > rules.saturated_share and stretch.total_s > rules.saturated_s
    return stretch.longest_s > rules.saturated_s or is_often


def _too_fast(course: Course, lag: Lag) -> Finding:
    top = _top_deg_s(course, lag.joint)
    message = (
        f"{lag.joint} is asked for {lag.asked_deg_s:.0f} deg/s but its servo turns {top:.0f} without load, "
        f"so it is {lag.max_deg:.0f} deg behind {course.when(lag.frame)}"
    )
    found = Finding(Level.WARNING, "speed", message, value=lag.asked_deg_s, limit=top, unit="deg/s")
    return _at(course, found, lag.joint, lag.frame)


def _late(course: Course, rules: PhysicsRules, lag: Lag) -> Finding:
    message = (
        f"{lag.joint} is {lag.max_deg:.0f} deg behind its command {course.when(lag.frame)}, "
        f"{lag.rms_deg:.1f} deg on the whole: its servo is too weak for what it has to move"
    )
    found = Finding(Level.WARNING, "lag", message, value=lag.max_deg, limit=rules.lag_deg, unit="deg")
    return _at(course, found, lag.joint, lag.frame)


def _saturated(course: Course, rules: PhysicsRules, stretch: Saturation) -> Finding:
    message = (
        f"the servo of {stretch.joint} gives all its torque for {stretch.longest_s:.2f} s from "
        f"{course.when(stretch.begin).removeprefix('at ')} on, and {stretch.share:.0%} of the motion's time"
    )
    value, limit = stretch.longest_s, rules.saturated_s
    found = Finding(Level.WARNING, "saturated", message, value=value, limit=limit, unit="s")
    return _at(course, found, stretch.joint, stretch.begin)


def _at(course: Course, found: Finding, joint: str, frame: int) -> Finding:
    """Return a finding with the joint it is of and the moment it was worst."""
    return replace(
        found, joint=joint, keyframe=int(course.keyframes[frame]), times_s=(float(course.times[frame]),)
    )
