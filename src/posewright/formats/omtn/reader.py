"""Reading OMTN motions; what could move a joint wrongly is an error, other deviations are remarks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from posewright.arrays import Flags
from posewright.errors import FormatError
from posewright.formats.binary import ByteCursor, ByteRange, GzipWrapping, is_gzip, unpack_gzip, unpacked_head
from posewright.formats.file_kind import MAX_MOTION_BYTES
from posewright.formats.omtn.document import (
    DEFAULT_FRAME_MS,
    HEAD,
    HEAD_BYTES,
    LONG_BYTES,
    MAGIC,
    MAX_ANGLE_URAD,
    MAX_BETWEEN,
    MAX_JOINTS,
    PLACEHOLDER,
    SHORT_BYTES,
    Integers,
    Leftovers,
    OmtnDocument,
)

MAX_PADDING = 3  # sections 1 and 2 are padded to a multiple of four bytes


@dataclass
class SectionReader:
    """Reads the sections of one file in order."""

    data: bytes
    byte_range: ByteRange
    remarks: list[str] = field(default_factory=list)

    def note(self, message: str, offset: int) -> None:
        """Add a remark on byte `offset`."""
        self.remarks.append(self.byte_range.remark(message, offset))

    def open(self, number: int, start: int, min_size: int) -> ByteCursor:
        """Return a cursor after the number and size of the section at `start`."""
        head = ByteCursor(self.data, self.byte_range, at=start, end=len(self.data))
        stated_number = head.u32(f"the number of section {number}")
        size = head.u32(f"the size of section {number}")
        if stated_number != number:
            self.byte_range.fail(f"section {stated_number} instead of section {number}", start)
        if size < min_size:
            self.byte_range.fail(
                f"section {number} has a size of {size} bytes, but needs {min_size}", start + 4
            )
        left = len(self.data) - start
        if size > left:
            message = f"section {number} has a size of {size} bytes, but the file ends after {left}"
            self.byte_range.fail(message, start + 4)
        return ByteCursor(self.data, self.byte_range, head.at, end=start + size, whole=f"section {number}")

    def strings(self, cursor: ByteCursor, names: list[str]) -> list[str]:
        """Return consecutive strings; `names` describe them in messages."""
        strings: list[str] = []
        hint = None
        for name in names:
            at = cursor.at
            strings.append(cursor.string(name, hint))
            hint = f"or {name} before it is longer than byte {self.byte_range.base + at} states"
        return strings

    def tail(self, cursor: ByteCursor) -> bytes:
        """Return the rest of a section, with a remark if it is no padding."""
        tail = self.data[cursor.at : cursor.end]
        if len(tail) > MAX_PADDING:
            self.note(f"{len(tail)} bytes at the end of {cursor.whole} are unknown; they are kept", cursor.at)
        elif any(tail):
            self.note(f"the padding of {cursor.whole} is not zero; it is kept", cursor.at)
        return tail


SHORT_DESIGN = "DRX-700"
"""First characters of the design of an ERS-110 or ERS-111."""

MAX_MOVEMENT_MS = 86_400_000  # a day, the longest movement of a motion
_FIRST_COLUMNS = ("frames", "roll", "pitch", "yaw")


@dataclass(frozen=True)
class KeyframeSection:
    """The place of the keyframes.

    Attributes:
        body: the offset of the first value.
        end: the offset of the end of the section.
        is_short: whether its size takes two bytes.
    """

    body: int
    end: int
    is_short: bool


def keyframe_section(
    sections: SectionReader, start: int, shape: tuple[int, int], design: str
) -> KeyframeSection:
    """Return the place of the keyframes in section 3.

    On the ERS-110 and ERS-111 the size takes two bytes instead of four. This does not change the number read
    there, since the bytes after it are zero. An exact size shows which it is; if surplus bytes follow the
    keyframes, the design does.

    Args:
        sections: the sections of the file.
        start: the offset of section 3.
        shape: number of keyframes and of joints.
        design: the design label.
    """
    n_keyframes, n_joints = shape
    n_value_bytes = 4 * (n_keyframes * (4 + n_joints) - 1)
    end = sections.open(3, start, 8).end
    size = end - start
    long_size = LONG_BYTES + n_value_bytes
    short_size = SHORT_BYTES + n_value_bytes
    has_surplus = size > short_size and size != long_size
    is_short = size == short_size or (has_surplus and design.startswith(SHORT_DESIGN))
    if not is_short and size < long_size:
        needed = f"{n_keyframes} keyframes of {n_joints} joints take {long_size}"
        sections.byte_range.fail(f"section 3 has a size of {size} bytes, but {needed}", start + 4)
    section = KeyframeSection(start + (SHORT_BYTES if is_short else LONG_BYTES), end, is_short)
    kind = int.from_bytes(sections.data[section.body - 4 : section.body], "little")
    if kind:
        message = f"the keyframes have the unknown type {kind}"
        sections.byte_range.fail(message, section.body - 4, "type 0, angles, is known")
    return section


def keyframe_values(
    sections: SectionReader,
    section: KeyframeSection,
    locators: tuple[str, ...],
    n_keyframes: int,
    step_ms: int,
) -> Integers:
    """Return the values of the keyframes.

    Returns:
        (n_keyframes, 4 + n_joints): frames before it, 0 for the first; roll, pitch, yaw; joint angles
        [micro-radians].
    """
    columns = 4 + len(locators)
    raw = np.frombuffer(sections.data, "<i4", n_keyframes * columns - 1, section.body)
    values = np.concatenate([np.zeros(1, np.int32), raw]).astype(np.int32, copy=False)
    values = values.reshape(n_keyframes, columns)
    checker = _ValueChecker(sections, section.body, values, columns=(*_FIRST_COLUMNS, *locators))
    max_frames = min(MAX_BETWEEN, MAX_MOVEMENT_MS // step_ms - 1)
    checker.require_none(values[:, :1].view(np.uint32) > max_frames, f"at most {max_frames}")
    is_too_large = (values > MAX_ANGLE_URAD) | (values < -MAX_ANGLE_URAD)
    hint = f"a full turn is {MAX_ANGLE_URAD} micro-radians"
    checker.require_none(is_too_large[:, 4:], hint, first_column=4)
    checker.note_first(is_too_large[:, 1:4], first_column=1)
    return values


@dataclass(frozen=True)
class _ValueChecker:
    """Reports the first of the values that are wrong, with its place.

    Attributes:
        sections: the sections of the file.
        body: the offset of the first value.
        values: the values, `(n_keyframes, n_columns)`.
        columns: the name of each column.
    """

    sections: SectionReader
    body: int
    values: Integers
    columns: tuple[str, ...]

    def require_none(self, is_wrong: Flags, hint: str, first_column: int = 0) -> None:
        """Raise FormatError at the first wrong value; the columns of `is_wrong` start at `first_column`."""
        if is_wrong.any():
            self.sections.byte_range.fail(*self._describe_first(is_wrong, first_column), hint)

    def note_first(self, is_wrong: Flags, first_column: int) -> None:
        """Add a remark on the first wrong value; arguments as in `require_none`."""
        if is_wrong.any():
            self.sections.note(*self._describe_first(is_wrong, first_column))

    def _describe_first(self, is_wrong: Flags, first_column: int) -> tuple[str, int]:
        """Return a message on the first wrong value, and its offset."""
        row, column = divmod(int(is_wrong.argmax()), is_wrong.shape[1])
        column += first_column
        value = int(self.values[row, column])
        if not column:
            value &= 0xFFFFFFFF
        offset = self.body + 4 * (row * len(self.columns) + column - 1)
        unit = "frames before it" if not column else f"{self.columns[column]}, more than a full turn"
        return f"keyframe {row + 1} has {value} {unit}", offset


MAJOR = 1
KNOWN_MINORS = (0, 1, 2)
_NAMES = ["the name", "the creator", "the design label"]


def read_omtn(data: bytes, path: Path | None = None, *, base: int = 0) -> OmtnDocument:
    """Read a motion, in gzip or not.

    Raises:
        FormatError: it is damaged, or no OMTN.
    """
    return read_omtn_at(data, ByteRange(path, base))


def read_omtn_at(data: bytes, byte_range: ByteRange) -> OmtnDocument:
    """Read a motion from a range of bytes of a file; errors as in `read_omtn`."""
    if not is_gzip(data):
        return _read_document(SectionReader(data, byte_range), wrapping=None)
    wrapping, remarks = unpack_gzip(data, byte_range, MAX_MOTION_BYTES)
    sections = SectionReader(wrapping.unpacked, byte_range.unpacked_range(), list(remarks))
    return _read_document(sections, wrapping)


class _FileHead(NamedTuple):
    """The fields of `HEAD`."""

    magic: bytes
    section: int
    size: int
    n_sections: int
    major: int
    minor: int
    n_keyframes: int
    frame_ms: int
    reserved: int


def _read_document(sections: SectionReader, wrapping: GzipWrapping | None) -> OmtnDocument:
    """Read the sections one after the other."""
    _require_magic(sections)
    first = sections.open(0, 4, HEAD_BYTES)
    head = _FileHead._make(HEAD.unpack_from(sections.data))
    _check_head(sections, head)
    first.at = HEAD.size
    after_head = sections.tail(first)
    names = sections.open(1, first.end, 8)
    name, creator, design = sections.strings(names, _NAMES)
    joints = sections.open(2, names.end, 10)
    locators = _read_locators(sections, joints)
    is_padded, after_names, after_joints = _read_tails(sections, names, joints)
    section = keyframe_section(
        sections, start=joints.end, shape=(head.n_keyframes, len(locators)), design=design
    )
    step_ms = head.frame_ms or DEFAULT_FRAME_MS
    values = keyframe_values(sections, section, locators, head.n_keyframes, step_ms)
    surplus, after = _read_surplus(sections, section.body + 4 * (values.size - 1), section.end)
    return OmtnDocument(
        name,
        creator,
        design,
        locators,
        angles=np.ascontiguousarray(values[:, 4:]),
        attitudes=np.ascontiguousarray(values[:, 1:4]),
        between=values[1:, 0].copy(),
        minor=head.minor,
        frame_ms=head.frame_ms,
        is_short=section.is_short,
        is_padded=is_padded,
        leftovers=Leftovers(
            after_head,
            after_names,
            after_joints,
            keyframes=surplus,
            after=after,
            reserved=head.reserved,
            n_sections=head.n_sections,
        ),
        wrapping=wrapping,
        remarks=tuple(sections.remarks),
    )


def _require_magic(sections: SectionReader) -> None:
    """Raise a FormatError unless the data begin with the header of a motion."""
    data = sections.data
    byte_range = sections.byte_range
    if data.startswith(PLACEHOLDER):
        byte_range.fail("this is a placeholder (NotOMTN) without a motion", 0)
    if not data.startswith(MAGIC):
        byte_range.fail(f"a motion begins with OMTN; found {data[:4]!r}", 0)
    if len(data) < HEAD.size:
        byte_range.fail(f"the file ends within its header, after {len(data)} bytes", len(data))


def _check_head(sections: SectionReader, head: _FileHead) -> None:
    """Raise FormatError for an unknown layout; add remarks on other unusual values."""
    version = f"{head.major}.{head.minor}"
    if head.major != MAJOR:
        sections.byte_range.fail(
            f"version {version} of the format is unknown", 16, "1.0, 1.1 and 1.2 are known"
        )
    if head.n_keyframes < 1:
        sections.byte_range.fail("the motion has 0 keyframes", 20, "it needs at least one")
    if head.n_sections != 4:
        sections.note(f"the header counts {head.n_sections} sections; there are 4", 12)
    if head.minor not in KNOWN_MINORS:
        sections.note(f"version {version} is unknown; 1.0, 1.1 and 1.2 are known", 18)
    if head.n_keyframes == 1:
        sections.note("there is one keyframe; Sony's player skips it", 20)
    if head.frame_ms not in (0, 16):
        sections.note(f"a frame is {head.frame_ms} ms; Sony's player assumes 16", 22)
    if head.reserved != 0:
        sections.note(f"the reserved number is {head.reserved}, not 0; it is kept", 24)


def _read_locators(sections: SectionReader, joints: ByteCursor) -> tuple[str, ...]:
    """Return the locators of the joints, which must differ."""
    count_at = joints.at
    count = joints.u16("the number of joints")
    if not count:
        sections.byte_range.fail("the motion has 0 joints", count_at, "it needs at least one")
    if count > MAX_JOINTS:
        sections.byte_range.fail(f"the motion has {count} joints", count_at, f"at most {MAX_JOINTS}")
    first_at = joints.at
    locators = tuple(sections.strings(joints, [f"the locator of joint {i + 1}" for i in range(count)]))
    for i, locator in enumerate(locators):
        offset = first_at + sum(1 + len(previous) for previous in locators[:i])
        if not locator:
            sections.byte_range.fail(f"joint {i + 1} has no name", offset)
        if locator in locators[:i]:
            sections.byte_range.fail(f"joint {i + 1} is {locator!r} a second time", offset)
    return locators


def _read_tails(
    sections: SectionReader, names: ByteCursor, joints: ByteCursor
) -> tuple[bool, bytes | None, bytes | None]:
    """Return whether sections 1 and 2 are padded, and their padding, None for the usual one."""
    lengths = [cursor.at - cursor.begin for cursor in (names, joints)]
    tails = [sections.tail(cursor) for cursor in (names, joints)]
    is_padded = all(tail or not length % 4 for length, tail in zip(lengths, tails, strict=True))
    usual = [bytes(-length % 4 if is_padded else 0) for length in lengths]
    first, second = (None if tail == zeros else tail for tail, zeros in zip(tails, usual, strict=True))
    return is_padded, first, second


def _read_surplus(sections: SectionReader, at: int, end: int) -> tuple[bytes, bytes]:
    """Return the bytes after the keyframes in section 3, from `at` to `end`, and those after the section."""
    surplus = sections.data[at:end]
    after = sections.data[end:]
    if surplus:
        sections.note(f"{len(surplus)} bytes follow the keyframes within section 3; they are kept", at)
    if after:
        sections.note(f"{len(after)} bytes follow the last section; they are kept", end)
    return surplus, after


_NAMES_AT = 28
_NAMES_END = 1024  # after three strings of at most 255 bytes


class MotionLabel(NamedTuple):
    """The name and the design label of a motion."""

    name: str
    design: str


def label_of(data: bytes) -> MotionLabel | None:
    """Return name and design label from the first bytes of a motion; None if it is not a motion."""
    head = unpacked_head(data, _NAMES_END)
    if not head.startswith(MAGIC):
        return None
    sections = SectionReader(head, ByteRange())
    try:
        cursor = sections.open(1, _NAMES_AT, 8)
        name, _, design = sections.strings(cursor, ["", "", ""])
    except FormatError:
        return None
    return MotionLabel(name, design)
