"""A RoboNova-1 as a plant with its body: sends poses as fast as its line allows, reads battery and tilt."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack, suppress

import numpy as np

from posewright.arrays import Floats
from posewright.bodies import (
    BodyState,
    Clock,
    Fault,
    FaultKind,
    JointCommands,
    JointStates,
    Reading,
    SingleBodyPlant,
    TorquePolicy,
)
from posewright.buses.robonova import protocol
from posewright.buses.robonova.protocol import BoardAnswer
from posewright.buses.serial_port import (
    SerialDevice,
    SerialPort,
    open_line,
    port_exceptions,
    require_pyserial,
)
from posewright.documents.plain import PlainMapping
from posewright.errors import BodyError, FormatError, InputError
from posewright.robots import Robot

FIRST_POSE_TIMEOUT_S = 10.0
"""Longest time until the first pose is answered, which the robot approaches gently [s]."""

ANSWER_TIMEOUT_S = 0.25
"""Longest time until any other packet is answered [s]; ours."""

OFF_REPEATS = 3
"""How often the packet is sent that switches the motors off."""

LOW_BATTERY_V = 148 * protocol.VOLTS_PER_COUNT
"""Voltage below which the battery is empty [V] (template programs)."""


class RobonovaPlant(SingleBodyPlant):
    """A plant of one RoboNova, and its body; the board has to run the program `receiver_program()`.

    The servos cannot be read: positions are those that were sent, efforts NaN. Sensors are `battery` [V],
    `tilt` (0..255) and `fallen`. Frames have the period of the card; if the line is slower, only one of every
    few is sent. Joints are free all together or not at all.

    Args:
        robot: its servos have the board's numbers as IDs.
        port: path and rate of the board's line.
        start_pose: the start pose to which the robot moves gently when it is opened, `(n_joints,)` [rad];
            None for the pose `stand` of the card.
        clock: paces its frames.
        now: a monotonic clock [s].
        name: the name of the robot in this plant; None for the robot's own.

    Attributes:
        last_answer: latest answer of the board; None before the first.

    Raises:
        InputError: the IDs of the robot's servos are not the numbers of the board.
        MissingExtraError: pyserial is not installed.
    """

    def __init__(
        self,
        robot: Robot,
        port: SerialPort,
        *,
        clock: Clock,
        now: Callable[[], float],
        start_pose: Floats | None = None,
        name: str | None = None,
    ) -> None:
        """Check that the robot is a RoboNova; `open` opens the line."""
        require_pyserial("a RoboNova's line", "bus")
        ids = sorted(-1 if servo.id is None else servo.id for servo in robot.servos)
        if ids != list(protocol.SERVOS):
            hint = "the IDs of its servos are " + ", ".join(map(str, protocol.SERVOS))
            raise InputError(f"{robot.name} is not a RoboNova", hint=hint)
        super().__init__(robot, name, clock)
        self.last_answer: BoardAnswer | None = None
        self._port = port
        self._now = now
        self._joints_in_board_order = np.argsort([servo.id or 0 for servo in robot.servos])
        # angles that were sent last; before `open`, those that it will send
        self._sent_positions = robot.pose("stand") if start_pose is None else np.array(start_pose, float)
        self._frames_per_pose = max(1, math.ceil(protocol.FRAME_S / robot.frame_period_s))
        self._line: SerialDevice = None
        self._is_free = False  # whether the motors are off

    def open(self) -> None:
        """Open the line, find the board, and move the robot gently to its start pose.

        Raises:
            BodyError: there is no such port, another program holds it, or no board with our program answers.
        """
        if self._line is not None:
            return
        self._line = open_line(self._port).port
        greeting = (bytes((protocol.ASK,)), ANSWER_TIMEOUT_S)
        first_pose = (self._packet(self._sent_positions), FIRST_POSE_TIMEOUT_S)
        with ExitStack() as on_failure:
            on_failure.callback(self.close)
            for packet, timeout_s in (greeting, first_pose):
                self._send(packet)
                if self._receive(timeout_s) is None:
                    hint = "switch it on; its board has to run `buses.robonova.receiver_program()`"
                    raise BodyError(f"no RoboNova answers on {self._port.path}", hint=hint)
            on_failure.pop_all()

    def read(self) -> BodyState:
        """Return the pose that was sent last, and the sensors of the latest answer."""
        unknown = np.full_like(self._sent_positions, np.nan)
        sensors: dict[str, Reading] = {}
        if self.last_answer is not None:
            sensors["battery"] = self.last_answer.battery_v
            sensors["tilt"] = float(self.last_answer.tilt)
            sensors["fallen"] = self.last_answer.fallen
        return BodyState(
            self.time_s,
            positions=self._sent_positions.copy(),
            efforts=unknown,
            velocities=None,
            sensors=sensors,
        )

    def observe(self) -> JointStates:
        """Return one row: the pose that was sent last."""
        positions = self._sent_positions[np.newaxis].copy()
        return JointStates(np.array([self.time_s]), positions, np.full_like(positions, np.nan))

    def facts(self) -> PlainMapping:
        """Return the time of a frame on the line [s], and how many frames there are per pose."""
        return {"line_frame_s": protocol.FRAME_S, "sent_every": self._frames_per_pose}

    def play(self, rows: JointCommands) -> JointStates:
        """Send rows of commands; a free joint without an angle keeps its last position.

        Raises:
            BodyError: the port is gone, some but not all joints are to be free, or the plant is not open.
        """
        is_free = rows.free is not None and bool(rows.free.any())
        if rows.free is not None and is_free and not rows.free.all():
            raise BodyError("a RoboNova cannot free some of its joints", hint="free all joints or none")
        angles = np.where(np.isfinite(rows.angles), rows.angles, self._sent_positions)
        faults: list[Fault] = []
        for row in angles:
            faults += self._send_frame(row, is_free=is_free)
        first_frame = self.n_frames_played - len(rows) + 1
        times: Floats = np.arange(float(first_frame), self.n_frames_played + 1.0) * self.frame_period_s
        return JointStates(times, angles, np.full_like(angles, np.nan), faults=tuple(faults))

    def _send_frame(self, angles: Floats, *, is_free: bool) -> list[Fault]:
        """Send a row if its turn has come, and return the faults in the board's answer."""
        faults: list[Fault] = []
        is_already_free = is_free and self._is_free
        if self.n_frames_played % self._frames_per_pose == 0 and not is_already_free:
            self._send(bytes((protocol.OFF, protocol.SURE)) if is_free else self._packet(angles))
            is_switched_on = self._is_free and not is_free  # servos that were free return slowly
            self._is_free = is_free
            answer = self._receive(FIRST_POSE_TIMEOUT_S if is_switched_on else ANSWER_TIMEOUT_S)
            faults = self._find_faults(answer)
        self._sent_positions = angles.copy()
        self.n_frames_played += 1
        return faults

    def _find_faults(self, answer: BoardAnswer | None) -> list[Fault]:
        """Return the faults that an answer of the board shows; None is a missing answer."""
        if answer is None:
            return [Fault(self.time_s, FaultKind.SILENT, "the board did not answer")]
        faults: list[Fault] = []
        if not answer.is_pose_intact:
            faults.append(Fault(self.time_s, FaultKind.GARBLED, "the board received a damaged pose"))
        if answer.battery_v < LOW_BATTERY_V:
            faults.append(Fault(self.time_s, FaultKind.VOLTAGE, f"the battery has {answer.battery_v:.1f} V"))
        return faults

    def stop(self, policy: TorquePolicy) -> None:
        """Switch all motors off, or leave them as they are; raises nothing."""
        if policy is not TorquePolicy.RELEASE or self._line is None:
            return
        with suppress(BodyError):  # the cable is pulled: nothing can be done from here
            for _ in range(OFF_REPEATS):
                self._send(bytes((protocol.OFF, protocol.SURE)))
            self._receive(ANSWER_TIMEOUT_S)
            self._is_free = True

    def close(self) -> None:
        """Close the port."""
        line = self._line
        self._line = None
        if line is not None:
            with suppress(*port_exceptions()):
                line.close()

    def _packet(self, angles: Floats) -> bytes:
        """Return the packet of a pose `(n_joints,)` [rad], in the order of the board's servos."""
        positions = np.clip(np.rint(self.robot.to_ticks(angles)), protocol.LOW, protocol.HIGH)
        return protocol.pose_packet(int(position) for position in positions[self._joints_in_board_order])

    def _send(self, data: bytes) -> None:
        """Discard old input and send bytes; raise a BodyError if the line is gone."""
        if self._line is None:
            raise BodyError(f"the line {self._port.path} is not open", hint="open() it first")
        try:
            self._line.reset_input_buffer()
            self._line.write(data)
        except port_exceptions() as error:
            raise self._port_gone_error() from error

    def _port_gone_error(self) -> BodyError:
        return BodyError(f"the port {self._port.path} is gone", hint="check that the cable is plugged in")

    def _receive(self, timeout_s: float) -> BoardAnswer | None:
        """Return the next undamaged answer, and store it as the last; None if there is none in time [s]."""
        deadline_s = self._now() + timeout_s
        received = b""
        while self._now() < deadline_s:
            try:
                self._line.timeout = max(0.0, deadline_s - self._now())
                received += self._line.read(protocol.ANSWER_BYTES - len(received))
            except port_exceptions() as error:
                raise self._port_gone_error() from error
            if len(received) == protocol.ANSWER_BYTES:
                try:
                    self.last_answer = BoardAnswer.decode(received)
                except FormatError:
                    received = received[1:]  # bytes were lost or added: try from the next byte
                    continue
                return self.last_answer
        return None
