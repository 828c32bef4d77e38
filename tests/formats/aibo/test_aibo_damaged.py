"""Damaged files: cut, patched, flipped, blown up. Each ends in one clear error or is read; nothing else.

100,000 flips take some minutes: `POSEWRIGHT_FLIPS=100000 pytest tests/formats/aibo/test_aibo_damaged.py`.
"""

from __future__ import annotations

import os
import random
import struct
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.work import Calls

from posewright.errors import FormatError
from posewright.formats import WriteOptions
from posewright.formats.motion_format import MotionFormat
from posewright.formats.oda.format import FORMAT as ODA
from posewright.formats.omtn.format import FORMAT as OMTN

FLIPS = int(os.environ.get("POSEWRIGHT_FLIPS", "4000"))
PATH = Path("damaged.mtn")
NUMBERS = ((0, 4), (1, 4), (0x7FFF, 2), (0xFFFF, 2), (0x7FFFFFFF, 4), (0xFFFFFFFF, 4), (0, 2))
MOST_BYTES = 100_000_000


def attempt(data: bytes, known: MotionFormat = OMTN) -> str:
    """Read a file all the way to its motions, and write it. Return what is wrong with it, or odd about it."""
    try:
        file = known.read(data, PATH, None)
    except FormatError as error:
        return told(error)
    for motion in file.motions:
        motion.at(0.0)
    if known is OMTN:
        assert known.render(file.motion(), PATH, WriteOptions()).data == data
    elif known.render_file is not None:
        assert known.render_file(file).data == data
    return " ".join(file.warnings)


def told(error: FormatError) -> str:
    assert error.where is not None
    assert error.where.offset is not None, error
    assert error.where.offset >= 0
    return str(error)


def everything(aibo: Any) -> Iterator[tuple[bytes, MotionFormat]]:
    """Yield small files of every kind."""
    yield aibo.omtn(), OMTN
    yield aibo.whole(2), OMTN
    yield aibo.ers110(), OMTN
    yield aibo.zipped(aibo.omtn(), name=b"M", comment=b"\xff" * 8), OMTN
    rows = [("a", aibo.omtn()), ("b", aibo.placeholder), ("c", aibo.sound, b"WAVE")]
    yield aibo.oda(rows), ODA
    yield aibo.oda([("a", aibo.zipped(aibo.omtn())), ("b", aibo.placeholder)]), ODA
    yield aibo.zipped(aibo.oda(rows)), ODA


def test_a_file_cut_anywhere_is_an_error(aibo: Any) -> None:
    for data, known in everything(aibo):
        for length in range(len(data)):
            with pytest.raises(FormatError) as caught:
                known.read(data[:length], PATH, None)
            assert told(caught.value)


def test_every_number_of_a_file_may_be_anything(aibo: Any) -> None:
    """Wherever a number may stand, one of those that a careless reader falls over is put."""
    for data, known in everything(aibo):
        for at in range(len(data) - 3):
            number, width = NUMBERS[at % len(NUMBERS)]
            attempt(data[:at] + number.to_bytes(width, "little") + data[at + width :], known)


def test_counts_and_lengths_that_lie_are_told_with_their_byte(aibo: Any) -> None:
    for data in (aibo.whole(2), aibo.ers110()):
        section_2 = 28 + struct.unpack_from("<I", data, 32)[0]
        section_3 = section_2 + struct.unpack_from("<I", data, section_2 + 4)[0]
        fields = [
            (8, 4),
            (20, 2),
            (32, 4),
            (36, 1),
            (section_2 + 4, 4),
            (section_2 + 8, 2),
            (section_2 + 10, 1),
        ]
        for at, width in (*fields, (section_3 + 4, 2)):
            for number in (0, 1, (1 << 8 * width - 1) - 1, (1 << 8 * width) - 1):
                story = attempt(data[:at] + number.to_bytes(width, "little") + data[at + width :])
                assert "byte " in story, (at, number, story)


def test_random_flips_of_bits_end_in_an_error_or_a_motion(aibo: Any) -> None:
    chance = random.Random(7)  # noqa: S311 -- the same damage each time
    files = list(everything(aibo))
    for _ in range(FLIPS):
        data, known = chance.choice(files)
        damaged = bytearray(data)
        for _ in range(chance.choice((1, 1, 2, 8))):
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        attempt(bytes(damaged), known)


@settings(max_examples=100, deadline=None)
@given(head=st.sampled_from([b"OMTN", b"ODAR", b"\x1f\x8b\x08\0"]), rest=st.binary(max_size=400))
def test_rubbish_behind_the_right_beginning_is_an_error(head: bytes, rest: bytes) -> None:
    for known in (OMTN, ODA):
        attempt(head + rest, known)


def test_real_files_with_a_byte_changed_are_read_or_refused(samples: Callable[[str], Path]) -> None:
    chance = random.Random(8)  # noqa: S311 -- the same damage each time
    for name, known in (
        ("aibo_mtn/a_stand__stand_so0_makebow.mtn", OMTN),
        ("aibo_mtn/ers111_cd_1.mtn", OMTN),
        ("aibo_oda/sdk_ers7_MOTION7.ODA", ODA),
    ):
        data = samples(name).read_bytes()
        for _ in range(30):
            damaged = bytearray(data)
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            attempt(bytes(damaged), known)


def bomb(head: bytes, size: int, layers: int = 1) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    data = packer.compress(head + bytes(size)) + packer.flush()
    for _ in range(layers - 1):
        packer = zlib.compressobj(9, wbits=31)
        data = packer.compress(data) + packer.flush()
    return data


@pytest.mark.parametrize(("head", "known"), [(b"OMTN", OMTN), (b"ODAR", ODA)])
@pytest.mark.parametrize("layers", [1, 2])
def test_a_gzip_bomb_is_not_unpacked(head: bytes, known: MotionFormat, layers: int) -> None:
    data = bomb(head, 64_000_000, layers)
    tracemalloc.start()
    assert "gzip" in attempt(data, known)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < MOST_BYTES


def test_an_archive_of_bombs_is_no_worse_than_one(aibo: Any) -> None:
    packed = bomb(b"OMTN", 64_000_000)
    data = aibo.oda([(f"m{i}", packed) for i in range(10)])
    tracemalloc.start()
    file = ODA.read(data, PATH, None)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(file.motions) == 0
    assert len([warning for warning in file.warnings if "the gzip unpacks to more" in warning]) == 10
    assert most < MOST_BYTES


def test_many_entries_and_many_joints_take_no_more_than_their_number(aibo: Any) -> None:
    """Names that all are the same are not looked for in a list; and no robot has thousands of joints."""
    for count, story in ((5_000, "more than once"), (20_000, "at most 5000 are read")):
        table = struct.pack("<4s128s3I", b"OMTN", b"same", 0, 0, 0) * count
        archive = b"ODAR" + struct.pack("<2H2I", 0, 3, count, 144) + bytes(48) + table
        with Calls() as calls:
            assert story in attempt(archive, ODA)
        assert calls.count < 100 * count
    locators = [f"{i:x}" for i in range(30_000)]
    assert "30000 joints" in attempt(aibo.omtn([[0] * 30_000] * 2, locators=locators))
