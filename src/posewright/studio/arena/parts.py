"""The parts of a field that can be selected: its boxes, by number, and its shapes, by name."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from posewright.arenas import Arena, Box, Colour, Shape
from posewright.errors import InputError

MAX_PARTS = 500
"""Largest number of shapes, and of boxes, that an arena document may hold."""

RESERVED_NAMES = frozenset({"floor", "ground"})
"""Names that no shape may have, since every field has a part of that name."""


@dataclass(frozen=True)
class Selection:
    """Parts of a field.

    Attributes:
        boxes: indices of boxes, from 0.
        shapes: names of shapes.
    """

    boxes: frozenset[int]
    shapes: frozenset[str]


def box_part(index: int) -> str:
    """Return the text that names a box in requests, given its index from 0: `box:1` for the first."""
    return f"box:{index + 1}"


def shape_part(name: str) -> str:
    """Return the text that names a shape in requests: `shape:hill`."""
    return f"shape:{name}"


def read_selection(parts: Collection[str], arena: Arena) -> Selection:
    """Return the parts of a field that texts such as `box:2` and `shape:hill` name.

    Raises:
        InputError: no part is named, or the field has no such part.
    """
    if not parts:
        raise InputError("nothing is selected", hint="click a part of the field")
    boxes: set[int] = set()
    shapes: set[str] = set()
    shape_names = {shape.name for shape in arena.shapes}
    box_names = {str(number) for number in range(1, len(arena.boxes) + 1)}
    for part in parts:
        kind, _, name = part.partition(":")
        if kind == "box" and name in box_names:
            boxes.add(int(name) - 1)
        elif kind == "shape" and name in shape_names:
            shapes.add(name)
        else:
            raise InputError(f"the field has no part {part!r:.60}", hint="such as box:1 or shape:hill")
    return Selection(frozenset(boxes), frozenset(shapes))


def selected_parts(arena: Arena, selection: Selection) -> Iterator[Box | Shape]:
    """Yield the selected boxes and shapes of a field, in its order."""
    for index, box in enumerate(arena.boxes):
        if index in selection.boxes:
            yield box
    for shape in arena.shapes:
        if shape.name in selection.shapes:
            yield shape


def with_changed_parts(
    arena: Arena,
    selection: Selection,
    change_box: Callable[[Box], Box],
    change_shape: Callable[[Shape], Shape],
    colours: Mapping[str, Colour] | None = None,
) -> Arena:
    """Return a field with its selected parts changed; the same object if nothing differs.

    Args:
        arena: the field.
        selection: the parts to change.
        change_box: returns the changed box.
        change_shape: returns the changed shape.
        colours: the colours of the changed field; None for those that it has.
    """
    boxes = tuple(
        change_box(box) if index in selection.boxes else box for index, box in enumerate(arena.boxes)
    )
    shapes = tuple(change_shape(shape) if shape.name in selection.shapes else shape for shape in arena.shapes)
    if boxes == arena.boxes and shapes == arena.shapes and colours is None:
        return arena
    return replace(arena, boxes=boxes, shapes=shapes, colours=arena.colours if colours is None else colours)


def middle_of(parts: Iterable[Box | Shape]) -> tuple[float, float]:
    """Return the middle between the outermost middles of some parts, x and y [m]."""
    positions = [(part.x, part.y) for part in parts]
    xs = [x for x, _ in positions]
    ys = [y for _, y in positions]
    return (min(xs) + max(xs)) / 2.0, (min(ys) + max(ys)) / 2.0


def unused_name(name: str, names: Collection[str]) -> str:
    """Return a name, or if it is in use, the name with the lowest free number: `hill_2`."""
    if name not in names and name not in RESERVED_NAMES:
        return name
    stem = re.sub(r"_\d+$", "", name)
    number = 2
    while f"{stem}_{number}" in names:
        number += 1
    return f"{stem}_{number}"


def require_room(arena: Arena) -> Arena:
    """Return a field unchanged, or raise InputError if a document cannot hold so many parts."""
    for kind, count in (("shapes", len(arena.shapes)), ("boxes", len(arena.boxes))):
        if count > MAX_PARTS:
            raise InputError(f"the field would have {count} {kind}", hint=f"at most {MAX_PARTS}")
    return arena


def round_length(length_m: float) -> float:
    """Return a length rounded to a tenth of a millimetre, as documents store it [m]."""
    return round(length_m, 4) + 0.0  # + 0.0 turns -0.0 into 0.0


def wrap_yaw(yaw_rad: float) -> float:
    """Return an angle in -pi..pi, rounded as documents store it [rad]."""
    yaw_deg = round(math.degrees(math.remainder(yaw_rad, 2.0 * math.pi)), 4)
    return math.radians(yaw_deg) + 0.0
