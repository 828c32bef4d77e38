"""One frame on the wire: a sync write of all goals, and reads of the joints' states.

**Staggered reads.** A program needs some 40 us between an answer and its next request, half of what a read of
two bytes takes at 1 Mbps. So several READ packets are sent at once, and each servo of such a group waits
(register `return_delay_time`, steps of 2 us up to 508) until the requests after its own and the answers
before its own are over: the answers follow each other, and there is one pause per group. A group is as large
as 508 us allow: at 1 Mbps 7 servos that send two bytes, 3 that send 14; at 57600 a single one, which is the
plain way. How precisely real servos keep their delay is not published: this was tried on the fake bus only.

**Damage.** A packet is protected by an 8-bit checksum only. `GoalPacket` picks, among equivalent packets, one
that no dropped, doubled or flipped byte turns into another position. Two damaged bytes in one packet can
still cancel each other: nothing in protocol 1.0 prevents that. With 1 % of all bytes dropped, doubled or
flipped in one bit, a packet to 18 servos brought a wrong goal in 1 to 2 frames of 1000, and in 7 where all
errors were flips (12000 and 10000 frames on the fake bus), up to 512 ticks off. So the goal that a servo
holds
is read back: a goal that was never sent is counted (`wrong_goals`), reported, and sent again in the next
frame, once more in a short packet. Speeds are paced, so joints strayed by at most 9 degrees meanwhile, lost
packets included. Two packets to 9 servos each would halve the rate, at 80 us more; one is sent, as most lines
are clean. An answer counts only if header, ID, length and checksum are right, and the joint can have moved
there since its last answer.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from enum import Enum
from itertools import pairwise

import numpy as np

from posewright.arrays import Indices
from posewright.bodies import FaultKind
from posewright.buses.dynamixel.control_table import ControlTable, Instruction
from posewright.buses.dynamixel.packets import (
    BITS_A_BYTE,
    BROADCAST_ID,
    BYTES_OUTSIDE_LENGTH,
    ERROR_INDEX,
    GOAL_BYTES,
    GOAL_POSITION,
    HEADER,
    ID_INDEX,
    LENGTH_INDEX,
    OVERHEAD,
    InstructionPacket,
    checksum,
    packet_bytes,
)
from posewright.buses.serial_port import SerialDevice
from posewright.documents.plain import PlainData

DELAY_STEP_US = 2
MAX_DELAY_STEPS = 254
"""e-Manual, AX-12A, Return Delay Time (5): 0..254 steps of 2 us."""

GAP_US = 2.0
"""Gap between the answers of a group [us]; ours: the step to which delays are rounded."""

UNLIMITED_SPEED = 1000
"""A moving speed that limits nothing: 111 rpm, where an AX-12A without load does 59."""

MIN_LOW_BYTE = 8
"""Smallest lower byte of a moving speed: read as the higher byte it makes a speed that no servo accepts."""

US_PER_S = 1e6
READ_REQUEST_BYTES = OVERHEAD + 2
"""Size of a READ packet, whose parameters are an address and a size."""


class ReadScope(Enum):
    """What is read of a servo in a frame; the value is the number of bytes."""

    POSITION = 2
    """Its position."""
    STATE = 14
    """Its goal, moving speed and torque limit; its position, speed, load, voltage and temperature."""

    @property
    def n_bytes(self) -> int:
        """Number of bytes that are read."""
        return self.value

    @property
    def first_register(self) -> str:
        """Name of the first register that is read."""
        return "present_position" if self is ReadScope.POSITION else "goal_position"


@dataclass(frozen=True, slots=True)
class ReadGroup:
    """Servos that are read with one burst of requests.

    Attributes:
        ids: the IDs of the servos, in the order of their answers.
        requests: the READ packets to all of them.
        delays: required value of the register `return_delay_time`, by ID.
        wire_s: how long requests, delays and answers take [s].
    """

    ids: tuple[int, ...]
    requests: bytes
    delays: Mapping[int, int]
    wire_s: float


def read_groups(
    ids: Sequence[int], baud: int, scope: ReadScope, table: ControlTable, *, staggered: bool
) -> tuple[ReadGroup, ...]:
    """Divide servos into groups that are read at once.

    Args:
        ids: the IDs of the servos.
        baud: rate of the bus [bits per second].
        scope: what is read of each servo.
        table: the control table of the servos.
        staggered: whether the servos of a group answer one after the other, by their return delays. Such
            groups are as large as the register `return_delay_time` allows; otherwise each servo is a group.
    """
    group_size = 1
    if staggered:
        while group_size < len(ids) and _delays(group_size + 1, baud, scope)[-1] <= MAX_DELAY_STEPS:
            group_size += 1
    n_groups = math.ceil(len(ids) / group_size)
    bounds = [len(ids) * group // n_groups for group in range(n_groups + 1)]  # of groups of nearly one size
    address = table.register(scope.first_register).address
    return tuple(_build_group(tuple(ids[begin:end]), baud, scope, address) for begin, end in pairwise(bounds))


def _build_group(ids: tuple[int, ...], baud: int, scope: ReadScope, address: int) -> ReadGroup:
    """Return the packets that read some servos together, and the time that they take."""
    parameters = bytes((address, scope.n_bytes))
    packets = [InstructionPacket(servo_id, Instruction.READ, parameters).encode() for servo_id in ids]
    requests = b"".join(packets)
    delays = _delays(len(ids), baud, scope) if len(ids) > 1 else [0]
    n_bytes = len(requests) + len(ids) * (OVERHEAD + scope.n_bytes)
    wire_s = n_bytes * BITS_A_BYTE / baud + len(ids) * (GAP_US + DELAY_STEP_US) / US_PER_S
    return ReadGroup(ids, requests, delays=dict(zip(ids, delays, strict=True)), wire_s=wire_s)


def _delays(n_servos: int, baud: int, scope: ReadScope) -> list[int]:
    """Return the return delays of the servos of a group, in the order of their answers [steps of 2 us].

    All requests are sent in one burst. After its own request each servo waits for the requests of the later
    servos, then for the answers of the earlier ones.

    Args:
        n_servos: number of servos in the group.
        baud: rate of the bus [bits per second].
        scope: what is read of each servo.
    """
    byte_us = BITS_A_BYTE * US_PER_S / baud
    request_us = READ_REQUEST_BYTES * byte_us
    answer_us = (OVERHEAD + scope.n_bytes) * byte_us
    delays = []
    for n_earlier in range(n_servos):
        n_later = n_servos - 1 - n_earlier
        delay_us = n_later * request_us + n_earlier * answer_us + (n_earlier + 1) * GAP_US
        delays.append(math.ceil(delay_us / DELAY_STEP_US))
    return delays


def encodable_goals(ticks: Indices) -> Indices:
    """Return goals as a `GoalPacket` encodes them: a lower byte of 0xFF makes a goal one tick less."""
    goals: Indices = ticks - ((ticks & 0xFF) == 0xFF)
    return goals


class GoalPacket:
    """Encodes the sync write of goals and moving speeds to some servos.

    No single dropped, doubled or flipped byte makes another position of it. To that end no byte is 0xFF,
    which could pass for the header that follows; no byte equals the checksum, which doubled would stand in
    its own place; and the lower byte of a speed is 8 or more, so that goals that are read one byte off have
    speeds that no servo accepts. For that, moving speeds are adjusted, and one goal in 256 is changed by a
    tick.
    """

    def __init__(self, ids: Sequence[int]) -> None:
        """Prepare the bytes that are the same in all packets: all but goals and speeds."""
        size = packet_bytes(len(ids))
        self._body = np.zeros(size - len(HEADER) - 1, np.uint8)  # between header and checksum
        prefix = (
            BROADCAST_ID,
            size - BYTES_OUTSIDE_LENGTH,
            Instruction.SYNC_WRITE,
            GOAL_POSITION,
            GOAL_BYTES,
        )
        self._body[: len(prefix)] = prefix
        # views of the bytes of all servos: ID, goal and speed, the lower byte first
        blocks = self._body[len(prefix) :].reshape(len(ids), GOAL_BYTES + 1)
        blocks[:, 0] = ids
        self._goal_low_bytes = blocks[:, 1]
        self._goal_high_bytes = blocks[:, 2]
        self._speed_low_bytes = blocks[:, 3]
        self._speed_high_bytes = blocks[:, 4]

    def encode(self, ticks: Indices, speeds: Indices) -> bytes:
        """Return the packet for goals `(n,)` [ticks] and moving speeds `(n,)`, 1 to `UNLIMITED_SPEED`."""
        goals = encodable_goals(ticks)
        low_bytes = speeds & 0xFF
        increases = np.where(low_bytes < MIN_LOW_BYTE, MIN_LOW_BYTE - low_bytes, 0)
        allowed_speeds = speeds + increases - (low_bytes == 0xFF)
        self._goal_low_bytes[:] = goals & 0xFF
        self._goal_high_bytes[:] = goals >> 8
        self._speed_low_bytes[:] = allowed_speeds & 0xFF
        self._speed_high_bytes[:] = allowed_speeds >> 8
        # vary the speed of the first servo until the checksum occurs in no other place
        first_low_byte = int(self._speed_low_bytes[0])
        faster = range(first_low_byte, 0xFF)
        slower = range(first_low_byte - 1, MIN_LOW_BYTE - 1, -1)
        for low_byte in (*faster, *slower):
            self._speed_low_bytes[0] = low_byte
            body = self._body.tobytes()
            body_checksum = checksum(body)
            if body_checksum != 0xFF and body_checksum not in body:
                break
        return HEADER + body + bytes((body_checksum,))


@dataclass
class FrameCounts:
    """What happened in the frames so far; the names are the keys in a recording.

    Attributes:
        writes: packets of goals.
        asked: servos that were read.
        answered: complete answers.
        silent: answers of which no byte came.
        garbled: answers that were cut off or damaged.
        late_answers: answers that came after their time-out, and count as silent or garbled, too.
        implausible: complete answers with a position that the joint cannot have reached.
        wrong_goals: answers with a goal that was never sent to the servo.
        stray_bytes: bytes that belong to no answer.
        lost: how often a servo or the port stopped answering, or a servo shut itself down.
        found: how often all of them answered again.
        reported: how often an answer had each error bit, by its name.
    """

    writes: int = 0
    asked: int = 0
    answered: int = 0
    silent: int = 0
    garbled: int = 0
    late_answers: int = 0
    implausible: int = 0
    wrong_goals: int = 0
    stray_bytes: int = 0
    lost: int = 0
    found: int = 0
    reported: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, PlainData]:
        """Return the counters as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class FrameAnswers:
    """The answers to the reads of a frame.

    Attributes:
        complete: error byte and data of each complete answer, by ID.
        missing: what is wrong with each other answer, by ID.
        late: IDs whose answer to an earlier read came after its time-out: the servo is well, but this
            computer or the adapter is slow.
    """

    complete: dict[int, bytes] = field(default_factory=dict)
    missing: dict[int, FaultKind] = field(default_factory=dict)
    late: set[int] = field(default_factory=set)


