"""Bottles, YARP's typed lists: encoding to and decoding from bytes.

An item is a tag and a value, all little-endian. A list whose items share one type that is no list has that
type in its own tag, and its items have no tags. A bottle is such a list, and so is a vector.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import BinaryIO, TypeAlias, TypeVar

from posewright.errors import FormatError, InputError

LIST = 0x100
DICT = 0x300
STRING = 4
BLOB = 12
VOCAB = 9
INT32 = 1
INT64 = 17
FLOAT32 = 128
FLOAT64 = 10
NUMBERS = {INT32: "i", VOCAB: "i", FLOAT64: "d", INT64: "q", 32: "b", 64: "h", FLOAT32: "f"}
"""Formats of `struct` for values of fixed size, by tag: 32 and 64 are integers of 8 and 16 bits."""

MAX_BYTES = 8 << 20
"""Largest bottle [bytes]: an image of 1600 x 1200 in colour fits in."""

MAX_ITEMS = 1 << 16
"""Largest number of items: in memory each takes many times its size on the wire."""

MAX_DEPTH = 32
"""Largest number of levels of nested lists."""

INT32_BYTES = 4
"""Size of a tag, of a length, and of an item of 32 bits."""

MIN_ITEM_BYTES = 5
"""Smallest tagged item [bytes]: a tag and a byte."""

INT64_RANGE = range(-(1 << 63), 1 << 63)


class Vocab(str):
    """A word of up to four letters that is sent as a number: `[pos]`.

    It equals the string of its letters, as a control board accepts both. False is the empty word, true `1`.
    """

    __slots__ = ()

    @classmethod
    def of(cls, code: int) -> Vocab:
        """Return the word of a number of 32 bits, such as those in lists of control modes."""
        return cls((code & 0xFFFFFFFF).to_bytes(4, "little").rstrip(b"\0").decode("ascii", "surrogateescape"))

    @property
    def code(self) -> int:
        """The number of the word.

        Raises:
            InputError: the word is longer than four bytes.
        """
        data = _encode_text(self)
        if len(data) > 4:
            raise InputError(f"{str(self)!r} is not a vocab", hint="a vocab has at most four letters")
        return int.from_bytes(data.ljust(4, b"\0"), "little", signed=True)


class Float32(float):
    """A number that is sent in 32 bits, as YARP 4 sends some."""

    __slots__ = ()


Value: TypeAlias = "int | float | str | bytes | tuple[Value, ...] | Mapping[str, Value]"
"""An item of a bottle: a `Vocab` is a str and a `Float32` a float, a blob is bytes, a list is a tuple.

