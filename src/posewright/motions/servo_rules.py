"""Design rules about what the robot can do: finite angles, limits of joints, alone and together, speed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posewright.arrays import Floats
from posewright.motions.checked import Checked, Finding, Level, Segment, onto, place
from posewright.motions.motion import STAND

ROUNDING = 1e-9
"""A share of a speed that is no more than rounding."""

FRAME_ROUNDING_DEG = 0.005
"""Half of the last digit in which speeds are given where they are given in degrees a frame: a motion made to
go as fast as allowed is written with whole milliseconds, and so a little faster."""


def finite(checked: Checked) -> Iterator[Finding]:
    """Every angle is a number."""
    for number, pose in enumerate(checked.poses):
        for joint, angle in zip(pose.joints, pose.angles, strict=True):
            if np.isinf(angle):
                message = f"{place(number)}: {joint} is infinite"
                when = (checked.arrival_s(number),)
                yield Finding(Level.ERROR, "finite", message, number, joint, float(angle), times_s=when)


def limits(checked: Checked) -> Iterator[Finding]:
    """No joint is asked beyond its limits, at keyframes or between them.

    What software allows is a warning to leave, what the mechanics allow an error: Sony's own motions for the
    ERS-7 bend knees to 125 deg where its software limit is 122 and the mechanical one 127.
    """
    if checked.motion.start is not None:
        yield from _beyond(checked, checked.standing)
    for way in checked.ways:
        yield from _beyond(checked, way)


def _beyond(checked: Checked, way: Segment) -> Iterator[Finding]:
    """Find the joints that leave their range on a way.

    A way that only begins beyond is not found here: that is the keyframe before.
    """
    lower, upper = checked.limits
    beyond = np.nan_to_num(np.fmax(lower - way.points, way.points - upper), nan=-1.0)
    slack, last = checked.rules.slack_deg, len(way.points) - 1
    worst = np.where(beyond[last] > slack, last, beyond.argmax(axis=0))
    for column, point in enumerate(worst.tolist()):
        if beyond[point, column] > slack and (point > 0 or last == 0):
            yield _beyond_limit(checked, way, column, point)


def _beyond_limit(checked: Checked, way: Segment, column: int, point: int) -> Finding:
    value, joint = float(way.points[point, column]), checked.motion.joints[column]
    side = 0 if value < checked.limits[0][column] else 1
    soft, hard = (float(bounds[side][column]) for bounds in (checked.limits, checked.hardware_limits))
    slack = checked.rules.slack_deg
    within = abs(hard - soft) > slack and abs(value - soft) <= abs(hard - soft) + slack
    if within:
        told = f"beyond its limit of {soft:.2f} deg, though not its mechanical one of {hard:.2f} deg"
    else:
        told = f"its {'limit' if hard == soft else 'mechanical limit'} is {hard:.2f} deg"
    message = f"{way.where(point)}: {joint} is asked to {value:.2f} deg, {told}"
    level, limit = (Level.WARNING, soft) if within else (Level.ERROR, hard)
    return Finding(level, "limit", message, way.number, joint, value, limit, "deg", (way.time_s(point),))


def speeds(checked: Checked) -> Iterator[Finding]:
    """No joint is asked to go faster than its servo turns.

    If that is so on the whole way it arrives late, an error; if only at the fastest point it lags there and
    catches up, a warning: most of ROBOTIS' own pages do. Where the card says that servos do more than its
    speeds, as Sony's own motions ask them to, it is an error only to fall far behind.
    """
    allowed = checked.max_speeds * (1.0 + ROUNDING)
    if checked.rules.speed_per_frame:
        allowed = allowed + FRAME_ROUNDING_DEG / checked.robot.frame_period_s
    for way, behind in zip(checked.ways, checked.behind, strict=True):
        for column in np.flatnonzero(way.fastest > allowed).tolist():
            late = bool(way.mean[column] > allowed[column])
            yield _too_fast(checked, way, column, float(behind[column]), late=late)


def _too_fast(checked: Checked, way: Segment, column: int, behind: float, *, late: bool) -> Finding:
    """Return the finding on a joint that is too fast, all the way if `late`; it ends so far behind [deg]."""
    joint, limit = checked.motion.joints[column], float(checked.max_speeds[column])
    fastest, mean = float(way.fastest[column]), float(way.mean[column])
    if math.isinf(fastest):
        asked = "to jump"
    elif late:
        asked = f"for {mean:.0f} deg/s all the way"
    else:
        asked = f"for {fastest:.0f} deg/s at its fastest"
    most = f", its servo turns {limit:.0f} deg/s without load"
    if checked.rules.speed_per_frame:
        period = checked.robot.frame_period_s
        per_frame = (mean if late else fastest) * period
        asked += "" if math.isinf(fastest) else f", {per_frame:.2f} deg a frame of {period * 1e3:g} ms"
        most = f"; the most is {limit:.0f} deg/s, {limit * period:.2f} deg a frame"
    margin = checked.rules.speed_margin_deg
    if 0.0 < margin < behind < math.inf:
        most += f"; it falls {behind:.0f} deg behind"
    message = f"{onto(way.number)}: {joint} is asked {asked}{most}"
    level, when = (
        Level.ERROR if late and (margin == 0.0 or behind > margin) else Level.WARNING,
        (way.fastest_s(column),),
    )
    return Finding(level, "speed", message, way.number, joint, fastest, limit, "deg/s", when)


def returns_from_free(checked: Checked) -> Iterator[Finding]:
    """A joint that was limp comes back from wherever it hung."""
    for number, after in enumerate(checked.poses[1:], 1):
        for joint in sorted(checked.poses[number - 1].free - after.free):
            message = f"{place(number)}: {joint} was free before, its way back begins wherever it hangs"
            when = (checked.arrival_s(number),)
            yield Finding(Level.WARNING, "free", message, number, joint, times_s=when)


def coupled_limits(checked: Checked) -> Iterator[Finding]:
    """No joint is asked beyond what the others leave it, at keyframes or between them.

    A joint the motion does not move is taken to be where it is in the robot's pose `stand`, as writers of
    files for the whole body put it there. No fault is found with such a joint, nor with what only repeats a
    joint's own limit.
    """
    if not checked.robot.coupled_limits:
        return
    if checked.motion.start is not None:
        yield from _beyond_coupled(checked, checked.standing)
    for way in checked.ways:
        yield from _beyond_coupled(checked, way)


def _beyond_coupled(checked: Checked, way: Segment) -> Iterator[Finding]:
    """Find the tables that are broken on a way; if only where it begins, that is the keyframe before."""
    robot, last = checked.robot, len(way.points) - 1
    standing = robot.pose(STAND) if STAND in robot.poses else np.full(len(robot.joints), np.nan)
    angles = np.tile(standing, (len(way.points), 1))
    angles[:, checked.columns] = np.deg2rad(np.where(np.isfinite(way.points), way.points, np.nan))
    for table, (lower, upper) in enumerate(zip(*_tighter(checked, angles), strict=True)):
        if robot.coupling.joints[table] not in checked.motion.joints:
            continue
        own = np.rad2deg(angles[:, robot.index(robot.coupling.joints[table])])
        excess = np.nan_to_num(np.fmax(lower - own, own - upper), nan=0.0, neginf=0.0)
        point = int(excess.argmax()) or last
        if excess[point] > checked.rules.coupled_slack_deg:
            limit = lower[point] if own[point] < lower[point] else upper[point]
            degrees = dict(zip(robot.joint_names, np.rad2deg(angles[point]).tolist(), strict=True))
            yield _coupled_finding(checked, way, table, point, limit=float(limit), degrees=degrees)


def _tighter(checked: Checked, angles: Floats) -> tuple[Floats, Floats]:
    """Return the tables' limits where closer than the joints' own, (n_tables, n_points) each [deg]."""
    joints = [checked.robot.joint(joint) for joint in checked.robot.coupling.joints]
    lower, upper = (np.rad2deg(side.T) for side in checked.robot.coupling.bounds(angles))
    own = np.rad2deg([(joint.lower_rad, joint.upper_rad) for joint in joints])
    slack = checked.rules.slack_deg
    return (
        np.where(lower > own[:, :1] + slack, lower, -np.inf),
        np.where(upper < own[:, 1:] - slack, upper, np.inf),
    )


def _coupled_finding(
    checked: Checked, way: Segment, table: int, point: int, *, limit: float, degrees: dict[str, float]
) -> Finding:
    rules, coupling = checked.rules, checked.robot.coupling
    joint, given, value = coupling.joints[table], coupling.given[table], degrees[coupling.joints[table]]
    unmoved = f" as in pose {STAND}"
    others = " and ".join(
        f"{name} at {degrees[name]:.1f}{'' if name in checked.motion.joints else unmoved}" for name in given
    )
    far = abs(value - limit) > rules.coupled_margin_deg + rules.coupled_slack_deg
    further = "lower" if value < limit else "higher"
    asked = f"{joint} is asked to {value:.1f} deg, with {others} it goes no {further} than {limit:.1f} deg"
    level, message = Level.ERROR if far else Level.WARNING, f"{way.where(point)}: {asked}"
    return Finding(level, "coupled", message, way.number, joint, value, limit, "deg", (way.time_s(point),))
