"""Which foot is down when, as books draw it: a bar a foot, filled while it is down."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from posewright.figures.gait.content import SAME, FootWay, GaitContent
from posewright.figures.gait.feet import COLOURS, FAINT, GREY, INK, ORDER, SHORT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR = 0.62
"""Height of a bar, of the height of its row."""

TOP = -0.6

COUNT_ROW = float(len(ORDER))
"""Below the feet it is said how many are down."""


def down_spans(way: FootWay) -> list[tuple[float, float]]:
    """Return from when to when in the cycle a foot is down [s]; two spans where the cycle cuts one."""
    period = way.timing.period_s
    start = (way.lifts_s + way.timing.air_s) % period
    end = start + way.timing.ground_s
    if end <= period * (1.0 + SAME):
        return [(start, min(end, period))]
    return [(0.0, end - period), (start, period)]


def counts(content: GaitContent) -> Iterator[tuple[float, float, int]]:
    """Yield spans of the cycle [s] and how many feet are down in each."""
    period = content.timing.period_s
    spans = [span for way in content.feet.values() for span in down_spans(way)]
    edges = np.unique(np.round([0.0, period, *(edge for span in spans for edge in span)], 9))
    merged: list[tuple[float, float, int]] = []
    for start, end in pairwise(edges.tolist()):
        if end - start <= SAME * period:
            continue
        middle = (start + end) / 2.0
        n = sum(low < middle < high for low, high in spans)
        if merged and merged[-1][2] == n:
            merged[-1] = (merged[-1][0], end, n)
        else:
            merged.append((start, end, n))
    yield from merged


def draw_phases(axes: Axes, content: GaitContent) -> None:
    """Draw a cycle: a bar a foot, filled while it is down; where steps begin; how many feet are down."""
    period = content.timing.period_s
    for row, foot in enumerate(ORDER):
        axes.broken_barh([(0.0, period)], (row - BAR / 2, BAR), fc="white", ec=FAINT, lw=0.8, zorder=1)
        down = [(start, end - start) for start, end in down_spans(content.feet[foot])]
        axes.broken_barh(down, (row - BAR / 2, BAR), fc=COLOURS[foot], lw=0, zorder=2)
    for n, start in enumerate(content.step_starts_s, 1):
        axes.plot(
            [start, start], [TOP, COUNT_ROW - 0.5], color=INK, lw=0.8, ls=(0, (4, 3)), zorder=3, clip_on=False
        )
        axes.annotate(
            f"step {n}" if n == 1 else str(n),
            (start, 1.0),
            (2, 1),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            fontsize=6.5,
            color=GREY,
            va="bottom",
        )
    _write_counts(axes, content)
    axes.set_xlim(0.0, period)
    axes.set_ylim(COUNT_ROW + 0.4, TOP)
    axes.set_yticks([*range(len(ORDER)), COUNT_ROW], [*(SHORT[foot] for foot in ORDER), "down"])
    axes.tick_params(labelsize=7, length=2.5, pad=2)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _write_counts(axes: Axes, content: GaitContent) -> None:
    period = content.timing.period_s
    for start, end, n in counts(content):
        if end - start > 0.03 * period:
            axes.text((start + end) / 2.0, COUNT_ROW, str(n), ha="center", va="center", fontsize=7, color=INK)
        if start > 0.0:
            axes.plot([start, start], [COUNT_ROW - 0.3, COUNT_ROW + 0.3], color=FAINT, lw=0.8, zorder=1)
