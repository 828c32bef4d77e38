"""The field from above: boxes before and after, the robots' paths, and the hits of their range sensors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any  # Any: a sensor's card, as a recording has it

import numpy as np

from posewright.arenas import Arena, Role, corners, footprints, shape_outline
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
    pale,
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

_MARGIN_M = 0.06
"""Margin that is shown around a field [m]."""
_ROBOT_ROOM_M = 0.2
"""Room around a robot's path that belongs to it in a picture [m]."""

_WALL = "#888888"
_HIT = "#444444"
BOX_COLOUR = "#d9b38c"
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
        base_poses={"": record.base},
        joint_angles={"": np.nan_to_num(record.positions)},
        boxes=np.zeros((recording.n_rows, 0, 7)),
    )
    for name, sensor_card in record.header.sensors.items():
        ranges = record.decisions.sensors.get(name)
        has_known_pose = "base_pose" in sensor_card or sensor_card.get("link") in links
        bearings = _beam_bearings(sensor_card)
        if ranges is None or bearings is None or not recording.n_rows or not has_known_pose:
            continue
        stride = 1  # of the decisions, only every so many of a scan are drawn
        if sensor_card["kind"] == "range_scan":
            stride = max(1, round(len(times) / (recording.duration_s * _MAX_SCAN_RATE_HZ + 1.0)))
        all_indices = np.arange(0, len(times), stride)
        indices = all_indices[(times[all_indices] >= begin_s) & (times[all_indices] <= end_s)]
        positions, rotations = _sensor_frames(
            record.header, sensor_card, poses.interpolate_at(times[indices])
        )
        directions = np.stack([np.cos(bearings), np.sin(bearings), np.zeros(len(bearings))], -1)
        beams = np.einsum("nij,bj->nbi", rotations, directions)
        distances = ranges[indices]
        ends = positions[:, np.newaxis] + distances[..., np.newaxis] * beams
        is_in_range = (distances < _REACH * sensor_card["max_range_m"]) & (
            distances > sensor_card.get("min_range_m", 0.0)
        )
        is_above_floor = ends[..., 2] > _FLOOR_M
        hits.append(ends[is_in_range & is_above_floor][:, :2])
    return np.concatenate(hits)


def _beam_bearings(sensor_card: Mapping[str, Any]) -> Floats | None:
    """Return the bearings of a range sensor's beams in its frame, `(n,)` [rad]; None for another sensor."""
    if sensor_card["kind"] == "range":
        return np.zeros(1)  # the x of the sensor's frame is the middle of its beam
    if sensor_card["kind"] == "range_scan":
        return np.asarray(
            np.radians(sensor_card["start_deg"] + sensor_card["step_deg"] * np.arange(sensor_card["beams"]))
        )
    return None


def _sensor_frames(
    header: RobotHeader, sensor_card: Mapping[str, Any], poses: Poses
) -> tuple[Floats, Floats]:
    """Return a sensor's positions `(n, 3)` [m] and rotations `(n, 3, 3)` in the field frame.

    Args:
        header: the header of the robot.
        sensor_card: the sensor card with the sensor's pose on the base or on a link.
        poses: n poses of this robot alone.
    """
    (base,) = poses.base_poses.values()
    (joints,) = poses.joint_angles.values()
    link_name = "" if "base_pose" in sensor_card else sensor_card["link"]  # "" is the base
    pose_on_link = sensor_card.get("base_pose") or sensor_card["link_pose"]
    poses_on_link = np.tile(pose_on_link, (len(base), 1))
    return compose_frames(link_frames(header, base, joints)[link_name], poses_on_link)


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

    def write_centred(x: float, y: float, text: str, zorder: float) -> None:
        axes.text(
            x, y, text, ha="center", va="center", fontsize=7, color=INK, parse_math=False, zorder=zorder
        )

    for shape in field.shapes:
        if shape.role is not Role.WALL:
            write_centred(shape.x, shape.y, shape.name, zorder=3)
    box_poses = [(box.x, box.y, box.yaw_rad) for box in field.boxes]
    box_outlines = corners(box_poses, field.box_sizes[:, :2]) if box_poses else ()
    for number, outline in enumerate(box_outlines, 1):
        axes.add_patch(Polygon(outline, fc=BOX_COLOUR, ec=_BOX_EDGE, lw=1.2, zorder=3))
        middle_x, middle_y = outline.mean(axis=0).tolist()
        write_centred(middle_x, middle_y, str(number), zorder=4)
    for name, spot in field.spots.items():
        axes.plot(spot.x, spot.y, marker=(3, 0, np.degrees(spot.yaw_rad) - 90.0), color=GREY, ms=8)
        axes.annotate(name, (spot.x, spot.y), (8, 4), textcoords="offset points", fontsize=7, color=GREY)
    _show_field(axes, field)
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m], to the left")
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
        axes: the axes to draw into.
        recording: the recording to be drawn.
        colours: the colours of the states of a single robot, or of several robots, by name.
        marks: the marks of the contest, with position and time.
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
        _draw_path(axes, recording, name, in_span, colours, mark_positions=mark_positions)
    for kind in MARKS:
        _draw_marks(axes, [mark for mark in marks if mark.kind is kind and begin < mark.time_s <= end], kind)
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m], to the left")
    if arena is not None:
        low, high = _find_eventful_area(recording, arena)
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        return
    frame_from_above(axes)
    axes.grid(alpha=0.3)


