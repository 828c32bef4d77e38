"""The Typer application.

It imports only the command that is run, and turns errors into one line and an exit code.
"""

from __future__ import annotations

import difflib
import importlib
import io
import os
import re
import sys
import traceback
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Annotated, Protocol, cast, runtime_checkable

import typer

from posewright.cli import completion, signals
from posewright.cli.commands import COMMANDS, find_new_name, is_command
from posewright.cli.console import keep_stdout_for_json, print_document, print_error, print_to_stderr
from posewright.cli.options import EXIT_INTERRUPTED, Group
from posewright.cli.wrong_file import explain_wrong_file
from posewright.documents.user_code import user_errors
from posewright.errors import PosewrightError, UserCodeError

EXIT_BAD_INPUT = 2
"""Exit code if a command, an option or an input file is wrong."""

EXIT_NOT_WRITTEN = 1
"""Exit code if stdout accepts no more: its reader stopped reading (`| head -1`), or the disk is full."""

EXIT_INTERNAL = 70
"""Exit code after a bug in Posewright: EX_SOFTWARE of BSD's sysexits.h."""

DEBUG_VARIABLE = "POSEWRIGHT_DEBUG"
"""Environment variable; if it is 1, an internal error prints its traceback."""

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[2]
"""Click's base class of errors in a command line, whose module differs between versions of Typer."""


class ClickCommand(Protocol):
    """The member of Click's commands that we use."""

    def main(self, *, args: list[str], prog_name: str, standalone_mode: bool) -> object:
        """Parse a command line, run its command, and return what the command returns or its exit code."""
        ...


class ClickError(Protocol):
    """The members of Click's errors that we use; see `USAGE_ERROR`."""

    exit_code: int

    def format_message(self) -> str:
        """Return the message without the usage line."""
        ...


class ClickContext(Protocol):
    """The part of Click's context that we use: `posewright motion info`."""

    command_path: str


@runtime_checkable
class ContextError(Protocol):
    """A Click error that knows in which command it occurred."""

    ctx: ClickContext | None


@runtime_checkable
class NoSuchOption(Protocol):
    """A Click error about an unknown option."""

    option_name: str
    possibilities: Sequence[str] | None


def build_app(loaded_commands: Collection[str] | None = None) -> typer.Typer:
    """Build the application.

    Args:
        loaded_commands: the commands whose modules are imported; default all. The other commands have only
            a name, a panel and a summary, enough for `posewright --help` and shell completion.
    """
    app = typer.Typer(
        name="posewright",
        cls=Group,
        help="A workbench for small legged robots: motions, behaviours and contests, simulated and real.",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
    )
    app.callback()(_root)
    for command in COMMANDS:
        if loaded_commands is None or command.name in loaded_commands:
            importlib.import_module(f"posewright.cli.{command.name}").register(app)
        else:
            app.command(command.name, help=command.summary, rich_help_panel=command.panel)(_not_loaded)
    return app


def _not_loaded() -> None:
    """Stand in for a command that was not imported; never called, since `run` loads the command it runs."""
    raise AssertionError("this command was not loaded")


