"""The field: shapes that stand fast, kinds of boxes, and the boxes themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import numpy as np

from posewright.arenas.hulls import check_hull
from posewright.arrays import Floats
from posewright.documents import (
    Bounds,
    Catalogue,
    Node,
    PlainData,
    PlainMapping,
    plain_mapping,
    read_document,
    read_record,
)
from posewright.errors import InputError, UnknownNameError

_FAR_M = 100.0
MAX_MARKER = 100
"""A marker's text has at most so many characters: a longer one is no code that a small robot reads."""

Length = Annotated[float, Bounds(0.0, _FAR_M)]
Edge = Annotated[float, Bounds(1e-3, _FAR_M)]
Place = Annotated[float, Bounds(-_FAR_M, _FAR_M)]
Amount = Annotated[float, Bounds(0.0)]
Colour = tuple[float, float, float]
"""Red, green, blue, each 0..1."""

FLOOR = "floor"
BOX = "box"
"""The kind of a box of which nothing else is said."""

_RESERVED = frozenset({FLOOR, "ground"})
_MOST_THINGS = 500
"""So many lines, shapes or boxes no field has, and no simulation steps."""

WALLS = ("wall_start", "wall_end", "wall_left", "wall_right")
"""Names of the walls at x = 0, at the far end, at the left and at the right edge of a field."""


class Role(Enum):
    """What a shape is for; a line and a marker are only seen, everything else is solid."""

    WALL = "wall"
    LINE = "line"
    STEP = "step"
    RING = "ring"
    FURNITURE = "furniture"
    MARKER = "marker"


@dataclass(frozen=True, slots=True)
class Shape:
    """A block, or where it is round a cylinder, or else what its points span, that stands fast on the field.

    Attributes:
        role: what it is for; a field's colours are told by role.
        x: of its middle [m].
        y: of its middle [m].
        size_m: edges along its own x, y and z; of a round one its diameter twice, and its height. [m]
        yaw_rad: how far it is turned to the left [rad].
        base_m: how high its underside is [m].
        hull_m: points whose convex hull it is, of a mesh, before it is turned, seen from the middle of its
            underside; none of a block [m].
        text: of a marker, what its code says, which is on the side that looks along its own x.
    """

    name: str
    role: Role
    x: Place
    y: Place
    size_m: Annotated[tuple[float, float, float], Bounds(0.0, _FAR_M)]
    yaw_rad: float = 0.0
    base_m: Place = 0.0
    is_round: bool = False
    hull_m: tuple[tuple[Place, Place, Place], ...] = ()
    text: str = ""

    def __post_init__(self) -> None:
        if self.hull_m:
            check_hull(self.name, self.hull_m, self.size_m, is_round=self.is_round)
        if (self.role is Role.MARKER) != bool(self.text):
            raise InputError(f"{self.name}: a marker has a text, and nothing else has", hint="text: Turn45L")
        if len(self.text) > MAX_MARKER:
            raise InputError(
                f"{self.name}: its text has {len(self.text)} characters", hint=f"at most {MAX_MARKER}"
            )

    @property
    def is_solid(self) -> bool:
        """Whether it can be touched: a line and a marker are only seen."""
        return self.role not in {Role.LINE, Role.MARKER}

    @property
    def top_m(self) -> float:
        """How high its upper side is [m]."""
        return self.base_m + self.size_m[2]

    @property
    def width_m(self) -> float:
        """Its edge along its own x: how wide a line is that lies across the field [m]."""
        return self.size_m[0]


@dataclass(frozen=True, slots=True)
class BoxKind:
    """What boxes of one kind are like.

    Attributes:
        size_m: edges along its own x, y and z [m].
        friction: sliding friction against the floor, no unit.
    """

    size_m: tuple[Edge, Edge, Edge]
    mass_kg: Amount
    friction: Amount

    @property
    def footprint_m(self) -> tuple[float, float]:
        """Edges of what it covers of the floor [m]."""
        return self.size_m[:2]


