"""Whatever is done to a program, it is read, checked and formatted at once, or refused in our own words."""

from __future__ import annotations

import time

import pytest

from posewright.runtimes.robobasic import compile_source, read_source
from posewright.runtimes.robobasic.syntax import MOST_NESTED

SLOWEST_S = 1.0
BOARD = 64_000
"""The board's memory has 64 KB."""


def filled(make: str) -> str:
    """Return a text as long as the board's memory, each line with a number of its own."""
    lines = [make.replace("#", str(n)) for n in range(BOARD // (len(make) + 4))]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        " " * BOARD,
        "(" * BOARD,
        '"' * BOARD,
        filled("l#:") + "\n" + filled("GOTO no#"),
        filled("word#"),
        filled("A = FUN#(1)"),
        filled("V#:\nMOVEPOS v#"),
        filled("n" * 60 + "#:\nGOTO " + "n" * 60),
    ],
    ids=["blanks", "brackets", "quotes", "labels", "statements", "functions", "poses", "long names"],
)
def test_a_text_that_fills_the_board_is_read_at_once(text: str) -> None:
    read_source("A = 1")  # the grammar itself is read once
    began = time.process_time()
    compile_source(read_source(text))
    assert time.process_time() - began < SLOWEST_S


def test_how_deep_a_line_nests_is_no_matter_of_luck() -> None:
    fits, beyond = MOST_NESTED, MOST_NESTED + 1
    assert not read_source("A = " + "AD(" * fits + "1" + ")" * fits).lines[0].problem
    assert read_source("A = " + "AD(" * beyond + "1" + ")" * beyond).lines[0].problem
    assert not read_source("IF A THEN " * fits + "A = 1").lines[0].problem
    assert read_source("IF A THEN " * beyond + "A = 1").lines[0].problem


def test_a_text_from_an_old_macintosh_keeps_its_line_ends() -> None:
    assert read_source("A = 1\rB = 2\r").newline == "\r"
    assert read_source("A = 1\r\nB = 2\n").newline == "\r\n"
