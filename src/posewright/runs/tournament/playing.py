"""`play_day`: inspection, every contest, groups and a bracket for duels, and the points of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import Protocol

from posewright.contests import (
    Contest,
    DayContest,
    DefaultEntry,
    Duel,
    RankedScore,
    Score,
    judge,
    rank_places,
)
from posewright.contests import contest as contest_named
from posewright.contests import earned_by_places as shared_points
from posewright.documents import create_folder, lock_folders, path_exists, read_text, write_atomically
from posewright.errors import FormatError, InputError
from posewright.recordings import read_mcap, write_mcap
from posewright.runs.batch import (
    RESULTS,
    Batch,
    BatchRun,
    digest_of,
    run_batch,
    stem_of,
    versions,
)
from posewright.runs.batch_trials import run_of
from posewright.runs.inspection import inspect_robot
from posewright.runs.run import run
from posewright.runs.tournament import draw
from posewright.runs.tournament.contestant import Contestant, check_contestant, read_contestants
from posewright.runs.tournament.day import (
    DAY,
    Day,
    Discipline,
    read_day,
    read_jury,
    save_day,
    with_jury,
)
from posewright.runs.tournament.day_rules import DayRules, DisciplineRules, read_day_rules
from posewright.runs.trial import Trial, trial_run
from posewright.search.plan import require_seed

WINNER = "winner"
"""Name of the figure of a duel that holds the role of the winner."""

NOBODY = "nobody"
"""Its value after a draw."""

OnRun = Callable[[str, BatchRun, bool], None]
"""Called with the name of a run's contest, the run, and whether the folder already held it."""

OnForfeit = Callable[[str], None]
"""Called with a line that says which entry forfeits which contest, and why."""


def play_day(
    folders: str | Path | Iterable[str | Path],
    folder: str | Path,
    *,
    rules: str | Path = "ceabot_2013",
    seed: int = 1,
    jury: str | Path | None = None,
    workers: int = 1,
    executor: Executor | None = None,
    on_run: OnRun | None = None,
    on_forfeit: OnForfeit | None = None,
    trust_python: bool = False,
) -> Day:
    """Play all contests of a day with all entries, and store everything in a folder.

    A second call repeats only what is missing: a day that was interrupted continues, and its ranking and
    digests are those of an uninterrupted one. All entries meet the same field; bouts have seeds of their own.
    An entry that cannot be read forfeits: all contests, or those whose programs cannot be read.

    Args:
        folders: folders of entries, or folders that contain some; or one such folder.
        folder: where everything is stored; created if it does not exist.
        rules: the rules of the day, by name or path.
        seed: the seed of everything random: fields, groups, sides.
        jury: path of a document with the points of a jury, for contests that have one.
        workers: number of processes; 1 runs in this one.
        executor: runs the trials instead; its workers must see the folder.
        on_run: called with each run.
        on_forfeit: called with each forfeit before anything is played.
        trust_python: whether entries may contain Python programs, which can do anything to this machine
            that its user can.

    Raises:
        InputError: there is no entry, two entries have the same name, one contains Python that is not
            trusted, or the folder holds another day.
        OutputError: the folder cannot be written, or another program is using it.
        UnavailableError: a worker process ended unexpectedly.
    """
    day_rules = read_day_rules(rules)
    folder = Path(folder)
    contestants = read_contestants((folders,) if isinstance(folders, str | Path) else folders)
    if not contestants:
        raise InputError(
            "no entries found", hint="name folders with an entry.yaml, see docs/how-to-contest-day.md"
        )
    if not trust_python:
        _require_no_python(contestants)
    contestants = tuple(check_contestant(entry, trust_python=trust_python) for entry in contestants)
    if on_forfeit is not None:
        for contestant in contestants:
            for forfeit in contestant.forfeits:
                on_forfeit(forfeit)
    digests = {contestant.name: contestant.digest() for contestant in contestants}
    create_folder(folder)
    with lock_folders(folder, wait=False):
        runner = _DayRunner(day_rules, require_seed(seed), folder, digests, workers, executor, on_run)
        inspections = {contestant.name: _inspection_faults(contestant) for contestant in contestants}
        day = compute_day(runner, contestants, inspections, folder)
        points: Mapping[str, Mapping[str, float]] = {}
        if jury is not None:
            points = read_jury(jury, day)
        elif path_exists(folder / DAY):  # keep the jury's points of an earlier call
            disciplines = read_day(folder).disciplines
            points = {discipline.contest: discipline.earned for discipline in disciplines if discipline.jury}
        day = with_jury(day, points)
        save_day(day)
    return day


