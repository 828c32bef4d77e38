"""`posewright tune run`: search the numbers of a gait; stop at any time, and go on."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from posewright.cli.app import STOPPED
from posewright.cli.options import AsJson, refuse_overwriting

if TYPE_CHECKING:
    from posewright.trials.gait_tuning_task import GaitTask
    from posewright.trials.tuning import Journal

NOTHING_FOUND = 1
"""Exit code where no candidate could be judged."""

WORTH_WORKERS = 40
"""So many candidates are walked by several processes unless one says otherwise: to start these takes time."""

JOURNAL_SUFFIX = ".tune.jsonl"
GAIT_SUFFIXES = (".yaml", ".yml")

TuningName = Annotated[
    str,
    typer.Argument(metavar="TUNING", help="A tuning of `tune list`, or the path of one's own *.tune.yaml."),
]
Generations = Annotated[
    int | None,
    typer.Option(
        "--generations", metavar="N", help="How many after the start; default the document's.", min=1
    ),
]
Population = Annotated[
    int | None,
    typer.Option(
        "--population", metavar="N", help="Candidates in each; default the document's, or the journal's."
    ),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", help="Of what is drawn by chance; default 0, or the journal's."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        help="Processes that walk; default one a processor. The result is the same with any number.",
        min=1,
    ),
]
JournalFile = Annotated[
    Path | None,
    typer.Option("--journal", metavar="FILE", help=f"Of the search; default TUNING{JOURNAL_SUFFIX} here."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the journal that is there.")]
GaitFile = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the best gait here, a *.gait.yaml."),
]
PlotFile = Annotated[
    Path | None, typer.Option("--plot", metavar="PICTURE", help="Draw the search (png, svg or pdf).")
]


class _Files(NamedTuple):
    """Where a search writes to."""

    journal: Path
    output: Path | None
    plot: Path | None


def run(
    tuning: TuningName,
    generations: Generations = None,
    population: Population = None,
    seed: Seed = None,
    workers: Workers = None,
    journal: JournalFile = None,
    resume: Resume = False,
    output: GaitFile = None,
    plot: PlotFile = None,
    as_json: AsJson = False,
) -> None:
    """Search the numbers of a gait for the walk with the least score; exit with 1 where there is none.

    Every candidate is written into the journal when it has walked. Stop the search whenever you like, with
    Ctrl-C or the plug, and go on with --resume: the result is that of a search that nothing stopped.
    docs/how-to-tune.md explains the document and the score.

    [bold]Examples[/]

      posewright tune fast

      posewright tune fast --seed 3 --generations 200 --journal fast_3.jsonl -o my_fast.gait.yaml

      posewright tune fast --resume --generations 300 --plot fast.png

      posewright tune my_trot.tune.yaml --workers 4 --json
    """
    from posewright.trials.gait_tuning_reading import read_tune

    task = read_tune(tuning)
    files = _Files(journal or Path(f"{task.name}{JOURNAL_SUFFIX}"), output, plot)
    _refuse_files(task, files)
    recorded = _recorded(files.journal, resume=resume)
    _search(task, tuning, generations, population, seed, workers, files, recorded, as_json=as_json)


def _search(
    task: GaitTask,
    tuning: str,
    generations: int | None,
    population: int | None,
    seed: int | None,
    workers: int | None,
    files: _Files,
    recorded: Journal | None,
    *,
    as_json: bool,
) -> None:
    from posewright.cli.tune_course import Course, followed, how_to_go_on
    from posewright.cli.tune_tables import result_data, show_result
    from posewright.gaits import write_gait
    from posewright.trials.gait_tuning import tune_gait
    from posewright.trials.tuning import draw_tuning

    wanted = generations or task.search.generations
    asked = population if recorded is None or population is not None else recorded.plan.population
    drawn = seed if seed is not None else 0 if recorded is None else recorded.plan.seed
    course = Course(task, wanted, asked, recorded, time.perf_counter)
    try:
        with followed(course):
            found = tune_gait(
                task,
                generations=wanted,
                population=asked,
                seed=drawn,
                workers=workers or _workers(course.evaluations_to_do),
                journal=files.journal,
                watch=course.watch,
                after=course.after,
            )
    except KeyboardInterrupt:
        how_to_go_on(tuning, files.journal, course)
        raise typer.Exit(STOPPED) from None
    if files.plot is not None:
        draw_tuning(files.journal, files.plot)
    if files.output is not None and found.gait is not None:
        write_gait(found.gait, files.output)
    if as_json:
        from posewright.cli.console import emit_json

        emit_json(result_data(found, drawn, files.journal, files.output, course.wall_s))
    else:
        show_result(found, files.journal, files.output)
    if found.gait is None:
        raise typer.Exit(NOTHING_FOUND)


def _recorded(journal: Path, *, resume: bool) -> Journal | None:
    """Return what the journal holds that is gone on with; None for a new one, or for one that only began.

    Raises:
        InputError: a journal is there and nobody said to go on with it; or the other way round.
        FormatError: it is damaged, or no journal.
    """
    from posewright.errors import InputError, Where
    from posewright.trials.tuning import read_journal

    is_there = os.path.lexists(journal)
    if is_there and not resume:
        raise InputError(
            "there is a journal already",
            where=Where(journal),
            hint="--resume to go on with it, or --journal FILE for another",
        )
    if resume and not is_there:
        raise InputError("there is no journal to go on with", where=Where(journal), hint="leave --resume out")
    if not is_there or not _has_a_line(journal):
        return None
    return read_journal(journal)


def _has_a_line(journal: Path) -> bool:
    """Tell whether anything was written: a search that was stopped at once leaves an empty file."""
    from posewright.documents import open_ordinary
    from posewright.errors import FormatError, Where

    try:
        with open_ordinary(journal) as file:
            return b"\n" in file.read()
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", where=Where(journal)) from error


def _refuse_files(task: GaitTask, files: _Files) -> None:
    """Say before a long search, not after it, that its result could not be written."""
    from posewright.documents import refuse_unwritable
    from posewright.errors import InputError, Where
    from posewright.gaits import read_gait
    from posewright.trials.gait_picture import refuse_no_picture

    refuse_unwritable(files.journal)
    written = [path for path in files if path is not None]
    if len({os.path.realpath(path) for path in written}) < len(written):
        raise InputError("two results would be one file", hint="a name each for journal, gait and picture")
    if files.plot is not None:
        refuse_no_picture(files.plot)
        refuse_overwriting(files.plot, task.path, task.gait.path)
    if files.output is None:
        return
    if files.output.suffix.lower() not in GAIT_SUFFIXES:
        raise InputError("not a gait's file", where=Where(files.output), hint="end it in .gait.yaml")
    refuse_unwritable(files.output)
    refuse_overwriting(files.output, task.path, task.gait.path)
    if files.output.exists():
        read_gait(files.output, robot=task.robot)  # it is written over: let it be a gait


def _workers(evaluations: int) -> int:
    return (os.cpu_count() or 1) if evaluations >= WORTH_WORKERS else 1
