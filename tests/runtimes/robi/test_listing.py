"""List, assemble, list is a fixed point; a person's edit of a listing moves what must move."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posewright.errors import FormatError, InputError
from posewright.runtimes.robi.listing import assemble, format_listing
from posewright.runtimes.robi.rm4 import read_rm4

from .texts import SCRATCH, Text, assert_same_doing, texts


@settings(max_examples=80)
@given(text=texts())
def test_a_listing_is_assembled_to_the_same_bytes_and_listed_the_same(text: Text) -> None:
    program = read_rm4(text.data())
    shown = format_listing(program)
    again = assemble(shown)
    assert again.render() == text.data()
    assert format_listing(again) == shown
    assert [node.target for node in again.tags] == [node.target for node in program.tags]


@settings(max_examples=60)
@given(text=texts(), data=st.data())
def test_lines_that_a_person_adds_move_every_later_jump(text: Text, data: st.DataObject) -> None:
    program = read_rm4(text.data())
    lines = format_listing(program).splitlines()
    places = [
        i
        for i, line in enumerate(lines)
        if line[8:22].isspace()
        and line[22:23] != " "
        and lines[i][22:] != "endcalc"
        and not lines[i - 1].startswith(("raw", "blank"))
    ]
    if not places:
        return
    at = data.draw(st.sampled_from(places))
    new = f"  mem_w 2 0x{SCRATCH:04x} = {', '.join('1' * data.draw(st.integers(1, 20)))}  ; new"
    edited = read_rm4(assemble("\n".join((*lines[:at], new, *lines[at:]))).render())
    assert len(edited.tags) == len(program.tags) + 1
    assert_same_doing(program, edited, 2)


EVERYTHING = """\
between "\\r\\n"
inside "\\r\\n\\t"
begin: ; a label may stand before its instruction
  text "<medit>\\"x\\\\\\x01\\t"
       "\\r\\n</medit>"
  mem_w 2 0x0a04 = 0, 0x50 ; six; \"words\"
  calc
    mem_r 1 2560
    const -3
    const 0xffff
    add
    sub
  endcalc
  calc
    const 1
    const 2
    mul
    eq
    jump begin
    mem_w 1 0x0a04
    endcalc
  call 歩行
  jump 歩行-2
  歩行:
  return
