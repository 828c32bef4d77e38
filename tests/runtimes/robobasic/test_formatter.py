"""The formatter: how a program is laid out, and that nothing of it is lost or means something else."""

from __future__ import annotations

import random
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.runtimes.robobasic import open_source, program_names, read_source
from posewright.runtimes.robobasic.formatter import MAX_BLANK_LINES, format_source
from posewright.runtimes.robobasic.tree import BasicSource, Number, SourceLine, Text

from .written import damaged, programs

WRITTEN = """

'  Waves.
dim Arm as byte,n AS integer' how high
CONST high=150
ptp allon
'main
Main :
  arm=AD(5)+1 ' look
\tif ARM>HIGH and n<3 then gosub WAVE else goto main ' or not


\t   '  still here

if arm = 0 then
' nothing there
for N=1 to 3
move g6b,100,30,80, , ,
MOVE G6C, , ,arm
    MOVE24 100,76,145
next n
elseif arm=1 then
wait
else
 end if
on arm goto main , wave
(what is this)
wave: erx 4800,ARM,MAIN
print "Arm 'up' "  ,format( arm,dec,3 )
return
' over
"""
FORMATTED = """'  Waves.
DIM Arm AS BYTE, n AS INTEGER  ' how high
CONST high = 150
PTP ALLON
'main
Main:
    Arm = AD(5) + 1  ' look
    IF Arm > high AND n < 3 THEN GOSUB wave ELSE GOTO Main  ' or not


    '  still here

    IF Arm = 0 THEN
        ' nothing there
        FOR n = 1 TO 3
            MOVE G6B, 100,  30,  80, , ,
            MOVE G6C,    ,    , Arm
            MOVE24 100,  76, 145
        NEXT n
    ELSEIF Arm = 1 THEN
        WAIT
    ELSE
    ENDIF
    ON Arm GOTO Main, wave
(what is this)
wave: ERX 4800, Arm, Main
    PRINT "Arm 'up' ", FORMAT(Arm, DEC, 3)
    RETURN
' over
"""


def plain(tree: Any) -> Any:
    """Return a statement with all its words in capitals, and numbers as what they are."""
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Text):
        return (tree.text,)
    if is_dataclass(tree):
        return type(tree).__name__, *(plain(getattr(tree, field.name)) for field in fields(tree))
    if isinstance(tree, tuple):
        return tuple(map(plain, tree))
    return tree.upper() if isinstance(tree, str) else tree


def meaning(line: SourceLine) -> Any:
    """Return what a line says: label, statement and comment, or all of it as it stands."""
    if line.problem and line.statement is None:
        return line.text
    return line.label.upper(), plain(line.statement), line.comment.rstrip(" \t")


def meanings(source: BasicSource) -> list[Any]:
    """Return what the lines of a program say, empty ones left out."""
    found = [meaning(line) for line in source.lines]
    return [one for one in found if one != ("", None, "")]


def agrees(text: str) -> None:
    """Check the laws of the formatter."""
    source = read_source(text)
    laid_out = format_source(source)
    again = read_source(laid_out)
    assert meanings(again) == meanings(source)
    assert format_source(again) == laid_out
    assert "\n" * (MAX_BLANK_LINES + 2) not in laid_out


def test_a_missing_comma_is_added() -> None:
    laid_out = format_source(read_source("MOVE G6D,107  85, 137,  93,  96\n"))
    assert laid_out == "MOVE G6D, 107,  85, 137,  93,  96\n"


def test_a_program_is_laid_out_as_the_house_writes_them() -> None:
    assert format_source(read_source(WRITTEN)) == FORMATTED


def test_the_house_writes_them_so() -> None:
    assert format_source(read_source(FORMATTED)) == FORMATTED


def test_comments_behind_statements_that_follow_one_another_are_aligned() -> None:
    text = (
        "A = 1'one\nWAIT\nDELAY 1000'three\n\nWAIT'alone\nMOVE G24, 100, 100, 100, 100, 100, 100, 100'wide\n"
    )
    assert format_source(read_source(text)) == (
        "A = 1       'one\nWAIT\nDELAY 1000  'three\n\nWAIT  'alone\n"
        "MOVE G24, 100, 100, 100, 100, 100, 100, 100  'wide\n"
    )


@pytest.mark.parametrize("text", ["", "\n\n\n", "\x1a", "\t \n"])
def test_nothing_is_laid_out_as_nothing(text: str) -> None:
    assert format_source(read_source(text)) == ""


def test_a_line_that_would_be_too_long_to_be_read_stays_as_it_is() -> None:
    text = "MOVE24 " + "1," * 1600 + "\n"
    assert format_source(read_source(text)) == text


def test_what_is_nested_very_deep_is_set_in_no_deeper_and_can_be_read_again() -> None:
    text = "IF 1 = 1 THEN\n" * 2000 + 'PRINT "in"\n' + "ENDIF\n" * 2000
    laid_out = format_source(read_source(text))
    assert max(len(line) - len(line.lstrip()) for line in laid_out.splitlines()) == 96
    assert format_source(read_source(laid_out)) == laid_out


def test_the_longest_on_there_is_can_be_read() -> None:
    labels = [f"label_{number}".ljust(64, "x") for number in range(33)]
    assert not read_source(f"ON A GOTO {', '.join(labels)}\n").lines[0].problem


def test_what_is_nowhere_open_is_not_set_in_when_it_ends() -> None:
    assert format_source(read_source("endif\nelse\nnext\nWAIT\n")) == "ENDIF\nELSE\nNEXT\nWAIT\n"


def test_what_nothing_closes_is_set_in_up_to_the_next_label_or_the_next_of_its_loop() -> None:
    loop = "for a=1 to 2\nif a=1 then\nbeep\nnext a\n"
    text = f"{loop}main:\nif a=1 then\nbeep\nelse if a=2 then\nwait\non:\nend\n"
    assert format_source(read_source(text)) == (
        "FOR a = 1 TO 2\n    IF a = 1 THEN\n        BEEP\nNEXT a\n"
        "main:\n    IF a = 1 THEN\n        BEEP\n    ELSEIF a = 2 THEN\n        WAIT\non:\n    END\n"
    )


def test_a_block_behind_else_is_not_lost() -> None:
    assert format_source(read_source("if a then beep else if b then\n")) == "IF a THEN BEEP ELSE IF b THEN\n"


@pytest.mark.parametrize("name", program_names())
def test_programs_that_ship_keep_the_laws(name: str) -> None:
    agrees(open_source(name).text)


@given(text=programs())
def test_what_a_program_says_stays_and_laying_it_out_again_changes_nothing(text: str) -> None:
    agrees(text)


@given(text=programs(), seed=st.integers(0, 2**32))
def test_a_damaged_program_keeps_what_it_says_too(text: str, seed: int) -> None:
    bent = damaged(random.Random(seed), text)  # noqa: S311 -- nothing secret
    agrees(bent)
