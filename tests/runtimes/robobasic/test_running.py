"""A program drives a body: ports read its sensors, servos move its joints, events are recorded."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.bodies import BodyState
from posewright.errors import FormatError, InputError, UnknownNameError
from posewright.robots import robot
from posewright.runs import basic_result, run_basic, run_many, run_trial, set_up_basic
from posewright.runtimes.robobasic import RoboBasicController, RoboBasicProgram, compile_or_raise, read_source
from posewright.runtimes.robobasic.ad_ports import assign_ports, find_moved_sensors
from posewright.runtimes.robobasic.inputs import BodyInputs, read_inputs

ROBOT = robot("hitec_robonova1")
STAND = ROBOT.pose("stand")


def make_controller(text: str, script: str = "", **options: object) -> RoboBasicController:
    return RoboBasicController(
        ROBOT, compile_or_raise(read_source(text)), script=read_inputs(script), **options
    )  # type: ignore[arg-type]


def state(**sensors: object) -> BodyState:
    return BodyState(0.0, STAND.copy(), np.zeros(16), sensors=sensors)  # type: ignore[arg-type]


def make_program(text: str) -> RoboBasicProgram:
    return RoboBasicProgram(compile_or_raise(read_source(text)), ROBOT)


def play(controller: RoboBasicController, seconds: float, **sensors: object) -> np.ndarray:
    """Return the commanded angles of some seconds, one row a frame."""
    rows: list[np.ndarray] = []
    while len(rows) * ROBOT.frame_period_s < seconds:
        rows.extend(controller.next(state(**sensors), 64).angles)
    return np.array(rows)


def test_a_pose_in_counts_is_the_robots_pose_whatever_group_says_it() -> None:
    text = "MOVE G6A, 100, 151, 23, 140, 101\nMOVE G6D, 100, 151, 23, 140, 101\nWAIT\n"
    rows = play(make_controller("PTP SETON\nPTP ALLON\n" + text), 5.0)
    assert rows[0] == pytest.approx(STAND, abs=math.radians(3))
    assert rows[-1] == pytest.approx(ROBOT.pose("sit"), abs=1e-9)


@given(st.lists(st.integers(10, 190), min_size=16, max_size=16))
def test_counts_go_to_the_joints_by_the_servos_numbers(counts: list[int]) -> None:
    ids = [servo.id or 0 for servo in ROBOT.servos]
    fields = {servo: str(count) for servo, count in zip(ids, counts, strict=True)}
    controller = make_controller(f"SPEED 15\nMOVE G24, {', '.join(fields.get(s, '') for s in range(24))}\n")
    expected = ROBOT.from_ticks(np.array(counts, dtype=float))
    assert play(controller, 1.0)[-1] == pytest.approx(expected, abs=1e-9)


def test_until_a_program_says_something_the_robot_is_held_and_motoroff_frees_it() -> None:
    controller = make_controller("DELAY 100\nMOTOROFF G6A\n")
    assert controller.next(state(), 1).free is None
    play(controller, 0.3)
    free = controller.next(state(), 1).free
    assert free is not None
    assert [name for name, is_free in zip(ROBOT.joint_names, free, strict=True) if is_free] == [
        *(f"left_{part}" for part in ("ankle_roll", "ankle_pitch", "knee", "hip_pitch", "hip_roll"))
    ]


def test_rows_of_many_frames_are_those_of_single_frames() -> None:
    text = "SPEED 3\nFOR I = 1 TO 3\nMOVE G6B, 100, 60\nWAIT\nDELAY 333\nMOVE G6B, 100, 30\nWAIT\nNEXT I\n"
    single, many = make_controller(text), make_controller(text)
    rows = np.array([single.next(state(), 1).angles[0] for _ in range(300)])
    assert np.array_equal(play(many, 6.0)[:300], rows)


@pytest.mark.parametrize(
    ("port", "sensors", "counts"),
    [
        (0, {"distance_front": 0.1}, 125),
        (0, {"distance_front": 0.3}, 48),
        (0, {"distance_front": 0.8}, 21),
        (1, {"distance_left": 0.1}, 125),
        (4, {"compass": math.pi / 2}, 64),
        (4, {"compass": -math.pi / 2}, 192),
        (5, {"imu.orientation": np.zeros(3)}, 115),
        (5, {"imu.orientation": np.array([0.0, math.pi / 2, 0.0])}, 215),
        (5, {"imu.orientation": np.array([0.0, -math.pi / 2, 0.0])}, 15),
        (6, {}, 164),
        (3, {}, 255),
    ],
)
def test_ad_ports_read_the_bodys_sensors_in_counts(
    port: int, sensors: dict[str, object], counts: int
) -> None:
    inputs = BodyInputs(ROBOT)
    inputs.update(state(**sensors), 0.0)
    assert inputs.read("AD", port) == pytest.approx(counts, abs=1)


def test_a_sensor_may_be_plugged_in_elsewhere_and_an_open_port_reads_what_templates_take_for_none() -> None:
    inputs = BodyInputs(ROBOT, ad_sensors=assign_ports(["0=tilt", "AD6=none"]))
    inputs.update(state(**{"imu.orientation": np.zeros(3)}), 0.0)
    assert [inputs.read("AD", port) for port in (0, 5, 6, 7)] == [115, 255, 255, 255]
    for wrong in ("9=tilt", "0=nose", "tilt"):
        with pytest.raises(FormatError):
            assign_ports([wrong])


@pytest.mark.parametrize(
    ("label", "sensor"),
    [("robot_tilt", "tilt"), ("FB_TILT_check", "tilt"), ("기울기확인", "tilt"), ("robot_voltage", "battery")],
)
def test_a_label_tells_of_a_sensor_on_another_port(label: str, sensor: str) -> None:
    text = f"DIM A AS BYTE\nfar:\nA = AD(0)\n{label}:\nA = AD(3)\nA = AD(7)\nother:\nA = AD(1)\nEND\n"
    source = read_source(text)
    (moved,) = find_moved_sensors(source)
    assert moved.sensor is not None
    assert (moved.sensor.name, moved.port, moved.line) == (sensor, 3, 5)
    plugs = assign_ports([], source)
    assert {port: plug.name for port, plug in plugs.items() if plug.name == sensor} == {3: sensor}
    assert plugs[0].name == "front"
    assert assign_ports([f"{moved.sensor.port}={sensor}"], source) == assign_ports([])
    assert find_moved_sensors(read_source(text.replace("AD(3)", f"AD({moved.sensor.port})"))) == ()


@pytest.mark.parametrize(
    ("asked", "sensor"),
    [
        ("IF A > 250 THEN RETURN\nIF A < 100 THEN GOTO back\nIF A > 160 THEN GOTO face", "tilt"),
        ("IF a <= 70 OR A >= 95 THEN GOTO face", "tilt_2012"),
        ("IF A > 250 THEN RETURN\nIF A < 50 THEN GOTO back\nIF A > 80 THEN GOTO face", None),
        ("B = 0\nIF B < 200 THEN GOTO back\nface:\nIF A > 20 THEN GOTO back", "tilt"),
        ("IF A < 200 THEN RETURN\nGOTO back\nface:", "tilt"),
        ("IF A => 30 AND A =< 200 THEN RETURN\nIF A < 20 THEN\nGOTO back\nENDIF\nface:", "tilt"),
    ],
)
def test_a_tilt_sensor_is_plugged_in_only_where_the_program_takes_it_for_upright(
    asked: str, sensor: str | None
) -> None:
    source = read_source(
        f"DIM A AS BYTE\nDIM B AS BYTE\nrobot_tilt:\nA = AD(7)\n{asked}\nRETURN\nback:\nEND\n"
    )
    (moved,) = find_moved_sensors(source)
    assert (moved.sensor and moved.sensor.name) == sensor
    assert (7 in assign_ports([], source)) == (sensor is not None)


KOREAN = """CONST 앞뒤기울기AD포트 = 0
CONST 좌우기울기AD포트 = 1
CONST 적외선AD포트 = 4
CONST min = {}
CONST max = {}
DIM A AS BYTE
A = AD(앞뒤기울기AD포트)
IF A > 250 OR A < 5 THEN RETURN
IF A > MIN AND A < MAX THEN RETURN
IF A < MIN THEN END
IF A > MAX THEN END
A = AD(좌우기울기AD포트)
A = AD(적외선AD포트)
A = AD(앞뒤기울기AD포트)
END
"""


@pytest.mark.parametrize(("low", "high", "sensor"), [(61, 107, "tilt_2012"), (95, 160, "tilt")])
def test_constants_that_are_ports_tell_of_sensors_and_limits_which_tilt_sensor_it_is(
    low: int, high: int, sensor: str
) -> None:
    plugs = assign_ports([], read_source(KOREAN.format(low, high)))
    usual = {} if sensor == "tilt" else {5: "tilt"}
    expected = {0: sensor, 2: "right", 4: "front", 6: "battery", **usual}
    assert {port: plug.name for port, plug in plugs.items()} == expected


def test_motorin_tells_where_a_servo_is_and_0_where_there_is_none() -> None:
    inputs = BodyInputs(ROBOT)
    inputs.update(state(), 0.0)
    assert [inputs.read("MOTORIN", servo) for servo in (1, 2, 5, 22)] == [76, 145, 0, 100]


def test_a_script_presses_keys_and_sets_ports_at_its_times() -> None:
    declared = "".join(f"DIM {name} AS BYTE\n" for name in "ABC")
    text = f"{declared}main:\nA = REMOCON(1)\nIF A > 0 THEN B = A\nC = AD(5)\nGOTO main\n"
    controller = make_controller(text, "REMOCON=3@0.5, AD5=20@1, AD5=sensor@2")
    for seconds, b, c in ((0.4, 0, 115), (0.4, 3, 115), (0.5, 3, 20), (1.0, 3, 115)):
        play(controller, seconds, **{"imu.orientation": np.zeros(3)})
        assert (controller.machine.variables["B"], controller.machine.variables["C"]) == (b, c)


@pytest.mark.parametrize(
    "text",
    [
        "AD5",
        "AD5=300@1",
        "FOO=1@2",
        "REMOCON=99@1",
        "ERX=sensor@1",
        "AD5=1@-1",
        "AD5=1@99999",
        "AD9=1@1",
        "IN3=2@1",
        "REMOCON=0@1",
    ],
)
def test_a_script_that_is_wrong_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        read_inputs(text)


def test_a_breakpoint_stops_a_program_and_a_step_goes_on() -> None:
    text = "DIM A AS BYTE\nA = 1\nhere: A = 2\nA = 3\n"
    controller = make_controller(text)
    machine = controller.machine
    machine.breakpoints = [controller.program.address_of("here")]
    play(controller, 0.1)
    assert machine.variables["A"] == 1
    machine.step()
    assert (machine.variables["A"], machine.line) == (2, 4)
    machine.set_variable("a", 9)
    assert machine.variables["A"] == 9
    for wrong in (("A", 256), ("B", 1)):
        with pytest.raises(InputError):
            machine.set_variable(*wrong)
    with pytest.raises(UnknownNameError):
        controller.program.address_of("nowhere")
    assert controller.program.lines[controller.program.address_of("4")] == 4


def measure_turn(words: str, turning: np.ndarray) -> float:
    """Return by how much the gyros of a program move an ankle's pitch servo while the robot turns [deg]."""
    angles = []
    for rates in (np.zeros(3), turning):
        rows = play(make_controller(f"{words}\nmain: GOTO main\n"), 0.2, **{"imu.angular_velocity": rates})
        angles.append(float(rows[-1][ROBOT.index("left_ankle_pitch")]))
    return math.degrees(angles[1] - angles[0])


