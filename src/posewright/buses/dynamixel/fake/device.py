"""A fake device of protocol 1.0: receives packets, changes its registers, returns status packets.

Source: ROBOTIS e-Manual, "DYNAMIXEL Protocol 1.0" and "AX-12A"; where they are silent ROBOTIS, "User's
Manual Dynamixel AX-12", 2006. What neither specifies is decided as follows:

- A write to a read-only register, to the EEPROM while it is locked, beyond the table, or of 0 to a lock that
  is set, is a range error; nothing of that packet is written. So is a read beyond the table. Bytes between
  registers can be written.
- An instruction with parameters that do not fit it is an instruction error, as is an unknown one (an AX-12
  has neither BULK READ nor REBOOT), and SYNC WRITE to one ID; nothing is executed then.
- FACTORY RESET while the lock is set is a range error, as any write to the EEPROM is: only a power cycle
  unlocks it.
- A packet with a wrong checksum is answered, with that error, as an instruction that is no READ.
- A change of ID, baud rate or return level is answered with the previous settings (the manual's reset of ID 0
  is answered by ID 0).
- A second REG WRITE replaces the first; a write that would be rejected is not registered.
- PING to the broadcast ID is answered (the manual of 2006, "PING": regardless of the broadcasting ID and of
  the return level); several devices then answer over each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from posewright.buses.dynamixel.control_table import (
    DELAY_STEP_S,
    Access,
    Area,
    ControlTable,
    Instruction,
    Register,
    StatusError,
    baud_rate_of,
    baud_register_value,
    control_table,
)
from posewright.buses.dynamixel.packets import (
    BROADCAST_ID,
    HEADER,
    ID_INDEX,
    INSTRUCTION_INDEX,
    PARAMETERS_INDEX,
    checksum,
)
from posewright.errors import InputError

FIRMWARE = 24
"""Version of the firmware; ours, as the manual has no number."""

SILENCE = 127
"""Sound level of silence (e-Manual, AX-S1, "Sound Level": 127 to 128)."""

_RANGE = int(StatusError.RANGE)
_INSTRUCTION = int(StatusError.INSTRUCTION)
_CHECKSUM = int(StatusError.CHECKSUM)

_WITHOUT_PARAMETERS = frozenset({Instruction.PING, Instruction.ACTION, Instruction.FACTORY_RESET})
"""Instructions without parameters."""


def status_packet(device_id: int, error: int, data: bytes = b"") -> bytes:
    """Return a status packet: the answer of a device."""
    body = bytes((device_id, len(data) + 2, error)) + data
    return HEADER + body + bytes((checksum(body),))


class FakeDevice:
    """A device with the registers of a control table; subclasses add motors and sensors.

    Args:
        table: its registers.
        id: its ID; None for the table's initial value.
        baud: one of the manual's rates [bits per second].

    Attributes:
        id: its ID.
        baud: its rate, by the manual [bits per second].
        registered_write: address and bytes of a REG WRITE that waits for ACTION; None if there is none.
    """

    def __init__(self, table: ControlTable, id: int | None = None, baud: int = 1_000_000) -> None:  # noqa: A002 -- the register's name
        """Set all registers to their initial values, but ID and baud rate to those given."""
        self.table = table
        self.registered_write: tuple[int, bytes] | None = None
        self._bytes = bytearray(table.size)  # of all registers
        self._id_address = table.register("id").address
        self._baud_address = table.register("baud_rate").address
        self.id = 0
        self.baud = baud
        self._registers_in_range: dict[tuple[int, int], Sequence[Register]] = {}  # cache, by address and size
        self._reset()
        self.poke("id", table.register("id").initial if id is None else id)
        self.poke("baud_rate", baud_register_value(baud))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} at {self.baud}>"

    @property
    def return_delay_s(self) -> float:
        """Delay of its answers [s]."""
        return self._byte("return_delay_time") * DELAY_STEP_S

    def peek(self, name: str) -> int:
        """Return the value of a register, as a READ would."""
        register = self.table.register(name)
        self._refresh()
        return register.decode(bytes(self._bytes[register.address : register.address + register.size]))

    def poke(self, name: str, value: int | None) -> None:
        """Set a register regardless of its access and range; None is 0."""
        register = self.table.register(name)
        if not 0 <= (value or 0) < 1 << 8 * register.size:
            raise InputError(f"the register {name} cannot hold {value}", hint=f"it has {register.size} bytes")
        self._set(register.address, (value or 0).to_bytes(register.size, "little"))

    def switch_on(self) -> None:
        """Reset the RAM, as a power cycle does."""
        self._reset(Area.RAM)

    def handle(self, packet: bytes) -> bytes:
        """Execute a packet, and return the answer; empty if the device does not answer."""
        address = packet[ID_INDEX]
        own_id = self.id  # the packet may change it, and is answered with the old one
        if address not in (own_id, BROADCAST_ID):
            return b""
        level = self._byte("status_return_level")
        instruction = packet[INSTRUCTION_INDEX]
        data = b""
        if checksum(packet[ID_INDEX:-1]) != packet[-1]:
            instruction = 0  # unknown
            error = _CHECKSUM
        elif instruction == Instruction.SYNC_WRITE and address != BROADCAST_ID:
            error = _INSTRUCTION
        else:
            error, data = self._execute(instruction, packet[PARAMETERS_INDEX:-1])
        error |= self.error_bits_of_state()
        self.protect(error)
        if instruction == Instruction.PING:
            return status_packet(own_id, error, data)
        required_level = 1 if instruction == Instruction.READ else 2
        if address == BROADCAST_ID or level < required_level:
            return b""
        return status_packet(own_id, error, data)

    def error_bits_of_state(self) -> int:
        """Return the error bits of the device's present state."""
        return 0

    def protect(self, error: int) -> None:
        """React to error bits as the device's alarm registers demand."""

    def write(self, address: int, data: bytes, *, check_only: bool = False) -> int:
        """Write bytes to the registers.

        Args:
            address: the address of the first byte.
            data: the bytes.
            check_only: whether nothing is written.

        Returns:
            The error bits; 0 if the bytes are, or could be, written.
        """
        end = address + len(data)
        if not data:
            return _INSTRUCTION
        if end > len(self._bytes):
            return _RANGE
        registers = self._find_registers(address, end)
        new_bytes = self._bytes[:]
        new_bytes[address:end] = data
        values: dict[str, int] = {}
        for register in registers:
            register_end = register.address + register.size
            values[register.name] = register.decode(bytes(new_bytes[register.address : register_end]))
        error = self._check_access(registers, values) or self.check_values(values)
        if not error and not check_only:
            self._set(address, data)
            self.on_written(values)
        return error

    def check_values(self, values: Mapping[str, int]) -> int:  # noqa: ARG002 -- for subclasses
        """Return the error bits of values that are to be written, besides access and range."""
        return 0

    def on_written(self, values: Mapping[str, int]) -> None:
        """Update the device after values were written."""

    def _find_registers(self, address: int, end: int) -> Sequence[Register]:
        """Return the registers that overlap a range of addresses."""
        span = (address, end)
        if span not in self._registers_in_range:
            self._registers_in_range[span] = [
                register
                for register in self.table.registers.values()
                if register.address < end and address < register.address + register.size
            ]
        return self._registers_in_range[span]

    def _check_access(self, registers: Sequence[Register], values: Mapping[str, int]) -> int:
        """Return the error bits of a write to registers that are read-only, locked, or out of range."""
        for register in registers:
            value = values[register.name]
            if register.access is Access.READ or not register.low <= value <= register.high:
                return _RANGE
            is_locked = register.area is Area.EEPROM and self.is_locked
            is_unlocking = register.name == "lock" and self._byte("lock") != 0 and not value
            if is_locked or is_unlocking:
                return _RANGE
        return 0

    @property
    def is_locked(self) -> bool:
        """Whether the EEPROM is locked."""
        return self._byte("lock") != 0

    def _execute(self, instruction: int, parameters: bytes) -> tuple[int, bytes]:
        """Execute an instruction; return the error bits and the data of the answer, as its handlers do."""
        handler = self._HANDLERS.get(instruction)
        if handler is None or (parameters and instruction in _WITHOUT_PARAMETERS):
            return _INSTRUCTION, b""
        return handler(self, parameters)

    def _ping(self, _parameters: bytes) -> tuple[int, bytes]:
        return 0, b""

    def _read(self, parameters: bytes) -> tuple[int, bytes]:
        """Return the error bits and the bytes of a READ."""
        if len(parameters) != 2:
            return _INSTRUCTION, b""
        address, size = parameters
        if not size or address + size > len(self._bytes):
            return _RANGE, b""
        self._refresh()
        return 0, bytes(self._bytes[address : address + size])

    def _write(self, parameters: bytes) -> tuple[int, bytes]:
        return self.write(parameters[0] if parameters else 0, parameters[1:]), b""

    def _reg_write(self, parameters: bytes) -> tuple[int, bytes]:
        """Register bytes that a later ACTION writes, if they can be written."""
        error = self.write(parameters[0] if parameters else 0, parameters[1:], check_only=True)
        if not error:
            self.registered_write = (parameters[0], parameters[1:])
            self.poke("registered", 1)
        return error, b""

    def _action(self, _parameters: bytes) -> tuple[int, bytes]:
        """Write the registered bytes: ACTION after REG_WRITE."""
        registered_write = self.registered_write
        self.registered_write = None
        self.poke("registered", 0)
        if registered_write is None:
            return _INSTRUCTION, b""
        address, data = registered_write
        return self.write(address, data), b""

    def _factory_reset(self, _parameters: bytes) -> tuple[int, bytes]:
        if self._byte("lock"):
            return _RANGE, b""
        self._reset()
        return 0, b""

    def _sync_write(self, parameters: bytes) -> tuple[int, bytes]:
        """Write the block for this device, and return the error bits.

        The parameters are address, size, and for each device a block of its ID and its bytes.
        """
        if len(parameters) < 2:
            return _INSTRUCTION, b""
        address, size = parameters[:2]
        blocks = parameters[2:]
        block_bytes = 1 + size
        if not size or len(blocks) % block_bytes:
            return _INSTRUCTION, b""
        error = 0
        own_id = self.id  # a block may change it
        for begin in range(0, len(blocks), block_bytes):
            block = blocks[begin : begin + block_bytes]
            if block[0] == own_id:
                error |= self.write(address, block[1:])
        return error, b""

    _HANDLERS: Mapping[int, Callable[[FakeDevice, bytes], tuple[int, bytes]]] = {
        Instruction.PING: _ping,
        Instruction.READ: _read,
        Instruction.WRITE: _write,
        Instruction.REG_WRITE: _reg_write,
        Instruction.ACTION: _action,
        Instruction.FACTORY_RESET: _factory_reset,
        Instruction.SYNC_WRITE: _sync_write,
    }

    def _reset(self, area: Area | None = None) -> None:
        """Set all registers, or those of one area, to their initial values."""
        self.registered_write = None
        for register in self.table.registers.values():
            if area is None or register.area is area:
                self.poke(register.name, register.initial)

    def _set(self, address: int, data: bytes) -> None:
        """Write bytes without any check, and follow a change of ID or baud rate."""
        self._bytes[address : address + len(data)] = data
        if address <= max(self._id_address, self._baud_address):
            self.id = self._bytes[self._id_address]
            self.baud = baud_rate_of(self._bytes[self._baud_address])

    def _byte(self, name: str) -> int:
        return self._bytes[self.table.registers[name].address]

    def _refresh(self) -> None:
        """Update the registers of measured quantities."""


