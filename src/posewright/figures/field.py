"""The field from above: boxes as they stood and as they stand, the robots' paths, what their lasers hit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from posewright.arenas import Arena, Role, corners, shadows
from posewright.arrays import Flags, Floats
from posewright.contests.picture import Mark, MarkKind
from posewright.figures.style import COLOURS, GREY, WRONG
from posewright.recordings import Recording
from posewright.rotation import heading

MARKS = {MarkKind.PENALTY: WRONG, MarkKind.MILESTONE: GREY}

_MARK_EVERY = 9
"""A path has so many marks of time at most."""

_APART = 0.05
"""Marks of time are no nearer to each other than this share of the path's extent: they can be read."""

_ROUND_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0)

_MOVED_M = 0.005
"""A box that moved less is drawn once [m]."""

_LEAST_SIDE_M = 0.3
"""On a bare floor no less is shown: a robot on the spot does not look like a traveller."""

_REACH = 0.999
"""A reading nearer to the greatest range than this share hit nothing."""

_SCANS_SHOWN_HZ = 1.0
"""Scans have many beams: so many of them a second are enough to see the walls."""


def beam_hits(
    recording: Recording, robot: str | None = None, begin_s: float = 0.0, end_s: float = math.inf
) -> Floats:
    """Return the points that a robot's range sensors and scans hit, `(n, 2)` in the field frame [m].

    The sensors' places on the robot are left out: they are within a hand's breadth of the base.
    """
    record = recording.robot(robot)
    times, found = record.decisions.times, [np.zeros((0, 2))]
    for name, card in record.header.sensors.items():
        ranges = record.decisions.sensors.get(name)
        if ranges is None or not len(times):
            continue
        if card["kind"] == "range":
            bearings, every = np.radians([float(card["yaw_deg"])]), 1
        elif card["kind"] == "range_scan":
            bearings = np.radians(card["start_deg"] + card["step_deg"] * np.arange(card["beams"]))
            every = max(1, round(len(times) / (recording.duration_s * _SCANS_SHOWN_HZ + 1.0)))
        else:
            continue
        ticks = np.arange(0, len(times), every)
        ticks = ticks[(times[ticks] >= begin_s) & (times[ticks] <= end_s)]
        rows = np.clip(np.searchsorted(recording.times, times[ticks]), 0, recording.n_rows - 1)
        found.append(_hits(record.base[rows], ranges[ticks], bearings, card["max_range_m"]))
    return np.concatenate(found)


def _hits(base: Floats, ranges: Floats, bearings: Floats, max_range_m: float) -> Floats:
    angles = heading(base[:, 3:])[:, np.newaxis] + bearings
    ends = base[:, np.newaxis, :2] + ranges[..., np.newaxis] * np.stack([np.cos(angles), np.sin(angles)], -1)
    return np.asarray(ends[ranges < _REACH * max_range_m])


def draw_field(
    axes: Any,
    recording: Recording,
    colours: Mapping[str, str],
    marks: tuple[Mark, ...] = (),
    span: tuple[float, float] | None = None,
) -> None:
    """Draw the field, x to the right as in the field frame.

    `colours` are those of the states of the one robot, or of the robots where there are several; `marks` have
    a place and a time; `span` is from when to when [s], None for all.
    """
    begin, end = span or (float(recording.times[0]), float(recording.times[-1]))
    shown: Flags = (recording.times >= begin) & (recording.times <= end)
    arena = Arena.from_dict(recording.header.arena) if recording.header.arena else None
    if arena is not None:
        _draw_ground(axes, arena)
        _draw_beams(axes, recording, arena, begin, end)
        _draw_boxes(axes, recording, arena, shown)
    for name in recording.robots:
        _draw_path(axes, recording, name, shown, colours)
    for kind, colour in MARKS.items():
        here = [m for m in marks if m.kind is kind and begin < m.time_s <= end and None not in {m.x, m.y}]
        style = {"color": colour, "marker": "X" if kind is MarkKind.PENALTY else "D", "ls": ""}
        for label in dict.fromkeys(mark.label for mark in here):
            places = [(mark.x, mark.y) for mark in here if mark.label == label]
            axes.plot(*zip(*places, strict=True), ms=7, mec="white", label=label, zorder=8, **style)
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m], to the left")
    if arena is not None:
        x, y = arena.size_m
        axes.set(xlim=(-0.06, x + 0.06), ylim=(-y / 2 - 0.06, y / 2 + 0.06))
        return
    frame_from_above(axes)
    axes.grid(alpha=0.3)


def frame_from_above(axes: Any) -> None:
    """Show all of a bare floor that was walked on, at one scale, and not too little."""
    box = axes.dataLim
    middle = np.array([box.x0 + box.x1, box.y0 + box.y1]) / 2.0
    axes.update_datalim([middle - _LEAST_SIDE_M / 2.0, middle + _LEAST_SIDE_M / 2.0])
    axes.set_aspect("equal", adjustable="datalim")


