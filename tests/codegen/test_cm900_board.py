"""The CM-900 emulated with the image that is flashed: its tick, its bus, its line, and what goes wrong."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from posewright.charts import read_chart
from posewright.codegen.c import ChartUnitSpec
from posewright.codegen.hil.board_link import BoardLink
from posewright.codegen.hil.frames import FrameKind
from posewright.codegen.proof.proving import input_stream
from posewright.codegen.targets.cm900.board import EmulatedCm900
from posewright.errors import BodyError

from .cm900_units import board_with, counting, packets
from .conftest import need_tool

CHARTS = Path(__file__).resolve().parents[2] / "examples" / "charts"
PACKET = bytes(range(6))


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    pytest.importorskip("unicorn", reason="the extra `boards` is not installed")
    need_tool("arm-none-eabi-gcc")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the board that counts its steps."""
    return board_with(counting(), tmp_path_factory.mktemp("counting"))


def linked(board: EmulatedCm900) -> BoardLink:
    link = BoardLink(board, timeout_s=0.02)
    assert link.greet(1.0) is not None
    return link


def step(link: BoardLink, value: int = 0) -> bytes | None:
    return link.send_request(link.new_request(FrameKind.STEP, bytes([value])))


def test_alone_it_sends_a_packet_every_period_over_the_bus(image: Path) -> None:
    board = EmulatedCm900(image)
    board.advance(0.505)
    sent = packets(board)
    assert [data for _, data in sent] == [PACKET + bytes([0, k + 1]) for k in range(50)]
    gaps = np.diff([time_s for time_s, _ in sent])
    assert gaps.min() > 0.0095
    assert gaps.max() < 0.0105
    assert gaps.mean() == pytest.approx(0.01, abs=1e-5)


def test_bytes_of_a_packet_follow_one_another_at_1_mbps(image: Path) -> None:
    board = EmulatedCm900(image)
    board.advance(0.02)
    times = [time_s for time_s, _ in board.bus()]
    assert np.diff(times[:8]) == pytest.approx(10e-6)


def test_without_a_crystal_it_keeps_its_period_and_its_bauds(image: Path) -> None:
    board = EmulatedCm900(image, has_crystal=False)
    said = board.advance(0.505)
    assert board.chip.core_hz == 64_000_000
    assert b"written" in said
    sent = packets(board)
    assert np.diff([time_s for time_s, _ in sent]).mean() == pytest.approx(0.01, abs=1e-5)
    board.advance(0.01)
    assert linked(board).counts.faults == 0


def test_without_its_pll_it_knows_that_it_runs_at_8_mhz(tmp_path: Path) -> None:
    stuck = ("RCC_CR |= RCC_CR_PLLON;", "")
    board = EmulatedCm900(board_with(counting(period_us=100_000), tmp_path, {"board.c": stuck}))
    board.advance(2.05)
    assert board.chip.core_hz == 8_000_000
    assert linked(board).counts.faults == 0


def test_inputs_that_nobody_has_filled_in_leave_the_board_standing(tmp_path: Path) -> None:
    unit = counting(inputs=np.dtype([("range_m", "<f8")]))
    board = EmulatedCm900(board_with(unit, tmp_path))
    assert lamp(board, 1.0) in {7, 8}
    assert packets(board) == []
    link = linked(board)
    assert link.send_request(link.new_request(FrameKind.STEP, bytes(8))) == bytes(
        [0, 1, 0]
    )  # a computer fills them in
    assert len(packets(board)) == 1


def test_with_a_crystal_it_runs_at_72_mhz(image: Path) -> None:
    board = EmulatedCm900(image)
    board.advance(0.1)
    assert board.chip.core_hz == 72_000_000


def test_a_program_that_forgets_the_direction_of_the_bus_moves_nothing(tmp_path: Path) -> None:
    changed = {"board.c": ("    bus_direction(true);\n", "")}
    board = EmulatedCm900(board_with(counting(), tmp_path, changed))
    board.advance(0.1)
    assert board.bus() == ()


def test_a_program_that_lets_go_of_the_bus_too_early_loses_what_is_not_out(tmp_path: Path) -> None:
    wait = "    while ((USART_SR(USART1) & USART_SR_TC) == 0UL) {\n    }\n"
    board = EmulatedCm900(board_with(counting(), tmp_path, {"board.c": (wait, "")}))
    board.advance(0.015)
    assert 0 < len(board.bus()) < 8


def test_analogue_inputs_reach_the_unit_through_the_users_file(tmp_path: Path) -> None:
    shown = ("(void)state;", "board_set_pin(BOARD_PORT_B, 12U, state[2] != 0U);")
    board = EmulatedCm900(board_with(counting(), tmp_path, {"board_hooks.c": shown}))
    seen = []
    for measured in (0, 4095, 2000, 2100):
        board.chip.analogue[0] = measured
        board.advance(0.03)
        seen.append(board.chip.output("B", 12))
    assert seen == [False, True, False, True]


def test_a_computer_gives_the_ticks_and_the_chart_answers_as_the_interpreter_does(tmp_path: Path) -> None:
    unit_spec = ChartUnitSpec(read_chart(CHARTS / "document/obstacle_mealy.chart.yaml"))
    link = linked(EmulatedCm900(board_with(unit_spec, tmp_path)))
    inputs = input_stream(unit_spec).take_records(300, seed=1)
    expected = unit_spec.reference().run(inputs)
    for given, state in zip(inputs, expected, strict=True):
        assert link.send_request(link.new_request(FrameKind.STEP, given.tobytes())) == state.tobytes()
    assert link.counts.faults == 0


