"""Locking: two programs that change the files of one folder do it one after the other."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def locked(*folders: Path) -> Iterator[None]:
    """Keep other programs of ours from changing files in these folders; wait until those that do are done.

    The folders themselves are locked, so that no file of ours stays behind when a program is killed. A
    folder that is not there, or that cannot be locked, is not locked.
    """
    with contextlib.ExitStack() as held:
        # always in the same order, so that two programs never wait for each other
        for folder in sorted({Path(os.path.realpath(folder)) for folder in folders}):
            held.enter_context(_one_locked(folder))
        yield


@contextlib.contextmanager
def _one_locked(folder: Path) -> Iterator[None]:
    try:
        import fcntl
    except ImportError:  # Windows has no such locks; there nothing is locked
        yield
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        yield
        return
    try:
        with contextlib.suppress(OSError):  # a disk of another machine may know no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
