"""Play a whole day: inspection, every contest, groups and a bracket for duels, and what it all earns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from posewright.contests import (
    Contest,
    DayContest,
    DefaultEntry,
    Duel,
    RankedScore,
    Score,
    contest,
    judge,
    rank_places,
)
from posewright.contests import earned_by_places as shared_points
from posewright.documents import lock_folders, path_exists, read_text, write_atomically
from posewright.errors import InputError
from posewright.recordings import read_mcap, write_mcap
from posewright.runs.batch import (
    RESULTS,
    Batch,
    BatchRun,
    digest_of,
    make_folder,
    run_batch,
    stem_of,
    versions,
)
from posewright.runs.batch_trials import run_of
from posewright.runs.inspection import inspect_robot
from posewright.runs.python_programs import PythonKind
from posewright.runs.run import run
from posewright.runs.tournament import draw
from posewright.runs.tournament.contestant import Contestant, read_contestants
from posewright.runs.tournament.day import (
    DAY,
    Day,
    Discipline,
    read_day,
    read_jury,
    save_day,
    with_jury,
)
from posewright.runs.tournament.day_rules import Counting, DayRules, read_day_rules
from posewright.runs.trial import Trial, trial_run
from posewright.search.plan import require_seed

WINNER = "winner"
"""The figure of a duel that says which role has won."""

OnRun = Callable[[str, BatchRun, bool], None]
"""Is told of which contest a run is, of the run, and whether it was done before."""


def play_day(
    folders: Iterable[str | Path],
    folder: str | Path,
    *,
    rules: str | Path = "ceabot_2013",
    seed: int = 1,
    jury: str | Path | None = None,
    workers: int = 1,
    executor: Executor | None = None,
    on_run: OnRun | None = None,
    trust_python: bool = False,
) -> Day:
    """Play all contests of a day with all entries, and keep everything in a folder.

    Asked for again, what is done is not done again: a day that was stopped, however, goes on, and its ranking
    and digests are those of one that was not. Everybody meets the same field; bouts have seeds of their own.

    Args:
        folders: of the entries, or folders that hold some.
        folder: where everything is kept; made where it is not there.
        rules: of the day, by name or from a document.
        seed: of all that is drawn: fields, groups, sides.
        jury: a document with the points of people, where people give them.
        workers: processes that do it; 1 for this one alone.
        executor: who does it instead; its workers must see the folder.
        on_run: is told of each run.
        trust_python: whether entries may bring programs in Python, which can do to this machine whatever any
            program of its user can.

    Raises:
        InputError: there is no entry, one is not as it should be, or the folder holds another day.
        OutputError: nothing can be written there, or another program is using it.
        UnavailableError: a worker process ended by itself.
    """
    by, folder = read_day_rules(rules), Path(folder)
    contestants = read_contestants(folders)
    if not contestants:
        raise InputError(
            "there is no entry", hint="name folders with an entry.yaml: docs/how-to-contest-day.md"
        )
    if not trust_python:
        _check_no_python(contestants)
    digests = {contestant.name: contestant.digest() for contestant in contestants}
    make_folder(folder)
    with lock_folders(folder, wait=False):
        common = _Common(by, require_seed(seed), folder, digests, workers, executor, on_run)
        day = _played(common, contestants)
        points: Mapping[str, Mapping[str, float]] = {}
        if jury is not None:
            points = read_jury(jury, day)
        elif path_exists(folder / DAY):  # what people said when it was played before
            points = {one.contest: one.earned for one in read_day(folder).disciplines if one.jury}
        day = with_jury(day, points)
        save_day(day)
    return day


def _check_no_python(contestants: Sequence[Contestant]) -> None:
    """Raise an InputError where an entry brings a program in Python."""
    for contestant in contestants:
        for discipline, behaviour in contestant.behaviours.items():
            if PythonKind().recognises(behaviour):
                raise InputError(
                    f"the entry {contestant.name!r} brings a program in Python for {discipline}: {behaviour}",
                    hint="it could do anything to this machine; --trust-python runs it all the same",
                )


@dataclass(frozen=True)
class _Common:
    """What all disciplines of a day have in common."""

    rules: DayRules
    seed: int
    folder: Path
    digests: Mapping[str, str]
    workers: int
    executor: Executor | None
    on_run: OnRun | None

    def batch(self, counting: Counting, kept_in: str, trials: Mapping[str, Trial]) -> Batch:
        """BatchRun trials of one contest, and keep them in a folder of that name."""
        settings = {
            "contest": counting.contest,
            "seed": str(self.seed),
            "rules": digest_of({"": read_text(Path(counting.rules))})
            if counting.rules
            else "the contest's own",
            "trials": digest_of({name: f"{trial.seed}" for name, trial in trials.items()}),
            **{f"entry {name}": digest for name, digest in self.digests.items()},
            **versions(),
        }
        folder = self.folder / kept_in
        batch = run_batch(
            _record,
            trials,
            key="run",
            measure="points",
            settings=settings,
            folder=folder,
            workers=self.workers,
            executor=self.executor,
            on_run=self.on_run and partial(self.on_run, counting.contest),
        )
        write_atomically(folder / RESULTS, batch.csv().encode(errors="backslashreplace"))
        return batch


def _record(trial: Trial, record: Path | None) -> BatchRun:
    """BatchRun a trial and write its recording; of a duel the run says who has won."""
    outcome = run(trial_run(trial))
    if record is not None:
        write_mcap(outcome.recording, record)
    finished = run_of(trial.name, outcome)
    judging = _contest(trial.contest, trial.rules)
    if not isinstance(judging, Duel):
        return finished
    winner = judging.winner(outcome.score) or "nobody"
    return replace(finished, figures={**finished.figures, WINNER: winner})


def _contest(name: str, rules: str) -> Contest:
    return contest(name, read_text(Path(rules)) if rules else None, rules)


def _played(common: _Common, contestants: Sequence[Contestant]) -> Day:
    inspections = {one.name: _inspected(one) for one in contestants}
    allowed = [one for one in contestants if not inspections[one.name]]
    disciplines: dict[str, Discipline] = {}
    for counting in common.rules.counting:
        held = _contest(counting.contest, counting.rules)
        ready, remarks = _ready(counting, allowed, disciplines)
        discipline = Discipline(counting.contest, held.title, counting.share, counting.most, counting.jury)
        if ready and isinstance(held, Duel):
            ring = _Ring(common, counting, tuple(held.entries), {one.name: one for one in ready})
            discipline = _duels(ring, held, discipline)
        elif ready:
            discipline = _solo(common, counting, held, ready, discipline)
        disciplines[counting.contest] = replace(discipline, remarks=tuple(remarks))
    by, told = common.rules, tuple(disciplines.values())
    return Day(by.name, by.title, common.seed, tuple(contestants), told, inspections, common.folder)


def _inspected(contestant: Contestant) -> str:
    """Return why an entry may not take part; empty where it may."""
    found = inspect_robot(contestant.robot)
    return "; ".join(str(verdict) for verdict in found.verdicts if not verdict.passed)


def _ready(
    counting: Counting, allowed: Sequence[Contestant], disciplines: Mapping[str, Discipline]
) -> tuple[list[Contestant], list[str]]:
    """Return who takes part in a contest, and why others do not."""
    ready, remarks = [], []
    before = disciplines.get(counting.needs)
    passed = None if before is None else {run.name for _, run in before.all_runs if _went_well(run)}
    for one in allowed:
        if counting.contest not in one.behaviours:
            remarks.append(f"{one.name} has no behaviour for it")
        elif passed is not None and one.name not in passed:
            remarks.append(f"{one.name} has not passed {counting.needs}")
        else:
            ready.append(one)
    return ready, remarks


def _went_well(run: BatchRun) -> bool:
    flags = [one for one in run.figures.values() if type(one) is bool]
    return run.error is None and all(flags[:1])


def _solo(
    common: _Common, counting: Counting, held: Contest, ready: Sequence[Contestant], discipline: Discipline
) -> Discipline:
    """Let everybody have a run, on the same field, and place them by the contest's own ranking."""
    trials = {one.name: _trial(one.name, one, counting, common.seed) for one in ready}
    batch = common.batch(counting, counting.contest, trials)
    done = batch.done
    placed = dict(zip((run.name for run in done), rank_places([run.ranking for run in done]), strict=True))
    late = dict.fromkeys((run.name for run in batch.failed), len(done) + 1)
    earned = dict.fromkeys(trials, 0.0)
    discipline = replace(discipline, runs={counting.contest: batch.runs})
    if counting.jury:  # until it has said something, all are equal
        return replace(discipline, places=dict.fromkeys(trials, 1), earned=earned)
    return replace(discipline, places={**placed, **late}, earned=earned | _earned(counting, held, batch))


