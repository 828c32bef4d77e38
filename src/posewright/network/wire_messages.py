"""Requests and their answers as bytes: a head in JSON, and behind it the arrays that it names, as they are.

    "PWA1"  CRC-32 of all that follows  length of the head  head  arrays, one after the other

The head is `{"arrays": [["f8", [64, 18]], ...], "value": ...}`; where an array belongs in the value stands
`{"$array": 0}`, counted in the order in which they come. Numbers are little-endian, floats travel to the last
bit, NaN included. A message that is damaged by a byte is refused: angles that a fault has changed are as good
angles as any.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posewright.documents.plain import PlainData
from posewright.errors import FormatError, InputError
from posewright.recordings.exact_json import from_json, to_json

MAX_BYTES = 1 << 24
"""Of a message: the states of ten thousand frames, or a robot's looks, fit in."""

MAX_HEAD_BYTES = 1 << 22
MAX_DEPTH = 24
MAX_ARRAYS = 256
MAX_AXES = 6

_MAGIC = b"PWA1"
_START = struct.Struct("<4sI")
_LENGTH = struct.Struct("<I")
_REFERENCE = "$array"
_DTYPES: Mapping[str, np.dtype[np.generic]] = {
    "f8": np.dtype("<f8"),
    "i8": np.dtype("<i8"),
    "b1": np.dtype("?"),
}
_DTYPE_NAMES = {"f": "f8", "i": "i8", "b": "b1"}
"""By NumPy's letter of the kind."""

WireArray = NDArray[np.generic]


def pack(value: object) -> bytes:
    """Return a message of plain data that may have arrays of floats, whole numbers and flags in it.

    Raises:
        InputError: something in it is neither, or it is too long.
    """
    arrays: list[WireArray] = []
    plain_value = _extract_arrays(value, arrays)
    shapes = [[_DTYPE_NAMES[array.dtype.kind], list(array.shape)] for array in arrays]
    head = to_json({"arrays": shapes, "value": plain_value}).encode()
    payload = b"".join((_LENGTH.pack(len(head)), head, *(array.tobytes() for array in arrays)))
    if len(payload) + _START.size > MAX_BYTES or len(head) > MAX_HEAD_BYTES:
        raise InputError(f"a message of {len(payload)} bytes", hint=f"at most {MAX_BYTES}; send fewer frames")
    return _START.pack(_MAGIC, zlib.crc32(payload)) + payload


def _extract_arrays(value: object, arrays: list[WireArray]) -> PlainData:
    """Return the value with references in place of its arrays, which are appended to the list."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in _DTYPE_NAMES or len(arrays) == MAX_ARRAYS:
            raise InputError(
                f"a message cannot hold an array of {value.dtype}", hint="floats, whole numbers, flags"
            )
        arrays.append(np.ascontiguousarray(value, _DTYPES[_DTYPE_NAMES[value.dtype.kind]]))
        return {_REFERENCE: len(arrays) - 1}
    if isinstance(value, Mapping):
        return {name: _extract_arrays(item, arrays) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_extract_arrays(item, arrays) for item in value]
    scalar = value.item() if isinstance(value, np.generic) else value
    if scalar is None or isinstance(scalar, str | int | float):
        return scalar
    raise InputError(f"a message cannot hold a {type(value).__name__}", hint="plain data and arrays")


def unpack(message: bytes) -> Any:  # plain data of any shape: `Node` looks at it
    """Return the plain data of a message, its arrays in their places: copies, that may be written to.

    Raises:
        FormatError: it is no message, or a damaged one.
    """
    if not _START.size + _LENGTH.size <= len(message) <= MAX_BYTES:
        raise FormatError(f"a message of {len(message)} bytes", hint=f"12 to {MAX_BYTES}")
    magic, checksum = _START.unpack_from(message)
    if magic != _MAGIC:
        raise FormatError("not a message to a served robot", hint=f"it begins with {_MAGIC.decode()}")
    payload = memoryview(message)[_START.size :]
    if zlib.crc32(payload) != checksum:
        raise FormatError("a damaged message", hint="its check sum does not fit")
    (head_length,) = _LENGTH.unpack_from(payload)
    head_end = _LENGTH.size + head_length
    if head_length > MAX_HEAD_BYTES or head_end > len(payload):
        raise FormatError(f"a head of {head_length} bytes", hint="the message is shorter")
    try:
        head = from_json(bytes(payload[_LENGTH.size : head_end]))
    except InputError as error:
        raise FormatError(f"the head of the message: {error.message}") from error
    if not isinstance(head, dict) or head.keys() != {"arrays", "value"}:
        raise FormatError("the head of the message has other entries", hint="arrays, value")
    numbered_arrays = enumerate(list(_read_arrays(head["arrays"], bytes(payload[head_end:]))))
    value = _insert_arrays(head["value"], numbered_arrays, MAX_DEPTH)
    if next(numbered_arrays, None) is not None:
        raise FormatError("an array that belongs nowhere")
    return value


def _read_arrays(descriptions: object, raw: bytes) -> Iterator[WireArray]:
    """Yield the arrays of a list of kinds and shapes, whose bytes follow each other without a gap."""
    if not isinstance(descriptions, list) or len(descriptions) > MAX_ARRAYS:
        raise FormatError("no list of arrays", hint=f"at most {MAX_ARRAYS}, each with its kind and shape")
    begin = 0
    for description in descriptions:
        is_pair = isinstance(description, list) and len(description) == 2
        kind, shape = description if is_pair else (None, None)
        if not isinstance(kind, str) or kind not in _DTYPES or not isinstance(shape, list):
            raise FormatError("an array of no kind", hint=f"one of {', '.join(_DTYPES)}, and its shape")
        are_lengths = all(type(n) is int and 0 <= n <= MAX_BYTES for n in shape)
        if len(shape) > MAX_AXES or not are_lengths or math.prod(max(n, 1) for n in shape) > MAX_BYTES:
            raise FormatError("an array of no shape", hint=f"at most {MAX_AXES} lengths, 0 or more")
        end = begin + math.prod(shape) * _DTYPES[kind].itemsize
        if end > len(raw):
            raise FormatError("a message that ends within an array")
        if kind == "b1" and raw[begin:end].strip(b"\0\1"):
            raise FormatError("a flag that is neither true nor false")
        yield np.frombuffer(raw[begin:end], _DTYPES[kind]).reshape(shape).copy()
        begin = end
    if begin != len(raw):
        raise FormatError(f"{len(raw) - begin} bytes more than the arrays have")


def _insert_arrays(value: object, numbered_arrays: Iterator[tuple[int, WireArray]], depth: int) -> object:
    """Return the value with its arrays in place of the references to them."""
    if not depth:
        raise FormatError("a message nested too deeply", hint=f"{MAX_DEPTH} levels at most")
    if isinstance(value, list):
        return [_insert_arrays(item, numbered_arrays, depth - 1) for item in value]
    if not isinstance(value, dict):
        return value
    if _REFERENCE not in value:
        return {name: _insert_arrays(item, numbered_arrays, depth - 1) for name, item in value.items()}
    number, array = next(numbered_arrays, (-1, np.empty(0)))
    if value != {_REFERENCE: number} or type(value[_REFERENCE]) is not int:
        raise FormatError("an array out of its turn", hint="they come in the order in which they are named")
    return array
