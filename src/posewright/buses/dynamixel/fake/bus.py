"""The wire of a fake bus: bytes take time, overlapping packets garble each other, rates have to match.

A byte takes 10 bits. A device answers exactly its return delay after the last byte of a packet, so that a
controller that staggers return delays can read several devices at once. Nothing here reads a clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from posewright.bodies import MockBody, Plant
from posewright.buses.dynamixel.fake.damage import BusDamage, FaultSchedule
from posewright.buses.dynamixel.fake.device import FakeDevice, FakeSensor
from posewright.buses.dynamixel.fake.physics import Physics, PlantPhysics, UnloadedServos
from posewright.buses.dynamixel.fake.servo import FakeServo
from posewright.buses.dynamixel.packets import (
    BITS_A_BYTE,
    BROADCAST_ID,
    BYTES_OUTSIDE_LENGTH,
    HEADER,
    ID_INDEX,
    LENGTH_INDEX,
    LONGEST_PACKET,
    checksum,
)
from posewright.buses.noisy_line import ByteErrors, NoisyLine
from posewright.errors import InputError, UnknownNameError
from posewright.robots import Robot

BAUD_TOLERANCE = 0.03
"""Largest relative difference of two rates (e-Manual, "Baud Rate": a UART tolerates 3 %)."""

MIN_LENGTH_BYTE = 2
MAX_LENGTH_BYTE = LONGEST_PACKET - BYTES_OUTSIDE_LENGTH
"""Another length byte is no packet: it counts instruction and checksum, and the packet fits into a buffer."""

MAX_GAP_S = 0.1
"""After a longer gap within a packet a device waits for the next header (e-Manual, "Byte to Byte Time")."""

EPSILON_S = 1e-12
"""Tolerance of times that are equal up to rounding [s]."""

OVERLAP_SLACK = 1e-3
"""Bytes that overlap by less than this share of a byte do not collide: they only follow each other."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Bytes that a controller received, and when the last of them was on the wire [s]."""

    time_s: float
    data: bytes


@dataclass(slots=True)
class FakeCounts:
    """Counters of the wire.

    Attributes:
        packets: complete packets that were received.
        broken: packets with a wrong checksum.
        unheard: bytes that belong to no packet.
        answers: sent by devices.
        collisions: how often packets overlapped.
        cut: bytes lost in an interrupted cable.
        byte_errors: bytes that were damaged at random.
    """

    packets: int = 0
    broken: int = 0
    unheard: int = 0
    answers: int = 0
    collisions: int = 0
    cut: int = 0
    byte_errors: ByteErrors = field(default_factory=ByteErrors)