@dataclass(frozen=True, slots=True)
class Box:
    """A box standing on the floor.

    Attributes:
        x: of its centre, from the start wall [m].
        y: of its centre, from the middle line to the left [m].
        yaw_rad: how far it is turned to the left [rad].
        kind: name of its kind, one of those that the arena has.
    """

    x: Place
    y: Place
    yaw_rad: float = 0.0
    kind: str = BOX

    def __repr__(self) -> str:
        kind = "" if self.kind == BOX else f", kind={self.kind!r}"
        return f"Box({self.x:g}, {self.y:g}, {self.yaw_rad:g}{kind})"


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a robot belongs: the place of its base, and where it looks.

    Attributes:
        x: from the start wall [m].
        y: from the middle line to the left [m].
        yaw_rad: its heading, 0 along the field's x, positive to the left [rad].
    """

    x: Place
    y: Place
    yaw_rad: float = 0.0


@dataclass(frozen=True, slots=True)
class Arena:
    """A field of -size_y/2..size_y/2 along y from x = 0, with what stands fast on it, and boxes.

    Attributes:
        shapes: walls, lines and whatever else stands fast; walls may stand outside the field.
        colours: of `floor`, `box`, of shapes by their name or else their role; red, green, blue 0..1.
        gap_m: the least width of a gap between obstacles [m].
        touching_m: obstacles nearer than this form one [m].
        spots: where a robot belongs, by name, such as on a chair.
        sources: where each number comes from, by its key in the document.
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
        named = {shape.role.value for shape in self.shapes if shape.name not in self.colours}
        coloured = {FLOOR, *named, *([BOX] if self.box_kinds else [])}
        if missing := coloured - self.colours.keys():
            raise InputError(f"{', '.join(sorted(missing))}: no colour", hint="red, green and blue of each")

    def __reduce__(self) -> tuple[type[Arena], tuple[object, ...]]:
        """Copy and pickle by way of plain mappings: read-only ones can do neither."""
        values = [getattr(self, entry.name) for entry in fields(self)]
        return type(self), tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in values)

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
        """Return its own colour, or else that of its role."""
        return self.colours[shape.name if shape.name in self.colours else shape.role.value]

    @property
    def box_kind(self) -> BoxKind:
        """What an ordinary box is like; UnknownNameError where this field has none."""
        return self.kind_of(Box(0.0, 0.0))

    @property
    def box_size(self) -> tuple[float, float, float]:
        """Edges of an ordinary box [m]."""
        return self.box_kind.size_m

    @property
    def box_sizes(self) -> Floats:
        """Edges of each box, `(n_boxes, 3)` [m]."""
        return np.array([self.kind_of(box).size_m for box in self.boxes], dtype=np.float64).reshape(-1, 3)

    @property
    def box_zone(self) -> tuple[float, float]:
        """The x between which boxes belong: the middles of the outer lines; without two, the field [m]."""
        x = sorted(line.x for line in self.lines)
        return (x[0], x[-1]) if len(x) > 1 else (0.0, self.size_x)

    def spot(self, name: str) -> Spot:
        """Return the spot of that name, or raise UnknownNameError."""
        if name not in self.spots:
            raise UnknownNameError.among(f"spot in {self.name}", name, self.spots)
        return self.spots[name]

    def kind_of(self, box: Box) -> BoxKind:
        """Return what a box is like."""
        if box.kind not in self.box_kinds:
            raise UnknownNameError.among(f"kind of box in {self.name}", box.kind, self.box_kinds)
        return self.box_kinds[box.kind]

    def with_boxes(self, boxes: Sequence[Box]) -> Arena:
        """Return this arena with other boxes; see `check_layout` for which are legal."""
        return replace(self, boxes=tuple(boxes))

    def to_dict(self) -> dict[str, PlainData]:
        """Return what a recording carries: plain data from which the field can be drawn, or made again."""
        data = plain_mapping(self)
        del data["sources"]
        data["boxes"] = [_without_defaults(box, kind=BOX) for box in self.boxes]
        # what few fields have is left out of others, whose data and digests stay as they always were
        data["shapes"] = [_without_defaults(shape, hull_m=[], text="") for shape in self.shapes]
        return data | {
            "wall_height_m": max((wall.size_m[2] for wall in self.walls), default=0.0),
            "lines": [{"x": line.x, "width_m": line.width_m} for line in self.lines],
            "box_size_m": list(self.box_size) if BOX in self.box_kinds else None,
        }

    @classmethod
    def from_dict(cls, data: PlainMapping) -> Arena:
        """Return the arena, without sources, that `to_dict` told, or raise DocumentError."""
        told = ("wall_height_m", "lines", "box_size_m")
        return read_record(Node(data, trail="arena"), cls, extra_keys=told, degrees=False, sources={})