def _find_eventful_area(recording: Recording, arena: Arena) -> tuple[Floats, Floats]:
    """Return the lower left and the upper right corner of what is shown of a field, `(2,)` each [m].

    Empty floor around all shapes, boxes and paths is left out.
    """
    points = [shape_outline(shape) for shape in arena.shapes if shape.role is not Role.MARKER]
    if recording.boxes.size:
        points.append(corners(*footprints(recording.boxes[0], arena.box_sizes)).reshape(-1, 2))
    for record in recording.robots.values():
        places = record.base[np.isfinite(record.base).all(axis=1), :2]
        points += [places - _ROBOT_ROOM_M, places + _ROBOT_ROOM_M]
    length_m, width_m = arena.size_m
    field_low = np.array([0.0, -width_m / 2.0])
    field_high = np.array([length_m, width_m / 2.0])
    everything = np.concatenate(points)
    if not arena.shapes:
        everything = np.stack([field_low, field_high])
    low = np.maximum(everything.min(axis=0), field_low) - _MARGIN_M
    high = np.minimum(everything.max(axis=0), field_high) + _MARGIN_M
    return low, high


def _draw_marks(axes: Axes, marks: Iterable[Mark], kind: MarkKind) -> None:
    """Draw the signs of marks of one kind on the field, with an entry in the legend for each label."""
    marker = "X" if kind is MarkKind.PENALTY else "D"
    points_by_label: dict[str, list[tuple[float, float]]] = {}
    for mark in marks:
        if mark.x is not None and mark.y is not None:
            points_by_label.setdefault(mark.label, []).append((mark.x, mark.y))
    for label, points in points_by_label.items():
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, ys, ls="", zorder=8, color=MARKS[kind], marker=marker, ms=7, mec="white")
        # in the legend with the line that marks have over time
        axes.plot(
            [], [], ls=LINES[kind], lw=0.9, label=label, color=MARKS[kind], marker=marker, ms=7, mec="white"
        )


def _show_field(axes: Axes, arena: Arena) -> None:
    """Set the limits of axes to a field with a margin."""
    length_m, width_m = arena.size_m
    axes.set(
        xlim=(-_MARGIN_M, length_m + _MARGIN_M), ylim=(-width_m / 2 - _MARGIN_M, width_m / 2 + _MARGIN_M)
    )


def frame_from_above(axes: Axes) -> None:
    """Set the limits of axes without a field: all that is drawn, true to scale, and at least some metres."""
    box = axes.dataLim
    middle = np.array([box.x0 + box.x1, box.y0 + box.y1]) / 2.0
    axes.update_datalim([middle - _MIN_SIDE_M / 2.0, middle + _MIN_SIDE_M / 2.0])
    axes.set_aspect("equal", adjustable="datalim")


def _draw_ground(axes: Axes, arena: Arena) -> None:
    """Draw the floor, lines, walls and other shapes of an arena."""
    from matplotlib.patches import Circle, Patch, Polygon, Rectangle

    length_m, width_m = arena.size_m
    floor_colour = pale(arena.colours["floor"])
    axes.add_patch(Rectangle((0, -width_m / 2), length_m, width_m, fc=floor_colour, ec="none", zorder=0))
    for shape in arena.shapes:
        patch: Patch
        if shape.is_round:
            patch = Circle((shape.x, shape.y), shape.size_m[0] / 2.0)
        else:
            patch = Polygon(shape_outline(shape))
        if shape.role is Role.LINE:
            patch.set(facecolor=pale(arena.colour_of(shape)), edgecolor="#c3ccc3", zorder=1)
        elif shape.role is Role.WALL:
            patch.set(facecolor=_WALL, edgecolor=_WALL, zorder=1)
        else:
            patch.set(facecolor=arena.colour_of(shape), edgecolor=_WALL, zorder=1)
        axes.add_patch(patch)


