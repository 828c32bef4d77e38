"""The servos of a robot as one: told where to go, how far to yield, whether at all; and what they answer."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from posewright.arrays import Flags, Floats, Indices
from posewright.bodies import Fault, TorquePolicy
from posewright.buses.dynamixel.bus import Bus, joints_of
from posewright.buses.dynamixel.control_table import Instruction, control_table
from posewright.buses.dynamixel.frames import (
    DELAY_STEP_US,
    FULL,
    Answers,
    FrameCounts,
    FrameLoop,
    GoalPacket,
    ReadGroup,
    Reads,
    Wire,
    read_groups,
    sent_as,
)
from posewright.buses.dynamixel.guard import RELEASES, TORQUE_OFF
from posewright.buses.dynamixel.opening import Registers, find_servos, look_at, own_slope, set_up, slope_of
from posewright.buses.dynamixel.packets import (
    BITS_A_BYTE,
    BROADCAST_ID,
    GENTLE_SPEED,
    SPEED_RAD_S,
    InstructionPacket,
    packet_bytes,
)
from posewright.buses.dynamixel.servo_states import ServoStates
from posewright.buses.serial_port import LATENCY_MS, SerialPort, latency_timer_ms
from posewright.errors import BodyError
from posewright.robots import Robot

NEAR_TICKS = 10.0
"""A joint is there when it is so near."""

SETTLE_S = 2.0
"""How much longer than it should a joint may be on its way gently, before it is left to pull [s]."""

WATCH_EVERY = 8
"""Where only positions are read, one servo's voltage and temperature are read every so many frames."""

RETRIES = 4
MORE_RETRIES = 32
"""How often a question is asked again while servos are looked for, and while they are set up: so many
requests are longer than what a servo may wait for whose packet had a damaged length."""

WORSE = 3.0
"""An answer may take so many times as long as the slowest of those that were measured; ours."""

SETTING_UP_S = 0.02

ATTEMPTS = 3
"""How often servos are set up before it is given up."""

LEAST_S = 0.004
SLACK_S = 0.001
"""How long an answer may take beyond its time on the wire [s]: at least, and with twice its latency."""

USB_MS = 1.0
"""What an adapter takes for an answer that does not tell its latency [ms], until it is measured."""

BUSY = 0.93
"""Share of a frame that may be used: bytes of 18 servos at 1 Mbps fill 0.77 of a Bioloid's."""

REPEATS = 3
"""What no servo answers, and is sent once, is sent so often."""


@dataclass(frozen=True, slots=True)
class BusSettings:
    """How a robot on a bus is driven.

    Attributes:
        staggered: ask several servos at once, as `frames` says. It was tried on the fake bus only, so
            the default is one by one.
        reads: what is read of each servo. With positions only, efforts and velocities are not known.
        share: groups of servos (one by one: servos) that are read in a frame, in turn; None for as many as
            a frame has time for by what answers were measured to take: of an adapter that keeps each for a
            millisecond 4 servos in 1/128 s, not all 18.
        paced: tell servos the speed with which they arrive at the frame's end, rather than to go as fast
            as they can: then a goal that was damaged unseen moves a joint no farther than a frame's way.
        latency_s: how long an answer may take beyond its time on the wire [s]; None for what the adapter
            says.
        silent_s: a servo that is not heard for so long is lost [s].
        reconnect_s: what is lost may come back for so long; then the run ends [s].
        on_loss: what is done when it is back: HOLD takes the joints gently to what is commanded, RELEASE
            takes the torque of all off and ends the run.
        on_kill: RELEASE lets a guard take the torque off when this program is killed.
    """

    staggered: bool = False
    reads: Reads = Reads.STATE
    share: int | None = None
    paced: bool = True
    latency_s: float | None = None
    silent_s: float = 0.5
    reconnect_s: float = 5.0
    on_loss: TorquePolicy = TorquePolicy.HOLD
    on_kill: TorquePolicy = TorquePolicy.RELEASE


