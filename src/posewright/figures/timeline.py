"""What happened over time: chart states, and the points as the judge's own account has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from posewright.contests import Result, progress
from posewright.recordings import Recording

_LEG_COLOURS = "#0072b2", "#e69f00"


def draw_states(axes: Any, trace: Recording, result: Result, colours: Mapping[str, str]) -> None:
    """Draw the chart's state as bars, a row a state."""
    names = list(colours)
    ends = np.append(trace.tick_times[1:], trace.duration_s)
    for row, name in enumerate(names):
        spans = [
            (start, end - start)
            for start, end, state in zip(trace.tick_times, ends, trace.chart_states, strict=True)
            if state == name
        ]
        axes.broken_barh(spans, (row - 0.38, 0.76), color=colours[name])
    axes.set(yticks=range(len(names)), yticklabels=names, title="state of the chart")
    axes.invert_yaxis()
    axes.tick_params(labelbottom=False)
    _mark(axes, result)


def draw_points(axes: Any, trace: Recording, result: Result) -> None:
    """Draw the points each leg had earned for good at every time, and what crossing the line then would earn.

    Time earns points at the line only: a leg that ends before it has taken the whole limit.
    """
    for leg, colour in zip(progress(trace), _LEG_COLOURS, strict=False):
        points = result.legs[leg.leg - 1].raw_points
        axes.plot(leg.times, leg.earned, color=colour, lw=2.0, label=f"leg {leg.leg}: {points:.2f} points")
        (crossed,) = axes.plot(leg.times, leg.if_crossed, color=colour, lw=1.2, ls=":")
        if leg.leg == 1:
            crossed.set_label("if the line were crossed now")
    axes.set(xlabel="time [s]", ylabel="points if it got no further", title="score")
    axes.legend(loc="best", frameon=False)
    axes.grid(alpha=0.3)
    _mark(axes, result)


def _mark(axes: Any, result: Result) -> None:
    """Mark the ends of legs, and penalties."""
    for leg in result.legs:
        if leg.ended_at_s is not None:
            axes.axvline(leg.ended_at_s, color="#555555", lw=0.8, ls="--")
    for penalty in result.penalties:
        axes.axvline(penalty.time_s, color="#b2182b", lw=1.0)
