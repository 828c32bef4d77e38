"""Options of verbs that do many runs, and the display of a batch while it runs and at its end."""

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
    str | None, option("--seeds SEEDS", "Run once with each of these seeds: 1-20, or 1,4,9-12; see --out.")
]
Workers = Annotated[
    int | None, option("--workers N", "Processes for many runs; default one per processor.", min=1)
]
Out = Annotated[
    Path | None, option("--out FOLDER", "Store results, report and recordings of many runs in this folder.")
]
KeepRecordings = Annotated[
    bool, option("--recordings/--no-recordings", "Store a recording of each run in the folder.")
]

_MIN_PARALLEL_RUNS = 4
"""Fewer runs are finished before worker processes have started."""

_MAX_PRINTED_RUNS = 200
"""A longer table is not printed; the results file contains it."""

_MIN_LIVE_ROWS = 3
_LIVE_MARGIN = 5
"""Lines of the terminal beside the rows of the live table: its header, its caption and the prompt."""

DIGEST_DIGITS = 16
"""Digits of a digest that are printed."""

_NUMERIC_CHARACTERS = frozenset("0123456789+-. ")


@dataclass(frozen=True)
class BatchOptions:
    """Options of a command that does many runs.

    Attributes:
        folder: where results, report and recordings are stored; None to store nothing.
        workers: the number of processes; None to choose it by the number of runs.
        recordings: whether a recording of each run is stored.
    """

    folder: Path | None = None
    workers: int | None = None
    recordings: bool = True

    def workers_for(self, n_runs: int) -> int:
        """Return the number of processes for `n_runs` runs."""
        if self.workers is not None:
            return self.workers
        return min(os.cpu_count() or 1, n_runs) if n_runs >= _MIN_PARALLEL_RUNS else 1

    def require_defaults(self) -> None:
        """Raise an InputError if an option of many runs is set, for a command that does a single run."""
        options = {
            "--out": self.folder,
            "--workers": self.workers,
            "--no-recordings": None if self.recordings else True,
        }
        require_unset(options, "without --seeds")


def require_unset(options: Mapping[str, object], circumstance: str) -> None:
    """Raise an InputError for the first option whose value is not None.

    Args:
        options: the values of options by their names.
        circumstance: why they cannot be used: `without --seeds`.
    """
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} cannot be used {circumstance}", hint=f"leave {name} out")


@contextmanager
def follow_runs(n_runs: int, key: str, *, quiet: bool) -> Iterator[Callable[[BatchRun, bool], None]]:
    """Yield a function that shows each finished run: in a live table in a terminal, else on a line.

    The function takes a run, and whether an earlier command had stored it.

    Args:
        n_runs: the number of runs.
        key: what the names of the runs are: `seed`, `gait`, `file`.
        quiet: show nothing.

    Raises:
        typer.Exit: Ctrl-C or a signal stopped the runs; a note has been printed.
    """
    from rich.live import Live

    finished: list[BatchRun] = []
    is_live = console.stdout.is_terminal and not quiet

    def render_latest_runs() -> RenderableType:
        n_rows = max(_MIN_LIVE_ROWS, console.stdout.height - _LIVE_MARGIN)
        grid = console.render_table(build_run_table(key, finished[-n_rows:]))
        grid.caption = f"{len(finished)} of {n_runs}"
        return grid

    def on_run(run: BatchRun, was_stored: bool) -> None:
        """Show a finished run, in the live table or as a line."""
        finished.append(run)
        if is_live:
            live.update(render_latest_runs(), refresh=True)
        elif not quiet:
            suffix = "  (done before)" if was_stored else ""
            console.print_line(f"{_format_run(key, run)}{suffix}")

    live = Live(render_latest_runs(), console=console.stdout, transient=True, auto_refresh=False)
    try:
        with live if is_live else nullcontext():
            yield on_run
    except (KeyboardInterrupt, SystemExit) as stop:
        console.print_note(
            f"stopped after {len(finished)} of {n_runs}; with --out, the same command continues"
        )
        exit_code = int(stop.code or 0) if isinstance(stop, SystemExit) else EXIT_INTERRUPTED
        raise typer.Exit(exit_code) from None


def print_batch(batch: Batch, *, as_json: bool, replay_command: str = "") -> None:
    """Print the runs and the summary of a batch; exit with 1 if a run failed.

    Args:
        batch: the finished batch.
        as_json: print JSON instead.
        replay_command: the command that shows the worst run again; empty for none.
    """
    if as_json:
        console.print_json(batch.to_dict())
    else:
        if console.stdout.is_terminal:  # elsewhere each run was printed when it finished
            print_runs(batch)
        for line in summary_lines(batch, replay_command):
            console.print_line(line)
    if batch.failed:
        raise typer.Exit(EXIT_FAILURE)


