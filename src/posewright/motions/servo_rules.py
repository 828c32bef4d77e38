"""Design rules about what the robot can do: numbers that are numbers, joint limits, servo speed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from posewright.motions.checked import Checked, place
from posewright.motions.finding import Finding, Level
from posewright.motions.pose import Angles


def finite(checked: Checked) -> Iterator[Finding]:
    """Every angle is a number."""
    for number, pose in enumerate(checked.poses):
        for joint, angle in zip(pose.joints, pose.angles, strict=True):
            if np.isinf(angle):
                message = f"{place(number)}: {joint} is infinite"
                yield Finding(Level.ERROR, "finite", message, number, joint, float(angle))


def limits(checked: Checked) -> Iterator[Finding]:
    """No joint is asked beyond its limits, at keyframes or between them."""
    if checked.motion.start is not None:
        yield from _beyond(checked, 0, np.rad2deg(checked.poses[0].angles)[None])
    for way in checked.ways:
        yield from _beyond(checked, way.number, way.points)


def _beyond(checked: Checked, number: int, points: Angles) -> Iterator[Finding]:
    """Find the joints that leave their range on the way along `points` (n_points, n_joints) [deg].

    A way that only begins beyond is not found here: that is the keyframe before.
    """
    lower, upper = (np.rad2deg(side[checked.columns]) for side in checked.robot.limits)
    beyond = np.nan_to_num(np.fmax(lower - points, points - upper), nan=-1.0)
    slack, last = checked.rules.slack_deg, len(points) - 1
    worst = np.where(beyond[last] > slack, last, beyond.argmax(axis=0))
    for column, point in enumerate(worst.tolist()):
        if beyond[point, column] <= slack or (point == 0 and last > 0):
            continue
        value, joint = float(points[point, column]), checked.motion.joints[column]
        limit = float(lower[column] if value < lower[column] else upper[column])
        where = place(number) if point == last else f"on the way into {place(number)}"
        message = f"{where}: {joint} is asked to {value:.2f} deg, its limit is {limit:.2f} deg"
        yield Finding(Level.ERROR, "limit", message, number, joint, value, limit, "deg")


def speeds(checked: Checked) -> Iterator[Finding]:
    """No joint is asked to go faster than its servo turns without load.

    If that is so on the whole way it arrives late, an error; if only at the fastest point it lags there and
    catches up, a warning: most of ROBOTIS' own pages do.
    """
    top = np.rad2deg(checked.robot.max_speeds[checked.columns])
    for way in checked.ways:
        rows = (checked.motion.joints, way.fastest.tolist(), way.mean.tolist(), top.tolist())
        for joint, fastest, mean, limit in zip(*rows, strict=True):
            if fastest > limit * (1.0 + 1e-9):
                yield _too_fast(way.number, joint, fastest, mean, limit)


def _too_fast(number: int, joint: str, fastest: float, mean: float, limit: float) -> Finding:
    late = mean > limit * (1.0 + 1e-9)
    if math.isinf(fastest):
        asked = "to jump"
    elif late:
        asked = f"for {mean:.0f} deg/s all the way"
    else:
        asked = f"for {fastest:.0f} deg/s at its fastest"
    message = f"{joint} is asked {asked}, its servo turns {limit:.0f} deg/s without load"
    level = Level.ERROR if late else Level.WARNING
    where = f"on the way into {place(number)}"
    return Finding(level, "speed", f"{where}: {message}", number, joint, fastest, limit, "deg/s")


def returns_from_free(checked: Checked) -> Iterator[Finding]:
    """A joint that was limp comes back from wherever it hung."""
    for number, after in enumerate(checked.poses[1:], 1):
        for joint in sorted(checked.poses[number - 1].free - after.free):
            message = f"{place(number)}: {joint} was free before, its way back begins wherever it hangs"
            yield Finding(Level.WARNING, "free", message, number, joint)
