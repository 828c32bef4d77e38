"""What goes over the wire in a frame: one sync write of all goals, and reads of where the joints are.

**Staggered reads.** A program needs some 40 us between an answer and its next request, half of what a read of
two bytes lasts at 1 Mbps. So several READ packets go out at once, and each servo of such a group waits
(register `return_delay_time`, steps of 2 us up to 508) until the requests after its own and the answers
before its own are over: the answers follow each other, and there is one pause a group. A group is as large as
508 us allow: at 1 Mbps 7 servos that send two bytes, 3 that send 14; at 57600 a single one, the
plain way. How exactly real servos keep their delay nobody publishes: this was tried on the fake bus only.

**Damage.** The only guard of a packet is an 8-bit sum. `GoalPacket` picks, among packets that say the same,
one that no dropped, doubled or flipped byte turns into another position. Two damaged bytes in one packet can
still cancel each other: nothing in protocol 1.0 prevents that. With 1 % of all bytes dropped, doubled or
flipped in one bit, a packet to 18 servos brought a wrong goal in 1 to 2 frames of 1000, where all were
flipped in 7 (12000 and 10000 frames on the fake bus), up to 512 ticks off. So what a servo holds is read
back: a goal that nobody sent is counted (`wrong_goals`), told, and sent anew in the next frame, in a short
packet besides. Speeds are paced, so joints strayed by at most 9 degrees meanwhile, lost packets included. Two
packets to 9 servos each would halve the rate, at 80 us more; one is sent, as most lines are clean. An answer
counts only if header, ID, length and sum are right, and the joint can have got there since it was seen last.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
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
    GOAL_BYTES,
    GOAL_POSITION,
    HEADER,
    OVERHEAD,
    InstructionPacket,
    checksum,
    packet_bytes,
)
from posewright.buses.serial_port import SerialDevice
from posewright.documents.plain import PlainData

DELAY_STEP_US = 2
MOST_DELAY_STEPS = 254
"""e-Manual, AX-12A, Return Delay Time (5): 0..254 steps of 2 us."""

GAP_US = 2.0
"""Between the answers of a group [us]; ours: the step to which delays are rounded."""

FULL = 1000
"""A moving speed that is as good as none: 111 rpm, where an AX-12A without load does 59."""

LOWEST = 8
"""The least lower byte of a moving speed: as a higher byte it makes a speed that no servo takes."""

US = 1e6


class Reads(Enum):
    """What is read of a servo, by how many bytes that is."""

    POSITION = 2
    """Where it is."""
    STATE = 14
    """What it was told: goal, speed, torque limit; where it is, how fast and loaded; voltage, temperature."""

    @property
    def first(self) -> str:
        """The register that they begin with."""
        return "present_position" if self is Reads.POSITION else "goal_position"


@dataclass(frozen=True, slots=True)
class ReadGroup:
    """Servos that are asked at once.

    Attributes:
        requests: to all of them.
        delays: what their register `return_delay_time` has to hold, by ID.
        wire_s: how long requests, delays and answers take [s].
    """

    ids: tuple[int, ...]
    requests: bytes
    delays: Mapping[int, int]
    wire_s: float


def read_groups(
    ids: Sequence[int], baud: int, reads: Reads, table: ControlTable, *, staggered: bool
) -> tuple[ReadGroup, ...]:
    """Return who is asked together: as many as their delays allow, or one by one."""
    most = 1
    while staggered and most < len(ids) and _delays(most + 1, baud, reads)[-1] <= MOST_DELAY_STEPS:
        most += 1
    n_groups = math.ceil(len(ids) / most)
    bounds = [len(ids) * k // n_groups for k in range(n_groups + 1)]
    start = table.register(reads.first).address
    return tuple(_group(tuple(ids[a:b]), baud, reads, start) for a, b in pairwise(bounds))


def _group(ids: tuple[int, ...], baud: int, reads: Reads, start: int) -> ReadGroup:
    asked = bytes((start, reads.value))
    requests = b"".join(InstructionPacket(one, Instruction.READ, asked).encode() for one in ids)
    delays = _delays(len(ids), baud, reads) if len(ids) > 1 else [0]
    n_bytes = len(requests) + len(ids) * (OVERHEAD + reads.value)
    wire_s = n_bytes * BITS_A_BYTE / baud + len(ids) * (GAP_US + DELAY_STEP_US) / US
    return ReadGroup(ids, requests, dict(zip(ids, delays, strict=True)), wire_s)


def _delays(n: int, baud: int, reads: Reads) -> list[int]:
    """Return the delays of a group: the requests after a servo's own, the answers before its own [2 us]."""
    byte_us = BITS_A_BYTE * US / baud
    request = 8 * byte_us
    answer = (OVERHEAD + reads.value) * byte_us
    waits = [(n - 1 - k) * request + k * answer + (k + 1) * GAP_US for k in range(n)]
    return [math.ceil(wait / DELAY_STEP_US) for wait in waits]


