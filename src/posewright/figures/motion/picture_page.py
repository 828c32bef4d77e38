"""The page of a motion's picture: title, key, panels in their places, and the list of findings below."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from posewright.figures.motion.picture_attitude import draw_attitude
from posewright.figures.motion.picture_content import Content
from posewright.figures.motion.picture_findings import Line, draw_badges, draw_list, draw_moments, list_lines
from posewright.figures.motion.picture_head import draw_head
from posewright.figures.motion.picture_layout import ATTITUDE, Cell, Layout, laid_out
from posewright.figures.motion.picture_panel import draw_joint

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


def draw_page(content: Content) -> Figure:
    """Return the whole picture."""
    from matplotlib.figure import Figure

    page = _Page(laid_out(content), content)
    figure = Figure(figsize=(page.width, page.height))
    for cell in page.layout.cells:
        box = page.left(cell.column), page.top(cell.row), page.across(cell.columns), PANEL_HEIGHT
        axes = _axes(figure, box)
        _draw_panel(axes, content, cell, page.across(cell.columns))
        _draw_time(axes, page.layout, cell)
    if page.lines:
        draw_list(_axes(figure, page.list_box), page.lines, page.list_box[2])
    draw_head(figure, content, MARGIN)
    return figure


def _axes(figure: Figure, box: tuple[float, float, float, float]) -> Axes:
    """Return axes in a box of left, top, width and height [in]."""
    left, top, width, height = box
    across, down = figure.get_size_inches().tolist()
    return figure.add_axes((left / across, 1.0 - (top + height) / down, width / across, height / down))


def _draw_panel(axes: Axes, content: Content, cell: Cell, width_in: float) -> None:
    draw_moments(axes, content)
    if cell.joint == ATTITUDE and content.attitude is not None:
        draw_attitude(axes, content, cell, content.attitude)
    else:
        draw_joint(axes, content, cell)
        draw_badges(axes, content, cell, width_in)


def _draw_time(axes: Axes, layout: Layout, cell: Cell) -> None:
    lowest = layout.is_lowest(cell)
    axes.tick_params(labelbottom=lowest, labelsize=7, length=2.5, pad=2)
    if lowest:
        axes.set_xlabel("time [s]", fontsize=7.5, labelpad=2)
