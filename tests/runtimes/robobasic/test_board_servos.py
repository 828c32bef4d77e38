"""How servos go: groups, fields that are left out, SPEED, PTP, HIGHSPEED, DIR; a pulse every 20 ms."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.errors import InputError
from posewright.runtimes.robobasic.machine import StopReason
from posewright.runtimes.robobasic.servos import (
    BoardServos,
    board_parameters,
    find_group,
    speed_from_measurement,
)

from .programs import PULSE_S, SetPorts, found, machine, run

counts = st.integers(10, 190)


@pytest.mark.parametrize(
    ("name", "servos"),
    [
        ("G6A", range(6)),
        ("g6d", range(18, 24)),
        ("G6E", range(24, 30)),
        ("G8A", range(8)),
        ("G8D", range(24, 32)),
        ("G12", range(12)),
        ("G16", range(16)),
        ("G24", range(24)),
        ("G32", range(32)),
        ("G6", None),
        ("G24A", None),
        ("G8E", None),
        ("G7A", None),
    ],
)
def test_groups_are_those_of_the_manual(name: str, servos: range | None) -> None:
    assert find_group(name) == servos


def test_a_field_that_is_empty_or_missing_leaves_its_servo() -> None:
    servos = run("MOVE G6A, 50, , 60\nWAIT\n").board.servos
    assert servos.positions[:6] == [50, 100, 60, 100, 100, 100]


@pytest.mark.parametrize(
    "line", ["MOVE G24, 50, , 60", "MOVE24 50, , 60", "MOVE24 50,,60,,", "move g16,50,,60"]
)
def test_a_pose_may_be_written_in_many_ways(line: str) -> None:
    assert run(f"{line}\nWAIT\n").board.servos.positions[:3] == [50, 100, 60]


def test_a_comma_too_many_is_common_and_one_value_too_many_is_wrong() -> None:
    assert found("MOVE G6B,100,30,80, , , ,\n") == {}
    assert found("MOVE G6B,100,30,80,100,100,100,100\n") == {"fields": 1}


def test_move_does_not_wait_but_wait_does() -> None:
    def told(text: str) -> float:
        return run(text, 20.0).clock_us / 1e6

    assert told("MOVE G6A, 190\n") < 0.01
    assert told("SPEED 1\nMOVE G6A, 190\nWAIT\n") == pytest.approx(90 / 15.0, abs=2 * PULSE_S)


def test_the_next_move_of_a_servo_waits_for_the_last() -> None:
    done = run("SPEED 1\nMOVE G6A, 115\nMOVE G6A, 100\nMOVE G6D, 115\n", 20.0)
    assert 1.0 < done.clock_us / 1e6 < 1.1
    assert done.board.servos.positions[0] == 100


@given(st.integers(1, 15), counts)
def test_the_time_of_a_move_is_its_way_by_its_speed_in_whole_pulses(speed: int, target: int) -> None:
    made = machine(f"SPEED {speed}\nMOVE G6A, {target}\n")
    made.run_until(made.pulse_us)
    pulses = 0
    while made.board.servos.is_moving:
        made.board.servos.send_pulse()
        pulses += 1
    expected = abs(target - 100) / (speed * board_parameters().speed_counts_s)
    assert expected <= pulses * PULSE_S + 1e-9 <= max(expected + PULSE_S, PULSE_S) + 1e-9


@given(st.lists(counts, min_size=3, max_size=3))
def test_with_ptp_servos_arrive_together_by_move_or_all_and_else_each_alone(targets: list[int]) -> None:
    a, b, c = targets
    counts_a_pulse = 2 * board_parameters().speed_counts_s * PULSE_S
    alone = [max(1, math.ceil(abs(to - 100) / counts_a_pulse - 1e-9)) for to in targets]
    first, every = max(alone[:2]), max(alone)
    for words, expected in (
        ("", alone),
        ("PTP SETON\n", [first, first, alone[2]]),
        ("PTP ALLON\n", [every] * 3),
        ("PTP SETON\nPTP ALLON\n", [every] * 3),
        ("PTP SETON\nPTP ALLON\nPTP ALLOFF\n", [first, first, alone[2]]),
        ("PTP SETON\nPTP SETOFF\n", alone),
    ):
        made = machine(f"{words}SPEED 2\nMOVE G6A, {a}, {b}\nMOVE G6D, {c}\n")
        made.run_until(made.pulse_us)
        servos, arrived = made.board.servos, dict[int, int]()
        for pulse in range(1, 300):
            servos.send_pulse()
            for servo in (0, 1, 18):
                if not servos.is_busy([servo]):
                    arrived.setdefault(servo, pulse)
        assert [arrived[servo] for servo in (0, 1, 18)] == expected


def test_on_its_way_a_servo_goes_straight() -> None:
    servos = BoardServos({0: 100.0}, PULSE_S)
    servos.speed = 10
    servos.queue_move({0: 130})
    told = []
    while servos.is_moving:
        servos.send_pulse()
        told.append(servos.positions[0])
    assert told == pytest.approx([103, 106, 109, 112, 115, 118, 121, 124, 127, 130])


def test_high_speed_is_three_times_faster() -> None:
    slow = run("SPEED 1\nMOVE G6A, 190\nWAIT\n", 20.0).clock_us
    fast = run("HIGHSPEED SETON\nSPEED 1\nMOVE G6A, 190\nWAIT\n", 20.0).clock_us
    assert slow / fast == pytest.approx(3.0, rel=0.02)


def test_dir_turns_a_servo_about_its_middle() -> None:
    usual = run("DIR G6A, 1, 0\nMOVE G6A, 110, 120\nWAIT\n").board.servos
    other = run("DIR G6A, 0, 1\nMOVE G6A, 110, 120\nWAIT\n").board.servos
    assert usual.positions[:2] == [110, 120]
    assert other.positions[:2] == [90, 80]
    assert [other.apply_direction(servo, other.positions[servo]) for servo in (0, 1)] == [110, 120]


def test_getmotorset_holds_servos_where_they_are_and_leaves_others() -> None:
    ports = SetPorts({("MOTORIN", 0): 60, ("MOTORIN", 1): 70})
    servos = run("GETMOTORSET G6A, 1, 0\n", inputs=ports).board.servos
    assert servos.positions[:2] == [60, 100]
    assert servos.torque_enabled[:2] == [True, None]
    turned = run("DIR G6A, 0\nGETMOTORSET G6A, 1, 0\nMOVE G6A, 140\nWAIT\n", inputs=ports).board.servos
    assert turned.positions[0] == 60  # 140 is there as DIR has it: it has not moved


def test_motoroff_lets_go_and_a_move_takes_hold_again() -> None:
    done = run("MOTOR G24\nMOTOROFF G6A\nMOTOROFF 7\n")
    assert done.board.servos.torque_enabled[:8] == [False] * 6 + [True, False]
    assert run("MOTOROFF G6A\nMOVE G6A, 110\n").board.servos.torque_enabled[:2] == [True, False]


def test_servo_goes_at_once_and_movepos_to_a_pose_that_has_a_name() -> None:
    assert run("SERVO 3, 150\n").board.servos.positions[3] == 150
    assert run("MOVEPOS up\nWAIT\nEND\nup: POS G6A, 20, , 30\n").board.servos.positions[:3] == [20, 100, 30]


@pytest.mark.parametrize("line", ["SERVO 16, A", "SERVO B, 120", "FASTSERVO 16, A"])
def test_a_servo_that_is_computed_to_be_out_of_range_is_passed_over_and_told(line: str) -> None:
    done = run(f"DIM A AS BYTE\nDIM B AS BYTE\nA = MOTORIN(16)\nB = 40\n{line}\nSERVO 3, 150\nEND\n")
    assert done.stop_reason is StopReason.END
    assert done.board.servos.positions[16] == 100
    assert done.board.servos.positions[3] == 150
    assert [event["line"] for event in done.board.events if event["what"] == "skipped"] == [5]


def test_whose_motors_are_switched_is_told_by_group_or_number() -> None:
    events = run(
        "DIM A AS BYTE\nA = 7\nMOTOR G6B\nMOTOROFF A\nMOTOR 3\nMOTOR ALLON\nMOTOR ALLOFF\n"
    ).board.events
    assert [(one["servos"], one["on"]) for one in events] == [
        ("G6B", True), ("servo 7", False), ("servo 3", True), ("ALLON", True), ("ALLOFF", False),
    ]  # fmt: skip


def test_a_value_out_of_range_that_only_running_shows_is_told_with_its_line() -> None:
    done = run("DIM A AS BYTE\nA = 250\n\nMOVE G6A, A\n")
    assert done.stop_reason is StopReason.ERROR
    assert "program.bas:4: 250 for servo 0 (10..190)" in str(done.error)


def test_one_measured_move_sets_the_speed_of_all() -> None:
    unit = speed_from_measurement(5, 90, 1.2)
    assert unit == pytest.approx(15.0)
    servos = BoardServos({}, PULSE_S, speed_from_measurement(3, 60, 2.0))
    servos.speed = 3
    servos.queue_move({0: 160})
    pulses = 0
    while servos.is_moving:
        servos.send_pulse()
        pulses += 1
    assert pulses * PULSE_S == pytest.approx(2.0, abs=PULSE_S)
    for wrong in ((0, 90, 1.0), (5, 0, 1.0), (5, 90, 0.0), (16, 90, 1.0), (1, 90, 0.001)):
        with pytest.raises(InputError):
            speed_from_measurement(*wrong)
