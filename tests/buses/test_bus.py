"""A bus returns what servos hold, or says why not; no damaged answer ever becomes a value."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import serial
from hypothesis import example, given
from hypothesis import strategies as st

from posewright.buses.dynamixel.answers import NoAnswer, PortGoneError, ServoSilentError
from posewright.buses.dynamixel.bus import Bus, joints_of, open_bus
from posewright.buses.dynamixel.control_table import StatusError
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.fake.device import FakeSensor, status_packet
from posewright.buses.dynamixel.fake.servo import FakeServo
from posewright.buses.dynamixel.packets import InstructionPacket
from posewright.buses.dynamixel.servo_setup import find_servos
from posewright.buses.serial_port import SerialPort, find_port_holders, latency_timer_ms
from posewright.errors import BodyError, InputError, UnknownNameError
from posewright.robots import robot

from .wired import WireUp

BIOLOID = robot("robotis_bioloid")
HERE = SerialPort("/dev/null/no_port", 1_000_000)


class Line:
    """The port as a program sees it, answers at once: what `answer` returns for what is written."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self.answer = answer
        self.sent: list[bytes] = []
        self._held = b""
        self.baudrate = 1_000_000
        self.is_open = True

    @property
    def in_waiting(self) -> int:
        return len(self._held)

    def write(self, data: Sequence[int]) -> int:
        self.sent.append(bytes(data))
        self._held += self.answer(bytes(data))
        return len(data)

    def read(self, size: int) -> bytes:
        taken, self._held = self._held[: max(size, 0)], self._held[max(size, 0) :]
        return taken

    def reset_input_buffer(self) -> None:
        self._held = b""

    def close(self) -> None:
        self.is_open = False


Talk = Callable[..., tuple[Bus, Line]]


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch) -> Talk:
    """Give a function that opens a bus whose other end answers as a function says."""

    def start(answer: Callable[[bytes], bytes], **how: Any) -> tuple[Bus, Line]:
        line = Line(answer)
        monkeypatch.setattr(serial, "Serial", lambda *_args, **_more: line)
        return Bus(HERE, **({"answer_timeout_s": 0.0005} | how)), line

    return start


def of_devices(*devices: Any) -> Callable[[bytes], bytes]:
    return FakeBus(devices).exchange


def in_turn(*answers: bytes) -> Callable[[bytes], bytes]:
    left = list(answers)
    return lambda _data: left.pop(0) if left else b""


def test_a_servo_is_pinged_read_and_written(talk: Talk) -> None:
    servo = FakeServo(5, position_ticks=300.0)
    bus, _ = talk(of_devices(servo, FakeSensor(100)))
    assert (bus.ping(5).device, bus.ping(100).device) == ("AX-12A", "AX-S1")
    assert bus.read(5, "present_position") == 300
    bus.write(5, "moving_speed", 700)
    assert servo.peek("moving_speed") == bus.read(5, "moving_speed") == 700
    bus.write(100, "buzzer_note", 3)  # by the table of what answered the ping
    assert bus.counts.faults == 0
    assert bus.counts.sent == bus.counts.answered


def test_one_packet_writes_several_servos_and_none_answers(talk: Talk) -> None:
    servos = [FakeServo(servo) for servo in (1, 2)]
    bus, line = talk(of_devices(*servos))
    bus.sync_write(30, {1: b"\x10\x00", 2: b"\x20\x02"})
    assert [one.peek("goal_position") for one in servos] == [0x10, 0x220]
    assert len(line.sent) == 1
    for wrong in ({}, {1: b"\x01", 2: b"\x01\x02"}):
        with pytest.raises(InputError, match="sync write"):
            bus.sync_write(30, wrong)
    with pytest.raises(InputError, match="ID 254"):
        bus.sync_write(30, {254: b"\x01"})


POSITION = status_packet(5, 0, b"\x2c\x01")