def _earned(counting: Counting, held: Contest, batch: Batch) -> dict[str, float]:
    """Return what the runs earn by the contest's own table, else by that of the day's rules."""
    names = [run.name for run in batch.done]
    if isinstance(held, DayContest):
        scores = [_score(held, batch, run) for run in batch.done]
        return dict(
            zip(names, held.earned([one for one in scores if isinstance(one, RankedScore)]), strict=True)
        )
    if counting.places:
        placed = rank_places([run.ranking for run in batch.done])
        return dict(zip(names, shared_points(placed, counting.places), strict=True))
    return {run.name: float(run.figures.get("points") or 0.0) for run in batch.done}


def _score(held: Contest, batch: Batch, run: BatchRun) -> Score:
    """Judge the recording of a run once more: what a contest's own table counts stands in its score."""
    folder = batch.folder or Path()  # there is one: all of a day is kept
    return judge(read_mcap(folder / f"{stem_of(batch.key, run.name)}.mcap"), held)


def _trial(
    name: str,
    one: Contestant,
    counting: Counting,
    seed: int,
    opponents: Mapping[str, DefaultEntry] | None = None,
) -> Trial:
    return Trial(
        name,
        one.robot,
        one.behaviours[counting.contest],
        counting.contest,
        counting.rules,
        seed=seed,
        opponents=opponents or {},
        options=one.options.get(counting.contest, {}),
    )