def _require_no_python(contestants: Sequence[Contestant]) -> None:
    """Raise an InputError if an entry contains a Python program, or an option that names a Python file."""
    for contestant in contestants:
        for discipline, program in contestant.python_programs().items():
            raise InputError(
                f"the entry {contestant.name!r} has a Python program for {discipline}: {program}",
                hint="it could do anything to this machine; --trust-python runs it anyway",
            )


class TrialRunner(Protocol):
    """Has the results of a day's trials: runs them, or takes them from a day that was played."""

    @property
    def rules(self) -> DayRules:
        """The rules of the day."""

    @property
    def seed(self) -> int:
        """The seed of everything random."""

    def contest(self, discipline_rules: DisciplineRules) -> Contest:
        """Return the contest of a discipline, with its rules."""

    def run_trials(
        self, discipline_rules: DisciplineRules, folder_name: str, trials: Mapping[str, Trial]
    ) -> Batch:
        """Return the runs of trials of one contest, in their order, in a subfolder of the day's folder.

        Args:
            discipline_rules: the rules of the contest.
            folder_name: name of the subfolder.
            trials: the trials by the names of their runs.
        """


@dataclass(frozen=True)
class _DayRunner:
    """Runs the trials of a day, and stores them.

    Attributes:
        rules: the rules of the day.
        seed: the seed of everything random.
        folder: where the day is stored.
        digests: the digest of each entry's documents, by the entry's name.
        workers: number of processes.
        executor: runs the trials instead; None for own processes.
        on_run: called with each run; None for no calls.
    """

    rules: DayRules
    seed: int
    folder: Path
    digests: Mapping[str, str]
    workers: int
    executor: Executor | None
    on_run: OnRun | None

    def contest(self, discipline_rules: DisciplineRules) -> Contest:
        """Return the contest of a discipline, with its own rules or those that the day names."""
        return _contest(discipline_rules.contest, discipline_rules.rules)

    def run_trials(
        self, discipline_rules: DisciplineRules, folder_name: str, trials: Mapping[str, Trial]
    ) -> Batch:
        """Run trials of one contest, and store them in a subfolder of the day's folder."""
        if discipline_rules.rules:
            rules_digest = digest_of(
                {"": read_text(Path(discipline_rules.rules))}
            )  # of a text without a name
        else:
            rules_digest = "the contest's own"
        settings = {
            "contest": discipline_rules.contest,
            "seed": str(self.seed),
            "rules": rules_digest,
            "trials": digest_of({name: f"{trial.seed}" for name, trial in trials.items()}),
            **{f"entry {name}": digest for name, digest in self.digests.items()},
            **versions(),
        }
        folder = self.folder / folder_name
        on_run = None if self.on_run is None else partial(self.on_run, discipline_rules.contest)
        batch = run_batch(
            _run_trial,
            trials,
            key="run",
            measure="points",
            settings=settings,
            folder=folder,
            workers=self.workers,
            executor=self.executor,
            on_run=on_run,
        )
        write_atomically(folder / RESULTS, batch.csv().encode(errors="backslashreplace"))
        return batch


def _run_trial(trial: Trial, recording_path: Path | None) -> BatchRun:
    """Run a trial and write its recording; the figures of a duel name the winner."""
    outcome = run(trial_run(trial))
    if recording_path is not None:
        write_mcap(outcome.recording, recording_path)
    batch_run = run_of(trial.name, outcome)
    contest = _contest(trial.contest, trial.rules)
    if not isinstance(contest, Duel):
        return batch_run
    winner = contest.winner(outcome.score) or NOBODY
    return replace(batch_run, figures={**batch_run.figures, WINNER: winner})


