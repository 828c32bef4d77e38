"""Hardware in the loop: a board decides, the interpreter agrees, and a bad line leaves the robot standing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posewright as pw
from posewright.bodies import MockBody, quiet_readings
from posewright.buses.dynamixel.packets import split_packets
from posewright.buses.serial_port import SerialPort
from posewright.codegen.behaviour import BehaviourUnitSpec
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.hil.board_unit import BoardUnit
from posewright.codegen.hil.boards import SMALL_BEHAVIOURS, Board, chart_controller, emulate_board, find_board
from posewright.codegen.hil.controllers import BehaviourOnBoardController, BoardController, LinkedController
from posewright.codegen.hil.damage import DamagedLine, LineDamage
from posewright.codegen.hil.serial_line import BAUD, PREFIX, SerialLine
from posewright.codegen.targets.arduino_uno import EmulatedUno
from posewright.codegen.targets.arduino_uno.toolchain import require_fitting_size
from posewright.codegen.toolchains import TooLargeError
from posewright.control import Block, Program, Seed
from posewright.controllers.behaviours import Behaviour, read_behaviour
from posewright.errors import BodyError, InputError, UnknownNameError
from posewright.figures import draw_parity
from posewright.runs import Outcome, draw_board
from posewright.runtimes.robobasic import set_up_basic

from .conftest import need_tool
from .hil_boards import HostBoard, Plugged, Wrong, host_board, stands

SOUND = LineDamage()


@pytest.fixture(scope="module")
def mealy() -> Behaviour:
    return read_behaviour("document_mealy")


@pytest.fixture(scope="module")
def unit_spec(mealy: Behaviour) -> ChartUnitSpec:
    return ChartUnitSpec(mealy.chart)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_tool("gcc")
    return tmp_path_factory.mktemp("board")


@pytest.fixture
def board(folder: Path, unit_spec: ChartUnitSpec) -> HostBoard:
    return host_board(folder, unit_spec)


def until(time_s: float) -> Callable[[Any], Any]:
    """Make what ends a trial at a time."""

    class Ending:
        def __init__(self, plant: Any) -> None:
            pass

        def watch(self, block: Block) -> bool:
            return bool(block.states.times[-1] >= time_s)

    return Ending


def on(board: HostBoard, damage: LineDamage = SOUND) -> Board:
    """Return a board with a behaviour's chart on it, at the end of a line."""

    def switch_on(behaviour: Behaviour, seed: Seed) -> BoardController:
        return chart_controller(DamagedLine(board, damage), behaviour, seed)

    return Board("board", switch_on)


def told(outcome: Outcome) -> list[str]:
    return [str(event.data["what"]) for event in outcome.recording.events_of("board")]


def speed_at_end(outcome: Outcome) -> float:
    """Return how fast any joint was commanded in the last half second [rad/s]."""
    recording = outcome.recording
    last = recording.times > recording.times[-1] - 0.5
    commands = recording.robot().commands[last]
    return float(np.abs(np.diff(commands, axis=0)).max() / np.diff(recording.times[last]).max())


def test_a_chart_on_a_board_moves_the_robot_as_the_interpreter_does(board: HostBoard) -> None:
    how: Any = {"make_watcher": until(10.0)}
    here = pw.run_trial(behaviour="document_mealy", **how)
    there = pw.run_trial(behaviour="document_mealy", controller=on(board), **how)
    assert there.recording.digest() == here.recording.digest()
    assert there.to_dict()["parity"] == {"ticks": 49, "mismatches": 0, "missed": 0, "late": 0, "pace": 1.0}
    assert (there.remarks, there.all_remarks) == ((), ())
    assert here.to_dict()["controller"] == "python"


def test_a_dead_line_leaves_the_robot_standing_and_is_reported(board: HostBoard) -> None:
    dead = LineDamage(silent=((7.0, 99.0),))
    outcome = pw.run_trial(behaviour="document_mealy", controller=on(board, dead), make_watcher=until(12.0))
    assert speed_at_end(outcome) == 0.0
    assert stands(outcome)
    assert told(outcome) == ["no answer in time"]
    assert outcome.board is not None
    assert outcome.board.unanswered > 40
    assert "the robot had to stand still" in outcome.all_remarks[0]


def test_a_board_that_is_reset_in_mid_walk_begins_anew_and_is_reported(board: HostBoard) -> None:
    outcome = pw.run_trial(
        behaviour="document_mealy",
        controller=on(board, LineDamage(resets=(7.0, 8.0))),
        make_watcher=until(9.5),
    )
    assert told(outcome).count("was reset and begins anew") == 2
    assert stands(outcome)
    assert outcome.to_dict()["parity"]["mismatches"] == 0
    assert outcome.to_dict()["link"]["resets"] == 2
    assert outcome.recording.robot().decisions.states[-1] != "stopped"


