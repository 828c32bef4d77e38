"""The Typer application: verbs are loaded when used, errors become one line and an exit code."""

from __future__ import annotations

import importlib
import sys

import typer

from posewright.cli.console import fail
from posewright.errors import PosewrightError

BAD_INPUT = 2
"""Exit code for anything a person handed in that is wrong; findings and failures exit with 1."""

STOPPED = 130
"""Exit code after Ctrl-C, as shells count it."""

VERBS = ("robots", "motion", "chart", "run", "replay", "judge", "score")
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
        from posewright import __version__

        typer.echo(f"posewright {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False, "--version", help="Show the version and exit.", is_eager=True, callback=_version
    ),
) -> None:
    del version


def run(arguments: list[str] | None = None) -> int:
    """Run the command line with `arguments` (default: the process's) and return its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    verbs = (words[0],) if words and words[0] in VERBS else VERBS
    try:
        build_app(verbs)(args=words, prog_name="posewright")
    except PosewrightError as error:
        fail(str(error))
        return BAD_INPUT
    except KeyboardInterrupt:
        fail("stopped")
        return STOPPED
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0
