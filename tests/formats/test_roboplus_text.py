"""RoboPlus text files: read with their quirks, refused where malformed, the same bytes again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import FormatError, InputError
from posewright.formats import MotionFile, read_motion, read_motion_file, write_motion, write_motion_file

ReadBytes = Callable[[bytes], MotionFile]
Save = Callable[..., Path]


def small(mtn: Any, **changes: Any) -> bytes:
    """A file of three pages with everything a file can have."""
    pages = {
        1: mtn.page("Bow", [mtn.step(), mtn.step(mtn.standing, "0.496", "1.000")], play="2 3 2 1.5 5"),
        2: mtn.page("", [mtn.step(mtn.standing)]),
        3: mtn.page("B getup  ", [mtn.step()], compliance=" ".join(["5"] * 10 + ["6"] * 16)),
    }
    return bytes(mtn.build(pages, **{"n_pages": 3, **changes}))


HEAD_COMMA = ("type=motion", "version=1,01", "enable=0" + " 1" * 18 + " 0" * 7)


@pytest.mark.parametrize(
    ("changes", "stories"),
    [
        ({}, []),
        ({"bom": b""}, ["byte order mark"]),
        ({"line_end": "\r\n"}, ["CRLF"]),
        ({"head": HEAD_COMMA}, ["decimal comma"]),
        ({"head": (*HEAD_COMMA, "colour=red")}, ["decimal comma", "unknown key 'colour'"]),
        ({"head": ("type=motion", "version=1.00", HEAD_COMMA[2])}, []),
        ({"head": ("type=motion", "version=2.5", HEAD_COMMA[2])}, ["version '2.5' is unknown"]),
    ],
)
def test_quirks_are_read_told_and_written_back(
    changes: dict[str, Any], stories: list[str], mtn: Any, saved: Save, tmp_path: Path
) -> None:
    path = saved(small(mtn, **changes))
    file = read_motion_file(path)
    stories = [*stories, "there are 3 pages"]
    for story in stories:
        assert any(story in remark for remark in file.warnings), file.warnings
    assert len(file.warnings) == len(stories)
    assert [label.name for label in file.pages] == ["Bow", "page 2", "B getup"]
    for written in (tmp_path / "a.mtn", tmp_path / "b.mtn"):
        write_motion_file(file, written) if written.stem == "a" else write_motion(read_motion(path), written)
        assert written.read_bytes() == path.read_bytes()


def test_decimal_commas_mean_what_points_mean(mtn: Any, read_bytes: ReadBytes) -> None:
    comma = mtn.page("A", [mtn.step(play="0,496", pause="1,000")], play="0 0 1 1,5 32")
    (motion,) = read_bytes(mtn.build({1: comma})).motions
    assert (motion.speed, motion.keyframes[0].reach_s, motion.keyframes[0].pause_s) == (1.5, 0.496, 1.0)


def test_times_off_the_grid_are_told_once_a_file(mtn: Any, read_bytes: ReadBytes) -> None:
    pages = {i: mtn.page(f"p{i}", [mtn.step(play="0.1"), mtn.step(pause="0.5")]) for i in range(1, 6)}
    file = read_bytes(mtn.build(pages))
    assert file.warnings == (
        "line 9: a time is not a multiple of 0.008 s; a controller rounds it",
        "10 times in all are not multiples of 0.008 s",
    )
    assert file.motions[0].keyframes[0].reach_s == 0.1


def test_a_page_of_seventeen_steps_is_read(mtn: Any, read_bytes: ReadBytes) -> None:
    file = read_bytes(mtn.build({1: mtn.page("long", [mtn.step()] * 17)}))
    assert len(file.motions[0].keyframes) == 17
    assert any("17 steps" in remark for remark in file.warnings)


def test_a_page_of_more_steps_than_a_file_can_hold_is_refused(mtn: Any, read_bytes: ReadBytes) -> None:
    with pytest.raises(FormatError, match="a page of 1786 steps"):
        read_bytes(mtn.build({1: mtn.page("long", [mtn.step()] * 1786)}))


def test_a_time_no_controller_counts_is_kept(mtn: Any, saved: Save, tmp_path: Path) -> None:
    path = saved(mtn.build({1: mtn.page("slow", [mtn.step(pause="9999.000"), mtn.step(play="3.5")])}))
    assert any("longer than the 2.040 s" in remark for remark in read_motion_file(path).warnings)
    write_motion(read_motion(path), tmp_path / "out.mtn")
    assert (tmp_path / "out.mtn").read_bytes() == path.read_bytes()


def test_names_keep_their_bytes(mtn: Any, saved: Save, tmp_path: Path) -> None:
    names = {1: "caf\xe9 \xff\x01", 2: "\xea\xb0\x80", 3: "trailing   "}  # latin-1, UTF-8, blanks
    path = saved(mtn.build({number: mtn.page(name, [mtn.step()]) for number, name in names.items()}))
    file = read_motion_file(path)
    assert [label.name for label in file.pages] == ["caf\xe9 \xff\x01", "\uac00", "trailing"]
    write_motion_file(file, tmp_path / "out.mtn")
    assert (tmp_path / "out.mtn").read_bytes() == path.read_bytes()


def test_a_page_that_leads_to_an_empty_one_stops_there(mtn: Any, read_bytes: ReadBytes) -> None:
    file = read_bytes(mtn.build({1: mtn.page("a", [mtn.step()], play="9 8 1 1.0 32")}))
    assert [remark for remark in file.warnings if "is empty, so it stops" in remark] == list(file.warnings)
    assert (file.motions[0].next, file.motions[0].exit) == (None, None)


def test_remarks_do_not_grow_without_end(mtn: Any, read_bytes: ReadBytes) -> None:
    noise = [f"key{i}=1" for i in range(5000)]
    file = read_bytes(mtn.build({1: [*mtn.page("a", [mtn.step()])[:-1], *noise, "page_end"]}))
    assert len(file.warnings) == 51
    assert "4950 more" in file.warnings[-1]


def malformed(mtn: Any, number: int, line: str) -> bytes:
    """The small file with one line replaced; line 5 opens page 1."""
    body = small(mtn)[:-2].decode("latin-1").split("\n")
    body[number - 1] = line
    return "\n".join(body).encode("latin-1") + b"\0\0"


GOOD_STEP = "step=" + "512 " * 26 + "0.000 0.296"


@pytest.mark.parametrize(
    ("number", "line", "story"),
    [
        (1, "type=music", "."),
        (2, "version=one", "version is 'one'"),
        (2, "version=1.01 2", "2 columns, expected 1"),
        (3, "enable=0 1", "2 columns, expected 26"),
        (3, "enable=" + "2 " * 26, "enable of ID 0 is '2'"),
        (3, "colour=red", "no enable="),
        (4, "motor_type=" + "x " * 26, "motor_type of ID 0 is 'x'"),
        (4, "enable=" + "1 " * 26, "a second enable="),
        (4, "motor_type", "columns, expected 26"),
        (4, GOOD_STEP, "step outside a page"),
        (4, "rubbish", "key=value"),
        (6, "page_begin", "page_begin inside a page"),
        (6, "nome=Bow", "no name= line"),
        (7, "compliance=5 5 5", "3 columns, expected 26"),
        (7, "compliance=" + "16 " * 26, "compliance of ID 0 is '16'"),
        (8, "play_param=0 0 1 1.0", "4 columns, expected 5"),
        (8, "play_param=256 0 1 1.0 32", "next page is '256'"),
        (8, "play_param=0 999 1 1.0 32", "exit page is '999'"),
        (8, "play_param=0 0 0 1.0 32", "repeat count is '0'"),
        (8, "play_param=0 0 1 0 32", "rate is '0'"),
        (8, "play_param=0 0 1 nan 32", "rate is 'nan'"),
        (8, "play_param=0 0 1 1.0 -1", "inertial force is '-1'"),
        (9, GOOD_STEP + " 1", "29 columns, expected 28"),
        (9, "step=512", "1 columns, expected 28"),
        (9, GOOD_STEP.replace("512", "1024", 1), "position of ID 0 is '1024'"),
        (9, GOOD_STEP.replace("512", "5_1", 1), "position of ID 0 is '5_1'"),
        (9, GOOD_STEP.replace("512", "51.5", 1), "position of ID 0 is '51.5'"),
        (9, GOOD_STEP.replace("512", "9" * 40, 1), "position of ID 0 is '9999"),
        (9, GOOD_STEP.replace("512", "\xb2", 1), "position of ID 0"),
        (9, GOOD_STEP.replace("0.296", "-0.296"), "time of the movement is '-0.296'"),
        (9, GOOD_STEP.replace("0.000", "NaN"), "time of the pause is 'NaN'"),
        (9, GOOD_STEP.replace("0.296", "inf"), "time of the movement is 'inf'"),
        (9, GOOD_STEP.replace("0.296", "1e3"), "time of the movement is '1e3'"),
        (9, GOOD_STEP.replace("0.296", "99999"), "time of the movement is '99999'"),
        (9, "name=Twice", "a second name="),
        (10, "what is this", "key=value"),
        (11, "", "page_begin inside a page"),
        (12, "", "outside a page"),
        (12, GOOD_STEP, "outside a page"),
    ],
)
def test_what_is_malformed_is_refused_at_its_line(
    number: int, line: str, story: str, mtn: Any, read_bytes: ReadBytes
) -> None:
    with pytest.raises(FormatError, match=story) as refusal:
        read_bytes(malformed(mtn, number, line))
    if refusal.value.where is not None and refusal.value.where.line not in (None, 1):
        assert refusal.value.where.line - number in (0, 1, 5)  # a missing line shows at the page's end
        assert refusal.value.hint


def test_ticks_may_reach_4095_where_the_file_says_so(mtn: Any, read_bytes: ReadBytes) -> None:
    head = ["type=motion", "version=1.01", "enable=0" + " 1" * 25, "motor_type=" + "1 " * 26]
    file = read_bytes(mtn.build({1: mtn.page("mx", [mtn.step([2048] * 25)])}, head=head))
    assert any("other servos" in remark for remark in file.warnings)
    assert any("IDs 19, 20" in remark for remark in file.warnings)
    same = read_bytes(mtn.build({1: mtn.page("ax", [mtn.step([512] * 25)])}))
    assert file.motions[0].keyframes[0].pose == same.motions[0].keyframes[0].pose


def test_more_than_255_pages_are_refused(mtn: Any, read_bytes: ReadBytes) -> None:
    with pytest.raises(FormatError, match="more than 255 pages"):
        read_bytes(mtn.build(n_pages=256))


def test_fewer_pages_and_no_trailer_are_a_cut_file(mtn: Any, read_bytes: ReadBytes) -> None:
    with pytest.raises(FormatError, match="ends after page 200 without a checksum"):
        read_bytes(mtn.build(n_pages=200, trailer=b""))


def test_a_file_without_a_step_has_no_motion(mtn: Any, saved: Save) -> None:
    path = saved(mtn.build({}))
    assert read_motion_file(path).motions == ()
    with pytest.raises(FormatError, match="it has no motion"):
        read_motion(path)


def test_text_behind_the_last_page_is_refused(mtn: Any, read_bytes: ReadBytes) -> None:
    with pytest.raises(FormatError, match="follow the last page"):
        read_bytes(mtn.build(trailer=b"x" * 1000))


# damage


def test_every_cut_is_refused(mtn: Any, read_bytes: ReadBytes) -> None:
    data = small(mtn)
    for length in range(len(data) - 1):
        with pytest.raises(FormatError):
            read_bytes(data[:length])
    assert read_bytes(data[:-1]).warnings  # only half of the trailer is gone


def test_a_full_file_may_lose_its_trailer_and_nothing_else(mtn: Any, read_bytes: ReadBytes) -> None:
    data = mtn.build()
    for length in (*range(0, len(data) - 4, 433), len(data) - 4):
        with pytest.raises(FormatError):
            read_bytes(data[:length])
    for length in (len(data) - 1, len(data) - 2, len(data) - 3):  # -3: the last line end too
        assert len(read_bytes(data[:length]).motions) == 1


@settings(max_examples=250, deadline=None)
@given(changes=st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(0, 255)), min_size=1, max_size=4))
def test_flipped_bytes_are_refused_or_read_and_never_crash(
    changes: list[tuple[float, int]], mtn: Any, read_bytes: ReadBytes
) -> None:
    data = bytearray(small(mtn))
    for place, byte in changes:
        data[int(place * (len(data) - 1))] = byte
    try:
        file = read_bytes(bytes(data))
    except InputError:
        return
    assert file.document.render() == bytes(data)  # type: ignore[attr-defined] -- a RoboPlus document


@pytest.mark.parametrize(
    "data",
    [
        b"type=motion\n" * 50_000,
        b"type=motion\nenable=" + b"1 " * 500_000,
        b"type=motion\n" + b"page_begin\n" * 100_000,
        b"type=motion\n" + b"page_begin\npage_end\n" * 50_000,
        b"type=motion\nversion=" + b"9" * 1_000_000,
        b"type=motion\r" * 100_000,
        b"type=motion" + b"\n" * 1_000_000,
        b"type=motion\n\0\0\0\0",
        "type=motion\n".encode("utf-16"),
    ],
    ids=range(9),
)
def test_huge_counts_are_refused_quickly(data: bytes, read_bytes: ReadBytes) -> None:
    with pytest.raises(FormatError):
        read_bytes(data)
