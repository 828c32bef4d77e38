"""Types as a chart's document writes them: a word, a range, an enumeration, any of them with a unit."""

from __future__ import annotations

from dataclasses import replace

from posewright.charts.model import proper_name
from posewright.charts.types import (
    INT_HIGH,
    INT_LOW,
    INT_RANGES,
    UNITS,
    BoolType,
    EnumType,
    FloatType,
    IntType,
    Type,
)
from posewright.documents import Node
from posewright.errors import UnknownNameError

TYPE_HINT = "a type is bool, int, int8..int32, uint8, float, float32, {int: [0, 3]} or {enum: [a, b]}"
WORDS = ("bool", *INT_RANGES, "float", "float32")
FORMS = ("int", "float", "float32", "enum", "type")


def read_type(node: Node) -> Type:
    """Return the type that a document writes.

    Raises:
        DocumentError: it is none.
        UnknownNameError: there is no such type or unit.
    """
    if isinstance(node.value, str):
        return _word(node)
    if not isinstance(node.value, dict):
        node.fail("expected a type", hint=TYPE_HINT)
    fields = node.fields(optional=(*FORMS, "unit"))
    forms = [key for key in FORMS if key in fields]
    if len(forms) != 1:
        node.fail("expected a type" if not forms else f"both {forms[0]!r} and {forms[1]!r}", hint=TYPE_HINT)
    found = _form(forms[0], fields[forms[0]])
    return _with_unit(found, fields["unit"]) if "unit" in fields else found


def _word(node: Node) -> Type:
    word = node.text()
    if word == "bool":
        return BoolType()
    if word in ("float", "float32"):
        return FloatType(single=word == "float32")
    if word in INT_RANGES:
        return IntType(*INT_RANGES[word], written=word)
    raise UnknownNameError.among("type", word, WORDS, where=node.where)


def _form(key: str, node: Node) -> Type:
    if key == "type":
        return _word(node)
    return _enum(node) if key == "enum" else _range(key, node)


def _range(key: str, node: Node) -> IntType | FloatType:
    ends = node.items()
    if len(ends) != 2:
        node.fail("a range has two ends", hint=TYPE_HINT)
    if key == "int":
        low, high = (end.integer(low=INT_LOW, high=INT_HIGH) for end in ends)
        found: IntType | FloatType = IntType(low, high)
    else:
        found = FloatType(ends[0].number(), ends[1].number(), single=key == "float32")
    if found.low > found.high:
        node.fail(f"the range {found.low:g}..{found.high:g} is empty", hint="the lower end comes first")
    return found


def _enum(node: Node) -> EnumType:
    values = tuple(proper_name(item.text(), item) for item in node.items())
    if not values or len(set(values)) < len(values):
        node.fail("an enumeration needs names, each of them once", hint=TYPE_HINT)
    return EnumType(values)


def _with_unit(found: Type, node: Node) -> Type:
    if not isinstance(found, IntType | FloatType):
        node.fail(f"{found} has no unit", hint="numbers have")
    return replace(found, unit=node.choice("unit", UNITS))
