"""Reading files, writing them atomically, and locking folders while their files are changed."""

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

from posewright.documents.output_names import require_portable_name
from posewright.errors import FormatError, OutputError, Where, escape_unprintable

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

if sys.platform == "win32":
    _BINARY = os.O_BINARY  # else Windows turns every line feed into two bytes
else:
    _BINARY = 0


LOCK_TIMEOUT_S = 10.0
"""How long a program waits for a locked folder in which nothing changes."""

_WARN_AFTER_S = 1.0
"""How long a program waits for a lock before it logs a warning."""

_POLL_S = 0.02

_MAX_STEM_LENGTH = 40
"""How many characters of a file's name are repeated in the name of its unfinished file."""

_HOST = f"{zlib.crc32(os.uname().nodename.encode()) if sys.platform != 'win32' else 0:08x}"
"""Part of an unfinished file's name: a lock does not show programs on other machines."""

_UNFINISHED = re.compile(rf"\..+\.{_HOST}[0-9a-f]{{16}}\.unfinished(?:\.\w+)?", re.DOTALL)

_CLEAN_UP_EVERY_S = 1.0
"""Shortest time between two clean-ups of a folder: writing two thousand files would else take a minute."""

_cleaned_at: dict[Path, float] = {}
"""When each folder was cleaned up last, by the monotonic clock [s]."""


