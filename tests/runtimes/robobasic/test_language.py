"""The language of the C3024, as the manual has it: what programs mean, and how mistakes are told."""

from __future__ import annotations

import operator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import FormatError
from posewright.runtimes.robobasic import (
    Severity,
    compile_or_raise,
    compile_source,
    open_program,
    read_source,
)
from posewright.runtimes.robobasic.board import BasicProgramError
from posewright.runtimes.robobasic.machine import StopReason
from posewright.runtimes.robobasic.servos import board_parameters

from .programs import SetPorts, found, run, value

WORD = 0xFFFF
SIGNS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
    "%": operator.mod,
    "MOD": operator.mod,
}


def test_there_is_no_precedence_so_one_and_two_times_three_is_nine() -> None:
    assert value("1+2*3") == 9
    assert value("2 * 3 + 4 * 5") == 50
    assert value("10 - 2 - 3") == 5


@given(
    st.lists(st.tuples(st.sampled_from(sorted(SIGNS)), st.integers(1, 300)), max_size=6), st.integers(0, 300)
)
def test_arithmetic_goes_from_left_to_right_in_sixteen_bits(rest: list[tuple[str, int]], first: int) -> None:
    expected, text = first, str(first)
    for sign, number in rest:
        expected = SIGNS[sign](expected, number) & WORD
        text += f" {sign} {number}"
    assert value(text) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("&HFF", 255),
        ("&h1f", 31),
        ("&B101", 5),
        ("&O17", 15),
        ("12 AND 10", 8),
        ("12 OR 3", 15),
        ("12 XOR 10", 6),
        ("6 AND 3 + 1", 4),  # arithmetic before logic: 6 AND 4
        ("1 << 9", 512),
        ("512 >> 3", 64),
        ("7 MOD 4", 3),
        ("7 % 4", 3),
    ],
)
def test_numbers_and_operators_are_those_of_the_manual(expression: str, expected: int) -> None:
    assert value(expression) == expected


def test_numbers_have_no_sign_and_go_round() -> None:
    assert value("0 - 1") == 65535
    assert value("250 + 10", "BYTE") == 4
    assert value("200 * 200") == 40000
    assert value("60000 + 10000") == 4464


def test_bits_of_a_variable_are_read_and_set() -> None:
    done = run("DIM A AS BYTE\nDIM B AS BYTE\nA = &B0100\nB = A.2\nA.7 = 1\nA.2 = 0\n")
    assert (done.variables["A"], done.variables["B"]) == (128, 1)
    assert found("DIM A AS BYTE\nA.8 = 1") == {"bit": 2}


def test_names_are_the_same_in_capitals_and_not() -> None:
    done = run("dim Count as byte\nCOUNT = 3\ngoto There\ncount = 9\nTHERE: count = CoUnT + 1\n")
    assert done.variables["Count"] == 4


def test_constants_and_bases_are_known_before_the_program_runs() -> None:
    assert run("CONST A = &H10\nCONST B = A * 2 + 1\nDIM C AS BYTE\nC = B").variables["C"] == 33


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("1 + 1 = 2", True),
        ("1 < 2 AND 2 < 1", False),
        ("1 > 2 OR 3 <> 4", True),
        ("5 <= 5", True),
        ("5 =< 4", False),
        ("5 >= 6 XOR 1 = 1", True),
        ("0", False),
    ],
)
def test_comparisons_come_after_arithmetic_and_before_logic(condition: str, *, holds: bool) -> None:
    text = f"DIM X AS BYTE\nIF {condition} THEN X = 1 ELSE X = 2\n"
    assert run(text).variables["X"] == (1 if holds else 2)


@pytest.mark.parametrize(("given_value", "expected"), [(1, 10), (2, 20), (3, 30), (4, 40)])
def test_a_block_of_if_takes_the_first_branch_that_holds(given_value: int, expected: int) -> None:
    text = f"""DIM A AS BYTE
    A = {given_value}
    IF A = 1 THEN
        A = 10
    ELSEIF A = 2 THEN
        A = 20
    ELSEIF A = 3 THEN
        A = 30
    ELSE
        A = 40
    ENDIF
    """
    assert run(text).variables["A"] == expected


@given(st.integers(0, 255), st.integers(0, 255))
def test_for_counts_up_to_its_last_value_and_at_least_once(first: int, last: int) -> None:
    done = run(f"DIM I AS BYTE\nDIM N AS INTEGER\nFOR I = {first} TO {last}\nN = N + 1\nNEXT I\n", 1.0)
    assert done.stop_reason is StopReason.LAST_LINE
    assert done.variables["N"] == max(1, last - first + 1)


