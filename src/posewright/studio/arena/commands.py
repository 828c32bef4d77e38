"""Commands: all changes that windows can make to a field, by their names in requests."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated, Protocol

from posewright.arenas import BOX, FLOOR, WALLS, Arena, Box, BoxKind, Role, Shape, edge_walls
from posewright.documents import Bounds, Node, read_record
from posewright.errors import InputError, UnknownNameError
from posewright.studio.arena.new_field import NEW_BOX, NEW_COLOURS
from posewright.studio.arena.parts import (
    RESERVED_NAMES,
    box_part,
    middle_of,
    read_selection,
    require_room,
    round_length,
    selected_parts,
    shape_part,
    unused_name,
    with_changed_parts,
    wrap_yaw,
)

MAX_COORDINATE_M = 100.0  # as in documents of arenas

Coordinate = Annotated[float, Bounds(-MAX_COORDINATE_M, MAX_COORDINATE_M)]
Edge = Annotated[float, Bounds(1e-3, 100.0)]
Height = Annotated[float, Bounds(0.0, 100.0)]
Amount = Annotated[float, Bounds(0.0, 1e6)]
Share = Annotated[int, Bounds(0, 255)]
Colour = tuple[Share, Share, Share]
"""Red, green, blue, each 0..255."""

MIN_SOLID_HEIGHT_M = 1e-3
"""Smallest height of a shape that can be touched [m]."""


class ArenaCommand(Protocol):
    """A change of a field: a frozen dataclass of plain values, read from a request."""

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu, such as `move box 2`."""

    def apply(self, arena: Arena) -> Arena:
        """Return the changed field.

        Raises:
            InputError: the change is not possible.
        """


class MirrorAxis(Enum):
    """The line in which parts are mirrored: the middle line along the field, or the one across it."""

    ALONG = "along"
    ACROSS = "across"


@dataclass(frozen=True)
class AddBox:
    """Add a box; `kind` names its kind, which is created with the size of the race's box if there is none."""

    x: Coordinate
    y: Coordinate
    yaw_rad: float = 0.0
    kind: str = BOX
    label = "add a box"

    def apply(self, arena: Arena) -> Arena:
        """Return the field with the box as its last one."""
        if self.kind not in arena.box_kinds and self.kind == BOX:
            arena = replace(_with_colour_for(BOX, arena), box_kinds={BOX: NEW_BOX, **arena.box_kinds})
        box = Box(round_length(self.x), round_length(self.y), wrap_yaw(self.yaw_rad), self.kind)
        return require_room(replace(arena, boxes=(*arena.boxes, box)))


@dataclass(frozen=True)
class AddShape:
    """Add a shape.

    Attributes:
        role: its purpose; a colour for it is added if the field has none.
        x: the x of its middle [m].
        y: the y of its middle [m].
        size_m: edges along its own x, y and z; for a cylinder twice its diameter, and its height [m].
        yaw_rad: its turn to the left [rad].
        base_m: height of its underside [m].
        is_round: whether it is a cylinder.
        text: content of a marker's code.
        name: its name; empty for its role with a number.
    """

    role: Role
    x: Coordinate
    y: Coordinate
    size_m: tuple[Edge, Edge, Height]
    yaw_rad: float = 0.0
    base_m: Height = 0.0
    is_round: bool = False
    text: str = ""
    name: str = ""

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        return f"add a {self.role.value}"

    def apply(self, arena: Arena) -> Arena:
        """Return the field with the shape as its last one."""
        names = {shape.name for shape in arena.shapes}
        name = self.name.strip() or unused_name(f"{self.role.value}_1", names)
        _require_free_name(name, names)
        shape = Shape(
            name,
            self.role,
            x=round_length(self.x),
            y=round_length(self.y),
            size_m=_rounded_size(self.size_m),
            yaw_rad=wrap_yaw(self.yaw_rad),
            base_m=round_length(self.base_m),
            is_round=self.is_round,
            text=self.text,
        )
        _require_height(shape)
        arena = _with_colour_for(self.role.value, arena)
        return require_room(replace(arena, shapes=(*arena.shapes, shape)))


@dataclass(frozen=True)
class MoveParts:
    """Move parts by a distance along x and y [m]."""

    parts: tuple[str, ...]
    x_m: Coordinate
    y_m: Coordinate

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        return f"move {_describe_parts(self.parts)}"

    def apply(self, arena: Arena) -> Arena:
        """Return the field with the parts moved."""
        selection = read_selection(self.parts, arena)
        return with_changed_parts(
            arena,
            selection,
            lambda box: replace(
                box, x=_moved_coordinate(box.x, self.x_m), y=_moved_coordinate(box.y, self.y_m)
            ),
            lambda shape: replace(
                shape, x=_moved_coordinate(shape.x, self.x_m), y=_moved_coordinate(shape.y, self.y_m)
            ),
        )


