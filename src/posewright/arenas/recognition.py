"""Pieces of a drawn scene become a field: what each of them is, is told by its name, else by its size.

A piece is a set of points in metres, z up. One whose points are the corners of an upright block is a block;
one that is round and upright is round; whatever else stands as its convex hull.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from posewright.arenas.arena import BOX, FLOOR, WALLS, Arena, Box, BoxKind, Colour, Role, Shape
from posewright.arenas.fitting import EXACT_M, Block, fit_block, lengthwise
from posewright.arenas.hulls import THINNEST_M, hull_points, thickness
from posewright.arenas.rectangles import corners
from posewright.arrays import Floats
from posewright.errors import InputError

MOST_PIECES = 2000
"""Of one field: MuJoCo needs a minute for a model of some hundred boxes."""

FLAT_M = 0.006
"""What is no thicker and lies on the floor is painted on it, or is the floor [m]."""

_WALL_HIGH_M, _WALL_SLIM = 0.2, 4.0
"""From this height, and from this length over its thickness, a block is a wall [m]."""

_BOX_M, _BOX_SLIM = 1.0, 3.0
"""Up to this edge, and to this length over its width, what stands on the floor is a box [m]."""

_DENSITY_KG_M3 = 50.0
_FRICTION = 0.5
_LONGEST_M, _SHORTEST_M = 90.0, 0.05

_WORDS: tuple[tuple[str, str], ...] = (
    (FLOOR, r"floor|ground|suelo|plano|boden"),
    ("line", r"lines?|linea|stripe|linie"),
    ("wall", r"walls?|pared|muro|wand"),
    ("step", r"steps?|stairs?|escalon|escalera|stufe"),
    ("ring", r"ring|dohyo"),
    (BOX, r"box(es)?|caja|obstacles?|obstaculo|kiste"),
)
"""What a piece is by the words of its name, in the order in which they count."""

_COLOURS: Mapping[str, Colour] = {
    FLOOR: (0.086, 0.776, 0.024),
    "wall": (0.94, 0.94, 0.94),
    "line": (1.0, 1.0, 1.0),
    "step": (0.84, 0.75, 0.59),
    "ring": (0.40, 0.40, 0.44),
    "furniture": (0.60, 0.62, 0.66),
    BOX: (0.84, 0.698, 0.525),
}


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A connected part of a scene.

    Attributes:
        name: as the file has it, or empty.
        points: `(n, 3)`, z up [m].
        colour: red, green, blue 0..1; None where the file tells none.
        can_move: whether it may be pushed; None where the file does not tell.
    """

    name: str
    points: Floats
    colour: Colour | None = None
    can_move: bool | None = None


@dataclass(frozen=True, slots=True)
class Recognised:
    """A field made of pieces.

    Attributes:
        arena: the field, with its boxes.
        notes: what was assumed, and what of a piece was not kept, in words.
    """

    arena: Arena
    notes: tuple[str, ...]


def recognise(name: str, pieces: Sequence[Piece], source: str, notes: Iterable[str] = ()) -> Recognised:
    """Return the field that pieces are.

    The field begins at the least x of the floor inside its walls, and its middle line is theirs. What no file
    tells, friction and the mass of boxes, is assumed, and the sources of the field say so.

    Args:
        name: of the arena.
        pieces: of the scene, in metres, z up.
        source: where they come from, for the sources of the document.
        notes: what was said already.

    Raises:
        InputError: there are none or too many, or their size cannot be that of a field.
    """
    if not 1 <= len(pieces) <= MOST_PIECES:
        raise InputError(f"the scene has {len(pieces)} pieces", hint=f"1 to {MOST_PIECES}")
    everything = np.concatenate([piece.points for piece in pieces])
    if not np.isfinite(everything).all():
        raise InputError("a point of the scene is not finite")
    longest = float(np.ptp(everything, axis=0).max())
    if not _SHORTEST_M <= longest <= _LONGEST_M:
        hint = f"a field of {_SHORTEST_M:g} to {_LONGEST_M:g} m; a drawing in millimetres has the scale 0.001"
        raise InputError(f"the scene is {longest:.4g} m from end to end", hint=hint)
    maker = _FieldMaker(name, source, [*notes])
    for piece in pieces:
        maker.add(piece)
    return maker.field()