@pytest.mark.parametrize(
    ("came", "counted"),
    [
        (b"", "timeouts"),
        (POSITION[:5], "corrupt"),
        (b"\x80\x11\x22\x33\x44\x55\x66", "corrupt"),
        (POSITION[:-1] + b"\x00", "checksum"),
        (status_packet(6, 0, b"\x2c\x01"), "wrong_id"),
        (status_packet(5, 0, b"\x2c"), "wrong_length"),
        (status_packet(5, 0), "wrong_length"),
        (status_packet(5, 0x10), "unheard"),
    ],
)
def test_what_is_wrong_with_an_answer_is_counted_and_it_is_asked_again(
    talk: Talk, came: bytes, counted: str
) -> None:
    bus, line = talk(in_turn(came, POSITION))
    assert bus.read(5, "present_position") == 300
    assert len(line.sent) == 2
    assert bus.counts.to_dict()[counted] == bus.counts.faults == bus.counts.retries == 1
    assert bus.counts.given_up == 0
    again, _ = talk(in_turn(came, came, came), joints=joints_of(BIOLOID))
    with pytest.raises(BodyError, match=r"from servo 5 \(right_elbow\) in 3 tries"):
        again.read(5, "present_position")
    assert (again.counts.to_dict()[counted], again.counts.given_up) == (3, 1)


@given(st.integers(0, len(POSITION) - 1), st.integers(1, 255), st.sampled_from(["flip", "drop", "double"]))
@example(3, 2, "flip")
def test_an_answer_with_one_damaged_byte_never_becomes_another_value(at: int, bits: int, how: str) -> None:
    byte = POSITION[at : at + 1]
    worn = {"flip": bytes((byte[0] ^ bits,)), "drop": b"", "double": 2 * byte}[how]
    with pytest.MonkeyPatch.context() as patch:
        line = Line(in_turn(POSITION[:at] + worn + POSITION[at + 1 :]))
        patch.setattr(serial, "Serial", lambda *_args, **_more: line)
        bus = Bus(HERE, retries=0, answer_timeout_s=0.0002)
    try:
        found = bus.read(5, "present_position")
    except BodyError:
        assert bus.counts.faults
    else:
        assert found == 300


