"""The picture of a board beside the interpreter: the states of both on one time axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from posewright.figures.style import GREY, INK, WRONG, canvas, colours_of, label_figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

_WIDE_IN = 11.0
_ROW_IN = 0.34
_HEAD_IN = 1.15
_THICK = 0.8
_THIN = 0.3
"""Heights of the interpreter's bars and of the board's in them, in rows."""


@styled("drawing a board's states")
def draw_parity(
    times: Sequence[float],
    board: Sequence[str],
    interpreter: Sequence[str],
    *,
    title: str = "",
    missed: Sequence[float] = (),
    figure: Canvas | None = None,
) -> Figure:
    """Draw a board's states over the interpreter's, a row for each state, and where the two differ.

    Args:
        times: the times of the ticks that the board answered [s].
        board: the chart's states on the board after each tick.
        interpreter: the states of the interpreter for the same inputs.
        title: the title of the figure.
        missed: times at which the board did not answer [s].
        figure: a figure, or a part of one, to draw into; default a new one. Its layout is `constrained`.
    """
    names = list(dict.fromkeys((*interpreter, *board)))
    size = (_WIDE_IN, _HEAD_IN + _ROW_IN * (len(names) + 1))
    parity_figure = canvas(figure, size, dpi=130, layout="constrained")
    axes = parity_figure.subplots()
    tick_spans = _tick_spans(times, missed)
    colours = colours_of(names)
    for row, name in enumerate(names):
        interpreter_bars = _state_bars(interpreter, name, tick_spans)
        board_bars = _state_bars(board, name, tick_spans)
        axes.broken_barh(
            interpreter_bars, (row - _THICK / 2, _THICK), facecolors=colours[name], alpha=0.35, lw=0
        )
        axes.broken_barh(board_bars, (row - _THIN / 2, _THIN), facecolors=INK, lw=0)
    differing = [
        time_s
        for time_s, board_state, interpreter_state in zip(times, board, interpreter, strict=True)
        if board_state != interpreter_state
    ]
    panel_shares = axes.get_xaxis_transform()  # y as a share of the panel
    for mark_times, marker, colour in ((missed, "|", GREY), (differing, "x", WRONG)):
        heights = [0.98] * len(mark_times)
        axes.plot(mark_times, heights, marker, color=colour, ms=6, transform=panel_shares, clip_on=False)
    axes.set(xlabel="time [s]", ylim=(len(names) - 0.4, -1.1), yticks=range(len(names)))
    axes.set_yticklabels(names, parse_math=False)
    axes.grid(visible=True, axis="x", lw=0.3)
    _write_legend(parity_figure, n_missed=len(missed), n_differing=len(differing), n_ticks=len(times))
    axes.set_title(title, loc="left", fontweight="bold", parse_math=False)
    return label_figure(parity_figure, title)


def _tick_spans(times: Sequence[float], missed: Sequence[float]) -> list[tuple[float, float]]:
    """Return beginning and end of each tick that the board answered [s].

    A tick ends at the next one, answered or missed, but after at most one and a half usual durations.

    Args:
        times: the times of the answered ticks [s].
        missed: the times of the ticks that were not answered [s].
    """
    if not times:
        return []
    all_times = np.unique([*times, *missed])
    usual_duration_s = float(np.median(np.diff(all_times))) if len(all_times) > 1 else 1.0
    times_and_end = np.append(all_times, all_times[-1] + usual_duration_s)
    next_times = times_and_end[np.searchsorted(all_times, times) + 1]
    tick_spans = []
    for begin_s, next_s in zip(times, next_times.tolist(), strict=True):
        latest_end_s = begin_s + 1.5 * usual_duration_s
        tick_spans.append((begin_s, min(next_s, latest_end_s)))
    return tick_spans


def _state_bars(
    states: Sequence[str], name: str, tick_spans: Sequence[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Return beginning and duration [s] of the bars of one state, with adjacent ticks merged.

    Args:
        states: the state after each tick.
        name: the state of the bars.
        tick_spans: beginning and end of each tick [s].
    """
    bars: list[tuple[float, float]] = []
    bar_begin_s = bar_end_s = -math.inf
    for state, (begin_s, end_s) in zip(states, tick_spans, strict=True):
        if state != name:
            bar_end_s = -math.inf  # the next tick in the state begins a new bar
            continue
        if begin_s > bar_end_s + 1e-9:
            bar_begin_s = begin_s
            bars.append((begin_s, end_s - begin_s))
        else:
            bars[-1] = (bar_begin_s, end_s - bar_begin_s)
        bar_end_s = end_s
    return bars


def _write_legend(parity_figure: Canvas, *, n_missed: int, n_differing: int, n_ticks: int) -> None:
    """Write the legend of bars and marks at the bottom, with the numbers of marks."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    differing_label = f"differ: {n_differing} of {n_ticks} ticks"
    missed_label = f"not answered in time: {n_missed}"
    handles = [
        Patch(facecolor=GREY, alpha=0.35, label="interpreter, on the same inputs"),
        Line2D([], [], color=INK, lw=3.0, label="board"),
        Line2D([], [], color=WRONG, marker="x", ls="", label=differing_label),
        Line2D([], [], color=GREY, marker="|", ls="", label=missed_label),
    ]
    parity_figure.legend(handles=handles, loc="outside lower left", ncols=4, frameon=False, fontsize=8)
