"""Design rules about what the robot can do: numbers that are numbers, joint limits, servo speed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posewright.motions.checked import Checked, Way, onto, place
from posewright.motions.finding import Finding, Level

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


def _beyond(checked: Checked, way: Way) -> Iterator[Finding]:
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


def _beyond_limit(checked: Checked, way: Way, column: int, point: int) -> Finding:
    value, joint = float(way.points[point, column]), checked.motion.joints[column]
    side = 0 if value < checked.limits[0][column] else 1
    soft, hard = (float(bounds[side][column]) for bounds in (checked.limits, checked.hardware_limits))
    slack = checked.rules.slack_deg
    within = abs(hard - soft) > slack and abs(value - soft) <= abs(hard - soft) + slack
    if within:
        told = f"beyond its limit of {soft:.2f} deg, though not its mechanical one of {hard:.2f} deg"
    else:
        told = f"its {'limit' if hard == soft else 'mechanical limit'} is {hard:.2f} deg"
    last = point == len(way.points) - 1
    return Finding(
        Level.WARNING if within else Level.ERROR,
        "limit",
        f"{(place if last else onto)(way.number)}: {joint} is asked to {value:.2f} deg, {told}",
        way.number,
        joint,
        value,
        soft if within else hard,
        "deg",
        (way.time_s(point),),
    )


def speeds(checked: Checked) -> Iterator[Finding]:
    """No joint is asked to go faster than its servo turns.

    If that is so on the whole way it arrives late, an error; if only at the fastest point it lags there and
    catches up, a warning: most of ROBOTIS' own pages do.
    """
    allowed = checked.max_speeds * (1.0 + ROUNDING)
    if checked.rules.speed_per_frame:
        allowed = allowed + FRAME_ROUNDING_DEG / checked.robot.frame_period_s
    for way in checked.ways:
        for column in np.flatnonzero(way.fastest > allowed).tolist():
            yield _too_fast(checked, way, column, late=bool(way.mean[column] > allowed[column]))


def _too_fast(checked: Checked, way: Way, column: int, *, late: bool) -> Finding:
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
    return Finding(
        Level.ERROR if late else Level.WARNING,
        "speed",
        f"{onto(way.number)}: {joint} is asked {asked}{most}",
        way.number,
        joint,
        fastest,
        limit,
        "deg/s",
        (way.fastest_s(column),),
    )


def returns_from_free(checked: Checked) -> Iterator[Finding]:
    """A joint that was limp comes back from wherever it hung."""
    for number, after in enumerate(checked.poses[1:], 1):
        for joint in sorted(checked.poses[number - 1].free - after.free):
            message = f"{place(number)}: {joint} was free before, its way back begins wherever it hangs"
            when = (checked.arrival_s(number),)
            yield Finding(Level.WARNING, "free", message, number, joint, times_s=when)
