"""Atomic writing: a crash leaves the old file or the new one."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

from posewright.errors import OutputError

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

_BINARY: int = getattr(os, "O_BINARY", 0)  # Windows would else turn every line feed into two bytes


_SHOWN = 40
"""So much of a file's name stands in that of the unfinished one, which must not be too long itself."""


def write_atomically(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write `content` to `path` so that a crash leaves either the old file or the new one.

    A file that stood there keeps its permissions; a new one gets those of an ordinary open(). A link
    stays a link: what it leads to is written.

    Args:
        path: where to.
        content: the whole file.
        durable: whether to wait until the disk has it, so that it outlives a power cut too; what can be
            made again need not.

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
    """Say before long work, not after it, that its result could not be written to `path`.

    Raises:
        OutputError: it cannot be written there, as far as can be told without writing.
    """
    path = _target(path)
    if not path.parent.is_dir():
        raise OutputError.at(path, os.strerror(errno.ENOENT))
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise OutputError.at(path, os.strerror(errno.EACCES))


def _target(path: Path) -> Path:
    """Return the file that writing to `path` means; a device or a pipe must not be replaced by a file."""
    target = Path(os.path.realpath(path))
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
