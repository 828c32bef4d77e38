"""Arenas written as URDF, for other programs."""

from __future__ import annotations

import math

from posewright.arenas import BOX, FLOOR, Arena, Role
from posewright.errors import InputError, escape_unprintable
from posewright.formats.urdf.writing import urdf_text
from posewright.robots import Link, LinkShape, Mechanism, ShapeKind

_FLOOR_M = 0.02
"""Thickness of the floor in a URDF, which has no infinite planes [m]."""

_LINE_M = 0.001
_FIELD = "field"


def urdf_of_arena(arena: Arena) -> str:
    """Return a URDF with a link for the floor, and one fixed to it for each shape and box.

    A URDF has neither friction nor objects that can be pushed, so boxes are fixed in it.

    Raises:
        InputError: a shape is a mesh, for which a URDF would need a file beside it.
    """
    if meshes := [shape.name for shape in arena.shapes if shape.hull_m]:
        message = f"{', '.join(meshes)}: a URDF cannot hold the points of a mesh"
        raise InputError(message, hint="write MJCF instead")
    floor = LinkShape(ShapeKind.BOX, (*arena.size_m, _FLOOR_M), colour=arena.colours[FLOOR])
    links = [Link(_FIELD, parent=""), _link(FLOOR, floor, (arena.size_x / 2.0, 0.0, -_FLOOR_M / 2.0))]
    for shape in arena.shapes:
        height = _LINE_M if shape.role is Role.LINE else shape.size_m[2]
        kind = ShapeKind.CYLINDER if shape.is_round else ShapeKind.BOX
        size = (*shape.size_m[:2], height)
        form = LinkShape(kind, size, colour=arena.colour_of(shape), is_solid=shape.is_solid)
        links.append(
            _link(shape.name, form, at=(shape.x, shape.y, shape.base_m + height / 2.0), yaw=shape.yaw_rad)
        )
    for number, box in enumerate(arena.boxes, 1):
        form = LinkShape(ShapeKind.BOX, arena.kind_of(box).size_m, colour=arena.colours[BOX])
        links.append(_link(f"box_{number}", form, at=(box.x, box.y, form.size_m[2] / 2.0), yaw=box.yaw_rad))
    return urdf_text(Mechanism(escape_unprintable(arena.name), tuple(links)))


def _link(name: str, form: LinkShape, at: tuple[float, float, float], yaw: float = 0.0) -> Link:
    rotation = (math.cos(yaw / 2.0), 0.0, 0.0, math.sin(yaw / 2.0))
    name = escape_unprintable(name)  # XML cannot hold control characters
    return Link(name, parent=_FIELD, position_m=at, rotation=rotation, shapes=(form,))
