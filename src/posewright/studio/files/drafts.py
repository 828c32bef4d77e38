"""Drafts: edits that are not saved, in a hidden file beside the real one, and the thread that writes them.

A draft is a line with a digest, then JSON: which pages differ, as trees of native motions. Its writer
locks it as long as it runs, so that an unlocked draft is one of a studio that was killed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from posewright.documents import Node, atomic_replacement, open_regular_file, read_bounded, try_lock
from posewright.errors import FormatError, InputError, PosewrightError, Where
from posewright.formats import PageLabel, origin_of
from posewright.formats.native.reader import motion_of
from posewright.formats.native.writer import tree_of
from posewright.motions import Motion
from posewright.robots import Robot, is_path
from posewright.studio.files.load import Opened, Place, digest_of, mark_of
from posewright.studio.pages import Pages

MARK = b"posewright-autosave 1 "
ENDING = ".autosave"
MOST_BYTES = 64_000_000
NAME_LENGTH = 80
"""So much of a file's name stands in that of its draft."""

LOOK_EVERY_S = 1.0
REST_S = 0.3
"""How often the file is looked at, and how long the thread rests between two drafts."""


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
    motions: Mapping[int, tuple[int | None, Mapping[str, object]]]

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
        content = {
            "file": self.file,
            "robot": self.robot,
            "digest": self.digest,
            "data": data,
            "labels": self.labels,
            "motions": self.motions,
        }
        body = json.dumps(content).encode()
        return MARK + hashlib.sha256(body).hexdigest().encode() + b"\n" + body

    def motions_of(self, robot: Robot) -> dict[int, Motion]:
        """Return its motions by number of page, as of no file."""
        return {number: motion_of(Node(dict(tree)), robot) for number, (_, tree) in self.motions.items()}

    def pages_over(self, opened: Opened) -> Pages:
        """Return the pages of its file with its own edits.

        Raises:
            InputError: the file is another now, so that the edits do not fit.
        """
        file = opened.pages.file
        edited = self.motions_of(opened.robot)
        for number, (page, _) in self.motions.items():
            if page in opened.pages.numbers:
                edited[number] = replace(edited[number], origin=file.motion(page).origin)
        pages = Pages(file, self.labels, edited)
        for number in set(pages.numbers) - set(edited) - set(opened.pages.numbers):
            message = f"page {number} is not in {self.file} any more"
            raise InputError(message, hint="the draft is kept")
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
    """Return the draft in these bytes; raise an error that `read_draft` catches where they are none."""
    content = json.loads(body)
    if Path(content["file"]).name != content["file"] or not content["file"] or is_path(content["robot"]):
        raise ValueError("a draft is of a file beside it, and of a robot of the catalogue")
    numbers = {str(number) for number, _ in content["labels"]}
    if not numbers or not content["motions"].keys() <= numbers:
        raise ValueError("a draft has pages")
    return Draft(
        file=content["file"],
        robot=content["robot"],
        digest=content["digest"],
        data=None if content["data"] is None else base64.b64decode(content["data"]),
        labels=tuple(PageLabel(number, name) for number, name in content["labels"]),
        motions={int(number): (page, tree) for number, (page, tree) in content["motions"].items()},
    )


def draft_path(path: Path) -> Path:
    """Return a new path for a draft of a file."""
    return path.with_name(f".{path.name[:NAME_LENGTH]}.{secrets.token_hex(4)}{ENDING}")


def abandoned_drafts(folder: Path) -> Iterator[Path]:
    """Yield the drafts in a folder whose lock no running studio has, the newest first."""

    def written_at(path: Path) -> float:
        try:
            return path.stat().st_mtime
        except OSError:
            return 0.0

    for path in sorted(folder.glob(f".*{ENDING}"), key=written_at, reverse=True):
        try:
            with open_regular_file(path) as file:
                is_unlocked = try_lock(file.fileno())
        except OSError:
            continue
        if is_unlocked:
            yield path


class DraftFile:
    """The file of a draft, locked until it is released."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock_handle = -1

    def write(self, data: bytes) -> None:
        """Write it anew; an `OutputError` where that cannot be."""
        with atomic_replacement(self.path) as (_, handle):
            with os.fdopen(handle, "wb", closefd=False) as file:
                file.write(data)
                file.flush()
                os.fsync(handle)
            lock_handle = os.dup(handle)  # the lock lives on in it
        self.release()
        self._lock_handle = lock_handle

    def remove(self) -> None:
        """Remove it."""
        self.path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        """Unlock the file."""
        if self._lock_handle >= 0:
            os.close(self._lock_handle)
            self._lock_handle = -1


Render = Callable[[], bytes]


class DraftKeeper:
    """A thread that writes unsaved pages into a draft, and checks whether their file has changed.

    Args:
        failed: called on its thread with why a draft could not be written, or with "" once it could.
        changed: called on its thread when the file has become another than it was, or that again.
    """

    def __init__(self, failed: Callable[[str], None], changed: Callable[[Place, bool], None]) -> None:
        self._failed = failed
        self._changed = changed
        self._lock = threading.Lock()
        self._drafts: list[DraftFile] = []
        self._pending: dict[DraftFile, Render | None] = {}
        self._place: Place | None = None
        self._checked: tuple[tuple[int, ...] | None, bool] = (
            None,
            False,
        )  # the file's mark, and if it differs
        self._wake = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="studio drafts", daemon=True)
        self._thread.start()

    def begin(self, place: Place, draft: Path) -> None:
        """Go on with another file; the draft of the one before stays where it is."""
        with self._lock:
            self._drafts.append(DraftFile(draft))
            self._place = place
            self._checked = (None, False)

    def set_place(self, place: Place) -> None:
        """Set where the pages are saved now."""
        with self._lock:
            self._place = place
            self._checked = (None, False)

    def schedule(self, render: Render | None) -> None:
        """Write a draft soon, of several the last; None removes it, as everything is saved."""
        with self._lock:
            self._pending[self._drafts[-1]] = render
        self._wake.set()

    def close(self) -> None:
        """Write the drafts that are pending, and stop."""
        self._is_over.set()
        self._wake.set()
        self._thread.join(timeout=10.0)
        self._write()
        for draft in self._drafts:
            draft.release()

    def _run(self) -> None:
        while not self._is_over.is_set():
            self._wake.wait(timeout=LOOK_EVERY_S)
            self._wake.clear()
            self._write()
            self._check_file()
            self._is_over.wait(REST_S)

    def _write(self) -> None:
        """Write or remove the drafts that are pending, and release those of files before the current one."""
        with self._lock:
            pending = self._pending
            self._pending = {}
            finished = self._drafts[:-1]
            self._drafts = self._drafts[-1:]
        for draft, render in pending.items():
            try:
                draft.remove() if render is None else draft.write(render())
            except (PosewrightError, OSError) as error:
                self._failed(f"unsaved edits cannot be kept beside the file: {error}")
            else:
                self._failed("")
        for draft in finished:
            draft.release()

    def _check_file(self) -> None:
        """Compare the file with what it was, if it was touched at all."""
        with self._lock:
            place = self._place
            last_mark, was_changed = self._checked
        if place is None:
            return
        mark = mark_of(place.path)
        if mark == last_mark:
            return
        is_changed = digest_of(place.path) != place.digest
        with self._lock:
            if self._place is not place:
                return
            self._checked = (mark, is_changed)
        if is_changed != was_changed:
            self._changed(place, is_changed)
