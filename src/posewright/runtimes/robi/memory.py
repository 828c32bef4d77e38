"""The memory of a Robi 2: 8 KiB of little-endian words, some of them with a name (`memory_map.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from posewright.documents import Bounds, FieldReader, Node, read_document, read_record
from posewright.errors import InputError, UnknownNameError

_DOCUMENT = Path(__file__).parent / "memory_map.yaml"

TICKS_PER_S = 60
"""Of the time word; so many frames a second, too."""

FULL_PERCENT = 100
"""Of a torque word; what is above counts as this."""

POSE_WORDS = 64
"""Of the pose block."""

TABLE_OFFSET = 0x0200
"""Parameter tables and LED table have addresses so much greater than what they mean."""

Address = Annotated[int, Bounds(0, 0xFFFF)]


def read_sources(node: Node) -> tuple[str, ...]:
    """Read `source:`, one key of `sources:` or a list of them."""
    return tuple(one.text() for one in (node.items() if isinstance(node.value, list) else (node,)))


Sources = Annotated[tuple[str, ...], FieldReader(read_sources)]


@dataclass(frozen=True, slots=True)
class Cell:
    """Words of one kind: one for every servo ID, for every LED, or a single one.

    Attributes:
        address: of the first.
        about: what it means.
        source: keys of the map's `sources`.
        step: bytes from each to the next.
        initial: what stands in the first when the robot is switched on; the next have `initial_step` more.
        names: of each; empty where they are counted by servo IDs.
    """

    address: Address
    about: str
    source: Sources
    count: Annotated[int, Bounds(1, 256)] = 1
    step: Annotated[int, Bounds(2, 0x1000)] = 2
    signed: bool = False
    initial: Address = 0
    initial_step: Address = 0
    names: tuple[str, ...] = ()

    def at(self, number: int = 1) -> int:
        """Return the address of the n-th, counted from 1; where servos have it, of that ID."""
        if not 1 <= number <= self.count:
            raise InputError(f"there is no number {number} of {self.count}", hint=f"1..{self.count}")
        return self.address + self.step * (number - 1)

    def called(self, number: int) -> str:
        """Return what the n-th is called: its own name, or that of the servo."""
        return self.names[number - 1] if self.names else f"ID {number}"

    @property
    def addresses(self) -> range:
        """The addresses of all."""
        return range(self.address, self.address + self.step * self.count, self.step)


@dataclass(frozen=True)
class MemoryMap:
    """What is known of the memory.

    Attributes:
        size: bytes.
        sources: what the keys in `source` stand for.
    """

    size: int
    cells: Mapping[str, Cell]
    sources: Mapping[str, str] = field(repr=False)

    def __getitem__(self, name: str) -> Cell:
        if name not in self.cells:
            raise UnknownNameError.among("memory cell", name, self.cells)
        return self.cells[name]

    @cached_property
    def names(self) -> Mapping[int, str]:
        """What lies at each address that is known, as `position of ID 3`."""
        return {
            address: name if cell.count == 1 else f"{name} of {cell.called(number)}"
            for name, cell in self.cells.items()
            for number, address in enumerate(cell.addresses, 1)
        }

    @cached_property
    def addresses(self) -> Mapping[str, int]:
        """The same the other way round."""
        return {name: address for address, name in self.names.items()}


@cache
def memory_map() -> MemoryMap:
    """Return the map that ships."""
    return read_memory_map(_DOCUMENT)


def read_memory_map(path: Path) -> MemoryMap:
    """Read a map, or raise DocumentError; no two cells share a byte, and all lie in the memory."""
    parts = read_document(path).fields(required=("memory", "size", "sources", "cells"), optional=())
    size = parts["size"].integer(low=2, high=0x10000)
    sources = {key: node.text() for key, node in parts["sources"].fields().items()}
    cells: dict[str, Cell] = {}
    taken: dict[int, str] = {}
    for name, node in parts["cells"].fields().items():
        cell = cells[name] = read_record(node, Cell)
        for key in cell.source:
            if key not in sources:
                raise UnknownNameError.among("source", key, sources, where=node.where)
        for byte in (address + i for address in cell.addresses for i in (0, 1)):
            if byte >= size or byte in taken:
                whose = f"belongs to {taken[byte]}" if byte in taken else "lies outside"
                node.fail(f"byte {byte:#06x} {whose}", hint="every byte of the memory belongs to one cell")
            taken[byte] = name
    return MemoryMap(size, MappingProxyType(cells), MappingProxyType(sources))


class Memory:
    """The bytes, as they are when the robot is switched on, read and written by address or by name."""

    def __init__(self) -> None:
        self.map = memory_map()
        self._bytes = bytearray(self.map.size)
        for cell in self.map.cells.values():
            for i in range(cell.count):
                self.write(cell.at(i + 1), 2, cell.initial + i * cell.initial_step)

    def __repr__(self) -> str:
        return f"<Memory of {len(self._bytes)} bytes, posture {self.get('posture')}>"

    def __bytes__(self) -> bytes:
        return bytes(self._bytes)

    def restore(self, data: bytes) -> None:
        """Set all bytes to what `bytes(memory)` was once."""
        self._bytes[:] = data

    def read(self, address: int, size: int) -> int:
        """Return the unsigned number of 1 or 2 bytes at an address, or raise InputError."""
        self._check(address, size)
        return int.from_bytes(self._bytes[address : address + size], "little")

    def write(self, address: int, size: int, value: int) -> None:
        """Write an unsigned number of 1 or 2 bytes to an address, or raise InputError."""
        self._check(address, size)
        if not 0 <= value < 1 << 8 * size:
            what = f"{value} at {address:#06x} does not fit {size} byte{'s' * (size > 1)}"
            raise InputError(what, hint=f"0..{(1 << 8 * size) - 1:#x}; below 0 as two's complement")
        self._bytes[address : address + size] = value.to_bytes(size, "little")

    def _check(self, address: int, size: int) -> None:
        if size not in (1, 2):
            raise InputError(f"{size} bytes at {address:#06x}", hint="a number has 1 byte or 2")
        if not 0 <= address <= len(self._bytes) - size:
            what = f"{size} byte{'s' * (size > 1)} at {address:#06x} lie outside the memory"
            raise InputError(what, hint=f"it ends at {len(self._bytes) - 1:#06x}")

    def get(self, name: str, number: int = 1) -> int:
        """Return the number in a named cell; `number` is the servo's ID, or counts from 1."""
        cell = self.map[name]
        word = self.read(cell.at(number), 2)
        return signed(word) if cell.signed else word

    def set(self, name: str, value: int, number: int = 1) -> None:
        """Write a number to a named cell, or raise InputError where it does not fit."""
        cell = self.map[name]
        low = -0x8000 if cell.signed else 0
        if not low <= value < low + 0x10000:
            raise InputError(f"{value} does not fit {name}", hint=f"{low}..{low + 0xFFFF}")
        self.write(cell.at(number), 2, value & 0xFFFF)


def signed(value: int) -> int:
    """Return the number that 16 bits are in two's complement, -32768 to 32767."""
    return ((value + 0x8000) & 0xFFFF) - 0x8000
