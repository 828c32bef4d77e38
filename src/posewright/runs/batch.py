"""Batches: many runs of one kind, what they say together, and how they are kept in a folder."""

from __future__ import annotations

import csv
import hashlib
import importlib.metadata
import io
import json
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from posewright.control.loop import sigterm_raises
from posewright.documents import (
    lock_folders,
    open_regular_file,
    path_exists,
    remove_unfinished_files,
    write_atomically,
)
from posewright.documents.plain import to_plain
from posewright.errors import FormatError, InputError, OutputError, PosewrightError, Where
from posewright.recordings.exact_json import from_json, to_json
from posewright.search.executors import map_in_order, open_executor
from posewright.version import __version__

Item = TypeVar("Item")

SETTINGS, RESULTS, REPORT = "batch.json", "results.csv", "report.html"
"""What a batch's folder holds besides the recordings and the journal."""

JOURNAL = "journal"
"""The folder in a batch's folder with a document for each run that is done."""


@dataclass(frozen=True)
class BatchRun:
    """One run of a batch.

    Attributes:
        name: what tells it from the others: its seed, its gait, its file.
        figures: what a table shows of it, by a name that has its unit.
        ranking: what decides which run is better, the greater the better; empty of a run that failed.
        incidents: what cost points, a word each.
        score: the judge's table, as `ScoreTable` has it: `columns`, `rows`, `total`.
        story: what the judge says besides, a line each.
        body: how its body differs from the robot's model; empty where it does not.
        digest: of its recording; empty without one.
        sketch: the field seen from above as SVG paths [cm]: `size`, `lines`, `boxes`, `path`.
        error: why there is nothing else; None where it went well.
    """

    name: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    ranking: tuple[float, ...] = ()
    incidents: tuple[str, ...] = ()
    score: Mapping[str, Any] = field(default_factory=dict, repr=False)
    story: tuple[str, ...] = ()
    body: str = ""
    digest: str = ""
    sketch: Mapping[str, Any] = field(default_factory=dict, repr=False)
    error: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "figures", to_plain(self.figures, nan_as_none=True))
        for name in ("ranking", "incidents", "story"):
            object.__setattr__(self, name, tuple(map(to_plain, getattr(self, name))))


_LONGEST_STEM = 100
"""So many bytes of a run's name stand in the names of its files, which must not be too long themselves."""

_SKETCHED = {"size", "lines", "boxes", "path"}

