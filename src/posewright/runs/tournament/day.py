"""The result of a contest day: disciplines with their runs, points and ranking; stored in a folder."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from posewright.contests import rank_places
from posewright.documents import (
    Node,
    open_regular_file,
    path_exists,
    read_document,
    read_record,
    write_atomically,
)
from posewright.documents.plain import to_plain
from posewright.errors import FormatError, InputError, Where
from posewright.recordings.exact_json import from_json, to_json
from posewright.runs.batch import BatchRun, spreadsheet_cell, stem_of
from posewright.runs.tournament.contestant import Contestant
from posewright.runs.tournament.day_rules import MIN_MAX_POINTS, DayRules

DAY = "day.json"
RANKING = "ranking.csv"


@dataclass(frozen=True, slots=True)
class Discipline:
    """One contest of a day.

    Attributes:
        contest: its name.
        title: the title of the contest.
        share: points of the day for the best possible result.
        max_points: points of the best possible result in the contest's own table.
        jury: whether a jury gives the points.
        runs: the runs by the name of their subfolder of the day's folder; duels have several.
        places: the places of the entries that took part.
        earned: points by entry.
        tables: groups and rounds by title; the first row is the header.
        remarks: which entries did not take part, and why.
    """

    contest: str
    title: str
    share: float
    max_points: float
    jury: bool = False
    runs: Mapping[str, tuple[BatchRun, ...]] = field(default_factory=dict)
    places: Mapping[str, int] = field(default_factory=dict)
    earned: Mapping[str, float] = field(default_factory=dict)
    tables: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def all_runs(self) -> tuple[tuple[str, BatchRun], ...]:
        """All runs in the order in which they were made, each with the name of its subfolder."""
        return tuple((folder_name, run) for folder_name, runs in self.runs.items() for run in runs)

    @property
    def failed_runs(self) -> tuple[tuple[str, BatchRun], ...]:
        """The runs that ended with an error, each with the name of its subfolder."""
        return tuple((folder_name, run) for folder_name, run in self.all_runs if run.error is not None)

    @property
    def failed(self) -> tuple[BatchRun, ...]:
        """The runs that ended with an error."""
        return tuple(run for _, run in self.failed_runs)

    def points_of(self, name: str) -> float:
        """Return what this discipline adds to an entry's points of the day."""
        return self.share * self.earned.get(name, 0.0) / self.max_points


@dataclass(frozen=True, slots=True)
class RankingRow:
    """One entry in the ranking of a day.

    Attributes:
        place: the place, from 1.
        name: the name of the entry.
        club: the club of the entry.
        points: the points of the day.
        parts: the points from each contest, by its name.
    """

    place: int
    name: str
    club: str
    points: float
    parts: Mapping[str, float]


@dataclass(frozen=True)
class Day:
    """A contest day.

    Attributes:
        name: the name of its rules.
        title: the title of its rules.
        seed: the seed of everything random.
        contestants: all entries.
        disciplines: the disciplines in the order in which they were played.
        inspections: why a contestant may not take part: the failed checks, or that it cannot be read; empty
            if it may.
        folder: where it is stored.
        rules: its rules; None if it was stored by a version that did not write them.
    """

    name: str
    title: str
    seed: int
    contestants: tuple[Contestant, ...]
    disciplines: tuple[Discipline, ...]
    inspections: Mapping[str, str]
    folder: Path = field(compare=False)
    rules: DayRules | None = None

    def __repr__(self) -> str:
        return f"<Day {self.title}: {len(self.contestants)} entries, {len(self.disciplines)} disciplines>"

    @property
    def ranking(self) -> tuple[RankingRow, ...]:
        """The entries from first to last; equal ones share a place."""
        parts = {
            contestant.name: {
                discipline.contest: round(discipline.points_of(contestant.name), 6)
                for discipline in self.disciplines
                if discipline.share
            }
            for contestant in self.contestants
        }
        sums = {name: round(sum(points.values()), 6) for name, points in parts.items()}
        ranked_places = rank_places(
            [(sums[contestant.name],) for contestant in self.contestants]
        )  # by one key
        rows = (
            RankingRow(
                place, entrant.name, entrant.club, points=sums[entrant.name], parts=parts[entrant.name]
            )
            for place, entrant in zip(ranked_places, self.contestants, strict=True)
        )
        return tuple(sorted(rows, key=lambda row: (row.place, row.name)))

    @property
    def digest(self) -> str:
        """A digest of all recordings' digests, in the order in which they were made."""
        lines = [
            f"{discipline.contest} {run.name} {run.digest}\n"
            for discipline in self.disciplines
            for _, run in discipline.all_runs
        ]
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def csv(self) -> str:
        """Return the ranking as comma-separated values."""
        text = io.StringIO()
        contests = [discipline.contest for discipline in self.disciplines if discipline.share]
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["place", "entry", "club", *contests, "points"])
        for row in self.ranking:
            parts = (row.parts[contest] for contest in contests)
            cells = (row.place, row.name, row.club, *parts, row.points)
            writer.writerow(map(spreadsheet_cell, cells))
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Return the day as plain data for JSON: its ranking, inspections, forfeits and disciplines.

        Points (`earned`) and places are by the entry's name; `failed` are the runs that ended with an error.
        """
        return {
            "day": self.name,
            "title": self.title,
            "seed": self.seed,
            "digest": self.digest,
            "folder": str(self.folder),
            "ranking": [asdict(row) for row in self.ranking],
            "inspections": dict(self.inspections),
            "forfeits": [line for contestant in self.contestants for line in contestant.forfeits],
            "disciplines": [
                {
                    "contest": discipline.contest,
                    "places": dict(discipline.places),
                    "earned": dict(discipline.earned),
                    "runs": len(discipline.all_runs),
                    "failed": [f"{run.name}: {run.error}" for run in discipline.failed],
                    "remarks": list(discipline.remarks),
                }
                for discipline in self.disciplines
            ],
        }


def recording_of(day: Day, folder_name: str, run: BatchRun) -> Path:
    """Return the path of the recording of a run of a day."""
    return day.folder / folder_name / f"{stem_of('run', run.name)}.mcap"


def save_day(day: Day) -> None:
    """Write `day.json` and the ranking as CSV into the day's folder, or raise an OutputError."""
    values = asdict(replace(day, folder=Path()))
    values.pop("folder")
    if day.rules is None:
        values.pop("rules")
    values["disciplines"] = [
        _rename_key(discipline, "max_points", "most") for discipline in values["disciplines"]
    ]
    text = to_json(to_plain(values))
    check = hashlib.sha256(text.encode()).hexdigest()
    write_atomically(day.folder / DAY, json.dumps({"day": text, "check": check}).encode())
    write_atomically(day.folder / RANKING, day.csv().encode(errors="backslashreplace"))


