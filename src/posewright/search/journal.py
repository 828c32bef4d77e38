"""Tuning journals: lines of JSON, each with a checksum over itself and all lines before it."""

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
from posewright.search.plan import Dimension, Evaluation, Fact, Plan
from posewright.search.result import Attempt, Generation, group_generations

KIND = "posewright-tuning"
VERSION = 1
_CHECKSUM_DIGITS = 16
_LINE_END = '"}'
"""What follows the checksum in a line."""

_FIRST_ATTEMPT_LINE = 2
"""The line number of the attempt 0; the header is line 1."""

_ADVICE = "take a copy from before the damage, or begin a new journal"


class LineError(ValueError):
    """A line is not a valid line of a journal; the caller adds its number."""


# Lines.


def header_line(plan: Plan, made_with: str) -> str:
    """Return the first line of a journal, without its line feed.

    Args:
        plan: the plan of the search.
        made_with: packages that draw the candidates, with their versions.
    """
    header = {
        "journal": KIND,
        "version": VERSION,
        "made_with": made_with,
        "fingerprint": plan.fingerprint,
        "dimensions": [asdict(dimension) for dimension in plan.dimensions],
        "population": plan.population,
        "spread": plan.spread,
        "seed": plan.seed,
    }
    return _add_checksum(header, "hash", previous_checksum="")


def attempt_line(attempt: Attempt, previous_checksum: str) -> str:
    """Return the line of an attempt, without its line feed; a score that is not finite is null.

    Args:
        attempt: the attempt to be written.
        previous_checksum: the checksum of the line before.
    """
    evaluation = attempt.evaluation
    entry = {
        "generation": attempt.generation,
        "index": attempt.index,
        "values": dict(attempt.values),
        "score": evaluation.score if evaluation.is_judged else None,
        "facts": {name: _encode_fact(fact) for name, fact in evaluation.facts.items()},
    }
    return _add_checksum(entry, "check", previous_checksum)


def checksum_of(line: str) -> str:
    """Return the checksum at the end of a line."""
    return line[-len(_LINE_END) - _CHECKSUM_DIGITS : -len(_LINE_END)]


def read_header(line: str) -> tuple[Plan, str]:
    """Return the plan and `made_with` of a journal's first line.

    Raises:
        LineError: the line is damaged, or is not the header of a journal of this version.
    """
    header = _parse_object(line)
    if header.get("journal") != KIND:
        raise LineError("this is not a tuning journal")
    if header.get("version") != VERSION:
        raise LineError(f"the journal is of version {header.get('version')!r}, not {VERSION}")
    try:
        plan = Plan(
            fingerprint=header["fingerprint"],
            dimensions=tuple(map(_read_dimension, header["dimensions"])),
            population=header["population"],
            spread=header["spread"],
            seed=header["seed"],
        )
        expected_line = header_line(plan, header["made_with"])  # with the checksum that it must have
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, InputError) as error:
        raise LineError("the header is damaged") from error
    if expected_line != line:
        raise LineError("the header was changed after it was written")
    return plan, header["made_with"]


def _read_dimension(data: PlainMapping) -> Dimension:
    return Dimension(
        data["name"], low=data["low"], high=data["high"], start=data["start"], is_whole=data["is_whole"]
    )


def read_attempt(line: str, plan: Plan, number: int, previous_checksum: str) -> Attempt:
    """Return the attempt of a line.

    Args:
        line: the line without its line feed.
        plan: the plan of the search.
        number: the number of the attempt, from 0.
        previous_checksum: the checksum of the line before.

    Raises:
        LineError: the line is damaged, or a line before it is missing.
    """
    entry = _parse_object(line)
    generation, index = plan.locate(number)
    try:
        score = math.inf if entry["score"] is None else float(entry["score"])
        facts = {name: _decode_fact(fact) for name, fact in entry["facts"].items()}
        values: dict[str, float] = {}
        for dimension in plan.dimensions:
            value = entry["values"][dimension.name]
            values[dimension.name] = int(value) if dimension.is_whole else float(value)
        attempt = Attempt(generation, index, values, evaluation=Evaluation(score, facts))
        expected_line = attempt_line(attempt, previous_checksum)
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, InputError) as error:
        raise LineError("the line is damaged") from error
    if expected_line != line:
        raise LineError("the line was changed after it was written, or a line before it is missing")
    for dimension in plan.dimensions:
        value = values[dimension.name]
        if not dimension.low <= value <= dimension.high:
            limits = f"{dimension.low:g} to {dimension.high:g}"
            raise LineError(f"{dimension.name} is {value:g}, outside its range of {limits}")
    return attempt


