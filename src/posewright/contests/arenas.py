"""Every arena that ships: those of their own, and those that lie beside the rules of a contest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from posewright import arenas
from posewright.arenas import Arena, read_arena
from posewright.documents import Catalogue


def _folders() -> Iterator[Path]:
    yield Path(arenas.__file__).parent
    yield from sorted(path for path in Path(__file__).parent.iterdir() if path.is_dir())


_ALL = Catalogue("arena", ".arena.yaml", _folders)


def all_arena_names() -> tuple[str, ...]:
    """Return the names of the arenas that ship, those of contests included."""
    return _ALL.names()


def find_arena(name: str | Path) -> Arena:
    """Return the arena that ships under a name, or the one that a document has.

    Raises:
        UnknownNameError: there is neither.
        DocumentError: it is no arena document.
    """
    return read_arena(_ALL.find(name))