def _duels(ring: _Ring, held: Duel, discipline: Discipline) -> Discipline:
    """Let them meet in groups, everybody everybody, and the first of each in a bracket."""
    groups = draw.draw_groups([*ring.contestants], ring.common.rules.group_size, ring.common.seed)
    pairs = [pair for group in groups for pair in draw.pairs_of(group)]
    results = ring.meet(f"{discipline.contest}-groups", pairs)
    standing = [draw.standings(group, results) for group in groups]
    if len(groups) == 1:
        final = {one.name: place for place, one in enumerate(standing[0], 1)}
    else:
        final = draw.all_places(ring.bracket(draw.qualified(standing, ring.common.rules.advancing)), standing)
    by_place = dict(sorted(final.items(), key=lambda told: (told[1], told[0])))
    points = held.earned_by_places([*by_place.values()])
    tables = {
        f"Group {chr(ord('A') + number % 26)}{number // 26 or ''}": (
            ("entry", "points", "won"),
            *((one.name, str(one.points), str(one.wins)) for one in group),
        )
        for number, group in enumerate(standing)
    }
    earned = dict(zip(by_place, points, strict=True))
    return replace(
        discipline, runs=ring.runs, places=by_place, earned=earned, tables={**tables, **ring.tables}
    )


@dataclass
class _Ring:
    """Where two meet at a time; keeps the runs by round, and a table of each round of the bracket."""

    common: _Common
    counting: Counting
    roles: tuple[str, ...]
    contestants: Mapping[str, Contestant]
    runs: dict[str, tuple[BatchRun, ...]] = field(default_factory=dict)
    tables: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)

    def meet(self, kept_in: str, pairs: Sequence[draw.Pair]) -> dict[draw.Pair, str | None]:
        """Let pairs meet, and return who has won each bout, None for nobody."""
        if not pairs:
            return {}
        played = sum(map(len, self.runs.values()))
        bouts = [self._bout(a, b, number) for number, (a, b) in enumerate(pairs, played)]
        batch = self.common.batch(self.counting, kept_in, {bout.name: bout for bout in bouts})
        self.runs[kept_in] = batch.runs
        won = [run.figures.get(WINNER) for run in batch.runs]
        sides = [dict(zip(self.roles, pair, strict=True)) for pair in pairs]
        return {pair: side.get(str(role)) for pair, side, role in zip(pairs, sides, won, strict=True)}

    def bracket(self, seeds: Sequence[str]) -> dict[str, int]:
        """Play a bracket to its end, and return its places; of a draw the better seed goes on."""
        left, losers = [*draw.first_round(seeds)], []
        number = 0
        while left:
            number += 1
            kept_in = f"{self.counting.contest}-round-{number}"
            pairs = [(a, b) for a, b in left if b is not None]
            results = self.meet(kept_in, pairs)
            winners = [a if b is None else results[a, b] or min(a, b, key=seeds.index) for a, b in left]
            losers.append(
                [b if winner == a else a for (a, b), winner in zip(left, winners, strict=True) if b]
            )
            rows = ((a, b or "bye", winner) for (a, b), winner in zip(left, winners, strict=True))
            self.tables[_round(len(left))] = (("", "", "goes on"), *rows)
            left = [*draw.next_round(winners)]
        return draw.bracket_places(losers, winners[0])

    def _bout(self, a: str, b: str, number: int) -> Trial:
        """Return the trial of a bout, the roles in the order of the pair."""
        other = DefaultEntry(self.contestants[b].robot, self.contestants[b].behaviours[self.counting.contest])
        opponents = dict.fromkeys(self.roles[1:], other)
        name = " - ".join(f"{who} ({role})" for who, role in zip((a, b), self.roles, strict=True))
        return _trial(name, self.contestants[a], self.counting, self.common.seed + number, opponents)


def _round(bouts: int) -> str:
    names = {1: "Final", 2: "Semifinals", 4: "Quarterfinals"}
    return names.get(bouts, f"Round of {2 * bouts}")
