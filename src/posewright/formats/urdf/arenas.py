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
    floor = LinkShape(ShapeKind.BOX, size_m=(*arena.size_m, _FLOOR_M), colour=arena.colours[FLOOR])
    floor_centre = (arena.size_x / 2.0, 0.0, -_FLOOR_M / 2.0)
    links = [Link(name=_FIELD, parent=""), _fixed_link(FLOOR, floor, position_m=floor_centre)]
    for shape in arena.shapes:
        height = _LINE_M if shape.role is Role.LINE else shape.size_m[2]
        kind = ShapeKind.CYLINDER if shape.is_round else ShapeKind.BOX
        size_x, size_y, _ = shape.size_m
        link_shape = LinkShape(
            kind,
            size_m=(size_x, size_y, height),
            colour=arena.colour_of(shape),
            is_solid=shape.is_solid,
        )
        links.append(
            _fixed_link(
                shape.name,
                link_shape,
                position_m=(shape.x, shape.y, shape.base_m + height / 2.0),
                yaw_rad=shape.yaw_rad,
            )
        )
    for number, box in enumerate(arena.boxes, 1):
        link_shape = LinkShape(ShapeKind.BOX, arena.kind_of(box).size_m, colour=arena.colours[BOX])
        centre = (box.x, box.y, link_shape.size_m[2] / 2.0)
        links.append(_fixed_link(f"box_{number}", link_shape, position_m=centre, yaw_rad=box.yaw_rad))
    return urdf_text(Mechanism(escape_unprintable(arena.name), tuple(links)))


def _fixed_link(
    name: str, link_shape: LinkShape, position_m: tuple[float, float, float], yaw_rad: float = 0.0
) -> Link:
    """Return a link of one shape, fixed to the field at a position and turned about the vertical axis."""
    rotation = (math.cos(yaw_rad / 2.0), 0.0, 0.0, math.sin(yaw_rad / 2.0))
    name = escape_unprintable(name)  # XML cannot hold control characters
    return Link(name, parent=_FIELD, position_m=position_m, rotation=rotation, shapes=(link_shape,))
