"""A new field, and the sizes and colours that new parts of a field have."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.arenas import BOX, FLOOR, Arena, BoxKind, Colour, Role, edge_walls

NEW_BOX = BoxKind(size_m=(0.2, 0.2, 0.5), mass_kg=1.0, friction=0.5)
"""The box of the CEABOT obstacle race."""


def _colour(red: int, green: int, blue: int) -> Colour:
    return red / 255.0, green / 255.0, blue / 255.0


NEW_COLOURS: Mapping[str, Colour] = {
    FLOOR: _colour(22, 198, 6),
    BOX: _colour(214, 178, 134),
    Role.WALL.value: _colour(255, 255, 255),
    Role.LINE.value: _colour(255, 255, 255),
    Role.STEP.value: _colour(214, 190, 150),
    Role.RING.value: _colour(70, 74, 80),
    Role.FURNITURE.value: _colour(150, 150, 160),
    Role.MARKER.value: _colour(255, 255, 255),
}
"""The colour that a kind of part has when the first one is added: those of the CEABOT fields, or assumed."""


def new_field(name: str) -> Arena:
    """Return an empty field of 2.5 x 2 m, as large as that of the obstacle race, with walls around it."""
    size_m = (2.5, 2.0)
    return Arena(
        name=name,
        size_m=size_m,
        shapes=edge_walls(size_m, height_m=0.5),
        box_kinds={BOX: NEW_BOX},
        colours={key: NEW_COLOURS[key] for key in (FLOOR, Role.WALL.value, BOX)},
        friction=0.5,
        sources={"size_m": "drawn in the arena editor", "friction": "assumption"},
    )
