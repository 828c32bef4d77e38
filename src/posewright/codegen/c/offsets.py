"""Constants of `unit.h` with the offsets of values in the records of a unit, for the user's hooks.

Code with these names stays correct when the chart changes: the offsets follow, and a name that no longer
exists is an error of the compiler.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from textwrap import wrap

import numpy as np

from posewright.codegen.c.writer import comment
from posewright.codegen.unit import field_offset

IN = "UNIT_IN_"
"""Prefix of inputs and events."""

OUT = "UNIT_OUT_"
"""Prefix of outputs of the chart."""

STATE = "UNIT_STATE_"
"""Prefix of other fields of a record of states."""

_RESERVED_CONSTANTS = ("UNIT_INPUT_BYTES", "UNIT_STATE_BYTES")
"""Other constants of `unit.h`."""

MAX_LINE_LENGTH = 110
"""A longer line gets its comment above it."""


def offset_constants(
    records: np.dtype[np.void], prefix: str, other_prefixes: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the constant for each field of a record: `UNIT_IN_FRONT` for `front`.

    The names are in upper case, except for fields whose names differ only in case, which keep theirs. A
    constant that is used already gets a number.

    Args:
        records: dtype of the record.
        prefix: the prefix of the constants.
        other_prefixes: other prefixes of some fields, by field.
    """
    other_prefixes = other_prefixes or {}
    identifiers = {name: re.sub(r"[^A-Za-z0-9_]", "_", name) for name in records.names or ()}
    upper_identifiers = [identifier.upper() for identifier in identifiers.values()]
    constants: dict[str, str] = {}
    for name, identifier in identifiers.items():
        is_unique = upper_identifiers.count(identifier.upper()) == 1
        suffix = identifier.upper() if is_unique else identifier
        stem = other_prefixes.get(name, prefix) + suffix
        constant = stem
        number = 1
        while constant in constants.values() or constant in _RESERVED_CONSTANTS:
            number += 1
            constant = f"{stem}_{number}"
        constants[name] = constant
    return constants


def offset_lines(
    records: np.dtype[np.void], constants: Mapping[str, str], meanings: Mapping[str, str]
) -> Iterator[str]:
    """Yield the lines of `unit.h` that define the offset of each field of a record, with a comment.

    Args:
        records: dtype of the record.
        constants: the constant for each field, by its name.
        meanings: the text of the comment for each field; one that is missing has no comment.
    """
    for name, constant in constants.items():
        offset = field_offset(records, name)
        definition = f"#define {constant} {offset}U"
        meaning = comment(meanings[name]) if meanings.get(name) else ""
        line = f"{definition} {meaning}".rstrip()
        if len(line) <= MAX_LINE_LENGTH:
            yield line
            continue
        meaning_text = meaning.removeprefix("/* ").removesuffix(" */")
        yield "/*"
        for meaning_line in wrap(meaning_text, MAX_LINE_LENGTH - len(" * ")):
            yield f" * {meaning_line}"
        yield " */"
        yield definition