def test_on_goes_to_the_label_of_its_number_and_else_goes_on() -> None:
    text = "DIM A AS BYTE\nA = {}\nON A GOTO zero,one\nA = 77\nEND\nzero: A = 10\nEND\none: A = 11\nEND\n"
    assert [run(text.format(n)).variables["A"] for n in (0, 1, 2, 255)] == [10, 11, 77, 77]


def test_on_takes_thirty_three_labels_on_one_line() -> None:
    labels = [f"k{n}" for n in range(33)]
    lines = "".join(f"{label}: A = {n + 100}\nEND\n" for n, label in enumerate(labels))
    assert run(f"DIM A AS BYTE\nA = 32\nON A GOTO {','.join(labels)}\n{lines}").variables["A"] == 132


def test_routines_return_behind_their_call() -> None:
    done = run("DIM A AS BYTE\nGOSUB twice\nGOSUB twice\nEND\ntwice: GOSUB once\nonce: A = A + 1\nRETURN\n")
    assert done.variables["A"] == 4
    assert done.stop_reason is StopReason.END


def test_a_routine_that_calls_itself_for_ever_is_told_with_its_line() -> None:
    done = run("main:\nGOSUB main\n")
    assert done.error is not None
    assert done.error.where is not None
    assert done.error.where.line == 2


def test_a_division_by_nothing_is_told_with_its_line() -> None:
    done = run("DIM A AS BYTE\nDIM B AS BYTE\n\nA = 7 / B\n")
    assert str(done.error) == "program.bas:4: a division by 0 (check with IF first)"


def test_the_first_lines_of_templates_are_no_mistake() -> None:
    done = run(
        "GOTO AUTO\nFILL 255,10000\n\nDIM RR AS BYTE\nIF RR > 50 AND RR < 83 THEN GOTO x\nRR = 7\nx:\n"
    )
    assert done.variables["RR"] == 7


def test_comments_are_no_part_of_a_statement_but_a_text_is() -> None:
    source = read_source("A = 1 ' one\nPRINT \"it's\" ' two\nREM three\nx: ' four\n")
    assert [line.comment for line in source.lines] == ["' one", "' two", "REM three", "' four"]
    done = run('DIM A AS BYTE\nPRINT "it\'s"\n')
    assert done.board.events[-1]["text"] == "it's"


KOREAN = "'기본자세\nGOSUB 기본자세\nEND\n기본자세:\nRETURN\n"