end "\\r\\n\\r\\n"
"""


def test_a_person_may_write_a_listing_without_addresses() -> None:
    program = assemble(EVERYTHING)
    data = program.render()
    assert data.startswith(b'<medit>"x\\\x01\t\r\n</medit>\r\n<mem_w size="2" adr="0x00000a04">0x0000,0x0050')
    assert data.endswith(b"<return/>\r\n\r\n")
    assert b'<calc>\r\n\t<mem_r size="1" adr="0x00000a00"/>' in data
    assert sorted(program.labels.values()) == ["begin", "歩行"]
    shown = format_listing(program)
    assert "; position of ID 2 .. torque of ID 2" in shown
    assert format_listing(assemble(shown)) == shown
    assert assemble(shown).render() == data


@pytest.mark.parametrize(
    "tag",
    [
        b"<mem_w  adr='0x00000A04'\tsize=\"2\" >0x0000,\r\n 80</mem_w>",
        b'<mem_w size="2" adr="0x0a04">0x0,0x50</mem_w>',
        b"<return></return>",
        b'<jump adr="0x00000000" />',
        b'<jump adr="0x000000000"/>',
        '<fwrite filename="歩行4S.RM4" adr="0x00000000"/>'.encode("cp932"),
        b'<voice id="3"/>',
        b'<medit>\xff\x81\x00\\"\x85\x8e</medit>',
        b"<medit>\x87\x90\x81\xe0</medit>",  # two codes of one character
    ],
)
def test_tags_that_are_written_otherwise_keep_their_bytes(tag: bytes) -> None:
    data = b"<return/>\n" + tag + b"\n<return/>\n"
    shown = format_listing(read_rm4(data))
    assert assemble(shown).render() == data
    assert format_listing(assemble(shown)) == shown


def test_an_instruction_that_was_changed_is_written_as_the_documents_would() -> None:
    shown = format_listing(read_rm4(b"<mem_w  size='2' adr='0x00000a04'>0</mem_w>"))
    edited = shown.replace("= 0x0000", "= 0x0001")
    assert assemble(edited).render() == b'<mem_w size="2" adr="0x00000a04">0x0001</mem_w>'
    moved = shown.replace(" 0x0a04 ", " 0x0a06 ")
    assert assemble(moved).render() == b'<mem_w size="2" adr="0x00000a06">0x0000</mem_w>'


def test_a_made_label_follows_what_it_marks_and_a_persons_stays() -> None:
    shown = format_listing(read_rm4(b'<return/><return/><jump adr="0x00000009"/>'))
    assert "L00000009:" in shown
    longer = shown.replace("00000000  ", "return\n00000000  ", 1)
    assert "L00000012:" in format_listing(assemble(longer))
    assert "home:" in format_listing(assemble(longer.replace("L00000009", "home")))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("jump nowhere", "unknown label 'nowhere' (did you mean somewhere?)"),
        ("jump", "? is not a label (expected jump LABEL)"),
        ("jump 0x00000010", "0x00000010 is not a label"),
        (
            "jump somewhere-1",
            "somewhere-1 leads into the middle of another tag (there are 0 blank bytes before it)",
        ),
        ("somewhere: return", "the label somewhere is already defined in line 1"),
        ("last:", "no tag follows the label last"),
        ("adx", "unknown instruction 'adx' (did you mean add"),
        ("return 5", "5 after return (return has no operand)"),
        ("const", "nothing is not a valid number here (expected -32768 to 65535)"),
        ("const 65536", "65536 is not a valid number here"),
        ("mem_w 3 0x0a00 = 1", "3 is not a valid number here (expected 1 to 2)"),
        ("mem_w 1 0x0a00 = 256", "256 is not a valid number here (expected -128 to 255)"),
        ("mem_w 1 0x0a00 = 1,", "nothing is not a valid number here"),
        ("mem_w 0x0a00 = 1", "mem_w 0x0a00 = 1 (expected mem_w SIZE ADDRESS [= VALUE, VALUE, ...])"),
        ("mem_r 1 0x0a00 = 1", "mem_r 1 0x0a00 = 1 (expected mem_r SIZE ADDRESS)"),
        ("mem_r 1 0x0a00", "<mem_r> outside <calc>"),
        ("calc", "<calc> is not closed"),
        ("endcalc", "</calc> outside <calc>"),
        ('text "hello"', "text between tags: hello"),
        ('text "<jump adr=\\"0x00000000\\"/>"', "expected jump LABEL, so that it keeps its target"),
        ('text "<return/><return/>"', "is not one tag"),
        ('blank "x"', "blank contains x"),
        ("blank x", "x is not a string"),
        ('blank "\\q"', "\\q in a string"),
        ('blank "\\x0"', "\\x without two digits"),
        ('text "<medit>\u20ac</medit>"', "\u20ac is not in Shift-JIS"),
        ('"and more"', "unknown instruction '\"and'"),
    ],
)
def test_a_bad_line_is_told_with_what_would_be_right(line: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        assemble(f"somewhere: return\n{line}", Path("own.lst"))
    assert message in str(caught.value)
    assert str(caught.value).startswith("own.lst:2: ")


def test_every_bad_line_is_told() -> None:
    with pytest.raises(FormatError) as caught:
        assemble("foo\nreturn\nbar\n" + "x y\n" * 50)
    lines = [error.where.line for error in caught.value.errors if error.where]
    assert lines[:3] == [1, 3, 4]
    assert len(lines) == 20
    with pytest.raises(FormatError, match="no instruction"):
        assemble("; nothing\n")
