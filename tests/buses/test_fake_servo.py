"""A fake AX-12 answers every instruction as the manual says, byte for byte where it prints the bytes."""

from __future__ import annotations

import pytest

from posewright.buses.dynamixel.control_table import Instruction, StatusError, slope_step
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.fake.device import FakeSensor, status_packet
from posewright.buses.dynamixel.fake.servo import FakeServo
from posewright.buses.dynamixel.packets import BROADCAST_ID, InstructionPacket

OK = 0


def ask(servo: FakeServo | FakeSensor, instruction: int, *parameters: int, to: int | None = None) -> bytes:
    whom = servo.id if to is None else to
    return servo.handle(InstructionPacket(whom, instruction, bytes(parameters)).encode())


def error_of(answer: bytes) -> StatusError:
    assert len(answer) >= 6
    return StatusError(answer[4])


def write(servo: FakeServo | FakeSensor, address: int, *data: int) -> StatusError:
    return error_of(ask(servo, Instruction.WRITE, address, *data))


@pytest.mark.parametrize(
    ("identity", "sent", "answered"),
    [
        (1, "ff ff 01 02 01 fb", "ff ff 01 02 00 fc"),  # ping
        (1, "ff ff 01 04 02 2b 01 cc", "ff ff 01 03 00 20 db"),  # the temperature, 32 degrees
        (1, "ff ff 01 05 04 1e f4 01 e2", "ff ff 01 02 00 fc"),  # goal 500, later
        (0, "ff ff 00 02 06 f7", "ff ff 00 02 00 fd"),  # factory reset
        (1, "ff ff 01 04 03 03 00 f4", "ff ff 01 02 00 fc"),  # ID 1 becomes 0
        (0, "ff ff 00 04 03 04 01 f3", "ff ff 00 02 00 fd"),  # 1 Mbps
        (0, "ff ff 00 04 03 05 02 f1", "ff ff 00 02 00 fd"),  # return delay 4 us
        (0, "ff ff 00 05 03 08 ff 01 ef", "ff ff 00 02 00 fd"),  # CCW limit 150 degrees
        (0, "ff ff 00 04 03 0b 50 9d", "ff ff 00 02 00 fd"),  # temperature limit 80
        (0, "ff ff 00 05 03 0e ff 01 e9", "ff ff 00 02 00 fd"),  # half the torque
        (0, "ff ff 00 05 03 18 01 01 dd", "ff ff 00 02 00 fd"),  # LED and torque on
        (0, "ff ff 00 07 03 1a 01 01 40 40 59", "ff ff 00 02 00 fd"),  # compliance
        (0, "ff ff 00 07 03 1e 00 02 00 02 d3", "ff ff 00 02 00 fd"),  # goal 180 degrees at 57 rpm
        (0, "ff ff 00 04 03 2f 01 c8", "ff ff 00 02 00 fd"),  # lock
        (0, "ff ff 00 05 03 30 40 00 87", "ff ff 00 02 00 fd"),  # punch
        (1, "ff ff fe 04 03 03 01 f6", ""),  # whoever is there gets ID 1
        (1, "ff ff fe 02 05 fa", ""),  # action, for all
    ],
)
def test_packets_printed_in_the_manual_are_answered_as_printed(
    identity: int, sent: str, answered: str
) -> None:
    assert FakeBus([FakeServo(identity)]).exchange(bytes.fromhex(sent)) == bytes.fromhex(answered)


def test_the_manuals_sync_write_reaches_both_servos() -> None:
    bus = FakeBus([FakeServo(0), FakeServo(1)])
    assert bus.exchange(bytes.fromhex("ff ff fe 0e 83 1e 04 00 10 00 50 01 01 20 02 60 03 67")) == b""
    assert [bus.servo(one).peek("goal_position") for one in (0, 1)] == [0x010, 0x220]
    assert [bus.servo(one).peek("moving_speed") for one in (0, 1)] == [0x150, 0x360]


def test_the_manuals_status_packet_names_overload_and_overheating() -> None:
    assert status_packet(1, 0x24) == bytes.fromhex("ff ff 01 02 24 d8")


def test_a_registered_write_waits_for_action() -> None:
    servo = FakeServo(3)
    assert error_of(ask(servo, Instruction.REG_WRITE, 30, 0xF4, 0x01)) == OK
    assert (servo.peek("registered"), servo.peek("goal_position")) == (1, 512)
    assert ask(servo, Instruction.ACTION, to=BROADCAST_ID) == b""
    assert (servo.peek("registered"), servo.peek("goal_position")) == (0, 500)
    assert error_of(ask(servo, Instruction.ACTION)) == StatusError.INSTRUCTION  # nothing waits any more


