"""Large files made to be slow: each ends in one clear error, or is read, with little work for its size."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.errors import FormatError
from posewright.formats.webots.format import FORMAT

from ...work import counted_work

SIZE = 4_000_000
MOST_CALLS = 2_000_000
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
def test_a_large_file_takes_no_more_work_than_its_size_deserves(data: bytes) -> None:
    with counted_work() as work:
        try:
            FORMAT.read(data[:SIZE], Path("some.motion"), None)
        except FormatError as error:
            assert error.hint  # noqa: PT017 - it may be read as well
    assert work.calls <= MOST_CALLS
