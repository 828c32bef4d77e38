"""Looking for MONET files: on memory sticks, whose file names have no fixed case, and among given files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.formats.monet.limits import POSTURE_FILE

OPEN_R = "OPEN-R"
STICK = "MS"
"""The first part of a path as the robot sees it: the memory stick."""

DESIGNDB, COMMANDS, TRANSITIONS = "DESIGNDB.CFG", "MONETCMD.CFG", "MONET.CFG"
ARCHIVE = ".ODA"

MAX_FILES = 20_000
"""A memory stick holds a few hundred files."""


@dataclass
class Found:
    """The files that were found, by what their names say; and those given by name, which content tells."""

    designdbs: list[Path] = field(default_factory=list)
    commands: list[Path] = field(default_factory=list)
    transitions: list[Path] = field(default_factory=list)
    archives: list[Path] = field(default_factory=list)
    given: list[Path] = field(default_factory=list)

    def add(self, path: Path) -> None:
        """Keep a file of a searched folder, if it is one of those looked for."""
        name = path.name.upper()
        lists = {DESIGNDB: self.designdbs, COMMANDS: self.commands, TRANSITIONS: self.transitions}
        if name in lists:
            lists[name].append(path)
        elif name.endswith(ARCHIVE):
            self.archives.append(path)


def search(paths: Iterable[Path]) -> Found:
    """Look through folders; files are kept as they are given.

    Raises:
        FormatError: there is no such file or folder, or a folder holds far more than a memory stick.
    """
    found = Found()
    for path in paths:
        if path.is_dir():
            for file in _files_in(path):
                found.add(file)
        elif path.exists():
            found.given.append(path)
        else:
            raise FormatError("there is no such file or folder", where=Where(path=path))
    return found


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and all below it, in a fixed order; links to folders are not followed."""
    count = 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        count += len(names)
        if count > MAX_FILES:
            raise FormatError(
                f"more than {MAX_FILES:,} files",
                where=Where(path=folder),
                hint="name the memory stick, or its OPEN-R folder",
            )
        yield from (Path(place) / name for name in sorted(names))


def stick_root(path: Path) -> Path | None:
    """Return the folder that the robot calls `/MS`: the one that holds the OPEN-R folder a path lies in."""
    for given in (Path(os.path.normpath(path)), plain_absolute(path)):
        for folder in (given, *given.parents):
            if folder.name.upper() == OPEN_R:
                return folder.parent
    return None


def plain_absolute(path: Path) -> Path:
    """Return a path from the root of the file system, without `..` in it; links stay as they are."""
    return Path(os.path.normpath(path.absolute()))


def stick_in(folder: Path) -> Path:
    """Return the memory stick that a person means by a folder: it, one around it, or `MS` in it.

    Raises:
        FormatError: there is no OPEN-R folder there.
    """
    for candidate in (folder, child(folder, STICK)):
        if candidate is not None and child(candidate, OPEN_R) is not None:
            return candidate
    root = stick_root(folder) if folder.is_dir() else None
    if root is not None:
        return root
    raise FormatError(
        "no memory stick: there is no OPEN-R folder here" if folder.is_dir() else "there is no such folder",
        where=Where(path=folder),
        hint="name the folder that holds OPEN-R, as on the stick",
    )


def child(folder: Path, name: str) -> Path | None:
    """Return what a folder holds under a name, as a memory stick does: whatever the case."""
    try:
        held = sorted(folder.iterdir())
    except OSError:
        return None
    exact = folder / name
    return exact if exact in held else next((one for one in held if one.name.upper() == name.upper()), None)


def on_stick(root: Path, path: str) -> Path | None:
    """Return the file that the robot calls `path`; None where there is none, or it leads off the stick."""
    first, *parts = [part for part in path.split("/") if part] or [""]
    if not path.startswith("/") or first.upper() != STICK or not parts or ".." in parts:
        return None
    place: Path | None = root
    for part in parts:
        place = child(place, part) if place is not None else None
    return place if place is not None and place.is_file() else None


def has_posture_file(folder: Path) -> bool:
    """Tell whether a POSTURE.CFG lies in a folder, as an older MoNet has it."""
    return child(folder, POSTURE_FILE) is not None
