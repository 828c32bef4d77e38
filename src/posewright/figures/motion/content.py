"""Content of a motion's picture, joints over time and findings, and the layout of its panels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest
from typing import NamedTuple

import numpy as np

from posewright.arrays import Flags, Floats
from posewright.motions import Finding, Motion
from posewright.robots import Robot

POINTS = 600
MIN_TRAVEL_DEG = 0.05
"""A joint that moves less is not drawn: rounding of a converted file, not a motion."""

LIMIT_TOLERANCE_DEG = 1e-6
JUMP_S = 1e-6
"""Duration with which a jump is drawn: it looks vertical."""


@dataclass(frozen=True)
class MotionContent:
    """A motion to be drawn: its first pass, and of a loop the second too; findings are numbered from 1."""

    motion: Motion
    robot: Robot
    findings: tuple[Finding, ...] = ()

    @cached_property
    def end_s(self) -> float:
        """End of the picture [s]."""
        return self.motion.duration * (2 if self.motion.loops else 1)

    @cached_property
    def keyframe_times(self) -> Floats:
        """When each keyframe is reached, (n_keyframes,) [s]."""
        return self.motion.keyframe_times

    @cached_property
    def times(self) -> Floats:
        """Times of the curves: evenly spaced, the keyframes, and just before each jump, (n,) [s]."""
        even_times = np.linspace(0.0, self.end_s, POINTS)
        is_jump = [keyframe.reach_s == 0.0 for keyframe in self.motion.keyframes]
        times_before_jumps = self.keyframe_times[is_jump] - JUMP_S
        first_pass = np.concatenate([self.keyframe_times, times_before_jumps[times_before_jumps > 0.0]])
        second_pass = first_pass + self.motion.duration
        return np.union1d(even_times, np.concatenate([first_pass, second_pass[second_pass <= self.end_s]]))

    @cached_property
    def angles(self) -> Floats:
        """Angles of all joints of the motion, (n, n_joints) [deg]; NaN where free or infinite."""
        angles = np.rad2deg(self.motion.sample_at(self.times).angles)
        return np.where(np.isfinite(angles), angles, np.nan)

    @cached_property
    def speeds(self) -> Floats:
        """Speeds between times as shares of the joints' greatest speeds, (n - 1, n_joints)."""
        with np.errstate(invalid="ignore"):
            turned = np.abs(np.diff(self.angles, axis=0)) / np.diff(self.times)[:, None]
        columns = [self.robot.index(joint) for joint in self.motion.joints]
        return np.asarray(turned / np.rad2deg(self.robot.max_speeds[columns]), dtype=np.float64)

    @cached_property
    def _all_coupled_limits(self) -> tuple[Floats, Floats]:
        """Lower and upper limits that other joints set, (n, n_tables) each [deg]."""
        angles = np.full((len(self.times), len(self.robot.joints)), np.nan)
        angles[:, [self.robot.index(joint) for joint in self.motion.joints]] = np.deg2rad(self.angles)
        lower, upper = self.robot.coupling.bounds(angles)
        return np.rad2deg(lower), np.rad2deg(upper)

    @cached_property
    def is_free(self) -> Flags:
        """Where the torque is off, (n, n_joints)."""
        return self.motion.sample_at(self.times).free

    @cached_property
    def displayed_joints(self) -> tuple[str, ...]:
        """The joints that move, are free at some time or have a finding; all joints if none does."""
        with np.errstate(invalid="ignore"):
            travels_deg = np.fmax.reduce(self.angles, axis=0) - np.fmin.reduce(self.angles, axis=0)
        always_displayed = {joint for frame in self.motion.keyframes for joint in frame.pose.free}
        always_displayed |= {finding.joint for finding in self.findings if finding.joint is not None}
        displayed_joints = tuple(
            joint
            for joint, travel_deg in zip(self.motion.joints, travels_deg.tolist(), strict=True)
            if travel_deg > MIN_TRAVEL_DEG or joint in always_displayed
        )
        return displayed_joints or self.motion.joints

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The shown joints by their groups."""
        groups: dict[str, list[str]] = {}
        for joint in self.displayed_joints:
            groups.setdefault(self.group_of(joint), []).append(joint)
        return groups

    def group_of(self, joint: str) -> str:
        """Return the smallest of the robot's groups that contains a joint; "" for none."""
        groups = self.robot.groups
        matching_groups = (name for name, members in groups.items() if joint in members)
        return min(matching_groups, key=lambda name: len(groups[name]), default="")

    @cached_property
    def attitude(self) -> Floats | None:
        """Roll, pitch and yaw of the base in the file, (n_keyframes, 3) [deg]; NaN where there is none.

        None if there is none at all, or if all are zero, as in files that do not use it.
        """
        attitudes = [keyframe.attitude for keyframe in self.motion.keyframes]
        if not any(attitude is not None and any(attitude) for attitude in attitudes):
            return None
        rows = [(np.nan,) * 3 if attitude is None else attitude for attitude in attitudes]
        return np.rad2deg(np.array(rows, dtype=np.float64))

    def curve(self, joint: str) -> Floats:
        """Return the joint's angles, (n,) [deg]."""
        return self.angles[:, self.motion.joints.index(joint)]

    def coupled_limits(self, joint: str) -> list[Floats]:
        """Return the limits that depend on other joints, (n,) each [deg]; NaN where not tighter."""
        own_limits = self.robot.joint(joint)
        tables = [i for i, limited_joint in enumerate(self.robot.coupling.joints) if limited_joint == joint]
        all_lower, all_upper = self._all_coupled_limits
        lower = all_lower[:, tables]
        upper = all_upper[:, tables]
        is_lower_tighter = lower - np.rad2deg(own_limits.lower_rad) > LIMIT_TOLERANCE_DEG
        is_upper_tighter = np.rad2deg(own_limits.upper_rad) - upper > LIMIT_TOLERANCE_DEG
        # infinite limits are never tighter
        return [*np.where(is_lower_tighter, lower, np.nan).T, *np.where(is_upper_tighter, upper, np.nan).T]

    def span(self, joint: str) -> float:
        """Return the range of a joint's angles [deg]."""
        finite = self.curve(joint)[np.isfinite(self.curve(joint))]
        return float(np.ptp(finite)) if len(finite) else 0.0

    def findings_of(self, joint: str) -> Sequence[tuple[int, Finding]]:
        """Return the findings of a joint with their numbers."""
        numbered_findings = enumerate(self.findings, 1)
        return [(number, finding) for number, finding in numbered_findings if finding.joint == joint]

    @cached_property
    def whole_robot_findings(self) -> Sequence[tuple[int, Finding]]:
        """Findings about the whole robot at some time, such as a fall, with their numbers."""
        numbered_findings = enumerate(self.findings, 1)
        return [
            (number, finding)
            for number, finding in numbered_findings
            if finding.joint is None and finding.times_s
        ]


