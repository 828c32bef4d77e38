"""Drafts: unsaved edits in a hidden file beside the edited one, and the thread that writes them.

A draft is a line with a digest, then JSON with the edited pages as native motions. The studio locks its draft
while it runs; an unlocked draft was left by a studio that was killed.
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
from typing import NamedTuple

from posewright.documents import Node, atomic_replacement, open_regular_file, read_bounded, try_lock
from posewright.errors import FormatError, InputError, PosewrightError, Where
from posewright.formats import PageLabel, origin_of
from posewright.formats.native.reader import motion_of
from posewright.formats.native.writer import tree_of
from posewright.motions import Motion
from posewright.robots import Robot, is_path
from posewright.studio.files.load import OpenedFile, SaveTarget, file_digest, file_stamp
from posewright.studio.pages import Pages

DRAFT_HEADER = b"posewright-autosave 1 "
DRAFT_SUFFIX = ".autosave"
MAX_DRAFT_BYTES = 64_000_000
NAME_LENGTH = 80
"""Characters of a file's name that are used in the name of its draft."""

CHECK_PERIOD_S = 1.0
"""Time between two checks whether the edited file has changed [s]."""

WRITE_PAUSE_S = 0.3
"""Pause of the thread after it has written a draft [s]."""


class EditedPage(NamedTuple):
    """An edited page in a draft.

    Attributes:
        page_in_file: number of the page in the edited file from which it was read; None for a new page.
        document: its motion as a native document.
    """

    page_in_file: int | None
    document: Mapping[str, object]


@dataclass(frozen=True)
class Draft:
    """Edited pages that are not saved.

    Attributes:
        file: name of the edited file, in the same folder.
        robot: name of the robot.
        digest: digest of the file's bytes when it was edited; None if there was no file.
        data: bytes of the unedited motion if there was no file.
        labels: numbers and names of all pages.
        motions: edited pages by page number.
    """

    file: str
    robot: str
    digest: str | None
    data: bytes | None
    labels: tuple[PageLabel, ...]
    motions: Mapping[int, EditedPage]

    @classmethod
    def of(cls, pages: Pages, robot: Robot, target: SaveTarget, data: bytes | None) -> Draft:
        """Return the draft of pages that are not yet saved to a target.

        Args:
            pages: the pages with their unsaved edits.
            robot: the robot of the motions.
            target: the file that they are to be saved to.
            data: bytes of the unedited motion if there is no such file yet.
        """

        def page_in_file(motion: Motion) -> int | None:
            """Return the page of the file from which a motion was read; None for a new motion."""
            origin = origin_of(motion)
            return None if origin is None or origin.format != pages.file.format else origin.page

        motions = {
            number: EditedPage(page_in_file(motion), tree_of(motion))
            for number, motion in pages.edited.items()
        }
        return cls(target.path.name, robot.name, target.digest, data, pages.labels, motions)

    def render(self) -> bytes:
        """Return the content of the draft's file: a header, the checksum of the JSON after it, and this.

        The bytes of the unedited motion are stored only if there is no file that has them.
        """
        encoded_data = None
        if self.data is not None and self.digest is None:
            encoded_data = base64.b64encode(self.data).decode()
        content = {
            "file": self.file,
            "robot": self.robot,
            "digest": self.digest,
            "data": encoded_data,
            "labels": self.labels,
            "motions": self.motions,
        }
        body = json.dumps(content).encode()
        return DRAFT_HEADER + hashlib.sha256(body).hexdigest().encode() + b"\n" + body

    def motions_of(self, robot: Robot) -> dict[int, Motion]:
        """Return the motions by page number, without their origin in a file."""
        return {number: motion_of(Node(dict(page.document)), robot) for number, page in self.motions.items()}

    def apply_to(self, opened: OpenedFile) -> Pages:
        """Return the pages of the opened file with the edits of the draft.

        Edited pages get the origin of their page in the file, so that saving changes only what was edited.

        Raises:
            InputError: the file has changed so that the edits do not fit.
        """
        file = opened.pages.file
        edited = self.motions_of(opened.robot)
        for number, page in self.motions.items():
            if page.page_in_file in opened.pages.numbers:
                edited[number] = replace(edited[number], origin=file.motion(page.page_in_file).origin)
        pages = Pages(file, self.labels, edited)
        missing_numbers = set(pages.numbers) - set(edited) - set(opened.pages.numbers)
        if missing_numbers:
            message = f"page {next(iter(missing_numbers))} is no longer in {self.file}"
            raise InputError(message, hint="the draft is not deleted")
        return pages


