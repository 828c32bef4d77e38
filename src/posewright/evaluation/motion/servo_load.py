"""Loads of the servos: joints that lag behind their commands, and servos at full torque, with findings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from posewright.evaluation.motion.played_motion import Measurement, PlayedMotion
from posewright.evaluation.thresholds import PhysicsRules
from posewright.motions import Finding, Level
from posewright.recordings.falls import longest_interval, true_intervals

COMMAND_WINDOW_S = 0.25
"""The commands that can cause a lag are at most this long before it [s]."""

MIN_MERGED = 3
"""From this number on, findings of one rule are merged into one."""


@dataclass(frozen=True, slots=True)
class JointLag:
    """The difference between a joint and its command, from the motion's begin to the end of the recording.

    Attributes:
        joint: its name.
        max_deg: greatest lag [deg].
        rms_deg: root mean square during the motion [deg].
        worst_frame: the frame of the greatest lag.
        commanded_deg_s: greatest speed of the commands in the `COMMAND_WINDOW_S` before that frame [deg/s].
    """

    joint: str
    max_deg: float
    rms_deg: float
    worst_frame: int
    commanded_deg_s: float


@dataclass(frozen=True, slots=True)
class Saturation:
    """The time for which a servo gives its full torque.

    Attributes:
        joint: its name.
        share: the share of the motion's time.
        total_s: in all [s].
        longest_s: without a break [s].
        first_frame: first frame of that longest time.
        end_frame: the frame after its last.
    """

    joint: str
    share: float
    total_s: float
    longest_s: float
    first_frame: int
    end_frame: int


def _servo_joints(played: PlayedMotion) -> list[tuple[int, str]]:
    """Return column and name of each joint with a servo; two-state joints follow no trajectory."""
    return [(column, joint.name) for column, joint in enumerate(played.robot.joints) if not joint.two_state]


def joint_lags(played: PlayedMotion) -> list[JointLag]:
    """Return how far each joint with a servo lags behind its commands, and how fast it is commanded then."""
    lag_deg = np.abs(played.lag_deg[played.first_frame :])
    rms_deg = np.sqrt(np.square(played.lag_deg[played.is_moving]).mean(axis=0))
    worst_frames = played.first_frame + lag_deg.argmax(axis=0)
    window_frames = round(COMMAND_WINDOW_S / played.frame_s)
    lags = []
    for column, joint in _servo_joints(played):
        worst_frame = int(worst_frames[column])
        # the command that caused the lag may be a little older than it
        window_begin = max(played.first_frame, worst_frame - window_frames)
        commanded_rad_s = played.commanded_speeds[window_begin : worst_frame + 1, column].max()
        lags.append(
            JointLag(
                joint=joint,
                max_deg=float(lag_deg[:, column].max()),
                rms_deg=float(rms_deg[column]),
                worst_frame=worst_frame,
                commanded_deg_s=math.degrees(commanded_rad_s),
            )
        )
    return lags


def saturations(played: PlayedMotion, rules: PhysicsRules) -> list[Saturation]:
    """Return the saturation of each servo that ever gives its full torque during the motion."""
    is_full = played.has_torque_share(rules.full_torque_share)
    is_full[: played.first_frame] = False
    saturations_of_joints = []
    for column, joint in _servo_joints(played):
        intervals = true_intervals(is_full[:, column], max_gap=1)
        if not intervals:
            continue
        begin, end = longest_interval(intervals)
        saturations_of_joints.append(
            Saturation(
                joint=joint,
                share=float(is_full[played.is_moving, column].mean()),
                total_s=int(is_full[:, column].sum()) * played.frame_s,
                longest_s=(end - begin) * played.frame_s,
                first_frame=begin,
                end_frame=end,
            )
        )
    return saturations_of_joints


def servo_load(played: PlayedMotion, rules: PhysicsRules) -> Iterator[Finding]:
    """Yield findings about servos that do not keep up with the motion.

    A joint is commanded faster than its servo turns, or lags behind its commands for another reason, or gives
    its full torque for too long (it is saturated). One that is commanded too fast has no further findings.
    Several findings of one kind are merged into one.

    Args:
        played: the motion.
        rules: the limits of lag, speed and saturation.
    """
    speed_findings: list[Finding] = []
    lag_findings: list[Finding] = []
    too_fast_joints = set()
    for lag in sorted(joint_lags(played), key=lambda lag: -lag.max_deg):
        if lag.max_deg <= rules.max_lag_deg:
            continue
        no_load_deg_s = math.degrees(played.robot.servo(lag.joint).no_load_speed_rad_s)
        is_commanded_too_fast = lag.commanded_deg_s > rules.max_speed_share * no_load_deg_s
        if is_commanded_too_fast:
            too_fast_joints.add(lag.joint)
            speed_findings.append(_speed_finding(played, lag, no_load_deg_s))
        else:
            lag_findings.append(_lag_finding(played, rules, lag))
    longest_first = sorted(saturations(played, rules), key=lambda saturation: -saturation.longest_s)
    saturation_findings = [
        _saturation_finding(played, rules, saturation)
        for saturation in longest_first
        if saturation.joint not in too_fast_joints and _is_saturated_too_long(saturation, rules)
    ]
    yield from _merge_if_many(speed_findings)
    yield from _merge_if_many(lag_findings)
    yield from _merge_if_many(saturation_findings)


def _merge_if_many(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings of one rule, or if there are many the first, with the names of the other joints."""
    if len(findings) < MIN_MERGED:
        yield from findings
        return
    worst = findings[0]
    other_joints = ", ".join(finding.joint for finding in findings[1:] if finding.joint)
    yield replace(worst, message=f"{worst.message}; less so {other_joints}")


