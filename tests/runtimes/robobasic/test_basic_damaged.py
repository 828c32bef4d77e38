"""Whatever is done to a program, it is read, checked and formatted at once, or refused in our own words.

100,000 damages take some minutes:
`POSEWRIGHT_BASIC=100000 pytest tests/runtimes/robobasic/test_basic_damaged.py`.
"""

from __future__ import annotations

import os
import random

import pytest
from tests.work import Calls

from posewright.errors import PosewrightError
from posewright.robots import robot
from posewright.runtimes.robobasic import compile_source, read_source
from posewright.runtimes.robobasic.formatter import format_source
from posewright.runtimes.robobasic.linter import lint
from posewright.runtimes.robobasic.syntax import MAX_NESTING

from .written import damaged

DAMAGES = int(os.environ.get("POSEWRIGHT_BASIC", "2000"))
CARD = robot("hitec_robonova1")
SITS = """' Ours: sits down when key 2 comes, and up again.
DIM A AS BYTE
DIM N AS INTEGER
CONST MANY = &H0A
GOTO AUTO
FILL 255, 10000
PTP SETON
PTP ALLON
DIR G6A, 1, 0, 0, 1, 0, 0
DIR G6D, 0, 1, 1, 0, 1, 0
GETMOTORSET G24, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0
SPEED 5
MOTOR G24
main:
\tA = REMOCON(1)
\tA = A - &B1 + MANY MOD 3
\tON A GOTO main, K1, K2
\tIF A > 3 AND AD(5) < 20 THEN GOTO main ELSE GOSUB stand
\tGOTO main
K1:
\tGOSUB stand
\tGOTO main
K2:\tFOR N = 1 TO 3
\t\tMOVE G6A, 100, 151, 23, 140, 101
\t\tMOVE G6D, 100, 151, 23, 140, 101 ' so
\t\tMOVE G6B, 100, 30, 80, , , ,
\t\tWAIT
\tNEXT N
\tGOTO main
stand:
\tMOVE24 100, 76, 145, 93, 100, , 100, 30, 80
\tWAIT
\tDELAY 100
\tMOVEPOS low
\tRETURN
low: POS G6A, 100, 76
"""
STEPS = """DIM 왼쪽 AS BYTE
DIM I AS BYTE
TEMPO 230
MUSIC "CDE'F" ' 소리
한걸음:
\tIF 왼쪽.0 = 1 THEN
\t\tHIGHSPEED SETON
\t\tSPEED 12
\t\tMOVE G6B, 185, 40, 90
\tELSEIF 왼쪽 = 4 THEN
\t\tERX 4800, I, 한걸음
\t\tETX 4800, I
\tELSE
\t\tPRINT "at ", FORMAT(I, DEC, 3)
\t\tGYROSET G6A, 1, 1, , , 0
\tENDIF
\tROMPOKE 3, 왼쪽
\t왼쪽 = ROMPEEK(3) << 1
\tOUT 3, 1 REM no comment
\tGOTO 한걸음
"""
CALLS_A_BYTE = 250
"""The most that a text that fills the board may ask for."""
"""Half of it on a machine that does nothing else."""

BOARD = 64_000
"""The board's memory has 64 KB."""


def filled(make: str, size: int = BOARD) -> str:
    """Return a text as long as the board's memory, each line with a number of its own."""
    lines = [make.replace("#", str(n)) for n in range(size // (len(make) + 4))]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        " " * BOARD,
        "(" * BOARD,
        '"' * BOARD,
        filled("l#:", BOARD // 2) + "\n" + filled("GOTO no#", BOARD // 2),
        filled("word#"),
        filled("A = FUN#(1)"),
        filled("V#:\nMOVEPOS v#"),
        filled("n" * 60 + "#:\nGOTO " + "n" * 60),
    ],
    ids=["blanks", "brackets", "quotes", "labels", "statements", "functions", "poses", "long names"],
)
def test_a_text_that_fills_the_board_is_read_and_checked_with_work_in_step_with_its_size(text: str) -> None:
    read_source("A = 1")  # the grammar itself is read once
    with Calls() as calls:
        source = read_source(text)
        compile_source(source)
        lint(source, CARD)
        format_source(source)
    assert calls.count < CALLS_A_BYTE * BOARD


def test_how_deep_a_line_nests_is_no_matter_of_luck() -> None:
    fits, beyond = MAX_NESTING, MAX_NESTING + 1
    assert not read_source("A = " + "AD(" * fits + "1" + ")" * fits).lines[0].problem
    assert read_source("A = " + "AD(" * beyond + "1" + ")" * beyond).lines[0].problem
    assert not read_source("IF A THEN " * fits + "A = 1").lines[0].problem
    assert read_source("IF A THEN " * beyond + "A = 1").lines[0].problem


def test_a_text_from_an_old_macintosh_keeps_its_line_ends() -> None:
    assert read_source("A = 1\rB = 2\r").newline == "\r"
    assert read_source("A = 1\r\nB = 2\n").newline == "\r\n"


def test_what_is_damaged_is_checked_and_formatted() -> None:
    rng, refused, unread = random.Random("basic"), 0, 0  # noqa: S311 -- nothing secret
    for _ in range(DAMAGES):
        bent = damaged(rng, rng.choice((SITS, STEPS)))
        data = bent.encode(rng.choice(("utf-8", "cp949")), "replace")
        if rng.random() < 0.3:
            data = bytes(rng.randrange(256) if rng.random() < 0.01 else one for one in data)
        try:
            source = read_source(data)
        except PosewrightError:
            refused += 1
            continue
        found = lint(source, CARD)
        laid_out = format_source(source)
        assert format_source(read_source(laid_out)) == laid_out
        unread += any(one.rule == "syntax" for one in found)
        assert all(1 <= one.line <= len(source.lines) and one.column >= 1 for one in found)
    assert 0 < refused < unread < DAMAGES
