"""The Typer application: verbs are loaded when used, errors become one line and an exit code."""

from __future__ import annotations

import difflib
import importlib
import io
import os
import re
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer

from posewright.cli import completion, signals
from posewright.cli.console import emit_text, fail, hint
from posewright.cli.options import STOPPED
from posewright.errors import PosewrightError

BAD_INPUT = 2  # exit code for anything a person handed in that is wrong; findings and failures exit with 1
NOT_WRITTEN = 1
"""Exit code where stdout takes no more: its reader stopped reading (`| head -1`), or the disk is full."""

INTERNAL = 70  # exit code for a fault of ours: EX_SOFTWARE of BSD's sysexits.h
DEBUG = "POSEWRIGHT_DEBUG"  # set to 1 in the environment, an internal error shows its traceback
VERBS = (
    *(
        "robots",
        "arena",
        "motion",
        "gait",
        "tune",
        "archive",
        "monet",
        "sticks",
        "openr",
        "robi",
        "basic",
        "chart",
    ),
    *("run", "replay", "judge", "rank", "evaluate", "score", "inspect", "contest"),
    *("generate", "build", "verify", "flash", "bus", "serve", "studio"),
)
"""Each verb is the module `posewright.cli.<verb>` with a function `register(app)`, or one in `SHARED`."""

SHARED = dict.fromkeys(("generate", "build", "verify", "flash"), "codegen")
"""Modules that register several verbs."""

Usage: type[Exception] = typer.BadParameter.__mro__[2]
"""The root of what Typer raises for words it does not understand, wherever it lies in this version."""


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
    for module in dict.fromkeys(SHARED.get(verb, verb) for verb in verbs):
        importlib.import_module(f"posewright.cli.{module}").register(app)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        from posewright.version import __version__

        emit_text(f"posewright {__version__}\n")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    del version


def run(arguments: list[str] | None = None) -> int:
    """Run the command line with `arguments` (default: the process's) and return its exit code."""
    _prepare_streams()
    words = sys.argv[1:] if arguments is None else arguments
    verb = completion.words_so_far(words)[:1]
    try:
        code = _code(tuple(verb) if verb and verb[0] in VERBS else VERBS, words)
        sys.stdout.flush()  # here, where a closed pipe can still be told from a fault
    except KeyboardInterrupt:
        fail("stopped")
        return STOPPED
    except BrokenPipeError:
        _forget_stdout()
        return NOT_WRITTEN
    except Exception as error:  # the one place for it: whatever else comes here is a fault of ours
        signals.raise_again()
        if isinstance(error, PosewrightError):
            for each in str(error).split("\n"):  # one, or all that is wrong with a document
                fail(each)
            return BAD_INPUT
        if isinstance(error, Usage):
            return _explain_usage(error, words)
        return NOT_WRITTEN if completion.is_asked() else _blame(error)
    return code


def _explain_usage(error: Any, words: list[str]) -> int:
    """Say in one line which word was not understood and what was perhaps meant, and where help is."""
    told = error.format_message()
    if told:  # else no word was given, and help was shown
        near = getattr(error, "possibilities", None)
        wanted = str(getattr(error, "option_name", ""))
        if near is not None:
            best = difflib.get_close_matches(wanted, near, n=1)
            told = f"no such option {wanted}" + "".join(f"; did you mean {name}?" for name in best)
        told = re.sub(r"Input should be (a )?(.*?)(, .*)?$", r"should be \1\2", told)
        told = told.rstrip(".").replace(". Did", "; did").replace("argument(s)", "argument")
        context = getattr(error, "ctx", None)
        said = ["posewright", *(word for word in words[:1] if word in VERBS)]
        verb = " ".join(said) if context is None else context.command_path
        fail(f"{verb}: {told[0].lower()}{told[1:]}")
        hint(f"Try '{verb} --help'")
    return int(error.exit_code)


def _blame(error: Exception) -> int:
    """Say whose fault it is, and return the exit code: a file's that the system would not take, or ours."""
    if isinstance(error, OSError):
        if error.filename is not None:  # its name is too long, the disk went away
            fail(f"{error.filename}: {error.strerror or error}")
            return BAD_INPUT
        if isinstance(error, FileNotFoundError):  # of no file: the working folder is gone
            fail("the folder you are in is not there any more; change to another")
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
        code = build_app(verbs)(args=words, prog_name="posewright", standalone_mode=False)
    except SystemExit as stop:
        code = stop.code
    except typer.Abort:
        code = NOT_WRITTEN
    return code if isinstance(code, int) else int(code is not None)


def _prepare_streams() -> None:
    """Let stdout or stderr, where closed, write to nowhere, and codes for characters they do not have."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 -- open as long as the process
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _forget_stdout() -> None:
    """Let what is still to be written go nowhere, so that Python does not complain of it while it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
