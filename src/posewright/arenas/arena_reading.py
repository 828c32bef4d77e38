"""Arenas as documents, and those that ship.

```yaml
arena: dohyo
size_m: [1.5, 1.5]
friction: 0.5
wall_height_m: 0.5           # optional: walls all around
lines_x_m: [0.65, 0.85]      # optional: lines across the whole field
shapes:                      # optional: whatever else stands fast
  - {name: edge, role: ring, x: 0.75, y: 0, size_m: [1.5, 1.5, 0.05], is_round: true}
box: {size_m: [0.2, 0.2, 0.5], mass_kg: 1, friction: 0.5}                     # optional: ordinary boxes
box_kinds: {post: {size_m: [0.25, 0.25, 0.5], mass_kg: 2, friction: 0.5}}     # optional: others
colours_rgb: {floor: [22, 198, 6], wall: [255, 255, 255], line: [255, 255, 255], ring: [0, 0, 0], ...}
sources: {size_m: CEABOT rules 2013, ...}
```
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated

from posewright.arenas.arena import BOX, WALLS, Arena, BoxKind, Edge, Length, Role, Shape
from posewright.documents import Bounds, Catalogue, read_document, read_record
from posewright.errors import InputError

_ARENAS = Catalogue("arena", ".arena.yaml", lambda: (Path(__file__).parent,))


def arena_names() -> tuple[str, ...]:
    """Return the names of the arenas that ship."""
    return _ARENAS.names()


@cache
def arena(name: str = "ceabot_obstacles") -> Arena:
    """Return the shipped arena of that name, without boxes.

    Raises:
        UnknownNameError: none ships under that name.
    """
    return read_arena(_ARENAS.shipped(name))


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
    box: BoxKind | None = None
    box_kinds: Mapping[str, BoxKind] = field(default_factory=dict)
    max_boxes: Annotated[int, Bounds(0)] = 0
    gap_m: Length = 0.0
    touching_m: Length = 0.0

    def __post_init__(self) -> None:
        if (
            list(self.lines_x_m) != sorted(self.lines_x_m)
            or max(self.lines_x_m, default=0.0) > self.size_m[0]
        ):
            raise InputError("lines_x_m: expected lines on the field in the order of x")
        names = [shape.name for shape in self.all_shapes()]
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
    """Read an arena document.

    Raises:
        DocumentError: it is not an arena document, or a number in it is out of range.
    """
    root = read_document(path)
    told = read_record(root, _ArenaDocument)
    with root.located():
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
            sources=told.sources,
        )
