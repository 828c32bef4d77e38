"""Opens the studio: a file in a session, with its panels, behind a server."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from posewright.documents import is_folder, path_exists
from posewright.errors import InputError, PosewrightError
from posewright.robots import Robot, is_path
from posewright.studio.arena.files import is_arena_file, open_arena, open_shipped
from posewright.studio.arena.panel import MODE as ARENA_MODE
from posewright.studio.arena.panel import ArenaPanel
from posewright.studio.context import StudioContext
from posewright.studio.curves_panel import CurvesPanel
from posewright.studio.document import Document
from posewright.studio.files.load import OpenedFile, create_file, open_path
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
from posewright.studio.sound_panel import SoundPanel
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
        path: a motion file, a recording, an arena, a layout, or a folder such as a memory stick. The studio
            reads and writes only in that folder, or in the folder of the file. The name of a shipped motion
            opens a copy in the working folder. Default: the working folder.
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
    shows_arena = is_arena_file(path)
    if shows_arena:
        open_arena(path)  # raises an error before anything is started
        opened_file = create_file(path.parent, "untitled", robot)
    else:
        opened_file = open_path(path, robot)

    if is_folder(path):
        folder = path
    elif opened_file.data is not None:  # a shipped motion
        folder = opened_file.target.path.parent
    else:
        folder = path.resolve().parent
    server = start_server(host, port, shown_path=path, address_file=address_file)
    studio = _start(opened_file, folder, server, body)
    # a recording or an arena is shown by its panel, by the same action as when a window opens it
    if opened_file.recording is not None:
        _perform(studio, "files.open", {"file": path.resolve().name})
    elif shows_arena:
        _perform(studio, "arena.open", {"name": path.resolve().name})
    return studio


def open_arena_editor(
    name: Path | str | None = None,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    address_file: Path | None = None,
) -> Studio:
    """Open a field in the studio's arena editor.

    Args:
        name: an arena or layout document; or the name of an arena or a layout that ships, which is saved to a
            new file in the working folder; None for a new field.
        host: as for `Server`.
        port: as for `Server`.
        address_file: file with the addresses of earlier studios, as for `start_server`.

    Raises:
        UnknownNameError: there is no such file, arena or layout.
        DocumentError: the file is not a document of an arena or a layout.
        InputError: the port is in use.
        MissingExtraError: the extra `studio` is not installed.
    """
    if name is not None and is_path(name):
        path = Path(name)
        if is_arena_file(path) and not path_exists(path):
            raise InputError(f"there is no file {path}", hint="begin a new field without a name")
        if not is_arena_file(path):
            raise InputError(
                f"{path} is not the name of an arena", hint="end it in .arena.yaml or .layout.yaml"
            )
        return open_studio(path, host=host, port=port, address_file=address_file)
    if name is not None:
        open_shipped(str(name), Path())  # raises an error before anything is started
    shown_path = Path("new.arena.yaml" if name is None else str(name))
    server = start_server(host, port, shown_path=shown_path, address_file=address_file)
    studio = _start(create_file(Path(), "untitled"), Path(), server)
    if name is None:
        _perform(studio, "session.choose", {"mode": ARENA_MODE})
    else:
        _perform(studio, "arena.open", {"name": str(name)})
    return studio


def _start(opened_file: OpenedFile, folder: Path, server: Server, body: str = "sim") -> Studio:
    """Start a studio with all its panels.

    Args:
        opened_file: the motion file to edit.
        folder: the workspace.
        server: the server that windows connect to.
        body: body for teaching and playing, as for `run_trial`.
    """

    def create_panels(context: StudioContext) -> list[Panel]:
        """Return all panels of the studio, in the order in which they are updated."""
        trial_panel = TrialPanel(context)
        files_panel = FilesPanel(context, opened_file)
        return [
            PosingPanel(context),
            TimelinePanel(context),
            CurvesPanel(context),
            FindingsPanel(context),
            GaitPanel(context),
            trial_panel,
            ArenaPanel(context, trial_panel),
            TeachPanel(context),
            files_panel,
            SoundPanel(context, files_panel),
        ]

    return assemble(
        opened_file.document(),
        opened_file.page,
        server=server,
        folder=folder,
        panels=create_panels,
        body=body,
    )


def _perform(studio: Studio, name: str, arguments: Mapping[str, object]) -> None:
    """Run an action as for a window, and wait until it is done; on an error, close the studio."""
    session = studio.session
    try:
        answer = session.do_and_wait(lambda: session.perform(name, arguments))
        if isinstance(answer, Future):
            answer.result()
    except PosewrightError:
        studio.close()
        raise


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
