"""Arenas: a field with its fixed shapes, the kinds of its boxes, and the boxes themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import numpy as np

from posewright.arenas.hulls import require_valid_hull
from posewright.arrays import Floats
from posewright.documents import (
    Bounds,
    Catalogue,
    Node,
    PlainData,
    PlainMapping,
    parse_document,
    plain_mapping,
    read_document,
    read_record,
)
from posewright.errors import InputError, UnknownNameError

_MAX_LENGTH_M = 100.0
MIN_BOX_EDGE_M = 1e-3
"""Shortest edge of a box, and of a field [m]."""

MAX_MARKER_LENGTH = 100
"""Largest number of characters of a marker's text; a small robot cannot read longer codes."""

Length = Annotated[float, Bounds(0.0, _MAX_LENGTH_M)]
Edge = Annotated[float, Bounds(MIN_BOX_EDGE_M, _MAX_LENGTH_M)]
Coordinate = Annotated[float, Bounds(-_MAX_LENGTH_M, _MAX_LENGTH_M)]
Amount = Annotated[float, Bounds(0.0)]
Colour = tuple[float, float, float]
"""Red, green, blue, each 0..1."""

FLOOR = "floor"
BOX = "box"
"""The default kind of a box."""

_RESERVED_NAMES = frozenset({FLOOR, "ground"})
MAX_PARTS = 500
"""Largest number of lines, of shapes and of boxes; more are too slow to simulate."""

WALLS = ("wall_start", "wall_end", "wall_left", "wall_right")
"""Names of the walls at x = 0, at the far end, at the left and at the right edge of a field."""


WALL_THICKNESS_M = 0.02
LINE_WIDTH_M = 0.02
"""The thickness of walls and the width of lines where a document does not state them [m]."""


class Role(Enum):
    """The purpose of a shape; lines and markers are only visible, all others are solid."""

    WALL = "wall"
    LINE = "line"
    STEP = "step"
    RING = "ring"
    FURNITURE = "furniture"
    MARKER = "marker"


@dataclass(frozen=True, slots=True)
class Shape:
    """A fixed part of the field: a block, a cylinder, or a convex hull.

    Attributes:
        name: the name of the shape.
        role: its purpose, which determines its colour unless it has one of its own.
        x: the x of its middle [m].
        y: the y of its middle [m].
        size_m: edges along its own x, y and z; for a cylinder twice its diameter, and its height [m].
        yaw_rad: its turn to the left [rad].
        base_m: height of its underside [m].
        is_round: whether it is a cylinder.
        hull_m: points of its convex hull before it is turned, seen from the middle of its underside; empty
            for a block or cylinder [m].
        text: content of a marker's code, which is on the side that faces along its own x.

    Raises:
        InputError: the hull is not valid, or a shape other than a marker has a text, or the reverse.
    """

    name: str
    role: Role
    x: Coordinate
    y: Coordinate
    size_m: Annotated[tuple[float, float, float], Bounds(0.0, _MAX_LENGTH_M)]
    yaw_rad: float = 0.0
    base_m: Coordinate = 0.0
    is_round: bool = False
    hull_m: tuple[tuple[Coordinate, Coordinate, Coordinate], ...] = ()
    text: str = ""

    def __post_init__(self) -> None:
        if self.hull_m:
            require_valid_hull(self.name, self.hull_m, self.size_m, is_round=self.is_round)
        if (self.role is Role.MARKER) != bool(self.text):
            message = f"{self.name}: a marker needs a text, and no other shape has one"
            raise InputError(message, hint="text: Turn45L")
        if len(self.text) > MAX_MARKER_LENGTH:
            message = f"{self.name}: its text has {len(self.text)} characters"
            raise InputError(message, hint=f"expected at most {MAX_MARKER_LENGTH}")

    @property
    def is_solid(self) -> bool:
        """Whether it can be touched; lines and markers cannot."""
        return self.role not in {Role.LINE, Role.MARKER}

    @property
    def top_m(self) -> float:
        """Height of its upper side [m]."""
        return self.base_m + self.size_m[2]

    @property
    def width_m(self) -> float:
        """Its edge along its own x, which is the width of a line across the field [m]."""
        return self.size_m[0]


@dataclass(frozen=True, slots=True)
class BoxKind:
    """The properties of boxes of one kind.

    Attributes:
        size_m: edges along its own x, y and z [m].
        mass_kg: mass [kg].
        friction: coefficient of sliding friction against the floor.
    """

    size_m: tuple[Edge, Edge, Edge]
    mass_kg: Amount
    friction: Amount

    @property
    def footprint_m(self) -> tuple[float, float]:
        """Edges of the rectangle that it covers on the floor [m]."""
        return self.size_m[:2]


