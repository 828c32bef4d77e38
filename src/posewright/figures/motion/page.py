"""The page of a motion: title, key, one small curve a joint, and the list of what is wrong with it below."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from posewright.errors import InputError
from posewright.figures.motion import panel
from posewright.figures.motion.content import Content
from posewright.figures.motion.panel import LINE_IN, Line, draw_badges, draw_list, draw_moments, list_lines
from posewright.figures.style import KEY, styled
from posewright.formats import card_of
from posewright.motions import Finding, Motion, check_motion
from posewright.robots import Robot
from posewright.robots import robot as robot_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


# Measures of the page [in]; constrained layout makes room for what is written around the panels.
HEAD = 0.62
PANEL_HEIGHT, ROW_GAP, COLUMN_GAP = 1.0, 0.42, 0.6
PANEL_WIDTHS = {1: 8.4, 2: 4.2}
NARROW_PANEL = 3.2
HEADLINE, FINDINGS = "headline", "findings"


@styled("drawing a motion")
def draw_motion(
    motion: Motion, robot: Robot | str | None = None, *, findings: Sequence[Finding] | None = None
) -> Figure:
    """Draw every moving joint of a motion over time, with limits, speeds and findings.

    Args:
        motion: what to draw.
        robot: whose groups and limits count, or the name; default the motion's own.
        findings: what to mark; default what the design rules find. An empty list marks nothing.

    Raises:
        InputError: the motion takes no time.
        MissingExtraError: matplotlib is not installed.
        UnknownNameError: the robot is not known.
    """
    if motion.duration == 0.0:
        raise InputError(f"motion {motion.name!r} takes no time: there is nothing to draw")
    own = card_of(motion) if robot is None else robot
    card = own if isinstance(own, Robot) else robot_named(own)
    found = check_motion(motion, card) if findings is None else findings
    return draw_page(Content(motion, card, tuple(found)))


def draw_page(content: Content) -> Figure:
    """Return the whole picture."""
    from matplotlib.figure import Figure

    rows = laid_out(content)
    columns = len(rows[0])
    panel_in = PANEL_WIDTHS.get(columns, NARROW_PANEL)
    lines, below = _list_findings(content, rows, panel_in + COLUMN_GAP)
    mosaic = [[HEADLINE] * columns, *rows, *([[FINDINGS] * columns] if below else [])]
    heights = [HEAD, *[PANEL_HEIGHT] * len(rows), *([below] if below else [])]
    size = columns * (panel_in + COLUMN_GAP) + 0.3, sum(heights) + len(rows) * ROW_GAP + 0.2
    figure = Figure(size, dpi=150, layout="constrained")
    axes: dict[str, Axes] = figure.subplot_mosaic(mosaic, height_ratios=heights, empty_sentinel=EMPTY)  # type: ignore[arg-type]
    lowest = [
        next(name for name in reversed(c) if name not in {EMPTY, FINDINGS}) for c in zip(*mosaic, strict=True)
    ]
    groups = headings(content, rows)
    for name, one in axes.items():
        if name == FINDINGS:
            draw_list(one, lines)
        elif name == HEADLINE:
            _draw_head(one, content)
        else:
            found = [*content.found(name), *(content.whole if name == rows[0][0] else ())]
            _draw_panel(one, content, name, found, panel_in)
            if groups.get(name):
                panel.draw_heading(one, groups[name])
            one.tick_params(labelbottom=name in lowest, labelsize=7, length=2.5, pad=2)
            one.set_xlabel("time [s]" if name in lowest else "", fontsize=7.5, labelpad=2)
    figure.set_label(f"motion {content.motion.name}: {_subtitle(content)}")
    return figure


def _list_findings(content: Content, rows: Mosaic, column_in: float) -> tuple[list[Line], float]:
    """Find room for the list where no panel stands; else say how high it is below all panels [in]."""
    top, left, columns = gap(rows)
    lines = list_lines(content, columns * column_in - COLUMN_GAP)
    room = (len(rows) - top) * (PANEL_HEIGHT + ROW_GAP) - ROW_GAP
    if columns > 1 and 0.0 < LINE_IN * len(lines) <= room:
        for row in rows[top:]:
            row[left : left + columns] = [FINDINGS] * columns
        return lines, 0.0
    lines = list_lines(content, len(rows[0]) * column_in - COLUMN_GAP)
    return lines, LINE_IN * (len(lines) + 1) if lines else 0.0


def _draw_panel(
    axes: Axes, content: Content, name: str, found: list[tuple[int, Finding]], width_in: float
) -> None:
    draw_moments(axes, content)
    if name == ATTITUDE and content.attitude is not None:
        panel.draw_attitude(axes, content, content.attitude)
    else:
        panel.draw_joint(axes, content, name)
        draw_badges(axes, content, found, name, width_in)


def _draw_head(axes: Axes, content: Content) -> None:
    """Write title, subtitle and key."""
    axes.set_axis_off()
    style: dict[str, Any] = {"va": "top", "parse_math": False, "in_layout": False}
    axes.text(0.0, 1.0, content.motion.name, fontsize=12, weight="bold", **style)
    axes.text(0.0, 0.6, _subtitle(content), fontsize=8, color=panel.HEADING, **style)
    key = axes.legend(handles=_key(content), loc="lower left", **KEY)
    key.set_in_layout(False)


def _subtitle(content: Content) -> str:
    motion = content.motion
    parts = [content.robot.name, _counted(len(motion.keyframes), "keyframe"), f"{motion.duration:.3g} s"]
    if motion.loops:
        parts.append(f"{_repeats(motion)} (second pass paler)")
    if content.findings:
        levels = [finding.level.value for finding in content.findings]
        parts += [_counted(levels.count(level), level) for level in dict.fromkeys(levels)]
    return ", ".join(parts)


def _repeats(motion: Motion) -> str:
    return "repeats for ever" if motion.repeat is None else f"played {motion.repeat} times"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _key(content: Content) -> list[Any]:
    """Return what the strokes of the picture stand for."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    joints = [content.robot.joint(joint) for joint in content.shown]
    key: list[Any] = [
        Line2D([], [], color=panel.CURVE, marker="o", markersize=3.2, label="angle [deg], keyframes"),
        _stroke(panel.LIMIT, "--", "limit"),
    ]
    if any((j.hardware_lower_rad, j.hardware_upper_rad) != (j.lower_rad, j.upper_rad) for j in joints):
        key.append(_stroke(panel.HARDWARE, ":", "(limit of the mechanism)"))
    if any(np.isfinite(limit).any() for joint in content.shown for limit in content.coupled(joint)):
        key.append(_stroke(panel.LIMIT, (0, panel.COUPLED), "limit set by other joints"))
    key.append(Patch(color=panel.SPEED, label="speed; fine dashes: the most"))
    key.append(Patch(color=panel.TOO_FAST, label="too fast"))
    return key


def _stroke(colour: str, style: Any, label: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linestyle=style, linewidth=1.0, label=label)
