"""Servo packets are what the e-Manual says of protocol 1.0."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posewright.buses.dynamixel.packets import InstructionPacket, goal_positions, goals_in, packet_bytes
from posewright.errors import FormatError, InputError

goals = st.dictionaries(st.integers(0, 253), st.integers(0, 1023), min_size=1, max_size=27)


def test_packets_are_those_printed_in_the_manual() -> None:
    assert InstructionPacket(1, 1).encode() == bytes.fromhex("ff ff 01 02 01 fb")  # ping
    assert InstructionPacket(1, 2, b"\x2b\x01").encode() == bytes.fromhex("ff ff 01 04 02 2b 01 cc")  # read


@given(goals, st.integers(0, 1023))
def test_a_sync_write_reads_by_hand_as_it_was_meant(told: dict[int, int], speed: int) -> None:
    packet = goal_positions(list(told), list(told.values()), speed)
    assert packet[:3] == b"\xff\xff\xfe"
    assert packet[3] == len(packet) - 4 == 5 * len(told) + 4  # (L + 1) * N + 4 with L = 4
    assert packet[4:7] == b"\x83\x1e\x04"
    assert (sum(packet[2:]) & 0xFF) == 0xFF  # the checksum is the complement of the sum
    body = packet[7:-1]
    pairs = [body[at + 1 : at + 5] for at in range(0, len(body), 5)]
    assert [int.from_bytes(pair[:2], "little") for pair in pairs] == [*told.values()]
    assert {int.from_bytes(pair[2:], "little") for pair in pairs} == {speed}
    assert list(body[::5]) == [*told]
    assert goals_in(packet) == {servo: (goal, speed) for servo, goal in told.items()}
    assert packet_bytes(len(told)) == len(packet)


@given(goals, st.data())
def test_a_flipped_bit_never_passes(told: dict[int, int], data: st.DataObject) -> None:
    packet = bytearray(goal_positions(list(told), list(told.values())))
    packet[data.draw(st.integers(0, len(packet) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(FormatError):
        goals_in(bytes(packet))


def test_other_packets_and_too_many_servos_are_refused() -> None:
    with pytest.raises(FormatError, match="not a sync write"):
        goals_in(InstructionPacket(1, 1).encode())
    with pytest.raises(FormatError, match="not a packet"):
        goals_in(b"")
    with pytest.raises(InputError, match="at most 143"):
        packet_bytes(28)
