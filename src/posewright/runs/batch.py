"""Batches: many runs of one kind, their summary, and the folder they are stored in."""

from __future__ import annotations

import csv
import hashlib
import importlib.metadata
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Generic, NamedTuple, TypeAlias, TypeVar

from posewright.arrays import mean_of, standard_deviation
from posewright.control.loop import sigterm_raises
from posewright.documents import (
    FieldReader,
    Node,
    create_folder,
    lock_folders,
    open_regular_file,
    path_exists,
    read_record,
    remove_unfinished_files,
    write_atomically,
)
from posewright.documents.plain import to_plain
from posewright.documents.user_code import user_errors
from posewright.errors import FormatError, InputError, OutputError, PosewrightError, Where
from posewright.recordings.exact_json import from_json, to_json
from posewright.search.executors import map_in_order, open_executor
from posewright.version import __version__

Item = TypeVar("Item")
Scalar: TypeAlias = bool | int | float | str | None

SETTINGS = "batch.json"
RESULTS = "results.csv"
REPORT = "report.html"
"""Files in a batch's folder besides the recordings and the journal."""

JOURNAL = "journal"
"""Subfolder of a batch's folder with one document for each completed run."""


def _read_figures(node: Node) -> dict[str, Scalar]:
    """Return the figures of a stored run: numbers, texts, booleans and None by name."""
    return {name: _read_scalar(entry) for name, entry in node.fields().items()}


def _read_scalar(node: Node) -> Scalar:
    scalar: Scalar = node.value
    if not isinstance(scalar, bool | int | float | str | None):
        node.fail("expected a number, a text, true, false or null")
    return scalar


def _read_ranking(node: Node) -> tuple[float, ...]:
    """Return the sort key of a stored run; infinity stands for what was never reached."""
    return tuple(map(_read_number, node.items()))


def _read_number(node: Node) -> float:
    """Return a number of a stored run as it was, whole or not; it may be infinite, but not NaN."""
    number: object = node.value
    if isinstance(number, bool) or not isinstance(number, int | float) or math.isnan(number):
        node.fail("expected a number")
    return number


def _read_texts(node: Node) -> tuple[str, ...]:
    return tuple(item.text() for item in node.items())


def _read_score(node: Node) -> dict[str, object]:
    """Return the table of a stored run's score; empty for a run without one."""
    if not node.fields():
        return {}
    entries = node.fields(required=("columns", "rows", "total"), optional=())
    rows = tuple(map(_read_texts, entries["rows"].items()))
    return {"columns": _read_texts(entries["columns"]), "rows": rows, "total": _read_texts(entries["total"])}


def _read_sketch(node: Node) -> dict[str, object]:
    """Return the field of a stored run, as `sketch_of` returns it; empty for a run without one."""
    if not node.fields():
        return {}
    entries = node.fields(required=("size", "areas", "paths"), optional=())
    size = tuple(map(_read_number, entries["size"].items()))
    if len(size) != 2:
        entries["size"].fail("expected width and height")
    return {"size": size, "areas": _read_paths(entries["areas"]), "paths": _read_paths(entries["paths"])}


def _read_paths(node: Node) -> tuple[tuple[str, ...], ...]:
    """Return SVG paths, each with its colour."""
    paths = tuple(map(_read_texts, node.items()))
    if any(len(path) != 2 for path in paths):
        node.fail("expected pairs of a path and its colour")
    return paths


@dataclass(frozen=True)
class BatchRun:
    """One run of a batch.

    Attributes:
        name: unique in the batch: its seed, gait or file.
        figures: the columns of the table, by names that include the unit.
        ranking: sort key, greater is better; empty for a failed run.
        incidents: what cost points, one word each.
        score: the judge's table, as in `ScoreTable`: `columns`, `rows`, `total`.
        story: the judge's notes, one line each.
        body: how its body differs from the robot's model; empty for the nominal body.
        digest: the digest of its recording; empty without one.
        sketch: the field from above, as `sketch_of` returns it.
        error: message of the error that ended it; None for a successful run.
    """

    name: str
    figures: Annotated[Mapping[str, Any], FieldReader(_read_figures)] = field(default_factory=dict)
    ranking: Annotated[tuple[float, ...], FieldReader(_read_ranking)] = ()
    incidents: tuple[str, ...] = ()
    score: Annotated[Mapping[str, Any], FieldReader(_read_score)] = field(default_factory=dict, repr=False)
    story: tuple[str, ...] = ()
    body: str = ""
    digest: str = ""
    sketch: Annotated[Mapping[str, Any], FieldReader(_read_sketch)] = field(default_factory=dict, repr=False)
    error: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "figures", to_plain(self.figures, nan_as_none=True))
        for name in ("ranking", "incidents", "story"):
            object.__setattr__(self, name, tuple(map(to_plain, getattr(self, name))))


