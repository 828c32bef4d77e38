"""`posewright studio`: opens the studio, which designs poses and motions in the browser."""

from __future__ import annotations

import signal
import socket
import threading
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright.cli import console
from posewright.cli.options import AsJson, add_command, argument, option

if TYPE_CHECKING:
    from posewright.studio.studio import Studio


Host = Annotated[
    str, option("--host ADDRESS", "Address to listen on; other computers need the token in the link.")
]
Port = Annotated[int, option("--port P", "Port to listen on. Default: any free one.")]
Browser = Annotated[
    bool, typer.Option("--browser/--no-browser", metavar="", help="Whether to open the browser.")
]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "studio", studio, python_equivalents="open_studio")


def studio(
    file: Annotated[
        Path | None,
        argument("FILE", "A motion file, recording, arena or memory stick, or the name of a shipped motion."),
    ] = None,
    robot: Annotated[str | None, option("--robot R", "The robot, if the file does not name it.")] = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    body: Annotated[
        str, option("--body B", "The robot whose poses you teach by hand: sim, mock, dynamixel:PORT.")
    ] = "sim",
    browser: Browser = True,
    as_json: AsJson = False,
) -> None:
    """Open the studio in the browser: drag joints and keyframes, and try the motion under gravity.

    Press Ctrl-C to end. Unsaved changes are stored beside the file; the studio offers them at the next start.

    [bold]Examples[/]
      posewright studio walk.motion.yaml
      posewright studio walk_forward
      posewright studio /media/AIBO
      posewright studio out/race.mcap
      posewright studio --robot sony_ers7 --port 8080 --no-browser
    """
    from posewright.studio.studio import open_studio

    with console.spinner("studio: starting", quiet=as_json):
        opened_studio = open_studio(file, robot, host=host, port=port, body=body, address_file=address_file())
    serve_until_stopped(opened_studio, "the studio", open_browser=browser, as_json=as_json)


def address_file() -> Path:
    """Return the file with the addresses of earlier studios of this user."""
    from posewright.codegen.toolchains import cache_folder

    return cache_folder("studio") / "addresses.json"


def serve_until_stopped(opened_studio: Studio, title: str, *, open_browser: bool, as_json: bool) -> None:
    """Print the address of a running studio, and wait for Ctrl-C or SIGTERM; then close it.

    Args:
        opened_studio: the studio; it serves in threads of its own.
        title: what is served, for the printed line.
        open_browser: whether to open its address in the browser.
        as_json: whether the address is printed as JSON.
    """
    sigterm_received = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: sigterm_received.set())  # before the address is printed
    try:
        lines = _address_lines(opened_studio, title)
        console.print_result({"url": opened_studio.url}, lines, as_json=as_json)
        if open_browser:
            webbrowser.open(opened_studio.url)
        sigterm_received.wait()
    except KeyboardInterrupt:
        pass
    finally:
        opened_studio.close()


def _address_lines(opened_studio: Studio, title: str) -> Iterator[str]:
    """Yield the address of a studio, and the one for other computers if they can connect."""
    yield f"{title} is at {opened_studio.url}"
    listens_everywhere = opened_studio.server.host in {"0.0.0.0", "::"}  # noqa: S104 - compared, not bound
    if listens_everywhere:
        remote_url = opened_studio.url.replace("127.0.0.1", socket.gethostname(), 1)
        yield f"from other computers: {remote_url}"
    yield "press Ctrl-C to end"
