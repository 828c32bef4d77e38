"""Fields of one's own: what a contest needs of them, and what an arena lacks.

A contest that implements `OwnFieldContest` says what is wrong with an arena before a run begins on it; the
arena editor shows the same while the field is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from posewright.arenas import (
    WALLS,
    Arena,
    LayoutFault,
    check_layout,
    fixed_obstacles,
    obstacle_distances,
)
from posewright.arenas.rectangles import point_distances
from posewright.contests.contest import Contest
from posewright.errors import InputError

BUILD_TOLERANCE_M = 0.005
"""Tolerance of a field that somebody has built or drawn [m]; assumed."""

START_ROOM_M = 0.1
"""Room that a robot needs around its middle at its start, where rules do not state it [m]; assumed."""


@dataclass(frozen=True, slots=True)
class FieldFault:
    """What is wrong with a field for a contest.

    Attributes:
        message: what is wrong.
        hint: what would be right.
        boxes: numbers of the boxes that are at fault, from 1.
        shapes: names of the shapes that are at fault.
        prevents_run: whether the contest cannot be held on the field; else a rule of layouts is broken.
    """

    message: str
    hint: str
    boxes: tuple[int, ...] = ()
    shapes: tuple[str, ...] = ()
    prevents_run: bool = True

    @classmethod
    def of_layout_fault(cls, fault: LayoutFault) -> FieldFault:
        """Return a fault of a layout as one of the field; the contest is not held on impossible layouts."""
        return cls(
            fault.message,
            fault.hint,
            boxes=tuple(number for number in (fault.box, fault.other_box) if number is not None),
            shapes=(fault.shape,) if fault.shape else (),
            prevents_run=fault.kind.is_impossible,
        )


@runtime_checkable
class OwnFieldContest(Protocol):
    """A contest that says which fields of one's own it can be held on."""

    def prepare_field(self, arena: Arena, layout: str, seed: int, *, legal: bool = False) -> Arena:
        """Return an arena as the contest uses it: with its limits of layouts, its layout and what it draws.

        Args:
            arena: the arena.
            layout: name of a layout that replaces the arena's own boxes; empty for these.
            seed: the seed of everything random in the field.
            legal: whether a layout that breaks the rules is an error.
        """

    def check_field(self, arena: Arena) -> tuple[FieldFault, ...]:
        """Return everything that is wrong with a prepared arena."""


def prepare_own_field(
    contest: Contest, arena: Arena, layout: str, seed: int, *, legal: bool = False
) -> Arena:
    """Return an arena as a contest uses it.

    A contest of an installed package that does not say which fields it needs gets the arena as it is, with
    the boxes of its layout.

    Args:
        contest: the contest.
        arena: the arena.
        layout: name of a layout that replaces the arena's own boxes; empty for these.
        seed: the seed of everything random in the field.
        legal: whether a layout that breaks the rules is an error.

    Raises:
        InputError: the contest cannot be held on the arena.
    """
    if not isinstance(contest, OwnFieldContest):
        field = contest.field(layout, seed, legal=legal)
        return arena.with_boxes(field.boxes) if layout else arena
    prepared = contest.prepare_field(arena, layout, seed, legal=legal)
    if not layout:
        name_fault = find_name_fault(contest.field("", seed), arena)
        if name_fault is not None:
            raise InputError(name_fault.message, hint=name_fault.hint)
    require_suitable_field(contest, prepared, legal=legal)
    return prepared


def find_name_fault(own_field: Arena, arena: Arena) -> FieldFault | None:
    """Return a fault if an arena has the name of a contest's own field, but other parts; else None.

    Recordings on such an arena would look like changed ones of the contest's own field.

    Args:
        own_field: the contest's own field.
        arena: the arena, before `prepare_own_field`.
    """
    if arena.name != own_field.name:
        return None
    has_same_parts = arena.size_m == own_field.size_m and arena.shapes == own_field.shapes
    if has_same_parts and not arena.boxes:
        return None
    difference = "has boxes of its own" if has_same_parts else "has other shapes"
    return FieldFault(
        f"the arena has the name of the contest's own field, {arena.name}, but {difference}",
        f"give it another name, such as my_{arena.name}",
    )


