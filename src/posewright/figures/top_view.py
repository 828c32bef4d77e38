"""The field from above: boxes as they stood and as they stand, the robot's way, what its lasers hit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from posewright.arenas import corners, shadows
from posewright.figures.beams import beam_hits
from posewright.recordings import Recording

Colours = Mapping[str, str]

_MARK_EVERY_S = 10.0
_MOVED_M = 0.005
"""A box that moved less is drawn once [m]."""


def draw_field(axes: Any, trace: Recording, colours: Colours) -> None:
    """Draw the field, x to the right as in the field frame."""
    arena = trace.header.arena
    size_x, size_y = arena["size_m"]
    _draw_ground(axes, arena, size_x, size_y)
    hits = beam_hits(trace)
    inside = (abs(hits[:, 0] - size_x / 2) <= size_x / 2 + 0.02) & (abs(hits[:, 1]) <= size_y / 2 + 0.02)
    axes.plot(*hits[inside].T, ".", ms=1.2, color="#b2182b", alpha=0.35, label="laser hits", zorder=2)
    _draw_boxes(axes, trace)
    _draw_way(axes, trace, colours)
    _draw_events(axes, trace)
    axes.set(xlim=(-0.06, size_x + 0.06), ylim=(-size_y / 2 - 0.06, size_y / 2 + 0.06))
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m], to the left")
    axes.figure.legend(
        *axes.get_legend_handles_labels(), loc="outside lower left", ncols=9, frameon=False, fontsize=8
    )


def _draw_ground(axes: Any, arena: Mapping[str, Any], size_x: float, size_y: float) -> None:
    from matplotlib.patches import Rectangle

    green = (*arena["colours"]["floor"], 0.28)
    axes.add_patch(Rectangle((0, -size_y / 2), size_x, size_y, fc=green, ec="#888888", lw=3, zorder=0))
    for line in arena["lines"]:
        left = line["x"] - line["width_m"] / 2
        axes.add_patch(Rectangle((left, -size_y / 2), line["width_m"], size_y, fc="white", zorder=1))


def _draw_boxes(axes: Any, trace: Recording) -> None:
    from matplotlib.patches import Polygon

    size = trace.header.arena["box_size_m"]
    starts, ends = (corners(*shadows(poses, size)) for poses in (trace.boxes[0], trace.boxes[-1]))
    for start, end in zip(starts, ends, strict=True):
        axes.add_patch(Polygon(start, fc="#d9b38c", ec="#7f5a34", lw=1.2, zorder=3))
        if np.abs(end - start).max() > _MOVED_M:
            axes.add_patch(Polygon(end, fill=False, ec="#b2182b", lw=1.2, ls="--", zorder=5))


def _draw_way(axes: Any, trace: Recording, colours: Colours) -> None:
    """Draw the base's way, each stretch in the colour of the state the chart was in."""
    places, times = trace.base[:, :2], trace.times
    tick = np.clip(np.searchsorted(trace.tick_times, times, side="right") - 1, 0, None)
    states = np.array(trace.chart_states)[tick] if len(trace.chart_states) else np.full(len(times), "")
    for state in dict.fromkeys(states.tolist()):
        here = np.where((states == state)[:, np.newaxis], places, np.nan)
        axes.plot(*here.T, color=colours.get(state, "black"), lw=2.2, label=state, zorder=4)
    axes.plot(*places[0], "o", color="black", ms=7, zorder=6, label="start")
    axes.plot(*places[-1], "s", color="black", ms=6, zorder=6, label="end")
    for mark in np.arange(_MARK_EVERY_S, times[-1], _MARK_EVERY_S):
        x, y = places[int(np.searchsorted(times, mark))]
        axes.annotate(
            f"{mark:.0f} s", (x, y), xytext=(3, 3), textcoords="offset points", fontsize=7, zorder=7
        )
        axes.plot(x, y, "o", color="black", ms=2.5, zorder=6)


def _draw_events(axes: Any, trace: Recording) -> None:
    for kind, sign, words in (
        ("fall", "X", "falls"),
        ("jam", "P", "jams"),
        ("box_moved", "s", "moved boxes"),
    ):
        found = trace.events_of(kind)
        rows = [min(int(np.searchsorted(trace.times, event.time_s)), trace.n_rows - 1) for event in found]
        if rows:
            axes.plot(
                *trace.base[rows, :2].T, sign, color="#b2182b", ms=9, mec="white", label=words, zorder=8
            )
