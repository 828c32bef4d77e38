"""Real clients drive the fake bus over a pseudo-terminal: dynamixel-sdk and pyserial."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from posewright.bodies import MockBody
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.fake.damage import BusDamage, BusFault, ScheduledFault
from posewright.buses.dynamixel.fake.device import FakeSensor
from posewright.buses.dynamixel.fake.port import FakePort
from posewright.buses.dynamixel.fake.servo import FakeServo
from posewright.buses.dynamixel.packets import InstructionPacket
from posewright.errors import BodyError
from posewright.robots import robot

sdk = pytest.importorskip("dynamixel_sdk")
serial = pytest.importorskip("serial")

OK = (0, 0)
TIMEOUT = -3001
BIOLOID = robot("robotis_bioloid")


class BusClock:
    """The time of a bus whose thread may have to wait for its turn: it never jumps by more than a step.

    dynamixel-sdk counts by it, too: an answer is late only where the bus had many turns to send it.
    """

    STEP_S = 1e-3

    def __init__(self) -> None:
        self.time_s = 0.0
        self._seen_s = time.perf_counter()

    def __call__(self) -> float:
        """Return the time for the bus [s], which goes on."""
        seen_s = time.perf_counter()
        self.time_s += min(seen_s - self._seen_s, self.STEP_S)
        self._seen_s = seen_s
        return self.time_s

    def skip(self, seconds: float) -> None:
        self.time_s += seconds


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> BusClock:
    """Give the bus's clock, by which dynamixel-sdk also knows when to give up."""
    made = BusClock()
    monkeypatch.setattr(sdk.PortHandler, "getCurrentTime", lambda _handler: made.time_s * 1e3)
    return made


class Client:
    """What a program that uses dynamixel-sdk has: a port and a packet handler of protocol 1.0."""

    def __init__(self, path: str, baud: int = 1_000_000) -> None:
        self.port = sdk.PortHandler(path)
        self.packets = sdk.PacketHandler(1.0)
        assert self.port.openPort()
        assert self.port.setBaudRate(baud)

    def __getattr__(self, name: str) -> Any:
        return lambda *words: getattr(self.packets, name)(self.port, *words)

    def close(self) -> None:
        self.port.closePort()


def port_of(clock: BusClock, *servos: FakeServo | FakeSensor, damage: BusDamage | None = None) -> FakePort:
    for servo in servos:
        servo.poke("return_delay_time", 0)
    return FakePort(FakeBus(servos, damage=damage), now=clock)


@pytest.fixture
def two(clock: BusClock) -> Iterator[tuple[FakePort, Client]]:
    with (
        port_of(clock, FakeServo(1), FakeServo(2), FakeSensor()) as port,
        closing(Client(port.path)) as client,
    ):
        yield port, client


def test_ping_tells_the_model_and_nobody_is_silence(two: tuple[FakePort, Client]) -> None:
    _, client = two
    assert client.ping(1) == (12, *OK)
    assert client.ping(100) == (13, *OK)
    assert client.ping(3)[1] == TIMEOUT


def test_reads_and_writes_of_every_width(two: tuple[FakePort, Client]) -> None:
    port, client = two
    assert client.write1ByteTxRx(1, 25, 1) == OK
    assert client.read1ByteTxRx(1, 25) == (1, *OK)
    assert client.write2ByteTxRx(2, 30, 700) == OK
    assert client.read2ByteTxRx(2, 30) == (700, *OK)
    assert client.writeTxRx(1, 26, 4, [2, 3, 64, 16]) == OK
    assert client.readTxRx(1, 26, 4) == ([2, 3, 64, 16], *OK)
    assert client.read4ByteTxRx(1, 26) == (0x1040_0302, *OK)
    assert port.bus.servo(2).peek("torque_enable") == 1


def test_registered_writes_move_together_on_action(two: tuple[FakePort, Client]) -> None:
    port, client = two
    for identity in (1, 2):
        assert client.regWriteTxRx(identity, 30, 2, [0xF4, 0x01]) == OK
        assert client.read1ByteTxRx(identity, 44) == (1, *OK)
    assert client.action(0xFE) == 0  # nobody answers
    assert client.read2ByteTxRx(1, 30) == (500, *OK)
    assert [port.bus.servo(one).peek("goal_position") for one in (1, 2)] == [500, 500]
    assert client.regWriteTxRx(1, 25, 1, [1]) == OK
    assert client.action(1) == 0
    assert client.read1ByteTxRx(1, 25) == (1, *OK)


