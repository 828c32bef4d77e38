"""Requests and answers as bytes: a head in JSON, followed by the bytes of its arrays.

    "PWA1"  CRC-32 of all that follows  length of the head  head  arrays, one after the other

The head is `{"arrays": [["f8", [64, 18]], ...], "value": ...}`. In the value, `{"$array": 0}` stands for an
array; the numbers are in the order of appearance. Numbers are little-endian; floats keep every bit, NaN
included. A damaged message is an error, because a damaged angle could not be recognized.
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
"""Longest message: the states of ten thousand frames, or the mesh of a robot, fit in."""

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
"""Our name of a type by NumPy's letter of its kind."""

WireArray = NDArray[np.generic]


def pack(value: object) -> bytes:
    """Return a message with plain data and arrays of floats, integers and booleans.

    Raises:
        InputError: the value has something else in it, or the message is too long.
    """
    arrays: list[WireArray] = []
    plain_value = _extract_arrays(value, arrays)
    shapes = [[_DTYPE_NAMES[array.dtype.kind], list(array.shape)] for array in arrays]
    head = to_json({"arrays": shapes, "value": plain_value}).encode()
    payload = b"".join((_LENGTH.pack(len(head)), head, *(array.tobytes() for array in arrays)))
    if len(payload) + _START.size > MAX_BYTES or len(head) > MAX_HEAD_BYTES:
        hint = f"at most {MAX_BYTES}; send fewer frames"
        raise InputError(f"the message has {len(payload)} bytes", hint=hint)
    return _START.pack(_MAGIC, zlib.crc32(payload)) + payload


def _extract_arrays(value: object, arrays: list[WireArray]) -> PlainData:
    """Return the value with references in place of its arrays, which are appended to the list.

    A reference is a mapping of `_REFERENCE` to the index of its array in the list.
    """
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in _DTYPE_NAMES or len(arrays) == MAX_ARRAYS:
            raise InputError(
                f"a message cannot hold this array of {value.dtype}",
                hint=f"send at most {MAX_ARRAYS} arrays of floats, integers or booleans",
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
    raise InputError(f"a message cannot hold a {type(value).__name__}", hint="send plain data and arrays")


def unpack(message: bytes) -> Any:  # plain data of any shape: `Node` looks at it
    """Return the plain data of a message, with writable copies of its arrays.

    A message is `_START` (magic number and checksum), the length of the head, the head, and the arrays.

    Raises:
        FormatError: it is no message, or it is damaged.
    """
    if not _START.size + _LENGTH.size <= len(message) <= MAX_BYTES:
        raise FormatError(f"a message of {len(message)} bytes", hint=f"a message has 12 to {MAX_BYTES} bytes")
    magic, checksum = _START.unpack_from(message)
    if magic != _MAGIC:
        raise FormatError("not a message to a served robot", hint=f"it begins with {_MAGIC.decode()}")
    payload = memoryview(message)[_START.size :]
    if zlib.crc32(payload) != checksum:
        raise FormatError("the message is damaged", hint="its checksum is wrong")
    (head_length,) = _LENGTH.unpack_from(payload)
    head_end = _LENGTH.size + head_length
    if head_end > len(payload):
        raise FormatError(f"the head has {head_length} bytes", hint="the message is shorter")
    if head_length > MAX_HEAD_BYTES:
        raise FormatError(f"the head has {head_length} bytes", hint=f"at most {MAX_HEAD_BYTES}")
    try:
        head = from_json(bytes(payload[_LENGTH.size : head_end]))
    except InputError as error:
        raise FormatError(f"the head of the message: {error.message}") from error
    if not isinstance(head, dict) or head.keys() != {"arrays", "value"}:
        raise FormatError("the head of the message has wrong entries", hint="it has `arrays` and `value`")
    numbered_arrays = enumerate(list(_read_arrays(head["arrays"], bytes(payload[head_end:]))))
    value = _insert_arrays(head["value"], numbered_arrays, MAX_DEPTH)
    if next(numbered_arrays, None) is not None:
        raise FormatError("the value does not use all arrays of the message")
    return value


def _read_arrays(descriptions: object, raw: bytes) -> Iterator[WireArray]:
    """Yield the arrays in consecutive bytes.

    Args:
        descriptions: `[kind, shape]` of each array, unchecked.
        raw: the bytes of all arrays.
    """
    if not isinstance(descriptions, list) or len(descriptions) > MAX_ARRAYS:
        raise FormatError("invalid list of arrays", hint=f"at most {MAX_ARRAYS}, each with kind and shape")
    begin = 0
    for description in descriptions:
        is_pair = isinstance(description, list) and len(description) == 2
        kind, shape = description if is_pair else (None, None)
        if not isinstance(kind, str) or kind not in _DTYPES or not isinstance(shape, list):
            hint = f"write one of {', '.join(_DTYPES)}, and the shape"
            raise FormatError("an array without a known kind", hint=hint)
        are_lengths = all(type(n) is int and 0 <= n <= MAX_BYTES for n in shape)
        # lengths of 0 count as 1: an array without elements must not have a huge shape either
        if len(shape) > MAX_AXES or not are_lengths or math.prod(max(n, 1) for n in shape) > MAX_BYTES:
            hint = f"at most {MAX_AXES} lengths, 0 or more"
            raise FormatError("an array with an invalid shape", hint=hint)
        end = begin + math.prod(shape) * _DTYPES[kind].itemsize
        if end > len(raw):
            raise FormatError("the message ends within an array")
        if kind == "b1" and raw[begin:end].strip(b"\0\1"):
            raise FormatError("a boolean is neither true nor false")
        yield np.frombuffer(raw[begin:end], _DTYPES[kind]).reshape(shape).copy()
        begin = end
    if begin != len(raw):
        raise FormatError(f"{len(raw) - begin} bytes follow the last array")


def _insert_arrays(value: object, numbered_arrays: Iterator[tuple[int, WireArray]], depth: int) -> object:
    """Return the value with arrays in place of the references to them.

    References must come in the order of the arrays, so that each array is used once.

    Args:
        value: plain data with references.
        numbered_arrays: the arrays that are not used yet.
        depth: the number of levels that may be nested.
    """
    if not depth:
        raise FormatError("the message is nested too deeply", hint=f"at most {MAX_DEPTH} levels")
    if isinstance(value, list):
        return [_insert_arrays(item, numbered_arrays, depth - 1) for item in value]
    if not isinstance(value, dict):
        return value
    if _REFERENCE not in value:
        return {name: _insert_arrays(item, numbered_arrays, depth - 1) for name, item in value.items()}
    number, array = next(numbered_arrays, (-1, np.empty(0)))  # no reference is -1: too many are an error
    if value != {_REFERENCE: number} or type(value[_REFERENCE]) is not int:
        raise FormatError("an array is used out of order", hint="number the arrays in the order of their use")
    return array
