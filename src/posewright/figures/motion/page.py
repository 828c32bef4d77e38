"""The page of a motion: title, key, one small curve a joint, and the list of what is wrong with it below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from posewright.errors import InputError
from posewright.figures.motion import panel
from posewright.figures.motion.content import Content
from posewright.figures.motion.findings import Line, draw_badges, draw_list, draw_moments, list_lines
from posewright.figures.motion.layout import ATTITUDE, Cell, Layout, laid_out
from posewright.figures.style import axes_at, draw_key, styled
from posewright.formats import card_of
from posewright.motions import Finding, Motion, check_motion
from posewright.robots import Robot
from posewright.robots import robot as robot_named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Measures of the page [in].
MARGIN, AXIS_LEFT, PEAK_RIGHT = 0.2, 0.45, 0.15
HEAD, FOOT = 1.0, 0.45
LINE = 0.175
PANEL_HEIGHT, ROW_GAP, COLUMN_GAP = 1.0, 0.42, 0.6
PANEL_WIDTHS = {1: 8.4, 2: 4.2}
NARROW_PANEL = 3.2


@dataclass(frozen=True)
class _Page:
    """Where everything stands [in], measured from the upper left corner."""

    layout: Layout
    content: Content

    @property
    def panel_width(self) -> float:
        return PANEL_WIDTHS.get(self.layout.columns, NARROW_PANEL)

    @property
    def width(self) -> float:
        return MARGIN + AXIS_LEFT + self.across(self.layout.columns) + PEAK_RIGHT + MARGIN

    @property
    def height(self) -> float:
        below = 0.0 if self.list_in_gap or not self.lines else LINE * len(self.lines) + MARGIN
        return self.panels_end + below

    @property
    def panels_end(self) -> float:
        return self.top(self.layout.rows) - ROW_GAP + FOOT

    def across(self, columns: int) -> float:
        """Return how wide so many columns are."""
        return columns * (self.panel_width + COLUMN_GAP) - COLUMN_GAP

    def left(self, column: int) -> float:
        """Return where a column begins."""
        return MARGIN + AXIS_LEFT + column * (self.panel_width + COLUMN_GAP)

    def top(self, row: int) -> float:
        """Return where a row begins."""
        return HEAD + row * (PANEL_HEIGHT + ROW_GAP)

    @cached_property
    def list_in_gap(self) -> bool:
        """Whether the list of findings fits where no panel stands."""
        gap = self.layout.gap
        lines = list_lines(self.content, self.across(gap.columns))
        room = gap.rows * (PANEL_HEIGHT + ROW_GAP) - MARGIN
        return gap.columns > 1 and 0.0 < LINE * len(lines) <= room

    @cached_property
    def lines(self) -> list[Line]:
        gap = self.layout.gap
        width = self.across(gap.columns) if self.list_in_gap else self.width - 2 * MARGIN
        return list_lines(self.content, width)

    @property
    def list_box(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of the list."""
        height, gap = LINE * len(self.lines), self.layout.gap
        if self.list_in_gap:
            return self.left(gap.column), self.top(gap.row) + MARGIN, self.across(gap.columns), height
        return MARGIN, self.panels_end, self.width - 2 * MARGIN, height


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

    page = _Page(laid_out(content), content)
    figure = Figure(figsize=(page.width, page.height), dpi=150)
    figure.set_label(f"motion {content.motion.name}: {_subtitle(content)}")
    for cell in page.layout.cells:
        box = page.left(cell.column), page.top(cell.row), page.across(cell.columns), PANEL_HEIGHT
        axes = axes_at(figure, *box)
        _draw_panel(axes, content, cell, page.across(cell.columns))
        _draw_time(axes, page.layout, cell)
    if page.lines:
        draw_list(axes_at(figure, *page.list_box), page.lines, page.list_box[2])
    draw_head(figure, content, MARGIN)
    return figure


def _draw_panel(axes: Axes, content: Content, cell: Cell, width_in: float) -> None:
    draw_moments(axes, content)
    if cell.joint == ATTITUDE and content.attitude is not None:
        panel.draw_attitude(axes, content, cell, content.attitude)
    else:
        panel.draw_joint(axes, content, cell)
        draw_badges(axes, content, cell, width_in)


def _draw_time(axes: Axes, layout: Layout, cell: Cell) -> None:
    lowest = layout.is_lowest(cell)
    axes.tick_params(labelbottom=lowest, labelsize=7, length=2.5, pad=2)
    if lowest:
        axes.set_xlabel("time [s]", fontsize=7.5, labelpad=2)


def draw_head(figure: Figure, content: Content, margin: float) -> None:
    """Write title, subtitle and key at the top of the page, `margin` from its left edge [in]."""
    across, down = figure.get_size_inches().tolist()
    left, title, subtitle = margin / across, 1.0 - 0.1 / down, 1.0 - 0.34 / down
    figure.text(left, title, content.motion.name, fontsize=12, weight="bold", va="top", parse_math=False)
    figure.text(left, subtitle, _subtitle(content), fontsize=8, va="top", color=panel.HEADING)
    draw_key(figure, _key(content), margin, 0.52)


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
