"""Writes arenas as documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from posewright.arenas.arena import BOX, Arena, Box, Shape, Spot, parse_arena
from posewright.documents import flow_mapping, render_document, save_document
from posewright.errors import InputError, PosewrightError
from posewright.units import DEG_PER_RAD

_DECIMALS = 4
"""Decimals of lengths in metres and of angles in degrees."""


def write_arena(path: Path | str, arena: Arena) -> None:
    """Write an arena, its boxes and its sources as a document; `read_arena` reads the same back.

    Lengths are rounded to a tenth of a millimetre, and angles to a ten thousandth of a degree.

    Raises:
        InputError: `read_arena` would not read it, for example because it has too many shapes.
        OutputError: the file cannot be written.
    """
    document = _build_document(arena)
    try:
        parse_arena(render_document(document))
    except PosewrightError as error:
        message = f"the arena {arena.name} could not be read back: {error.message}"
        raise InputError(message, hint=error.hint) from error
    save_document(path, document)


def _build_document(arena: Arena) -> dict[str, object]:
    """Return an arena as a document; limits of zero and empty sections are omitted."""
    document: dict[str, object] = {
        "arena": arena.name,
        "size_m": _round_lengths(arena.size_m),
        "friction": arena.friction,
    }
    limits = {"max_boxes": arena.max_boxes, "gap_m": arena.gap_m, "touching_m": arena.touching_m}
    document |= {key: limit for key, limit in limits.items() if limit}
    if arena.shapes:
        document["shapes"] = [flow_mapping(_shape_fields(shape)) for shape in arena.shapes]
    if arena.box_kinds:
        document["box_kinds"] = {
            name: flow_mapping(
                {"size_m": _round_lengths(kind.size_m), "mass_kg": kind.mass_kg, "friction": kind.friction}
            )
            for name, kind in arena.box_kinds.items()
        }
    if arena.boxes:
        document["boxes"] = [flow_mapping(_box_fields(box)) for box in arena.boxes]
    if arena.spots:
        document["spots"] = {name: flow_mapping(_position_fields(spot)) for name, spot in arena.spots.items()}
    document["colours_rgb"] = {
        name: [round(255.0 * channel) for channel in colour] for name, colour in arena.colours.items()
    }
    document["sources"] = dict(arena.sources)
    return document


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
