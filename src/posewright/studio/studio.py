"""Opens the studio: a file in a session, with its panels, behind a server."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from posewright.documents import is_folder
from posewright.errors import PosewrightError
from posewright.robots import Robot
from posewright.studio.context import StudioContext
from posewright.studio.curves_panel import CurvesPanel
from posewright.studio.document import Document
from posewright.studio.files.load import open_path
from posewright.studio.files.panel import FilesPanel
from posewright.studio.findings_panel import FindingsPanel
from posewright.studio.gait_panel import GaitPanel
from posewright.studio.known_addresses import start_server
from posewright.studio.motion_panel import MotionPanel
from posewright.studio.player import Player
from posewright.studio.posing_panel import PosingPanel
from posewright.studio.scene_view import SceneView
from posewright.studio.server import LOOPBACK, Server
from posewright.studio.session import Cursor, Panel, Session
from posewright.studio.teach_panel import TeachPanel
from posewright.studio.timeline_panel import TimelinePanel
from posewright.studio.trial_panel import TrialPanel
from posewright.studio.workspace import Workspace

THREAD_SWITCH_S = 0.001
"""Switch interval of Python's threads [s]: short, so that checks and simulations do not delay a drag."""


@dataclass(frozen=True)
class Studio:
    """A running studio; `close` ends it."""

    context: StudioContext
    server: Server

    @property
    def session(self) -> Session:
        """Its session."""
        return self.context.session

    @property
    def url(self) -> str:
        """The URL that opens it, with the token."""
        return self.server.url

    def close(self) -> None:
        """Stop the session, then the server."""
        self.session.close()
        self.server.close()


def open_studio(
    path: Path | str | None = None,
    robot: Robot | str | None = None,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    body: str = "sim",
    address_file: Path | None = None,
) -> Studio:
    """Open a file in the studio.

    Args:
        path: a motion file, a recording, or a folder such as a memory stick. The studio reads and writes only
            in that folder, or in the folder of the file. The name of a shipped motion opens a copy in the
            working folder. Default: the working folder.
        robot: the robot, if the file does not name it.
        host: as for `Server`.
        port: as for `Server`.
        body: body for teaching and playing, as for `run_trial`.
        address_file: file with the addresses of earlier studios, as for `start_server`.

    Raises:
        FormatError: the file cannot be read.
        InputError: the robot has no model, or the port is in use.
        MissingExtraError: the extra `studio` is not installed.
    """
    path = Path() if path is None else Path(path)
    opened_file = open_path(path, robot)

    def panels(context: StudioContext) -> list[Panel]:
        return [
            PosingPanel(context),
            TimelinePanel(context),
            CurvesPanel(context),
            FindingsPanel(context),
            GaitPanel(context),
            TrialPanel(context),
            TeachPanel(context),
            FilesPanel(context, opened_file),
        ]

    if is_folder(path):
        folder = path
    elif opened_file.data is not None:  # a shipped motion
        folder = opened_file.target.path.parent
    else:
        folder = path.resolve().parent
    studio = assemble(
        opened_file.document(),
        opened_file.page,
        server=start_server(host, port, shown_path=path, address_file=address_file),
        folder=folder,
        panels=panels,
        body=body,
    )
    if opened_file.recording is not None:
        # the trial panel shows it, by the same action as when a window opens a recording
        session = studio.session
        arguments = {"file": path.resolve().name}
        try:
            answer = session.do_and_wait(lambda: session.perform("files.open", arguments))
            if isinstance(answer, Future):
                answer.result()
        except PosewrightError:
            studio.close()
            raise
    return studio


def assemble(
    document: Document,
    page: int,
    server: Server,
    folder: Path,
    *,
    panels: Callable[[StudioContext], Iterable[Panel]],
    body: str = "sim",
) -> Studio:
    """Start a session with panels for a document, and connect it to the server.

    Sets the switch interval of this process's threads. On an error, session and server are closed.

    Args:
        document: the document to edit.
        page: number of the page to show first.
        server: the server that windows connect to.
        folder: the workspace.
        panels: returns the panels besides those for the motion and the player.
        body: body for teaching and playing, as for `run_trial`.
    """
    sys.setswitchinterval(THREAD_SWITCH_S)
    with ExitStack() as close_on_error:
        close_on_error.callback(server.close)
        session = Session(document, Cursor(page))
        scene = SceneView(server.viser, document.robot)
        close_on_error.callback(session.close)
        context = StudioContext(
            session, scene, player=Player(session, scene), workspace=Workspace(folder), body=body
        )
        for panel in (MotionPanel(session), context.player, *panels(context)):
            session.add(panel)
        session.start()
        server.session = session
        close_on_error.pop_all()
    return Studio(context, server)
