"""Errors about files of a kind that a command does not read: what the file is, and what reads it."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from pathlib import Path

from posewright.documents import is_file, open_regular_file
from posewright.errors import FormatError, InputError, PosewrightError, Where

MOTION_COMMANDS = (
    *("motion", "studio", "run --behaviour", "run --motions", "basic motions", "robi", "bus", "serve"),
    *("aibo add", "aibo archive add", "aibo archive create"),
)
"""What reads motion files; see `formats.FileKind.commands`."""

MAX_HEAD_BYTES = 4_000_000
"""How much of a file is read to recognize it; a page file is recognized by its size, which is far smaller."""


def explain_wrong_file(error: PosewrightError, arguments: Sequence[str]) -> PosewrightError:
    """Return the error that names the kind of a file which the command does not read, or the error itself.

    Args:
        error: what the command raised.
        arguments: the words of the command line; only files among them are looked at.
    """
    if not isinstance(error, InputError):
        return error
    error_path = None if error.where is None else error.where.path
    for i, word in enumerate(arguments):
        is_subject = Path(word) == error_path or repr(word) in error.message
        if i == 0 or not is_subject or not is_file(Path(word)):
            continue
        return (
            find_wrong_file(
                Path(word), arguments[0], details=(arguments[1], " ".join(arguments[1:3]), arguments[i - 1])
            )
            or error
        )
    return error


def find_wrong_file(path: Path, command: str, details: Collection[str] = ()) -> FormatError | None:
    """Return an error if a file is of a known kind that a command does not read, else None.

    Args:
        path: the file.
        command: the command, the first word of a command line.
        details: further words of it: the verb, two verbs, or the option before the file.
    """
    from posewright import formats  # here, because most commands end without an error
    from posewright.formats.registry import is_read

    try:
        with open_regular_file(path) as file:
            head = file.read(MAX_HEAD_BYTES)
        kind = formats.detect_kind(head, path)
    except (OSError, FormatError):
        return None  # it cannot be read, or is of no known kind
    commands = (*MOTION_COMMANDS, *kind.commands) if is_read(kind.name) else kind.commands
    for detail in details:
        is_read_everywhere = detail.startswith("--") and detail in commands
        if is_read_everywhere or f"{command} {detail}" in commands:
            return None
    if command in commands:
        return None
    message = f"this is {kind.title}, which `posewright {command}` does not read here"
    hint = kind.remedy.replace("FILE", shlex.quote(str(path)))
    if not hint and commands:
        hint = f"`posewright {commands[0]}` reads it"
    return FormatError(message, where=Where(path), hint=hint or None)
