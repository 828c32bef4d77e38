"""Large files made to be slow: each ends in one clear error, or is read, with little work for its size."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.errors import FormatError
from posewright.formats.tekkotsu.format import MOT, POS
from posewright.robots import robot

from ...work import counted_work

SIZE = 4_000_000
MOST_CALLS = 2_000_000
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
def test_a_large_file_takes_no_more_work_than_its_size_deserves(known: object, body: bytes) -> None:
    form = MOT if known is MOT else POS
    mark = b"#MSq\n" if form is MOT else b"#POS\n"
    data = (mark + body * (SIZE // len(body)))[:SIZE]
    robot("sony_ers7")
    with counted_work() as work:
        try:
            form.read(data, Path("some.mot"), None)
        except FormatError as error:
            assert error.hint  # noqa: PT017 - it may be read as well
    assert work.calls <= MOST_CALLS
