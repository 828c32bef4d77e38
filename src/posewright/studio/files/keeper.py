"""The keeper: a thread that keeps unsaved pages in a draft, and looks whether their file is another."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from posewright.errors import PosewrightError
from posewright.studio.files.drafts import DraftFile
from posewright.studio.files.reading import Place, digest_of, mark_of

LOOK_EVERY_S, REST_S = 1.0, 0.3
"""So often it looks at the file; between two drafts it rests."""

Render = Callable[[], bytes]


class Keeper:
    """Keeps one draft.

    Args:
        failed: called on its thread with why a draft could not be written, or with "" once it could.
        changed: called on its thread when the file has become another than it was, or that again.
    """

    def __init__(self, failed: Callable[[str], None], changed: Callable[[Place, bool], None]) -> None:
        self._failed, self._changed = failed, changed
        self._lock = threading.Lock()
        self._drafts: list[DraftFile] = []
        self._todo: dict[DraftFile, Render | None] = {}
        self._place: Place | None = None
        self._seen: tuple[object, bool] = (None, False)
        self._woken, self._is_over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="studio keeper", daemon=True)
        self._thread.start()

    def begin(self, place: Place, draft: Path) -> None:
        """Go on with another file; what was kept of the one before stays where it is."""
        with self._lock:
            self._drafts.append(DraftFile(draft))
            self._place, self._seen = place, (None, False)

    def is_at(self, place: Place) -> None:
        """Say where the pages are saved now."""
        with self._lock:
            self._place, self._seen = place, (None, False)

    def keep(self, render: Render | None) -> None:
        """Write a draft soon, of several the last; None removes it: everything is saved."""
        with self._lock:
            self._todo[self._drafts[-1]] = render
        self._woken.set()

    def close(self) -> None:
        """Write what is still to be kept, and stop."""
        self._is_over.set()
        self._woken.set()
        self._thread.join(timeout=10.0)
        self._write()
        for draft in self._drafts:
            draft.let_go()

    def _run(self) -> None:
        while not self._is_over.is_set():
            self._woken.wait(timeout=LOOK_EVERY_S)
            self._woken.clear()
            self._write()
            self._look()
            self._is_over.wait(REST_S)

    def _write(self) -> None:
        """Write or remove what is to be; nobody waits for it."""
        with self._lock:
            todo, self._todo = self._todo, {}
            left, self._drafts = self._drafts[:-1], self._drafts[-1:]
        for draft, render in todo.items():
            try:
                draft.remove() if render is None else draft.write(render())
            except (PosewrightError, OSError) as error:
                self._failed(f"unsaved edits cannot be kept beside the file: {error}")
            else:
                self._failed("")
        for draft in left:
            draft.let_go()

    def _look(self) -> None:
        """Compare the file with what it was, if it was touched at all."""
        with self._lock:
            place, (mark, was_changed) = self._place, self._seen
        if place is None or (now := mark_of(place.path)) == mark:
            return
        is_changed = digest_of(place.path) != place.digest
        with self._lock:
            if self._place is not place:
                return
            self._seen = now, is_changed
        if is_changed != was_changed:
            self._changed(place, is_changed)