OnRun = Callable[[BatchRun, bool], None]
"""Is told of a run, and whether it was done before."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Many runs, in the order of their names as they were asked for.

    Attributes:
        key: what the name of a run is: `seed`, `gait`, `file`.
        measure: the figure that is summed up.
        settings: what all runs have in common, in words.
        folder: where it is kept; None for nowhere.
    """

    key: str
    measure: str
    settings: Mapping[str, str]
    runs: tuple[BatchRun, ...]
    folder: Path | None = None

    def __repr__(self) -> str:
        mean = "" if self.mean is None else f", mean {self.measure} {self.mean:.2f}"
        return f"<Batch of {len(self.runs)} runs{mean}>"

    @property
    def done(self) -> tuple[BatchRun, ...]:
        """The runs that went well."""
        return tuple(run for run in self.runs if run.error is None)

    @property
    def failed(self) -> tuple[BatchRun, ...]:
        """The runs that ended with an error."""
        return tuple(run for run in self.runs if run.error is not None)

    @property
    def values(self) -> tuple[float, ...]:
        """The measure of each run that has one."""
        found = (run.figures.get(self.measure) for run in self.done)
        return tuple(float(value) for value in found if isinstance(value, int | float))

    @property
    def mean(self) -> float | None:
        """The mean of the measure; None where no run has one."""
        return statistics.fmean(self.values) if self.values else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the measure, estimated from this sample; None of fewer than two."""
        return statistics.stdev(self.values) if len(self.values) > 1 else None

    @property
    def ranked(self) -> tuple[BatchRun, ...]:
        """The runs that went well from the best to the worst; equal ones as they were asked for."""
        return tuple(sorted(self.done, key=lambda run: run.ranking, reverse=True))

    @property
    def best(self) -> BatchRun | None:
        """The best run."""
        return self.ranked[0] if self.done else None

    @property
    def worst(self) -> BatchRun | None:
        """The worst run."""
        return self.ranked[-1] if self.done else None

    @property
    def succeeded(self) -> tuple[str, int]:
        """The flag that says whether all went well, `finished` say, and how many runs have it."""
        flags = [name for run in self.done for name, one in run.figures.items() if type(one) is bool]
        name = flags[0] if flags else "done"
        return name, sum(bool(run.figures.get(name, not flags)) for run in self.done)

    @property
    def incidents(self) -> dict[str, int]:
        """How often what cost points, the most frequent first."""
        return dict(Counter(one for run in self.done for one in run.incidents).most_common())

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the figures that any run has."""
        return tuple(dict.fromkeys(name for run in self.done for name in run.figures))

    @property
    def digest(self) -> str | None:
        """A digest over what all runs recorded; None where none recorded anything."""
        if not any(run.digest for run in self.done):
            return None
        lines = "".join(f"{run.name} {run.digest}\n" for run in self.done)
        return hashlib.sha256(lines.encode()).hexdigest()

    def recording(self, run: BatchRun) -> Path | None:
        """Return where the recording of a run is kept; None where it is not."""
        path = None if self.folder is None else self.folder / f"{stem_of(self.key, run.name)}.mcap"
        return path if path is not None and path.is_file() else None

    def table(self) -> tuple[dict[str, Any], ...]:
        """Return a mapping for each run, all with the same names: its own, its figures, digest and error."""
        bodies = any(run.body for run in self.runs)
        return tuple(
            {
                self.key: int(run.name) if self.key == "seed" else run.name,
                **{name: run.figures.get(name) for name in self.columns},
                "incidents": ", ".join(run.incidents),
                **({"body": run.body} if bodies else {}),
                "digest": run.digest,
                "error": run.error,
            }
            for run in self.runs
        )

    def csv(self) -> str:
        """Return the table as comma-separated values."""
        rows, text = self.table(), io.StringIO()
        writer = csv.DictWriter(text, rows[0] if rows else [self.key], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data, fit for JSON."""
        flag, count = self.succeeded
        table = {run.name: told for run, told in zip(self.runs, self.table(), strict=True)}
        return {
            "settings": dict(self.settings),
            "n_runs": len(self.runs),
            "failed": len(self.failed),
            flag: count,
            "measure": self.measure,
            "mean": self.mean,
            "standard_deviation": self.deviation,
            "best": self.best and table[self.best.name],
            "worst": self.worst and table[self.worst.name],
            "incidents": self.incidents,
            "digest": self.digest,
            "folder": None if self.folder is None else str(self.folder),
            "runs": [*table.values()],
        }


@dataclass(frozen=True)
class _Kept(Generic[Item]):
    """Does the task with an item, wherever that is done, and keeps what came of it."""

    task: Callable[[Item, Path | None], BatchRun]
    key: str
    folder: Path | None

    def __call__(self, named: tuple[str, Item]) -> BatchRun:
        name, item = named
        stem = stem_of(self.key, name)
        try:
            run = self.task(item, None if self.folder is None else self.folder / f"{stem}.mcap")
            if self.folder is not None:
                recorded = _file_digest(self.folder / f"{stem}.mcap")
                write_atomically(_entry(self.folder, stem), _sealed(run, recorded))
        except OutputError:  # no disk has room for the others either
            raise
        except PosewrightError as error:  # of this run alone: the others go on
            return BatchRun(name, error=str(error))
        return run


def run_batch(
    task: Callable[[Item, Path | None], BatchRun],
    items: Mapping[str, Item],
    *,
    key: str,
    measure: str,
    settings: Mapping[str, str],
    folder: Path | None = None,
    workers: int = 1,
    executor: Executor | None = None,
    on_run: OnRun | None = None,
) -> Batch:
    """Do a task with every item; the runs are in the items' order, and the same whoever does them.

    What a folder holds already is not done again. A run that raises an error says so, and is tried again
    the next time; where one cannot be kept, the batch ends.

    Args:
        task: makes the run of an item, and writes its recording to the path, where there is one; it can be
            handed to another process.
        items: what it is done with, by the names of the runs.
        key: what these names are.
        measure: the figure that is summed up.
        settings: what the runs hang on besides their items, in words; `file NAME` is a digest.
        folder: where runs and recordings are kept; made where it is not there.
        workers: processes that do it; 1 for this one alone.
        executor: who does it instead; its workers must see the folder.
        on_run: is told of each run, and whether it was there already.

    Raises:
        InputError: the folder holds a batch with other settings.
        OutputError: nothing can be written there, or another program is using it.
        FormatError: what stands there is damaged.
        UnavailableError: a worker process ended by itself.
    """
    runs: dict[str, BatchRun] = {}

    def note(run: BatchRun, *, is_old: bool = False) -> None:
        runs[run.name] = run
        if on_run is not None:
            on_run(run, is_old)

    with sigterm_raises(), _opened(folder, settings):
        for name in items if folder is not None else ():
            path = _entry(folder, stem_of(key, name))  # type: ignore[arg-type]  # there is one: see above
            if path_exists(path) and _is_whole(path):
                note(_unsealed(path, name), is_old=True)
        left = [named for named in items.items() if named[0] not in runs]
        with open_executor(workers if executor is None else 1, len(left)) as own:
            for run in map_in_order(_Kept(task, key, folder), left, executor or own):
                note(run)
    return Batch(key, measure, settings, tuple(runs[name] for name in items), folder)


def stem_of(key: str, name: str) -> str:
    """Return what the files of a run are called, without ending: `seed_7`."""
    told = f"{key}_{name}"
    stem = re.sub(r"[^\w.+-]+", "_", told)
    if stem == told and len(stem.encode()) <= _LONGEST_STEM:
        return stem
    digest = hashlib.sha256(told.encode(errors="backslashreplace")).hexdigest()[:8]  # tells it from the like
    return f"{stem.encode()[:_LONGEST_STEM].decode(errors='ignore')}~{digest}"


def versions() -> dict[str, str]:
    """Return the versions on which what is simulated hangs."""
    found = {name: importlib.metadata.version(name.lower()) for name in ("MuJoCo", "NumPy")}
    return {"Posewright": __version__, **found}


def digest_of(settings: Mapping[str, str]) -> str:
    """Return a digest of settings, or of other texts by name."""
    return hashlib.sha256(json.dumps(dict(settings), sort_keys=True).encode()).hexdigest()[:16]


@contextmanager
def _opened(folder: Path | None, settings: Mapping[str, str]) -> Iterator[None]:
    """Hold the folder for a batch with these settings, and leave no file there that is half written."""
    if folder is None:
        yield
        return
    make_folder(folder / JOURNAL)
    with lock_folders(folder, wait=False):
        _sweep(folder)
        if path_exists(folder / SETTINGS):
            _refuse_others(_document(folder / SETTINGS), settings, folder / SETTINGS)
        else:
            if any((folder / JOURNAL).iterdir()):
                hint = "name another folder: nobody knows with which settings these were made"
                raise InputError(f"this folder holds runs, but no {SETTINGS}", where=Where(folder), hint=hint)
            write_atomically(folder / SETTINGS, json.dumps(dict(settings), indent=2).encode())
        try:
            yield
        finally:
            _sweep(folder)


def make_folder(folder: Path) -> None:
    """Make a folder where it is not there yet, and those it lies in."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError.at(folder, error.strerror or str(error)) from error


def _sweep(folder: Path) -> None:
    """Remove what was being written when a program or a worker was killed."""
    for each in (folder, folder / JOURNAL):
        remove_unfinished_files(each)


def _refuse_others(there: Mapping[str, Any], asked: Mapping[str, str], path: Path) -> None:
    for name in dict.fromkeys((*asked, *there)):
        if there.get(name) != asked.get(name):
            what = f"this folder holds a batch with another {name}: {there.get(name)}, not {asked.get(name)}"
            raise InputError(what, where=Where(path), hint="name another folder, or ask for the same")


def _entry(folder: Path, stem: str) -> Path:
    return folder / JOURNAL / f"{stem}.json"


def _sealed(run: BatchRun, recorded: str | None = None) -> bytes:
    """Return a run as it is kept, with the digest of its recording's file, where there is one."""
    told = to_json(asdict(run))
    check = hashlib.sha256(told.encode()).hexdigest()
    return json.dumps({"run": told, "check": check, "recording": recorded}).encode()


def _file_digest(path: Path) -> str | None:
    """Return a digest of a file's bytes; None where there is no such file, or none that can be read."""
    try:
        with open_regular_file(path) as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return None


def _is_whole(entry: Path) -> bool:
    """Tell whether the recording beside an entry is the one that was made with it."""
    recorded = _document(entry).get("recording")
    return recorded is None or recorded == _file_digest(entry.parents[1] / f"{entry.stem}.mcap")


def _unsealed(path: Path, name: str) -> BatchRun:
    found = _document(path)
    told = str(found.get("run"))
    if hashlib.sha256(told.encode(errors="backslashreplace")).hexdigest() == found.get("check"):
        with suppress(TypeError, AttributeError):  # made by hand, with other keys or values
            run = BatchRun(**from_json(told))
            if run.name == name and run.sketch.keys() in (set(), _SKETCHED):
                return run
    hint = "delete it, and this run is done again"
    raise FormatError("this entry of the journal is not as it was written", where=Where(path), hint=hint)


def _document(path: Path) -> dict[str, Any]:
    try:
        with open_regular_file(path) as file:
            found = json.loads(file.read())
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(f"cannot be read: {error}", where=Where(path)) from error
    if not isinstance(found, dict):
        raise FormatError("no JSON object", where=Where(path), hint="a file that a batch wrote")
    return found
