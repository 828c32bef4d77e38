"""MONET text files: kept byte for byte, and taken apart as the robot takes them apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import FormatError
from posewright.runtimes.openr.stick.limits import follows_grammar, is_null, postures_of, require_valid_name
from posewright.runtimes.openr.stick.setup import MOTIONS, read_designdb
from posewright.runtimes.openr.stick.text import is_command_list, read_commands, read_transitions

LISTED = (
    b"#####\r\n# kicks\r\n60 1 0\r\nmonetagentMTN a_stand#stand_kick -1\r\n"
    b"61 2 1\r\n# with a bark\r\nmonetagentMTN\ta_sit#sit_bark\t3\r\nmonetagentSOUND  bark -1\r\n"
)

words = st.sampled_from(
    [
        b"#",
        b"60",
        b"-1",
        b"monetagentMTN",
        b"monetagentSOUND",
        b"a_sit#stand_x",
        b" ",
        b"\t",
        b"[ERS-7]",
        b"\0",
    ]
)
texts = st.lists(
    st.one_of(words, st.binary(max_size=12), st.sampled_from([b"\n", b"\r\n", b"\r", b" ", b"\n\n"])),
    max_size=60,
).map(b"".join)


@given(texts)
def test_whatever_stands_in_a_file_is_written_as_it_was_read(data: bytes) -> None:
    assert read_commands(data).render() == data
    assert read_transitions(data).render() == data


@given(texts.filter(lambda data: b"\0" not in data))
def test_whatever_text_stands_in_a_design_list_is_written_as_it_was_read(data: bytes) -> None:
    try:
        assert read_designdb(data).render() == data
    except FormatError:
        assert any(byte < 32 for byte in data)


@pytest.mark.parametrize("name", ["ERS7_MONETCMD.CFG", "ERS7_MONET.CFG", "DESIGNDB.CFG"])
def test_sonys_own_files_are_written_as_they_were_read(name: str, samples: Callable[[str], Path]) -> None:
    data = samples(f"aibo_monet/{name}").read_bytes()
    read = read_designdb if name == "DESIGNDB.CFG" else read_commands
    assert read(data).render() == data


def test_commands_are_told_with_their_lines_and_numbers() -> None:
    first, second = read_commands(LISTED).commands
    assert (first.id, first.head.n_declared, first.head.word(2), first.head.text_line.number) == (
        60,
        1,
        "0",
        3,
    )
    assert (second.id, second.head.n_declared, second.head.word(2)) == (61, 2, "1")
    assert [(line.agent, line.name, line.index) for line in second.agent_lines] == [
        ("monetagentMTN", "a_sit#sit_bark", 3),
        ("monetagentSOUND", "bark", -1),
    ]
    assert second.agent_lines[0].text_line.number == 7


def test_a_list_of_commands_is_told_from_one_of_ways() -> None:
    assert is_command_list(read_commands(LISTED))
    assert not is_command_list(read_transitions(b"# ways\nmonetagentMTN a_sit#stand_standard -1\n"))


@pytest.mark.parametrize("data", [LISTED, LISTED.rstrip(), LISTED.replace(b"\r\n", b"\n"), b"", b"# none"])
def test_a_command_is_added_in_the_line_ends_of_the_file(data: bytes) -> None:
    text = read_commands(data)
    more = text.with_added_command("70 1 0", ["monetagentMTN a_x -1"], ["#####"])
    rendered = more.render()
    assert rendered.startswith(data)
    assert rendered.endswith(text.eol.join([b"#####", b"70 1 0", b"monetagentMTN a_x -1", b""]))
    assert [command.id for command in more.commands] == [*(c.id for c in text.commands), 70]
    assert (text.eol == b"\r\n") == (b"\r\n" in rendered)


def test_a_replaced_command_stands_where_it_stood_and_comments_stay() -> None:
    text = read_commands(LISTED).with_replaced_command(61, "61 1 0", ["monetagentMTN new -1"])
    assert text.render() == (
        LISTED[: LISTED.index(b"61 ")] + b"61 1 0\r\nmonetagentMTN new -1\r\n# with a bark\r\n"
    )
    assert [line.number for line in text.lines] == list(range(1, 8))


def test_of_two_commands_of_one_id_the_last_is_replaced_and_the_other_goes() -> None:
    text = read_commands(b"5 1 0\na old -1\n6 1 0\na b -1\n5 1 0\na newer -1\n")
    assert text.with_replaced_command(5, "5 1 1", ["a x -1"]).render() == b"6 1 0\na b -1\n5 1 1\na x -1\n"


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("a_stand#sit_standard", "stand", "sit"),
        ("a_walk#walk_sox_fwd", "walk", "walk"),
        ("a_stand_sit_x", "stand", "sit"),
        ("a__nt##sleep", "nt", "sleep"),
        ("a_KickB", "KickB", ""),
        ("", "", ""),
    ],
)
def test_postures_are_the_second_and_third_piece_of_a_name(name: str, start: str, end: str) -> None:
    assert postures_of(name) == (start, end)
    assert postures_of(name).has_start_and_end == bool(start and end)


def test_a_way_leads_on_only_between_two_postures() -> None:
    assert postures_of("a_sit#stand_x").is_transition
    for name in ("a_sit#sit_x", "a_any#sit_x", "a_sit#any_x", "a_KickB"):
        assert not postures_of(name).is_transition


def test_names_that_say_nothing_is_played_are_told() -> None:
    assert is_null("a_sit#sit_null")
    assert not is_null("a_sit#sit_nullx")
    assert follows_grammar("a_sit#any_x")
    assert not follows_grammar("a_KickB")


@pytest.mark.parametrize("name", ["", "a" * 32, "two words", "tab\tbed", "a\nb", "\u014d", "a\x7f"])
def test_a_name_the_robot_could_not_read_is_refused(name: str) -> None:
    with pytest.raises(FormatError):
        require_valid_name(name)


def test_a_name_of_31_letters_is_let_be() -> None:
    require_valid_name("a_stand#stand_" + "x" * 17)


def test_a_design_list_tells_where_each_model_finds_its_archives() -> None:
    text = b"ANYTHING /MS/X\n# robots\n[ERS-7]\n\nMONET_MOTION /MS/A.ODA\r\n"
    text += b"[ ERS-210 ]\nMONET_MOTION\t/MS/B.ODA\nwhat"
    db = read_designdb(text)
    assert db.models == ("ERS-7", "ERS-210")
    found = {model: db.archive(model, MOTIONS) for model in db.models}
    assert {model: entry and (entry.path, entry.line.number) for model, entry in found.items()} == {
        "ERS-7": ("/MS/A.ODA", 5),
        "ERS-210": ("/MS/B.ODA", 7),
    }
    anything = db.archive("ERS-7", "ANYTHING")
    assert anything is not None
    assert anything.path == "/MS/X"
    assert [line.number for line in db.invalid_lines] == [8]


def test_the_design_list_of_a_stick_that_was_sold_is_refused_with_the_reason() -> None:
    with pytest.raises(FormatError, match="encrypted"):
        read_designdb(bytes(range(256)) * 3)


def test_the_robot_counts_lines_and_takes_what_follows_for_heads() -> None:
    text = read_commands(b"# x\n5 2 0\na b -1\n# y\na c -1\n6 3 0\na d -1\n7 1 0\na e -1\na f -1\n")
    assert text.head_line_numbers == (2, 6, 10)
    assert read_commands(LISTED).head_line_numbers == (3, 5)
