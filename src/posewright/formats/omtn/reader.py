"""Reading an OMTN motion: strict where a mistake would move a joint wrongly, with a remark elsewhere."""

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

MAX_PADDING = 3  # sections 1 and 2 are filled up to a multiple of four bytes


@dataclass
class Sections:
    """Reads the sections of one file from front to back."""

    data: bytes
    place: ByteRange
    remarks: list[str] = field(default_factory=list)

    def note(self, message: str, offset: int) -> None:
        """Remember what is odd at byte `offset`."""
        self.remarks.append(self.place.remark(message, offset))

    def open(self, number: int, start: int, least: int) -> ByteCursor:
        """Return a cursor behind the number and the size of the section that begins at `start`."""
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
            what = f"{len(tail)} bytes at the end of {cursor.whole} mean nothing; they are kept"
            self.note(what, cursor.at)
        elif any(tail):
            self.note(f"the padding of {cursor.whole} is not zero; it is kept", cursor.at)
        return tail


SHORT_DESIGN = "DRX-700"  # how the design of an ERS-110 or ERS-111 begins
MAX_WAY_MS = 86_400_000  # a day: as much as a way of a motion may last
_BEFORE_JOINTS = ("frames", "roll", "pitch", "yaw")


@dataclass(frozen=True)
class KeyframeSection:
    """Where the keyframes are."""

    body: int
    end: int
    is_short: bool


def keyframe_section(sections: Sections, start: int, shape: tuple[int, int], design: str) -> KeyframeSection:
    """Return where the keyframes are in section 3, which begins at `start`.

    On the ERS-110 and ERS-111 its size takes two bytes instead of four, which does not change the number
    read there, as the bytes behind it are zero. A size that fits exactly tells which it is; where surplus
    bytes follow the keyframes, the design tells.
    """
    n_keyframes, n_joints = shape
    words = 4 * (n_keyframes * (4 + n_joints) - 1)
    end = sections.open(3, start, 8).end
    size, long, short = end - start, LONG_BYTES + words, SHORT_BYTES + words
    is_short = size == short or (size > short and size != long and design.startswith(SHORT_DESIGN))
    if not is_short and size < long:
        counted = f"{n_keyframes} keyframes of {n_joints} joints take {long}"
        sections.place.fail(f"section 3 says it has {size} bytes, but {counted}", start + 4)
    section = KeyframeSection(start + (SHORT_BYTES if is_short else LONG_BYTES), end, is_short)
    kind = int.from_bytes(sections.data[section.body - 4 : section.body], "little")
    if kind:
        what = f"the keyframes are of type {kind}, which nobody knows"
        sections.place.fail(what, section.body - 4, "0 is angles")
    return section