def _draw_beams(axes: Axes, recording: Recording, arena: Arena, begin_s: float, end_s: float) -> None:
    """Draw what range sensors hit on the field, within a time span."""
    length_m, width_m = arena.size_m
    hits = np.concatenate([beam_hits(recording, name, begin_s, end_s) for name in recording.robots])
    # the field reaches from x = 0 to its length, and half its width to either side; 2 cm beyond is rounding
    is_in_length = abs(hits[:, 0] - length_m / 2) <= length_m / 2 + 0.02
    is_on_field = is_in_length & (abs(hits[:, 1]) <= width_m / 2 + 0.02)
    if is_on_field.any():
        axes.plot(*hits[is_on_field].T, ".", ms=1.4, color=_HIT, alpha=0.35, zorder=3.5)
        axes.plot([], [], ".", ms=5, color=_HIT, label="what range sensors hit")


def _draw_boxes(axes: Axes, recording: Recording, arena: Arena, in_span: Flags) -> None:
    """Draw the boxes in the first of the rows `in_span`, `(n,)`, and moved ones also in the last."""
    from matplotlib.patches import Polygon

    if not recording.boxes.size or not in_span.any():
        return
    first_poses, last_poses = recording.boxes[in_span][[0, -1]]
    start_outlines = corners(*footprints(first_poses, arena.box_sizes))
    end_outlines = corners(*footprints(last_poses, arena.box_sizes))
    is_moved = np.abs(end_outlines - start_outlines).max(axis=(1, 2)) > _MOVED_M
    for number, outline in enumerate(start_outlines, 1):
        axes.add_patch(Polygon(outline, fc=BOX_COLOUR, ec=_BOX_EDGE, lw=1.2, zorder=3))
        x, y = outline.mean(axis=0)
        axes.text(
            x, y, str(number), ha="center", va="center", fontsize=7, color=INK, clip_on=True, zorder=3.6
        )
    label = "where a box was moved to"
    for outline in end_outlines[is_moved]:
        axes.add_patch(Polygon(outline, fill=False, ec=_BOX_EDGE, lw=1.4, ls="--", label=label, zorder=5))
        label = ""  # once in the legend


def _draw_path(
    axes: Axes,
    recording: Recording,
    name: str,
    in_span: Flags,
    colours: Mapping[str, str],
    *,
    mark_positions: list[Floats],
) -> None:
    """Draw the base's path; of a single robot each part in the colour of its controller's state.

    Args:
        axes: the axes to draw into.
        recording: the recording with the robot.
        name: the name of the robot.
        in_span: which rows to draw, `(n,)`.
        colours: the colours of the states of a single robot, or of several robots, by name.
        mark_positions: positions of marks, `(2,)` each, from which time marks keep a distance; those of
            start, end and time marks are appended.
    """
    record = recording.robots[name]
    times = recording.times
    positions = record.base[:, :2]
    decisions = record.decisions
    has_position = in_span & np.isfinite(positions).all(axis=1)
    if not has_position.any():
        return
    if len(recording.robots) > 1 or not any(decisions.states):
        _draw_strokes(
            axes,
            times,
            positions,
            is_drawn=has_position,
            has_position=has_position,
            color=colours.get(name, COLOURS[0]),
            label=f"path of {name}",
        )
    else:
        decision_of_row = np.clip(np.searchsorted(decisions.times, times, side="right") - 1, 0, None)
        states = np.array(displayed_states(decisions.states))[decision_of_row]
        for state in dict.fromkeys(states[has_position].tolist()):
            _draw_strokes(
                axes,
                times,
                positions,
                is_drawn=has_position & (states == state),
                has_position=has_position,
                color=colours.get(state, OTHER_COLOUR),
                label=state,
            )
    first, last = np.flatnonzero(has_position)[[0, -1]]
    _, legend_labels = axes.get_legend_handles_labels()
    is_in_legend = "start" in legend_labels
    axes.plot(*positions[first], "o", color="black", ms=7, zorder=6, label="" if is_in_legend else "start")
    # hollow, and larger than the marks of a contest, as often one of them lies in it
    axes.plot(
        *positions[last],
        "s",
        mfc="none",
        mec="black",
        ms=11,
        zorder=6,
        ls="",
        label="" if is_in_legend else "end",
    )
    mark_positions += [positions[first], positions[last]]
    if np.linalg.norm(positions[has_position] - positions[first], axis=1).max() < _MIN_TRAVEL_M:
        axes.annotate("does not leave its place", positions[first], (10, 10), textcoords="offset points")
    else:
        _mark_times(axes, recording, record.base, has_position, mark_positions)


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
    """Draw some rows of a robot's path on the field.

    The path of a long run is smoothed, since the sway of a walk would hide it, and drawn in parts, the
    earlier ones paler.

    Args:
        axes: the axes to draw into.
        times: the times of the rows, `(n,)` [s].
        positions: positions, `(n, 2)` [m].
        is_drawn: which rows to draw, `(n,)`.
        has_position: which rows have a position, `(n,)`.
        color: the colour of the path.
        label: the label in the legend.
    """
    begin_s, end_s = times[has_position][[0, -1]]
    duration_s = end_s - begin_s
    if duration_s < _LONG_S:
        drawn_positions = np.where(is_drawn[:, np.newaxis], positions, np.nan)  # lines have gaps at NaN
        axes.plot(*drawn_positions.T, lw=2.0, zorder=4, color=color, label=label)
        return
    rows_per_s = int(has_position.sum()) / duration_s
    smooth_positions = positions.copy()
    smooth_positions[has_position] = _moving_average(
        positions[has_position], window_rows=max(1, round(_SWAY_S * rows_per_s))
    )
    part_edges_s = np.linspace(begin_s, end_s, len(_SHADES) + 1)
    for (part_begin_s, part_end_s), alpha in zip(pairwise(part_edges_s), _SHADES, strict=True):
        is_in_part = is_drawn & (times >= part_begin_s) & (times <= part_end_s)
        part_positions = np.where(is_in_part[:, np.newaxis], smooth_positions, np.nan)
        axes.plot(*part_positions.T, lw=1.3, alpha=alpha, zorder=4, color=color)
    axes.plot([], [], lw=2.0, color=color, label=label)
    axes.plot([], [], lw=1.3, color="black", alpha=_SHADES[1], label="paler: earlier")


