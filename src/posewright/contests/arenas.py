"""All arenas that ship: the general ones, and those in the folders of contests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from posewright import arenas
from posewright.arenas import Arena, read_arena
from posewright.documents import Catalogue


def _arena_folders() -> Iterator[Path]:
    yield Path(arenas.__file__).parent
    yield from sorted(path for path in Path(__file__).parent.iterdir() if path.is_dir())


_CATALOGUE = Catalogue("arena", ".arena.yaml", _arena_folders)


def all_arena_names() -> tuple[str, ...]:
    """Return the names of the arenas that ship, including those of contests."""
    return _CATALOGUE.names()


def find_arena(name: str | Path) -> Arena:
    """Return an arena that ships, by its name, or the arena in a document, by its path.

    Raises:
        UnknownNameError: no arena has that name, and there is no such file.
        DocumentError: the file is not an arena document.
    """
    return read_arena(_CATALOGUE.find(name))