def parse_answers(
    received: bytes, ids: Sequence[int], size: int, answers: FrameAnswers, overdue: Collection[int] = ()
) -> int:
    """Add the answers in the received bytes to `answers`; return how many bytes belong to no answer.

    A missing answer is garbled if there are unexplained bytes in its place, otherwise silent.

    Args:
        received: what came over the wire.
        ids: the servos that were read, in the order of their answers.
        size: bytes of data in an answer.
        answers: is extended.
        overdue: servos that have not answered an earlier read; their answers are late.
    """
    answer_bytes = OVERHEAD + size
    search_begin = 0
    previous_end = 0  # of the last answer
    n_unexplained = 0  # bytes since the last expected answer
    n_stray = 0
    waiting_ids = list(ids)  # servos whose answer has not been found yet
    while (begin := received.find(HEADER, search_begin)) >= 0:
        packet = received[begin : begin + answer_bytes]
        servo_id = _answering_id(packet, size)
        if servo_id is None or (servo_id not in waiting_ids and servo_id not in overdue):
            search_begin = begin + 1
            continue
        n_unexplained += begin - previous_end
        previous_end = begin + answer_bytes
        search_begin = previous_end
        if servo_id not in waiting_ids:
            answers.late.add(servo_id)
            continue
        index = waiting_ids.index(servo_id)
        _add_missing(waiting_ids[:index], n_unexplained, answers)  # those before it will not come any more
        n_stray += n_unexplained
        n_unexplained = 0
        answers.complete[servo_id] = packet[ERROR_INDEX:-1]
        del waiting_ids[: index + 1]
    n_unexplained += len(received) - previous_end
    _add_missing(waiting_ids, n_unexplained, answers)
    return n_stray + n_unexplained