Mosaic = list[list[str]]
"""Panels row by row, each by the name of its joint, `ATTITUDE`, or `EMPTY`."""

EMPTY = "."
ATTITUDE = "as the file has it [deg]"
ATTITUDE_COLUMNS = 2

MIN_LIMBS = 3
"""Number of similar limbs from which they are laid out side by side, such as the legs of an AIBO."""

MAX_COLUMNS = 4
MANY_JOINTS = 12
"""More joints than these are laid out in up to four columns, fewer in up to two."""

MAX_ROWS = 9
"""Greatest number of panels in a column; a robot without groups is laid out in rows."""

MIN_SPAN_DEG = 10.0
"""Least range of a panel, so that small movements look small."""

SPAN_FACTOR = 1.2
"""Range of a panel relative to that of the joint."""


def lay_out_panels(content: MotionContent) -> Mosaic:
    """Return the layout of the panels, with the base's attitude where there is room at the bottom.

    Similar limbs are laid out side by side, else groups as stacks; without groups the stacks would be too
    high, and the joints are laid out in rows.
    """
    limbs = _similar_limbs(content)
    rows = _lay_out_side_by_side(content, limbs) if limbs else _lay_out_stacks(content)
    if len(rows) > MAX_ROWS and not limbs:
        rows = _lay_out_rows(content.displayed_joints, MAX_COLUMNS)
    width = max(column + 1 for row in rows for column, name in enumerate(row) if name != EMPTY)
    rows = [row[:width] for row in rows]
    if content.attitude is not None:
        gap = largest_gap(rows)
        if gap.first_row == len(rows):
            rows.append([EMPTY] * width)
        for column in range(gap.first_column, gap.first_column + min(ATTITUDE_COLUMNS, gap.n_columns)):
            rows[gap.first_row][column] = ATTITUDE
    return rows


class Gap(NamedTuple):
    """An empty area at the bottom of a mosaic, from `first_row` to its last row."""

    first_row: int
    first_column: int
    n_columns: int


def largest_gap(rows: Mosaic) -> Gap:
    """Return the largest empty area at the bottom of the page; of equal ones the widest."""
    n_filled_rows = [  # of each column, up to its last cell that is not empty
        max((row + 1 for row, name in enumerate(column) if name != EMPTY), default=0)
        for column in zip(*rows, strict=True)
    ]
    n_columns = len(n_filled_rows)
    gaps = [  # below each range of neighbouring columns
        Gap(max(n_filled_rows[first:end]), first_column=first, n_columns=end - first)
        for first in range(n_columns)
        for end in range(first + 1, n_columns + 1)
    ]
    return max(gaps, key=lambda gap: ((len(rows) - gap.first_row) * gap.n_columns, gap.n_columns))


