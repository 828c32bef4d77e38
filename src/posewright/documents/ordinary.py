"""Opening what a person named: an ordinary file, and nothing that may never end."""

from __future__ import annotations

import errno
import stat
from pathlib import Path
from typing import BinaryIO


def open_ordinary(path: Path) -> BinaryIO:
    """Open a file for reading bytes.

    A pipe or a device, on which a program would wait for ever, is not opened at all.

    Raises:
        OSError: there is no such file, it is no ordinary one, or it may not be read.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # a folder is refused by open() in its own words
        raise OSError(errno.EINVAL, "not an ordinary file")
    return path.open("rb")