def _contest(name: str, rules_path: str) -> Contest:
    """Return a contest with the rules at a path, or with its own if the path is empty."""
    return contest_named(name, read_text(Path(rules_path)) if rules_path else None, rules_path)


def compute_day(
    runner: TrialRunner, contestants: Sequence[Contestant], inspections: Mapping[str, str], folder: Path
) -> Day:
    """Return a day of all contests, without the points of a jury.

    Args:
        runner: has the results of the trials.
        contestants: all entries.
        inspections: why a contestant may not take part, by its name; empty if it may.
        folder: where the day is stored.
    """
    admitted = [contestant for contestant in contestants if not inspections.get(contestant.name)]
    disciplines: dict[str, Discipline] = {}
    for discipline_rules in runner.rules.disciplines:
        contest = runner.contest(discipline_rules)
        participants, remarks = _participants(discipline_rules, admitted, disciplines)
        discipline = Discipline(
            contest=discipline_rules.contest,
            title=contest.title,
            share=discipline_rules.share,
            max_points=discipline_rules.max_points,
            jury=discipline_rules.jury,
        )
        if participants and isinstance(contest, Duel):
            by_name = {contestant.name: contestant for contestant in participants}
            bouts = _Bouts(runner, discipline_rules, roles=tuple(contest.entries), contestants=by_name)
            discipline = _play_duels(bouts, contest, discipline)
        elif participants:
            discipline = _play_solo(runner, discipline_rules, contest, participants, discipline)
        disciplines[discipline_rules.contest] = replace(discipline, remarks=tuple(remarks))
    return Day(
        name=runner.rules.name,
        title=runner.rules.title,
        seed=runner.seed,
        contestants=tuple(contestants),
        disciplines=tuple(disciplines.values()),
        inspections=inspections,
        folder=folder,
        rules=runner.rules,
    )


def _inspection_faults(contestant: Contestant) -> str:
    """Return why an entry cannot be read, or the failed checks of its inspection; empty if it may enter."""
    if contestant.error:
        return contestant.error
    inspection = inspect_robot(contestant.robot)
    return "; ".join(str(verdict) for verdict in inspection.verdicts if not verdict.passed)


def _participants(
    discipline_rules: DisciplineRules, admitted: Sequence[Contestant], disciplines: Mapping[str, Discipline]
) -> tuple[list[Contestant], list[str]]:
    """Return who takes part in a contest, and for each of the others a remark with the reason.

    Args:
        discipline_rules: the rules of the contest, which may need another contest to be passed.
        admitted: the entries that passed the inspection.
        disciplines: the contests that were played before, by name.
    """
    participants = []
    remarks = []
    required = disciplines.get(discipline_rules.needs)
    names_passed: set[str] | None = None
    if required is not None:
        names_passed = {run.name for _, run in required.all_runs if _is_success(run)}
    for contestant in admitted:
        if discipline_rules.contest not in contestant.behaviours:
            remarks.append(f"{contestant.name} has no behaviour for it")
        elif discipline_rules.contest in contestant.program_errors:
            error = contestant.program_errors[discipline_rules.contest]
            remarks.append(f"{contestant.name} forfeits: {error}")
        elif names_passed is not None and contestant.name not in names_passed:
            remarks.append(f"{contestant.name} has not passed {discipline_rules.needs}")
        else:
            participants.append(contestant)
    return participants, remarks


def _is_success(run: BatchRun) -> bool:
    """Return whether a run had no error, and its first boolean figure, if it has one, is true."""
    if run.error is not None:
        return False
    return next((value for value in run.figures.values() if type(value) is bool), True)


