"""Atomic writing: a crash leaves the old file or the new one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from posewright.errors import DocumentError, Where


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path` so that a crash leaves either the old file or the new one."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise DocumentError(
            f"cannot write here: {error.strerror or error}", where=Where(path=path)
        ) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(_mode_for(path))
        Path(name).replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        if isinstance(error, OSError):
            raise DocumentError(f"cannot write: {error.strerror or error}", where=Where(path=path)) from error
        raise


def _mode_for(path: Path) -> int:
    """Return the permissions a file at `path` has, or would get from an ordinary open()."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
