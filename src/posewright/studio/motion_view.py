"""The view: a motion file played in the browser, read again whenever it changes."""

from __future__ import annotations

import threading
from pathlib import Path

from posewright.errors import PosewrightError
from posewright.formats import MotionFile, carry_file_to_robot, read_motion_file
from posewright.motions import robot_of_motion
from posewright.robots import Robot
from posewright.studio.document import Document
from posewright.studio.files.load import mark_of
from posewright.studio.pages import Pages
from posewright.studio.parts import Parts
from posewright.studio.requests import action
from posewright.studio.server import LOOPBACK, Server
from posewright.studio.session import Panel
from posewright.studio.studio import Studio, assemble

LOOK_EVERY_S = 0.25
"""So often it is looked whether the file is another [s]."""


def open_view(
    path: Path | str,
    robot: Robot | str | None = None,
    *,
    page: str | None = None,
    host: str = LOOPBACK,
    port: int = 0,
) -> Studio:
    """Open a motion file to look at: it is never written.

    Args:
        path: the file.
        robot: who plays it; another robot's motion is carried over.
        page: name or number of the page that is shown first.
        host: as for `Server`.
        port: as for `Server`.

    Raises:
        FormatError: the file cannot be read.
        InputError: there is no such page, the robot has no model, or the port is taken.
        MissingExtraError: the extra `studio` is not installed.
    """
    path = Path(path)
    file = _read(path, robot)
    first = file.page_number(page)
    server = Server(host, port, page="view.html")
    document = _document(file, first, robot)
    return assemble(
        document,
        first,
        server,
        path.resolve().parent,
        panels=lambda parts: [ViewedFilePanel(parts, path, robot)],
    )


class ViewedFilePanel(Panel):
    """Reads the file again when it is another; publishes `file`, with a message while it cannot be read."""

    name = "file"

    def __init__(self, parts: Parts, path: Path, robot: Robot | str | None) -> None:
        self._session = parts.session
        self._scene = parts.scene
        self._player = parts.player
        self._path = path
        self._robot = robot
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look, name="studio view", daemon=True)
        self._thread.start()

    def changed(self, before: Pages, after: Pages) -> None:
        """Publish the file's name."""
        if "file" not in self._session.topics:
            self._publish("")

    def close(self) -> None:
        """Stop to look at the file."""
        self._is_over.set()
        self._thread.join(timeout=10.0)

    @action
    def show(self, *, is_dark: bool) -> None:
        """Show the 3-D view in dark or light colours."""
        self._scene.set_dark(is_dark)

    def _publish(self, message: str) -> None:
        self._session.publish("file", {"name": self._path.name, "message": message})

    def _look(self) -> None:
        last_mark = mark_of(self._path)
        while not self._is_over.wait(LOOK_EVERY_S):
            mark = mark_of(self._path)
            if mark != last_mark:
                last_mark = mark
                self._read_again()

    def _read_again(self) -> None:
        """Show the file as it is now; the last one that could be read stays where this one cannot."""
        try:
            file = _read(self._path, self._robot)
            document = _document(file, file.page_number(), self._robot)
        except PosewrightError as error:
            message = f"The file cannot be read as it is now: {error.message}"
            self._session.post(lambda: self._publish(message))
        else:
            self._session.post(lambda: self._open(document))

    def _open(self, document: Document) -> None:
        page = self._session.cursor.page
        numbers = document.pages.numbers
        time_s = self._player.time_s
        self._session.open(document, page if page in numbers else numbers[0])
        self._player.seek(time_s=time_s)
        self._publish("")


def _read(path: Path, robot: Robot | str | None) -> MotionFile:
    return carry_file_to_robot(read_motion_file(path, robot=robot), robot)


def _document(file: MotionFile, page: int, robot: Robot | str | None) -> Document:
    return Document(Pages.of(file), robot_of_motion(file.motion(page), robot))