@dataclass(frozen=True)
class TurnParts:
    """Turn parts to the left by an angle about the middle of them all [rad]."""

    parts: tuple[str, ...]
    angle_rad: float

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        return f"turn {_describe_parts(self.parts)}"

    def apply(self, arena: Arena) -> Arena:
        """Return the field with the parts turned."""
        selection = read_selection(self.parts, arena)
        middle_x, middle_y = middle_of(selected_parts(arena, selection))
        cos = math.cos(self.angle_rad)
        sin = math.sin(self.angle_rad)

        def turned_position(part: Box | Shape) -> tuple[float, float]:
            offset_x = part.x - middle_x
            offset_y = part.y - middle_y
            x = middle_x + cos * offset_x - sin * offset_y
            y = middle_y + sin * offset_x + cos * offset_y
            return _moved_coordinate(x, 0.0), _moved_coordinate(y, 0.0)

        def turned_box(box: Box) -> Box:
            x, y = turned_position(box)
            return replace(box, x=x, y=y, yaw_rad=wrap_yaw(box.yaw_rad + self.angle_rad))

        def turned_shape(shape: Shape) -> Shape:
            x, y = turned_position(shape)
            return replace(shape, x=x, y=y, yaw_rad=wrap_yaw(shape.yaw_rad + self.angle_rad))

        return with_changed_parts(arena, selection, turned_box, turned_shape)


@dataclass(frozen=True)
class CopyParts:
    """Copy parts, and move the copies by a distance along x and y [m]."""

    parts: tuple[str, ...]
    x_m: Coordinate = 0.1
    y_m: Coordinate = 0.1

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        return f"copy {_describe_parts(self.parts)}"

    def apply(self, arena: Arena) -> Arena:
        """Return the field with the copies as its last parts."""
        selection = read_selection(self.parts, arena)
        copies = [
            replace(part, x=_moved_coordinate(part.x, self.x_m), y=_moved_coordinate(part.y, self.y_m))
            for part in selected_parts(arena, selection)
        ]
        return _with_added_parts(arena, copies)


@dataclass(frozen=True)
class MirrorParts:
    """Mirror parts, or copies of them, in a middle line of the field.

    Attributes:
        parts: the parts.
        axis: the middle line.
        copies: whether the parts stay, and mirrored copies are added.
    """

    parts: tuple[str, ...]
    axis: MirrorAxis = MirrorAxis.ALONG
    copies: bool = False

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        return f"mirror {_describe_parts(self.parts)}"

    def apply(self, arena: Arena) -> Arena:
        """Return the field with the parts mirrored."""
        selection = read_selection(self.parts, arena)

        def mirrored_box(box: Box) -> Box:
            x, y, yaw = self._mirror_pose(box, arena)
            return replace(box, x=x, y=y, yaw_rad=yaw)

        def mirrored_shape(shape: Shape) -> Shape:
            x, y, yaw = self._mirror_pose(shape, arena)
            # a hull is mirrored in its own x axis, too; blocks and cylinders are symmetrical
            hull_m = tuple((px, -py + 0.0, pz) for px, py, pz in shape.hull_m)
            return replace(shape, x=x, y=y, yaw_rad=yaw, hull_m=hull_m)

        if not self.copies:
            return with_changed_parts(arena, selection, mirrored_box, mirrored_shape)
        copies: list[Box | Shape] = []
        for part in selected_parts(arena, selection):
            copies.append(mirrored_box(part) if isinstance(part, Box) else mirrored_shape(part))
        return _with_added_parts(arena, copies)

    def _mirror_pose(self, part: Box | Shape, arena: Arena) -> tuple[float, float, float]:
        """Return x, y [m] and yaw [rad] of the mirrored part."""
        if self.axis is MirrorAxis.ALONG:
            return part.x, -part.y + 0.0, wrap_yaw(-part.yaw_rad)
        return _moved_coordinate(arena.size_x, -part.x), part.y, wrap_yaw(math.pi - part.yaw_rad)


@dataclass(frozen=True)
class DeleteParts:
    """Remove parts."""

    parts: tuple[str, ...]

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        return f"delete {_describe_parts(self.parts)}"

    def apply(self, arena: Arena) -> Arena:
        """Return the field without the parts."""
        selection = read_selection(self.parts, arena)
        boxes = tuple(box for index, box in enumerate(arena.boxes) if index not in selection.boxes)
        shapes = tuple(shape for shape in arena.shapes if shape.name not in selection.shapes)
        colours = {name: colour for name, colour in arena.colours.items() if name not in selection.shapes}
        return replace(arena, boxes=boxes, shapes=shapes, colours=colours)


