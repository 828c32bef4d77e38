"""Many runs at once, as a person follows them, and what is said of them at the end."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from posewright import experiments
from posewright.cli import console
from posewright.cli.options import FOUND, STOPPED, option
from posewright.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from posewright.experiments import Batch, Row

Seeds = Annotated[
    str | None, option("--seeds", "Run once for each of these seeds: 1-20, or 1,4,9-12; see --out.")
]
Workers = Annotated[
    int | None, option("--workers N", "Processes for many runs; default one a processor.", min=1)
]
Out = Annotated[Path | None, option("--out FOLDER", "Keep results, report and recordings of many runs here.")]
NoRecordings = Annotated[bool, option("--no-recordings", "Keep no recording of each of many runs.")]

_WORTH_WORKERS = 4
_MOST_ROWS = 200
"""A longer table is not printed: it stands in the results."""


def workers_for(asked: int | None, runs: int) -> int:
    """Return how many processes are worth it, unless a person says how many."""
    return asked or (min(os.cpu_count() or 1, runs) if runs >= _WORTH_WORKERS else 1)


def run_seeds(
    trial: str,
    what: dict[str, Any],
    seeds: str,
    only_one: dict[str, object],
    out: Path | None,
    workers: int | None,
    *,
    keep: bool,
    as_json: bool,
) -> None:
    """Run a trial with many seeds; `what` is that of `run_trial`, `only_one` are options of a single run."""
    for option_name, given in only_one.items():
        if given is not None:
            raise InputError(f"{option_name} is of one run, --seeds of many", hint="one of the two")
    numbers, task = experiments.read_seeds(seeds), experiments.trial_task(trial, **what)
    folder = out or task.folder(Path("out"))
    with following(len(numbers), "seed", folder, quiet=as_json) as on_row:
        batch = experiments.run_many(
            task,
            seeds=numbers,
            folder=folder,
            recordings=keep,
            workers=workers_for(workers, len(numbers)),
            on_row=on_row,
        )
    worst = batch.worst and batch.recording(batch.worst)
    again = shlex.join(["posewright", "replay", str(worst), "--plot", "worst.png"]) if worst else ""
    give_batch(batch, as_json=as_json, again=again)


@contextmanager
def following(
    runs: int, key: str, folder: Path | None, *, quiet: bool
) -> Iterator[Callable[[Row, bool], None]]:
    """Give a function that is told of each row: a live table for a person, else a line a row.

    Raises:
        typer.Exit: somebody stopped it; it was said how to go on.
    """
    from rich.live import Live

    rows: list[Row] = []
    live = (
        Live(console=console.out, transient=True, auto_refresh=False)
        if console.out.is_terminal and not quiet
        else None
    )

    def told(row: Row, is_old: bool) -> None:
        rows.append(row)
        if live is not None:
            shown = table_of(key, rows[-max(3, console.out.height - 4) :])
            shown.caption = Text(f"{len(rows)} of {runs}")
            live.update(shown, refresh=True)
        elif not quiet:
            console.say(f"{_line(key, row)}{'  (done before)' if is_old else ''}")

    try:
        if live is None:
            yield told
        else:
            with live:
                yield told
    except (KeyboardInterrupt, SystemExit) as stop:
        kept = f"; what is done is kept in {folder}: the same command goes on from there" if folder else ""
        console.note(f"stopped after {len(rows)} of {runs}{kept}")
        raise typer.Exit(stop.code if isinstance(stop, SystemExit) else STOPPED) from None


def give_batch(batch: Batch, *, as_json: bool, again: str = "") -> None:
    """Say what came of a batch; exit with 1 where a run failed. `again` shows the worst once more."""
    if as_json:
        console.emit_json(batch.to_dict())
    else:
        if console.out.is_terminal and len(batch.rows) <= _MOST_ROWS:
            console.out.print(table_of(batch.key, batch.rows))
        for line in _summary(batch, again):
            console.say(line)
    if batch.failed:
        raise typer.Exit(FOUND)


def table_of(key: str, rows: list[Row] | tuple[Row, ...]) -> Table:
    """Return rows as a table."""
    names = tuple(dict.fromkeys(name for row in rows for name in row.figures))
    cells = [[row.name, *(_cell(row.figures.get(name)) for name in names), _wrong(row)] for row in rows]
    heads = (key, *map(experiments.figure_words, names), "what cost points")
    texts = {head for place, head in enumerate(heads) if any(_is_words(row[place]) for row in cells)}
    return console.table(heads, cells, words={heads[-1], *texts})


def _is_words(cell: str | Text) -> bool:
    return bool(str(cell)) and not set(str(cell)) <= set("0123456789+-. ")


def _cell(value: object) -> Text:
    return console.styled(experiments.figure_text(value), "red" if value is False else "")


def _wrong(row: Row) -> Text:
    words = row.error or ", ".join(one.replace("_", " ") for one in row.incidents)
    return console.styled(words, "red" if row.error else "")


def _line(key: str, row: Row) -> str:
    if row.error is not None:
        return f"{key} {row.name}  error: {row.error}"
    told = (
        f"{experiments.figure_words(name)} {experiments.figure_text(value)}"
        for name, value in row.figures.items()
    )
    return "  ".join((f"{key} {row.name}", *told, *row.incidents))


def _summary(batch: Batch, again: str) -> Iterator[str]:
    measure, (flag, count) = experiments.figure_words(batch.measure), batch.succeeded
    if batch.mean is not None and batch.best and batch.worst:
        spread = "" if batch.deviation is None else f", standard deviation {batch.deviation:.3f}"
        yield f"mean {measure} {batch.mean:.3f}{spread}"
        for word, row in (("best", batch.best), ("worst", batch.worst)):
            value = experiments.figure_text(row.figures.get(batch.measure))
            yield f"{word:<5} {value}: {batch.key} {row.name}"
    failed = f", {len(batch.failed)} failed" if batch.failed else ""
    yield f"{flag.replace('_', ' ')} {count} of {len(batch.rows)}{failed}"
    if batch.incidents:
        counts = ", ".join(f"{n} x {kind.replace('_', ' ')}" for kind, n in batch.incidents.items())
        yield f"what cost points: {counts}"
    yield f"digest {batch.digest[:16]}"
    if batch.folder is not None:
        yield f"report: {batch.folder / 'report.html'}   table: {batch.folder / 'results.csv'}"
    if again and batch.worst:
        yield f"the worst again: {again}"
