"""A bus of servos of protocol 1.0 on a serial port, over ROBOTIS' dynamixel-sdk.

```python
with Bus(SerialPort("/dev/ttyUSB0", 1_000_000)) as bus:
    bus.ping(5)
    bus.read(5, "present_position")
    bus.write(5, "led", 1)
```

A value is only returned from an answer that is whole: header, ID, length and checksum. Whatever else comes is
counted, and asked for again.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Self, TypeVar

from posewright.buses.dynamixel.answers import (
    REFUSALS,
    BusCounts,
    NoAnswer,
    Ping,
    PortGoneError,
    ServoSilentError,
    StatusPacket,
    count_bits,
)
from posewright.buses.dynamixel.control_table import (
    MAX_ID,
    Area,
    ControlTable,
    Instruction,
    Register,
    StatusError,
    control_table,
    table_of_model,
)
from posewright.buses.dynamixel.packets import (
    BITS_A_BYTE,
    BROADCAST_ID,
    OVERHEAD,
    InstructionPacket,
    checksum,
)
from posewright.buses.serial_port import (
    SerialDevice,
    SerialPort,
    open_line,
    patience_with,
    port_failures,
    refuse_shared,
)
from posewright.errors import BodyError, InputError, MissingExtraError
from posewright.robots import Robot

T = TypeVar("T")

BAUD = 1_000_000
"""What an AX-12 is delivered with [bits a second]."""

MS = 1000.0
MOST_READ = 250
"""So many bytes dynamixel-sdk takes in one status packet."""


def joints_of(robot: Robot) -> Mapping[int, str]:
    """Return which joint each servo of a robot moves, by the servo's ID."""
    return {servo.id: servo.joint for servo in robot.servos if servo.id is not None}


def require_dynamixel_sdk() -> None:
    """Raise a MissingExtraError unless dynamixel-sdk and pyserial are installed."""
    if not (importlib.util.find_spec("dynamixel_sdk") and importlib.util.find_spec("serial")):
        raise MissingExtraError.for_extra("a servo bus", "bus")


def open_bus(port: str, baud: int = BAUD, robot: Robot | None = None) -> Bus:
    """Open the bus on a port, such as /dev/ttyUSB0, for this process alone; joints are called as the robot's.

    Raises:
        BodyError: there is no such port, or another program holds it.
        MissingExtraError: dynamixel-sdk is not installed.
    """
    return Bus(SerialPort(port, baud), joints=joints_of(robot) if robot else None)


NOT_DONE = REFUSALS | StatusError.CHECKSUM


