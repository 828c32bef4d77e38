"""A whole behaviour on the CM-900: same answers, it fits, and its packets leave on the bus."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import posewright.robots
from posewright.behaviours import read_behaviour
from posewright.codegen.behaviour.subject import BehaviourSubject
from posewright.codegen.hil.board_link import BoardLink
from posewright.codegen.hil.frames import FrameKind
from posewright.codegen.proof.proving import stream_of
from posewright.codegen.targets.cm900.board import EmulatedCm900
from posewright.codegen.targets.cm900.processor import CortexProcessor

from .cm900_units import board_with
from .conftest import need_tool

BEHAVIOURS = Path(posewright.robots.__file__).parent / "catalogue/robotis_bioloid/behaviours"


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    pytest.importorskip("unicorn", reason="the extra `boards` is not installed")
    need_tool("arm-none-eabi-gcc")


def behaviour(name: str) -> BehaviourSubject:
    return BehaviourSubject(read_behaviour(BEHAVIOURS / f"{name}.behaviour.yaml"))


def test_a_race_fits_the_board_and_does_what_it_does_in_the_simulator() -> None:
    subject = behaviour("obstacle_race")
    processor = CortexProcessor(subject)
    inputs = stream_of(subject).take(500, seed=2)
    assert processor.run(inputs).tobytes() == subject.reference().run(inputs).tobytes()
    needs = processor.footprint()
    assert needs.image_flash_bytes is not None
    assert needs.image_ram_bytes is not None
    assert needs.stack_bytes is not None
    assert needs.image_flash_bytes < 48 * 1024
    assert needs.image_ram_bytes + needs.stack_bytes < 12 * 1024
    frame_s = subject.behaviour.robot.frame_period_s
    assert (needs.step_cycles_worst or 0) < 72e6 * frame_s


def test_every_packet_of_a_computers_ticks_leaves_on_the_bus_as_the_record_has_it(tmp_path: Path) -> None:
    subject = behaviour("document_mealy")
    board = EmulatedCm900(board_with(subject, tmp_path))
    link = BoardLink(board, timeout_s=0.05)
    assert link.greet(1.0) is not None
    board.bus()
    inputs = stream_of(subject).take(60, seed=4)
    expected = subject.reference().run(inputs)
    for given, state in zip(inputs, expected, strict=True):
        answer = link.ask(link.question(FrameKind.STEP, given.tobytes()))
        assert answer == state.tobytes()
        assert bytes(byte for _, byte in board.bus()) == state["packet"].tobytes()


def test_alone_it_sends_a_packet_every_servo_frame(tmp_path: Path) -> None:
    subject = behaviour("document_mealy")
    board = EmulatedCm900(board_with(subject, tmp_path))
    board.advance(1.0)
    sent = board.bus()
    size = subject.states["packet"].itemsize
    starts = np.array([time_s for time_s, _ in sent])[::size]
    assert np.diff(starts).mean() == pytest.approx(subject.behaviour.robot.frame_period_s, abs=5e-6)
    assert {bytes(byte for _, byte in sent[:4])} == {b"\xff\xff\xfe" + bytes([size - 4])}