@pytest.mark.parametrize("parameters", [(30, 0, 4), (36, 0, 2), (200, 1), ()])
def test_what_would_not_be_written_is_not_registered(parameters: tuple[int, ...]) -> None:
    servo = FakeServo()
    assert error_of(ask(servo, Instruction.REG_WRITE, *parameters)) != OK
    assert servo.peek("registered") == 0


@pytest.mark.parametrize("unknown", [0x00, 0x07, 0x08, 0x84, 0x92, 0xFF])  # 8 is REBOOT, 0x92 BULK READ
def test_an_unknown_instruction_is_an_instruction_error(unknown: int) -> None:
    servo = FakeServo()
    assert error_of(ask(servo, unknown)) == StatusError.INSTRUCTION
    assert ask(servo, unknown, to=BROADCAST_ID) == b""


@pytest.mark.parametrize("alone", [Instruction.PING, Instruction.ACTION, Instruction.FACTORY_RESET])
def test_parameters_where_none_belong_are_an_instruction_error_and_nothing_is_done(
    alone: Instruction,
) -> None:
    servo = FakeServo(7)
    assert error_of(ask(servo, Instruction.REG_WRITE, 25, 1)) == OK
    assert error_of(ask(servo, alone, 1)) == StatusError.INSTRUCTION
    assert (servo.id, servo.peek("led"), servo.peek("registered")) == (7, 0, 1)


def test_a_sync_write_to_one_id_is_an_instruction_error_and_writes_nothing() -> None:
    servo = FakeServo(7)
    assert error_of(ask(servo, Instruction.SYNC_WRITE, 25, 1, 7, 1)) == StatusError.INSTRUCTION
    assert servo.peek("led") == 0
    assert ask(servo, Instruction.SYNC_WRITE, 25, 1, 7, 1, to=BROADCAST_ID) == b""
    assert servo.peek("led") == 1


def test_a_wrong_checksum_is_answered_so_and_nothing_is_done() -> None:
    servo = FakeServo()
    packet = bytearray(InstructionPacket(1, Instruction.WRITE, b"\x19\x01").encode())
    packet[-1] ^= 1
    assert error_of(servo.handle(bytes(packet))) == StatusError.CHECKSUM
    assert servo.peek("led") == 0


@pytest.mark.parametrize(
    ("address", "data"),
    [
        (3, [254]),
        (4, [255]),
        (16, [3]),
        (24, [2]),
        (25, [2]),
        (30, [0, 4]),  # goal 1024
        (32, [0, 4]),  # a speed that joint mode does not know
        (34, [0, 4]),
        (48, [31, 0]),  # a punch below 32
        (0, [12, 0]),  # can only be read
        (36, [0, 0]),
        (43, [20]),
        (46, [0]),
        (49, [0, 0]),  # beyond the table
        (200, [1]),
    ],
)
def test_what_may_not_be_written_is_a_range_error_and_is_not_written(address: int, data: list[int]) -> None:
    servo = FakeServo()
    before = ask(servo, Instruction.READ, 0, servo.table.size)
    assert write(servo, address, *data) == StatusError.RANGE
    assert ask(servo, Instruction.READ, 0, servo.table.size) == before


def test_one_bad_value_keeps_the_rest_of_its_packet_out() -> None:
    servo = FakeServo()
    assert write(servo, 30, 100, 0, 0, 4) == StatusError.RANGE  # a goal that is right, a speed that is not
    assert (servo.peek("goal_position"), servo.peek("torque_enable")) == (512, 0)


def test_reading_beyond_the_table_is_a_range_error() -> None:
    servo = FakeServo()
    assert ask(servo, Instruction.READ, 0, 50)[4] == OK
    assert error_of(ask(servo, Instruction.READ, 0, 51)) == StatusError.RANGE
    assert error_of(ask(servo, Instruction.READ, 3)) == StatusError.INSTRUCTION


def test_a_goal_outside_the_angle_limits_is_an_angle_limit_error_and_moves_nothing() -> None:
    servo = FakeServo()
    assert write(servo, 6, 200, 0, 0x20, 0x03) == OK  # 200..800
    for ticks in (199, 801):
        assert write(servo, 30, *ticks.to_bytes(2, "little")) == StatusError.ANGLE_LIMIT
    assert (servo.peek("goal_position"), servo.peek("torque_enable")) == (512, 0)
    assert write(servo, 30, 200, 0) == OK


