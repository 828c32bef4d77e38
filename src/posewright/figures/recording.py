"""The picture of a recording: the field from above, and states and points over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from posewright.charts.formats.files import parse_any_chart
from posewright.charts.machine import STATE_SEPARATOR
from posewright.charts.model import walk_states
from posewright.contests.consistency import CHART_SUFFIXES
from posewright.contests.picture import ContestPicture
from posewright.errors import InputError, PosewrightError
from posewright.figures.field import LINES, MARKS, draw_field
from posewright.figures.style import (
    INK,
    ROLE_COLOURS,
    SERIES,
    WRONG,
    canvas,
    colours_of,
    create_mosaic,
    displayed_states,
    label_figure,
    styled,
)
from posewright.recordings import Recording
from posewright.recordings.falls import tilt, true_intervals

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

_WIDE_IN = 13.0
_MIN_TRAVEL_DEG = 1.0
"""A joint that moves less is not drawn."""

_MAX_LEGEND_COLUMNS = 9
_STATES_PER_GAP = 1000
"""In a bar of a state, gaps of up to one decision for so many decisions are too thin to be drawn."""
_MAX_FIELDS = 3
"""Greatest number of parts of a contest with a field of their own; more parts share one."""


@styled("drawing a recording")
def draw_recording(
    recording: Recording,
    *,
    contest: ContestPicture | None = None,
    ax: Axes | None = None,
    figure: Canvas | None = None,
) -> Figure:
    """Draw a recording: paths from above, and the controllers' states and the contest's points over time.

    There are no paths if the robots' positions are unknown, as those of real ones.

    Args:
        recording: the recording of a race, a walk or a motion, with any number of robots.
        contest: additions of its contest to the picture.
        ax: axes of another figure, to draw only the paths from above into.
        figure: a figure, or a part of one, to draw into; default a new one. Its layout is `constrained`.

    Raises:
        InputError: `ax` is given, and the recording has no positions of any robot.
    """
    has_positions = any(record.knows_place for record in recording.robots.values())
    picture = contest or ContestPicture("")
    has_several_robots = len(recording.robots) > 1
    states = [
        state for record in recording.robots.values() for state in displayed_states(record.decisions.states)
    ]
    if has_several_robots:
        colours = colours_of(recording.robots)
    else:
        colours = colours_of(filter(None, states), _chart_states(recording))
    if ax is not None:
        if not has_positions:
            raise InputError("the recording has no positions of the robot: there is no path to draw")
        draw_field(ax, recording, colours, picture.marks)
        return cast("Figure", ax.get_figure(root=True))
    spans = picture.spans if has_positions and 2 <= len(picture.spans) <= _MAX_FIELDS else ()
    rows = ["states"] if any(states) else []
    if picture.series:
        rows.append("series")
    else:
        if has_positions:
            rows.append("tilt")
        if not has_positions or not has_several_robots:
            rows.append("joints")
    fields = [f"field {i}" for i in range(max(1, len(spans)))] if has_positions else []
    recording_figure, axes = _panels(fields, rows, figure)
    for i, field in enumerate(fields):
        span = (spans[i].begin_s, spans[i].end_s) if spans else None
        draw_field(axes[field], recording, colours, picture.marks, span)
        axes[field].set_title(spans[i].label if spans else "from above")
    _draw_over_time(axes, recording, picture, colours)
    legend_entries: dict[str, Artist] = {}  # one legend at the bottom, without repetitions
    for panel in (*fields, *(["states"] if any(states) else [])):
        handles, labels = axes[panel].get_legend_handles_labels()
        legend_entries |= dict(zip(labels, handles, strict=True))
    coloured_labels = [label for label in colours if label in legend_entries]  # these come first
    labels_in_order = dict.fromkeys((*coloured_labels, *legend_entries))
    _write_legend(recording_figure, {label: legend_entries[label] for label in labels_in_order})
    title = _title(recording, picture)
    recording_figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold", parse_math=False)
    return label_figure(recording_figure, title)


def _chart_states(recording: Recording) -> Iterator[str]:
    """Yield the names of all states of the charts that a recording carries."""
    for name, text in recording.header.documents.items():
        if name.endswith(CHART_SUFFIXES):
            try:
                chart = parse_any_chart(text)
            except PosewrightError:  # another table, or a chart of a version that is not known here
                continue
            yield from (state.name for state in walk_states(chart.states))


def _panels(fields: list[str], rows: list[str], into: Canvas | None) -> tuple[Canvas, dict[str, Axes]]:
    """Create the figure and its axes: a single field beside the plots over time, several fields above them.

    Args:
        fields: names of the panels with a field.
        rows: names of the panels over time, from top to bottom.
        into: a figure, or a part of one, to draw into; None for a new one.

    Returns:
        The figure, and the axes by the names of their panels.
    """
    if len(fields) == 1:
        figure = canvas(into, (_WIDE_IN, 6.4), dpi=130, layout="constrained")
        return figure, create_mosaic(figure, [[*fields, row] for row in rows], width_ratios=(1.35, 1.0))
    field_rows = [fields] if fields else []
    height_in = 1.0 + 4.0 * len(field_rows) + 2.2 * len(rows)
    figure = canvas(into, (_WIDE_IN, height_in), dpi=130, layout="constrained")
    mosaic = [*field_rows, *([row] * max(1, len(fields)) for row in rows)]
    heights = [2.4] * len(field_rows) + [1.0] * len(rows)
    return figure, create_mosaic(figure, mosaic, height_ratios=heights)


def _write_legend(figure: Canvas, handles: Mapping[str, Artist]) -> None:
    """Write the legend at the bottom, in as many columns as fit; `handles` has the entries by label."""
    for n_columns in range(min(_MAX_LEGEND_COLUMNS, len(handles)), 0, -1):
        legend = figure.legend(
            handles.values(), handles, loc="outside lower left", ncols=n_columns, frameon=False, fontsize=8
        )
        if n_columns == 1 or legend.get_window_extent().width < 0.98 * figure.bbox.width:
            return
        legend.remove()


def _draw_over_time(
    axes: Mapping[str, Axes], recording: Recording, picture: ContestPicture, colours: Mapping[str, str]
) -> None:
    """Draw the panels with a time axis, with marks of the contest and of faults."""
    panels = [axes[name] for name in ("states", "series", "tilt", "joints") if name in axes]
    if "states" in axes:
        draw_states(axes["states"], recording, colours)
    if "tilt" in axes:
        draw_tilt(axes["tilt"], recording, colours)
    if "joints" in axes:
        draw_joints(axes["joints"], recording)
    if "series" in axes:
        draw_series(axes["series"], picture)
    faults = [event.time_s for event in recording.events_of("fault")]
    for panel in panels:
        panel.set_xlim(0.0, recording.duration_s or 1.0)
        for mark in picture.marks:
            panel.axvline(mark.time_s, color=MARKS[mark.kind], lw=0.9, ls=LINES[mark.kind])
        if faults:
            heights = [0.02] * len(faults)
            panel_shares = panel.get_xaxis_transform()  # y as a share of the panel
            panel.plot(faults, heights, "^", color=WRONG, ms=5, label="fault", transform=panel_shares)
    for panel in panels[:-1]:
        panel.tick_params(labelbottom=False)
    panels[-1].set_xlabel("time [s]")


def draw_states(axes: Axes, recording: Recording, colours: Mapping[str, str]) -> None:
    """Draw the states of the controllers as bars, a row for each state, robot after robot."""
    has_several_robots = len(recording.robots) > 1
    row_names: list[str] = []
    title = "state of the controller"
    for robot, record in recording.robots.items():
        decisions = record.decisions
        states = displayed_states(decisions.states)
        if STATE_SEPARATOR in "".join(decisions.states) and STATE_SEPARATOR not in "".join(states):
            title = "state of the controller, in the region of its chart that has most states"
        edges_s = np.append(
            decisions.times, recording.duration_s
        )  # decision i is in force from edge i to i + 1
        for name in filter(None, dict.fromkeys(states)):
            intervals = true_intervals(
                np.array([state == name for state in states]), max_gap=len(states) // _STATES_PER_GAP
            )
            begins_and_lengths = [(edges_s[begin], edges_s[end] - edges_s[begin]) for begin, end in intervals]
            colour = colours[robot if has_several_robots else name]
            axes.broken_barh(begins_and_lengths, (len(row_names) - 0.38, 0.76), color=colour, lw=0.3)
            row_names.append(f"{robot}: {name}" if has_several_robots else name)
    axes.set(yticks=range(len(row_names)), title=title)
    axes.set_yticklabels(row_names, parse_math=False)
    axes.invert_yaxis()


def draw_tilt(axes: Axes, recording: Recording, colours: Mapping[str, str]) -> None:
    """Draw the tilt of the bases from the vertical."""
    for name, record in recording.robots.items():
        tilt_deg = np.rad2deg(tilt(record.base))
        axes.plot(recording.times, tilt_deg, color=colours.get(name, INK), lw=0.9, label=name)
    axes.set(ylabel="tilt [deg]", title="tilt of the base from the vertical")
    axes.set_ylim(bottom=0.0)
    axes.grid(alpha=0.3)
    if len(recording.robots) > 1:
        axes.legend(loc="best", frameon=False)


def draw_joints(axes: Axes, recording: Recording) -> None:
    """Draw the joints of the first robot that move most: measured, and commanded as dotted lines."""
    record = recording.robot()
    is_measured = np.isfinite(record.positions).all(axis=0)
    angles = np.rad2deg(np.where(is_measured, record.positions, record.commands))
    travels = np.nan_to_num(np.ptp(angles, axis=0)) if len(angles) else np.zeros(angles.shape[1])
    by_travel = np.argsort(-travels, kind="stable").tolist()
    moving_joints = [joint for joint in by_travel if travels[joint] > _MIN_TRAVEL_DEG]
    for colour, joint in zip(SERIES, moving_joints, strict=False):  # as many as there are colours
        name = record.header.joints[joint]
        axes.plot(recording.times, angles[:, joint], color=colour, lw=1.2, label=name)
        axes.plot(recording.times, np.rad2deg(record.commands[:, joint]), color=colour, lw=1.0, ls=":")
    owner = f" of {next(iter(recording.robots))}" if len(recording.robots) > 1 else ""
    if not moving_joints:
        axes.set(yticks=[], title=f"no joint{owner} moves")
        return
    axes.set(ylabel="angle [deg]", title=f"joints{owner} that move most; dotted: commanded")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7, frameon=False)
    axes.grid(alpha=0.3)


def draw_series(axes: Axes, picture: ContestPicture) -> None:
    """Draw a contest's numbers over time."""
    for series in picture.series:
        axes.plot(
            series.times,
            series.values,
            color=ROLE_COLOURS.get(series.title, SERIES[series.group % len(SERIES)]),
            label=series.title,
            ls=":" if series.dotted else "-",
            lw=1.2 if series.dotted else 2.0,
        )
    units = ", ".join(dict.fromkeys(series.unit for series in picture.series))
    title = picture.series_title or ", ".join(dict.fromkeys(series.title for series in picture.series))
    # a title that names the unit needs no second mention of it
    axes.set(ylabel=units if units in title.split() else f"{title} [{units}]", title=title)
    axes.legend(loc="best", frameon=False)
    axes.grid(alpha=0.3)


def _title(recording: Recording, picture: ContestPicture) -> str:
    """Return the title: contest, robots, layout and seed, below it the result."""
    header = recording.header
    robots = []
    for name, robot in header.robots.items():
        description = f"{robot.controller} on {robot.robot}" if robot.controller else robot.robot
        is_named = len(header.robots) > 1 and name != description
        robots.append(f"{name} ({description})" if is_named else description)
    layout = f", layout {Path(header.layout).stem}" if header.layout else ""
    title = f"{header.contest or 'recording'}: {', '.join(robots)}{layout}, seed {header.seed}"
    return f"{title}\n{picture.headline}" if picture.headline else title
