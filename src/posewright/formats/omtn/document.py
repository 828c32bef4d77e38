"""The document of an OMTN motion: every byte of the file, as names and numbers.

Source: formats.md 1.1 (from Sony's MTN-FFORM-E.txt and the SDK's libMTN, and held against 4028 real motions).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from posewright.errors import FormatError
from posewright.formats.binary import GzipWrapping, u32

OMTN = "aibo-omtn"

Integers = NDArray[np.int32]

MAGIC = b"OMTN"
PLACEHOLDER = b"NotOMTN "
"""The content of an archive entry that AIBO Mind left empty."""

URAD_PER_RAD = 1_000_000  # angles in a file are whole micro-radians
MAX_STRING = 255  # bytes; the length of a string takes one byte
VALUE_BYTES = 4  # bytes of every value of a keyframe
SECTION_HEAD_BYTES = 8  # number and size of a section
MAX_KEYFRAMES = 0xFFFF
MAX_JOINTS = 255  # far more than any robot has; the most seen are 20
MAX_FRAMES_BETWEEN = 1_000_000
"""Most frames between two keyframes (4.4 hours); more is damage. The most known are 600."""

MAX_ANGLE_URAD = 6_283_185
"""Largest angle, a full turn; known motions stay within 130 degrees (formats.md 1.1)."""

DEFAULT_FRAME_MS = 16  # for a 0 in the file, as in all of the ERS-110 and ERS-111
HEADER = struct.Struct("<4sIIIHHHHI")
"""Magic and section 0: number, size, sections, major, minor, keyframes, milliseconds a frame, reserved."""

HEADER_SECTION_BYTES = 24
LONG_HEAD_BYTES = 12
SHORT_HEAD_BYTES = 10
"""Bytes of section 3 before the keyframes, with its size as a u32, or as a u16 on the ERS-110 and ERS-111."""


@dataclass(frozen=True)
class Leftovers:
    """Bytes without a known meaning, kept so that the file can be written unchanged.

    Attributes:
        after_header: bytes at the end of section 0, the header.
        after_names: bytes at the end of section 1; None for the usual padding.
        after_joints: bytes at the end of section 2; None for the usual padding.
        after_keyframes: bytes at the end of section 3.
        after_sections: bytes after the last section.
        reserved: a number in the header, 0 in all known files.
        n_sections: the number of sections in the header, 4 in all known files.
    """

    after_header: bytes = b""
    after_names: bytes | None = None
    after_joints: bytes | None = None
    after_keyframes: bytes = b""
    after_sections: bytes = b""
    reserved: int = 0
    n_sections: int = 4


@dataclass(frozen=True, eq=False)
class OmtnDocument:
    """A Sony AIBO motion file; `render` returns the same bytes as were read.

    Attributes:
        name: the name of the motion.
        creator: the author.
        design: the robot it is for, and the part of its body: `DRX-1000_Head`.
        locators: the joint of each column, by Sony's locator: `PRM:/r1/c1-Joint2:11`.
        angles: (n_keyframes, n_joints) [micro-radians], read-only.
        attitudes: (n_keyframes, 3) roll, pitch and yaw of the trunk as Sony counts them: roll + leans to
            the right, pitch + leans BACK, yaw + turns left [micro-radians], read-only.
        n_frames_between: (n_keyframes - 1,) number of frames interpolated between a keyframe and the next,
            read-only; the movement takes one frame more.
        minor_version: 2 for the whole body, 1 for a part, 0 and 1 for an ERS-110 or ERS-111.
        frame_ms: frame period in the file [ms]; 0 means 16.
        has_short_size: whether the size of section 3 takes two bytes, as for the ERS-110 and ERS-111.
        is_padded: whether sections 1 and 2 are padded to multiples of four bytes.
        leftovers: bytes without a known meaning.
        wrapping: the gzip around it, None without.
        remarks: descriptions of what is unusual about the file.
    """

    name: str
    creator: str
    design: str
    locators: tuple[str, ...]
    angles: Integers
    attitudes: Integers
    n_frames_between: Integers
    minor_version: int = 2
    frame_ms: int = DEFAULT_FRAME_MS
    has_short_size: bool = False
    is_padded: bool = True
    leftovers: Leftovers = field(default_factory=Leftovers)
    wrapping: GzipWrapping | None = None
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Freeze the arrays, and check that their shapes match and that a file can hold the document."""
        for array in (self.angles, self.attitudes, self.n_frames_between):
            array.setflags(write=False)
        shapes = (self.angles.shape, self.attitudes.shape, self.n_frames_between.shape)
        n_keyframes, n_joints = self.angles.shape
        if shapes != ((n_keyframes, len(self.locators)), (n_keyframes, 3), (n_keyframes - 1,)):
            raise FormatError(f"angles, attitudes and frames between of shapes {shapes} do not match")
        if not 1 <= n_keyframes <= MAX_KEYFRAMES or not n_joints:
            hint = f"an OMTN holds 1 to {MAX_KEYFRAMES} keyframes of at least one joint"
            raise FormatError(f"{n_keyframes} keyframes of {n_joints} joints", hint=hint)
        for text in (self.name, self.creator, self.design, *self.locators):
            _pack_string(text)  # raises if the file cannot hold the text
        if self.has_short_size and self._section_3_bytes > 0xFFFF:
            hint = "files of an ERS-110 or ERS-111 have two bytes for their size"
            raise FormatError(f"{n_keyframes} keyframes are too many for this robot", hint=hint)

    def __repr__(self) -> str:
        n_keyframes, n_joints = self.angles.shape
        return f"OmtnDocument({self.name!r}, {self.design!r}, {n_keyframes} keyframes of {n_joints} joints)"

    @property
    def step_ms(self) -> int:
        """The frame period [ms]."""
        return self.frame_ms or DEFAULT_FRAME_MS

    @property
    def times_ms(self) -> NDArray[np.int64]:
        """Time of each keyframe, `(n_keyframes,)` [ms]."""
        key_frames = np.cumsum(self.n_frames_between.astype(np.int64) + 1)
        return np.concatenate([[0], key_frames]) * self.step_ms

    @property
    def duration_s(self) -> float:
        """Time from the first keyframe to the last [s]."""
        return float(self.times_ms[-1]) / 1000.0

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.plain_bytes if self.wrapping is None else self.wrapping.wrap(self.plain_bytes)

    @property
    def plain_bytes(self) -> bytes:
        """The file's bytes without gzip: the header, the three other sections, and what follows them."""
        sections = (
            self._render_header(),
            self._render_names(),
            self._render_joints(),
            self._render_keyframes(),
        )
        return b"".join((*sections, self.leftovers.after_sections))

    @property
    def _section_3_bytes(self) -> int:
        n_values = self.angles.size + self.attitudes.size + self.n_frames_between.size
        n_head_bytes = SHORT_HEAD_BYTES if self.has_short_size else LONG_HEAD_BYTES
        return n_head_bytes + VALUE_BYTES * n_values + len(self.leftovers.after_keyframes)

    def _render_header(self) -> bytes:
        """Return the magic and section 0, the header: counts, version and frame period."""
        extra = self.leftovers.after_header
        section_number = 0
        major_version = 1
        header = HEADER.pack(
            MAGIC,
            section_number,
            HEADER_SECTION_BYTES + len(extra),
            self.leftovers.n_sections,
            major_version,
            self.minor_version,
            len(self.angles),
            self.frame_ms,
            self.leftovers.reserved,
        )
        return header + extra

    def _render_names(self) -> bytes:
        body = b"".join(map(_pack_string, (self.name, self.creator, self.design)))
        return self._render_section(1, body, self.leftovers.after_names)

    def _render_joints(self) -> bytes:
        body = len(self.locators).to_bytes(2, "little") + b"".join(map(_pack_string, self.locators))
        return self._render_section(2, body, self.leftovers.after_joints)

    def _render_section(self, number: int, body: bytes, padding: bytes | None) -> bytes:
        """Return a section with its number and size; without stated `padding`, it has the usual one."""
        if padding is None:
            padding = bytes(-len(body) % 4 if self.is_padded else 0)
        return u32(number) + u32(SECTION_HEAD_BYTES + len(body) + len(padding)) + body + padding

    def _render_keyframes(self) -> bytes:
        """Return section 3: number, size, type 0 (angles), and the values of all keyframes.

        A keyframe has the number of frames before it, roll, pitch, yaw, and the joint angles, all integers
        of 32 bits; angles in microradians. The first one has no frames before it, so that value is left out.
        """
        head_format = "<IHI" if self.has_short_size else "<III"  # the size is the second number
        head = struct.pack(head_format, 3, self._section_3_bytes, 0)
        n_frames_before = np.concatenate([[0], self.n_frames_between])[:, None]
        values = np.hstack([n_frames_before, self.attitudes, self.angles]).astype("<i4").tobytes()
        return head + values[VALUE_BYTES:] + self.leftovers.after_keyframes


def _pack_string(text: str) -> bytes:
    """Return a string as a byte with its length, followed by its bytes."""
    try:
        raw = text.encode("latin-1")
    except UnicodeEncodeError as error:
        hint = "use Latin-1 characters, those of western Europe"
        raise FormatError(f"{text!r} has characters that an OMTN cannot hold", hint=hint) from error
    if len(raw) > MAX_STRING:
        hint = f"at most {MAX_STRING}"
        raise FormatError(f"{text[:40]!r}... has {len(raw)} characters", hint=hint)
    return bytes((len(raw),)) + raw