@pytest.mark.parametrize(("port", "axis"), [(1, 1), (2, 0), (3, 1), (4, 0)])
def test_a_gyro_moves_a_servo_against_the_turn_about_its_axis_by_its_sense(port: int, axis: int) -> None:
    words, turning = f"GYROSET G6A, 0, {port}\nGYROSENSE G6A, 0, 255", np.zeros(3)
    turning[axis] = math.radians(100.0)
    moved = measure_turn(words, turning)
    assert abs(moved) == pytest.approx(10.0, abs=0.1)
    assert measure_turn(words, -turning) == pytest.approx(-moved, abs=0.1)
    assert measure_turn(f"{words}\nGYRODIR G6A, 0, 1", turning) == pytest.approx(-moved, abs=0.1)
    assert measure_turn(words.replace("255", "51"), turning) == pytest.approx(moved / 5.0, abs=0.1)
    assert abs(measure_turn(words, 9.0 * turning)) == pytest.approx(20.0, abs=0.1)
    assert measure_turn(words, np.roll(turning, 1 if axis == 1 else 2)) == 0.0  # about another axis


def test_a_reading_that_is_no_number_is_none() -> None:
    inputs = BodyInputs(ROBOT)
    upside = {"imu.orientation": np.full(3, math.nan), "distance_front": math.inf, "battery": math.nan}
    inputs.update(state(**upside), 0.0)
    assert [inputs.read("AD", port) for port in (0, 5, 6)] == [0, 115, 164]


