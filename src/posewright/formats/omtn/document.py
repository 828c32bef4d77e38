"""An OMTN motion as a document: every byte of the file, in words and numbers.

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
PLACEHOLDER = b"NotOMTN "  # all that an entry holds that AIBO Mind left empty
URAD = 1_000_000  # angles are whole micro-radians
MAX_STRING = 255
MAX_KEYFRAMES = 0xFFFF
MAX_JOINTS = 255  # far more than any robot has; the most seen are 20
MAX_BETWEEN = 1_000_000
"""More frames between two keyframes than this are damage (4.4 hours; the most seen are 600)."""

MAX_ANGLE_URAD = 6_283_185
"""A whole turn, the most any angle can mean; used angles stay within 130 degrees (formats.md 1.1)."""

DEFAULT_FRAME_MS = 16  # what a frame lasts where the file says 0, as all of the ERS-110 and ERS-111 do
HEAD = struct.Struct("<4sIIIHHHHI")
"""Magic and section 0: number, size, sections, major, minor, keyframes, milliseconds a frame, reserved."""

HEAD_BYTES = 24
LONG_BYTES, SHORT_BYTES = 12, 10
"""Of section 3 before the keyframes: its size is a u32, on the ERS-110 and ERS-111 a u16."""


@dataclass(frozen=True)
class Leftovers:
    """Bytes that mean nothing to us, kept so that a file can be written as it was."""

    head: bytes = b""
    names: bytes | None = None  # at the end of section 1; None for the usual padding
    joints: bytes | None = None  # at the end of section 2; None for the usual padding
    keyframes: bytes = b""
    after: bytes = b""
    reserved: int = 0  # a number in the header, 0 in every file seen
    n_sections: int = 4  # how many sections the header says there are; 4 in every file seen


@dataclass(frozen=True, eq=False)
class OmtnDocument:
    """A Sony AIBO motion file. `render` gives its bytes; read and rendered they are the same.

    Attributes:
        design: which robot it is for, and which part of it: `DRX-1000_Head`.
        locators: which joint each column is, by Sony's locator: `PRM:/r1/c1-Joint2:11`.
        angles: (n_keyframes, n_joints) [micro-radians], read-only.
        attitudes: (n_keyframes, 3) roll, pitch and yaw of the trunk as Sony counts them: roll + leans to
            the right, pitch + leans BACK, yaw + turns left [micro-radians], read-only.
        between: (n_keyframes - 1,) frames interpolated between two keyframes, so that the way lasts one
            frame more than that, read-only.
        minor: version; 2 of a whole body, 1 of a part, 0 and 1 of an ERS-110 or ERS-111.
        frame_ms: milliseconds a frame as the file says; 0 stands for 16.
        is_short: whether the size of section 3 takes two bytes, as for the ERS-110 and ERS-111.
    """

    name: str
    creator: str
    design: str
    locators: tuple[str, ...]
    angles: Integers
    attitudes: Integers
    between: Integers
    minor: int = 2
    frame_ms: int = DEFAULT_FRAME_MS
    is_short: bool = False
    is_padded: bool = True
    leftovers: Leftovers = field(default_factory=Leftovers)
    wrapping: GzipWrapping | None = None
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("angles", "attitudes", "between"):
            getattr(self, name).setflags(write=False)
        shapes = (self.angles.shape, self.attitudes.shape, self.between.shape)
        keyframes, joints = self.angles.shape
        if shapes != ((keyframes, len(self.locators)), (keyframes, 3), (keyframes - 1,)):
            raise FormatError(f"keyframes, attitudes and ways of shapes {shapes} do not fit together")
        if not 1 <= keyframes <= MAX_KEYFRAMES or not joints:
            hint = f"an OMTN holds 1 to {MAX_KEYFRAMES} keyframes of at least one joint"
            raise FormatError(f"{keyframes} keyframes of {joints} joints", hint=hint)
        for text in (self.name, self.creator, self.design, *self.locators):
            _packed(text)
        if self.is_short and self._section_3_bytes > 0xFFFF:
            hint = "the files of an ERS-110 and ERS-111 say in two bytes how long they are"
            raise FormatError(f"{keyframes} keyframes are too many for this robot", hint=hint)

    def __repr__(self) -> str:
        keyframes, joints = self.angles.shape
        return f"OmtnDocument({self.name!r}, {self.design!r}, {keyframes} keyframes of {joints} joints)"

    @property
    def step_ms(self) -> int:
        """How long a frame lasts [ms]."""
        return self.frame_ms or DEFAULT_FRAME_MS

    @property
    def times_ms(self) -> NDArray[np.int64]:
        """(n_keyframes,) when each keyframe is reached [ms]."""
        frames = np.cumsum(self.between.astype(np.int64) + 1)
        return np.concatenate([[0], frames]) * self.step_ms

    @property
    def duration_s(self) -> float:
        """From the first keyframe to the last [s]."""
        return float(self.times_ms[-1]) / 1000.0

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.plain if self.wrapping is None else self.wrapping.wrap(self.plain)

    @property
    def plain(self) -> bytes:
        """The file's bytes, out of gzip."""
        parts = (self._head(), self._names(), self._joints(), self._keyframes(), self.leftovers.after)
        return b"".join(parts)

    @property
    def _section_3_bytes(self) -> int:
        words = 4 * (self.angles.size + self.attitudes.size + self.between.size)
        return (SHORT_BYTES if self.is_short else LONG_BYTES) + words + len(self.leftovers.keyframes)

    def _head(self) -> bytes:
        rest = self.leftovers
        counts = (rest.n_sections, 1, self.minor, len(self.angles), self.frame_ms, rest.reserved)
        return HEAD.pack(MAGIC, 0, HEAD_BYTES + len(rest.head), *counts) + rest.head

    def _names(self) -> bytes:
        body = b"".join(map(_packed, (self.name, self.creator, self.design)))
        return self._section(1, body, self.leftovers.names)

    def _joints(self) -> bytes:
        body = len(self.locators).to_bytes(2, "little") + b"".join(map(_packed, self.locators))
        return self._section(2, body, self.leftovers.joints)

    def _section(self, number: int, body: bytes, tail: bytes | None) -> bytes:
        if tail is None:
            tail = bytes(-len(body) % 4 if self.is_padded else 0)
        return u32(number) + u32(8 + len(body) + len(tail)) + body + tail

    def _keyframes(self) -> bytes:
        size = self._section_3_bytes
        start = struct.pack("<IHI" if self.is_short else "<III", 3, size, 0)
        ways = np.concatenate([[0], self.between])[:, None]
        words = np.hstack([ways, self.attitudes, self.angles]).astype("<i4").tobytes()
        return start + words[4:] + self.leftovers.keyframes  # nothing stands before the first keyframe


def _packed(text: str) -> bytes:
    """Return a string as the file has it: a byte that says how long it is, and its bytes."""
    try:
        raw = text.encode("latin-1")
    except UnicodeEncodeError as error:
        hint = "an OMTN holds the letters of western Europe (Latin-1)"
        raise FormatError(f"{text!r} has letters that an OMTN cannot hold", hint=hint) from error
    if len(raw) > MAX_STRING:
        hint = f"an OMTN holds at most {MAX_STRING} in a name"
        raise FormatError(f"{text[:40]!r}... is {len(raw)} letters long", hint=hint)
    return bytes((len(raw),)) + raw
