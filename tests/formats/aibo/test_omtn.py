"""OMTN motions as documents: every byte kept, what cannot be true refused with the byte where it stands."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import FormatError
from posewright.formats.omtn.reader import read_omtn

WHOLE_SAMPLES = (
    "a_sit__stand_standard.mtn",
    "a_stand__stand_so0_makebow.mtn",
    "a_walk__walk_sox_fwd.mtn",
    "ers111_cd_1.mtn",
    "mind2_part_h_any__any_soc_clock1.mtn",
)


@pytest.mark.parametrize("name", WHOLE_SAMPLES)
def test_real_motions_are_read_and_rendered_to_the_same_bytes(
    name: str, samples: Callable[[str], Path]
) -> None:
    data = samples(f"aibo_mtn/{name}").read_bytes()
    document = read_omtn(data)
    assert document.render() == data
    assert document.remarks == ()
    assert document.creator == "Sony Corporation"


def test_what_stands_in_a_file_is_read(aibo: Any) -> None:
    data = aibo.omtn([[1, 2, 3], [-4, 5, -6]], [30], attitudes=[[7, 8, 9], [0, 0, -1]])
    document = read_omtn(data)
    assert (document.name, document.creator, document.design) == ("h_any#any_nod", "nobody", "DRX-1000_Head")
    assert document.locators == aibo.ers7_head
    assert document.angles.tolist() == [[1, 2, 3], [-4, 5, -6]]
    assert document.attitudes.tolist() == [[7, 8, 9], [0, 0, -1]]
    assert document.n_frames_between.tolist() == [30]
    assert (document.minor_version, document.frame_ms, document.has_short_size, document.is_padded) == (
        1,
        16,
        False,
        True,
    )
    assert document.duration_s == 31 * 0.016
    with pytest.raises(ValueError, match="read-only"):
        document.angles[0, 0] = 1


def test_the_files_of_an_ers110_say_their_size_in_two_bytes_and_mean_16_ms_by_0(aibo: Any) -> None:
    document = read_omtn(aibo.ers110())
    assert (document.has_short_size, document.is_padded, document.frame_ms, document.step_ms) == (
        True,
        False,
        0,
        16,
    )
    assert document.angles.tolist() == [[1, 2, 3, 4], [10, 20, 30, 40]]
    assert document.times_ms.tolist() == [0, 160]
    assert document.remarks == ()


@pytest.mark.parametrize(
    ("changes", "story"),
    [
        ({"minor": 7}, "byte 18: version 1.7 is unknown"),
        ({"frame_ms": 8}, "byte 22: a frame is 8 ms"),
        ({"n_sections": 5}, "byte 12: the header counts 5 sections"),
        ({"reserved": 3}, "byte 24: the reserved number is 3"),
        ({"fills": (b"\1\2\3", None)}, "the padding of section 1 is not zero"),
        ({"fills": (None, b"12345")}, "5 bytes at the end of section 2 are unknown"),
        (
            {"head_surplus": b"more"},
            "byte 28: the padding of section 0 is not zero|4 bytes at the end of section 0",
        ),
        ({"surplus": b"x" * 80}, "80 bytes follow the keyframes within section 3"),
        ({"after": b"the end"}, "7 bytes follow the last section"),
        ({"angles": [[1, 2, 3]]}, "byte 20: there is one keyframe"),
        ({"attitudes": [[0, 0, 0], [0, 2**31 - 1, 0]]}, "keyframe 2 has 2147483647 pitch"),
    ],
)
def test_what_is_odd_is_told_and_kept(changes: dict[str, Any], story: str, aibo: Any) -> None:
    data = aibo.omtn(**changes)
    document = read_omtn(data)
    assert len(document.remarks) == 1
    assert any(part in document.remarks[0] for part in story.split("|")), document.remarks
    assert document.render() == data


@pytest.mark.parametrize(
    "changes",
    [
        {"fills": (b"", b"")},
        {"fills": (b"\0\0\0", b"")},
        {"fills": (b"", None)},
        {"name": "", "creator": "", "design": ""},
        {"name": "\xe9\0" * 100},
        {"surplus": b"abc", "after": b"\0"},
    ],
)
def test_files_filled_up_otherwise_keep_their_bytes(changes: dict[str, Any], aibo: Any) -> None:
    for data in (aibo.omtn(**changes), aibo.ers110(**changes)):
        assert read_omtn(data).render() == data


def test_surplus_in_the_short_variant_is_told_by_the_design(aibo: Any) -> None:
    data = aibo.ers110(surplus=b"\1\0\0\0\2\0\0\0")
    document = read_omtn(data)
    assert document.has_short_size
    assert document.angles[0].tolist() == [1, 2, 3, 4]
    assert document.render() == data


@pytest.mark.parametrize(
    ("changes", "offset", "story"),
    [
        ({"major": 2}, 16, "version 2.1"),
        ({"angles": [[6_283_186, 0, 0], [0, 0, 0]]}, None, "keyframe 1 has 6283186 PRM:/r1/c1-Joint2:11"),
        (
            {"angles": [[0, 0, 0], [0, 0, -(2**31)]]},
            None,
            "keyframe 2 has -2147483648 PRM:/r1/c1/c2/c3-Joint2:13",
        ),
        ({"between": [1_000_001]}, None, "keyframe 2 has 1000001 frames before it"),
        ({"between": [2**32 - 1]}, None, "keyframe 2 has 4294967295 frames before it"),
        ({"frame_ms": 60_000, "between": [2000]}, None, "keyframe 2 has 2000 frames before it"),
        ({"locators": ["a", "b", "a"]}, None, "joint 3 is 'a' a second time"),
        ({"locators": ["a", "", "c"]}, None, "joint 2 has no name"),
        ({"locators": [], "angles": [[], []]}, None, "the motion has 0 joints"),
        ({"kind": 1}, None, "the keyframes have the unknown type 1"),
        ({"short": True, "kind": 1}, None, "section 3 has a size of"),
    ],
)
def test_what_cannot_be_true_is_refused_with_its_byte(
    changes: dict[str, Any], offset: int | None, story: str, aibo: Any
) -> None:
    with pytest.raises(FormatError) as caught:
        read_omtn(aibo.omtn(**changes), Path("x.mtn"))
    assert story in str(caught.value)
    assert str(caught.value).startswith("x.mtn, byte ")
    assert caught.value.where is not None
    assert offset in (None, caught.value.where.offset)


def test_the_byte_named_is_the_byte_that_is_wrong(aibo: Any) -> None:
    """Found in the file by hand: the value is nowhere else in it."""
    for changes in ({"angles": [[0, 0, 0], [0, 0, 2**31 - 7]]}, {"between": [2**31 - 7]}):
        data = aibo.omtn(**changes)
        with pytest.raises(FormatError) as caught:
            read_omtn(data, base=1000)
        assert caught.value.where is not None
        assert caught.value.where.offset == 1000 + data.index(struct.pack("<I", 2**31 - 7))


def test_a_string_that_runs_out_of_its_section_is_refused(samples: Callable[[str], Path]) -> None:
    path = samples("aibo_mtn/MALFORMED_KnownGoodERS7.mtn")
    with pytest.raises(FormatError) as caught:
        read_omtn(path.read_bytes(), path)
    assert caught.value.where is not None
    assert caught.value.where.offset == 53
    assert "the creator has a length of 112 bytes, but section 1 ends" in str(caught.value)
    assert "the name before it is longer than byte 36 states" in str(caught.value)


def test_a_placeholder_says_that_it_holds_no_motion(aibo: Any) -> None:
    for data in (aibo.placeholder, aibo.zipped(aibo.placeholder)):
        with pytest.raises(FormatError, match=r"placeholder .* without a motion"):
            read_omtn(data)


@pytest.mark.parametrize(("data", "story"), [(b"OMTX", "begins with OMTN"), (b"", "begins with OMTN")])
def test_something_else_is_no_motion(data: bytes, story: str) -> None:
    with pytest.raises(FormatError, match=story):
        read_omtn(data)


def test_gzip_around_a_motion_is_kept_as_it_was(aibo: Any) -> None:
    plain = aibo.whole()
    data = aibo.zipped(plain, name=b"MOTION", comment=b"\xff" * 8)
    document = read_omtn(data)
    assert document.remarks == ()
    assert document.render() == data
    assert document.plain_bytes == plain


def test_an_edited_motion_is_packed_again_in_the_same_way_each_time(aibo: Any) -> None:
    data = aibo.zipped(aibo.whole(), name=b"MOTION", comment=b"\xff" * 8)
    edited = [replace(read_omtn(data), name="other").render() for _ in range(2)]
    assert edited[0] == edited[1] != data
    assert gzip.decompress(edited[0]) == aibo.whole(name="other")
    assert b"MOTION\0" + b"\xff" * 8 + b"\0" in edited[0][:40]  # the name and comment of whoever packed it
    assert edited[0][4:8] == bytes(4)  # and no time


def test_bytes_behind_gzip_are_told_and_kept(aibo: Any) -> None:
    data = aibo.zipped(aibo.whole()) + b"abc"
    document = read_omtn(data)
    assert "3 bytes follow the gzip" in document.remarks[0]
    assert document.render() == data


def test_gzip_inside_gzip_and_damaged_gzip_are_refused(aibo: Any) -> None:
    good = aibo.zipped(aibo.whole())
    for data, story in (
        (aibo.zipped(good), "gzip inside the gzip"),
        (good[:-1], "cut off"),
        (good[:15] + b"\xff\xff" + good[17:], "damaged near here"),
        (good[:-8] + b"\0\0\0\0" + good[-4:], "incorrect data check"),
    ):
        with pytest.raises(FormatError, match=story):
            read_omtn(data)


def test_an_offset_inside_gzip_says_that_it_is_counted_there(aibo: Any) -> None:
    with pytest.raises(FormatError, match=r"byte 16: version 2\.1 .*, counted after unpacking"):
        read_omtn(aibo.zipped(aibo.omtn(major=2)))


def test_an_edited_document_is_filled_up_anew_and_keeps_the_rest(aibo: Any) -> None:
    changes = {"surplus": b"rest", "after": b"end", "reserved": 9}
    for build in (aibo.whole, aibo.ers110):
        document = read_omtn(build(**changes))
        for name in ("a", "ab", "abc", "abcd"):
            assert replace(document, name=name).render() == build(name=name, **changes)


def test_a_document_that_cannot_be_written_cannot_be_made(aibo: Any) -> None:
    document = read_omtn(aibo.whole())
    long = read_omtn(aibo.ers110())
    with pytest.raises(FormatError, match="256 characters"):
        replace(document, name="x" * 256)
    with pytest.raises(FormatError, match="Latin-1"):
        replace(document, creator="\u732b")
    with pytest.raises(FormatError, match="do not match"):
        replace(document, n_frames_between=np.zeros(7, np.int32))
    zeros = {"angles": np.zeros((3000, 4), np.int32), "attitudes": np.zeros((3000, 3), np.int32)}
    with pytest.raises(FormatError, match="too many for this robot"):
        replace(long, n_frames_between=np.zeros(2999, np.int32), **zeros)


latin = st.text(st.characters(max_codepoint=255), max_size=40)
angle = st.integers(-6_283_185, 6_283_185)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_any_motion_is_read_as_it_was_built_and_rendered_to_the_same_bytes(
    aibo: Any, data: st.DataObject
) -> None:
    locators = data.draw(st.lists(latin.filter(bool), min_size=1, max_size=6, unique=True))
    count = data.draw(st.integers(1, 5))
    rows = st.lists(angle, min_size=len(locators), max_size=len(locators))
    angles = data.draw(st.lists(rows, min_size=count, max_size=count))
    between = data.draw(st.lists(st.integers(0, 600), min_size=count - 1, max_size=count - 1))
    fill = st.one_of(st.none(), st.binary(max_size=5))
    texts = {key: data.draw(latin) for key in ("name", "creator")}
    built = aibo.omtn(
        angles,
        between,
        **texts,
        design=data.draw(st.sampled_from(["DRX-1000", "DRX-700", "DRX-910_Head", ""])),
        locators=locators,
        minor=data.draw(st.integers(0, 3)),
        frame_ms=data.draw(st.sampled_from([0, 16, 8])),
        short=data.draw(st.booleans()),
        fills=(data.draw(fill), data.draw(fill)),
        after=data.draw(st.binary(max_size=9)),
    )
    document = read_omtn(built)
    assert document.render() == built
    assert document.angles.tolist() == angles
    assert document.n_frames_between.tolist() == between
    assert {"name": document.name, "creator": document.creator} == texts


def test_gzip_that_unpacks_without_end_is_refused_in_no_time() -> None:
    packer = zlib.compressobj(9, wbits=31)
    bomb = packer.compress(b"OMTN" + bytes(64_000_000)) + packer.flush()
    with pytest.raises(FormatError, match="the gzip unpacks to more than 4,000,000 bytes"):
        read_omtn(bomb)


def test_gzip_in_several_pieces_is_unpacked_whole_and_written_back_as_it_was(aibo: Any) -> None:
    plain = aibo.omtn([[0] * 20] * 2)
    data = gzip.compress(plain[:100]) + gzip.compress(plain[100:])
    document = read_omtn(data)
    assert document.plain_bytes == plain
    assert document.render() == data
