"""Routines of programs as motions: which are static, why others are not, and what keyframes say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posewright.errors import InputError
from posewright.motions import Motion
from posewright.robots import robot
from posewright.runtimes.robobasic import Routine, compile_or_raise, read_routines, read_source
from posewright.runtimes.robobasic.motion_reader import read_motions
from posewright.runtimes.robobasic.servos import board_parameters
from posewright.runtimes.robobasic.speed_settings import decode_speed_settings

CARD = robot("hitec_robonova1")
PULSE_S = CARD.frame_period_s
PTP = "PTP SETON\nPTP ALLON\n"
ARM = "left_shoulder_roll"  # servo 7, which stands at 30


def read_text_routines(text: str, **more: float) -> dict[str, Routine]:
    """Return the routines of a program by their labels."""
    return {
        routine.label: routine for routine in read_routines(compile_or_raise(read_source(text)), CARD, **more)
    }


def motion(text: str, label: str = "here") -> Motion:
    """Return the motion of a routine that follows after PTP ALLON and END."""
    routine = read_text_routines(f"{PTP}END\n{label}:\n{text}")[label]
    assert routine.failure == ""
    assert routine.motion is not None
    return routine.motion


def counts(result: Motion) -> list[dict[int, int]]:
    """Return where each keyframe sends servos, by their numbers on the board."""
    servos = {joint: CARD.servo(joint) for joint in result.joints}
    return [
        {
            servos[joint].id or 0: round(servos[joint].to_ticks(angle))
            for joint, angle in zip(result.joints, frame.pose.angles.tolist(), strict=True)
            if not math.isnan(angle)
        }
        for frame in result.keyframes
    ]


def times(result: Motion) -> list[tuple[int, int]]:
    """Return reach and pause of each keyframe, in pulses."""
    return [(round(frame.reach_s / PULSE_S), round(frame.pause_s / PULSE_S)) for frame in result.keyframes]


def pulses(travel: float, speed: int, high: float = 1.0) -> int:
    return math.ceil(travel / (speed * high * board_parameters().speed_counts_s * PULSE_S) - 1e-9)


# ---- what a keyframe says


def test_moves_before_a_wait_are_one_keyframe_and_what_is_left_out_is_held() -> None:
    result = motion("SPEED 5\nMOVE G6A, 90, , 145\nMOVE G6B, , 60\nWAIT\nMOVE G6B, 120\nWAIT\nRETURN\n")
    assert result.name == "here"
    assert result.robot == CARD.name
    assert counts(result) == [{0: 90, 2: 145, 7: 60}, {6: 120}]
    assert result.joints == ("left_ankle_roll", "left_knee", "left_shoulder_pitch", "left_shoulder_roll")


@pytest.mark.parametrize(
    "line",
    [
        "MOVE G6A, 90, 76, 145",
        "MOVE G8A, 90, 76, 145",
        "MOVE G16, 90, 76, 145,",
        "MOVE G24, 90, 76, 145, , , , , ,",
        "MOVE24 90, 76, 145, , , , , , , , , , , , , , , , , , , , , ,",
        "MOVE G32, 90, 76, 145",
        "MOVEPOS there",
    ],
)
def test_a_pose_is_the_same_in_every_group(line: str) -> None:
    result = motion(f"{line}\nWAIT\nRETURN\nthere: POS G6A, 90, 76, 145, , ,\n")
    assert counts(result) == [{0: 90, 1: 76, 2: 145}]


def test_the_second_group_of_eight_begins_with_servo_8() -> None:
    assert counts(motion("MOVE G8B, 90, , , , 110\nWAIT\n")) == [{8: 90, 12: 110}]


def test_a_keyframe_takes_as_long_as_its_longest_way_from_where_the_robot_stands() -> None:
    result = motion("SPEED 5\nMOVE G6B, 110, 90\nWAIT\nMOVE G6B, 110, 60\nWAIT\n")
    assert times(result) == [(pulses(60, 5), 0), (pulses(30, 5), 0)]


def test_highspeed_takes_a_third_of_the_time() -> None:
    result = motion(
        "SPEED 4\nHIGHSPEED SETON\nMOVE G6B, , 120\nWAIT\nHIGHSPEED SETOFF\nMOVE G6B, , 30\nWAIT\n"
    )
    assert times(result) == [(pulses(90, 4, 3.0), 0), (pulses(90, 4), 0)]
    assert [str(pace) for pace in decode_speed_settings(result)] == ["4h", "4"]


def test_a_measured_speed_stretches_all_times() -> None:
    text = f"{PTP}END\nhere:\nSPEED 5\nMOVE G6B, , 90\nWAIT\nRETURN\n"
    slow = read_text_routines(text, speed_counts_s=board_parameters().speed_counts_s / 2)["here"].motion
    assert slow is not None
    assert slow.duration == pytest.approx(2 * motion("SPEED 5\nMOVE G6B, , 90\nWAIT\n").duration)


def test_delay_is_the_pause_after_a_keyframe_and_before_the_first_one_a_pose_that_is_held() -> None:
    result = motion("DELAY 400\nMOVE G6B, , 90\nWAIT\nDELAY 200\nMOVE G6B, , 60\nWAIT\nDELAY 1000\nRETURN\n")
    assert counts(result) == [{}, {7: 90}, {7: 60}]
    assert [frame.pause_s for frame in result.keyframes] == pytest.approx([0.4, 0.2, 1.0])


def test_a_move_of_a_group_that_is_under_way_waits_for_it() -> None:
    result = motion("MOVE G6B, , 90\nMOVE G6B, , 60\nWAIT\n")
    assert counts(result) == [{7: 90}, {7: 60}]
    assert times(result) == [(pulses(60, 3), 0), (pulses(30, 3), 0)]


def test_what_motoroff_lets_go_is_free_until_it_is_moved_again() -> None:
    result = motion(
        "MOVE G6B, , 90\nWAIT\nMOTOROFF G6B\nMOTOROFF 12\nDELAY 300\nMOVE G6B, 100, 60, 80\nWAIT\n"
    )
    arm = ["left_shoulder_pitch", "left_shoulder_roll", "left_elbow"]
    assert [sorted(frame.pose.free) for frame in result.keyframes] == [
        [],
        sorted([*arm, "right_shoulder_pitch"]),
        [],
    ]
    ends = result.resolved_poses()[-1]
    assert ends.free == {"right_shoulder_pitch"}


def test_a_servo_that_is_driven_again_stays_where_it_was_sent() -> None:
    for on in ("MOTOR 7", "GETMOTORSET G6B, 0, 1"):
        result = motion(f"MOVE G6B, , 90\nWAIT\nMOTOROFF 7\nDELAY 100\n{on}\nDELAY 100\n")
        assert counts(result) == [{7: 90}, {}, {7: 90}]
        assert result.resolved_poses()[-1].free == frozenset()


def test_servo_jumps() -> None:
    result = motion("SERVO 7, 90\nDELAY 100\nMOVE G6B, , 60\nWAIT\n")
    assert counts(result) == [{7: 90}, {7: 60}]
    assert times(result) == [(0, round(0.1 / PULSE_S)), (pulses(30, 3), 0)]


def test_moves_between_which_a_pulse_comes_by_chance_are_one_keyframe() -> None:
    for delay in range(690, 700):
        result = motion(f"WAIT\nDELAY {delay}\nMOVE G6B, , 90\nMOVE G6C, , 90\nMOVE G6A, 90\nWAIT\n")
        assert counts(result) == [{}, {7: 90, 13: 90, 0: 90}]
        assert times(result)[1:] == [(pulses(60, 3), 0)]


def test_a_servo_turned_by_dir_goes_the_other_way() -> None:
    directions = list(board_parameters().directions[6:12])
    directions[1] = 1 - directions[1]
    dir_line = f"DIR G6B, {', '.join(map(str, directions))}\n"
    routine = read_text_routines(f"{PTP}{dir_line}END\nhere:\nMOVE G6B, 100, 110\nWAIT\nRETURN\n")["here"]
    assert routine.motion is not None
    assert counts(routine.motion) == [{6: 100, 7: 90}]
    assert any("DIR of servo 7 is not the usual" in remark for remark in routine.remarks)


# ---- what is run


def test_routines_that_are_called_and_loops_of_known_length_are_run() -> None:
    result = motion(
        "FOR I = 1 TO 2\nGOSUB up\nMOVE G6B, , 30\nWAIT\nNEXT I\nRETURN\nup:\nMOVE G6B, , 90\nWAIT\nRETURN\n"
    )
    assert counts(result) == [{7: 90}, {7: 30}] * 2


def test_a_variable_that_the_routine_sets_itself_is_no_hindrance() -> None:
    result = motion("A = 50\nIF A > 40 THEN\nA = A + 10\nENDIF\nMOVE G6B, , A\nWAIT\nRETURN\n")
    assert counts(result) == [{7: 60}]


def test_the_beginning_gives_ptp_and_speed_to_the_routines() -> None:
    routines = read_text_routines(
        f"{PTP}SPEED 10\nmain:\nA = REMOCON(1)\nGOTO main\nhere:\nMOVE G6B, 110, 90\nWAIT\nRETURN\n"
    )
    here = routines["here"].motion
    assert here is not None
    assert times(here) == [(pulses(60, 10), 0)]
    assert routines["here"].remarks == (
        "no SPEED before its first move: it uses 10, which the beginning of the program sets; "
        "write SPEED 10 before that move to make it independent",
    )


def test_the_beginning_knows_that_every_variable_is_0_when_the_robot_is_switched_on() -> None:
    asks = "IF RR > 50 AND RR < 83 THEN GOTO main\n"
    routines = read_text_routines(
        f"{asks}{PTP}SPEED 10\nmain:\nA = REMOCON(1)\nGOTO main\nhere:\nMOVE G6B, 110, 90\nWAIT\nRETURN\n"
    )
    here = routines["here"].motion
    assert here is not None
    assert times(here) == [(pulses(60, 10), 0)]


def test_the_beginning_is_a_motion_of_its_own_where_it_is_static() -> None:
    routine = read_text_routines("MOVE G6B, , 90\nWAIT\nEND\n")[""]
    assert routine.motion is not None
    assert routine.motion.name == "program"
    clash = read_text_routines("MOVE G6B, , 90\nWAIT\nEND\nprogram:\nMOVE G6B, , 80\nWAIT\nRETURN\n")
    assert [item.motion and item.motion.name for item in clash.values()] == ["program_begin", "program"]


def test_a_label_that_is_a_number_gives_a_name() -> None:
    assert motion("MOVE G6B, , 90\nWAIT\nRETURN\n", "100").name == "line_100"


@pytest.mark.parametrize(
    ("lines", "why", "line"),
    [
        ("A = AD(5)\nRETURN\n", "it reads AD(5)", 5),
        ("MOVE G6B, , 90\nA = MOTORIN(7)\nRETURN\n", "it reads MOTORIN(7)", 6),
        ("ERX 4800, A, here\nRETURN\n", "it reads ERX", 5),
        ("A = RND\nRETURN\n", "it draws RND", 5),
        ("IF A = 1 THEN RETURN\n", "it reads A, which it has not set", 5),
        ("A = PEEK(7)\nRETURN\n", "it reads the memory at 7, which it has not written", 5),
        ("MOVE G6B, , 90\nGOTO ask\nask:\nA = IN(3)\nRETURN\n", "it reads IN(3)", 8),
        ("A = 0\nB = 1 / A\n", "a division by 0", 6),
        ("A = 5\nMOVE G6B, A\n", "5 for servo 6", 6),
        (
            "A = 1\nround:\nMOVE G6B, , 90\nWAIT\nMOVE G6B, , 30\nWAIT\nGOTO round\n",
            "it loops here for ever",
            0,
        ),
        ("GOSUB here\n", "GOSUB is nested deeper than 256", 5),
        (
            "FOR I = 1 TO 255\nFOR J = 1 TO 255\nDELAY 1000\nNEXT J\nNEXT I\n",
            "it has not ended after 3600 s",
            0,
        ),
        ("A = 1\nround:\nGOTO round\n", "it loops here for ever", 7),
    ],
)
def test_why_a_routine_is_not_static_is_told_with_the_line(lines: str, why: str, line: int) -> None:
    routine = read_text_routines(f"{PTP}END\nhere:\n{lines}")["here"]
    assert not routine.is_static
    assert routine.motion is None
    assert routine.failure == why
    assert routine.failure_line == line or (line == 0 and routine.failure_line > 4)


def test_a_wait_is_no_loop_however_long_it_is() -> None:
    result = motion("SPEED 1\n" + "MOVE G6B, , 190\nWAIT\nMOVE G6B, , 10\nWAIT\n" * 3)
    assert len(result.keyframes) == 6


def test_a_routine_that_goes_back_to_its_label_repeats_from_where_it_ends() -> None:
    result = motion("SPEED 3\nMOVE G6B, , 60\nWAIT\nMOVE G6B, , 150\nWAIT\nDELAY 100\nGOTO here\n")
    assert result.repeat is None
    assert counts(result) == [{7: 60}, {7: 150}]
    assert times(result) == [(pulses(90, 3), 0), (pulses(90, 3), round(0.1 / PULSE_S))]


def test_a_routine_may_move_nothing_and_a_pose_is_no_routine() -> None:
    routines = read_text_routines(f"{PTP}END\nhere:\nRETURN\nthere:\nGOTO there\nbow: POS G6A, 100\n")
    assert list(routines) == ["", "here", "there"]
    assert [item.is_static for item in routines.values()] == [True] * 3
    assert not any(item.motion for item in routines.values())


# ---- what is lost


def test_servos_that_arrive_one_by_one_are_told_and_arrive_together() -> None:
    routine = read_text_routines("END\nhere:\nMOVE G6B, 110, 90\nWAIT\nRETURN\n")["here"]
    assert routine.motion is not None
    assert times(routine.motion) == [(pulses(60, 3), 0)]
    early = (pulses(60, 3) - pulses(10, 3)) * PULSE_S
    assert (
        f"servos that arrive up to {early:.3g} s before others, as PTP is not ALLON, arrive together here"
        in (routine.remarks)
    )


def test_moves_that_overlap_are_told_and_go_as_they_do_on_the_board() -> None:
    routine = read_text_routines(
        f"{PTP}END\nhere:\nSPEED 2\nMOVE G6B, , 90\nDELAY 400\nMOVE G6C, , 90\nWAIT\nRETURN\n"
    )["here"]
    assert routine.motion is not None
    assert any("before others have ended" in remark for remark in routine.remarks)
    first = routine.motion.keyframes[0].reach_s
    assert first == pytest.approx(0.4, abs=PULSE_S)
    half = 30 + 60 * first / (pulses(60, 2) * PULSE_S)
    servo = CARD.servo(ARM)
    at = routine.motion.at(first).angle(ARM)
    assert servo.to_ticks(at) == pytest.approx(half, abs=0.01)


def test_what_is_no_move_is_told() -> None:
    text = 'SPEED 5\nMOVE G6A, 90, , , , , 60\nWAIT\nMUSIC "CDE"\nOUT 5, 1\nBEEP\nGYROSET G6A, 1\nRETURN\n'
    routine = read_text_routines(f"{PTP}END\nhere:\n{text}")["here"]
    assert routine.remarks == (
        "the robot has no servo 5",
        "corrections by gyros are left out",
        "statements that do not move servos are left out: MUSIC, OUT, BEEP",
    )


def test_a_hundred_for_a_servo_that_is_not_there_is_usual_and_not_told() -> None:
    routine = read_text_routines(
        f"{PTP}END\nhere:\nSPEED 5\nMOVE G6A, 90, 76, 145, 93, 100, 100\nWAIT\nRETURN\n"
    )["here"]
    assert routine.remarks == ()


def test_motions_come_with_their_remarks_by_name() -> None:
    program = compile_or_raise(read_source(f"{PTP}END\nhere:\nMOVE G6B, , 90\nWAIT\nRETURN\n"))
    (result,), (remark,) = read_motions(program, CARD)
    assert result.name == "here"
    assert remark.startswith("here: no SPEED before its first move")


def test_a_robot_without_such_a_board_is_refused() -> None:
    program = compile_or_raise(read_source("END\n"))
    with pytest.raises(InputError, match="is not driven by an MR-C3024"):
        read_routines(program, robot("sony_ers7"))


def test_angles_are_those_of_the_servos() -> None:
    result = motion("MOVE G6A, 100, 76, 145, 93, 100\nWAIT\n")
    stand = [CARD.pose("stand")[CARD.index(joint)] for joint in result.joints]
    np.testing.assert_allclose(result.keyframes[0].pose.angles, stand, atol=1e-5)
