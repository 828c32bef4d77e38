"""Recognises the parts of a field in a drawn scene: the purpose of each piece, by its name or else its size.

A piece is a set of points in metres, z up. If they are the corners of an upright block, or of an upright
cylinder, the piece becomes that; any other piece becomes its convex hull.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from posewright.arenas.arena import (
    BOX,
    FLOOR,
    MAX_PARTS,
    MIN_BOX_EDGE_M,
    WALLS,
    Arena,
    Box,
    BoxKind,
    Colour,
    Role,
    Shape,
)
from posewright.arenas.block_fit import EQUAL_M, BlockFit, fit_block, turn_longer_side_to_x
from posewright.arenas.hulls import MIN_THICKNESS_M, hull_points, thickness
from posewright.arenas.rectangles import corners
from posewright.arrays import Floats
from posewright.errors import InputError

MAX_PIECES = 2000
"""Largest number of pieces: MuJoCo needs a minute for a model of some hundred boxes."""

MAX_FLAT_HEIGHT_M = 0.006
"""A piece that is no higher and lies on the floor is a line, or the floor [m]."""

_MAX_FLOOR_OFFSET_M = 0.05
"""A flat piece that is higher above z = 0, or deeper below it, is not on the floor [m]."""

_MIN_WALL_HEIGHT_M = 0.2
_MIN_WALL_RATIO = 4.0
"""A block at least so high, whose length is at least this multiple of its width, is a wall.

A flat piece longer than this multiple of its width is a line; a shorter one is the floor.
"""

_MAX_BOX_LENGTH_M = 1.0
_MAX_BOX_RATIO = 3.0
"""A block on the floor at most so long, whose length is at most this multiple of its width, is a box."""

_MIN_FLOOR_COVER = 0.8
_MAX_FLOOR_HEIGHT_RATIO = 0.1
"""The lowest block is the floor if it covers this share of the scene along x and y, and is this flat."""

_MAX_OVERHANG_M = 0.2
"""A part whose middle is on the field may stand out of it by this much [m]."""

_MIN_LEVEL_SHARE = 0.9
"""Smallest share of a level floor's length and width that is at the height of its top."""

_MAX_NAME_LENGTH = 40
_DENSITY_KG_M3 = 50.0
_FRICTION = 0.5
_MAX_SCENE_M = 90.0
_MIN_SCENE_M = 0.05

_NAME_PATTERNS: tuple[tuple[str, str], ...] = (
    (FLOOR, r"floor|ground|suelo|plano|boden"),
    ("line", r"lines?|linea|stripe|linie"),
    ("wall", r"walls?|pared|muro|wand"),
    ("step", r"steps?|stairs?|escalon|escalera|stufe"),
    ("ring", r"ring|dohyo"),
    (BOX, r"box(es)?|caja|obstacles?|obstaculo|kiste"),
)
"""The purpose of a piece by words in its name; the first match counts."""

_COLOURS: Mapping[str, Colour] = {
    FLOOR: (0.086, 0.776, 0.024),
    "wall": (0.94, 0.94, 0.94),
    "line": (1.0, 1.0, 1.0),
    "step": (0.84, 0.75, 0.59),
    "ring": (0.40, 0.40, 0.44),
    "furniture": (0.60, 0.62, 0.66),
    BOX: (0.84, 0.698, 0.525),
}
"""Default colours by purpose."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A connected part of a scene.

    Attributes:
        name: the name in the file; may be empty.
        points: `(n, 3)`, z up [m].
        colour: red, green, blue 0..1; None if the file has none.
        can_move: whether it may be pushed; None if the file does not say.
        mass_kg: its mass; None if the file gives none.
        group_names: the names of the groups that it belongs to, the outermost first.
    """

    name: str
    points: Floats
    colour: Colour | None = None
    can_move: bool | None = None
    mass_kg: float | None = None
    group_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecognisedArena:
    """A field made from the pieces of a scene.

    Attributes:
        arena: the field, with its boxes.
        notes: sentences about assumptions, and about what of the scene is not kept.
    """

    arena: Arena
    notes: tuple[str, ...]


