"""What happened over time: chart states, the way made, and the points a judge would give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from posewright.contests import Result, score
from posewright.traces import Trace


def draw_states(axes: Any, trace: Trace, result: Result, colours: Mapping[str, str]) -> None:
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


def draw_points(axes: Any, trace: Trace, result: Result) -> None:
    """Draw the points each leg would have earned had it ended then, and the distance made."""
    lines = sorted(line["x"] for line in trace.header.arena["lines"])
    rear, front = trace.footprints[..., 0].min(axis=(1, 2)), trace.footprints[..., 0].max(axis=(1, 2))
    ways = (rear - lines[0], lines[-1] - front)
    other = axes.twinx()
    for number, (leg, way) in enumerate(zip(result.legs, ways, strict=True), 1):
        if leg.started_at_s is None:
            continue
        end = trace.duration_s if leg.ended_at_s is None else leg.ended_at_s
        here = (trace.times >= leg.started_at_s) & (trace.times <= end)
        times, distance = trace.times[here], np.clip(way[here] * 100.0, 0.0, 150.0)
        penalties = [sum(p.leg == number and p.time_s <= time for p in result.penalties) for time in times]
        points = [
            score(time - leg.started_at_s, d, count).raw_points
            for time, d, count in zip(times, distance, penalties, strict=True)
        ]
        other.plot(times, distance, color="#999999", lw=1.0, ls=":")
        axes.plot(times, points, lw=2.0, label=f"leg {number}: {leg.raw_points:.2f} points")
    axes.set(xlabel="time [s]", ylabel="points if the leg ended now", title="score")
    other.set_ylabel("distance [cm] (dotted)", color="#777777")
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
