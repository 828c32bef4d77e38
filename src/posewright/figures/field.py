"""The field from above: boxes before and after, the robots' paths, and the hits of their range sensors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any  # Any: a sensor's card, as a recording has it

import numpy as np

from posewright.arenas import Arena, Colour, Role, corners, footprints, hull_outline, place_hull
from posewright.arrays import Flags, Floats
from posewright.contests import find_arena
from posewright.contests.picture import Mark, MarkKind
from posewright.figures.outline import compose_frames, link_frames
from posewright.figures.playback import Poses
from posewright.figures.style import (
    COLOURS,
    GREY,
    INK,
    OTHER_COLOUR,
    WRONG,
    canvas,
    displayed_states,
    label_figure,
    styled,
)
from posewright.recordings import Recording, RobotHeader
from posewright.rotation import heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from posewright.figures.style import Canvas

MARKS = {MarkKind.PENALTY: WRONG, MarkKind.MILESTONE: GREY}
LINES = {MarkKind.PENALTY: "-", MarkKind.MILESTONE: "--"}
"""Line styles of marks in plots over time."""

_MAX_TIME_MARKS = 9
"""Greatest number of time marks on a path."""

_MIN_MARK_DISTANCE = 0.075
"""Least distance of time marks, as a share of the picture's size."""

_TIME_STEPS_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0)

_LONG_S = 60.0
"""Longer paths are drawn thinner, without the sway of single steps, and earlier parts paler."""

_SWAY_S = 2.0
_SHADES = (0.2, 0.35, 0.5, 0.75, 1.0)

_MIN_TRAVEL_M = 0.01
"""A robot that stays within this distance of its start did not travel [m]."""

_WALL = "#888888"
_HIT = "#444444"
_BOX = "#d9b38c"
_BOX_EDGE = "#7f5a34"

_MOVED_M = 0.005
"""A box that moved less is drawn once [m]."""

_MIN_SIDE_M = 0.3
"""On a bare floor no less is shown: a robot on the spot does not look like a traveller."""

_REACH = 0.999
"""A reading nearer to the greatest range than this share hit nothing."""

_FLOOR_M = 0.01
"""A beam that ends lower met the floor [m]."""

_MAX_SCAN_RATE_HZ = 1.0
"""Scans have many beams: so many of them a second are enough to see the walls."""


def beam_hits(
    recording: Recording, robot: str | None = None, begin_s: float = 0.0, end_s: float = math.inf
) -> Floats:
    """Return the points that a robot's range sensors and scans hit, `(n, 2)` in the field frame [m].

    Readings beyond the sensor's range and hits of the floor are left out, as are sensors whose card has no
    pose on the base or on a link.
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
    for name, sensor_card in record.header.sensors.items():
        ranges = record.decisions.sensors.get(name)
        if (
            ranges is None
            or not recording.n_rows
            or not ("base_pose" in sensor_card or sensor_card.get("link") in links)
        ):
            continue
        if sensor_card["kind"] == "range":
            bearings = np.zeros(1)  # the x of the sensor's frame is the middle of its beam
            step = 1
        elif sensor_card["kind"] == "range_scan":
            bearings = np.radians(
                sensor_card["start_deg"] + sensor_card["step_deg"] * np.arange(sensor_card["beams"])
            )
            step = max(1, round(len(times) / (recording.duration_s * _MAX_SCAN_RATE_HZ + 1.0)))
        else:
            continue
        ticks = np.arange(0, len(times), step)
        ticks = ticks[(times[ticks] >= begin_s) & (times[ticks] <= end_s)]
        positions, rotations = _sensor_frames(record.header, sensor_card, poses.at(times[ticks]))
        directions = np.stack([np.cos(bearings), np.sin(bearings), np.zeros(len(bearings))], -1)
        beams = np.einsum("nij,bj->nbi", rotations, directions)
        distances = ranges[ticks]
        ends = positions[:, np.newaxis] + distances[..., np.newaxis] * beams
        is_hit = (distances < _REACH * sensor_card["max_range_m"]) & (
            distances > sensor_card.get("min_range_m", 0.0)
        )
        hits.append(ends[is_hit & (ends[..., 2] > _FLOOR_M)][:, :2])
    return np.concatenate(hits)


def _sensor_frames(
    header: RobotHeader, sensor_card: Mapping[str, Any], poses: Poses
) -> tuple[Floats, Floats]:
    """Return a sensor's positions `(n, 3)` [m] and rotations `(n, 3, 3)` in the field frame."""
    (base,) = poses.base.values()
    (joints,) = poses.positions.values()
    link = "" if "base_pose" in sensor_card else sensor_card["link"]
    pose = np.tile(sensor_card.get("base_pose") or sensor_card["link_pose"], (len(base), 1))
    return compose_frames(link_frames(header, base, joints)[link], pose)