def _without_defaults(part: Box | Shape, **defaults: PlainData) -> dict[str, PlainData]:
    """Return a part of a field as plain data, without the entries that have their default."""
    data = plain_mapping(part)
    for name, default in defaults.items():
        if data[name] == default:
            del data[name]
    return data


_ARENAS = Catalogue("arena", ".arena.yaml", lambda: (Path(__file__).parent,))


def arena_names() -> tuple[str, ...]:
    """Return the names of the arenas that ship."""
    return _ARENAS.names()


@cache
def arena(name: str = "ceabot_obstacles") -> Arena:
    """Return the shipped arena of that name, without boxes."""
    return read_arena(_ARENAS.shipped_path(name))


@dataclass(frozen=True)
class _ArenaDocument:
    """An arena as a person writes it: walls all around and lines across the field in a line each."""

    arena: str
    size_m: tuple[Edge, Edge]
    friction: Length
    colours_rgb: Mapping[str, Annotated[tuple[int, int, int], Bounds(0, 255)]]
    sources: Mapping[str, str]
    title: str = ""
    wall_height_m: Length = 0.0
    wall_thickness_m: Length = 0.02
    lines_x_m: tuple[Length, ...] = ()
    line_width_m: Length = 0.02
    shapes: tuple[Shape, ...] = ()
    boxes: tuple[Box, ...] = ()
    box: BoxKind | None = None
    box_kinds: Mapping[str, BoxKind] = field(default_factory=dict)
    max_boxes: Annotated[int, Bounds(0)] = 0
    gap_m: Length = 0.0
    touching_m: Length = 0.0
    spots: Mapping[str, Spot] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (
            list(self.lines_x_m) != sorted(self.lines_x_m)
            or max(self.lines_x_m, default=0.0) > self.size_m[0]
        ):
            raise InputError("lines_x_m: expected lines on the field in the order of x")
        things = {"lines_x_m": self.lines_x_m, "shapes": self.shapes, "boxes": self.boxes}
        for what, told in things.items():
            if len(told) > _MOST_THINGS:
                raise InputError(f"{what}: {len(told)} of them", hint=f"at most {_MOST_THINGS}")
        names = [shape.name for shape in self.all_shapes()]
        if taken := sorted(_RESERVED.intersection(names)):
            raise InputError(f"a shape cannot be called {taken[0]!r}", hint="every field has one already")
        if len(names) != len(set(names)):
            raise InputError("two shapes have one name", hint=f"there are {', '.join(names)}")

    def all_shapes(self) -> tuple[Shape, ...]:
        width = self.size_m[1]
        lines = (
            Shape(f"line_{i}", Role.LINE, at, 0.0, (self.line_width_m, width, 0.0))
            for i, at in enumerate(self.lines_x_m)
        )
        return (*self._walls(), *lines, *self.shapes)

    def _walls(self) -> tuple[Shape, ...]:
        """Return four walls whose inner faces are the field's edge; none where they have no height."""
        x, y, half = *self.size_m, self.wall_thickness_m / 2.0
        across = (self.wall_thickness_m, y, self.wall_height_m)
        along = (x + 2.0 * self.wall_thickness_m, self.wall_thickness_m, self.wall_height_m)
        places = (
            (-half, 0.0, across),
            (x + half, 0.0, across),
            (x / 2.0, y / 2.0 + half, along),
            (x / 2.0, -y / 2.0 - half, along),
        )
        walls = (Shape(name, Role.WALL, *place) for name, place in zip(WALLS, places, strict=True))
        return tuple(walls) if self.wall_height_m else ()


def read_arena(path: Path | str) -> Arena:
    """Read an arena document."""
    root = read_document(path)
    told = read_record(root, _ArenaDocument)
    with root.locate_errors():
        return Arena(
            name=told.arena,
            size_m=told.size_m,
            shapes=told.all_shapes(),
            box_kinds={**({} if told.box is None else {BOX: told.box}), **told.box_kinds},
            colours={name: (r / 255.0, g / 255.0, b / 255.0) for name, (r, g, b) in told.colours_rgb.items()},
            friction=told.friction,
            max_boxes=told.max_boxes,
            gap_m=told.gap_m,
            touching_m=told.touching_m,
            boxes=told.boxes,
            spots=told.spots,
            sources=told.sources,
        )
