"""`posewright tune`: gaits by search, with a journal that outlives whatever stops it."""

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

from posewright import figures, gaits, runs, search
from posewright.cli import console
from posewright.cli.console import print_result
from posewright.cli.options import (
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    AsJson,
    add_command,
    argument,
    option,
    require_distinct_output,
)
from posewright.documents import open_regular_file, require_writable
from posewright.errors import FormatError, InputError, Where

WORTH_WORKERS = 40
"""So many candidates are walked by several processes unless one says otherwise: to start these takes time."""

JOURNAL_SUFFIX = ".tune.jsonl"
GAIT_SUFFIXES = (".yaml", ".yml")

TuningName = Annotated[
    str | None,
    argument("TUNING", "A tuning of --list, or the path of your own *.tune.yaml.", show_default=False),
]
Generations = Annotated[
    int | None,
    option("--generations N", "How many generations after the start; default the document's.", min=1),
]
Population = Annotated[
    int | None,
    option("--population N", "Candidates in each generation; default the document's, or the journal's."),
]
Seed = Annotated[
    int | None, option("--seed N", "Seed of what is drawn at random; default 0, or the journal's.")
]
Workers = Annotated[
    int | None,
    option(
        "--workers N",
        "Processes that walk; default one per processor. Any number gives the same result.",
        min=1,
    ),
]
JournalFile = Annotated[
    Path | None, option("--journal FILE", f"Journal of the search; default TUNING{JOURNAL_SUFFIX} here.")
]
Resume = Annotated[bool, option("--resume", "Go on with an existing journal.")]
GaitFile = Annotated[Path | None, option("--output -o FILE", "Write the best gait here, a *.gait.yaml.")]
PlotFile = Annotated[Path | None, option("--plot PICTURE", "Draw the search (png, svg or pdf).")]
List = Annotated[bool, option("--list", "List the tunings that come with Posewright, and do nothing else.")]
Report = Annotated[
    Path | None,
    option("--report JOURNAL", "Show what a journal holds, and do nothing else; --plot draws it."),
]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    add_command(app, "tune", tune, python_names="tune_gait write_gait draw_tuning")


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
    is_list: List = False,
    report: Report = None,
    as_json: AsJson = False,
) -> None:
    """Search a gait's parameters for the walk with the lowest score; exit with 1 if none is found.

    Every candidate is written to the journal once it has walked. Stop the search whenever you like, with
    Ctrl-C or by pulling the plug, and continue with --resume: the result is the same as without the stop.
    docs/how-to-tune.md explains the document and the score.

    [bold]Examples[/]
      posewright tune --list
      posewright tune fast
      posewright tune fast --seed 3 --generations 200 --journal fast_3.jsonl -o my_fast.gait.yaml
      posewright tune fast --resume --generations 300 --plot fast.png
      posewright tune my_trot.tune.yaml --workers 4 --json
      posewright tune --report fast.tune.jsonl --plot fast.png
    """
    options = SearchOptions(generations, population, seed, workers)
    _refuse_unclear(
        tuning,
        report,
        is_list=is_list,
        is_search=options != SearchOptions() or resume or bool(journal or output),
    )
    if is_list:
        tasks = [runs.describe_task(runs.read_tune(name)) for name in runs.tune_names()]
        print_result(tasks, [runs.task_table(tasks)], as_json=as_json)
    elif report is not None:
        _show_journal(report, plot, as_json=as_json)
    elif tuning is not None:
        _search(tuning, options, SearchFiles(journal, output, plot), resume=resume, as_json=as_json)


def _refuse_unclear(tuning: str | None, report: Path | None, *, is_list: bool, is_search: bool) -> None:
    if (tuning is not None) + (report is not None) + is_list != 1:
        what = "it is not clear what to do"
        raise InputError(what, hint="name a tuning, or say --list, or --report JOURNAL: one of them")
    if is_search and tuning is None:
        what = "--list and --report search nothing"
        raise InputError(what, hint="name a tuning, or leave the options of a search out")


