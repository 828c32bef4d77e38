"""The viewer: plays a motion file in the browser, and reloads it whenever it changes."""

from __future__ import annotations

import threading
from pathlib import Path

from posewright.errors import PosewrightError
from posewright.formats import MotionFile, read_motion_file, retarget_file_to_robot
from posewright.motions import robot_of_motion
from posewright.robots import Robot
from posewright.studio.context import StudioContext
from posewright.studio.document import Document
from posewright.studio.files.load import file_stamp
from posewright.studio.known_addresses import start_server
from posewright.studio.pages import Pages
from posewright.studio.requests import action
from posewright.studio.server import LOOPBACK
from posewright.studio.session import Panel
from posewright.studio.studio import Studio, assemble

CHECK_PERIOD_S = 0.25
"""Time between two checks whether the file has changed [s]."""


def open_view(
    path: Path | str,
    robot: Robot | str | None = None,
    *,
    page: str | None = None,
    host: str = LOOPBACK,
    port: int = 0,
    address_file: Path | None = None,
) -> Studio:
    """Open a motion file in a viewer, which never writes it.

    Args:
        path: the file.
        robot: the robot that plays it; a motion of another robot is converted.
        page: name or number of the page to show first.
        host: as for `Server`.
        port: as for `Server`.
        address_file: file with the addresses of earlier views, as for `start_server`.

    Raises:
        FormatError: the file cannot be read.
        InputError: there is no such page, the robot has no model, or the port is in use.
        MissingExtraError: the extra `studio` is not installed.
    """
    path = Path(path)
    file = _read_for_robot(path, robot)
    page_number = file.page_number(page)
    server = start_server(host, port, shown_path=path, address_file=address_file, page="view.html")
    document = _build_document(file, page_number, robot)
    return assemble(
        document,
        page_number,
        server,
        folder=path.resolve().parent,
        panels=lambda context: [ViewedFilePanel(context, path, robot)],
    )


class ViewedFilePanel(Panel):
    """Reloads the file when it changes; publishes `file`, with a message while it cannot be read."""

    name = "file"

    def __init__(self, context: StudioContext, path: Path, robot: Robot | str | None) -> None:
        """Start the thread that watches the file."""
        self._session = context.session
        self._scene = context.scene
        self._player = context.player
        self._path = path
        self._robot = robot
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch_file, name="studio view", daemon=True)
        self._thread.start()

    def update(self, before: Pages, after: Pages) -> None:
        """Publish the file's name."""
        if "file" not in self._session.topics:
            self._publish("")

    def close(self) -> None:
        """Stop watching the file."""
        self._is_over.set()
        self._thread.join(timeout=10.0)

    @action
    def show(self, *, is_dark: bool) -> None:
        """Show the 3-D view in dark or light colours."""
        self._scene.set_dark(is_dark)

    def _publish(self, message: str) -> None:
        """Publish the file's name, and why it cannot be read; an empty message if it can."""
        self._session.publish("file", {"name": self._path.name, "message": message})

    def _watch_file(self) -> None:
        """Reload the file whenever it changes on disk, until the panel is closed."""
        last_stamp = file_stamp(self._path)
        while not self._is_over.wait(CHECK_PERIOD_S):
            stamp = file_stamp(self._path)
            if stamp != last_stamp:
                last_stamp = stamp
                self._reload()

    def _reload(self) -> None:
        """Show the changed file; if it cannot be read, keep the previous one and publish a message."""
        try:
            file = _read_for_robot(self._path, self._robot)
            document = _build_document(file, file.page_number(), self._robot)
        except PosewrightError as error:
            message = f"The changed file cannot be read: {error.message}"
            self._session.post(lambda: self._publish(message))
        else:
            self._session.post(lambda: self._show_document(document))

    def _show_document(self, document: Document) -> None:
        """Show a newly read document at the present page and time."""
        page = self._session.cursor.page
        numbers = document.pages.numbers
        time_s = self._player.time_s
        self._session.open(document, page if page in numbers else numbers[0])
        self._player.seek(time_s=time_s)
        self._publish("")


def _read_for_robot(path: Path, robot: Robot | str | None) -> MotionFile:
    """Read a motion file, and convert it for a robot; None for the file's own robot."""
    return retarget_file_to_robot(read_motion_file(path, robot=robot), robot)


def _build_document(file: MotionFile, page: int, robot: Robot | str | None) -> Document:
    """Return the document of a file with the stated robot, or for None that of the page."""
    return Document(Pages.of(file), robot_of_motion(file.motion(page), robot))
