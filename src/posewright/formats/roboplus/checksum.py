"""The two bytes at the end of a RoboPlus text file, and what becomes of them in the wild.

The trailer is the one's complement of the sum of every byte before it, from the BOM to the LF after the
last `page_end`, as two raw bytes, big-endian: (sum + value) & 0xFFFF == 0xFFFF. Source: formats.md
section 2.1, verified on real files. RoboPlus refuses a file whose trailer is wrong; we read it and say so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

BOM = b"\xef\xbb\xbf"

_LAST_PAGE_END = re.compile(rb"^page_end[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_AS_TEXT = re.compile(rb"\\([0-9A-Fa-f]{2})\\([0-9A-Fa-f]{2})")


def checksum(body: bytes) -> bytes:
    """Return the two bytes that belong after `body`."""
    return (0xFFFF - (sum(body) & 0xFFFF)).to_bytes(2, "big")


def split_trailer(data: bytes) -> tuple[bytes, bytes]:
    """Split a file behind the line end of its last `page_end`; without one, all of it is body.

    The trailer is two arbitrary bytes, so the file as a whole is not valid UTF-8: split first, decode then.
    """
    ends = [found.end() for found in _LAST_PAGE_END.finditer(data)]
    cut = ends[-1] if ends else len(data)
    return data[:cut], data[cut:]


@dataclass(frozen=True)
class Trailer:
    """What stands behind the last page: its value if it holds one, and the damage done to it in words."""

    raw: bytes
    value: bytes | None
    damage: str = ""

    @classmethod
    def read(cls, raw: bytes) -> Trailer:
        """Recognise the shapes in which trailers are met."""
        if len(raw) == 2:
            return cls(raw, raw)
        if raw[2:] in (b"\n", b"\r\n"):
            return cls(raw, raw[:2], "a line end was appended to the checksum")
        if not raw.strip(b"\r\n"):
            return cls(raw, None, "the checksum was removed")
        written = _AS_TEXT.fullmatch(raw.rstrip(b"\r\n"))
        if written:
            return cls(raw, bytes.fromhex((written[1] + written[2]).decode()), "the checksum stands as text")
        if len(raw) == 1:
            return cls(raw, None, "half of the checksum is missing")
        return cls(raw, None, f"{len(raw)} bytes stand where the two of the checksum belong")


def trailer_remarks(body: bytes, trailer: Trailer) -> tuple[str, ...]:
    """Return what is wrong with the trailer of `body`, in words; nothing if it is as RoboPlus wrote it."""
    right = checksum(body)
    if trailer.value == right:
        return (f"{trailer.damage}; its value 0x{right.hex()} is right",) if trailer.damage else ()
    if trailer.value is None:
        return (f"{trailer.damage}; 0x{right.hex()} would be right",)
    found = f"0x{trailer.value.hex()}"
    if trailer.value == b"  ":
        return (f"two blanks stand in place of the checksum; 0x{right.hex()} would be right",)
    for before, story in _before_damage(body):
        if checksum(before) == trailer.value:
            return (f"the checksum {found} is that of the file before {story}; now 0x{right.hex()} is right",)
    return (f"the checksum is wrong: expected 0x{right.hex()}, found {found}; RoboPlus refuses such a file",)


def _before_damage(body: bytes) -> tuple[tuple[bytes, str], ...]:
    lf = body.replace(b"\r\n", b"\n")
    return (
        (BOM + body, "its byte order mark was stripped"),
        (lf, "its line ends were converted to CRLF"),
        (BOM + lf, "its byte order mark was stripped and its line ends were converted"),
    )
