"""The linter: its findings about a program, on which line, and what it accepts."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from posewright.robots import Robot, robot
from posewright.runtimes.robobasic import (
    BasicFinding,
    Severity,
    compile_source,
    open_source,
    program_names,
    read_source,
)
from posewright.runtimes.robobasic.compiler import BasicCompiler
from posewright.runtimes.robobasic.control_flow import ControlFlow
from posewright.runtimes.robobasic.linter import lint
from posewright.runtimes.robobasic.machine import StopReason

from .programs import machine
from .written import damaged, programs

CARD = robot("hitec_robonova1")
HELD = "GETMOTORSET G24, 1\n"


def lint_text(text: str, card: Robot = CARD) -> tuple[BasicFinding, ...]:
    return lint(read_source(text), card)


def only(text: str, rule: str) -> BasicFinding:
    """Return the only finding of a rule."""
    (finding,) = [finding for finding in lint_text(text) if finding.rule == rule]
    return finding


def rules(text: str) -> set[str]:
    return {finding.rule for finding in lint_text(text)}


RIGHT = """DIM A AS BYTE
PTP ALLON
GETMOTORSET G24, 1, 1
SPEED 5
MOTOR G24
main:
    A = REMOCON(1)
    IF A = 1 THEN GOSUB wave
    GOTO main
wave:
    MOVE G6B, 100, 168, 150
    WAIT
    RETURN