def require_suitable_field(contest: Contest, arena: Arena, *, legal: bool = False) -> None:
    """Raise InputError with everything that prevents a contest on a prepared arena.

    Args:
        contest: the contest.
        arena: the arena, as `prepare_own_field` returns it.
        legal: whether a layout that breaks the rules is an error, too.
    """
    faults = check_own_field(contest, arena)
    errors = [
        InputError(
            f"{contest.name} cannot be held on the arena {arena.name!r:.60}: {fault.message}", hint=fault.hint
        )
        for fault in faults
        if fault.prevents_run or legal
    ]
    if errors:
        errors[0].other_errors = tuple(errors[1:])
        raise errors[0]


def check_own_field(contest: Contest | None, arena: Arena) -> tuple[FieldFault, ...]:
    """Return everything that is wrong with a prepared arena for a contest; None for no contest."""
    if contest is None or not isinstance(contest, OwnFieldContest):
        return layout_faults(arena)
    return contest.check_field(arena)


def layout_faults(arena: Arena) -> tuple[FieldFault, ...]:
    """Return the faults of an arena's own boxes, by its own limits."""
    return tuple(FieldFault.of_layout_fault(fault) for fault in check_layout(arena.boxes, arena))


def find_open_edges(arena: Arena) -> list[FieldFault]:
    """Return a fault if a field lacks walls at its edges, over which a robot can walk out of it."""
    names = {shape.name for shape in arena.walls}
    missing = [wall.removeprefix("wall_") for wall in WALLS if wall not in names]
    if not missing:
        return []
    message = f"it has no wall at the {', '.join(missing)}, where a robot can leave it"
    return [FieldFault(message, f"walls named {', '.join(WALLS)}", prevents_run=False)]


def with_limits_of(arena: Arena, own_field: Arena) -> Arena:
    """Return an arena with a contest field's limits of layouts where the arena has none.

    Args:
        arena: the arena.
        own_field: the contest's own field.
    """
    return replace(
        arena,
        max_boxes=arena.max_boxes or own_field.max_boxes,
        gap_m=arena.gap_m or own_field.gap_m,
        touching_m=arena.touching_m or own_field.touching_m,
    )


def find_start_faults(arena: Arena, starts: Iterable[tuple[float, float]], room_m: float) -> list[FieldFault]:
    """Return a fault for each start place that is off the field, or too near to something solid.

    Args:
        arena: the field.
        starts: x and y of the places [m].
        room_m: the room that a robot needs around its middle [m].
    """
    faults: list[FieldFault] = []
    obstacles = fixed_obstacles(arena)
    for x, y in starts:
        place = f"the robot starts at x = {x:g}, y = {y:g} m"
        if not (0.0 <= x <= arena.size_x and abs(y) <= arena.size_y / 2.0):
            hint = f"a field of {arena.size_x:g} x {arena.size_y:g} m does not reach there; make it larger"
            faults.append(FieldFault(f"{place}, off the field", hint))
            continue
        for shape, distance_m in zip(obstacles, obstacle_distances([(x, y)], arena)[0], strict=True):
            if distance_m < room_m:
                faults.append(_start_fault(place, shape.name, distance_m, room_m, shapes=(shape.name,)))
        for number, box in enumerate(arena.boxes, 1):
            pose = (box.x, box.y, box.yaw_rad)
            footprint_m = arena.kind_of(box).footprint_m
            distance_m = float(point_distances([(x, y)], [pose], footprint_m)[0, 0])
            if distance_m < room_m:
                faults.append(_start_fault(place, f"box {number}", distance_m, room_m, boxes=(number,)))
    return faults


def _start_fault(
    place: str,
    obstacle: str,
    distance_m: float,
    room_m: float,
    *,
    boxes: Sequence[int] = (),
    shapes: Sequence[str] = (),
) -> FieldFault:
    """Return the fault that a start place is too near to an obstacle.

    Args:
        place: the start place, as the message names it.
        obstacle: the name of the obstacle.
        distance_m: the distance between them [m].
        room_m: the least distance that a robot needs [m].
        boxes: the number of the obstacle if it is a box.
        shapes: the name of the obstacle if it is a shape.
    """
    message = f"{place}, {distance_m:.3f} m from {obstacle}"
    return FieldFault(message, f"at least {room_m:g} m", boxes=tuple(boxes), shapes=tuple(shapes))
