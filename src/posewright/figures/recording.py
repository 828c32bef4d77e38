"""The picture of a recording: the field from above, and beside it states and points over time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from posewright.charts.machine import STATE_SEPARATOR
from posewright.contests.picture import ContestPicture
from posewright.errors import InputError
from posewright.figures.field import LINES, MARKS, draw_field
from posewright.figures.style import (
    INK,
    SERIES,
    WRONG,
    canvas,
    colours_of,
    mosaic_of,
    shown_states,
    styled,
    titled,
)
from posewright.recordings import Recording
from posewright.recordings.falls import runs, tilt

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

_WIDE_IN = 13.0
_MOVED_DEG = 1.0
"""A joint that moves less is not shown."""

_MOST_FIELDS = 3
"""More parts of a contest than so many are drawn over one another."""


@styled("drawing a recording")
def draw_recording(
    recording: Recording,
    *,
    contest: ContestPicture | None = None,
    ax: Axes | None = None,
    figure: Canvas | None = None,
) -> Figure:
    """Draw what happened: paths from above, and over time what the controllers decided and what it was worth.

    Args:
        recording: what happened: of a race, a walk, a motion, any number of robots.
        contest: what its contest adds to the picture.
        ax: draw the paths from above into these axes of a figure of one's own, and nothing else.
        figure: a figure, or a part of one, to draw all into; default a new one. Its layout is `constrained`.

    Where the robots' places are unknown, as of real ones, there are no paths.

    Raises:
        InputError: paths alone are asked for, and the recording does not know where any robot was.
    """
    placed = any(record.knows_place for record in recording.robots.values())
    picture = contest or ContestPicture("")
    several = len(recording.robots) > 1
    states = [
        state for record in recording.robots.values() for state in shown_states(record.decisions.states)
    ]
    colours = colours_of(recording.robots if several else filter(None, states))
    if ax is not None:
        if not placed:
            raise InputError("the recording does not say where the robot was: there is no path to draw")
        draw_field(ax, recording, colours, picture.marks)
        return cast("Figure", ax.get_figure(root=True))
    spans = picture.spans if placed and 2 <= len(picture.spans) <= _MOST_FIELDS else ()
    over_time = ["tilt", "joints"][not placed : 1 if placed and several else 2]
    rows = [*(["states"] if any(states) else []), *(["series"] if picture.series else over_time)]
    fields = [f"field {n}" for n in range(max(1, len(spans)))] if placed else []
    drawn, axes = _panels(fields, rows, figure)
    for n, field in enumerate(fields):
        span = (spans[n].begin_s, spans[n].end_s) if spans else None
        draw_field(axes[field], recording, colours, picture.marks, span)
        axes[field].set_title(spans[n].label if spans else "from above")
    _draw_over_time(axes, recording, picture, colours)
    named: dict[str, Artist] = {}  # each stroke is named once, below everything
    for panel in (*fields, *rows[: any(states)]):
        handles, labels = axes[panel].get_legend_handles_labels()
        named |= dict(zip(labels, handles, strict=True))
    first = [label for label in colours if label in named]
    _name_strokes(drawn, {label: named[label] for label in dict.fromkeys((*first, *named))})
    title = _title(recording, picture)
    drawn.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold", parse_math=False)
    return titled(drawn, title)


def _panels(fields: list[str], rows: list[str], into: Canvas | None) -> tuple[Canvas, dict[str, Axes]]:
    """Return axes in a figure: a field beside what is drawn over time, several above it."""
    if len(fields) == 1:
        figure = canvas(into, (_WIDE_IN, 6.4), dpi=130, layout="constrained")
        return figure, mosaic_of(figure, [[*fields, row] for row in rows], width_ratios=(1.35, 1.0))
    above = [fields] if fields else []
    height_in = 1.0 + 4.0 * len(above) + 2.2 * len(rows)
    figure = canvas(into, (_WIDE_IN, height_in), dpi=130, layout="constrained")
    mosaic = [*above, *([row] * max(1, len(fields)) for row in rows)]
    heights = [2.4] * len(above) + [1.0] * len(rows)
    return figure, mosaic_of(figure, mosaic, height_ratios=heights)


def _name_strokes(figure: Canvas, named: Mapping[str, Artist]) -> None:
    """Write below everything what strokes stand for, in as many columns as fit into the figure."""
    for columns in range(min(9, len(named)), 0, -1):
        legend = figure.legend(
            named.values(), named, loc="outside lower left", ncols=columns, frameon=False, fontsize=8
        )
        if columns == 1 or legend.get_window_extent().width < 0.98 * figure.bbox.width:
            return
        legend.remove()


def _draw_over_time(
    axes: Mapping[str, Axes], recording: Recording, picture: ContestPicture, colours: Mapping[str, str]
) -> None:
    shown = [axes[name] for name in ("states", "series", "tilt", "joints") if name in axes]
    if "states" in axes:
        draw_states(axes["states"], recording, colours)
    if "tilt" in axes:
        draw_tilt(axes["tilt"], recording, colours)
    if "joints" in axes:
        draw_joints(axes["joints"], recording)
    if "series" in axes:
        draw_series(axes["series"], picture)
    faults = [event.time_s for event in recording.events_of("fault")]
    for panel in shown:
        panel.set_xlim(0.0, recording.duration_s or 1.0)
        for mark in picture.marks:
            panel.axvline(mark.time_s, color=MARKS[mark.kind], lw=0.9, ls=LINES[mark.kind])
        if faults:
            heights = [0.02] * len(faults)
            low = panel.get_xaxis_transform()
            panel.plot(faults, heights, "^", color=WRONG, ms=5, label="fault", transform=low)
    for panel in shown[:-1]:
        panel.tick_params(labelbottom=False)
    shown[-1].set_xlabel("time [s]")


def draw_states(axes: Axes, recording: Recording, colours: Mapping[str, str]) -> None:
    """Draw the states of the controllers as bars, a row a state; of several robots one after the other."""
    several = len(recording.robots) > 1
    names: list[str] = []
    title = "state of the controller"
    for robot, record in recording.robots.items():
        decisions = record.decisions
        states = shown_states(decisions.states)
        if STATE_SEPARATOR in "".join(decisions.states) and STATE_SEPARATOR not in "".join(states):
            title = "state of the controller, in the region of its chart that has most states"
        edges = np.append(decisions.times, recording.duration_s)
        for name in filter(None, dict.fromkeys(states)):
            stays = runs(np.array([state == name for state in states]), bridge=len(states) // 1000)
            spans = [(edges[begin], edges[end] - edges[begin]) for begin, end in stays]
            colour = colours[robot if several else name]
            axes.broken_barh(spans, (len(names) - 0.38, 0.76), color=colour, lw=0.3)
            names.append(f"{robot}: {name}" if several else name)
    axes.set(yticks=range(len(names)), title=title)
    axes.set_yticklabels(names, parse_math=False)
    axes.invert_yaxis()


def draw_tilt(axes: Axes, recording: Recording, colours: Mapping[str, str]) -> None:
    """Draw how far the bases lean."""
    for name, record in recording.robots.items():
        tilt_deg = np.rad2deg(tilt(record.base))
        axes.plot(recording.times, tilt_deg, color=colours.get(name, INK), lw=0.9, label=name)
    axes.set(ylabel="tilt [deg]", title="tilt of the base from the vertical")
    axes.set_ylim(bottom=0.0)
    axes.grid(alpha=0.3)
    if len(recording.robots) > 1:
        axes.legend(loc="best", frameon=False)


def draw_joints(axes: Axes, recording: Recording) -> None:
    """Draw the joints of the first robot that move most: as measured, and dotted as commanded."""
    record = recording.robot()
    measured = np.isfinite(record.positions).all(axis=0)
    angles = np.rad2deg(np.where(measured, record.positions, record.commands))
    travels = np.nan_to_num(np.ptp(angles, axis=0)) if len(angles) else np.zeros(angles.shape[1])
    most = [joint for joint in np.argsort(-travels, kind="stable").tolist() if travels[joint] > _MOVED_DEG]
    for colour, joint in zip(SERIES, most, strict=False):
        name = record.header.joints[joint]
        axes.plot(recording.times, angles[:, joint], color=colour, lw=1.2, label=name)
        axes.plot(recording.times, np.rad2deg(record.commands[:, joint]), color=colour, lw=1.0, ls=":")
    whose = f" of {next(iter(recording.robots))}" if len(recording.robots) > 1 else ""
    if not most:
        axes.set(yticks=[], title=f"no joint{whose} moves")
        return
    axes.set(ylabel="angle [deg]", title=f"joints{whose} that move most; dotted: commanded")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7, frameon=False)
    axes.grid(alpha=0.3)


def draw_series(axes: Axes, picture: ContestPicture) -> None:
    """Draw a contest's numbers over time."""
    for series in picture.series:
        axes.plot(
            series.times,
            series.values,
            color=SERIES[series.group % len(SERIES)],
            label=series.title,
            ls=":" if series.dotted else "-",
            lw=1.2 if series.dotted else 2.0,
        )
    units = ", ".join(dict.fromkeys(series.unit for series in picture.series))
    title = picture.series_title or ", ".join(dict.fromkeys(series.title for series in picture.series))
    axes.set(ylabel=units if units in title.split() else f"{title} [{units}]", title=title)
    axes.legend(loc="best", frameon=False)
    axes.grid(alpha=0.3)


def _title(recording: Recording, picture: ContestPicture) -> str:
    header = recording.header
    robots = []
    for name, robot in header.robots.items():
        description = f"{robot.controller} on {robot.robot}" if robot.controller else robot.robot
        is_named = len(header.robots) > 1 and name != description
        robots.append(f"{name} ({description})" if is_named else description)
    layout = f", layout {Path(header.layout).stem}" if header.layout else ""
    first = f"{header.contest or 'recording'}: {', '.join(robots)}{layout}, seed {header.seed}"
    return f"{first}\n{picture.headline}" if picture.headline else first
