"""`posewright tune`: searches the parameters of a gait; a journal lets a stopped search continue."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from posewright import controllers, figures, formats, gaits, runs, search
from posewright.cli import console
from posewright.cli.console import print_result
from posewright.cli.options import (
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    YAML_ENDINGS,
    AsJson,
    add_command,
    argument,
    option,
    require_distinct_output,
    require_output_file,
)
from posewright.documents import open_regular_file
from posewright.errors import FormatError, InputError, UnsafeMotionError, Where

MIN_EVALUATIONS_FOR_WORKERS = 40
"""Fewer candidates walk in this process, since starting workers takes time; --workers overrides it."""

JOURNAL_SUFFIX = ".tune.jsonl"

TuningName = Annotated[
    str | None,
    argument("TUNING", "A tuning of `tune list`, or the path of a *.tune.yaml.", show_default=False),
]
Generations = Annotated[
    int | None,
    option("--generations N", "Number of generations after the start. Default: as in the tuning.", min=1),
]
Population = Annotated[
    int | None,
    option("--population N", "Candidates per generation. Default: as in the journal, else as in the tuning."),
]
Seed = Annotated[int | None, option("--seed N", "Seed of the search. Default: as in the journal, else 0.")]
Workers = Annotated[
    int | None,
    option(
        "--workers N",
        "Worker processes. Default: one per processor. Any number gives the same result.",
        min=1,
    ),
]
JournalFile = Annotated[
    Path | None, option("--journal FILE", f"Journal of the search. Default: TUNING{JOURNAL_SUFFIX}.")
]
Resume = Annotated[bool, option("--resume", "Continue the search of an existing journal.")]
GaitFile = Annotated[Path | None, option("--output -o FILE", "Write the best gait to this *.gait.yaml.")]
PlotFile = Annotated[
    Path | None, option("--plot PICTURE", "Draw the course of the search (png, svg or pdf).")
]
GaitName = Annotated[
    str | None,
    option(
        "--gait GAIT",
        "Start at this gait, by name or path, in place of the tuning's; its robot walks.",
    ),
]
Body = Annotated[
    list[str] | None,
    option(
        "--body B",
        "Draw the random bodies from this set: random, or a *.bodies.yaml. Repeat for more sets.",
        show_default=False,
    ),
]
Bodies = Annotated[
    int | None,
    option(
        "--bodies N",
        "Number of random bodies that every candidate walks on. Default: as in the tuning.",
        min=0,
    ),
]
HeldOut = Annotated[
    int | None,
    option(
        "--held-out N",
        "Number of other random bodies on which the result is tested. Default: as in the tuning, else 20 if "
        "candidates walk on random bodies.",
        min=0,
    ),
]
List = Annotated[bool, option("--list", "List the tunings that come with Posewright; search nothing.")]
Report = Annotated[
    Path | None,
    option(
        "--report JOURNAL", "Show the contents of a journal, with --plot also as a picture; search nothing."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "tune", tune, python_equivalents="tune_gait write_gait draw_tuning")


def tune(
    tuning: TuningName = None,
    generations: Generations = None,
    population: Population = None,
    seed: Seed = None,
    workers: Workers = None,
    journal: JournalFile = None,
    resume: Resume = False,
    output: GaitFile = None,
    plot: PlotFile = None,
    gait: GaitName = None,
    body: Body = None,
    bodies: Bodies = None,
    held_out: HeldOut = None,
    is_list: List = False,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Search the parameters of a gait for the walk with the lowest score.

    Every candidate is written to the journal as soon as it is evaluated. You can stop the search at any time,
    with Ctrl-C or by cutting the power, and continue it with --resume; the result is the same as without the
    stop. Exits with 1 if no candidate has a score. docs/how-to-tune.md explains tunings and the score.

    [bold]Examples[/]
      posewright tune list
      posewright tune fast
      posewright tune fast --seed 3 --generations 200 --journal fast_3.jsonl -o my_fast.gait.yaml
      posewright tune fast --resume --generations 300 --plot fast.png
      posewright tune biped --gait my_walk.gait.yaml --bodies 5 -o my_faster_walk.gait.yaml
      posewright tune my_trot.tune.yaml --workers 4 --json
      posewright tune --report fast.tune.jsonl --plot fast.png
    """
    if tuning == "list" and tuning not in runs.tune_names():
        is_list = True
        tuning = None
    options = SearchOptions(generations, population, seed, workers)
    overrides = runs.TuneOverrides(gait, tuple(body) if body else None, bodies, held_out)
    has_task = [tuning is not None, report is not None, is_list]
    if has_task.count(True) != 1:
        raise InputError(
            "expected exactly one task", hint="pass the name of a tuning, or --list, or --report JOURNAL"
        )
    has_options = options != SearchOptions() or overrides != runs.TuneOverrides()
    has_search_options = has_options or resume or bool(journal or output)
    if has_search_options and tuning is None:
        raise InputError(
            "--list and --report do not search", hint="name a tuning, or leave out the options of a search"
        )
    if is_list:
        tasks = [runs.describe_task(runs.read_tune(name)) for name in runs.tune_names()]
        print_result(tasks, [runs.task_table(tasks)], as_json=as_json)
    elif report is not None:
        _show_journal(report, plot, as_json=as_json)
    elif tuning is not None:
        files = SearchFiles(journal, output, plot)
        _search(tuning, overrides, options, files, resume=resume, as_json=as_json)


