"""What the picture of a motion shows: its joints over time, their speeds, and what was found in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.motions import Finding, Motion
from posewright.robots import Robot

POINTS = 600
LEAST_DEG = 0.05
"""A joint that moves less is not drawn: rounding of a converted file, not a motion."""

BEFORE_S = 1e-6
"""A jump is drawn as a way of this length: upright to the eye."""


@dataclass(frozen=True)
class Content:
    """What is to be drawn: the first pass, and of a loop the second too.

    Attributes:
        motion: whose joints.
        robot: whose groups and limits count.
        findings: what was found in it, numbered from 1 in the picture.
    """

    motion: Motion
    robot: Robot
    findings: tuple[Finding, ...] = ()

    @cached_property
    def until_s(self) -> float:
        """When the picture ends."""
        return self.motion.duration * (2 if self.motion.loops else 1)

    @cached_property
    def marks(self) -> Floats:
        """When each keyframe is reached, (n_keyframes,) [s]."""
        return self.motion.keyframe_times

    @cached_property
    def times(self) -> Floats:
        """Evenly spaced, every keyframe itself, and the moment before each jump, (n,) [s]."""
        even = np.linspace(0.0, self.until_s, POINTS)
        jumps = self.marks[[keyframe.reach_s == 0.0 for keyframe in self.motion.keyframes]] - BEFORE_S
        own = np.concatenate([self.marks, jumps[jumps > 0.0]])
        again = own + self.motion.duration
        return np.union1d(even, np.concatenate([own, again[again <= self.until_s]]))

    @cached_property
    def angles(self) -> Floats:
        """Of all joints of the motion, (n, n_joints) [deg]; NaN where free or without end."""
        angles = np.rad2deg(self.motion.sample_at(self.times).angles)
        return np.where(np.isfinite(angles), angles, np.nan)

    @cached_property
    def speeds(self) -> Floats:
        """From each time to the next as a share of the fastest the joint turns, (n - 1, n_joints)."""
        with np.errstate(invalid="ignore"):
            turned = np.abs(np.diff(self.angles, axis=0)) / np.diff(self.times)[:, None]
        columns = [self.robot.index(joint) for joint in self.motion.joints]
        return np.asarray(turned / np.rad2deg(self.robot.max_speeds[columns]), dtype=np.float64)

    @cached_property
    def _coupled(self) -> tuple[Floats, Floats]:
        """Lower and upper limits that other joints set, (n, n_tables) each [deg]."""
        angles = np.full((len(self.times), len(self.robot.joints)), np.nan)
        angles[:, [self.robot.index(joint) for joint in self.motion.joints]] = np.deg2rad(self.angles)
        lower, upper = self.robot.coupling.bounds(angles)
        return np.rad2deg(lower), np.rad2deg(upper)

    @cached_property
    def free(self) -> Flags:
        """Where the torque is off, (n, n_joints)."""
        return self.motion.sample_at(self.times).free

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """The joints that move, are let free or are found fault with; all of them if none does."""
        with np.errstate(invalid="ignore"):
            span = np.fmax.reduce(self.angles, axis=0) - np.fmin.reduce(self.angles, axis=0)
        named = {joint for frame in self.motion.keyframes for joint in frame.pose.free}
        named |= {finding.joint for finding in self.findings if finding.joint is not None}
        moves = zip(self.motion.joints, span.tolist(), strict=True)
        return tuple(j for j, far in moves if far > LEAST_DEG or j in named) or self.motion.joints

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The shown joints by their groups."""
        groups: dict[str, list[str]] = {}
        for joint in self.shown:
            groups.setdefault(self.group_of(joint), []).append(joint)
        return groups

    def group_of(self, joint: str) -> str:
        """Return the smallest of the robot's groups that a joint is in; "" for none."""
        groups = self.robot.groups
        named = (name for name, members in groups.items() if joint in members)
        return min(named, key=lambda name: len(groups[name]), default="")

    @cached_property
    def attitude(self) -> Floats | None:
        """Roll, pitch and yaw that the file gives the base, (n_keyframes, 3) [deg]; NaN where it gives none.

        None where it gives none at all, or always zero: files that leave it out are full of zeros.
        """
        given = [keyframe.attitude for keyframe in self.motion.keyframes]
        if not any(attitude is not None and any(attitude) for attitude in given):
            return None
        rows = [(np.nan,) * 3 if attitude is None else attitude for attitude in given]
        return np.rad2deg(np.array(rows, dtype=np.float64))

    def curve(self, joint: str) -> Floats:
        """Return the joint's angles, (n,) [deg]."""
        return self.angles[:, self.motion.joints.index(joint)]

    def coupled(self, joint: str) -> list[Floats]:
        """Return the limits that other joints set a joint, (n,) each [deg]; NaN where its own is as near."""
        own = self.robot.joint(joint)
        tables = [place for place, limited in enumerate(self.robot.coupling.joints) if limited == joint]
        sides = zip(self._coupled, np.rad2deg([own.lower_rad, own.upper_rad]), (1.0, -1.0), strict=True)
        return [
            np.where(
                np.isfinite(side[:, table]) & (sign * (side[:, table] - limit) > 1e-6), side[:, table], np.nan
            )
            for side, limit, sign in sides
            for table in tables
        ]

    def angle_at(self, joint: str, time_s: float) -> float:
        """Return the joint's angle at a time [deg]; NaN where it is free."""
        return float(np.interp(time_s, self.times, self.curve(joint)))

    def span(self, joint: str) -> float:
        """Return how many degrees the joint travels."""
        known = self.curve(joint)[np.isfinite(self.curve(joint))]
        return float(np.ptp(known)) if len(known) else 0.0

    def found(self, joint: str) -> Sequence[tuple[int, Finding]]:
        """Return what was found of a joint, with its number."""
        return [(n, finding) for n, finding in enumerate(self.findings, 1) if finding.joint == joint]

    @cached_property
    def whole(self) -> Sequence[tuple[int, Finding]]:
        """What was found of the robot as a whole at some time, a fall say, with its number."""
        numbered = enumerate(self.findings, 1)
        return [(n, finding) for n, finding in numbered if finding.joint is None and finding.times_s]