@dataclass
class _FieldMaker:
    """The field so far, in the frame of the scene."""

    name: str
    source: str
    notes: list[str]
    floors: list[Block] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    boxes: list[tuple[Block, str]] = field(default_factory=list)
    colours: dict[str, Colour] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def add(self, piece: Piece) -> None:
        block = fit_block(piece.points)
        what = self._what(piece, block)
        if what == FLOOR:
            self.floors.append(block)
        elif what == BOX:
            self.boxes.append((block, piece.name))
        else:
            self._add_shape(piece, block, Role(what))
        if piece.colour is not None:
            self.colours.setdefault(what, piece.colour)

    def _what(self, piece: Piece, block: Block) -> str:
        """Return a role, `floor` or `box`."""
        length, width, height = max(block.size_m[:2]), min(block.size_m[:2]), block.size_m[2]
        by_name = _by_name(piece.name)
        is_flat = height <= FLAT_M and abs(block.base_m) < 0.05
        if by_name == BOX and not (block.is_block and piece.can_move is not False):
            by_name = Role.FURNITURE.value
        if by_name == "line" and not is_flat:
            by_name = ""
        if by_name:
            return by_name
        if is_flat:
            return "line" if length > _WALL_SLIM * width else FLOOR
        if height >= _WALL_HIGH_M and length >= _WALL_SLIM * width and block.is_block:
            return "wall"
        is_box = length <= _BOX_M and length <= _BOX_SLIM * width and abs(block.base_m) <= FLAT_M
        return BOX if is_box and block.is_block and piece.can_move is not False else Role.FURNITURE.value

    def _add_shape(self, piece: Piece, block: Block, role: Role) -> None:
        name = self._free_name(piece.name, role.value)
        size = (*block.size_m[:2], 0.0) if role is Role.LINE else block.size_m
        if block.is_block or block.is_round or role is Role.LINE:
            base = 0.0 if role is Role.LINE else block.base_m
            shape = Shape(name, role, block.x, block.y, size, yaw_rad=block.yaw_rad, base_m=base)
            self.shapes.append(replace(shape, is_round=block.is_round))
            return
        if thickness(piece.points) < THINNEST_M:
            self.notes.append(f"{name}: a leaning sheet without thickness is left out")
            return
        corners = hull_points(piece.points)
        low, high = corners.min(axis=0), corners.max(axis=0)
        x, y = ((low + high) / 2.0)[:2].tolist()
        base = float(low[2])
        hull = tuple((px, py, pz) for px, py, pz in np.round(corners - (x, y, base), 4).tolist())
        length, width, height = (high - low).tolist()
        shape = Shape(name, role, x, y, (length, width, height), base_m=base, hull_m=hull)
        self.notes.append(f"{name}: {len(hull)} points; a hollow of it is filled, a field has convex meshes")
        self.shapes.append(shape)

    def _free_name(self, told: str, role: str) -> str:
        word = re.sub(r"[^a-z0-9]+", "_", told.casefold()).strip("_")[:40] or role
        word = f"{role}_{word}" if word[0].isdigit() or word in (FLOOR, BOX) else word
        name, number = word, 1
        while name in self.taken or name in _COLOURS:
            number += 1
            name = f"{word}_{number}"
        self.taken.add(name)
        return name

    def field(self) -> Recognised:
        (low_x, low_y), (high_x, high_y), floor = self._ground()
        size = (round(high_x - low_x, 4), round(high_y - low_y, 4))
        if min(size) < _SHORTEST_M:
            hint = "a scene with a floor, or with things that stand apart"
            raise InputError(f"the field would be {size[0]:g} x {size[1]:g} m", hint=hint)
        middle = (low_y + high_y) / 2.0
        shapes = [
            replace(
                shape,
                x=round(shape.x - low_x, 4),
                y=round(shape.y - middle, 4) + 0.0,
                base_m=0.0 if abs(shape.base_m - floor) < EXACT_M else round(shape.base_m - floor, 4),
            )
            for shape in self.shapes
        ]
        lines = sorted((one for one in shapes if one.role is Role.LINE), key=lambda line: line.x)
        solid = _named_walls([one for one in shapes if one.role is not Role.LINE], size)
        kinds, boxes = self._boxes((low_x, middle))
        colours = dict(_COLOURS) | self.colours
        shown = {FLOOR, *([BOX] if boxes else []), *(shape.role.value for shape in shapes)}
        arena = Arena(
            name=self.name,
            size_m=size,
            shapes=(*solid, *lines),
            box_kinds=kinds,
            colours={what: colours[what] for what in _COLOURS if what in shown},
            friction=_FRICTION,
            max_boxes=len(boxes),
            boxes=boxes,
            sources=self._sources(kinds),
        )
        return Recognised(arena, tuple(self.notes))

    def _ground(self) -> tuple[tuple[float, float], tuple[float, float], float]:
        """Return the least and the greatest x and y of the field, and how high its floor is [m]."""
        blocks = [block for block, _ in self.boxes]
        low = min(
            [block.base_m + block.size_m[2] for block in self.floors]
            or [shape.base_m for shape in self.shapes] + [block.base_m for block in blocks]
        )
        walls = [shape for shape in self.shapes if shape.role is Role.WALL]
        x, y = _between(walls, along=0), _between(walls, along=1)
        covered: Sequence[Block | Shape] = self.floors or [*blocks, *self.shapes]
        reach = np.concatenate([_corners(block) for block in covered])
        if x is None or y is None:
            if not self.floors:
                self.notes.append("neither a floor nor walls around: the field is what the pieces cover")
            x, y = (tuple(ends) for ends in zip(reach.min(axis=0), reach.max(axis=0), strict=True))
        return (float(x[0]), float(y[0])), (float(x[1]), float(y[1])), float(low)

    def _boxes(self, origin: tuple[float, float]) -> tuple[dict[str, BoxKind], tuple[Box, ...]]:
        """Return the kinds of boxes by name, the most frequent one `box`, and where each stands."""
        standing = [
            (block, tuple(round(edge, 3) for edge in lengthwise(block).size_m)) for block, _ in self.boxes
        ]
        order = [size for size, _ in Counter(size for _, size in standing).most_common()]
        names = {size: BOX if not n else f"{BOX}_{n + 1}" for n, size in enumerate(order)}
        kinds = {
            name: BoxKind((s[0], s[1], s[2]), round(_DENSITY_KG_M3 * math.prod(s), 3), _FRICTION)
            for s, name in names.items()
        }
        return kinds, tuple(
            Box(
                round(block.x - origin[0], 4),
                round(block.y - origin[1], 4) + 0.0,
                round(lengthwise(block).yaw_rad, 6) + 0.0,
                names[size],
            )
            for block, size in standing
        )

    def _sources(self, kinds: Mapping[str, BoxKind]) -> dict[str, str]:
        told = dict.fromkeys(("size_m", "shapes"), self.source)
        told["friction"] = "assumption; the file tells none"
        told["colours_rgb"] = f"{self.source}; where it tells none, those of the CEABOT fields"
        if kinds:
            told["boxes"] = self.source
            told["box_kinds"] = (
                f"{self.source}; masses are an assumption, {_DENSITY_KG_M3:g} kg a cubic metre"
            )
        return told