@pytest.mark.parametrize(("pitch_deg", "counts"), [(0, 84), (90, 134), (-90, 34)])
def test_the_tilt_sensor_of_later_robots_is_plugged_in_by_name(pitch_deg: float, counts: int) -> None:
    inputs = BodyInputs(ROBOT, ad_sensors=assign_ports(["2=tilt_2012"]))
    inputs.update(state(**{"imu.orientation": np.radians([0.0, pitch_deg, 0.0])}), 0.0)
    assert inputs.read("AD", 2) == pytest.approx(counts, abs=1)
    assert inputs.read("AD", 5) == pytest.approx(115 + pitch_deg / 0.9, abs=1)


def test_a_loop_inside_a_routine_is_no_round_of_the_main_loop() -> None:
    text = "DIM A AS BYTE\nGOSUB three\nEND\nthree:\nA = A + 1\nIF A < 3 THEN GOTO three\nRETURN\n"
    controller = make_controller(text)
    play(controller, 0.2)
    assert controller.machine.variables["A"] == 3
    assert controller.machine.loop_counts == {}


def test_what_happens_within_a_frame_is_told_in_its_order() -> None:
    program = make_program('BEEP\nPRINT "up"\nmain:\nGOTO main\n')
    events = basic_result(run_basic(program, body="mock"))["events"]
    assert [event["what"] for event in events] == ["beep", "print", "loop", "waits"]


