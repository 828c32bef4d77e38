"""`posewright studio`: design poses and motions in the browser."""

from __future__ import annotations

import signal
import socket
import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright.cli import console
from posewright.cli.options import AsJson, add_command, argument, option

if TYPE_CHECKING:
    from posewright.studio.studio import Studio


Host = Annotated[str, option("--host ADDRESS", "Where it listens; others get in with the token.")]
Port = Annotated[int, option("--port P", "The port it listens on; default any that is free.")]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "studio", studio, python_names="open_studio")


def studio(
    file: Annotated[Path | None, argument("FILE", "A motion file, a recording or a memory stick.")] = None,
    robot: Annotated[str | None, option("--robot R", "Whose it is, where the file does not say.")] = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    body: Annotated[
        str, option("--body B", "Where poses are caught from: sim, mock, dynamixel:PORT.")
    ] = "sim",
    browser: Browser = True,
    as_json: AsJson = False,
) -> None:
    """Open the studio in the browser: drag joints and keyframes, and see what gravity says.

    Ctrl-C ends it. What was edited and not saved is kept beside the file, and offered when it opens again.

    [bold]Examples[/]
      posewright studio walk.motion.yaml
      posewright studio /media/AIBO
      posewright studio out/race.mcap
      posewright studio --robot sony_ers7 --port 8080 --no-browser
    """
    from posewright.studio.studio import open_studio

    with console.spinner("studio: starting", quiet=as_json):
        opened = open_studio(file, robot, host=host, port=port, body=body)
    serve_until_ended(opened, "the studio", browser=browser, as_json=as_json)


def serve_until_ended(opened: Studio, what: str, *, browser: bool, as_json: bool) -> None:
    """Say where it is, and let it run until Ctrl-C or SIGTERM."""
    lines = [f"{what} is at {opened.url}", "Ctrl-C ends it"]
    if opened.server.host in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not bound
        lines.insert(1, f"from other computers: {opened.url.replace('127.0.0.1', socket.gethostname(), 1)}")
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())  # before anybody knows where it is
    try:
        console.print_result({"url": opened.url}, lines, as_json=as_json)
        if browser:
            webbrowser.open(opened.url)
        ended.wait()
    except KeyboardInterrupt:
        pass
    finally:
        opened.close()