def _answering_id(packet: bytes, size: int) -> int | None:
    """Return the ID in an intact answer with `size` bytes of data; None for other packets."""
    is_complete = len(packet) == OVERHEAD + size and packet[LENGTH_INDEX] == size + 2
    # the checksum makes the lower byte of the sum 0xFF
    if not is_complete or sum(packet[ID_INDEX:]) & 0xFF != 0xFF:
        return None
    return packet[ID_INDEX]


def _add_missing(ids: Sequence[int], n_bytes: int, answers: FrameAnswers) -> None:
    """Add servos without an answer to `answers`: garbled if there were bytes in its place, else silent."""
    kind = FaultKind.GARBLED if n_bytes else FaultKind.SILENT
    answers.missing.update(dict.fromkeys(ids, kind))


CHUNK_BYTES = 4096
"""Most bytes that are read at once."""

LATENCY_GROWTH = 2.0
MAX_LATENCY_S = 0.25
"""How much longer answers may take after a late one: so many times as long, up to this [s]; ours."""


class PortStream:
    """Sends and receives bytes on an open port with the least delay.

    Args:
        port: pyserial's.
        now: a monotonic clock [s].
        sleep: waits for a time [s].
    """

    SPIN_S = 0.0004
    """The last part of a wait is spent polling [s]: to wake up from a sleep takes some 0.1 ms."""

    def __init__(self, port: SerialDevice, now: Callable[[], float], sleep: Callable[[float], None]) -> None:
        """Store the port, and find its file descriptor, which is faster than pyserial."""
        self._port = port
        self._now = now
        self._sleep = sleep
        self._descriptor: int | None = None
        with suppress(OSError):  # Windows has none
            self._descriptor = port.fileno()

    def send(self, data: bytes) -> None:
        """Send bytes.

        Raises:
            OSError: the port is gone.
        """
        if self._descriptor is None:
            self._port.write(data)
            return
        # a terminal's buffer holds more than a packet; when it is full it drains at the wire's pace
        unsent = data
        while unsent:
            try:
                n_written = os.write(self._descriptor, unsent)
                unsent = unsent[n_written:]
            except BlockingIOError:
                self._sleep(self.SPIN_S)

    def receive(self, n_bytes: int, due_s: float, timeout_s: float) -> bytes:
        """Return up to `n_bytes` bytes; fewer if they are not there in time.

        Args:
            n_bytes: how many are expected.
            due_s: when they are expected, from now [s].
            timeout_s: how much later they may come [s].

        Raises:
            OSError: the port is gone.
        """
        start_s = self._now()
        if due_s > self.SPIN_S:
            self._sleep(due_s - self.SPIN_S)
        deadline_s = start_s + due_s + timeout_s
        received = self.read_pending()
        while len(received) < n_bytes and self._now() < deadline_s:
            received += self.read_pending()
        return received

    def read_pending(self) -> bytes:
        """Return the bytes that have arrived, without waiting."""
        if self._descriptor is None:
            return bytes(self._port.read(self._port.in_waiting))
        try:
            return os.read(self._descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return b""


class FrameLoop:
    """Sends goals and reads groups of servos in turn.

    Args:
        stream: the open port.
        groups: the groups of servos that are read at once.
        scope: what is read of each servo.
        latency_s: how long an answer may take beyond its time on the wire [s]; doubled, up to
            `MAX_LATENCY_S`, when answers come later.
        counts: are updated.
    """

    def __init__(
        self,
        stream: PortStream,
        groups: Sequence[ReadGroup],
        scope: ReadScope,
        latency_s: float,
        counts: FrameCounts,
    ) -> None:
        """Begin with the first group."""
        self._stream = stream
        self._groups = groups
        self._data_bytes = scope.n_bytes  # in each answer
        self.latency_s = latency_s
        self._next_group = 0  # index of the group that is read next
        self._overdue: set[int] = set()  # servos that have not answered their latest read
        self.counts = counts

    def max_wait_s(self, n_groups: int) -> float:
        """Return how long reading so many groups takes if no servo answers [s]."""
        return n_groups * (max(group.wire_s for group in self._groups) + self.latency_s)

    def exchange(self, goals: bytes, byte_s: float, n_groups: int | None = None) -> FrameAnswers:
        """Send a packet of goals and read the next groups in turn.

        Answers of a group are parsed while the next group's are on the wire. If an answer to an earlier read
        comes late, later answers are waited for longer.

        Args:
            goals: the packet, sent before the first group's requests; may be empty.
            byte_s: how long a byte takes on the wire [s].
            n_groups: how many groups are read; None for all.

        Raises:
            OSError: the port is gone.
        """
        n_total = len(self._groups)
        groups = [self._groups[(self._next_group + k) % n_total] for k in range(n_groups or n_total)]
        self._next_group = (self._next_group + len(groups)) % n_total
        answers = FrameAnswers()
        late_bytes = self._stream.read_pending()  # may hold answers to earlier reads
        parse_answers(late_bytes, (), self._data_bytes, answers, self._overdue)
        unsent_goals = goals
        received = b""
        previous_group: ReadGroup | None = None
        for group in groups:
            self._stream.send(unsent_goals + group.requests)
            if previous_group is not None:
                self._parse_group_answers(received, previous_group, answers)
            n_expected = len(group.ids) * (OVERHEAD + self._data_bytes)
            due_s = len(unsent_goals) * byte_s + group.wire_s
            received = self._stream.receive(n_expected, due_s, self.latency_s)
            previous_group = group
            unsent_goals = b""
        if previous_group is not None:
            self._parse_group_answers(received, previous_group, answers)
        if goals:
            self.counts.writes += 1
        if answers.late:
            self.counts.late_answers += len(answers.late)
            self.latency_s = min(LATENCY_GROWTH * self.latency_s, MAX_LATENCY_S)
        return answers

    def _parse_group_answers(self, received: bytes, group: ReadGroup, answers: FrameAnswers) -> None:
        """Parse the answers of a group, and note which servos are overdue."""
        n_stray = parse_answers(received, group.ids, self._data_bytes, answers, self._overdue)
        self.counts.stray_bytes += n_stray
        self.counts.asked += len(group.ids)
        self._overdue -= answers.late
        for servo_id in group.ids:
            if servo_id in answers.missing:
                self._overdue.add(servo_id)
            else:
                self._overdue.discard(servo_id)
