"""ODA archives as documents: read without their motions, changed without touching the other entries."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import FormatError, UnknownNameError
from posewright.formats.oda.archive import Compression, EntryKind, OdaArchive
from posewright.formats.oda.reader import looks_encrypted, parse_archive


@pytest.mark.parametrize("name", ["sdk_ers7_MOTION7.ODA", "mind3_MD013008_entrygzip.ODA"])
def test_real_archives_are_read_and_rendered_to_the_same_bytes(
    name: str, samples: Callable[[str], Path]
) -> None:
    path = samples(f"aibo_oda/{name}")
    archive = parse_archive(path.read_bytes(), path)
    assert archive.remarks == ()
    assert archive.render() == path.read_bytes()
    assert (
        archive.with_only(*range(len(archive.entries))).render() == path.read_bytes()
    )  # laid out as Sony does


def test_an_encrypted_archive_says_why_it_cannot_be_read(samples: Callable[[str], Path]) -> None:
    path = samples("aibo_oda/ers7_SYSMTN_ENCRYPTED_first4k.ODA")
    assert looks_encrypted(path.read_bytes(), path)
    with pytest.raises(FormatError, match=r"encrypted archive.*DATA/E; those in DATA/P are plain"):
        parse_archive(path.read_bytes(), path)
    assert not looks_encrypted(path.read_bytes(), Path("noise.bin"))


def test_nothing_with_some_order_in_it_is_taken_for_encrypted(aibo: Any) -> None:
    path = Path("X.ODA")
    for data in (
        aibo.oda(),
        aibo.zipped(aibo.oda()),
        aibo.whole(),
        b"text " * 100,
        b"",
        b"x" * 20,
        bytes(4096),
    ):
        assert not looks_encrypted(data, path)


def entries(aibo: Any) -> list[Any]:
    return [
        ("a_sit#stand_up", aibo.whole()),
        ("a_sit#sitx1_standard", aibo.placeholder),
        ("bark", aibo.sound, b"WAVE"),
        ("h_any#any_nod", aibo.zipped(aibo.omtn())),
        ("eyes", b"\2\0\0\0blink", b"LED\0"),
    ]


def test_what_stands_in_an_archive_is_listed(aibo: Any) -> None:
    archive = parse_archive(aibo.oda(entries(aibo)))
    assert [(entry.name, entry.type) for entry in archive.entries] == [
        ("a_sit#stand_up", "OMTN"),
        ("a_sit#sitx1_standard", "OMTN"),
        ("bark", "WAVE"),
        ("h_any#any_nod", "OMTN"),
        ("eyes", "LED"),
    ]
    kinds = [entry.content.kind for entry in archive.entries]
    assert kinds == [
        EntryKind.MOTION,
        EntryKind.PLACEHOLDER,
        EntryKind.SOUND,
        EntryKind.MOTION,
        EntryKind.UNKNOWN,
    ]
    assert [entry.content.is_packed for entry in archive.entries] == [False, False, False, True, False]
    assert archive.entry("bark").data == aibo.sound


def test_the_three_compressions_are_told_apart_and_kept(aibo: Any) -> None:
    plain = aibo.oda([("a", aibo.whole())])
    whole = aibo.zipped(plain, name=b"MOTION.ODA", comment=b"\xff" * 8)
    each = aibo.oda([("a", aibo.zipped(aibo.whole()))])
    for data, compression in (
        (plain, Compression.NONE),
        (whole, Compression.FILE),
        (each, Compression.ENTRIES),
    ):
        archive = parse_archive(data)
        assert archive.compression is compression
        assert archive.render() == data


@pytest.mark.parametrize(
    ("changes", "rows", "story"),
    [
        ({"gap": b"abc"}, [("a", b"OMTN")], "3 bytes belong to no entry"),
        ({"end": b"abcd"}, [("a", b"OMTN")], "4 bytes belong to no entry"),
        ({"reserved": b"\0\1"}, [], "byte 16: reserved bytes of the header are not zero"),
        ({"version": (1, 0)}, [], "byte 4: version 1.0 is unknown"),
        ({}, [("a", b"OMTN"), ("b", b"OMTN"), ("a", b"NotOMTN ")], "1 name occurs more than once.*'a'"),
        ({}, [("slot", b"\2\0\0\0")], "1 entry has the type of a motion but no motion: 'slot'"),
        ({}, [("a\0rubbish", b"OMTN")], "1 entry has data after name"),
        ({}, [("n" * 128, b"OMTN")], "1 name has more than 127 characters"),
    ],
)
def test_what_is_odd_is_told_and_kept(
    changes: dict[str, Any], rows: list[Any], story: str, aibo: Any
) -> None:
    data = aibo.oda(rows, **changes)
    archive = parse_archive(data)
    (remark,) = archive.remarks
    for part in story.split(".*"):
        assert part in remark
    assert archive.render() == data


def patched(data: bytes, at: int, number: int) -> bytes:
    return data[:at] + struct.pack("<I", number) + data[at + 4 :]


FIRST_OFFSET, FIRST_SIZE, SECOND_OFFSET = 64 + 132, 64 + 136, 64 + 144 + 132


@pytest.mark.parametrize(
    ("at", "number", "story"),
    [
        (8, 30, "a table of 30 entries ends at byte 4384, but the file ends at"),
        (8, 2**32 - 1, "the header counts 4294967295 entries"),
        (12, 145, "the header gives 145 bytes per entry"),
        (FIRST_OFFSET, 300, "begins at byte 300, within the table"),
        (FIRST_OFFSET, 10_000, "ends at byte 1"),
        (FIRST_SIZE, 10_000, "ends at byte 10352, but the file ends at"),
        (
            SECOND_OFFSET,
            352,
            "entry 2 begins at byte 352, within entry 1|entry 1 begins at byte 352, within entry 2",
        ),
    ],
)
def test_what_cannot_be_true_is_refused_with_its_byte(at: int, number: int, story: str, aibo: Any) -> None:
    data = patched(aibo.oda([("a", aibo.omtn()), ("b", b"NotOMTN ")]), at, number)
    with pytest.raises(FormatError) as caught:
        parse_archive(data, Path("x.oda"))
    assert any(part in str(caught.value) for part in story.split("|")), caught.value
    assert caught.value.where is not None
    fields = {at} if at != SECOND_OFFSET else {FIRST_OFFSET, SECOND_OFFSET}
    assert caught.value.where.offset in fields


def test_a_file_that_ends_within_its_header_is_refused(aibo: Any) -> None:
    for length in (4, 63):
        with pytest.raises(FormatError, match="within its header"):
            parse_archive(aibo.oda()[:length])
    with pytest.raises(FormatError, match="begins with ODAR"):
        parse_archive(b"nothing")


def test_of_two_entries_called_so_the_first_is_found_as_on_the_robot(aibo: Any) -> None:
    archive = parse_archive(aibo.oda([("a", b"OMTN1"), ("a", b"OMTN2")]))
    assert archive.entry("a").data == b"OMTN1"
    with pytest.raises(UnknownNameError, match="unknown entry 'b'"):
        archive.entry("b")


def test_a_change_leaves_the_bytes_of_all_other_entries_as_they_were(aibo: Any) -> None:
    before = parse_archive(aibo.oda(entries(aibo), gap=b"??"))
    after = before.with_entry("new", aibo.whole(7)).with_entry("bark", aibo.sound + b"!")
    kept = (place for place, entry in enumerate(after.entries) if entry.name != "eyes")
    after = parse_archive(after.with_only(*kept).render())
    assert [entry.name for entry in after.entries] == [
        "a_sit#stand_up",
        "a_sit#sitx1_standard",
        "bark",
        "h_any#any_nod",
        "new",
    ]
    for name in ("a_sit#stand_up", "a_sit#sitx1_standard", "h_any#any_nod"):
        assert before.entry(name).data == after.entry(name).data
    assert after.remarks == ()  # written without gaps, in the order of the table
    offsets = [entry.offset for entry in after.entries]
    assert offsets == sorted(offsets, key=lambda offset: offset or 0)


def test_an_archive_that_was_packed_is_packed_when_changed(aibo: Any) -> None:
    data = aibo.zipped(aibo.oda([("a", aibo.whole())]), name=b"M", comment=b"\xff" * 8)
    changed = parse_archive(data).with_entry("b", aibo.placeholder)
    assert changed.render() == changed.render()
    assert gzip.decompress(changed.render()) == aibo.oda([("a", aibo.whole()), ("b", aibo.placeholder)])


@pytest.mark.parametrize(
    ("data", "kind", "found"),
    [
        (b"OMTN...", None, b"OMTN"),
        (b"NotOMTN ", None, b"OMTN"),
        (b"RIFF\0\0\0\0WAVE", None, b"WAVE"),
        (b"MThd\0", None, b"MIDI"),
        (b"?", None, b"\0\0\0\0"),
        (b"?", "stt", b"STT "),
        (b"?", "LED", b"LED\0"),
        (b"OMTN", "", b"\0\0\0\0"),
    ],
)
def test_the_table_says_what_an_entry_is(data: bytes, kind: str | None, found: bytes) -> None:
    assert OdaArchive().with_entry("x", data, kind).render()[64:68] == found


def test_an_entry_cannot_be_called_or_be_just_anything(aibo: Any) -> None:
    archive = OdaArchive().with_entry("a", aibo.placeholder).with_entry("b", aibo.placeholder)
    for name in ("", "x" * 128, "a\0b", "\u732b"):
        with pytest.raises(FormatError, match="cannot be called"):
            archive.with_entry(name, b"")
    with pytest.raises(FormatError, match="cannot be of type"):
        archive.with_entry("c", b"", "MP3")
    with pytest.raises(FormatError, match=r"16,\d+,\d+ bytes \(at most 16,000,000"):
        archive.with_entry("big", bytes(16_000_000)).render()


latin = st.text(st.characters(min_codepoint=1, max_codepoint=255), min_size=1, max_size=127)


@settings(max_examples=80, deadline=None)
@given(
    rows=st.lists(
        st.tuples(latin, st.binary(max_size=40), st.sampled_from([b"OMTN", b"WAVE", b"\0\0\0\0", b"????"]))
    ),
    gap=st.binary(max_size=3),
    end=st.binary(max_size=5),
)
def test_any_archive_is_read_as_it_was_built_and_rendered_to_the_same_bytes(
    aibo: Any, rows: list[Any], gap: bytes, end: bytes
) -> None:
    data = aibo.oda(rows, gap=gap, end=end)
    archive = parse_archive(data)
    assert archive.render() == data
    assert [(e.name, e.data, e.type.encode("latin-1").ljust(4, b"\0")) for e in archive.entries] == rows
    assert archive.with_only(*range(len(rows))).render() == aibo.oda(rows)
