"""A device of protocol 1.0 on its own: a packet comes in, its registers change, a status packet goes out.

Source: ROBOTIS e-Manual, "DYNAMIXEL Protocol 1.0" and "AX-12A"; where they are silent ROBOTIS, "User's
Manual Dynamixel AX-12", 2006. What neither says is decided so:

- A write to a register that can only be read, to the EEPROM while it is locked, beyond the table, or of 0 to
  a lock that is set, is a range error; nothing of that packet is written. So is a read beyond the table.
  Bytes between registers take what is written.
- A known instruction with parameters that do not fit it is an instruction error, as is one that is unknown
  (an AX-12 has neither BULK READ nor REBOOT), and SYNC WRITE to one ID; nothing is done then.
- FACTORY RESET while the lock is set is a range error, as any write to the EEPROM is: the lock ends with the
  power only.
- A packet with a wrong checksum is answered, with that error, as an instruction that is no READ.
- What changes ID, baud rate or return level is answered as the device was before (the manual's reset of ID 0
  is answered by ID 0).
- A second REG WRITE takes the place of the first; what would not be written is not registered.
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
    control_table,
    rate_of,
    value_of,
)
from posewright.buses.dynamixel.packets import BROADCAST_ID, HEADER, checksum
from posewright.errors import InputError

FIRMWARE = 24
"""The version of the firmware, for which the manual has no number."""

SILENCE = 127
"""What an AX-S1 hears where nobody makes a noise (e-Manual, "Sound Level": 127 to 128)."""

_RANGE, _INSTRUCTION, _CHECKSUM = map(int, (StatusError.RANGE, StatusError.INSTRUCTION, StatusError.CHECKSUM))


_ALONE = frozenset({Instruction.PING, Instruction.ACTION, Instruction.FACTORY_RESET})
"""Instructions without parameters."""


def status_packet(identity: int, error: int, data: bytes = b"") -> bytes:
    """Return what a device answers."""
    body = bytes((identity, len(data) + 2, error)) + data
    return HEADER + body + bytes((checksum(body),))


class FakeDevice:
    """The registers of a device and how they answer; what moves or measures is a kind of its own.

    Args:
        table: its registers.
        id: its ID; the table's where none is given.
        baud: bits a second, one of the manual's.

    Attributes:
        id: its number on the bus.
        baud: bits a second at which it hears and speaks, as the manual lists them.
        registered: address and bytes that wait for ACTION; None where nothing does.
    """

    def __init__(self, table: ControlTable, id: int | None = None, baud: int = 1_000_000) -> None:  # noqa: A002 -- the register's name
        self.table = table
        self.registered: tuple[int, bytes] | None = None
        self._bytes = bytearray(table.size)
        self._places = table.register("id").address, table.register("baud_rate").address
        self.id = 0
        self.baud = baud
        self._spans: dict[tuple[int, int], Sequence[Register]] = {}
        self._reset()
        self.poke("id", table.register("id").initial if id is None else id)
        self.poke("baud_rate", value_of(baud))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} at {self.baud}>"

    @property
    def return_delay_s(self) -> float:
        """How long it waits before it answers [s]."""
        return self._byte("return_delay_time") * DELAY_STEP_S

    def peek(self, name: str) -> int:
        """Return what a register holds, as a READ would."""
        register = self.table.register(name)
        self._refresh()
        return register.decode(bytes(self._bytes[register.address : register.address + register.size]))

    def poke(self, name: str, value: int | None) -> None:
        """Let a register hold a value, whatever the rules; None is 0."""
        register = self.table.register(name)
        if not 0 <= (value or 0) < 1 << 8 * register.size:
            raise InputError(f"{name} cannot hold {value}", hint=f"it has {register.size} bytes")
        self._set(register.address, (value or 0).to_bytes(register.size, "little"))

    def switch_on(self) -> None:
        """Let the power have been off: what is in RAM is lost."""
        self._reset(Area.RAM)

    def handle(self, packet: bytes) -> bytes:
        """Take a packet as it was heard, and return the answer; nothing where it keeps silent."""
        whom = packet[2]
        identity = self.id
        if whom not in (identity, BROADCAST_ID):
            return b""
        level = self._byte("status_return_level")
        asked = packet[4]
        error = 0
        data = b""
        if checksum(packet[2:-1]) != packet[-1]:
            asked = 0
            error = _CHECKSUM
        else:
            alone = asked == Instruction.SYNC_WRITE and whom != BROADCAST_ID
            error, data = (_INSTRUCTION, b"") if alone else self._obey(asked, packet[5:-1])
        told = error | self.conditions()
        self.protect(told)
        if asked != Instruction.PING and (
            whom == BROADCAST_ID or level < (1 if asked == Instruction.READ else 2)
        ):
            return b""
        return status_packet(identity, told, data)

    def conditions(self) -> int:
        """Return the error bits of what is wrong with it, for as long as it is."""
        return 0

    def protect(self, error: int) -> None:
        """Do what its alarms ask for."""

    def write(self, address: int, data: bytes, *, dry: bool = False) -> int:
        """Write some bytes, or none and return why not; nothing is written where it is dry."""
        end = address + len(data)
        if not data:
            return _INSTRUCTION
        if end > len(self._bytes):
            return _RANGE
        touched = self._touched(address, end)
        after = self._bytes[:]
        after[address:end] = data
        values = {
            one.name: int.from_bytes(after[one.address : one.address + one.size], "little") for one in touched
        }
        error = self._refused(touched, values) or self.refused(values)
        if not error and not dry:
            self._set(address, data)
            self.written(values)
        return error

    def refused(self, values: Mapping[str, int]) -> int:  # noqa: ARG002 -- what a kind of device adds
        """Return what else is wrong with values that are to be written."""
        return 0

    def written(self, values: Mapping[str, int]) -> None:
        """Do what follows from values that were written."""

    def _touched(self, address: int, end: int) -> Sequence[Register]:
        """Return the registers of which some bytes lie there."""
        span = (address, end)
        if span not in self._spans:
            self._spans[span] = [
                one
                for one in self.table.registers.values()
                if one.address < end and address < one.address + one.size
            ]
        return self._spans[span]

    def _refused(self, touched: Sequence[Register], values: Mapping[str, int]) -> int:
        for one in touched:
            value = values[one.name]
            if one.access is Access.READ or not one.low <= value <= one.high:
                return _RANGE
            locked = one.area is Area.EEPROM and self.is_locked
            if locked or (one.name == "lock" and self._byte("lock") and not value):
                return _RANGE
        return 0

    @property
    def is_locked(self) -> bool:
        """Whether the EEPROM cannot be written."""
        return self._byte("lock") != 0

    def _obey(self, instruction: int, parameters: bytes) -> tuple[int, bytes]:
        obey = self._INSTRUCTIONS.get(instruction)
        if obey is None or (parameters and instruction in _ALONE):
            return _INSTRUCTION, b""
        return obey(self, parameters)

    def _ping(self, _parameters: bytes) -> tuple[int, bytes]:
        return 0, b""

    def _read(self, parameters: bytes) -> tuple[int, bytes]:
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
        error = self.write(parameters[0] if parameters else 0, parameters[1:], dry=True)
        if not error:
            self.registered = (parameters[0], parameters[1:])
            self.poke("registered", 1)
        return error, b""

    def _action(self, _parameters: bytes) -> tuple[int, bytes]:
        waiting = self.registered
        self.registered = None
        self.poke("registered", 0)
        return (_INSTRUCTION if waiting is None else self.write(*waiting)), b""

    def _factory_reset(self, _parameters: bytes) -> tuple[int, bytes]:
        if self._byte("lock"):
            return _RANGE, b""
        self._reset()
        return 0, b""

    def _sync_write(self, parameters: bytes) -> tuple[int, bytes]:
        size = parameters[1] if len(parameters) > 1 else 0
        blocks = parameters[2:]
        if not size or len(blocks) % (size + 1):
            return _INSTRUCTION, b""
        error = 0
        identity = self.id
        for begin in range(0, len(blocks), size + 1):
            if blocks[begin] == identity:
                error |= self.write(parameters[0], blocks[begin + 1 : begin + 1 + size])
        return error, b""

    _INSTRUCTIONS: Mapping[int, Callable[[FakeDevice, bytes], tuple[int, bytes]]] = {
        Instruction.PING: _ping,
        Instruction.READ: _read,
        Instruction.WRITE: _write,
        Instruction.REG_WRITE: _reg_write,
        Instruction.ACTION: _action,
        Instruction.FACTORY_RESET: _factory_reset,
        Instruction.SYNC_WRITE: _sync_write,
    }

    def _reset(self, area: Area | None = None) -> None:
        """Let its registers hold what they do when new, or only those of one area."""
        self.registered = None
        for one in self.table.registers.values():
            if area is None or one.area is area:
                self.poke(one.name, one.initial)

    def _set(self, address: int, data: bytes) -> None:
        self._bytes[address : address + len(data)] = data
        if address <= max(self._places):
            self.id = self._bytes[self._places[0]]
            self.baud = rate_of(self._bytes[self._places[1]])

    def _byte(self, name: str) -> int:
        return self._bytes[self.table.registers[name].address]

    def _refresh(self) -> None:
        """Let the registers that measure hold what is measured now."""


class FakeSensor(FakeDevice):
    """An AX-S1: what it senses comes from a function, by the names of its registers.

    Args:
        senses: returns `left_distance`, `center_light`, `sound` and so on, 0..255 each; what it leaves out
            stays as it is.
    """

    def __init__(
        self,
        id: int = 100,  # noqa: A002 -- the register's name
        *,
        senses: Callable[[], Mapping[str, int]] = dict,
        baud: int = 1_000_000,
    ) -> None:
        self.senses: Callable[[], Mapping[str, int]] = dict
        super().__init__(control_table("AX-S1"), id, baud)
        self.senses = senses

    def _reset(self, area: Area | None = None) -> None:
        super()._reset(area)
        self.poke("firmware_version", FIRMWARE)
        self.poke("sound", SILENCE)
        for what in ("obstacle_detected_compare", "light_detected_compare"):
            self.poke(what, self._byte(f"{what}_value"))

    def _refresh(self) -> None:
        for name, value in self.senses().items():
            self.poke(name, value)
        for what, about in (("obstacle", "distance"), ("light", "light")):
            least = self._byte(f"{what}_detected_compare")
            sides = enumerate(("left", "center", "right"))
            seen = sum((self._byte(f"{side}_{about}") > least) << bit for bit, side in sides)
            self.poke(f"{what}_detected", seen if least else 0)
        self.poke("sound_max_hold", max(self._byte("sound"), self._byte("sound_max_hold")))
