"""`check_day`: compares the results of a contest day with its recordings, and these with themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from posewright.contests import Contest, Duel, contest_of
from posewright.contests import contest as contest_named
from posewright.documents import path_exists
from posewright.documents.plain import to_plain
from posewright.errors import InputError, PosewrightError
from posewright.recordings import read_mcap
from posewright.runs.batch import Batch, BatchRun
from posewright.runs.batch_trials import run_of
from posewright.runs.ranking import describe_contradiction
from posewright.runs.replaying import replay
from posewright.runs.tournament.day import DAY, Day, Discipline, recording_of, with_jury
from posewright.runs.tournament.day_rules import DayRules, DisciplineRules, read_day_rules
from posewright.runs.tournament.playing import NOBODY, WINNER, compute_day
from posewright.runs.trial import Trial
from posewright.search.executors import map_in_order, open_executor

DERIVED_FROM_RECORDING = ("figures", "ranking", "incidents", "score", "body", "sketch")
"""Fields of a run that follow from its recording."""

DERIVED_FROM_RUNS = ("title", "share", "max_points", "jury", "places", "earned", "tables", "remarks")
"""Fields of a discipline that follow from the runs and the rules of the day."""


def check_day(day: Day, *, workers: int = 1) -> Iterator[tuple[str, str]]:
    """Yield each part of a day that cannot be trusted, and why: a run as `contest/run`, or a contest.

    A forged recording contradicts itself, or is not the one of which the results were made; forged results
    are not those that the judge finds in the recording; forged places, points and tables do not follow from
    the results and the rules of the day. `rerun_day` proves more.

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
    for discipline in day.disciplines:
        for folder_name, run in discipline.failed_runs:
            if path_exists(recording_of(day, folder_name, run)):
                yield f"{folder_name}/{run.name}", "it is stored as failed, but it has a recording"
    yield from _check_places(day)


def _check_places(day: Day) -> Iterator[tuple[str, str]]:
    """Yield each contest whose places, points or tables do not follow from the runs, and what differs."""
    try:
        rules = read_day_rules(day.name) if day.rules is None else day.rules
        computed_day = compute_day(_StoredRuns(day, rules), day.contestants, day.inspections, day.folder)
    except PosewrightError as error:
        yield DAY, f"the places cannot be computed again: {error}"
        return
    jury_points = {discipline.contest: discipline.earned for discipline in day.disciplines if discipline.jury}
    computed_day = with_jury(computed_day, jury_points)
    stored = {discipline.contest: discipline for discipline in day.disciplines}
    computed = {discipline.contest: discipline for discipline in computed_day.disciplines}
    if list(stored) != list(computed):
        yield DAY, f"the contests are {', '.join(computed)} by the rules, not {', '.join(stored)}"
        return
    for contest, discipline in computed.items():
        for field_name in DERIVED_FROM_RUNS:
            expected = getattr(discipline, field_name)
            value = getattr(stored[contest], field_name)
            if value != expected:
                yield (
                    contest,
                    _describe_difference(field_name, expected, value, source="the result of the runs"),
                )
        if discipline.all_runs != stored[contest].all_runs:
            yield contest, "it has runs that the day did not need"


@dataclass(frozen=True)
class _StoredRuns:
    """Takes the results of trials from a day that was played.

    Attributes:
        day: the day.
        rules: its rules.
    """

    day: Day
    rules: DayRules

    @property
    def seed(self) -> int:
        """The seed of everything random."""
        return self.day.seed

    def contest(self, discipline_rules: DisciplineRules) -> Contest:
        """Return the contest of a discipline, by the rules that it was played by.

        If the day's rules name others than the shipped ones for this contest, they are those attached to the
        recording of its first run without an error, which may differ from shipped ones of the same name.
        """
        contest_name = discipline_rules.contest
        discipline = self._discipline(contest_name)
        if discipline_rules.rules:
            for folder_name, run in discipline.all_runs:
                if run.error is None:
                    recording = read_mcap(recording_of(self.day, folder_name, run), trust_attached_rules=True)
                    return contest_of(recording.header, trust_attached_rules=True)
        return contest_named(contest_name)

    def run_trials(
        self, discipline_rules: DisciplineRules, folder_name: str, trials: Mapping[str, Trial]
    ) -> Batch:
        """Return the stored runs of trials; raise an InputError if there are others."""
        runs = self._discipline(discipline_rules.contest).runs.get(folder_name, ())
        names = [run.name for run in runs]
        if names != list(trials):
            raise InputError(
                f"the runs in {folder_name} are {', '.join(names) or 'none'} where the entries, the seed "
                f"and the rules of the day need {', '.join(trials)}"
            )
        return Batch("run", measure="points", settings={}, runs=runs, folder=self.day.folder / folder_name)

    def _discipline(self, contest: str) -> Discipline:
        """Return the stored discipline of a contest; raise an InputError if there is none."""
        for discipline in self.day.disciplines:
            if discipline.contest == contest:
                return discipline
        raise InputError(f"the day has no contest {contest}")


def _describe_difference(name: str, expected: object, value: object, source: str) -> str:
    """Return how a stored value differs from the one that follows from a source."""
    if isinstance(expected, Mapping) and isinstance(value, Mapping):
        key = next(key for key in (*expected, *value) if expected.get(key) != value.get(key))
        name = f"{name} of {key!r:.80}"
        expected = expected.get(key)
        value = value.get(key)
    return f"{name}: {value!r:.80} is stored, but {source} gives {expected!r:.80}"


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
    expected = run_of(run.name, outcome)
    if isinstance(contest, Duel):
        expected = replace(
            expected, figures={**expected.figures, WINNER: contest.winner(outcome.score) or NOBODY}
        )
    for field_name in DERIVED_FROM_RECORDING:
        expected_value = to_plain(getattr(expected, field_name))
        value = to_plain(getattr(run, field_name))
        if value != expected_value:
            return _describe_difference(field_name, expected_value, value, source="its recording")
    return ""
