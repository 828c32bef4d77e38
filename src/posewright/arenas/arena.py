"""The field: its size, walls, lines, colours and boxes, read from a document with its sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from posewright.arenas.box import Box, BoxKind
from posewright.documents import Node, read_document
from posewright.errors import UnknownNameError

Colour = tuple[float, float, float]
"""Red, green, blue, each 0..1."""

_FOLDER = Path(__file__).parent
_SUFFIX = ".arena.yaml"
_NUMBERS = ("wall_height_m", "wall_thickness_m", "line_width_m", "friction", "gap_m", "touching_m")
_REQUIRED = ("arena", "size_m", "lines_x_m", "max_boxes", "box", "colours_rgb", "sources", *_NUMBERS)
_FAR_M = 100.0


@dataclass(frozen=True, slots=True)
class Line:
    """A line across the whole field.

    Attributes:
        x: of its middle [m].
        width_m: along x [m].
    """

    x: float
    width_m: float


@dataclass(frozen=True, slots=True)
class Arena:
    """A field with four walls, lines across it, and boxes on it.

    Attributes:
        name: the document's name.
        size_x: inside the walls, along x from the start wall [m].
        size_y: inside the walls; the field is -size_y/2..size_y/2 [m].
        wall_height_m: of the walls [m].
        wall_thickness_m: of the walls, which stand outside the field [m].
        lines: in the order of x; boxes belong between the first and the last.
        box_kind: what every box is like.
        colours: of `floor`, `wall`, `line` and `box`, red green blue 0..1.
        friction: sliding friction of the floor, no unit.
        max_boxes: how many boxes may stand on it.
        gap_m: the least width of a gap between obstacles [m].
        touching_m: obstacles nearer than this form one [m].
        boxes: where they stand.
        sources: where each number comes from, by its key in the document.
    """

    name: str
    size_x: float
    size_y: float
    wall_height_m: float
    wall_thickness_m: float
    lines: tuple[Line, ...]
    box_kind: BoxKind
    colours: Mapping[str, Colour]
    friction: float
    max_boxes: int
    gap_m: float
    touching_m: float
    boxes: tuple[Box, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for name in ("colours", "sources"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[type[Arena], tuple[Any, ...]]:
        """Copy and pickle by way of plain mappings: read-only ones can do neither."""
        values = [getattr(self, entry.name) for entry in fields(self)]
        return type(self), tuple(dict(v) if isinstance(v, MappingProxyType) else v for v in values)

    @property
    def box_size(self) -> tuple[float, float, float]:
        """Edges of a box [m]."""
        return self.box_kind.size_m

    @property
    def box_zone(self) -> tuple[float, float]:
        """The x between which boxes belong: the middles of the first and the last line [m]."""
        return self.lines[0].x, self.lines[-1].x

    def with_boxes(self, boxes: Sequence[Box]) -> Arena:
        """Return this arena with other boxes; see `check_layout` for which are legal."""
        return replace(self, boxes=tuple(boxes))

    def to_dict(self) -> dict[str, Any]:
        """Return what a trace carries: plain numbers from which the field can be drawn again."""
        return {
            "name": self.name,
            "size_m": [self.size_x, self.size_y],
            "wall_height_m": self.wall_height_m,
            "lines": [{"x": line.x, "width_m": line.width_m} for line in self.lines],
            "box_size_m": list(self.box_size),
            "boxes": [{"x": box.x, "y": box.y, "yaw_rad": box.yaw_rad} for box in self.boxes],
            "colours": {name: list(colour) for name, colour in self.colours.items()},
        }


def arena_names() -> tuple[str, ...]:
    """Return the names of the arenas that ship."""
    return tuple(sorted(path.name.removesuffix(_SUFFIX) for path in _FOLDER.glob("*" + _SUFFIX)))


@cache
def arena(name: str = "ceabot_obstacles") -> Arena:
    """Return the shipped arena of that name, without boxes.

    Raises:
        UnknownNameError: none ships under that name.
    """
    if name not in arena_names():
        raise UnknownNameError.among("arena", name, arena_names())
    return read_arena(_FOLDER / (name + _SUFFIX))


def read_arena(path: Path | str) -> Arena:
    """Read an arena document.

    Raises:
        DocumentError: it is not an arena document, or a number in it is out of range.
    """
    parts = read_document(path).fields(required=_REQUIRED, optional=("title",))
    number = {key: parts[key].number(low=0.0, high=_FAR_M) for key in _NUMBERS}
    size_x, size_y = _sizes(parts["size_m"], 2)
    return Arena(
        name=parts["arena"].text(),
        size_x=size_x,
        size_y=size_y,
        wall_height_m=number["wall_height_m"],
        wall_thickness_m=number["wall_thickness_m"],
        lines=_lines(parts["lines_x_m"], size_x, number["line_width_m"]),
        box_kind=_box_kind(parts["box"]),
        colours={name: _colour(node) for name, node in parts["colours_rgb"].fields().items()},
        friction=number["friction"],
        max_boxes=parts["max_boxes"].integer(low=0),
        gap_m=number["gap_m"],
        touching_m=number["touching_m"],
        sources={key: node.text() for key, node in parts["sources"].fields().items()},
    )


def _lines(node: Node, size_x: float, width_m: float) -> tuple[Line, ...]:
    places = [item.number(low=0.0, high=size_x) for item in node.items()]
    if len(places) < 2 or places != sorted(places):
        node.fail("expected two lines or more in the order of x")
    return tuple(Line(x, width_m) for x in places)


def _box_kind(node: Node) -> BoxKind:
    parts = node.fields(required=("size_m", "mass_kg", "friction"), optional=())
    x, y, z = _sizes(parts["size_m"], 3)
    return BoxKind((x, y, z), parts["mass_kg"].number(low=0.0), parts["friction"].number(low=0.0))


def _sizes(node: Node, count: int) -> tuple[float, ...]:
    return tuple(item.number(low=1e-3, high=_FAR_M) for item in _exactly(node, count))


def _colour(node: Node) -> Colour:
    red, green, blue = (item.integer(low=0, high=255) / 255.0 for item in _exactly(node, 3))
    return red, green, blue


def _exactly(node: Node, count: int) -> list[Node]:
    items = node.items()
    if len(items) != count:
        node.fail(f"expected {count} numbers, found {len(items)}")
    return items
