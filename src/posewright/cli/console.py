"""What a person or a program reads: tables and progress on one hand, plain JSON on the other."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console

if TYPE_CHECKING:
    from rich.progress import Progress

out = Console(emoji=False)
"""For what was asked for; colours only when a person reads it, and `:dog:` in a name stays what it is."""

err = Console(stderr=True, emoji=False)
"""For progress, warnings and errors, so that stdout can be piped."""


def emit_json(data: Any) -> None:
    """Write `data` as the only thing on stdout; refuses NaN and infinity, which are not JSON."""
    sys.stdout.write(json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False) + "\n")


def warn(message: str) -> None:
    """Say something on stderr that the person should know but that stops nothing."""
    err.print(f"[yellow]warning:[/] {_escaped(message)}", soft_wrap=True, highlight=False)


def note(message: str) -> None:
    """Say something on stderr that is only to be known."""
    err.print(f"[dim]note:[/] {_escaped(message)}", soft_wrap=True, highlight=False)


def fail(message: str) -> None:
    """Say on stderr, on one line, why nothing was done."""
    err.print(f"[red]error:[/] {_escaped(message)}", soft_wrap=True, highlight=False)


def _escaped(message: str) -> str:
    from rich.markup import escape

    return escape(printable(message))


def printable(text: str) -> str:
    """Return a text on one line whose control characters, which could steer a terminal, are written out."""
    line = " ".join(text.splitlines())
    return "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in line)


def progress(*, quiet: bool) -> Progress:
    """Give a progress display on stderr that leaves no trace when done."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),  # it has names from files in it
        TimeElapsedColumn(),
        console=err,
        transient=True,
        disable=quiet or not err.is_terminal,
    )
