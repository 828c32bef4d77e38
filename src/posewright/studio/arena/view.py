"""Fields as plain data for windows: their parts, their faults, and the places that contests need."""

from __future__ import annotations

import math

from posewright.arenas import Arena, Colour, Shape, shape_outline
from posewright.contests import Contest
from posewright.contests.own_fields import FieldFault
from posewright.errors import PosewrightError
from posewright.studio.arena.parts import box_part, shape_part
from posewright.studio.requests import View

COLOUR_DIGITS = "#{:02x}{:02x}{:02x}"


def arena_view(arena: Arena) -> View:
    """Return a field as plain data: lengths in metres, angles in degrees, colours as `#rrggbb`."""
    return {
        "name": arena.name,
        "size_m": list(arena.size_m),
        "friction": arena.friction,
        "max_boxes": arena.max_boxes,
        "gap_m": arena.gap_m,
        "touching_m": arena.touching_m,
        "shapes": [_shape_view(shape, arena) for shape in arena.shapes],
        "boxes": [
            {
                "part": box_part(index),
                "number": index + 1,
                "x": box.x,
                "y": box.y,
                "yaw_deg": _degrees(box.yaw_rad),
                "kind": box.kind,
                "size_m": list(arena.kind_of(box).size_m),
            }
            for index, box in enumerate(arena.boxes)
        ],
        "kinds": {
            name: {"size_m": list(kind.size_m), "mass_kg": kind.mass_kg, "friction": kind.friction}
            for name, kind in arena.box_kinds.items()
        },
        "colours": {name: _hex_colour(colour) for name, colour in arena.colours.items()},
        "spots": [
            {"name": name, "x": spot.x, "y": spot.y, "yaw_deg": _degrees(spot.yaw_rad)}
            for name, spot in arena.spots.items()
        ],
    }


def _shape_view(shape: Shape, arena: Arena) -> View:
    """Return a shape as plain data, with its outline from above unless it is round."""
    outline = [] if shape.is_round else shape_outline(shape).round(4).tolist()
    return {
        "part": shape_part(shape.name),
        "name": shape.name,
        "role": shape.role.value,
        "x": shape.x,
        "y": shape.y,
        "size_m": list(shape.size_m),
        "yaw_deg": _degrees(shape.yaw_rad),
        "base_m": shape.base_m,
        "is_round": shape.is_round,
        "is_hull": bool(shape.hull_m),
        "text": shape.text,
        "outline": outline,
        "colour": _hex_colour(arena.colour_of(shape)),
        "has_own_colour": shape.name in arena.colours,
    }


def fault_view(fault: FieldFault) -> View:
    """Return a fault as plain data, with the parts that are at fault as requests name them."""
    parts = [box_part(number - 1) for number in fault.boxes]
    parts += [shape_part(name) for name in fault.shapes]
    return {"message": fault.message, "hint": fault.hint, "parts": parts, "prevents_run": fault.prevents_run}


def start_views(contest: Contest | None, arena: Arena) -> list[View]:
    """Return the places where a contest's robots start on a field; none if the field has no such place."""
    views: list[View] = []
    if contest is None:
        return views
    for role in contest.entries:
        try:
            x, y, yaw_rad = contest.start(role, arena)
        except (PosewrightError, IndexError):  # the line or spot of the start is missing
            continue
        views.append({"name": role, "x": x, "y": y, "yaw_deg": _degrees(yaw_rad)})
    return views


def _degrees(angle_rad: float) -> float:
    return round(math.degrees(angle_rad), 4) + 0.0


def _hex_colour(colour: Colour) -> str:
    return COLOUR_DIGITS.format(*(round(255.0 * channel) for channel in colour))
