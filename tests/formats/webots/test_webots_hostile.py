"""Large files made to be slow: each ends in one clear error, or is read.

What takes time by the square of a size takes hours here, and does not get past the limit on one test.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.errors import FormatError
from posewright.formats.webots.format import FORMAT

SIZE = 4_000_000
HEAD = b"#WEBOTS_MOTION,V1.0,"
FILES = {
    "devices": HEAD + b"a," * SIZE,
    "one device": HEAD + b"a" * SIZE,
    "columns": HEAD + b"a\n" + b"1," * SIZE,
    "one number": HEAD + b"a\n0,p," + b"1" * SIZE,
    "time": HEAD + b"a\n" + b"1" * SIZE + b",p,0\n",
    "colons": HEAD + b"a\n" + b":" * SIZE + b",p,0\n",
    "empty lines": HEAD + b"a\n" + b"\n" * SIZE,
    "rows": HEAD + b"a\n" + b"".join(b"%d,p,*\n" % i for i in range(30_000)),
}


@pytest.mark.parametrize("data", FILES.values(), ids=FILES.keys())
def test_a_large_file_is_read_or_refused(data: bytes) -> None:
    try:
        FORMAT.read(data[:SIZE], Path("some.motion"), None)
    except FormatError as error:
        assert error.hint  # noqa: PT017 - it may be read as well