Integers of 8 and 16 bits are decoded as int; an int is sent in 32 bits if it fits, otherwise in 64.
"""

Bottle: TypeAlias = tuple[Value, ...]
T = TypeVar("T")
TakeBytes: TypeAlias = Callable[[int], bytes]
"""Returns the next bytes of a stream, exactly as many as requested."""


def encode(bottle: Bottle) -> bytes:
    """Return a bottle as bytes.

    Raises:
        InputError: an item has no type of YARP, or the bottle is too large.
    """
    data = b"".join(_encode_list(bottle, 0))
    if len(data) > MAX_BYTES:
        raise InputError(f"the bottle has {len(data)} bytes", hint=f"at most {MAX_BYTES}")
    return data


def exact_reader(stream: BinaryIO) -> TakeBytes:
    """Return a function that reads exactly the requested number of bytes, or raises EOFError."""

    def take(count: int) -> bytes:
        data = stream.read(count)
        if len(data) != count:
            raise EOFError
        return data

    return take


def decode(data: bytes) -> Bottle:
    """Return the bottle in some bytes.

    Raises:
        FormatError: the bytes are no bottle, or there are too few or too many of them.
    """
    try:
        return decode_all(data, read_bottle)
    except EOFError as error:
        raise FormatError(f"the bottle has more than {len(data)} bytes") from error


def decode_all(data: bytes, read: Callable[[TakeBytes], T]) -> T:
    """Return what a function reads from some bytes, all of which it has to read.

    Raises:
        EOFError: there are too few bytes.
        FormatError: there are too many bytes, or they cannot be read.
    """
    stream = io.BytesIO(data)
    content = read(exact_reader(stream))
    n_unread = len(data) - stream.tell()
    if n_unread:
        raise FormatError(f"{n_unread} bytes too many")
    return content


def read_bottle(take: TakeBytes) -> Bottle:
    """Read exactly one bottle from a stream.

    Raises:
        FormatError: the bytes are no bottle, or it exceeds the limits.
    """
    return _BottleReader(take).read_bottle(0)


class _BottleReader:
    """Reads a bottle from a stream; the limits of bytes and items hold for all its lists together.

    Args:
        take: returns the next bytes of the stream.
    """

    def __init__(self, take: TakeBytes) -> None:
        self._take = take
        self._bytes_left = MAX_BYTES
        self._items_left = MAX_ITEMS

    def read_bottle(self, depth: int) -> Bottle:
        return self._read_items(self._take_int32(), depth)

    def _take_within_limit(self, count: int) -> bytes:
        """Return the next bytes of the bottle; raise a FormatError if the count is negative or too large."""
        if not 0 <= count <= self._bytes_left:
            raise FormatError(
                f"a length of {count} in a bottle", hint=f"0 to {self._bytes_left} bytes may follow"
            )
        self._bytes_left -= count
        return self._take(count)

    def _take_int32(self) -> int:
        return int.from_bytes(self._take_within_limit(INT32_BYTES), "little", signed=True)

    def _read_items(self, tag: int, depth: int) -> Bottle:
        """Return the items of a list.

        Args:
            tag: the tag of the list: `LIST`, plus the tag of all its items if they have one type.
            depth: the number of lists around it.

        Raises:
            FormatError: the tag is that of no list, or the list exceeds the limits.
        """
        shared_tag = tag ^ LIST  # 0 if each item has its own tag
        if depth > MAX_DEPTH or not (shared_tag in NUMBERS or shared_tag in {0, STRING, BLOB}):
            message = f"no bottle: tag {tag:#x} at level {depth}"
            raise FormatError(message, hint=f"at most {MAX_DEPTH} levels are read")
        n_items = self._take_int32()
        self._items_left -= n_items
        if self._items_left < 0:
            raise FormatError("the bottle has too many items", hint=f"at most {MAX_ITEMS} are read")
        number_format = NUMBERS.get(shared_tag)
        if number_format:
            n_bytes = n_items * struct.calcsize(f"<{number_format}")
            return _unpack_numbers(shared_tag, number_format, self._take_within_limit(n_bytes))
        min_item_bytes = INT32_BYTES if shared_tag else MIN_ITEM_BYTES
        if not 0 <= n_items * min_item_bytes <= self._bytes_left:
            raise FormatError(f"a list of {n_items} items", hint=f"{self._bytes_left} bytes may follow")
        return tuple(self._read_value(shared_tag or self._take_int32(), depth + 1) for _ in range(n_items))

    def _read_value(self, tag: int, depth: int) -> Value:
        """Return the value of a tag."""
        number_format = NUMBERS.get(tag)
        if number_format:
            n_bytes = struct.calcsize(f"<{number_format}")
            return _unpack_numbers(tag, number_format, self._take_within_limit(n_bytes))[0]
        if tag == STRING:
            return self._take_within_limit(self._take_int32()).decode("utf-8", "surrogateescape")
        if tag == BLOB:
            return self._take_within_limit(self._take_int32())
        return _pairs_to_dict(self.read_bottle(depth)) if tag == DICT else self._read_items(tag, depth)


def _unpack_numbers(tag: int, number_format: str, data: bytes) -> Bottle:
    """Return the numbers in some bytes; those of the tags of vocabs and 32-bit floats by their types."""
    count = len(data) // struct.calcsize(f"<{number_format}")
    numbers = struct.unpack(f"<{count}{number_format}", data)
    if tag == VOCAB:
        return tuple(map(Vocab.of, numbers))
    return tuple(map(Float32, numbers)) if tag == FLOAT32 else numbers


def _pairs_to_dict(pairs: Bottle) -> dict[str, Value]:
    """Return a dict from pairs of a key and a value; several values of a key become a list."""
    entries: dict[str, Value] = {}
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) < 2 or not isinstance(pair[0], str):
            raise FormatError("an entry of a dict is not a list of a key and its value")
        entries[pair[0]] = pair[1] if len(pair) == 2 else pair[1:]
    return entries


TAGS: Mapping[type, int] = {
    Vocab: VOCAB,
    str: STRING,
    Float32: FLOAT32,
    float: FLOAT64,
    int: INT32,
    bool: INT32,
    bytes: BLOB,
    tuple: LIST,
    dict: DICT,
}


def _find_tag(value: Value) -> int:
    """Return the tag of a value's type; integers that need 64 bits have one of their own."""
    for kind in type(value).__mro__:
        if (tag := TAGS.get(kind)) is None:
            continue
        if tag == INT32 and not (isinstance(value, int) and -(1 << 31) <= value < 1 << 31):
            if value not in INT64_RANGE:
                break
            return INT64
        return tag
    hint = "it holds integers of 64 bits, floats, strings, vocabs, bytes, tuples and dicts"
    raise InputError(f"a bottle cannot hold {value!r}", hint=hint)