def recognise_arena(
    name: str, pieces: Sequence[Piece], source: str, notes: Iterable[str] = ()
) -> RecognisedArena:
    """Return the field in a scene.

    The field begins at the smallest x of the floor inside its walls, and its middle line is that of the
    floor. Friction is assumed, and so are the masses of boxes for which the file gives none; the sources of
    the field say so.

    Args:
        name: the name of the arena.
        pieces: the pieces of the scene, in metres, z up.
        source: the source of the pieces, for the sources of the document.
        notes: earlier notes, to which new ones are added.

    Raises:
        InputError: there are none or too many, or their size cannot be that of a field.
    """
    if not 1 <= len(pieces) <= MAX_PIECES:
        raise InputError(f"the scene has {len(pieces)} pieces", hint=f"expected 1 to {MAX_PIECES}")
    points = np.concatenate([piece.points for piece in pieces])
    if not np.isfinite(points).all():
        raise InputError("a point of the scene is not finite")
    extent_m = float(np.ptp(points, axis=0).max())
    if not _MIN_SCENE_M <= extent_m <= _MAX_SCENE_M:
        limits = f"{_MIN_SCENE_M:g} to {_MAX_SCENE_M:g} m"
        hint = f"expected a field of {limits}; a drawing in millimetres has the scale 0.001"
        raise InputError(f"the scene is {extent_m:.4g} m from end to end", hint=hint)
    low = points.min(axis=0)
    high = points.max(axis=0)
    builder = _ArenaBuilder(name, source, [*notes], scene_corners=(low, high))
    for piece in pieces:
        builder.add(piece)
    return builder.build()


