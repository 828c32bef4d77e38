"""What the picture of a motion shows, joints over time and findings, and where each panel stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest

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
    """What is to be drawn: the first pass, and of a loop the second too; findings are numbered from 1."""

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
        spans = zip(self.motion.joints, span.tolist(), strict=True)
        shown = tuple(joint for joint, degrees in spans if degrees > LEAST_DEG or joint in named)
        return shown or self.motion.joints

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
        attitudes = [keyframe.attitude for keyframe in self.motion.keyframes]
        if not any(attitude is not None and any(attitude) for attitude in attitudes):
            return None
        rows = [(np.nan,) * 3 if attitude is None else attitude for attitude in attitudes]
        return np.rad2deg(np.array(rows, dtype=np.float64))

    def curve(self, joint: str) -> Floats:
        """Return the joint's angles, (n,) [deg]."""
        return self.angles[:, self.motion.joints.index(joint)]

    def coupled(self, joint: str) -> list[Floats]:
        """Return the limits that other joints set a joint, (n,) each [deg]; NaN where its own is as near."""
        own = self.robot.joint(joint)
        tables = [place for place, limited in enumerate(self.robot.coupling.joints) if limited == joint]
        limits: list[Floats] = []
        for side, limit, sign in zip(self._coupled, (own.lower_rad, own.upper_rad), (1.0, -1.0), strict=True):
            beyond = sign * (side[:, tables] - np.rad2deg(limit)) > 1e-6
            limits += [*np.where(beyond, side[:, tables], np.nan).T]  # what is infinite is drawn nowhere
        return limits

    def span(self, joint: str) -> float:
        """Return how many degrees the joint travels."""
        known = self.curve(joint)[np.isfinite(self.curve(joint))]
        return float(np.ptp(known)) if len(known) else 0.0

    def findings_of(self, joint: str) -> Sequence[tuple[int, Finding]]:
        """Return what was found of a joint, with its number."""
        return [(n, finding) for n, finding in enumerate(self.findings, 1) if finding.joint == joint]

    @cached_property
    def whole(self) -> Sequence[tuple[int, Finding]]:
        """What was found of the robot as a whole at some time, a fall say, with its number."""
        numbered = enumerate(self.findings, 1)
        return [(n, finding) for n, finding in numbered if finding.joint is None and finding.times_s]


Mosaic = list[list[str]]
"""Panels row by row, each by the name of its joint, `ATTITUDE`, or `EMPTY`."""

EMPTY = "."
ATTITUDE = "as the file has it [deg]"
ATTITUDE_COLUMNS = 2

LIMBS = 3
"""From so many limbs alike on they stand side by side, joint beside joint: the legs of an AIBO."""

MOST_COLUMNS = 4
MANY_JOINTS = 12
"""More joints than these are laid out in up to four columns, fewer in up to two."""

TALLEST = 9
"""No column is taller than this: a robot without groups is laid out in rows."""

LEAST_SPAN_DEG = 10.0
"""No panel shows less, so that a tremble does not look like a kick."""

ROOM = 1.2
"""A panel shows so much more than the joint travels."""


def laid_out(content: Content) -> Mosaic:
    """Return where every panel stands, the base's attitude where there is room at the foot."""
    limbs = _limbs(content)
    rows = _side_by_side(content, limbs) if limbs else _stacked(content)
    if len(rows) > TALLEST and not limbs:
        rows = _in_rows(content.shown, MOST_COLUMNS)
    width = max(column + 1 for row in rows for column, name in enumerate(row) if name != EMPTY)
    rows = [row[:width] for row in rows]
    if content.attitude is not None:
        top, left, columns = gap(rows)
        if top == len(rows):
            rows.append([EMPTY] * width)
        for column in range(left, left + min(ATTITUDE_COLUMNS, columns)):
            rows[top][column] = ATTITUDE
    return rows


def gap(rows: Mosaic) -> tuple[int, int, int]:
    """Return the largest empty place at the foot of the page: its first row and column, and its width."""
    heights = [
        max((n + 1 for n, name in enumerate(column) if name != EMPTY), default=0)
        for column in zip(*rows, strict=True)
    ]
    spans = [(i, j) for i in range(len(heights)) for j in range(i + 1, len(heights) + 1)]
    places = [(max(heights[i:j]), i, j - i) for i, j in spans]
    return max(places, key=lambda place: ((len(rows) - place[0]) * place[2], place[2]))


def headings(content: Content, rows: Mosaic) -> dict[str, str]:
    """Return the groups by the joint of each whose panel comes first."""
    joints = [joint for joint in chain(*rows) if joint in content.motion.joints]
    first = {content.group_of(joint): joint for joint in reversed(joints)}
    return {joint: group for group, joint in first.items()}


def span_deg(content: Content, joint: str) -> float:
    """Return how much the panel of a joint shows: as much as those it is to be compared with."""
    ranks = zip(*_limbs(content), strict=True)
    peers = next(joints for joints in (*ranks, *content.groups.values()) if joint in joints)
    return max(
        LEAST_SPAN_DEG, *(content.span(peer) * ROOM for peer in peers if peer in content.motion.joints)
    )


def _limbs(content: Content) -> list[tuple[str, ...]]:
    """Return the joints of limbs that are alike, where there are many: as long, and left or right."""
    paired = {joint for pair in content.robot.mirror_pairs for joint in (pair.left, pair.right)}
    groups = [content.robot.groups.get(group, ()) for group in content.groups]
    sided = [joints for joints in groups if len(joints) > 1 and paired.issuperset(joints)]
    lengths = [len(joints) for joints in sided]
    alike = [joints for joints in sided if len(joints) == max(lengths, key=lengths.count)]
    return alike if len(alike) >= LIMBS else []


def _side_by_side(content: Content, limbs: Sequence[tuple[str, ...]]) -> Mosaic:
    """Return a row of what comes before the limbs, the limbs in columns, and rows of all the rest."""
    order = content.motion.joints
    width = len(limbs)
    members = {joint for joints in limbs for joint in joints}
    others = [joint for joint in content.shown if joint not in members]
    first = min(order.index(joint) for joint in members.intersection(order))
    before = [joint for joint in others if order.index(joint) < first][:width]
    if before and len(others) <= width:
        before = others  # one row holds head and tail
    ranks = [rank for rank in zip(*limbs, strict=True) if not set(rank).isdisjoint(content.shown)]
    return [
        *_in_rows(before, width),
        *([joint if joint in order else EMPTY for joint in rank] for rank in ranks),
        *_in_rows([joint for joint in others if joint not in before], width),
    ]


def _in_rows(joints: Sequence[str], width: int) -> Mosaic:
    rows = [[*joints[start : start + width]] for start in range(0, len(joints), width)]
    return [row + [EMPTY] * (width - len(row)) for row in rows]


def _stacked(content: Content) -> Mosaic:
    """Return every group as a stack: right beside left, legs below arms."""
    most = MOST_COLUMNS if len(content.shown) > MANY_JOINTS else MOST_COLUMNS // 2
    columns: Mosaic = [[] for _ in range(min(len(content.groups), most))]
    for joints in content.groups.values():
        min(columns, key=len).extend(joints)
    return [[*row] for row in zip_longest(*columns, fillvalue=EMPTY)]
