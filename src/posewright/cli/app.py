"""The Typer application: verbs are loaded when used, errors become one line and an exit code."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from pathlib import Path
from typing import Annotated

import typer

from posewright.cli.console import fail
from posewright.cli.options import STOPPED
from posewright.errors import PosewrightError

BAD_INPUT = 2  # exit code for anything a person handed in that is wrong; findings and failures exit with 1
NOT_WRITTEN = 1
"""Exit code where stdout takes no more: its reader stopped reading (`| head -1`), or the disk is full."""

INTERNAL = 70  # exit code for a fault of ours: EX_SOFTWARE of BSD's sysexits.h
DEBUG = "POSEWRIGHT_DEBUG"  # set to 1 in the environment, an internal error shows its traceback
VERBS = (
    *("robots", "motion", "gait", "tune", "archive", "monet", "chart"),
    *("run", "replay", "judge", "rank", "evaluate", "score", "inspect"),
)
"""Each verb is the module `posewright.cli.<verb>` with a function `register(app)`."""


def build_app(verbs: tuple[str, ...] = VERBS) -> typer.Typer:
    """Build the application with `verbs` only, importing no other verb's module."""
    app = typer.Typer(
        name="posewright",
        help="A workbench for small legged robots: motions, behaviours and contests, simulated and real.",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    for verb in verbs:
        importlib.import_module(f"posewright.cli.{verb}").register(app)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from posewright.version import __version__

        typer.echo(f"posewright {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    del version


def run(arguments: list[str] | None = None) -> int:
    """Run the command line with `arguments` (default: the process's) and return its exit code."""
    _open_missing_streams()
    words = sys.argv[1:] if arguments is None else arguments
    verbs = (words[0],) if words and words[0] in VERBS else VERBS
    try:
        code = _code(verbs, words)
        sys.stdout.flush()  # here, where a closed pipe can still be told from a fault
    except PosewrightError as error:
        fail(str(error))
        return BAD_INPUT
    except KeyboardInterrupt:
        fail("stopped")
        return STOPPED
    except BrokenPipeError:
        _forget_stdout()
        return NOT_WRITTEN
    except Exception as error:  # the one place for it: whatever else comes here is a fault of ours
        return _blame(error)
    return code


def _blame(error: Exception) -> int:
    """Say whose fault it is, and return the exit code: a file's that the system would not take, or ours."""
    if isinstance(error, OSError):
        if error.filename is not None:  # its name is too long, the disk went away
            fail(f"{error.filename}: {error.strerror or error}")
            return BAD_INPUT
        if _stdout_is_lost():
            _forget_stdout()
            fail(f"stdout: {error.strerror or error}")
            return NOT_WRITTEN
    if os.environ.get(DEBUG) == "1":
        traceback.print_exception(error)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    fail(f"internal error: {what}; please report it ({DEBUG}=1 shows where it happened)")
    return INTERNAL


def _stdout_is_lost() -> bool:
    """Tell whether stdout takes nothing more, not even the end of a line."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _code(verbs: tuple[str, ...], words: list[str]) -> int:
    try:
        build_app(verbs)(args=words, prog_name="posewright")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0


def _open_missing_streams() -> None:
    """Let a program that was started with stdout or stderr closed write to nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 -- open as long as the process


def _forget_stdout() -> None:
    """Let what is still to be written go nowhere, so that Python does not complain of it while it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