def read_draft(path: Path) -> Draft:
    """Read a draft.

    Raises:
        FormatError: it is damaged.
    """
    first_line, _, body = read_bounded(path, MAX_DRAFT_BYTES).partition(b"\n")
    if first_line != DRAFT_HEADER + hashlib.sha256(body).hexdigest().encode():
        raise FormatError("the draft with unsaved edits is damaged", where=Where(path))
    try:
        return _parse_draft(Node(json.loads(body)))
    except (ValueError, RecursionError, InputError) as error:
        raise FormatError("the draft with unsaved edits is invalid", where=Where(path)) from error


def _parse_draft(node: Node) -> Draft:
    """Return the draft in plain data; for invalid data raise an error that `read_draft` catches."""
    entries = node.fields(required=("file", "robot", "digest", "data", "labels", "motions"), optional=())
    file, robot = entries["file"].text(), entries["robot"].text()
    if Path(file).name != file or not file or is_path(robot):
        raise ValueError("a draft belongs to a file in its folder and to a robot of the catalogue")
    labels = tuple(map(_parse_label, entries["labels"].items()))
    numbers = {str(label.number) for label in labels}
    motions = entries["motions"].fields(optional=numbers)
    if not labels:
        raise ValueError("a draft has pages")
    data = None if entries["data"].value is None else base64.b64decode(entries["data"].text())
    digest = None if entries["digest"].value is None else entries["digest"].text()
    edited_pages = {int(number): _parse_page(entry) for number, entry in motions.items()}
    return Draft(file, robot, digest, data, labels, edited_pages)


def _parse_pair(node: Node) -> tuple[Node, Node]:
    items = node.items()
    if len(items) != 2:
        node.fail(f"expected a list of 2, found {len(items)}")
    return items[0], items[1]


def _parse_label(node: Node) -> PageLabel:
    number, name = _parse_pair(node)
    return PageLabel(number.integer(), name.text())


def _parse_page(node: Node) -> EditedPage:
    page_in_file, document = _parse_pair(node)
    number = None if page_in_file.value is None else page_in_file.integer()
    document.fields()  # it is a mapping
    return EditedPage(number, document.value)


def draft_path(path: Path, suffix: str = DRAFT_SUFFIX) -> Path:
    """Return a new path for a draft of a file, with the suffix of its kind of drafts."""
    return path.with_name(f".{path.name[:NAME_LENGTH]}.{secrets.token_hex(4)}{suffix}")


def abandoned_drafts(folder: Path, suffix: str = DRAFT_SUFFIX) -> Iterator[Path]:
    """Yield the drafts in a folder that no running studio has locked, newest first.

    Args:
        folder: the folder.
        suffix: the suffix of the kind of drafts.
    """

    def modification_time(path: Path) -> float:
        try:
            return path.stat().st_mtime
        except OSError:  # another studio has just removed it
            return 0.0

    for path in sorted(folder.glob(f".*{suffix}"), key=modification_time, reverse=True):
        try:
            with open_regular_file(path) as file:
                is_unlocked = try_lock(file.fileno())
        except OSError:
            continue
        if is_unlocked:
            yield path


class DraftFile:
    """The file of a draft, which is locked until `release`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock_handle: int | None = None  # descriptor whose lock marks the draft as in use

    def write(self, data: bytes) -> None:
        """Replace the content, and lock the new file; raise OutputError if that is not possible.

        The new file is locked as soon as `atomic_replacement` creates it. That closes its own descriptor at
        the end; a duplicate of it keeps the lock until `release`.
        """
        with atomic_replacement(self.path) as (_, handle):
            with os.fdopen(handle, "wb", closefd=False) as file:
                file.write(data)
                file.flush()
                os.fsync(handle)
            lock_handle = os.dup(handle)  # keeps the lock
        self.release()
        self._lock_handle = lock_handle

    def remove(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        """Unlock the file."""
        if self._lock_handle is not None:
            os.close(self._lock_handle)
            self._lock_handle = None


Render = Callable[[], bytes]
"""Returns the content of a draft; rendering is slow, so the writer's thread does it."""


