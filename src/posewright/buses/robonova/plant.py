"""A RoboNova-1 as a plant and a body: poses at the pace of its line; battery and tilt from its answers."""

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
from posewright.buses.robonova.protocol import Answer
from posewright.buses.serial_port import (
    SerialDevice,
    SerialPort,
    open_line,
    port_failures,
    require_pyserial,
)
from posewright.documents.plain import PlainMapping
from posewright.errors import BodyError, FormatError, InputError
from posewright.robots import Robot

FIRST_S = 10.0
"""The first pose is answered when the robot is there, gently; slower than this it never is [s]."""

ANSWER_S = 0.25
"""Any other answer takes no longer [s]; ours."""

LOW_BATTERY_V = 148 * protocol.VOLTS
"""Below it the battery is empty (template programs)."""


class RobonovaPlant(SingleBodyPlant):
    """A plant of one RoboNova, and its body; our program has to run on the board: `receiver_program()`.

    The servos tell nothing: positions are those that were sent, efforts NaN. Sensors are `battery` [V],
    `tilt` (0..255) and `fallen`. Frames come as the card says, but where the line is slower than that, only
    the newest of each few is sent. Joints are free together or not at all.

    Args:
        robot: its servos have the board's numbers as IDs.
        port: where the board's line is plugged in.
        start_pose: where it goes when it is opened, gently, `(n_joints,)` [rad]; the card's stand where
            none is given.
        clock: paces its frames.
        now: a clock that only runs forward [s].
        name: of the robot in this plant; the robot's own where none is given.

    Raises:
        InputError: the robot has other servos.
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
        require_pyserial("a RoboNova's line", "bus")
        if sorted(-1 if servo.id is None else servo.id for servo in robot.servos) != list(protocol.SERVOS):
            hint = "its servos' IDs are " + ", ".join(map(str, protocol.SERVOS))
            raise InputError(f"{robot.name} is no RoboNova", hint=hint)
        super().__init__(robot, name, clock)
        self.answer: Answer | None = None
        self._port = port
        self._now = now
        self._order = np.argsort([servo.id or 0 for servo in robot.servos])
        self._positions = robot.pose("stand") if start_pose is None else np.array(start_pose, float)
        self._every = max(1, math.ceil(protocol.FRAME_S / robot.frame_period_s))
        self._line: SerialDevice = None
        self._is_free = False

    def open(self) -> None:
        """Find the board, and let the robot go to where it starts, gently.

        Raises:
            BodyError: there is no such port, somebody holds it, or no board with our program answers.
        """
        if self._line is not None:
            return
        self._line = open_line(self._port).port
        greeting = (bytes((protocol.ASK,)), ANSWER_S)
        first_pose = (self._packet(self._positions), FIRST_S)
        with ExitStack() as on_failure:
            on_failure.callback(self.close)
            for packet, timeout_s in (greeting, first_pose):
                self._send(packet)
                if self._receive(timeout_s) is None:
                    hint = "is it on, and does its board run `buses.robonova.receiver_program()`?"
                    raise BodyError(f"no RoboNova answers on {self._port.path}", hint=hint)
            on_failure.pop_all()

    def read(self) -> BodyState:
        """Return what was sent last, and the sensors as of the latest answer."""
        unknown = np.full_like(self._positions, np.nan)
        sensors: dict[str, Reading] = {}
        if self.answer is not None:
            sensors["battery"] = self.answer.battery_v
            sensors["tilt"] = float(self.answer.tilt)
            sensors["fallen"] = self.answer.fallen
        return BodyState(self.time_s, self._positions.copy(), unknown, None, sensors)

    def observe(self) -> JointStates:
        """Return one row: what was sent last."""
        positions = self._positions[np.newaxis].copy()
        return JointStates(np.array([self.time_s]), positions, np.full_like(positions, np.nan))

    def facts(self) -> PlainMapping:
        """Return how fast the line lets frames through [s]."""
        return {"line_frame_s": protocol.FRAME_S, "sent_every": self._every}

    def play(self, rows: JointCommands) -> JointStates:
        """Send rows; a free joint without an angle counts as standing where it was sent last.

        Raises:
            BodyError: the port is gone, some joints but not all shall be free, or it is not open.
        """
        is_free = rows.free is not None and bool(rows.free.any())
        if rows.free is not None and is_free and not rows.free.all():
            raise BodyError("a RoboNova cannot let go of some joints only", hint="of all or of none")
        angles = np.where(np.isfinite(rows.angles), rows.angles, self._positions)
        faults: list[Fault] = []
        for row in angles:
            faults += self._send_frame(row, is_free=is_free)
        n = len(rows)
        times: Floats = np.arange(self.frames - n + 1.0, self.frames + 1.0) * self.frame_period_s
        return JointStates(times, angles, np.full_like(angles, np.nan), faults=tuple(faults))

    def _send_frame(self, angles: Floats, *, is_free: bool) -> list[Fault]:
        """Send a row, and return the faults that the board's answer tells of."""
        faults: list[Fault] = []
        if self.frames % self._every == 0 and not (is_free and self._is_free):
            self._send(bytes((protocol.OFF, protocol.SURE)) if is_free else self._packet(angles))
            is_gentle = self._is_free and not is_free  # the servos come back slowly
            self._is_free = is_free
            faults = self._faults_of(self._receive(FIRST_S if is_gentle else ANSWER_S))
        self._positions = angles.copy()
        self.frames += 1
        return faults

    def _faults_of(self, answer: Answer | None) -> list[Fault]:
        if answer is None:
            return [Fault(self.time_s, FaultKind.SILENT, "the board did not answer")]
        faults: list[Fault] = []
        if not answer.whole:
            faults.append(Fault(self.time_s, FaultKind.GARBLED, "the board heard a damaged pose"))
        if answer.battery_v < LOW_BATTERY_V:
            faults.append(Fault(self.time_s, FaultKind.VOLTAGE, f"the battery has {answer.battery_v:.1f} V"))
        return faults

    def stop(self, policy: TorquePolicy) -> None:
        """Let go of all joints, or leave them where they are; must not raise."""
        if policy is TorquePolicy.RELEASE and self._line is not None:
            try:
                for _ in range(3):  # nobody asks again whether it was heard
                    self._send(bytes((protocol.OFF, protocol.SURE)))
                self._receive(ANSWER_S)
                self._is_free = True
            except BodyError:  # the cable is pulled: nothing can be done from here
                return

    def close(self) -> None:
        """Let go of the port."""
        line = self._line
        self._line = None
        if line is not None:
            with suppress(*port_failures()):
                line.close()

    def _packet(self, angles: Floats) -> bytes:
        counts = np.clip(np.rint(self.robot.to_ticks(angles)), protocol.LOW, protocol.HIGH)
        return protocol.pose(int(count) for count in counts[self._order])

    def _send(self, data: bytes) -> None:
        if self._line is None:
            raise BodyError(f"the line {self._port.path} is not open", hint="open() takes hold of it")
        try:
            self._line.reset_input_buffer()
            self._line.write(data)
        except port_failures() as error:
            raise self._port_gone_error() from error

    def _port_gone_error(self) -> BodyError:
        return BodyError(f"the port {self._port.path} is gone", hint="is the cable plugged in?")

    def _receive(self, timeout_s: float) -> Answer | None:
        """Return the answer, or None where no undamaged one comes in time."""
        deadline_s = self._now() + timeout_s
        received = b""
        while self._now() < deadline_s:
            try:
                self._line.timeout = max(0.0, deadline_s - self._now())
                received += self._line.read(protocol.ANSWER_BYTES - len(received))
            except port_failures() as error:
                raise self._port_gone_error() from error
            if len(received) == protocol.ANSWER_BYTES:
                try:
                    self.answer = Answer.decode(received)
                except FormatError:
                    received = received[1:]  # bytes were lost or added: look for the next that fits
                    continue
                return self.answer
        return None
