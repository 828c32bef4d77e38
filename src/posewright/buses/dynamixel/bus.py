"""A bus of servos of protocol 1.0 on a serial port, over ROBOTIS' dynamixel-sdk.

```python
with Bus(SerialPort("/dev/ttyUSB0", 1_000_000)) as bus:
    bus.ping(5)
    bus.read(5, "present_position")
    bus.write(5, "led", 1)
```

A value is only returned from an answer with valid header, ID, length and checksum. Anything else is counted,
and the request is sent again.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self, TypeVar

from posewright.buses.dynamixel.answers import (
    REJECTIONS,
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
    control_tables,
    name_of_model,
    table_of_model,
)
from posewright.buses.dynamixel.packets import (
    BITS_A_BYTE,
    BROADCAST_ID,
    BYTES_OUTSIDE_LENGTH,
    ERROR_INDEX,
    HEADER,
    ID_INDEX,
    INSTRUCTION_INDEX,
    LENGTH_INDEX,
    OVERHEAD,
    PARAMETERS_INDEX,
    InstructionPacket,
    checksum,
)
from posewright.buses.serial_port import (
    SerialDevice,
    SerialPort,
    default_answer_timeout_s,
    open_line,
    port_exceptions,
    require_exclusive,
)
from posewright.errors import BodyError, InputError, MissingExtraError
from posewright.robots import Robot

T = TypeVar("T")

BAUD = 1_000_000
"""Baud rate of a new AX-12 [bits per second]."""

MAX_ANSWER_TIMEOUT_S = 0.25
"""How long the answer to a repeated request may take beyond its bytes at most [s]; ours."""

ANSWERS_WRITES = 2
"""Status return level at which a servo answers writes (e-Manual, AX-12A)."""

MODEL_AND_FIRMWARE_BYTES = 3
"""Bytes of the model number and the firmware's version, with which each control table begins."""

MS = 1000.0
COMM_SUCCESS = 0
"""Result of dynamixel-sdk for a transfer without an error."""

MAX_STATUS_BYTES = 250
"""Largest status packet that dynamixel-sdk reads [bytes]."""


def joints_of(robot: Robot) -> Mapping[int, str]:
    """Return the joints of a robot by the IDs of their servos."""
    return {servo.id: servo.joint for servo in robot.servos if servo.id is not None}


def require_dynamixel_sdk() -> None:
    """Raise a MissingExtraError unless dynamixel-sdk and pyserial are installed."""
    if not (importlib.util.find_spec("dynamixel_sdk") and importlib.util.find_spec("serial")):
        raise MissingExtraError.for_extra("a servo bus", "bus")


def open_bus(port: str, baud: int = BAUD, robot: Robot | None = None) -> Bus:
    """Open the bus on a port for this process alone.

    Args:
        port: such as /dev/ttyUSB0.
        baud: rate of the bus [bits per second].
        robot: the robot whose joints messages name; None names servos by their IDs only.

    Raises:
        BodyError: there is no such port, or another program holds it.
        MissingExtraError: dynamixel-sdk is not installed.
    """
    return Bus(SerialPort(port, baud), joints=joints_of(robot) if robot else None)


NOT_DONE = REJECTIONS | StatusError.CHECKSUM
"""Error bits of a request that the servo did not execute: such an answer has no parameters."""


