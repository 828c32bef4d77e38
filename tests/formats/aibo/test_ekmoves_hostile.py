"""Large files made to be slow: each ends in one clear error, or is read.

What takes time by the square of a size takes hours here, and does not get past the limit on one test.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from posewright.errors import FormatError
from posewright.formats.ekmoves.format import FORMAT

SIZE = 4_000_000
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
def test_a_large_file_is_read_or_refused(unit: bytes, before: bytes) -> None:
    data = (before + unit * (SIZE // len(unit)))[:SIZE]
    try:
        FORMAT.read(data, Path("some.h"), None)
    except FormatError as error:
        assert error.hint  # noqa: PT017 - it may be read as well


def test_no_honest_header_has_ten_thousand_arrays() -> None:
    data = b"".join(ARRAY.replace(b"A", b"A%d" % i) for i in range(10_001))
    with pytest.raises(FormatError, match="more than 10,000 arrays"):
        FORMAT.read(data, Path("some.h"), None)
