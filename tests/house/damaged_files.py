"""Damaged files for a reader, and what the reader says of them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unicodedata import category

from posewright.errors import MAX_MESSAGE_LINES, PosewrightError

from .damage import damaged
from .readers import Reader

STRUCTURAL_SHARE = 0.7
MAX_LINE_LENGTH = 4000


def damaged_file(reader: Reader, seeds: Mapping[str, bytes], rng: random.Random) -> tuple[str, bytes]:
    """Return the name and the content of a file with another structure, other bytes or both."""
    name = rng.choice(list(seeds))
    data = seeds[name]
    is_structural = rng.random() < STRUCTURAL_SHARE
    if is_structural:
        data = reader.mutated(rng, name, data)
    if not is_structural or rng.random() < 0.05:
        data = damaged(rng, data, tuple(seeds.values()))
    return name, data if reader.sealed is None else reader.sealed(data)


@contextmanager
def file_in(folder: Path, name: str, data: bytes) -> Iterator[Path]:
    """Yield the path of a file with some content in a folder; afterwards what was there before is back."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    previous = path.read_bytes() if path.is_file() else None
    path.write_bytes(data)
    try:
        yield path
    finally:
        if previous is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(previous)


def error_in(reader: Reader, folder: Path, name: str, data: bytes) -> str:
    """Return the message of the error with which a reader rejects a file; empty if it reads it."""
    with file_in(folder, name, data) as path:
        try:
            reader.read(path)
        except PosewrightError as error:
            return str(error)
    return ""


def describe_bad_message(message: str) -> str:
    """Return what is wrong with a message for a terminal: too long, or a sign that steers it; or nothing."""
    lines = message.split("\n")
    if len(lines) > MAX_MESSAGE_LINES:
        return f"{len(lines)} lines"
    if max(map(len, lines)) > MAX_LINE_LENGTH:
        return f"a line of {max(map(len, lines))} characters"
    odd_signs = [sign for line in lines for sign in line if not sign.isprintable() and category(sign) != "Zs"]
    return f"it has {odd_signs[0]!r}" if odd_signs else ""