class Bus:
    """A bus that this process holds exclusively; close it, or use it in a `with`.

    Attributes:
        address: path and rate of the port.
        retries: how often a request without a valid answer is sent again.
        counts: what happened so far.
        errors: the error byte of each servo's latest answer, by ID.
        models: the model number of each servo by its last ping, by ID.
        joints: names of joints by servo ID, for messages.
        now: the clock of time-outs [s].
        sleep: waits for a time of this clock [s].
        answer_timeout_s: how long an answer may take beyond its bytes [s].
    """

    def __init__(
        self,
        port: SerialPort,
        *,
        retries: int = 2,
        joints: Mapping[int, str] | None = None,
        answer_timeout_s: float | None = None,
    ) -> None:
        """Open the port for this process alone.

        Args:
            port: path and rate of the port.
            retries: how often a request without a valid answer is sent again.
            joints: names of joints by servo ID.
            answer_timeout_s: how long an answer may take beyond its bytes [s]; None derives it from
                the port's latency.

        Raises:
            BodyError: there is no such port, or another program holds it.
            MissingExtraError: dynamixel-sdk is not installed.
        """
        require_dynamixel_sdk()
        from dynamixel_sdk import PortHandler, Protocol1PacketHandler

        self.address = port
        self.retries = retries
        self.joints: Mapping[int, str] = joints or {}
        self.counts = BusCounts()
        self.errors = dict[int, StatusError]()
        self._port_exceptions = port_exceptions()
        self.models: dict[int, int] = {}
        self._silent_writers: set[int] = set()  # servos that do not answer writes
        self._late_servo_id: int | None = None  # servo whose answer timed out
        self._port_handler: Any = PortHandler(port.path)  # dynamixel-sdk has no types
        self._packets: Any = Protocol1PacketHandler()
        line = open_line(port)  # PortHandler would share the port, and supports few rates
        self.now = line.now
        self.sleep = line.sleep
        self._port_handler.ser = line.port
        # dynamixel-sdk's own clock is the time of day, which may be set
        self._port_handler.getCurrentTime = lambda: line.now() * MS
        try:
            require_exclusive(port)
        except BodyError:
            self.port.close()
            raise
        with suppress(AttributeError, NotImplementedError, *self._port_exceptions):  # Linux only
            self.port.set_low_latency_mode(True)  # FTDI's adapters then buffer bytes for 1 ms, not 16
        if answer_timeout_s is None:
            answer_timeout_s = default_answer_timeout_s(port.path)
        self.answer_timeout_s = answer_timeout_s
        self._port_handler.is_open = True
        self._set_timing(port.baud)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def port(self) -> SerialDevice:
        """The open port, for sending and reading raw bytes."""
        return self._port_handler.ser

    @property
    def baud(self) -> int:
        """Rate of the port [bits per second]."""
        return int(self._port_handler.baudrate)

    @property
    def byte_s(self) -> float:
        """Duration of a byte on the wire [s]."""
        return BITS_A_BYTE / self.baud

    def set_baud(self, baud: int) -> None:
        """Change the rate of the port, not that of the servos.

        Raises:
            BodyError: the port does not support the rate.
        """
        try:
            self.port.baudrate = baud
        except self._port_exceptions as error:
            message = f"the port {self.address.path} does not support {baud} bits per second"
            raise BodyError(message, hint=f"the driver reports: {error}") from error
        self._set_timing(baud)

    def _set_timing(self, baud: int) -> None:
        self._port_handler.baudrate = baud
        self._port_handler.tx_time_per_byte = MS * BITS_A_BYTE / baud
        self.address = SerialPort(self.address.path, baud)

    def close(self) -> None:
        """Close the port; raises nothing."""
        if self._port_handler.is_open:
            with suppress(*self._port_exceptions):
                self._port_handler.closePort()

    def name(self, servo_id: int) -> str:
        """Return the name of a servo for messages: `servo 5 (right_elbow)`."""
        joint = self.joints.get(servo_id)
        return f"servo {servo_id}" + (f" ({joint})" if joint else "")

    # --- requests

    def ping(self, servo_id: int) -> Ping:
        """Ping a servo, and read its model number and firmware.

        Raises:
            BodyError: no valid answer came.
        """
        packet = InstructionPacket(require_id(servo_id), Instruction.PING).encode()
        answer = self._exchange_with_retries(packet, n_parameters=0)
        try:
            data = self.read_block(servo_id, address=0, size=MODEL_AND_FIRMWARE_BYTES)
        except ServoSilentError:
            # an adapter's echo of our ping reads as an answer, with the instruction as its error byte
            is_like_echo = packet[LENGTH_INDEX : INSTRUCTION_INDEX + 1] == bytes((2, answer.error))
            if is_like_echo:
                raise
            return Ping(servo_id, answer.error, model_number=None, firmware=None)
        model = int.from_bytes(data[:2], "little")
        firmware = data[2]
        self.models[servo_id] = model
        return Ping(servo_id, answer.error, model_number=model, firmware=firmware)

    def read(self, servo_id: int, register: Register | str) -> int:
        """Return the value of a register.

        Raises:
            BodyError: no valid answer came.
            UnknownNameError: the servo has no register of that name.
        """
        resolved = self.register(servo_id, register)
        return resolved.decode(self.read_block(servo_id, resolved.address, resolved.size))

    def read_block(self, servo_id: int, address: int, size: int) -> bytes:
        """Return some bytes of the control table.

        Raises:
            BodyError: no valid answer came.
        """
        return self._exchange_with_retries(_read_request(servo_id, address, size), size).parameters

    def write(self, servo_id: int, register: Register | str, value: int) -> None:
        """Write a register, and verify that the servo accepted the value.

        Raises:
            InputError: the register cannot be written, or does not have the value. A register in the EEPROM
                cannot be written while the servo is locked or its torque is on. ID and baud rate are written
                by functions of their own.
            BodyError: no valid answer came, or the servo rejects the value.
        """
        resolved = self._find_writable_register(servo_id, register, value)
        data = self._encode_for(servo_id, resolved, value)
        self.write_block(servo_id, resolved.address, data)

    def write_all(self, servo_ids: Iterable[int], register: str, value: int) -> dict[int, int]:
        """Write a register of several servos, and return the values read back, by ID.

        Everything that can be checked without writing is checked for all servos first: that they answer, that
        their model has the register, and that it can have the value and be written now.

        Raises:
            InputError: a servo cannot take the value; nothing is written.
            BodyError: no valid answer came, or a servo rejects the value; once something is written, the
                message says which servos have the new value.
        """
        registers = {servo_id: self.table(servo_id).register(register) for servo_id in servo_ids}
        data = {servo_id: self._encode_for(servo_id, entry, value) for servo_id, entry in registers.items()}
        values: dict[int, int] = {}
        for servo_id, entry in registers.items():
            try:
                self.write_block(servo_id, entry.address, data[servo_id])
                values[servo_id] = self.read(servo_id, entry)
            except BodyError as error:
                unwritten = list(registers)[len(values) + 1 :]
                progress = _describe_progress(register, value, written=list(values), unwritten=unwritten)
                raise type(error)(f"{error.message}; {progress}", hint=error.hint) from error
        return values

    def _find_writable_register(self, servo_id: int, register: Register | str, value: int) -> Register:
        """Return a register by its name in the control table of the servo's model.

        A servo that was never pinged is pinged first, to learn its model.

        Raises:
            InputError: the model is not supported, or the register cannot have the value.
            BodyError: no valid answer came.
        """
        if isinstance(register, Register):
            return register
        if servo_id not in self.models and register in control_table("AX-12A").registers:
            # raises for a value that no model accepts before anything is sent
            _encode_writable(control_table("AX-12A").register(register), value)
        if servo_id not in self.models and self.ping(servo_id).model_number is None:
            # it answers pings only, so that its model stays unknown: taken for an AX-12
            return self.cached_table(servo_id).register(register)
        return self._supported_table(servo_id).register(register)

    def _encode_for(self, servo_id: int, register: Register, value: int) -> bytes:
        """Return the bytes of a value that can be written to a servo now.

        Raises:
            InputError: the register or the value cannot be written, or not now.
            BodyError: no valid answer came.
        """
        data = _encode_writable(register, value)
        if register.area is Area.EEPROM:
            self.require_writable_eeprom(servo_id)
        return data

    def write_block(self, servo_id: int, address: int, data: bytes) -> None:
        """Write some bytes of the control table, and verify that the servo accepted them.

        A servo whose status return level is below 2 does not answer writes: the bytes are read back.

        Raises:
            BodyError: no valid answer came, or the servo rejects the bytes.
        """
        packet = InstructionPacket(require_id(servo_id), Instruction.WRITE, bytes((address,)) + data).encode()
        if servo_id in self._silent_writers:
            self.send(packet)
        else:
            try:
                self._exchange_with_retries(packet, n_parameters=0)
                return
            except ServoSilentError:
                pass  # the bytes may have been written all the same
        if self.read_block(servo_id, address, len(data)) != data:
            raise BodyError(f"{self.name(servo_id)} does not accept the bytes written to address {address}")
        if self.read(servo_id, "status_return_level") < ANSWERS_WRITES:
            self._silent_writers.add(servo_id)

    def sync_write(self, address: int, data: Mapping[int, bytes]) -> None:
        """Write bytes to the same address of several servos with one packet, which no servo answers.

        Args:
            address: the address of the first byte.
            data: the bytes by servo ID, as many for each servo.

        Raises:
            InputError: there are no bytes, or more for one servo than for another.
            BodyError: the port is gone.
        """
        sizes = {len(block) for block in data.values()}
        if len(sizes) != 1:
            message = "a sync write needs blocks of bytes that are all of the same length"
            raise InputError(message, hint="at least one servo, and as many bytes for each")
        blocks = b"".join(bytes((require_id(servo_id),)) + block for servo_id, block in data.items())
        head = bytes((address, sizes.pop()))
        self.send(InstructionPacket(BROADCAST_ID, Instruction.SYNC_WRITE, head + blocks).encode())

    def register(self, servo_id: int, register: Register | str) -> Register:
        """Return a register by its name in the servo's control table."""
        if isinstance(register, Register):
            return register
        return self.cached_table(servo_id).register(register)

    def cached_table(self, servo_id: int) -> ControlTable:
        """Return the control table of a servo by its last ping; before the first, that of an AX-12."""
        table = table_of_model(self.models[servo_id]) if servo_id in self.models else None
        return table or control_table("AX-12A")

    def table(self, servo_id: int) -> ControlTable:
        """Ping a servo, and return the control table of its model.

        Raises:
            BodyError: no valid answer came.
            InputError: the model is not supported.
        """
        if self.ping(servo_id).model_number is None:
            message = f"no control table for {self.name(servo_id)}: it answers pings only"
            raise InputError(
                message, hint="its status return level is 0; its power switched off and on may help"
            )
        return self._supported_table(servo_id)

    def _supported_table(self, servo_id: int) -> ControlTable:
        """Return the control table of a servo that was pinged; raise an InputError if it is not supported."""
        table = table_of_model(self.models[servo_id])
        if table is None:
            name = name_of_model(self.models[servo_id])
            message = f"no control table for {self.name(servo_id)}: its model is {name}"
            raise InputError(message, hint=f"supported are {', '.join(control_tables())}")
        return table

    def require_writable_eeprom(self, servo_id: int) -> None:
        """Raise an InputError if the registers in a servo's EEPROM cannot be written now."""
        table = self.cached_table(servo_id)
        if self.read(servo_id, "lock"):
            message = f"the EEPROM of {self.name(servo_id)} is locked"
            raise InputError(message, hint="only switching its power off and on unlocks it")
        if "torque_enable" in table.registers and self.read(servo_id, "torque_enable"):
            message = f"the torque of {self.name(servo_id)} is on"
            raise InputError(message, hint="write torque_enable 0 first, and support what the joint carries")

    # --- the wire

    def exchange(self, packet: bytes, n_parameters: int, attempt: int = 0) -> StatusPacket | NoAnswer:
        """Send a packet once, and return the answer, or the reason why there is none.

        A servo that rejects a request answers without parameters, and its error byte has the reason.

        Args:
            packet: the request.
            n_parameters: number of parameters in the expected answer [bytes].
            attempt: how often the request was sent before; each time the answer may take twice as long, since
                this computer may be busy.

        Raises:
            BodyError: the port is gone.
        """
        servo_id = packet[ID_INDEX]
        extended_timeout_s = min(2.0**attempt * self.answer_timeout_s, MAX_ANSWER_TIMEOUT_S)
        timeout_s = max(self.answer_timeout_s, extended_timeout_s)
        if self._late_servo_id == servo_id:  # the late answer would be taken for the answer to this request
            self.drain(timeout_s)
        self._late_servo_id = servo_id
        self.send(packet)
        answer = self._transfer(lambda: self._receive(packet, n_parameters, timeout_s))
        if isinstance(answer, NoAnswer):
            self.counts.count_failure(answer)
            return answer
        self._late_servo_id = servo_id if attempt else None  # the answer to an earlier attempt may still come
        self.counts.answered += 1
        count_bits(answer.error, self.counts.reported)
        self.errors[servo_id] = answer.error
        return answer

    def receives_second_answer(self) -> bool:
        """Return whether one more valid packet comes: from a second servo with the same ID."""
        return not isinstance(self._transfer(lambda: self._read_packet(OVERHEAD)), NoAnswer)

    def _exchange_with_retries(self, packet: bytes, n_parameters: int) -> StatusPacket:
        """Send a packet until a valid answer comes, and return it.

        Raises:
            ServoSilentError: nothing came after any of the tries.
            BodyError: all answers were damaged, or the servo rejects the request.
        """
        failures: list[NoAnswer] = []
        for attempt in range(self.retries + 1):
            self.counts.retries += attempt > 0
            answer = self.exchange(packet, n_parameters, attempt)
            if isinstance(answer, NoAnswer):
                failures.append(answer)
            elif StatusError.CHECKSUM in answer.error:
                self.counts.count_failure(NoAnswer.UNHEARD)
                failures.append(NoAnswer.UNHEARD)
            elif rejections := answer.error & REJECTIONS:
                raise BodyError(f"{self.name(answer.id)} rejects the request: {rejections.words}")
            else:
                return answer
        self.counts.given_up += 1
        message = f"{failures[-1].value} from {self.name(packet[ID_INDEX])}"
        if len(failures) > 1:
            message += f" in {len(failures)} tries"
        if all(failure is NoAnswer.TIMEOUT for failure in failures):
            hint = "check power, cable, ID and baud rate: `posewright bus scan`"
            raise ServoSilentError(message, hint=hint)
        raise BodyError(message, hint="run `posewright bus diagnose`")

    def send(self, packet: bytes) -> None:
        """Send a packet without waiting for an answer.

        Raises:
            BodyError: the port is gone.
        """

        def transmit() -> int:
            self._port_handler.is_using = False  # an interrupted transfer leaves it set
            return int(self._packets.txPacket(self._port_handler, list(packet)))

        self.counts.sent += 1
        if code := self._transfer(transmit):
            raise BodyError(
                f"dynamixel-sdk cannot send a packet of {len(packet)} bytes",
                hint=self._packets.getTxRxResult(code),
            )
        self._port_handler.is_using = False

    def _receive(self, request: bytes, n_parameters: int, answer_timeout_s: float) -> StatusPacket | NoAnswer:
        """Return the answer to a request; skip our own echo and the answers of other servos.

        Args:
            request: the packet that was sent.
            n_parameters: number of parameters in the expected answer [bytes].
            answer_timeout_s: how long it may take beyond its bytes [s].
        """
        self._start_timeout(len(request) + OVERHEAD + n_parameters, answer_timeout_s)
        is_ping = request[INSTRUCTION_INDEX] == Instruction.PING
        echo: bytes | None = None
        failure = NoAnswer.TIMEOUT
        while True:
            packet = self._read_packet(OVERHEAD + n_parameters)
            if isinstance(packet, NoAnswer):
                if packet is not NoAnswer.TIMEOUT:
                    return packet
                # The answer of a servo with low voltage to a ping looks like the echo of the ping.
                return _decode_status(echo) if echo is not None and is_ping else failure
            is_without_parameters = len(packet) == OVERHEAD and packet[ERROR_INDEX] & NOT_DONE
            if packet == request and echo is None:
                echo = packet
                if not is_ping:  # that of a ping may be an answer, see above
                    self.counts.echoes += 1
            elif packet[ID_INDEX] != request[ID_INDEX]:
                failure = NoAnswer.WRONG_ID
            elif len(packet) != OVERHEAD + n_parameters and not is_without_parameters:
                return NoAnswer.WRONG_LENGTH
            else:
                return _decode_status(packet)

    def _read_packet(self, size: int) -> bytes | NoAnswer:
        """Return the next valid packet, or why there is none before the time-out."""
        if not self._port_handler.packet_timeout:
            self._start_timeout(size, self.answer_timeout_s)
        received, code = self._packets.rxPacket(self._port_handler)
        packet = bytes(received)
        if code == COMM_SUCCESS:
            return packet[: packet[LENGTH_INDEX] + BYTES_OUTSIDE_LENGTH]
        if not packet:
            return NoAnswer.TIMEOUT
        is_complete = len(packet) >= OVERHEAD and len(packet) == packet[LENGTH_INDEX] + BYTES_OUTSIDE_LENGTH
        if is_complete and checksum(packet[ID_INDEX:-1]) != packet[-1]:
            return NoAnswer.CHECKSUM
        is_start_of_packet = HEADER.startswith(packet[:2])
        return NoAnswer.CUT_OFF if is_start_of_packet else NoAnswer.CORRUPT

    def _start_timeout(self, n_bytes: int, answer_timeout_s: float) -> None:
        """Start the time-out of an answer: the time of `n_bytes` on the wire plus `answer_timeout_s`."""
        self._port_handler.setPacketTimeoutMillis((n_bytes * self.byte_s + answer_timeout_s) * MS)

    def drain(self, answer_timeout_s: float | None = None) -> None:
        """Discard received bytes until any pending answer is over.

        Args:
            answer_timeout_s: how late the pending answer may come [s]; None for the bus's own time-out.

        Raises:
            BodyError: the port is gone.
        """

        def discard() -> None:
            self._start_timeout(OVERHEAD, answer_timeout_s or self.answer_timeout_s)
            while not self._port_handler.isPacketTimeout():
                self._port_handler.readPort(self.port.in_waiting)

        self._transfer(discard)

    def _transfer(self, transfer: Callable[[], T]) -> T:
        """Return the result of a transfer over the port; raise a PortGoneError if the port is gone."""
        try:
            return transfer()
        except self._port_exceptions as error:
            message = f"the port {self.address.path} is gone"
            raise PortGoneError(
                message, hint="check that the cable is plugged in; servos with power still hold"
            ) from error