def print_runs(batch: Batch) -> None:
    """Print a batch as a table, or one run per line outside a terminal, and the errors of failed runs."""
    if not console.stdout.is_terminal:
        for run in batch.completed:
            console.print_line(_format_run(batch.key, run))
    elif len(batch.runs) <= _MAX_PRINTED_RUNS:
        console.print_item(build_run_table(batch.key, batch.runs))
    for run in batch.failed:
        console.print_warning(f"{batch.key} {run.name}: {run.error}")


def build_run_table(key: str, batch_runs: Sequence[BatchRun]) -> Table:
    """Return a table with a row for each run, without columns of text that are the same in every row."""
    values_by_figure: dict[str, set[object]] = {}
    for run in batch_runs:
        if run.error is None:
            for name, value in run.figures.items():
                values_by_figure.setdefault(name, set()).add(value)
    values_by_figure.pop("ended", None)  # shown in the last column, for failed runs only
    figure_names = [name for name, values in values_by_figure.items() if not _is_constant_text(values)]
    headers = (key, *map(runs.figure_words, figure_names), "what went wrong")
    rows = [
        [run.name, *(_format_figure(run.figures.get(name)) for name in figure_names), _format_problems(run)]
        for run in batch_runs
    ]
    *_, problem_header = headers
    text_columns = {problem_header}
    for index, header in enumerate(headers):
        cells = [str(row[index]) for row in rows]
        if not all(map(_NUMERIC_CHARACTERS.issuperset, cells)):
            text_columns.add(header)
    return table(headers, rows, text_columns=text_columns)


def _is_constant_text(values: set[object]) -> bool:
    return len(values) == 1 and isinstance(next(iter(values)), str)


def _format_figure(value: object) -> Styled:
    return Styled(runs.figure_text(value), "red" if value is False else "")


def _format_problems(run: BatchRun) -> Styled:
    """Return what went wrong in a run: that it failed, how it ended if it did not pass, and its incidents."""
    if run.error is not None:
        return Styled("failed", "red")
    problems: list[str] = []
    has_negative_figure = any(value is False for value in run.figures.values())  # such as: upright no
    if has_negative_figure and run.figures.get("ended"):
        problems.append(str(run.figures["ended"]))
    if run.incidents:
        problems.append(_format_incidents(Counter(run.incidents)))
    return Styled(", ".join(problems))


def _format_incidents(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} x {kind.replace('_', ' ')}" for kind, count in counts.items())


def _format_run(key: str, run: BatchRun) -> str:
    """Return a run on one line: its name, its figures and its incidents."""
    if run.error is not None:
        return f"{key} {run.name}  error: {run.error}"
    fields = [f"{key} {run.name}"]
    fields += [f"{runs.figure_words(name)} {runs.figure_text(value)}" for name, value in run.figures.items()]
    if run.incidents:
        fields.append(_format_incidents(Counter(run.incidents)))
    return "  ".join(fields)


def summary_lines(batch: Batch, replay_command: str) -> Iterator[str]:
    """Yield the mean, the best and worst run, the successes, the incidents and the files of a batch."""
    from posewright.runs.batch import REPORT, RESULTS

    measure = runs.figure_words(batch.measure)
    if batch.mean is not None and batch.best and batch.worst:
        if batch.deviation:
            yield f"mean {measure} {batch.mean:.3f}, standard deviation {batch.deviation:.3f}"
            for label, run in (("best", batch.best), ("worst", batch.worst)):
                yield f"{label:<5} {_format_run(batch.key, run)}"
        else:
            yield f"mean {measure} {batch.mean:.3f} each"
    criterion, n_succeeded = batch.success_count
    failed = f", {len(batch.failed)} failed" if batch.failed else ""
    yield f"{criterion.replace('_', ' ')} {n_succeeded} of {len(batch.runs)}{failed}"
    if batch.incidents:
        yield f"what went wrong: {_format_incidents(batch.incidents)}"
    if batch.digest is not None:
        yield f"digest {batch.digest[:DIGEST_DIGITS]}"
    if batch.folder is not None:
        report: Path | str = batch.folder / REPORT
        if not Path(report).exists():
            report = "none; it needs pip install 'posewright[report]'"
        yield f"report: {report}   table: {batch.folder / RESULTS}"
    if replay_command and batch.worst:
        yield f"replay the worst: {replay_command}"
