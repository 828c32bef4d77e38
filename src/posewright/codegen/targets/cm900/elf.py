"""ELF images of 32-bit processors: segments and symbols."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from posewright.errors import FormatError, Where

_LOADED_SEGMENT = 1  # PT_LOAD of the ELF specification
_SYMBOL_TABLE = 2  # SHT_SYMTAB
_SEGMENT_TABLE_FIELD = 28  # e_phoff of the header: the offset of the table of segments
_SECTION_TABLE_FIELD = 32  # e_shoff
_SEGMENT_COUNTS_FIELD = 42  # e_phentsize and e_phnum: bytes of an entry, and number of entries
_SECTION_COUNTS_FIELD = 46  # e_shentsize and e_shnum
_SYMBOL_BYTES = 16
_THUMB_BIT = 1  # set in the address of a Thumb function


@dataclass(frozen=True)
class ElfImage:
    """An image.

    Attributes:
        segments: bytes by the physical address they are loaded at; initial values of variables are in flash.
        symbols: addresses by name; those of Thumb functions have their lowest bit set.
    """

    segments: Mapping[int, bytes]
    symbols: Mapping[str, int]

    def span(self, function: str) -> tuple[int, int]:
        """Return the address of a function and that of the next symbol."""
        begin = self.symbols[function] & ~_THUMB_BIT
        later_addresses = (address for address in self.symbols.values() if address > begin + _THUMB_BIT)
        return begin, min(address & ~_THUMB_BIT for address in later_addresses)

    @classmethod
    def read(cls, path: Path) -> ElfImage:
        """Read an image.

        Raises:
            FormatError: it is not a 32-bit little-endian ELF file, or it is truncated.
        """
        data = path.read_bytes()
        if data[:6] != b"\x7fELF\x01\x01":
            raise FormatError(
                "not a 32-bit little-endian ELF image",
                where=Where(path=path),
                hint="the output of `posewright board build`",
            )
        try:
            return cls(dict(_segments(data)), dict(_symbols(data)))
        except (struct.error, ValueError, IndexError) as error:
            raise FormatError(f"this ELF image is damaged: {error}", where=Where(path=path)) from error

    @property
    def size(self) -> int:
        """Flash that it needs, without gaps [bytes]."""
        return sum(map(len, self.segments.values()))


def _segments(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the physical address and content of each segment that a 32-bit ELF file loads into memory."""
    (table_offset,) = struct.unpack_from("<I", data, _SEGMENT_TABLE_FIELD)
    entry_bytes, n_segments = struct.unpack_from("<2H", data, _SEGMENT_COUNTS_FIELD)
    for index in range(n_segments):
        entry_offset = table_offset + entry_bytes * index
        segment_type, offset, _, address, size = struct.unpack_from("<5I", data, entry_offset)
        if segment_type == _LOADED_SEGMENT and size:
            yield address, data[offset : offset + size]


class _Section(NamedTuple):
    """The header of a section of a 32-bit ELF file, by the names of the specification without `sh_`."""

    name: int
    type: int
    flags: int
    addr: int
    offset: int
    size: int
    link: int
    info: int
    addralign: int
    entsize: int


def _symbols(data: bytes) -> Iterator[tuple[str, int]]:
    """Yield the name and value of each symbol of a 32-bit ELF file that has a name."""
    (table_offset,) = struct.unpack_from("<I", data, _SECTION_TABLE_FIELD)
    entry_bytes, n_sections = struct.unpack_from("<2H", data, _SECTION_COUNTS_FIELD)
    sections = [
        _Section._make(struct.unpack_from("<10I", data, table_offset + entry_bytes * index))
        for index in range(n_sections)
    ]
    for section in sections:
        if section.type != _SYMBOL_TABLE:
            continue
        names_offset = sections[section.link].offset  # the section with the names of the symbols
        for symbol_offset in range(section.offset, section.offset + section.size, _SYMBOL_BYTES):
            name_index, value = struct.unpack_from("<2I", data, symbol_offset)
            name_start = names_offset + name_index
            name_end = data.index(b"\0", name_start)
            if name_end > name_start:
                yield data[name_start:name_end].decode(errors="replace"), value
