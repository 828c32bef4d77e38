"""Arenas written as a document of ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from posewright.arenas.arena import BOX, Arena, Box, Shape, Spot
from posewright.documents import flow_mapping, save_document
from posewright.units import DEG_PER_RAD


def write_arena(path: Path | str, arena: Arena) -> None:
    """Write an arena, its boxes and its sources as a document; `read_arena` reads the same back.

    Lengths are rounded to a tenth of a millimetre, and angles to a ten thousandth of a degree.

    Raises:
        OutputError: the file cannot be written.
    """
    save_document(path, _document(arena))


def _document(arena: Arena) -> dict[str, object]:
    data: dict[str, object] = {
        "arena": arena.name,
        "size_m": _rounded(arena.size_m),
        "friction": arena.friction,
    }
    data |= {key: getattr(arena, key) for key in ("max_boxes", "gap_m", "touching_m") if getattr(arena, key)}
    if arena.shapes:
        data["shapes"] = [flow_mapping(dict(_shape_data(shape))) for shape in arena.shapes]
    if arena.box_kinds:
        data["box_kinds"] = {
            name: flow_mapping(
                {"size_m": _rounded(kind.size_m), "mass_kg": kind.mass_kg, "friction": kind.friction}
            )
            for name, kind in arena.box_kinds.items()
        }
    if arena.boxes:
        kinds = [{} if box.kind == BOX else {"kind": box.kind} for box in arena.boxes]
        data["boxes"] = [
            flow_mapping(dict(_place(box)) | kind) for box, kind in zip(arena.boxes, kinds, strict=True)
        ]
    if arena.spots:
        data["spots"] = {name: flow_mapping(dict(_place(spot))) for name, spot in arena.spots.items()}
    data["colours_rgb"] = {
        name: [round(255.0 * part) for part in colour] for name, colour in arena.colours.items()
    }
    return data | {"sources": dict(arena.sources)}


def _place(part: Box | Shape | Spot) -> Iterator[tuple[str, object]]:
    yield from (("x", round(part.x, 4) + 0.0), ("y", round(part.y, 4) + 0.0))
    if yaw_deg := round(part.yaw_rad * DEG_PER_RAD, 4):
        yield "yaw_deg", yaw_deg


def _shape_data(shape: Shape) -> Iterator[tuple[str, object]]:
    yield from (("name", shape.name), ("role", shape.role.value), *_place(shape))
    yield "size_m", _rounded(shape.size_m)
    if shape.base_m:
        yield "base_m", round(shape.base_m, 4)
    if shape.is_round:
        yield "is_round", True
    if shape.text:
        yield "text", shape.text
    if shape.hull_m:
        yield "hull_m", [_rounded(point) for point in shape.hull_m]


def _rounded(lengths: tuple[float, ...]) -> list[float]:
    return [round(length, 4) + 0.0 for length in lengths]
