"""The text form: read to a graph, laid out byte-true, edited without breaking a jump."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import FormatError, InputError
from posewright.runtimes.robi.program import Op
from posewright.runtimes.robi.rm4 import (
    MOST_BYTES,
    Program,
    jump_to,
    read_program,
    read_program_file,
    read_rm4,
    read_tag,
    tag_text,
)

from .texts import SCRATCH, Text, assert_same_doing, flat, texts


@settings(max_examples=150)
@given(text=texts())
def test_a_program_that_is_not_edited_gives_back_its_bytes(text: Text) -> None:
    data = text.data()
    program = read_rm4(data)
    assert program.render() == data
    assert [program.positions[node.key] for node in program.nodes] == text.starts
    assert program.n_bytes == len(data)
    tags, firsts = flat(text.items)
    goals = [-1 if goal is None else firsts[goal] for _, goal in tags]
    assert [node.target for node in program.nodes] == goals


@settings(max_examples=100)
@given(text=texts(), data=st.data())
def test_an_edit_that_grows_a_block_moves_every_later_jump(text: Text, data: st.DataObject) -> None:
    """What the grown program writes, read anew from its bytes, is what it wrote before."""
    program = read_rm4(text.data())
    places = [
        node
        for node in program.nodes
        if node.op in {Op.MEM_W, Op.CALC, Op.RETURN, Op.CALL} and not inside(program, node.key)
    ]
    at = data.draw(st.sampled_from(places))
    n = data.draw(st.integers(1, 30))
    block = read_tag(tag_text(Op.MEM_W, address=SCRATCH, values=range(n)))
    grown = program.insert(at.key, [block] * data.draw(st.integers(1, 3)))
    assert grown.n_bytes > program.n_bytes
    assert_same_doing(program, read_rm4(grown.render()), 4)
    assert_goals_kept(program, grown)


def inside(program: Program, key: int) -> bool:
    opened = [node.op for node in program.nodes[:key] if node.op in {Op.CALC, Op.END_CALC}]
    return bool(opened) and opened[-1] is Op.CALC


def assert_goals_kept(program: Program, edited: Program) -> None:
    """Every jump of the edited program, by its bytes alone, leads to the tag it led to."""
    data = edited.render()
    for node in program.nodes:
        if node.target >= 0 and node.key in edited.by_key and node.target in edited.by_key:
            address = int(edited.text_of(edited.by_key[node.key]).split(b'"')[1], 16)
            raw = edited.text_of(edited.by_key[node.target])
            assert data[address : edited.positions[node.target]].strip() == b""
            assert data[edited.positions[node.target] :].startswith(raw)
            assert edited.positions[node.target] - address == node.slack


@settings(max_examples=100)
@given(text=texts(), data=st.data())
def test_what_an_edit_does_not_touch_keeps_its_bytes(text: Text, data: st.DataObject) -> None:
    program = read_rm4(text.data())
    blocks = [node for node in program.nodes if node.op is Op.MEM_W and node.values]
    if not blocks:
        return
    old = data.draw(st.sampled_from(blocks))
    values = data.draw(st.lists(st.integers(0, 255), min_size=1, max_size=40))
    new = read_tag(tag_text(Op.MEM_W, size=1, address=0x0100, values=values))
    edited = program.replace(old.key, new)
    assert edited.replace(old.key, old).render() == text.data()
    again = read_rm4(edited.render())
    assert [node.target for node in again.nodes] == [node.target for node in program.nodes]
    for one, other in zip(program.nodes, again.nodes, strict=True):
        assert one.before == other.before
        if one.key != old.key and one.target < 0:
            assert one.raw == other.raw


@settings(max_examples=100)
@given(text=texts(), data=st.data())
def test_jumps_to_what_is_removed_go_on_behind_it(text: Text, data: st.DataObject) -> None:
    program = read_rm4(text.data())
    blocks = [node.key for node in program.nodes if node.op is Op.MEM_W and node.values]
    if not blocks:
        return
    gone = data.draw(st.sets(st.sampled_from(blocks), min_size=1))
    left = program.remove(*gone)
    again = read_rm4(left.render())
    keys = [node.key for node in left.nodes]
    for node, old_key in zip(again.nodes, keys, strict=True):
        goal = program.by_key[old_key].target
        while goal in gone:
            goal += 1
        assert node.target == (keys.index(goal) if goal >= 0 else -1)


def small() -> Program:
    return read_rm4(
        b'<mem_w size="2" adr="0x00000a04">0x0000,0x0050</mem_w>\r\n'
        b'<jump adr="0x00000054"/>\r\n\r\n<return/>\n'
    )


def test_a_new_jump_goes_to_a_node() -> None:
    program = small()
    edited = program.insert(1, [jump_to(2), jump_to(0, Op.CALL)])
    assert edited.render() == (
        b'<mem_w size="2" adr="0x00000a04">0x0000,0x0050</mem_w>\r\n<jump adr="0x00000088"/>\r\n'
        b'<call adr="0x00000000"/>\r\n<jump adr="0x00000088"/>\r\n\r\n<return/>\n'
    )


def test_a_jump_to_blank_space_means_the_tag_after_it() -> None:
    program = read_rm4(b'<jump adr="0x00000018"/>\r\n\r\n<return/>')
    assert program.nodes[0].target == 1
    assert program.nodes[0].slack == 4
    assert program.remarks == (
        "input:1: byte 0: <jump> to 0x00000018 leads to blank space; the tag after it, 4 bytes on, is meant",
    )
    assert read_rm4(program.insert(0, [read_tag(b"<return/>")]).render()).nodes[1].target == 2


def test_the_documents_nine_digits_are_read_with_a_remark_and_kept() -> None:
    data = (
        b'<mem_w size="2" adr="0x000001020">0x0d82,0x0cc2</mem_w>\n'
        b'<jump adr="0x000000000"/>\n<jump adr="0x0000000"/>'
    )
    program = read_rm4(data, Path("seed.RM4"))
    assert program.nodes[0].address == 0x1020
    assert program.render() == data
    assert [remark.partition(": byte")[0] for remark in program.remarks] == [
        "seed.RM4:1",
        "seed.RM4:2",
        "seed.RM4:3",
    ]
    assert "has 9 digits, not 8" in program.remarks[0]
    assert "has 7 digits, not 8" in program.remarks[2]
    grown = program.insert(0, [read_tag(b"<return/>")]).render()
    assert b'<jump adr="0x000000009"/>\n<jump adr="0x0000009"/>' in grown


BAD = [
    ('<mem_w size="" adr="0x00000a00">0x0000</mem_w>', 13, "size is empty", "right is 1 or 2"),
    ('<mem_w size="3" adr="0x00000a00">0x0000</mem_w>', 13, "size is 3", "right is 1 or 2"),
    ('<mem_w size="2" adr="">0x0000</mem_w>', 21, "the address is empty", "as in 0x00000a00"),
    ('<mem_w size="2" adr="0x0000000a00">0</mem_w>', 21, "the address is 0x0000000a00", "eight digits"),
    ('<mem_w size="2" adr="0xfffffffff">0</mem_w>', 21, "the address is 0xfffffffff", "eight digits"),
    ('<mem_w size="2">0x0000</mem_w>', 0, "<mem_w> has no adr", 'right is <mem_w size=... adr=...'),
    ('<mem_w size="1" adr="0x00000a00">0x01,0x100</mem_w>', 38, "a value is 0x100", "right is 0 to 255"),
    ('<mem_w size="1" adr="0x00000a00">0x01, </mem_w>', 38, "a value is empty", "right is 0 to 255"),
    ('<mem_w size="1" adr="0x00000a00"></mem_w>', 33, "a value is empty", "right is 0 to 255"),
    ('<mem_w size="1" adr="0x00000a00"/>', 0, "<mem_w> without values outside <calc>", "0x0000,..."),
    ('<mem_w size="1" size="2" adr="0x00000a00">1</mem_w>', 16, "size is given twice", "once"),
    ('<jump adr="0x0000"/>', 11, "the address is 0x0000", "eight digits"),
    ('<jump/>', 0, "<jump> has no adr", "right is <jump adr=..."),
    ('<jump adr=0x00000000/>', 5, "adr=0x00000000 is no attribute", 'right is name="value"'),
    ('<jump adr="0x00000014"/>', 0, "leads into <jump", "right is 0x00000000, where that begins"),
    ('<jump adr="0x00000017"/>', 0, "leads into <jump", "right is 0x00000000, where that begins"),
    ('<jump adr="0x00000018"/>\n', 0, "leads behind the last tag", "the last one begins at 0x00000000"),
    ('<medit>1</medit>\n<jump adr="0x00000008"/>', 17, "into <medit>1</medit>, line 1, byte 0", "later tag"),
    ('<calc><const data="70000"/></calc>', 19, "data is 70000", "right is -32768 to 65535"),
    ('<calc>', 0, "<calc> is not closed", "</calc>"),
    ('<calc><calc></calc>', 6, "<calc> inside <calc>", "</calc> comes first"),
    ('</calc>', 0, "</calc> outside <calc>", "between <calc> and </calc>"),
    ('<add/>', 0, "<add> outside <calc>", "between <calc> and </calc>"),
    ('<calc><return/></calc>', 6, "<return> inside <calc>", "</calc> comes first"),
    ('<calc><mem_w size="1" adr="0x00000a00">1</mem_w></calc>', 6, "with values inside <calc>", "stores"),
    ('<return>', 0, "<return> is not closed", "</return>"),
    ('<return>x</return>', 8, "x inside <return>", "right is <return .../>"),
    ('<return/>hello<return/>', 9, "text between tags: hello", "only blank space"),
    ('<return/></mem_w>', 9, "</mem_w> closes nothing", "take it out"),
    ('<medit>', 0, "<medit> is not closed", "</medit>"),
    ('<return/><!-- x', 9, "is not closed", "-->"),
    ('<return', 0, "<return is no tag", 'right is <name adr="..."/>'),
    ('<>', 0, "<> is no tag", 'right is <name'),
]  # fmt: skip


@pytest.mark.parametrize(("text", "at", "told", "hint"), BAD)
def test_what_is_wrong_is_told_with_line_and_byte(text: str, at: int, told: str, hint: str) -> None:
    begin = b"<return/>\r\n<return/>\r\n"
    if 'adr="0x000000' in text and "jump" in text:
        begin = b""
    with pytest.raises(FormatError) as caught:
        read_rm4(begin + text.encode(), Path("own.RM4"))
    said = str(caught.value).splitlines()[0]
    line = (begin + text.encode())[: len(begin) + at].count(b"\n") + 1
    assert said.startswith(f"own.RM4:{line}: byte {len(begin) + at}: ")
    assert told in said
    assert hint in (caught.value.hint or "")


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(FormatError) as caught:
        read_rm4(
            b'<mem_w size="" adr="0x00000a00">1</mem_w>\n<jump adr=""/>\n\n<calc><const data="x"/></calc>\n'
        )
    assert [error.where.line for error in caught.value.errors if error.where] == [1, 2, 4]


def test_a_tag_that_no_document_names_is_kept_and_told() -> None:
    data = (
        b'<program ver="1"><jmup adr="0x00000000"/><voice>hello</voice><call file="x.RM4"/><div/></program>'
    )
    program = read_rm4(data)
    assert program.render() == data
    assert [node.op for node in program.nodes] == [Op.UNKNOWN] * 6
    assert "did you mean jump?" in program.remarks[1]
    assert all("refused when it is run" in remark for remark in program.remarks)


@pytest.mark.parametrize("data", [b"\x12\x00\x00\x0a", b"PK\x03\x04", bytes(range(256)), b"<a>\0"])
def test_startup_bin_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(FormatError, match=r"no RM4 text; Robi 2's STARTUP.BIN.*which byte is which command"):
        read_program(data, Path("STARTUP.BIN"))


def test_the_door_for_a_binary_form_is_open() -> None:
    class Ours:
        def recognises(self, data: bytes) -> bool:
            return data[:1] == b"\x01"

        def read(self, data: bytes, path: Path | None) -> Program:
            assert self.recognises(data)
            return dataclasses.replace(read_rm4(b"<return/>"), path=path)

    assert read_program(b"\x01\x02", forms=(Ours(),)).nodes[0].op is Op.RETURN
    with pytest.raises(FormatError):
        read_program(b"\x02\x02", forms=(Ours(),))


def test_a_file_is_read_from_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "歩行4S.RM4"
    path.write_bytes(b"<return/>")
    assert read_program_file(path).path == path
    for wrong in (tmp_path, tmp_path / "none.RM4", Path("\0")):
        with pytest.raises(FormatError):
            read_program_file(wrong)
    with pytest.raises(FormatError, match="no tag"):
        read_program(b" \n")
    with pytest.raises(FormatError, match="larger than"):
        read_rm4(b" " * (MOST_BYTES + 1))


def test_blocks_of_the_editor_give_their_names() -> None:
    program = read_rm4(
        '<medit><block name="歩行 4S"/></medit><return/>'
        '<medit><block name="歩行 4S"/></medit><!-- -->\n<return/>'
        '<medit><block x="1" name="4"/></medit><return/>'.encode("cp932")
    )
    assert list(program.labels.values()) == ["歩行_4S", "歩行_4S_2", "_4"]


def test_edits_that_make_no_program_are_refused() -> None:
    program = small()
    with pytest.raises(InputError, match="<add> outside <calc>"):
        program.insert(0, [read_tag(b"<add/>")])
    with pytest.raises(InputError, match="is not closed"):
        program.replace(2, read_tag(b"<calc>"))
    with pytest.raises(InputError, match="goes to what is removed"):
        program.remove(2)
    with pytest.raises(InputError, match="has no target"):
        program.insert(0, [read_tag(b'<jump adr="0x00000000"/>')])
    with pytest.raises(InputError, match="no node has the key 77"):
        program.remove(77)
    with pytest.raises(FormatError, match="is not one tag"):
        read_tag(b"<return/> <return/>")


def test_a_file_full_of_oddities_is_told_of_in_few_lines() -> None:
    assert len(read_rm4(b"<odd/>" * 5000).remarks) == 100
    with pytest.raises(FormatError) as caught:
        read_rm4(b"<calc>" * 5000)
    assert len(caught.value.errors) == 20