def write_atomically(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write a file so that a crash leaves either the old file or the new one.

    See `atomic_replacement` for links and permissions.

    Args:
        path: the file to write.
        content: its new content.
        durable: whether to wait until the content is on the disk and survives a power cut.

    Raises:
        OutputError: the file cannot be written, or `path` is write-protected or no regular file.
    """
    with atomic_replacement(path) as (_, handle), os.fdopen(handle, "wb", closefd=False) as file:
        file.write(content)
        file.flush()
        if durable:
            os.fsync(handle)


BACKUP_SUFFIX = ".bak"


def back_up(path: Path) -> Path | None:
    """Copy a file to `NAME.bak` beside it, before it is changed for the first time.

    Returns:
        The copy; None if there is no such file, or if an earlier copy exists, which stays as it is.

    Raises:
        OutputError: the copy cannot be written.
    """
    if os.path.islink(path):  # noqa: PTH114 -- Path raises for a name that is too long
        path = real_path(path)
    backup = path.with_name(path.name + BACKUP_SUFFIX)
    if not is_file(path) or path_exists(backup):
        return None
    try:
        content = path.read_bytes()
    except OSError as error:
        raise OutputError.at(path, error.strerror or str(error)) from error
    write_atomically(backup, content)
    return backup


@contextlib.contextmanager
def atomic_replacement(path: Path, *, suffix: str = "") -> Iterator[tuple[Path, int]]:
    """Yield a new temporary file beside `path`, as its path and its handle, that replaces `path` at the end.

    After an exception, the temporary file is removed and `path` is unchanged. The new file keeps the
    permissions of the old one; without an old one it gets those of an ordinary open(). If `path` is a link,
    its target is replaced. Temporary files that killed programs left in the folder are removed.

    Args:
        path: the file to replace.
        suffix: the suffix of the temporary file, for programs that go by it: `.mp4`.

    Raises:
        OutputError: the file cannot be written, or `path` is write-protected or no regular file; any OSError
            in the body is turned into one.
    """
    path = _writable_target(path)
    _clean_up(path.parent)
    try:
        unfinished, handle = _create_unfinished(path, suffix)
    except OSError as error:
        raise OutputError.at(path, error.strerror or str(error)) from error
    is_open = True
    try:
        yield unfinished, handle
        with contextlib.suppress(FileNotFoundError):
            unfinished.chmod(path.stat().st_mode & 0o777)
        if sys.platform == "win32":  # Windows replaces no open file
            os.close(handle)
            is_open = False
        unfinished.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        if isinstance(error, OSError):
            raise OutputError.at(path, error.strerror or str(error)) from error
        raise
    finally:
        if is_open:
            os.close(handle)


def _create_unfinished(path: Path, suffix: str) -> tuple[Path, int]:
    """Create the temporary file for `path`, locked while its handle is open to mark it as in use."""
    if not path.name:
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    while True:
        name = f".{path.name[:_MAX_STEM_LENGTH]}.{_HOST}{secrets.token_hex(8)}.unfinished{suffix}"
        unfinished = path.with_name(name)
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
        still_exists = sys.platform == "win32" or (try_lock(handle) and os.fstat(handle).st_nlink > 0)
        if still_exists:
            return unfinished, handle
        os.close(handle)  # another program has taken it for a dead program's and removes it


def _clean_up(folder: Path) -> None:
    """Remove the unfinished files of killed programs from a folder, unless this was done just now."""
    now_s = time.monotonic()
    last_clean_up_s = _cleaned_at.get(folder, -_CLEAN_UP_EVERY_S)
    if sys.platform == "win32" or now_s - last_clean_up_s < _CLEAN_UP_EVERY_S:
        return
    _cleaned_at[folder] = now_s
    remove_unfinished_files(folder)


def remove_unfinished_files(folder: Path) -> None:
    """Remove unfinished files that killed programs left in a folder: those without a lock."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _UNFINISHED.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_if_unlocked(entry.path)


def _remove_if_unlocked(unfinished: str) -> None:
    """Remove an unfinished file unless another program holds its lock."""
    with contextlib.suppress(OSError):
        handle = os.open(unfinished, os.O_RDONLY | (0 if sys.platform == "win32" else os.O_NOFOLLOW))
        try:
            if _lock(handle):
                os.unlink(unfinished)  # noqa: PTH108 -- a name from os.scandir
        finally:
            os.close(handle)


def require_writable(path: Path) -> None:
    """Raise OutputError if a file cannot be written at `path`; call it before long work, not after."""
    path = _writable_target(path)
    if not path.parent.is_dir():
        raise OutputError.at(path, os.strerror(errno.ENOENT))
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise OutputError.at(path, os.strerror(errno.EACCES))


def create_folder(folder: Path) -> None:
    """Create a folder and its parents, unless it exists.

    Raises:
        OutputError: it cannot be created, or has a name that Windows does not allow.
    """
    for new_folder in (folder, *folder.parents):
        if is_folder(new_folder):
            break
        require_portable_name(new_folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a NUL in its name
        reason = error.strerror if isinstance(error, OSError) else None
        raise OutputError(
            f"the folder cannot be created: {reason or error}",
            where=Where(folder),
            hint="name another folder",
        ) from error


def real_path(path: Path) -> Path:
    """Return the path with its links followed.

    Raises:
        OutputError: no file can have that name.
    """
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:  # a NUL or a lone surrogate
        message = f"no file can be called {escape_unprintable(str(path))}"
        raise OutputError(message, hint="leave out NUL and invalid characters") from error


def _writable_target(path: Path) -> Path:
    """Return the file that writing to `path` replaces.

    Raises:
        OutputError: it is a folder, a device, a pipe or write-protected, or a new file with a name that
            Windows does not allow.
    """
    target = real_path(path)
    try:
        status = target.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            require_portable_name(path)
            return target
        raise OutputError.at(path, error.strerror or str(error)) from error
    if stat.S_ISDIR(status.st_mode):
        raise OutputError.at(path, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OutputError.at(path, "not a regular file")
    if not status.st_mode & _WRITABLE:
        raise OutputError.at(path, "it is write-protected")
    return target


def path_exists(path: Path) -> bool:
    """Return whether there is anything at a path; False for a name that no file can have."""
    return os.path.exists(path)  # noqa: PTH110 -- Path raises for a name that is too long


def is_file(path: Path) -> bool:
    """Return whether there is a file at a path."""
    return os.path.isfile(path)  # noqa: PTH113 -- as above


def is_folder(path: Path) -> bool:
    """Return whether there is a folder at a path."""
    return os.path.isdir(path)  # noqa: PTH112 -- as above


def open_regular_file(path: Path) -> BinaryIO:
    """Open a file for reading bytes.

    Raises:
        OSError: there is no file, or it is a pipe or a device, whose reader could wait forever.
    """
    try:
        mode = path.stat().st_mode
    except ValueError as error:  # a NUL or a lone surrogate in its name
        raise OSError(errno.EINVAL, "no file can have this name") from error
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # open() itself raises for a folder
        raise OSError(errno.EINVAL, "not a regular file")
    return path.open("rb")


def read_bounded(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a file.

    Raises:
        FormatError: the file cannot be read, or has more than `max_bytes`.
    """
    try:
        with open_regular_file(path) as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise FormatError(error.strerror or str(error), where=Where(path=path)) from error
    if len(data) > max_bytes:
        raise FormatError(f"larger than {max_bytes:,} bytes", where=Where(path=path))
    return data


@contextlib.contextmanager
def lock_folders(*paths: Path, wait: bool = True) -> Iterator[None]:
    """Lock folders against other Posewright programs while the body changes files in them.

    The folders themselves are locked, so a killed program leaves no lock file; on Windows, which opens no
    folders, the file `.posewright.lock` in them. Folders that do not exist or cannot be locked are skipped.
    After a second of waiting, the log `posewright` gets a warning.

    Args:
        paths: folders, or files in them; links are followed.
        wait: whether to wait for a locked folder; otherwise an error is raised at once.

    Raises:
        OutputError: another program has locked a folder, and `wait` is false or nothing in the folder has
            changed for `LOCK_TIMEOUT_S`.
    """
    targets = [real_path(path) for path in paths]
    folders = {target if is_folder(target) else target.parent for target in targets}
    with contextlib.ExitStack() as locks:
        for folder in sorted(folders):  # the same order in every program prevents deadlocks
            locks.enter_context(_lock_folder(folder, wait=wait))
        yield


LOCK_FILE = ".posewright.lock"
"""The file in a folder that is locked where the folder itself cannot be opened."""


@contextlib.contextmanager
def _lock_folder(
    folder: Path, *, wait: bool, uses_lock_file: bool = sys.platform == "win32"
) -> Iterator[None]:
    """Lock a folder while the context lasts; a folder that does not exist is not locked.

    Args:
        folder: the folder.
        wait: whether to wait for a locked folder; otherwise an error is raised at once.
        uses_lock_file: whether a file in the folder is locked, and removed afterwards, instead of the folder.
    """
    lock_file = folder / LOCK_FILE
    try:
        if uses_lock_file:
            handle = os.open(lock_file, os.O_RDWR | os.O_CREAT, 0o666)
        else:
            handle = os.open(folder, os.O_RDONLY)
    except OSError:  # it does not exist, or no file can be created in it
        yield
        return
    is_locked = False
    try:
        if wait:
            _wait_for_lock(handle, folder)
        elif not try_lock(handle):
            hint = "wait until it has finished, or name another folder"
            raise OutputError(f"{_lock_owner(handle)} is using this folder", where=Where(folder), hint=hint)
        is_locked = True
        yield
    finally:
        os.close(handle)
        if uses_lock_file and is_locked:
            with contextlib.suppress(OSError):  # Windows keeps it while another program waits for its lock
                lock_file.unlink()


def _wait_for_lock(
    handle: int,
    folder: Path,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Lock a folder; wait as long as the program that has locked it changes files there.

    Logs a warning if it takes long. `clock` and `sleep` replace the time in tests.

    Raises:
        OutputError: nothing in the folder has changed for `LOCK_TIMEOUT_S`.
    """
    start_s = clock()
    last_change_s = start_s
    modified_ns = _modification_ns(folder)
    has_warned = False
    while not try_lock(handle):
        now_s = clock()
        if _modification_ns(folder) != modified_ns:
            modified_ns = _modification_ns(folder)
            last_change_s = now_s
        if now_s - last_change_s > LOCK_TIMEOUT_S:
            message = f"{_lock_owner(handle)} has been changing files here for {LOCK_TIMEOUT_S:g} s"
            raise OutputError(message, where=Where(folder), hint="wait until it has finished, or stop it")
        if not has_warned and now_s - start_s > _WARN_AFTER_S:
            has_warned = True
            message = "%s: waiting for %s, which is changing files here"
            folder_text = escape_unprintable(str(folder))
            logging.getLogger("posewright").warning(message, folder_text, _lock_owner(handle))
        sleep(_POLL_S)


def _modification_ns(folder: Path) -> int:
    """Return when files of a folder were created, replaced or removed last [ns]; 0 if it does not exist."""
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def _lock_owner(handle: int) -> str:
    """Return a description of the program that has locked an open folder, with its process ID on Linux."""
    with contextlib.suppress(OSError):
        status = os.fstat(handle)
        folder_id = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            # "1: FLOCK ADVISORY WRITE 4711 fe:00:131 0 EOF"; a waiting process has an arrow as its kind
            _, kind, _, _, process_id, file_id, *_ = line.split()
            if kind == "FLOCK" and file_id == folder_id:
                return f"another program (process {process_id})"
    return "another program"


def try_lock(handle: int) -> bool:
    """Lock an open file until it is closed; return False if another program has locked it.

    Returns True without a lock on file systems that have none, such as some network file systems.
    """
    try:
        return _lock(handle)
    except OSError:
        return True


def _lock(handle: int) -> bool:
    """Lock an open file; return False if it is locked. Raises OSError if the file system has no locks."""
    if sys.platform == "win32":
        from filelock import lock_descriptor

        return lock_descriptor(handle, blocking=False)
    import fcntl  # not filelock: importing that takes longer than most of what is done under a lock

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
