"""Names of entries as names of files, and back: any bytes become a name that is safe everywhere.

What a file's name cannot hold on some system is written as its code, `%2F` for a slash, so that the way back
is exact. An entry cannot get out of the folder it is put in.
"""

from __future__ import annotations

import re
import zlib
from pathlib import PurePath

_SAFE = re.compile(rb"[A-Za-z0-9_#+,=@()\[\] .-]")
"""What every system takes within a name, and no shell or tool takes for more than a letter of it."""

_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)")
"""Names that are no files on Windows, whatever follows the point."""

_MOST = 200
"""Letters of a name; file systems take 255 bytes, with what it ends in."""

_CODE = re.compile(rb"%([0-9A-F]{2})")
_AGAIN = re.compile(r"~[0-9]+$")


def file_stem(name: str) -> str:
    """Return an entry's name as that of a file, without what it ends in.

    A name that becomes longer than a file's can be is cut, and gets a number made of all of it; only that
    cannot be turned back.
    """
    raw = name.encode("latin-1")
    last = len(raw) - 1
    stem = "".join(
        chr(byte) if _SAFE.fullmatch(raw, i, i + 1) and not _at_an_end(byte, i, last) else f"%{byte:02X}"
        for i, byte in enumerate(raw)
    )
    if _DEVICES.match(stem):
        stem = f"%{ord(stem[0]):02X}{stem[1:]}"
    if len(stem) > _MOST:
        stem = f"{stem[: _MOST - 9]}~{zlib.crc32(raw)}"[:_MOST]
    return stem or "%"


def _at_an_end(byte: int, at: int, last: int) -> bool:
    """Tell whether a letter must not stand where it does: hidden files, options, ends that Windows drops."""
    return (at == 0 and byte in b".- ") or (at == last and byte in b". ")


def entry_name(path: PurePath, suffixes: tuple[str, ...] = ()) -> str:
    """Return what the entry of a file is called: as the file, without folder and ending.

    Args:
        path: the file.
        suffixes: endings of two parts, such as `.motion.yaml`, that are dropped whole.
    """
    name = path.name
    ending = next((suffix for suffix in suffixes if name.lower().endswith(suffix)), path.suffix)
    stem = _AGAIN.sub("", name[: len(name) - len(ending)] if ending else name)
    if not stem.isascii() or stem == "%":
        return "" if stem == "%" else stem
    raw = _CODE.sub(lambda code: bytes((int(code[1], 16),)), stem.encode("ascii"))
    return raw.decode("latin-1")


class FileNames:
    """Gives every entry a file name of its own, on systems too that do not tell `A` from `a`."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def name(self, entry: str, suffix: str) -> str:
        """Return the name of the file for an entry; a second one called so gets `~2` behind it."""
        stem = file_stem(entry)
        key = f"{stem}{suffix}".lower()
        name = f"{stem}{suffix}"
        while name.lower() in self._taken:
            self._last[key] = self._last.get(key, 1) + 1
            name = f"{stem}~{self._last[key]}{suffix}"
        self._taken.add(name.lower())
        return name
