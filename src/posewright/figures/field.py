"""The field from above: boxes as they stood and as they stand, the robots' paths, what their lasers hit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any  # Any: a sensor's card, as a recording has it

import numpy as np

from posewright.arenas import Arena, Role, corners, hull_outline, placed_hull, shadows
from posewright.arrays import Flags, Floats
from posewright.contests import find_arena
from posewright.contests.picture import Mark, MarkKind
from posewright.figures.outline import link_frames, placed_on
from posewright.figures.playback import Poses
from posewright.figures.style import (
    COLOURS,
    GREY,
    INK,
    OTHER_COLOUR,
    WRONG,
    canvas,
    shown_states,
    styled,
    titled,
)
from posewright.recordings import Recording, RobotHeader
from posewright.rotation import heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

MARKS = {MarkKind.PENALTY: WRONG, MarkKind.MILESTONE: GREY}
LINES = {MarkKind.PENALTY: "-", MarkKind.MILESTONE: "--"}
"""How the lines are drawn that marks have over time."""

_MARK_EVERY = 9
"""A path has so many marks of time at most."""

_APART = 0.075
"""Marks of time are no nearer to each other than this share of what is shown: they can be read."""

_ROUND_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0)

_LONG_S = 60.0
"""A longer path is drawn thinner, without the sway of single steps, and the paler the longer it is past."""

_SWAY_S = 2.0
_SHADES = (0.2, 0.35, 0.5, 0.75, 1.0)

_STAYS_M = 0.01
"""A robot whose base never was so far from its start did not travel [m]."""

_WALL = "#888888"
_HIT = "#444444"
_BOX = "#d9b38c"
_BOX_EDGE = "#7f5a34"

_MOVED_M = 0.005
"""A box that moved less is drawn once [m]."""

_LEAST_SIDE_M = 0.3
"""On a bare floor no less is shown: a robot on the spot does not look like a traveller."""

_REACH = 0.999
"""A reading nearer to the greatest range than this share hit nothing."""

_FLOOR_M = 0.01
"""A beam that ends lower met the floor [m]."""

_SCANS_SHOWN_HZ = 1.0
"""Scans have many beams: so many of them a second are enough to see the walls."""


def beam_hits(
    recording: Recording, robot: str | None = None, begin_s: float = 0.0, end_s: float = math.inf
) -> Floats:
    """Return the points that a robot's range sensors and scans hit, `(n, 2)` in the field frame [m].

    Left out are readings that met nothing, or something nearer than the sensor can tell, hits of the floor,
    and sensors whose card says neither where on the base they sit nor on which link.
    """
    record = recording.robot(robot)
    times = record.decisions.times
    hits = [np.zeros((0, 2))]
    links = {link["name"] for link in record.header.links}
    poses = Poses(
        times=recording.times,
        base={"": record.base},
        positions={"": np.nan_to_num(record.positions)},
        boxes=np.zeros((recording.n_rows, 0, 7)),
    )
    for name, card in record.header.sensors.items():
        ranges = record.decisions.sensors.get(name)
        if ranges is None or not recording.n_rows or not ("base_pose" in card or card.get("link") in links):
            continue
        if card["kind"] == "range":
            bearings = np.zeros(1)  # the x of its own frame is the middle of its fan
            step = 1
        elif card["kind"] == "range_scan":
            bearings = np.radians(card["start_deg"] + card["step_deg"] * np.arange(card["beams"]))
            step = max(1, round(len(times) / (recording.duration_s * _SCANS_SHOWN_HZ + 1.0)))
        else:
            continue
        ticks = np.arange(0, len(times), step)
        ticks = ticks[(times[ticks] >= begin_s) & (times[ticks] <= end_s)]
        eyes, turns = _sensor_frames(record.header, card, poses.at(times[ticks]))
        ahead = np.stack([np.cos(bearings), np.sin(bearings), np.zeros(len(bearings))], -1)
        distances = ranges[ticks]
        ends = eyes[:, np.newaxis] + distances[..., np.newaxis] * np.einsum("nij,bj->nbi", turns, ahead)
        is_hit = (distances < _REACH * card["max_range_m"]) & (distances > card.get("min_range_m", 0.0))
        hits.append(ends[is_hit & (ends[..., 2] > _FLOOR_M)][:, :2])
    return np.concatenate(hits)


def _sensor_frames(header: RobotHeader, card: Mapping[str, Any], poses: Poses) -> tuple[Floats, Floats]:
    """Return where a sensor was in the field, `(n, 3)` [m], and its axes as columns, `(n, 3, 3)`."""
    (base,), (joints,) = poses.base.values(), poses.positions.values()
    link = "" if "base_pose" in card else card["link"]
    pose = np.tile(card.get("base_pose") or card["link_pose"], (len(base), 1))
    return placed_on(link_frames(header, base, joints)[link], pose)


@styled("drawing an arena")
def draw_arena(arena: Arena | str, *, figure: Canvas | None = None) -> Figure:
    """Draw a field from above, with the name of each shape that is no wall around it.

    Args:
        arena: the field, or its name, or the path of its document.
        figure: a figure, or a part of one, to draw into; default a new one.

    Raises:
        UnknownNameError: there is no such arena.
    """
    from matplotlib.patches import Polygon

    field = find_arena(arena) if isinstance(arena, str) else arena
    drawn = canvas(figure, (9.0, 7.0), dpi=120, layout="constrained")
    axes = drawn.subplots()
    _draw_ground(axes, field)

    def write(x: float, y: float, text: str, zorder: float) -> None:
        axes.text(
            x, y, text, ha="center", va="center", fontsize=7, color=INK, parse_math=False, zorder=zorder
        )

    for shape in field.shapes:
        if shape.role is not Role.WALL:
            write(shape.x, shape.y, shape.name, 3)
    places = [(box.x, box.y, box.yaw_rad) for box in field.boxes]
    for number, outline in enumerate(corners(places, field.box_sizes[:, :2]) if places else (), 1):
        axes.add_patch(Polygon(outline, fc=_BOX, ec=_BOX_EDGE, lw=1.2, zorder=3))
        middle_x, middle_y = outline.mean(axis=0).tolist()
        write(middle_x, middle_y, str(number), 4)
    for name, spot in field.spots.items():
        axes.plot(spot.x, spot.y, marker=(3, 0, np.degrees(spot.yaw_rad) - 90.0), color=GREY, ms=8)
        axes.annotate(name, (spot.x, spot.y), (8, 4), textcoords="offset points", fontsize=7, color=GREY)
    x, y = field.size_m
    axes.set(xlim=(-0.06, x + 0.06), ylim=(-y / 2 - 0.06, y / 2 + 0.06), aspect="equal")
    axes.set(xlabel="x [m]", ylabel="y [m], to the left")
    axes.set_title(field.name, color=INK, parse_math=False)
    return titled(drawn, f"arena {field.name}")


def draw_field(
    axes: Axes,
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
    marked: list[Floats] = []
    for name in recording.robots:
        _draw_path(axes, recording, name, shown, colours, marked=marked)
    for kind, colour in MARKS.items():
        sign = "X" if kind is MarkKind.PENALTY else "D"
        places: dict[str, list[tuple[float, float]]] = {}
        for mark in marks:
            if mark.kind is kind and begin < mark.time_s <= end and mark.x is not None and mark.y is not None:
                places.setdefault(mark.label, []).append((mark.x, mark.y))
        for label, points in places.items():
            xs, ys = zip(*points, strict=True)
            axes.plot(xs, ys, ls="", zorder=8, color=colour, marker=sign, ms=7, mec="white")
            # in the legend with the line that marks have over time
            axes.plot(
                [], [], ls=LINES[kind], lw=0.9, label=label, color=colour, marker=sign, ms=7, mec="white"
            )
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m], to the left")
    if arena is not None:
        x, y = arena.size_m
        axes.set(xlim=(-0.06, x + 0.06), ylim=(-y / 2 - 0.06, y / 2 + 0.06))
        return
    frame_from_above(axes)
    axes.grid(alpha=0.3)


def frame_from_above(axes: Axes) -> None:
    """Show all of a bare floor that was walked on, true to scale, and not too little."""
    box = axes.dataLim
    middle = np.array([box.x0 + box.x1, box.y0 + box.y1]) / 2.0
    axes.update_datalim([middle - _LEAST_SIDE_M / 2.0, middle + _LEAST_SIDE_M / 2.0])
    axes.set_aspect("equal", adjustable="datalim")


def _draw_ground(axes: Axes, arena: Arena) -> None:
    from matplotlib.patches import Circle, Patch, Polygon, Rectangle

    x, y = arena.size_m
    floor = (*arena.colours["floor"], 0.2)
    axes.add_patch(Rectangle((0, -y / 2), x, y, fc=floor, ec="none", zorder=0))
    for shape in arena.shapes:
        patch: Patch
        if shape.hull_m:
            hull = placed_hull(shape.hull_m, shape.x, shape.y, shape.base_m, shape.yaw_rad)
            patch = Polygon(hull_outline(hull[:, :2]))
        elif shape.is_round:
            patch = Circle((shape.x, shape.y), shape.size_m[0] / 2.0)
        else:
            (outline,) = corners([(shape.x, shape.y, shape.yaw_rad)], shape.size_m[:2])
            patch = Polygon(outline)
        if shape.role is Role.LINE:
            patch.set(facecolor="white", edgecolor="#c3ccc3", zorder=1)
        elif shape.role is Role.WALL:
            patch.set(facecolor=_WALL, edgecolor=_WALL, zorder=1)
        else:
            patch.set(facecolor=arena.colours[shape.role.value], edgecolor=_WALL, zorder=1)
        axes.add_patch(patch)


def _draw_beams(axes: Axes, recording: Recording, arena: Arena, begin_s: float, end_s: float) -> None:
    x, y = arena.size_m
    hits = np.concatenate([beam_hits(recording, name, begin_s, end_s) for name in recording.robots])
    inside = (abs(hits[:, 0] - x / 2) <= x / 2 + 0.02) & (abs(hits[:, 1]) <= y / 2 + 0.02)
    if inside.any():
        axes.plot(*hits[inside].T, ".", ms=1.4, color=_HIT, alpha=0.35, zorder=3.5)
        axes.plot([], [], ".", ms=5, color=_HIT, label="what range sensors hit")


def _draw_boxes(axes: Axes, recording: Recording, arena: Arena, shown: Flags) -> None:
    """Draw the boxes as they stood in the beginning, and those that were moved as they stood in the end."""
    from matplotlib.patches import Polygon

    if not recording.boxes.size or not shown.any():
        return
    first, last = recording.boxes[shown][[0, -1]]
    starts, ends = (corners(*shadows(poses, arena.box_sizes)) for poses in (first, last))
    moved = np.abs(ends - starts).max(axis=(1, 2)) > _MOVED_M
    for number, start in enumerate(starts, 1):
        axes.add_patch(Polygon(start, fc=_BOX, ec=_BOX_EDGE, lw=1.2, zorder=3))
        x, y = start.mean(axis=0)
        axes.text(
            x, y, str(number), ha="center", va="center", fontsize=7, color=INK, clip_on=True, zorder=3.6
        )
    for n, end in enumerate(ends[moved]):
        label = "" if n else "where a box was moved to"
        axes.add_patch(Polygon(end, fill=False, ec=_BOX_EDGE, lw=1.4, ls="--", label=label, zorder=5))


def _draw_path(
    axes: Axes,
    recording: Recording,
    name: str,
    shown: Flags,
    colours: Mapping[str, str],
    *,
    marked: list[Floats],
) -> None:
    """Draw the base's path; of a single robot each stretch in the colour of its controller's state.

    Times are written away from what is `marked` already, and are added to that.
    """
    record = recording.robots[name]
    times = recording.times
    places = record.base[:, :2]
    decisions = record.decisions
    known = shown & np.isfinite(places).all(axis=1)
    if not known.any():
        return
    if len(recording.robots) > 1 or not any(decisions.states):
        strokes = {f"path of {name}": (colours.get(name, COLOURS[0]), known)}
    else:
        tick = np.clip(np.searchsorted(decisions.times, times, side="right") - 1, 0, None)
        states = np.array(shown_states(decisions.states))[tick]
        names = dict.fromkeys(states[known].tolist())
        strokes = {state: (colours.get(state, OTHER_COLOUR), known & (states == state)) for state in names}
    for label, (colour, part) in strokes.items():
        _draw_strokes(axes, times, places, part, known, color=colour, label=label)
    first, last = np.flatnonzero(known)[[0, -1]]
    label = "" if axes.get_legend_handles_labels()[1].count("start") else "start"
    axes.plot(*places[first], "o", color="black", ms=7, zorder=6, label=label)
    # Hollow, and larger than the marks of a contest: often one of them lies in it.
    axes.plot(*places[last], "s", mfc="none", mec="black", ms=11, zorder=6, ls="", label=label and "end")
    marked += [places[first], places[last]]
    if np.linalg.norm(places[known] - places[first], axis=1).max() < _STAYS_M:
        axes.annotate("does not leave its place", places[first], (10, 10), textcoords="offset points")
    else:
        _mark_times(axes, recording, record.base, known, marked)


def _draw_strokes(
    axes: Axes, times: Floats, places: Floats, part: Flags, known: Flags, *, color: str, label: str
) -> None:
    """Draw the rows `part` of a path, of which `known` have a place; of a long path earlier parts paler."""
    begin, end = times[known][[0, -1]]
    if end - begin < _LONG_S:
        axes.plot(
            *np.where(part[:, np.newaxis], places, np.nan).T, lw=2.0, zorder=4, color=color, label=label
        )
        return
    rows = max(1, round(_SWAY_S * int(known.sum()) / (end - begin)))
    smooth = places.copy()
    edges = np.linspace(begin, end, len(_SHADES) + 1)
    padded = np.pad(places[known], ((rows // 2, rows - 1 - rows // 2), (0, 0)), mode="edge")
    window = np.full(rows, 1.0 / rows)
    smooth[known] = np.stack([np.convolve(column, window, "valid") for column in padded.T], 1)
    for low, high, alpha in zip(edges, edges[1:], _SHADES, strict=False):
        here = np.where((part & (times >= low) & (times <= high))[:, np.newaxis], smooth, np.nan)
        axes.plot(*here.T, lw=1.3, alpha=alpha, zorder=4, color=color)
    axes.plot([], [], lw=2.0, color=color, label=label)
    axes.plot([], [], lw=1.3, color="black", alpha=_SHADES[1], label="paler: earlier")


def _mark_times(axes: Axes, recording: Recording, base: Floats, known: Flags, marked: list[Floats]) -> None:
    """Write round times beside the path, each with an arrow where the robot looked; none over another."""
    from matplotlib.patheffects import withStroke

    times = recording.times
    size_m = recording.header.arena.get("size_m", ())
    shown = times[known]
    step = next((s for s in _ROUND_S if np.ptp(shown) <= s * _MARK_EVERY), _ROUND_S[-1])
    apart = _APART * max(*np.ptp(base[known, :2], axis=0), *size_m, _LEAST_SIDE_M)
    crowd = base[known, :2]
    for mark in np.arange(np.ceil(shown[0] / step + 0.1) * step, shown[-1], step).tolist():
        row = int(np.searchsorted(times, mark))
        if not known[row] or min(np.linalg.norm(base[row, :2] - place) for place in marked) < apart:
            continue
        marked.append(base[row, :2])
        x, y = base[row, :2]
        yaw = heading(base[row : row + 1, 3:])[0]
        axes.quiver(
            x,
            y,
            np.cos(yaw),
            np.sin(yaw),
            pivot="middle",
            color="black",
            scale=32.0,
            width=0.005,
            headwidth=4.0,
            zorder=7,
        )
        place = _free_place(base[row, :2], np.concatenate([crowd, marked]), apart)
        crowd = np.concatenate([crowd, [place]])
        axes.text(
            place[0],
            place[1],
            f"{mark:g} s",
            fontsize=7.5,
            ha="center",
            va="center",
            clip_on=True,
            path_effects=[withStroke(linewidth=2.0, foreground="white")],
            zorder=7.5,
        )
    if len(crowd) > known.sum():
        axes.plot(
            [], [], ls="", marker=r"$\rightarrow$", color="black", ms=10, label="where it looks, and when"
        )


def _free_place(place: Floats, crowd: Floats, apart: float) -> Floats:
    """Return the place for words beside a mark that is furthest from the crowd; words are wider than high."""
    turns = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    free = place + apart * np.stack([0.62 * np.cos(turns), 0.45 * np.sin(turns)], axis=1)
    away = (free[:, np.newaxis] - crowd) / (2.0, 1.0)
    return np.asarray(free[np.linalg.norm(away, axis=-1).min(axis=1).argmax()])