def _add_checksum(entry: Mapping[str, object], key: str, previous_checksum: str) -> str:
    """Return an object as a line of JSON, with its checksum as the last key.

    The checksum includes the previous line's, so it depends on all lines before.
    """
    text = json.dumps(entry, allow_nan=False)
    digest = hashlib.sha256(f"{previous_checksum}{text}".encode()).hexdigest()
    without_brace = text[:-1]
    return f'{without_brace}, "{key}": "{digest[:_CHECKSUM_DIGITS]}{_LINE_END}'


def _parse_object(line: str) -> PlainMapping:
    """Return the JSON object of a line; raise a LineError if it is not one."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LineError("the line is not JSON") from error
    if not isinstance(entry, dict):
        raise LineError("the line is not a JSON object")
    return entry


def _encode_fact(fact: Fact) -> Fact | dict[str, str]:
    """Return a fact for JSON, which has no infinity."""
    if isinstance(fact, float) and not math.isfinite(fact):
        return {"float": repr(fact)}
    return fact


def _decode_fact(fact: Fact | Mapping[str, str]) -> Fact:
    return float(fact["float"]) if isinstance(fact, Mapping) else fact


# Reading.


@dataclass(frozen=True)
class Journal:
    """The content of a journal.

    Attributes:
        plan: the plan of the search.
        made_with: packages that drew the candidates, with their versions.
        attempts: the attempts in order: the start, then generation by generation; the last generation may be
            unfinished.
        n_bytes: length of its complete lines; the remainder was cut off.
        last_checksum: the checksum of its last complete line.
    """

    plan: Plan
    made_with: str
    attempts: tuple[Attempt, ...]
    n_bytes: int
    last_checksum: str

    @property
    def generations(self) -> tuple[Generation, ...]:
        """The generations that its attempts form."""
        return tuple(group_generations(self.attempts, self.plan.dimensions))


def read_journal(path: str | Path) -> Journal:
    """Read a journal, even while it is being written.

    Raises:
        FormatError: the file cannot be read, or is not a valid journal.
    """
    path = Path(path)
    try:
        with open_regular_file(path) as file:
            data = file.read()
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror or error}", where=Where(path)) from error
    return parse_journal(data, path)


def parse_journal(data: bytes, path: Path) -> Journal:
    """Return the journal in the bytes of a file; `path` is only used in errors.

    Raises:
        FormatError: it is not a valid journal.
    """
    n_bytes = data.rfind(b"\n") + 1  # of complete lines; 0 if there is none
    first_line, *lines = data[:n_bytes].split(b"\n")
    line_number = 1
    try:
        if not n_bytes:
            raise LineError("the file has no complete line")
        header = _decode_line(first_line)
        plan, made_with = read_header(header)
        checksum = checksum_of(header)
        attempts: list[Attempt] = []
        for line_number, line in enumerate(lines[:-1], start=_FIRST_ATTEMPT_LINE):  # the last one is empty
            text = _decode_line(line)
            number = line_number - _FIRST_ATTEMPT_LINE
            attempts.append(read_attempt(text, plan, number, previous_checksum=checksum))
            checksum = checksum_of(text)
    except LineError as error:
        advice = _ADVICE if line_number > 1 else "expected a file that `posewright tune` wrote"
        raise FormatError(str(error), where=Where(path, line=line_number), hint=advice) from error
    return Journal(plan, made_with, attempts=tuple(attempts), n_bytes=n_bytes, last_checksum=checksum)


def _decode_line(line: bytes) -> str:
    try:
        return line.decode("ascii")
    except UnicodeDecodeError as error:
        raise LineError(f"byte {error.start} of the line is not ASCII") from error


# Writing.

if sys.platform == "win32":
    _BINARY = os.O_BINARY  # otherwise Windows turns each line feed into two bytes
else:
    _BINARY = 0


class JournalWriter:
    """Creates a journal, or opens one to append to.

    An existing file stays as it is until the first attempt is added; then an incomplete last line is removed.

    Args:
        path: the path of the journal.
        plan: the plan of the search.

    Attributes:
        recorded: attempts in the journal when it was opened, in order.

    Raises:
        OutputError: the file cannot be written, or another process is writing it.
        FormatError: the file is not a valid journal.
        InputError: it is the journal of another search.
    """

    def __init__(self, path: Path, plan: Plan) -> None:
        """Open the file, lock it against other processes, and read what it contains."""
        self.recorded: tuple[Attempt, ...] = ()
        self._path = path
        self._made_with = _package_versions()  # of the packages that draw the candidates
        self._end_offset = 0  # of the last complete line [byte]
        self._last_checksum = ""  # of the last line, which the next one continues
        self._handle = _open_file(path)
        try:
            _require_lock(self._handle, path)
            self._begin_or_resume(plan)
        except BaseException:
            self.close()
            raise

    def _begin_or_resume(self, plan: Plan) -> None:
        """Write the header of a new journal, or read the attempts of an existing one."""
        with os.fdopen(os.dup(self._handle), "rb") as file:
            data = file.read()
        header = header_line(plan, self._made_with)
        is_incomplete_header = b"\n" not in data and header.encode().startswith(data)
        if is_incomplete_header:  # also if the file is empty
            self._append(header)
            self.sync()
            _sync_folder(self._path.parent)
            return
        journal = parse_journal(data, self._path)
        _require_same_plan(plan, journal.plan, self._path)
        self.recorded = journal.attempts
        self._made_with = journal.made_with
        self._end_offset = journal.n_bytes
        self._last_checksum = journal.last_checksum

    def add(self, attempt: Attempt) -> None:
        """Append an attempt; the operating system has it then, so it survives a crash of this process."""
        self._append(attempt_line(attempt, self._last_checksum))

    def candidate_error(self, number: int) -> FormatError:
        """Return the error that the journal records another candidate than the search draws.

        Args:
            number: the number of the recorded attempt, from 0.
        """
        versions = f"{self._made_with}; here are {_package_versions()}"
        return FormatError(
            "the search draws another candidate than the journal records",
            where=Where(self._path, line=number + _FIRST_ATTEMPT_LINE),
            hint=f"resume with the packages it was made with: {versions}",
        )

    def sync(self) -> None:
        """Wait until all attempts are on the disk, so that they survive a power cut."""
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise OutputError.at(self._path, error.strerror or str(error)) from error

    def close(self) -> None:
        """Close the journal, so that another process may resume it."""
        os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, line: str) -> None:
        """Write a line after the last complete one, over an incomplete one."""
        content = memoryview(f"{line}\n".encode())
        try:
            os.lseek(self._handle, self._end_offset, os.SEEK_SET)
            os.ftruncate(self._handle, self._end_offset)
            while content:  # a write may take only a part
                content = content[os.write(self._handle, content) :]
        except OSError as error:
            raise OutputError.at(self._path, error.strerror or str(error)) from error
        self._end_offset = os.lseek(self._handle, 0, os.SEEK_CUR)
        self._last_checksum = checksum_of(line)


def _open_file(path: Path) -> int:
    """Open a journal to read and write, creating it if it is missing, and return the file's handle."""
    try:
        if path_exists(path) and not is_file(path):
            raise OutputError.at(path, "not a regular file")
        return os.open(real_path(path), os.O_RDWR | os.O_CREAT | _BINARY, 0o666)
    except OSError as error:
        raise OutputError.at(path, error.strerror or str(error)) from error


