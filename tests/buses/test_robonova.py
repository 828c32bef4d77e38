"""A RoboNova hears poses by the program that we emit for its board; damage is heard, and told."""

from __future__ import annotations

import os
import re
import select
import threading
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.bodies import Body, BodySpec, JointCommands, Plant, TorquePolicy
from posewright.buses.robonova import RobonovaPlant, protocol, receiver_program
from posewright.buses.robonova.protocol import BoardAnswer
from posewright.buses.robonova.protocol import checksum as check
from posewright.buses.robonova.protocol import pose_packet as pose
from posewright.buses.serial_port import SerialPort
from posewright.control import RealClock, SimulatedClock
from posewright.errors import BodyError, FormatError, InputError, UnsafeCommandError
from posewright.robots import robot
from posewright.runs.plants import make_plant

ROBOT = replace(robot("hitec_robonova1"), frame_period_s=0.0625)  # as the line lets through
STAND = [100, 76, 145, 93, 100, 100, 30, 80, 100, 30, 80, 100, 76, 145, 93, 100]
positions = st.lists(st.integers(10, 190), min_size=16, max_size=16)


class Board:
    """An MR-C3024 that runs the RoboBASIC program itself, as far as it goes: strictly left to right."""

    def __init__(self, battery: int = 160, tilt: int = 100) -> None:
        lines = [line.partition("'")[0].strip() for line in receiver_program().splitlines()]
        self.lines = [line for line in lines if line]
        self.labels = {line[:-1]: at for at, line in enumerate(self.lines) if line.endswith(":")}
        self.analog = {"AD(6)": battery, "AD(5)": tilt}
        self.values: dict[str, int] = {}
        self.at, self.said, self.moves = 0, bytearray(), list[dict[str, list[int]]]()
        self.modes: list[str] = []

    def hear(self, data: bytes) -> bytes:
        """Run until it waits for more than these bytes; return what it said meanwhile."""
        coming, self.said = list(data), bytearray()
        while True:
            line = self.lines[self.at]
            self.at += 1
            if line.startswith("ERX"):
                name, label = re.fullmatch(r"ERX 4800, (\w+), (\w+)", line).groups()  # type: ignore[union-attr]
                if not coming:
                    self.at = self.labels[label]
                    return bytes(self.said)
                self.values[name] = coming.pop(0)
            else:
                self._do(line)

    def _do(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if found := re.fullmatch(r"IF (\w+) (=|<>|>) (\w+) THEN GOTO (\w+)", line):
            left, sign, right, label = found.groups()
            a, b = self._value(left), self._value(right)
            if {"=": a == b, "<>": a != b, ">": a > b}[sign]:
                self.at = self.labels[label]
        elif word == "GOTO":
            self.at = self.labels[rest]
        elif word == "ETX":
            self.said.append(self._value(rest.split(", ")[1]))
        elif word == "MOVE":
            group, *told = rest.split(", ")
            if group == "G6A":
                self.moves.append({})
            self.moves[-1][group] = [self._value(one) for one in told]
        elif " = " in line:
            name, _, sums = line.partition(" = ")
            first, *more = sums.split(" ")
            value = self._value(first)
            for sign, other in zip(more[::2], more[1::2], strict=True):
                b = self._value(other)
                value = {"+": value + b, "*": value * b, "MOD": value % b}[sign]
            assert value < 1 << 16
            self.values[name] = value
        elif word in {"SPEED", "MOTOROFF", "GETMOTORSET"}:
            self.modes.append(line)
        else:
            assert line.endswith(":") or word in {"DIM", "PTP", "DIR", "WAIT"}, line

    def _value(self, word: str) -> int:
        return int(word) if word.isdecimal() else self.analog.get(word) or self.values[word]

    def last(self) -> list[int]:
        return [one for group in self.moves[-1].values() for one in group]


@contextmanager
def plugged(board: Board, wear: Sequence[Callable[[bytes], bytes]] = (bytes,)) -> Iterator[str]:
    """Run a board on a pseudo-terminal; the first of `wear` is what becomes of the bytes that come to it."""
    outer, inner = os.openpty()
    tty.setraw(inner)
    over = threading.Event()

    def run() -> None:
        while not over.is_set():
            if select.select([outer], [], [], 0.02)[0]:
                os.write(outer, board.hear(wear[0](os.read(outer, 256))))

    thread = threading.Thread(target=run)
    thread.start()
    yield os.ttyname(inner)
    over.set()
    thread.join()
    os.close(outer)
    os.close(inner)


def plant_on(path: str) -> RobonovaPlant:
    return RobonovaPlant(ROBOT, SerialPort(path, 4800), clock=SimulatedClock(), now=time.monotonic)


def rows(*degrees: float) -> JointCommands:
    return JointCommands(np.array([ROBOT.pose("stand") + np.radians(one) for one in degrees]))


@given(positions)
def test_the_program_on_the_board_moves_to_the_pose_that_was_sent(told: list[int]) -> None:
    board = Board()
    assert BoardAnswer.decode(board.hear(pose(told))) == BoardAnswer(True, 6.25, 100)
    assert board.last() == told


@given(positions, st.integers(0, 17), st.integers(0, 255), st.sampled_from(["flip", "drop", "double"]))
def test_no_single_damaged_byte_moves_it_elsewhere_and_the_next_pose_is_heard(
    told: list[int], at: int, byte: int, how: str
) -> None:
    board, packet = Board(), pose(told)
    piece = {"flip": bytes((byte,)), "drop": b"", "double": 2 * packet[at : at + 1]}[how]
    board.hear(packet[:at] + piece + packet[at + 1 :])
    assert all([one for group in move.values() for one in group] == told for move in board.moves)
    assert not any("MOTOROFF" in mode for mode in board.modes)
    board.hear(pose(STAND))
    board.hear(pose(STAND))
    assert board.last() == STAND


def test_poses_and_answers_that_are_none_are_refused() -> None:
    for wrong in ([100] * 15, [9] + [100] * 15, [191] + [100] * 15):
        with pytest.raises(InputError, match="not a pose of a RoboNova"):
            pose(wrong)
    good = bytes((252, 160, 100, check((252, 160, 100))))
    assert not BoardAnswer.decode(good).fallen
    assert BoardAnswer.decode(bytes((251, 160, 20, check((251, 160, 20))))).fallen
    for bad in (b"", good[:3], good + b"\0", b"\xfa" + good[1:], good[:3] + b"\0"):
        with pytest.raises(FormatError):
            BoardAnswer.decode(bad)
    assert len({check(one) for one in ((1, 2), (2, 1))}) == 2


def test_it_goes_to_its_stand_gently_and_then_follows() -> None:
    board = Board(tilt=15)
    with plugged(board) as path:
        plant = plant_on(path)
        assert isinstance(plant, Plant)
        assert isinstance(plant, Body)
        plant.open()
        assert (board.last(), board.modes[-2:]) == (STAND, ["SPEED 3", "SPEED 15"])
        done = plant.advance({"hitec_robonova1": rows(0, 2, 5)})["hitec_robonova1"]
        done.require_shapes(16)
        assert (len(board.moves), done.faults) == (4, ())
        assert board.last()[:3] == [105, 71, 140]  # roll, and two pitches that count the other way
        assert (plant.time_s, done.times[-1]) == (3 * 0.0625, 3 * 0.0625)
        assert plant.read().sensors == {"battery": 6.25, "tilt": 15.0, "fallen": True}
        assert np.array_equal(plant.observe().positions[0], rows(5).angles[0])
        plant.stop(TorquePolicy.RELEASE)
        plant.close()
    assert board.modes[-1] == "MOTOROFF G6D"


def test_all_joints_are_free_or_none_and_torque_comes_back_gently() -> None:
    board = Board()
    with plugged(board) as path:
        plant = plant_on(path)
        plant.open()
        free = np.ones(16, bool)
        nothing = np.full((2, 16), np.nan)
        plant.advance({"hitec_robonova1": JointCommands(nothing, free=free)})
        assert np.isfinite(plant.read().positions).all()
        with pytest.raises(UnsafeCommandError, match="in frame 0 is nan"):
            plant.advance({"hitec_robonova1": JointCommands(nothing)})
        assert board.modes.count("MOTOROFF G6A") == 1
        plant.advance({"hitec_robonova1": rows(0)})
        assert board.modes[-2:] == ["SPEED 3", "SPEED 15"]
        free[0] = False
        with pytest.raises(BodyError, match="some of its joints"):
            plant.advance({"hitec_robonova1": JointCommands(rows(0).angles, free=free)})
        plant.close()


def test_a_damaged_pose_and_a_silent_board_are_faults_and_an_empty_battery_too() -> None:
    board = Board()
    wear: list[Callable[[bytes], bytes]] = [bytes]
    with plugged(board, wear) as path:
        plant = plant_on(path)
        plant.open()
        kinds = []
        for how in (lambda data: data[:3] + b"\x64" + data[4:], lambda _data: b"", lambda data: data):
            wear[0] = how
            done = plant.advance({"hitec_robonova1": rows(0)})
            kinds += [fault.kind.value for fault in done["hitec_robonova1"].faults]
        board.analog["AD(6)"] = 120
        (low,) = plant.advance({"hitec_robonova1": rows(0)})["hitec_robonova1"].faults
        assert (kinds, low.kind.value) == (["garbled answer", "no answer"], "voltage out of range")
        plant.close()


def test_a_line_slower_than_the_frames_carries_the_newest_of_each_few() -> None:
    assert pytest.approx(22 / 480) == protocol.FRAME_S  # 480 bytes a second
    board = Board()
    with plugged(board) as path:
        plant = plant_on(path)
        plant._frames_per_pose = 2
        plant.open()
        plant.advance({"hitec_robonova1": rows(0, 1, 2, 3)})
        assert len(board.moves) == 1 + 2
        plant.close()


def test_nobody_there_another_robot_and_a_closed_line_are_refused() -> None:
    outer, inner = os.openpty()
    with pytest.raises(BodyError, match="no RoboNova answers"):
        plant_on(os.ttyname(inner)).open()
    os.close(outer)
    os.close(inner)
    bioloid = robot("robotis_bioloid")
    with pytest.raises(InputError, match="not a RoboNova"):
        RobonovaPlant(bioloid, SerialPort("x", 4800), clock=SimulatedClock(), now=time.monotonic)
    with pytest.raises(BodyError, match="not open"):
        plant_on("x").advance({"hitec_robonova1": rows(0)})
    with pytest.raises(BodyError, match="cannot open"):
        plant_on("/dev/ttyNOWHERE7").open()


def test_an_address_makes_a_real_plant_with_a_real_clock() -> None:
    board = Board()
    part = BodySpec("nova", ROBOT, ROBOT.pose("stand"), (0.0, 0.0, 0.0))
    with plugged(board) as path:
        plant = make_plant(f"robonova:{path}", [part], None)
        assert isinstance(plant, RobonovaPlant)
        assert plant.is_real
        assert isinstance(plant.clock, RealClock)
        assert plant.supervisor("nova") is None
        plant.open()
        plant.advance({"nova": rows(0)})
        plant.close()
    with pytest.raises(InputError, match="takes one robot, not 2"):
        make_plant("robonova:x", [part, part], None)