def test_a_group_sync_write_reaches_all(two: tuple[FakePort, Client]) -> None:
    port, client = two
    group = sdk.GroupSyncWrite(client.port, client.packets, 30, 4)
    assert group.addParam(1, [0, 1, 50, 0])
    assert group.addParam(2, [0, 2, 60, 0])
    assert group.txPacket() == 0
    assert client.read2ByteTxRx(2, 32) == (60, *OK)
    assert port.bus.servo(1).peek("goal_position") == 256


def test_errors_come_back_as_their_bits(two: tuple[FakePort, Client]) -> None:
    port, client = two
    assert client.write2ByteTxRx(1, 30, 1024) == (0, 8)
    assert client.write2ByteTxRx(1, 36, 5) == (0, 8)
    assert client.write2ByteTxRx(1, 8, 600) == OK
    assert client.write2ByteTxRx(1, 30, 601) == (0, 2)
    port.bus.servo(1).temperature_c = 80.0
    assert client.write1ByteTxRx(1, 25, 0) == (0, 4)
    assert client.read2ByteTxRx(1, 34) == (0, 0, 4)  # the torque limit: it has let go


def test_id_baud_rate_and_reset_from_outside(two: tuple[FakePort, Client]) -> None:
    _, client = two
    assert client.write1ByteTxRx(1, 3, 9) == OK
    assert client.ping(9) == (12, *OK)
    assert client.write1ByteTxRx(9, 4, 34) == OK
    assert client.ping(9)[1] == TIMEOUT
    assert client.port.setBaudRate(57_600)
    assert client.ping(9) == (12, *OK)
    assert client.ping(2)[1] == TIMEOUT
    assert client.factoryReset(9) == OK
    assert client.port.setBaudRate(1_000_000)
    assert client.ping(1) == (12, *OK)


@pytest.mark.parametrize("baud", [9600, 57_600, 115_200, 250_000, 400_000, 117_647])
def test_a_client_is_heard_at_the_rate_it_sets(clock: BusClock, baud: int) -> None:
    listed = {117_647: 115_200}.get(baud, baud)
    with (
        FakePort(FakeBus([FakeServo(1, baud=listed)]), now=clock) as port,
        serial.Serial(port.path, baud) as line,
    ):
        line.write(InstructionPacket(1, 1).encode())
        assert line.read(6) == bytes.fromhex("ff ff 01 02 00 fc")


def test_clients_come_and_go(clock: BusClock) -> None:
    with port_of(clock, FakeServo(1)) as port:
        for _ in range(3):
            with closing(Client(port.path)) as client:
                assert client.ping(1) == (12, *OK)
        assert port.error is None


def talk_on(line: Any) -> None:
    while True:
        line.write(b"\xff")
        line.read(6)


def test_a_port_that_is_pulled_comes_back_under_its_name(clock: BusClock) -> None:
    with port_of(clock, FakeServo(1)) as port:
        with serial.Serial(port.path, 1_000_000, timeout=0.5) as line:
            port.unplug()
            assert not os.path.exists(port.path)  # noqa: PTH110 -- the link itself
            with pytest.raises(serial.SerialException):
                talk_on(line)
        port.plug()
        with closing(Client(port.path)) as client:
            assert client.ping(1) == (12, *OK)


def test_faults_by_the_clock_reach_a_client(clock: BusClock) -> None:
    damage = BusDamage(events=(ScheduledFault(BusFault.SILENT, 0.0, 600.0, 1),))
    with port_of(clock, FakeServo(1), damage=damage) as port, closing(Client(port.path)) as client:
        assert client.ping(1)[1] == TIMEOUT
        clock.skip(600.0)
        assert client.ping(1) == (12, *OK)


def test_a_body_behind_it_moves_and_is_moved(clock: BusClock) -> None:
    bus = FakeBus.of(BIOLOID, MockBody(BIOLOID, positions=BIOLOID.pose("stand")))
    with FakePort(bus, now=clock) as port, closing(Client(port.path)) as client:
        assert client.write2ByteTxRx(5, 30, 600) == OK
        while client.read2ByteTxRx(5, 36)[0] != 600:
            pass
        assert client.write1ByteTxRx(5, 24, 0) == OK
        bus.hold("right_elbow", 0.5)
        held = round(BIOLOID.servo("right_elbow").to_ticks(0.5))
        while client.read2ByteTxRx(5, 36)[0] != held:
            pass


class _Stumbles(MockBody):
    def play(self, frames: Any) -> Any:
        if len(self.played_commands) > 3:
            raise BodyError("the simulation blew up")
        return super().play(frames)


def test_physics_that_fails_ends_the_port_and_says_why(clock: BusClock) -> None:
    port = FakePort(FakeBus.of(BIOLOID, _Stumbles(BIOLOID)), now=clock)
    with closing(port):
        port.run(until_s=5.0)
        assert isinstance(port.error, BodyError)
        assert not os.path.exists(port.path)  # noqa: PTH110 -- the link itself
