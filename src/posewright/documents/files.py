"""Files: opened for reading, written atomically, and locked while they are changed."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import re
import secrets
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from posewright.errors import FormatError, OutputError, Where, visible

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

if sys.platform == "win32":
    _BINARY = os.O_BINARY  # Windows would else turn every line feed into two bytes
else:
    _BINARY = 0


LOCK_TIMEOUT_S = 10.0
"""So long a program waits for another that holds a folder while nothing changes there."""

_TOLD_AFTER_S = 1.0
"""So long it waits in silence."""

_POLL_S = 0.02

_SHOWN = 40
"""So much of a file's name stands in that of the unfinished one, which must not be too long itself."""

_HOST = f"{zlib.crc32(os.uname().nodename.encode()) if sys.platform != 'win32' else 0:08x}"
"""Stands in the name of an unfinished file: a lock says nothing of programs on another machine."""

_UNFINISHED = re.compile(rf"\..+\.{_HOST}[0-9a-f]{{16}}\.unfinished(?:\.\w+)?", re.DOTALL)

_SWEEP_EVERY_S = 1.0
"""A folder is not searched for unfinished files more often, or two thousand files would take a minute."""

_swept: dict[Path, float] = {}


def write_atomically(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write `content` to `path` so that a crash leaves either the old file or the new one.

    It waits until the disk has it, so that it outlives a power cut too, unless it need not be `durable`, as
    what can be made again. Otherwise as `replacing`.

    Raises:
        OutputError: it cannot be written there, or something stands there that is write-protected or no
            ordinary file.
    """
    with replacing(path) as (_, handle), os.fdopen(handle, "wb", closefd=False) as file:
        file.write(content)
        file.flush()
        if durable:
            os.fsync(handle)


@contextlib.contextmanager
def replacing(path: Path, *, ending: str = "") -> Iterator[tuple[Path, int]]:
    """Yield an empty file beside `path` and its handle; once it is written, it takes the place of `path`.

    After an exception it is removed and `path` is left as it is. A file that stood there hands on its
    permissions; a new one gets those of an ordinary open(). A link stays a link: what it leads to is
    replaced. Files of this kind that killed programs left in the folder are removed.

    Args:
        path: what is to be written.
        ending: how the unfinished file's name ends, for a program that goes by that: `.mp4`.

    Raises:
        OutputError: as `write_atomically`; any OSError on the way becomes one.
    """
    path = _target(path)
    _sweep(path.parent)
    try:
        unfinished, handle = _begun(path, ending)
    except OSError as error:
        raise OutputError.at(path, error.strerror or str(error)) from error
    try:
        yield unfinished, handle
        with contextlib.suppress(FileNotFoundError):
            unfinished.chmod(path.stat().st_mode & 0o777)
        if sys.platform == "win32":  # it replaces no file that is open
            os.close(handle)
            handle = -1
        unfinished.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        if isinstance(error, OSError):
            raise OutputError.at(path, error.strerror or str(error)) from error
        raise
    finally:
        if handle >= 0:
            os.close(handle)


def _begun(path: Path, ending: str) -> tuple[Path, int]:
    """Make an unfinished file, and hold it by a lock as long as its handle is open: its maker lives."""
    if not path.name:
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    while True:
        name = f".{path.name[:_SHOWN]}.{_HOST}{secrets.token_hex(8)}.unfinished{ending}"
        unfinished = path.with_name(name)
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
        if sys.platform == "win32" or (try_lock(handle) and os.fstat(handle).st_nlink):
            return unfinished, handle
        os.close(handle)  # another program has just taken it for a dead one's, and removes it


def _sweep(folder: Path) -> None:
    """Remove what is left unfinished in a folder, unless that was done just now."""
    now = time.monotonic()
    if sys.platform == "win32" or now - _swept.get(folder, -_SWEEP_EVERY_S) < _SWEEP_EVERY_S:
        return
    _swept[folder] = now
    remove_unfinished(folder)


def remove_unfinished(folder: Path) -> None:
    """Remove what killed programs left unfinished in a folder: nobody holds it by a lock any more."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _UNFINISHED.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_if_left(entry.path)


def _remove_if_left(unfinished: str) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(unfinished, os.O_RDONLY | (0 if sys.platform == "win32" else os.O_NOFOLLOW))
        try:
            if _lock(handle):
                os.unlink(unfinished)  # noqa: PTH108 -- a name that os.scandir gave
        finally:
            os.close(handle)


def refuse_unwritable(path: Path) -> None:
    """Say before long work, not after it, that its result could not be written to `path`."""
    path = _target(path)
    if not path.parent.is_dir():
        raise OutputError.at(path, os.strerror(errno.ENOENT))
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise OutputError.at(path, os.strerror(errno.EACCES))


def real_path(path: Path) -> Path:
    """Return where a path leads, links followed, or raise OutputError for one that no file can have."""
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:  # a NUL in it, or half a character
        what = f"no file can be called {visible(str(path))}"
        raise OutputError(what, hint="leave out what stands for no character") from error


def _target(path: Path) -> Path:
    """Return the file that writing to `path` means; a device or a pipe must not be replaced by a file."""
    target = real_path(path)
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


def is_there(path: Path) -> bool:
    """Tell whether something is at a path; it says no, where Path raises, of what is no name."""
    return os.path.exists(path)  # noqa: PTH110 -- Path raises of a name that is too long


def is_file(path: Path) -> bool:
    """Tell whether there is a file at a path."""
    return os.path.isfile(path)  # noqa: PTH113 -- as above


def is_folder(path: Path) -> bool:
    """Tell whether there is a folder at a path."""
    return os.path.isdir(path)  # noqa: PTH112 -- as above


def open_ordinary(path: Path) -> BinaryIO:
    """Open a file for reading bytes.

    A pipe or a device, on which a program would wait for ever, is not opened at all.
    """
    try:
        mode = path.stat().st_mode
    except ValueError as error:  # a NUL in its name, or half a character
        raise OSError(errno.EINVAL, "no file can be called so") from error
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # a folder is refused by open() in its own words
        raise OSError(errno.EINVAL, "not an ordinary file")
    return path.open("rb")


def read_bounded(path: Path, most: int) -> bytes:
    """Return the bytes of a file, or raise FormatError where it cannot be read or has more than `most`."""
    try:
        with open_ordinary(path) as file:
            data = file.read(most + 1)
    except OSError as error:
        raise FormatError(error.strerror or str(error), where=Where(path=path)) from error
    if len(data) > most:
        raise FormatError(f"larger than {most:,} bytes", where=Where(path=path))
    return data


@contextlib.contextmanager
def locked(*paths: Path, waits: bool = True) -> Iterator[None]:
    """Keep other programs of ours from changing files in these folders; wait until those that do are done.

    The folders themselves are locked, so that no file of ours stays behind when a program is killed. A
    folder that is not there, or that cannot be locked, is not locked. A path may be that of a file in the
    folder; a link means the folder of what it leads to. Whoever waits long is told of it by a warning of the
    log `posewright`, which Python shows on stderr. Where it `waits` not, it is refused at once.

    Raises:
        OutputError: another program held one of the folders for `LOCK_TIMEOUT_S`, and nothing changed there;
            or holds one, and nobody waits.
    """
    targets = [real_path(path) for path in paths]
    folders = {target if is_folder(target) else target.parent for target in targets}
    with contextlib.ExitStack() as held:
        for folder in sorted(folders):  # the same order everywhere: two programs never wait for each other
            held.enter_context(_one_locked(folder, waits=waits))
        yield


@contextlib.contextmanager
def _one_locked(folder: Path, *, waits: bool) -> Iterator[None]:
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # it is not there; Windows opens no folder at all
        yield
        return
    try:
        if waits:
            _wait_for(handle, folder)
        elif not try_lock(handle):
            hint = "wait until it is done, or name another folder"
            raise OutputError(f"{_holder(handle)} is at it", where=Where(folder), hint=hint)
        yield
    finally:
        os.close(handle)


def _wait_for(
    handle: int,
    folder: Path,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Wait for the lock of a folder, as long as whoever has it gets something done."""
    began = moved = clock()
    changed, is_told = os.fstat(handle).st_mtime_ns, False
    while not try_lock(handle):
        now = clock()
        if os.fstat(handle).st_mtime_ns != changed:
            changed, moved = os.fstat(handle).st_mtime_ns, now
        if now - moved > LOCK_TIMEOUT_S:
            message = f"{_holder(handle)} has been changing files here for {LOCK_TIMEOUT_S:g} s"
            raise OutputError(message, where=Where(folder), hint="wait until it is done, or end it")
        if not is_told and now - began > _TOLD_AFTER_S:
            is_told = True
            message = "%s: waiting for %s, which is changing files here"
            logging.getLogger("posewright").warning(message, visible(str(folder)), _holder(handle))
        sleep(_POLL_S)


def _holder(handle: int) -> str:
    """Return which program holds the lock of an open folder, where Linux tells its number."""
    with contextlib.suppress(OSError):
        status = os.fstat(handle)
        folder = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            words = line.split()  # 1: FLOCK ADVISORY WRITE 4711 fe:00:131 0 EOF; one that waits has an arrow
            if words[1] == "FLOCK" and words[5] == folder:
                return f"another program (process {words[4]})"
    return "another program"


def try_lock(handle: int) -> bool:
    """Lock an open file until it is closed; return whether no other program holds it.

    Where the disk knows no locks, as that of another machine may, nothing is locked.
    """
    try:
        return _lock(handle)
    except OSError:
        return True


def _lock(handle: int) -> bool:
    """Lock an open file, or return False; raises OSError where the disk knows no locks."""
    if sys.platform == "win32":
        from filelock import lock_descriptor

        return lock_descriptor(handle, blocking=False)
    import fcntl  # itself: to load filelock takes longer than most of what is done under a lock

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
