"""Large files made to be slow: each ends in one clear error, or is read, with little work for its size."""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.errors import FormatError
from posewright.formats.ekmoves.format import FORMAT

from ...work import counted_work

SIZE = 4_000_000
MOST_CALLS = 2_000_000
ARRAY = b"double A[] = {" + b"1," * 16 + b"};\n"
UNITS = (
    *(b"/*", b"//", b'"', b'"\\', b"'\\\"", b"/**/", b"#\\\n", b"#/", b"*", b"\\\n", b"{", b"[", b"=", b" "),
    *(
        b"double ",
        b"double a[",
        b"double a[]={",
        b"double a[]={1};",
        b"static const ",
        b"const ",
        b"_1",
        b"1,",
    ),
    *(b"// motion: x\n", b"// x: y\n", b"// reach 0.1 s", b"//\\\n", b'a""', b"\n", b"-"),
)


@pytest.mark.parametrize("before", [ARRAY, b"double a["], ids=str)
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_a_large_file_takes_no_more_work_than_its_size_deserves(unit: bytes, before: bytes) -> None:
    data = (before + unit * (SIZE // len(unit)))[:SIZE]
    with counted_work() as work:
        try:
            FORMAT.read(data, Path("some.h"), None)
        except FormatError as error:
            assert error.hint  # noqa: PT017 - it may be read as well
    assert work.calls <= MOST_CALLS


def test_no_honest_header_has_ten_thousand_arrays() -> None:
    data = b"".join(ARRAY.replace(b"A", b"A%d" % i) for i in range(10_002))
    with pytest.raises(FormatError, match="more than 10,000 arrays"):
        FORMAT.read(data, Path("some.h"), None)