class FakeSensor(FakeDevice):
    """An AX-S1, whose measurements come from a function.

    Args:
        id: its ID.
        senses: returns values of the registers `left_distance`, `center_light`, `sound` and so on, 0..255
            each; registers that are left out keep their values.
        baud: one of the manual's rates [bits per second].
    """

    def __init__(
        self,
        id: int = 100,  # noqa: A002 -- the register's name
        *,
        senses: Callable[[], Mapping[str, int]] = dict,
        baud: int = 1_000_000,
    ) -> None:
        """Create the sensor with its initial registers."""
        self.senses: Callable[[], Mapping[str, int]] = dict  # measures nothing while the registers are set up
        super().__init__(control_table("AX-S1"), id, baud)
        self.senses = senses

    def _reset(self, area: Area | None = None) -> None:
        super()._reset(area)
        self.poke("firmware_version", FIRMWARE)
        self.poke("sound", SILENCE)
        for register in ("obstacle_detected_compare", "light_detected_compare"):
            self.poke(register, self._byte(f"{register}_value"))

    def _refresh(self) -> None:
        for name, value in self.senses().items():
            self.poke(name, value)
        self._refresh_detection("obstacle", "distance")
        self._refresh_detection("light", "light")
        self.poke("sound_max_hold", max(self._byte("sound"), self._byte("sound_max_hold")))

    def _refresh_detection(self, target: str, quantity: str) -> None:
        """Set the register that says on which sides a target is detected: a bit for left, centre and right.

        Args:
            target: `obstacle` or `light`; its threshold is in `TARGET_detected_compare`, 0 for no detection.
            quantity: `distance` or `light`: the register of each side whose value is compared.
        """
        threshold = self._byte(f"{target}_detected_compare")
        detected = 0
        for bit, side in enumerate(("left", "center", "right")):
            is_above = self._byte(f"{side}_{quantity}") > threshold
            detected |= is_above << bit
        self.poke(f"{target}_detected", detected if threshold else 0)
