"""All servos of a robot as one unit: sends goals, compliance and torque, and reads their states."""

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
    UNLIMITED_SPEED,
    FrameAnswers,
    FrameCounts,
    FrameLoop,
    GoalPacket,
    PortStream,
    ReadGroup,
    ReadScope,
    encodable_goals,
    read_groups,
)
from posewright.buses.dynamixel.guard import RELEASES, TORQUE_OFF
from posewright.buses.dynamixel.packets import (
    BITS_A_BYTE,
    BROADCAST_ID,
    GENTLE_SPEED,
    SPEED_RAD_S,
    InstructionPacket,
    packet_bytes,
)
from posewright.buses.dynamixel.servo_setup import (
    Registers,
    card_slope,
    find_servos,
    nearest_slope,
    read_control_tables,
    set_up,
)
from posewright.buses.dynamixel.servo_states import ServoStates
from posewright.buses.serial_port import DEFAULT_LATENCY_MS, SerialPort, latency_timer_ms
from posewright.errors import BodyError
from posewright.robots import Robot

ARRIVED_TICKS = 10.0
"""A joint has arrived when it is this close to its goal."""

SETTLE_S = 2.0
"""How much longer than computed a gentle movement may take before it counts as finished [s]."""

HEALTH_PERIOD = 8
"""If only positions are read, one servo's voltage and temperature are read every so many frames."""

RETRIES = 4
SETUP_RETRIES = 32
"""How often a request is sent again while servos are looked for, and while they are set up: so many requests
are longer than the time a servo waits for the rest of a packet with a damaged length."""

LATENCY_MARGIN = 3.0
"""An answer may take so many times as long as the slowest that was measured; ours."""

MIN_SETUP_TIMEOUT_S = 0.02
"""While servos are set up, an answer may take at least this much longer than its bytes [s]."""

ATTEMPTS = 3
"""How often servos are set up before the error is raised."""

MIN_LATENCY_S = 0.004
SLACK_S = 0.001
"""How long an answer may take beyond its time on the wire [s]: at least, and beyond the latency."""

USB_MS = 1.0
"""Assumed latency of an adapter that does not report its own [ms], until it is measured."""

MAX_BUS_LOAD = 0.93
"""Usable share of a frame: the bytes of 18 servos at 1 Mbps fill 0.77 of a Bioloid's frame."""

REPEATS = 3
"""How often a packet is sent that no servo answers."""


@dataclass(frozen=True, slots=True)
class BusSettings:
    """How a robot on a bus is driven.

    Attributes:
        staggered: read several servos at once, as `frames` describes. It was tried on the fake bus only, so
            the default reads them one by one.
        reads: what is read of each servo. If only positions are read, efforts and velocities are unknown.
        groups_per_frame: number of groups of servos (one by one: servos) that are read in a frame, in turn;
            None for as many as fit into a frame by the measured latency: with an adapter that keeps each
            answer for a millisecond 4 servos in 1/128 s, not all 18.
        paced: send servos the speed with which they arrive at the end of the frame, rather than the
            highest: then a damaged goal moves a joint no farther than a frame's distance.
        latency_s: how long an answer may take beyond its time on the wire [s]; None for the latency that the
            adapter reports.
        silent_s: a servo that does not answer for so long is lost [s].
        reconnect_s: a lost servo or port may come back for so long; then the run ends [s].
        on_loss: what happens when it is back: HOLD moves the joints gently to what is commanded, RELEASE
            switches all torque off and ends the run.
        on_kill: RELEASE starts a guard process that switches the torque off if this program is killed.
    """

    staggered: bool = False
    reads: ReadScope = ReadScope.STATE
    groups_per_frame: int | None = None
    paced: bool = True
    latency_s: float | None = None
    silent_s: float = 0.5
    reconnect_s: float = 5.0
    on_loss: TorquePolicy = TorquePolicy.HOLD
    on_kill: TorquePolicy = TorquePolicy.RELEASE


