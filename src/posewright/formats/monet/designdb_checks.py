"""Checks of a DESIGNDB.CFG: that its lines say something, and that what they name is on the stick."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from posewright.formats.monet.designdb import MOTIONS, SOUNDS, DesignDb
from posewright.formats.monet.finding import MonetFinding, quoted, warning
from posewright.formats.monet.search import STICK, on_stick, plain_absolute, stick_root
from posewright.formats.text_lines import show
from posewright.motions import Level


def nobodys(folder: Path, db: DesignDb) -> MonetFinding:
    """Return what is to be said of a folder of MONET files that no section speaks of."""
    return MonetFinding(
        Level.WARNING,
        "path",
        f"no section is of the robot whose files lie in {plain_absolute(folder).name}: it finds no archive",
        db.path,
        hint=f"sections are {', '.join(db.models)}",
    )


def check_designdb(db: DesignDb, here: Collection[str]) -> Iterator[MonetFinding]:
    """Look at the lines of a DESIGNDB.CFG, and whether what they name is on the stick."""
    root = None if db.path is None else stick_root(db.path)
    for line in db.odd:
        hint = f"right is [ERS-7], or {MOTIONS} /{STICK}/OPEN-R/..."
        yield warning("words", line, f"neither a section, nor a key and a path: {show(line.text)}", hint)
    for entry in db.entries:
        if not entry.path.upper().startswith(f"/{STICK}/"):
            message = f"{quoted(entry.path)} is not on the memory stick"
            yield warning("path", entry.line, message, f"paths begin with /{STICK}/, which is the stick")
        elif root is not None and on_stick(root, entry.path) is None:
            is_ours = not entry.model or entry.model in here
            level = Level.ERROR if is_ours and entry.key in (MOTIONS, SOUNDS) else Level.NOTE
            message = f"there is no {entry.path} on the stick"
            hint = f"/{STICK} is {root}"
            yield MonetFinding(level, "path", message, db.path, entry.line.number, hint)
