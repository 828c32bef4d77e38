"""The panel of files: opening, creating, saving, exporting, and recovering unsaved edits."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from posewright.errors import InputError, UnavailableError, UnknownNameError
from posewright.formats import read_file_bytes
from posewright.motions import file_stem
from posewright.robots import robot
from posewright.studio.context import StudioContext
from posewright.studio.files import saving
from posewright.studio.files.drafts import Draft, DraftWriter, abandoned_drafts, draft_path, read_draft
from posewright.studio.files.listing import DraftView, draft_view, list_files, list_shipped, picture
from posewright.studio.files.load import (
    OpenedFile,
    SaveTarget,
    create_file,
    new_file,
    open_data,
    open_path,
    open_shipped,
    require_catalogue_robot,
    robots_with_models,
    shipped_motions,
)
from posewright.studio.pages import Pages
from posewright.studio.requests import View, action
from posewright.studio.session import Panel, resolve_future

Result = TypeVar("Result")
Answer = TypeVar("Answer")


class FilesPanel(Panel):
    """Publishes `file`, the open file, and `drafts`, which can be recovered.

    Slow actions run on another thread and are answered later.
    """

    name = "files"

    def __init__(self, context: StudioContext, opened: OpenedFile) -> None:
        """Start the threads for slow actions and drafts, and publish the drafts that can be recovered."""
        self._session = context.session
        self._workspace = context.workspace
        self._opened = opened
        self._target = opened.target
        self._draft_error = ""
        self._is_changed_on_disk = False
        self._drafts: dict[Path, DraftView] = {}
        self._unsaved_pages: Pages | None = None
        self._file_executor = ThreadPoolExecutor(1, "studio files")
        self._picture_executor = ThreadPoolExecutor(1, "studio pictures")
        self._draft_writer = DraftWriter(self._on_draft_error, self._on_file_changed)
        self._draft_path = draft_path(opened.target.path)
        self._draft_writer.begin(opened.target, self._draft_path)
        self._find_drafts()

    def update(self, before: Pages, after: Pages) -> None:
        """Write a draft of unsaved pages, or remove it."""
        document = self._session.document
        pages = document.pages if document.is_dirty else None
        if pages is self._unsaved_pages:  # the draft is up to date
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
        for executor in (self._file_executor, self._picture_executor):
            executor.shutdown(wait=True, cancel_futures=True)
        self._draft_writer.close()

    @property
    def folder_path(self) -> Path:
        """The folder of the open file, to which its sounds are relative."""
        return self._target.path.parent

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
            "assumed": file.assumed_robot or "",
            "failure": self._draft_error,
            "isStick": self._opened.stick is not None,
        }
        self._session.publish("file", view)

    def _run_and_answer(
        self, work: Callable[[], Result], on_result: Callable[[Result], Answer]
    ) -> Future[Answer]:
        """Start slow work on the thread for files, and return a future of the answer to the window.

        Args:
            work: the work; its error becomes that of the future.
            on_result: called on the session's thread with the result of `work`; returns the answer.
        """
        answer: Future[Answer] = Future()

        def post_result(finished: Future[Result]) -> None:
            self._session.post(lambda: resolve_future(answer, lambda: on_result(finished.result())))

        self._file_executor.submit(work).add_done_callback(post_result)
        return answer

    @action
    def folder(self) -> Future[list[View]]:
        """Return the files of the folder that can be opened, and the motions of a memory stick."""
        stick = self._opened.stick
        return self._file_executor.submit(lambda: list_files(self._workspace, stick))

    @action
    def shipped(self) -> Future[list[View]]:
        """Return the shipped motions, which `open_shipped` opens."""
        return self._file_executor.submit(lambda: list(list_shipped()))

    @action
    def picture(self, *, file: str, page: str | None = None, shipped: bool = False) -> Future[str]:
        """Return a picture of a motion as a data URL.

        Args:
            file: name of the file, or `robot/motion` of a shipped motion.
            page: name or number of the page; None for the first.
            shipped: whether it is a shipped motion.
        """
        if shipped:
            paths = shipped_motions()
            if file not in paths:
                raise UnknownNameError.among("shipped motion", file, paths)
            path = paths[file]
        else:
            path = self._workspace.path(file)
        return self._picture_executor.submit(lambda: picture(path, page))

    @action
    def robots(self) -> Future[list[View]]:
        """Return the robots that can be shown, with their poses."""

        def views() -> list[View]:
            return [
                {"name": known.name, "title": known.title, "poses": [*known.poses]}
                for known in robots_with_models()
            ]

        return self._file_executor.submit(views)

    @action
    def open(
        self, *, file: str, page: str | None = None, robot: str | None = None, anyway: bool = False
    ) -> View | Future[View]:
        """Open a file of the folder, and return what was opened.

        Args:
            file: name of the file.
            page: name or number of the page to show first.
            robot: name of the robot, if the motion is to be converted for another one.
            anyway: whether to leave unsaved edits. Without it, nothing is opened if there are some, and the
                answer says so.
        """
        path = self._workspace.path(file)

        def read() -> OpenedFile:
            if path.is_file() and path.suffix.lower() != ".mcap":
                require_catalogue_robot(read_file_bytes(path), path)
            return open_path(path, robot, page)

        return self._ask_if_unsaved(anyway) or self._run_and_answer(read, self.show)

    @action
    def open_shipped(
        self, *, name: str, robot: str | None = None, anyway: bool = False
    ) -> View | Future[View]:
        """Open a copy of a shipped motion; it is stored in the folder when it is saved.

        Args:
            name: `robot/motion`.
            robot: name of the robot, if the motion is to be converted for another one.
            anyway: whether to leave unsaved edits, which stay in a draft; without it, the answer asks.
        """
        root = self._workspace.root
        return self._ask_if_unsaved(anyway) or self._run_and_answer(
            lambda: open_shipped(name, root, robot), self.show
        )

    @action
    def drop(
        self, *, name: str, data: str, robot: str | None = None, anyway: bool = False
    ) -> View | Future[View]:
        """Open a file dropped on the page; it is stored in the folder when it is saved.

        Args:
            name: name of the file.
            data: its content in base64.
            robot: name of the robot, if the motion is to be converted for another one.
            anyway: whether to leave unsaved edits, which stay in a draft; without it, the answer asks.
        """
        path = self._workspace.writable(Path(name).name)
        try:
            content = base64.b64decode(data, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InputError(f"{name} was not transferred completely", hint="drop it again") from error

        def read() -> OpenedFile:
            require_catalogue_robot(content, path)
            return open_data(content, path, robot)

        return self._ask_if_unsaved(anyway) or self._run_and_answer(read, self.show)

    @action
    def new(
        self, *, name: str, robot: str | None = None, pose: str | None = None, anyway: bool = False
    ) -> View | Future[View]:
        """Create a motion.

        Args:
            name: name of the motion.
            robot: name of the robot; None for the present one.
            pose: name of the robot's pose that it begins with.
            anyway: whether to leave unsaved edits, which stay in a draft; without it, the answer asks.
        """
        robot_name = robot or self._session.document.robot.name
        root = self._workspace.root
        return self._ask_if_unsaved(anyway) or self._run_and_answer(
            lambda: create_file(root, name, robot_or_name=robot_name, pose=pose), self.show
        )

    def _ask_if_unsaved(self, anyway: bool) -> View | None:
        """Return the answer that asks about unsaved edits; None if there are none, or for `anyway`."""
        return {"unsaved": True} if self._session.document.is_dirty and not anyway else None

    def show(self, opened: OpenedFile, draft: Path | None = None, edited_pages: Pages | None = None) -> View:
        """Show an opened file, and return the answer to the window; on the session's thread.

        A recording is shown by the trial panel. Unsaved edits of the previous file stay in its draft, which
        can then be recovered.

        Args:
            opened: the opened file.
            draft: path of the draft that is recovered; None to begin a new one.
            edited_pages: the unsaved pages of that draft, which cannot be undone; None for those of the file.
        """
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
        self._session.open(opened.document(edited_pages), opened.page)
        self._session.choose(mode="motion")
        self._publish()
        return {"opened": self._workspace.name_of(path)}

    @action
    def save(
        self,
        *,
        name: str | None = None,
        over: bool = False,
        accept_loss: bool = False,
        accept_faults: bool = False,
    ) -> Future[View]:
        """Save the pages, optionally under another name.

        If there is a conflict, a loss or a fault, nothing is written and the answer describes it.

        Args:
            name: name of the file; None for the present one.
            over: whether to overwrite a file that exists or was changed meanwhile.
            accept_loss: whether to write even if the format cannot store everything.
            accept_faults: whether to write a robot's file even if `motion check` reports errors.
        """
        opened = self._opened
        target = self._target
        pages = self._session.document.pages
        self._workspace.path(str(target.path))  # it may now be a link that leads outside
        if name is not None:
            path = self._workspace.writable(name)
            saving.require_same_format(pages, path)
            target = target if path == target.path else SaveTarget(path, digest=None)

        def mark_as_saved(result: tuple[SaveTarget | None, View]) -> View:
            written_target, answer = result
            is_still_open = self._opened is opened
            if written_target is not None and is_still_open:
                self._target = written_target
                self._is_changed_on_disk = False
                self._draft_writer.set_target(written_target)
                self._session.mark_saved(pages)
                self.update(pages, pages)
                self._publish()
            return answer

        def write() -> tuple[SaveTarget | None, View]:
            return saving.save(
                pages, target, overwrite=over, accept_loss=accept_loss, accept_faults=accept_faults
            )

        return self._run_and_answer(write, mark_as_saved)

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
        return self._file_executor.submit(lambda: saving.preview(motion, path, format))

    @action
    def export(
        self,
        *,
        file: str,
        format: str,  # noqa: A002 - as above
        over: bool = False,
        accept_loss: bool = False,
        accept_faults: bool = False,
    ) -> Future[View]:
        """Write the motion under the cursor in another format, in the background.

        Args:
            file: name of the file.
            format: name of the format.
            over: whether to overwrite an existing file.
            accept_loss: whether to write even if the format cannot store everything.
            accept_faults: whether to write a robot's file even if `motion check` reports errors.
        """
        motion = self._session.document.pages.motion(self._session.cursor.page)
        path = self._workspace.writable(file)
        if path == self._target.path:
            raise InputError("this is the open file", hint="save it, or choose another name")

        def export_motion() -> View:
            return saving.export(
                motion,
                path,
                format,
                overwrite=over,
                accept_loss=accept_loss,
                accept_faults=accept_faults,
            )

        return self._file_executor.submit(export_motion)

    @action
    def recover(self, *, draft: str, anyway: bool = False) -> View | Future[View]:
        """Open the file of a draft with its unsaved edits, which can be saved but not undone.

        The answer says whether the file has changed since it was edited.

        Args:
            draft: name of the draft's file.
            anyway: whether to leave unsaved edits, which stay in a draft; without it, the answer asks.
        """
        path = self._find_draft(draft)

        def show_edits(result: tuple[OpenedFile, Draft]) -> View:
            opened, recovered = result
            pages = recovered.apply_to(opened)
            answer = self.show(opened, path, pages)
            self._remove_from_list(path)
            return {**answer, "changed": opened.target.digest != recovered.digest}

        return self._ask_if_unsaved(anyway) or self._run_and_answer(
            lambda: self._read_draft(path), show_edits
        )

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
        """Return a draft, and the file that it edits as opened: from disk, from the draft's data, or new."""
        draft = read_draft(path)
        current_robot = self._session.document.robot
        draft_robot = current_robot if current_robot.name == draft.robot else robot(draft.robot)
        file = path.with_name(draft.file)
        if draft.digest is not None:
            return open_path(file, draft_robot), draft
        if draft.data is not None:
            return open_data(draft.data, file, draft_robot), draft
        motions = draft.motions_of(draft_robot)
        return new_file(next(iter(motions.values())), file, draft_robot), draft

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
        def publish_error() -> None:
            self._draft_error = message
            self._publish()

        self._session.post(publish_error)

    def _on_file_changed(self, target: SaveTarget, is_changed: bool) -> None:
        """Publish that the open file has changed on disk, or is as before; called on the drafts' thread.

        Nothing is published if another file has been opened or saved by the time the session's thread runs.
        """

        def publish_if_current() -> None:
            if target is self._target:
                self._is_changed_on_disk = is_changed
                self._publish()

        self._session.post(publish_if_current)