@dataclass
class _ArenaBuilder:
    """Collects the parts of a field in the frame of the scene.

    Attributes:
        name: the name of the arena.
        source: the source of the pieces.
        notes: the notes about assumptions and losses.
        scene_corners: the corners of the box around the scene, `(3,)` each [m].
        floors: blocks of the floor.
        shapes: all parts except floors and boxes.
        box_blocks: the blocks that are loose boxes.
        box_pieces: the piece of each of these.
        colours: the colour for each purpose, that of the first piece that has one.
        used_names: the names of shapes that are used already.
        fixed_names: the names of pieces that can move in the file, and not in the field.
    """

    name: str
    source: str
    notes: list[str]
    scene_corners: tuple[Floats, Floats]
    floors: list[BlockFit] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    box_blocks: list[BlockFit] = field(default_factory=list)
    box_pieces: list[Piece] = field(default_factory=list)
    colours: dict[str, Colour] = field(default_factory=dict)
    used_names: set[str] = field(default_factory=set)
    fixed_names: set[str] = field(default_factory=set)

    def add(self, piece: Piece) -> None:
        """Add a piece of the scene."""
        block = fit_block(piece.points)
        purpose = _find_purpose(piece, block, is_lowest_and_widest=self._is_lowest_and_widest(piece))
        if purpose == FLOOR:
            self.floors.append(block)
            if not _has_level_top(piece):
                self.notes.append(f"{piece.name or 'the floor'} is not level: a field is flat")
        elif purpose == BOX:
            self.box_blocks.append(block)
            self.box_pieces.append(piece)
        else:
            self._add_shape(piece, block, Role(purpose))
            if piece.can_move:
                self._note_fixed(piece)
        if piece.colour is not None:
            self.colours.setdefault(purpose, piece.colour)

    def _note_fixed(self, piece: Piece) -> None:
        """Note, once for each name, that a piece which can be pushed in the file is fixed in the field."""
        if piece.name in self.fixed_names:
            return
        self.fixed_names.add(piece.name)
        property_in_file = "can move in the file" if piece.can_move else "is called a box in the file"
        reason = "only a single block on the floor can be pushed"
        self.notes.append(f"{piece.name or 'a body'} {property_in_file} and is fixed here: {reason}")

    def _fix_boxes_off_the_floor(self, floor_m: float) -> None:
        """Turn boxes whose underside is not at the height of the floor into furniture at their own height."""
        boxes = list(zip(self.box_blocks, self.box_pieces, strict=True))
        self.box_blocks.clear()
        self.box_pieces.clear()
        for block, piece in boxes:
            if abs(block.base_m - floor_m) <= MAX_FLAT_HEIGHT_M:
                self.box_blocks.append(block)
                self.box_pieces.append(piece)
            else:
                self._add_shape(piece, block, Role.FURNITURE)
                self._note_fixed(piece)

    def _note_raised_floors(self, floor_m: float) -> None:
        """Note the parts of the floor that are higher than its lowest one, which a field does not have."""
        heights_m = [floor.base_m + floor.size_m[2] - floor_m for floor in self.floors]
        raised_heights_m = [height_m for height_m in heights_m if height_m > EQUAL_M]
        if raised_heights_m:
            self.notes.append(
                f"{len(raised_heights_m)} parts of the floor lie higher than its lowest one, by up to "
                f"{max(raised_heights_m):.3g} m, and are left out: a field has a single level"
            )

    def _is_lowest_and_widest(self, piece: Piece) -> bool:
        """Return whether a piece lies lowest in the scene and covers most of it."""
        scene_low, scene_high = self.scene_corners
        low = piece.points.min(axis=0)
        high = piece.points.max(axis=0)
        scene_size_m = np.maximum((scene_high - scene_low)[:2], EQUAL_M)  # never 0, to divide by
        covered_shares = (high - low)[:2] / scene_size_m
        is_lowest = low[2] - scene_low[2] < _MAX_FLOOR_OFFSET_M
        return bool(is_lowest and (covered_shares >= _MIN_FLOOR_COVER).all())

    def _add_shape(self, piece: Piece, block: BlockFit, role: Role) -> None:
        """Add a piece as a line, a block, a cylinder, or its convex hull; note what is lost.

        Args:
            piece: the piece of the scene.
            block: the smallest upright block around it.
            role: its purpose.
        """
        name = self._choose_name(piece.name, role.value)
        if role is Role.LINE:
            size = (*block.size_m[:2], 0.0)
            shape = Shape(
                name, role, block.x, block.y, size_m=size, yaw_rad=block.yaw_rad, base_m=block.base_m
            )
            self.shapes.append(replace(shape, is_round=block.is_round))
            return
        if block.is_block or block.is_round:
            shape = Shape(
                name, role, block.x, block.y, block.size_m, yaw_rad=block.yaw_rad, base_m=block.base_m
            )
            self.shapes.append(replace(shape, is_round=block.is_round))
            return
        if thickness(piece.points) < MIN_THICKNESS_M:
            self.notes.append(f"{name}: a leaning sheet without thickness is left out")
            return
        points = hull_points(piece.points)
        low = points.min(axis=0)
        high = points.max(axis=0)
        x, y = ((low + high) / 2.0)[:2].tolist()
        base = float(low[2])
        hull = tuple((px, py, pz) for px, py, pz in np.round(points - (x, y, base), 4).tolist())
        length, width, height = (high - low).tolist()
        self.notes.append(f"{name}: {len(hull)} points; hollows are filled, since a field has convex meshes")
        self.shapes.append(Shape(name, role, x, y, size_m=(length, width, height), base_m=base, hull_m=hull))

    def _choose_name(self, piece_name: str, role: str) -> str:
        """Return an unused name for a shape, made from the name of its piece."""
        stem = re.sub(r"[^a-z0-9]+", "_", piece_name.casefold()).strip("_")[:_MAX_NAME_LENGTH] or role
        if stem[0].isdigit() or stem in (FLOOR, BOX):
            stem = f"{role}_{stem}"
        name = stem
        number = 1
        while name in self.used_names or name in _COLOURS:
            number += 1
            name = f"{stem}_{number}"
        self.used_names.add(name)
        return name

    def build(self) -> RecognisedArena:
        """Return the field of all pieces, in its own frame.

        Raises:
            InputError: the field is too small.
        """
        floor_m = self._floor_height()
        self._fix_boxes_off_the_floor(floor_m)
        self._note_raised_floors(floor_m)
        (low_x, low_y), (high_x, high_y) = self._field_corners()
        size = (round(high_x - low_x, 4), round(high_y - low_y, 4))
        if min(size) < _MIN_SCENE_M:
            hint = "expected a scene with a floor, or with parts that stand apart"
            raise InputError(f"the field would be {size[0]:g} x {size[1]:g} m", hint=hint)
        middle_y = (low_y + high_y) / 2.0
        for kind, count in (("shapes", len(self.shapes)), ("boxes", len(self.box_blocks))):
            if count > MAX_PARTS:
                hint = f"at most {MAX_PARTS}: join the faces of each object, or leave small parts out"
                raise InputError(f"the field would have {count} {kind}", hint=hint)
        shapes: list[Shape] = []
        for shape in self.shapes:
            if shape.is_solid and shape.top_m < floor_m - EQUAL_M:
                self.notes.append(f"{shape.name} is left out: it lies below the floor")
                continue
            height = shape.base_m - floor_m
            base = 0.0 if abs(height) < EQUAL_M else round(height, 4)
            if shape.role is Role.LINE:
                base = 0.0
                if abs(height) > MAX_FLAT_HEIGHT_M:
                    self.notes.append(f"{shape.name} is laid on the floor: it is {height:.3g} m above it")
            x = round(shape.x - low_x, 4)
            y = _round_without_minus_zero(shape.y - middle_y, 4)
            shapes.append(replace(shape, x=x, y=y, base_m=base))
        lines = [shape for shape in shapes if shape.role is Role.LINE]
        lines.sort(key=lambda line: line.x)
        solid_shapes = _rename_walls([shape for shape in shapes if shape.role is not Role.LINE], size)
        box_kinds, boxes = self._build_boxes(low_x, middle_y)
        purposes = {FLOOR, *(shape.role.value for shape in shapes)}
        if boxes:
            purposes.add(BOX)
        colours = dict(_COLOURS) | self.colours
        arena = Arena(
            name=self.name,
            size_m=size,
            shapes=(*solid_shapes, *lines),
            box_kinds=box_kinds,
            colours={purpose: colours[purpose] for purpose in _COLOURS if purpose in purposes},
            friction=_FRICTION,
            max_boxes=len(boxes),
            boxes=boxes,
            sources=self._build_sources(has_boxes=bool(box_kinds)),
        )
        return RecognisedArena(arena, tuple(self.notes))

    def _floor_height(self) -> float:
        """Return the height of the lowest floor, or else of the lowest underside of a part [m]."""
        if self.floors:
            return float(min(floor.base_m + floor.size_m[2] for floor in self.floors))
        undersides = [shape.base_m for shape in self.shapes] + [box.base_m for box in self.box_blocks]
        return float(min(undersides))

    def _field_corners(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the corners of the field with the smallest and the largest x and y [m].

        They lie between the walls, or else around the floor, or else around all parts. Walls or floors that
        do not hold all other parts are not the edge of the field, which is noted.
        """
        walls = [shape for shape in self.shapes if shape.role is Role.WALL]
        x_range = _range_between(walls, axis=0)
        y_range = _range_between(walls, axis=1)
        candidates: list[tuple[str, Floats]] = []
        if x_range is not None and y_range is not None:
            candidates.append(("walls", np.array([x_range, y_range]).T))
        if self.floors:
            candidates.append(("floor", _box_around(self.floors)))
        if not candidates:
            self.notes.append("neither a floor nor walls around: the field is what the pieces cover")
        candidates.append(("pieces", _box_around([*self.floors, *self.box_blocks, *self.shapes])))
        parts: list[BlockFit | Shape] = [*self.box_blocks]
        parts += [shape for shape in self.shapes if shape.role is not Role.WALL]
        for (name, corners_m), (next_name, _) in itertools.pairwise(candidates):
            outside = [part for part in parts if not _holds(corners_m, part)]
            if not outside:
                return _pair_of_corners(corners_m)
            self.notes.append(
                f"{len(outside)} parts lie outside the {name}: the field is that of the {next_name}"
            )
        return _pair_of_corners(candidates[-1][1])

    def _build_boxes(self, low_x: float, middle_y: float) -> tuple[dict[str, BoxKind], tuple[Box, ...]]:
        """Return the kinds of boxes by name, and the boxes.

        A kind is a size, whose longer side is along x, and a mass. The most frequent one is named `box`, then
        `box_2`...

        Args:
            low_x: the lowest x of the field in the frame of the scene [m].
            middle_y: the y of the middle of the field in the frame of the scene [m].
        """
        blocks = [turn_longer_side_to_x(block) for block in self.box_blocks]
        kinds: list[BoxKind] = []
        for block, piece in zip(blocks, self.box_pieces, strict=True):
            length, width, height = (round(edge, 3) for edge in block.size_m)
            assumed_mass_kg = round(_DENSITY_KG_M3 * length * width * height, 3)
            mass_kg = assumed_mass_kg if piece.mass_kg is None else round(piece.mass_kg, 6)
            kinds.append(BoxKind((length, width, height), mass_kg, _FRICTION))
        kind_names: dict[BoxKind, str] = {}
        for number, (kind, _count) in enumerate(Counter(kinds).most_common(), 1):
            kind_names[kind] = BOX if number == 1 else f"{BOX}_{number}"
        boxes: list[Box] = []
        for block, kind in zip(blocks, kinds, strict=True):
            x = round(block.x - low_x, 4)
            y = _round_without_minus_zero(block.y - middle_y, 4)
            yaw_rad = _round_without_minus_zero(block.yaw_rad, 6)
            boxes.append(Box(x, y, yaw_rad=yaw_rad, kind=kind_names[kind]))
        return {name: kind for kind, name in kind_names.items()}, tuple(boxes)

    def _build_sources(self, *, has_boxes: bool) -> dict[str, str]:
        """Return the sources of the arena's numbers: the file, or an assumption."""
        sources = dict.fromkeys(("size_m", "shapes"), self.source)
        sources["friction"] = "assumption; the file tells none"
        sources["colours_rgb"] = f"{self.source}; where it tells none, those of the CEABOT fields"
        if has_boxes:
            density = f"{_DENSITY_KG_M3:g} kg a cubic metre"
            sources["boxes"] = self.source
            has_assumed_mass = any(piece.mass_kg is None for piece in self.box_pieces)
            assumption = f"; masses that it does not tell are an assumption, {density}"
            sources["box_kinds"] = self.source + (assumption if has_assumed_mass else "")
        return sources


def _has_level_top(piece: Piece) -> bool:
    """Return whether the highest points of a piece lie all over it, or nearly so."""
    heights = piece.points[:, 2]
    top_points = piece.points[heights >= heights.max() - MAX_FLAT_HEIGHT_M]
    covered_shares = np.ptp(top_points[:, :2], axis=0) / np.maximum(
        np.ptp(piece.points[:, :2], axis=0), EQUAL_M
    )
    return bool((covered_shares > _MIN_LEVEL_SHARE).all())


def _find_purpose(piece: Piece, block: BlockFit, *, is_lowest_and_widest: bool) -> str:
    """Return the purpose of a piece: the value of a role, `floor` or `box`.

    Its name, or that of a group it belongs to, counts first, unless the shape contradicts it: a box is a
    block that may move, a line is flat. Then its shape, size and place count.

    Args:
        piece: the piece.
        block: the smallest upright block around it; its `is_block` says whether the piece fills it, its
            `base_m` is the height of its underside above z = 0.
        is_lowest_and_widest: whether it lies lowest in the scene and covers most of it.
    """
    length = max(block.size_m[:2])
    width = min(block.size_m[:2])
    height = block.size_m[2]
    is_flat = height <= MAX_FLAT_HEIGHT_M and abs(block.base_m) < _MAX_FLOOR_OFFSET_M
    is_movable_block = block.is_block and piece.can_move is not False and min(block.size_m) >= MIN_BOX_EDGE_M
    is_slab = height <= _MAX_FLOOR_HEIGHT_RATIO * width
    can_be_floor = is_slab and length <= _MIN_WALL_RATIO * width
    named_purpose = _find_purpose_in_name(piece.name)
    if not named_purpose:
        named_purpose = _find_purpose_in_groups(piece.group_names, can_be_floor=can_be_floor)
    if not named_purpose and is_slab and is_lowest_and_widest:
        return FLOOR
    if named_purpose == BOX and not is_movable_block:
        named_purpose = "" if is_flat else Role.FURNITURE.value
    if named_purpose and not (named_purpose == "line" and not is_flat):
        return named_purpose
    if is_flat:
        return "line" if length > _MIN_WALL_RATIO * width else FLOOR
    if block.is_block and height >= _MIN_WALL_HEIGHT_M and length >= _MIN_WALL_RATIO * width:
        return "wall"
    has_box_size = length <= _MAX_BOX_LENGTH_M and length <= _MAX_BOX_RATIO * width
    stands_on_floor = abs(block.base_m) <= MAX_FLAT_HEIGHT_M
    return BOX if has_box_size and stands_on_floor and is_movable_block else Role.FURNITURE.value


def _find_purpose_in_groups(group_names: Sequence[str], *, can_be_floor: bool) -> str:
    """Return the purpose that the innermost group with one indicates; empty if none does.

    Args:
        group_names: the names of the groups around a piece, the outermost first.
        can_be_floor: whether the piece is a slab; another piece in a group `floor` only stands on the floor,
            or is painted on it.
    """
    for group_name in reversed(group_names):
        purpose = _find_purpose_in_name(group_name)
        if purpose and (purpose != FLOOR or can_be_floor):
            return purpose
    return ""


def _find_purpose_in_name(name: str) -> str:
    """Return the purpose that a name indicates; empty if it indicates none."""
    separated = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)  # camelCase
    plain_name = re.sub(r"[^a-z]+", " ", separated.casefold())
    for purpose, pattern in _NAME_PATTERNS:
        if re.search(rf"\b({pattern})\b", plain_name):
            return purpose
    return ""