def read_day(folder: str | Path, jury: str | Path | None = None) -> Day:
    """Read a day from its folder, optionally with other points of the jury.

    Raises:
        FormatError: the folder contains no finished day, or one that was edited.
        DocumentError: the jury's document is invalid.
    """
    folder = Path(folder)
    path = folder / DAY
    if not path_exists(path):
        hint = "play or finish one with posewright contest run"
        raise FormatError("the folder contains no finished day", where=Where(folder), hint=hint)
    try:
        with open_regular_file(path) as file:
            document = json.loads(file.read())
        text = str(document["day"])
        if hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest() != document["check"]:
            raise ValueError("it was changed after it was written")
        day = _read_day(Node(from_json(text)), folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, InputError) as error:
        hint = "a folder of a day that `posewright contest run` has finished"
        raise FormatError(f"no day can be read here: {error}", where=Where(path), hint=hint) from error
    return day if jury is None else with_jury(day, read_jury(jury, day))


def _rename_key(values: Mapping[str, object], name: str, key: str) -> dict[str, object]:
    """Return values with another key for one of them, in the same order."""
    return {key if value_name == name else value_name: value for value_name, value in values.items()}


def _read_day(node: Node, folder: Path) -> Day:
    """Return a day from the values in its `day.json`; raise an InputError for others."""
    keys = ("name", "title", "seed", "contestants", "disciplines", "inspections")
    entries = node.fields(required=keys, optional=("rules",))
    day = Day(
        name=entries["name"].text(),
        title=entries["title"].text(),
        seed=entries["seed"].integer(low=0),
        contestants=tuple(read_record(entry, Contestant) for entry in entries["contestants"].items()),
        disciplines=tuple(map(_read_discipline, entries["disciplines"].items())),
        inspections={name: entry.text() for name, entry in entries["inspections"].fields().items()},
        folder=folder,
        rules=read_record(entries["rules"], DayRules) if "rules" in entries else None,
    )
    for contestant in day.contestants:
        if contestant.name not in day.inspections:
            entries["inspections"].fail(f"{contestant.name!r} is missing", hint="each entry is inspected")
    for discipline, entry in zip(day.disciplines, entries["disciplines"].items(), strict=True):
        for name in discipline.places:
            if name not in discipline.earned:
                entry.fields()["earned"].fail(
                    f"{name!r} is missing", hint="each entry with a place has points"
                )
    return day


def _read_discipline(node: Node) -> Discipline:
    """Return a discipline from its values in a `day.json`, where `max_points` is called `most`."""
    max_points = node.fields(required=("most",))["most"].number(low=MIN_MAX_POINTS)
    return read_record(node, Discipline, extra_keys=("most",), max_points=max_points)


def read_jury(path: str | Path, day: Day) -> dict[str, dict[str, float]]:
    """Read a jury's document, points by contest and entry: `exhibition: {ours: 8.5}`.

    Raises:
        DocumentError: a contest or entry is unknown, or there are too many points.
    """
    by_jury = {discipline.contest: discipline for discipline in day.disciplines if discipline.jury}
    names = {contestant.name for contestant in day.contestants}
    points: dict[str, dict[str, float]] = {}
    for contest, contest_node in read_document(path).fields(optional=by_jury).items():
        discipline = by_jury[contest]
        points[contest] = {}
        for name, node in contest_node.fields(optional=names).items():
            if name not in discipline.earned:
                node.fail(f"{name!r} took no part in the {contest}", hint="leave it out")
            points[contest][name] = node.number(low=0.0, high=discipline.max_points)
    return points


def with_jury(day: Day, points: Mapping[str, Mapping[str, float]]) -> Day:
    """Return the day with a jury's points, by contest and entry, and the places that follow from them.

    An entry without points of the jury gets 0; a contest without any keeps what it has.
    """
    disciplines = []
    for discipline in day.disciplines:
        if discipline.contest not in points:
            disciplines.append(discipline)
            continue
        earned = {name: points[discipline.contest].get(name, 0.0) for name in discipline.earned}
        ranked_places = rank_places([(value,) for value in earned.values()])  # by one key, the points
        places = dict(zip(earned, ranked_places, strict=True))
        disciplines.append(replace(discipline, earned=earned, places=places))
    return replace(day, disciplines=tuple(disciplines))