def test_each_tick_of_a_computer_sends_one_packet(image: Path) -> None:
    board = EmulatedCm900(image)
    board.advance(0.055)
    link = linked(board)
    board.bus()
    for k in range(20):
        assert step(link, k) == bytes([0, k + 1, k])  # greeting it has put it back to its first tick
    assert [data[-1] for _, data in packets(board)] == list(range(1, 21))


def test_a_frame_that_comes_while_the_unit_works_is_not_lost(tmp_path: Path) -> None:
    work = "for (volatile uint32_t k = 0U; k < 20000U; k++) { }"  # some 2 ms: 20 bytes at 115200
    board = EmulatedCm900(board_with(counting(work), tmp_path))
    link = linked(board)
    first, second = (link.new_request(FrameKind.STEP, bytes([k])) for k in (1, 2))
    assert link.send_request(first) is not None
    for number in (3, 4):
        board.send(bytes(200))  # noise, of no frame
        assert step(link, number) is not None
    assert link.send_request(second) is not None
    assert board.chip.n_lost_bytes == 0


def lamp(board: EmulatedCm900, seconds: float) -> int:
    """Return how often the lamp is switched over in a time."""
    lit = [board.chip.output("B", 2) for _ in range(round(seconds / 0.02)) if board.advance(0.02) is not None]
    return int(np.count_nonzero(np.diff(lit)))


def test_while_a_computer_is_silent_nothing_moves_and_the_lamp_blinks(image: Path) -> None:
    board = EmulatedCm900(image)
    link = linked(board)
    assert step(link) is not None
    board.bus()
    assert lamp(board, 2.0) in {3, 4}
    assert board.bus() == ()
    assert step(link) == bytes([0, 2, 0])
    assert len(packets(board)) == 1


def test_ticks_that_were_missed_are_told_and_not_caught_up(tmp_path: Path) -> None:
    work = "if (steps == 5U) { for (volatile uint32_t k = 0U; k < 300000U; k++) { } }"  # over two periods
    board = EmulatedCm900(board_with(counting(work), tmp_path))
    board.advance(0.205)
    sent = [(data[6], data[7]) for _, data in packets(board)]
    assert [steps for _, steps in sent] == list(range(1, len(sent) + 1))
    assert [late for late, _ in sent[:5]] == [0] * 5
    (missed,) = {late for late, _ in sent[5:]}
    assert missed in {1, 2}
    assert missed + len(sent) == 20


def test_a_period_of_no_whole_microseconds_is_kept_on_average(tmp_path: Path) -> None:
    unit = counting(period_us=1000)
    more = ("#define UNIT_PACKET_BYTES", "#define UNIT_PERIOD_NS 1000400UL\n#define UNIT_PACKET_BYTES")
    board = EmulatedCm900(board_with(unit, tmp_path, {"unit.h": more}))
    board.advance(0.6)
    times = [time_s for time_s, _ in packets(board)]
    assert (times[500] - times[0]) / 500 == pytest.approx(1000.4e-6, abs=0.6e-6)


@pytest.fixture(scope="module")
def hanging(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a board that hangs in its third step."""
    return board_with(counting("while (steps == 3U) { }"), tmp_path_factory.mktemp("hanging"))


def test_a_step_that_hangs_ends_in_a_reset_after_which_nothing_moves(hanging: Path) -> None:
    board = EmulatedCm900(hanging)
    assert board.advance(0.8).count(b"written") == 1
    assert len(packets(board)) == 2
    assert board.advance(0.4).count(b"written") == 1  # it starts anew, and says so
    assert packets(board) == []
    assert lamp(board, 2.0) in {15, 16}
    assert step(linked(board)) == bytes([0, 1, 0])


def test_the_reset_button_gives_the_ticks_back_to_a_board_that_hung(hanging: Path) -> None:
    board = EmulatedCm900(hanging)
    board.advance(3.0)
    board.bus()
    board.press_reset()
    assert b"written" in board.advance(0.055)
    assert len(packets(board)) == 2


def test_a_reset_in_the_middle_is_noticed(image: Path) -> None:
    board = EmulatedCm900(image)
    link = linked(board)
    assert step(link) is not None
    board.press_reset()
    assert step(link) is None
    assert link.was_reset
    assert link.greet(1.0) is not None
    assert step(link) == bytes([0, 1, 0])


def test_time_goes_on_only_when_it_is_told_to(image: Path) -> None:
    def sent(*slices: float) -> list[bytes]:
        board = EmulatedCm900(image)
        for seconds in slices:
            board.advance(seconds)
        assert board.time_s == pytest.approx(sum(slices))
        return [data for _, data in packets(board)]

    assert sent(0.255) == sent(*[0.001] * 255) == sent(0.2, 0.0, 0.055)


@pytest.mark.parametrize("address", ["0x30000000UL", "0x08003000UL"], ids=["nowhere", "flash"])
def test_a_stray_write_is_told_with_its_place(tmp_path: Path, address: str) -> None:
    board = EmulatedCm900(board_with(counting(f"*(volatile uint8_t *){address} = 1U;"), tmp_path))
    with pytest.raises(BodyError, match="fails on the emulated processor, at 0x0800"):
        board.advance(0.1)


def test_the_boards_own_code_passes_cppcheck(image: Path) -> None:
    checker = need_tool("cppcheck")
    files = [image.parents[1] / name for name in ("startup.c", "board.c", "main.c", "board_hooks.c")]
    kinds = "--enable=warning,style,performance,portability"
    silent = ["--suppress=missingIncludeSystem", "--inline-suppr", "--quiet", "--error-exitcode=1"]
    command = [checker, "--std=c99", "--platform=arm32-wchar_t4", kinds, *silent, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