def _box_around(parts: Sequence[BlockFit | Shape]) -> Floats:
    """Return the lowest and the highest x and y of what parts cover on the floor, `(2, 2)` [m]."""
    outline = np.concatenate([_footprint_corners(part) for part in parts])
    return np.stack([outline.min(axis=0), outline.max(axis=0)])


def _pair_of_corners(corners_m: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    (low_x, low_y), (high_x, high_y) = corners_m.tolist()
    return (low_x, low_y), (high_x, high_y)


def _holds(corners_m: Floats, part: BlockFit | Shape) -> bool:
    """Return whether a part stands on a field: its middle, and all of it but a small overhang.

    Args:
        corners_m: the lowest and the highest x and y of the field, `(2, 2)` [m].
        part: the part.
    """
    low, high = corners_m
    outline = _footprint_corners(part)
    middle = np.array([part.x, part.y])
    is_middle_inside = bool((middle >= low - EQUAL_M).all() and (middle <= high + EQUAL_M).all())
    overhang = max(float((low - outline).max()), float((outline - high).max()))
    return is_middle_inside and overhang <= _MAX_OVERHANG_M


def _footprint_corners(part: BlockFit | Shape) -> Floats:
    """Return the corners of the rectangle that a part covers on the floor, `(4, 2)` [m]."""
    outline: Floats = corners((part.x, part.y, part.yaw_rad), part.size_m[:2])[0]
    return outline


def _range_between(walls: Sequence[Shape], axis: int) -> tuple[float, float] | None:
    """Return the range along an axis between the two outermost walls across it; None if there are not two."""
    ranges: list[tuple[float, float]] = []
    for wall in walls:
        outline = _footprint_corners(wall)
        low = outline.min(axis=0)
        high = outline.max(axis=0)
        extent = high - low
        if extent[axis] < extent[1 - axis]:  # the wall is across the axis
            ranges.append((float(low[axis]), float(high[axis])))
    if len(ranges) < 2:
        return None
    ranges.sort()
    _, start = ranges[0]  # where the first wall ends
    end, _ = ranges[-1]
    return (start, end) if end > start else None


def _rename_walls(shapes: Sequence[Shape], size_m: tuple[float, float]) -> list[Shape]:
    """Return the shapes with standard names for the walls around the field; films make these transparent."""
    start, end, left, right = WALLS
    edges: dict[str, tuple[int, float]] = {  # by the name of its wall: axis (0 x, 1 y) and coordinate
        start: (0, 0.0),
        end: (0, size_m[0]),
        left: (1, size_m[1] / 2),
        right: (1, -size_m[1] / 2),
    }
    new_names: dict[str, str] = {}  # by present name
    for new_name, (axis, coordinate) in edges.items():
        for shape in shapes:
            distance = abs((shape.x, shape.y)[axis] - coordinate)
            is_edge_wall = shape.role is Role.WALL and distance <= min(shape.size_m[:2])
            if is_edge_wall and shape.name not in new_names:
                new_names[shape.name] = new_name
                break
    other_names = {shape.name for shape in shapes} - new_names.keys()
    renamed: list[Shape] = []
    for shape in shapes:
        new_name = new_names.get(shape.name, "")
        is_renamed = new_name != "" and new_name not in other_names
        renamed.append(replace(shape, name=new_name) if is_renamed else shape)
    return renamed


def _round_without_minus_zero(value: float, n_digits: int) -> float:
    """Return a rounded value, 0.0 where it would be -0.0, which files would show."""
    return round(value, n_digits) + 0.0
