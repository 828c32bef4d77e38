"""The picture of a stress map: speed or points, and the share of falls, over each factor."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from posewright.evaluation.stress import MEASURE_LABELS, SPEED, FactorSweep, StressMap
from posewright.figures.style import COLOURS, GREY, INK, WRONG, canvas, create_mosaic, label_figure, styled

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

_COLUMNS = 4
_PANEL_WIDTH_IN = 3.0
_MEASURE_HEIGHT_IN = 1.9
_FALLS_HEIGHT_IN = 1.0
_HEAD_IN = 0.9

_TITLE_CHARACTERS = 42
"""Characters of the title that fit over a panel."""

_HEADROOM = 1.15
"""Upper end of the axes of all measurements, over the greatest one."""

_BAR_SHARE = 0.7
"""Width of a bar over the distance between two values."""


@styled("drawing a stress map")
def draw_stress(stress_map: StressMap, *, figure: Canvas | None = None) -> Figure:
    """Draw a stress map: for each factor the speed or points above, and the share of falls below.

    Args:
        stress_map: the map.
        figure: a figure, or a part of one, to draw into; default a new one. Its layout is `constrained`.
    """
    sweeps = stress_map.sweeps
    n_columns = min(_COLUMNS, len(sweeps))
    n_rows = math.ceil(len(sweeps) / n_columns)
    size_in = (_PANEL_WIDTH_IN * n_columns, _HEAD_IN + n_rows * (_MEASURE_HEIGHT_IN + _FALLS_HEIGHT_IN))
    page = canvas(figure, size_in, dpi=130, layout="constrained")
    mosaic: list[list[str]] = []
    for row in range(n_rows):
        names = [sweep.name for sweep in sweeps[row * n_columns : (row + 1) * n_columns]]
        names += ["."] * (n_columns - len(names))
        mosaic.append([name if name == "." else f"{name} measure" for name in names])
        mosaic.append([name if name == "." else f"{name} falls" for name in names])
    axes = create_mosaic(page, mosaic, height_ratios=[_MEASURE_HEIGHT_IN, _FALLS_HEIGHT_IN] * n_rows)
    greatest = max(
        (run.measured for sweep in sweeps for point in sweep.points for run in point.runs if run.measured),
        default=1.0,
    )
    for index, sweep in enumerate(sweeps):
        is_first_column = index % n_columns == 0
        _draw_measure(axes[f"{sweep.name} measure"], sweep, stress_map, greatest)
        _draw_falls(axes[f"{sweep.name} falls"], sweep)
        if is_first_column:
            axes[f"{sweep.name} measure"].set_ylabel(MEASURE_LABELS[stress_map.measure])
            axes[f"{sweep.name} falls"].set_ylabel("fell [%]")
    n_trials = len(sweeps[0].points[0].runs)
    title = f"{stress_map.title}, {n_trials} runs of each value"
    page.suptitle(
        textwrap.fill(title, _TITLE_CHARACTERS * n_columns),
        x=0.01,
        ha="left",
        fontsize=9.5,
        fontweight="bold",
        parse_math=False,
    )
    page.legend(
        handles=_legend_handles(stress_map),
        loc="outside lower left",
        ncols=2 * n_columns,
        fontsize=7,
        frameon=False,
    )
    return label_figure(page, f"stress map {title}")


def _legend_handles(stress_map: StressMap) -> list[Artist]:
    """Return the entries of the legend."""
    from matplotlib.lines import Line2D

    median_label = "median without falls" if stress_map.measure == SPEED else "median"
    handles: list[Artist] = [
        Line2D([], [], color=COLOURS[0], marker=".", linewidth=0.0, label="a run"),
        Line2D([], [], color=WRONG, marker="x", markersize=4.0, linewidth=0.0, label="a run with a fall"),
        Line2D([], [], color=COLOURS[0], linewidth=1.4, label=median_label),
        Line2D([], [], color=GREY, linewidth=0.8, linestyle=":", label="the model's value"),
    ]
    if stress_map.commanded is not None:
        handles.append(Line2D([], [], color=GREY, linewidth=0.8, linestyle="--", label="command"))
    return handles


def _draw_measure(axes: Axes, sweep: FactorSweep, stress_map: StressMap, greatest: float) -> None:
    """Draw the measurements of upright runs as dots, with the line of their medians and the command.

    Runs with a fall are crosses. The values of the factor are drawn at equal distances, since some rise by
    steps, some by factors.

    Args:
        axes: the axes to draw on.
        sweep: the runs over the values of one factor, such as the friction.
        stress_map: states the commanded value of the quantity measured, such as the speed.
        greatest: the greatest measurement of all factors, in that quantity's unit; sets the axis' end.
    """
    for position, point in enumerate(sweep.points):
        for run in point.runs:
            if run.measured is not None:
                marker, colour = (".", COLOURS[0]) if run.falls == 0 else ("x", WRONG)
                axes.plot(position, run.measured, marker, color=colour, markersize=4.0, alpha=0.6)
    medians = [math.nan if point.median is None else point.median for point in sweep.points]
    axes.plot(range(len(medians)), medians, color=COLOURS[0], linewidth=1.4)
    if stress_map.commanded is not None:
        axes.axhline(stress_map.commanded, color=GREY, linewidth=0.8, linestyle="--")
    _mark_nominal(axes, sweep)
    axes.set_title(sweep.title, loc="left", fontsize=8.5, color=INK, parse_math=False)
    axes.set_ylim(min(0.0, *_finite(medians)), _HEADROOM * greatest)
    axes.tick_params(labelbottom=False)
    _set_value_axis(axes, sweep)


def _draw_falls(axes: Axes, sweep: FactorSweep) -> None:
    """Draw the share of the runs with a fall as bars."""
    shares = [100.0 * (1.0 - point.upright_share) for point in sweep.points]
    axes.bar(range(len(shares)), shares, width=_BAR_SHARE, color=WRONG)
    _mark_nominal(axes, sweep)
    axes.set_ylim(0.0, 105.0)
    axes.set_yticks([0, 50, 100])
    _set_value_axis(axes, sweep)
    axes.set_xticklabels([f"{point.value:g}" for point in sweep.points])
    axes.set_xlabel(sweep.unit)


def _finite(values: list[float]) -> list[float]:
    """Return the values that are numbers, and 0."""
    return [0.0, *(value for value in values if math.isfinite(value))]


def _set_value_axis(axes: Axes, sweep: FactorSweep) -> None:
    """Give the values of a factor equal distances, and the panel a grid."""
    axes.set_xlim(-0.6, len(sweep.points) - 0.4)
    axes.set_xticks(range(len(sweep.points)))
    axes.grid(visible=True, axis="y", alpha=0.25)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _mark_nominal(axes: Axes, sweep: FactorSweep) -> None:
    """Draw a dotted line at the value of the robot's model."""
    for position, point in enumerate(sweep.points):
        if point.value == sweep.nominal:
            axes.axvline(position, color=GREY, linewidth=0.8, linestyle=":")
