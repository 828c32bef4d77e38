"""Whatever is done to a program, a listing or a patch: it is read, or refused in our own words, at once.

100,000 damages take some minutes: `POSEWRIGHT_ROBI=100000 pytest tests/runtimes/robi/test_robi_damaged.py`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest

from posewright.errors import PosewrightError
from posewright.runtimes.robi.listing import assemble, format_listing
from posewright.runtimes.robi.machine import ProgramMachine
from posewright.runtimes.robi.patch import apply_patch, make_patch, read_patch
from posewright.runtimes.robi.rm4 import read_program

from .texts import FakeRam

DAMAGES = int(os.environ.get("POSEWRIGHT_ROBI", "2000"))

TEXT = (
    '<medit>icon=3,7<block name="歩行4S" /></medit>\r\n'
    '<mem_w size="2" adr="0x00000a04">0x0000,0x0050,0xfbd2,0x0064</mem_w>\r\n\r\n'
    '<calc>\r\n\t<mem_r size="2" adr="0x00000e5c"/>\r\n\t<const data="472"/>\r\n'
    "\t<sub/>\r\n\t<eq/>\r\n"
    '\t<jump adr="0x00000000"/>\r\n\t<const data="1"/>\r\n'
    '\t<mem_w size="2" adr="0x00000f82"/>\r\n</calc>\r\n'
    '<call adr="0x~~~~~~~~"/>\r\n<return/>\r\n<fwrite filename="歩行.RM4" adr="0x00000a00"/>\r\n'
    "<!-- x --><return/>\r\n"
).encode("cp932")
PROGRAM = TEXT.replace(b"~~~~~~~~", f"{TEXT.rindex(b'<return/>'):08x}".encode())
BEFORE = bytes(range(256))
PATCH = make_patch(BEFORE, BEFORE.replace(b"\x10\x11", b"\x20\x21").replace(b"\x80", b"\0")).text()
LISTING = format_listing(read_program(PROGRAM))
ODD = (
    b"<", b">", b"/", b'"', b"'", b"=", b"</medit>", b"<medit>", b"<calc>", b"</calc>", b"<!--", b"-->",
    b"<?", b"\0", b"0x", b"0x000001020", b"0x00000000000000000000", b'size=""', b'adr=""', b"9" * 5000,
    b"-", b"#", b",", b"<block name=" * 30, b"\x81", b"\xff", b"\xc2\x85", b"\xe2\x80\xa8", b"L00000000",
    b"\\x", b"\\", b";", b":", b'text "', b"<mem_w" * 400, b"<a" * 3000, b"<a>" * 3000, b" " * 5000, b"\n" *
    3000, b"+1", b"1_0", b"0X10", b'raw "<return/>"\n', b"file,sha256,", b"\xd9\xa1", b"\x1b[31m",
    b"endcalc\n", b'a="' * 2000,
)  # fmt: skip


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Return bytes with one to four places otherwise."""
    bent = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(bent) + 1)
        to = min(len(bent), at + rng.choice((0, 1, 1, 2, 8, 40)))
        how = rng.randrange(6)
        if how == 0:
            del bent[at:to]
        elif how == 1:
            bent[at:to] = rng.choice(ODD)
        elif how == 2:
            bent[at:to] = bytes([rng.randrange(256)])
        elif how == 3:
            other = rng.randrange(len(bent) + 1)
            bent[at:to] = bent[other : other + rng.randrange(60)]
        elif how == 4 and bent:
            bent[at % len(bent)] = rng.choice(b'0123456789abcdefx<>/"= \n')
        else:
            words = bytes(bent).split(rng.choice((b" ", b"\n", b"<", b'"')))
            i, j = rng.randrange(len(words)), rng.randrange(len(words))
            words[i], words[j] = words[j], words[i]
            bent[:] = rng.choice((b" ", b"<", b"\n")).join(words) if rng.random() < 0.1 else bytes(bent)
            bent += words[i][:100]
    return bytes(bent)


def use_program(data: bytes) -> None:
    program = read_program(data)
    assert program.render() == data
    shown = format_listing(program)
    again = assemble(shown)
    assert again.render() == data
    assert format_listing(again) == shown
    ProgramMachine(program, FakeRam()).run(500)


def use_listing(data: bytes) -> None:
    program = assemble(data.decode("utf-8", "replace"))
    assert read_program(program.render()).render() == program.render()
    ProgramMachine(program, FakeRam()).run(500)


def use_patch(data: bytes) -> None:
    patch = read_patch(data.decode("utf-8", "replace"))
    made, undo = apply_patch(BEFORE, patch, unchecked=True)
    assert apply_patch(made, read_patch(undo.text()))[0] == BEFORE


USES: dict[str, tuple[Callable[[bytes], None], bytes]] = {
    "program": (use_program, PROGRAM),
    "listing": (use_listing, LISTING.encode()),
    "patch": (use_patch, PATCH.encode()),
}


@pytest.mark.parametrize("kind", USES)
def test_what_is_damaged_is_read_or_refused(kind: str) -> None:
    use, whole = USES[kind]
    rng, refused = random.Random(kind), 0  # noqa: S311 -- nothing secret
    for _ in range(DAMAGES):
        data = damaged(rng, whole)
        try:
            use(data)
        except PosewrightError as error:
            refused += 1
            told = str(error).split("\n")
            assert len(told) <= 21
            assert all(line.replace("\u3000", "").isprintable() for line in told), told
            assert max(map(len, told)) < 4000
    assert DAMAGES / 10 < refused < DAMAGES


@pytest.mark.parametrize("kind", USES)
def test_what_is_whole_is_taken(kind: str) -> None:
    use, whole = USES[kind]
    use(whole)