@dataclass(frozen=True, slots=True)
class Box:
    """A box standing on the floor.

    Attributes:
        x: the distance of its centre from the start wall [m].
        y: the distance of its centre from the middle line, to the left [m].
        yaw_rad: its turn to the left [rad].
        kind: name of its kind in the arena.
    """

    x: Coordinate
    y: Coordinate
    yaw_rad: float = 0.0
    kind: str = BOX

    def __repr__(self) -> str:
        kind = "" if self.kind == BOX else f", kind={self.kind!r}"
        return f"Box({self.x:g}, {self.y:g}, {self.yaw_rad:g}{kind})"


@dataclass(frozen=True, slots=True)
class Spot:
    """A place for a robot: the position of its base and its heading.

    Attributes:
        x: the distance from the start wall [m].
        y: the distance from the middle line, to the left [m].
        yaw_rad: its heading, 0 along the field's x, positive to the left [rad].
    """

    x: Coordinate
    y: Coordinate
    yaw_rad: float = 0.0


@dataclass(frozen=True, slots=True)
class Arena:
    """A field from x = 0 and -size_y/2..size_y/2 along y, with its fixed shapes and boxes.

    Attributes:
        name: the name of the arena.
        size_m: length along x and width along y [m].
        shapes: walls, lines and all other fixed parts; walls may stand outside the field.
        box_kinds: the kinds of boxes by name.
        colours: red, green, blue 0..1 of `floor`, `box`, and shapes by their name or else their role.
        friction: coefficient of sliding friction of the floor.
        max_boxes: largest number of boxes; 0 if the field has no limit of its own.
        gap_m: smallest distance allowed between two obstacles, so that a robot fits through [m].
        touching_m: boxes nearer to each other than this count as one obstacle, without a gap [m].
        boxes: the boxes of the layout.
        spots: places for robots, by name, for example on a chair.
        sources: the sources of the numbers, by key in the document.

    Raises:
        UnknownNameError: a box has an unknown kind.
        InputError: a colour is missing.
    """

    name: str
    size_m: tuple[Edge, Edge]
    shapes: tuple[Shape, ...]
    box_kinds: Mapping[str, BoxKind]
    colours: Mapping[str, Colour]
    friction: Length
    max_boxes: Annotated[int, Bounds(0)] = 0
    gap_m: Length = 0.0
    touching_m: Length = 0.0
    boxes: tuple[Box, ...] = ()
    spots: Mapping[str, Spot] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("box_kinds", "colours", "spots", "sources"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        for box in self.boxes:
            self.kind_of(box)
        needed_colours = {shape.role.value for shape in self.shapes if shape.name not in self.colours}
        needed_colours.add(FLOOR)
        if self.box_kinds:
            needed_colours.add(BOX)
        missing_colours = needed_colours - self.colours.keys()
        if missing_colours:
            names = ", ".join(sorted(missing_colours))
            raise InputError(f"{names}: no colour", hint="add red, green and blue for each")

    def __reduce__(self) -> tuple[type[Arena], tuple[object, ...]]:
        """Copy and pickle with plain mappings, since read-only ones support neither."""
        values = [getattr(self, attribute.name) for attribute in fields(self)]
        copies = [dict(value) if isinstance(value, MappingProxyType) else value for value in values]
        return type(self), tuple(copies)

    def __repr__(self) -> str:
        x, y = self.size_m
        return f"Arena({self.name!r}, {x:g} x {y:g} m, {len(self.shapes)} shapes, {len(self.boxes)} boxes)"

    @property
    def size_x(self) -> float:
        """Length of the field, along x [m]."""
        return self.size_m[0]

    @property
    def size_y(self) -> float:
        """Width of the field [m]."""
        return self.size_m[1]

    @property
    def lines(self) -> tuple[Shape, ...]:
        """The lines on the floor, in the order of the document."""
        return tuple(shape for shape in self.shapes if shape.role is Role.LINE)

    @property
    def markers(self) -> tuple[Shape, ...]:
        """The markers, in the order of the document."""
        return tuple(shape for shape in self.shapes if shape.role is Role.MARKER)

    @property
    def walls(self) -> tuple[Shape, ...]:
        """The walls."""
        return tuple(shape for shape in self.shapes if shape.role is Role.WALL)

    def colour_of(self, shape: Shape) -> Colour:
        """Return the colour of a shape: its own, or else that of its role."""
        return self.colours[shape.name if shape.name in self.colours else shape.role.value]

    @property
    def box_kind(self) -> BoxKind:
        """The properties of a default box; UnknownNameError if this field has none."""
        return self.kind_of(Box(0.0, 0.0))

    @property
    def box_size(self) -> tuple[float, float, float]:
        """Edges of a default box [m]."""
        return self.box_kind.size_m

    @property
    def box_sizes(self) -> Floats:
        """Edges of each box, `(n_boxes, 3)` [m]."""
        return np.array([self.kind_of(box).size_m for box in self.boxes], dtype=np.float64).reshape(-1, 3)

    @property
    def box_zone(self) -> tuple[float, float]:
        """Smallest and largest x of boxes: the middles of the outer lines, or the ends of the field [m]."""
        line_x = sorted(line.x for line in self.lines)
        return (line_x[0], line_x[-1]) if len(line_x) > 1 else (0.0, self.size_x)

    def spot(self, name: str) -> Spot:
        """Return the spot of a name, or raise UnknownNameError."""
        if name not in self.spots:
            raise UnknownNameError.among("spot", name, self.spots, owner=f"in {self.name}")
        return self.spots[name]

    def kind_of(self, box: Box) -> BoxKind:
        """Return the properties of a box, or raise UnknownNameError."""
        if box.kind not in self.box_kinds:
            raise UnknownNameError.among("kind of box", box.kind, self.box_kinds, owner=f"in {self.name}")
        return self.box_kinds[box.kind]

    def with_boxes(self, boxes: Sequence[Box]) -> Arena:
        """Return this arena with other boxes; see `check_layout` for legal ones."""
        return replace(self, boxes=tuple(boxes))

    def to_dict(self) -> dict[str, PlainData]:
        """Return the arena as plain data for a recording; `from_dict` reads it back without sources."""
        data = plain_mapping(self)
        del data["sources"]
        data["boxes"] = [_without_defaults(box, kind=BOX) for box in self.boxes]
        # keys that few fields need are omitted elsewhere, so that digests of old recordings stay valid
        data["shapes"] = [_without_defaults(shape, hull_m=[], text="") for shape in self.shapes]
        return data | {
            "wall_height_m": max((wall.size_m[2] for wall in self.walls), default=0.0),
            "lines": [{"x": line.x, "width_m": line.width_m} for line in self.lines],
            "box_size_m": list(self.box_size) if BOX in self.box_kinds else None,
        }

    @classmethod
    def from_dict(cls, data: PlainMapping) -> Arena:
        """Return the arena, without sources, of the data from `to_dict`, in metres and radians.

        Raises:
            DocumentError: the data are not those of an arena.
        """
        # `to_dict` computes these from shapes and kinds of boxes for other programs; they are not read back
        derived_keys = ("wall_height_m", "lines", "box_size_m")
        node = Node(data, trail="arena")
        return read_record(node, cls, extra_keys=derived_keys, degrees=False, sources={})


def _without_defaults(part: Box | Shape, **defaults: PlainData) -> dict[str, PlainData]:
    """Return a part of a field as plain data, without keys that have their default value."""
    data = plain_mapping(part)
    for name, default in defaults.items():
        if data[name] == default:
            del data[name]
    return data


_ARENAS = Catalogue("arena", ".arena.yaml", lambda: (Path(__file__).parent,))


def arena_names() -> tuple[str, ...]:
    """Return the names of the arenas that ship with the package."""
    return _ARENAS.names()


@cache
def arena(name: str = "ceabot_obstacles") -> Arena:
    """Return the arena of a name that ships with the package, without boxes."""
    return read_arena(_ARENAS.shipped_path(name))


@dataclass(frozen=True)
class ArenaDocument:
    """An arena document, which has short forms for the outer walls and for lines across the field.

    Raises:
        InputError: lines are not in order or not on the field, a shape other than a wall is outside of it,
            there are too many parts, or a name is reserved or not unique.
    """

    arena: str
    size_m: tuple[Edge, Edge]
    friction: Length
    colours_rgb: Mapping[str, Annotated[tuple[int, int, int], Bounds(0, 255)]]
    sources: Mapping[str, str]
    title: str = ""
    wall_height_m: Length = 0.0
    wall_thickness_m: Length = WALL_THICKNESS_M
    lines_x_m: tuple[Length, ...] = ()
    line_width_m: Length = LINE_WIDTH_M
    shapes: tuple[Shape, ...] = ()
    boxes: tuple[Box, ...] = ()
    box: BoxKind | None = None
    box_kinds: Mapping[str, BoxKind] = field(default_factory=dict)
    max_boxes: Annotated[int, Bounds(0)] = 0
    gap_m: Length = 0.0
    touching_m: Length = 0.0
    spots: Mapping[str, Spot] = field(default_factory=dict)

    def __post_init__(self) -> None:
        is_sorted = list(self.lines_x_m) == sorted(self.lines_x_m)
        if not is_sorted or max(self.lines_x_m, default=0.0) > self.size_m[0]:
            raise InputError("lines_x_m: expected lines on the field in the order of x")
        counts = {"lines_x_m": len(self.lines_x_m), "shapes": len(self.shapes), "boxes": len(self.boxes)}
        for key, count in counts.items():
            if count > MAX_PARTS:
                raise InputError(f"{key}: {count} of them", hint=f"expected at most {MAX_PARTS}")
        length, width = self.size_m
        for shape in self.shapes:
            is_outside = not (0.0 <= shape.x <= length and abs(shape.y) <= width / 2.0)
            if is_outside and shape.role is not Role.WALL:
                message = f"shapes: {shape.name} at ({shape.x:g}, {shape.y:g}) is outside the field"
                ranges = f"x from 0 to {length:g} and y from {-width / 2.0:g} to {width / 2.0:g}"
                raise InputError(message, hint=f"{ranges}, or a larger size_m")
        names = [shape.name for shape in self.all_shapes()]
        reserved = sorted(_RESERVED_NAMES.intersection(names))
        if reserved:
            message = f"a shape cannot be called {reserved[0]!r}"
            raise InputError(message, hint="every field has one already")
        if len(names) != len(set(names)):
            raise InputError("two shapes have the same name", hint=f"the names are {', '.join(names)}")

    def all_shapes(self) -> tuple[Shape, ...]:
        """Return the walls, the lines and the shapes of the document."""
        width = self.size_m[1]
        lines = [
            Shape(f"line_{i}", Role.LINE, x, y=0.0, size_m=(self.line_width_m, width, 0.0))
            for i, x in enumerate(self.lines_x_m)
        ]
        walls = edge_walls(self.size_m, self.wall_height_m, self.wall_thickness_m)
        return (*walls, *lines, *self.shapes)


def edge_walls(
    size_m: tuple[float, float], height_m: float, thickness_m: float = WALL_THICKNESS_M
) -> tuple[Shape, ...]:
    """Return four walls whose inner faces are the edges of a field; none if they have no height.

    Args:
        size_m: length along x and width along y of the field [m].
        height_m: height of the walls [m].
        thickness_m: thickness of the walls [m].
    """
    if not height_m:
        return ()
    length, width = size_m
    offset = thickness_m / 2.0
    across = (thickness_m, width, height_m)
    along = (length + 2.0 * thickness_m, thickness_m, height_m)
    start, end, left, right = WALLS
    return (
        Shape(start, role=Role.WALL, x=-offset, y=0.0, size_m=across),
        Shape(end, role=Role.WALL, x=length + offset, y=0.0, size_m=across),
        Shape(left, role=Role.WALL, x=length / 2.0, y=width / 2.0 + offset, size_m=along),
        Shape(right, role=Role.WALL, x=length / 2.0, y=-width / 2.0 - offset, size_m=along),
    )


def read_arena(path: Path | str) -> Arena:
    """Read an arena document.

    Raises:
        DocumentError: it is not a valid arena document.
        InputError: its content is not valid.
    """
    return _arena_of_document(read_document(path))


def parse_arena(text: str, path: Path | None = None) -> Arena:
    """Return the arena in a text; `path` is used in messages. Raises as `read_arena`."""
    return _arena_of_document(parse_document(text, path))


def _arena_of_document(root: Node) -> Arena:
    """Return the arena in a document; raises as `read_arena`."""
    document = read_record(root, ArenaDocument)
    box_kinds = dict(document.box_kinds)
    if document.box is not None:
        box_kinds = {BOX: document.box, **box_kinds}
    colours: dict[str, Colour] = {}
    for name, (red, green, blue) in document.colours_rgb.items():
        colours[name] = (red / 255.0, green / 255.0, blue / 255.0)
    with root.locate_errors():
        return Arena(
            name=document.arena,
            size_m=document.size_m,
            shapes=document.all_shapes(),
            box_kinds=box_kinds,
            colours=colours,
            friction=document.friction,
            max_boxes=document.max_boxes,
            gap_m=document.gap_m,
            touching_m=document.touching_m,
            boxes=document.boxes,
            spots=document.spots,
            sources=document.sources,
        )
