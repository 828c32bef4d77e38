"""The formats that are read and written, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from posewright.documents import write_atomically
from posewright.errors import FormatError, UnknownNameError, Where
from posewright.formats.joint_table import read_table
from posewright.formats.kinds import NATIVE, ROBOPLUS_TEXT, UC3M_CSV
from posewright.formats.motion_file import MotionFile, PageLabel
from posewright.formats.origin import origin_of
from posewright.formats.roboplus_from_motion import document_with
from posewright.formats.roboplus_reader import read_roboplus
from posewright.formats.roboplus_to_motion import page_motion, remarks_on
from posewright.formats.uc3m_csv import table_motion, table_with
from posewright.motions import Motion
from posewright.robots import Robot


@dataclass(frozen=True)
class MotionFormat:
    """A format that is read and written.

    Attributes:
        name: its name in programs.
        suffixes: of file names to write it under; for reading they mean nothing.
        read: bytes, path and robot, where the file does not say which, to the file.
        write: writes a motion to a path.
        losses: what of a motion it cannot hold, in words.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[bytes, Path, Robot], MotionFile]
    write: Callable[[Motion, Path], None]
    losses: Callable[[Motion], tuple[str, ...]]


def format_named(name: str) -> MotionFormat:
    """Return the format of that name, or raise UnknownNameError."""
    if name not in FORMATS:
        raise UnknownNameError.among("motion format", name, FORMATS)
    return FORMATS[name]


def format_for(motion: Motion, path: Path, name: str | None = None) -> MotionFormat:
    """Return the format to write a motion in: as asked, as the file's name suggests, or as it came.

    Raises:
        FormatError: none of the three tells.
        UnknownNameError: there is no format `name`.
    """
    if name is not None:
        return format_named(name)
    for known in FORMATS.values():
        if path.name.lower().endswith(known.suffixes):
            return known
    origin = origin_of(motion)
    if origin is None:
        raise FormatError(
            "the file's name does not say in which format to write",
            where=Where(path),
            hint=f"end it in {', '.join(known.suffixes[0] for known in FORMATS.values())}",
        )
    return FORMATS[origin.format]


def _read_roboplus(data: bytes, path: Path, card: Robot) -> MotionFile:
    document = read_roboplus(data, path)
    document = replace(document, remarks=document.remarks + remarks_on(document, card))
    numbers = tuple(document.played)
    return MotionFile(
        ROBOPLUS_TEXT,
        path,
        tuple(page_motion(document, number, card, path) for number in numbers),
        tuple(PageLabel(number, document.page_name(number)) for number in numbers),
        len(document.pages),
        document.remarks,
        document,
    )


def _write_roboplus(motion: Motion, path: Path) -> None:
    write_atomically(path, document_with(motion)[0].render())


def _read_uc3m(data: bytes, path: Path, card: Robot) -> MotionFile:
    table = read_table(data, path)
    motion = table_motion(table, card, name=path.stem, path=path)
    return MotionFile(
        UC3M_CSV, path, (motion,), (PageLabel(1, motion.name),), warnings=table.remarks, document=table
    )


def _write_uc3m(motion: Motion, path: Path) -> None:
    write_atomically(path, table_with(motion)[0].render())


def _read_native(data: bytes, path: Path, card: Robot) -> MotionFile:
    from posewright.formats import native

    motion = native.read(data, path, card)
    return MotionFile(NATIVE, path, (motion,), (PageLabel(1, motion.name),), document=data)


def _write_native(motion: Motion, path: Path) -> None:
    from posewright.formats import native

    native.write(motion, path)


def _lost_in_native(motion: Motion) -> tuple[str, ...]:
    """Return what a native file cannot hold: it is one motion, and has no other pages to lead to."""
    if origin_of(motion, ROBOPLUS_TEXT) is None:
        return ()
    links = (("next", motion.next), ("exit", motion.exit))
    return tuple(
        f"{what} page {to}: it stays behind in the file it came from" for what, to in links if to is not None
    )


_KNOWN = (
    MotionFormat(NATIVE, (".motion.yaml", ".yaml", ".yml"), _read_native, _write_native, _lost_in_native),
    MotionFormat(
        ROBOPLUS_TEXT, (".mtn",), _read_roboplus, _write_roboplus, lambda motion: document_with(motion)[1]
    ),
    MotionFormat(UC3M_CSV, (".csv",), _read_uc3m, _write_uc3m, lambda motion: table_with(motion)[1]),
)

FORMATS: Mapping[str, MotionFormat] = MappingProxyType({known.name: known for known in _KNOWN})
"""The formats by name, the native one first."""