def test_a_program_that_goes_on_from_a_breakpoint_tells_its_own_end() -> None:
    controller = make_controller("DIM A AS BYTE\nhere:\nA = A / A\n")
    controller.machine.breakpoints = [controller.program.address_of("here")]
    play(controller, 0.1)
    controller.machine.step()
    kinds = [event["what"] for _, event in controller.next(state(), 1).decision.events]  # type: ignore[union-attr]
    assert kinds == ["error"]


def test_a_step_over_a_wait_ends_when_the_servos_are_there() -> None:
    controller = make_controller("SPEED 5\nMOVE G6A, 100, 140\nWAIT\nEND\n")
    for line in (2, 3, 4):
        controller.machine.step()
        assert controller.machine.line == line
    assert controller.machine.board.servos.positions[1] == 140.0


def test_a_long_way_without_a_loop_is_no_wait() -> None:
    program = make_program("IF 1 = 1 THEN\n" * 15_000 + "ENDIF\n" * 15_000 + "END\n")
    assert basic_result(run_basic(program, body="mock"))["ended"] == "end"


def test_a_run_that_a_breakpoint_stopped_has_not_ended() -> None:
    program = set_up_basic("bow", breakpoints=["20"])
    assert basic_result(run_basic(program, body="mock"))["ended"] == "breakpoint"


@pytest.mark.parametrize("line", ["OUT A, 1", "TOGGLE A", "BYTEOUT A, 1"])
def test_a_computed_port_that_is_not_there_ends_the_run(line: str) -> None:
    result = basic_result(run_basic(make_program(f"DIM A AS BYTE\nA = 250\n{line}\n"), body="mock"))
    assert (result["ended"], result["line"]) == ("error", 3)


def test_one_port_has_one_sensor() -> None:
    with pytest.raises(FormatError, match="another plug already assigns"):
        assign_ports(["5=tilt", "5=battery"])


def test_a_program_waits_for_what_it_looks_at_now() -> None:
    program = make_program("DIM A AS BYTE\nA = AD(6)\nMAIN:\nA = REMOCON(1)\nGOTO MAIN\n")
    (waits,) = [
        event for event in basic_result(run_basic(program, body="mock"))["events"] if event["what"] == "waits"
    ]
    assert waits["looks_at"] == ["REMOCON(1)"]