def _require_lock(handle: int, path: Path) -> None:
    """Lock a file, or raise OutputError if another process has locked it; the lock ends with the process."""
    if not try_lock(handle):
        message = "another process is writing this journal"
        raise OutputError(message, where=Where(path), hint="wait for it, or name another journal")


def _require_same_plan(plan: Plan, recorded_plan: Plan, path: Path) -> None:
    """Raise InputError if the plan in a journal differs from that of the search."""
    if recorded_plan == plan:
        return
    comparisons = (
        ("problem", plan.fingerprint, recorded_plan.fingerprint),
        ("set of dimensions", plan.dimensions, recorded_plan.dimensions),
        ("seed", plan.seed, recorded_plan.seed),
        ("population", plan.population, recorded_plan.population),
        ("spread", plan.spread, recorded_plan.spread),
    )
    for name, requested, recorded in comparisons:
        if requested == recorded:
            continue
        # the dimensions would make the message too long
        difference = "" if name == "set of dimensions" else f": {recorded!r}, not {requested!r}"
        raise InputError(
            f"this is the journal of another search, with another {name}{difference}",
            where=Where(path, line=1),
            hint="name another journal, or search what this one searches",
        )


def _package_versions() -> str:
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("cma", "numpy"))


def _sync_folder(folder: Path) -> None:
    """Write the folder entry of a new file to disk, if the system supports it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
