"""Design rules about what the robot can do: finite angles, joint limits (single and coupled), and speed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posewright.arrays import Floats
from posewright.motions.checked_motion import (
    CheckedMotion,
    Finding,
    Level,
    Segment,
    keyframe_name,
    segment_name,
)
from posewright.motions.motion import STAND

ROUNDING = 1e-9
"""Relative tolerance for rounding of a speed."""

FRAME_ROUNDING_DEG = 0.005
"""Half of the last digit in which speeds are given where they are given in degrees a frame: a motion made to
go as fast as allowed is written with whole milliseconds, and so a little faster."""


def check_finite(checked: CheckedMotion) -> Iterator[Finding]:
    """Yield an error for every infinite angle."""
    for number, pose in enumerate(checked.poses):
        for joint, angle in zip(pose.joints, pose.angles, strict=True):
            if np.isinf(angle):
                message = f"{keyframe_name(number)}: {joint} is infinite"
                times_s = (checked.arrival_s(number),)
                yield Finding(
                    Level.ERROR,
                    "finite",
                    message,
                    keyframe=number,
                    joint=joint,
                    value=float(angle),
                    times_s=times_s,
                )


def check_limits(checked: CheckedMotion) -> Iterator[Finding]:
    """Yield a finding for every joint beyond its limits, at keyframes or between them.

    To leave the software limit is a warning, to leave the mechanical one an error: Sony's own motions for the
    ERS-7 bend knees to 125 deg where its software limit is 122 and the mechanical one 127.
    """
    if checked.motion.start is not None:
        yield from _limit_findings(checked, checked.start_segment)
    for segment in checked.segments:
        yield from _limit_findings(checked, segment)


def _limit_findings(checked: CheckedMotion, segment: Segment) -> Iterator[Finding]:
    """Yield a finding for each joint that leaves its range within a segment.

    A segment that is beyond the range only at its beginning is reported with the keyframe before.
    """
    lower, upper = checked.limits
    excess = np.nan_to_num(np.fmax(lower - segment.points, segment.points - upper), nan=-1.0)
    slack = checked.rules.slack_deg
    last_point = len(segment.points) - 1
    # the keyframe itself is reported, even if the joint is farther out on the way to it
    reported_points = np.where(excess[last_point] > slack, last_point, excess.argmax(axis=0))
    for column, point in enumerate(reported_points.tolist()):
        is_start_pose = last_point == 0
        if excess[point, column] > slack and (point > 0 or is_start_pose):
            yield _limit_finding(checked, segment, column, point)


def _limit_finding(checked: CheckedMotion, segment: Segment, column: int, point: int) -> Finding:
    """Return the finding that a joint is commanded beyond its limit at a point of a segment.

    Beyond the software limit but within the mechanical one it is a warning.
    """
    value = float(segment.points[point, column])
    joint = checked.motion.joints[column]
    lower, upper = checked.limits
    hardware_lower, hardware_upper = checked.hardware_limits
    is_below = value < lower[column]
    soft_limit = float((lower if is_below else upper)[column])
    hard_limit = float((hardware_lower if is_below else hardware_upper)[column])
    slack = checked.rules.slack_deg
    margin = abs(hard_limit - soft_limit)
    if margin > slack and abs(value - soft_limit) <= margin + slack:
        level = Level.WARNING
        limit = soft_limit
        reason = (
            f"beyond its limit of {soft_limit:.2f} deg, though not its mechanical one of {hard_limit:.2f} deg"
        )
    else:
        level = Level.ERROR
        limit = hard_limit
        limit_name = "limit" if hard_limit == soft_limit else "mechanical limit"
        reason = f"its {limit_name} is {hard_limit:.2f} deg"
    message = f"{segment.point_name(point)}: {joint} is commanded to {value:.2f} deg, {reason}"
    times_s = (segment.time_s(point),)
    return Finding(
        level,
        "limit",
        message,
        keyframe=segment.keyframe_number,
        joint=joint,
        value=value,
        limit=limit,
        unit="deg",
        times_s=times_s,
    )


def check_speeds(checked: CheckedMotion) -> Iterator[Finding]:
    """Yield a finding for every joint that is to turn faster than its servo can.

    A joint that is too fast over the whole segment arrives late, an error; one that is too fast only at its
    fastest point lags there and catches up, a warning: most of ROBOTIS' own pages do. Where the card says
    that servos do more than its speeds, as Sony's own motions need, only to fall far behind is an error.
    """
    allowed = checked.max_speeds * (1.0 + ROUNDING)
    if checked.rules.speed_per_frame:  # limits in degrees a frame are rounded
        allowed = allowed + FRAME_ROUNDING_DEG / checked.robot.frame_period_s
    for segment, lags in zip(checked.segments, checked.lags_deg, strict=True):
        for column in np.flatnonzero(segment.greatest_speeds > allowed).tolist():
            is_late = bool(segment.mean_speeds[column] > allowed[column])
            yield _speed_finding(checked, segment, column, lag_deg=float(lags[column]), is_late=is_late)


def _speed_finding(
    checked: CheckedMotion, segment: Segment, column: int, lag_deg: float, *, is_late: bool
) -> Finding:
    """Return the finding for a joint that is too fast.

    Args:
        checked: the motion on its robot.
        segment: the segment in which the joint is too fast.
        column: the column of the joint.
        lag_deg: how far the joint is behind at the end of the segment.
        is_late: whether the joint is too fast on the mean of the segment, not only at its fastest point.
    """
    joint = checked.motion.joints[column]
    limit = float(checked.max_speeds[column])
    fastest = float(segment.greatest_speeds[column])
    speed = float(segment.mean_speeds[column]) if is_late else fastest
    if math.isinf(fastest):
        command = "to jump"
    elif is_late:
        command = f"to turn {speed:.0f} deg/s all the way"
    else:
        command = f"to turn {speed:.0f} deg/s at its fastest"
    bound = f", its servo turns {limit:.0f} deg/s without load"
    if checked.rules.speed_per_frame:
        period = checked.robot.frame_period_s
        if not math.isinf(fastest):
            command += f", {speed * period:.2f} deg a frame of {period * 1e3:g} ms"
        bound = f"; the maximum is {limit:.0f} deg/s, {limit * period:.2f} deg a frame"
    margin = checked.rules.speed_margin_deg
    if 0.0 < margin < lag_deg < math.inf:
        bound += f"; it falls {lag_deg:.0f} deg behind"
    is_error = is_late and (margin == 0.0 or lag_deg > margin)
    level = Level.ERROR if is_error else Level.WARNING
    message = f"{segment_name(segment.keyframe_number)}: {joint} is commanded {command}{bound}"
    times_s = (segment.fastest_s(column),)
    return Finding(
        level,
        "speed",
        message,
        keyframe=segment.keyframe_number,
        joint=joint,
        value=fastest,
        limit=limit,
        unit="deg/s",
        times_s=times_s,
    )


def check_returns_from_free(checked: CheckedMotion) -> Iterator[Finding]:
    """Yield a warning for every joint that was free and is commanded again: it starts from anywhere."""
    for number, pose in enumerate(checked.poses[1:], 1):
        for joint in sorted(checked.poses[number - 1].free - pose.free):
            message = f"{keyframe_name(number)}: {joint} was free before; it starts from wherever it hangs"
            times_s = (checked.arrival_s(number),)
            yield Finding(Level.WARNING, "free", message, keyframe=number, joint=joint, times_s=times_s)


def check_coupled_limits(checked: CheckedMotion) -> Iterator[Finding]:
    """Yield a finding for every joint beyond a limit that depends on other joints.

    A joint the motion does not move is taken to be where it is in the robot's pose `stand`, as writers of
    files for the whole body put it there. No finding is about such a joint, nor about a table that only
    repeats a joint's own limit.
    """
    if not checked.robot.coupled_limits:
        return
    if checked.motion.start is not None:
        yield from _coupled_findings(checked, checked.start_segment)
    for segment in checked.segments:
        yield from _coupled_findings(checked, segment)


def _coupled_findings(checked: CheckedMotion, segment: Segment) -> Iterator[Finding]:
    """Yield a finding for each table of coupled limits that a segment exceeds, at the worst of its points.

    A segment that exceeds a limit only at its beginning has no finding, since the segment before it has one.

    Args:
        checked: the motion on its robot.
        segment: the segment, whose points are samples of its curve.
    """
    robot = checked.robot
    n_points = len(segment.points)
    standing = robot.pose(STAND) if STAND in robot.poses else np.full(len(robot.joints), np.nan)
    angles = np.tile(standing, (n_points, 1))  # of all joints of the robot [rad]
    angles[:, checked.columns] = np.deg2rad(np.where(np.isfinite(segment.points), segment.points, np.nan))
    lower_deg, upper_deg = _tighter_coupled_limits(checked, angles)
    for table, joint in enumerate(robot.coupling.joints):
        if joint not in checked.motion.joints:
            continue
        joint_deg = np.rad2deg(angles[:, robot.index(joint)])
        excess_deg = np.fmax(lower_deg[table] - joint_deg, joint_deg - upper_deg[table])
        excess_deg = np.nan_to_num(excess_deg, nan=0.0, neginf=0.0)
        worst_point = int(excess_deg.argmax())
        if worst_point == 0:  # the beginning, or nowhere
            worst_point = n_points - 1
        if excess_deg[worst_point] <= checked.rules.coupled_slack_deg:
            continue
        is_below = joint_deg[worst_point] < lower_deg[table][worst_point]
        limit_deg = (lower_deg if is_below else upper_deg)[table][worst_point]
        angles_at_worst = np.rad2deg(angles[worst_point]).tolist()
        yield _coupled_finding(
            checked,
            segment,
            table,
            worst_point,
            limit=float(limit_deg),
            degrees=dict(zip(robot.joint_names, angles_at_worst, strict=True)),
        )


def _tighter_coupled_limits(checked: CheckedMotion, angles: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper limits of each table, (n_tables, n_points) each [deg].

    Where a table is no closer than its joint's own limit, which another rule checks, its limit is infinite.
    """
    joints = [checked.robot.joint(joint) for joint in checked.robot.coupling.joints]
    lower, upper = (np.rad2deg(side.T) for side in checked.robot.coupling.bounds(angles))
    joint_limits = np.rad2deg([(joint.lower_rad, joint.upper_rad) for joint in joints])
    slack = checked.rules.slack_deg
    return (
        np.where(lower > joint_limits[:, :1] + slack, lower, -np.inf),
        np.where(upper < joint_limits[:, 1:] - slack, upper, np.inf),
    )