_LONGEST_STEM = 100
"""Longest stem of a run's file names [bytes]; file systems allow 255 for the whole name."""

_FORMULA_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "\n")

OnRun = Callable[[BatchRun, bool], None]
"""Called with each run, and whether it had been stored by an earlier call."""


class SuccessCount(NamedTuple):
    """The number of successful runs of a batch.

    Attributes:
        criterion: name of the figure that marks success, such as `finished`; `done` without one.
        n_runs: number of successful runs.
    """

    criterion: str
    n_runs: int


@dataclass(frozen=True, eq=False)
class Batch:
    """Many runs, in the order in which they were requested.

    Attributes:
        key: what the runs' names are: `seed`, `gait`, `file`.
        measure: name of the figure whose mean and deviation are computed.
        settings: what all runs share, as text.
        runs: the runs in the order in which they were requested.
        folder: where it is stored; None if it is not.
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
    def completed(self) -> tuple[BatchRun, ...]:
        """The runs without an error."""
        return tuple(run for run in self.runs if run.error is None)

    @property
    def failed(self) -> tuple[BatchRun, ...]:
        """The runs that ended with an error."""
        return tuple(run for run in self.runs if run.error is not None)

    @property
    def values(self) -> tuple[float, ...]:
        """The measure of each run that has one."""
        values = (run.figures.get(self.measure) for run in self.completed)
        return tuple(float(value) for value in values if isinstance(value, int | float))

    @property
    def mean(self) -> float | None:
        """The mean of the measure; None where no run has one."""
        return mean_of(self.values) if self.values else None

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation of the measure; None for fewer than two values."""
        return standard_deviation(self.values, is_sample=True) if len(self.values) > 1 else None

    @property
    def ranked(self) -> tuple[BatchRun, ...]:
        """The successful runs from best to worst; ties in the order of the batch."""
        return tuple(sorted(self.completed, key=lambda run: run.ranking, reverse=True))

    @property
    def best(self) -> BatchRun | None:
        """The best run."""
        return self.ranked[0] if self.completed else None

    @property
    def worst(self) -> BatchRun | None:
        """The worst run."""
        return self.ranked[-1] if self.completed else None

    @property
    def success_count(self) -> SuccessCount:
        """How many runs succeeded: by the first figure that is a boolean, else all without an error."""
        for run in self.completed:
            for name, value in run.figures.items():
                if type(value) is bool:
                    n_runs = sum(bool(run.figures.get(name, False)) for run in self.completed)
                    return SuccessCount(name, n_runs)
        return SuccessCount("done", len(self.completed))

    @property
    def incidents(self) -> dict[str, int]:
        """How often each incident occurred, most frequent first."""
        return dict(Counter(incident for run in self.completed for incident in run.incidents).most_common())

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all figures, in the order of their first appearance."""
        return tuple(dict.fromkeys(name for run in self.completed for name in run.figures))

    @property
    def digest(self) -> str | None:
        """A digest of all recordings' digests; None if nothing was recorded."""
        if not any(run.digest for run in self.completed):
            return None
        lines = "".join(f"{run.name} {run.digest}\n" for run in self.completed)
        return hashlib.sha256(lines.encode()).hexdigest()

    def recording(self, run: BatchRun) -> Path | None:
        """Return the path of a run's recording; None if it was not stored."""
        path = None if self.folder is None else self.folder / f"{stem_of(self.key, run.name)}.mcap"
        return path if path is not None and path.is_file() else None

    def table(self) -> tuple[dict[str, Any], ...]:
        """Return one row for each run, all with the same keys: name, figures, incidents, digest, error."""
        has_bodies = any(run.body for run in self.runs)
        return tuple(
            {
                self.key: int(run.name) if self.key == "seed" else run.name,
                **{name: run.figures.get(name) for name in self.columns},
                "incidents": ", ".join(run.incidents),
                **({"body": run.body} if has_bodies else {}),
                "digest": run.digest,
                "error": run.error,
            }
            for run in self.runs
        )

    def csv(self) -> str:
        """Return the table as comma-separated values."""
        rows = self.table()
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0] if rows else [self.key], lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: spreadsheet_cell(value) for name, value in row.items()} for row in rows)
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        success = self.success_count
        row_of_name = {run.name: row for run, row in zip(self.runs, self.table(), strict=True)}
        return {
            "settings": dict(self.settings),
            "n_runs": len(self.runs),
            "failed": len(self.failed),
            success.criterion: success.n_runs,
            "measure": self.measure,
            "mean": self.mean,
            "standard_deviation": self.deviation,
            "best": None if self.best is None else row_of_name[self.best.name],
            "worst": None if self.worst is None else row_of_name[self.worst.name],
            "incidents": self.incidents,
            "digest": self.digest,
            "folder": None if self.folder is None else str(self.folder),
            "runs": [*row_of_name.values()],
        }


