"""The picture of a board beside the interpreter: the states of both on one time axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from posewright.figures.style import GREY, INK, WRONG, canvas, colours_of, label_figure, styled
from posewright.recordings.falls import true_intervals

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
        times: of the ticks that the board answered [s].
        board: the chart's states on the board after each tick.
        interpreter: the states of the interpreter for the same inputs.
        title: of the figure.
        missed: times at which the board did not answer [s].
        figure: a figure, or a part of one, to draw into; default a new one. Its layout is `constrained`.
    """
    names = list(dict.fromkeys((*interpreter, *board)))
    size = (_WIDE_IN, _HEAD_IN + _ROW_IN * (len(names) + 1))
    parity_figure = canvas(figure, size, dpi=130, layout="constrained")
    axes = parity_figure.subplots()
    edges = _edges(times, missed)
    colours = colours_of(names)
    for row, name in enumerate(names):
        spans = _spans(interpreter, name, edges)
        axes.broken_barh(spans, (row - _THICK / 2, _THICK), facecolors=colours[name], alpha=0.35, lw=0)
        axes.broken_barh(_spans(board, name, edges), (row - _THIN / 2, _THIN), facecolors=INK, lw=0)
    wrong = [t for t, a, b in zip(times, board, interpreter, strict=True) if a != b]
    low = axes.get_xaxis_transform()
    for mark_times, mark, colour in ((missed, "|", GREY), (wrong, "x", WRONG)):
        heights = [0.98] * len(mark_times)
        axes.plot(mark_times, heights, mark, color=colour, ms=6, transform=low, clip_on=False)
    axes.set(xlabel="time [s]", ylim=(len(names) - 0.4, -1.1), yticks=range(len(names)))
    axes.set_yticklabels(names, parse_math=False)
    axes.grid(visible=True, axis="x", lw=0.3)
    _write_legend(parity_figure, {"missed": len(missed), "wrong": len(wrong), "ticks": len(times)})
    axes.set_title(title, loc="left", fontweight="bold", parse_math=False)
    return label_figure(parity_figure, title)


def _edges(times: Sequence[float], missed: Sequence[float]) -> list[tuple[float, float]]:
    """Return the beginning and end of each tick: until the next one, answered or missed."""
    if not times:
        return []
    due_times = np.unique([*times, *missed])
    usual_s = float(np.median(np.diff(due_times))) if len(due_times) > 1 else 1.0
    next_due_times = np.append(due_times, due_times[-1] + usual_s)
    ends = next_due_times[np.searchsorted(due_times, times) + 1]
    return [(t, min(end, t + 1.5 * usual_s)) for t, end in zip(times, ends.tolist(), strict=True)]


def _spans(states: Sequence[str], name: str, edges: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return beginning and duration of the spans of a state, with adjacent ticks merged."""
    spans = []
    for begin, end in true_intervals(np.array([state == name for state in states], bool)):
        start = begin
        for k in range(begin, end):
            is_last = k + 1 == end
            if is_last or edges[k + 1][0] > edges[k][1] + 1e-9:
                spans.append((edges[start][0], edges[k][1] - edges[start][0]))
                start = k + 1
    return spans


def _write_legend(parity_figure: Canvas, counts: dict[str, int]) -> None:
    """Write the legend of bars and marks at the bottom, with the numbers of marks."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    wrong_label = f"differ: {counts['wrong']} of {counts['ticks']} ticks"
    missed_label = f"not answered in time: {counts['missed']}"
    handles = [
        Patch(facecolor=GREY, alpha=0.35, label="interpreter, on the same inputs"),
        Line2D([], [], color=INK, lw=3.0, label="board"),
        Line2D([], [], color=WRONG, marker="x", ls="", label=wrong_label),
        Line2D([], [], color=GREY, marker="|", ls="", label=missed_label),
    ]
    parity_figure.legend(handles=handles, loc="outside lower left", ncols=4, frameon=False, fontsize=8)
