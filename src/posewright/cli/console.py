"""What a person or a program reads: lines, tables and progress on one hand, plain JSON on the other.

Texts come from files and may hold anything. Every line and every cell is shown as it stands, never read as
markup, and a control character, which could steer a terminal, is written out as its code.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from posewright.display import DisplayItem, Line, Paragraph, Styled, Table
from posewright.errors import escape_unprintable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress, TextColumn

out = Console(emoji=False)
"""For what was asked for; colours only when a person reads it, and `:dog:` in a name stays what it is."""

err = Console(stderr=True, emoji=False)  # for progress, warnings and errors, so that stdout can be piped
PATIENCE_S = 1.0  # work that takes longer than this shows a bar [s]
WIDEST = 1000  # columns of a table; a name that is longer yet is broken
_NUMERIC = frozenset("0123456789+-. ")


def printable(text: str) -> str:
    """Return a text on one line whose control characters, which could steer a terminal, are written out."""
    return escape_unprintable(" ".join(text.splitlines()))


def emit_json(data: object) -> None:
    """Write `data` as the only thing on stdout; refuses NaN and infinity, which are not JSON.

    What could steer a terminal, and half a character in a file's name, is written as JSON's own code.
    """
    text = json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False)
    if not text.isascii():
        text = "".join(
            sign if sign.isprintable() or sign == "\n" else json.dumps(sign)[1:-1] for sign in text
        )
    sys.stdout.write(text.replace("\x7f", "\\u007f") + "\n")


def emit_text(text: str) -> None:
    """Write a document to stdout byte for byte, but to a terminal without what could steer it."""
    if sys.stdout.isatty():
        text = "".join(f"{escape_unprintable(line)}\n" for line in text.splitlines())
    sys.stdout.write(text)


def say(line: str | Styled | Line) -> None:
    """Write a line to stdout, which is never wrapped."""
    out.print(_text(line), soft_wrap=True)


def show(item: DisplayItem) -> None:
    """Write a line or a table to stdout.

    No name in a table is cut: a file gets it as wide as it is, a terminal at least as wide as its words.
    """
    if not isinstance(item, Table):
        out.print(rendered(item), highlight=False, soft_wrap=not isinstance(item, Paragraph))
        return
    grid = rendered_table(item)
    needs = Measurement.get(out, out.options.update(max_width=WIDEST), grid)
    width = needs.minimum if out.is_terminal else needs.maximum
    if not out.is_terminal or width > out.width:
        grid.width = min(width, WIDEST)
    out.print(grid, highlight=False, crop=False)


def give(data: object, lines: Iterable[DisplayItem], *, as_json: bool) -> None:
    """Write `data` for a program, or `lines` and tables for a person; only one of the two is made."""
    if as_json:
        emit_json(data)
        return
    for item in lines:
        if isinstance(item, str):  # as `say` does, but at once: an archive may have thousands of entries
            sys.stdout.write(printable(item) + "\n")
        else:
            show(item)


def rendered(item: DisplayItem) -> RenderableType:
    """Return what a result yields for people as Rich shows it."""
    match item:
        case Table():
            return rendered_table(item)
        case Paragraph():
            return Padding(Text(printable(item.text)), (0, 0, 0, item.indent))
        case _:
            return _text(item)


def rendered_table(table: Table) -> RichTable:
    """Return a table as Rich shows it, its numbers flush right."""
    rows = [[_text(cell if isinstance(cell, Styled) else str(cell)) for cell in row] for row in table.rows]
    title = Text(printable(table.title), "table.title") if table.title else None
    if table.framed:
        grid = RichTable(title=title)
    else:
        grid = RichTable(title=title, title_justify="left", box=None, pad_edge=False)
    for place, column in enumerate(table.columns):
        if table.text_columns is None:
            is_text = not rows or any(not _NUMERIC.issuperset(row[place].plain) for row in rows)
        else:
            is_text = column in table.text_columns
        head = Text("\n".join(map(printable, column.split("\n"))), "" if table.framed else "dim")
        grid.add_column(head, justify="left" if is_text else "right", overflow="fold")
    for number, row in enumerate(rows, 1):
        grid.add_row(*row, end_section=bool(table.total) and number == len(rows))
    if table.total:
        grid.add_row(*(_text(str(cell)) for cell in table.total), style="bold")
    return grid


def _text(item: str | Styled | Line) -> Text:
    parts = item.parts if isinstance(item, Line) else (item,)
    return Text.assemble(*(_part(part) for part in parts))


def _part(part: str | Styled) -> str | tuple[str, str]:
    return (printable(part.text), part.style) if isinstance(part, Styled) else printable(part)


def warn(message: str) -> None:
    """Say something on stderr that the person should know but that stops nothing."""
    _tell("warning:", "yellow", message)


def note(message: str) -> None:
    """Say something on stderr that is only to be known."""
    _tell("note:", "dim", message)


def fail(message: str) -> None:
    """Say on stderr, on one line, why nothing was done."""
    _tell("error:", "red", message)


def hint(message: str, end: str = "\n") -> None:
    """Say something on stderr as it stands: where help is, how far it is, what may be typed."""
    with suppress(OSError):
        err.print(Text(printable(message)), soft_wrap=True, end=end)


def _tell(what: str, style: str, message: str) -> None:
    with suppress(OSError):  # nobody can be told on a stderr that is full; the exit code says enough
        err.print(Text.assemble((what, style), " ", printable(message)), soft_wrap=True)


def _clean_column() -> TextColumn:
    """Return what shows a task's description, which has names from files in it."""
    from rich.progress import Task, TextColumn

    class Clean(TextColumn):
        def render(self, task: Task) -> Text:
            return Text(printable(task.description))

    return Clean("")


def progress(*, quiet: bool) -> Progress:
    """Give a progress display on stderr that leaves no trace when done."""
    from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn

    return Progress(
        SpinnerColumn(),
        _clean_column(),
        TimeElapsedColumn(),
        console=err,
        transient=True,
        disable=quiet or not err.is_terminal,
    )


@contextmanager
def working(what: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show on stderr what is being done, and give a function that says how far it is."""
    with progress(quiet=quiet) as display:
        line = display.add_task(what)
        yield lambda words: display.update(line, description=words)


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function that is told how much of how much is done; what is soon done shows no bar."""
    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    columns = _clean_column(), BarColumn(), TimeRemainingColumn()
    display = Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
    task = display.add_task(what)
    began = time.monotonic()

    def on_progress(done: int, total: int) -> None:
        if not display.live.is_started and time.monotonic() - began > PATIENCE_S:
            display.start()
        display.update(task, completed=done, total=total)

    try:
        yield on_progress
    finally:
        display.stop()
