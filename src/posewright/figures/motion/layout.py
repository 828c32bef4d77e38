"""Where the joints stand in the picture of a motion: a mosaic, limbs side by side, head and tail around."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest

from posewright.figures.motion.content import Content

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
    return max(LEAST_SPAN_DEG, *(content.span(one) * ROOM for one in peers if one in content.motion.joints))


def _limbs(content: Content) -> list[tuple[str, ...]]:
    """Return the joints of limbs that are alike, where there are many: as long, and left or right."""
    paired = {joint for pair in content.robot.mirror_pairs for joint in (pair.left, pair.right)}
    known = [content.robot.groups.get(group, ()) for group in content.groups]
    sided = [joints for joints in known if len(joints) > 1 and paired.issuperset(joints)]
    lengths = [len(joints) for joints in sided]
    alike = [joints for joints in sided if len(joints) == max(lengths, key=lengths.count)]
    return alike if len(alike) >= LIMBS else []


def _side_by_side(content: Content, limbs: Sequence[tuple[str, ...]]) -> Mosaic:
    """Return a row of what comes before the limbs, the limbs in columns, and rows of all the rest."""
    order, width = content.motion.joints, len(limbs)
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