def test_korean_programs_are_read_as_they_were_saved(tmp_path: Path) -> None:
    for encoding in ("cp949", "utf-8", "utf-8-sig"):
        file = tmp_path / f"{encoding}.bas"
        file.write_bytes(KOREAN.replace("\n", "\r\n").encode(encoding))
        program = open_program(file)
        assert "기본자세" in program.labels
        assert program.source.newline == "\r\n"
        assert program.source.encoding == encoding.removesuffix("-sig")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("\nGOTO nowhere\nend_: END", 2, "there is no label nowhere"),
        ("MVOE G6A, 100", 1, "did you mean MOVE?"),
        ("MOVE G6A, 100, 200", 1, "200 is out of range for servo 1 (10..190)"),
        ("MOVE G6A, 9", 1, "9 is out of range for servo 0 (10..190)"),
        ("MOVE G6Z, 100", 1, "group"),
        ("MOVE G6A, 1" + "00, 100" * 6 + ", 100", 1, "servos"),
        ("A = 1 + -1", 1, "there are no negative numbers"),
        ("A = (1 + 2)", 1, "no brackets"),
        ("A = 1.5", 1, "no fractions"),
        ("FOR A = 1 TO 2", 1, "no NEXT"),
        ("NEXT A", 1, "NEXT without FOR"),
        ("ENDIF", 1, "ENDIF without IF"),
        ("x:\nx:", 2, "already on line 1"),
        ("DIM A AS FLOAT", 1, "BYTE"),
        ("A = AD(9)", 1, "0..7"),
        ("A = FOO(1)", 1, "no function FOO"),
        ("SERVO 1", 1, "SERVO number, counts"),
        ("MUSIC 5", 1, "MUSIC"),
        ('PRINT "half', 1, "a text ends"),
        ("ZERO G6A, 70", 1, "80..120"),
        ("SERVO 3, 5", 1, "10..190"),
        ("SERVO 40, 100", 1, "0..31"),
        ("MOTOR 50", 1, "no servo 50"),
        ("DIM A AS BYTE\nA = A.999999999", 2, "no bit"),
        ("MOVEPOS nowhere", 1, "POS"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_would_be_right(text: str, line: int, words: str) -> None:
    with pytest.raises(BasicProgramError) as caught:
        compile_or_raise(read_source(text))
    told = next(one for one in caught.value.errors if words in str(one))
    assert told.where is not None
    assert told.where.line == line


def test_all_mistakes_are_told_at_once() -> None:
    with pytest.raises(BasicProgramError) as caught:
        compile_or_raise(read_source("GOTO a\nA = (1)\nMOVE G6A, 5\n"))
    assert [one.where.line for one in caught.value.errors if one.where] == [1, 2, 3]


def test_a_variable_without_dim_runs_and_is_warned_of() -> None:
    odd = compile_source(read_source("A = 1\nB = A\n")).findings
    assert [(one.rule, one.line, one.severity) for one in odd] == [
        ("undeclared", 1, Severity.WARNING),
        ("undeclared", 2, Severity.WARNING),
    ]


def test_what_is_no_text_is_refused() -> None:
    for data in (b"MOVE\0", b"A" * 1_000_001):
        with pytest.raises(FormatError):
            read_source(data)


def test_ports_lines_and_memory_are_read_and_written() -> None:
    ports = SetPorts({("AD", 3): 200, ("IN", 5): 1, ("REMOCON", 1): 7, ("SONAR", 2): 300}, line=[65, 66])
    done = run(
        """DIM A AS BYTE
        DIM B AS BYTE
        DIM C AS BYTE
        DIM D AS INTEGER
        DIM E AS BYTE
        A = AD(3)
        B = IN(5)
        C = REMOCON(1)
        D = SONAR(2)
        ERX 4800, E, none
        ETX 9600, E
        ROMPOKE 3, 99
        E = ROMPEEK(3)
        OUT 52, 1
        none:
        """,
        inputs=ports,
    )
    kept = {"A": 200, "B": 1, "C": 7, "D": 300, "E": 99}
    assert {name: done.variables[name] for name in kept} == kept
    assert [event["byte"] for event in done.board.events if event["what"] == "sent"] == [65]
    assert done.board.outputs == {52: 1}


def test_pins_are_set_one_by_one_and_eight_at_a_time() -> None:
    done = run("OUT 3, 1\nBYTEOUT 1, 130\nTOGGLE 3\nTOGGLE 4\nPULSE 5\nBYTEOUT 1, 130\n")
    set_ = {pin for pin, level in done.board.outputs.items() if level}
    assert set_ == {4, 9, 15}
    told = [
        (event["what"], event.get("port"), event.get("value"))
        for event in done.board.events
        if "port" in event
    ]
    assert told == [("out", 3, 1), ("byteout", 1, 130), ("out", 3, 0), ("out", 4, 1)]


@pytest.mark.parametrize("line", ["OUT 64, 1", "BYTEOUT 8, 1", "TOGGLE 64"])
def test_a_pin_or_port_that_is_not_there_is_an_error(line: str) -> None:
    assert found(f"{line}\nEND\n") == {"port": 1}


def test_what_a_line_beep_or_note_takes_is_time_of_the_program() -> None:
    assert run("ETX 1000, 65\n").clock_us == pytest.approx(10_000, abs=500)
    assert run("BEEP\n").clock_us == pytest.approx(1000 * board_parameters().beep_ms, abs=500)
    assert run('TEMPO 60\nMUSIC "O3C#M<N"\n').clock_us == pytest.approx(3_000_000, abs=1000)


@pytest.mark.parametrize("rate", ["4800", "115200"])
def test_a_rate_of_the_line_may_be_beyond_sixteen_bits_and_its_label_a_number(rate: str) -> None:
    text = f"DIM A AS BYTE\nERX {rate}, A, 100\nETX {rate}, A\nEND\n100:\nA = 7\nEND\n"
    assert found(text) == {}
    assert run(text).variables["A"] == 7
    done = run(text, inputs=SetPorts(line=[9]))
    assert [event["byte"] for event in done.board.events if event["what"] == "sent"] == [9]


@pytest.mark.parametrize("wrong", ["PRINT FORMAT(A, FOO, 3)", "PRINT FORMAT(A)", "CONST B = 70000"])
def test_what_nobody_can_have_meant_is_told(wrong: str) -> None:
    rule = "arguments" if wrong.startswith("PRINT") else "number"
    assert found(f"DIM A AS BYTE\n{wrong}\nEND\n") == {rule: 2}


def test_one_surplus_empty_field_is_common_and_more_are_an_error() -> None:
    assert found("MOVE G6A, 100, , , , , ,\nEND\n") == {}
    assert found("MOVE G6A, 100, , , , , , ,\nEND\n") == {"fields": 1}


def test_a_no_break_space_in_a_name_of_a_wrong_encoding_is_part_of_it() -> None:
    name = "\u00b1\u201a\u00bf\u2044 \u00ba\u00ba".replace(" ", "\u00a0")
    done = run(f"DIM A AS BYTE\nGOSUB\u00a0{name}\nEND\n{name}:\nA =\u00a07\nRETURN\n")
    assert done.variables["A"] == 7


def test_erx_goes_to_its_label_while_nothing_comes() -> None:
    done = run("DIM A AS BYTE\nagain:\nA = A + 1\nERX 4800, A, again\n", 0.1)
    assert done.stop_reason is None


def test_display_and_sound_are_told_and_take_their_time() -> None:
    done = run(
        'DIM V AS BYTE\nV = 7\nPRINT &HFE, &H01\nPRINT "V=", FORMAT(V, DEC, 3)\nTEMPO 60\nMUSIC "CDE"\n'
    )
    assert [event["text"] for event in done.board.events if event["what"] == "print"] == ["<FE><01>", "V=007"]
    assert done.clock_us == pytest.approx(3_000_000, abs=3000)


def test_delay_is_in_milliseconds() -> None:
    assert run("DELAY 250\n").clock_us == pytest.approx(250_000, abs=1000)


def test_a_text_of_one_sign_is_its_code() -> None:
    assert value('"a"') == 97
    assert found('DIM A AS BYTE\nA = "ab"\n') == {"expression": 2}


def test_rnd_draws_the_same_numbers_from_the_same_seed() -> None:
    declared = "DIM A AS BYTE\nDIM B AS INTEGER\n"
    text = f"{declared}FOR A = 1 TO 100\nB = RND\nIF B > 255 THEN END\nROMPOKE A, B\nNEXT A\n"
    drawn = [run(text).board.eeprom for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0].values())) > 50