def group_headings(content: MotionContent, rows: Mosaic) -> dict[str, str]:
    """Return the groups of joints, each by the joint whose panel is its first."""
    joints = [joint for joint in chain(*rows) if joint in content.motion.joints]
    first_joint_of_group: dict[str, str] = {}
    for joint in joints:
        first_joint_of_group.setdefault(content.group_of(joint), joint)
    return {joint: group for group, joint in first_joint_of_group.items()}


def span_deg(content: MotionContent, joint: str) -> float:
    """Return the range of a joint's panel [deg], common to the joints it is compared with."""
    # the same joint of similar limbs, or else the joints of its group
    joints_at_same_place = zip(*_similar_limbs(content), strict=True)
    peers = next(joints for joints in (*joints_at_same_place, *content.groups.values()) if joint in joints)
    spans_deg = [content.span(peer) * SPAN_FACTOR for peer in peers if peer in content.motion.joints]
    return max(MIN_SPAN_DEG, *spans_deg)


def _similar_limbs(content: MotionContent) -> list[tuple[str, ...]]:
    """Return the joints of each of at least `MIN_LIMBS` similar limbs; an empty list if there are fewer.

    Limbs are groups of several joints that all have a mirrored joint. Those with the most common number of
    joints are similar.
    """
    mirrored_joints = {joint for pair in content.robot.mirror_pairs for joint in (pair.left, pair.right)}
    groups = [content.robot.groups.get(group, ()) for group in content.groups]
    limbs = [joints for joints in groups if len(joints) > 1 and mirrored_joints.issuperset(joints)]
    if not limbs:
        return []
    n_joints_of_limbs = [len(joints) for joints in limbs]
    most_common_n_joints = max(n_joints_of_limbs, key=n_joints_of_limbs.count)
    similar_limbs = [joints for joints in limbs if len(joints) == most_common_n_joints]
    return similar_limbs if len(similar_limbs) >= MIN_LIMBS else []


def _lay_out_side_by_side(content: MotionContent, limbs: Sequence[tuple[str, ...]]) -> Mosaic:
    """Return the rows of panels of a figure: joints such as the head's, limbs in columns, all other joints.

    Each limb has a column, so that a row shows the same joint of all limbs, such as all knees. Above them is
    at most one row, of joints that precede them in the motion; all other joints follow in rows below.

    Args:
        content: the motion, and the joints that have a panel.
        limbs: the names of the joints of each limb, all of the same number and in corresponding order.

    Returns:
        The joint of each panel by row and column, and `EMPTY` where there is none.
    """
    joint_order = content.motion.joints
    n_columns = len(limbs)
    limb_joints = {joint for joints in limbs for joint in joints}
    other_joints = [joint for joint in content.displayed_joints if joint not in limb_joints]
    first_limb_index = min(joint_order.index(joint) for joint in limb_joints.intersection(joint_order))
    joints_before = [joint for joint in other_joints if joint_order.index(joint) < first_limb_index]
    joints_before = joints_before[:n_columns]
    if joints_before and len(other_joints) <= n_columns:
        joints_before = other_joints  # one row holds head and tail
    limb_rows = [
        [joint if joint in joint_order else EMPTY for joint in corresponding_joints]
        for corresponding_joints in zip(*limbs, strict=True)
        if not set(corresponding_joints).isdisjoint(content.displayed_joints)
    ]
    return [
        *_lay_out_rows(joints_before, n_columns),
        *limb_rows,
        *_lay_out_rows([joint for joint in other_joints if joint not in joints_before], n_columns),
    ]


def _lay_out_rows(joints: Sequence[str], width: int) -> Mosaic:
    rows = [[*joints[start : start + width]] for start in range(0, len(joints), width)]
    return [row + [EMPTY] * (width - len(row)) for row in rows]


def _lay_out_stacks(content: MotionContent) -> Mosaic:
    """Return every group as a stack of panels: right beside left, legs below arms."""
    max_columns = MAX_COLUMNS if len(content.displayed_joints) > MANY_JOINTS else MAX_COLUMNS // 2
    columns: Mosaic = [[] for _ in range(min(len(content.groups), max_columns))]
    for joints in content.groups.values():
        min(columns, key=len).extend(joints)
    return [[*row] for row in zip_longest(*columns, fillvalue=EMPTY)]
