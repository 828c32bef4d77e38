"""Bottles, YARP's typed lists, as bytes.

An item is a tag and a value, all little-endian. A list whose items share one type that is no list carries
that type in its own tag, and its items no tags. A bottle is such a list, and so is a vector.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, TypeVar

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
"""How the values of fixed size are packed, by tag: 32 and 64 are integers of 8 and 16 bits."""

LONGEST = 8 << 20
"""A bottle of more bytes is refused: an image of 1600 x 1200 in colour fits in."""

MOST_ITEMS = 1 << 16
"""A bottle of more items is refused: each takes many times the room that it takes on the wire."""

DEEPEST = 32
"""Lists within lists within lists: more levels are refused."""

LEAST_ITEM = 5
"""No tagged item is shorter: a tag and a byte."""

INT64_RANGE = range(-(1 << 63), 1 << 63)


class Vocab(str):
    """A word of up to four letters that travels as a number: `[pos]`.

    It equals the string of its letters, for a control board takes either. False is the empty word, true `1`.
    """

    __slots__ = ()

    @classmethod
    def of(cls, code: int) -> Vocab:
        """Return the word that a number of 32 bits stands for, such as those in lists of control modes."""
        return cls((code & 0xFFFFFFFF).to_bytes(4, "little").rstrip(b"\0").decode("ascii", "surrogateescape"))

    @property
    def code(self) -> int:
        """The number that it travels as.

        Raises:
            InputError: it is longer than four bytes.
        """
        data = _as_bytes(self)
        if len(data) > 4:
            raise InputError(f"{str(self)!r} is no vocab", hint="a vocab has at most four letters")
        return int.from_bytes(data.ljust(4, b"\0"), "little", signed=True)


class Float32(float):
    """A number that travels in 32 bits, as YARP 4 sends some."""

    __slots__ = ()


Value: TypeAlias = "int | float | str | bytes | tuple[Value, ...] | Mapping[str, Value]"
"""What a bottle holds: a `Vocab` is a str and a `Float32` a float, a blob is bytes, a list is a tuple.