def sent_as(ticks: Indices) -> Indices:
    """Return the goals that a `GoalPacket` holds for those that were asked for."""
    goals: Indices = ticks - ((ticks & 0xFF) == 0xFF)
    return goals


class GoalPacket:
    """The sync write of goals and moving speeds to some servos.

    No single dropped, doubled or flipped byte makes another position of it. To that end no byte of it is
    0xFF, which could pass for the header that follows; no byte is its checksum, which doubled would stand in
    its own place; and the lower byte of a speed is 8 or more, so that goals that are read a byte off have
    speeds that no servo takes. Moving speeds, and one goal in 256 by a tick, give way to that.
    """

    def __init__(self, ids: Sequence[int]) -> None:
        size = packet_bytes(len(ids))
        self._body = np.zeros(size - len(HEADER) - 1, np.uint8)
        self._body[:5] = BROADCAST_ID, size - 4, Instruction.SYNC_WRITE, GOAL_POSITION, GOAL_BYTES
        self._groups = self._body[5:].reshape(len(ids), GOAL_BYTES + 1)
        self._groups[:, 0] = ids

    def encode(self, ticks: Indices, speeds: Indices) -> bytes:
        """Return the packet; `ticks` `(n,)`, `speeds` `(n,)`, 1 to `FULL`."""
        goals = sent_as(ticks)
        low = speeds & 0xFF
        even = speeds + np.where(low < LOWEST, LOWEST - low, 0) - (low == 0xFF)
        groups = self._groups
        groups[:, 1] = goals & 0xFF
        groups[:, 2] = goals >> 8
        groups[:, 3] = even & 0xFF
        groups[:, 4] = even >> 8
        first = int(groups[0, 3])
        for low_byte in (*range(first, 0xFF), *range(first - 1, LOWEST - 1, -1)):  # rather faster than slower
            groups[0, 3] = low_byte
            body = self._body.tobytes()
            told = checksum(body)
            if told != 0xFF and told not in body:
                break
        return HEADER + body + bytes((told,))


