"""Many runs at once, as a person follows them, and what is said of them at the end."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from posewright import runs
from posewright.cli import console
from posewright.cli.options import FOUND, STOPPED, option
from posewright.display import Styled, Table, table
from posewright.errors import InputError
from posewright.runs import figure_text, figure_words
from posewright.runs.batch import REPORT, RESULTS

if TYPE_CHECKING:
    from rich.console import RenderableType

    from posewright.runs import Batch, Run

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

FOLDER = Path("out/{trial}-{digest}")
"""Where a batch of trials is kept, unless a person says where."""

_WORTH_WORKERS = 4
_MOST_RUNS = 200
"""A longer table is not printed: it stands in the results."""


def workers_for(asked: int | None, runs: int) -> int:
    """Return how many processes are worth it, unless a person says how many."""
    return asked or (min(os.cpu_count() or 1, runs) if runs >= _WORTH_WORKERS else 1)


def refuse_of_one(options: Mapping[str, object], why: str) -> None:
    """Refuse options that are given, by their names, and say why: they are of one run, or of many."""
    for name, given in options.items():
        if given is not None:
            raise InputError(f"{name} is {why}", hint=f"leave {name} out")


def run_seeds(
    trial: str,
    seeds: str,
    *,
    only_one: Mapping[str, object],
    out: Path | None,
    workers: int | None,
    as_json: bool,
    **what: Any,
) -> None:
    """Run a trial with many seeds; `what` is that of `run_many`, `only_one` are options of a single run."""
    refuse_of_one(only_one, "of one run, --seeds of many")
    count, folder = len(runs.read_seeds(seeds)), out or FOLDER
    with following(count, "seed", quiet=as_json) as on_run:
        how: Any = {"workers": workers_for(workers, count), "folder": folder, "on_run": on_run}
        batch = runs.run_many(trial, seeds=seeds, **how, **what)
    worst = batch.worst and batch.recording(batch.worst)
    again = shlex.join(["posewright", "replay", str(worst), "--plot", "worst.png"]) if worst else ""
    give_batch(batch, as_json=as_json, again=again)


@contextmanager
def following(runs: int, key: str, *, quiet: bool) -> Iterator[Callable[[Run, bool], None]]:
    """Give a function that is told of each run: a live table for a person, else a line a run.

    Raises:
        typer.Exit: somebody stopped it; it was said how to go on.
    """
    from rich.live import Live

    done: list[Run] = []
    is_live = console.out.is_terminal and not quiet

    def newest() -> RenderableType:
        grid = console.rendered_table(table_of(key, done[-max(3, console.out.height - 5) :]))
        grid.caption = f"{len(done)} of {runs}"
        return grid

    def on_run(run: Run, is_old: bool) -> None:
        done.append(run)
        if is_live:
            live.update(newest(), refresh=True)
        elif not quiet:
            console.say(f"{_line(key, run)}{'  (done before)' if is_old else ''}")

    live = Live(newest(), console=console.out, transient=True, auto_refresh=False)
    try:
        with live if is_live else nullcontext():
            yield on_run
    except (KeyboardInterrupt, SystemExit) as stop:
        console.note(f"stopped after {len(done)} of {runs}; where results are kept, the same command goes on")
        raise typer.Exit(int(stop.code or 0) if isinstance(stop, SystemExit) else STOPPED) from None


def give_batch(batch: Batch, *, as_json: bool, again: str = "") -> None:
    """Say what came of a batch; exit with 1 where a run failed. `again` shows the worst once more."""
    if as_json:
        console.emit_json(batch.to_dict())
    else:
        if console.out.is_terminal:  # else each was told when it was done
            print_runs(batch)
        for line in _summary(batch, again):
            console.say(line)
    if batch.failed:
        raise typer.Exit(FOUND)


def print_runs(batch: Batch) -> None:
    """Print the table of a batch, a line a run where no person reads it, and why runs failed."""
    if not console.out.is_terminal:
        for run in batch.done:
            console.say(_line(batch.key, run))
    elif len(batch.runs) <= _MOST_RUNS:
        console.show(table_of(batch.key, batch.runs))
    for run in batch.failed:
        console.warn(f"{batch.key} {run.name}: {run.error}")


def table_of(key: str, runs: Sequence[Run]) -> Table:
    """Return runs as a table, without words that are the same in each."""
    done = [run for run in runs if run.error is None]
    told = {name: {run.figures.get(name) for run in done} for run in done for name in run.figures}
    told.pop("ended", None)  # of a run that went well it says nothing; else it stands at the end
    names = [
        name for name, values in told.items() if len(values) > 1 or not isinstance(next(iter(values)), str)
    ]
    cells = [[run.name, *(_cell(run.figures.get(name)) for name in names), _wrong(run)] for run in runs]
    heads = (key, *map(figure_words, names), "what went wrong")
    texts = {
        head
        for place, head in enumerate(heads)
        if any(set(str(row[place])) - set("0123456789+-. ") for row in cells)
    }
    return table(heads, cells, text_columns={heads[-1], *texts})


def _cell(value: object) -> Styled:
    return Styled(figure_text(value), "red" if value is False else "")


def _wrong(run: Run) -> Styled:
    if run.error is not None:
        return Styled("failed", "red")
    ended = str(run.figures.get("ended", "")) if any(one is False for one in run.figures.values()) else ""
    return Styled(", ".join(filter(None, (ended, _counted(Counter(run.incidents))))))


def _counted(incidents: Mapping[str, int]) -> str:
    return ", ".join(f"{n} x {kind.replace('_', ' ')}" for kind, n in incidents.items())


def _line(key: str, run: Run) -> str:
    if run.error is not None:
        return f"{key} {run.name}  error: {run.error}"
    told = (f"{figure_words(name)} {figure_text(value)}" for name, value in run.figures.items())
    return "  ".join(filter(None, (f"{key} {run.name}", *told, _counted(Counter(run.incidents)))))


def _summary(batch: Batch, again: str) -> Iterator[str]:
    measure, (flag, count) = figure_words(batch.measure), batch.succeeded
    if batch.mean is not None and batch.best and batch.worst:
        spread = f", standard deviation {batch.deviation:.3f}" if batch.deviation else " each"
        yield f"mean {measure} {batch.mean:.3f}{spread}"
        for word, run in (("best", batch.best), ("worst", batch.worst)) if batch.deviation else ():
            value = figure_text(run.figures.get(batch.measure))
            yield f"{word:<5} {value}: {batch.key} {run.name}"
    failed = f", {len(batch.failed)} failed" if batch.failed else ""
    yield f"{flag.replace('_', ' ')} {count} of {len(batch.runs)}{failed}"
    if batch.incidents:
        yield f"what went wrong: {_counted(batch.incidents)}"
    if batch.digest is not None:
        yield f"digest {batch.digest[:16]}"
    if batch.folder is not None:
        report = batch.folder / REPORT
        told = str(report) if report.exists() else "none, it needs pip install 'posewright[report]'"
        yield f"report: {told}   table: {batch.folder / RESULTS}"
    if again and batch.worst:
        yield f"the worst again: {again}"
