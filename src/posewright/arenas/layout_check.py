"""The check of where boxes stand.

There are two kinds of fault: impossible ones (boxes in one another, in a wall or in another shape), which are
always errors, and violations of the rules (too many boxes, outside the middle zone, narrow gaps, no passage),
which are errors unless the caller allows layouts that are not legal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from posewright.arenas.arena import Arena, Box, Shape
from posewright.arenas.arena import arena as find_arena
from posewright.arenas.obstacles import fixed_obstacles, obstacle_outline, outline_distance, overlap_depth
from posewright.arenas.rectangles import corners, pair_distances
from posewright.arrays import Flags, Floats, Indices
from posewright.errors import InputError, Where

TOLERANCE_M = 1e-3
"""Layouts are written to the millimetre, so smaller overlaps and narrower gaps do not count [m]."""

_EDGES = {
    "left wall": "wall_left",
    "right wall": "wall_right",
    "start wall": "wall_start",
    "far wall": "wall_end",
}
"""The name of the shape at each edge of a field; a field may lack walls."""


class LayoutFaultKind(Enum):
    """The kind of a fault."""

    NOT_FINITE = "not finite"
    OUTSIDE = "outside the field"
    OVERLAP = "overlap"
    COUNT = "too many boxes"
    ZONE = "outside the middle zone"
    GAP = "narrow gap"
    PASSAGE = "no way through"

    @property
    def is_impossible(self) -> bool:
        """Whether boxes cannot stand like this under any rules."""
        return self in {LayoutFaultKind.NOT_FINITE, LayoutFaultKind.OUTSIDE, LayoutFaultKind.OVERLAP}


@dataclass(frozen=True, slots=True)
class LayoutFault:
    """A fault of a layout.

    Attributes:
        kind: the kind of the fault.
        message: what is wrong.
        hint: what would be right.
        box: number of the box, from 1 in the order of the layout; None for a fault of the whole layout.
        other_box: number of the other box of a pair; None if there is none.
        shape: name of the fixed shape that the box is at; empty if there is none.
    """

    kind: LayoutFaultKind
    message: str
    hint: str
    box: int | None = None
    other_box: int | None = None
    shape: str = ""


def require_valid_layout(
    boxes: Sequence[Box], arena: Arena | None = None, *, legal: bool = True, locations: Sequence[Where] = ()
) -> None:
    """Raise an error if boxes cannot stand so, or, unless `legal` is False, if they violate the rules.

    Args:
        boxes: the boxes to be checked.
        arena: the field; None for the CEABOT obstacle field.
        legal: whether the layout must obey the contest's rules.
        locations: location of each box in a document; empty if there is none.

    Raises:
        InputError: the first fault.
    """
    for fault in check_layout(boxes, arena):
        if legal or fault.kind.is_impossible:
            where = (
                locations[fault.box - 1] if fault.box is not None and fault.box <= len(locations) else None
            )
            raise InputError(fault.message, where=where, hint=fault.hint)


def check_layout(boxes: Sequence[Box], arena: Arena | None = None) -> tuple[LayoutFault, ...]:
    """Return all faults of a layout, impossible ones first.

    Args:
        boxes: the boxes to be checked.
        arena: the field; None for the CEABOT obstacle field.
    """
    field = find_arena() if arena is None else arena
    poses = np.array([(box.x, box.y, box.yaw_rad) for box in boxes], dtype=np.float64).reshape(-1, 3)
    sizes = np.array([field.kind_of(box).footprint_m for box in boxes], dtype=np.float64).reshape(-1, 2)
    not_finite = tuple(_find_not_finite(poses))
    if not_finite:  # there are no distances to check
        return not_finite
    outlines = corners(poses, sizes)
    distances = _obstacle_distances(outlines, pair_distances(poses, sizes), field)
    wall_names = {shape.name for shape in field.walls}
    missing_edges = [edge for edge, wall in enumerate(_EDGES.values()) if wall not in wall_names]
    faults = [*_find_outside(distances, missing_edges), *_find_overlaps(distances)]
    faults += _find_boxes_in_shapes(boxes, field)
    shapes = fixed_obstacles(field)
    distances = _with_shapes(distances, outlines, shapes, field)
    # A missing wall is near to nothing.
    missing_obstacles = [len(poses) + len(shapes) + edge for edge in missing_edges]
    distances[missing_obstacles, :] = np.inf
    distances[:, missing_obstacles] = np.inf
    faults += _find_surplus_boxes(len(boxes), field)
    faults += _find_outside_zone(outlines[..., 0], field)
    faults += _find_narrow_gaps(distances, shapes, field)
    if not _has_passage(distances, field):
        message = "the boxes close the way from wall to wall"
        hint = f"leave a gap of {field.gap_m:g} m somewhere"
        faults.append(LayoutFault(LayoutFaultKind.PASSAGE, message, hint))
    return tuple(faults)


def _obstacle_distances(outlines: Floats, box_distances: Floats, arena: Arena) -> Floats:
    """Return the distances between all obstacles, boxes first, then `_EDGES`.

    Args:
        outlines: corners of the boxes, `(n, 4, 2)` [m].
        box_distances: the distances between the boxes, `(n, n)` [m].
        arena: the field.

    Returns:
        `(n + 4, n + 4)` [m]; negative for overlaps, infinite between edges.
    """
    n = len(outlines)
    x = outlines[..., 0]
    y = outlines[..., 1]
    half_width = arena.size_y / 2.0
    # in the order of _EDGES: left, right, start and far wall
    to_edges = np.stack([half_width - y.max(1), half_width + y.min(1), x.min(1), arena.size_x - x.max(1)])
    distances = np.full((n + len(_EDGES), n + len(_EDGES)), np.inf)
    distances[:n, :n] = box_distances
    distances[n:, :n] = to_edges
    distances[:n, n:] = to_edges.T
    return distances


def _with_shapes(distances: Floats, outlines: Floats, shapes: Sequence[Shape], arena: Arena) -> Floats:
    """Return the distances between all obstacles with the fixed shapes between the boxes and `_EDGES`.

    Args:
        distances: from `_obstacle_distances`, `(n + 4, n + 4)` [m].
        outlines: corners of the boxes, `(n, 4, 2)` [m].
        shapes: m fixed obstacles.
        arena: the field.

    Returns:
        `(n + m + 4, n + m + 4)` [m]; 0 for a shape that overlaps something.
    """
    n_boxes = len(outlines)
    for number, shape in enumerate(shapes):
        index = n_boxes + number
        outline = obstacle_outline(shape)
        x, y = outline.T
        others = [*outlines, *map(obstacle_outline, shapes[:number])]
        row = [outline_distance(outline, other) for other in others]
        half_width = arena.size_y / 2.0
        edges = (half_width - y.max(), half_width + y.min(), x.min(), arena.size_x - x.max())
        row_to_all = np.array([*row, *np.maximum(edges, 0.0)])
        distances = np.insert(distances, index, row_to_all, axis=0)
        distances = np.insert(distances, index, np.insert(row_to_all, index, np.inf), axis=1)
    return distances


def _has_passage(distances: Floats, arena: Arena) -> bool:
    """Return whether a disc as wide as the smallest gap can pass from line to line.

    Obstacles nearer to each other than the disc is wide block it, and the passage is closed exactly if a
    chain of boxes connects the left wall with the right one: grown by the disc's radius, convex obstacles
    overlap if and only if their distance is below its diameter. The start wall and the far wall are in no
    chain: the way leads from one to the other, past every box that stands at them.
    """
    left_wall = len(distances) - len(_EDGES)
    right_wall = left_wall + 1
    n_obstacles = right_wall + 1  # without the start wall and the far wall
    groups = _connected_groups(distances[:n_obstacles, :n_obstacles] < arena.gap_m - TOLERANCE_M)
    return bool(groups[left_wall] != groups[right_wall])


def _connected_groups(is_linked: Flags) -> Indices:
    """Return a group number for each obstacle, equal for obstacles linked directly or through others."""
    n_obstacles = len(is_linked)
    groups = np.arange(n_obstacles)
    is_linked = is_linked | np.eye(n_obstacles, dtype=bool)
    # each takes the lowest number among its neighbours, as often as the longest chain may need
    for _ in range(n_obstacles):
        groups = np.where(is_linked, groups, n_obstacles).min(axis=1)
    return groups


def _obstacle_name(i: int, distances: Floats) -> str:
    n_boxes = len(distances) - len(_EDGES)
    return _box_name(i) if i < n_boxes else f"the {tuple(_EDGES)[i - n_boxes]}"


def _box_name(i: int) -> str:
    return f"box {i + 1}"


def _find_not_finite(poses: Floats) -> Iterator[LayoutFault]:
    """Yield the boxes with a coordinate or angle that is not finite."""
    for i, pose in enumerate(poses.tolist()):
        if not all(map(math.isfinite, pose)):
            message = f"{_box_name(i)} has no finite place"
            yield LayoutFault(LayoutFaultKind.NOT_FINITE, message, hint="metres, degrees", box=i + 1)


def _find_outside(distances: Floats, missing_edges: Sequence[int]) -> Iterator[LayoutFault]:
    """Yield the boxes that stand in a wall, or over an edge of the field without a wall.

    Args:
        distances: the distances between all obstacles, as from `_obstacle_distances` [m].
        missing_edges: indices in `_EDGES` of the edges without a wall.
    """
    n_boxes = len(distances) - len(_EDGES)
    for i, edge in np.argwhere(distances[:n_boxes, n_boxes:] < -TOLERANCE_M).tolist():
        depth = f"{-distances[i, n_boxes + edge]:.3f} m"
        if edge in missing_edges:
            edge_name = tuple(_EDGES)[edge].replace("wall", "edge")
            message = f"{_box_name(i)} extends {depth} beyond the {edge_name}"
            hint = "the whole box must be on the field"
        else:
            message = f"{_box_name(i)} overlaps {_obstacle_name(n_boxes + edge, distances)} by {depth}"
            hint = "the whole box must be inside the walls"
        yield LayoutFault(LayoutFaultKind.OUTSIDE, message, hint, box=i + 1)


def _find_overlaps(distances: Floats) -> Iterator[LayoutFault]:
    """Yield the pairs of boxes that overlap."""
    n_boxes = len(distances) - len(_EDGES)
    for i, j in np.argwhere(np.triu(distances[:n_boxes, :n_boxes] < -TOLERANCE_M)).tolist():
        message = f"{_box_name(i)} and {_box_name(j)} overlap by {-distances[i, j]:.3f} m"
        hint = "boxes may touch but not overlap"
        yield LayoutFault(LayoutFaultKind.OVERLAP, message, hint, box=j + 1, other_box=i + 1)


def _find_boxes_in_shapes(boxes: Sequence[Box], arena: Arena) -> Iterator[LayoutFault]:
    """Yield the boxes that stand in a wall inside the field, a step, a ring or furniture."""
    for number, box in enumerate(boxes, 1):
        kind = arena.kind_of(box)
        for shape in fixed_obstacles(arena, below_m=kind.size_m[2]):
            depth_m = overlap_depth((box.x, box.y, box.yaw_rad), kind.footprint_m, shape)
            if depth_m > TOLERANCE_M:
                message = f"{_box_name(number - 1)} overlaps {shape.name} by {depth_m:.3f} m"
                hint = "boxes stand on the floor, beside the shapes of the field"
                yield LayoutFault(LayoutFaultKind.OVERLAP, message, hint, box=number, shape=shape.name)


def _find_surplus_boxes(n_boxes: int, arena: Arena) -> Iterator[LayoutFault]:
    """Yield a fault if there are more boxes than the field allows; one without a limit allows any number."""
    if 0 < arena.max_boxes < n_boxes:
        first = arena.max_boxes + 1
        message = f"{n_boxes} boxes: too many from box {first} on"
        yield LayoutFault(LayoutFaultKind.COUNT, message, hint=f"at most {arena.max_boxes}", box=first)


def _find_outside_zone(corner_x: Floats, arena: Arena) -> Iterator[LayoutFault]:
    """Yield the boxes with a corner outside the zone; `corner_x` is `(n, 4)` [m]."""
    if len(arena.lines) < 2:
        return
    low, high = arena.box_zone
    is_outside = (corner_x.min(1) < low - TOLERANCE_M) | (corner_x.max(1) > high + TOLERANCE_M)
    hint = f"the whole box must be between the lines at x = {low:g} and {high:g} m"
    for i in np.flatnonzero(is_outside).tolist():
        message = f"{_box_name(i)} is partly outside the middle zone"
        yield LayoutFault(LayoutFaultKind.ZONE, message, hint, box=i + 1)


def _find_narrow_gaps(distances: Floats, shapes: Sequence[Shape], arena: Arena) -> Iterator[LayoutFault]:
    """Yield the gaps beside boxes that are too narrow; obstacles that touch form one obstacle.

    Args:
        distances: from `_with_shapes` [m].
        shapes: the fixed obstacles.
        arena: the field.
    """
    n_boxes = len(distances) - len(_EDGES) - len(shapes)
    names = [
        *map(_box_name, range(n_boxes)),
        *(shape.name for shape in shapes),
        *(f"the {edge}" for edge in _EDGES),
    ]
    groups = _connected_groups(distances <= arena.touching_m + TOLERANCE_M)
    is_narrow = (distances < arena.gap_m - TOLERANCE_M) & (groups[:, None] != groups[None, :])
    hint = f"at least {arena.gap_m:g} m, or under {arena.touching_m:g} m to make them one obstacle"
    for i, j in np.argwhere(np.triu(is_narrow)[:n_boxes]).tolist():  # what stands fixed is no fault of boxes
        message = f"the gap between {names[i]} and {names[j]} is {distances[i, j]:.3f} m wide"
        other_box = j + 1 if j < n_boxes else None
        shape_name = shapes[j - n_boxes].name if 0 <= j - n_boxes < len(shapes) else ""
        yield LayoutFault(
            LayoutFaultKind.GAP, message, hint, box=i + 1, other_box=other_box, shape=shape_name
        )