@dataclass(frozen=True)
class SearchOptions:
    """How to search; None for the journal's number where one is gone on with, else for the document's."""

    generations: int | None = None
    population: int | None = None
    seed: int | None = None
    workers: int | None = None


@dataclass(frozen=True)
class SearchFiles:
    """Where a search writes to."""

    journal: Path | None
    output: Path | None
    plot: Path | None


def _search(tuning: str, options: SearchOptions, files: SearchFiles, *, resume: bool, as_json: bool) -> None:
    task = runs.read_tune(tuning)
    journal = files.journal or Path(f"{task.name}{JOURNAL_SUFFIX}")
    _refuse_files(task, journal, files)
    recorded = _recorded(journal, resume=resume)
    plan = None if recorded is None else recorded.plan
    generations = options.generations or task.search.generations
    population = options.population
    if population is None:
        population = None if plan is None else plan.population
    seed = options.seed
    if seed is None:
        seed = plan.seed if plan else 0
    shown = SearchProgress(task, generations, population, recorded, time.perf_counter)
    is_long = shown.evaluations_to_do >= WORTH_WORKERS
    try:
        with followed(shown):
            found = runs.tune_gait(
                task,
                generations=generations,
                population=population,
                seed=seed,
                workers=options.workers or ((os.cpu_count() or 1) if is_long else 1),
                journal=journal,
                watch=shown.watch,
                after=shown.after,
            )
    except KeyboardInterrupt:
        how_to_go_on(tuning, journal, shown)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    if files.plot is not None:
        figures.save_figure(figures.draw_tuning(journal), files.plot)
    if files.output is not None and found.gait is not None:
        gaits.write_gait(found.gait, files.output)
    data = runs.tuned_data(found, seed, journal, files.output, shown.wall_s)
    print_result(data, runs.tuned_lines(found, journal, files.output), as_json=as_json)
    if found.result.facts.get("falls"):
        console.print_warning("the best candidate falls; search longer, or look at what is asked of it")
    if found.gait is None:
        raise typer.Exit(EXIT_FAILURE)


def _show_journal(journal: Path, plot: Path | None, *, as_json: bool) -> None:
    """Show the best so far, the course of the search, and why candidates were refused.

    A journal may be looked at while the search goes on.
    """
    if plot is not None:
        figures.require_picture_path(plot)
        require_distinct_output(plot, journal)
    recorded = search.read_journal(journal)
    if plot is not None:
        figures.save_figure(figures.draw_tuning(recorded), plot)
    print_result(runs.journal_data(recorded), runs.journal_lines(recorded), as_json=as_json)


def _recorded(journal: Path, *, resume: bool) -> search.Journal | None:
    """Return what the journal holds that is gone on with; None for a new one, or for one that only began.

    Raises:
        InputError: a journal is there and nobody said to go on with it; or the other way round.
        FormatError: it is damaged, or no journal.
    """
    is_there = os.path.lexists(journal)
    if is_there and not resume:
        hint = "--resume to go on with it, or --journal FILE for another"
        raise InputError("there is a journal already", where=Where(journal), hint=hint)
    if resume and not is_there:
        raise InputError("there is no journal to go on with", where=Where(journal), hint="leave --resume out")
    return search.read_journal(journal) if is_there and _has_a_line(journal) else None


def _has_a_line(journal: Path) -> bool:
    """Tell whether anything was written: a search that was stopped at once leaves an empty file."""
    try:
        with open_regular_file(journal) as file:
            return b"\n" in file.read()
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", where=Where(journal)) from error


def _refuse_files(task: runs.GaitTask, journal: Path, files: SearchFiles) -> None:
    """Say before a long search, not after it, that its result could not be written."""
    require_writable(journal)
    written = [path for path in (journal, files.output, files.plot) if path is not None]
    if len({os.path.realpath(path) for path in written}) < len(written):
        raise InputError("two results would be one file", hint="a name each for journal, gait and picture")
    if files.plot is not None:
        figures.require_picture_path(files.plot)
        require_distinct_output(files.plot, task.path, task.gait.path)
    if files.output is not None:
        _refuse_output(task, files.output)