Integers of 8 and 16 bits come back as int; an int travels in 32 bits where it fits in, else in 64.
"""

Bottle: TypeAlias = tuple[Value, ...]
T = TypeVar("T")
Take: TypeAlias = Callable[[int], bytes]
"""Returns the next so many bytes, never fewer."""


def encode(bottle: Bottle) -> bytes:
    """Return a bottle as bytes.

    Raises:
        InputError: it holds what YARP has no type for, or too much of it.
    """
    data = b"".join(_listed(bottle, 0))
    if len(data) > LONGEST:
        raise InputError(f"a bottle of {len(data)} bytes", hint=f"at most {LONGEST}")
    return data


def decode(data: bytes) -> Bottle:
    """Return the bottle that these bytes are.

    Raises:
        FormatError: they are none, or it ends before they do.
    """
    try:
        return whole(data, read_bottle)
    except EOFError as error:
        raise FormatError(f"the bottle goes on after its {len(data)} bytes") from error


def whole(data: bytes, read: Callable[[Take], T]) -> T:
    """Return what is read of all these bytes.

    Raises:
        EOFError: there should be more of them.
        FormatError: there should be fewer, or it cannot be read.
    """
    at = 0

    def take(count: int) -> bytes:
        nonlocal at
        at += count
        if at > len(data):
            raise EOFError
        return data[at - count : at]

    found = read(take)
    if at != len(data):
        raise FormatError(f"{len(data) - at} bytes too many")
    return found


def read_bottle(take: Take) -> Bottle:
    """Take exactly one bottle, which bears no sign of how long it is but itself.

    Raises:
        FormatError: what comes is no bottle, or is longer or deeper than the limits.
    """
    return _Reader(take).bottle(0)


class _Reader:
    def __init__(self, take: Take) -> None:
        self._take = take
        self._left = LONGEST
        self._items_left = MOST_ITEMS

    def bottle(self, depth: int) -> Bottle:
        return self._items(self._int(), depth)

    def _raw(self, count: int) -> bytes:
        if not 0 <= count <= self._left:
            raise FormatError(f"a length of {count} in a bottle", hint=f"0 to {self._left} bytes may follow")
        self._left -= count
        return self._take(count)

    def _int(self) -> int:
        return int.from_bytes(self._raw(4), "little", signed=True)

    def _items(self, tag: int, depth: int) -> Bottle:
        kind = tag ^ LIST
        if depth > DEEPEST or not (kind in NUMBERS or kind in {0, STRING, BLOB}):
            raise FormatError(f"no bottle: tag {tag:#x} at level {depth}", hint=f"{DEEPEST} levels at most")
        count = self._int()
        self._items_left -= count
        if self._items_left < 0:
            raise FormatError(f"{count} items more in a bottle", hint=f"{MOST_ITEMS} at most")
        if packed := NUMBERS.get(kind):
            return _numbers(kind, packed, self._raw(count * struct.calcsize(f"<{packed}")))
        if not 0 <= count * (4 if kind else LEAST_ITEM) <= self._left:
            raise FormatError(f"a list of {count} items", hint=f"{self._left} bytes may follow")
        return tuple(self._item(kind or self._int(), depth + 1) for _ in range(count))

    def _item(self, tag: int, depth: int) -> Value:
        if packed := NUMBERS.get(tag):
            return _numbers(tag, packed, self._raw(struct.calcsize(f"<{packed}")))[0]
        if tag == STRING:
            return self._raw(self._int()).decode("utf-8", "surrogateescape")
        if tag == BLOB:
            return self._raw(self._int())
        return _as_dict(self.bottle(depth)) if tag == DICT else self._items(tag, depth)


def _numbers(tag: int, packed: str, data: bytes) -> Bottle:
    found = struct.unpack(f"<{len(data) // struct.calcsize(f'<{packed}')}{packed}", data)
    if tag == VOCAB:
        return tuple(map(Vocab.of, found))
    return tuple(map(Float32, found)) if tag == FLOAT32 else found


def _as_dict(pairs: Bottle) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) < 2 or not isinstance(pair[0], str):
            raise FormatError("an entry of a dict is no list of a key and its value")
        found[pair[0]] = pair[1] if len(pair) == 2 else pair[1:]
    return found


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


def _tag(value: Value) -> int:
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


def _listed(items: Bottle, depth: int) -> Iterable[bytes]:
    if depth > DEEPEST:
        raise InputError(f"a bottle of more than {DEEPEST} levels")
    tags = [_tag(item) for item in items]
    shared = tags[0] if len(set(tags)) == 1 and tags[0] not in {LIST, DICT} else 0
    yield struct.pack("<ii", LIST | shared, len(items))
    if shared in NUMBERS:
        yield _packed(shared, items)
        return
    for tag, item in zip(tags, items, strict=True):
        if not shared and tag != LIST:  # a list begins with its own tag
            yield struct.pack("<i", tag)
        yield from _body(tag, item, depth)


def _body(tag: int, item: Value, depth: int) -> Iterable[bytes]:
    if isinstance(item, tuple):
        yield from _listed(item, depth + 1)
    elif isinstance(item, Mapping):
        yield from _listed(tuple(_as_dict(tuple(item.items())).items()), depth + 1)
    elif tag in NUMBERS:
        yield _packed(tag, (item,))
    else:
        data = item if isinstance(item, bytes) else _as_bytes(str(item))
        yield struct.pack("<i", len(data)) + data


def _packed(tag: int, items: Bottle) -> bytes:
    values = [item.code if isinstance(item, Vocab) else item for item in items]
    try:
        return struct.pack(f"<{len(items)}{NUMBERS[tag]}", *values)
    except OverflowError as error:
        raise InputError("a number is too large for 32 bits", hint="let it be a float") from error


def _as_bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InputError(f"{text!r} cannot be written as UTF-8") from error
