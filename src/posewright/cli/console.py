"""What a person or a program reads: lines, tables and progress on one hand, plain JSON on the other.

Texts come from files and may hold anything. Every line and every cell is shown as it stands, never read as
markup, and a control character, which could steer a terminal, is written out as its code.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress

out = Console(emoji=False)
"""For what was asked for; colours only when a person reads it, and `:dog:` in a name stays what it is."""

err = Console(stderr=True, emoji=False)  # for progress, warnings and errors, so that stdout can be piped
PATIENCE_S = 1.0  # work that takes longer than this shows a bar [s]
_NUMERIC = frozenset("0123456789+-. ")


def printable(text: str) -> str:
    """Return a text on one line whose control characters, which could steer a terminal, are written out."""
    return visible(" ".join(text.splitlines()))


def visible(name: str) -> str:
    """Return a name with its control characters, line breaks too, written out as their codes."""
    return "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in name)


def emit_json(data: Any) -> None:
    """Write `data` as the only thing on stdout; refuses NaN and infinity, which are not JSON."""
    text = json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False)
    sys.stdout.write(text.encode(errors="backslashreplace").decode() + "\n")  # file names that are no UTF-8


def line_of(*parts: str | Text) -> Text:
    """Return a line; a `Text` among its parts keeps its style."""
    return Text.assemble(*(part if isinstance(part, Text) else printable(part) for part in parts))


def say(*parts: str | Text) -> None:
    """Write a line to stdout, which is never wrapped."""
    out.print(line_of(*parts), soft_wrap=True)


def styled(text: str, style: str) -> Text:
    """Return a part of a line, or a cell, in a colour."""
    return Text(printable(text), style)


def give(data: Any, lines: Iterable[str | RenderableType], *, as_json: bool) -> None:
    """Write `data` for a program, or `lines` and tables for a person; only one of the two is made."""
    if as_json:
        emit_json(data)
        return
    for line in lines:
        if isinstance(line, str):  # as `say` does, but at once: an archive may have thousands of entries
            sys.stdout.write(printable(line) + "\n")
        else:
            out.print(line, highlight=False, soft_wrap=isinstance(line, Text))


def table(
    columns: Sequence[str],
    rows: Iterable[Iterable[object]],
    *,
    title: str = "",
    words: Collection[str] | None = None,
) -> Table:
    """Return a table, its numbers flush right, `words` left: None for columns with anything but numbers."""
    body = [[cell if isinstance(cell, Text) else Text(printable(str(cell))) for cell in row] for row in rows]
    heading = Text(printable(title), "table.title") if title else None
    shown = Table(title=heading, title_justify="left", box=None, pad_edge=False)
    for place, column in enumerate(columns):
        if words is None:
            is_words = not body or any(not _NUMERIC.issuperset(row[place].plain) for row in body)
        else:
            is_words = column in words
        head = Text("\n".join(map(printable, column.split("\n"))), "dim")
        shown.add_column(head, justify="left" if is_words else "right", overflow="fold")
    for row in body:
        shown.add_row(*row)
    return shown


def counted(number: int, what: str) -> str:
    """Return how many there are, in words: `no errors`, `1 error`, `2 errors`."""
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


def warn(message: str) -> None:
    """Say something on stderr that the person should know but that stops nothing."""
    _tell("warning:", "yellow", message)


def note(message: str) -> None:
    """Say something on stderr that is only to be known."""
    _tell("note:", "dim", message)


def fail(message: str) -> None:
    """Say on stderr, on one line, why nothing was done."""
    _tell("error:", "red", message)


def _tell(what: str, style: str, message: str) -> None:
    with suppress(OSError):  # nobody can be told on a stderr that is full; the exit code says enough
        err.print(Text.assemble((what, style), " ", printable(message)), soft_wrap=True)


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


@contextmanager
def working(what: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show on stderr what is being done, and give a function that says how far it is."""
    with progress(quiet=quiet) as display:
        line = display.add_task(printable(what))
        yield lambda words: display.update(line, description=printable(words))


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function that is told how much of how much is done; what is soon done shows no bar."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeRemainingColumn()
    display = Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
    task = display.add_task(printable(what))
    began = time.monotonic()

    def on_progress(done: int, total: int) -> None:
        if not display.live.is_started and time.monotonic() - began > PATIENCE_S:
            display.start()
        display.update(task, completed=done, total=total)

    try:
        yield on_progress
    finally:
        display.stop()
