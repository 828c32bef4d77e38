"""What may be wrong with where boxes stand, and the check that refuses it.

Two kinds of fault: what cannot be (boxes in one another or in a wall), refused always, and what the
rules forbid (too many, outside the middle zone, narrow gaps, no way through), refused unless the
caller says that the layout need not be legal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from posewright.arenas.arena import Arena, Box
from posewright.arenas.arena import arena as shipped_arena
from posewright.arenas.rectangles import corners, pair_distances
from posewright.arrays import Flags, Floats, Indices
from posewright.errors import InputError, Where

SLACK_M = 1e-3
"""Layouts are written to the millimetre: less than this is neither an overlap nor a narrow gap."""

_EDGES = {
    "left wall": "wall_left",
    "right wall": "wall_right",
    "start wall": "wall_start",
    "far wall": "wall_end",
}
"""What stands at each edge of a field, and the shape that it is; a field may lack it."""


class FaultKind(Enum):
    """What is wrong with a layout."""

    NOT_FINITE = "not finite"
    OUTSIDE = "outside the field"
    OVERLAP = "overlap"
    COUNT = "too many boxes"
    ZONE = "outside the middle zone"
    GAP = "narrow gap"
    PASSAGE = "no way through"

    @property
    def impossible(self) -> bool:
        """Whether boxes cannot stand so, whatever the rules say."""
        return self in {FaultKind.NOT_FINITE, FaultKind.OUTSIDE, FaultKind.OVERLAP}


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a layout.

    Attributes:
        box: the number of the box it is about, from 1 as the layout lists them; None where it is about all.
    """

    kind: FaultKind
    message: str
    hint: str
    box: int | None = None


def check_layout(
    boxes: Sequence[Box], arena: Arena | None = None, *, legal: bool = True, wheres: Sequence[Where] = ()
) -> None:
    """Refuse boxes that cannot stand so and, unless `legal` is False, such as break the rules.

    Args:
        boxes: where they stand.
        arena: the field they stand on; the CEABOT obstacle field where none is given.
        legal: whether the contest's rules count.
        wheres: where in a document each box is written.

    Raises:
        InputError: naming the first fault.
    """
    for fault in layout_faults(boxes, arena):
        if legal or fault.kind.impossible:
            where = wheres[fault.box - 1] if fault.box is not None and fault.box <= len(wheres) else None
            raise InputError(fault.message, where=where, hint=fault.hint)


def layout_faults(boxes: Sequence[Box], arena: Arena | None = None) -> tuple[Fault, ...]:
    """Return everything wrong with `boxes`, what is impossible first."""
    field = shipped_arena() if arena is None else arena
    at = np.array([(box.x, box.y, box.yaw_rad) for box in boxes], dtype=np.float64).reshape(-1, 3)
    sizes = np.array([field.kind_of(box).footprint_m for box in boxes], dtype=np.float64).reshape(-1, 2)
    unreal = [i for i, place in enumerate(at.tolist()) if not all(map(math.isfinite, place))]
    if unreal:
        return tuple(
            Fault(FaultKind.NOT_FINITE, f"{_name(i)} has no finite place", "metres, degrees", i + 1)
            for i in unreal
        )
    outlines = corners(at, sizes)
    apart = _apart(outlines, pair_distances(at, sizes), field)
    standing = {shape.name for shape in field.walls}
    missing = [i for i, wall in enumerate(_EDGES.values()) if wall not in standing]
    impossible = [*_outside(apart, missing), *_overlaps(apart)]
    far = [len(at) + i for i in missing]  # what is not there is near to nothing
    apart[far, :] = apart[:, far] = np.inf
    faults = [*impossible, *_count(len(boxes), field), *_zone(outlines[..., 0], field), *_gaps(apart, field)]
    if not _has_passage(apart, field):
        hint = f"leave a gap of {field.gap_m:g} m somewhere"
        faults.append(Fault(FaultKind.PASSAGE, "the boxes close the way from wall to wall", hint))
    return tuple(faults)