def _refuse_output(task: runs.GaitTask, output: Path) -> None:
    if output.suffix.lower() not in GAIT_SUFFIXES:
        raise InputError("not a gait's file", where=Where(output), hint="end it in .gait.yaml")
    require_writable(output)
    require_distinct_output(output, task.path, task.gait.path)
    if output.exists():
        gaits.read_gait(output, robot=task.robot)  # it is written over: let it be a gait


Say = Callable[[str, bool], None]
"""Shows a line; the second says whether it is worth keeping: a generation is done."""


class SearchProgress:
    """Follows a search from outside: how far it is, the best so far, and how long it will take."""

    def __init__(
        self,
        task: runs.GaitTask,
        generations: int,
        population: int | None,
        recorded: search.Journal | None,
        clock: Callable[[], float],
    ) -> None:
        asked = task.search.population if population is None else population
        plan = search.make_plan(runs.GaitProblem(task), population=asked, spread=task.search.spread, seed=0)
        self.name = task.name
        self.done: int | None = None  # generations, the start not counted; None before that is
        self.say: Say = lambda *_: None  # nobody follows yet
        self._generations, self._population = generations, plan.population
        self._total = plan.end_of(generations)
        attempts = () if recorded is None else recorded.attempts[: self._total]
        self._best: search.Attempt | None = min(attempts, key=lambda one: one.score, default=None)
        self._recorded, self._now = len(attempts), 0
        self._clock, self._began = clock, clock()

    @property
    def evaluations_to_do(self) -> int:
        """How many candidates have still to walk."""
        return self._total - self._recorded - self._now

    @property
    def wall_s(self) -> float:
        """How long it has taken so far [s]."""
        return self._clock() - self._began

    def watch(self, generation: search.Generation) -> bool:
        """Take note of a generation that is done, and tell of it; never ends the search."""
        self.done = generation.number
        if generation.evaluations > self._recorded:
            self.say(self._line(f"generation {self.done} of {self._generations}"), True)
        elif generation.evaluations + self._population > self._recorded:
            self.say(self._line(f"goes on after generation {self.done} of {self._generations}"), True)
        return True

    def after(self, attempt: search.Attempt) -> None:
        """Take note of a candidate that has walked, and tell of it."""
        self._now += 1
        if self._best is None or attempt.score < self._best.score:
            self._best = attempt
        place = f"generation {attempt.generation} of {self._generations}"
        self.say(self._line(f"{place}, {attempt.index + 1} of {self._population}"), False)

    def _line(self, place: str) -> str:
        told, best = "none could be judged yet", self._best
        if best is not None and math.isfinite(best.score):
            told = f"best {best.score:.4f} ({runs.figures_line(best.evaluation.facts)})"
        left = ""
        if self._now and self.evaluations_to_do:
            left = f"; {duration(self.wall_s / self._now * self.evaluations_to_do)} left"
        return f"{self.name}: {place}; {told}{left}"


def duration(seconds: float) -> str:
    """Return a time as people read it: 40 s, 3 min, 2 h 5 min."""
    if seconds < 60.0:
        return f"{math.ceil(seconds)} s"
    minutes = math.ceil(seconds / 60.0)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


@contextlib.contextmanager
def followed(shown: SearchProgress) -> Iterator[None]:
    """Show the progress of a search on stderr while it lasts."""
    with console.build_spinner(quiet=False) as display:
        line = display.add_task(f"{shown.name}: setting up")

        def say(text: str, is_kept: bool) -> None:
            if not display.disable:
                display.update(line, description=text)
            elif is_kept:
                console.print_to_stderr(text)

        shown.say = say
        yield


def how_to_go_on(tuning: str, journal: Path, shown: SearchProgress) -> None:
    """Say that the search was stopped, and how to go on with it."""
    if not journal.exists():
        console.print_note("stopped before anything was written")
        return
    command = shlex.join(["posewright", "tune", tuning, "--resume", "--journal", str(journal)])
    console.print_note(f"stopped; what has walked is in {journal}. Go on with: {command}")
    if shown.done:
        console.print_note(
            f"the best so far as a gait: {command} --generations {shown.done} -o best.gait.yaml"
        )
