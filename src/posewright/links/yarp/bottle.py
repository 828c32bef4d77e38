"""Bottles: YARP's typed lists, as bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias


class Vocab(str):
    """A word of up to four letters that travels as a number: `[pos]`. It equals the string, as boards take either."""

    __slots__ = ()


class Float32(float):
    """A number that travels in 32 bits, as YARP 4 sends some."""

    __slots__ = ()


Value: TypeAlias = "int | float | str | bytes | tuple[Value, ...] | Mapping[str, Value]"
"""What a bottle holds: `Vocab` is a str, `Float32` a float; a blob is bytes; a list is a tuple (nested or typed)."""

Bottle: TypeAlias = tuple[Value, ...]


def encode(bottle: Bottle) -> bytes:
    """Return a bottle as bytes."""
    raise NotImplementedError


def decode(data: bytes) -> Bottle:
    """Return the bottle that these bytes are, all of them (FormatError)."""
    raise NotImplementedError


def decode_reply(buffer: bytes) -> tuple[Bottle, int] | None:
    """Return the bottle that begins a buffer and how long it is, or None until all of it is there (FormatError)."""
    raise NotImplementedError