@given(st.binary(max_size=40))
def test_noise_is_no_answer(noise: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        line = Line(in_turn(noise))
        patch.setattr(serial, "Serial", lambda *_args, **_more: line)
        bus = Bus(HERE, retries=0, answer_timeout_s=0.0002)
    assert isinstance(bus.exchange(InstructionPacket(5, 2, b"\x24\x02").encode(), 2), NoAnswer)


def test_an_adapter_that_lets_our_packets_come_back_is_seen_through(talk: Talk) -> None:
    servo = FakeServo(5, position_ticks=300.0)
    answer = of_devices(servo)
    bus, _ = talk(lambda data: data + answer(data))
    assert bus.ping(5).device == "AX-12A"
    assert bus.read(5, "present_position") == 300
    assert bus.counts.echoes == 2
    alone, _ = talk(lambda data: data)
    with pytest.raises(ServoSilentError):
        alone.ping(5)  # though a ping reads like the answer of a servo short of voltage


def test_a_servo_that_is_hot_still_answers_and_says_so(talk: Talk) -> None:
    servo = FakeServo(13)
    servo.temperature_c = 80.0
    bus, _ = talk(of_devices(servo), joints=joints_of(BIOLOID))
    assert bus.read(13, "present_temperature") == 80
    assert bus.errors[13] == StatusError.OVERHEATING
    assert bus.counts.reported == {"overheating": 1}
    servo.temperature_c = 40.0
    bus.read(13, "present_temperature")
    assert not bus.errors[13]


def test_what_a_servo_refuses_is_an_error_and_not_asked_again(talk: Talk) -> None:
    servo = FakeServo(5)
    servo.poke("ccw_angle_limit", 500)
    bus, line = talk(of_devices(servo))
    with pytest.raises(BodyError, match="rejects the request: angle limit"):
        bus.write(5, "goal_position", 600)
    with pytest.raises(BodyError, match="rejects the request: range"):
        bus.read_block(5, 49, 40)
    assert [packet[4] for packet in line.sent] == [
        1,
        2,
        3,
        2,
    ]  # its model is asked for before the first write


def test_the_eeprom_is_not_written_while_torque_is_on_or_it_is_locked(talk: Talk) -> None:
    servo = FakeServo(5)
    bus, _ = talk(of_devices(servo))
    bus.write(5, "return_delay_time", 0)
    assert servo.peek("return_delay_time") == 0
    bus.write(5, "torque_enable", 1)
    with pytest.raises(InputError, match="torque of servo 5 is on"):
        bus.write(5, "return_delay_time", 10)
    bus.write(5, "torque_enable", 0)
    bus.write(5, "lock", 1)
    with pytest.raises(InputError, match="locked"):
        bus.write(5, "return_delay_time", 10)
    assert servo.peek("return_delay_time") == 0


@pytest.mark.parametrize(("register", "value"), [("id", 7), ("baud_rate", 34), ("punch", 4), ("moving", 1)])
def test_what_must_not_be_written_is_not_sent(talk: Talk, register: str, value: int) -> None:
    bus, line = talk(of_devices(FakeServo(5)))
    with pytest.raises(InputError):
        bus.write(5, register, value)
    assert line.sent == []
    with pytest.raises(UnknownNameError):
        bus.write(5, "led_", 1)


def test_a_servo_that_answers_no_writes_is_read_back(talk: Talk) -> None:
    servo = FakeServo(5)
    servo.poke("status_return_level", 1)
    bus, line = talk(of_devices(servo))
    bus.write(5, "led", 1)
    assert servo.peek("led") == 1
    n = len(line.sent)
    bus.write(5, "led", 0)  # and from now on not waited for
    assert (servo.peek("led"), len(line.sent) - n) == (0, 3)
    servo.poke("status_return_level", 0)
    assert bus.ping(5).device == "unknown"
    with pytest.raises(ServoSilentError):
        bus.write(5, "led", 1)


def test_a_port_that_goes_away_says_so(talk: Talk) -> None:
    def pulled(_data: bytes) -> bytes:
        raise serial.SerialException("device disconnected")

    bus, _ = talk(pulled)
    with pytest.raises(PortGoneError, match="no_port is gone"):
        bus.ping(5)


# ---- ports


@pytest.fixture
def terminal() -> Iterator[str]:
    """Give the name of a pseudo-terminal at whose other end nobody is."""
    outer, inner = os.openpty()
    yield os.ttyname(inner)
    os.close(outer)
    os.close(inner)


def test_a_port_is_held_by_one_program_and_the_other_is_told_which(terminal: str) -> None:
    held = (
        "import serial, sys; port = serial.Serial(sys.argv[1], exclusive=True); print(1, flush=True); "
        "sys.stdin.read()"
    )
    words = ["sh", "-c", f"'{sys.executable}' -c '{held}' {terminal}; :"]  # not a child of ours, its child
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:  # noqa: S603 -- our own
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(
            BodyError, match=rf"port busy: .*import serial.*{terminal} \(process \d+\) holds it"
        ):
            open_bus(terminal)
        other.communicate()
    with closing(open_bus(terminal)) as bus, pytest.raises(BodyError, match="port busy"):
        open_bus(bus.address.path)
    with closing(open_bus(terminal)):  # it is free again
        pass


def test_who_holds_a_port_is_found_by_its_open_files(tmp_path: Path) -> None:
    device = tmp_path / "ttyUSB0"
    device.touch()
    for pid, parent, command in (
        (7, 1, b"minicom\0-D\0ttyUSB0\0"),
        (8, 1, b"sleep\0"),
        (9, os.getpid(), b"guard\0"),
    ):
        process = tmp_path / "proc" / str(pid)
        (process / "fd").mkdir(parents=True)
        (process / "stat").write_text(f"{pid} (a) b) S {parent} 0")
        (process / "cmdline").write_bytes(command)
        (process / "fd" / "3").symlink_to("/dev/null" if pid == 8 else device)
    found = find_port_holders(str(device), tmp_path / "proc")
    assert list(map(str, found)) == ["minicom -D ttyUSB0 (process 7)"]  # our own guard is no stranger


def test_the_fake_bus_behind_a_port_does_not_hold_it() -> None:
    ends = "import os, sys; ends = os.openpty(); print(os.ttyname(ends[1]), flush=True); sys.stdin.read()"
    words = ["sh", "-c", f"'{sys.executable}' -c '{ends}'; :"]  # not a child of ours, its child
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as fake:  # noqa: S603 -- our own
        assert fake.stdout is not None
        port = fake.stdout.readline().strip()
        assert find_port_holders(port) == ()
        fake.communicate()


def test_a_port_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(BodyError, match=r"there is no such port; (there is|no serial port)"):
        open_bus("/dev/ttyNOWHERE7")


def test_the_latency_of_an_adapter_is_what_linux_says(tmp_path: Path) -> None:
    file = tmp_path / "bus/usb-serial/devices/ttyUSB3/latency_timer"
    file.parent.mkdir(parents=True)
    file.write_text("16\n")
    assert latency_timer_ms("/dev/ttyUSB3", tmp_path) == 16.0
    assert latency_timer_ms("/dev/ttyACM0", tmp_path) is None


def servo_of_model(servo_id: int, number: int) -> FakeServo:
    servo = FakeServo(servo_id)
    servo.poke("model_number", number)
    return servo


def instructions(bus: Bus) -> set[int]:
    """Return the instructions that were sent on a fake line."""
    return {packet[4] for packet in bus.port.sent}


def test_a_write_to_many_is_done_to_all_or_to_none(wired: WireUp) -> None:
    bus = wired(FakeBus([FakeServo(1), FakeServo(2), servo_of_model(3, 310)]))
    with pytest.raises(InputError, match="no control table for servo 3: its model is MX-64"):
        bus.write_all([1, 2, 3], "led", 1)
    bus.write(2, "torque_enable", 1)
    with pytest.raises(InputError, match="the torque of servo 2 is on"):
        bus.write_all([1, 2], "return_delay_time", 0)
    assert [bus.read(servo_id, "return_delay_time") for servo_id in (1, 2)] == [250, 250]
    assert [bus.read(servo_id, "led") for servo_id in (1, 2)] == [0, 0]
    assert bus.write_all([1, 2], "led", 1) == {1: 1, 2: 1}


def test_a_write_to_many_that_fails_on_the_way_says_how_far_it_came(wired: WireUp) -> None:
    servos = [FakeServo(1), FakeServo(2), FakeServo(3)]
    servos[1].poke("ccw_angle_limit", 100)  # which is known when it rejects the goal only
    bus = wired(FakeBus(servos))
    with pytest.raises(BodyError) as caught:
        bus.write_all([1, 2, 3], "goal_position", 512)
    assert caught.value.message == (
        "servo 2 rejects the request: angle limit; goal_position is 512 in servo 1, unchanged in servo 3"
    )
    assert bus.read(3, "goal_position") != 512 or servos[2].peek("torque_enable") == 0


def test_a_servo_of_another_model_is_not_written_by_the_names_of_an_ax_12(wired: WireUp) -> None:
    bus = wired(FakeBus([servo_of_model(3, 310)]))
    with pytest.raises(InputError, match="its model is MX-64"):
        bus.write(3, "goal_position", 512)
    assert instructions(bus) == {1, 2}  # ping and read


def test_every_model_is_asked_before_anything_moves(wired: WireUp) -> None:
    servos = [FakeServo(servo_id) for servo_id in range(1, 19)]
    servos[3].poke("model_number", 18)  # AX-18A, which shares the AX-12A's registers
    bus = wired(FakeBus(servos))
    find_servos(bus, BIOLOID)
    servos[2].poke("model_number", 310)
    servos[17].poke("model_number", 29)
    with pytest.raises(BodyError, match=r"\(ID 3\) has MX-64, .* \(ID 18\) has MX-28") as caught:
        find_servos(bus, BIOLOID)
    assert "AX-12A, AX-18A; nothing was written" in (caught.value.hint or "")
    assert instructions(bus) == {1, 2}
