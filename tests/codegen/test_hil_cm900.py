"""A whole behaviour on the emulated CM-900 drives the robot: over a bad line, through a reset, too slowly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import posewright as pw
from posewright.buses.dynamixel.packets import GENTLE_SPEED, SPEED_RAD_S
from posewright.codegen.behaviour import BehaviourUnitSpec
from posewright.codegen.behaviour.unit_source import LINE_BAUD
from posewright.codegen.hil.board_unit import BoardUnit
from posewright.codegen.hil.boards import Board
from posewright.codegen.hil.controllers import BehaviourOnBoardController
from posewright.codegen.hil.damage import DamagedLine, LineDamage
from posewright.codegen.targets.cm900.board import EmulatedCm900
from posewright.control import Seed
from posewright.controllers.behaviours import Behaviour, read_behaviour

from .cm900_units import board_with
from .conftest import need_tool
from .hil_boards import stands

FRAME_S = 1 / 128


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    pytest.importorskip("unicorn", reason="the extra `boards` is not installed")
    need_tool("arm-none-eabi-gcc")


class At4s:
    """Ends a trial."""

    def __init__(self, plant: Any) -> None:
        pass

    def watch(self, block: Any) -> bool:
        return bool(block.states.times[-1] >= 4.0)


def on_cm900(folder: Path, damage: LineDamage) -> Board:
    """Return a board with a whole behaviour on it that waits for a second only."""

    def switch_on(behaviour: Behaviour, seed: Seed) -> BehaviourOnBoardController:
        unit_spec = BehaviourUnitSpec(replace(behaviour, wait_s=1.0))
        board = EmulatedCm900(board_with(unit_spec, folder))
        unit = BoardUnit(DamagedLine(board, damage), unit_spec, FRAME_S, baud=LINE_BAUD)
        return BehaviourOnBoardController(unit_spec, unit, board, seed)

    return Board("board", switch_on)


def test_damaged_bytes_and_a_reset_in_mid_walk_leave_the_robot_standing_and_are_reported(
    tmp_path: Path,
) -> None:
    damage = LineDamage(3e-4, 3e-4, 3e-4, resets=(2.6,))
    outcome = pw.run_trial(
        controller=on_cm900(tmp_path, damage), behaviour="document_mealy", make_watcher=At4s
    )
    assert stands(outcome)
    robot, times = outcome.recording.robot(), outcome.recording.times
    playing = robot.decisions.playing
    assert "walk_forward" in playing[: len(playing) // 2]
    after = (times > 2.65) & (times < 3.5)
    speeds = np.abs(np.diff(robot.commands[after], axis=0)).max(axis=1) / np.diff(times[after])
    assert 0.0 < speeds.max() <= GENTLE_SPEED * SPEED_RAD_S + 1e-6  # back to the start pose, without a jump
    told = outcome.to_dict()
    assert told["parity"]["mismatches"] == 0
    assert told["link"]["resets"] == 1
    assert told["link"]["retries"] > 10
    assert "was reset and begins anew" in [
        event.data["what"] for event in outcome.recording.events_of("board")
    ]
    assert "the line to the board has faults" in outcome.all_remarks[-1]


def paced(folder: Path, baud: int) -> BoardUnit:
    """Let a board with a race on it drive 16 frames over a line of that speed."""
    unit_spec = BehaviourUnitSpec(read_behaviour("obstacle_race"))
    changed = {"unit.h": (f"{LINE_BAUD}UL", f"{baud}UL")}
    unit = BoardUnit(EmulatedCm900(board_with(unit_spec, folder, changed)), unit_spec, FRAME_S, baud=baud)
    for frame, record in enumerate(unit_spec.random_inputs(16, 3)):
        unit.wait_until(frame * FRAME_S)
        unit.step(record)
    return unit


def test_the_line_is_fast_enough_for_the_longest_record(tmp_path: Path) -> None:
    unit = paced(tmp_path, LINE_BAUD)
    assert unit.parity.to_dict() == {"ticks": 16, "mismatches": 0, "missed": 0, "late": 0, "pace": 1.0}
    assert unit.counts.faults == 0


def test_a_board_that_cannot_keep_up_is_told(tmp_path: Path) -> None:
    unit = paced(tmp_path, 115_200)
    parity = unit.parity
    assert len(parity.late_times_s) == 16
    assert parity.time_ratio > 5.0  # 591 bytes take 51 ms, a frame 7.8 ms
    assert [event["what"] for _, event in unit.take_events()] == ["answers after the next tick is due"]