def _play_solo(
    runner: TrialRunner,
    discipline_rules: DisciplineRules,
    contest: Contest,
    participants: Sequence[Contestant],
    discipline: Discipline,
) -> Discipline:
    """Run every participant once on the same field, and rank them by the contest's own ranking.

    Failed runs share the last place and earn nothing. If a jury gives the points, all share the first place.

    Args:
        runner: has the results of the trials.
        discipline_rules: the rules of the contest in the day.
        contest: the contest.
        participants: the entries that take part.
        discipline: the result without runs, places and points.
    """
    trials = {
        contestant.name: _trial(contestant.name, contestant, discipline_rules, runner.seed)
        for contestant in participants
    }
    batch = runner.run_trials(discipline_rules, discipline_rules.contest, trials)
    earned = dict.fromkeys(trials, 0.0)
    discipline = replace(discipline, runs={discipline_rules.contest: batch.runs})
    if discipline_rules.jury:  # until the jury's points are there, all are equal
        return replace(discipline, places=dict.fromkeys(trials, 1), earned=earned)
    place_of_rank = rank_places([run.ranking for run in batch.completed])
    place_of_name = {run.name: place for run, place in zip(batch.completed, place_of_rank, strict=True)}
    last_place = len(batch.completed) + 1
    place_of_name |= {failed_run.name: last_place for failed_run in batch.failed}
    return replace(
        discipline, places=place_of_name, earned=earned | _points_earned(discipline_rules, contest, batch)
    )


def _points_earned(discipline_rules: DisciplineRules, contest: Contest, batch: Batch) -> dict[str, float]:
    """Return the points of each run, by the contest's own table or else by the day's.

    Raises:
        FormatError: the stored points of a run are no number.
    """
    names = [run.name for run in batch.completed]
    if isinstance(contest, DayContest):
        scores = [_score(contest, batch, run) for run in batch.completed]
        points = contest.earned([score for score in scores if isinstance(score, RankedScore)])
        return dict(zip(names, points, strict=True))
    if discipline_rules.places:
        points = shared_points(rank_places([run.ranking for run in batch.completed]), discipline_rules.places)
        return dict(zip(names, points, strict=True))
    earned: dict[str, float] = {}
    for batch_run in batch.completed:
        run_points = batch_run.figures.get("points") or 0.0
        if isinstance(run_points, bool) or not isinstance(run_points, int | float):
            raise FormatError(f"the points of {batch_run.name} are {run_points!r:.80}", hint="a number")
        earned[batch_run.name] = float(run_points)
    return earned


def _score(contest: Contest, batch: Batch, run: BatchRun) -> Score:
    """Judge the recording of a run again: a contest's own table of points needs the whole score."""
    folder = batch.folder or Path()  # a day's batches always have a folder
    return judge(read_mcap(folder / f"{stem_of(batch.key, run.name)}.mcap"), contest)


def _trial(
    name: str,
    contestant: Contestant,
    discipline_rules: DisciplineRules,
    seed: int,
    opponents: Mapping[str, DefaultEntry] | None = None,
) -> Trial:
    """Return the trial of a contestant in a contest.

    Args:
        name: name of the run.
        contestant: who takes the first role.
        discipline_rules: the rules of the contest in the day.
        seed: the seed of everything random.
        opponents: who takes the other roles; None if there are none.
    """
    return Trial(
        name,
        contestant.robot,
        behaviour=contestant.behaviours[discipline_rules.contest],
        contest=discipline_rules.contest,
        rules=discipline_rules.rules,
        seed=seed,
        opponents=opponents or {},
        options=contestant.options.get(discipline_rules.contest, {}),
    )


def _play_duels(bouts: _Bouts, contest: Duel, discipline: Discipline) -> Discipline:
    """Play round robins in groups, then, if there are several, a bracket of the first of each group."""
    rules = bouts.runner.rules
    groups = draw.draw_groups([*bouts.contestants], rules.group_size, bouts.runner.seed)
    pairs = [pair for group in groups for pair in draw.pairs_of(group)]
    winners = bouts.play(f"{discipline.contest}-groups", pairs)
    standings = [draw.standings(group, winners) for group in groups]
    if len(groups) == 1:
        place_of_name = {standing.name: place for place, standing in enumerate(standings[0], 1)}
    else:
        bracket_places = bouts.play_bracket(draw.qualified(standings, rules.advancing))
        place_of_name = draw.all_places(bracket_places, standings)
    names = sorted(place_of_name, key=lambda name: (place_of_name[name], name))
    place_of_name = {name: place_of_name[name] for name in names}
    points = contest.earned_by_places([*place_of_name.values()])
    tables = {}
    for group_index, group in enumerate(standings):
        n_full_alphabets, letter = divmod(group_index, len(ascii_uppercase))
        title = f"Group {ascii_uppercase[letter]}{n_full_alphabets or ''}"
        rows = ((standing.name, str(standing.points), str(standing.wins)) for standing in group)
        tables[title] = (("entry", "points", "won"), *rows)
    return replace(
        discipline,
        runs=bouts.runs,
        places=place_of_name,
        earned=dict(zip(place_of_name, points, strict=True)),
        tables={**tables, **bouts.tables},
    )


