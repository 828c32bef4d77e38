"""Files: opened for reading, written atomically, and locked while they are changed."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from posewright.errors import OutputError, Where

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

_BINARY: int = getattr(os, "O_BINARY", 0)  # Windows would else turn every line feed into two bytes


LOCK_TIMEOUT_S = 10.0
"""So long a program waits for another that changes files of the same folder; ours take a fraction of it."""

_POLL_S = 0.02

_SHOWN = 40
"""So much of a file's name stands in that of the unfinished one, which must not be too long itself."""


def write_atomically(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write `content` to `path` so that a crash leaves either the old file or the new one.

    A file that stood there keeps its permissions; a new one gets those of an ordinary open(). A link
    stays a link: what it leads to is written. It waits until the disk has it, so that it outlives a power cut
    too, unless it need not be `durable`, as what can be made again.

    Raises:
        OutputError: it cannot be written there, or something stands there that is write-protected or no
            ordinary file.
    """
    path = _target(path)
    unfinished = path.with_name(f".{path.name[:_SHOWN]}.{secrets.token_hex(8)}") if path.name else path
    try:
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
    except OSError as error:
        raise OutputError.at(path, error.strerror or str(error)) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            unfinished.chmod(path.stat().st_mode & 0o777)
        unfinished.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        if isinstance(error, OSError):
            raise OutputError.at(path, error.strerror or str(error)) from error
        raise


def refuse_unwritable(path: Path) -> None:
    """Say before long work, not after it, that its result could not be written to `path`."""
    path = _target(path)
    if not path.parent.is_dir():
        raise OutputError.at(path, os.strerror(errno.ENOENT))
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise OutputError.at(path, os.strerror(errno.EACCES))


def _real(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:  # a NUL in it
        raise OutputError(f"no file can be called {str(path)!r}", hint="leave out the NUL") from error


def _target(path: Path) -> Path:
    """Return the file that writing to `path` means; a device or a pipe must not be replaced by a file."""
    target = _real(path)
    try:
        status = target.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return target
        raise OutputError.at(path, error.strerror or str(error)) from error
    if stat.S_ISDIR(status.st_mode):
        raise OutputError.at(path, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OutputError.at(path, "not an ordinary file")
    if not status.st_mode & _WRITABLE:
        raise OutputError.at(path, "it is write-protected")
    return target


def open_ordinary(path: Path) -> BinaryIO:
    """Open a file for reading bytes.

    A pipe or a device, on which a program would wait for ever, is not opened at all.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # a folder is refused by open() in its own words
        raise OSError(errno.EINVAL, "not an ordinary file")
    return path.open("rb")


@contextlib.contextmanager
def locked(*paths: Path) -> Iterator[None]:
    """Keep other programs of ours from changing files in these folders; wait until those that do are done.

    The folders themselves are locked, so that no file of ours stays behind when a program is killed. A
    folder that is not there, or that cannot be locked, is not locked. A path may be that of a file in the
    folder; a link means the folder of what it leads to.

    Raises:
        OutputError: another program held one of the folders for `LOCK_TIMEOUT_S`.
    """
    targets = [_real(path) for path in paths]
    folders = {target if os.path.isdir(target) else target.parent for target in targets}  # noqa: PTH112 -- says no, where Path raises, of a name that is too long
    with contextlib.ExitStack() as held:
        for folder in sorted(folders):  # the same order everywhere: two programs never wait for each other
            held.enter_context(_one_locked(folder))
        yield


@contextlib.contextmanager
def _one_locked(folder: Path) -> Iterator[None]:
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # it is not there; Windows opens no folder at all
        yield
        return
    try:
        give_up = time.monotonic() + LOCK_TIMEOUT_S
        while not try_lock(handle):
            if time.monotonic() > give_up:
                message = f"another program has been changing files here for {LOCK_TIMEOUT_S:g} s"
                raise OutputError(message, where=Where(folder), hint="wait until it is done, or end it")
            time.sleep(_POLL_S)
        yield
    finally:
        os.close(handle)


def try_lock(handle: int) -> bool:
    """Lock an open file until it is closed; return whether no other program holds it.

    Where the disk knows no locks, as that of another machine may, nothing is locked.
    """
    from filelock import lock_descriptor  # not before there is something to lock

    try:
        return lock_descriptor(handle, blocking=False)
    except OSError:
        return True
