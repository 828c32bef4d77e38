"""Keeping a tuning journal: one process at a time, each attempt on disk before the next is thought of."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import Self

from posewright.documents import try_lock
from posewright.errors import FormatError, InputError, OutputError, Where
from posewright.search.attempt import Attempt
from posewright.search.journal import Journal, attempt_line, check_of, header_line, journal_in
from posewright.search.plan import Plan

_BINARY: int = getattr(os, "O_BINARY", 0)  # Windows would else turn every line feed into two bytes


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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            raise OutputError.at(path, "not an ordinary file")
        return os.open(path, os.O_RDWR | os.O_CREAT | _BINARY, 0o666)
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
