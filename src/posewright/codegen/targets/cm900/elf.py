"""ELF images of 32-bit processors: segments and symbols."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from posewright.errors import FormatError, Where

_LOADED = 1  # PT_LOAD of the ELF specification
_SYMBOLS = 2  # SHT_SYMTAB


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
        begin = self.symbols[function] & ~1
        return begin, min(at & ~1 for at in self.symbols.values() if at > begin + 1)

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
    """Yield the address and content of each segment that is loaded into memory."""
    (table,) = struct.unpack_from("<I", data, 28)
    size, count = struct.unpack_from("<2H", data, 42)
    for k in range(count):
        kind, offset, _, address, length = struct.unpack_from("<5I", data, table + size * k)
        if kind == _LOADED and length:
            yield address, data[offset : offset + length]


def _symbols(data: bytes) -> Iterator[tuple[str, int]]:
    """Yield the name and value of each symbol."""
    (table,) = struct.unpack_from("<I", data, 32)
    size, count = struct.unpack_from("<2H", data, 46)
    sections = [struct.unpack_from("<10I", data, table + size * k) for k in range(count)]
    for section in sections:
        if section[1] == _SYMBOLS:
            names = sections[section[6]][4]
            for entry in range(section[4], section[4] + section[5], 16):
                name, value = struct.unpack_from("<2I", data, entry)
                end = data.index(b"\0", names + name)
                if end > names + name:
                    yield data[names + name : end].decode(errors="replace"), value