class BusServos:
    """All servos of a robot.

    Args:
        robot: its servos have IDs, and the control table of an AX-12.
        port: path and rate of the port.
        settings: how the bus is used.
        now: a monotonic clock [s].
        sleep: waits for a time [s].

    Attributes:
        goal: goals that were sent last, `(n_joints,)` [ticks].
        states: the states that were read last.
        groups_per_frame: how many groups of servos are read in a frame.
        adapter_ms: what an answer takes beyond its time on the wire, as reported or measured [ms].
        control_tables: registers before the servos were set up, by ID.
    """

    def __init__(
        self,
        robot: Robot,
        port: SerialPort,
        settings: BusSettings,
        now: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        """Store the settings; `connect` opens the port."""
        self.robot = robot
        self.port = port
        self.settings = settings
        self._now = now
        self._sleep = sleep
        self.ids = [servo.id for servo in robot.servos if servo.id is not None]
        self._table = control_table("AX-12A")
        self._byte_s = BITS_A_BYTE / port.baud
        self._max_ticks = np.array([servo.last_tick for servo in robot.servos])
        self._slowest_tick_s = robot.servos[0].tick_rad / SPEED_RAD_S  # time of a tick at a moving speed of 1
        self.counts = FrameCounts()
        self.states = ServoStates(robot, self.ids, self.counts)
        self.groups_per_frame = 1
        self.adapter_ms = USB_MS
        self.control_tables: Mapping[int, Registers] = {}
        self.goal: Indices = np.zeros(len(self.ids), np.intp)
        self._frames = 0
        self._gentle_until_s: float | None = None
        self._free: Flags = np.zeros(len(self.ids), np.bool_)
        self._slopes = [card_slope(servo) for servo in robot.servos]
        self._requested_free: Flags | None = None
        self._requested_stiffness: Floats | None = None
        self._goal_packet = GoalPacket(self.ids)  # to the servos that are not free
        self._bus: Bus | None = None
        self._stream: PortStream
        self._groups: Sequence[ReadGroup] = ()  # of servos that are read at once
        self._reported_ms: float | None = None  # the adapter's latency; None if it does not report it
        self._max_delay_s = 0.0  # longest return delay of a servo
        self._loop: FrameLoop  # reads what the settings say
        self._health_loop: FrameLoop  # reads complete states, one servo after the other
        self._return_delays: Mapping[int, int] = {}  # by ID, in steps of 2 us, for the order of the answers

    @property
    def is_connected(self) -> bool:
        """Whether the port is open."""
        return self._bus is not None

    @property
    def is_moving_gently(self) -> bool:
        """Whether the joints are moving slowly to their goals."""
        return self._gentle_until_s is not None

    @property
    def frame_loop(self) -> FrameLoop:
        """The loop that sends goals and reads all servos, or some in turn."""
        return self._loop

    def connect(self) -> None:
        """Open the port.

        Raises:
            BodyError: there is no such port, or another program holds it.
            MissingExtraError: dynamixel-sdk is not installed.
        """
        latency_s = self.settings.latency_s
        self._reported_ms = latency_timer_ms(self.port.path)
        answer_timeout_s = latency_s if latency_s is not None and latency_s >= MIN_SETUP_TIMEOUT_S else None
        self._bus = Bus(
            self.port, retries=RETRIES, joints=joints_of(self.robot), answer_timeout_s=answer_timeout_s
        )
        if latency_s is None:
            adapter_ms = DEFAULT_LATENCY_MS if self._reported_ms is None else self._reported_ms
            latency_s = max(MIN_LATENCY_S, 2e-3 * adapter_ms + SLACK_S)
        stream = PortStream(self._bus.port, self._now, self._sleep)
        baud = self.port.baud
        scope = self.settings.reads
        groups = read_groups(self.ids, baud, scope, self._table, staggered=self.settings.staggered)
        single_servos = read_groups(self.ids, baud, scope=ReadScope.STATE, table=self._table, staggered=False)
        self._stream = stream
        self._groups = groups
        self.adapter_ms = USB_MS if self._reported_ms is None else self._reported_ms
        self.groups_per_frame = self._count_groups_that_fit()
        self._return_delays = {servo: delay for group in groups for servo, delay in group.delays.items()}
        self._max_delay_s = max(self._return_delays.values()) * DELAY_STEP_US * 1e-6
        health_latency_s = latency_s + self._max_delay_s
        self._loop = FrameLoop(stream, groups, scope, latency_s, self.counts)
        self._health_loop = FrameLoop(
            stream,
            groups=single_servos,
            scope=ReadScope.STATE,
            latency_s=health_latency_s,
            counts=self.counts,
        )

    def _count_groups_that_fit(self) -> int:
        """Return how many groups can be read in a frame beside the packet of goals."""
        if self.settings.groups_per_frame:
            return self.settings.groups_per_frame
        group_s = max(group.wire_s for group in self._groups) + 1e-3 * self.adapter_ms
        goals_s = packet_bytes(len(self.ids)) * self._byte_s
        available_s = MAX_BUS_LOAD * self.robot.frame_period_s - goals_s
        return max(1, min(len(self._groups), int(available_s / group_s)))

    def _measure_latency(self) -> None:
        """Read each servo once to measure the latency, which few adapters and no computers report."""
        loop = self._health_loop
        latencies_s: list[float] = []
        for _servo in self.ids:
            start_s = self._now()
            answers = loop.exchange(b"", self._byte_s, n_groups=1)
            if answers.complete:
                wire_s = loop.max_wait_s(n_groups=1) - loop.latency_s
                latencies_s.append(self._now() - start_s - wire_s)
            self._update(answers, ReadScope.STATE, time_s=0.0)
        if not latencies_s:
            return
        self.adapter_ms = max(self._reported_ms or 0.0, 1e3 * statistics.median(latencies_s), 0.0)
        self.groups_per_frame = self._count_groups_that_fit()
        if self._reported_ms is None and self.settings.latency_s is None:
            latency_s = max(MIN_LATENCY_S, LATENCY_MARGIN * max(latencies_s) + SLACK_S)
            self._loop.latency_s = latency_s
            self._health_loop.latency_s = latency_s + self._max_delay_s

    @property
    def max_read_s(self) -> float:
        """How long the reads of a frame take if no servo answers [s]."""
        return sum(loop.max_wait_s(self.groups_per_frame) for loop in (self._loop, self._health_loop))

    def close(self) -> None:
        """Close the port."""
        if self._bus is not None:
            self._bus.close()
            self._bus = None

    def set_up(self) -> None:
        """Find and configure all servos, let them hold where they stand, then move gently to the goal.

        Torque and stiffness become those that were requested last.

        Raises:
            BodyError: a servo is missing, or not fit to move.
            InputError: a servo's EEPROM would have to be written while its torque is on.
        """
        if self._bus is None:
            raise BodyError(f"the port {self.port.path} is not open", hint="connect() first")
        self._bus.retries = RETRIES
        find_servos(self._bus, self.robot)
        self._bus.retries = SETUP_RETRIES
        for attempt in range(ATTEMPTS):
            try:
                self.control_tables = read_control_tables(self._bus, self.robot, self._table)
                set_up(self._bus, self.robot, self.control_tables, self._return_delays)
                break
            except BodyError:  # on a bad line a servo may have received, and rejected, a damaged request
                if attempt == ATTEMPTS - 1:
                    raise
        self.states.initialise(self.control_tables, self._now())
        self._measure_latency()
        self._free = np.zeros(len(self.ids), np.bool_)
        self._slopes = [card_slope(servo) for servo in self.robot.servos]
        self._goal_packet = GoalPacket(self.ids)
        self.switch_torque(self._requested_free, self._requested_stiffness)
        self.move_gently()

    def move_gently(self) -> None:
        """Limit speeds until the joints have arrived at their goals, or for as long as that should take."""
        distance = float(np.nanmax(np.abs(self.goal - self.states.ticks), initial=0.0))
        duration_s = distance * self._slowest_tick_s / GENTLE_SPEED
        self._gentle_until_s = self._now() + duration_s + SETTLE_S

    def ticks(self, angles: Floats) -> Indices:
        """Return the nearest goals that servos accept [ticks] for angles `(..., n_joints)` [rad]."""
        return np.clip(np.rint(self.robot.to_ticks(angles)), 0, self._max_ticks).astype(np.intp)

    # --- a frame

    def send(self, goal: Indices, time_s: float) -> tuple[Flags, list[Fault]]:
        """Send goals `(n_joints,)` [ticks] to the servos with torque on, and read the next groups of servos.

        Returns:
            Which joints were read, `(n_joints,)`, and the faults.

        Raises:
            OSError: the port is gone.
        """
        previous_goal = self.goal
        self.goal = goal
        is_driven = ~self._free
        speeds = self._choose_moving_speeds(previous_goal)
        packets = b""
        if is_driven.any():
            packets = self._goal_packet.encode(goal[is_driven], speeds[is_driven])
        wrong_columns = [column for column in self.states.wrong_goal_columns if is_driven[column]]
        if wrong_columns:  # servos that received a damaged goal get theirs again; a short packet is safer
            ids = [self.ids[column] for column in wrong_columns]
            packets += GoalPacket(ids).encode(goal[wrong_columns], speeds[wrong_columns])
        self.states.add_sent_goals(encodable_goals(goal).tolist())
        return self.read(time_s, packets, self.groups_per_frame)

    def read(
        self, time_s: float, goals: bytes = b"", n_groups: int | None = None
    ) -> tuple[Flags, list[Fault]]:
        """Read all servos, or the next few groups of them, after sending some packets.

        If only positions are read, one servo's complete state is read too every `HEALTH_PERIOD` frames.

        Args:
            time_s: the time by the plant's clock, for faults [s].
            goals: packets to send first.
            n_groups: how many groups are read; None for all.

        Returns:
            Which joints were read, `(n_joints,)`, and the faults.

        Raises:
            OSError: the port is gone.
        """
        answers = self._loop.exchange(goals, self._byte_s, n_groups)
        is_read, faults = self._update(answers, self.settings.reads, time_s)
        self._frames += 1
        if self.settings.reads is ReadScope.POSITION and self._frames % HEALTH_PERIOD == 0:
            answers = self._health_loop.exchange(b"", self._byte_s, n_groups=1)
            _, health_faults = self._update(answers, ReadScope.STATE, time_s)
            faults += health_faults
        return is_read, faults

    def _update(self, answers: FrameAnswers, scope: ReadScope, time_s: float) -> tuple[Flags, list[Fault]]:
        return self.states.update(answers, scope, self._now(), time_s)

    def _choose_moving_speeds(self, previous_goal: Indices) -> Indices:
        """Return moving speeds `(n_joints,)` with which the joints arrive at the end of the frame.

        A gentle movement limits them, and ends here when the joints have arrived or its time is over.
        """
        positions = np.where(np.isnan(self.states.ticks), previous_goal, self.states.ticks)
        distances = np.abs(self.goal - positions)
        speeds: Indices = np.full(len(distances), UNLIMITED_SPEED, np.intp)
        if self.settings.paced:
            ratio = self._slowest_tick_s / self.robot.frame_period_s  # speed that moves a tick in a frame
            needed_speeds = np.ceil(np.maximum(distances, 1.0) * ratio)
            speeds = np.minimum(needed_speeds, UNLIMITED_SPEED).astype(np.intp)
        if self._gentle_until_s is not None:
            has_arrived = bool((distances[~self._free] < ARRIVED_TICKS).all())
            if has_arrived or self._now() > self._gentle_until_s:
                self._gentle_until_s = None
            speeds = np.minimum(speeds, GENTLE_SPEED)
        return speeds

    # --- torque and compliance

    @property
    def free(self) -> Flags:
        """Which joints have their torque off, `(n_joints,)`."""
        return self._free

    def switch_torque(self, free: Flags | None, stiffness: Floats | None) -> None:
        """Switch torque off and on, and set the compliance of servos, where that changes.

        Args:
            free: which joints have their torque off, `(n_joints,)`; None for none.
            stiffness: `(n_joints,)` [N m/rad]; NaN, or None, for that of the robot's card.

        Raises:
            OSError: the port is gone.
        """
        self._requested_free = free
        self._requested_stiffness = stiffness
        is_free = np.zeros(len(self.ids), np.bool_) if free is None else free
        slopes = self._slopes_for(stiffness)
        changed_slopes = {  # clockwise and counter-clockwise, which are neighbours in the control table
            servo_id: bytes((slope, slope))
            for servo_id, slope, previous_slope in zip(self.ids, slopes, self._slopes, strict=True)
            if slope != previous_slope
        }
        packets = [self._sync_write_packet("cw_compliance_slope", changed_slopes)]
        is_switched_on = self._free & ~is_free
        ids_on = self._selected_ids(is_switched_on)
        ids_off = self._selected_ids(is_free & ~self._free)
        if ids_on:  # they hold where they are, before their next goal
            packets.append(self._hold_packet(is_switched_on))
        packets.append(self._sync_write_packet("torque_enable", dict.fromkeys(ids_on, b"\1")))
        packets.append(self._sync_write_packet("torque_enable", dict.fromkeys(ids_off, b"\0")))
        self._slopes = slopes
        if ids_on or ids_off:
            self._free = is_free.copy()
            if not self._free.all():
                self._goal_packet = GoalPacket(self._selected_ids(~self._free))
        if self._bus is not None:  # otherwise `set_up` sends it when the port is back
            self._stream.send(b"".join(packet * REPEATS for packet in packets))

    def release(self) -> None:
        """Switch all torque off; servos do not answer that.

        Raises:
            OSError: the port is gone.
        """
        if self._bus is not None:
            self._stream.send(TORQUE_OFF * RELEASES)

    def hold(self) -> None:
        """Let the joints hold their goals, or where they are if they are still moving gently.

        Raises:
            OSError: the port is gone.
        """
        if self._bus is not None and self.is_moving_gently and not self._free.all():
            self._stream.send(self._hold_packet(~self._free) * REPEATS)

    def _hold_packet(self, selection: Flags) -> bytes:
        """Return the packet that makes the current positions of some joints their goals."""
        current = np.where(np.isnan(self.states.ticks), self.goal, self.states.ticks).astype(np.intp)
        ids = self._selected_ids(selection)
        self.states.add_sent_goals(encodable_goals(current).tolist())
        return GoalPacket(ids).encode(current[selection], np.full(len(ids), GENTLE_SPEED))

    def _selected_ids(self, selection: Flags) -> list[int]:
        return [self.ids[int(column)] for column in np.flatnonzero(selection)]

    def _slopes_for(self, stiffness: Floats | None) -> list[int]:
        """Return the compliance slopes of all servos for a stiffness `(n_joints,)` [N m/rad]."""
        servos = self.robot.servos
        if stiffness is None:
            return [card_slope(servo) for servo in servos]
        slopes: list[int] = []
        for servo, stiffness_nm_rad in zip(servos, stiffness.tolist(), strict=True):
            is_unset = math.isnan(stiffness_nm_rad)
            slopes.append(card_slope(servo) if is_unset else nearest_slope(servo, stiffness_nm_rad))
        return slopes

    def _sync_write_packet(self, register: str, data: Mapping[int, bytes]) -> bytes:
        """Return the packet that writes a register, and those behind it, of some servos.

        Args:
            register: name of the first register.
            data: bytes by ID, as many for each servo; the packet is empty if there are none.
        """
        if not data:
            return b""
        size = len(next(iter(data.values())))
        head = bytes((self._table.register(register).address, size))
        blocks = b"".join(bytes((servo,)) + block for servo, block in data.items())
        return InstructionPacket(BROADCAST_ID, Instruction.SYNC_WRITE, head + blocks).encode()