class DraftWriter:
    """A thread that writes unsaved pages to a draft, and checks whether another program changed their file.

    Both callbacks run on this thread.

    Args:
        on_write: called after each draft with the reason why it could not be written, "" if it was.
        on_file_change: called with the target and True when its file has changed, False when it is as before.
    """

    def __init__(
        self, on_write: Callable[[str], None], on_file_change: Callable[[SaveTarget, bool], None]
    ) -> None:
        """Start the thread.

        Args:
            on_write: called after each draft with the reason why it could not be written, "" if it was.
            on_file_change: called with the target (path and digest of the file the pages are saved to), and
                with True when another program has changed that file, False when it is as before.
        """
        self._on_write = on_write
        self._on_file_change = on_file_change
        self._lock = threading.Lock()
        self._drafts: list[DraftFile] = []  # the last is that of the open file
        # None for a draft that is to be removed
        self._render_by_pending_draft: dict[DraftFile, Render | None] = {}
        self._target: SaveTarget | None = None
        # of the file when it was last compared, from `file_stamp`; None to compare it in any case
        self._last_stamp: tuple[int, ...] | None = None
        self._has_file_changed = False
        self._wake = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="studio drafts", daemon=True)
        self._thread.start()

    def begin(self, target: SaveTarget, draft: Path) -> None:
        """Switch to another file; the draft of the previous one is not removed."""
        with self._lock:
            self._drafts.append(DraftFile(draft))
            self._target = target
            self._last_stamp = None
            self._has_file_changed = False

    def set_target(self, target: SaveTarget) -> None:
        """Change the file that the pages are saved to."""
        with self._lock:
            self._target = target
            self._last_stamp = None
            self._has_file_changed = False

    def schedule(self, render: Render | None) -> None:
        """Write the draft soon, only the latest one; None removes it."""
        with self._lock:
            self._render_by_pending_draft[self._drafts[-1]] = render
        self._wake.set()

    def close(self) -> None:
        """Write the pending draft, and stop the thread."""
        self._is_over.set()
        self._wake.set()
        self._thread.join(timeout=10.0)
        self._write_pending()
        for draft in self._drafts:
            draft.release()

    def _run(self) -> None:
        """Write pending drafts and check the edited file for changes, until closed."""
        while not self._is_over.is_set():
            self._wake.wait(timeout=CHECK_PERIOD_S)
            self._wake.clear()
            self._write_pending()
            self._check_file()
            self._is_over.wait(WRITE_PAUSE_S)

    def _write_pending(self) -> None:
        """Write or remove pending drafts, and unlock those of previous files."""
        with self._lock:
            render_by_draft = self._render_by_pending_draft
            self._render_by_pending_draft = {}
            previous_drafts = self._drafts[:-1]
            self._drafts = self._drafts[-1:]  # that of the open file
        for draft, render in render_by_draft.items():
            try:
                if render is None:
                    draft.remove()
                else:
                    draft.write(render())
            except (PosewrightError, OSError) as error:
                self._on_write(f"the draft with unsaved edits cannot be written: {error}")
            else:
                self._on_write("")  # no error: an earlier message disappears
        for draft in previous_drafts:
            draft.release()

    def _check_file(self) -> None:
        """Compare the file's content with that read or written last, if its time or size has changed."""
        with self._lock:
            target = self._target
            last_stamp = self._last_stamp
            was_changed = self._has_file_changed
        if target is None:
            return
        stamp = file_stamp(target.path)
        if stamp == last_stamp:
            return
        has_changed = file_digest(target.path) != target.digest
        with self._lock:
            if self._target is not target:  # another file was opened or saved meanwhile
                return
            self._last_stamp = stamp
            self._has_file_changed = has_changed
        if has_changed != was_changed:
            self._on_file_change(target, has_changed)