"""


def test_a_program_that_is_right_gets_no_word() -> None:
    assert lint_text(RIGHT) == ()


@pytest.mark.parametrize("name", program_names())
def test_programs_that_ship_have_nothing_worse_than_moves_that_are_too_fast(name: str) -> None:
    assert {finding.rule for finding in lint(open_source(name), CARD)} <= {"too-fast"}


def test_findings_come_by_lines_and_each_once() -> None:
    finding = lint_text("GOTO nowhere\nA = \nMOVE G6A, 300\nGOTO nowhere\n")
    assert [finding.line for finding in finding] == sorted(finding.line for finding in finding)
    assert len(set(finding)) == len(finding)
    assert {finding.severity for finding in finding if finding.line < 3} == {Severity.ERROR}


# ---- names


@pytest.mark.parametrize(
    ("text", "rule", "line", "severity"),
    [
        ("DIM A AS BYTE\nIF A = 1 THEN END\nOUT 1, A\n", "never-set", 2, Severity.WARNING),
        ("DIM A AS BYTE\nWAIT\nA = 1\nA = 2\n", "never-read", 3, Severity.HINT),
        ("DIM A AS BYTE, B AS BYTE\nB = AD(1)\nOUT 1, B\n", "unused-variable", 1, Severity.HINT),
        ("DIM A AS BYTE\nA.3 = 1\n", "never-read", 2, Severity.HINT),
        ("DIM A AS BYTE\nOUT 1, AD(A)\n", "never-set", 2, Severity.WARNING),
    ],
)
def test_a_variable_is_both_set_and_read(text: str, rule: str, line: int, severity: Severity) -> None:
    finding = only(text, rule)
    assert (finding.line, finding.severity) == (line, severity)


@pytest.mark.parametrize(
    "text",
    [
        "DIM A AS BYTE\nmain:\nERX 4800, a, main\nOUT 1, A\nEND\n",
        "DIM I AS BYTE\nFOR I = 1 TO 3\nBEEP\nNEXT I\nEND\n",
        "IF RR > 50 THEN END\nOUT 1, A16\nEND\n",
        "DIM A AS BYTE\nA = 1\nPRINT FORMAT(A, DEC, 3)\nEND\n",
        "DIM A AS BYTE\nA = 1\nON A GOSUB one\nEND\none:\nRETURN\n",
        "CONST TOP = 150\nDIM A AS BYTE\nA = TOP\nOUT 1, A\nEND\n",
    ],
)
def test_what_is_set_by_a_line_a_loop_or_the_board_is_set(text: str) -> None:
    assert rules(text) == set()


# ---- where lines lead


def test_a_line_behind_a_goto_is_never_reached_without_a_label() -> None:
    finding = only("main:\nGOTO main\n\nBEEP\nWAIT\n", "never-reached")
    assert (finding.line, finding.column, finding.severity) == (4, 1, Severity.WARNING)
    assert only("main:\nGOTO main\nRETURN\n", "never-reached").severity is Severity.HINT


def test_a_routine_that_nothing_goes_to_is_told_once_at_its_label() -> None:
    finding = only(
        "END\nsit:\nIF AD(1) = 3 THEN\nBEEP\nENDIF\npart2:\nagain: BEEP\nGOTO again\n", "never-reached"
    )
    assert (finding.line, finding.severity) == (2, Severity.HINT)
    assert "sit is never reached: nothing goes there" in finding.message


def test_a_label_that_is_come_by_only_is_not_used() -> None:
    finding = only("BEEP\nhere:\nEND\n", "unused-label")
    assert (finding.line, finding.severity) == (2, Severity.HINT)


@pytest.mark.parametrize(
    "text",
    [
        "GOTO AUTO\nBEEP\nEND\n",
        "DIM A AS BYTE\nA = REMOCON(1)\nON A GOTO K0, K1\nGOTO K1\nK0:\nBEEP\nK1:\nEND\n",
        "IF AD(1) = 1 THEN\nEND\nELSEIF AD(1) = 2 THEN\nGOTO l\nELSE\nBEEP\nENDIF\nBEEP\nl:\nEND\n",
        "IF AD(1) = 1 THEN GOTO l ELSE BEEP\nBEEP\nl:\nEND\n",
        "GETMOTORSET G24, 1\nMOVEPOS p\nEND\np: POS G6A, 100\n",
        "main:\nGOTO main\nFILL 255, 10000\n",
        "GOSUB r\nEND\nr:\nBEEP\nGOTO rr\nrr:\nRETURN\n",
    ],
)
def test_what_can_be_reached_is_not_called_dead(text: str) -> None:
    assert rules(text) == set()


def test_if_with_two_ways_out_leads_nowhere_below() -> None:
    text = "IF AD(1) = 1 THEN\nEND\nELSE\nGOTO l\nENDIF\nBEEP\nl:\nEND\n"
    assert only(text, "never-reached").line == 6
    assert only("IF AD(1) THEN GOTO l ELSE END\nBEEP\nl:\nEND\n", "never-reached").line == 2


def test_nothing_is_said_of_where_lines_lead_while_one_cannot_be_read() -> None:
    assert rules("END\nBEEP\n(\n") == {"syntax"}
    assert rules("main:\nGOTO mian\n") == {"unknown-label"}


@pytest.mark.parametrize("stray", [", a comma for the sign of a comment", "-", "=====", " * * * "])
def test_a_stray_line_is_taken_for_a_comment_and_the_rest_is_looked_at(stray: str) -> None:
    text = f"{stray}\nEND\nBEEP\n"
    assert only(text, "syntax").severity is Severity.WARNING
    assert only(text, "never-reached").line == 3


@pytest.mark.parametrize("line", ["A = A / 0", "A = 3 MOD NONE", "ETX 0, A"])
def test_what_divides_by_nothing_is_an_error_before_it_runs(line: str) -> None:
    finding = lint_text(f"DIM A AS BYTE\nCONST NONE = 0\nA = 1\n{line}\nEND\n")
    assert [
        (finding.line, finding.severity) for finding in finding if finding.severity is Severity.ERROR
    ] == [(4, Severity.ERROR)]


def test_who_asks_motorin_where_the_servos_are_does_not_jump() -> None:
    assert "jump" not in rules("DIM A AS BYTE\nA = MOTORIN(0)\nSERVO 0, A\nMOVE G6A, 100\nEND\n")


def test_what_was_meant_is_told_in_whatever_case_it_was_written() -> None:
    assert only("main:\nGOTO mian\n", "unknown-label").hint == "did you mean MAIN?"
    assert only("wiat\nEND\n", "unknown-statement").hint == "did you mean WAIT?"
    assert only("RETRUN\nEND\n", "unknown-statement").severity is Severity.ERROR


def test_a_statement_of_another_board_is_passed_over_with_a_warning() -> None:
    assert only("GRIPPER 3, 4\nEND\n", "unknown-statement").severity is Severity.WARNING


@pytest.mark.parametrize("jump", ["GOTO in", "GOSUB in", "IF AD(1) = 1 THEN GOTO in", "ON A GOTO in, in"])
def test_a_jump_into_a_loop_from_outside_is_told(jump: str) -> None:
    text = f"DIM A AS BYTE\nA = 1\n{jump}\nFOR A = 1 TO 3\nin:\nBEEP\nNEXT A\nEND\n"
    finding = only(text, "into-for")
    assert (finding.line, finding.severity) == (3, Severity.WARNING)
    assert "FOR of line 4" in finding.message


def test_jumps_within_a_loop_out_of_it_and_to_its_for_are_fine() -> None:
    inside = "IF AD(1) = 1 THEN GOTO on\nIF AD(2) = 1 THEN GOTO again\nIF AD(3) = 1 THEN GOTO out\n"
    text = (
        "DIM I AS BYTE\nDIM J AS BYTE\nagain: FOR I = 1 TO 3\nFOR J = 1 TO 2\nBEEP\nNEXT J\n"
        f"{inside}on: NEXT I\nout:\nEND\n"
    )
    assert rules(text) == set()


def test_who_has_left_a_loop_may_go_back_into_it() -> None:
    text = (
        "DIM I AS BYTE\nFOR I = 0 TO 2\nON I GOTO one, two\nback:\nNEXT I\nEND\n"
        "one:\nBEEP\nGOTO back\ntwo:\nBEEP\nGOTO back\n"
    )
    assert rules(text) == set()
    assert rules(f"GOTO one\n{text}") >= {"into-for"}


@pytest.mark.parametrize("line", ["IF AD(1) = 1 THEN there", "there"])
def test_a_label_that_stands_where_a_statement_should_is_an_error(line: str) -> None:
    finding = only(f"{line}\nBEEP\nthere:\nEND\n", "unknown-statement")
    assert (finding.severity, finding.line) == (Severity.ERROR, 1)
    assert "GOTO there" in finding.hint


def test_a_line_that_cannot_be_read_has_its_label_all_the_same() -> None:
    text = "GOSUB 걷기\nGOTO 10\n걷기: PTP SETON:PTP ALLON\n10: A = = 1\nEND\n"
    assert [(finding.rule, finding.line) for finding in lint_text(text)] == [("syntax", 3), ("syntax", 4)]


@pytest.mark.parametrize("line", ["AIMOTOR INIT", "RUN", "BREAK"])
def test_what_the_manual_has_and_the_board_has_not_is_a_hint(line: str) -> None:
    assert {finding.severity for finding in lint_text(f"{line}\nEND\n")} == {Severity.HINT}


def test_a_jump_from_an_outer_loop_into_an_inner_one_is_told() -> None:
    inner = "FOR J = 1 TO 2\nin: BEEP\nNEXT J\n"
    text = f"DIM I AS BYTE\nDIM J AS BYTE\nFOR I = 1 TO 3\nGOTO in\n{inner}NEXT I\nEND\n"
    assert only(text, "into-for").line == 4


@pytest.mark.parametrize(
    "leave", ["GOTO main", "IF AD(1) = 1 THEN GOTO main\nRETURN", "GOTO r2\nr2:\nGOTO main"]
)
def test_a_routine_that_is_left_by_goto_is_told_where_it_is_left(leave: str) -> None:
    text = f"main:\nGOSUB r\nGOTO main\nr:\nBEEP\n{leave}\n"
    finding = only(text, "no-return")
    assert finding.severity is Severity.HINT
    assert "GOTO main" in text.splitlines()[finding.line - 1]


def test_a_routine_may_end_the_program_and_go_to_another_routine() -> None:
    assert rules("main:\nGOSUB off\nGOTO main\noff:\nBEEP\nEND\n") == set()
    assert rules("main:\nGOSUB a\nGOSUB b\nGOTO main\na:\nGOTO b\nb:\nRETURN\n") == set()


def test_a_template_may_return_to_what_called_it_by_a_number() -> None:
    text = (
        "IF RR > 50 AND RR < 83 THEN GOTO called\n"
        "main:\nIF RR = 0 THEN GOTO own\nON RR GOTO main, one\n"
        "own:\nON AD(1) GOTO main, one\nGOTO main\n"
        "called:\nBEEP\nRETURN\none:\nIF RR > 50 THEN RETURN\nGOTO main\n"
    )
    assert rules(text) == set()
    assert rules(text.replace("RR > 50 THEN RETURN", "AD(1) > 50 THEN RETURN")) == {"no-gosub"}


def test_a_program_that_runs_into_a_routine_is_told_at_its_return() -> None:
    finding = only("GOSUB r\nr:\nBEEP\nRETURN\n", "no-gosub")
    assert (finding.line, finding.severity) == (4, Severity.WARNING)


def test_a_routine_that_runs_into_the_next_is_no_fault() -> None:
    assert rules("GOSUB a\nGOSUB b\nEND\na:\nBEEP\nb:\nBEEP\nRETURN\n") == set()


def test_the_last_line_leads_somewhere() -> None:
    assert only("BEEP\n\n' so\n", "no-end").severity is Severity.HINT
    finding = only("GOSUB r\nEND\nr:\nBEEP\n", "no-end")
    assert (finding.line, finding.severity) == (4, Severity.WARNING)


# ---- moves


def test_a_count_beyond_the_joint_is_told_with_joint_column_and_limits() -> None:
    finding = only(HELD + "l: MOVE G6A, 100,  76, 145,  93, 45\nEND\n", "joint-limit")
    assert (finding.line, finding.column, finding.hint) == (2, 34, "80..190")
    assert "45 is beyond the limits of left_hip_roll (servo 4)" in finding.message


@pytest.mark.parametrize(
    "move",
    [
        "MOVE G8A, 100, 76, 145, 93, 45",
        "MOVE 100, 76, 145, 93, 45",
        "MOVE24 100, 76, 145, 93, LOW",
        "SERVO 4, 45",
    ],
)
def test_it_is_told_however_it_is_written(move: str) -> None:
    assert only(f"CONST LOW = 45\n{HELD}{move}\nEND\n", "joint-limit").line == 3


def test_limits_turn_round_with_dir() -> None:
    turned = HELD + "DIR G6A, 1, 0, 0, 1, 1\nMOVE G6A, , , , , {}\nEND\n"
    assert rules(turned.format(45)) == {"direction"}
    assert rules(turned.format(150)) == {"direction", "joint-limit"}


def test_dir_of_a_joint_is_as_this_robot_has_it_and_of_no_joint_as_one_likes() -> None:
    finding = only("DIR G6D, 0, 1, 1, 0, 0, 1\nEND\n", "direction")
    assert (finding.line, finding.column) == (1, 22)
    assert "right_hip_roll (servo 22)" in finding.message


def test_a_servo_that_the_robot_has_not_is_told_once() -> None:
    text = (
        HELD + "MOVE G6A, , , , , , 90\nWAIT\nMOVE G6A, , , , , , 80\nWAIT\nMOVE G6B, , , , 100, 100\nEND\n"
    )
    finding = only(text, "no-servo")
    assert (finding.line, finding.severity) == (2, Severity.HINT)


def test_a_move_that_the_servos_cannot_follow_is_told_with_both_speeds_once() -> None:
    text = HELD + "HIGHSPEED SETON\nSPEED 10\nMOVE G6A, 100\nWAIT\nMOVE G6A, 110\nEND\n"
    finding = only(text, "too-fast")
    assert (finding.line, finding.severity) == (4, Severity.HINT)
    assert finding.message == "SPEED 10 here requests 450 counts a second; the servos manage 298"
    assert "at SPEED 6 they keep up" in finding.hint
    assert rules(text.replace("SPEED 10", "SPEED 6")) == set()
    assert rules(text.replace("HIGHSPEED SETON", "HIGHSPEED SETOFF").replace("SPEED 10", "SPEED 15")) == set()


@pytest.mark.parametrize("between", ["main:", "GOSUB main", "IF AD(1) = 1 THEN SPEED 2", "SPEED A", "NEXT I"])
def test_a_speed_that_is_not_known_there_is_not_judged(between: str) -> None:
    text = HELD + f"HIGHSPEED SETON\nSPEED 10\n{between}\nMOVE G6A, 100\nEND\n"
    assert "too-fast" not in rules(text)


def test_a_move_that_waits_for_another_is_told_once_in_a_routine() -> None:
    finding = only(HELD + "MOVE G6A, 100\nMOVE G6B, 100\nMOVE G24, 110\nMOVE G24, 100\nEND\n", "no-wait")
    assert (finding.line, finding.severity) == (4, Severity.HINT)
    assert "line 2" in finding.message


@pytest.mark.parametrize("between", ["WAIT", "DELAY 100", "IF AD(1) = 1 THEN WAIT", "MOVE G6D, 110"])
def test_moves_of_other_servos_or_with_something_between_are_fine(between: str) -> None:
    second = "G6A" if "MOVE" not in between else "G6B"
    assert rules(HELD + f"MOVE G6A, 100\n{between}\nMOVE {second}, 110\nEND\n") == set()


def test_a_program_that_never_looks_where_its_servos_are_is_told_at_its_first_move() -> None:
    finding = only("MOTOR G24\nMOVE G6A, 100\nWAIT\nMOVE G6A, 110\nEND\n", "jump")
    assert (finding.line, finding.severity) == (2, Severity.HINT)


def test_limits_are_those_of_the_robot_that_is_handed_in() -> None:
    joints = tuple(replace(joint, upper_rad=joint.lower_rad + 0.1) for joint in CARD.joints)
    assert lint_text(HELD + "MOVE G6A, 100\nEND\n", replace(CARD, joints=joints))


# ---- what the machine does, and what the linter reports

_steps = st.sampled_from(
    (
        *(
            "A = A + 1",
            "GOTO l{}",
            "GOSUB l{}",
            "RETURN",
            "END",
            "IF A > {} THEN GOTO l{}",
            "ON A GOTO l0, l{}",
        ),
        *("l{}:", "IF A > {} THEN RETURN ELSE GOSUB l{}", "ON A GOSUB l0, l{}", "BEEP", "IF A = {} THEN END"),
    )
)


def _block(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    return st.one_of(
        st.builds(lambda n, body: [f"FOR A = 0 TO {n}", *body, "NEXT A"], st.integers(0, 3), inner),
        st.builds(lambda n, body: [f"IF A > {n} THEN", *body, "ENDIF"], st.integers(0, 3), inner),
        st.builds(lambda n, body: [f"IF A > {n} THEN", *body, "ELSE", "BEEP"], st.integers(0, 3), inner),
        st.builds(
            lambda n, one, two: [
                f"IF A = {n} THEN",
                *one,
                "ELSEIF A < 2 THEN",
                "BEEP",
                "ELSE",
                *two,
                "ENDIF",
            ],
            st.integers(0, 3),
            inner,
            inner,
        ),
    )


def _with_number(step: str, n: int) -> list[str]:
    return [step.replace("{}", str(n))]


_line = st.builds(_with_number, _steps, st.integers(0, 3))


def _one_after_another(ones: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    return st.lists(ones, max_size=6).map(lambda finding: [line for finding in finding for line in finding])


_bodies = st.recursive(
    _one_after_another(_line), lambda inner: _one_after_another(st.one_of(_line, _block(inner))), max_leaves=6
)


@given(body=_bodies, first=st.integers(0, 3))
def test_no_line_that_the_machine_comes_to_is_called_dead(body: list[str], first: int) -> None:
    once = [line for at, line in enumerate(body) if ":" not in line or line not in body[:at]]
    lines = [
        "DIM A AS BYTE",
        f"A = {first}",
        *once,
        *(f"l{n}:" for n in range(4) if f"l{n}:" not in once),
        "BEEP",
    ]
    source = read_source("\n".join(lines))
    assume(not any(finding.severity is Severity.ERROR for finding in compile_source(source).findings))
    made = machine("\n".join(lines))
    compiler = BasicCompiler(source)
    program = compiler.compile()
    addresses = ControlFlow(compiler.builder, source.lines).reachable(follow_calls=True) - {
        len(program.lines)
    }
    reached = {program.lines[at] for at in addresses}
    for _ in range(300):
        if made.stop_reason is not None:
            break
        assert made.line in reached, lines
        made.step()
    if made.stop_reason is StopReason.RETURN:
        assert ("no-gosub", made.line) in {(finding.rule, finding.line) for finding in lint(source, CARD)}


@given(text=programs(), seed=st.integers(0, 2**32))
def test_whatever_a_program_is_it_is_looked_through(text: str, seed: int) -> None:
    for one in (text, damaged(random.Random(seed), text)):  # noqa: S311 -- nothing secret
        source = read_source(one)
        finding = lint(source, CARD)
        assert [each.line for each in finding] == sorted(each.line for each in finding)
        assert all(1 <= each.column <= len(source.lines[each.line - 1].text) + 1 for each in finding)