@styled("drawing an arena")
def draw_arena(arena: Arena | str, *, figure: Canvas | None = None) -> Figure:
    """Draw a field from above, with the names of all shapes but its walls.

    Args:
        arena: the field, its name, or the path of its document.
        figure: a figure, or a part of one, to draw into; default a new one.

    Raises:
        UnknownNameError: there is no such arena.
    """
    from matplotlib.patches import Polygon

    field = find_arena(arena) if isinstance(arena, str) else arena
    arena_figure = canvas(figure, (9.0, 7.0), dpi=120, layout="constrained")
    axes = arena_figure.subplots()
    _draw_ground(axes, field)

    def write(x: float, y: float, text: str, zorder: float) -> None:
        axes.text(
            x, y, text, ha="center", va="center", fontsize=7, color=INK, parse_math=False, zorder=zorder
        )

    for shape in field.shapes:
        if shape.role is not Role.WALL:
            write(shape.x, shape.y, shape.name, 3)
    box_poses = [(box.x, box.y, box.yaw_rad) for box in field.boxes]
    for number, outline in enumerate(corners(box_poses, field.box_sizes[:, :2]) if box_poses else (), 1):
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
    return label_figure(arena_figure, f"arena {field.name}")


def draw_field(
    axes: Axes,
    recording: Recording,
    colours: Mapping[str, str],
    marks: tuple[Mark, ...] = (),
    span: tuple[float, float] | None = None,
) -> None:
    """Draw the field of a recording, x to the right as in the field frame.

    Args:
        axes: to draw into.
        recording: to be drawn.
        colours: of the states of a single robot, or of several robots, by name.
        marks: of the contest, with position and time.
        span: beginning and end [s]; default all.
    """
    begin, end = span or (float(recording.times[0]), float(recording.times[-1]))
    in_span: Flags = (recording.times >= begin) & (recording.times <= end)
    arena = Arena.from_dict(recording.header.arena) if recording.header.arena else None
    if arena is not None:
        _draw_ground(axes, arena)
        _draw_beams(axes, recording, arena, begin_s=begin, end_s=end)
        _draw_boxes(axes, recording, arena, in_span)
    mark_positions: list[Floats] = []
    for name in recording.robots:
        _draw_path(axes, recording, name, in_span, colours, marked=mark_positions)
    for kind, colour in MARKS.items():
        sign = "X" if kind is MarkKind.PENALTY else "D"
        points_by_label: dict[str, list[tuple[float, float]]] = {}
        for mark in marks:
            if mark.kind is kind and begin < mark.time_s <= end and mark.x is not None and mark.y is not None:
                points_by_label.setdefault(mark.label, []).append((mark.x, mark.y))
        for label, points in points_by_label.items():
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
    """Set the limits of axes without a field: all that is drawn, true to scale, and at least some metres."""
    box = axes.dataLim
    middle = np.array([box.x0 + box.x1, box.y0 + box.y1]) / 2.0
    axes.update_datalim([middle - _MIN_SIDE_M / 2.0, middle + _MIN_SIDE_M / 2.0])
    axes.set_aspect("equal", adjustable="datalim")


