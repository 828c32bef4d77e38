"""The Typer application: verbs are loaded when used, errors become one line and an exit code."""

from __future__ import annotations

import difflib
import importlib
import io
import os
import re
import sys
import traceback
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from posewright.cli import completion, signals
from posewright.cli.commands import COMMANDS, is_command, new_name
from posewright.cli.console import emit_text, fail, hint
from posewright.cli.options import STOPPED
from posewright.errors import PosewrightError

BAD_INPUT = 2  # exit code for anything a person handed in that is wrong; findings and failures exit with 1
NOT_WRITTEN = 1
"""Exit code where stdout takes no more: its reader stopped reading (`| head -1`), or the disk is full."""

INTERNAL = 70  # exit code for a fault of ours: EX_SOFTWARE of BSD's sysexits.h
DEBUG = "POSEWRIGHT_DEBUG"  # set to 1 in the environment, an internal error shows its traceback

Usage: type[Exception] = typer.BadParameter.__mro__[2]
"""The root of what Typer raises for words it does not understand, wherever it lies in this version."""


def build_app(loaded: Collection[str] | None = None) -> typer.Typer:
    """Build the application.

    Args:
        loaded: the commands whose modules are imported, default all. Of the others the application knows
            name, panel and sentence, which is what `posewright --help` and a shell's completion show.
    """
    app = typer.Typer(
        name="posewright",
        help="A workbench for small legged robots: motions, behaviours and contests, simulated and real.",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    for command in COMMANDS:
        if loaded is None or command.name in loaded:
            importlib.import_module(f"posewright.cli.{command.name}").register(app)
        else:
            app.command(command.name, help=command.about, rich_help_panel=command.panel)(_not_loaded)
    return app


def _not_loaded() -> None:
    """Stand for a command in the help of the application; `run` loads the one that is called."""
    raise AssertionError("this command was not loaded")


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
    try:
        code = _run_words(words)
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
            for line in str(error).split("\n"):  # one, or all that is wrong with a document
                fail(line)
            return BAD_INPUT
        if isinstance(error, Usage):
            return _explain_usage(error, words)
        return NOT_WRITTEN if completion.is_asked() else _blame(error)
    return code


def _run_words(words: Sequence[str]) -> int:
    """Run the command that `words` name, loading no other, and return its exit code."""
    renamed = new_name(words)
    if renamed is not None and not completion.is_asked():
        old, new = renamed
        fail(f"posewright {old} is now posewright {new}")
        return BAD_INPUT
    typed = completion.words_so_far(words)
    command = next((word for word in typed if not word.startswith("-")), "")
    app = build_app(loaded=(command,))
    try:
        code = app(args=list(words), prog_name="posewright", standalone_mode=False)
    except SystemExit as stop:
        code = stop.code
    except typer.Abort:
        code = NOT_WRITTEN
    return code if isinstance(code, int) else int(code is not None)


def _explain_usage(
    error: Any, words: list[str]
) -> int:  # Any: the classes lie elsewhere in each version of Typer
    """Say in one line which word was not understood and what was perhaps meant, and where help is."""
    message = error.format_message()
    if message:  # else no word was given, and help was shown
        option_names = getattr(error, "possibilities", None)
        option_name = str(getattr(error, "option_name", ""))
        if option_names is not None:
            best = difflib.get_close_matches(option_name, option_names, n=1)
            message = f"no such option {option_name}" + "".join(f"; did you mean {name}?" for name in best)
        message = re.sub(r"Input should be (a )?(.*?)(, .*)?$", r"should be \1\2", message)
        message = message.rstrip(".").replace(". Did", "; did").replace("argument(s)", "argument")
        context = getattr(error, "ctx", None)
        named = ["posewright", *(word for word in words[:1] if is_command(word))]
        verb = " ".join(named) if context is None else context.command_path
        fail(f"{verb}: {message[0].lower()}{message[1:]}")
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
