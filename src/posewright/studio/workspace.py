"""The workspace: the one folder whose files the studio may read and write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from posewright.errors import InputError, escape_unprintable

DEEPEST = 5
MOST_FILES = 2000
"""So far down it is looked for files, and so many are listed."""


class Workspace:
    """A folder, and nothing outside it.

    Attributes:
        root: the folder; windows name files relative to it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def path(self, name: str) -> Path:
        """Return the path of a file of the folder; an `InputError` where it lies outside, links followed."""
        try:
            path = (self.root / name).resolve()
            path.lstat()
        except FileNotFoundError:
            pass
        except (OSError, ValueError, RuntimeError) as error:  # a NUL, too long, a circle of links
            raise InputError(f"no file here can be called {escape_unprintable(name)[:80]!r}") from error
        if not path.is_relative_to(self.root):
            raise InputError(f"{name} is outside {self.root}", hint="open that folder in a studio of its own")
        return path

    def writable(self, name: str) -> Path:
        """Return the path of a file that may be written; hidden ones are not, which programs go by."""
        path = self.path(name)
        if not name or any(part.startswith(".") for part in path.relative_to(self.root).parts):
            raise InputError("hidden files are not written", hint="a name that begins with a letter")
        return path

    def new(self, name: str, ending: str, *, over: bool = False) -> Path:
        """Return the path of a file that is to be written, and is not there yet or may be written `over`."""
        path = self.writable(name)
        if not name.endswith(ending):
            raise InputError(f"{name} is no name for it", hint=f"one that ends in {ending}")
        if path.exists() and not over:
            raise InputError(f"{name} is there already", hint="another name")
        return path

    def name_of(self, path: Path) -> str:
        """Return how windows call a path of the folder."""
        inside = path if path.is_relative_to(self.root) else path.resolve()
        return inside.relative_to(self.root).as_posix()

    def files(self) -> Iterator[str]:
        """Yield the names of its files, in order; hidden ones and what links lead to are left out."""
        count = 0
        for place, folders, names in os.walk(self.root):
            depth = len(Path(place).relative_to(self.root).parts)
            folders[:] = sorted(name for name in folders if name[0] != ".") if depth < DEEPEST else []
            for name in sorted(names):
                path = Path(place, name)
                if name[0] != "." and not path.is_symlink() and path.is_file():
                    count += 1
                    yield path.relative_to(self.root).as_posix()
                if count == MOST_FILES:
                    return