@pytest.mark.parametrize(("a", "passed"), [(1, 7), (2, 7), (3, 7)])
def test_an_if_that_nothing_closes_ends_before_the_next_label(a: int, passed: int) -> None:
    text = f"""DIM A AS BYTE
    DIM B AS BYTE
    A = {a}
    GOSUB ask
    B = B + {passed}
    END
    ask:
    IF A = 1 THEN
    IF A = 1 THEN
    B = 0
    ENDIF
    ELSEIF A = 2 THEN
    B = 0
    other:
    RETURN
    """
    done = run(text)
    assert (done.stop_reason, done.variables["B"]) == (StopReason.END, passed)
    assert found(text) == {"open-block": 8}


START_UP = """DIM A AS BYTE
DIM B AS BYTE
IF A = 1 THEN
{0}GOSUB wave
ELSEIF A = 2 THEN
{0}GOSUB wave
{1}B = 7
GOSUB power
MAIN:
END
power:
MOTOR G24
RETURN
wave:
RETURN
"""
"""A chain without ENDIF before the start-up; its branches indented by {0}, and {1} after the last."""


@pytest.mark.parametrize("between", ["", "\n"], ids=["no blank line", "a blank line"])
@pytest.mark.parametrize("indentation", ["", "    ", "\t"], ids=["flush", "blanks", "a tab"])
def test_an_if_that_nothing_closes_does_not_swallow_the_start_up(indentation: str, between: str) -> None:
    text = START_UP.format(indentation, between)
    done = run(text)
    assert done.variables["B"] == 7
    assert any(event["what"] == "motor" and event["on"] for event in done.board.events)
    (finding,) = (one for one in compile_source(read_source(text)).findings if one.rule == "open-block")
    first = 7 + len(between)
    assert (finding.line, finding.severity) == (3, Severity.WARNING)
    assert f"before line {first}: lines {first} to {first + 1} run in any case" in finding.hint


def test_an_if_that_nothing_closes_ends_after_a_goto_since_nothing_below_could_be_reached() -> None:
    chain = "ask:\nA = A + 1\nIF A = 9 THEN\nGOTO over\nGOTO ask\nnever:\nA = 0\nover:\nEND\n"
    assert run(f"DIM A AS BYTE\nGOTO ask\n{chain}").variables["A"] == 9


def test_an_if_that_nothing_closes_leaves_the_main_loop_its_goto() -> None:
    text = """GOTO AUTO
    DIM A AS BYTE
    main:
    IF A = 9 THEN
    GOSUB wave
    ELSEIF A = 8 THEN
    GOSUB wave
    A = A + 1
    IF A > 20 THEN END
    GOTO main
    wave:
    RETURN
    """
    assert run(text).variables["A"] == 21


