"""Reading an OMTN motion: strict where a mistake would move a joint wrongly, with a remark elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from posewright.formats.file_bytes import MAX_MOTION_BYTES
from posewright.formats.omtn.document import (
    DEFAULT_FRAME_MS,
    HEAD,
    HEAD_BYTES,
    MAGIC,
    MAX_JOINTS,
    PLACEHOLDER,
    Leftovers,
    OmtnDocument,
)
from posewright.formats.omtn.sections import Sections
from posewright.formats.omtn.words import keyframe_section, keyframe_words
from posewright.formats.binary import ByteCursor, Place
from posewright.formats.binary import Wrapping, is_wrapped, unwrap

MAJOR = 1
KNOWN_MINORS = (0, 1, 2)
_NAMES = ["the name", "the creator", "the design label"]


def read_omtn(data: bytes, path: Path | None = None, *, base: int = 0) -> OmtnDocument:
    """Read a motion, in gzip or not.

    Args:
        data: its bytes.
        path: the file, for messages.
        base: where in the file they begin, for messages.

    Raises:
        FormatError: it is damaged, or is none; it says at which byte.
    """
    return read_omtn_at(data, Place(path, base))


def read_omtn_at(data: bytes, place: Place) -> OmtnDocument:
    """Read a motion that lies at `place`; otherwise as `read_omtn`."""
    if not is_wrapped(data):
        return _document(Sections(data, place), None)
    wrapping, odd = unwrap(data, place, MAX_MOTION_BYTES)
    return _document(Sections(wrapping.unpacked, place.unwrapped(), list(odd)), wrapping)


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


def _document(sections: Sections, wrapping: Wrapping | None) -> OmtnDocument:
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