def _draw_ground(axes: Any, arena: Arena) -> None:
    from matplotlib.patches import Circle, Polygon, Rectangle

    x, y = arena.size_m
    floor = (*arena.colours["floor"], 0.28)
    axes.add_patch(Rectangle((0, -y / 2), x, y, fc=floor, ec="#888888", lw=3, zorder=0))
    for shape in arena.shapes:
        if shape.role is Role.WALL:
            continue  # the field's own edge is drawn already
        is_line = shape.role is Role.LINE
        colour, edge = ("white", "none") if is_line else (arena.colours[shape.role.value], "#888888")
        style: dict[str, Any] = {"fc": colour, "ec": edge, "zorder": 1}
        if shape.is_round:
            axes.add_patch(Circle((shape.x, shape.y), shape.size_m[0] / 2.0, **style))
        else:
            (outline,) = corners([(shape.x, shape.y, shape.yaw_rad)], shape.size_m[:2])
            axes.add_patch(Polygon(outline, **style))


def _draw_beams(axes: Any, recording: Recording, arena: Arena, begin_s: float, end_s: float) -> None:
    x, y = arena.size_m
    hits = np.concatenate([beam_hits(recording, name, begin_s, end_s) for name in recording.robots])
    inside = (abs(hits[:, 0] - x / 2) <= x / 2 + 0.02) & (abs(hits[:, 1]) <= y / 2 + 0.02)
    if inside.any():
        axes.plot(*hits[inside].T, ".", ms=1.2, color=WRONG, alpha=0.35, label="laser hits", zorder=2)


def _draw_boxes(axes: Any, recording: Recording, arena: Arena, shown: Flags) -> None:
    """Draw the boxes as they stood in the beginning, and those that were moved as they stood in the end."""
    from matplotlib.patches import Polygon

    if not recording.boxes.size or not shown.any():
        return
    first, last = recording.boxes[shown][[0, -1]]
    starts, ends = (corners(*shadows(poses, arena.box_sizes)) for poses in (first, last))
    moved = np.abs(ends - starts).max(axis=(1, 2)) > _MOVED_M
    for start in starts:
        axes.add_patch(Polygon(start, fc="#d9b38c", ec="#7f5a34", lw=1.2, zorder=3))
    for n, end in enumerate(ends[moved]):
        label = "" if n else "box, moved"
        axes.add_patch(Polygon(end, fill=False, ec=WRONG, lw=1.2, ls="--", label=label, zorder=5))


def _draw_path(axes: Any, recording: Recording, name: str, shown: Flags, colours: Mapping[str, str]) -> None:
    """Draw the base's path; of a single robot each stretch in the colour of its controller's state."""
    record, times = recording.robots[name], recording.times
    places, decisions = record.base[:, :2], record.decisions
    known = shown & np.isfinite(places).all(axis=1)
    if not known.any():
        return
    if len(recording.robots) > 1 or not any(decisions.states):
        here = np.where(known[:, np.newaxis], places, np.nan)
        axes.plot(*here.T, color=colours.get(name, COLOURS[0]), lw=1.8, label=f"path of {name}", zorder=4)
    else:
        tick = np.clip(np.searchsorted(decisions.times, times, side="right") - 1, 0, None)
        state = np.array(decisions.states)[tick]
        for one in dict.fromkeys(state[known].tolist()):
            here = np.where((known & (state == one))[:, np.newaxis], places, np.nan)
            axes.plot(*here.T, color=colours.get(one, "black"), lw=2.0, label=one, zorder=4)
    first, last = np.flatnonzero(known)[[0, -1]]
    label = "" if axes.get_legend_handles_labels()[1].count("start") else "start"
    axes.plot(*places[first], "o", color="black", ms=7, zorder=6, label=label)
    axes.plot(*places[last], "s", color="black", ms=6, zorder=6, label=label and "end")
    _mark_times(axes, times, record.base, known)


def _mark_times(axes: Any, times: Floats, base: Floats, known: Flags) -> None:
    """Write round times beside the path, each with an arrow where the robot looked."""
    shown = times[known]
    step = next((s for s in _ROUND_S if np.ptp(shown) <= s * _MARK_EVERY), _ROUND_S[-1])
    apart = _APART * max(np.ptp(base[known, :2], axis=0).max(), _LEAST_SIDE_M)
    marked = [base[known][0, :2]]
    for mark in np.arange(np.ceil(shown[0] / step + 0.1) * step, shown[-1], step).tolist():
        row = int(np.searchsorted(times, mark))
        if not known[row] or min(np.linalg.norm(base[row, :2] - place) for place in marked) < apart:
            continue
        marked.append(base[row, :2])
        (x, y), yaw = base[row, :2], heading(base[row : row + 1, 3:])[0]
        style = {"color": "black", "scale": 45.0, "width": 0.0035, "headwidth": 4.5, "zorder": 7}
        axes.quiver(x, y, np.cos(yaw), np.sin(yaw), pivot="middle", **style)
        axes.annotate(f"{mark:g} s", (x, y), (3, 3), textcoords="offset points", fontsize=7, zorder=7)
