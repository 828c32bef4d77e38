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
_KINDS = {"f8": np.dtype("<f8"), "i8": np.dtype("<i8"), "b1": np.dtype("?")}
_NAMES = {"f": "f8", "i": "i8", "b": "b1"}


def pack(value: Any) -> bytes:
    """Return a message of plain data that may have arrays of floats, whole numbers and flags in it.

    Raises:
        InputError: something in it is neither, or it is too long.
    """
    arrays: list[NDArray[Any]] = []
    told = _told(value, arrays)
    shapes = [[_NAMES[array.dtype.kind], list(array.shape)] for array in arrays]
    head = to_json({"arrays": shapes, "value": told}).encode()
    rest = b"".join((_LENGTH.pack(len(head)), head, *(array.tobytes() for array in arrays)))
    if len(rest) + _START.size > MAX_BYTES or len(head) > MAX_HEAD_BYTES:
        raise InputError(f"a message of {len(rest)} bytes", hint=f"at most {MAX_BYTES}; send fewer frames")
    return _START.pack(_MAGIC, zlib.crc32(rest)) + rest


def _told(value: Any, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in _NAMES or len(arrays) == MAX_ARRAYS:
            raise InputError(
                f"a message cannot hold an array of {value.dtype}", hint="floats, whole numbers, flags"
            )
        arrays.append(np.ascontiguousarray(value, _KINDS[_NAMES[value.dtype.kind]]))
        return {_REFERENCE: len(arrays) - 1}
    if isinstance(value, Mapping):
        return {name: _told(one, arrays) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_told(one, arrays) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def unpack(message: bytes) -> Any:
    """Return the plain data of a message, its arrays in their places: copies, that may be written to.

    Raises:
        FormatError: it is no message, or a damaged one.
    """
    if not _START.size + _LENGTH.size <= len(message) <= MAX_BYTES:
        raise FormatError(f"a message of {len(message)} bytes", hint=f"12 to {MAX_BYTES}")
    magic, checksum = _START.unpack_from(message)
    if magic != _MAGIC:
        raise FormatError("not a message to a served robot", hint=f"it begins with {_MAGIC.decode()}")
    rest = memoryview(message)[_START.size :]
    if zlib.crc32(rest) != checksum:
        raise FormatError("a damaged message", hint="its check sum does not fit")
    (length,) = _LENGTH.unpack_from(rest)
    begin = _LENGTH.size + length
    if length > MAX_HEAD_BYTES or begin > len(rest):
        raise FormatError(f"a head of {length} bytes", hint="the message is shorter")
    try:
        head = from_json(bytes(rest[_LENGTH.size : begin]))
    except InputError as error:
        raise FormatError(f"the head of the message: {error.message}") from error
    if not isinstance(head, dict) or head.keys() != {"arrays", "value"}:
        raise FormatError("the head of the message has other entries", hint="arrays, value")
    arrays = list(_arrays(head["arrays"], bytes(rest[begin:])))
    found = iter(enumerate(arrays))
    value = _filled(head["value"], found, MAX_DEPTH)
    if next(found, None) is not None:
        raise FormatError("an array that belongs nowhere")
    return value


def _arrays(told: Any, raw: bytes) -> Iterator[NDArray[Any]]:
    """Give the arrays, whose bytes these are, all of them."""
    if not isinstance(told, list) or len(told) > MAX_ARRAYS:
        raise FormatError("no list of arrays", hint=f"at most {MAX_ARRAYS}, each with its kind and shape")
    begin = 0
    for one in told:
        kind, shape = one if isinstance(one, list) and len(one) == 2 else (None, None)
        if not isinstance(kind, str) or kind not in _KINDS or not isinstance(shape, list):
            raise FormatError("an array of no kind", hint=f"one of {', '.join(_KINDS)}, and its shape")
        is_right = len(shape) <= MAX_AXES and all(type(n) is int and 0 <= n <= MAX_BYTES for n in shape)
        if not is_right or math.prod(max(n, 1) for n in shape) > MAX_BYTES:
            raise FormatError("an array of no shape", hint=f"at most {MAX_AXES} lengths, 0 or more")
        end = begin + math.prod(shape) * _KINDS[kind].itemsize
        if end > len(raw):
            raise FormatError("a message that ends within an array")
        if kind == "b1" and raw[begin:end].strip(b"\0\1"):
            raise FormatError("a flag that is neither true nor false")
        yield np.frombuffer(raw[begin:end], _KINDS[kind]).reshape(shape).copy()
        begin = end
    if begin != len(raw):
        raise FormatError(f"{len(raw) - begin} bytes more than the arrays have")


def _filled(value: Any, arrays: Iterator[tuple[int, NDArray[Any]]], depth: int) -> Any:
    """Return the value with its arrays in it."""
    if not depth:
        raise FormatError("a message nested too deeply", hint=f"{MAX_DEPTH} levels at most")
    if isinstance(value, list):
        return [_filled(one, arrays, depth - 1) for one in value]
    if not isinstance(value, dict):
        return value
    if _REFERENCE not in value:
        return {name: _filled(one, arrays, depth - 1) for name, one in value.items()}
    number, array = next(arrays, (-1, np.empty(0)))
    if value != {_REFERENCE: number} or type(value[_REFERENCE]) is not int:
        raise FormatError("an array out of its turn", hint="they come in the order in which they are named")
    return array
