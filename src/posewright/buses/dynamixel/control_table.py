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
"""The return delay that a register value of 1 means [s] (e-Manual, AX-12A: Return Delay Time)."""

CLOCKWISE = 1 << 10
"""Direction bit of a speed or load: set for clockwise, where ticks decrease; lower bits are the magnitude."""

MAX_ID = 0xFD
"""Largest ID of a device; 254 is the broadcast ID."""

MAX_REGISTER_BYTES = 2
"""Size of the widest register [bytes]."""


class Access(Enum):
    """Whether a register can be written."""

    READ = "R"
    READ_WRITE = "RW"


class Area(Enum):
    """Where a register lies; registers in the EEPROM keep their values without power."""

    EEPROM = "eeprom"
    RAM = "ram"


class Instruction(IntEnum):
    """Instructions of protocol 1.0."""

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
        """Names of the bits that are set: `overheating, overload`."""
        return ", ".join((bit.name or "").lower().replace("_", " ") for bit in type(self) if bit in self)


@dataclass(frozen=True, slots=True)
class Register:
    """One value in a device's control table.

    Attributes:
        address: the address of the first byte; the lower byte of two comes first.
        size: bytes.
        initial: value when the device is new (EEPROM) or switched on (RAM); None if the manual does not
            state it.
        low: smallest value that can be written.
        high: largest value that can be written.
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
            InputError: the register is read-only, or the value is out of range.
        """
        if self.access is Access.READ:
            raise InputError(f"the register {self.name} cannot be written", hint="it is read-only")
        if not self.low <= value <= self.high:
            raise InputError(
                f"the register {self.name} cannot be {value}", hint=f"it takes {self.low}..{self.high}"
            )
        return value.to_bytes(self.size, "little")

    def decode(self, data: bytes) -> int:
        """Return the value of the register from its bytes."""
        return int.from_bytes(data, "little")


@dataclass(frozen=True, slots=True)
class ControlTable:
    """All registers of one kind of device.

    Attributes:
        device: its name.
        model_number: value of its first register.
        registers: the registers by name, in the order of their addresses.
    """

    device: str
    model_number: int
    registers: Mapping[str, Register]

    def register(self, name: str) -> Register:
        """Return the register of that name, or raise UnknownNameError."""
        if name not in self.registers:
            raise UnknownNameError.among("register", name, self.registers, owner=f"of {self.device}")
        return self.registers[name]

    def has_registers_of(self, other: ControlTable) -> bool:
        """Return whether it has all registers of another table, with the same addresses and sizes."""
        return all(
            name in self.registers
            and (self.registers[name].address, self.registers[name].size) == (register.address, register.size)
            for name, register in other.registers.items()
        )

    def decode(self, data: bytes) -> dict[str, int]:
        """Return the values of all registers by name, from the bytes of the table starting at address 0."""
        values: dict[str, int] = {}
        for register in self.registers.values():
            end = register.address + register.size
            values[register.name] = register.decode(data[register.address : end])
        return values

    @property
    def size(self) -> int:
        """Bytes from address 0 to the end of the last register."""
        return max(register.address + register.size for register in self.registers.values())


@cache
def _document() -> Mapping[str, Node]:
    document = read_document(Path(__file__).with_suffix(".yaml"))
    return document.fields(required=("sources", "baud_rates", "other_models", "devices"), optional=())


@cache
def control_tables() -> Mapping[str, ControlTable]:
    """Return the control tables of all supported devices, by the device's name."""
    tables: dict[str, ControlTable] = {}
    for name, node in _document()["devices"].fields().items():
        tables[name] = _read_table(name, node, tables)
    return tables


def control_table(device: str) -> ControlTable:
    """Return the control table of a device, such as AX-12A, or raise UnknownNameError."""
    tables = control_tables()
    if device not in tables:
        raise UnknownNameError.among("device", device, tables)
    return tables[device]


