"""A whole behaviour on the CM-900: same answers, it fits, and its packets leave on the bus."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import posewright.robots
from posewright.buses.dynamixel.packets import goals_in
from posewright.codegen.behaviour.unit_spec import BehaviourUnitSpec
from posewright.codegen.hil.board_link import BoardLink
from posewright.codegen.hil.frames import FrameKind
from posewright.codegen.proof.proving import input_stream
from posewright.codegen.targets.cm900.board import EmulatedCm900
from posewright.codegen.targets.cm900.processor import CortexProcessor
from posewright.codegen.targets.cm900.target import Cm900
from posewright.controllers.behaviours import read_behaviour

from .cm900_units import board_with
from .conftest import need_tool

BEHAVIOURS = Path(posewright.robots.__file__).parent / "catalogue/robotis_bioloid/behaviours"


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    pytest.importorskip("unicorn", reason="the extra `boards` is not installed")
    need_tool("arm-none-eabi-gcc")


FILLED = {"board_hooks.c": ("hooks_are_filled = false", "hooks_are_filled = true")}


def behaviour(name: str) -> BehaviourUnitSpec:
    return BehaviourUnitSpec(read_behaviour(BEHAVIOURS / f"{name}.behaviour.yaml"))


def test_a_race_fits_the_board_and_does_what_it_does_in_the_simulator() -> None:
    unit_spec = behaviour("obstacle_race")
    processor = CortexProcessor(unit_spec)
    inputs = input_stream(unit_spec).take_records(500, seed=2)
    assert processor.run(inputs).tobytes() == unit_spec.reference().run(inputs).tobytes()
    needs = processor.footprint()
    assert needs.image_flash_bytes is not None
    assert needs.image_ram_bytes is not None
    assert needs.stack_bytes is not None
    assert needs.image_flash_bytes < 48 * 1024
    assert needs.image_ram_bytes + needs.stack_bytes < 12 * 1024
    frame_s = unit_spec.behaviour.robot.frame_period_s
    assert 4 * (needs.step_cycles_worst or 0) < 72e6 * frame_s  # four cycles for each instruction


def test_every_packet_of_a_computers_ticks_leaves_on_the_bus_as_the_record_has_it(tmp_path: Path) -> None:
    unit_spec = behaviour("document_mealy")
    board = EmulatedCm900(board_with(unit_spec, tmp_path))
    link = BoardLink(board, timeout_s=0.05)
    assert link.greet(1.0) is not None
    board.bus()
    inputs = input_stream(unit_spec).take_records(60, seed=4)
    expected = unit_spec.reference().run(inputs)
    for given, state in zip(inputs, expected, strict=True):
        answer = link.send_request(link.new_request(FrameKind.STEP, given.tobytes()))
        assert answer == state.tobytes()
        assert bytes(byte for _, byte in board.bus()) == state["packet"].tobytes()


def test_alone_it_sends_a_packet_every_servo_frame(tmp_path: Path) -> None:
    unit_spec = behaviour("document_mealy")
    board = EmulatedCm900(board_with(unit_spec, tmp_path, FILLED))
    board.advance(1.0)
    sent = board.bus()
    size = unit_spec.state_dtype["packet"].itemsize
    starts = np.array([time_s for time_s, _ in sent])[::size]
    assert np.diff(starts).mean() == pytest.approx(unit_spec.behaviour.robot.frame_period_s, abs=5e-6)
    assert {bytes(byte for _, byte in sent[:4])} == {b"\xff\xff\xfe" + bytes([size - 4])}


def test_a_board_that_is_late_holds_its_pose_goes_on_from_there_and_counts_it(tmp_path: Path) -> None:
    unit_spec = BehaviourUnitSpec(replace(behaviour("document_mealy").behaviour, wait_s=0.0))
    late = unit_spec.state_dtype.fields["late"][1]  # type: ignore[index]
    slow = """{
    static uint8_t calls;
    calls++;
    for (volatile uint32_t k = 0U; (calls == 20U) && (k < 500000U); k++) {
    }
"""
    user = "void hook_inputs(uint8_t *input)\n{", f"void hook_inputs(uint8_t *input)\n{slow}"
    folder = tmp_path / "slow"
    folder.mkdir()
    board_with(unit_spec, folder, FILLED)
    hooks = (folder / "board_hooks.c").read_text().replace(*user)
    shown = f"board_set_pin(BOARD_PORT_B, 12U, state[{late}] > 2U);"
    (folder / "board_hooks.c").write_text(hooks.replace("(void)state;", shown))
    board = EmulatedCm900(Cm900().build(folder).elf)
    board.advance(0.9)
    sent, size = board.bus(), unit_spec.state_dtype["packet"].itemsize
    packets = [bytes(byte for _, byte in sent[k : k + size]) for k in range(0, len(sent) - size + 1, size)]
    gaps = np.diff([time_s for time_s, _ in sent][::size])
    assert np.flatnonzero(gaps > 1.5 / 128).tolist() == [18]  # one gap, in which nothing was sent
    assert gaps[18] > 3 / 128
    frames = np.array([[goal for goal, _ in goals_in(packet).values()] for packet in packets])
    steps = np.abs(np.diff(frames, axis=0)).max(axis=1)
    assert steps[18] <= steps[:30].max()  # and none of what was missed is caught up
    assert np.ptp(frames, axis=0).max() > 5
    assert board.chip.output("B", 12)