@dataclass
class FrameCounts:
    """What happened in the frames so far.

    Attributes:
        writes: packets of goals.
        asked: servos asked for where they are.
        answered: whole answers.
        silent: answers of which nothing came.
        garbled: answers that were cut off or damaged.
        implausible: whole answers that say what cannot be.
        wrong_goals: answers by which a servo holds a goal that nobody sent.
        stray_bytes: bytes that belong to no answer.
        lost: times a servo, or the port, was given up for lost, or let go of itself; `found` again.
        reported: how often an answer had each error bit, by its name.
    """

    writes: int = 0
    asked: int = 0
    answered: int = 0
    silent: int = 0
    garbled: int = 0
    implausible: int = 0
    wrong_goals: int = 0
    stray_bytes: int = 0
    lost: int = 0
    found: int = 0
    reported: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, PlainData]:
        """Return them as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Answers:
    """What servos answered in a frame: error byte and data by ID, and what is wrong where there is none."""

    whole: dict[int, bytes] = field(default_factory=dict)
    missing: dict[int, FaultKind] = field(default_factory=dict)


def answers_in(data: bytes, ids: Sequence[int], size: int, found: Answers) -> int:
    """Find the whole answers in what came, in the order the servos were asked; return the bytes left over.

    What is missing is garbled where bytes are left over in its place, otherwise silent.
    """
    length = OVERHEAD + size
    at = 0
    first = 0
    left = 0
    waiting = list(ids)
    while (begin := data.find(HEADER, at)) >= 0:
        one = data[begin : begin + length]
        servo = one[2] if len(one) == length else -1
        if servo not in waiting or one[3] != size + 2 or sum(one[2:]) & 0xFF != 0xFF:
            at = begin + 1
            continue
        place = waiting.index(servo)
        _miss(waiting[:place], begin - first, found)
        left += begin - first
        found.whole[servo] = one[4:-1]
        del waiting[: place + 1]
        at = first = begin + length
    _miss(waiting, len(data) - first, found)
    return left + len(data) - first


def _miss(ids: Sequence[int], n_bytes: int, found: Answers) -> None:
    kind = FaultKind.GARBLED if n_bytes else FaultKind.SILENT
    found.missing.update(dict.fromkeys(ids, kind))


class Wire:
    """The bytes of an open port, without a wait that is not needed.

    Args:
        port: pyserial's.
        now: a clock that only runs forward [s].
        sleep: waits for so long [s].
    """

    SPIN_S = 0.0004
    """For so long before something is due it is looked for without a pause: to wake up takes some 0.1 ms."""

    def __init__(self, port: SerialDevice, now: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._port = port
        self._now = now
        self._sleep = sleep
        self._fd: int | None = None
        with suppress(OSError):  # Windows has none
            self._fd = port.fileno()

    def send(self, data: bytes) -> None:
        """Send bytes.

        Raises:
            OSError: the port is gone.
        """
        if self._fd is None:
            self._port.write(data)
            return
        while (
            data
        ):  # the buffer of a terminal takes far more than a packet; if not, it drains at the wire's pace
            try:
                data = data[os.write(self._fd, data) :]
            except BlockingIOError:
                self._sleep(self.SPIN_S)

    def receive(self, n_bytes: int, due_s: float, patience_s: float) -> bytes:
        """Return the bytes that come, up to `n_bytes`, which are due in so long; or what came until then.

        Raises:
            OSError: the port is gone.
        """
        begun = self._now()
        if due_s > self.SPIN_S:
            self._sleep(due_s - self.SPIN_S)
        end = begun + due_s + patience_s
        came = self.pending()
        while len(came) < n_bytes and self._now() < end:
            came += self.pending()
        return came

    def pending(self) -> bytes:
        """Return what has come."""
        if self._fd is None:
            return bytes(self._port.read(self._port.in_waiting))
        try:
            return os.read(self._fd, 4096)
        except BlockingIOError:
            return b""


class FrameLoop:
    """Sends and reads frames on a wire.

    Args:
        groups: who is asked together.
        reads: what of each.
        latency_s: how long an answer may take beyond its time on the wire [s].
    """

    def __init__(
        self, wire: Wire, groups: Sequence[ReadGroup], reads: Reads, latency_s: float, counts: FrameCounts
    ) -> None:
        self._wire = wire
        self._groups = groups
        self._size = reads.value
        self.latency_s = latency_s
        self._next = 0
        self.counts = counts

    def patience_s(self, n_groups: int) -> float:
        """Return how long so many groups are waited for where nobody answers [s]."""
        return n_groups * (max(group.wire_s for group in self._groups) + self.latency_s)

    def exchange(self, goals: bytes, byte_s: float, n_groups: int | None = None) -> Answers:
        """Send goals, if any, and ask the next groups in turn; all of them by default.

        Raises:
            OSError: the port is gone.
        """
        turn = [
            self._groups[(self._next + k) % len(self._groups)] for k in range(n_groups or len(self._groups))
        ]
        self._next = (self._next + len(turn)) % len(self._groups)
        answers = Answers()
        self._wire.pending()  # whatever came too late
        ahead = goals
        lead_s = len(goals) * byte_s
        before: tuple[bytes, ReadGroup] | None = None
        for group in turn:
            self._wire.send(ahead + group.requests)
            if before is not None:  # what came before is looked at while the wire is busy
                self._take(*before, answers)
            due_s = lead_s + group.wire_s
            expected = len(group.ids) * (OVERHEAD + self._size)
            before = self._wire.receive(expected, due_s, self.latency_s), group
            ahead = b""
            lead_s = 0.0
        if before is not None:
            self._take(*before, answers)
        self.counts.writes += bool(goals)
        return answers

    def _take(self, data: bytes, group: ReadGroup, answers: Answers) -> None:
        self.counts.stray_bytes += answers_in(data, group.ids, self._size, answers)
        self.counts.asked += len(group.ids)
