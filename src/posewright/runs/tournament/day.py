"""What came of a day: disciplines with their runs, what each entry earned, the ranking; kept in a folder."""

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
from posewright.documents import open_regular_file, path_exists, read_document, write_atomically
from posewright.documents.plain import to_plain
from posewright.errors import FormatError, InputError, Where
from posewright.recordings.exact_json import from_json, to_json
from posewright.runs.batch import BatchRun, stem_of
from posewright.runs.tournament.contestant import Contestant

DAY, RANKING = "day.json", "ranking.csv"
"""What a day's folder holds besides a folder for each discipline."""


@dataclass(frozen=True, slots=True)
class Discipline:
    """One contest of a day.

    Attributes:
        contest: its name.
        runs: by the folder they are kept in, in the day's folder: several for duels.
        places: of the entries that took part.
        earned: by the contest's own table of points.
        tables: further tables by their titles, groups and rounds: the heads first.
        remarks: who did not take part, and why.
    """

    contest: str
    title: str
    share: float
    most: float
    jury: bool = False
    runs: Mapping[str, tuple[BatchRun, ...]] = field(default_factory=dict)
    places: Mapping[str, int] = field(default_factory=dict)
    earned: Mapping[str, float] = field(default_factory=dict)
    tables: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def all_runs(self) -> tuple[tuple[str, BatchRun], ...]:
        """All runs, each with the folder it is kept in, in the order in which they were made."""
        return tuple((kept_in, run) for kept_in, runs in self.runs.items() for run in runs)

    @property
    def failed(self) -> tuple[BatchRun, ...]:
        """Those that ended with an error."""
        return tuple(run for _, run in self.all_runs if run.error is not None)

    def counts(self, name: str) -> float:
        """Return what an entry gets for it in the sum of the day."""
        return self.share * self.earned.get(name, 0.0) / self.most


@dataclass(frozen=True, slots=True)
class Row:
    """One entry in the ranking of a day: its place, its sum, and what it is made of, by contest."""

    place: int
    name: str
    club: str
    points: float
    parts: Mapping[str, float]


@dataclass(frozen=True)
class Day:
    """A day: its rules by name, who took part, what was played.

    Attributes:
        folder: where it is kept.
        inspections: why an entry may not take part, by its name; empty texts for those that may.
    """

    name: str
    title: str
    seed: int
    contestants: tuple[Contestant, ...]
    disciplines: tuple[Discipline, ...]
    inspections: Mapping[str, str]
    folder: Path = field(compare=False)

    def __repr__(self) -> str:
        return f"<Day {self.title}: {len(self.contestants)} entries, {len(self.disciplines)} disciplines>"

    @property
    def ranking(self) -> tuple[Row, ...]:
        """The entries from the first to the last; equal ones share a place."""
        parts = {
            one.name: {
                discipline.contest: round(discipline.counts(one.name), 6)
                for discipline in self.disciplines
                if discipline.share
            }
            for one in self.contestants
        }
        sums = {name: round(sum(told.values()), 6) for name, told in parts.items()}
        placed = rank_places([(sums[one.name],) for one in self.contestants])
        rows = (
            Row(place, one.name, one.club, sums[one.name], parts[one.name])
            for place, one in zip(placed, self.contestants, strict=True)
        )
        return tuple(sorted(rows, key=lambda row: (row.place, row.name)))

    @property
    def digest(self) -> str:
        """A digest over all recordings, in the order in which they were made."""
        told = [
            f"{discipline.contest} {run.name} {run.digest}\n"
            for discipline in self.disciplines
            for _, run in discipline.all_runs
        ]
        return hashlib.sha256("".join(told).encode()).hexdigest()

    def csv(self) -> str:
        """Return the ranking as comma-separated values."""
        text = io.StringIO()
        contests = [discipline.contest for discipline in self.disciplines if discipline.share]
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["place", "entry", "club", *contests, "points"])
        for row in self.ranking:
            writer.writerow(
                [row.place, row.name, row.club, *(row.parts[one] for one in contests), row.points]
            )
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, fit for JSON."""
        return {
            "day": self.name,
            "title": self.title,
            "seed": self.seed,
            "digest": self.digest,
            "folder": str(self.folder),
            "ranking": [asdict(row) for row in self.ranking],
            "inspections": dict(self.inspections),
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


def recording_of(day: Day, kept_in: str, run: BatchRun) -> Path:
    """Return where the recording of a run of a day is kept."""
    return day.folder / kept_in / f"{stem_of('run', run.name)}.mcap"


def save_day(day: Day) -> None:
    """Write `day.json` and the ranking as CSV into the day's folder, or raise an OutputError."""
    told = asdict(replace(day, folder=Path()))
    told.pop("folder")
    text = to_json(to_plain(told))
    check = hashlib.sha256(text.encode()).hexdigest()
    write_atomically(day.folder / DAY, json.dumps({"day": text, "check": check}).encode())
    write_atomically(day.folder / RANKING, day.csv().encode(errors="backslashreplace"))


