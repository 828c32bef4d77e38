"""Arenas written: as a document of ours, and as URDF for other programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from posewright.arenas.arena import BOX, FLOOR, Arena, Role, Shape
from posewright.arrays import Floats
from posewright.documents import one_line, save_document
from posewright.errors import InputError, visible
from posewright.units import DEG_PER_RAD

_FLOOR_M = 0.02
"""How thick the floor is in a URDF, which has no endless plane [m]."""

_LINE_M = 0.001


def write_arena(path: Path | str, arena: Arena) -> None:
    """Write an arena, its boxes and its sources as a document; `read_arena` reads the same back.

    Lengths are rounded to a tenth of a millimetre, and angles to a ten thousandth of a degree.

    Raises:
        OutputError: the file cannot be written.
    """
    save_document(path, _document(arena))


def _document(arena: Arena) -> dict[str, Any]:
    told: dict[str, Any] = {
        "arena": arena.name,
        "size_m": _rounded(arena.size_m),
        "friction": arena.friction,
    }
    told |= {key: getattr(arena, key) for key in ("max_boxes", "gap_m", "touching_m") if getattr(arena, key)}
    if arena.shapes:
        told["shapes"] = [one_line(dict(_told(shape))) for shape in arena.shapes]
    if arena.box_kinds:
        told["box_kinds"] = {
            name: one_line(
                {"size_m": _rounded(kind.size_m), "mass_kg": kind.mass_kg, "friction": kind.friction}
            )
            for name, kind in arena.box_kinds.items()
        }
    if arena.boxes:
        kinds = [{} if box.kind == BOX else {"kind": box.kind} for box in arena.boxes]
        told["boxes"] = [
            one_line(dict(_place(box)) | kind) for box, kind in zip(arena.boxes, kinds, strict=True)
        ]
    if arena.spots:
        told["spots"] = {name: one_line(dict(_place(spot))) for name, spot in arena.spots.items()}
    told["colours_rgb"] = {
        name: [round(255.0 * part) for part in colour] for name, colour in arena.colours.items()
    }
    return told | {"sources": dict(arena.sources)}


def _place(what: Any) -> Iterator[tuple[str, Any]]:
    yield from (("x", round(what.x, 4) + 0.0), ("y", round(what.y, 4) + 0.0))
    if yaw_deg := round(what.yaw_rad * DEG_PER_RAD, 4):
        yield "yaw_deg", yaw_deg


def _told(shape: Shape) -> Iterator[tuple[str, Any]]:
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


def urdf_of_arena(arena: Arena) -> str:
    """Return a URDF with a link for the floor, and one fixed to it for each shape and box.

    A URDF has neither friction nor things that can be pushed: boxes stand fast in it.

    Raises:
        InputError: a shape is a mesh, for which a URDF would need a file beside it.
    """
    if meshes := [shape.name for shape in arena.shapes if shape.hull_m]:
        what = f"{', '.join(meshes)}: a URDF has no place for the points of a mesh"
        raise InputError(what, hint="write MJCF")
    root = Element("robot", name=visible(arena.name))
    colours = dict(arena.colours)
    for name, colour in colours.items():
        looks = SubElement(root, "material", name=visible(name))
        SubElement(looks, "color", rgba=_numbers((*colour, 1.0)))
    SubElement(root, "link", name="field")
    middle = (arena.size_x / 2.0, 0.0, -_FLOOR_M / 2.0)
    _add_link(root, name=FLOOR, size=(*arena.size_m, _FLOOR_M), at=middle, yaw=0.0, look=FLOOR, is_solid=True)
    for shape in arena.shapes:
        height = _LINE_M if shape.role is Role.LINE else shape.size_m[2]
        _add_link(
            root,
            name=shape.name,
            size=(*shape.size_m[:2], height),
            at=(shape.x, shape.y, shape.base_m + height / 2.0),
            yaw=shape.yaw_rad,
            look=shape.name if shape.name in colours else shape.role.value,
            is_solid=shape.is_solid,
            is_round=shape.is_round,
        )
    for number, box in enumerate(arena.boxes, 1):
        size = arena.kind_of(box).size_m
        at = (box.x, box.y, size[2] / 2.0)
        _add_link(root, name=f"box_{number}", size=size, at=at, yaw=box.yaw_rad, look=BOX, is_solid=True)
    indent(root)
    return '<?xml version="1.0"?>\n' + tostring(root, encoding="unicode") + "\n"


def _add_link(
    root: Element,
    *,
    name: str,
    size: tuple[float, ...],
    at: tuple[float, ...],
    yaw: float,
    look: str,
    is_solid: bool,
    is_round: bool = False,
) -> None:
    name = visible(name)  # XML has no place for most control characters
    link = SubElement(root, "link", name=name)
    for what in ("visual", "collision") if is_solid else ("visual",):
        part = SubElement(link, what)
        inner = SubElement(part, "geometry")
        if is_round:
            SubElement(inner, "cylinder", radius=_numbers((size[0] / 2.0,)), length=_numbers(size[2:]))
        else:
            SubElement(inner, "box", size=_numbers(size))
        if what == "visual":
            SubElement(part, "material", name=visible(look))
    joint = SubElement(root, "joint", name=f"{name}_place", type="fixed")
    SubElement(joint, "parent", link="field")
    SubElement(joint, "child", link=name)
    SubElement(joint, "origin", xyz=_numbers(at), rpy=_numbers((0.0, 0.0, yaw)))


def _numbers(values: tuple[float, ...] | Floats) -> str:
    return " ".join(f"{value:.6g}" for value in values)
