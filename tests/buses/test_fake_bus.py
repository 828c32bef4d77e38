"""The fake wire costs time, garbles who speaks over another, breaks as told; and damage moves nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.bodies import MockBody
from posewright.buses.dynamixel.control_table import Instruction, StatusError
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.fake.damage import BusDamage, BusFault, ScheduledFault
from posewright.buses.dynamixel.fake.device import FakeDevice
from posewright.buses.dynamixel.fake.servo import FakeServo
from posewright.buses.dynamixel.packets import InstructionPacket, checksum, goal_positions
from posewright.errors import FormatError, InputError
from posewright.robots import robot

BYTE_S = 10e-6
BIOLOID = robot("robotis_bioloid")


def ping(identity: int) -> bytes:
    return InstructionPacket(identity, Instruction.PING).encode()


def read(identity: int, address: int = 36, size: int = 8) -> bytes:
    return InstructionPacket(identity, Instruction.READ, bytes((address, size))).encode()


def write(identity: int, address: int, *data: int) -> bytes:
    return InstructionPacket(identity, Instruction.WRITE, bytes((address, *data))).encode()


def bus_of(
    *identities: int, delay: int = 0, events: tuple[ScheduledFault, ...] = (), **damage: float
) -> FakeBus:
    servos: list[FakeDevice] = [FakeServo(one) for one in identities]
    for servo in servos:
        servo.poke("return_delay_time", delay)
    seed = int(damage.pop("seed", 0))
    return FakeBus(servos, damage=BusDamage(**damage, events=events, seed=seed))


def test_a_reply_comes_after_the_packet_the_delay_and_its_own_bytes() -> None:
    bus = bus_of(1, delay=50)
    bus.receive(ping(1), 1.0)
    due_s = 1.0 + 6 * BYTE_S + 100e-6 + 6 * BYTE_S
    assert bus.advance(due_s - 1e-6) == []
    (reply,) = bus.advance(due_s + 1e-6)
    assert reply.time_s == pytest.approx(due_s)
    assert reply.data == bytes.fromhex("ff ff 01 02 00 fc")


def test_bytes_cost_what_the_rate_says() -> None:
    bus = FakeBus([FakeServo(1, baud=57_600)])
    bus.servo(1).poke("return_delay_time", 0)
    bus.exchange(ping(1), baud=57_600)
    assert bus.time_s == pytest.approx(12 * 10 / 57_600, rel=0.01)


def test_staggered_return_delays_let_several_be_asked_at_once() -> None:
    identities = (1, 2, 3, 4)
    bus = bus_of(*identities)
    for place, identity in enumerate(identities):
        bytes_to_wait = 8 * (len(identities) - place - 1) + 14 * place
        bus.servo(identity).poke("return_delay_time", round(bytes_to_wait * BYTE_S / 2e-6))
    heard = bus.exchange(b"".join(map(read, identities)))
    assert bus.counts.collisions == 0
    assert [heard[at + 2] for at in range(0, len(heard), 14)] == [*identities]
    assert bus.time_s == pytest.approx((8 + 14) * 4 * BYTE_S)  # no gap at all


def test_who_answers_over_another_garbles_both() -> None:
    bus = bus_of(1, 2)
    heard = bus.exchange(ping(0xFE))
    assert bus.counts.collisions == 1
    assert len(heard) == 6
    assert checksum(heard[2:-1]) != heard[-1] or heard[:2] != b"\xff\xff"


def test_two_servos_of_one_id_garble_each_other() -> None:
    bus = bus_of(7, 7)
    assert bus.exchange(ping(7)) != bytes.fromhex("ff ff 07 02 00 f6")
    assert bus.counts.collisions == 1


def test_a_controller_that_speaks_into_an_answer_is_not_understood() -> None:
    bus = bus_of(1, delay=10)
    bus.receive(ping(1), 0.0)
    bus.receive(write(1, 25, 1), 8 * BYTE_S)  # the answer begins two bytes later
    heard = b"".join(reply.data for reply in bus.advance(0.01))
    assert heard != bytes.fromhex("ff ff 01 02 00 fc")
    assert bus.servo(1).peek("led") == 0


@pytest.mark.parametrize(
    ("servo", "controller", "hears"),
    [
        (1_000_000, 57_600, False),
        (115_200, 117_647, True),
        (57_600, 57_142, True),
        (500_000, 1_000_000, False),
    ],
)
def test_a_servo_hears_its_own_rate_within_what_a_uart_bears(
    servo: int, controller: int, hears: bool
) -> None:
    assert bool(FakeBus([FakeServo(1, baud=servo)]).exchange(ping(1), baud=controller)) == hears


def test_after_noise_and_after_a_pause_the_next_packet_is_heard() -> None:
    bus = bus_of(1)
    assert bus.exchange(b"\x00\xff\x12" + ping(1)) == bytes.fromhex("ff ff 01 02 00 fc")
    assert bus.exchange(b"\xff" + ping(1)) == bytes.fromhex("ff ff 01 02 00 fc")  # three FF before the ID
    assert bus.exchange(ping(1)[:4]) == b""
    bus.advance(bus.time_s + 0.2)  # more than the 100 ms that a packet may pause
    assert bus.exchange(ping(1)) == bytes.fromhex("ff ff 01 02 00 fc")


packets = st.one_of(
    st.builds(goal_positions, st.just([1, 2, 3]), st.lists(st.integers(0, 1023), min_size=3, max_size=3)),
    st.builds(lambda goal: write(2, 30, goal & 0xFF, goal >> 8), st.integers(0, 1023)),
    st.builds(write, st.integers(1, 3), st.integers(0, 60), st.integers(0, 255)),
)


@given(packets, st.data())
def test_a_packet_with_a_flipped_bit_changes_no_register(packet: bytes, data: st.DataObject) -> None:
    bus = bus_of(1, 2, 3)
    before = [bytes(device.peek(name) & 0xFF for name in device.table.registers) for device in bus.devices]
    damaged = bytearray(packet)
    damaged[data.draw(st.integers(0, len(packet) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    answers = bus.exchange(bytes(damaged))
    after = [bytes(device.peek(name) & 0xFF for name in device.table.registers) for device in bus.devices]
    assert before == after
    assert all(answers[at + 4] & StatusError.CHECKSUM for at in range(0, len(answers), 6))


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_no_bytes_whatever_bring_it_down(chunks: list[bytes]) -> None:
    bus = bus_of(1, 2)
    for chunk in chunks:
        bus.exchange(chunk)
        bus.exchange(b"\xff\xff\x01" + chunk)
    bus.advance(bus.time_s + 1.0)
    for servo in bus.devices:
        assert isinstance(servo, FakeServo)
        assert 0.0 <= servo.position_ticks <= 1024.0


MOVES = goal_positions([1, 2], [100, 900]), write(1, 30, 100, 1), write(2, 24, 1), write(0xFE, 30, 1, 1)


def mangled(rng: np.random.Generator) -> bytes:
    """Return random bytes, or a packet that moves servos with some of its bytes changed, lost or doubled."""
    if rng.random() < 0.5:
        return b"\xff\xff" * int(rng.integers(2)) + rng.bytes(int(rng.integers(40)))
    data = bytearray(MOVES[rng.integers(len(MOVES))])
    for _ in range(rng.integers(1, 5)):
        at = int(rng.integers(len(data)))
        match rng.integers(3):
            case 0:
                data[at] = rng.integers(256)
            case 1:
                del data[at]
            case _:
                data.insert(at, data[at])
    return bytes(data)


def holds_a_packet(data: bytes) -> bool:
    """Tell whether a whole packet with the right checksum lies somewhere in some bytes."""
    begins = (at for at in range(len(data) - 5) if data[at : at + 2] == b"\xff\xff")
    packets = (data[at : at + data[at + 3] + 4] for at in begins)
    return any(len(one) == one[3] + 4 > 5 and checksum(one[2:-1]) == one[-1] for one in packets)


def fuzz(n: int, seed: int = 0) -> int:
    """Send mangled frames and see that nothing moves; return how many were whole packets all the same.

    An 8-bit checksum lets one damaged packet in 256 pass: nothing can tell such a one from one that is meant.
    """
    rng, bus, passed = np.random.default_rng(seed), bus_of(1, 2), 0
    before = [bytes(servo._bytes) for servo in bus.devices]
    for _ in range(n):
        frame = mangled(rng)
        bus.receive(frame, bus.time_s + 0.11)  # the pause ends what the last one began
        bus.advance(bus.time_s + 0.12, physics=False)
        if holds_a_packet(frame):
            passed += 1
            bus = bus_of(1, 2)
        else:
            assert [bytes(servo._bytes) for servo in bus.devices] == before, frame.hex(" ")
    return passed


def test_mangled_frames_move_nothing_unless_one_is_a_whole_packet_by_chance() -> None:
    assert 0 < fuzz(10_000) < 0.04 * 10_000


def test_a_packet_that_comes_in_pieces_is_on_the_wire_in_one() -> None:
    bus = bus_of(1)
    bus.receive(ping(1)[:3], 0.0, slack_s=0.005)
    bus.advance(0.001)
    bus.receive(ping(1)[3:], 0.001, slack_s=0.005)
    (reply,) = bus.advance(0.002)
    assert reply.time_s == pytest.approx(12 * BYTE_S)


def test_damage_by_chance_is_counted_and_comes_again_with_its_seed() -> None:
    def heard(seed: int) -> tuple[list[bytes], FakeBus]:
        bus = bus_of(1, dropped=0.02, doubled=0.02, flipped=0.02, seed=seed)
        return [bus.exchange(read(1)) for _ in range(200)], bus

    first, bus = heard(5)
    worn = bus.counts.byte_errors
    n_bytes = 200 * (8 + 14)
    assert min(worn.dropped, worn.doubled, worn.flipped) > 0.01 * 0.6 * n_bytes
    assert worn.dropped + worn.doubled + worn.flipped < 0.09 * n_bytes
    assert heard(5)[0] == first != heard(6)[0]


def test_faults_come_and_go_by_the_script() -> None:
    events = (
        ScheduledFault(BusFault.SILENT, 1.0, 2.0, 1),
        ScheduledFault(BusFault.CABLE, 3.0, 4.0),
        ScheduledFault(BusFault.WRONG_BAUD, 5.0, 6.0, 1),
    )
    bus = bus_of(1, 2, events=events)
    answers = {}
    for tenth in range(5, 75, 10):
        bus.advance(tenth / 10.0)
        answers[tenth / 10.0] = (bool(bus.exchange(ping(1))), bool(bus.exchange(ping(2))))
    assert [time for time, (one, _) in answers.items() if not one] == [1.5, 3.5, 5.5]
    assert [time for time, (_, two) in answers.items() if not two] == [3.5]


def test_a_hot_servo_warms_up_and_says_so_and_a_low_supply_too() -> None:
    bus = bus_of(
        1,
        2,
        events=(
            ScheduledFault(BusFault.HOT, 1.0, 10.0, 1),
            ScheduledFault(BusFault.HOT, 20.0),
            ScheduledFault(BusFault.LOW_VOLTAGE, 2.0, 3.0),
        ),
    )
    assert bus.exchange(ping(1))[4] == 0
    for tenth in range(1, 100):
        bus.advance(tenth / 10.0)
        if tenth == 25:
            assert bus.exchange(ping(2))[4] == StatusError.INPUT_VOLTAGE
    assert bus.exchange(ping(1))[4] == StatusError.OVERHEATING
    assert bus.servo(1).peek("present_temperature") > 70
    assert bus.servo(1).peek("torque_limit") == 0  # the manual's shutdown mask, 36
    assert bus.exchange(ping(2))[4] == 0


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("silent:7@2-3.5", ScheduledFault(BusFault.SILENT, 2.0, 3.5, 7)),
        ("cable@10", ScheduledFault(BusFault.CABLE, 10.0)),
        ("low-voltage", ScheduledFault(BusFault.LOW_VOLTAGE)),
    ],
)
def test_faults_are_read_from_words(text: str, event: ScheduledFault) -> None:
    assert ScheduledFault.parse(text) == event


@pytest.mark.parametrize("text", ["", "sad", "silent:x", "silent@3-2", "hot@x", "cable@1-nan"])
def test_what_is_no_fault_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a fault of a bus"):
        ScheduledFault.parse(text)


def test_a_fault_of_nobody_and_shares_beyond_one_are_refused() -> None:
    with pytest.raises(InputError, match="the ID 9 of a fault"):
        bus_of(1, events=(ScheduledFault(BusFault.SILENT, id=9),))
    with pytest.raises(InputError, match="probabilities"):
        bus_of(1, dropped=0.7, flipped=0.7)
    with pytest.raises(InputError, match="no servo bus"):
        FakeBus.of(robot("sony_ers7"))


def test_registers_move_a_body_and_the_body_fills_registers() -> None:
    body = MockBody(BIOLOID, positions=BIOLOID.pose("stand"))
    bus = FakeBus.of(BIOLOID, body)
    ticks = np.rint(BIOLOID.to_ticks(BIOLOID.pose("sit"))).astype(int).tolist()
    bus.exchange(goal_positions([servo.id or 0 for servo in BIOLOID.servos], ticks))
    bus.advance(0.5)
    assert [bus.joint(name).peek("present_position") for name in BIOLOID.joint_names] == ticks
    np.testing.assert_allclose(body.positions, BIOLOID.from_ticks(np.array(ticks, dtype=float)), atol=1e-9)
    assert body.played_commands[-1].free is None
    assert body.played_commands[-1].stiffness is None  # the card's own


def test_a_softer_slope_makes_a_joint_softer() -> None:
    body = MockBody(BIOLOID)
    bus = FakeBus.of(BIOLOID, body)
    bus.exchange(write(13, 28, 128, 128))
    bus.exchange(write(13, 24, 1))
    bus.advance(0.1)
    stiffness = body.played_commands[-1].stiffness
    assert stiffness is not None
    own = np.array([servo.stiffness for servo in BIOLOID.servos])
    place = [servo.id for servo in BIOLOID.servos].index(13)
    np.testing.assert_allclose(stiffness[place], own[place] * 32.0 / 128.0)
    np.testing.assert_allclose(np.delete(stiffness, place), np.delete(own, place))


def test_a_hand_moves_a_joint_only_while_its_servo_is_free() -> None:
    bus = FakeBus.of(BIOLOID, MockBody(BIOLOID, positions=BIOLOID.pose("stand")))
    bus.hold("right_elbow", 0.3)
    bus.advance(0.1)
    place = BIOLOID.index("right_elbow")
    there = bus.joint("right_elbow").peek("present_position")
    assert BIOLOID.servos[place].from_ticks(float(there)) == pytest.approx(0.3, abs=0.006)
    bus.exchange(write(5, 24, 1))  # its goal is still where it was switched on
    bus.advance(0.5)
    assert BIOLOID.servos[place].from_ticks(bus.joint("right_elbow").position_ticks) != pytest.approx(
        0.3, abs=0.006
    )
    bus.exchange(write(5, 24, 0))
    bus.let_go()
    bus.advance(0.6)
    assert math.isfinite(bus.joint("right_elbow").position_ticks)


def test_with_damage_no_wrong_goal_ever_reaches_a_servo() -> None:
    bus = bus_of(*range(1, 19), dropped=0.004, doubled=0.003, flipped=0.003, seed=1)
    sent: set[int] = {512}
    goals_seen: set[int] = set()
    rng = np.random.default_rng(2)
    for _ in range(400):
        ticks = rng.integers(0, 1024, 18)
        sent.update(ticks.tolist())
        bus.exchange(goal_positions(range(1, 19), ticks.tolist()))
        bus.advance(bus.time_s + 0.002)
        goals_seen.update(servo.peek("goal_position") for servo in bus.devices)
    assert bus.counts.broken > 50
    assert len(goals_seen) > 500
    assert goals_seen <= sent


def test_a_status_packet_reads_as_no_instruction_of_goals() -> None:
    bus = bus_of(1)
    answer = bus.exchange(read(1, 30, 4))
    with pytest.raises(FormatError):
        InstructionPacket.decode(answer[:-1])
    assert answer[5:-1] == bytes([0, 2, 0, 0])