def _draw_ground(axes: Axes, arena: Arena) -> None:
    """Draw the floor, lines, walls and other shapes of an arena."""
    from matplotlib.patches import Circle, Patch, Polygon, Rectangle

    x, y = arena.size_m
    floor = _pale(arena.colours["floor"])
    axes.add_patch(Rectangle((0, -y / 2), x, y, fc=floor, ec="none", zorder=0))
    for shape in arena.shapes:
        patch: Patch
        if shape.hull_m:
            hull = place_hull(shape.hull_m, shape.x, shape.y, shape.base_m, shape.yaw_rad)
            patch = Polygon(hull_outline(hull[:, :2]))
        elif shape.is_round:
            patch = Circle((shape.x, shape.y), shape.size_m[0] / 2.0)
        else:
            (outline,) = corners([(shape.x, shape.y, shape.yaw_rad)], shape.size_m[:2])
            patch = Polygon(outline)
        if shape.role is Role.LINE:
            patch.set(facecolor=_pale(arena.colour_of(shape)), edgecolor="#c3ccc3", zorder=1)
        elif shape.role is Role.WALL:
            patch.set(facecolor=_WALL, edgecolor=_WALL, zorder=1)
        else:
            patch.set(facecolor=arena.colour_of(shape), edgecolor=_WALL, zorder=1)
        axes.add_patch(patch)


def _pale(colour: Colour) -> Colour:
    """Return a colour as ground, on which paths are seen: a fifth of it on white."""
    red, green, blue = (1.0 - 0.2 * (1.0 - channel) for channel in colour)
    return red, green, blue


def _draw_beams(axes: Axes, recording: Recording, arena: Arena, begin_s: float, end_s: float) -> None:
    """Draw what range sensors hit on the field, within a time span."""
    x, y = arena.size_m
    hits = np.concatenate([beam_hits(recording, name, begin_s, end_s) for name in recording.robots])
    inside = (abs(hits[:, 0] - x / 2) <= x / 2 + 0.02) & (abs(hits[:, 1]) <= y / 2 + 0.02)
    if inside.any():
        axes.plot(*hits[inside].T, ".", ms=1.4, color=_HIT, alpha=0.35, zorder=3.5)
        axes.plot([], [], ".", ms=5, color=_HIT, label="what range sensors hit")


def _draw_boxes(axes: Axes, recording: Recording, arena: Arena, in_span: Flags) -> None:
    """Draw the boxes at the beginning, and moved ones at the end too."""
    from matplotlib.patches import Polygon

    if not recording.boxes.size or not in_span.any():
        return
    first, last = recording.boxes[in_span][[0, -1]]
    starts, ends = (corners(*footprints(poses, arena.box_sizes)) for poses in (first, last))
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
    in_span: Flags,
    colours: Mapping[str, str],
    *,
    marked: list[Floats],
) -> None:
    """Draw the base's path; of a single robot each part in the colour of its controller's state.

    Time marks keep a distance from the positions in `marked`, and are appended to them.
    """
    record = recording.robots[name]
    times = recording.times
    positions = record.base[:, :2]
    decisions = record.decisions
    has_position = in_span & np.isfinite(positions).all(axis=1)
    if not has_position.any():
        return
    if len(recording.robots) > 1 or not any(decisions.states):
        strokes = {f"path of {name}": (colours.get(name, COLOURS[0]), has_position)}
    else:
        tick = np.clip(np.searchsorted(decisions.times, times, side="right") - 1, 0, None)
        states = np.array(displayed_states(decisions.states))[tick]
        names = dict.fromkeys(states[has_position].tolist())
        strokes = {
            state: (colours.get(state, OTHER_COLOUR), has_position & (states == state)) for state in names
        }
    for label, (colour, rows) in strokes.items():
        _draw_strokes(
            axes, times, positions, is_drawn=rows, has_position=has_position, color=colour, label=label
        )
    first, last = np.flatnonzero(has_position)[[0, -1]]
    label = "" if axes.get_legend_handles_labels()[1].count("start") else "start"
    axes.plot(*positions[first], "o", color="black", ms=7, zorder=6, label=label)
    # hollow, and larger than the marks of a contest, as often one of them lies in it
    axes.plot(*positions[last], "s", mfc="none", mec="black", ms=11, zorder=6, ls="", label=label and "end")
    marked += [positions[first], positions[last]]
    if np.linalg.norm(positions[has_position] - positions[first], axis=1).max() < _MIN_TRAVEL_M:
        axes.annotate("does not leave its place", positions[first], (10, 10), textcoords="offset points")
    else:
        _mark_times(axes, recording, record.base, has_position, mark_positions=marked)