def _coupled_finding(
    checked: CheckedMotion,
    segment: Segment,
    table: int,
    point: int,
    *,
    limit: float,
    degrees: dict[str, float],
) -> Finding:
    """Return the finding that a joint is commanded beyond a limit that depends on other joints.

    Args:
        checked: the motion on its robot.
        segment: the segment in which it happens.
        table: index of the robot's table of coupled limits.
        point: index of the segment's point where it is worst.
        limit: the limit at this point [deg].
        degrees: the angle of each of the robot's joints at this point [deg].
    """
    rules = checked.rules
    coupling = checked.robot.coupling
    joint = coupling.joints[table]
    value = degrees[joint]
    conditions = []
    for name in coupling.condition_joints[table]:
        source = "" if name in checked.motion.joints else f" as in pose {STAND}"
        conditions.append(f"{name} at {degrees[name]:.1f}{source}")
    is_error = abs(value - limit) > rules.coupled_margin_deg + rules.coupled_slack_deg
    direction = "lower" if value < limit else "higher"
    message = (
        f"{segment.point_name(point)}: {joint} is commanded to {value:.1f} deg, "
        f"with {' and '.join(conditions)} it goes no {direction} than {limit:.1f} deg"
    )
    level = Level.ERROR if is_error else Level.WARNING
    times_s = (segment.time_s(point),)
    return Finding(
        level,
        "coupled",
        message,
        keyframe=segment.keyframe_number,
        joint=joint,
        value=value,
        limit=limit,
        unit="deg",
        times_s=times_s,
    )
