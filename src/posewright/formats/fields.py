"""A field from somebody else's file, whichever kind it is."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from posewright.arenas import Piece, Recognised, recognise
from posewright.errors import FormatError, InputError, UnknownNameError, Where
from posewright.formats.openrave import Environment, read_openrave
from posewright.formats.scenes import SCENES, Up, pieces_of, read_scene

FIELDS = (".xml", *SCENES)
"""The endings of files from which a field can be made; `.xml` is OpenRAVE's."""


def import_arena(
    path: Path | str, *, name: str = "", up: str = "auto", scale: float = 1.0, turn_deg: float = 0.0
) -> Recognised:
    """Return the field that a scene of OpenRAVE, VRML97, OBJ, STL or GLB shows, and what was assumed.

    Args:
        path: the file; its ending tells the kind.
        name: of the arena; that of the file where none is given.
        up: which axis of the file points up, `y` or `z`; `auto` looks along which the scene is shorter.
        scale: metres in a unit of the file: 0.001 for a drawing in millimetres.
        turn_deg: how far the scene is to be turned to the left, seen from above.

    Raises:
        FormatError: the file is damaged, or of no such kind.
        InputError: what it shows can be no field.
        MissingExtraError: trimesh is needed and not installed.
    """
    path = Path(path)
    if up not in (one.value for one in Up):
        raise UnknownNameError.among("axis", up, [one.value for one in Up])
    if path.suffix.lower() not in FIELDS:
        raise FormatError("not a scene", where=Where(path), hint=f"it ends in {', '.join(FIELDS)}")
    word = re.sub(r"[^a-z0-9]+", "_", (name or path.name.split(".")[0]).casefold()).strip("_") or "field"
    try:
        if path.suffix.lower() == ".xml":
            pieces, notes = _pieces_of_environment(read_openrave(path))
        else:
            pieces, notes = pieces_of(read_scene(path), path.suffix.lower(), up=Up(up))
        return recognise(word, _turned(pieces, scale, turn_deg), f"imported from {path.name}", notes)
    except InputError as error:
        if error.where is None:
            raise InputError(error.message, where=Where(path), hint=error.hint) from error
        raise


def _pieces_of_environment(environment: Environment) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """Return the pieces of a field, in metres and z up, and what was left out, in words.

    A body may be pushed where it is a single link that is not static.

    Raises:
        InputError: only robots stand there.
    """
    pieces, notes = [], list(environment.notes)
    for body in environment.bodies:
        if body.is_robot:
            notes.append(f"the robot {body.name or 'without a name'} is left out: an arena has none")
            continue
        can_move = len(body.links) == 1 and not body.links[0].is_static
        for link in body.links:
            turn, move = link.pose[:3, :3], link.pose[:3, 3]
            name = link.name if len(body.links) > 1 and link.name else body.name
            for shape in link.geometries:
                for points in shape.points():
                    pieces.append(Piece(name, points @ turn.T + move, shape.colour, can_move))
    if not pieces:
        raise InputError("nothing but robots stands there", hint="a KinBody with a Body and a Geom")
    if environment.friction is not None:
        notes.append(f"a friction of {environment.friction:g} is told; write it into the document")
    return tuple(pieces), tuple(notes)


def _turned(pieces: Sequence[Piece], scale: float, turn_deg: float) -> tuple[Piece, ...]:
    if not (math.isfinite(scale) and scale > 0.0 and math.isfinite(turn_deg)):
        what = f"a scale of {scale:g}, turned by {turn_deg:g} deg"
        raise InputError(what, hint="the scale is metres in a unit of the file")
    cos, sin = math.cos(math.radians(turn_deg)), math.sin(math.radians(turn_deg))
    turn = scale * np.array([(cos, -sin, 0.0), (sin, cos, 0.0), (0.0, 0.0, 1.0)])
    return tuple(replace(piece, points=piece.points @ turn.T) for piece in pieces)