def test_an_if_that_nothing_closes_does_not_swallow_a_start_up_below_the_routines() -> None:
    text = """DIM A AS BYTE
    GOTO begin
    wave:
    RETURN
    begin:
    IF A = 9 THEN
    GOSUB wave
    ELSEIF A = 8 THEN
    GOSUB wave
    A = A + 1
    main:
    END
    """
    assert run(text).variables["A"] == 1


def test_an_if_that_nothing_closes_leaves_a_routine_its_return() -> None:
    text = """DIM A AS BYTE
    GOSUB ask
    END
    ask:
    IF A = 1 THEN
    A = 2
    A = 3
    RETURN
    other:
    A = 9
    RETURN
    """
    assert run(text).variables["A"] == 0
    (finding,) = (one for one in compile_source(read_source(text)).findings if one.rule == "open-block")
    assert "before line 8: line 8 runs in any case" in finding.hint


def test_an_if_that_nothing_closes_keeps_its_blocks_whole() -> None:
    text = """DIM A AS BYTE
DIM B AS BYTE
IF A = 1 THEN
    IF B = 0 THEN
        B = 1
    ENDIF
    FOR A = 1 TO 3
B = B + 1
    NEXT A
B = B + 5
END
"""
    assert run(text).variables["B"] == 5


def test_two_ifs_that_nothing_closes_let_the_start_up_run() -> None:
    text = "DIM A AS BYTE\nDIM B AS BYTE\nIF A = 1 THEN\nIF A = 2 THEN\nB = 1\nB = B + 7\nMAIN:\nEND\n"
    assert run(text).variables["B"] == 7


def test_the_lines_that_an_unclosed_if_may_skip_are_named() -> None:
    text = "DIM A AS BYTE\nGOSUB ask\nEND\nask:\nIF A = 1 THEN\nA = 2\nA = 3\nother:\nRETURN\n"
    (finding,) = (one for one in compile_source(read_source(text)).findings if one.rule == "open-block")
    assert "before the label other: lines 6 to 7 run only in the branch of line 5" in finding.hint


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("MOVE G6D,107  85, 137,  93,  96", 15),  # in a template that ten public contest programs copied
        ("IF 1 = 1 THEN MOVE G6D 107, 85, 137, 93, 96", 24),
        ("label: MOVE G6D,107 85 137,93,96", 21),
    ],
)
def test_a_missing_comma_between_counts_is_read_with_a_warning(line: str, column: int) -> None:
    source = read_source(f"{line}\nWAIT\nEND\n")
    (finding,) = (one for one in compile_source(source).findings if one.rule == "syntax")
    assert (finding.severity, finding.line, finding.column) == (Severity.WARNING, 1, column)
    done = run(f"{line}\nWAIT\nEND\n")
    assert done.board.servos.positions[18:23] == [107, 85, 137, 93, 96]


@pytest.mark.parametrize("line", ["A = 1 2", "DELAY 5 0 ,", "MOVE G6D,107 85,(3)"])
def test_a_gap_between_other_numbers_is_an_error(line: str) -> None:
    findings = compile_source(read_source(f"DIM A AS BYTE\n{line}\n")).findings
    assert [one.severity for one in findings if one.line == 2] == [Severity.ERROR]


def test_else_if_in_two_words_is_elseif() -> None:
    text = "DIM A AS BYTE\nIF A = 1 THEN\nA = 5\nELSE IF A = 0 THEN\nA = 6\nENDIF\n"
    assert run(text).variables["A"] == 6


def test_a_line_that_begins_with_a_comma_is_taken_for_a_comment() -> None:
    text = "DIM A AS BYTE\n, raise it\nA = 3\n"
    assert run(text).variables["A"] == 3
    assert found(text) == {"syntax": 2}


def test_names_may_be_of_whatever_signs_a_wrong_encoding_left() -> None:
    done = run("DIM ∫∏«‡ AS BYTE\n∫∏«‡ = 4\nGOTO ¡¬øÏ\n∫∏«‡ = 5\n¡¬øÏ:\n")
    assert done.variables["∫∏«‡"] == 4


def test_a_number_beyond_sixteen_bits_is_what_is_left_of_it_and_warned_of() -> None:
    assert run("DELAY 90000\n", 30.0).clock_us == pytest.approx((90000 & WORD) * 1000, abs=1000)
    found = compile_source(read_source("DELAY 90000\n")).findings
    assert [one.severity for one in found] == [Severity.WARNING]


def test_a_for_that_a_byte_never_ends_is_warned_of() -> None:
    assert found("DIM I AS BYTE\nFOR I = 1 TO 300\nNEXT I\n") == {"too-large": 2}
