"""Writes arenas as documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from posewright.arenas.arena import (
    BOX,
    LINE_WIDTH_M,
    WALL_THICKNESS_M,
    WALLS,
    Arena,
    ArenaDocument,
    Box,
    BoxKind,
    Role,
    Shape,
    Spot,
    edge_walls,
    parse_arena,
    read_arena,
)
from posewright.documents import (
    flow_mapping,
    is_file,
    read_document,
    read_record,
    render_document,
    save_document,
)
from posewright.errors import InputError, PosewrightError
from posewright.units import DEG_PER_RAD

_DECIMALS = 4
"""Decimals of lengths in metres and of angles in degrees."""


def write_arena(path: Path | str, arena: Arena) -> None:
    """Write an arena, its boxes and its sources as a document; `read_arena` reads the same back.

    Lengths are rounded to a tenth of a millimetre, and angles to a ten thousandth of a degree. If `path`
    already holds an arena, its title, comments, order and layout stay, and so do its short forms for walls,
    lines and boxes where the arena still has such.

    Raises:
        InputError: `read_arena` would not read it, for example because it has too many shapes.
        OutputError: the file cannot be written.
    """
    path = Path(path)
    existing = _read_existing_keys(path)
    if existing and read_arena(path) == arena:  # values written in another way stay, too
        return
    document = _build_document(arena, existing)
    try:
        parse_arena(render_document(document))
    except PosewrightError as error:
        message = f"the arena {arena.name} could not be read back: {error.message}"
        raise InputError(message, hint=error.hint) from error
    save_document(path, document)


def format_arena(arena: Arena) -> str:
    """Return the text of the document that `write_arena` writes to a new file."""
    return render_document(_build_document(arena, existing={}))


def _read_existing_keys(path: Path) -> Mapping[str, object]:
    """Return the keys and values of the arena document that a file holds; none if it holds none."""
    if not is_file(path):
        return {}
    try:
        root = read_document(path)
        read_record(root, ArenaDocument)
    except InputError:
        return {}
    return root.value if isinstance(root.value, dict) else {}


def _build_document(arena: Arena, existing: Mapping[str, object]) -> dict[str, object]:
    """Return an arena as a document; limits of zero and empty sections are omitted.

    Args:
        arena: the arena.
        existing: the content of the document that it replaces; empty if there is none.
    """
    document: dict[str, object] = {"arena": arena.name}
    if "title" in existing:
        document["title"] = existing["title"]
    document["size_m"] = _round_lengths(arena.size_m)
    shapes = list(arena.shapes)
    if "wall_height_m" in existing:
        document |= _take_edge_walls(shapes, arena, existing)
    if "lines_x_m" in existing:
        document |= _take_lines(shapes, arena, existing)
    document["friction"] = arena.friction
    limits = {"max_boxes": arena.max_boxes, "gap_m": arena.gap_m, "touching_m": arena.touching_m}
    document |= {key: limit for key, limit in limits.items() if limit or key in existing}
    if shapes:
        document["shapes"] = [flow_mapping(_shape_fields(shape)) for shape in shapes]
    box_kinds = {name: flow_mapping(_kind_fields(kind)) for name, kind in arena.box_kinds.items()}
    if "box" in existing and BOX in box_kinds:
        document["box"] = box_kinds.pop(BOX)
    if box_kinds:
        document["box_kinds"] = box_kinds
    if arena.boxes:
        document["boxes"] = [flow_mapping(_box_fields(box)) for box in arena.boxes]
    if arena.spots:
        document["spots"] = {name: flow_mapping(_position_fields(spot)) for name, spot in arena.spots.items()}
    document["colours_rgb"] = {
        name: [round(255.0 * channel) for channel in colour] for name, colour in arena.colours.items()
    }
    document["sources"] = dict(arena.sources)
    return document


def _take_edge_walls(shapes: list[Shape], arena: Arena, existing: Mapping[str, object]) -> dict[str, object]:
    """Remove the walls at the edges from the shapes, and return the short form for them.

    Nothing is removed if they are not the first shapes, or not as the short form would place them.
    """
    walls = shapes[: len(WALLS)]
    if tuple(wall.name for wall in walls) != WALLS:
        return {}
    thickness_m, _, height_m = walls[0].size_m
    expected_walls = edge_walls(arena.size_m, height_m, thickness_m)
    if [_shape_fields(wall) for wall in walls] != [_shape_fields(wall) for wall in expected_walls]:
        return {}
    del shapes[: len(WALLS)]
    short_form: dict[str, object] = {"wall_height_m": round(height_m, _DECIMALS)}
    if "wall_thickness_m" in existing or thickness_m != WALL_THICKNESS_M:
        short_form["wall_thickness_m"] = round(thickness_m, _DECIMALS)
    return short_form


def _take_lines(shapes: list[Shape], arena: Arena, existing: Mapping[str, object]) -> dict[str, object]:
    """Remove lines across the field from the begin of the shapes, and return the short form for them."""
    lines_x_m: list[float] = []
    width_m = shapes[0].size_m[0] if shapes else LINE_WIDTH_M
    for index, shape in enumerate(shapes):
        x = round(shape.x, _DECIMALS)
        line = Shape(f"line_{index}", Role.LINE, x, y=0.0, size_m=(width_m, arena.size_y, 0.0))
        is_in_order = (lines_x_m[-1] if lines_x_m else 0.0) <= x <= arena.size_x
        if not is_in_order or _shape_fields(shape) != _shape_fields(line):
            break
        lines_x_m.append(x)
    if not lines_x_m:
        return {}
    del shapes[: len(lines_x_m)]
    short_form: dict[str, object] = {"lines_x_m": lines_x_m}
    if "line_width_m" in existing or width_m != LINE_WIDTH_M:
        short_form["line_width_m"] = round(width_m, _DECIMALS)
    return short_form


def _kind_fields(kind: BoxKind) -> dict[str, object]:
    return {"size_m": _round_lengths(kind.size_m), "mass_kg": kind.mass_kg, "friction": kind.friction}


def _position_fields(part: Box | Shape | Spot) -> dict[str, object]:
    """Return the position of a part, and its direction unless it is 0."""
    x, y = _round_lengths((part.x, part.y))
    fields: dict[str, object] = {"x": x, "y": y}
    yaw_deg = round(part.yaw_rad * DEG_PER_RAD, _DECIMALS)
    if yaw_deg:
        fields["yaw_deg"] = yaw_deg
    return fields


def _box_fields(box: Box) -> dict[str, object]:
    fields = _position_fields(box)
    if box.kind != BOX:
        fields["kind"] = box.kind
    return fields


def _shape_fields(shape: Shape) -> dict[str, object]:
    """Return the fields of a shape; those with default values are omitted."""
    fields: dict[str, object] = {"name": shape.name, "role": shape.role.value}
    fields |= _position_fields(shape)
    fields["size_m"] = _round_lengths(shape.size_m)
    if shape.base_m:
        fields["base_m"] = round(shape.base_m, _DECIMALS)
    if shape.is_round:
        fields["is_round"] = True
    if shape.text:
        fields["text"] = shape.text
    if shape.hull_m:
        fields["hull_m"] = [_round_lengths(point) for point in shape.hull_m]
    return fields


def _round_lengths(lengths_m: Sequence[float]) -> list[float]:
    return [round(length_m, _DECIMALS) + 0.0 for length_m in lengths_m]  # + 0.0 turns -0.0 into 0.0
