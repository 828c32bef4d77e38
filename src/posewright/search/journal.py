"""Tuning journals: lines of JSON, each sealed with a check over itself and all before it; their keeper."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from posewright.documents import is_file, open_regular_file, path_exists, real_path, try_lock
from posewright.documents.plain import PlainMapping
from posewright.errors import FormatError, InputError, OutputError, Where
from posewright.search.attempt import Attempt, Generation, generations_of
from posewright.search.plan import Dimension, Evaluation, Fact, Plan

KIND = "posewright-tuning"
VERSION = 1
_CHECK_DIGITS = 16


class LineError(ValueError):
    """A line is not what a journal's line is; whoever reads the file knows which one it is."""


def header_line(plan: Plan, made_with: str) -> str:
    """Return the first line of a journal, without its line feed; its `hash` is the check of the rest."""
    return _sealed(
        {
            "journal": KIND,
            "version": VERSION,
            "made_with": made_with,
            "fingerprint": plan.fingerprint,
            "dimensions": [asdict(dimension) for dimension in plan.dimensions],
            "population": plan.population,
            "spread": plan.spread,
            "seed": plan.seed,
        },
        "hash",
        "",
    )


def attempt_line(attempt: Attempt, check_before: str) -> str:
    """Return the line of an attempt, without its line feed; its `check` goes on from that of the line before.

    A score that is no number is null.
    """
    evaluation = attempt.evaluation
    return _sealed(
        {
            "generation": attempt.generation,
            "index": attempt.index,
            "values": dict(attempt.values),
            "score": evaluation.score if evaluation.is_judged else None,
            "facts": {name: _written(fact) for name, fact in evaluation.facts.items()},
        },
        "check",
        check_before,
    )


def check_of(line: str) -> str:
    """Return the check at the end of a line that was written here."""
    return line[-2 - _CHECK_DIGITS : -2]


def read_header(line: str) -> tuple[Plan, str]:
    """Return plan and `made_with` of a journal's first line."""
    found = _parsed(line)
    if found.get("journal") != KIND:
        raise LineError("this is no tuning journal")
    if found.get("version") != VERSION:
        raise LineError(f"the journal is of version {found.get('version')!r}, not {VERSION}")
    try:
        plan = Plan(
            fingerprint=found["fingerprint"],
            dimensions=tuple(map(_read_dimension, found["dimensions"])),
            population=found["population"],
            spread=found["spread"],
            seed=found["seed"],
        )
        written = header_line(plan, found["made_with"])
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, InputError) as error:
        raise LineError("the header is damaged") from error
    if written != line:
        raise LineError("the header is not as it was written")
    return plan, found["made_with"]


def _read_dimension(data: PlainMapping) -> Dimension:
    return Dimension(data["name"], data["low"], data["high"], data["start"], data["is_whole"])


def read_attempt(line: str, plan: Plan, number: int, check_before: str) -> Attempt:
    """Return the attempt of a line, or raise LineError."""
    found = _parsed(line)
    generation, index = plan.place(number)
    try:
        score = math.inf if found["score"] is None else float(found["score"])
        facts = {name: _read(fact) for name, fact in found["facts"].items()}
        values = {
            one.name: (int if one.is_whole else float)(found["values"][one.name]) for one in plan.dimensions
        }
        attempt = Attempt(generation, index, values, Evaluation(score, facts))
        written = attempt_line(attempt, check_before)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, InputError) as error:
        raise LineError("the line is damaged") from error
    if written != line:
        raise LineError("the line is not as it was written, or one before it is missing")
    return attempt


def _sealed(body: Mapping[str, object], name: str, check_before: str) -> str:
    text = json.dumps(body, allow_nan=False)
    digest = hashlib.sha256(f"{check_before}{text}".encode()).hexdigest()
    return f'{text[:-1]}, "{name}": "{digest[:_CHECK_DIGITS]}"}}'


def _parsed(line: str) -> PlainMapping:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LineError("the line is no JSON") from error
    if not isinstance(found, dict):
        raise LineError("the line is no JSON object")
    return found


def _written(fact: Fact) -> Fact | dict[str, str]:
    """Return a fact as JSON can hold it, which knows no infinity."""
    if isinstance(fact, float) and not math.isfinite(fact):
        return {"float": repr(fact)}
    return fact


def _read(fact: Fact | Mapping[str, str]) -> Fact:
    return float(fact["float"]) if isinstance(fact, Mapping) else fact


_ADVICE = "take a copy from before the damage, or begin a new journal"


@dataclass(frozen=True)
class Journal:
    """What a journal holds.

    Attributes:
        made_with: the packages that drew the candidates, with their versions.
        attempts: all evaluations, in order: the start, then generation by generation; the last
            generation may be unfinished.
        length: how many bytes its whole lines take up; what follows was cut off.
        last_check: the check of its last whole line.
    """

    plan: Plan
    made_with: str
    attempts: tuple[Attempt, ...]
    length: int
    last_check: str

    @property
    def generations(self) -> tuple[Generation, ...]:
        """Its generations, worked out from its attempts."""
        return tuple(generations_of(self.attempts, self.plan.dimensions))


def read_journal(path: str | Path) -> Journal:
    """Read a journal, also one that is being written, or raise FormatError."""
    path = Path(path)
    try:
        with open_regular_file(path) as file:
            raw = file.read()
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", where=Where(path)) from error
    return journal_in(raw, path)