@dataclass(slots=True, eq=False)
class _Transmission:
    """A status packet on the wire; a byte that is None is not received."""

    begin_s: float
    byte_s: float
    data: list[int | None]

    @property
    def end_s(self) -> float:
        return self.begin_s + self.byte_s * len(self.data)

    def overlap(self, begin_s: float, end_s: float) -> range:
        """Return the indices of its bytes that are on the wire within a time [s]."""
        slack_s = OVERLAP_SLACK * self.byte_s
        first = max(0, int((begin_s - self.begin_s + slack_s) // self.byte_s))
        end = min(len(self.data), int(-((self.begin_s - end_s + slack_s) // self.byte_s)))  # rounded up
        return range(first, end)


class _IncomingBytes(NamedTuple):
    """Bytes that a controller sends.

    Attributes:
        begin_s: when the first of them begins [s].
        data: the bytes.
        baud: rate of the controller's port [bits per second].
    """

    begin_s: float
    data: bytes
    baud: int


class FakeBus:
    """Devices on a wire, and the physics behind them.

    Args:
        devices: servos and sensors.
        physics: moves the servos; None for servos without load.
        damage: failures; None for none.
        joints: servos by joint.

    Attributes:
        time_s: the time up to which everything has happened [s].
        counts: counters of the wire.
    """

    def __init__(
        self,
        devices: Sequence[FakeDevice],
        physics: Physics | None = None,
        *,
        damage: BusDamage | None = None,
        joints: Mapping[str, FakeServo] | None = None,
    ) -> None:
        """Connect the devices to an idle wire."""
        damage = damage or BusDamage()
        self.devices = list(devices)
        self.joints = dict(joints or {})
        servos = [device for device in self.devices if isinstance(device, FakeServo)]
        self.physics: Physics = physics or UnloadedServos(servos)
        self.time_s = 0.0
        self._line = NoisyLine(damage.dropped, damage.doubled, damage.flipped, damage.seed)
        self.counts = FakeCounts(byte_errors=self._line.errors)
        self._faults = FaultSchedule(damage.events, self.devices)
        self._incoming: deque[_IncomingBytes] = deque()  # from the controller, not on the wire yet
        self._received = bytearray()  # from the controller, not delivered to the devices yet
        self._byte_end_times_s = list[float]()  # when each received byte ends on the wire [s]
        self._baud = 0  # of the received bytes
        self._controller_end_s = 0.0  # when the controller's last byte ends
        self._transmissions: list[_Transmission] = []  # answers on the wire
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
        """Return the bus of a robot, with its servos by the card's IDs.

        Args:
            robot: the robot.
            plant: moves the robot, which is open in it; None for a MockBody that stands.
            damage: failures; None for none.
            sensor: sensor module on the bus; None for none.
            baud: rate of all devices [bits per second].

        Raises:
            InputError: the robot has no servo bus.
        """
        missing = next((servo.joint for servo in robot.servos if servo.id is None), None)
        if missing is not None:
            raise InputError(f"{robot.name} has no servo bus", hint=f"the servo of {missing} has no ID")
        if plant is None:
            pose = "stand" if "stand" in robot.poses else next(iter(robot.poses))
            plant = MockBody(robot, positions=robot.pose(pose), limit_speed=True)
        joints = {servo.joint: FakeServo(servo.id or 0, baud=baud) for servo in robot.servos}
        devices = [*joints.values(), *([sensor] if sensor else [])]
        return cls(devices, PlantPhysics(plant, joints), damage=damage, joints=joints)

    def __repr__(self) -> str:
        return f"<FakeBus of {len(self.devices)} devices, {self.time_s:.3f} s>"

    def servo(self, servo_id: int) -> FakeServo:
        """Return the servo that has an ID now, or raise UnknownNameError."""
        for device in self.devices:
            if isinstance(device, FakeServo) and device.id == servo_id:
                return device
        ids = [str(device.id) for device in self.devices]
        raise UnknownNameError.among("servo", str(servo_id), ids)

    def joint(self, name: str) -> FakeServo:
        """Return the servo of a joint, or raise UnknownNameError."""
        if name not in self.joints:
            raise UnknownNameError.among("joint", name, self.joints)
        return self.joints[name]

    def hold(self, joint: str, angle_rad: float) -> None:
        """Hold a joint by hand: it moves to the angle in the next frame if its servo is free [rad]."""
        self.joint(joint)
        if isinstance(self.physics, PlantPhysics):
            self.physics.hand_angles[joint] = angle_rad

    def let_go(self, joint: str | None = None) -> None:
        """Stop holding a joint by hand, or in the prop at the start; None for all joints."""
        if not isinstance(self.physics, PlantPhysics):
            return
        for angles in (self.physics.hand_angles, self.physics.prop_angles):
            if joint is None:
                angles.clear()
            else:
                angles.pop(joint, None)

    @property
    def next_s(self) -> float | None:
        """When the next transmission begins or ends [s]; None if the wire is idle.

        Transmissions are answers, the controller's next complete packet, and other bytes of the controller.
        """
        times_s = [transmission.end_s for transmission in self._transmissions]
        if size := self._next_packet_size():
            times_s.append(self._byte_end_times_s[size - 1])
        elif self._byte_end_times_s and self._byte_end_times_s[-1] > self.time_s:
            times_s.append(self._byte_end_times_s[-1])
        if self._incoming:
            times_s.append(self._incoming[0].begin_s)
        return min(times_s, default=None)

    def exchange(self, data: bytes, baud: int = 1_000_000) -> bytes:
        """Send bytes now, advance until the wire is idle, and return all bytes that are received."""
        self.receive(data, self.time_s, baud)
        received = b""
        while (until_s := self.next_s) is not None:
            received += b"".join(reply.data for reply in self.advance(until_s))
        return received

    def receive(self, data: bytes, time_s: float, baud: int = 1_000_000, *, slack_s: float = 0.0) -> None:
        """Accept bytes from the controller; they begin when its previous bytes have ended, or at `time_s`.

        In the middle of a packet they follow the previous bytes at once if they are late by no more than the
        slack [s]: an operating system splits one write into pieces.
        """
        begin_s = max(time_s, self._controller_end_s)
        is_within_slack = begin_s - self._controller_end_s <= slack_s
        if is_within_slack and self._received and not self._next_packet_size():
            begin_s = self._controller_end_s
        self._controller_end_s = begin_s + len(data) * BITS_A_BYTE / baud
        self._incoming.append(_IncomingBytes(begin_s, data, baud))

    def advance(self, time_s: float, *, physics: bool = True) -> list[Reply]:
        """Simulate the wire up to a time, and return what the controller receives meanwhile.

        Args:
            time_s: the end [s].
            physics: whether the joints move, too; otherwise `step` moves them, which a port in real time
                calls while no answer is due.
        """
        # bytes from the controller first: devices answer the packets in them
        while self._incoming and self._incoming[0].begin_s <= time_s:
            self._transmit(self._incoming.popleft(), physics=physics)
        self._deliver_packets(time_s, physics=physics)
        self._advance_time(time_s, physics=physics)
        return self._collect_replies(time_s)

    def step(self, until_s: float) -> None:
        """Simulate the frames of the physics that end by a time [s].

        Raises:
            BodyError: the plant does not answer.
        """
        period_s = self.physics.frame_period_s
        while (self._frames + 1) * period_s <= until_s:
            self.physics.step()
            self._frames += 1

    @property
    def frame_due_s(self) -> float:
        """When the next frame of the physics ends [s]."""
        return (self._frames + 1) * self.physics.frame_period_s

    def _advance_time(self, time_s: float, *, physics: bool) -> None:
        """Advance the bus's time and its faults, and with `physics` also the joints, to a time [s]."""
        if time_s > self.time_s:
            self.time_s = time_s
            self._faults.advance(time_s)
        if physics:
            self.step(time_s)

    def _transmit(self, incoming: _IncomingBytes, *, physics: bool) -> None:
        """Put a controller's bytes on the wire, where noise may damage them.

        After a long pause or at another rate, the bytes before them become no packet any more.
        """
        begin_s, data, baud = incoming
        is_interrupted = bool(self._byte_end_times_s) and begin_s - self._byte_end_times_s[-1] > MAX_GAP_S
        if is_interrupted or baud != self._baud:
            self._deliver_packets(begin_s, physics=physics)
            self.counts.unheard += len(self._received)
            self._received.clear()
            self._byte_end_times_s.clear()
            self._baud = baud
        byte_s = BITS_A_BYTE / baud
        for index, received in enumerate(self._line.transmit(data)):
            end_s = begin_s + byte_s * (index + 1)
            self._received += received
            self._byte_end_times_s += [end_s] * len(received)

    def _deliver_packets(self, time_s: float, *, physics: bool) -> None:
        """Deliver all packets that are complete by a time [s] to the devices."""
        while (size := self._next_packet_size()) and self._byte_end_times_s[size - 1] <= time_s + EPSILON_S:
            packet = self._received[:size]
            end_times = self._byte_end_times_s[:size]
            del self._received[:size]
            del self._byte_end_times_s[:size]
            self._advance_time(end_times[-1], physics=physics)
            self._collide_with_answers(packet, end_times)
            self._deliver_to_devices(bytes(packet), end_times[-1])

    def _next_packet_size(self) -> int:
        """Return the size of the next complete packet [bytes], 0 if there is none; drop bytes before it."""
        received = self._received
        half_header = HEADER[:1]
        while len(received) > LENGTH_INDEX:
            begin = received.find(HEADER)
            if begin < 0:  # the last byte may be the first of a header
                n_skipped = len(received) - (1 if received.endswith(half_header) else 0)
            elif begin > 0:
                n_skipped = begin
            elif received[ID_INDEX] == 0xFF or not (
                MIN_LENGTH_BYTE <= received[LENGTH_INDEX] <= MAX_LENGTH_BYTE
            ):
                n_skipped = 1  # no header of a packet
            else:
                size = received[LENGTH_INDEX] + BYTES_OUTSIDE_LENGTH
                return size if len(received) >= size else 0
            self.counts.unheard += n_skipped
            del received[:n_skipped]
            del self._byte_end_times_s[:n_skipped]
        return 0

    def _collide_with_answers(self, packet: bytearray, end_times: list[float]) -> None:
        """Garble the bytes of a packet that overlap answers, and those answers."""
        byte_s = BITS_A_BYTE / self._baud
        begin_s = end_times[0] - byte_s
        end_s = end_times[-1]
        if not any(answer.begin_s < end_s and begin_s < answer.end_s for answer in self._transmissions):
            return
        for index, byte_end_s in enumerate(end_times):
            for answer in self._transmissions:
                for overlapped in answer.overlap(byte_end_s - byte_s, byte_end_s):
                    answer.data[overlapped] = None
                    packet[index] ^= self._line.noise()
                    self.counts.collisions += 1

    def _deliver_to_devices(self, packet: bytes, end_s: float) -> None:
        """Let all addressed devices receive a packet, and put their answers on the wire."""
        if self._faults.is_cable_cut:
            self.counts.cut += len(packet)
            return
        self.counts.packets += 1
        if checksum(packet[ID_INDEX:-1]) != packet[-1]:
            self.counts.broken += 1
        address = packet[ID_INDEX]
        for device in self.devices:
            if address not in (device.id, BROADCAST_ID) or not self._faults.is_alive(device):
                continue
            baud = device.baud  # the packet may change rate and delay, and is answered with the old ones
            delay_s = device.return_delay_s
            if abs(baud - self._baud) > BAUD_TOLERANCE * self._baud:
                continue
            if answer := device.handle(packet):
                self._send_answer(answer, end_s + delay_s, baud)

    def _send_answer(self, data: bytes, begin_s: float, baud: int) -> None:
        """Put an answer on the wire, where it may overlap answers of other servos.

        Of two bytes that overlap, one garbled byte arrives, in the place of the earlier answer's; the other
        one is None.
        """
        new_answer = _Transmission(begin_s, BITS_A_BYTE / baud, list(data))
        self.counts.answers += 1
        for answer in self._transmissions:
            garbled = answer.overlap(new_answer.begin_s, new_answer.end_s)
            for index in garbled:
                answer.data[index] = (answer.data[index] or 0) ^ self._line.noise()
            for index in new_answer.overlap(answer.begin_s, answer.end_s):
                new_answer.data[index] = None
            if garbled:
                self.counts.collisions += 1
        self._transmissions.append(new_answer)

    def _collect_replies(self, time_s: float) -> list[Reply]:
        """Remove the answers that have ended by a time [s] from the wire, and return them."""
        ended = [answer for answer in self._transmissions if answer.end_s <= time_s + EPSILON_S]
        ended.sort(key=lambda answer: answer.end_s)
        if ended:
            self._transmissions = [answer for answer in self._transmissions if answer not in ended]
        replies: list[Reply] = []
        for answer in ended:
            data = bytes(byte for byte in answer.data if byte is not None)
            if self._faults.is_cable_cut:
                self.counts.cut += len(data)
                continue
            received = b"".join(self._line.transmit(data))
            if received:
                replies.append(Reply(answer.end_s, received))
        return replies
