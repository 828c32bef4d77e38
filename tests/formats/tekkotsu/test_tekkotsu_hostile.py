"""Large files made to be slow: each ends in one clear error, or is read.

What takes time by the square of a size takes hours here, and does not get past the limit on one test.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.errors import FormatError
from posewright.formats.tekkotsu.format import MOT, POS
from posewright.robots import robot

SIZE = 4_000_000
BODIES = {
    "one line of words": b"a ",
    "one word": b"a",
    "blanks": b" ",
    "lines of nothing": b"\r",
    "padding": b"~",
    "one number": b"MOUTH " + b"1" * SIZE,
    "comments": b"# \n",
    "equals signs": b"=",
    "tags": b"<sensors></sensors>",
    "condensed": b"outputs = " + b"1 " * (SIZE // 2),
    "unknown names": b"".join(b"x%d 1\n" % i for i in range(49_000)),
    "models": b"specialize " + b"(" * SIZE,
    "times": b"setTime " + b"9" * SIZE,
    "times back and forth": b"".join(b"setTime %d\nMOUTH 0\n" % (i % 7) for i in range(24_000)),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize("known", [MOT, POS], ids=lambda known: known.name)
def test_a_large_file_is_read_or_refused(known: object, body: bytes) -> None:
    form = MOT if known is MOT else POS
    mark = b"#MSq\n" if form is MOT else b"#POS\n"
    data = (mark + body * (SIZE // len(body)))[:SIZE]
    robot("sony_ers7")
    try:
        form.read(data, Path("some.mot"), None)
    except FormatError as error:
        assert error.hint  # noqa: PT017 - it may be read as well
