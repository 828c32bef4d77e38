"""Open the studio: a file in a session, with its panels, behind a server."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from posewright.documents import is_folder
from posewright.errors import PosewrightError
from posewright.robots import Robot
from posewright.studio.curves import Curves
from posewright.studio.document import Document
from posewright.studio.files.panel import Files
from posewright.studio.files.reading import open_path
from posewright.studio.gait_panel import GaitPanel
from posewright.studio.motion_panel import MotionPanel
from posewright.studio.player import Player
from posewright.studio.posing import Posing
from posewright.studio.server import LOOPBACK, Server
from posewright.studio.session import Cursor, Panel, Session
from posewright.studio.stage import Stage
from posewright.studio.teach import Teach
from posewright.studio.timeline import Timeline
from posewright.studio.trial_panel import TrialPanel
from posewright.studio.truth import Truth
from posewright.studio.workspace import Workspace

SWITCH_S = 0.001
"""Threads of this process take turns so often [s]: what is checked or simulated must not slow a hand down."""


@dataclass(frozen=True)
class Parts:
    """What the panels of one studio share.

    Attributes:
        body: where poses are caught from and motions are played, as for `run_trial`.
    """

    session: Session
    stage: Stage
    player: Player
    workspace: Workspace
    body: str = "sim"


@dataclass(frozen=True)
class Studio:
    """A studio that runs until it is closed."""

    parts: Parts
    server: Server

    @property
    def session(self) -> Session:
        """The session in it."""
        return self.parts.session

    @property
    def url(self) -> str:
        """The address that opens it."""
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
) -> Studio:
    """Open a file in the studio.

    Args:
        path: a motion file, a recording, or a folder such as a memory stick. The folder, or that of the file,
            is all that the studio may read and write. Default a new motion, in the working folder.
        robot: whose it is, where the file does not say.
        host: as for `Server`.
        port: as for `Server`.
        body: as in `Parts`.

    Raises:
        FormatError: the file cannot be read.
        InputError: the robot has no model, or the port is taken.
        MissingExtraError: the extra `studio` is not installed.
    """
    path = Path() if path is None else Path(path)
    opened = open_path(path, robot)

    def panels(parts: Parts) -> Iterable[Panel]:
        kinds = (Posing, Timeline, Curves, Truth, GaitPanel, TrialPanel, Teach)
        return [*(kind(parts) for kind in kinds), Files(parts, opened)]

    folder = path if is_folder(path) else path.resolve().parent
    studio = assemble(opened.document(), opened.page, Server(host, port), folder, panels=panels, body=body)
    if opened.recording is not None:
        session, asked = studio.session, {"file": path.resolve().name}
        try:
            session.do_and_wait(lambda: session.perform("files.open", asked)).result()
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
    panels: Callable[[Parts], Iterable[Panel]],
    body: str = "sim",
) -> Studio:
    """Put a document behind a server, with a player and other panels; where that fails, all is closed."""
    sys.setswitchinterval(SWITCH_S)
    with ExitStack() as undone:
        undone.callback(server.close)
        session, stage = Session(document, Cursor(page)), Stage(server.viser, document.robot)
        undone.callback(session.close)
        parts = Parts(session, stage, Player(session, stage), Workspace(folder), body)
        for panel in (MotionPanel(session), parts.player, *panels(parts)):
            session.add(panel)
        session.start()
        server.session = session
        undone.pop_all()
    return Studio(parts, server)
