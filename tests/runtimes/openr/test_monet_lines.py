"""Checks of MONET text: each line that would crash the robot's parser or be taken for another is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.runtimes.openr.stick.check import PostureGraph, check_graph
from posewright.runtimes.openr.stick.command_checks import check_commands, check_transitions, free_id
from posewright.runtimes.openr.stick.finding import MonetFinding
from posewright.runtimes.openr.stick.text import read_commands, read_transitions

GOOD = b"# kicks\n60 1 0\nmonetagentMTN a_stand#stand_kick -1\n"
WAYS = b"""monetagentNEUTRAL a_nt#sleep_standard 0
monetagentMTN a_sleep#stand_standard -1
monetagentMTN a_stand#sleep_standard -1
monetagentMTN a_stand#sit_standard -1
monetagentMTN a_sit#stand_standard -1
"""


def commands(data: bytes, *, is_older_monet: bool = False) -> list[MonetFinding]:
    return list(check_commands(read_commands(data), is_older_monet=is_older_monet))


def ways(data: bytes, *, is_older_monet: bool = False) -> list[MonetFinding]:
    return list(check_transitions(read_transitions(data), is_older_monet=is_older_monet))


def graph(data: bytes, listed: bytes = b"", *, is_older_monet: bool = False) -> list[MonetFinding]:
    return list(check_graph(read_transitions(data), read_commands(listed), is_older_monet=is_older_monet))


def summarize(findings: list[MonetFinding]) -> list[tuple[str, str, int | None]]:
    return [(finding.level.value, finding.rule, finding.line) for finding in findings]


def test_nothing_is_found_in_good_files(samples: Callable[[str], Path]) -> None:
    assert commands(GOOD) == commands(GOOD.replace(b"\n", b"\r\n")) == commands(b"") == []
    assert ways(WAYS) == []
    assert graph(WAYS, GOOD) == []
    listed = samples("aibo_monet/ERS7_MONETCMD.CFG").read_bytes()
    between = samples("aibo_monet/ERS7_MONET.CFG").read_bytes()
    assert commands(listed) == ways(between) == graph(between, listed) == []


def test_what_is_no_number_is_told_in_plain_words() -> None:
    (finding,) = commands(GOOD.replace(b"60", b"seventy"))
    assert finding.message == "'seventy' is not a whole number"
    assert finding.hint == "write digits only; MoNet reads those at the beginning, and 0 where there are none"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\n" + GOOD, ("error", "blank", 1)),
        (GOOD + b" \t\r\n", ("error", "blank", 4)),
        (b" # kick\n" + GOOD, ("error", "comment", 1)),
        (b"#" * 255 + b"\n" + GOOD, ("error", "length", 1)),
        (b"# \0\n" + GOOD, ("error", "length", 1)),
        (GOOD.replace(b" -1", b""), ("error", "words", 3)),
        (GOOD.replace(b" 1 0", b" 1"), ("error", "words", 2)),
        (GOOD.replace(b" -1", b" -1 # mine"), ("warning", "words", 3)),
        (GOOD.replace(b" -1", b" minus"), ("error", "number", 3)),
        (GOOD.replace(b" -1", b" -2"), ("warning", "index", 3)),
        (GOOD.replace(b"60", b"6O"), ("error", "number", 2)),
        (GOOD.replace(b"60", b"60000000"), ("error", "number", 2)),
        (GOOD.replace(b" -1\n", b" 123456\r\n"), ("error", "number", 3)),
        (GOOD.replace(b" 1 0", b" 1 2"), ("warning", "number", 2)),
        (GOOD.replace(b"60", b"-1"), ("error", "id", 2)),
        (GOOD + GOOD, ("error", "id", 5)),
        (GOOD.replace(b" 1 0", b" 2 0"), ("error", "count", 2)),
        (GOOD.replace(b" 1 0", b" 2 0") + GOOD.replace(b"60", b"61"), ("error", "count", 2)),
        (GOOD.replace(b" 1 0", b" 0 0"), ("error", "count", 2)),
        (GOOD.replace(b" 1 0", b" -1 0"), ("error", "count", 2)),
        (GOOD + b"monetagentSOUND bark -1\n", ("error", "count", 4)),
        (b"monetagentSOUND bark -1\n" + GOOD, ("error", "count", 1)),
        (GOOD.replace(b"agentMTN", b"agentMTM"), ("error", "agent", 3)),
        (GOOD.replace(b"monetagentMTN", b"m" * 32), ("error", "name", 3)),
        (GOOD.replace(b"kick", b"k" * 18), ("error", "name", 3)),
        (GOOD.replace(b"a_stand#stand_kick", b"a_KickB"), ("warning", "posture", 3)),
        (GOOD.replace(b"#stand", b"#lying"), ("warning", "posture", 3)),
        (GOOD.replace(b"MTN", b"NEUTRAL").replace(b"-1", b"4"), ("error", "index", 3)),
    ],
)
def test_a_line_that_harms_is_found_where_it_stands(data: bytes, expected: tuple[str, str, int]) -> None:
    assert expected in summarize(commands(data))


def test_three_agent_lines_are_more_than_the_robot_keeps() -> None:
    lines = b"monetagentSOUND bark -1\nmonetagentSOUND howl -1\n"
    assert summarize(commands(GOOD.replace(b" 1 0", b" 3 0") + lines)) == [("error", "count", 2)]


def test_a_second_motion_in_one_command_is_refused_as_busy() -> None:
    data = GOOD.replace(b" 1 0", b" 2 0") + b"monetagentMTNWALK a_stand#stand_x -1\n"
    assert summarize(commands(data)) == [("warning", "count", 4)]


def test_what_would_be_right_is_said() -> None:
    (typo,) = commands(GOOD.replace(b"agentMTN ", b"agentMTM "))
    assert typo.hint == "did you mean monetagentMTN?"
    (twice,) = commands(GOOD + GOOD)
    assert twice.hint == "a free id is 61"
    assert str(twice) == "error: id 60 is already used on line 2: MoNet uses the last (a free id is 61)"
    assert free_id(read_commands(b"")) == 0


def test_in_the_list_of_ways_a_name_without_postures_is_an_error() -> None:
    assert summarize(ways(b"monetagentMTN a_KickB -1\n")) == [("error", "posture", 1)]
    assert summarize(ways(b"60 1 0\n")) == [("error", "count", 1)]


def test_an_older_robot_knows_postures_and_agents_of_its_own() -> None:
    data = GOOD.replace(b"#stand", b"#lying") + b"61 1 0\nmonetagentANY a_any#any_x 0\n"
    assert commands(data, is_older_monet=True) == []
    assert {finding.rule for finding in commands(data)} == {"posture", "agent"}


def test_a_robot_that_cannot_leave_its_first_posture_is_found() -> None:
    without = WAYS[WAYS.index(b"\n") + 1 :]
    assert summarize(graph(without, GOOD)) == [("error", "graph", None)]


def test_commands_whose_posture_cannot_be_reached_are_found() -> None:
    walk = b"10 1 0\nmonetagentMTNWALK a_walk#walk_x -1\n11 1 0\nmonetagentMTNWALK a_walk#stand_x -1\n"
    (lost,) = graph(WAYS, walk)
    assert (lost.level.value, lost.rule, lost.line) == ("error", "graph", 1)
    assert "walk" in lost.message
    assert "10 and 11" in lost.message
    assert graph(WAYS, walk + b"12 1 0\nmonetagentMTN a_stand#walk_x -1\n") == []


def test_a_way_that_is_never_taken_is_found() -> None:
    assert summarize(graph(WAYS + b"monetagentMTN a_walk#sit_x -1\n")) == [("warning", "graph", 6)]


def test_a_posture_that_cannot_be_left_is_found() -> None:
    assert summarize(graph(WAYS.replace(b"monetagentMTN a_sit#stand_standard -1\n", b""))) == [
        ("warning", "graph", 4)
    ]


def test_a_posture_that_cannot_be_had_again_is_found() -> None:
    data = WAYS.replace(b"monetagentMTN a_stand#sleep_standard -1\n", b"")
    (gone,) = graph(data, GOOD.replace(b"a_stand#stand", b"a_sleep#sleep"))
    assert (gone.level.value, gone.line) == ("warning", 2)
    assert "no transition leads from stand and sit to sleep" in gone.message


def test_a_way_to_any_posture_leads_to_none() -> None:
    """MoNet keeps it as a way into `any`, from where none goes on, and stays in the posture it was in."""
    into_any = b"monetagentMTN a_walk#any_x -1\nmonetagentMTN a_stand#any_x -1\n"
    assert summarize(graph(WAYS + into_any)) == [("warning", "graph", 6), ("warning", "graph", 7)]
    walk = b"10 1 0\nmonetagentMTN a_walk#walk_x -1\n"
    assert ("error", "graph", 1) in summarize(graph(WAYS + into_any, walk))
    only = b"monetagentNEUTRAL a_nt#any_standard 0\n"
    assert summarize(graph(only)) == [("error", "graph", None)]


def test_a_command_that_ends_in_any_changes_no_posture() -> None:
    listed = b"10 1 0\nmonetagentMTN a_stand#any_x -1\n"
    assert graph(WAYS, listed) == []
    asked = PostureGraph.of(read_transitions(WAYS), read_commands(listed), is_older_monet=False)
    assert "any" not in asked.reachable_postures
    assert all("any" not in ends for ends in asked.end_postures.values())


def test_a_command_played_in_any_posture_brings_the_robot_into_the_one_it_ends_in() -> None:
    walk = b"10 1 0\nmonetagentMTN a_walk#stand_x -1\n"
    assert summarize(graph(WAYS, walk)) == [("error", "graph", 1)]
    anywhere = b"11 1 0\nmonetagentMTN a_any#walk_x -1\n"
    assert {finding.level.value for finding in graph(WAYS, walk + anywhere)} <= {"warning"}
    without = WAYS[WAYS.index(b"\n") + 1 :]
    assert ("error", "graph", None) not in summarize(graph(without, GOOD + anywhere))


def test_a_sound_needs_no_posture() -> None:
    assert graph(WAYS, b"5 1 0\nmonetagentSOUND bark -1\n") == []


@given(st.binary(max_size=200))
def test_any_bytes_are_checked_without_a_fault(data: bytes) -> None:
    assert isinstance(commands(data) + ways(data) + graph(data, data, is_older_monet=True), list)


lines = st.lists(
    st.sampled_from(
        [b"# x", b"", b"60 1 0", b"61 2 1", b"monetagentMTN a_stand#sit_x -1", b"monetagentSOUND s 2", b"7 1"]
    ),
    max_size=12,
)


@given(lines)
def test_every_finding_names_a_line_that_is_there(given_lines: list[bytes]) -> None:
    text = read_commands(b"\n".join(given_lines))
    for finding in check_commands(text, is_older_monet=False):
        assert finding.line in range(1, len(text.lines) + 1)
        assert finding.message


def test_many_postures_take_no_long_time() -> None:
    many = b"".join(b"monetagentMTN a_p%d#p%d_x -1\n" % (number, number + 1) for number in range(2000))
    first = b"monetagentMTN a_nt#p0_x -1\n"
    (finding,) = graph(first + many, is_older_monet=True)
    assert "not checked" in finding.message