@dataclass(frozen=True)
class SearchOptions:
    """Options of a search; None means the value of the resumed journal, else that of the tuning."""

    generations: int | None = None
    population: int | None = None
    seed: int | None = None
    workers: int | None = None


@dataclass(frozen=True)
class SearchFiles:
    """The files that a search writes; None for a default name or no file."""

    journal: Path | None
    output: Path | None
    plot: Path | None


def _search(
    tuning: str,
    overrides: runs.TuneOverrides,
    options: SearchOptions,
    files: SearchFiles,
    *,
    resume: bool,
    as_json: bool,
) -> None:
    """Run or resume a search, show its progress, write its results, and print a summary."""
    task = runs.read_tune(tuning, overrides=overrides)
    journal_path = files.journal or Path(f"{task.name}{JOURNAL_SUFFIX}")
    _require_writable_files(task, journal_path, files)
    journal = _open_journal(journal_path, resume=resume)
    generations = options.generations or task.search.generations
    population = options.population
    if population is None and journal is not None:
        population = journal.plan.population
    seed = options.seed
    if seed is None:
        seed = 0 if journal is None else journal.plan.seed
    progress = SearchProgress(task, generations, population, journal, clock=time.perf_counter)
    workers = options.workers
    if workers is None:
        is_long = progress.n_remaining >= MIN_EVALUATIONS_FOR_WORKERS
        workers = (os.cpu_count() or 1) if is_long else 1
    try:
        with show_progress(progress):
            tuned_gait = runs.tune_gait(
                task,
                generations=generations,
                population=population,
                seed=seed,
                workers=workers,
                journal=journal_path,
                watch=progress.on_generation,
                after=progress.on_attempt,
            )
    except KeyboardInterrupt:
        print_resume_command(tuning, overrides, journal_path, progress)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if files.plot is not None:
        figures.save_figure(figures.draw_tuning(journal_path), files.plot)
    if files.output is not None and tuned_gait.gait is not None:
        _write_gait(tuned_gait.gait, files.output)
    data = runs.tuned_data(
        tuned_gait, seed, journal=journal_path, output=files.output, wall_s=progress.wall_s
    )
    print_result(data, runs.tuned_lines(tuned_gait, journal_path, files.output), as_json=as_json)
    if tuned_gait.result.facts.get("falls"):
        console.print_warning(
            "the best candidate falls; search longer, or lower the requirements of the tuning"
        )
    if tuned_gait.gait is None:
        raise typer.Exit(EXIT_FAILURE)