def read_day(folder: str | Path, jury: str | Path | None = None) -> Day:
    """Read a day from the folder it was played in, with other points of the jury where they are given.

    Raises:
        FormatError: the folder holds no day, or one that was changed.
        DocumentError: the jury's points are not what they should be.
    """
    folder = Path(folder)
    path = folder / DAY
    if not path_exists(path):
        hint = "play one: posewright contest run; a day that was stopped is read once it is at its end"
        raise FormatError("no day was played here to its end", where=Where(folder), hint=hint)
    try:
        with open_regular_file(path) as file:
            sealed = json.loads(file.read())
        text = str(sealed["day"])
        if hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest() != sealed["check"]:
            raise ValueError("it is not as it was written")
        day = _restored(from_json(text), folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, InputError) as error:
        hint = "a folder in which `posewright contest run` has played a day to its end"
        raise FormatError(f"no day can be read here: {error}", where=Where(path), hint=hint) from error
    return day if jury is None else with_jury(day, read_jury(jury, day))


def _restored(told: dict[str, Any], folder: Path) -> Day:
    disciplines = []
    for discipline in told.pop("disciplines"):
        runs = {name: tuple(BatchRun(**run) for run in some) for name, some in discipline.pop("runs").items()}
        tables = {title: tuple(map(tuple, rows)) for title, rows in discipline.pop("tables").items()}
        remarks = tuple(discipline.pop("remarks"))
        disciplines.append(Discipline(**discipline, runs=runs, tables=tables, remarks=remarks))
    contestants = tuple(Contestant(**one) for one in told.pop("contestants"))
    return Day(**told, contestants=contestants, disciplines=tuple(disciplines), folder=folder)


def read_jury(path: str | Path, day: Day) -> dict[str, dict[str, float]]:
    """Read what a jury gave: a document with points by entry, by contest: `exhibition: {ours: 8.5}`.

    Raises:
        DocumentError: it is no such document, or gives more points than there are, or to nobody.
    """
    by_jury = {discipline.contest: discipline for discipline in day.disciplines if discipline.jury}
    names = {one.name for one in day.contestants}
    found: dict[str, dict[str, float]] = {}
    for contest, node in read_document(path).fields(optional=by_jury).items():
        points = node.fields(optional=names)
        for name, one in points.items():
            if name not in by_jury[contest].earned:
                one.fail(f"{name!r} took no part in the {contest}", hint="leave it out")
        found[contest] = {
            name: one.number(low=0.0, high=by_jury[contest].most) for name, one in points.items()
        }
    return found


def with_jury(day: Day, points: Mapping[str, Mapping[str, float]]) -> Day:
    """Return the day with the points that a jury gave, by contest and entry, and places by them."""

    def judged(discipline: Discipline) -> Discipline:
        earned = {name: points[discipline.contest].get(name, 0.0) for name in discipline.earned}
        placed = rank_places([(one,) for one in earned.values()])
        return replace(discipline, earned=earned, places=dict(zip(earned, placed, strict=True)))

    disciplines = tuple(
        judged(discipline) if discipline.contest in points else discipline for discipline in day.disciplines
    )
    return replace(day, disciplines=disciplines)
