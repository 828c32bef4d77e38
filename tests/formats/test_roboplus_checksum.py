"""The trailer: the sum over the whole file, and what becomes of it in the wild."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from posewright.formats import MotionFile, read_motion_file, write_motion_file

ReadBytes = Callable[[bytes], MotionFile]
BOM = b"\xef\xbb\xbf"


def sum_with_trailer(data: bytes) -> int:
    """(sum of the body + trailer as a number) mod 2^16, straight from the definition."""
    cut = data.rfind(b"page_end\n") + len(b"page_end\n")
    value = data[cut] * 256 + data[cut + 1]
    return (sum(data[:cut]) + value) % 65536


def test_an_undamaged_file_has_no_remarks(mtn: Any, read_bytes: ReadBytes) -> None:
    data = mtn.build()
    assert sum_with_trailer(data) == 0xFFFF
    assert read_bytes(data).warnings == ()


def damaged(data: bytes, trailer: bytes) -> bytes:
    return data[:-2] + trailer


@pytest.mark.parametrize(
    ("damage", "story"),
    [
        (lambda _: b"", "was removed"),
        (lambda _: b"\n", "was removed"),
        (lambda right: right[:1], "half of the checksum"),
        (lambda right: right + b"\n", "line end was appended to the checksum; its value .* is right"),
        (lambda right: right + b"\r\n", "line end was appended"),
        (lambda _: b"  ", "two blanks"),
        (lambda _: b"  \n", "two blanks"),
        (lambda right: b"\\%02X\\%02x" % tuple(right), "is written as text; its value .* is right"),
        (lambda _: b"\\00\\00\n", "expected 0x.*, found 0x0000"),
        (lambda right: bytes([right[0], right[1] ^ 1]), "expected 0x.*, found 0x"),
        (lambda _: b"some more", "9 bytes are in place of the two"),
    ],
)
def test_damage_is_told_precisely_and_kept(
    damage: Callable[[bytes], bytes], story: str, mtn: Any, read_bytes: ReadBytes, tmp_path: Path
) -> None:
    right = mtn.build()[-2:]
    data = damaged(mtn.build(), damage(right))
    file = read_bytes(data)
    (remark,) = file.warnings
    assert re.search(story, remark)
    assert right.hex() in remark
    write_motion_file(file, tmp_path / "same.mtn")
    assert (tmp_path / "same.mtn").read_bytes() == data
    write_motion_file(file, tmp_path / "repaired.mtn", repair=True)
    assert (tmp_path / "repaired.mtn").read_bytes() == mtn.build()


def test_a_stripped_mark_is_recognised_by_the_sum_it_left(mtn: Any, read_bytes: ReadBytes) -> None:
    remarks = read_bytes(mtn.build().removeprefix(BOM)).warnings
    assert any("before its byte order mark was stripped" in remark for remark in remarks)


def test_converted_line_ends_are_recognised_by_the_sum_they_left(mtn: Any, read_bytes: ReadBytes) -> None:
    body, trailer = mtn.build()[:-2], mtn.build()[-2:]
    file = read_bytes(body.replace(b"\n", b"\r\n") + trailer)
    assert any("CRLF" in remark and "checksum" in remark for remark in file.warnings)
    assert len(file.motions) == 1


@pytest.mark.parametrize(
    ("name", "story"),
    [
        ("sumo_COMMA", "0xb96d is right"),
        ("grab-n-lift_BADSUM", "expected 0xad10, found 0xad03"),
        ("robkwan_bio_prm_humanoidtypea_en", "two blanks"),
    ],
)
def test_the_trailers_of_real_files(name: str, story: str, samples: Callable[[str], Path]) -> None:
    path = samples(f"robotis_mtn_text/{name}.mtn")
    assert any(story in remark for remark in read_motion_file(path).warnings)


def test_real_sums_agree_with_the_definition(samples: Callable[[str], Path]) -> None:
    names = "sumo_COMMA.mtn", "grab-n-lift_BADSUM.mtn"
    sums = [sum_with_trailer(samples(f"robotis_mtn_text/{name}").read_bytes()) for name in names]
    assert sums == [0xFFFF, 0xFFF2]
