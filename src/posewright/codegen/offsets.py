"""Where each value begins in the records of a unit, by name: the constants of `unit.h` that hooks use.

What the user writes with these names stays right when the chart changes: bytes move and the names with
them, and a name that is gone is an error of the compiler.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from textwrap import wrap

import numpy as np

from posewright.codegen.c.writer import comment

IN, OUT, STATE = "UNIT_IN_", "UNIT_OUT_", "UNIT_STATE_"
"""Inputs and events; outputs of the chart; what else is in a record of states."""

LONGEST = 110
"""Of a line; what is told of a value stands above it otherwise."""


def constants_of(
    records: np.dtype[np.void], prefix: str, others: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the constant for each field of a record: `UNIT_IN_FRONT` for `front`.

    Fields that differ in nothing but upper and lower case keep theirs; those that are the same in C get a
    number.

    Args:
        records: the record.
        prefix: what the constants begin with.
        others: another prefix for some fields.
    """
    plain = {name: re.sub(r"[^A-Za-z0-9_]", "_", name) for name in records.names or ()}
    loud = [text.upper() for text in plain.values()]
    found: dict[str, str] = {}
    for name, text in plain.items():
        wanted = (others or {}).get(name, prefix) + (text if loud.count(text.upper()) > 1 else text.upper())
        number, chosen = 1, wanted
        while chosen in found.values() or chosen in ("UNIT_INPUT_BYTES", "UNIT_STATE_BYTES"):
            number += 1
            chosen = f"{wanted}_{number}"
        found[name] = chosen
    return found


def offset_lines(
    records: np.dtype[np.void], constants: Mapping[str, str], told: Mapping[str, str]
) -> Iterator[str]:
    """Yield the line of `unit.h` for each field of a record, with what is told of it."""
    for name, constant in constants.items():
        at = int(records.fields[name][1])  # type: ignore[index]  # it has the fields it names
        said = comment(told[name]) if told.get(name) else ""
        line = f"#define {constant} {at}U {said}".rstrip()
        if len(line) > LONGEST:
            yield from ("/*", *(f" * {part}" for part in wrap(said[3:-3], LONGEST - 3)), " */")
            line = f"#define {constant} {at}U"
        yield line