def _decode_status(packet: bytes) -> StatusPacket:
    return StatusPacket(packet[ID_INDEX], StatusError(packet[ERROR_INDEX]), packet[PARAMETERS_INDEX:-1])


def _encode_writable(register: Register, value: int) -> bytes:
    """Return the bytes of a value; raise an InputError if the register is read-only or cannot have it."""
    if register.name == "id":
        raise InputError("the register id cannot be written directly", hint="use set-id, scanning.set_id")
    if register.name == "baud_rate":
        hint = "use set-baud, scanning.set_rate"
        raise InputError("the register baud_rate cannot be written directly", hint=hint)
    return register.encode(value)


def _describe_progress(register: str, value: int, written: Sequence[int], unwritten: Sequence[int]) -> str:
    """Return which servos have a new value of a register after one of them failed, for a message."""
    parts = [f"{register} is {value} in {_name_servos(written)}" if written else "no other servo was written"]
    if unwritten:
        parts.append(f"unchanged in {_name_servos(unwritten)}")
    return ", ".join(parts)


def _name_servos(servo_ids: Sequence[int]) -> str:
    return f"servo{'s' if len(servo_ids) > 1 else ''} {', '.join(map(str, servo_ids))}"


def _read_request(servo_id: int, address: int, size: int) -> bytes:
    """Return the packet that reads bytes of a control table; raise an InputError for too many at once."""
    max_size = MAX_STATUS_BYTES - 2
    if not 0 < size <= max_size:
        raise InputError(f"{size} bytes cannot be read at once", hint=f"1..{max_size} bytes")
    return InstructionPacket(require_id(servo_id), Instruction.READ, bytes((address, size))).encode()


def require_id(servo_id: int) -> int:
    """Return an ID; raise an InputError if no servo can have it."""
    if not 0 <= servo_id <= MAX_ID:
        raise InputError(f"no servo can have the ID {servo_id}", hint=f"IDs are 0..{MAX_ID}")
    return servo_id
