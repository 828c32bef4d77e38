"""Encoding of ROS 2 messages of constant layout, thousands at a time.

The messages of one topic differ in their numbers only: names, frame ids and array lengths are constant. So
the bytes of one message are laid out once (`MessageLayout`), and NumPy repeats this template and fills in the
numbers.

Encoding: plain CDR, little-endian, as ROS 2 stores it (OMG DDS-XTypes 1.3, 7.4.3): four bytes of
encapsulation, then every number aligned to its own size, counted from after those four; texts and sequences
preceded by their length; texts terminated by a zero that is included in the length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from posewright.arrays import Array
from posewright.errors import InputError

_ENCAPSULATION = b"\x00\x01\x00\x00"

F64 = "<f8"
F32 = "<f4"
I64 = "<i8"
U32 = "<u4"
U8 = "|u1"
BOOL = "|b1"


class MessageLayout:
    """The layout of one kind of message in CDR, ROS 2's encoding, built field by field in order.

    The parameter `kind` of its methods is a NumPy type such as `F64`.
    """

    def __init__(self) -> None:
        """Begin with CDR's header and no field."""
        self._template = bytearray(_ENCAPSULATION)  # a message whose varying numbers are 0
        self._fields: dict[str, tuple[str, tuple[int, ...], int]] = {}  # type, shape, offset [bytes]

    def add_constant(self, kind: str, *values: float) -> MessageLayout:
        """Add numbers that are the same in every message."""
        self._align(kind)
        self._template += np.array(values, dtype=kind).tobytes()
        return self

    def add_text(self, value: str) -> MessageLayout:
        """Add a text that is the same in every message."""
        raw = utf8(value) + b"\0"
        self.add_constant(U32, len(raw))
        self._template += raw
        return self

    def add_texts(self, values: Sequence[str]) -> MessageLayout:
        """Add a sequence of texts that are the same in every message."""
        self.add_constant(U32, len(values))
        for value in values:
            self.add_text(value)
        return self

    def add_field(self, name: str, kind: str, *shape: int) -> MessageLayout:
        """Add numbers that vary from message to message.

        Args:
            name: the name of the field for `pack` and `unpack`.
            kind: the type of the numbers.
            *shape: the shape of the array; none for a single number.
        """
        n_numbers = int(np.prod(shape, dtype=int))
        if n_numbers:  # CDR has no padding before an empty field
            self._align(kind)
        offset = len(self._template)
        self._fields[name] = (kind, shape, offset)
        self._template += bytes(np.dtype(kind).itemsize * n_numbers)
        return self

    def add_sequence(self, name: str, kind: str, length: int) -> MessageLayout:
        """Add a sequence of constant length whose numbers vary."""
        return self.add_constant(U32, length).add_field(name, kind, length)

    def add_header(self, frame_id: str, name: str = "stamp") -> MessageLayout:
        """Add a `std_msgs/Header`: a stamp that varies (seconds, nanoseconds) and a constant frame."""
        return self.add_field(name, U32, 2).add_text(frame_id)

    def _align(self, kind: str) -> None:
        """Add the padding after which numbers of a type may begin: at a multiple of their size."""
        position = len(self._template) - len(_ENCAPSULATION)  # CDR counts from after its header
        self._template += bytes(-position % np.dtype(kind).itemsize)

    @property
    def size(self) -> int:
        """Size of one message [bytes]."""
        return len(self._template)

    @property
    def _dtype(self) -> np.dtype[np.void]:
        names = list(self._fields)
        formats = [(kind, shape) for kind, shape, _ in self._fields.values()]
        offsets = [offset for _, _, offset in self._fields.values()]
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": self.size})

    def pack(self, n: int, **values: Array) -> NDArray[np.uint8]:
        """Return n messages, `(n, size)` bytes; each value has the shape `(n, *shape)` of its field."""
        return self.pack_fields(n, values)

    def pack_fields(self, n: int, values: Mapping[str, Array]) -> NDArray[np.uint8]:
        """Return n messages like `pack`, with the values in a mapping by the names of their fields."""
        raw = np.tile(np.frombuffer(bytes(self._template), dtype=np.uint8), (n, 1))
        messages = raw.reshape(-1).view(self._dtype)
        for name in self._fields:
            messages[name] = values[name]
        return raw

    def blank(self) -> tuple[bytearray, dict[str, Array]]:
        """Return one message, and views of its varying numbers, each `(1, *shape)`, to be set by the caller.

        For single messages this takes a tenth of the time of `pack`.
        """
        raw = bytearray(self._template)
        table = np.frombuffer(raw, dtype=self._dtype)
        return raw, {name: table[name] for name in self._fields}

    def unpack(self, messages: Sequence[bytes]) -> dict[str, Array]:
        """Return the varying numbers of n messages, each `(n, *shape)`."""
        for size in {len(message) for message in messages} - {self.size}:
            raise InputError(f"a message has {size} bytes", hint=f"messages of this kind have {self.size}")
        table = np.frombuffer(b"".join(messages), dtype=self._dtype)
        return {name: np.ascontiguousarray(table[name]) for name in self._fields}


def stamps(times_ns: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return seconds and nanoseconds of times `(n,)` [ns], `(n, 2)`."""
    seconds, nanoseconds = np.divmod(times_ns, np.uint64(1_000_000_000))
    return np.stack([seconds, nanoseconds], axis=-1).astype(np.uint32)


def to_ns(times_s: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return simulated times in nanoseconds; negative times and NaN become 0."""
    max_stamp_s = 2.0**31 - 1
    clipped = np.clip(np.nan_to_num(times_s), 0.0, max_stamp_s)
    return np.rint(clipped * 1e9).astype(np.uint64)


def utf8(text: str) -> bytes:
    """Return a text as UTF-8.

    Raises:
        InputError: the text has a lone surrogate.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{text!r} cannot be written as UTF-8", hint="remove its lone surrogate") from error