@dataclass(frozen=True)
class SetBox:
    """Change a box, named by its number from 1; None leaves a property unchanged."""

    number: Annotated[int, Bounds(1)]
    x: Coordinate | None = None
    y: Coordinate | None = None
    yaw_rad: float | None = None
    kind: str | None = None

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        return f"change box {self.number}"

    def apply(self, arena: Arena) -> Arena:
        """Return the field with the box changed."""
        selection = read_selection((box_part(self.number - 1),), arena)

        def changed(box: Box) -> Box:
            return replace(
                box,
                x=box.x if self.x is None else round_length(self.x),
                y=box.y if self.y is None else round_length(self.y),
                yaw_rad=box.yaw_rad if self.yaw_rad is None else wrap_yaw(self.yaw_rad),
                kind=box.kind if self.kind is None else self.kind,
            )

        return with_changed_parts(arena, selection, changed, lambda shape: shape)


@dataclass(frozen=True)
class SetShape:
    """Change a shape; None leaves a property unchanged.

    Attributes:
        name: its present name.
        new_name: another name.
        role: another purpose.
        x: the x of its middle [m].
        y: the y of its middle [m].
        size_m: edges along its own x, y and z [m]; the points of a hull are scaled with them.
        yaw_rad: its turn to the left [rad].
        base_m: height of its underside [m].
        is_round: whether it is a cylinder, whose diameter is then its edge along x.
        text: content of a marker's code.
    """

    name: str
    new_name: str | None = None
    role: Role | None = None
    x: Coordinate | None = None
    y: Coordinate | None = None
    size_m: tuple[Edge, Edge, Height] | None = None
    yaw_rad: float | None = None
    base_m: Height | None = None
    is_round: bool | None = None
    text: str | None = None

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        return f"change {self.name}"

    def apply(self, arena: Arena) -> Arena:
        """Return the field with the shape changed; its own colour stays with it."""
        selection = read_selection((shape_part(self.name),), arena)
        colours = dict(arena.colours)
        if self.new_name is not None and self.new_name != self.name:
            _require_free_name(self.new_name, {shape.name for shape in arena.shapes})
            if self.name in arena.colours:
                colours[self.new_name] = colours.pop(self.name)
        if self.role is not None:
            colours.setdefault(self.role.value, NEW_COLOURS[self.role.value])
        changed = with_changed_parts(arena, selection, lambda box: box, self._changed, colours)
        return arena if changed == arena else changed

    def _changed(self, shape: Shape) -> Shape:
        """Return the shape with the new properties."""
        role = self.role or shape.role
        is_round = shape.is_round if self.is_round is None else self.is_round
        size_m = shape.size_m if self.size_m is None else _rounded_size(self.size_m)
        if is_round:
            size_m = (size_m[0], size_m[0], size_m[2])
        new_text = shape.text if self.text is None else self.text.strip()
        changed = replace(
            shape,
            name=self.new_name or shape.name,
            role=role,
            x=shape.x if self.x is None else round_length(self.x),
            y=shape.y if self.y is None else round_length(self.y),
            size_m=size_m,
            yaw_rad=shape.yaw_rad if self.yaw_rad is None else wrap_yaw(self.yaw_rad),
            base_m=shape.base_m if self.base_m is None else round_length(self.base_m),
            is_round=is_round,
            hull_m=() if is_round else _scaled_hull(shape, size_m),
            text=(new_text or shape.name) if role is Role.MARKER else "",
        )
        _require_height(changed)
        return changed