def test_a_joint_that_nobody_saw_is_taken_for_where_servos_begin() -> None:
    controller = make_controller("MOVE G6A, 100, 100\n")
    unseen = STAND.copy()
    unseen[0] = math.nan
    assert np.isfinite(controller.next(BodyState(0.0, unseen, np.zeros(16)), 1).angles).all()


def test_of_two_keys_pressed_before_one_is_read_the_later_counts() -> None:
    inputs = BodyInputs(ROBOT, read_inputs("REMOCON=3@0.1, REMOCON=5@0.2"))
    inputs.update(state(), 1.0)
    assert [inputs.read("REMOCON", 1) for _ in range(2)] == [5, 0]


def test_a_restart_forgets_all_but_the_eeprom() -> None:
    controller = make_controller("DIM A AS BYTE\nA = ROMPEEK(1)\nROMPOKE 1, 42\nMOVE G6A, 50\n")
    play(controller, 1.0)
    assert controller.machine.variables["A"] == 255  # an erased cell
    controller.restart()
    play(controller, 1.0)
    assert controller.machine.variables["A"] == 42


def test_a_restart_draws_the_same_again() -> None:
    controller = make_controller("DIM A AS BYTE\nA = RND\nEND\n", seed=3)
    drawn = set()
    for _ in range(3):
        play(controller, 0.1)
        drawn.add(controller.machine.variables["A"])
        controller.restart()
    assert len(drawn) == 1


def test_a_run_is_told_by_its_recording_alone() -> None:
    result = basic_result(run_basic("hello", inputs="REMOCON=1@1", body="mock"))
    assert (result["ended"], result["label"], result["loops"]) == ("waits", "main", ["main"])
    assert result["error"] is None
    assert 3.0 < result["duration_s"] < 10.0


def test_an_error_while_it_runs_is_told_with_its_line_and_the_robot_stays() -> None:
    program = make_program("DIM A AS BYTE\nMOVE G6B, 100, 60\nWAIT\nA = 1 / A\n")
    result = basic_result(run_basic(program, body="mock"))
    assert result["ended"] == "error"
    assert "program.bas:4: a division by 0" in result["error"]


def test_what_waits_for_nothing_or_never_ends_is_told() -> None:
    assert basic_result(run_basic(make_program("main: GOTO main\n"), body="mock"))["ended"] == "waits"
    moving = "main:\nMOVE G6B, 100, 60\nWAIT\nMOVE G6B, 100, 30\nWAIT\nGOTO main\n"
    assert basic_result(run_basic(make_program(moving), body="mock", seconds=5))["ended"] == "running"
    assert basic_result(run_basic(make_program("MOVE G6B, 100, 60\nEND\n"), body="mock"))["ended"] == "end"


def test_on_the_simulated_robot_a_program_stands_and_raises_its_arms() -> None:
    recording = run_basic("hello", inputs="REMOCON=1@2")
    result = basic_result(recording)
    assert result["fell"] is False
    shoulder = ROBOT.index("left_shoulder_roll")
    assert np.degrees(recording.robot().positions[:, shoulder].max()) > 150.0


def test_another_robot_has_no_such_board() -> None:
    with pytest.raises(InputError, match="MR-C3024"):
        set_up_basic("hello", on="sony_ers7")


@pytest.mark.parametrize("seconds", [math.nan, math.inf, 0.0, 3601.0])
def test_a_run_of_no_length_is_refused(seconds: float) -> None:
    with pytest.raises(InputError):
        run_basic("bow", body="mock", seconds=seconds)


def test_a_program_plays_on_a_robonova_in_many_runs_too_and_its_error_is_told(tmp_path: Path) -> None:
    file = tmp_path / "dies.bas"
    file.write_text("DIM A AS BYTE\nA = 1 / A\n")
    outcome = run_trial("obstacle-race", behaviour=str(file))
    assert any("dies.bas:2: a division by 0" in remark for remark in outcome.remarks)
    batch = run_many("obstacle-race", seeds="1", behaviour=str(file), workers=1)
    assert batch.settings["robot"] == "hitec_robonova1"