def _by_name(name: str) -> str:
    words = re.sub(r"[^a-z]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold())
    return next((what for what, pattern in _WORDS if re.search(rf"\b({pattern})\b", words)), "")


def _corners(block: Block | Shape) -> Floats:
    """Return the corners of what a block covers of the floor, `(4, 2)` [m]."""
    outline: Floats = corners((block.x, block.y, block.yaw_rad), block.size_m[:2])[0]
    return outline


def _between(walls: Sequence[Shape], along: int) -> tuple[float, float] | None:
    """Return from where to where the field reaches between the two outermost walls across one axis."""
    ends = []
    for wall in walls:
        low, high = _corners(wall).min(axis=0), _corners(wall).max(axis=0)
        if (high - low)[along] < (high - low)[1 - along]:  # it stands across
            ends.append((float(low[along]), float(high[along])))
    ends.sort()
    return (ends[0][1], ends[-1][0]) if len(ends) > 1 and ends[-1][0] > ends[0][1] else None


def _named_walls(shapes: Sequence[Shape], size_m: tuple[float, float]) -> list[Shape]:
    """Return the shapes, the walls around the field called as on fields of ours: films look through those."""
    edges = dict(
        zip(
            WALLS,
            ((0.0, None), (size_m[0], None), (None, size_m[1] / 2), (None, -size_m[1] / 2)),
            strict=True,
        )
    )
    names = {}
    for name, (x, y) in edges.items():
        for shape in shapes:
            thick = min(shape.size_m[:2])
            away = abs(shape.x - x) if x is not None else abs(shape.y - (y or 0.0))
            if shape.role is Role.WALL and away <= thick and shape.name not in names:
                names[shape.name] = name
                break
    free = {shape.name for shape in shapes} - names.keys()
    return [
        replace(shape, name=names[shape.name])
        if shape.name in names and names[shape.name] not in free
        else shape
        for shape in shapes
    ]
