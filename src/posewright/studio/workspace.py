"""The workspace: the one folder whose files the studio may read and write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from posewright.documents import require_ending
from posewright.errors import InputError, escape_unprintable

MAX_DEPTH = 5
"""Levels of folders that are searched for files."""

MAX_FILES = 2000
"""Files that are listed at most."""


class Workspace:
    """The folder that the studio has access to.

    Attributes:
        root: its absolute path; windows name files relative to it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def path(self, name: str) -> Path:
        """Return the path of a file in the folder.

        Raises:
            InputError: the file is outside the folder, links followed, or its name is not possible.
        """
        try:
            path = (self.root / name).resolve()
            path.lstat()
        except FileNotFoundError:
            pass
        except (OSError, ValueError, RuntimeError) as error:  # a NUL, too long, a cycle of links
            raise InputError(f"{escape_unprintable(name)[:80]!r} is not a possible file name here") from error
        if not path.is_relative_to(self.root):
            raise InputError(f"{name} is outside {self.root}", hint="open that folder in a studio of its own")
        return path

    def writable(self, name: str) -> Path:
        """Return the path of a file that may be written: any in the folder that is not hidden.

        Raises:
            InputError: the file is hidden or outside the folder.
        """
        path = self.path(name)
        if not name or any(part.startswith(".") for part in path.relative_to(self.root).parts):
            raise InputError("the studio does not write hidden files", hint="begin the name with a letter")
        return path

    def new(self, name: str, suffix: str, *, overwrite: bool = False) -> Path:
        """Return the path of a new file with a suffix.

        Args:
            name: name of the file, relative to the folder.
            suffix: suffix that the name must have.
            overwrite: whether the file may exist already; the caller then overwrites it.

        Raises:
            InputError: the name has another suffix, or the file exists.
        """
        path = self.writable(name)
        require_ending(Path(name), (suffix,), "this document")
        if path.exists() and not overwrite:
            raise InputError(f"{name} exists already", hint="choose another name")
        return path

    def name_of(self, path: Path) -> str:
        """Return the name that windows use for a path in the folder."""
        inside = path if path.is_relative_to(self.root) else path.resolve()
        return inside.relative_to(self.root).as_posix()

    def files(self) -> Iterator[str]:
        """Yield the names of the files, sorted within each folder, without hidden files and links.

        At most `MAX_FILES` files are listed, in folders of at most `MAX_DEPTH` levels.
        """
        n_files = 0
        for folder, subfolders, file_names in os.walk(self.root):
            depth = len(Path(folder).relative_to(self.root).parts)
            visible = sorted(name for name in subfolders if not name.startswith("."))
            subfolders[:] = visible if depth < MAX_DEPTH else []  # `os.walk` enters those left in this list
            for name in sorted(file_names):
                path = Path(folder, name)
                if not name.startswith(".") and not path.is_symlink() and path.is_file():
                    n_files += 1
                    yield path.relative_to(self.root).as_posix()
                if n_files == MAX_FILES:
                    return
