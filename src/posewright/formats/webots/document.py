"""A Webots motion as a document: a table of angles that keeps its bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

UNSAID = b"*"
"""Stands for a device that has no value in a row."""

FIRST_CELLS = (b"#WEBOTS_MOTION", b"V1.0")


@dataclass(frozen=True)
class PoseRow:
    """One row.

    Attributes:
        raw: the line with its line end.
        time_ms: when the pose is reached [ms].
        name: the pose's, free text.
        values: one a device, `None` where there is none; an angle in radians, or metres of a linear motor.
        cells: the texts these stand in.
    """

    raw: bytes
    time_ms: int
    name: bytes
    values: tuple[float | None, ...]
    cells: tuple[bytes, ...]


@dataclass(frozen=True)
class PoseTable:
    """A Webots motion.

    Attributes:
        head: the first line with its line end.
        devices: names of the motors, one a column.
        rows: in the order of time.
        tail: what follows the last row.
        remarks: what is odd about it, in words.
    """

    head: bytes
    devices: tuple[str, ...]
    rows: tuple[PoseRow, ...]
    tail: bytes = b""
    remarks: tuple[str, ...] = ()

    @property
    def eol(self) -> bytes:
        """The line end of the file."""
        return b"\r\n" if self.head.endswith(b"\r\n") else b"\n"

    def render(self) -> bytes:
        """Return the bytes: those it was read from, where nothing was changed."""
        return b"".join([self.head, *(row.raw for row in self.rows), self.tail])


def new_head(devices: Sequence[str], eol: bytes = b"\n") -> bytes:
    """Return the first line of a file for these devices."""
    return b",".join([*FIRST_CELLS, *(device.encode("utf-8", "surrogateescape") for device in devices)]) + eol


def new_row(time_ms: int, name: bytes, cells: Sequence[bytes], eol: bytes = b"\n") -> bytes:
    """Return the line of a row."""
    minutes, rest = divmod(time_ms, 60_000)
    clock = b"%02d:%02d:%03d" % (minutes, rest // 1000, rest % 1000)
    return b",".join([clock, name, *cells]) + eol
