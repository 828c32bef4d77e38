"""Many runs at once, as a person follows them, and what is said of them at the end."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posewright import runs
from posewright.cli import console
from posewright.cli.options import EXIT_FAILURE, EXIT_INTERRUPTED, option
from posewright.display import Styled, Table, table
from posewright.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from posewright.runs import Batch, BatchRun

Seeds = Annotated[
    str | None, option("--seeds", "Run once for each of these seeds: 1-20, or 1,4,9-12; see --out.")
]
Workers = Annotated[
    int | None, option("--workers N", "Processes for many runs; default one a processor.", min=1)
]
Out = Annotated[Path | None, option("--out FOLDER", "Keep results, report and recordings of many runs here.")]
KeepRecordings = Annotated[
    bool, option("--recordings/--no-recordings", "Whether the folder gets a recording of each of many runs.")
]

_WORTH_WORKERS = 4
_MOST_RUNS = 200
"""A longer table is not printed: it stands in the results."""


@dataclass(frozen=True)
class BatchOptions:
    """How many runs are done: by how many processes, and what is kept of them.

    Attributes:
        folder: where results, report and recordings are kept; None for nowhere.
        workers: processes, for any number of runs; None for as many as are worth it.
        recordings: whether the folder gets a recording of each run.
    """

    folder: Path | None = None
    workers: int | None = None
    recordings: bool = True

    def workers_for(self, n_runs: int) -> int:
        """Return how many processes so many runs get."""
        if self.workers is not None:
            return self.workers
        return min(os.cpu_count() or 1, n_runs) if n_runs >= _WORTH_WORKERS else 1

    def refuse_for_one_run(self) -> None:
        """Refuse what only many runs have."""
        refuse_given(
            {
                "--out": self.folder,
                "--workers": self.workers,
                "--no-recordings": None if self.recordings else True,
            },
            "for --seeds",
        )


def refuse_given(options: Mapping[str, object], reason: str) -> None:
    """Refuse the options, by their names, that are given, which is whose value is not None."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} is {reason}", hint=f"leave {name} out")


@contextmanager
def following(runs: int, key: str, *, quiet: bool) -> Iterator[Callable[[BatchRun, bool], None]]:
    """Give a function that is told of each run: a live table for a person, else a line a run.

    Raises:
        typer.Exit: somebody stopped it; it was said how to go on.
    """
    from rich.live import Live

    done: list[BatchRun] = []
    is_live = console.stdout.is_terminal and not quiet

    def newest() -> RenderableType:
        grid = console.render_table(table_of(key, done[-max(3, console.stdout.height - 5) :]))
        grid.caption = f"{len(done)} of {runs}"
        return grid

    def on_run(run: BatchRun, is_old: bool) -> None:
        done.append(run)
        if is_live:
            live.update(newest(), refresh=True)
        elif not quiet:
            console.print_line(f"{_line(key, run)}{'  (done before)' if is_old else ''}")

    live = Live(newest(), console=console.stdout, transient=True, auto_refresh=False)
    try:
        with live if is_live else nullcontext():
            yield on_run
    except (KeyboardInterrupt, SystemExit) as stop:
        console.print_note(
            f"stopped after {len(done)} of {runs}; where results are kept, the same command goes on"
        )
        raise typer.Exit(int(stop.code or 0) if isinstance(stop, SystemExit) else EXIT_INTERRUPTED) from None


def give_batch(batch: Batch, *, as_json: bool, again: str = "") -> None:
    """Say what came of a batch; exit with 1 where a run failed. `again` shows the worst once more."""
    if as_json:
        console.print_json(batch.to_dict())
    else:
        if console.stdout.is_terminal:  # else each was told when it was done
            print_runs(batch)
        for line in _summary(batch, again):
            console.print_line(line)
    if batch.failed:
        raise typer.Exit(EXIT_FAILURE)


def print_runs(batch: Batch) -> None:
    """Print the table of a batch, a line a run where no person reads it, and why runs failed."""
    if not console.stdout.is_terminal:
        for run in batch.done:
            console.print_line(_line(batch.key, run))
    elif len(batch.runs) <= _MOST_RUNS:
        console.print_item(table_of(batch.key, batch.runs))
    for run in batch.failed:
        console.print_warning(f"{batch.key} {run.name}: {run.error}")


def table_of(key: str, listed: Sequence[BatchRun]) -> Table:
    """Return runs as a table, without words that are the same in each."""
    done = [run for run in listed if run.error is None]
    values = {name: {run.figures.get(name) for run in done} for run in done for name in run.figures}
    values.pop("ended", None)  # of a run that went well it says nothing; else it stands at the end
    names = [
        name
        for name, different in values.items()
        if len(different) > 1 or not isinstance(next(iter(different)), str)
    ]
    rows = [[run.name, *(_cell(run.figures.get(name)) for name in names), _wrong(run)] for run in listed]
    heads = (key, *map(runs.figure_words, names), "what went wrong")
    with_text = {
        head
        for place, head in enumerate(heads)
        if any(set(str(row[place])) - set("0123456789+-. ") for row in rows)
    }
    return table(heads, rows, text_columns={heads[-1], *with_text})


def _cell(value: object) -> Styled:
    return Styled(runs.figure_text(value), "red" if value is False else "")


def _wrong(run: BatchRun) -> Styled:
    if run.error is not None:
        return Styled("failed", "red")
    ended = str(run.figures.get("ended", "")) if any(one is False for one in run.figures.values()) else ""
    return Styled(", ".join(filter(None, (ended, _counted(Counter(run.incidents))))))


def _counted(incidents: Mapping[str, int]) -> str:
    return ", ".join(f"{n} x {kind.replace('_', ' ')}" for kind, n in incidents.items())


def _line(key: str, run: BatchRun) -> str:
    if run.error is not None:
        return f"{key} {run.name}  error: {run.error}"
    figures = (f"{runs.figure_words(name)} {runs.figure_text(value)}" for name, value in run.figures.items())
    return "  ".join(filter(None, (f"{key} {run.name}", *figures, _counted(Counter(run.incidents)))))


def _summary(batch: Batch, again: str) -> Iterator[str]:
    from posewright.runs.batch import REPORT, RESULTS

    measure = runs.figure_words(batch.measure)
    flag, count = batch.succeeded
    if batch.mean is not None and batch.best and batch.worst:
        spread = f", standard deviation {batch.deviation:.3f}" if batch.deviation else " each"
        yield f"mean {measure} {batch.mean:.3f}{spread}"
        for word, run in (("best", batch.best), ("worst", batch.worst)) if batch.deviation else ():
            value = runs.figure_text(run.figures.get(batch.measure))
            yield f"{word:<5} {value}: {batch.key} {run.name}"
    failed = f", {len(batch.failed)} failed" if batch.failed else ""
    yield f"{flag.replace('_', ' ')} {count} of {len(batch.runs)}{failed}"
    if batch.incidents:
        yield f"what went wrong: {_counted(batch.incidents)}"
    if batch.digest is not None:
        yield f"digest {batch.digest[:16]}"
    if batch.folder is not None:
        report = batch.folder / REPORT
        shown = str(report) if report.exists() else "none, it needs pip install 'posewright[report]'"
        yield f"report: {shown}   table: {batch.folder / RESULTS}"
    if again and batch.worst:
        yield f"the worst again: {again}"
