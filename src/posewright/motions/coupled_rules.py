"""The design rule about limits that depend on where other joints stand: a leg must not meet the body."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from posewright.motions.checked import Checked, Way, onto, place
from posewright.motions.finding import Finding, Level
from posewright.motions.pose import Angles
from posewright.robots import Robot

STAND = "stand"
"""The pose in which a joint stands that a motion does not move."""


@dataclass(frozen=True)
class _Broken:
    """A table that is broken: which, at which point of the way, its limit there and all joints [deg]."""

    table: int
    point: int
    limit: float
    degrees: list[float]


def coupled_limits(checked: Checked) -> Iterator[Finding]:
    """No joint is asked beyond what the others leave it, at keyframes or between them.

    A joint the motion does not move is taken to be where it is in the robot's pose `stand`, as writers of
    files for the whole body put it there. No fault is found with such a joint, nor with what only repeats a
    joint's own limit.
    """
    if not checked.robot.coupled_limits:
        return
    if checked.motion.start is not None:
        yield from _beyond(checked, checked.standing)
    for way in checked.ways:
        yield from _beyond(checked, way)


def _beyond(checked: Checked, way: Way) -> Iterator[Finding]:
    """Find the tables that are broken on a way; if only where it begins, that is the keyframe before."""
    robot, last = checked.robot, len(way.points) - 1
    angles = np.tile(_standing(robot), (len(way.points), 1))
    angles[:, checked.columns] = np.deg2rad(np.where(np.isfinite(way.points), way.points, np.nan))
    for table, (lower, upper) in enumerate(zip(*_tighter(checked, angles), strict=True)):
        if robot.coupling.joints[table] not in checked.motion.joints:
            continue
        own = np.rad2deg(angles[:, robot.index(robot.coupling.joints[table])])
        excess = np.nan_to_num(np.fmax(lower - own, own - upper), nan=0.0, neginf=0.0)
        point = int(excess.argmax()) or last
        if excess[point] > checked.rules.coupled_slack_deg:
            limit = lower[point] if own[point] < lower[point] else upper[point]
            degrees = np.rad2deg(angles[point]).tolist()
            yield _finding(checked, way, _Broken(table, point, float(limit), degrees))


def _standing(robot: Robot) -> Angles:
    """Return the robot's pose `stand`, (n_joints,) [rad]; NaN where it has none."""
    return robot.pose(STAND) if STAND in robot.poses else np.full(len(robot.joints), np.nan)


def _tighter(checked: Checked, angles: Angles) -> tuple[Angles, Angles]:
    """Return the tables' limits where closer than the joints' own, (n_tables, n_points) each [deg]."""
    joints = [checked.robot.joint(joint) for joint in checked.robot.coupling.joints]
    lower, upper = (np.rad2deg(side.T) for side in checked.robot.coupling.bounds(angles))
    own = np.rad2deg([(joint.lower_rad, joint.upper_rad) for joint in joints])
    slack = checked.rules.slack_deg
    return (
        np.where(lower > own[:, :1] + slack, lower, -np.inf),
        np.where(upper < own[:, 1:] - slack, upper, np.inf),
    )


def _finding(checked: Checked, way: Way, broken: _Broken) -> Finding:
    robot, rules, limit, point = checked.robot, checked.rules, broken.limit, broken.point
    joint, given = robot.coupling.joints[broken.table], robot.coupling.given[broken.table]
    degrees = dict(zip(robot.joint_names, broken.degrees, strict=True))
    value = degrees[joint]
    unmoved = f" as in pose {STAND}"
    others = " and ".join(
        f"{name} at {degrees[name]:.1f}{'' if name in checked.motion.joints else unmoved}" for name in given
    )
    far = abs(value - limit) > rules.coupled_margin_deg + rules.coupled_slack_deg
    where = (place if point == len(way.points) - 1 else onto)(way.number)
    return Finding(
        Level.ERROR if far else Level.WARNING,
        "coupled",
        f"{where}: {joint} is asked to {value:.1f} deg, with {others} it goes no "
        f"{'lower' if value < limit else 'higher'} than {limit:.1f} deg",
        way.number,
        joint,
        value,
        limit,
        "deg",
        (way.time_s(point),),
    )
