"""The wire: bytes cost time on it, who speaks over another is garbled, and each hears its own rate only.

A byte costs 10 bits. A device answers its return delay after the last byte of a packet, with nothing between,
so that a controller that staggers return delays can ask several at once. Nothing here reads a clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from posewright.bodies import MockBody, Plant
from posewright.buses.dynamixel.fake.damage import BusDamage, Script
from posewright.buses.dynamixel.fake.device import FakeDevice, FakeSensor
from posewright.buses.dynamixel.fake.physics import FreeServos, Physics, PlantPhysics
from posewright.buses.dynamixel.fake.servo import FakeServo
from posewright.buses.dynamixel.packets import (
    BITS_A_BYTE,
    BROADCAST_ID,
    HEADER,
    LONGEST_PACKET,
    OVERHEAD,
    checksum,
)
from posewright.buses.noisy_line import ByteErrors, NoisyLine
from posewright.errors import InputError, UnknownNameError
from posewright.robots import Robot

TOLERANCE = 0.03
"""How far two rates may be apart (e-Manual, "Baud Rate": 3 % of error are within what a UART bears)."""

LONGEST_LENGTH = LONGEST_PACKET - 4
"""What says that more follows is no packet: no device's buffer takes it."""

LONGEST_GAP_S = 0.1
"""After a gap of more within a packet a device waits for the next header (e-Manual, "Byte to Byte Time")."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a controller has heard: some bytes, the last of which was on the wire up to then [s]."""

    time_s: float
    data: bytes


@dataclass(slots=True)
class FakeCounts:
    """What went over the wire, and what became of it.

    Attributes:
        packets: that were heard whole, `broken` of them with a wrong checksum.
        unheard: bytes that belong to no packet.
        answers: sent by devices.
        collisions: times that somebody spoke over another.
        cut: bytes lost in a cable that was off.
        byte_errors: bytes damaged by chance.
    """

    packets: int = 0
    broken: int = 0
    unheard: int = 0
    answers: int = 0
    collisions: int = 0
    cut: int = 0
    byte_errors: ByteErrors = field(default_factory=ByteErrors)