def _moving_average(positions: Floats, window_rows: int) -> Floats:
    """Return the mean of the rows around each row of positions, `(n, 2)`; the ends are repeated for it."""
    rows_before = window_rows // 2
    padded = np.pad(positions, ((rows_before, window_rows - 1 - rows_before), (0, 0)), mode="edge")
    window = np.full(window_rows, 1.0 / window_rows)
    return np.stack([np.convolve(column, window, "valid") for column in padded.T], 1)


def _mark_times(
    axes: Axes, recording: Recording, base: Floats, has_position: Flags, mark_positions: list[Floats]
) -> None:
    """Write round times beside the path, with arrows of the robot's heading, apart from each other.

    Args:
        axes: the axes to draw into.
        recording: the recording with the robot.
        base: poses of its base, `(n, 7)`.
        has_position: which rows are drawn, `(n,)`.
        mark_positions: positions of marks from which others keep a distance; new ones are appended.
    """
    from matplotlib.patheffects import withStroke

    times = recording.times
    size_m = recording.header.arena.get("size_m", ())
    begin_s, end_s = times[has_position][[0, -1]]
    fitting_steps_s = [step_s for step_s in _TIME_STEPS_S if end_s - begin_s <= step_s * _MAX_TIME_MARKS]
    step_s = fitting_steps_s[0] if fitting_steps_s else _TIME_STEPS_S[-1]
    min_distance = _MIN_MARK_DISTANCE * max(*np.ptp(base[has_position, :2], axis=0), *size_m, _MIN_SIDE_M)
    occupied = base[has_position, :2]
    # the first mark is at least a tenth of a step after the start, which has a mark of its own
    first_mark_s = np.ceil(begin_s / step_s + 0.1) * step_s
    for mark_s in np.arange(first_mark_s, end_s, step_s).tolist():
        row = int(np.searchsorted(times, mark_s))
        distances = [np.linalg.norm(base[row, :2] - position) for position in mark_positions]
        if not has_position[row] or min(distances) < min_distance:
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
            f"{mark_s:g} s",
            fontsize=7.5,
            ha="center",
            va="center",
            clip_on=True,
            path_effects=[withStroke(linewidth=2.0, foreground="white")],
            zorder=7.5,
        )
    if len(occupied) > has_position.sum():  # there is a mark
        axes.plot(
            [], [], ls="", marker=r"$\rightarrow$", color="black", ms=10, label="where it looks, and when"
        )


def _find_free_position(mark: Floats, occupied: Floats, radius: float) -> Floats:
    """Return the position for the text of a mark.

    There are 16 candidates, on an ellipse around the mark. The best is the one whose nearest occupied
    position is farthest away. Texts are wider than high, so the ellipse is wider, and horizontal distances
    count half.

    Args:
        mark: position of the mark, `(2,)` [m].
        occupied: positions of the path, of marks and of other texts, `(n, 2)` [m].
        radius: size of the ellipse [m].
    """
    bearings = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
    candidates = mark + radius * np.stack([0.62 * np.cos(bearings), 0.45 * np.sin(bearings)], axis=1)
    offsets = (candidates[:, np.newaxis] - occupied) / (2.0, 1.0)  # of each candidate from each position
    nearest_distances = np.linalg.norm(offsets, axis=-1).min(axis=1)
    return np.asarray(candidates[nearest_distances.argmax()])