def _encode_list(items: Bottle, depth: int) -> Iterable[bytes]:
    """Yield the bytes of a list; items of one type share a tag, which is then written once.

    Args:
        items: the items.
        depth: the number of lists around it.
    """
    if depth > MAX_DEPTH:
        raise InputError(f"the bottle has more than {MAX_DEPTH} levels", hint="nest fewer lists")
    tags = [_find_tag(item) for item in items]
    have_one_type = len(set(tags)) == 1 and tags[0] not in {LIST, DICT}
    shared_tag = tags[0] if have_one_type else 0
    yield struct.pack("<ii", LIST | shared_tag, len(items))
    if shared_tag in NUMBERS:
        yield _pack_numbers(shared_tag, items)
        return
    for tag, item in zip(tags, items, strict=True):
        if not shared_tag and tag != LIST:  # a list begins with its own tag
            yield struct.pack("<i", tag)
        yield from _encode_value(tag, item, depth)


def _encode_value(tag: int, item: Value, depth: int) -> Iterable[bytes]:
    """Yield the bytes of a value without its tag; a dict is a list of pairs of key and value.

    Args:
        tag: the tag of the value's type.
        item: the value.
        depth: the number of lists around it.
    """
    if isinstance(item, tuple):
        yield from _encode_list(item, depth + 1)
    elif isinstance(item, Mapping):
        pairs = tuple(item.items())
        checked_pairs = tuple(_pairs_to_dict(pairs).items())  # raises if a key is no text
        yield from _encode_list(checked_pairs, depth + 1)
    elif tag in NUMBERS:
        yield _pack_numbers(tag, (item,))
    else:
        data = item if isinstance(item, bytes) else _encode_text(str(item))
        yield struct.pack("<i", len(data)) + data


def _pack_numbers(tag: int, items: Bottle) -> bytes:
    """Return the bytes of numbers or vocabs of one tag; raise an InputError if one is beyond 32 bits."""
    values = [item.code if isinstance(item, Vocab) else item for item in items]
    try:
        return struct.pack(f"<{len(items)}{NUMBERS[tag]}", *values)
    except OverflowError as error:
        raise InputError("a number is too large for 32 bits", hint="send it as a float") from error


def _encode_text(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InputError(f"{text!r} cannot be written as UTF-8") from error
