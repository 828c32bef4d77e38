"""Findings in the picture of a motion: a number where each happens, and a list of them below."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from posewright.figures.motion.content import Content
from posewright.figures.motion.panel import LANE
from posewright.motions import Finding, Level

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {Level.ERROR: "#c0392b", Level.WARNING: "#b9770e", Level.NOTE: "#5b6770"}
RING, MANY_RINGS = 5.0, 12
"""Size of a ring on the curve [points]; of more than so many they are half as large."""

MOST_LISTED = 24
"""A longer list would be most of the picture."""

BADGE_IN = 0.17
"""How much room a number takes across [in]."""

LINE_IN = 0.175
"""Height of a line of the list [in]."""

CHARACTER_IN = 0.058
"""How much room a character of the list takes, on average [in]."""


@dataclass(frozen=True)
class Line:
    """One line of the list: the first of a finding has its number."""

    text: str
    number: int | None = None
    level: Level = Level.NOTE


def draw_badges(
    axes: Axes, content: Content, found: list[tuple[int, Finding]], joint: str, width_in: float
) -> None:
    """Draw the number of each finding above when it happens in a joint's panel, and a line to the curve."""
    found.sort(key=lambda entry: (_when(content, entry[1]), entry[0]))
    wanted = [_when(content, finding) / content.until_s for _, finding in found]
    for (number, finding), place in zip(found, spread(wanted, BADGE_IN / width_in), strict=True):
        if finding.joint is None:
            bottom, top = axes.get_ylim()
            point = (_when(content, finding), top - 1.5 * LANE * (top - bottom))
        else:
            point = _draw_rings(axes, content, finding, joint)
        line = {"arrowstyle": "-", "color": COLOURS[finding.level], "lw": 0.8, "shrinkA": 0, "shrinkB": 2.5}
        style = {"arrowprops": line, "annotation_clip": False, **_badge(number, finding.level)}
        axes.annotate(str(number), point, (place, 1.0 - LANE / 2.0), "data", "axes fraction", **style)


def draw_moments(axes: Axes, content: Content) -> None:
    """Draw an upright line where something was found of the robot as a whole."""
    for _, finding in content.whole:
        axes.axvline(_when(content, finding), color=COLOURS[finding.level], linewidth=0.8, alpha=0.6)


def _draw_rings(axes: Axes, content: Content, finding: Finding, joint: str) -> tuple[float, float]:
    """Draw a ring wherever it happens, and return where it is worst."""
    times = [min(time, content.until_s) for time in finding.times_s] or [0.0]
    points = [(time, _angle(axes, content, joint, time)) for time in times]
    size, colour = RING if len(points) <= MANY_RINGS else RING / 2.0, COLOURS[finding.level]
    axes.plot(*zip(*points, strict=True), "o", mfc="none", mec=colour, ms=size, mew=0.8, clip_on=False)
    return points[0]


def spread(wanted: Sequence[float], width: float) -> list[float]:
    """Return places as near as may be to the rising ones wanted, `width` apart and between 0 and 1."""
    half = min(width / 2.0, 0.5)
    places: list[float] = []
    for place in wanted:
        places.append(max(place, half, places[-1] + width if places else half))
    highest = 1.0 - half
    for i in range(len(places) - 1, -1, -1):
        places[i] = min(places[i], highest)
        highest = places[i] - width
    return places


def list_lines(content: Content, width_in: float) -> list[Line]:
    """Return the findings as lines of text no wider than `width_in` [in]."""
    lines = list(_lines(content.findings[:MOST_LISTED], max(40, int(width_in / CHARACTER_IN))))
    left = len(content.findings) - MOST_LISTED
    return [*lines, Line(f"and {left} more")] if left > 0 else lines


def draw_list(axes: Axes, lines: Sequence[Line]) -> None:
    """Write the lines from the top of axes down."""
    axes.set_axis_off()
    down: dict[str, Any] = {
        "xycoords": "axes fraction",
        "textcoords": "offset points",
        "annotation_clip": False,
    }
    for row, line in enumerate(lines):
        y = -(row + 0.5) * LINE_IN * 72.0
        if line.number is not None:
            axes.annotate(
                str(line.number), (0, 1), (BADGE_IN * 36.0, y), **down, **_badge(line.number, line.level)
            )
        text: dict[str, Any] = {"fontsize": 7.5, "va": "center", "parse_math": False, "in_layout": False}
        axes.annotate(line.text, (0, 1), (BADGE_IN * 108.0, y), **down, **text)


def _badge(number: int, level: Level) -> dict[str, Any]:
    """Return how a finding's number looks: white on the colour of its level."""
    style = "circle,pad=0.22" if number < 10 else "round,pad=0.22"
    box = {"boxstyle": style, "fc": COLOURS[level], "ec": "none"}
    return {"color": "white", "fontsize": 6.0, "weight": "bold", "ha": "center", "va": "center", "bbox": box}


def _lines(findings: Sequence[Finding], characters: int) -> Iterator[Line]:
    for number, finding in enumerate(findings, 1):
        text = f"{finding.level.value}, {finding.rule}: {finding.message}"
        first, *rest = textwrap.wrap(text, characters)
        yield Line(first, number, finding.level)
        yield from (Line(part) for part in rest)


def _when(content: Content, finding: Finding) -> float:
    return min(finding.times_s[0], content.until_s) if finding.times_s else 0.0


def _angle(axes: Axes, content: Content, joint: str, time_s: float) -> float:
    angle = content.angle_at(joint, time_s)
    return angle if math.isfinite(angle) else sum(axes.get_ylim()) / 2.0
