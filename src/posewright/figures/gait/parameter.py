"""The effect of a gait's parameter: small pictures of the gait with several values, side by side."""

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
from posewright.figures.style import FAINT, GREY, INK, axes_at, canvas, label_figure, styled, trim_axes
from posewright.gaits import (
    QuadrupedGait,
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

TURN_PARAMETER = "maximum_turn_rad"
"""The only parameter that shows in a turn on the spot; all others show in a walk straight ahead."""


def parameter_variants(
    gait: QuadrupedGait, robot: Robot, name: str, values: Sequence[float] | Mapping[str, Mapping[str, float]]
) -> dict[str, GaitContent]:
    """Return a gait with several values of a parameter, at its greatest forward speed or greatest turn.

    Arguments and errors are as in `draw_parameter`; the keys are the labels of the values.
    """
    if not isinstance(values, Mapping):
        values = {_label(name, value): {name: value} for value in values}
    return {
        label: _fastest_content(gait.with_values(changes), robot, name) for label, changes in values.items()
    }


@styled("drawing a gait")
def draw_parameter(
    gait: QuadrupedGait,
    name: str,
    values: Sequence[float] | Mapping[str, Mapping[str, float]],
    *,
    robot: Robot | str | None = None,
    figure: Canvas | None = None,
) -> Figure:
    """Draw the effect of a gait's parameter: a small picture for each value.

    Args:
        gait: the gait with the other parameters.
        name: the name of the parameter, as in `GaitParameters`.
        values: the values of the parameter; or, by label, values of dotted names below it.
        robot: the robot that walks, or its name; default the gait's own.
        figure: a figure, or a part of one, to draw into; default a new one.

    Raises:
        UnknownNameError: there is no such parameter, or no such robot.
        InputError: a value is out of its range.
        UnreachableError: a foot cannot stand on its equilibrium point.
    """
    walking_robot = robot_of_gait(gait, robot)
    variants = parameter_variants(gait, walking_robot, name, values)
    return label_figure(draw_small_multiples(name, variants, figure), picture_description(name, variants))


def picture_description(name: str, labels: Iterable[str]) -> str:
    """Return the description that is stored in a picture, which reveals a picture of old values."""
    return f"{name}: {', '.join(labels)}"


def _label(name: str, value: float) -> str:
    """Return a parameter's value with its unit as text; the unit `pairs` is `pair` for 1."""
    unit = explanation(name).unit
    return f"{value:.3g} {unit.replace('pairs', 'pair') if value == 1 else unit}".strip()


def _fastest_content(gait: QuadrupedGait, robot: Robot, name: str) -> GaitContent:
    """Return a gait at its greatest speed forward, or at its fastest turn for a parameter of turning."""
    timing = timing_of(gait.parameters, robot.frame_period_s)
    parameter, _, _ = name.partition(".")
    if parameter == TURN_PARAMETER:
        return GaitContent(
            gait, robot, VelocityCommand(turn_rad_s=greatest_turn_rad_s(gait.parameters, timing))
        )
    return GaitContent(gait, robot, VelocityCommand(greatest_speed_m_s(gait.parameters, timing)))


MIN_DEVIATION_MM = 0.5
"""Least range, to either side, of a picture of a foot's deviation from the ground [mm]."""

SHOWN_FOOT = "left_front"
"""The foot that is drawn if one is enough."""

# Measures of the page [in].
LEFT_MARGIN_IN = 0.45
PANEL_GAP_IN = 0.42
PANEL_WIDTH_IN = 2.1
TITLE_HEIGHT_IN = 0.24
X_LABEL_ROOM_IN = 0.38
RIGHT_MARGIN_IN = 0.08
MARK_ROOM_IN = 0.12

SIDE_HEIGHT_IN = 0.95
TIME_HEIGHT_IN = 1.15
PHASES_HEIGHT_IN = 1.3
ABOVE_HEIGHT_IN = 1.6
STANCE_HEIGHT_IN = 1.3

POINTS_PER_INCH = 72.0
"""Points in an inch."""


@dataclass(frozen=True)
class PanelRow:
    """A row of small pictures of the same kind and scale.

    Attributes:
        draw: draws a panel for each gait.
        height_in: the height of the panels [in].
        x_label: label of their horizontal axis.
        y_label: label of their vertical axis.
        mark_room_in: room above them for marks [in].
    """

    draw: Draw
    height_in: float
    x_label: str
    y_label: str
    mark_room_in: float = 0.0


def draw_small_multiples(name: str, panels: Mapping[str, GaitContent], into: Canvas | None = None) -> Canvas:
    """Draw small pictures of gaits side by side, in the rows that show a parameter best.

    Args:
        name: dotted name of the parameter.
        panels: the gait drawn in each column, by the label above it.
        into: a figure, or a part of one, to draw into; default a new one.
    """
    parameter, _, _ = name.partition(".")  # `front_height_m.fore` is part of `front_height_m`
    rows = ROWS_OF_PARAMETER[parameter]
    width = LEFT_MARGIN_IN + len(panels) * (PANEL_WIDTH_IN + PANEL_GAP_IN) - PANEL_GAP_IN + RIGHT_MARGIN_IN
    height = TITLE_HEIGHT_IN + sum(row.mark_room_in + row.height_in + X_LABEL_ROOM_IN for row in rows)
    size = width, height
    figure = canvas(into, size, dpi=100)
    top = TITLE_HEIGHT_IN
    for row_index, row in enumerate(rows):
        top += row.mark_room_in
        axes = [
            axes_at(
                figure,
                page=size,
                left=LEFT_MARGIN_IN + column * (PANEL_WIDTH_IN + PANEL_GAP_IN),
                top=top,
                width=PANEL_WIDTH_IN,
                height=row.height_in,
            )
            for column in range(len(panels))
        ]
        row.draw(axes, list(panels.values()))
        axes[0].set_ylabel(row.y_label, fontsize=7, labelpad=1.5)
        for panel, label in zip(axes, panels, strict=True):
            panel.set_xlabel(row.x_label, fontsize=7, labelpad=1.0)
            if row_index == 0:
                pad = 4.0 + row.mark_room_in * POINTS_PER_INCH
                panel.set_title(label, fontsize=8, weight="bold", color=INK, pad=pad, parse_math=False)
        top += row.height_in + X_LABEL_ROOM_IN
    return figure


def _draw_sides(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    """Draw a foot from the side."""
    views = [feet.side_view(content, SIDE_HEIGHT_IN / PANEL_WIDTH_IN) for content in contents]
    widest = max(views, key=lambda view: view.span_mm)
    for panel, content in zip(axes, contents, strict=True):
        feet.draw_side(panel, content.feet[SHOWN_FOOT], widest)


def _draw_near_ground(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    """Draw a foot on the ground from the side, with heights stretched so that its deviation is visible.

    Args:
        axes: a panel for each gait.
        contents: the gaits; all panels have the same scale.
    """
    paths = [content.feet[SHOWN_FOOT] for content in contents]
    strokes_mm = []
    deviations_mm = []
    for path in paths:
        ground_positions = path.planned_positions(path.ground_times)
        strokes_mm.append(float(np.ptp(feet.distance_along_axis_mm(path, ground_positions, axis=0))))
        deviations_mm.append(float(np.abs(height_deviation_mm(path)).max()))
    # with a margin around the longest stroke and the greatest deviation
    span_mm = max(feet.MIN_SPAN_MM, 1.1 * max(strokes_mm))
    greatest_height_mm = max(MIN_DEVIATION_MM, 1.2 * max(deviations_mm))
    ratio = SIDE_HEIGHT_IN / PANEL_WIDTH_IN
    view = feet.SideView(
        0,
        middle_mm=0.0,
        span_mm=span_mm,
        ratio=ratio,
        height_scale=span_mm * ratio / (2.0 * greatest_height_mm),
    )
    for panel, path in zip(axes, paths, strict=True):
        feet.draw_side(panel, path, view)
        panel.set_ylim(-greatest_height_mm, greatest_height_mm)
        panel.axhspan(-greatest_height_mm, 0.0, color=feet.SOIL, lw=0, zorder=0)


def height_deviation_mm(path: FootPath) -> Floats:
    """Return the heights of a foot over the ground while it should be on it, `(n,)` [mm]."""
    times, executed = path.executed_since_lift
    return feet.height_mm(path, executed[times >= path.timing.air_s])


def _draw_heights(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    """Draw the height of a foot over time; ascent and descent are shaded."""
    longest_air_s = max(content.timing.air_s for content in contents)
    for panel, content in zip(axes, contents, strict=True):
        path = content.feet[SHOWN_FOOT]
        timing = content.timing
        times, executed = path.executed_since_lift
        for start in (0.0, timing.air_s - timing.ascent_s):
            panel.axvspan(start, start + timing.ascent_s, color=BAND, lw=0, zorder=0)
        panel.axhline(0.0, color=GREY, lw=0.8)
        panel.plot(times, feet.height_mm(path, executed), color=COLOURS[SHOWN_FOOT], lw=1.5)
        heights = feet.height_mm(path, path.planned_positions(path.air_times))
        panel.plot(path.air_times, heights, "o", ms=4, mfc="white", mec=COLOURS[SHOWN_FOOT])
        panel.set_xlim(-0.06 * longest_air_s, 1.12 * longest_air_s)
        trim_axes(panel)
    feet.share_scale(axes)


def _draw_forward_positions(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    """Draw the forward position of a foot over time; the time in the air is shaded."""
    longest_period_s = max(content.timing.period_s for content in contents)
    for panel, content in zip(axes, contents, strict=True):
        path = content.feet[SHOWN_FOOT]
        timing = content.timing
        times = np.linspace(0.0, longest_period_s, 400)
        positions = path.planned_positions(times % timing.period_s)  # a shorter cycle is repeated
        panel.plot(
            times, feet.distance_along_axis_mm(path, positions, axis=0), color=COLOURS[SHOWN_FOOT], lw=1.5
        )
        for cycle in range(int(longest_period_s / timing.period_s) + 1):
            start = cycle * timing.period_s
            panel.axvspan(start, start + timing.air_s, color=BAND, lw=0, zorder=0)
        panel.axhline(0.0, color=FAINT, lw=0.8)
        panel.set_xlim(0.0, longest_period_s)
        trim_axes(panel)
    feet.share_scale(axes)


def _draw_phases(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    """Draw the phases of the feet over a cycle, on the time axis of the longest cycle."""
    longest_period_s = max(content.timing.period_s for content in contents)
    for panel, content in zip(axes, contents, strict=True):
        draw_phases(panel, content)
        panel.set_xlim(0.0, longest_period_s)


def _draw_above(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    """Draw the robot and the paths of its feet from above, all panels in the same scale."""
    for panel, content in zip(axes, contents, strict=True):
        feet.draw_above(panel, content, has_names=False, base_follows_feet=True)
    feet.set_equal_scale(axes)


def _draw_reaches(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    """Draw the robot from above, with circles of the landing points of the longest steps."""
    from matplotlib.patches import Circle

    for panel, content in zip(axes, contents, strict=True):
        for foot, path in content.feet.items():
            radius = content.gait.parameters.maximum_displacement_m / 2.0 * MM
            x, y = (path.equilibrium_m[:2] * MM).tolist()
            panel.add_patch(Circle((x, y), radius, fill=False, ec=COLOURS[foot], lw=0.8))
    _draw_above(axes, contents)


def _draw_stances(axes: Sequence[Axes], contents: Sequence[GaitContent]) -> None:
    """Draw the robot standing, from the right, all panels in the same scale."""
    for panel, content in zip(axes, contents, strict=True):
        feet.draw_stance(panel, content)
    feet.set_equal_scale(axes)


_SIDE_ROWS = (PanelRow(_draw_sides, SIDE_HEIGHT_IN, x_label="x [mm]", y_label="height [mm]"),)
_ABOVE_ROWS = (PanelRow(_draw_above, ABOVE_HEIGHT_IN, x_label="x [mm]", y_label="y [mm]"),)

ROWS_OF_PARAMETER: Mapping[str, tuple[PanelRow, ...]] = MappingProxyType(
    {
        "ground_speed_m_s": (
            PanelRow(_draw_forward_positions, TIME_HEIGHT_IN, x_label="time [s]", y_label="x [mm]"),
        ),
        "ascent_pairs": (
            PanelRow(_draw_heights, TIME_HEIGHT_IN, x_label="time in the air [s]", y_label="height [mm]"),
        ),
        "ground_points": (
            PanelRow(_draw_near_ground, SIDE_HEIGHT_IN, x_label="x [mm]", y_label="height [mm]"),
        ),
        **dict.fromkeys(("front_height_m", "central_height_m", "rear_height_m"), _SIDE_ROWS),
        **dict.fromkeys(("shape_factor", "ascent_factor"), _SIDE_ROWS),
        "turn_multiplier_rad_m": _ABOVE_ROWS,
        "air_ground_factor": (
            PanelRow(
                _draw_phases, PHASES_HEIGHT_IN, x_label="time [s]", y_label="", mark_room_in=MARK_ROOM_IN
            ),
        ),
        "equilibrium_m": (
            *_ABOVE_ROWS,
            PanelRow(_draw_stances, STANCE_HEIGHT_IN, x_label="x [mm]", y_label="z [mm]"),
        ),
        "maximum_displacement_m": (
            PanelRow(_draw_reaches, ABOVE_HEIGHT_IN, x_label="x [mm]", y_label="y [mm]"),
        ),
        "maximum_turn_rad": _ABOVE_ROWS,
    }
)
"""The rows of pictures for each parameter."""