@dataclass
class _Bouts:
    """Plays the bouts of a duel.

    Attributes:
        runner: has the results of the trials.
        discipline_rules: the rules of the duel in the day.
        roles: the two roles of the duel.
        contestants: the entries that take part, by name.
        runs: filled with the runs of each round, by the name of its subfolder.
        tables: filled with a table for each round of the bracket, by its title.
    """

    runner: TrialRunner
    discipline_rules: DisciplineRules
    roles: tuple[str, ...]
    contestants: Mapping[str, Contestant]
    runs: dict[str, tuple[BatchRun, ...]] = field(default_factory=dict)
    tables: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)

    def play(self, folder_name: str, pairs: Sequence[draw.Pair]) -> dict[draw.Pair, str | None]:
        """Play one bout for each pair, and add the runs to `runs`.

        Returns:
            The name of the winner of each pair; None for a draw.
        """
        if not pairs:
            return {}
        first_number = sum(map(len, self.runs.values()))
        trials = [self._bout(a, b, number) for number, (a, b) in enumerate(pairs, first_number)]
        batch = self.runner.run_trials(
            self.discipline_rules, folder_name, {trial.name: trial for trial in trials}
        )
        self.runs[folder_name] = batch.runs
        winners = {}
        for pair, bout in zip(pairs, batch.runs, strict=True):
            name_of_role = dict(zip(self.roles, pair, strict=True))
            winners[pair] = name_of_role.get(str(bout.figures.get(WINNER)))
        return winners

    def play_bracket(self, seeds: Sequence[str]) -> dict[str, int]:
        """Play a bracket to its end, add its tables to `tables`, and return the places by name.

        After a draw the better seed advances.

        Args:
            seeds: the names of those that play, from best to worst.
        """
        matches: Sequence[tuple[str, str | None]] = draw.first_round(seeds)
        losers_of_rounds: list[list[str]] = []
        winners: list[str] = []
        while matches:
            round_number = len(losers_of_rounds) + 1
            pairs = [(a, b) for a, b in matches if b is not None]
            winner_of_pair = self.play(f"{self.discipline_rules.contest}-round-{round_number}", pairs)
            winners = []
            losers = []
            rows = []
            for a, b in matches:
                if b is None:  # a bye
                    winner = a
                else:
                    winner = winner_of_pair[a, b] or min(a, b, key=seeds.index)
                    losers.append(b if winner == a else a)
                winners.append(winner)
                rows.append((a, b or "bye", winner))
            losers_of_rounds.append(losers)
            self.tables[_round_title(len(matches))] = (("", "", "goes on"), *rows)
            matches = draw.next_round(winners)
        return draw.bracket_places(losers_of_rounds, winners[0])

    def _bout(self, a: str, b: str, number: int) -> Trial:
        """Return the trial of a bout, with the roles in the order of the pair.

        Args:
            a: name of the first entry.
            b: name of the second entry.
            number: the number of the bout among all bouts of the duel, from 0, which sets its seed.
        """
        opponent = DefaultEntry(
            self.contestants[b].robot, self.contestants[b].behaviours[self.discipline_rules.contest]
        )
        opponents = dict.fromkeys(self.roles[1:], opponent)
        name = " - ".join(f"{entry} ({role})" for entry, role in zip((a, b), self.roles, strict=True))
        return _trial(
            name,
            self.contestants[a],
            self.discipline_rules,
            seed=self.runner.seed + number,
            opponents=opponents,
        )


def _round_title(n_bouts: int) -> str:
    """Return the title of a bracket's round with a number of bouts."""
    titles = {1: "Final", 2: "Semifinals", 4: "Quarterfinals"}
    return titles.get(n_bouts, f"Round of {2 * n_bouts}")