@dataclass(frozen=True)
class SetField:
    """Change the field itself; None leaves a property unchanged.

    Attributes:
        name: its name.
        size_m: length along x and width along y; walls at its edges follow [m].
        friction: coefficient of sliding friction of the floor.
        max_boxes: largest number of boxes; 0 for no limit of the field's own.
        gap_m: smallest distance allowed between two obstacles, so that a robot fits through [m].
        touching_m: boxes nearer to each other than this count as one obstacle, without a gap [m].
        wall_height_m: height of the walls at its edges; 0 for none [m].
    """

    name: str | None = None
    size_m: tuple[Edge, Edge] | None = None
    friction: Height | None = None
    max_boxes: Annotated[int, Bounds(0, 500)] | None = None
    gap_m: Height | None = None
    touching_m: Height | None = None
    wall_height_m: Height | None = None
    label = "change the field"

    def apply(self, arena: Arena) -> Arena:
        """Return the field with the new properties, or the field itself if nothing differs.

        A property that is None stays as it is: the name, the size [m], the friction of the floor, the largest
        number of boxes (`max_boxes`), the smallest gap between obstacles (`gap_m`), the distance below which
        boxes count as one obstacle (`touching_m`), and the height of the walls. If the size or that height
        changes, new walls are built along the edges.

        Raises:
            InputError: the new name is blank.
        """
        if self.name is not None and not self.name.strip():
            raise InputError("a field needs a name", hint="such as club_field")
        length, width = arena.size_m if self.size_m is None else self.size_m
        size_m = (round_length(length), round_length(width))
        present_height_m = next((wall.size_m[2] for wall in arena.shapes if wall.name in WALLS), 0.0)
        height_m = present_height_m if self.wall_height_m is None else self.wall_height_m
        new_properties = {
            "name": None if self.name is None else self.name.strip(),
            "friction": self.friction,
            "max_boxes": self.max_boxes,
            "gap_m": self.gap_m,
            "touching_m": self.touching_m,
        }
        stated_properties = {name: value for name, value in new_properties.items() if value is not None}
        changed = replace(arena, size_m=size_m, **stated_properties)  # type: ignore[arg-type]
        if size_m != arena.size_m or height_m != present_height_m:
            inner_shapes = tuple(shape for shape in arena.shapes if shape.name not in WALLS)
            new_walls = edge_walls(size_m, round_length(height_m))
            changed = replace(changed, shapes=(*new_walls, *inner_shapes))
            if height_m > 0.0:
                changed = _with_colour_for(Role.WALL.value, changed)
        return arena if changed == arena else changed


@dataclass(frozen=True)
class SetColour:
    """Set the colour of the floor, of boxes, of all shapes of a role, or of one shape.

    Attributes:
        name: `floor`, `box`, a role, or the name of a shape.
        colour: red, green and blue, each 0..255; None gives a shape the colour of its role again.
    """

    name: str
    colour: Colour | None

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        return f"colour {self.name}"

    def apply(self, arena: Arena) -> Arena:
        """Return the field with the colour.

        Raises:
            UnknownNameError: the field has no part of this name.
            InputError: the colour of a kind of parts is to be removed.
        """
        kinds_of_parts = {FLOOR, BOX, *(role.value for role in Role)}
        names = {*kinds_of_parts, *(shape.name for shape in arena.shapes)}
        if self.name not in names:
            raise UnknownNameError.among("part", self.name, names, owner=f"in {arena.name}")
        if self.colour is None:
            if self.name in kinds_of_parts:
                raise InputError(f"{self.name} needs a colour", hint="red, green and blue, each 0 to 255")
            other_colours = {name: colour for name, colour in arena.colours.items() if name != self.name}
            shape = next(shape for shape in arena.shapes if shape.name == self.name)
            return _with_colour_for(shape.role.value, arena, other_colours)
        red, green, blue = self.colour
        new_colour = (red / 255.0, green / 255.0, blue / 255.0)  # a field's colours are 0 to 1
        if arena.colours.get(self.name) == new_colour:
            return arena
        return replace(arena, colours={**arena.colours, self.name: new_colour})


@dataclass(frozen=True)
class SetBoxKind:
    """Set the size [m], mass [kg] and friction of a kind of boxes, or add a kind."""

    name: str
    size_m: tuple[Edge, Edge, Edge]
    mass_kg: Annotated[float, Bounds(1e-3, 1e3)] = 1.0
    friction: Amount = 0.5

    @property
    def label(self) -> str:
        """The text after "Undo" in the menu."""
        return f"change the kind {self.name}"

    def apply(self, arena: Arena) -> Arena:
        """Return the field with the kind."""
        name = self.name.strip()
        if not name:
            raise InputError("a kind of boxes needs a name", hint="such as post")
        kind = BoxKind(_rounded_size(self.size_m), self.mass_kg, self.friction)
        if arena.box_kinds.get(name) == kind:
            return arena
        return replace(_with_colour_for(BOX, arena), box_kinds={**arena.box_kinds, name: kind})


@dataclass(frozen=True)
class ReplaceArena:
    """Replace the field by another one: one that was recovered, or the boxes of a layout."""

    arena: Arena
    label: str

    def apply(self, arena: Arena) -> Arena:
        """Return the other field."""
        return self.arena


