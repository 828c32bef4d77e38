"""The sections of an OMTN motion: where each begins and ends, and the strings in the first of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from posewright.formats.binary import ByteCursor, Place

MAX_PADDING = 3
"""Sections 1 and 2 are filled up to a multiple of four bytes."""


@dataclass
class Sections:
    """Reads the sections of one file from front to back.

    Attributes:
        data: the whole file.
        place: where it lies, for messages.
        remarks: what is odd about it; grows on the way.
    """

    data: bytes
    place: Place
    remarks: list[str] = field(default_factory=list)

    def note(self, message: str, offset: int) -> None:
        """Remember what is odd at byte `offset`."""
        self.remarks.append(self.place.remark(message, offset))

    def open(self, number: int, start: int, least: int) -> ByteCursor:
        """Return a cursor behind the number and the size of the section that begins at `start`.

        Raises:
            FormatError: it is another section, is shorter than the `least` it can be, or is cut off.
        """
        head = ByteCursor(self.data, self.place, start, len(self.data))
        found, size = head.u32(f"the number of section {number}"), head.u32(f"the size of section {number}")
        if found != number:
            self.place.fail(f"section {found} stands where section {number} belongs", start)
        if size < least:
            self.place.fail(f"section {number} says it has {size} bytes, but needs {least}", start + 4)
        if size > len(self.data) - start:
            there = f"the file ends after {len(self.data) - start}"
            self.place.fail(f"section {number} says it has {size} bytes, but {there}", start + 4)
        return ByteCursor(self.data, self.place, head.at, start + size, f"section {number}")

    def strings(self, cursor: ByteCursor, whats: list[str]) -> list[str]:
        """Return strings that follow each other, one for each of `whats` they are."""
        found: list[str] = []
        hint = None
        for what in whats:
            at = cursor.at
            found.append(cursor.string(what, hint))
            hint = f"or {what} before it is longer than byte {self.place.base + at} says"
        return found

    def tail(self, cursor: ByteCursor) -> bytes:
        """Return what is left of a section, which should be padding, and note it where it is not."""
        tail = self.data[cursor.at : cursor.end]
        if len(tail) > MAX_PADDING:
            self.note(
                f"{len(tail)} bytes at the end of {cursor.whole} mean nothing; they are kept", cursor.at
            )
        elif any(tail):
            self.note(f"the padding of {cursor.whole} is not zero; it is kept", cursor.at)
        return tail
