"""Files that a sequence loads: found beside it, and not without end."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from posewright.errors import FormatError
from posewright.formats.file_bytes import read_file_bytes
from posewright.formats.text_lines import Line, show

MAX_DEPTH = 8
"""Files that load files that load files."""

MAX_SETTINGS = 200_000
"""What all files together may set; a full line by line file of `MAX_LINES` lines sets 50,000."""


@dataclass
class Budget:
    """How many more settings may be read, over all files."""

    left: int = MAX_SETTINGS

    def spend(self, count: int, line: Line) -> None:
        """Count settings, or fail at the line that sets one too many."""
        self.left -= count
        if self.left < 0:
            line.fail(
                f"more than {MAX_SETTINGS:,} values", hint="no honest motion has as many, loads included"
            )


@dataclass(frozen=True)
class Loading:
    """The files being read at the moment, each loaded by the one before it."""

    chain: tuple[Path, ...] = ()
    budget: Budget = field(default_factory=Budget)

    def open(self, word: bytes, line: Line) -> tuple[bytes, Path, Loading]:
        """Return the bytes and the path of a file that a line loads, and the loading to read it with.

        Raises:
            FormatError: it is missing, no ordinary file, too large, or is being read already; with the line.
        """
        path = (self.chain[-1].parent if self.chain else Path()) / os.fsdecode(word)
        if len(self.chain) > MAX_DEPTH:
            line.fail(f"files load files {MAX_DEPTH} deep", hint="no honest motion does")
        if path.absolute() in (known.absolute() for known in self.chain) or _same(path, self.chain):
            line.fail(f"{show(word)} is being read already", hint="a file does not load itself")
        try:
            data = read_file_bytes(path)
        except FormatError as error:
            line.fail(f"{show(word)} cannot be loaded: {error}", hint="it is looked for beside the file")
        return data, path, Loading((*self.chain, path), self.budget)


def _same(path: Path, chain: tuple[Path, ...]) -> bool:
    """Tell whether a path leads to one of the files of a chain by another name."""
    try:
        return any(path.samefile(known) for known in chain)
    except (OSError, ValueError):
        return False  # one of them is not there: reading says so
