"""`check_day`: compares the results of a contest day with its recordings, and these with themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from posewright.contests import Duel, contest_of
from posewright.documents import path_exists
from posewright.errors import PosewrightError
from posewright.recordings import read_mcap
from posewright.runs.batch import BatchRun
from posewright.runs.batch_trials import run_of
from posewright.runs.ranking import describe_contradiction
from posewright.runs.replaying import replay
from posewright.runs.tournament.day import Day, recording_of
from posewright.runs.tournament.playing import NOBODY, WINNER
from posewright.search.executors import map_in_order, open_executor


def check_day(day: Day, *, workers: int = 1) -> Iterator[tuple[str, str]]:
    """Yield each run of a day whose recording cannot be trusted, as `contest/run`, and why.

    A forged recording contradicts itself, or is not the one of which the results were made; forged results
    are not those that the judge finds in the recording. `rerun_day` proves more.

    Args:
        day: the day.
        workers: number of processes.
    """
    finished = [
        (f"{folder_name}/{run.name}", (recording_of(day, folder_name, run), run))
        for discipline in day.disciplines
        for folder_name, run in discipline.all_runs
        if run.error is None
    ]
    tasks = [task for _, task in finished]
    with open_executor(workers, len(tasks) or 1) as executor:
        for (name, _), problem in zip(finished, map_in_order(check_run, tasks, executor), strict=True):
            if problem:
                yield name, problem


def check_run(path_and_run: tuple[Path, BatchRun]) -> str:
    """Return why the result of a run cannot be trusted; empty if its recording is consistent and gives it.

    Args:
        path_and_run: path of the recording, and the run.
    """
    path, run = path_and_run
    if not path_exists(path):
        return "its recording is missing"
    try:
        recording = read_mcap(path, trust_attached_rules=True)
        if recording.digest() != run.digest:
            return "the file is not the recording of the day"
        contest = contest_of(recording.header, trust_attached_rules=True)
        if contradiction := describe_contradiction(recording, contest):
            return contradiction
        outcome = replay(recording, trust_attached_rules=True)
    except PosewrightError as error:
        return str(error)
    figures = dict(run_of(run.name, outcome).figures)
    if isinstance(contest, Duel):
        figures[WINNER] = contest.winner(outcome.score) or NOBODY
    for name, value in figures.items():
        if run.figures.get(name) != value:
            return f"its {name} is {value} by its recording, not {run.figures.get(name)}"
    return ""