def table_of_model(model_number: int) -> ControlTable | None:
    """Return the control table of the device with a model number; None if the device is not supported."""
    tables = control_tables().values()
    return next((table for table in tables if table.model_number == model_number), None)


def name_of_model(model_number: int) -> str:
    """Return the name of the device with a model number, such as AX-12A; `model 999` for an unknown one."""
    table = table_of_model(model_number)
    if table is not None:
        return table.device
    name = _document()["other_models"].value.get(model_number)
    return str(name) if name is not None else f"model {model_number}"


def _read_table(name: str, node: Node, previous_tables: Mapping[str, ControlTable]) -> ControlTable:
    """Return the control table of a model from its document.

    Args:
        name: the name of the model.
        node: its entry in the document.
        previous_tables: the tables before it in the document, by the models' names; the key `same_as` names
            one whose registers this model has too, besides its own.
    """
    areas = [area.value for area in Area]
    fields = node.fields(required=("model_number", "source", *areas), optional=("same_as",))
    registers: dict[str, Register] = {}
    if "same_as" in fields:
        registers |= previous_tables[fields["same_as"].choice("device before it", previous_tables)].registers
    for area in areas:
        for key, entry in fields[area].fields().items():
            registers[key] = _read_register(key, area=Area(area), node=entry, previous=registers)
    return ControlTable(name, fields["model_number"].integer(low=0, high=0xFFFF), registers)


def _read_register(name: str, area: Area, node: Node, previous: Mapping[str, Register]) -> Register:
    """Read a register from the document.

    Args:
        name: its name.
        area: the memory that it is in.
        node: its entry in the document.
        previous: the registers read before, by name; the initial value of one of them may be referred to.
    """
    fields = node.fields(required=("address", "size", "access"), optional=("initial", "range"))
    size = fields["size"].integer(low=1, high=MAX_REGISTER_BYTES)
    access = Access(fields["access"].choice("access", [access.value for access in Access]))
    low = 0
    high = (1 << 8 * size) - 1
    if "range" in fields:
        low, high = (end.integer(low=low, high=high) for end in fields["range"].items())
    initial_node = fields.get("initial")
    if initial_node is None:
        initial = None
    elif isinstance(initial_node.value, str):
        initial = previous[initial_node.choice("register before it", previous)].initial
    else:
        initial = initial_node.integer(low=low, high=high)
    address = fields["address"].integer(low=0, high=0xFF)
    return Register(name, address, size, access, area, initial=initial, low=low, high=high)


def signed(value: int) -> int:
    """Return the signed number of a register with a direction bit (speed, load): clockwise is negative."""
    magnitude = value & (CLOCKWISE - 1)
    return -magnitude if value & CLOCKWISE else magnitude


def slope_step(value: int) -> int:
    """Return the position error at which a compliance slope gives full torque [ticks]: 2, 4, 8, ... 128."""
    power_of_two = 1 << max(value, 1).bit_length() - 1  # the greatest one that is not above the value
    return min(max(power_of_two, 2), 128)


@cache
def baud_rates() -> Mapping[int, int]:
    """Return the baud rates of the manual [bits per second], by the value of the register `baud_rate`."""
    listed = _document()["baud_rates"].value
    return {value: rate for value, rate in listed.items() if value != "source"}


def baud_rate_of(value: int) -> int:
    """Return the baud rate that a value of the register `baud_rate` means [bits per second]."""
    return baud_rates().get(value) or round(2_000_000 / (value + 1))


def baud_register_value(rate: int) -> int:
    """Return the value of the register `baud_rate` for a rate of the manual.

    Raises:
        InputError: the manual does not list the rate.
    """
    rates = baud_rates()
    for value, listed_rate in rates.items():
        if listed_rate == rate:
            return value
    hint = "choose from " + ", ".join(map(str, rates.values()))
    raise InputError(f"a servo cannot be set to {rate} bits per second", hint=hint)