def _print_version(is_requested: bool) -> None:
    """Print the version and exit, if `--version` was typed."""
    if is_requested:
        from posewright.version import __version__

        print_document(f"posewright {__version__}\n")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            metavar="",
            help="Show the version and exit.",
            is_eager=True,
            callback=_print_version,
        ),
    ] = False,
) -> None:
    """Declare the options of `posewright` itself; `--version` is handled by its callback."""
    del version


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        arguments: the words after `posewright`; default those of this process.
    """
    _prepare_streams()
    if arguments is None:
        arguments = sys.argv[1:]
    try:
        exit_code = _run_command(arguments)
        if exit_code == EXIT_INTERRUPTED and signals.is_silent_stop():
            print_error("stopped")
        sys.stdout.flush()  # a closed pipe has to raise BrokenPipeError here, not while Python exits
    except KeyboardInterrupt:
        print_error("stopped")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _discard_stdout()
        return EXIT_NOT_WRITTEN
    except Exception as error:  # the last resort: an error of no known kind is a bug in Posewright
        signals.raise_pending()
        if isinstance(error, PosewrightError):
            if isinstance(error, UserCodeError) and os.environ.get(DEBUG_VARIABLE) == "1":
                traceback.print_exception(error)
            explained_error = explain_wrong_file(error, arguments)
            for line in str(explained_error).split("\n"):  # one line for each error in a document
                print_error(line)
            return EXIT_BAD_INPUT
        if isinstance(error, USAGE_ERROR):
            return _print_usage_error(cast("ClickError", error), arguments)
        return EXIT_NOT_WRITTEN if completion.is_completing() else _print_unexpected_error(error)
    return exit_code


def _run_command(arguments: Sequence[str]) -> int:
    """Import the command that is called and no other, run it, and return its exit code."""
    renamed = find_new_name(arguments)
    if renamed is not None and not completion.is_completing():
        old_name, new_name = renamed
        print_error(f"posewright {old_name} is now posewright {new_name}")
        return EXIT_BAD_INPUT
    typed_words = completion.read_typed_words(arguments)
    command = next((typed for typed in typed_words if not typed.startswith("-")), "")
    parser = build_parser((command,) if is_command(command) else ())
    try:
        with user_errors(), keep_stdout_for_json() if "--json" in arguments else nullcontext():
            exit_code = parser.main(args=list(arguments), prog_name="posewright", standalone_mode=False)
    except SystemExit as stop:
        exit_code = stop.code
    except typer.Abort:
        exit_code = EXIT_NOT_WRITTEN
    if isinstance(exit_code, int):
        return exit_code
    return 0 if exit_code is None else 1  # as sys.exit takes them: None is success, a message a failure


@cache
def build_parser(loaded_commands: tuple[str, ...] | None = None) -> ClickCommand:
    """Return the parser of command lines; cached, since it is built from the signatures of all functions.

    Args:
        loaded_commands: as in `build_app`.
    """
    parser: ClickCommand = typer.main.get_command(build_app(loaded_commands))
    return parser


def _print_usage_error(error: ClickError, arguments: list[str]) -> int:
    """Print in one line which word of the command line is wrong, and where help is; return the exit code."""
    message = error.format_message()
    if not message:  # no verb was typed, and Typer has printed the help
        return int(error.exit_code)
    if isinstance(error, NoSuchOption) and error.possibilities is not None:
        similar_names = difflib.get_close_matches(error.option_name, error.possibilities, n=1)
        message = f"no such option {error.option_name}"
        message += "".join(f"; did you mean {name}?" for name in similar_names)
    # pydantic's and Click's wordings in those of our own messages
    message = re.sub(r"Input should be (a )?(.*?)(, .*)?$", r"should be \1\2", message)
    message = message.replace("Value error, ", "").rstrip(".")
    message = message.replace(". Did", "; did").replace("argument(s)", "argument")
    if isinstance(error, ContextError) and error.ctx is not None:
        command_path = error.ctx.command_path
    elif arguments and is_command(arguments[0]):
        command_path = f"posewright {arguments[0]}"
    else:
        command_path = "posewright"
    print_error(f"{command_path}: {message[0].lower()}{message[1:]}")
    print_to_stderr(f"Try '{command_path} --help'")
    return int(error.exit_code)


def _print_unexpected_error(error: Exception) -> int:
    """Print an error of the operating system or a bug in Posewright, and return the exit code."""
    if isinstance(error, OSError):
        if error.filename is not None:  # for example, the name is too long or the disk was removed
            print_error(f"{error.filename}: {error.strerror or error}")
            return EXIT_BAD_INPUT
        if isinstance(error, FileNotFoundError):  # without a file name: the working folder was deleted
            print_error("the current folder no longer exists; change to another folder")
            return EXIT_BAD_INPUT
        if _is_stdout_lost():
            _discard_stdout()
            print_error(f"stdout: {error.strerror or error}")
            return EXIT_NOT_WRITTEN
    if os.environ.get(DEBUG_VARIABLE) == "1":
        traceback.print_exception(error)
    description = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    print_error(f"internal error: {description}; please report it ({DEBUG_VARIABLE}=1 shows the traceback)")
    return EXIT_INTERNAL


def _is_stdout_lost() -> bool:
    """Return whether stdout accepts no more data, not even a line end."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return True
    return False


def _prepare_streams() -> None:
    """Replace closed streams, and let open ones escape characters they cannot encode.

    A closed stdout (`>&-`) becomes one that raises an OSError when a result is written to it, as a full disk
    does; messages to a closed stderr are lost.
    """
    for name, mode in (("stdout", "r"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            null_device = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 -- open until the process ends
            setattr(sys, name, null_device)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_stdout() -> None:
    """Send further output to the null device, so that Python does not report an error while it exits."""
    null_device = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null_device, sys.stdout.fileno())
    os.close(null_device)
