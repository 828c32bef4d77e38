"""The text form: read to a graph, laid out byte-true, edited without breaking a jump."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from posewright.documents import read_bounded
from posewright.errors import FormatError
from posewright.runtimes.robi.listing import assemble, format_listing
from posewright.runtimes.robi.load import open_program
from posewright.runtimes.robi.program import Op
from posewright.runtimes.robi.rm4 import (
    MAX_BYTES,
    read_program,
    read_rm4,
    read_tag,
)

from .texts import Text, flat, texts


@settings(max_examples=80)
@given(text=texts())
def test_a_program_that_is_not_edited_gives_back_its_bytes(text: Text) -> None:
    data = text.data()
    program = read_rm4(data)
    assert program.render() == data
    assert [program.positions[node.key] for node in program.tags] == text.starts
    assert program.n_bytes == len(data)
    tags, firsts = flat(text.items)
    goals = [-1 if goal is None else firsts[goal] for _, goal in tags]
    assert [node.target for node in program.tags] == goals


def test_a_jump_to_blank_space_means_the_tag_after_it() -> None:
    program = read_rm4(b'<jump adr="0x00000018"/>\r\n\r\n<return/>')
    assert program.tags[0].target == 1
    assert program.tags[0].gap_bytes == 4
    assert program.remarks == (
        "input:1: byte 0: <jump> to 0x00000018 leads to blank space; the tag after it, 4 bytes on, is meant",
    )
    assert assemble(f"return\n{format_listing(program)}").tags[1].target == 2


def test_the_documents_nine_digits_are_read_with_a_remark_and_kept() -> None:
    data = (
        b'<mem_w size="2" adr="0x000001020">0x0d82,0x0cc2</mem_w>\n'
        b'<jump adr="0x000000000"/>\n<jump adr="0x0000000"/>'
    )
    program = read_rm4(data, Path("seed.RM4"))
    assert program.tags[0].address == 0x1020
    assert program.render() == data
    assert [remark.partition(": byte")[0] for remark in program.remarks] == [
        "seed.RM4:1",
        "seed.RM4:2",
        "seed.RM4:3",
    ]
    assert "has 9 digits, not 8" in program.remarks[0]
    assert "has 7 digits, not 8" in program.remarks[2]
    grown = assemble(f"a: return\n{format_listing(program)}").render()
    assert b'<jump adr="0x00000000a"/>\n<jump adr="0x000000a"/>' in grown


def test_the_documents_empty_size_is_a_word_with_a_remark_and_kept() -> None:
    data = b'<calc><mem_r size="" adr="0x00000f82"/><mem_w size="" adr="0x00000fa8"/></calc>\n<return/>'
    program = read_rm4(data, Path("seed.RM4"))
    assert [tag.size for tag in program.tags if tag.address] == [2, 2]
    assert program.remarks == (
        "seed.RM4:1: byte 6: <mem_r> has an empty size: 2 bytes, a word, are assumed",
        "seed.RM4:1: byte 39: <mem_w> has an empty size: 2 bytes, a word, are assumed",
    )
    assert program.render() == data
    assert assemble(format_listing(program)).render() == data


BAD = [
    ('<mem_w size="3" adr="0x00000a00">0x0000</mem_w>', 13, "size is 3", "expected 1 or 2"),
    ('<mem_w size="2" adr="">0x0000</mem_w>', 21, "the address is empty", "as in 0x00000a00"),
    ('<mem_w size="2" adr="0x0000000a00">0</mem_w>', 21, "the address is 0x0000000a00", "eight digits"),
    ('<mem_w size="2" adr="0xfffffffff">0</mem_w>', 21, "the address is 0xfffffffff", "eight digits"),
    ('<mem_w size="2">0x0000</mem_w>', 0, "<mem_w> has no adr", 'expected <mem_w size=... adr=...'),
    ('<mem_w size="1" adr="0x00000a00">0x01,0x100</mem_w>', 38, "a value is 0x100", "expected 0 to 255"),
    ('<mem_w size="1" adr="0x00000a00">0x01, </mem_w>', 38, "a value is empty", "expected 0 to 255"),
    ('<mem_w size="1" adr="0x00000a00"></mem_w>', 33, "a value is empty", "expected 0 to 255"),
    ('<mem_w size="1" adr="0x00000a00"/>', 0, "<mem_w> without values outside <calc>", "0x0000,..."),
    ('<mem_w size="1" size="2" adr="0x00000a00">1</mem_w>', 16, "size is given twice", "once"),
    ('<jump adr="0x0000"/>', 11, "the address is 0x0000", "eight digits"),
    ('<jump/>', 0, "<jump> has no adr", "expected <jump adr=..."),
    ('<jump adr=0x00000000/>', 5, "adr=0x00000000 is not an attribute", 'expected name="value"'),
    ('<jump adr="0x00000014"/>', 0, "leads into the middle of <jump", "expected 0x00000000, where that tag"),
    ('<jump adr="0x00000017"/>', 0, "leads into the middle of <jump", "expected 0x00000000, where that tag"),
    ('<jump adr="0x00000018"/>\n', 0, "leads behind the last tag", "the last one begins at 0x00000000"),
    ('<medit>1</medit>\n<jump adr="0x00000008"/>', 17, "of <medit>1</medit>, line 1, byte 0", "later one"),
    ('<calc><const data="70000"/></calc>', 19, "data is 70000", "expected -32768 to 65535"),
    ('<calc>', 0, "<calc> is not closed", "</calc>"),
    ('<calc><calc></calc>', 6, "<calc> inside <calc>", "</calc> comes first"),
    ('</calc>', 0, "</calc> outside <calc>", "between <calc> and </calc>"),
    ('<add/>', 0, "<add> outside <calc>", "between <calc> and </calc>"),
    ('<calc><return/></calc>', 6, "<return> inside <calc>", "</calc> comes first"),
    ('<calc><mem_w size="1" adr="0x00000a00">1</mem_w></calc>', 6, "with values inside <calc>", "stores"),
    ('<return>', 0, "<return> is not closed", "</return>"),
    ('<return>x</return>', 8, "x inside <return>", "expected <return .../>"),
    ('<return/>hello<return/>', 9, "text between tags: hello", "only blank space"),
    ('<return/></mem_w>', 9, "</mem_w> closes nothing", "remove it"),
    ('<medit>', 0, "<medit> is not closed", "</medit>"),
    ('<return/><!-- x', 9, "is not closed", "-->"),
    ('<return', 0, "<return is not a tag", 'expected <name adr="..."/>'),
    ('<>', 0, "<> is not a tag", 'expected <name'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "at", "message", "hint"), BAD)
def test_what_is_wrong_is_told_with_line_and_byte(text: str, at: int, message: str, hint: str) -> None:
    begin = b"<return/>\r\n<return/>\r\n"
    if 'adr="0x000000' in text and "jump" in text:
        begin = b""
    with pytest.raises(FormatError) as caught:
        read_rm4(begin + text.encode(), Path("own.RM4"))
    said = str(caught.value).splitlines()[0]
    line = (begin + text.encode())[: len(begin) + at].count(b"\n") + 1
    assert said.startswith(f"own.RM4:{line}: byte {len(begin) + at}: ")
    assert message in said
    assert hint in (caught.value.hint or "")


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(FormatError) as caught:
        read_rm4(
            b'<mem_w size="0" adr="0x00000a00">1</mem_w>\n<jump adr=""/>\n\n<calc><const data="x"/></calc>\n'
        )
    assert [error.where.line for error in caught.value.errors if error.where] == [1, 2, 4]


def test_a_tag_that_no_document_names_is_kept_and_told() -> None:
    data = (
        b'<program ver="1"><jmup adr="0x00000000"/><voice>hello</voice><call file="x.RM4"/><div/></program>'
    )
    program = read_rm4(data)
    assert program.render() == data
    assert [node.op for node in program.tags] == [Op.UNKNOWN] * 6
    assert "did you mean jump?" in program.remarks[1]
    assert all("is an error when it is run" in remark for remark in program.remarks)


@pytest.mark.parametrize("data", [b"\x12\x00\x00\x0a", b"PK\x03\x04", bytes(range(256)), b"<a>\0"])
def test_startup_bin_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(
        FormatError, match=r"not RM4 text; if it is Robi 2's STARTUP.BIN.*binary programs cannot be read"
    ):
        read_program(data, Path("STARTUP.BIN"))


def test_a_file_is_read_from_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "歩行4S.RM4"
    path.write_bytes(b"<return/>")
    assert open_program(path).path == path
    for wrong in (tmp_path, tmp_path / "none.RM4", Path("\0")):
        with pytest.raises(FormatError):
            read_bounded(wrong, MAX_BYTES)
    with pytest.raises(FormatError, match="no tag"):
        read_program(b" \n")
    with pytest.raises(FormatError, match="larger than"):
        read_rm4(b" " * (MAX_BYTES + 1))


def test_blocks_of_the_editor_give_their_names() -> None:
    program = read_rm4(
        '<medit><block name="歩行 4S"/></medit><return/>'
        '<medit><block name="歩行 4S"/></medit><!-- -->\n<return/>'
        '<medit><block x="1" name="4"/></medit><return/>'.encode("cp932")
    )
    assert list(program.labels.values()) == ["歩行_4S", "歩行_4S_2", "_4"]


def test_one_tag_is_one_tag() -> None:
    with pytest.raises(FormatError, match="is not one tag"):
        read_tag(b"<return/> <return/>")


def test_a_file_full_of_oddities_is_told_of_in_few_lines() -> None:
    assert len(read_rm4(b"<odd/>" * 5000).remarks) == 100
    with pytest.raises(FormatError) as caught:
        read_rm4(b"<calc>" * 5000)
    assert len(caught.value.errors) == 20
