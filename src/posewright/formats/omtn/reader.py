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
    HEADER,
    HEADER_SECTION_BYTES,
    LONG_HEAD_BYTES,
    MAGIC,
    MAX_ANGLE_URAD,
    MAX_FRAMES_BETWEEN,
    MAX_JOINTS,
    PLACEHOLDER,
    SECTION_HEAD_BYTES,
    SHORT_HEAD_BYTES,
    VALUE_BYTES,
    Integers,
    Leftovers,
    OmtnDocument,
)

MAX_PADDING = 3  # sections 1 and 2 are padded to a multiple of four bytes


@dataclass
class SectionReader:
    """Reads the sections of one file in order.

    Attributes:
        data: the bytes of the file, without gzip.
        byte_range: the place of these bytes in the file, for messages.
        remarks: descriptions of what is unusual, in the order in which they were noticed.
    """

    data: bytes
    byte_range: ByteRange
    remarks: list[str] = field(default_factory=list)

    def add_remark(self, message: str, offset: int) -> None:
        """Add a remark on byte `offset`."""
        self.remarks.append(self.byte_range.remark(message, offset))

    def open_section(self, number: int, start: int, min_size: int) -> ByteCursor:
        """Return a cursor that stands after the head of a section, its number and size, and ends with it.

        Args:
            number: the number that the section must have.
            start: the offset of the section.
            min_size: smallest size of the section in bytes, its head included.

        Raises:
            FormatError: another section begins there, or its size is too small or reaches beyond the file.
        """
        size_offset = start + 4
        head = ByteCursor(self.data, self.byte_range, position=start, end=len(self.data))
        stated_number = head.u32(f"the number of section {number}")
        size = head.u32(f"the size of section {number}")
        if stated_number != number:
            self.byte_range.fail(f"section {stated_number} instead of section {number}", start)
        if size < min_size:
            self.byte_range.fail(
                f"section {number} has a size of {size} bytes, but needs {min_size}", size_offset
            )
        n_bytes_left = len(self.data) - start
        if size > n_bytes_left:
            message = f"section {number} has a size of {size} bytes, but the file ends after {n_bytes_left}"
            self.byte_range.fail(message, size_offset)
        return ByteCursor(
            self.data,
            self.byte_range,
            position=head.position,
            end=start + size,
            description=f"section {number}",
        )

    def read_strings(self, cursor: ByteCursor, names: list[str]) -> list[str]:
        """Return a string for each of `names`, which describe them in messages.

        If a string does not fit into its section, the length before it may be the wrong one; the hint of the
        error says so.
        """
        strings: list[str] = []
        hint = None
        for name in names:
            length_offset = cursor.position
            strings.append(cursor.string(name, hint))
            hint = f"or {name} before it is longer than byte {self.byte_range.base + length_offset} states"
        return strings

    def read_padding(self, cursor: ByteCursor) -> bytes:
        """Return the bytes from the cursor to the end of its section; add a remark if they are no padding.

        The cursor does not move.
        """
        padding = self.data[cursor.position : cursor.end]
        if len(padding) > MAX_PADDING:
            message = f"{len(padding)} bytes at the end of {cursor.description} are unknown; they are kept"
            self.add_remark(message, cursor.position)
        elif any(padding):
            self.add_remark(f"the padding of {cursor.description} is not zero; it is kept", cursor.position)
        return padding


SHORT_DESIGN = "DRX-700"
"""First characters of the design of an ERS-110 or ERS-111."""

MAX_MOVEMENT_MS = 86_400_000  # a day, the longest movement of a motion
_FIRST_COLUMNS = ("frames", "roll", "pitch", "yaw")
"""The values of a keyframe before its joint angles: the frames before it, and the attitude of the trunk."""

_ATTITUDE_COLUMN = 1
_FIRST_JOINT_COLUMN = len(_FIRST_COLUMNS)


@dataclass(frozen=True)
class KeyframeSection:
    """The place of the keyframes.

    Attributes:
        values_start: the offset of the first value.
        values_end: the offset of the end of the last value.
        end: the offset of the end of the section, which may have further bytes after the values.
        has_short_size: whether its size takes two bytes.
    """

    values_start: int
    values_end: int
    end: int
    has_short_size: bool