def _write_gait(gait: runs.TunableGait, path: Path) -> None:
    """Write the best gait: as a document, or a walk made of pages as its motion file.

    Raises:
        UnsafeMotionError: `motion check` reports errors in such pages; nothing is written.
    """
    if not isinstance(gait, controllers.PageGait):
        gaits.write_gait(gait, path)
        return
    settings = " ".join(f"--set {name}={value:g}" for name, value in gait.changes.items())
    command = f"posewright motion walk {gait.file.path} --page {gait.first_page} {settings} -o {path}"
    try:
        controllers.write_page_gait(gait, path)
    except UnsafeMotionError as error:
        hint = f"it was not written; {command} --accept-faults writes it all the same"
        raise UnsafeMotionError(error.message, where=error.where, hint=hint, faults=error.faults) from error


def _show_journal(journal: Path, plot: Path | None, *, as_json: bool) -> None:
    """Print the best candidate, the course of the search, and why candidates have no score.

    The search may still be running.
    """
    if plot is not None:
        figures.require_picture_path(plot)
        require_distinct_output(plot, journal)
    contents = search.read_journal(journal)
    if plot is not None:
        figures.save_figure(figures.draw_tuning(contents), plot)
    print_result(runs.journal_data(contents), runs.journal_lines(contents), as_json=as_json)


def _open_journal(path: Path, *, resume: bool) -> search.Journal | None:
    """Return the journal to resume; None for a new search, or for a journal without a complete line.

    Raises:
        InputError: the file exists but is not to be resumed, or is to be resumed but does not exist.
        FormatError: the file is damaged, or is no journal.
    """
    exists = os.path.lexists(path)
    if exists and not resume:
        hint = "--resume continues its search; --journal FILE chooses another file"
        raise InputError("the journal exists already", where=Where(path), hint=hint)
    if resume and not exists:
        raise InputError("there is no journal to resume", where=Where(path), hint="leave --resume out")
    return search.read_journal(path) if exists and _has_line(path) else None


def _has_line(path: Path) -> bool:
    """Return whether a file has a complete line; a search stopped at its very start leaves an empty file."""
    try:
        with open_regular_file(path) as file:
            return b"\n" in file.read()
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", where=Where(path)) from error


def _require_writable_files(task: runs.GaitTask, journal: Path, files: SearchFiles) -> None:
    """Raise an error before a long search if one of its results could not be written."""
    require_output_file(journal, "a journal", (".jsonl",))
    if files.plot is not None:
        figures.require_picture_path(files.plot)
        require_distinct_output(files.plot, task.path, task.gait.path)
    if files.output is not None:
        if isinstance(task.gait, controllers.PageGait):
            endings = formats.format_named(task.gait.file.format).suffixes[:1]
            require_output_file(files.output, "a motion file", endings, task.path, task.gait.file.path)
            return
        require_output_file(files.output, "a gait", YAML_ENDINGS, task.path, task.gait.path)
        if files.output.exists():
            gaits.read_gait(files.output, robot=task.robot)  # only another gait may be overwritten


ShowStatus = Callable[[str, bool], None]
"""Shows a status line; the flag says whether a generation is complete, which a log keeps."""


