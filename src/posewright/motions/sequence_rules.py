"""Design rules about the sequence: small steps, short, and from a known pose to a known pose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from posewright.motions.checked import Checked, place
from posewright.motions.finding import Finding, Level
from posewright.motions.gathering import AGAIN
from posewright.motions.pose import Angles

ROUNDING_DEG = 1e-4
"""So little beyond is rounding: a step of 60 deg between two angles in whole micro-radians may be more."""


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


def _away(checked: Checked, angles: Angles, name: str) -> Angles:
    pose = np.rad2deg(checked.robot.pose(name)[checked.columns])
    return np.nan_to_num(np.abs(angles - pose), nan=0.0, posinf=np.inf)