def journal_in(raw: bytes, path: Path) -> Journal:
    """Return the journal that the bytes of a file are; `path` is only used in messages."""
    length = raw.rfind(b"\n") + 1
    header, *lines = raw[:length].split(b"\n")
    number = 1
    try:
        if not length:
            raise LineError("no line of this file is whole")
        first = _text(header)
        plan, made_with = read_header(first)
        check, attempts = check_of(first), []
        for number, line in enumerate(lines[:-1], start=2):
            text = _text(line)
            attempts.append(read_attempt(text, plan, number - 2, check))
            check = check_of(text)
    except LineError as error:
        advice = _ADVICE if number > 1 else "a file that `posewright tune` wrote"
        raise FormatError(str(error), where=Where(path, line=number), hint=advice) from error
    return Journal(plan, made_with, tuple(attempts), length, check)


def _text(line: bytes) -> str:
    try:
        return line.decode("ascii")
    except UnicodeDecodeError as error:
        raise LineError(f"byte {error.start} of the line is none that a journal has") from error


if sys.platform == "win32":
    _BINARY = os.O_BINARY  # Windows would else turn every line feed into two bytes
else:
    _BINARY = 0


class Keeper:
    """A journal that is being written, and what stood in it before.

    Until the first attempt is added, a file that was there stays as it is; then what was cut off at its
    end goes.

    Attributes:
        recorded: the attempts that stand in it already, in order.
    """

    def __init__(self, path: Path, plan: Plan) -> None:
        """Open the journal, or begin one.

        Raises:
            OutputError: it cannot be written there, or another process is writing it.
            FormatError: what stands there is no journal, or is damaged.
            InputError: it is the journal of another search.
        """
        self._path = path
        self._handle = _opened(path)
        try:
            _lock(self._handle, path)
            self._take_up(plan)
        except BaseException:
            self.close()
            raise

    def _take_up(self, plan: Plan) -> None:
        raw = self._all_bytes()
        header = header_line(plan, _made_with())
        if b"\n" not in raw and header.encode().startswith(raw):  # new, or stopped in its very first line
            self.recorded: tuple[Attempt, ...] = ()
            self._made_with = _made_with()
            self._end, self._check = 0, ""
            self._add(header)
            self.sync()
            _sync_folder(self._path.parent)
            return
        found = journal_in(raw, self._path)
        _refuse_another(plan, found, self._path)
        self.recorded, self._made_with = found.attempts, found.made_with
        self._end, self._check = found.length, found.last_check

    def add(self, attempt: Attempt) -> None:
        """Write the next attempt; it is the system's then, and outlives this process."""
        self._add(attempt_line(attempt, self._check))

    def other_candidate(self, number: int) -> FormatError:
        """Return the error for a recorded attempt whose candidate is not the one that the search asks for."""
        return FormatError(
            "the search asks for another candidate here than stands in the journal",
            where=Where(self._path, line=number + 2),
            hint=f"go on with the packages it was made with: {self._made_with}; here are {_made_with()}",
        )

    def sync(self) -> None:
        """Wait until the disk has all that was added, so that it outlives a power cut too."""
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise OutputError.at(self._path, error.strerror or str(error)) from error

    def close(self) -> None:
        """Let go of the journal; another process may go on with it."""
        os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _add(self, line: str) -> None:
        content = memoryview(f"{line}\n".encode())
        try:
            os.lseek(self._handle, self._end, os.SEEK_SET)
            os.ftruncate(self._handle, self._end)
            while content:
                content = content[os.write(self._handle, content) :]
        except OSError as error:
            raise OutputError.at(self._path, error.strerror or str(error)) from error
        self._end = os.lseek(self._handle, 0, os.SEEK_CUR)
        self._check = check_of(line)

    def _all_bytes(self) -> bytes:
        with os.fdopen(os.dup(self._handle), "rb") as file:
            return file.read()


def _opened(path: Path) -> int:
    try:
        if path_exists(path) and not is_file(path):
            raise OutputError.at(path, "not a regular file")
        return os.open(real_path(path), os.O_RDWR | os.O_CREAT | _BINARY, 0o666)
    except OSError as error:
        raise OutputError.at(path, error.strerror or str(error)) from error


def _lock(handle: int, path: Path) -> None:
    """Refuse a journal that another process holds; the lock goes with the process that holds it."""
    if not try_lock(handle):
        raise OutputError(
            "another tuning is writing this journal", where=Where(path), hint="wait for it, or name another"
        )


def _refuse_another(plan: Plan, journal: Journal, path: Path) -> None:
    found = journal.plan
    if found == plan:
        return
    sides = (
        ("problem", plan.fingerprint, found.fingerprint),
        ("box of dimensions", plan.dimensions, found.dimensions),
        ("seed", plan.seed, found.seed),
        ("population", plan.population, found.population),
        ("spread", plan.spread, found.spread),
    )
    name, asked, there = next(side for side in sides if side[1] != side[2])
    shown = "" if isinstance(asked, tuple) else f": {there!r}, and not {asked!r}"
    raise InputError(
        f"this is the journal of another search, with another {name}{shown}",
        where=Where(path, line=1),
        hint="name another journal, or search what this one searches",
    )


def _made_with() -> str:
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("cma", "numpy"))


def _sync_folder(folder: Path) -> None:
    """Let a new file's name outlive a power cut, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