def _apart(outlines: Floats, boxes: Floats, arena: Arena) -> Floats:
    """Return the distances between all obstacles, boxes first, then `_EDGES`: `(n + 4, n + 4)` [m]."""
    n, x, y = len(outlines), outlines[..., 0], outlines[..., 1]
    half = arena.size_y / 2.0
    to_walls = np.stack([half - y.max(1), half + y.min(1), x.min(1), arena.size_x - x.max(1)])
    apart = np.full((n + len(_EDGES), n + len(_EDGES)), np.inf)
    apart[:n, :n] = boxes
    apart[n:, :n] = to_walls
    apart[:n, n:] = to_walls.T
    return apart


def _has_passage(apart: Floats, arena: Arena) -> bool:
    """Return whether a disc of the gap's width can pass from line to line.

    Obstacles nearer to each other than the disc is wide bar it; a chain of such from the left wall to
    the right one is the only thing that closes the way between two lines. This is exact: grown by the
    disc's radius, convex obstacles overlap just where their distance is below its diameter.
    """
    left, right = len(apart) - len(_EDGES), len(apart) - len(_EDGES) + 1
    one = _joined(apart < arena.gap_m - SLACK_M)
    return bool(one[left] != one[right])


def _joined(linked: Flags) -> Indices:
    """Return a number for each obstacle, the same for those linked directly or through others."""
    label = np.arange(len(linked))
    linked = linked | np.eye(len(linked), dtype=bool)
    for _ in range(len(linked)):
        label = np.where(linked, label, len(linked)).min(axis=1)
    return label


def _obstacle(i: int, apart: Floats) -> str:
    n = len(apart) - len(_EDGES)
    return _name(i) if i < n else f"the {tuple(_EDGES)[i - n]}"


def _name(i: int) -> str:
    return f"box {i + 1}"


def _outside(apart: Floats, missing: Sequence[int]) -> list[Fault]:
    """Return the boxes that stand in a wall, or over an edge of the field where the wall is `missing`."""
    n, faults = len(apart) - len(_EDGES), []
    for i, edge in np.argwhere(apart[:n, n:] < -SLACK_M).tolist():
        over = f"{_name(i)} stands {-apart[i, n + edge]:.3f} m"
        told = f"{over} into {_obstacle(n + edge, apart)}", "all of it belongs inside the walls"
        if edge in missing:
            told = f"{over} over the {tuple(_EDGES)[edge].replace('wall', 'edge')}", "it belongs on the field"
        faults.append(Fault(FaultKind.OUTSIDE, *told, i + 1))
    return faults


def _overlaps(apart: Floats) -> list[Fault]:
    n = len(apart) - len(_EDGES)
    return [
        Fault(
            FaultKind.OVERLAP,
            f"{_name(i)} and {_name(j)} stand {-apart[i, j]:.3f} m into each other",
            "boxes may touch, not overlap",
            j + 1,
        )
        for i, j in np.argwhere(np.triu(apart[:n, :n] < -SLACK_M)).tolist()
    ]


def _count(count: int, arena: Arena) -> list[Fault]:
    if count <= arena.max_boxes:
        return []
    first = arena.max_boxes + 1
    many = f"{count} boxes: too many from box {first} on"
    return [Fault(FaultKind.COUNT, many, f"at most {arena.max_boxes}", first)]


def _zone(x: Floats, arena: Arena) -> list[Fault]:
    """Return the boxes of which a corner, at `x` `(n, 4)` [m], is outside the zone."""
    if len(arena.lines) < 2:
        return []
    low, high = arena.box_zone
    outside = (x.min(1) < low - SLACK_M) | (x.max(1) > high + SLACK_M)
    hint = f"all of it belongs between the lines at x = {low:g} and {high:g} m"
    return [
        Fault(FaultKind.ZONE, f"{_name(i)} reaches out of the middle zone", hint, i + 1)
        for i in np.flatnonzero(outside).tolist()
    ]


def _gaps(apart: Floats, arena: Arena) -> list[Fault]:
    """Return the gaps between obstacles that are not wide enough; touching ones are one obstacle."""
    one = _joined(apart <= arena.touching_m + SLACK_M)
    narrow = (apart < arena.gap_m - SLACK_M) & (one[:, None] != one[None, :])
    return [
        Fault(
            FaultKind.GAP,
            f"the gap between {_name(i)} and {_obstacle(j, apart)} is {apart[i, j]:.3f} m wide",
            f"at least {arena.gap_m:g} m, or under {arena.touching_m:g} m to make them one obstacle",
            i + 1,
        )
        for i, j in np.argwhere(np.triu(narrow)).tolist()
    ]