def find_keyframes(
    sections: SectionReader, start: int, n_keyframes: int, n_joints: int, design: str
) -> KeyframeSection:
    """Return the place of the keyframes in section 3.

    On the ERS-110 and ERS-111 the size takes two bytes instead of four. This does not change the number read
    there, since the bytes after it are zero. An exact size shows which it is; if surplus bytes follow the
    keyframes, the design does.

    Args:
        sections: the sections of the file.
        start: the offset of section 3.
        n_keyframes: the number of keyframes in the header.
        n_joints: the number of joints in section 2.
        design: the design label.

    Raises:
        FormatError: the section is too small for the keyframes, or they have an unknown type.
    """
    n_values = n_keyframes * (_FIRST_JOINT_COLUMN + n_joints) - 1  # the first has no frames before it
    n_value_bytes = VALUE_BYTES * n_values
    end = sections.open_section(3, start, min_size=SECTION_HEAD_BYTES).end
    size = end - start
    long_size = LONG_HEAD_BYTES + n_value_bytes
    short_size = SHORT_HEAD_BYTES + n_value_bytes
    has_surplus = size > short_size and size != long_size
    has_short_size = size == short_size or (has_surplus and design.startswith(SHORT_DESIGN))
    if not has_short_size and size < long_size:
        needed = f"{n_keyframes} keyframes of {n_joints} joints take {long_size}"
        sections.byte_range.fail(f"section 3 has a size of {size} bytes, but {needed}", start + 4)
    values_start = start + (SHORT_HEAD_BYTES if has_short_size else LONG_HEAD_BYTES)
    type_offset = values_start - 4
    value_type = int.from_bytes(sections.data[type_offset:values_start], "little")
    if value_type != 0:
        message = f"the keyframes have the unknown type {value_type}"
        sections.byte_range.fail(message, type_offset, "type 0, angles, is known")
    return KeyframeSection(values_start, values_start + n_value_bytes, end, has_short_size)


