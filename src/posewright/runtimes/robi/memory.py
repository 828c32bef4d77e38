"""The memory of a Robi 2: 8 KiB of little-endian words, some of them named (`memory_map.yaml`)."""

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
"""Unit of the time word; also the number of frames a second."""

FULL_PERCENT = 100
"""Largest torque; higher torque words have the same effect."""

POSE_WORDS = 64
"""Number of words in the pose block."""

TABLE_OFFSET = 0x0200
"""Entries of the parameter tables and the LED table are addresses plus this."""

WORDS_PER_DEG = 10.0
"""Positions are words in units of 0.1 deg."""

WORD_BYTES = 2

Address = Annotated[int, Bounds(0, 0xFFFF)]


def bytes_of_word(address: int) -> range:
    """Return the addresses of the two bytes of a word."""
    return range(address, address + WORD_BYTES)


def read_source_keys(node: Node) -> tuple[str, ...]:
    """Return the keys in `source:`, which is one key of the document's `sources:` or a list of them."""
    if isinstance(node.value, list):
        return tuple(item.text() for item in node.items())
    return (node.text(),)


SourceKeys = Annotated[tuple[str, ...], FieldReader(read_source_keys)]


@dataclass(frozen=True, slots=True)
class MemoryCell:
    """Named words of one kind: one for each servo ID, one for each LED, or a single one.

    Attributes:
        address: the address of the first word.
        about: its meaning.
        source: keys of the map's `sources`.
        count: number of words.
        step: distance of the words [byte].
        signed: whether the words are in two's complement.
        initial: content of the first word at power-on; each further word has `initial_step` more.
        initial_step: see `initial`.
        names: the names of the words; empty for words of servos.
    """

    address: Address
    about: str
    source: SourceKeys
    count: Annotated[int, Bounds(1, 256)] = 1
    step: Annotated[int, Bounds(2, 0x1000)] = 2
    signed: bool = False
    initial: Address = 0
    initial_step: Address = 0
    names: tuple[str, ...] = ()

    def address_of(self, number: int = 1) -> int:
        """Return the address of a word by its number from 1, which is the servo's ID if servos have it.

        Raises:
            InputError: there is no word of that number.
        """
        if not 1 <= number <= self.count:
            raise InputError(f"there is no word {number}", hint=f"expected 1..{self.count}")
        return self.address + self.step * (number - 1)

    def name_of(self, number: int) -> str:
        """Return the name of a word: its own, or that of the servo."""
        return self.names[number - 1] if self.names else f"ID {number}"

    @property
    def addresses(self) -> range:
        """The addresses of all words."""
        return range(self.address, self.address + self.step * self.count, self.step)


@dataclass(frozen=True)
class MemoryMap:
    """The known words of the memory.

    Attributes:
        size: the size of the memory [byte].
        cells: the cells by name.
        sources: descriptions by the keys in the cells' `source`.
    """

    size: int
    cells: Mapping[str, MemoryCell]
    sources: Mapping[str, str] = field(repr=False)

    def __getitem__(self, name: str) -> MemoryCell:
        if name not in self.cells:
            raise UnknownNameError.among("memory cell", name, self.cells)
        return self.cells[name]

    @cached_property
    def names(self) -> Mapping[int, str]:
        """Names such as `position of ID 3`, by address."""
        names: dict[int, str] = {}
        for name, cell in self.cells.items():
            for number, address in enumerate(cell.addresses, 1):
                names[address] = name if cell.count == 1 else f"{name} of {cell.name_of(number)}"
        return names

    @cached_property
    def addresses(self) -> Mapping[str, int]:
        """Addresses by name."""
        return {name: address for address, name in self.names.items()}


@cache
def memory_map() -> MemoryMap:
    """Return the map that ships with the package."""
    return read_memory_map(_DOCUMENT)


