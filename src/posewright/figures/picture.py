"""The picture of a trial: the field from above, and beside it states, distance and points over time."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from posewright.contests import Result, judge
from posewright.documents import write_atomically
from posewright.errors import InputError, MissingExtraError, Where
from posewright.figures.palette import state_colours
from posewright.figures.timeline import draw_points, draw_states
from posewright.figures.top_view import draw_field
from posewright.recordings import Recording

SUFFIXES = (".png", ".svg", ".pdf")


def draw_trial(trace: Recording, path: str | Path, result: Result | None = None) -> None:
    """Draw a trial to a PNG, SVG or PDF file, by the file's ending.

    Args:
        trace: what happened.
        path: where to.
        result: the judge's; worked out from the trace where none is given.

    Raises:
        InputError: a file ending that is no picture's, or a trace that does not know where the robot was.
        MissingExtraError: matplotlib is not installed.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise InputError("not a kind of picture", where=Where(path), hint=f"one of {', '.join(SUFFIXES)}")
    if not trace.knows_world:
        raise InputError("the trace does not say where the robot was: there is no path to draw")
    write_atomically(path, _rendered(trace, judge(trace) if result is None else result, path.suffix.lower()))


def _rendered(trace: Recording, result: Result, suffix: str) -> bytes:
    """Return the picture's file; the same trial gives the same one: no date, fixed identifiers."""
    try:
        from matplotlib import rc_context
    except ImportError as error:
        raise MissingExtraError.for_extra("drawing a trial", "plot") from error
    dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    stream = io.BytesIO()
    with rc_context({"svg.hashsalt": "posewright", "svg.fonttype": "none", "font.size": 9}):
        _figure(trace, result).savefig(stream, format=suffix[1:], dpi=130, metadata=dates.get(suffix, {}))
    return stream.getvalue()


def _figure(trace: Recording, result: Result) -> Any:
    from matplotlib.figure import Figure

    colours = state_colours(trace.chart_states)
    figure = Figure(figsize=(13.0, 6.4), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.35, 1.0), height_ratios=(1.0, 1.25))
    field = figure.add_subplot(grid[:, 0])
    draw_field(field, trace, colours)
    states = figure.add_subplot(grid[0, 1])
    draw_states(states, trace, result, colours)
    draw_points(figure.add_subplot(grid[1, 1], sharex=states), trace, result)
    figure.suptitle(_title(trace, result), x=0.01, ha="left", fontsize=11, fontweight="bold")
    return figure


def _title(trace: Recording, result: Result) -> str:
    header = trace.header
    times = " + ".join(f"{leg.time_s:.1f} s" if leg.finished else "unfinished" for leg in result.legs)
    return (
        f"{header.contest or 'trial'}: {header.behaviour} on {header.robot}, "
        f"layout {Path(header.layout).stem}, seed {header.seed}\n"
        f"{times}, {len(result.penalties)} penalties, {result.total_points:.2f} points"
    )
