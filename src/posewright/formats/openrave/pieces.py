"""What stands in an OpenRAVE environment as pieces of a field; robots are left out."""

from __future__ import annotations

from posewright.arenas import Piece
from posewright.errors import InputError
from posewright.formats.openrave.bodies import Environment


def pieces_of_environment(environment: Environment) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
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