class Servos:
    """All servos of a robot.

    Args:
        robot: its servos have IDs, and the control table of an AX-12.
        port: where the bus is plugged in.
        now: a clock that only runs forward [s].
        sleep: waits for so long [s].

    Attributes:
        goal: where they were sent last, `(n_joints,)` [ticks].
        seen: where they were seen last.
        is_gentle: whether they are on their way to it slowly.
        share: how many groups of servos are read in a frame.
        adapter_ms: what an answer takes beyond its time on the wire, as told or measured [ms].
    """

    def __init__(
        self,
        robot: Robot,
        port: SerialPort,
        settings: BusSettings,
        now: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self.robot = robot
        self.port = port
        self.settings = settings
        self._now = now
        self._sleep = sleep
        self.ids = [servo.id for servo in robot.servos if servo.id is not None]
        self._table = control_table("AX-12A")
        self._byte_s = BITS_A_BYTE / port.baud
        self._lasts = np.array([servo.last_tick for servo in robot.servos])
        self._tick_s = robot.servos[0].tick_rad / SPEED_RAD_S  # for a tick at a moving speed of 1
        self.counts = FrameCounts()
        self.seen = ServoStates(robot, self.ids, self.counts)
        self.share = 1
        self.adapter_ms = USB_MS
        self.memory: Mapping[int, Registers] = {}
        self.goal: Indices = np.zeros(len(self.ids), np.intp)
        self._frames = 0
        self._gentle_until_s: float | None = None
        self._free: Flags = np.zeros(len(self.ids), np.bool_)
        self._slopes = [own_slope(servo) for servo in robot.servos]
        self._asked: tuple[Flags | None, Floats | None] = (None, None)
        self._packet = GoalPacket(self.ids)
        self._bus: Bus | None = None
        self._wire: Wire
        self._groups: Sequence[ReadGroup] = ()
        self._told_ms: float | None = None
        self._longest_s = 0.0  # that a servo waits for others' answers
        self._loops: tuple[FrameLoop, FrameLoop]
        self._delays: Mapping[int, int] = {}

    @property
    def is_connected(self) -> bool:
        """Whether the port is open."""
        return self._bus is not None

    @property
    def is_gentle(self) -> bool:
        """Whether they are on their way slowly."""
        return self._gentle_until_s is not None

    @property
    def frame_loop(self) -> FrameLoop:
        """What sends goals and reads all, or a share, of the servos."""
        return self._loops[0]

    def connect(self) -> None:
        """Take hold of the port.

        Raises:
            BodyError: there is no such port, or another program holds it.
            MissingExtraError: dynamixel-sdk is not installed.
        """
        latency_s = self.settings.latency_s
        told_ms = self._told_ms = latency_timer_ms(self.port.path)
        patience_s = None if (latency_s or 0.0) < SETTING_UP_S else latency_s  # never in a hurry to set up
        self._bus = Bus(self.port, retries=RETRIES, joints=joints_of(self.robot), patience_s=patience_s)
        if latency_s is None:
            latency_s = max(LEAST_S, 2e-3 * (LATENCY_MS if told_ms is None else told_ms) + SLACK_S)
        self._wire = wire = Wire(self._bus.port, self._now, self._sleep)
        baud = self.port.baud
        reads = self.settings.reads
        groups = read_groups(self.ids, baud, reads, self._table, staggered=self.settings.staggered)
        self._groups = groups
        self.adapter_ms = USB_MS if told_ms is None else told_ms
        self.share = self._share()
        alone = read_groups(self.ids, baud, Reads.STATE, self._table, staggered=False)
        self._delays = {servo: delay for group in groups for servo, delay in group.delays.items()}
        self._longest_s = max(self._delays.values()) * DELAY_STEP_US * 1e-6
        self._loops = (
            FrameLoop(wire, groups, reads, latency_s, self.counts),
            FrameLoop(wire, alone, Reads.STATE, latency_s + self._longest_s, self.counts),
        )

    def _share(self) -> int:
        """Return how many groups a frame has time to read beside the packet of goals."""
        each_s = max(group.wire_s for group in self._groups) + 1e-3 * self.adapter_ms
        left_s = BUSY * self.robot.frame_period_s - packet_bytes(len(self.ids)) * self._byte_s
        return self.settings.share or max(1, min(len(self._groups), int(left_s / each_s)))

    def _measure(self) -> None:
        """Ask each servo once: adapters seldom tell what they take, and computers never."""
        took: list[float] = []
        watch = self._loops[1]
        for _servo in self.ids:
            begun_s = self._now()
            answers = watch.exchange(b"", self._byte_s, 1)
            if answers.whole:
                took.append(self._now() - begun_s - watch.patience_s(1) + watch.latency_s)
            self._take(answers, Reads.STATE, 0.0)
        if took:
            self.adapter_ms = max(self._told_ms or 0.0, 1e3 * statistics.median(took), 0.0)
            self.share = self._share()
        if took and self._told_ms is None and self.settings.latency_s is None:
            latency_s = max(LEAST_S, WORSE * max(took) + SLACK_S)
            self._loops[0].latency_s = latency_s
            watch.latency_s = latency_s + self._longest_s

    @property
    def longest_s(self) -> float:
        """How long the reads of a frame take where nobody answers [s]."""
        return sum(loop.patience_s(self.share) for loop in self._loops)

    def close(self) -> None:
        """Let go of the port."""
        if self._bus is not None:
            self._bus.close()
            self._bus = None

    def set_up(self) -> None:
        """Find all servos, set what they need, let them hold where they stand, and go on gently from there.

        Raises:
            BodyError: a servo is missing, or not fit to move.
            InputError: a servo's EEPROM would have to be written while its torque is on.
        """
        if self._bus is None:
            raise BodyError(f"the port {self.port.path} is not open")
        self._bus.retries = RETRIES
        find_servos(self._bus, self.robot)
        self._bus.retries = MORE_RETRIES
        for attempt in range(ATTEMPTS):
            try:
                self.memory = look_at(self._bus, self.robot, self._table)
                set_up(self._bus, self.robot, self.memory, self._delays)
                break
            except BodyError:  # on a bad line a servo may have heard, and refused, what nobody said
                if attempt == ATTEMPTS - 1:
                    raise
        self.seen.begin(self.memory, self._now())
        self._measure()
        self._free = np.zeros(len(self.ids), np.bool_)
        self._slopes = [own_slope(servo) for servo in self.robot.servos]
        self._packet = GoalPacket(self.ids)
        self.switch(*self._asked)
        self.go_gently()

    def go_gently(self) -> None:
        """Go slowly until the joints are where they are sent, or for as long as that should take."""
        away = float(np.nanmax(np.abs(self.goal - self.seen.ticks), initial=0.0))
        self._gentle_until_s = self._now() + away * self._tick_s / GENTLE_SPEED + SETTLE_S

    def ticks(self, angles: Floats) -> Indices:
        """Return the nearest whole ticks that servos can be sent to, of angles `(..., n_joints)` [rad]."""
        return np.clip(np.rint(self.robot.to_ticks(angles)), 0, self._lasts).astype(np.intp)

    # --- a frame

    def send(self, goal: Indices, time_s: float) -> tuple[Flags, list[Fault]]:
        """Send a goal `(n_joints,)` [ticks], and read; return who was seen, `(n_joints,)`, and what is wrong.

        Raises:
            OSError: the port is gone.
        """
        before = self.goal
        self.goal = goal
        driven = ~self._free
        speeds = self._speeds(before)
        goals = self._packet.encode(goal[driven], speeds[driven]) if driven.any() else b""
        wrong = [column for column in self.seen.wrong if driven[column]]
        if wrong:  # told once more, in a packet that is short and so rarely damaged
            goals += GoalPacket([self.ids[one] for one in wrong]).encode(goal[wrong], speeds[wrong])
        self.seen.sent(sent_as(goal).tolist())
        return self.look(time_s, goals, self.share)

    def look(self, time_s: float, goals: bytes = b"", share: int | None = None) -> tuple[Flags, list[Fault]]:
        """Read the servos, or the next few groups of them; otherwise as `send`.

        Raises:
            OSError: the port is gone.
        """
        loop, watch = self._loops
        seen, faults = self._take(loop.exchange(goals, self._byte_s, share), self.settings.reads, time_s)
        self._frames += 1
        if self.settings.reads is Reads.POSITION and self._frames % WATCH_EVERY == 0:
            faults += self._take(watch.exchange(b"", self._byte_s, 1), Reads.STATE, time_s)[1]
        return seen, faults

    def _take(self, answers: Answers, reads: Reads, time_s: float) -> tuple[Flags, list[Fault]]:
        return self.seen.take(answers, reads, self._now(), time_s)

    def _speeds(self, before: Indices) -> Indices:
        """Return moving speeds `(n_joints,)`: those with which joints arrive at the frame's end."""
        away = np.abs(self.goal - np.where(np.isnan(self.seen.ticks), before, self.seen.ticks))
        speeds: Indices = np.full(len(away), FULL, np.intp)
        if self.settings.paced:
            pace = np.ceil(np.maximum(away, 1.0) * (self._tick_s / self.robot.frame_period_s))
            speeds = np.minimum(pace, FULL).astype(np.intp)
        if self._gentle_until_s is not None:
            is_there = bool((away[~self._free] < NEAR_TICKS).all())
            if is_there or self._now() > self._gentle_until_s:
                self._gentle_until_s = None
            speeds = np.minimum(speeds, GENTLE_SPEED)
        return speeds

    # --- torque and compliance

    @property
    def free(self) -> Flags:
        """Whose torque is off, `(n_joints,)`."""
        return self._free

    def switch(self, free: Flags | None, stiffness: Floats | None) -> None:
        """Take torque off and bring it back, and set how far servos yield, where that changes.

        Raises:
            OSError: the port is gone.
        """
        self._asked = free, stiffness
        now_free = np.zeros(len(self.ids), np.bool_) if free is None else free
        slopes = list(self._wanted_slopes(stiffness))
        changed = {self.ids[k]: bytes((new, new)) for k, new in enumerate(slopes) if new != self._slopes[k]}
        packets = [self._telling("cw_compliance_slope", changed)]
        caught = self._ids(self._free & ~now_free)
        let_go = self._ids(now_free & ~self._free)
        if caught:  # they hold where they are, before their next goal
            packets.append(self._holding(self._free & ~now_free))
        packets.append(self._telling("torque_enable", dict.fromkeys(caught, b"\1")))
        packets.append(self._telling("torque_enable", dict.fromkeys(let_go, b"\0")))
        self._slopes = slopes
        if caught or let_go:
            self._free = now_free.copy()
            if not self._free.all():
                self._packet = GoalPacket(self._ids(~self._free))
        if self._bus is not None:  # otherwise all is set anew once the port is back
            self._wire.send(b"".join(packet * REPEATS for packet in packets))

    def release(self) -> None:
        """Take the torque of all off; they answer nothing to that.

        Raises:
            OSError: the port is gone.
        """
        if self._bus is not None:
            self._wire.send(TORQUE_OFF * RELEASES)

    def hold(self) -> None:
        """Let them hold what they were sent to, or where they are if that is still far away.

        Raises:
            OSError: the port is gone.
        """
        if self._bus is not None and self.is_gentle and not self._free.all():
            self._wire.send(self._holding(~self._free) * REPEATS)

    def _holding(self, which: Flags) -> bytes:
        here = np.where(np.isnan(self.seen.ticks), self.goal, self.seen.ticks).astype(np.intp)
        ids = self._ids(which)
        self.seen.sent(sent_as(here).tolist())
        return GoalPacket(ids).encode(here[which], np.full(len(ids), GENTLE_SPEED))

    def _ids(self, which: Flags) -> list[int]:
        return [self.ids[int(k)] for k in np.flatnonzero(which)]

    def _wanted_slopes(self, stiffness: Floats | None) -> list[int]:
        servos = self.robot.servos
        if stiffness is None:
            return [own_slope(servo) for servo in servos]
        pairs = zip(servos, stiffness.tolist(), strict=True)
        return [own_slope(one) if math.isnan(asked) else slope_of(one, asked) for one, asked in pairs]

    def _telling(self, register: str, data: Mapping[int, bytes]) -> bytes:
        """Return the packet that writes a register, and those behind it, of some servos."""
        if not data:
            return b""
        head = bytes((self._table.register(register).address, len(next(iter(data.values())))))
        told = b"".join(bytes((servo,)) + one for servo, one in data.items())
        return InstructionPacket(BROADCAST_ID, Instruction.SYNC_WRITE, head + told).encode()