@pytest.mark.parametrize(
    ("level", "answered"),
    [(0, {Instruction.PING}), (1, {Instruction.PING, Instruction.READ}), (2, set(Instruction))],
)
def test_the_status_return_level_says_what_is_answered(level: int, answered: set[Instruction]) -> None:
    for instruction in Instruction:
        servo = FakeServo()
        servo.poke("status_return_level", level)
        assert bool(ask(servo, instruction, 25, 1)) == (instruction in answered)


def test_nothing_but_a_ping_to_all_is_answered() -> None:
    for instruction in Instruction:
        assert bool(ask(FakeServo(9), instruction, 25, 1, to=BROADCAST_ID)) == (
            instruction is Instruction.PING
        )
    assert ask(FakeServo(9), Instruction.PING, to=BROADCAST_ID)[2] == 9  # it answers with its own ID
    assert ask(FakeServo(9), Instruction.PING, to=8) == b""


def test_id_and_rate_change_after_the_answer_that_says_so() -> None:
    bus = FakeBus([FakeServo(1)])
    assert bus.exchange(bytes.fromhex("ff ff 01 04 03 03 05 ef"))[2] == 1
    ping = InstructionPacket(5, Instruction.PING).encode()
    assert bus.exchange(ping)[2] == 5
    assert len(bus.exchange(InstructionPacket(5, Instruction.WRITE, b"\x04\x22").encode())) == 6
    assert bus.exchange(ping) == b""
    assert len(bus.exchange(ping, baud=57_600)) == 6


def test_a_factory_reset_makes_it_new() -> None:
    servo = FakeServo(7)
    for name, value in {"baud_rate": 34, "cw_angle_limit": 5, "led": 1, "torque_enable": 1}.items():
        servo.poke(name, value)
    assert ask(servo, Instruction.FACTORY_RESET)[2] == 7
    assert (servo.id, servo.baud, servo.peek("led"), servo.peek("torque_enable")) == (1, 1_000_000, 0, 0)
    assert {name: one.initial for name, one in servo.table.registers.items() if one.initial is not None} == {
        name: servo.peek(name) for name, one in servo.table.registers.items() if one.initial is not None
    }


def test_a_lock_keeps_the_eeprom_until_the_power_is_off() -> None:
    servo = FakeServo()
    assert write(servo, 47, 1) == OK
    assert write(servo, 5, 10) == StatusError.RANGE
    assert write(servo, 47, 0) == StatusError.RANGE
    assert write(servo, 25, 1) == OK  # the RAM is open
    assert error_of(ask(servo, Instruction.FACTORY_RESET)) == StatusError.RANGE
    assert (servo.peek("lock"), servo.peek("led")) == (1, 1)
    servo.switch_on()
    assert (servo.peek("lock"), servo.peek("led"), servo.peek("return_delay_time")) == (0, 0, 250)
    assert write(servo, 5, 10) == OK


def test_a_goal_turns_the_torque_on_and_torque_locks_the_eeprom() -> None:
    servo = FakeServo()
    assert write(servo, 30, 0, 1) == OK
    assert servo.peek("torque_enable") == 1
    assert write(servo, 3, 2) == StatusError.RANGE
    assert write(servo, 24, 0) == OK
    assert write(servo, 3, 2) == OK


def test_each_condition_sets_its_bit_for_as_long_as_it_lasts() -> None:
    servo = FakeServo()
    servo.voltage_v = 5.9
    assert error_of(ask(servo, Instruction.PING)) == StatusError.INPUT_VOLTAGE
    servo.voltage_v, servo.temperature_c, servo.is_overloaded = 11.1, 71.0, True
    assert error_of(ask(servo, Instruction.PING)) == StatusError.OVERHEATING | StatusError.OVERLOAD
    assert servo.is_alarmed  # the LED's mask is 36, too
    servo.temperature_c, servo.is_overloaded = 40.0, False
    assert error_of(ask(servo, Instruction.PING)) == OK
    assert not servo.is_alarmed


@pytest.mark.parametrize(("mask", "lets_go"), [(36, True), (32, False), (4, True), (0, False)])
def test_an_overheated_servo_lets_go_where_its_shutdown_says_so(mask: int, lets_go: bool) -> None:
    servo = FakeServo()
    servo.poke("shutdown", mask)
    write(servo, 30, 0, 3)
    servo.temperature_c = 75.0
    servo.advance(0.008)
    assert servo.drive.is_free == lets_go
    assert (servo.peek("torque_limit") == 0) == lets_go
    servo.temperature_c = 40.0
    servo.advance(0.008)
    assert servo.drive.is_free == lets_go  # until the torque limit is written again
    assert write(servo, 34, 0xFF, 0x03) == OK
    servo.advance(0.008)
    assert not servo.drive.is_free