@dataclass(frozen=True)
class _StoringTask(Generic[Item]):
    """Runs the task for one item, in any process, and stores its result in the folder."""

    task: Callable[[Item, Path | None], BatchRun]
    key: str
    folder: Path | None

    @user_errors()
    def _run_task(self, item: Item, recording_path: Path | None) -> BatchRun:
        """Run the task; raises a UserCodeError for any exception of user code."""
        return self.task(item, recording_path)

    def __call__(self, named_item: tuple[str, Item]) -> BatchRun:
        """Run an item, and store its result; an error of this run alone becomes its result."""
        name, item = named_item
        stem = stem_of(self.key, name)
        try:
            if self.folder is None:
                return self._run_task(item, None)
            recording_path = self.folder / f"{stem}.mcap"
            run = self._run_task(item, recording_path)
            write_atomically(_entry_path(self.folder, stem), _encode_entry(run, _file_digest(recording_path)))
        except OutputError:  # the disk has no room for the other runs either
            raise
        except PosewrightError as error:  # concerns this run only
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
    """Run a task for every item; the result does not depend on the number of workers or the executor.

    Runs that the folder already holds are not repeated. A run that raised an error is reported as failed and
    is tried again by the next call; if a result cannot be written, the batch ends.

    Args:
        task: makes the run of an item and writes its recording to the path, if there is one; it is pickled
            for other processes.
        items: what it runs on, by the names of the runs.
        key: what these names are.
        measure: the figure whose mean is computed.
        settings: what the runs depend on besides their items, as text; `file NAME` is a digest.
        folder: where runs and recordings are stored; created if it does not exist.
        workers: number of processes; 1 runs in this one.
        executor: runs the tasks instead; its workers must see the folder.
        on_run: called with each run, and whether the folder already held it.

    Raises:
        InputError: the folder holds a batch with other settings.
        OutputError: the folder cannot be written, or another program is using it.
        FormatError: a stored run is damaged.
        UnavailableError: a worker process ended unexpectedly.
    """
    runs: dict[str, BatchRun] = {}

    def add(run: BatchRun, *, is_stored: bool) -> None:
        runs[run.name] = run
        if on_run is not None:
            on_run(run, is_stored)

    with sigterm_raises(), _locked_folder(folder, settings):
        if folder is not None:
            for name in items:
                path = _entry_path(folder, stem_of(key, name))
                if path_exists(path) and _is_complete(path):
                    add(_read_entry(path, name), is_stored=True)
        pending = [(name, item) for name, item in items.items() if name not in runs]
        with open_executor(workers if executor is None else 1, len(pending)) as own_executor:
            for run in map_in_order(_StoringTask(task, key, folder), pending, executor or own_executor):
                add(run, is_stored=False)
    return Batch(key, measure, settings, runs=tuple(runs[name] for name in items), folder=folder)


def stem_of(key: str, name: str) -> str:
    """Return the name of a run's files without suffix, such as `seed_7`.

    Args:
        key: what names the runs of the batch, such as `seed`.
        name: the name of the run.
    """
    full_name = f"{key}_{name}"
    stem = re.sub(r"[^\w.+-]+", "_", full_name)
    if stem == full_name and len(stem.encode()) <= _LONGEST_STEM:
        return stem
    digest = hashlib.sha256(full_name.encode(errors="backslashreplace")).hexdigest()[:8]  # keeps it unique
    return f"{stem.encode()[:_LONGEST_STEM].decode(errors='ignore')}~{digest}"


