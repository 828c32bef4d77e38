"""The panel of files: open, begin, save, export; what was not saved is offered again."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from posewright.errors import InputError, UnavailableError
from posewright.formats import read_file_bytes
from posewright.motions import file_stem
from posewright.robots import Robot, robot
from posewright.studio.files import drafts, listing, saving
from posewright.studio.files.drafts import Draft, read_draft
from posewright.studio.files.keeper import Keeper
from posewright.studio.files.reading import (
    Opened,
    Place,
    begin,
    new_file,
    open_data,
    open_path,
    refuse_strangers,
    shown_robots,
)
from posewright.studio.pages import Pages
from posewright.studio.requests import action
from posewright.studio.session import Panel, settle

if TYPE_CHECKING:
    from posewright.studio.opening import Parts

Told = dict[str, Any]


@dataclass(frozen=True)
class Recover:
    """Bring edits back that were not saved."""

    pages: Pages
    label: str = "recover unsaved edits"

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages as they were edited."""
        return self.pages


class Files(Panel):
    """Publishes `file`, what is open, and `drafts`, what may be recovered.

    What takes long is done on a thread of its own and answered later.
    """

    name = "files"

    def __init__(self, parts: Parts, opened: Opened) -> None:
        self._session, self._workspace = parts.session, parts.workspace
        self._opened, self._place = opened, opened.place
        self._failure, self._is_changed = "", False
        self._drafts: dict[Path, Told] = {}
        self._kept: Pages | None = None
        self._working = ThreadPoolExecutor(1, "studio files")
        self._drawing = ThreadPoolExecutor(1, "studio pictures")
        self._keeper = Keeper(self._keeping_failed, self._changed_on_disk)
        self._draft_path = drafts.draft_path(opened.place.path)
        self._keeper.begin(opened.place, self._draft_path)
        self._find_drafts()

    def changed(self, before: Pages, after: Pages) -> None:
        """Keep what is not saved."""
        document = self._session.document
        pages = document.pages if document.is_dirty else None
        if pages is self._kept:
            self._publish()
            return
        self._kept = pages
        if pages is None:
            self._keeper.keep(None)
            return
        place, data = self._place, self._opened.data
        self._keeper.keep(lambda: Draft.of(pages, document.robot, place, data).render())

    def close(self) -> None:
        """Finish what is being written, and let the draft go."""
        for pool in (self._working, self._drawing):
            pool.shutdown(wait=True, cancel_futures=True)
        self._keeper.close()

    def _publish(self) -> None:
        file, place = self._opened.pages.file, self._place
        told: Told = {"name": self._workspace.name_of(place.path), "folder": str(self._workspace.root)}
        told |= {"format": file.format, "isNew": place.digest is None, "changed": self._is_changed}
        told |= {"notes": list(file.warnings), "assumed": file.assumed or "", "failure": self._failure}
        self._session.publish("file", {**told, "isStick": self._opened.stick is not None})

    def _later(self, work: Callable[[], Any], then: Callable[[Any], Any] = lambda told: told) -> Future[Any]:
        """Do `work` on the other thread, then `then` with its result on the session's, which answers."""
        answer: Future[Any] = Future()

        def finish(done: Future[Any]) -> None:
            self._session.post(lambda: settle(answer, lambda: then(done.result())))

        self._working.submit(work).add_done_callback(finish)
        return answer

    @action
    def folder(self) -> Future[Any]:
        """Return the files of the folder that can be opened, and the motions of a memory stick."""
        stick = self._opened.stick
        return self._later(lambda: listing.listed(self._workspace, stick))

    @action
    def picture(self, *, file: str, page: str | None = None) -> Future[str]:
        """Return a picture of a motion, as an address that holds it."""
        path = self._workspace.path(file)
        return self._drawing.submit(lambda: listing.picture(path, page))

    @action
    def robots(self) -> Future[Any]:
        """Return the robots that can be shown, with their poses."""

        def view(card: Robot) -> Told:
            return {"name": card.name, "title": card.title, "poses": [*card.poses]}

        return self._later(lambda: [view(card) for card in shown_robots()])

    @action
    def open(
        self, *, file: str, page: str | None = None, robot: str | None = None, anyway: bool = False
    ) -> Any:
        """Open a file of the folder; what is not saved is asked about first, unless it is to go `anyway`."""
        path = self._workspace.path(file)

        def read() -> Opened:
            if path.is_file() and path.suffix.lower() != ".mcap":
                refuse_strangers(read_file_bytes(path), path)
            return open_path(path, robot, page)

        return self._unsaved(anyway) or self._later(read, self.show)

    @action
    def drop(self, *, name: str, data: str, robot: str | None = None, anyway: bool = False) -> Any:
        """Open what was dropped on the page: base64; it is in no file of the folder until it is saved."""
        path = self._workspace.writable(Path(name).name)
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InputError(f"{name} did not arrive whole", hint="drop it again") from error

        def read() -> Opened:
            refuse_strangers(content, path)
            return open_data(content, path, robot)

        return self._unsaved(anyway) or self._later(read, self.show)

    @action
    def new(
        self, *, name: str, robot: str | None = None, pose: str | None = None, anyway: bool = False
    ) -> Any:
        """Begin a motion."""
        asked = robot or self._session.document.robot.name
        root = self._workspace.root
        return self._unsaved(anyway) or self._later(lambda: begin(root, name, asked, pose), self.show)

    def _unsaved(self, anyway: bool) -> Told | None:
        return {"unsaved": True} if self._session.document.is_dirty and not anyway else None

    def show(self, opened: Opened, draft: Path | None = None) -> Told:
        """Go on with what was opened, on the session's thread, and with its draft if one is recovered."""
        if opened.recording is not None:
            told = {"file": self._workspace.name_of(opened.recording)}
            self._session.perform("trial.open", told)
            self._session.choose(mode="trial")
            return {"opened": told["file"]}
        if opened.robot.model_path is None:
            hint = "choose another robot as you open it: the motion is then carried over"
            raise UnavailableError(f"{opened.robot.name} has no model: it cannot be shown", hint=hint)
        if self._kept is not None:
            told = {"id": self._draft_path.name, "when": "", "file": self._place.path.name, "damage": ""}
            self._drafts[self._draft_path] = told
            self._publish_drafts()
        self._opened, self._place, self._is_changed, self._kept = opened, opened.place, False, None
        path = opened.place.path
        self._draft_path = draft or drafts.draft_path(path)
        self._keeper.begin(opened.place, self._draft_path)
        self._session.open(opened.document(), opened.page)
        self._session.choose(mode="motion")
        self._publish()
        return {"opened": self._workspace.name_of(path)}

    @action
    def save(self, *, name: str | None = None, over: bool = False, accept_loss: bool = False) -> Future[Told]:
        """Save the pages, perhaps under another name; conflicts and losses are told before it is written."""
        opened, place, pages = self._opened, self._place, self._session.document.pages
        self._workspace.path(str(place.path))  # a link that stands there now may lead outside
        if name is not None:
            path = self._workspace.writable(name)
            saving.refuse_another_format(pages, path)
            place = place if path == place.path else Place(path, None)

        def then(result: tuple[Place | None, Told]) -> Told:
            saved, told = result
            if saved is not None and self._opened is opened:
                self._place, self._is_changed = saved, False
                self._keeper.is_at(saved)
                self._session.mark_saved(pages)
                self.changed(pages, pages)
                self._publish()
            return told

        return self._later(lambda: saving.save(pages, place, over=over, accept_loss=accept_loss), then)

    @action
    def formats(self) -> list[Told]:
        """Return the formats that the motion can be exported to."""
        name = file_stem(self._session.document.pages.motion(self._session.cursor.page).name)
        views = saving.format_views(self._session.document.robot)
        return [{**view, "file": f"{name}{view['suffix']}"} for view in views]

    @action
    def preview(self, *, file: str, format: str) -> Future[Told]:  # noqa: A002 - the word people look for
        """Return what an export would lose; nothing is written."""
        motion = self._session.document.pages.motion(self._session.cursor.page)
        path = self._workspace.writable(file)
        return self._later(lambda: saving.preview(motion, path, format))

    @action
    def export(
        self,
        *,
        file: str,
        format: str,  # noqa: A002 - as above
        over: bool = False,
        accept_loss: bool = False,
    ) -> Future[Told]:
        """Write the motion under the cursor in another format."""
        motion = self._session.document.pages.motion(self._session.cursor.page)
        path = self._workspace.writable(file)
        if path == self._place.path:
            raise InputError("this is the file that is open", hint="save it, or name another")

        def write() -> Told:
            return saving.export(motion, path, format, over=over, accept_loss=accept_loss)

        return self._later(write)

    @action
    def recover(self, *, draft: str, anyway: bool = False) -> Any:
        """Open the file that a draft is of, with the edits in it that were not saved."""
        path = self._draft(draft)

        def then(result: tuple[Opened, Draft]) -> Told:
            opened, kept = result
            pages = kept.pages_over(opened)
            told = self.show(opened, path)
            self._session.do(Recover(pages))
            self._forget(path)
            return {**told, "changed": opened.place.digest != kept.digest}

        return self._unsaved(anyway) or self._later(lambda: self._read_draft(path), then)

    @action
    def discard(self, *, draft: str) -> None:
        """Remove a draft."""
        path = self._draft(draft)
        path.unlink(missing_ok=True)
        self._forget(path)

    def _draft(self, name: str) -> Path:
        for path, told in self._drafts.items():
            if path.name == name and not told["damage"]:
                return path
        raise InputError("there is no such draft")

    def _read_draft(self, path: Path) -> tuple[Opened, Draft]:
        draft = read_draft(path)
        own = self._session.document.robot
        card = own if own.name == draft.robot else robot(draft.robot)
        file = path.with_name(draft.file)
        if draft.digest is not None:
            return open_path(file, card), draft
        if draft.data is not None:
            return open_data(draft.data, file, card), draft
        motions = draft.motions_of(card)
        return new_file(next(iter(motions.values())), file, card), draft

    def _forget(self, draft: Path) -> None:
        self._drafts.pop(draft, None)
        self._publish_drafts()

    def _find_drafts(self) -> None:
        """Find what was left unsaved in the folder; a damaged draft is put aside and told of."""
        folders = dict.fromkeys((self._workspace.root, self._place.path.parent))
        found = (draft for folder in folders for draft in drafts.left_in(folder))
        self._drafts = {path: listing.draft_view(path) for path in found}
        self._publish_drafts()

    def _publish_drafts(self) -> None:
        self._session.publish("drafts", list(self._drafts.values()))

    def _keeping_failed(self, why: str) -> None:
        def tell() -> None:
            self._failure = why
            self._publish()

        self._session.post(tell)

    def _changed_on_disk(self, place: Place, is_changed: bool) -> None:
        def tell() -> None:
            if place is self._place:
                self._is_changed = is_changed
                self._publish()

        self._session.post(tell)
