"""Writes to stdout and stderr: lines, tables and progress for people, JSON for programs.

Texts may come from files and hold anything. Lines and cells are printed literally, never as markup, and
control characters, which could control the terminal, are escaped.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from posewright.cli import signals
from posewright.display import DisplayItem, Line, Paragraph, Styled, Table
from posewright.errors import escape_unprintable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress, TextColumn

stdout = Console(emoji=False)
"""For results. Without emoji, so that `:dog:` in a name stays as it is."""

stderr = Console(stderr=True, emoji=False)
"""For progress, warnings and errors, so that stdout can be piped."""

BAR_DELAY_S = 1.0
"""A progress bar appears after this time [s]."""

MAX_TABLE_WIDTH = 1000
"""The widest table in a file [columns]; a longer name is wrapped."""

_NUMERIC_CHARACTERS = frozenset("0123456789+-. ")


def printable_line(text: str) -> str:
    """Return a text on one line, with its control characters escaped."""
    return escape_unprintable(" ".join(text.splitlines()))


def print_json(data: object) -> None:
    r"""Write `data` to stdout as JSON.

    Control characters, and half a surrogate pair in the name of a file, are written as `\uXXXX`.

    Raises:
        ValueError: a number is NaN or infinite, which JSON cannot express.
    """
    text = json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False)
    if not text.isascii():  # json.dumps itself has escaped those of ASCII, but for DEL
        text = "".join(map(_escape_in_json, text))
    _result_stream().write(text.replace("\x7f", "\\u007f") + "\n")


_kept_stdout: TextIO | None = None
"""Where results go while stdout is kept for JSON; else None."""


def _result_stream() -> TextIO:
    """Return the stream for results: stdout, also while other output goes to stderr."""
    return sys.stdout if _kept_stdout is None else _kept_stdout


@contextmanager
def keep_stdout_for_json() -> Iterator[None]:
    """Let only JSON and documents reach stdout in this context; what user code prints goes to stderr."""
    global _kept_stdout  # noqa: PLW0603 -- stdout is one for the process, too
    _kept_stdout = sys.stdout
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _kept_stdout = None


def _escape_in_json(character: str) -> str:
    """Return a character of a JSON text, escaped if it could control a terminal."""
    if character.isprintable() or character == "\n":
        return character
    return json.dumps(character).strip('"')


def print_document(text: str) -> None:
    """Write a document to stdout, unchanged; only in a terminal are control characters escaped."""
    stream = _result_stream()
    if stream.isatty():
        text = "".join(f"{escape_unprintable(line)}\n" for line in text.splitlines())
    stream.write(text)


def print_line(line: str | Styled | Line) -> None:
    """Write a line to stdout without wrapping it."""
    stdout.print(_render_line(line), soft_wrap=True)


def print_item(item: DisplayItem) -> None:
    """Write a line, a paragraph or a table to stdout.

    No text in a table is cut off: in a file the table is as wide as its longest texts, in a terminal at
    least as wide as its longest words.
    """
    if not isinstance(item, Table):
        stdout.print(render_item(item), highlight=False, soft_wrap=not isinstance(item, Paragraph))
        return
    grid = render_table(item)
    measurement = Measurement.get(stdout, stdout.options.update(max_width=MAX_TABLE_WIDTH), grid)
    width = measurement.minimum if stdout.is_terminal else measurement.maximum
    if not stdout.is_terminal or width > stdout.width:
        grid.width = min(width, MAX_TABLE_WIDTH)
    stdout.print(grid, highlight=False, crop=False)


def print_result(data: object, lines: Iterable[DisplayItem], *, as_json: bool) -> None:
    """Write a result to stdout: `data` as JSON, or `lines` for people, which are generated only then."""
    if as_json:
        print_json(data)
        return
    for item in lines:
        if isinstance(item, str):  # faster than print_line: an archive may have thousands of entries
            sys.stdout.write(printable_line(item) + "\n")
        else:
            print_item(item)


def render_item(item: DisplayItem) -> RenderableType:
    """Return a line, a paragraph or a table as an object that Rich prints."""
    match item:
        case Table():
            return render_table(item)
        case Paragraph():
            return Padding(Text(printable_line(item.text)), (0, 0, 0, item.indent))
        case _:
            return _render_line(item)


def render_table(table: Table) -> RichTable:
    """Return a table as Rich prints it, with right-aligned numbers."""
    rows = [[_render_cell(cell) for cell in row] for row in table.rows]
    title = Text(printable_line(table.title), "table.title") if table.title else None
    if table.framed:
        grid = RichTable(title=title)
    else:
        grid = RichTable(title=title, title_justify="left", box=None, pad_edge=False)
    for index, column in enumerate(table.columns):
        if table.text_columns is not None:
            is_text = column in table.text_columns
        else:
            has_numbers_only = all(_NUMERIC_CHARACTERS.issuperset(row[index].plain) for row in rows)
            is_text = not rows or not has_numbers_only
        header = Text("\n".join(map(printable_line, column.split("\n"))), "" if table.framed else "dim")
        grid.add_column(header, justify="left" if is_text else "right", overflow="fold")
    for number, row in enumerate(rows, 1):
        is_before_total = bool(table.total) and number == len(rows)  # a rule separates the two
        grid.add_row(*row, end_section=is_before_total)
    if table.total:
        grid.add_row(*(_render_line(str(cell)) for cell in table.total), style="bold")
    return grid


def _render_cell(cell: object) -> Text:
    return _render_line(cell if isinstance(cell, Styled) else str(cell))


def _render_line(line: str | Styled | Line) -> Text:
    """Return a line as Rich prints it, with its control characters escaped."""
    text = Text()
    for part in line.parts if isinstance(line, Line) else (line,):
        if isinstance(part, Styled):
            text.append(printable_line(part.text), part.style)
        else:
            text.append(printable_line(part))
    return text


def print_warning(message: str) -> None:
    """Write a warning to stderr: something that may be wrong but stops nothing."""
    _print_labelled("warning:", "yellow", message)


def print_note(message: str) -> None:
    """Write a note to stderr: something that is good to know."""
    _print_labelled("note:", "dim", message)


def print_error(message: str) -> None:
    """Write one line to stderr that says why the command failed."""
    _print_labelled("error:", "red", message)


def _print_labelled(label: str, style: str, message: str) -> None:
    signals.announce_stop()
    with suppress(OSError):  # stderr is full; the exit code still reports the failure
        stderr.print(Text.assemble((label, style), " ", printable_line(message)), soft_wrap=True)


def print_to_stderr(message: str, end: str = "\n") -> None:
    """Write a line without a label to stderr: a prompt, a list of keys, a state."""
    with suppress(OSError):
        stderr.print(Text(printable_line(message)), soft_wrap=True, end=end)


def _description_column() -> TextColumn:
    """Return a column that shows the description of a task, in which control characters are escaped."""
    from rich.progress import Task, TextColumn

    class DescriptionColumn(TextColumn):
        def render(self, task: Task) -> Text:
            return Text(printable_line(task.description))

    return DescriptionColumn("")


def build_spinner(*, quiet: bool) -> Progress:
    """Return a display on stderr that shows a spinner for each task and disappears at the end."""
    from rich.progress import Progress, SpinnerColumn, TimeElapsedColumn

    return Progress(
        SpinnerColumn(),
        _description_column(),
        TimeElapsedColumn(),
        console=stderr,
        transient=True,
        disable=quiet or not stderr.is_terminal,
    )


@contextmanager
def spinner(description: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show a spinner with a description on stderr; yield a function that changes the description."""
    with build_spinner(quiet=quiet) as display:
        task = display.add_task(description)
        yield lambda new_description: display.update(task, description=new_description)


@contextmanager
def progress_bar(description: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that takes the finished and the total number of items; show a bar if it takes long."""
    from rich.progress import BarColumn, Progress, TimeRemainingColumn

    display = Progress(
        _description_column(),
        BarColumn(),
        TimeRemainingColumn(),
        console=stderr,
        transient=True,
        disable=not stderr.is_terminal,
    )
    task = display.add_task(description)
    start_s = time.monotonic()

    def on_progress(finished: int, total: int) -> None:
        if not display.live.is_started and time.monotonic() - start_s > BAR_DELAY_S:
            display.start()
        display.update(task, completed=finished, total=total)

    try:
        yield on_progress
    finally:
        display.stop()