class SearchProgress:
    """Observes a search: counts its evaluations, and shows the best so far and the time left.

    Attributes:
        name: name of the tuning.
        generation: number of the last complete generation, the start being 0; None before that.
        show_status: called with every status.
        _best: the best attempt so far, of the journal or evaluated now; None before the first.
        _n_total_candidates: number of candidates of the whole search, with the start (generation 0).
        _n_recorded: number of candidates that the journal had at the beginning.
        _n_evaluated: number of candidates evaluated since.
    """

    def __init__(
        self,
        task: runs.GaitTask,
        generations: int,
        population: int | None,
        journal: search.Journal | None,
        clock: Callable[[], float],
    ) -> None:
        """Read the numbers of candidates from the plan of the search, and the best of the journal.

        Args:
            task: the tuning, with the search's usual population.
            generations: number of generations after the start.
            population: number of candidates in a generation; None for that of the task.
            journal: attempts of the search before it was interrupted; None for a new search.
            clock: returns the time [s], to estimate the time left.
        """
        plan = search.make_plan(  # the numbers in it do not depend on the seed
            runs.GaitProblem(task),
            population=task.search.population if population is None else population,
            spread=task.search.spread,
            seed=0,
        )
        self.name = task.name
        self.generation: int | None = None
        self.show_status: ShowStatus = lambda *_: None  # by default nothing is shown
        self._n_generations = generations
        self._population = plan.population
        self._n_total_candidates = plan.count_attempts_until(generations)
        recorded_attempts = () if journal is None else journal.attempts[: self._n_total_candidates]
        self._best = min(recorded_attempts, key=lambda attempt: attempt.score, default=None)
        self._n_recorded = len(recorded_attempts)
        self._n_evaluated = 0
        self._clock = clock
        self._start_s = clock()

    @property
    def n_remaining(self) -> int:
        """Number of candidates that still have to be evaluated."""
        return self._n_total_candidates - self._n_recorded - self._n_evaluated

    @property
    def wall_s(self) -> float:
        """Duration of the search so far [s]."""
        return self._clock() - self._start_s

    def on_generation(self, generation: search.Generation) -> bool:
        """Show a complete generation; return True: never end the search.

        Of those that were read from the journal, only the last one is shown.
        """
        self.generation = generation.number
        position = f"generation {self.generation} of {self._n_generations}"
        is_new = generation.evaluations > self._n_recorded
        is_last_recorded = not is_new and generation.evaluations + self._population > self._n_recorded
        if is_new:
            self._show(position, is_generation=True)
        elif is_last_recorded:
            self._show(f"continues after {position}", is_generation=True)
        return True

    def on_attempt(self, attempt: search.Attempt) -> None:
        """Count an evaluated candidate and show it."""
        self._n_evaluated += 1
        if self._best is None or attempt.score < self._best.score:
            self._best = attempt
        generation = f"generation {attempt.generation} of {self._n_generations}"
        self._show(f"{generation}, {attempt.index + 1} of {self._population}", is_generation=False)

    def _show(self, position: str, *, is_generation: bool) -> None:
        """Show the position in the search, the best score, and the time left.

        `is_generation` says whether a generation is complete.
        """
        best = "no candidate has a score yet"
        if self._best is not None and math.isfinite(self._best.score):
            facts = runs.figures_line(self._best.evaluation.facts)
            best = f"best {self._best.score:.4f} ({facts})"
        left = ""
        if self._n_evaluated and self.n_remaining:
            left = f"; {format_duration(self.wall_s / self._n_evaluated * self.n_remaining)} left"
        self.show_status(f"{self.name}: {position}; {best}{left}", is_generation)


def format_duration(seconds: float) -> str:
    """Return a duration as text: 40 s, 3 min, 2 h 5 min."""
    if seconds < 60.0:
        return f"{math.ceil(seconds)} s"
    minutes = math.ceil(seconds / 60.0)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


@contextlib.contextmanager
def show_progress(progress: SearchProgress) -> Iterator[None]:
    """Show the progress of a search on stderr: in a terminal always, else once a generation."""
    with console.build_spinner(quiet=False) as display:
        line = display.add_task(f"{progress.name}: setting up")

        def show_status(text: str, is_generation: bool) -> None:
            if not display.disable:
                display.update(line, description=text)
            elif is_generation:
                console.print_to_stderr(text)

        progress.show_status = show_status
        yield


def print_resume_command(
    tuning: str, overrides: runs.TuneOverrides, journal: Path, progress: SearchProgress
) -> None:
    """Print that the search was stopped, and the commands that continue it and write its best gait."""
    if not journal.exists():
        console.print_note("stopped before anything was written")
        return
    words = ["posewright", "tune", tuning, *_override_options(overrides), "--resume", "--journal"]
    command = shlex.join([*words, str(journal)])
    console.print_note(f"stopped; the evaluated candidates are in {journal}. Continue with: {command}")
    if progress.generation:
        best_command = f"{command} --generations {progress.generation} -o best.gait.yaml"
        console.print_note(f"to write the best gait so far: {best_command}")


def _override_options(overrides: runs.TuneOverrides) -> Iterator[str]:
    """Yield the options of the command line that state the overrides."""
    if overrides.gait is not None:
        yield from ("--gait", overrides.gait)
    for name in overrides.ranges or ():
        yield from ("--body", name)
    if overrides.n_random is not None:
        yield from ("--bodies", str(overrides.n_random))
    if overrides.n_held_out is not None:
        yield from ("--held-out", str(overrides.n_held_out))
