"""The panel of files: opening, creating, saving, exporting, and recovering unsaved edits."""

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
from posewright.studio.context import StudioContext
from posewright.studio.files import saving
from posewright.studio.files.drafts import Draft, DraftWriter, abandoned_drafts, draft_path, read_draft
from posewright.studio.files.listing import DraftView, draft_view, list_files, picture
from posewright.studio.files.load import (
    OpenedFile,
    SaveTarget,
    create_file,
    new_file,
    open_data,
    open_path,
    require_catalogue_robot,
    robots_with_models,
)
from posewright.studio.pages import Pages
from posewright.studio.requests import View, action
from posewright.studio.session import Panel, resolve_future

Result = TypeVar("Result")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class RecoverEdits:
    """A change that restores unsaved edits."""

    pages: Pages
    label: str = "recover unsaved edits"

    def apply(self, pages: Pages, robot: Robot) -> Pages:
        """Return the edited pages."""
        return self.pages


class FilesPanel(Panel):
    """Publishes `file`, the open file, and `drafts`, which can be recovered.

    Slow actions run on another thread and are answered later.
    """

    name = "files"

    def __init__(self, context: StudioContext, opened: OpenedFile) -> None:
        self._session = context.session
        self._workspace = context.workspace
        self._opened = opened
        self._target = opened.target
        self._draft_error = ""
        self._is_changed_on_disk = False
        self._drafts: dict[Path, DraftView] = {}
        self._unsaved_pages: Pages | None = None
        self._worker = ThreadPoolExecutor(1, "studio files")
        self._drawer = ThreadPoolExecutor(1, "studio pictures")
        self._draft_writer = DraftWriter(self._on_draft_error, self._on_file_changed)
        self._draft_path = draft_path(opened.target.path)
        self._draft_writer.begin(opened.target, self._draft_path)
        self._find_drafts()

    def update(self, before: Pages, after: Pages) -> None:
        """Write a draft of unsaved pages, or remove it."""
        document = self._session.document
        pages = document.pages if document.is_dirty else None
        if pages is self._unsaved_pages:
            self._publish()
            return
        self._unsaved_pages = pages
        if pages is None:
            self._draft_writer.schedule(None)
            return
        target = self._target
        data = self._opened.data
        self._draft_writer.schedule(lambda: Draft.of(pages, document.robot, target, data).render())

    def close(self) -> None:
        """Finish writing, and release the draft."""
        for executor in (self._worker, self._drawer):
            executor.shutdown(wait=True, cancel_futures=True)
        self._draft_writer.close()

    def _publish(self) -> None:
        """Publish the topic `file`: the open file and whether it has changed on disk."""
        file = self._opened.pages.file
        view = {
            "name": self._workspace.name_of(self._target.path),
            "folder": str(self._workspace.root),
            "format": file.format,
            "isNew": self._target.digest is None,
            "changed": self._is_changed_on_disk,
            "notes": list(file.warnings),
            "assumed": file.assumed or "",
            "failure": self._draft_error,
            "isStick": self._opened.stick is not None,
        }
        self._session.publish("file", view)

    def _run_then(self, work: Callable[[], Result], then: Callable[[Result], Answer]) -> Future[Answer]:
        """Run `work` on the worker's thread, then `then` on the session's; return the answer of `then`."""
        answer: Future[Answer] = Future()

        def finish(done: Future[Result]) -> None:
            self._session.post(lambda: resolve_future(answer, lambda: then(done.result())))

        self._worker.submit(work).add_done_callback(finish)
        return answer

    @action
    def folder(self) -> Future[list[View]]:
        """Return the files of the folder that can be opened, and the motions of a memory stick."""
        stick = self._opened.stick
        return self._worker.submit(lambda: list_files(self._workspace, stick))

    @action
    def picture(self, *, file: str, page: str | None = None) -> Future[str]:
        """Return a picture of a motion as a data URL."""
        path = self._workspace.path(file)
        return self._drawer.submit(lambda: picture(path, page))

    @action
    def robots(self) -> Future[list[View]]:
        """Return the robots that can be shown, with their poses."""

        def views() -> list[View]:
            return [
                {"name": card.name, "title": card.title, "poses": [*card.poses]}
                for card in robots_with_models()
            ]

        return self._worker.submit(views)

    @action
    def open(
        self, *, file: str, page: str | None = None, robot: str | None = None, anyway: bool = False
    ) -> View | Future[View]:
        """Open a file of the folder. With unsaved edits the answer asks first, unless `anyway`."""
        path = self._workspace.path(file)

        def read() -> OpenedFile:
            if path.is_file() and path.suffix.lower() != ".mcap":
                require_catalogue_robot(read_file_bytes(path), path)
            return open_path(path, robot, page)

        return self._ask_if_unsaved(anyway) or self._run_then(read, self.show)

    @action
    def drop(
        self, *, name: str, data: str, robot: str | None = None, anyway: bool = False
    ) -> View | Future[View]:
        """Open a file dropped on the page, in base64; it is stored in the folder when it is saved."""
        path = self._workspace.writable(Path(name).name)
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InputError(f"{name} was not transferred completely", hint="drop it again") from error

        def read() -> OpenedFile:
            require_catalogue_robot(content, path)
            return open_data(content, path, robot)

        return self._ask_if_unsaved(anyway) or self._run_then(read, self.show)

    @action
    def new(
        self, *, name: str, robot: str | None = None, pose: str | None = None, anyway: bool = False
    ) -> View | Future[View]:
        """Create a motion."""
        robot_name = robot or self._session.document.robot.name
        root = self._workspace.root
        return self._ask_if_unsaved(anyway) or self._run_then(
            lambda: create_file(root, name, robot_or_name=robot_name, pose=pose), self.show
        )

    def _ask_if_unsaved(self, anyway: bool) -> View | None:
        """Return the answer that asks about unsaved edits; None if there are none, or for `anyway`."""
        return {"unsaved": True} if self._session.document.is_dirty and not anyway else None

    def show(self, opened: OpenedFile, draft: Path | None = None) -> View:
        """Show an opened file, on the session's thread; `draft` is the path of a draft that is recovered."""
        if opened.recording is not None:
            name = self._workspace.name_of(opened.recording)
            self._session.perform("trial.open", {"file": name})
            self._session.choose(mode="trial")
            return {"opened": name}
        if opened.robot.model_path is None:
            hint = "choose another robot when you open it, for which the motion is converted"
            raise UnavailableError(f"{opened.robot.name} cannot be shown: it has no model", hint=hint)
        if self._unsaved_pages is not None:
            self._drafts[self._draft_path] = DraftView(
                self._draft_path.name, when="", file=self._target.path.name
            )
            self._publish_drafts()
        self._opened = opened
        self._target = opened.target
        self._is_changed_on_disk = False
        self._unsaved_pages = None
        path = opened.target.path
        self._draft_path = draft or draft_path(path)
        self._draft_writer.begin(opened.target, self._draft_path)
        self._session.open(opened.document(), opened.page)
        self._session.choose(mode="motion")
        self._publish()
        return {"opened": self._workspace.name_of(path)}

    @action
    def save(self, *, name: str | None = None, over: bool = False, accept_loss: bool = False) -> Future[View]:
        """Save the pages, optionally under another name.

        If there is a conflict or a loss, nothing is written and the answer describes it.
        """
        opened = self._opened
        target = self._target
        pages = self._session.document.pages
        self._workspace.path(str(target.path))  # it may now be a link that leads outside
        if name is not None:
            path = self._workspace.writable(name)
            saving.require_same_format(pages, path)
            target = target if path == target.path else SaveTarget(path, digest=None)

        def then(result: tuple[SaveTarget | None, View]) -> View:
            saved, answer = result
            if saved is not None and self._opened is opened:
                self._target = saved
                self._is_changed_on_disk = False
                self._draft_writer.set_target(saved)
                self._session.mark_saved(pages)
                self.update(pages, pages)
                self._publish()
            return answer

        return self._run_then(lambda: saving.save(pages, target, over=over, accept_loss=accept_loss), then)

    @action
    def formats(self) -> list[View]:
        """Return the formats that the motion can be exported to."""
        name = file_stem(self._session.document.pages.motion(self._session.cursor.page).name)
        views = saving.format_views(self._session.document.robot)
        return [{**view, "file": f"{name}{view['suffix']}"} for view in views]

    @action
    def preview(self, *, file: str, format: str) -> Future[View]:  # noqa: A002 - part of the protocol
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
        if path == self._target.path:
            raise InputError("this is the open file", hint="save it, or choose another name")

        def write() -> View:
            return saving.export(motion, path, format, over=over, accept_loss=accept_loss)

        return self._worker.submit(write)

    @action
    def recover(self, *, draft: str, anyway: bool = False) -> View | Future[View]:
        """Open the file of a draft, with its unsaved edits."""
        path = self._find_draft(draft)

        def then(result: tuple[OpenedFile, Draft]) -> View:
            opened, recovered = result
            pages = recovered.pages_over(opened)
            answer = self.show(opened, path)
            self._session.do(RecoverEdits(pages))
            self._remove_from_list(path)
            return {**answer, "changed": opened.target.digest != recovered.digest}

        return self._ask_if_unsaved(anyway) or self._run_then(lambda: self._read_draft(path), then)

    @action
    def discard(self, *, draft: str) -> None:
        """Remove a draft."""
        path = self._find_draft(draft)
        path.unlink(missing_ok=True)
        self._remove_from_list(path)

    def _find_draft(self, name: str) -> Path:
        for path, view in self._drafts.items():
            if path.name == name and not view.damage:
                return path
        raise InputError("there is no such draft")

    def _read_draft(self, path: Path) -> tuple[OpenedFile, Draft]:
        """Return a draft, and the file that it edits as opened."""
        draft = read_draft(path)
        current_robot = self._session.document.robot
        card = current_robot if current_robot.name == draft.robot else robot(draft.robot)
        file = path.with_name(draft.file)
        if draft.digest is not None:
            return open_path(file, card), draft
        if draft.data is not None:
            return open_data(draft.data, file, card), draft
        motions = draft.motions_of(card)
        return new_file(next(iter(motions.values())), file, card), draft

    def _remove_from_list(self, draft: Path) -> None:
        self._drafts.pop(draft, None)
        self._publish_drafts()

    def _find_drafts(self) -> None:
        """Find drafts of killed studios in the folder; damaged ones are renamed and marked."""
        folders = dict.fromkeys((self._workspace.root, self._target.path.parent))
        self._drafts = {path: draft_view(path) for folder in folders for path in abandoned_drafts(folder)}
        self._publish_drafts()

    def _publish_drafts(self) -> None:
        self._session.publish("drafts", [asdict(view) for view in self._drafts.values()])

    def _on_draft_error(self, message: str) -> None:
        def publish() -> None:
            self._draft_error = message
            self._publish()

        self._session.post(publish)

    def _on_file_changed(self, target: SaveTarget, is_changed: bool) -> None:
        """Publish from the session's thread that a file has changed on disk, unless another is open now."""

        def publish() -> None:
            if target is self._target:
                self._is_changed_on_disk = is_changed
                self._publish()

        self._session.post(publish)