def spreadsheet_cell(value: object) -> object:
    """Return a cell of a CSV file; an apostrophe precedes text that a spreadsheet would take for a formula.

    Names of entries and messages come from strangers (OWASP, "CSV Injection").
    """
    if isinstance(value, str) and value.startswith(_FORMULA_BEGINNINGS):
        return f"'{value}"
    return value


def versions() -> dict[str, str]:
    """Return the versions that a simulation's result depends on."""
    library_versions = {name: importlib.metadata.version(name.lower()) for name in ("MuJoCo", "NumPy")}
    return {"Posewright": __version__, **library_versions}


def digest_of(settings: Mapping[str, str]) -> str:
    """Return a digest of settings, or of other texts by name."""
    return hashlib.sha256(json.dumps(dict(settings), sort_keys=True).encode()).hexdigest()[:16]


@contextmanager
def _locked_folder(folder: Path | None, settings: Mapping[str, str]) -> Iterator[None]:
    """Lock the folder for a batch with these settings, and remove unfinished files before and after."""
    if folder is None:
        yield
        return
    create_folder(folder / JOURNAL)
    with lock_folders(folder, wait=False):
        _remove_unfinished(folder)
        if path_exists(folder / SETTINGS):
            _require_same_settings(_read_json(folder / SETTINGS), settings, folder / SETTINGS)
        else:
            if any((folder / JOURNAL).iterdir()):
                hint = "choose another folder: the settings of these runs are unknown"
                raise InputError(f"the folder has runs, but no {SETTINGS}", where=Where(folder), hint=hint)
            write_atomically(folder / SETTINGS, json.dumps(dict(settings), indent=2).encode())
        try:
            yield
        finally:
            _remove_unfinished(folder)


def _remove_unfinished(folder: Path) -> None:
    """Remove files that a killed process had not finished writing."""
    remove_unfinished_files(folder)
    remove_unfinished_files(folder / JOURNAL)


def _require_same_settings(stored: Mapping[str, Any], requested: Mapping[str, str], path: Path) -> None:
    """Raise an InputError unless a folder's settings are the requested ones."""
    for name in dict.fromkeys((*requested, *stored)):
        if stored.get(name) != requested.get(name):
            message = (
                f"the folder has a batch with another {name}: {stored.get(name)}, not {requested.get(name)}"
            )
            raise InputError(message, where=Where(path), hint="choose another folder, or the same settings")


def _entry_path(folder: Path, stem: str) -> Path:
    return folder / JOURNAL / f"{stem}.json"


def _encode_entry(run: BatchRun, recording_digest: str | None) -> bytes:
    """Return the journal's document of a run, with checksums of the run and of its recording's file."""
    text = to_json(asdict(run))
    checksum = hashlib.sha256(text.encode()).hexdigest()
    return json.dumps({"run": text, "check": checksum, "recording": recording_digest}).encode()


def _file_digest(path: Path) -> str | None:
    """Return a digest of a file's bytes; None if it cannot be read."""
    try:
        with open_regular_file(path) as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return None


def _is_complete(entry_path: Path) -> bool:
    """Tell whether the recording of a journal entry exists and is unchanged, if it has one."""
    recording_digest = _read_json(entry_path).get("recording")
    recording_path = entry_path.parents[1] / f"{entry_path.stem}.mcap"
    return recording_digest is None or recording_digest == _file_digest(recording_path)


def _read_entry(path: Path, name: str) -> BatchRun:
    """Return the run in a journal entry.

    Raises:
        FormatError: the file is not JSON, its checksum is wrong, or it is of another run than `name`.
    """
    document = _read_json(path)
    text = str(document.get("run"))
    if hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest() == document.get("check"):
        with suppress(InputError):  # other keys or values, with a checksum that fits
            run = read_record(Node(from_json(text)), BatchRun)
            if run.name == name:
                return run
    hint = "delete it to repeat the run"
    raise FormatError("the journal entry was changed after it was written", where=Where(path), hint=hint)


def _read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file."""
    try:
        with open_regular_file(path) as file:
            document = json.loads(file.read())
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(f"cannot be read: {error}", where=Where(path)) from error
    if not isinstance(document, dict):
        raise FormatError("not a JSON object", where=Where(path), hint="a file written by a batch")
    return document
