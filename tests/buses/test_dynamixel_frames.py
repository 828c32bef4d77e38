"""What goes over the wire in a frame: goals that damage does not change, and answers that do not collide."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from posewright.bodies import FaultKind
from posewright.buses.dynamixel.control_table import control_table
from posewright.buses.dynamixel.fake.bus import FakeBus
from posewright.buses.dynamixel.fake.device import status_packet
from posewright.buses.dynamixel.fake.servo import FakeServo
from posewright.buses.dynamixel.frames import (
    MAX_DELAY_STEPS,
    UNLIMITED_SPEED,
    FrameAnswers,
    GoalPacket,
    ReadGroup,
    ReadScope,
    parse_answers,
    read_groups,
)
from posewright.buses.dynamixel.packets import goals_in

TABLE = control_table("AX-12A")
IDS = list(range(1, 19))

poses = st.lists(st.tuples(st.integers(0, 1023), st.integers(1, UNLIMITED_SPEED)), min_size=18, max_size=18)


def groups_of(baud: int, reads: ReadScope) -> tuple[ReadGroup, ...]:
    return read_groups(IDS, baud, reads, TABLE, staggered=True)


def packet_of(pose: list[tuple[int, int]]) -> bytes:
    ticks, speeds = np.array(pose).T
    return GoalPacket(IDS).encode(ticks, speeds)


def damaged(data: bytes, n: int) -> Iterator[bytes]:
    """Return the data with one byte dropped, one doubled, and one with each bit flipped, of the first n."""
    for at in range(n):
        yield data[:at] + data[at + 1 :]
        yield data[: at + 1] + data[at:]
        for bit in range(8):
            yield data[:at] + bytes((data[at] ^ 1 << bit,)) + data[at + 1 :]


@pytest.mark.parametrize("reads", ReadScope)
@pytest.mark.parametrize("baud", [57_600, 500_000, 1_000_000])
def test_staggered_answers_follow_each_other_and_never_collide(baud: int, reads: ReadScope) -> None:
    bus = FakeBus([FakeServo(one, baud=baud) for one in IDS])
    for group in groups_of(baud, reads):
        for servo, delay in group.delays.items():
            bus.servo(servo).poke("return_delay_time", delay)
    for group in groups_of(baud, reads):
        found = FrameAnswers()
        begun_s = bus.time_s
        data = bus.exchange(group.requests, baud)
        assert parse_answers(data, group.ids, reads.value, found) == 0
        assert list(found.complete) == [*group.ids]
        bytes_s = (len(group.requests) + len(data)) * 10.0 / baud
        assert bytes_s - 1e-9 <= bus.time_s - begun_s <= group.wire_s + 1e-9
        assert group.wire_s < bytes_s + len(group.ids) * 6e-6
    assert bus.counts.collisions == 0


def test_groups_are_as_large_as_the_longest_delay_allows() -> None:
    sizes = {
        (baud, reads): max(len(group.ids) for group in groups_of(baud, reads))
        for baud in (1_000_000, 57_600)
        for reads in ReadScope
    }
    assert sizes[1_000_000, ReadScope.POSITION] == 6  # 7 would do; 18 in three groups are 6 each
    assert sizes[1_000_000, ReadScope.STATE] == 3
    assert sizes[57_600, ReadScope.POSITION] == sizes[57_600, ReadScope.STATE] == 1
    seven = read_groups(IDS[:7], 1_000_000, ReadScope.POSITION, TABLE, staggered=True)
    assert len(seven) == 1
    assert max(seven[0].delays.values()) <= MAX_DELAY_STEPS
    alone = read_groups(IDS, 1_000_000, ReadScope.POSITION, TABLE, staggered=False)
    assert [group.ids for group in alone] == [(one,) for one in IDS]


@given(poses)
def test_a_packet_says_what_was_meant_within_a_tick_and_has_no_byte_that_is_dangerous(
    pose: list[tuple[int, int]],
) -> None:
    packet = packet_of(pose)
    told = goals_in(packet)
    assert list(told) == IDS
    for (tick, _speed), (told_tick, told_speed) in zip(pose, told.values(), strict=True):
        assert tick - 1 <= told_tick <= tick
        assert 1 <= told_speed <= 1023
    kept = [k for k, (tick, speed) in enumerate(pose) if tick & 0xFF < 0xFF and 8 <= speed & 0xFF < 0xFF]
    for k in kept[1:]:  # the first one's speed gives way to the checksum
        assert told[IDS[k]] == pose[k] or k == 0
    assert 0xFF not in packet[2:]
    assert packet[-1] not in packet[2:-1]


@pytest.mark.parametrize("seed", range(2))
def test_no_single_damaged_byte_makes_another_goal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    before = [int(tick) for tick in rng.integers(100, 900, 18)]
    pose = [(tick + int(rng.integers(-9, 10)), int(rng.integers(1, 900))) for tick in before]
    packet = packet_of(pose)
    allowed = {one: {old, goals_in(packet)[one][0]} for one, old in zip(IDS, before, strict=True)}
    requests = groups_of(1_000_000, ReadScope.STATE)[0].requests
    bus = FakeBus([FakeServo(one) for one in IDS])
    n = 0
    for data in damaged(packet, len(packet)):
        for servo, old in zip(IDS, before, strict=True):
            bus.servo(servo).poke("goal_position", old)
        bus.exchange(data + requests)
        wrong = {one for one in IDS if bus.servo(one).peek("goal_position") not in allowed[one]}
        assert not wrong
        bus.exchange(packet)  # whatever is still half there ends
        n += 1
    assert n == 10 * len(packet)


@given(st.data(), st.sampled_from(ReadScope))
def test_a_damaged_answer_is_missing_and_never_another(data: st.DataObject, reads: ReadScope) -> None:
    ids = IDS[:4]
    truth = {one: data.draw(st.binary(min_size=reads.value, max_size=reads.value)) for one in ids}
    packets = [status_packet(one, 0, told) for one, told in truth.items()]
    # A dropped 0xFF has the next header's for it, a doubled sum is one: that only plausibility can tell.
    assume(not any({0xFF, packet[-1]} & {*packet[4:-1]} for packet in packets))
    whole = b"".join(packets)
    choices = [*damaged(whole, len(whole))]
    found = FrameAnswers()
    parse_answers(data.draw(st.sampled_from(choices)), ids, reads.value, found)
    assert {*found.complete} | {*found.missing} == {*ids}
    assert len(found.complete) >= len(ids) - 2
    assert all(told == b"\0" + truth[one] for one, told in found.complete.items())


def test_what_is_missing_is_silent_where_nothing_came_and_garbled_where_something_did() -> None:
    one, two, three = (status_packet(one, 0, b"\1\2") for one in (1, 2, 3))
    found = FrameAnswers()
    assert parse_answers(one + three, (1, 2, 3), 2, found) == 0
    assert found.missing == {2: FaultKind.SILENT}
    found = FrameAnswers()
    assert parse_answers(one + two[:-1] + three, (1, 2, 3), 2, found) == 7
    assert found.missing == {2: FaultKind.GARBLED}
    found = FrameAnswers()
    error = status_packet(2, 16)  # it heard a wrong checksum: an answer, but not to what was asked
    assert parse_answers(one + error + three, (1, 2, 3), 2, found) == 6
    assert found.missing == {2: FaultKind.GARBLED}
