"""Drafts: what was edited and not saved, kept in a hidden file beside the real one.

A draft is a line with a digest, then JSON: which pages differ, as trees of native motions. Its writer
holds it by a lock as long as it lives, so that a draft nobody holds is one of a studio that was killed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from posewright.documents import Node, open_ordinary, read_bounded, replacing, try_lock
from posewright.errors import FormatError, InputError, Where
from posewright.formats import PageLabel, origin_of
from posewright.formats.native.reader import motion_of
from posewright.formats.native.writer import tree_of
from posewright.motions import Motion
from posewright.robots import Robot, is_path
from posewright.studio.files.reading import Opened, Place
from posewright.studio.pages import Pages

MARK = b"posewright-autosave 1 "
ENDING = ".autosave"
MOST_BYTES = 64_000_000
_SHOWN = 80
"""So much of a file's name stands in that of its draft."""


@dataclass(frozen=True)
class Draft:
    """Pages that were edited and not saved.

    Attributes:
        file: the name of the file beside it.
        digest: of that file's bytes when they were edited; None where there was none.
        data: what the file would be without the edits, where there was none.
        motions: by number of page, the number that it had in the file, if it had one, and its tree.
    """

    file: str
    robot: str
    digest: str | None
    data: bytes | None
    labels: tuple[PageLabel, ...]
    motions: Mapping[int, tuple[int | None, Mapping[str, Any]]]

    @classmethod
    def of(cls, pages: Pages, robot: Robot, place: Place, data: bytes | None) -> Draft:
        """Return the draft of pages that are to be saved at a place."""

        def page_in_file(motion: Motion) -> int | None:
            origin = origin_of(motion)
            return None if origin is None or origin.format != pages.file.format else origin.page

        motions = {number: (page_in_file(motion), tree_of(motion)) for number, motion in pages.edited.items()}
        return cls(place.path.name, robot.name, place.digest, data, pages.labels, motions)

    def render(self) -> bytes:
        """Return the bytes of its file."""
        data = None if self.data is None or self.digest is not None else base64.b64encode(self.data).decode()
        told = {"file": self.file, "robot": self.robot, "digest": self.digest, "data": data}
        body = json.dumps({**told, "labels": self.labels, "motions": self.motions}).encode()
        return MARK + hashlib.sha256(body).hexdigest().encode() + b"\n" + body

    def motions_of(self, robot: Robot) -> dict[int, Motion]:
        """Return its motions by number of page, as of no file."""
        return {number: motion_of(Node(dict(tree)), robot) for number, (_, tree) in self.motions.items()}

    def pages_over(self, opened: Opened) -> Pages:
        """Return the pages of its file with its own edits.

        Raises:
            InputError: the file is another now, so that the edits do not fit.
        """
        file, edited = opened.pages.file, self.motions_of(opened.robot)
        for number, (page, _) in self.motions.items():
            if page in opened.pages.numbers:
                edited[number] = replace(edited[number], origin=file.motion(page).origin)
        pages = Pages(file, self.labels, edited)
        for number in set(pages.numbers) - set(edited) - set(opened.pages.numbers):
            what = f"page {number} is not in {self.file} any more"
            raise InputError(what, hint="the draft is kept")
        return pages


def read_draft(path: Path) -> Draft:
    """Read a draft.

    Raises:
        FormatError: it is damaged.
    """
    head, _, body = read_bounded(path, MOST_BYTES).partition(b"\n")
    if head != MARK + hashlib.sha256(body).hexdigest().encode():
        raise FormatError("what was kept of unsaved edits is damaged", where=Where(path))
    try:
        return _draft_of(body)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise FormatError("what was kept of unsaved edits is none of ours", where=Where(path)) from error


def _draft_of(body: bytes) -> Draft:
    """Return the draft in these bytes; whatever Python says of what is none, a ValueError of a bad name."""
    told = json.loads(body)
    if Path(told["file"]).name != told["file"] or not told["file"] or is_path(told["robot"]):
        raise ValueError("a draft is of a file beside it, and of a robot of the catalogue")
    if not told["labels"] or not told["motions"].keys() <= {str(number) for number, _ in told["labels"]}:
        raise ValueError("a draft has pages")
    data = None if told["data"] is None else base64.b64decode(told["data"])
    labels = tuple(PageLabel(number, name) for number, name in told["labels"])
    motions = {int(number): (page, tree) for number, (page, tree) in told["motions"].items()}
    return Draft(told["file"], told["robot"], told["digest"], data, labels, motions)


def draft_path(path: Path) -> Path:
    """Return a new path for a draft of a file."""
    return path.with_name(f".{path.name[:_SHOWN]}.{secrets.token_hex(4)}{ENDING}")


def left_in(folder: Path) -> Iterator[Path]:
    """Yield the drafts in a folder that no living studio holds, the newest first."""
    for path in sorted(folder.glob(f".*{ENDING}"), key=_written, reverse=True):
        try:
            with open_ordinary(path) as file:
                is_left = try_lock(file.fileno())
        except OSError:
            continue
        if is_left:
            yield path


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


class DraftFile:
    """The file of a draft, held by a lock until it is let go of."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held = -1

    def write(self, data: bytes) -> None:
        """Write it anew; an `OutputError` where that cannot be."""
        with replacing(self.path) as (_, handle):
            with os.fdopen(handle, "wb", closefd=False) as file:
                file.write(data)
                file.flush()
                os.fsync(handle)
            held = os.dup(handle)  # the lock lives on in it
        self.let_go()
        self._held = held

    def remove(self) -> None:
        """Remove it."""
        self.path.unlink(missing_ok=True)
        self.let_go()

    def let_go(self) -> None:
        """Leave it to whoever opens the file next."""
        if self._held >= 0:
            os.close(self._held)
            self._held = -1