@dataclass(slots=True, eq=False)
class _Answer:
    """A status packet on its way; a byte that is None is heard by nobody."""

    begin_s: float
    byte_s: float
    data: list[int | None]

    @property
    def end_s(self) -> float:
        return self.begin_s + self.byte_s * len(self.data)

    def overlapping(self, begin_s: float, end_s: float) -> range:
        """Return the places of its bytes that are on the wire within some time."""
        slack = 1e-3 * self.byte_s
        first = max(0, int((begin_s - self.begin_s + slack) // self.byte_s))
        last = min(len(self.data), int(-((self.begin_s - end_s + slack) // self.byte_s)))
        return range(first, last)


class FakeBus:
    """Devices on a wire, and what moves behind them.

    Args:
        devices: servos and sensors.
        physics: what moves the servos; None: they lie on a table.
        damage: what goes wrong.

    Attributes:
        time_s: how far everything has happened [s].
        counts: what went over the wire.
    """

    def __init__(
        self,
        devices: Sequence[FakeDevice],
        physics: Physics | None = None,
        *,
        damage: BusDamage | None = None,
        joints: Mapping[str, FakeServo] | None = None,
    ) -> None:
        damage = damage or BusDamage()
        self.devices = list(devices)
        self.joints = dict(joints or {})
        servos = [one for one in self.devices if isinstance(one, FakeServo)]
        self.physics: Physics = physics or FreeServos(servos)
        self.time_s = 0.0
        self._line = NoisyLine(damage.dropped, damage.doubled, damage.flipped, damage.seed)
        self.counts = FakeCounts(byte_errors=self._line.errors)
        self._script = Script(damage.events, self.devices)
        self._coming: deque[tuple[float, bytes, int]] = deque()
        self._heard = bytearray()
        self._ends = list[float]()
        self._baud = 0
        self._host_free_s = 0.0
        self._answers: list[_Answer] = []
        self._frames = 0

    @classmethod
    def of(
        cls,
        robot: Robot,
        plant: Plant | None = None,
        *,
        damage: BusDamage | None = None,
        sensor: FakeSensor | None = None,
        baud: int = 1_000_000,
    ) -> FakeBus:
        """Return the bus of a robot: its servos by the card's IDs, and its sensor module where one is given.

        `plant` is what moves, with this robot in it, open: a MockBody that stands where none is given.

        Raises:
            InputError: the robot has no servo bus.
        """
        missing = next((servo.joint for servo in robot.servos if servo.id is None), None)
        if missing is not None:
            raise InputError(f"{robot.name} has no servo bus", hint=f"the servo of {missing} has no ID")
        stand = robot.pose("stand") if "stand" in robot.poses else robot.pose(next(iter(robot.poses)))
        plant = MockBody(robot, positions=stand, limit_speed=True) if plant is None else plant
        joints = {servo.joint: FakeServo(servo.id or 0, baud=baud) for servo in robot.servos}
        devices = [*joints.values(), *([sensor] if sensor else [])]
        return cls(devices, PlantPhysics(plant, joints), damage=damage, joints=joints)

    def __repr__(self) -> str:
        return f"<FakeBus of {len(self.devices)} devices, {self.time_s:.3f} s>"

    def servo(self, identity: int) -> FakeServo:
        """Return the servo with that ID now, or raise UnknownNameError."""
        found = [one for one in self.devices if isinstance(one, FakeServo) and one.id == identity]
        if not found:
            raise UnknownNameError.among("servo", str(identity), [str(one.id) for one in self.devices])
        return found[0]

    def joint(self, name: str) -> FakeServo:
        """Return the servo of a joint, or raise UnknownNameError."""
        if name not in self.joints:
            raise UnknownNameError.among("joint", name, self.joints)
        return self.joints[name]

    def hold(self, joint: str, angle_rad: float) -> None:
        """Take a joint by hand: it goes there in the next frame where its servo is free [rad]."""
        self.joint(joint)
        if isinstance(self.physics, PlantPhysics):
            self.physics.held[joint] = angle_rad

    def let_go(self, joint: str | None = None) -> None:
        """Let go of a joint, or of all."""
        if isinstance(self.physics, PlantPhysics):
            for held in (self.physics.held, self.physics.propped):
                for name in [joint] if joint else list(held):
                    held.pop(name, None)

    @property
    def next_s(self) -> float | None:
        """When something begins or ends next on the wire [s]; None while nobody speaks."""
        ends = [answer.end_s for answer in self._answers]
        if size := self._next_packet():
            ends.append(self._ends[size - 1])
        elif self._ends and self._ends[-1] > self.time_s:
            ends.append(self._ends[-1])
        if self._coming:
            ends.append(self._coming[0][0])
        return min(ends, default=None)

    def exchange(self, data: bytes, baud: int = 1_000_000) -> bytes:
        """Send some bytes now, let time pass until nobody speaks, and return all that is heard."""
        self.receive(data, self.time_s, baud)
        heard = b""
        while (until_s := self.next_s) is not None:
            heard += b"".join(reply.data for reply in self.advance(until_s))
        return heard

    def receive(self, data: bytes, time_s: float, baud: int = 1_000_000, *, slack_s: float = 0.0) -> None:
        """Let a controller send some bytes; they begin when its last ones have ended, but not before now.

        In the middle of a packet they follow the last ones at once where they come late by no more than the
        slack [s]: an operating system hands over in pieces what was written in one.
        """
        begin_s = max(time_s, self._host_free_s)
        if begin_s - self._host_free_s <= slack_s and self._heard and not self._next_packet():
            begin_s = self._host_free_s
        self._host_free_s = begin_s + len(data) * BITS_A_BYTE / baud
        self._coming.append((begin_s, data, baud))

    def advance(self, time_s: float, *, physics: bool = True) -> list[Reply]:
        """Let everything happen up to a time, and return what was heard meanwhile.

        Without `physics` the joints stay where they are until `step` is called: whoever runs this in real
        time lets it be when nobody waits for an answer.
        """
        while self._coming and self._coming[0][0] <= time_s:
            self._listen(*self._coming.popleft(), physics=physics)
        self._take(time_s, physics=physics)
        self._go_on(time_s, physics=physics)
        return self._said(time_s)

    def step(self, until_s: float) -> None:
        """Let the frames pass that are due.

        Raises:
            BodyError: the plant does not answer.
        """
        period_s = self.physics.frame_period_s
        while (self._frames + 1) * period_s <= until_s:
            self.physics.step()
            self._frames += 1

    @property
    def frame_due_s(self) -> float:
        """When the next frame of the physics is over [s]."""
        return (self._frames + 1) * self.physics.frame_period_s

    def _go_on(self, time_s: float, *, physics: bool) -> None:
        if time_s > self.time_s:
            self.time_s = time_s
            self._script.go_on(time_s)
        if physics:
            self.step(time_s)

    def _listen(self, begin_s: float, data: bytes, baud: int, *, physics: bool) -> None:
        """Put a controller's bytes on the wire."""
        gap = self._ends and begin_s - self._ends[-1] > LONGEST_GAP_S
        if gap or baud != self._baud:
            self._take(begin_s, physics=physics)
            self.counts.unheard += len(self._heard)
            self._heard.clear()
            self._ends.clear()
            self._baud = baud
        byte_s = BITS_A_BYTE / baud
        for place, came in enumerate(self._line.through(data)):
            end_s = begin_s + byte_s * (place + 1)
            self._heard += came
            self._ends += [end_s] * len(came)

    def _take(self, time_s: float, *, physics: bool) -> None:
        """Let devices hear all packets that are complete by a time."""
        while (size := self._next_packet()) and self._ends[size - 1] <= time_s + 1e-12:
            packet = self._heard[:size]
            ends = self._ends[:size]
            del self._heard[:size], self._ends[:size]
            self._go_on(ends[-1], physics=physics)
            self._collide(packet, ends)
            self._deliver(bytes(packet), ends[-1])

    def _next_packet(self) -> int:
        """Return how long the packet is that is there; 0 where it has only begun."""
        heard = self._heard
        while len(heard) > 3:
            begin = heard.find(HEADER)
            skip = len(heard) - heard.endswith(HEADER[:1]) if begin < 0 else begin
            if not skip and (heard[2] == 0xFF or not 2 <= heard[3] <= LONGEST_LENGTH):
                skip = 1
            if not skip:
                size = heard[3] + OVERHEAD - 2
                return size if len(heard) >= size else 0
            self.counts.unheard += skip
            del heard[:skip], self._ends[:skip]
        return 0

    def _collide(self, packet: bytearray, ends: list[float]) -> None:
        """Garble what a controller says while somebody answers, and the answer."""
        byte_s = BITS_A_BYTE / self._baud
        if not any(answer.begin_s < ends[-1] and ends[0] - byte_s < answer.end_s for answer in self._answers):
            return
        for place, end_s in enumerate(ends):
            for answer in self._answers:
                for at in answer.overlapping(end_s - byte_s, end_s):
                    answer.data[at] = None
                    packet[place] ^= self._line.noise()
                    self.counts.collisions += 1

    def _deliver(self, packet: bytes, end_s: float) -> None:
        if self._script.is_cut:
            self.counts.cut += len(packet)
            return
        self.counts.packets += 1
        self.counts.broken += checksum(packet[2:-1]) != packet[-1]
        whom = packet[2]
        for device in self.devices:
            if whom not in (device.id, BROADCAST_ID) or not self._script.hears(device):
                continue
            baud = device.baud
            delay_s = device.return_delay_s
            if abs(baud - self._baud) > TOLERANCE * self._baud:
                continue
            if answer := device.handle(packet):
                self._answer(answer, end_s + delay_s, baud)

    def _answer(self, data: bytes, begin_s: float, baud: int) -> None:
        new = _Answer(begin_s, BITS_A_BYTE / baud, list(data))
        self.counts.answers += 1
        for other in self._answers:
            garbled = other.overlapping(new.begin_s, new.end_s)
            for at in garbled:
                other.data[at] = (other.data[at] or 0) ^ self._line.noise()
            for at in new.overlapping(other.begin_s, other.end_s):
                new.data[at] = None
            self.counts.collisions += bool(garbled)
        self._answers.append(new)

    def _said(self, time_s: float) -> list[Reply]:
        """Return the answers that are over."""
        over = sorted(
            (one for one in self._answers if one.end_s <= time_s + 1e-12), key=lambda one: one.end_s
        )
        if over:
            self._answers = [one for one in self._answers if one not in over]
        replies = []
        for one in over:
            data = bytes(byte for byte in one.data if byte is not None)
            if self._script.is_cut:
                self.counts.cut += len(data)
                continue
            data = b"".join(self._line.through(data))
            replies += [Reply(one.end_s, data)] if data else []
        return replies
