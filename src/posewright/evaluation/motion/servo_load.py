"""What the servos bear: joints behind their commands, asked for too much speed, out of torque."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from posewright.evaluation.motion.played import PlayedMotion
from posewright.evaluation.thresholds import PhysicsRules
from posewright.motions import Finding, Level
from posewright.recordings.falls import runs


@dataclass(frozen=True, slots=True)
class Lag:
    """How far a joint is behind its command over the motion, worst in `frame`.

    `asked_deg_s` is how fast its command changed at most in the quarter of a second before that.
    """

    joint: str
    max_deg: float
    rms_deg: float
    frame: int
    asked_deg_s: float


@dataclass(frozen=True, slots=True)
class Saturation:
    """How long a servo gives all its torque: share of the motion's time, in all, and without a break.

    The longest goes from frame `begin` to before `end`.
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


def _driven(played: PlayedMotion) -> list[tuple[int, str]]:
    """Return column and name of each joint that goes where it is told; one that only snaps is never late."""
    return [(column, joint.name) for column, joint in enumerate(played.robot.joints) if not joint.two_state]


def lags(played: PlayedMotion) -> list[Lag]:
    """Return of each joint how far it is behind, from the motion's beginning to the end of the hold."""
    behind = np.abs(played.lag[played.begin :])
    rms = np.sqrt(np.square(played.lag[played.moving]).mean(axis=0))
    worst = played.begin + behind.argmax(axis=0)
    before = round(BEFORE_S / played.frame_s)
    found = []
    for column, joint in _driven(played):
        frame = int(worst[column])
        max_deg, rms_deg = float(behind[:, column].max()), float(rms[column])
        asked = played.asked_speeds[max(played.begin, frame - before) : frame + 1, column].max()
        found.append(Lag(joint, max_deg, rms_deg, frame, math.degrees(asked)))
    return found


def saturations(played: PlayedMotion, rules: PhysicsRules) -> list[Saturation]:
    """Return of each joint that ever gives all its torque how long it does."""
    full = played.effort(rules.torque_share)
    full[: played.begin] = False
    found = []
    for column, joint in _driven(played):
        stretches = runs(full[:, column], bridge=1)
        if not stretches:
            continue
        begin, end = max(stretches, key=lambda stretch: stretch[1] - stretch[0])
        found.append(
            Saturation(
                joint=joint,
                share=float(full[played.moving, column].mean()),
                total_s=int(full[:, column].sum()) * played.frame_s,
                longest_s=(end - begin) * played.frame_s,
                begin=begin,
                end=end,
            )
        )
    return found


def servo_load(played: PlayedMotion, rules: PhysicsRules) -> Iterator[Finding]:
    """Yield what there is to say about the servos; of a joint asked for too much speed only that."""
    late = sorted((lag for lag in lags(played) if lag.max_deg > rules.lag_deg), key=lambda lag: -lag.max_deg)
    fast = [lag for lag in late if lag.asked_deg_s > rules.speed_share * _top_deg_s(played, lag.joint)]
    names = {lag.joint for lag in fast}
    yield from _gathered([_too_fast(played, lag) for lag in fast])
    yield from _gathered([_late(played, rules, lag) for lag in late if lag.joint not in names])
    full = sorted(saturations(played, rules), key=lambda stretch: -stretch.longest_s)
    yield from _gathered(
        [_saturated(played, rules, f) for f in full if f.joint not in names and _is_long(f, rules)]
    )


def _gathered(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings of one rule; of many the first, which names the others."""
    if len(findings) < AGAIN:
        yield from findings
        return
    worst, *others = findings
    joints = ", ".join(finding.joint for finding in others if finding.joint)
    yield replace(worst, message=f"{worst.message}; less so {joints}")


def _top_deg_s(played: PlayedMotion, joint: str) -> float:
    return math.degrees(played.robot.servo(joint).no_load_speed_rad_s)


def _is_long(stretch: Saturation, rules: PhysicsRules) -> bool:
    is_often = stretch.share > rules.saturated_share and stretch.total_s > rules.saturated_s
    return stretch.longest_s > rules.saturated_s or is_often


def _too_fast(played: PlayedMotion, lag: Lag) -> Finding:
    top = _top_deg_s(played, lag.joint)
    message = (
        f"{lag.joint} is asked for {lag.asked_deg_s:.0f} deg/s but its servo turns {top:.0f} without load, "
        f"so it is {lag.max_deg:.0f} deg behind {played.when(lag.frame)}"
    )
    measured = (lag.asked_deg_s, top, "deg/s")
    return played.finding((Level.WARNING, "speed"), message, lag.frame, measured, lag.joint)


def _late(played: PlayedMotion, rules: PhysicsRules, lag: Lag) -> Finding:
    message = (
        f"{lag.joint} is {lag.max_deg:.0f} deg behind its command {played.when(lag.frame)}, "
        f"{lag.rms_deg:.1f} deg on the whole: its servo is too weak for what it has to move"
    )
    measured = (lag.max_deg, rules.lag_deg, "deg")
    return played.finding((Level.WARNING, "lag"), message, lag.frame, measured, lag.joint)


def _saturated(played: PlayedMotion, rules: PhysicsRules, stretch: Saturation) -> Finding:
    message = (
        f"the servo of {stretch.joint} gives all its torque for {stretch.longest_s:.2f} s from "
        f"{played.when(stretch.begin).removeprefix('at ')} on, and {stretch.share:.0%} of the motion's time"
    )
    measured = (stretch.longest_s, rules.saturated_s, "s")
    return played.finding((Level.WARNING, "saturated"), message, stretch.begin, measured, stretch.joint)
