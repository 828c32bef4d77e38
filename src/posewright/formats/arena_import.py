"""Import of arenas from scene files of other programs."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from posewright.arenas import Piece, RecognisedArena, recognise_arena
from posewright.arrays import Floats
from posewright.errors import FormatError, InputError, UnknownNameError, Where
from posewright.formats.openrave import Environment, KinBody, read_openrave
from posewright.formats.projects import (
    is_openhrp_project,
    pieces_of_project,
    read_choreonoid_project,
    read_openhrp_project,
)
from posewright.formats.scenes import SCENE_SUFFIXES, Y_TO_Z, Up, pieces_of, read_scene

ARENA_SUFFIXES = (".xml", ".cnoid", *SCENE_SUFFIXES)
"""Suffixes of files that can be imported: `.xml` of OpenRAVE and OpenHRP3, `.cnoid` of Choreonoid."""

_FLOOR_NAMES = re.compile(r"floor|ground|suelo|boden", re.IGNORECASE)
_MIN_FLATNESS = 1.5
"""A scene of OpenRAVE without a floor has y up if it is this much shorter along y than along x and z."""


def import_arena(
    path: Path | str, *, name: str = "", up: str = "auto", scale: float = 1.0, turn_deg: float = 0.0
) -> RecognisedArena:
    """Return the arena in a file of OpenRAVE, VRML97, OBJ, STL, GLB or COLLADA, or in a project, with notes.

    Projects are those of OpenHRP3 and Choreonoid. Robots are left out.

    Args:
        path: the file; its suffix gives the kind.
        name: the name of the arena; by default that of the file.
        up: which axis of the file points up, `y` or `z`; `auto` takes the one along which the scene is
            shorter.
        scale: metres per unit of the file: 0.001 for a drawing in millimetres.
        turn_deg: how far the scene is turned to the left, seen from above.

    Raises:
        FormatError: the file is damaged, or of another kind.
        InputError: the scene is no arena.
        MissingExtraError: trimesh is needed and not installed.
    """
    path = Path(path)
    axes = [axis.value for axis in Up]
    if up not in axes:
        raise UnknownNameError.among("axis", up, axes)
    suffix = path.suffix.lower()
    if suffix not in ARENA_SUFFIXES:
        hint = f"scene files end in {', '.join(ARENA_SUFFIXES)}"
        raise FormatError("not a scene", where=Where(path), hint=hint)
    stem = name or path.name.split(".")[0]
    arena_name = re.sub(r"[^a-z0-9]+", "_", stem.casefold()).strip("_") or "field"
    try:
        if suffix == ".cnoid":
            pieces, notes = pieces_of_project(read_choreonoid_project(path))
        elif suffix == ".xml" and is_openhrp_project(path):
            pieces, notes = pieces_of_project(read_openhrp_project(path))
        elif suffix == ".xml":
            pieces, notes = _pieces_of_environment(read_openrave(path, scenery_only=True), Up(up))
        else:
            pieces, notes = pieces_of(read_scene(path), suffix, up=Up(up))
        return recognise_arena(
            arena_name,
            pieces=_transform_pieces(pieces, scale, turn_deg),
            source=f"imported from {path.name}",
            notes=notes,
        )
    except InputError as error:
        if error.where is None:
            raise InputError(error.message, where=Where(path), hint=error.hint) from error
        raise


def _pieces_of_environment(environment: Environment, up: Up) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """Return the pieces of an arena, in metres with z up, and descriptions of what was left out.

    A body can be pushed if it is a single link that is not static.

    Args:
        environment: the environment, without robots.
        up: the axis that points up; `Up.AUTO` takes the one against gravity, or else the one along which the
            floor is thinnest.

    Raises:
        InputError: nothing in the environment has a shape.
    """
    pieces = [piece for body in environment.bodies for piece in _pieces_of_body(body)]
    notes = list(environment.notes)
    if not pieces:
        hint = "; ".join(notes)[:500] or "add a KinBody with a Body and a Geom"
        raise InputError("the environment has no bodies with shapes", hint=hint)
    if up is Up.AUTO:
        up = environment.up
    if up is Up.AUTO:
        up = _guess_up(pieces)
        if up is Up.Y:
            notes.append("y is assumed to point up; change it with --up")
    if up is Up.Y:
        pieces = [replace(piece, points=piece.points @ Y_TO_Z.T) for piece in pieces]
    if environment.friction is not None:
        notes.append(f"the file has a friction of {environment.friction:g}; write it into the document")
    return tuple(pieces), tuple(notes)


def _pieces_of_body(body: KinBody) -> list[Piece]:
    """Return the pieces of a body of OpenRAVE, in the frame of the environment."""
    pieces: list[Piece] = []
    can_move = len(body.links) == 1 and not body.links[0].is_static
    n_shapes = sum(len(link.geometries) for link in body.links)
    for link in body.links:
        rotation = link.pose[:3, :3]
        translation = link.pose[:3, 3]
        name = link.name if len(body.links) > 1 and link.name else body.name
        group_names = () if name == body.name else (body.name,)
        mass_kg = link.mass.kg if can_move and n_shapes == 1 and link.mass is not None else None
        for shape in link.geometries:
            for link_points in shape.points():
                points = link_points @ rotation.T + translation
                pieces.append(Piece(name, points, shape.colour, can_move, mass_kg, group_names))
    return pieces


def _guess_up(pieces: Sequence[Piece]) -> Up:
    """Guess whether y or z points up: the axis along which the largest floor is thinnest.

    Without a floor, which its name shows, it is y if the scene is clearly shortest along y, else z.
    """
    floors = [
        np.ptp(piece.points, axis=0)
        for piece in pieces
        if any(_FLOOR_NAMES.search(name) for name in (piece.name, *piece.group_names))
    ]
    if floors:
        size_x, size_y, size_z = max(floors, key=_floor_area).tolist()
        is_thinnest_along_y = size_y < size_x and size_y <= size_z
        return Up.Y if is_thinnest_along_y else Up.Z  # x is not considered: no format has it upright
    size_x, size_y, size_z = np.ptp(np.concatenate([piece.points for piece in pieces]), axis=0).tolist()
    return Up.Y if size_y * _MIN_FLATNESS < min(size_x, size_z) else Up.Z


def _floor_area(edges: Floats) -> float:
    """Return the area of a floor, the product of its two longer edges."""
    return float(np.sort(edges)[1:].prod())  # [0] is the thickness


def _transform_pieces(pieces: Sequence[Piece], scale: float, turn_deg: float) -> tuple[Piece, ...]:
    """Return the pieces scaled and turned about the vertical axis."""
    if not (math.isfinite(scale) and scale > 0.0 and math.isfinite(turn_deg)):
        message = f"a scale of {scale:g} and a turn of {turn_deg:g} deg"
        raise InputError(message, hint="the scale is metres per unit of the file, above 0")
    cos = math.cos(math.radians(turn_deg))
    sin = math.sin(math.radians(turn_deg))
    transform = scale * np.array([(cos, -sin, 0.0), (sin, cos, 0.0), (0.0, 0.0, 1.0)])
    return tuple(replace(piece, points=piece.points @ transform.T) for piece in pieces)
