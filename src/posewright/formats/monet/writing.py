"""Writing several files that belong together: all of them, or none."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from posewright.documents import refuse_unwritable, write_atomically
from posewright.errors import OutputError, Where


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write files in their order, read each back, and if one fails put back what was there.

    Each is written atomically, so that whatever happens it is the old one or the new one.

    Raises:
        OutputError: one of them cannot be written; then none has changed.
    """
    for path in files:
        refuse_unwritable(path)
    before = {path: path.read_bytes() if path.exists() else None for path in files}
    written: list[Path] = []
    try:
        for path, data in files.items():
            written.append(path)
            write_atomically(path, data)
            if path.read_bytes() != data:
                raise OutputError("what was written cannot be read back as it was", where=Where(path=path))
    except BaseException:
        for path in reversed(written):
            _put_back(path, before[path])
        raise


def _put_back(path: Path, data: bytes | None) -> None:
    with contextlib.suppress(OutputError, OSError):
        if data is None:
            path.unlink(missing_ok=True)
        elif not path.exists() or path.read_bytes() != data:
            write_atomically(path, data)