def _is_saturated_too_long(saturation: Saturation, rules: PhysicsRules) -> bool:
    """Return whether a servo gives its full torque for too long at once, or too often."""
    if saturation.longest_s > rules.max_saturated_s:
        return True
    return saturation.share > rules.max_saturated_share and saturation.total_s > rules.max_saturated_s


def _speed_finding(played: PlayedMotion, lag: JointLag, no_load_deg_s: float) -> Finding:
    """Return a finding about a joint that is commanded faster than its servo turns."""
    message = (
        f"{lag.joint} is commanded at {lag.commanded_deg_s:.0f} deg/s but its servo turns "
        f"{no_load_deg_s:.0f} without load, so it is {lag.max_deg:.0f} deg behind "
        f"{played.format_time(lag.worst_frame)}"
    )
    measurement = Measurement(lag.commanded_deg_s, no_load_deg_s, "deg/s")
    return played.create_finding(
        Level.WARNING, "speed", message, frame=lag.worst_frame, measurement=measurement, joint=lag.joint
    )


def _lag_finding(played: PlayedMotion, rules: PhysicsRules, lag: JointLag) -> Finding:
    """Return a finding about a joint that lags because of its load."""
    message = (
        f"{lag.joint} is {lag.max_deg:.0f} deg behind its command {played.format_time(lag.worst_frame)}, "
        f"{lag.rms_deg:.1f} deg on average: its servo is too weak for the mass it moves"
    )
    measurement = Measurement(lag.max_deg, rules.max_lag_deg, "deg")
    return played.create_finding(
        Level.WARNING, "lag", message, frame=lag.worst_frame, measurement=measurement, joint=lag.joint
    )


def _saturation_finding(played: PlayedMotion, rules: PhysicsRules, saturation: Saturation) -> Finding:
    """Return a finding about a servo at full torque."""
    begin_text = played.format_time(saturation.first_frame).removeprefix("at ")
    message = (
        f"the servo of {saturation.joint} gives its full torque for {saturation.longest_s:.2f} s from "
        f"{begin_text} on, and for {saturation.share:.0%} of the motion's time"
    )
    measurement = Measurement(saturation.longest_s, rules.max_saturated_s, "s")
    return played.create_finding(
        Level.WARNING,
        "saturated",
        message,
        frame=saturation.first_frame,
        measurement=measurement,
        joint=saturation.joint,
    )