def test_a_wrong_board_is_caught_and_said(folder: Path, unit_spec: ChartUnitSpec) -> None:
    wrong = host_board(folder, unit_spec, Wrong(unit_spec.reference(), 7))
    unit = BoardUnit(wrong, unit_spec, 0.1)
    record = np.zeros(1, unit_spec.input_dtype)[0]
    for tick in range(10):
        unit.wait_until(0.1 * tick)
        unit.step(record)
    assert unit.parity.to_dict() == {
        "ticks": 10,
        "mismatches": 1,
        "missed": 0,
        "late": 0,
        "pace": 1.0,
        "first_mismatch_s": 0.1 * 6,
    }


rates = st.floats(0.0, 0.02)


@given(damage=st.builds(LineDamage, rates, rates, rates, seed=st.integers(0, 999)))
@settings(max_examples=15)
def test_whatever_the_line_does_each_step_is_taken_once_and_agrees(
    damage: LineDamage, folder: Path, unit_spec: ChartUnitSpec
) -> None:
    board = host_board(folder, unit_spec)
    unit = BoardUnit(DamagedLine(board, damage), unit_spec, 0.1)
    chance = np.random.default_rng(damage.seed)
    for tick in range(40):
        unit.wait_until(0.1 * tick)
        unit.step(np.array([tuple(chance.integers(0, 2, 3))], unit_spec.input_dtype)[0])
    parity = unit.parity
    assert not parity.mismatches
    assert len(parity.steps) <= board.steps <= len(parity.steps) + 1  # the last one may be answered yet
    assert len(parity.steps) + len(parity.missed_times_s) >= 40


def test_a_board_at_a_serial_port_is_the_same(board: HostBoard, unit_spec: ChartUnitSpec) -> None:
    pytest.importorskip("serial")
    with Plugged(board) as plugged:
        line = SerialLine(SerialPort.parse(f"serial:{plugged.port}@115200", PREFIX, BAUD))
        unit = BoardUnit(line, unit_spec, 0.1, is_real=True)
        for front in (0, 1, 0):
            assert unit.step(np.array([(front, 0, 0)], unit_spec.input_dtype)[0]) is not None
        with pytest.raises(BodyError, match="port busy"):
            SerialLine(SerialPort(plugged.port, BAUD))
        unit.close()
    assert unit.parity.to_dict() == {"ticks": 3, "mismatches": 0, "missed": 0, "late": 0, "pace": 1.0}


@pytest.mark.parametrize("text", ["serial:", "serial:/dev/ttyACM0@", "serial:COM3@fast"])
def test_a_port_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not the address of a serial port"):
        pw.run_trial(controller=text)


def test_a_port_that_is_not_there_is_said() -> None:
    pytest.importorskip("serial")
    with pytest.raises(BodyError, match="no such port"):
        pw.run_trial(controller="serial:/dev/nowhere")


def test_an_unknown_controller_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="arduino-uno"):
        pw.run_trial(controller="arduino-due")


def test_a_board_with_something_else_on_it_is_refused(board: HostBoard) -> None:
    other = ChartUnitSpec(read_behaviour("obstacle_race").chart)
    with pytest.raises(BodyError, match=other.name):
        BoardUnit(board, other, 0.1)


def test_a_line_on_which_nobody_answers_is_said(board: HostBoard, unit_spec: ChartUnitSpec) -> None:
    board.close()
    with pytest.raises(BodyError, match="no board answers"):
        BoardUnit(board, unit_spec, 0.1)


def test_the_emulated_uno_decides_as_the_interpreter_does() -> None:
    need_tool("avr-gcc")
    outcome = pw.run_trial(behaviour="document_mealy", controller="arduino-uno", make_watcher=until(6.0))
    here = pw.run_trial(behaviour="document_mealy", make_watcher=until(6.0))
    assert outcome.recording.digest() == here.recording.digest()
    assert outcome.to_dict()["parity"] == {"ticks": 9, "mismatches": 0, "missed": 0, "late": 0, "pace": 1.0}
    assert outcome.all_remarks == ()


def test_a_bad_line_to_the_emulated_uno_and_its_reset_are_lived_through() -> None:
    need_tool("avr-gcc")
    damage = LineDamage(0.005, 0.005, 0.005, resets=(6.0,))
    outcome = pw.run_trial(behaviour="document_mealy", controller=on_uno(damage), make_watcher=until(8.0))
    counts = outcome.to_dict()
    assert "was reset and begins anew" in told(outcome)
    assert stands(outcome)
    assert counts["link"]["retries"] > 0
    assert counts["link"]["resets"] == 1
    assert counts["parity"]["mismatches"] == 0


def on_uno(damage: LineDamage) -> Board:
    def switch_on(behaviour: Behaviour, seed: Seed) -> BoardController:
        uno = emulate_board(EmulatedUno, "arduino-uno", ChartUnitSpec(behaviour.chart))
        return chart_controller(DamagedLine(uno, damage), behaviour, seed)

    return Board("arduino-uno", switch_on)