def keyframe_words(
    sections: Sections, section: KeyframeSection, locators: tuple[str, ...], n_keyframes: int, step_ms: int
) -> Integers:
    """Return what the keyframes say.

    Returns:
        (n_keyframes, 4 + n_joints): frames before it, 0 for the first; roll, pitch, yaw; angles of joints
        [micro-radians].
    """
    columns = 4 + len(locators)
    raw = np.frombuffer(sections.data, "<i4", n_keyframes * columns - 1, section.body)
    words = np.concatenate([np.zeros(1, np.int32), raw]).astype(np.int32, copy=False)
    words = words.reshape(n_keyframes, columns)
    finder = _Finder(sections, section.body, words, (*_BEFORE_JOINTS, *locators))
    most = min(MAX_BETWEEN, MAX_WAY_MS // step_ms - 1)
    finder.refuse(words[:, :1].view(np.uint32) > most, f"the largest honest number is {most}")
    beyond = (words > MAX_ANGLE_URAD) | (words < -MAX_ANGLE_URAD)
    finder.refuse(beyond[:, 4:], f"a whole turn is {MAX_ANGLE_URAD} micro-radians", first_column=4)
    finder.note(beyond[:, 1:4], first_column=1)
    return words


@dataclass(frozen=True)
class _Finder:
    """Finds the first of the numbers that cannot be true, and says where it stands."""

    sections: Sections
    body: int
    words: Integers
    columns: tuple[str, ...]

    def refuse(self, wrong: Flags, hint: str, first_column: int = 0) -> None:
        """Raise a FormatError at the first of the `wrong`, whose columns begin with `first_column`."""
        if wrong.any():
            self.sections.place.fail(*self._first(wrong, first_column), hint)

    def note(self, wrong: Flags, first_column: int) -> None:
        """Remark the first of the `wrong`, as `refuse` does."""
        if wrong.any():
            self.sections.note(*self._first(wrong, first_column))

    def _first(self, wrong: Flags, first_column: int) -> tuple[str, int]:
        row, column = divmod(int(wrong.argmax()), wrong.shape[1])
        column += first_column
        value = int(self.words[row, column])
        if not column:
            value &= 0xFFFFFFFF
        offset = self.body + 4 * (row * len(self.columns) + column - 1)
        unit = "frames before it" if not column else f"{self.columns[column]}, more than a whole turn"
        return f"keyframe {row + 1} has {value} {unit}", offset


MAJOR = 1
KNOWN_MINORS = (0, 1, 2)
_NAMES = ["the name", "the creator", "the design label"]


def read_omtn(data: bytes, path: Path | None = None, *, base: int = 0) -> OmtnDocument:
    """Read a motion, in gzip or not.

    Raises:
        FormatError: it is damaged, or is none; it says at which byte.
    """
    return read_omtn_at(data, ByteRange(path, base))


def read_omtn_at(data: bytes, place: ByteRange) -> OmtnDocument:
    """Read a motion that lies at `place`; otherwise as `read_omtn`."""
    if not is_gzip(data):
        return _document(Sections(data, place), None)
    wrapping, odd = unpack_gzip(data, place, MAX_MOTION_BYTES)
    return _document(Sections(wrapping.unpacked, place.unpacked_range(), list(odd)), wrapping)


class _Head(NamedTuple):
    """What the file begins with, as `HEAD` has it."""

    magic: bytes
    section: int
    size: int
    n_sections: int
    major: int
    minor: int
    n_keyframes: int
    frame_ms: int
    reserved: int


def _document(sections: Sections, wrapping: GzipWrapping | None) -> OmtnDocument:
    """Read the sections in their order, each from where the one before it ends."""
    _check_magic(sections)
    first = sections.open(0, 4, HEAD_BYTES)
    head = _Head._make(HEAD.unpack_from(sections.data))
    _check_head(sections, head)
    first.at = HEAD.size
    odd = sections.tail(first)
    names = sections.open(1, first.end, 8)
    name, creator, design = sections.strings(names, _NAMES)
    joints = sections.open(2, names.end, 10)
    locators = _locators(sections, joints)
    is_padded, after_names, after_joints = _tails(sections, names, joints)
    section = keyframe_section(sections, joints.end, (head.n_keyframes, len(locators)), design)
    words = keyframe_words(sections, section, locators, head.n_keyframes, head.frame_ms or DEFAULT_FRAME_MS)
    surplus, after = _surplus(sections, section.body + 4 * (words.size - 1), section.end)
    return OmtnDocument(
        name,
        creator,
        design,
        locators,
        angles=np.ascontiguousarray(words[:, 4:]),
        attitudes=np.ascontiguousarray(words[:, 1:4]),
        between=words[1:, 0].copy(),
        minor=head.minor,
        frame_ms=head.frame_ms,
        is_short=section.is_short,
        is_padded=is_padded,
        leftovers=Leftovers(odd, after_names, after_joints, surplus, after, head.reserved, head.n_sections),
        wrapping=wrapping,
        remarks=tuple(sections.remarks),
    )


def _check_magic(sections: Sections) -> None:
    data, place = sections.data, sections.place
    if data.startswith(PLACEHOLDER):
        place.fail("this is a placeholder (NotOMTN): it holds no motion", 0)
    if not data.startswith(MAGIC):
        place.fail(f"a motion begins with OMTN; here stands {data[:4]!r}", 0)
    if len(data) < HEAD.size:
        place.fail(f"the file ends within its header, after {len(data)} bytes", len(data))


def _check_head(sections: Sections, head: _Head) -> None:
    """Refuse what says that the rest is laid out otherwise; note what only looks odd."""
    version = f"{head.major}.{head.minor}"
    if head.major != MAJOR:
        sections.place.fail(f"version {version} of the format is unknown", 16, "1.0, 1.1 and 1.2 are known")
    if head.n_keyframes < 1:
        sections.place.fail("there are 0 keyframes", 20, "a motion has at least one")
    odd = (
        (head.n_sections != 4, f"the header says there are {head.n_sections} sections; there are 4", 12),
        (head.minor not in KNOWN_MINORS, f"version {version} is unknown; 1.0, 1.1 and 1.2 are known", 18),
        (head.n_keyframes == 1, "there is one keyframe; Sony's player plays none of it", 20),
        (head.frame_ms not in (0, 16), f"a frame is {head.frame_ms} ms; Sony's player takes 16", 22),
        (head.reserved != 0, f"the reserved number is {head.reserved}, not 0; it is kept", 24),
    )
    for is_odd, what, offset in odd:
        if is_odd:
            sections.note(what, offset)


def _locators(sections: Sections, joints: ByteCursor) -> tuple[str, ...]:
    count_at = joints.at
    count = joints.u16("the number of joints")
    if not count:
        sections.place.fail("there are 0 joints", count_at, "a motion moves at least one")
    if count > MAX_JOINTS:
        sections.place.fail(f"there are {count} joints", count_at, f"no robot has more than {MAX_JOINTS}")
    first_at = joints.at
    locators = tuple(sections.strings(joints, [f"the locator of joint {i + 1}" for i in range(count)]))
    met = {""}
    for i, locator in enumerate(locators):
        if locator in met:
            what = f"joint {i + 1} is {locator!r} once more" if locator else f"joint {i + 1} has no name"
            sections.place.fail(what, first_at + sum(1 + len(before) for before in locators[:i]))
        met.add(locator)
    return locators


def _tails(
    sections: Sections, names: ByteCursor, joints: ByteCursor
) -> tuple[bool, bytes | None, bytes | None]:
    """Return whether sections 1 and 2 are filled up, and with what where that is not as usual."""
    lengths = [cursor.at - cursor.begin for cursor in (names, joints)]
    tails = [sections.tail(cursor) for cursor in (names, joints)]
    is_padded = all(tail or not length % 4 for length, tail in zip(lengths, tails, strict=True))
    usual = [bytes(-length % 4 if is_padded else 0) for length in lengths]
    first, second = (None if tail == zeros else tail for tail, zeros in zip(tails, usual, strict=True))
    return is_padded, first, second


def _surplus(sections: Sections, at: int, end: int) -> tuple[bytes, bytes]:
    """Return what follows the keyframes within section 3, from `at` to `end`, and behind it."""
    surplus, after = sections.data[at:end], sections.data[end:]
    if surplus:
        sections.note(f"{len(surplus)} bytes follow the keyframes within section 3; they are kept", at)
    if after:
        sections.note(f"{len(after)} bytes follow the last section; they are kept", end)
    return surplus, after


_NAMES_AT = 28
_NAMES_END = 1024  # three strings of at most 255 letters, and what is before them


class MotionLabel(NamedTuple):
    """What a motion says of itself: its name, and which robot, or which part of it, it is for."""

    name: str
    design: str


def label_of(data: bytes) -> MotionLabel | None:
    """Return what a motion says of itself, looking at its first bytes only; None where that is no motion."""
    head = unpacked_head(data, _NAMES_END)
    if not head.startswith(MAGIC):
        return None
    sections = Sections(head, ByteRange())
    try:
        cursor = sections.open(1, _NAMES_AT, 8)
        name, _, design = sections.strings(cursor, ["", "", ""])
    except FormatError:
        return None
    return MotionLabel(name, design)