COMMANDS: Mapping[str, type[ArenaCommand]] = {
    "add_box": AddBox,
    "add_shape": AddShape,
    "copy_parts": CopyParts,
    "delete_parts": DeleteParts,
    "mirror_parts": MirrorParts,
    "move_parts": MoveParts,
    "set_box": SetBox,
    "set_box_kind": SetBoxKind,
    "set_colour": SetColour,
    "set_field": SetField,
    "set_shape": SetShape,
    "turn_parts": TurnParts,
}


def read_arena_command(name: str, arguments: Mapping[str, object]) -> ArenaCommand:
    """Return a command by its name and arguments, or raise InputError."""
    if name not in COMMANDS:
        raise UnknownNameError.among("command", name, COMMANDS)
    return read_record(Node(dict(arguments)), COMMANDS[name])


def added_parts(before: Arena, after: Arena) -> list[str]:
    """Return the parts that a command has added to a field, as requests name them."""
    boxes = [box_part(index) for index in range(len(before.boxes), len(after.boxes))]
    shapes = [shape_part(shape.name) for shape in after.shapes[len(before.shapes) :]]
    return [*boxes, *shapes]


def _with_added_parts(arena: Arena, parts: list[Box | Shape]) -> Arena:
    """Return a field with further boxes and shapes, whose names are made unique."""
    boxes = list(arena.boxes)
    shapes = list(arena.shapes)
    names = {shape.name for shape in arena.shapes}
    colours = dict(arena.colours)
    for part in parts:
        if isinstance(part, Box):
            boxes.append(part)
            continue
        name = unused_name(part.name, names)
        names.add(name)
        shapes.append(replace(part, name=name))
        if part.name in arena.colours and name not in colours:
            colours[name] = arena.colours[part.name]
    return require_room(replace(arena, boxes=tuple(boxes), shapes=tuple(shapes), colours=colours))


def _with_colour_for(
    name: str, arena: Arena, colours: Mapping[str, tuple[float, float, float]] | None = None
) -> Arena:
    """Return a field with a colour for a role or for boxes, the usual one if it has none.

    Args:
        name: the role, or `box`.
        arena: the field.
        colours: colours that replace those of the field; None for its own.
    """
    present = arena.colours if colours is None else colours
    if name in present:
        return arena if colours is None else replace(arena, colours=present)
    return replace(arena, colours={**present, name: NEW_COLOURS[name]})


def _require_free_name(name: str, names: set[str]) -> None:
    """Raise InputError if a shape cannot have a name."""
    if not name.strip() or name != name.strip():
        raise InputError("a shape needs a name without spaces around it", hint="such as wall_2")
    if name in RESERVED_NAMES or name in NEW_COLOURS:
        raise InputError(f"a shape cannot be called {name!r}", hint=f"such as {name}_1")
    if name in names:
        raise InputError(f"there is a shape {name!r} already", hint=f"such as {unused_name(name, names)}")


def _require_height(shape: Shape) -> None:
    """Raise InputError if a shape that can be touched has no height."""
    if shape.is_solid and shape.size_m[2] < MIN_SOLID_HEIGHT_M:
        raise InputError(f"{shape.name} has no height", hint=f"at least {MIN_SOLID_HEIGHT_M:g} m")


def _scaled_hull(shape: Shape, size_m: tuple[float, float, float]) -> tuple[tuple[float, float, float], ...]:
    """Return the points of a shape's hull, scaled to another size [m]; none for a block or cylinder."""
    scale = [new / old for new, old in zip(size_m, shape.size_m, strict=True)] if shape.hull_m else []
    if all(factor == 1.0 for factor in scale):
        return shape.hull_m
    scale_x, scale_y, scale_z = scale
    return tuple((x * scale_x, y * scale_y, z * scale_z) for x, y, z in shape.hull_m)


def _rounded_size(size_m: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return a size with its edges rounded as in documents [m]."""
    length, width, height = size_m
    return round_length(length), round_length(width), round_length(height)


def _moved_coordinate(coordinate_m: float, distance_m: float) -> float:
    """Return a coordinate moved by a distance [m].

    Raises:
        InputError: it would be farther off than documents allow.
    """
    moved_m = round_length(coordinate_m + distance_m)
    if abs(moved_m) > MAX_COORDINATE_M:
        limit = f"{MAX_COORDINATE_M:g}"
        raise InputError(f"a part at {moved_m:g} m", hint=f"expected -{limit} to {limit} m")
    return moved_m


def _describe_parts(parts: tuple[str, ...]) -> str:
    """Return how the menu names parts: `box 2`, `hill` or `3 parts`."""
    if len(parts) != 1:
        return f"{len(parts)} parts"
    kind, _, name = parts[0].partition(":")
    return f"box {name}" if kind == "box" else name