def read_memory_map(path: Path) -> MemoryMap:
    """Read a memory map.

    Raises:
        DocumentError: the document is wrong, two cells share a byte, or one lies outside the memory.
        UnknownNameError: a source key is unknown.
    """
    parts = read_document(path).fields(required=("memory", "size", "sources", "cells"), optional=())
    size = parts["size"].integer(low=2, high=0x10000)
    sources = {key: node.text() for key, node in parts["sources"].fields().items()}
    cells: dict[str, MemoryCell] = {}
    owners: dict[int, str] = {}  # the cell of each byte
    for name, node in parts["cells"].fields().items():
        cell = read_record(node, MemoryCell)
        cells[name] = cell
        for key in cell.source:
            if key not in sources:
                raise UnknownNameError.among("source", key, sources, where=node.where)
        for address in cell.addresses:
            for byte in bytes_of_word(address):
                if byte >= size or byte in owners:
                    problem = f"belongs to {owners[byte]}" if byte in owners else "lies outside"
                    hint = "every byte of the memory belongs to one cell"
                    node.fail(f"byte {byte:#06x} {problem}", hint=hint)
                owners[byte] = name
    return MemoryMap(size, MappingProxyType(cells), MappingProxyType(sources))


class RobiMemory:
    """The bytes of the memory, initially as at power-on, read and written by address or by name.

    Attributes:
        map: names of the words.
    """

    def __init__(self) -> None:
        self.map = memory_map()
        self._bytes = bytearray(self.map.size)
        for cell in self.map.cells.values():
            for i in range(cell.count):
                self.write(cell.address_of(i + 1), size=2, value=cell.initial + i * cell.initial_step)

    def __repr__(self) -> str:
        return f"<RobiMemory of {len(self._bytes)} bytes, posture {self.get('posture')}>"

    def __bytes__(self) -> bytes:
        return bytes(self._bytes)

    def restore(self, data: bytes) -> None:
        """Set all bytes to an earlier `bytes(memory)`."""
        self._bytes[:] = data

    def read(self, address: int, size: int) -> int:
        """Return the unsigned number of 1 or 2 bytes at an address.

        Raises:
            InputError: the size is another, or a byte lies outside the memory.
        """
        self._require_inside(address, size)
        return int.from_bytes(self._bytes[address : address + size], "little")

    def write(self, address: int, size: int, value: int) -> None:
        """Write an unsigned number of 1 or 2 bytes to an address.

        Raises:
            InputError: the size is another, a byte lies outside the memory, or the number does not fit.
        """
        self._require_inside(address, size)
        max_value = (1 << 8 * size) - 1
        if not 0 <= value <= max_value:
            message = f"{value} at {address:#06x} does not fit {size} byte{'s' * (size > 1)}"
            raise InputError(message, hint=f"0..{max_value:#x}; below 0 as two's complement")
        self._bytes[address : address + size] = value.to_bytes(size, "little")

    def _require_inside(self, address: int, size: int) -> None:
        """Raise InputError unless 1 or 2 bytes are read or written, and all lie inside the memory."""
        if size not in (1, 2):
            raise InputError(f"{size} bytes at {address:#06x}", hint="a number has 1 byte or 2")
        if not 0 <= address <= len(self._bytes) - size:
            message = f"{size} byte{'s' * (size > 1)} at {address:#06x} lie outside the memory"
            raise InputError(message, hint=f"it ends at {len(self._bytes) - 1:#06x}")

    def get(self, name: str, number: int = 1) -> int:
        """Return the number in a named word; `number` is the servo's ID, or counts from 1."""
        cell = self.map[name]
        word = self.read(cell.address_of(number), 2)
        return signed(word) if cell.signed else word

    def set(self, name: str, value: int, number: int = 1) -> None:
        """Write a number to a named word; `number` is the servo's ID, or counts from 1.

        Raises:
            InputError: the number does not fit the word.
        """
        cell = self.map[name]
        low = -0x8000 if cell.signed else 0
        if not low <= value < low + 0x10000:
            raise InputError(f"{value} does not fit {name}", hint=f"expected {low}..{low + 0xFFFF}")
        self.write(cell.address_of(number), size=2, value=value & 0xFFFF)


def signed(value: int) -> int:
    """Return 16 bits in two's complement as a number, -32768 to 32767."""
    return ((value + 0x8000) & 0xFFFF) - 0x8000
