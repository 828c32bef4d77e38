"""Types, constants and functions as the plain data of a chart's document."""

from __future__ import annotations

from typing import Any

from posewright.charts.expression import Function, FunctionRow
from posewright.charts.formats.scalars import number_text, scalar, scalar_of
from posewright.charts.types import INT_RANGES, BoolType, EnumType, IntType, Type, Value
from posewright.documents import one_line


def type_data(kind: Type) -> str | dict[str, Any]:
    """Return a type as the document writes it."""
    if isinstance(kind, BoolType):
        return "bool"
    if isinstance(kind, EnumType):
        return one_line({"enum": list(kind.values)})
    word = _word(kind)
    if kind.unit is None:
        return word or one_line(_range(kind))
    return one_line({**({"type": word} if word else _range(kind)), "unit": kind.unit})


def _word(kind: Type) -> str | None:
    """Return the word for a type of numbers, None for one with a range of its own."""
    if isinstance(kind, IntType):
        same = kind.written is not None and INT_RANGES.get(kind.written) == (kind.low, kind.high)
        return kind.written if same else None
    if isinstance(kind, BoolType | EnumType) or not kind.open:
        return None
    return "float32" if kind.single else "float"


def _range(kind: Type) -> dict[str, Any]:
    if isinstance(kind, IntType):
        return {"int": [kind.low, kind.high]}
    if isinstance(kind, BoolType | EnumType):
        return {}
    return {"float32" if kind.single else "float": list(kind.ends)}


def constant_data(value: Value, unit: str | None) -> Value:
    """Return a constant, with its unit where it was written in one."""
    if unit is None or isinstance(value, bool | str):
        return value
    return f"{number_text(value)} {unit}"


def value_data(value: Value) -> Value:
    """Return what a variable begins with; truth values as 0 and 1."""
    return int(value) if isinstance(value, bool) else value


def function_data(function: Function) -> dict[str, Any]:
    """Return a truth table as the document writes it."""
    return {
        "takes": one_line({name: type_data(kind) for name, kind in function.takes.items()}),
        "gives": type_data(function.gives),
        "rows": [_row(row) for row in function.rows],
    }


def _row(row: FunctionRow) -> list[Value] | dict[str, Any]:
    if not row.cells:
        return one_line({"when": scalar(row.when), "give": scalar(row.give)})
    return [*map(scalar_of, row.cells), scalar(row.give)]