def test_an_alarm_of_a_bad_packet_lets_go_too_where_the_mask_says_so() -> None:
    servo = FakeServo()
    servo.poke("shutdown", int(StatusError.INSTRUCTION))
    write(servo, 30, 0, 3)
    ask(servo, 0x92)
    assert servo.peek("torque_limit") == 0


def test_a_moving_speed_is_kept_and_moving_says_so() -> None:
    bus = FakeBus([FakeServo()])
    servo = bus.servo(1)
    assert write(servo, 30, 0xE8, 0x03, 100, 0) == OK  # to 1000 at 100 x 0.111 rpm = 227 ticks/s
    bus.advance(1.0)
    assert servo.peek("present_position") - 512 == pytest.approx(227.3, abs=3)
    assert (servo.peek("moving"), servo.peek("present_speed")) == (1, 100)
    bus.advance(4.0)
    assert (servo.peek("present_position"), servo.peek("moving"), servo.peek("present_speed")) == (1000, 0, 0)
    write(servo, 30, 0, 0)
    bus.advance(4.5)
    assert servo.peek("present_speed") & 1024  # clockwise


def test_without_torque_it_stays_where_it_is_put() -> None:
    bus = FakeBus([FakeServo(position_ticks=300.0)])
    servo = bus.servo(1)
    write(servo, 30, 0, 3)
    write(servo, 24, 0)
    bus.advance(1.0)
    assert servo.peek("present_position") == 300
    write(servo, 24, 1)  # its goal is still there
    bus.advance(2.0)
    assert servo.peek("present_position") == 768


def test_in_wheel_mode_the_speed_is_a_share_of_the_output() -> None:
    bus = FakeBus([FakeServo()])
    servo = bus.servo(1)
    assert write(servo, 6, 0, 0, 0, 0) == OK
    assert write(servo, 24, 1) == OK
    assert write(servo, 32, 0xFF, 0x05) == OK  # clockwise, half
    bus.advance(0.4)
    assert servo.speed_ticks_s == pytest.approx(-0.5 * 1208.3, rel=0.01)
    assert servo.peek("present_speed") == 1024 + 511
    assert write(servo, 32, 0, 4) == OK
    bus.advance(0.5)
    assert servo.peek("present_speed") == 0
    assert write(servo, 32, 100, 4) == OK
    assert write(servo, 24, 0) == OK
    assert write(servo, 6, 0, 0, 0xFF, 3) == OK
    assert write(servo, 30, 0, 1) == OK
    bus.advance(0.6)
    assert abs(servo.speed_ticks_s) <= 250  # of the speed of wheel mode the ten bits of a joint's count


def test_slope_margin_and_torque_limit_bound_what_the_motor_pulls() -> None:
    assert [slope_step(value) for value in (0, 3, 4, 8, 31, 32, 127, 128, 254)] == [
        2,
        2,
        4,
        8,
        16,
        32,
        64,
        128,
        128,
    ]
    servo = FakeServo()
    write(servo, 30, 0, 3)
    assert servo.advance(0.008) == 768.0
    write(servo, 34, 0x00, 0x02)  # half the torque: half the slope ahead of the horn
    assert servo.advance(0.008) == pytest.approx(512.0 + 32 * 512 / 1023)
    write(servo, 34, 0xFF, 0x03)
    write(servo, 26, 10, 11)
    servo.position_ticks = 748.0
    assert servo.advance(0.008) == 758.0  # 20 ticks short, 10 of which the wider margin bears
    servo.position_ticks = 760.0
    assert servo.advance(0.008) == 760.0  # within the margin it does not pull


def test_a_sensor_module_senses_what_it_is_given() -> None:
    seen = {"left_distance": 12, "center_distance": 200, "right_light": 90, "sound": 180}
    sensor = FakeSensor(senses=lambda: seen)
    assert (sensor.id, sensor.peek("model_number")) == (100, 13)
    assert write(sensor, 52, 100, 50) == OK
    assert ask(sensor, Instruction.READ, 26, 8)[5:-1] == bytes([12, 200, 0, 0, 0, 90, 0b010, 0b100])
    seen["sound"] = 130
    assert (sensor.peek("sound"), sensor.peek("sound_max_hold")) == (130, 180)
    assert write(sensor, 26, 1) == StatusError.RANGE
    assert error_of(ask(sensor, 0x92)) == StatusError.INSTRUCTION
