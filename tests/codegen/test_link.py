"""The serial line: the board's half in C and the computer's in Python agree, whatever happens to bytes."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.codegen.hil.frames import (
    FRAME_OVERHEAD,
    START,
    FrameKind,
    FrameReader,
    Hello,
    LinkFrame,
    crc16,
)

from .conftest import need_tool
from .hil_boards import STRICT, TARGETS, compile_link

INPUT_BYTES, STATE_BYTES = 3, 5

frames = st.builds(LinkFrame, st.sampled_from(FrameKind), st.integers(0, 255), st.binary(max_size=40))


class Echo:
    """`link.c` with a unit whose state is its last inputs and how many steps it took."""

    def __init__(self, library: Path) -> None:
        self.c = ctypes.CDLL(str(library))
        self.out = bytearray()
        self.steps = 0
        self._wired = (
            ctypes.CFUNCTYPE(None, ctypes.c_uint8)(self.out.append),
            ctypes.CFUNCTYPE(None)(self._reset),
        )
        self.c.link_take.restype = ctypes.c_bool
        self.start()

    def start(self) -> None:
        self.c.wire(*self._wired)
        self.c.link_init()
        self._reset()

    def _reset(self) -> None:
        self.steps = 0

    def say(self, *asked: LinkFrame | bytes) -> list[LinkFrame]:
        """Send frames or bytes, and return what the board answers."""
        self.out.clear()
        record, sequence = ctypes.create_string_buffer(INPUT_BYTES), ctypes.c_uint8()
        for byte in b"".join(one if isinstance(one, bytes) else one.encode() for one in asked):
            self.c.link_receive(byte)
            if self.c.link_take(record, ctypes.byref(sequence)):
                self.steps += 1
                self.c.link_reply(sequence, record.raw + bytes([self.steps, 0]))
        return list(FrameReader().feed(bytes(self.out)))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_tool("gcc")
    return compile_link(tmp_path_factory.mktemp("link"), "echo", INPUT_BYTES, STATE_BYTES, 20_000)


@pytest.fixture
def fresh(library: Path) -> Echo:
    return Echo(library)


@pytest.fixture
def board(fresh: Echo) -> Echo:
    fresh.say(HELLO)
    return fresh


HELLO, RESET = LinkFrame(FrameKind.HELLO, 1), LinkFrame(FrameKind.RESET, 9)


def step(sequence: int, payload: bytes = b"abc") -> LinkFrame:
    return LinkFrame(FrameKind.STEP, sequence, payload)


def test_the_crc_is_that_of_the_catalogue() -> None:
    assert crc16(b"123456789") == 0x29B1


@pytest.mark.parametrize(
    "compiler",
    [("gcc",), ("avr-gcc", "-mmcu=atmega328p"), ("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb")],
)
def test_the_boards_half_compiles_without_a_warning(compiler: tuple[str, ...], library: Path) -> None:
    need_tool(compiler[0])
    command = (*compiler, *STRICT, f"-I{library.parent}", "-c", str(TARGETS / "link.c"), "-o")
    subprocess.run([*command, str(library.parent / "link.o")], check=True)


def test_a_board_says_hello_when_it_starts_and_when_it_is_asked(fresh: Echo) -> None:
    (started,) = FrameReader().feed(bytes(fresh.out))
    (asked,) = fresh.say(HELLO)
    assert (started.sequence, asked.sequence) == (0, HELLO.sequence)
    assert Hello.decode(started.payload) == Hello.decode(asked.payload)
    assert Hello.decode(asked.payload) == Hello(1, True, INPUT_BYTES, STATE_BYTES, 0.02, "echo")


@given(frame=frames)
def test_both_halves_write_the_same_bytes(library: Path, frame: LinkFrame) -> None:
    board = Echo(library)
    answers = board.say(HELLO, frame)
    assert bytes(board.out) == b"".join(answer.encode() for answer in answers)


def test_a_board_that_was_not_greeted_refuses(fresh: Echo) -> None:
    assert fresh.say(step(7)) == [LinkFrame(FrameKind.REFUSED, 7, b"\x01")]
    assert fresh.steps == 0


def test_a_question_that_comes_again_is_answered_alike_and_stepped_once(board: Echo) -> None:
    first, again = board.say(step(7), step(7))
    assert first == again == LinkFrame(FrameKind.STEP_ANSWER, 7, b"abc\x01\x00")
    assert board.say(step(8)) == [LinkFrame(FrameKind.STEP_ANSWER, 8, b"abc\x02\x00")]


def test_a_reset_begins_the_unit_anew_but_once(board: Echo) -> None:
    board.say(step(8))
    assert board.say(RESET) == [LinkFrame(FrameKind.RESET_ANSWER, 9)]
    assert board.steps == 0


def test_who_greets_again_is_not_given_the_answer_to_an_older_question(board: Echo) -> None:
    board.say(step(1))
    assert board.say(HELLO, step(1))[-1].payload == b"abc\x02\x00"


@given(before=st.binary(max_size=30), between=st.binary(max_size=30))
def test_a_board_finds_its_frame_after_any_garbage(library: Path, before: bytes, between: bytes) -> None:
    """What was taken for the beginning of a frame costs at most one question, which is asked again."""
    board = Echo(library)
    greeted = [one for _ in range(3) for one in board.say(before, HELLO)]
    assert FrameKind.HELLO_ANSWER in {one.kind for one in greeted}
    answers = board.say(between, step(3), step(3), step(3))
    assert answers[-1] == LinkFrame(FrameKind.STEP_ANSWER, 3, b"abc\x01\x00")


@given(found=st.lists(frames, max_size=4), garbage=st.binary(max_size=30))
def test_a_computer_finds_every_frame_after_any_garbage(found: list[LinkFrame], garbage: bytes) -> None:
    reader = FrameReader()
    data = garbage + b"".join(one.encode() for one in found)
    seen = [one for byte in data for one in reader.feed(bytes([byte]))]
    seen += reader.flush()
    assert seen[len(seen) - len(found) :] == found


@given(frame=frames, data=st.data())
def test_a_computer_takes_no_frame_with_a_burst_of_wrong_bits(frame: LinkFrame, data: st.DataObject) -> None:
    """A CRC of 16 bits finds every burst of at most 16."""
    damaged = data.draw(bursts(frame.encode()))
    reader = FrameReader()
    assert [*reader.feed(damaged), *reader.flush()] == []


@given(data=st.data())
def test_a_board_takes_no_step_for_a_damaged_question(library: Path, data: st.DataObject) -> None:
    board = Echo(library)
    board.say(HELLO)
    board.say(data.draw(bursts(step(5).encode())))
    assert board.steps == 0
    assert board.say(step(6), step(6))[-1].payload == b"abc\x01\x00"


@st.composite
def bursts(draw: Callable[..., int], sent: bytes) -> bytes:
    """Draw what comes of a frame in which up to 16 bits in a row are wrong, the first one being so."""
    bits = draw(st.integers(1, 0xFFFF)) | 1
    place = draw(st.integers(0, 8 * len(sent) - bits.bit_length()))
    return (int.from_bytes(sent, "big") ^ (bits << place)).to_bytes(len(sent), "big")


def test_a_frame_is_as_long_as_its_payload_and_seven_bytes() -> None:
    sent = LinkFrame(FrameKind.STEP, 1, b"abc").encode()
    assert (len(sent), sent[0]) == (3 + FRAME_OVERHEAD, START)
