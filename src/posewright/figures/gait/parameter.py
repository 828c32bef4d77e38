"""What one parameter of a gait does: the same gait with several values of it, small pictures side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from posewright.arrays import Floats
from posewright.figures.gait import feet
from posewright.figures.gait.content import COLOURS, MM, FootPath, GaitContent
from posewright.figures.gait.cycle import BAND, draw_phases
from posewright.figures.style import FAINT, GREY, INK, axes_at, canvas, styled, titled, trim
from posewright.gaits import (
    Gait,
    VelocityCommand,
    explanation,
    greatest_speed_m_s,
    greatest_turn_rad_s,
    robot_of_gait,
    timing_of,
)
from posewright.robots import Robot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

    Draw = Callable[[Sequence[Axes], Sequence[GaitContent]], None]

TURNS = "maximum_turn_rad"
"""The only parameter that shows in a turn on the spot; all others show in a walk straight ahead."""


def parameter_variants(
    gait: Gait, robot: Robot, name: str, values: Sequence[float] | Mapping[str, Mapping[str, float]]
) -> dict[str, GaitContent]:
    """Return a gait with several values of a parameter, at its greatest speed ahead or greatest turn.

    They are called as their values, or as `values` calls them, as in `draw_parameter`; errors, too.
    """
    if not isinstance(values, Mapping):
        values = {_label(name, value): {name: value} for value in values}
    return {label: _content(gait.with_values(changes), robot, name) for label, changes in values.items()}


@styled("drawing a gait")
def draw_parameter(
    gait: Gait,
    name: str,
    values: Sequence[float] | Mapping[str, Mapping[str, float]],
    *,
    robot: Robot | str | None = None,
    figure: Canvas | None = None,
) -> Figure:
    """Draw what a parameter of a gait does: a small picture for each value.

    Args:
        gait: all its other parameters stay.
        name: of the parameter, as in `GaitParameters`.
        values: of it; or, by what they are called, values of dotted names below it.
        robot: who walks, or the name; default the gait's own.
        figure: a figure, or a part of panel, to draw into; default a new panel.

    Raises:
        UnknownNameError: there is no such parameter, or no such robot.
        InputError: a value is out of its range.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """
    card = robot_of_gait(gait, robot)
    variants = parameter_variants(gait, card, name, values)
    return titled(multiples_page(name, variants, figure), described(name, variants))


def described(name: str, labels: Iterable[str]) -> str:
    """Return the description that is stored in a picture, so that a picture of old values is noticed."""
    return f"{name}: {', '.join(labels)}"


def _label(name: str, value: float) -> str:
    unit = explanation(name).unit
    return f"{value:.3g} {unit.replace('pairs', 'pair') if value == 1 else unit}".strip()


def _content(gait: Gait, robot: Robot, name: str) -> GaitContent:
    timing = timing_of(gait.parameters, robot.frame_period_s)
    if name.partition(".")[0] == TURNS:
        return GaitContent(
            gait, robot, VelocityCommand(turn_rad_s=greatest_turn_rad_s(gait.parameters, timing))
        )
    return GaitContent(gait, robot, VelocityCommand(greatest_speed_m_s(gait.parameters, timing)))


STRAYS_MM = 0.5
"""A picture of how a foot strays shows so much to either side at least [mm]."""

FOOT = "left_front"
"""The foot that is drawn where one is enough."""

# Measures of the page [in].
LEFT = 0.45
GAP = 0.42
PANEL = 2.1
TITLE = 0.24
BELOW = 0.38
RIGHT = 0.08
MARKED = 0.12

SIDE_HEIGHT = 0.95
TIME_HEIGHT = 1.15
PHASES_HEIGHT = 1.3
ABOVE_HEIGHT = 1.6
STANCE_HEIGHT = 1.3

POINTS = 72.0
"""In an inch."""


@dataclass(frozen=True)
class Row:
    """A row of small pictures that are drawn alike and to the same scale.

    Attributes:
        draw: fills a panel for each gait.
        height: of the panels [in].
        across: what their horizontal axis shows; `up` is what their vertical panel shows.
        marked: how much room they need above for marks of their own [in].
    """

    draw: Draw
    height: float
    across: str
    up: str
    marked: float = 0.0


def multiples_page(name: str, panels: Mapping[str, GaitContent], into: Canvas | None = None) -> Canvas:
    """Return small pictures of gaits side by side, by what stands above them, as shows a parameter best."""
    rows = ROWS[name.partition(".")[0]]
    width = LEFT + len(panels) * (PANEL + GAP) - GAP + RIGHT
    height = TITLE + sum(row.marked + row.height + BELOW for row in rows)
    size = width, height
    figure = canvas(into, size, dpi=100)
    top = TITLE
    for place, row in enumerate(rows):
        top += row.marked
        axes = [
            axes_at(figure, size, LEFT + n * (PANEL + GAP), top, PANEL, row.height)
            for n in range(len(panels))
        ]
        row.draw(axes, list(panels.values()))
        axes[0].set_ylabel(row.up, fontsize=7, labelpad=1.5)
        for panel, label in zip(axes, panels, strict=True):
            panel.set_xlabel(row.across, fontsize=7, labelpad=1.0)
            if place == 0:
                pad = 4.0 + row.marked * POINTS
                panel.set_title(label, fontsize=8, weight="bold", color=INK, pad=pad, parse_math=False)
        top += row.height + BELOW
    return figure


def _sides(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    """Draw a foot from the side."""
    views = [feet.side_view(content, SIDE_HEIGHT / PANEL) for content in contents]
    widest = max(views, key=lambda view: view.span_mm)
    for panel, content in zip(axes, contents, strict=True):
        feet.draw_side(panel, content.feet[FOOT], widest)


def _near_ground(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    """Draw a foot on the ground from the side, heights stretched so that its straying shows."""
    paths = [content.feet[FOOT] for content in contents]
    strokes = [float(np.ptp(feet.along_mm(path, path.planned(path.ground_times), 0))) for path in paths]
    span = max(feet.LEAST_SPAN_MM, 1.1 * max(strokes))
    furthest = max(STRAYS_MM, 1.2 * max(float(np.abs(straying_mm(path)).max()) for path in paths))
    ratio = SIDE_HEIGHT / PANEL
    view = feet.SideView(0, 0.0, span, ratio, span * ratio / (2.0 * furthest))
    for panel, path in zip(axes, paths, strict=True):
        feet.draw_side(panel, path, view)
        panel.set_ylim(-furthest, furthest)
        panel.axhspan(-furthest, 0.0, color=feet.SOIL, lw=0, zorder=0)


def straying_mm(path: FootPath) -> Floats:
    """Return how high above the ground the joints lead a foot while it is to be on it, `(n,)` [mm]."""
    times, executed = path.in_order
    return feet.height_mm(path, executed[times >= path.timing.air_s])


def _heights(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    """Draw how high a foot is over time; ascent and descent are shaded."""
    until = max(content.timing.air_s for content in contents)
    for panel, content in zip(axes, contents, strict=True):
        path = content.feet[FOOT]
        timing = content.timing
        times, executed = path.in_order
        for start in (0.0, timing.air_s - timing.ascent_s):
            panel.axvspan(start, start + timing.ascent_s, color=BAND, lw=0, zorder=0)
        panel.axhline(0.0, color=GREY, lw=0.8)
        panel.plot(times, feet.height_mm(path, executed), color=COLOURS[FOOT], lw=1.5)
        heights = feet.height_mm(path, path.planned(path.air_times))
        panel.plot(path.air_times, heights, "o", ms=4, mfc="white", mec=COLOURS[FOOT])
        panel.set_xlim(-0.06 * until, 1.12 * until)
        trim(panel)
    feet.share_scale(axes)


def _ahead(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    """Draw how far ahead of its equilibrium point a foot is over time, in the air shaded."""
    until = max(content.timing.period_s for content in contents)
    for panel, content in zip(axes, contents, strict=True):
        path = content.feet[FOOT]
        timing = content.timing
        times = np.linspace(0.0, until, 400)
        lap = times % timing.period_s
        panel.plot(times, feet.along_mm(path, path.planned(lap), 0), color=COLOURS[FOOT], lw=1.5)
        for cycle in range(int(until / timing.period_s) + 1):
            start = cycle * timing.period_s
            panel.axvspan(start, start + timing.air_s, color=BAND, lw=0, zorder=0)
        panel.axhline(0.0, color=FAINT, lw=0.8)
        panel.set_xlim(0.0, until)
        trim(panel)
    feet.share_scale(axes)


def _phases(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    until = max(content.timing.period_s for content in contents)
    for panel, content in zip(axes, contents, strict=True):
        draw_phases(panel, content)
        panel.set_xlim(0.0, until)


def _above(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    for panel, content in zip(axes, contents, strict=True):
        feet.draw_above(panel, content, names=False, by_feet=True)
    feet.share_true_scale(axes)


def _reaches(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    """Draw the robot from above; circles show where feet land for the longest step in any direction."""
    from matplotlib.patches import Circle

    for panel, content in zip(axes, contents, strict=True):
        for foot, path in content.feet.items():
            radius = content.gait.parameters.maximum_displacement_m / 2.0 * MM
            x, y = (path.equilibrium_m[:2] * MM).tolist()
            panel.add_patch(Circle((x, y), radius, fill=False, ec=COLOURS[foot], lw=0.8))
    _above(axes, contents)


def _stances(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    for panel, content in zip(axes, contents, strict=True):
        feet.draw_stance(panel, content)
    feet.share_true_scale(axes)


_SIDE = (Row(_sides, SIDE_HEIGHT, "x [mm]", "height [mm]"),)
_ABOVE = (Row(_above, ABOVE_HEIGHT, "x [mm]", "y [mm]"),)

ROWS: Mapping[str, tuple[Row, ...]] = MappingProxyType(
    {
        "ground_speed_m_s": (Row(_ahead, TIME_HEIGHT, "time [s]", "x [mm]"),),
        "ascent_pairs": (Row(_heights, TIME_HEIGHT, "time in the air [s]", "height [mm]"),),
        "ground_points": (Row(_near_ground, SIDE_HEIGHT, "x [mm]", "height [mm]"),),
        **dict.fromkeys(("front_height_m", "central_height_m", "rear_height_m"), _SIDE),
        **dict.fromkeys(("shape_factor", "ascent_factor"), _SIDE),
        "turn_multiplier_rad_m": _ABOVE,
        "air_ground_factor": (Row(_phases, PHASES_HEIGHT, "time [s]", "", MARKED),),
        "equilibrium_m": (*_ABOVE, Row(_stances, STANCE_HEIGHT, "x [mm]", "z [mm]")),
        "maximum_displacement_m": (Row(_reaches, ABOVE_HEIGHT, "x [mm]", "y [mm]"),),
        "maximum_turn_rad": _ABOVE,
    }
)
"""How each parameter is shown."""