def read_keyframe_values(
    sections: SectionReader,
    section: KeyframeSection,
    locators: tuple[str, ...],
    n_keyframes: int,
    step_ms: int,
) -> Integers:
    """Return the values of the keyframes; add a remark if the trunk leans by more than a full turn.

    Args:
        sections: the sections of the file.
        section: the place of the keyframes.
        locators: the locator of each joint.
        n_keyframes: the number of keyframes.
        step_ms: the frame period [ms].

    Returns:
        (n_keyframes, 4 + n_joints): frames before the keyframe, 0 for the first; roll, pitch, yaw; joint
        angles [micro-radians].

    Raises:
        FormatError: a joint angle is beyond a full turn, or a movement takes more than a day.
    """
    n_columns = _FIRST_JOINT_COLUMN + len(locators)
    file_values = np.frombuffer(sections.data, "<i4", n_keyframes * n_columns - 1, section.values_start)
    # the first keyframe has no frames before it in the file; a 0 completes its row
    values = np.concatenate([np.zeros(1, np.int32), file_values]).astype(np.int32, copy=False)
    values = values.reshape(n_keyframes, n_columns)
    checker = _ValueChecker(sections, section.values_start, values, columns=(*_FIRST_COLUMNS, *locators))
    max_frames = min(MAX_FRAMES_BETWEEN, MAX_MOVEMENT_MS // step_ms - 1)
    checker.require_none(values[:, :1].view(np.uint32) > max_frames, f"at most {max_frames}", first_column=0)
    is_too_large = (values > MAX_ANGLE_URAD) | (values < -MAX_ANGLE_URAD)
    hint = f"a full turn is {MAX_ANGLE_URAD} micro-radians"
    checker.require_none(is_too_large[:, _FIRST_JOINT_COLUMN:], hint, first_column=_FIRST_JOINT_COLUMN)
    checker.remark_on_first(
        is_too_large[:, _ATTITUDE_COLUMN:_FIRST_JOINT_COLUMN], first_column=_ATTITUDE_COLUMN
    )
    return values


@dataclass(frozen=True)
class _ValueChecker:
    """Reports the first of the values that are wrong, with its place.

    Attributes:
        sections: the sections of the file.
        values_start: the offset of the first value.
        values: the values, `(n_keyframes, n_columns)`.
        columns: the name of each column.
    """

    sections: SectionReader
    values_start: int
    values: Integers
    columns: tuple[str, ...]

    def require_none(self, is_wrong: Flags, hint: str, first_column: int) -> None:
        """Raise FormatError at the first wrong value, if there is any.

        Args:
            is_wrong: `(n_keyframes, n)`, for some neighbouring columns of the values.
            hint: the hint of the error.
            first_column: the column of the values that is the first of `is_wrong`.
        """
        if is_wrong.any():
            message, offset = self._describe_first(is_wrong, first_column)
            self.sections.byte_range.fail(message, offset, hint)

    def remark_on_first(self, is_wrong: Flags, first_column: int) -> None:
        """Add a remark on the first wrong value, if there is any.

        Args:
            is_wrong: `(n_keyframes, n)`, for some neighbouring columns of the values.
            first_column: the column of the values that is the first of `is_wrong`.
        """
        if is_wrong.any():
            message, offset = self._describe_first(is_wrong, first_column)
            self.sections.add_remark(message, offset)

    def _describe_first(self, is_wrong: Flags, first_column: int) -> tuple[str, int]:
        """Return a message on the first wrong value, and its offset in the file."""
        row, column = divmod(int(is_wrong.argmax()), is_wrong.shape[1])
        column += first_column
        value_index = row * len(self.columns) + column - 1  # the file lacks the first value of the first row
        offset = self.values_start + VALUE_BYTES * value_index
        value = int(self.values[row, column])
        if column == 0:
            n_frames = value & 0xFFFFFFFF  # the file has it as an unsigned number
            return f"keyframe {row + 1} has {n_frames} frames before it", offset
        return f"keyframe {row + 1} has {value} {self.columns[column]}, more than a full turn", offset


MAJOR = 1
KNOWN_MINORS = (0, 1, 2)
_NAMES = ["the name", "the creator", "the design label"]
_JOINT_COUNT_BYTES = 2
_N_SECTIONS_OFFSET = 12
_MAJOR_VERSION_OFFSET = 16
_MINOR_VERSION_OFFSET = 18
_N_KEYFRAMES_OFFSET = 20
_FRAME_MS_OFFSET = 22
_RESERVED_OFFSET = 24
"""Offsets of the fields of `HEADER` in a file."""


def read_omtn(data: bytes, path: Path | None = None, *, base: int = 0) -> OmtnDocument:
    """Read a motion, in gzip or not.

    Raises:
        FormatError: it is damaged, or no OMTN.
    """
    return read_omtn_at(data, ByteRange(path, base))


def read_omtn_at(data: bytes, byte_range: ByteRange) -> OmtnDocument:
    """Read a motion, in gzip or not.

    Args:
        data: its bytes.
        byte_range: where they are in a file, for messages.

    Raises:
        FormatError: it is damaged, or no OMTN.
    """
    if not is_gzip(data):
        return _read_document(SectionReader(data, byte_range), wrapping=None)
    wrapping, remarks = unpack_gzip(data, byte_range, MAX_MOTION_BYTES)
    sections = SectionReader(wrapping.unpacked, byte_range.unpacked_range(), list(remarks))
    return _read_document(sections, wrapping)


class _FileHeader(NamedTuple):
    """The fields of `HEADER`."""

    magic: bytes
    section: int
    size: int
    n_sections: int
    major_version: int
    minor_version: int
    n_keyframes: int
    frame_ms: int
    reserved: int


def _read_document(sections: SectionReader, wrapping: GzipWrapping | None) -> OmtnDocument:
    """Return the document in the sections of a file, which are read one after the other.

    After the magic follow section 0, the header with counts and frame period; section 1, name, creator and
    design; section 2, the locators of the joints; and section 3, the keyframes. A keyframe has the columns
    frames before it, roll, pitch, yaw, and an angle for each joint. `wrapping` is the gzip around the file.
    """
    _require_magic(sections)
    header_section = sections.open_section(0, len(MAGIC), HEADER_SECTION_BYTES)
    header = _FileHeader._make(HEADER.unpack_from(sections.data))
    _check_header(sections, header)
    header_section.position = HEADER.size
    after_header = sections.read_padding(header_section)
    names = sections.open_section(1, header_section.end, min_size=SECTION_HEAD_BYTES)
    name, creator, design = sections.read_strings(names, _NAMES)
    joints = sections.open_section(2, names.end, min_size=SECTION_HEAD_BYTES + _JOINT_COUNT_BYTES)
    locators = _read_locators(sections, joints)
    padding = _read_section_padding(sections, names, joints)
    section = find_keyframes(
        sections, joints.end, n_keyframes=header.n_keyframes, n_joints=len(locators), design=design
    )
    step_ms = header.frame_ms or DEFAULT_FRAME_MS
    values = read_keyframe_values(sections, section, locators, header.n_keyframes, step_ms)
    after_keyframes, after_sections = _read_surplus(sections, section)
    return OmtnDocument(
        name,
        creator,
        design,
        locators,
        angles=np.ascontiguousarray(values[:, _FIRST_JOINT_COLUMN:]),
        attitudes=np.ascontiguousarray(values[:, _ATTITUDE_COLUMN:_FIRST_JOINT_COLUMN]),
        n_frames_between=values[1:, 0].copy(),
        minor_version=header.minor_version,
        frame_ms=header.frame_ms,
        has_short_size=section.has_short_size,
        is_padded=padding.are_both_padded,
        leftovers=Leftovers(
            after_header,
            after_names=padding.after_names,
            after_joints=padding.after_joints,
            after_keyframes=after_keyframes,
            after_sections=after_sections,
            reserved=header.reserved,
            n_sections=header.n_sections,
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
    if len(data) < HEADER.size:
        byte_range.fail(f"the file ends within its header, after {len(data)} bytes", len(data))


def _check_header(sections: SectionReader, header: _FileHeader) -> None:
    """Raise FormatError for an unknown layout; add remarks on other unusual values."""
    version = f"{header.major_version}.{header.minor_version}"
    if header.major_version != MAJOR:
        sections.byte_range.fail(
            f"version {version} of the format is unknown",
            _MAJOR_VERSION_OFFSET,
            "1.0, 1.1 and 1.2 are known",
        )
    if header.n_keyframes < 1:
        sections.byte_range.fail("the motion has 0 keyframes", _N_KEYFRAMES_OFFSET, "it needs at least one")
    if header.n_sections != 4:
        message = f"the header counts {header.n_sections} sections; there are 4"
        sections.add_remark(message, _N_SECTIONS_OFFSET)
    if header.minor_version not in KNOWN_MINORS:
        message = f"version {version} is unknown; 1.0, 1.1 and 1.2 are known"
        sections.add_remark(message, _MINOR_VERSION_OFFSET)
    if header.n_keyframes == 1:
        sections.add_remark("there is one keyframe; Sony's player skips it", _N_KEYFRAMES_OFFSET)
    if header.frame_ms not in (0, DEFAULT_FRAME_MS):
        message = f"a frame is {header.frame_ms} ms; Sony's player assumes 16"
        sections.add_remark(message, _FRAME_MS_OFFSET)
    if header.reserved != 0:
        message = f"the reserved number is {header.reserved}, not 0; it is kept"
        sections.add_remark(message, _RESERVED_OFFSET)


def _read_locators(sections: SectionReader, joints: ByteCursor) -> tuple[str, ...]:
    """Return the locators of the joints; raise FormatError unless all are different and none is empty."""
    count_offset = joints.position
    n_joints = joints.u16("the number of joints")
    if not n_joints:
        sections.byte_range.fail("the motion has 0 joints", count_offset, "it needs at least one")
    if n_joints > MAX_JOINTS:
        sections.byte_range.fail(f"the motion has {n_joints} joints", count_offset, f"at most {MAX_JOINTS}")
    strings_offset = joints.position
    names = [f"the locator of joint {i + 1}" for i in range(n_joints)]
    locators = tuple(sections.read_strings(joints, names))
    for i, locator in enumerate(locators):
        offset = strings_offset + sum(1 + len(previous) for previous in locators[:i])  # 1 is the length byte
        if not locator:
            sections.byte_range.fail(f"joint {i + 1} has no name", offset)
        if locator in locators[:i]:
            sections.byte_range.fail(f"joint {i + 1} is {locator!r} a second time", offset)
    return locators


class _SectionPadding(NamedTuple):
    """The padding of sections 1 and 2.

    Attributes:
        are_both_padded: whether both sections are padded to multiples of four bytes.
        after_names: the bytes at the end of section 1; None for the usual padding.
        after_joints: the bytes at the end of section 2; None for the usual padding.
    """

    are_both_padded: bool
    after_names: bytes | None
    after_joints: bytes | None


def _read_section_padding(sections: SectionReader, names: ByteCursor, joints: ByteCursor) -> _SectionPadding:
    """Return the padding of sections 1 and 2, which follows the strings of each up to its end.

    The result has None for the bytes of a section that has the usual padding: zeros up to a multiple of four
    bytes in a file whose sections are padded, nothing in another.

    Args:
        sections: reads the file.
        names: the cursor after the strings of section 1.
        joints: the cursor after the strings of section 2.
    """
    n_name_bytes = names.position - names.start
    n_joint_bytes = joints.position - joints.start
    after_names: bytes | None = sections.read_padding(names)
    after_joints: bytes | None = sections.read_padding(joints)
    # strings that end at a multiple of four bytes need no padding, so the section may be of a padded file
    names_may_be_padded = bool(after_names) or n_name_bytes % 4 == 0
    joints_may_be_padded = bool(after_joints) or n_joint_bytes % 4 == 0
    are_both_padded = names_may_be_padded and joints_may_be_padded
    if after_names == _usual_padding(n_name_bytes, is_padded=are_both_padded):
        after_names = None
    if after_joints == _usual_padding(n_joint_bytes, is_padded=are_both_padded):
        after_joints = None
    return _SectionPadding(are_both_padded, after_names, after_joints)


def _usual_padding(n_bytes: int, *, is_padded: bool) -> bytes:
    """Return the zeros that pad `n_bytes` to a multiple of four; nothing unless the section is padded."""
    return bytes(-n_bytes % 4 if is_padded else 0)


def _read_surplus(sections: SectionReader, section: KeyframeSection) -> tuple[bytes, bytes]:
    """Return the bytes after the keyframes in section 3, and those after the section; add remarks on them."""
    after_keyframes = sections.data[section.values_end : section.end]
    after_sections = sections.data[section.end :]
    if after_keyframes:
        message = f"{len(after_keyframes)} bytes follow the keyframes within section 3; they are kept"
        sections.add_remark(message, section.values_end)
    if after_sections:
        message = f"{len(after_sections)} bytes follow the last section; they are kept"
        sections.add_remark(message, section.end)
    return after_keyframes, after_sections


_NAMES_OFFSET = 28  # of section 1 in a file without unknown bytes after the header
_MAX_NAMES_END = 1024  # three strings of at most 255 bytes end before it


class MotionLabel(NamedTuple):
    """The name and the design label of a motion."""

    name: str
    design: str


def label_of(data: bytes) -> MotionLabel | None:
    """Return name and design label from the first bytes of a motion; None if it is not a motion."""
    head = unpacked_head(data, _MAX_NAMES_END)
    if not head.startswith(MAGIC):
        return None
    sections = SectionReader(head, ByteRange())
    try:
        cursor = sections.open_section(1, _NAMES_OFFSET, min_size=SECTION_HEAD_BYTES)
        name, _, design = sections.read_strings(cursor, ["", "", ""])
    except FormatError:
        return None
    return MotionLabel(name, design)
