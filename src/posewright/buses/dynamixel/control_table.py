"""The control tables of devices of protocol 1.0: registers by name, error bits, instructions, baud rates.

Registers and rates are data with their sources: `control_table.yaml`. Instructions and the bits of the error
byte are here; source: ROBOTIS e-Manual, "DYNAMIXEL Protocol 1.0", instruction packet and status packet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum, IntFlag
from functools import cache
from pathlib import Path

from posewright.documents import Node, read_document
from posewright.errors import InputError, UnknownNameError

DELAY_STEP_S = 2e-6
"""What a return delay time of 1 means (e-Manual, AX-12A: Return Delay Time)."""

CLOCKWISE = 1 << 10
"""The bit of a speed or load that says clockwise, in which the ticks fall; those below are its size."""

MAX_ID = 0xFD
"""Largest ID of a device; 254 is the broadcast."""

WIDEST = 2
"""Bytes of the widest register."""


class Access(Enum):
    """What may be done with a register."""

    READ = "R"
    READ_WRITE = "RW"


class Area(Enum):
    """Where a register lies: what is in the EEPROM outlasts the power."""

    EEPROM = "eeprom"
    RAM = "ram"


class Instruction(IntEnum):
    """What an instruction packet asks for."""

    PING = 0x01
    READ = 0x02
    WRITE = 0x03
    REG_WRITE = 0x04
    ACTION = 0x05
    FACTORY_RESET = 0x06
    SYNC_WRITE = 0x83


class StatusError(IntFlag):
    """Bits of the error byte of a status packet."""

    INPUT_VOLTAGE = 0x01
    ANGLE_LIMIT = 0x02
    OVERHEATING = 0x04
    RANGE = 0x08
    CHECKSUM = 0x10
    OVERLOAD = 0x20
    INSTRUCTION = 0x40

    @property
    def words(self) -> str:
        """The bits that are set, in words: `overheating, overload`."""
        return ", ".join((one.name or "").lower().replace("_", " ") for one in type(self) if one in self)


@dataclass(frozen=True, slots=True)
class Register:
    """One value in a device's control table.

    Attributes:
        address: of its first byte; of two, the lower one comes first.
        size: bytes.
        initial: what it holds when the device is new (EEPROM) or switched on (RAM); None where the manual
            does not say.
        low: least value that may be written.
        high: greatest value that may be written.
    """

    name: str
    address: int
    size: int
    access: Access
    area: Area
    initial: int | None
    low: int
    high: int

    def encode(self, value: int) -> bytes:
        """Return the bytes of a value.

        Raises:
            InputError: it may not be written, or not this value.
        """
        if self.access is Access.READ:
            raise InputError(f"{self.name} cannot be written", hint="it can only be read")
        if not self.low <= value <= self.high:
            raise InputError(f"{self.name} cannot be {value}", hint=f"{self.low}..{self.high}")
        return value.to_bytes(self.size, "little")

    def decode(self, data: bytes) -> int:
        """Return the value that its bytes hold."""
        return int.from_bytes(data, "little")


@dataclass(frozen=True, slots=True)
class ControlTable:
    """All registers of one kind of device.

    Attributes:
        device: its name.
        model_number: what its first register holds.
        registers: in the order of their addresses, by name.
    """

    device: str
    model_number: int
    registers: Mapping[str, Register]

    def register(self, name: str) -> Register:
        """Return the register of that name, or raise UnknownNameError."""
        if name not in self.registers:
            raise UnknownNameError.among(f"register of {self.device}", name, self.registers)
        return self.registers[name]

    def decode(self, data: bytes) -> dict[str, int]:
        """Return what all registers hold, by name, of the bytes from address 0."""
        parts = ((one, data[one.address : one.address + one.size]) for one in self.registers.values())
        return {one.name: one.decode(part) for one, part in parts}

    @property
    def size(self) -> int:
        """Bytes from address 0 to the end of the last register."""
        return max(one.address + one.size for one in self.registers.values())


@cache
def _document() -> Mapping[str, Node]:
    document = read_document(Path(__file__).with_suffix(".yaml"))
    return document.fields(required=("sources", "baud_rates", "devices"), optional=())


@cache
def control_tables() -> Mapping[str, ControlTable]:
    """Return the tables of all devices that are known, by the device's name."""
    return {name: _table(name, node) for name, node in _document()["devices"].fields().items()}


def control_table(device: str) -> ControlTable:
    """Return the table of a device, or raise UnknownNameError."""
    tables = control_tables()
    if device not in tables:
        raise UnknownNameError.among("device", device, tables)
    return tables[device]


def table_of_model(model_number: int) -> ControlTable | None:
    """Return the table of the device with that model number; None where it is another."""
    return next((one for one in control_tables().values() if one.model_number == model_number), None)


def _table(name: str, node: Node) -> ControlTable:
    areas = [area.value for area in Area]
    fields = node.fields(required=("model_number", "source", *areas), optional=())
    told = {key: (area, entry) for area in areas for key, entry in fields[area].fields().items()}
    registers: dict[str, Register] = {}
    for key, (area, entry) in told.items():
        registers[key] = _register(key, Area(area), entry, registers)
    return ControlTable(name, fields["model_number"].integer(low=0, high=0xFFFF), registers)


def _register(name: str, area: Area, node: Node, before: Mapping[str, Register]) -> Register:
    fields = node.fields(required=("address", "size", "access"), optional=("initial", "range"))
    size = fields["size"].integer(low=1, high=WIDEST)
    access = Access(fields["access"].choice("access", [one.value for one in Access]))
    low = 0
    high = (1 << 8 * size) - 1
    if "range" in fields:
        low, high = (end.integer(low=low, high=high) for end in fields["range"].items())
    initial = fields.get("initial")
    if initial is None:
        value = None
    elif isinstance(initial.value, str):
        value = before[initial.choice("register before it", before)].initial
    else:
        value = initial.integer(low=low, high=high)
    address = fields["address"].integer(low=0, high=0xFF)
    return Register(name, address, size, access, area, value, low, high)


def signed(value: int) -> int:
    """Return a speed or a load with its sign: negative where it is clockwise."""
    size = value & (CLOCKWISE - 1)
    return -size if value & CLOCKWISE else size


def slope_step(value: int) -> int:
    """Return at how many ticks of error the torque is full, of a compliance slope: 2, 4, 8, ... 128."""
    return 2 if value < 4 else min(128, 1 << (value.bit_length() - 1))


@cache
def baud_rates() -> Mapping[int, int]:
    """Return the rates that the manual lists [bits a second], by the value of the register `baud_rate`."""
    listed = _document()["baud_rates"].value
    return {value: rate for value, rate in listed.items() if value != "source"}


def rate_of(value: int) -> int:
    """Return the rate that a value of the register `baud_rate` means [bits a second]."""
    return baud_rates().get(value) or round(2_000_000 / (value + 1))


def value_of(rate: int) -> int:
    """Return the value of the register `baud_rate` for a rate that the manual lists.

    Raises:
        InputError: it lists none such.
    """
    for value, listed in baud_rates().items():
        if listed == rate:
            return value
    hint = "one of " + ", ".join(map(str, baud_rates().values()))
    raise InputError(f"a servo cannot be set to {rate} bits a second", hint=hint)