def test_servo_packets_of_the_emulated_cm900_move_the_robot() -> None:
    need_tool("arm-none-eabi-gcc")
    pytest.importorskip("unicorn")

    def at_once(behaviour: Behaviour, seed: Seed) -> LinkedController:
        cm900 = find_board("cm900")
        assert cm900 is not None
        return cm900.switch_on(replace(behaviour, wait_s=0.0), seed)

    outcome = pw.run_trial(
        controller=Board("cm900", at_once), behaviour="document_mealy", make_watcher=until(1.0)
    )
    robot = outcome.recording.robot()
    assert outcome.to_dict()["parity"]["mismatches"] == 0
    assert (outcome.to_dict()["held"], outcome.all_remarks) == (0, ())
    assert (robot.decisions.states[-1], robot.decisions.playing[-1]) == ("walking", "walk_forward")
    assert np.ptp(robot.commands, axis=0).max() > 0.1


def test_a_bus_that_falls_silent_leaves_the_pose_held_and_is_counted(folder: Path, mealy: Behaviour) -> None:
    class Silent:
        def bus(self) -> tuple[tuple[float, int], ...]:
            return ()

    whole = BehaviourUnitSpec(mealy)
    unit = BoardUnit(host_board(folder, whole), whole, mealy.robot.frame_period_s)
    controller = BehaviourOnBoardController(whole, unit, Silent())
    quiet = quiet_readings(mealy.sensors)
    body = MockBody(mealy.robot, lambda _time_s: quiet, positions=mealy.start_pose)
    rows = [controller.next(body.read(), 1) for _ in range(3)]
    assert (controller.unanswered, unit.parity.to_dict()["ticks"]) == (3, 3)
    assert all((one.angles == mealy.start_pose).all() for one in rows)


@pytest.mark.parametrize("name", ["arduino-uno", "cm900", "serial:/dev/ttyACM0", "serial:COM3@57600"])
def test_a_board_is_found_by_its_name(name: str) -> None:
    board = find_board(name)
    assert board is not None
    assert board.name == name


def test_python_is_no_board() -> None:
    assert find_board("python") is None


def test_a_behaviour_on_a_board_is_the_program_it_was_and_reports_when_the_line_is_closed(
    board: HostBoard, mealy: Behaviour
) -> None:
    program = on(board).program(mealy)
    assert isinstance(program, Program)
    assert (program.name, program.kind, program.robot) == ("document_mealy", "behaviour", mealy.robot)
    assert program.documents == mealy.documents
    assert program.report() is None
    controller = program.controller(0)
    body = MockBody(mealy.robot, lambda _time_s: quiet_readings(mealy.sensors), positions=mealy.start_pose)
    controller.next(body.read(), 1)
    controller.close()
    report = program.report()
    assert report is not None
    assert (report.controller, report.unanswered) == ("board", 0)
    assert report.parity.mismatches == ()


def test_what_is_too_large_for_a_board_is_refused_with_the_name_of_what_fits(mealy: Behaviour) -> None:
    def switch_on(_behaviour: Behaviour, _seed: Seed) -> LinkedController:
        require_fitting_size(40_000, 0)
        raise AssertionError

    small = Board("arduino-uno", switch_on, {mealy.robot.name: "document_mealy"})
    program = small.program(read_behaviour("obstacle_race"))
    with pytest.raises(TooLargeError, match="obstacle_race does not fit the board arduino-uno: it ") as error:
        program.controller(0)
    assert error.value.hint is not None
    assert error.value.hint.startswith("the behaviour document_mealy fits; or fewer states")


def test_every_behaviour_that_is_named_as_small_ships_for_its_robot() -> None:
    assert {read_behaviour(name).robot.name: name for name in SMALL_BEHAVIOURS.values()} == SMALL_BEHAVIOURS


def test_only_a_behaviour_runs_on_a_board(board: HostBoard) -> None:
    with pytest.raises(InputError, match="hello cannot run on a board"):
        on(board).program(set_up_basic("hello"))


def test_packets_are_cut_out_of_what_goes_over_a_servo_bus() -> None:
    one, two = bytes.fromhex("fffffe0403100afe"), bytes.fromhex("ffff010201fb")
    assert split_packets(b"\x00" + one + two + one[:5]) == ([one, two], one[:5])
    assert split_packets(one[:1]) == ([], one[:1])


def test_the_picture_shows_both_and_where_they_differ(board: HostBoard) -> None:
    pytest.importorskip("matplotlib")
    outcome = pw.run_trial(behaviour="document_mealy", controller=on(board), make_watcher=until(6.0))
    assert "differ: 0 of 9 ticks" in words(draw_board(outcome))
    figure = draw_parity([0.0, 0.1, 0.3], ["a", "b", "b"], ["a", "a", "b"], missed=[0.2])
    assert {"differ: 1 of 3 ticks", "not answered in time: 1"} <= words(figure)
    with pytest.raises(InputError, match="did not run on a board"):
        draw_board(pw.run_trial(behaviour="document_mealy", make_watcher=until(0.1)))


def words(figure: Any) -> set[str]:
    return {text.get_text() for legend in figure.legends for text in legend.get_texts()}
