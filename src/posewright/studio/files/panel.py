"""The panel of files: open, begin, save and export; edits that were not saved are offered again."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from posewright.errors import InputError, UnavailableError
from posewright.formats import read_file_bytes
from posewright.motions import file_stem
from posewright.robots import Robot, robot
from posewright.studio.files import saving
from posewright.studio.files.drafts import Draft, DraftKeeper, abandoned_drafts, draft_path, read_draft
from posewright.studio.files.listing import DraftView, draft_view, list_files, picture
from posewright.studio.files.load import (
    Opened,
    Place,
    begin,
    new_file,
    open_data,
    open_path,
    require_catalogue_robot,
    shown_robots,
)
from posewright.studio.pages import Pages
from posewright.studio.parts import Parts
from posewright.studio.requests import View, action
from posewright.studio.session import Panel, settle

Result = TypeVar("Result")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Recover:
    """Bring edits back that were not saved."""

    pages: Pages
    label: str = "recover unsaved edits"

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the pages as they were edited."""
        return self.pages


class FilesPanel(Panel):
    """Publishes `file`, what is open, and `drafts`, what may be recovered.

    What takes long is done on a thread of its own and answered later.
    """

    name = "files"

    def __init__(self, parts: Parts, opened: Opened) -> None:
        self._session = parts.session
        self._workspace = parts.workspace
        self._opened = opened
        self._place = opened.place
        self._draft_error = ""
        self._is_changed_on_disk = False
        self._drafts: dict[Path, DraftView] = {}
        self._unsaved_pages: Pages | None = None
        self._worker = ThreadPoolExecutor(1, "studio files")
        self._drawer = ThreadPoolExecutor(1, "studio pictures")
        self._keeper = DraftKeeper(self._on_draft_error, self._on_file_changed)
        self._draft_path = draft_path(opened.place.path)
        self._keeper.begin(opened.place, self._draft_path)
        self._find_drafts()

    def changed(self, before: Pages, after: Pages) -> None:
        """Write a draft of what is not saved."""
        document = self._session.document
        pages = document.pages if document.is_dirty else None
        if pages is self._unsaved_pages:
            self._publish()
            return
        self._unsaved_pages = pages
        if pages is None:
            self._keeper.schedule(None)
            return
        place = self._place
        data = self._opened.data
        self._keeper.schedule(lambda: Draft.of(pages, document.robot, place, data).render())

    def close(self) -> None:
        """Finish what is being written, and release the draft."""
        for executor in (self._worker, self._drawer):
            executor.shutdown(wait=True, cancel_futures=True)
        self._keeper.close()

    def _publish(self) -> None:
        file = self._opened.pages.file
        view = {
            "name": self._workspace.name_of(self._place.path),
            "folder": str(self._workspace.root),
            "format": file.format,
            "isNew": self._place.digest is None,
            "changed": self._is_changed_on_disk,
            "notes": list(file.warnings),
            "assumed": file.assumed or "",
            "failure": self._draft_error,
            "isStick": self._opened.stick is not None,
        }
        self._session.publish("file", view)

    def _later(self, work: Callable[[], Result], then: Callable[[Result], Answer]) -> Future[Answer]:
        """Do `work` on the worker's thread, then `then` with its result on the session's, which answers."""
        answer: Future[Answer] = Future()

        def finish(done: Future[Result]) -> None:
            self._session.post(lambda: settle(answer, lambda: then(done.result())))

        self._worker.submit(work).add_done_callback(finish)
        return answer

    @action
    def folder(self) -> Future[list[View]]:
        """Return the files of the folder that can be opened, and the motions of a memory stick."""
        stick = self._opened.stick
        return self._worker.submit(lambda: list_files(self._workspace, stick))

    @action
    def picture(self, *, file: str, page: str | None = None) -> Future[str]:
        """Return a picture of a motion, as an address that holds it."""
        path = self._workspace.path(file)
        return self._drawer.submit(lambda: picture(path, page))

    @action
    def robots(self) -> Future[list[View]]:
        """Return the robots that can be shown, with their poses."""

        def views() -> list[View]:
            return [
                {"name": card.name, "title": card.title, "poses": [*card.poses]} for card in shown_robots()
            ]

        return self._worker.submit(views)

    @action
    def open(
        self, *, file: str, page: str | None = None, robot: str | None = None, anyway: bool = False
    ) -> View | Future[View]:
        """Open a file of the folder; unsaved edits are asked about first, unless they may go: `anyway`."""
        path = self._workspace.path(file)

        def read() -> Opened:
            if path.is_file() and path.suffix.lower() != ".mcap":
                require_catalogue_robot(read_file_bytes(path), path)
            return open_path(path, robot, page)

        return self._unsaved(anyway) or self._later(read, self.show)

    @action
    def drop(
        self, *, name: str, data: str, robot: str | None = None, anyway: bool = False
    ) -> View | Future[View]:
        """Open what was dropped on the page: base64; it is in no file of the folder until it is saved."""
        path = self._workspace.writable(Path(name).name)
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InputError(f"{name} did not arrive whole", hint="drop it again") from error

        def read() -> Opened:
            require_catalogue_robot(content, path)
            return open_data(content, path, robot)

        return self._unsaved(anyway) or self._later(read, self.show)

    @action
    def new(
        self, *, name: str, robot: str | None = None, pose: str | None = None, anyway: bool = False
    ) -> View | Future[View]:
        """Begin a motion."""
        robot_name = robot or self._session.document.robot.name
        root = self._workspace.root
        return self._unsaved(anyway) or self._later(lambda: begin(root, name, robot_name, pose), self.show)

    def _unsaved(self, anyway: bool) -> View | None:
        return {"unsaved": True} if self._session.document.is_dirty and not anyway else None

    def show(self, opened: Opened, draft: Path | None = None) -> View:
        """Go on with what was opened, on the session's thread, and with its draft if one is recovered."""
        if opened.recording is not None:
            name = self._workspace.name_of(opened.recording)
            self._session.perform("trial.open", {"file": name})
            self._session.choose(mode="trial")
            return {"opened": name}
        if opened.robot.model_path is None:
            hint = "choose another robot as you open it: the motion is then carried over"
            raise UnavailableError(f"{opened.robot.name} has no model: it cannot be shown", hint=hint)
        if self._unsaved_pages is not None:
            self._drafts[self._draft_path] = DraftView(self._draft_path.name, "", self._place.path.name)
            self._publish_drafts()
        self._opened = opened
        self._place = opened.place
        self._is_changed_on_disk = False
        self._unsaved_pages = None
        path = opened.place.path
        self._draft_path = draft or draft_path(path)
        self._keeper.begin(opened.place, self._draft_path)
        self._session.open(opened.document(), opened.page)
        self._session.choose(mode="motion")
        self._publish()
        return {"opened": self._workspace.name_of(path)}

    @action
    def save(self, *, name: str | None = None, over: bool = False, accept_loss: bool = False) -> Future[View]:
        """Save the pages, perhaps under another name; conflicts and losses are shown before it is written."""
        opened = self._opened
        place = self._place
        pages = self._session.document.pages
        self._workspace.path(str(place.path))  # a link that stands there now may lead outside
        if name is not None:
            path = self._workspace.writable(name)
            saving.require_same_format(pages, path)
            place = place if path == place.path else Place(path, None)

        def then(result: tuple[Place | None, View]) -> View:
            saved, answer = result
            if saved is not None and self._opened is opened:
                self._place = saved
                self._is_changed_on_disk = False
                self._keeper.set_place(saved)
                self._session.mark_saved(pages)
                self.changed(pages, pages)
                self._publish()
            return answer

        return self._later(lambda: saving.save(pages, place, over=over, accept_loss=accept_loss), then)

    @action
    def formats(self) -> list[View]:
        """Return the formats that the motion can be exported to."""
        name = file_stem(self._session.document.pages.motion(self._session.cursor.page).name)
        views = saving.format_views(self._session.document.robot)
        return [{**view, "file": f"{name}{view['suffix']}"} for view in views]

    @action
    def preview(self, *, file: str, format: str) -> Future[View]:  # noqa: A002 - the word people look for
        """Return what an export would lose; nothing is written."""
        motion = self._session.document.pages.motion(self._session.cursor.page)
        path = self._workspace.writable(file)
        return self._worker.submit(lambda: saving.preview(motion, path, format))

    @action
    def export(
        self,
        *,
        file: str,
        format: str,  # noqa: A002 - as above
        over: bool = False,
        accept_loss: bool = False,
    ) -> Future[View]:
        """Write the motion under the cursor in another format."""
        motion = self._session.document.pages.motion(self._session.cursor.page)
        path = self._workspace.writable(file)
        if path == self._place.path:
            raise InputError("this is the file that is open", hint="save it, or name another")

        def write() -> View:
            return saving.export(motion, path, format, over=over, accept_loss=accept_loss)

        return self._worker.submit(write)

    @action
    def recover(self, *, draft: str, anyway: bool = False) -> View | Future[View]:
        """Open the file that a draft is of, with the edits in it that were not saved."""
        path = self._draft(draft)

        def then(result: tuple[Opened, Draft]) -> View:
            opened, recovered = result
            pages = recovered.pages_over(opened)
            answer = self.show(opened, path)
            self._session.do(Recover(pages))
            self._forget(path)
            return {**answer, "changed": opened.place.digest != recovered.digest}

        return self._unsaved(anyway) or self._later(lambda: self._read_draft(path), then)

    @action
    def discard(self, *, draft: str) -> None:
        """Remove a draft."""
        path = self._draft(draft)
        path.unlink(missing_ok=True)
        self._forget(path)

    def _draft(self, name: str) -> Path:
        for path, view in self._drafts.items():
            if path.name == name and not view.damage:
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
        """Find drafts that were left in the folder; a damaged one is renamed, and shown as such."""
        folders = dict.fromkeys((self._workspace.root, self._place.path.parent))
        self._drafts = {path: draft_view(path) for folder in folders for path in abandoned_drafts(folder)}
        self._publish_drafts()

    def _publish_drafts(self) -> None:
        self._session.publish("drafts", [asdict(view) for view in self._drafts.values()])

    def _on_draft_error(self, message: str) -> None:
        def publish() -> None:
            self._draft_error = message
            self._publish()

        self._session.post(publish)

    def _on_file_changed(self, place: Place, is_changed: bool) -> None:
        def publish() -> None:
            if place is self._place:
                self._is_changed_on_disk = is_changed
                self._publish()

        self._session.post(publish)