def _draw_strokes(
    axes: Axes,
    times: Floats,
    positions: Floats,
    is_drawn: Flags,
    has_position: Flags,
    *,
    color: str,
    label: str,
) -> None:
    """Draw the rows `is_drawn` of a path; of a long path earlier parts are paler.

    Args:
        axes: to draw into.
        times: of the rows, `(n,)` [s].
        positions: positions, `(n, 2)` [m].
        is_drawn: which rows to draw, `(n,)`.
        has_position: which rows have a position, `(n,)`.
        color: of the path.
        label: in the legend.
    """
    begin, end = times[has_position][[0, -1]]
    if end - begin < _LONG_S:
        axes.plot(
            *np.where(is_drawn[:, np.newaxis], positions, np.nan).T,
            lw=2.0,
            zorder=4,
            color=color,
            label=label,
        )
        return
    window_rows = max(1, round(_SWAY_S * int(has_position.sum()) / (end - begin)))
    smooth = positions.copy()
    edges = np.linspace(begin, end, len(_SHADES) + 1)
    padded = np.pad(
        positions[has_position], ((window_rows // 2, window_rows - 1 - window_rows // 2), (0, 0)), mode="edge"
    )
    window = np.full(window_rows, 1.0 / window_rows)
    smooth[has_position] = np.stack([np.convolve(column, window, "valid") for column in padded.T], 1)
    for low, high, alpha in zip(edges, edges[1:], _SHADES, strict=False):
        faded_positions = np.where(
            (is_drawn & (times >= low) & (times <= high))[:, np.newaxis], smooth, np.nan
        )
        axes.plot(*faded_positions.T, lw=1.3, alpha=alpha, zorder=4, color=color)
    axes.plot([], [], lw=2.0, color=color, label=label)
    axes.plot([], [], lw=1.3, color="black", alpha=_SHADES[1], label="paler: earlier")


def _mark_times(
    axes: Axes, recording: Recording, base: Floats, has_position: Flags, mark_positions: list[Floats]
) -> None:
    """Write round times beside the path, with arrows of the robot's heading, apart from each other."""
    from matplotlib.patheffects import withStroke

    times = recording.times
    size_m = recording.header.arena.get("size_m", ())
    known_times = times[has_position]
    step = next((s for s in _TIME_STEPS_S if np.ptp(known_times) <= s * _MAX_TIME_MARKS), _TIME_STEPS_S[-1])
    min_distance = _MIN_MARK_DISTANCE * max(*np.ptp(base[has_position, :2], axis=0), *size_m, _MIN_SIDE_M)
    occupied = base[has_position, :2]
    for mark in np.arange(np.ceil(known_times[0] / step + 0.1) * step, known_times[-1], step).tolist():
        row = int(np.searchsorted(times, mark))
        if (
            not has_position[row]
            or min(np.linalg.norm(base[row, :2] - position) for position in mark_positions) < min_distance
        ):
            continue
        mark_positions.append(base[row, :2])
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
        text_position = _find_free_position(
            base[row, :2], np.concatenate([occupied, mark_positions]), min_distance
        )
        occupied = np.concatenate([occupied, [text_position]])
        axes.text(
            text_position[0],
            text_position[1],
            f"{mark:g} s",
            fontsize=7.5,
            ha="center",
            va="center",
            clip_on=True,
            path_effects=[withStroke(linewidth=2.0, foreground="white")],
            zorder=7.5,
        )
    if len(occupied) > has_position.sum():
        axes.plot(
            [], [], ls="", marker=r"$\rightarrow$", color="black", ms=10, label="where it looks, and when"
        )


def _find_free_position(mark: Floats, occupied: Floats, radius: float) -> Floats:
    """Return the position beside a mark that is farthest from `occupied` ones; texts are wider than high."""
    turns = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    candidates = mark + radius * np.stack([0.62 * np.cos(turns), 0.45 * np.sin(turns)], axis=1)
    offsets = (candidates[:, np.newaxis] - occupied) / (2.0, 1.0)
    return np.asarray(candidates[np.linalg.norm(offsets, axis=-1).min(axis=1).argmax()])
