"""`export_arena`: writes an arena for other programs, as a MuJoCo model or a URDF."""

from __future__ import annotations

from pathlib import Path

from posewright.arenas import Arena
from posewright.contests import find_arena
from posewright.documents import write_atomically
from posewright.errors import UnknownNameError
from posewright.formats.urdf.arenas import urdf_of_arena

EXPORTS = ("mjcf", "urdf")


def export_arena(arena: Arena | str, path: Path | str, *, to: str = "mjcf") -> None:
    """Write an arena as MuJoCo's XML or as a URDF.

    Args:
        arena: an arena, its name, or the path of its document.
        path: the path of the new file.
        to: `mjcf` for everything in the arena; or `urdf`, which lacks meshes and movable boxes.

    Raises:
        UnknownNameError: there is no such arena, or no such format.
        InputError: the arena cannot be written in that format.
        OutputError: the file cannot be written.
    """
    field = find_arena(arena) if isinstance(arena, str) else arena
    if to not in EXPORTS:
        raise UnknownNameError.among("format", to, EXPORTS)
    if to == "mjcf":
        from posewright.simulation import arena_mjcf

        text = arena_mjcf(field)
    else:
        text = urdf_of_arena(field)
    write_atomically(Path(path), text.encode())
