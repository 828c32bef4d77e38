"""The search of `posewright tune`: what is refused before it, what is shown of it, and where it goes."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from posewright.cli.options import refuse_overwriting

if TYPE_CHECKING:
    from posewright.cli.tune_course import Course
    from posewright.experiments.tuning.search import TunedGait
    from posewright.experiments.tuning.task import GaitTask
    from posewright.search import Journal

NOTHING_FOUND = 1
"""Exit code where no candidate could be judged."""

WORTH_WORKERS = 40
"""So many candidates are walked by several processes unless one says otherwise: to start these takes time."""

JOURNAL_SUFFIX = ".tune.jsonl"
GAIT_SUFFIXES = (".yaml", ".yml")


class Wishes(NamedTuple):
    """How to search; None for the journal's number where one is gone on with, else for the document's."""

    generations: int | None = None
    population: int | None = None
    seed: int | None = None
    workers: int | None = None


class Files(NamedTuple):
    """Where a search writes to."""

    journal: Path | None
    output: Path | None
    plot: Path | None


def search(tuning: str, wishes: Wishes, files: Files, *, resume: bool, as_json: bool) -> None:
    """Search, tell how it goes, write what was found and show it.

    Args:
        tuning: name of a tuning, or path of one.
        wishes: how to search.
        files: where to write to.
        resume: whether to go on with the journal that is there.
        as_json: whether a program reads the result.
    """
    from posewright.cli.tune_course import Course, followed, how_to_go_on
    from posewright.cli.tune_tables import result_data, show_result
    from posewright.experiments.tuning.reading import read_tune

    task = read_tune(tuning)
    journal = files.journal or Path(f"{task.name}{JOURNAL_SUFFIX}")
    _refuse_files(task, journal, files)
    recorded = _recorded(journal, resume=resume)
    settled = _settled(wishes, task, recorded)
    course = Course(task, settled.generations, settled.population, recorded, time.perf_counter)
    try:
        with followed(course):
            found = _found(task, settled, journal, course)
    except KeyboardInterrupt:
        from posewright.cli.app import STOPPED

        how_to_go_on(tuning, journal, course)
        raise typer.Exit(STOPPED) from None
    _write(found, journal, files)
    if as_json:
        from posewright.cli.console import emit_json

        emit_json(result_data(found, settled.seed, journal, files.output, course.wall_s))
    else:
        show_result(found, journal, files.output)
    if found.gait is None:
        raise typer.Exit(NOTHING_FOUND)


class _Settled(NamedTuple):
    """How a search is done, when wishes, journal and document have been heard."""

    generations: int
    population: int | None
    seed: int
    workers: int | None


def _settled(wishes: Wishes, task: GaitTask, recorded: Journal | None) -> _Settled:
    plan = None if recorded is None else recorded.plan
    population, seed = wishes.population, wishes.seed
    return _Settled(
        wishes.generations or task.search.generations,
        plan.population if plan is not None and population is None else population,
        seed if seed is not None else 0 if plan is None else plan.seed,
        wishes.workers,
    )


def _found(task: GaitTask, settled: _Settled, journal: Path, course: Course) -> TunedGait:
    from posewright.experiments.tuning.search import tune_gait

    return tune_gait(
        task,
        generations=settled.generations,
        population=settled.population,
        seed=settled.seed,
        workers=settled.workers or _workers(course.evaluations_to_do),
        journal=journal,
        watch=course.watch,
        after=course.after,
    )


def _write(found: TunedGait, journal: Path, files: Files) -> None:
    from posewright.figures import draw_tuning, save_figure
    from posewright.gaits import write_gait

    if files.plot is not None:
        save_figure(draw_tuning(journal), files.plot)
    if files.output is not None and found.gait is not None:
        write_gait(found.gait, files.output)


def _recorded(journal: Path, *, resume: bool) -> Journal | None:
    """Return what the journal holds that is gone on with; None for a new one, or for one that only began.

    Raises:
        InputError: a journal is there and nobody said to go on with it; or the other way round.
        FormatError: it is damaged, or no journal.
    """
    from posewright.errors import InputError, Where
    from posewright.search import read_journal

    is_there = os.path.lexists(journal)
    if is_there and not resume:
        raise InputError(
            "there is a journal already",
            where=Where(journal),
            hint="--resume to go on with it, or --journal FILE for another",
        )
    if resume and not is_there:
        raise InputError("there is no journal to go on with", where=Where(journal), hint="leave --resume out")
    return read_journal(journal) if is_there and _has_a_line(journal) else None


def _has_a_line(journal: Path) -> bool:
    """Tell whether anything was written: a search that was stopped at once leaves an empty file."""
    from posewright.documents import open_ordinary
    from posewright.errors import FormatError, Where

    try:
        with open_ordinary(journal) as file:
            return b"\n" in file.read()
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", where=Where(journal)) from error


def _refuse_files(task: GaitTask, journal: Path, files: Files) -> None:
    """Say before a long search, not after it, that its result could not be written."""
    from posewright.documents import refuse_unwritable
    from posewright.errors import InputError
    from posewright.figures import refuse_unsavable

    refuse_unwritable(journal)
    written = [path for path in (journal, files.output, files.plot) if path is not None]
    if len({os.path.realpath(path) for path in written}) < len(written):
        raise InputError("two results would be one file", hint="a name each for journal, gait and picture")
    if files.plot is not None:
        refuse_unsavable(files.plot)
        refuse_overwriting(files.plot, task.path, task.gait.path)
    if files.output is not None:
        _refuse_output(task, files.output)


def _refuse_output(task: GaitTask, output: Path) -> None:
    from posewright.documents import refuse_unwritable
    from posewright.errors import InputError, Where
    from posewright.gaits import read_gait

    if output.suffix.lower() not in GAIT_SUFFIXES:
        raise InputError("not a gait's file", where=Where(output), hint="end it in .gait.yaml")
    refuse_unwritable(output)
    refuse_overwriting(output, task.path, task.gait.path)
    if output.exists():
        read_gait(output, robot=task.robot)  # it is written over: let it be a gait


def _workers(evaluations: int) -> int:
    return (os.cpu_count() or 1) if evaluations >= WORTH_WORKERS else 1