class Bus:
    """A bus that nobody else holds; close it, or use it in a `with`.

    Attributes:
        counts: what happened so far.
        errors: the error byte of each servo's latest answer, by ID.
        joints: names of joints by ID, for messages.
        now: returns the time by which answers are late [s].
        sleep: lets this time pass [s].
    """

    def __init__(
        self,
        port: SerialPort,
        *,
        retries: int = 2,
        joints: Mapping[int, str] | None = None,
        patience_s: float | None = None,
    ) -> None:
        """Open the port for this process alone.

        Args:
            port: where the bus is plugged in.
            retries: how often a request without a whole answer is sent again.
            joints: names of joints by servo ID.
            patience_s: how long an answer may take beyond its bytes [s]; None for what the port's own latency
                asks for.

        Raises:
            BodyError: there is no such port, or another program holds it.
            MissingExtraError: dynamixel-sdk is not installed.
        """
        require_dynamixel_sdk()
        from dynamixel_sdk import PortHandler, Protocol1PacketHandler

        self.where = port
        self.retries = retries
        self.joints: Mapping[int, str] = joints or {}
        self.counts = BusCounts()
        self.errors = dict[int, StatusError]()
        self._failed = port_failures()
        self._tables: dict[int, ControlTable] = {}
        self._quiet: set[int] = set()
        self._owes: int | None = None
        self._handler: Any = PortHandler(port.path)  # the library has no types
        self._packets: Any = Protocol1PacketHandler()
        line = open_line(port)  # not by PortHandler: it would share the port, and knows few rates
        self.now = line.now
        self.sleep = line.sleep
        self._handler.ser = line.port
        self._handler.getCurrentTime = lambda: line.now() * MS  # its own is the time of day, which may be set
        try:
            refuse_shared(port)
        except BodyError:
            self.port.close()
            raise
        with suppress(AttributeError, NotImplementedError, *self._failed):  # Linux only
            self.port.set_low_latency_mode(True)  # FTDI's adapters keep bytes for 1 ms then, not 16
        self.patience_s = patience_with(port.path) if patience_s is None else patience_s
        self._handler.is_open = True
        self._pace(port.baud)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def port(self) -> SerialDevice:
        """The open port, for those who send and read bytes themselves."""
        return self._handler.ser

    @property
    def baud(self) -> int:
        """Bits a second."""
        return int(self._handler.baudrate)

    @property
    def byte_s(self) -> float:
        """How long a byte takes on the wire [s]."""
        return BITS_A_BYTE / self.baud

    def set_baud(self, baud: int) -> None:
        """Let the port, not the servos, talk at another rate from now on.

        Raises:
            BodyError: the port cannot.
        """
        try:
            self.port.baudrate = baud
        except self._failed as error:
            what = f"{self.where.path} cannot do {baud} bits a second"
            raise BodyError(what, hint=f"it says: {error}") from error
        self._pace(baud)

    def _pace(self, baud: int) -> None:
        self._handler.baudrate = baud
        self._handler.tx_time_per_byte = MS * BITS_A_BYTE / baud
        self.where = SerialPort(self.where.path, baud)

    def close(self) -> None:
        """Let go of the port; must not raise."""
        if self._handler.is_open:
            with suppress(*self._failed):
                self._handler.closePort()

    def name(self, servo: int) -> str:
        """Return what to call a servo: `servo 5 (right_elbow)`."""
        joint = self.joints.get(servo)
        return f"servo {servo}" + (f" ({joint})" if joint else "")

    # --- requests

    def ping(self, servo: int) -> Ping:
        """Ask a servo whether it is there, and what it is.

        Raises:
            BodyError: no whole answer came.
        """
        packet = InstructionPacket(checked(servo), Instruction.PING).encode()
        answer = self._ask(packet, 0)
        try:
            told = self._ask(_reading(servo, 0, 3), 3).parameters
        except ServoSilentError:
            if bytes(packet[3:5]) == bytes(
                (2, answer.error)
            ):  # our own ping come back reads as an answer too
                raise
            return Ping(servo, answer.error, None, None)
        model = int.from_bytes(told[:2], "little")
        firmware = told[2]
        if table := table_of_model(model):
            self._tables[servo] = table
        return Ping(servo, answer.error, model, firmware)

    def read(self, servo: int, register: Register | str) -> int:
        """Return what a register holds.

        Raises:
            BodyError: no whole answer came.
            UnknownNameError: the servo has no register of that name.
        """
        found = self.register(servo, register)
        return found.decode(self.read_block(servo, found.address, found.size))

    def read_block(self, servo: int, address: int, size: int) -> bytes:
        """Return some bytes of the control table.

        Raises:
            BodyError: no whole answer came.
        """
        return self._ask(_reading(servo, address, size), size).parameters

    def write(self, servo: int, register: Register | str, value: int) -> None:
        """Write a register, and see that it was taken.

        Raises:
            InputError: it cannot be written, not this value, or not now: what is in the EEPROM is not written
                while the servo is locked or its torque is on; ID and rate have verbs of their own.
            BodyError: no whole answer came, or the servo refuses.
        """
        found = self.register(servo, register)
        data = found.encode(value)
        if found.name in {"id", "baud_rate"}:
            verb = "set-id, scanning.set_id" if found.name == "id" else "set-baud, scanning.set_rate"
            raise InputError(f"{found.name} is not written like the others", hint=f"use {verb}")
        if found.area is Area.EEPROM:
            self.check_eeprom(servo)
        self.write_block(servo, found.address, data)

    def write_block(self, servo: int, address: int, data: bytes) -> None:
        """Write some bytes of the control table, and see that they were taken.

        A servo whose status return level is below 2 answers no write: it is read back.

        Raises:
            BodyError: no whole answer came, or the servo refuses.
        """
        packet = InstructionPacket(checked(servo), Instruction.WRITE, bytes((address,)) + data).encode()
        if servo in self._quiet:
            self.send(packet)
        else:
            try:
                self._ask(packet, 0)
                return
            except ServoSilentError:
                pass  # it may have been written all the same
        if self.read_block(servo, address, len(data)) != data:
            raise BodyError(f"{self.name(servo)} does not take what is written to address {address}")
        if self.read(servo, "status_return_level") < 2:
            self._quiet.add(servo)

    def sync_write(self, address: int, data: Mapping[int, bytes]) -> None:
        """Write bytes to the same place of several servos with one packet, which none of them answers.

        Raises:
            InputError: they do not get as many bytes each.
            BodyError: the port is gone.
        """
        sizes = {len(one) for one in data.values()}
        if len(sizes) != 1:
            raise InputError(
                "a sync write of nothing, or of different lengths", hint="as many bytes for each"
            )
        told = b"".join(bytes((checked(servo),)) + one for servo, one in data.items())
        head = bytes((address, sizes.pop()))
        self.send(InstructionPacket(BROADCAST_ID, Instruction.SYNC_WRITE, head + told).encode())

    def register(self, servo: int, register: Register | str) -> Register:
        """Return a register by its name in the servo's own table: that of an AX-12 until it was pinged."""
        if isinstance(register, Register):
            return register
        return self.known_table(servo).register(register)

    def known_table(self, servo: int) -> ControlTable:
        """Return the control table of a servo as far as it is known: that of an AX-12 until it was pinged."""
        return self._tables.get(servo) or control_table("AX-12A")

    def table(self, servo: int) -> ControlTable:
        """Ask a servo what it is, and return its control table.

        Raises:
            BodyError: no whole answer came.
            InputError: its control table is not known.
        """
        found = self.ping(servo)
        if servo not in self._tables:
            what = f"no control table of {self.name(servo)}: it is {found.device}"
            raise InputError(what, hint="AX-12 and AX-S1 are known")
        return self._tables[servo]

    def check_eeprom(self, servo: int) -> None:
        """Raise an InputError where what is in a servo's EEPROM may not be written now."""
        table = self.known_table(servo)
        if self.read(servo, "lock"):
            what = f"the EEPROM of {self.name(servo)} is locked"
            raise InputError(what, hint="only switching its power off and on unlocks it")
        if "torque_enable" in table.registers and self.read(servo, "torque_enable"):
            what = f"the torque of {self.name(servo)} is on"
            raise InputError(what, hint="write torque_enable 0 first, and hold what it holds")

    # --- the wire

    def exchange(self, packet: bytes, wanted: int) -> StatusPacket | NoAnswer:
        """Send a packet once, and return the answer with `wanted` bytes of parameters, or why there is none.

        A servo that does not do what it was told answers without parameters, and its error byte says why.

        Raises:
            BodyError: the port is gone.
        """
        servo = packet[2]
        if self._owes == servo:  # what is late now would be taken for the answer to this
            self.drain()
        self._owes = servo
        self.send(packet)
        answer: StatusPacket | NoAnswer = self._wire(lambda: self._receive(packet, wanted))
        if isinstance(answer, NoAnswer):
            self.counts.fail(answer)
            return answer
        self._owes = None
        self.counts.answered += 1
        count_bits(answer.error, self.counts.reported)
        self.errors[servo] = answer.error
        return answer

    def hears_another(self) -> bool:
        """Return whether one more whole packet comes: from a second servo with the ID that was asked."""
        return not isinstance(self._wire(lambda: self._packet(OVERHEAD)), NoAnswer)

    def _ask(self, packet: bytes, wanted: int) -> StatusPacket:
        answer: StatusPacket | NoAnswer = NoAnswer.TIMEOUT
        misses: list[NoAnswer] = []
        for attempt in range(self.retries + 1):
            self.counts.retries += attempt > 0
            answer = self.exchange(packet, wanted)
            if isinstance(answer, StatusPacket):
                if StatusError.CHECKSUM not in answer.error:
                    return self._accepted(answer)
                answer = NoAnswer.UNHEARD
                self.counts.fail(answer)
            misses.append(answer)
        self.counts.given_up += 1
        what = f"{misses[-1].value} from {self.name(packet[2])}" + f" in {len(misses)} tries" * (
            len(misses) > 1
        )
        silent = all(one is NoAnswer.TIMEOUT for one in misses)
        hint = (
            "power, cable, ID and baud rate: `posewright bus scan`" if silent else "`posewright bus diagnose`"
        )
        raise (ServoSilentError if silent else BodyError)(what, hint=hint)

    def _accepted(self, answer: StatusPacket) -> StatusPacket:
        if refused := answer.error & REFUSALS:
            raise BodyError(f"{self.name(answer.id)} refuses: {refused.words}")
        return answer

    def send(self, packet: bytes) -> None:
        """Send a packet, and wait for nothing.

        Raises:
            BodyError: the port is gone.
        """

        def send() -> int:
            self._handler.is_using = False  # set for good by what was interrupted
            return int(self._packets.txPacket(self._handler, list(packet)))

        self.counts.sent += 1
        if failed := self._wire(send):
            raise BodyError(
                f"dynamixel-sdk does not send {len(packet)} bytes", hint=self._packets.getTxRxResult(failed)
            )
        self._handler.is_using = False

    def _receive(self, packet: bytes, wanted: int) -> StatusPacket | NoAnswer:
        self._wait(len(packet) + OVERHEAD + wanted)
        echo: bytes | None = None
        miss = NoAnswer.TIMEOUT
        while True:
            came = self._packet(OVERHEAD + wanted)
            if isinstance(came, NoAnswer):
                if came is not NoAnswer.TIMEOUT:
                    return came
                if (
                    echo is not None and packet[4] == Instruction.PING
                ):  # or a servo short of voltage: it looks alike
                    return _status(echo)
                return miss
            if came == packet and echo is None:
                echo = came
                self.counts.echoes += packet[4] != Instruction.PING
            elif came[2] != packet[2]:
                miss = NoAnswer.WRONG_ID
            elif len(came) != OVERHEAD + wanted and not (len(came) == OVERHEAD and came[4] & NOT_DONE):
                return NoAnswer.WRONG_LENGTH
            else:
                return _status(came)

    def _packet(self, size: int) -> bytes | NoAnswer:
        """Return the next whole packet, or why there is none before time is up."""
        if not self._handler.packet_timeout:
            self._wait(size)
        came, result = self._packets.rxPacket(self._handler)
        packet = bytes(came)
        if result == 0:
            return packet[: packet[3] + 4]
        if not packet:
            return NoAnswer.TIMEOUT
        whole = len(packet) >= OVERHEAD and len(packet) == packet[3] + 4
        return NoAnswer.CHECKSUM if whole and checksum(packet[2:-1]) != packet[-1] else NoAnswer.CORRUPT

    def _wait(self, n_bytes: int) -> None:
        """Begin to wait for an answer that ends when so many bytes, sent and received, are over."""
        self._handler.setPacketTimeoutMillis((n_bytes * self.byte_s + self.patience_s) * MS)

    def drain(self) -> None:
        """Throw away what comes until any answer is over."""
        self._wire(self._drain)

    def _drain(self) -> None:
        self._wait(OVERHEAD)
        while not self._handler.isPacketTimeout():
            self._handler.readPort(self.port.in_waiting)

    def _wire(self, transfer: Callable[[], T]) -> T:
        """Return the result of a transfer over the port, whose cable may be pulled meanwhile."""
        try:
            return transfer()
        except self._failed as error:
            message = f"the port {self.where.path} is gone"
            raise PortGoneError(message, hint="is the cable plugged in?") from error


def _status(packet: bytes) -> StatusPacket:
    return StatusPacket(packet[2], StatusError(packet[4]), packet[5:-1])


def _reading(servo: int, address: int, size: int) -> bytes:
    if not 0 < size <= MOST_READ - 2:
        raise InputError(f"{size} bytes cannot be read at once", hint=f"1..{MOST_READ - 2}")
    return InstructionPacket(checked(servo), Instruction.READ, bytes((address, size))).encode()


def checked(servo: int) -> int:
    """Return an ID, or raise an InputError where no servo can have it."""
    if not 0 <= servo <= MAX_ID:
        raise InputError(f"no servo has the ID {servo}", hint=f"0..{MAX_ID}")
    return servo
