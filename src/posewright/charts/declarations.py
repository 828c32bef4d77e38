"""What a chart's document declares: its inputs, outputs and constants, and the names they take."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from posewright.charts.chart import scope_of
from posewright.charts.datatypes import (
    INT_HIGH,
    INT_LOW,
    INT_RANGES,
    BoolType,
    EnumType,
    FloatType,
    IntType,
    Type,
    Value,
)
from posewright.charts.expression import Scope
from posewright.documents import Node
from posewright.errors import UnknownNameError

RESERVED = frozenset({"and", "or", "not", "true", "false", "abs", "min", "max", "state", "next"})
"""Words that no input, output or constant may be called."""

TYPE_HINT = "a type is bool, int, int8..int32, float, {int: [0, 3]}, {float: [0, 5]} or {enum: [a, b]}"
MAX_NAME = 80
"""Letters in a name."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Declarations:
    """Names in scope of a whole chart."""

    inputs: Mapping[str, Type]
    outputs: Mapping[str, Type]
    constants: Mapping[str, Value]

    @property
    def scope(self) -> Scope:
        """What guards and a transition's actions may use."""
        return scope_of(self.inputs, self.outputs, self.constants)

    @property
    def fixed_scope(self) -> Scope:
        """What may be used where nothing may change: constants and names of values."""
        return Scope(constants=self.constants, values=self.scope.values)


def read_declarations(root: Node, fields: Mapping[str, Node]) -> Declarations:
    """Read `inputs`, `outputs` and `constants`.

    Raises:
        DocumentError: a name or a type is not one, or two names are the same or differ only in case.
    """
    nodes = {key: fields[key].fields() if key in fields else {} for key in ("inputs", "outputs", "constants")}
    seen: dict[str, str] = {}
    for section in nodes.values():
        for name, node in section.items():
            refuse_twin(proper_name(name, node), seen, node)
    found = Declarations(
        {name: read_type(node) for name, node in nodes["inputs"].items()},
        {name: read_type(node) for name, node in nodes["outputs"].items()},
        {name: _constant(node) for name, node in nodes["constants"].items()},
    )
    kinds = dict.fromkeys([*found.inputs.values(), *found.outputs.values()])
    for kind in kinds:
        for value in kind.values if isinstance(kind, EnumType) else ():
            refuse_twin(value, seen, root)
    return found


def proper_name(name: str, node: Node) -> str:
    """Return `name`, or fail where it is none."""
    fault = name_fault(name)
    if fault is not None:
        node.fail(f"{name[:MAX_NAME]!r} {fault}", hint="use letters a-z, digits and _, a letter first")
    return name


def name_fault(name: str) -> str | None:
    """Return why no input, output or constant may be called `name`, or None where it may."""
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
        return "is no name"
    return "is a word of the language" if name.lower() in RESERVED else None


def refuse_twin(name: str, seen: dict[str, str], node: Node) -> None:
    """Note `name` in `seen`; fail where it is there already, in whatever case of its letters."""
    other = seen.setdefault(name.lower(), "")
    if other == name:
        node.fail(f"{name!r} is there twice", hint="one name, one meaning: rename one")
    if other:
        node.fail(f"{other!r} and {name!r} differ only in the case of their letters", hint="rename one")
    seen[name.lower()] = name


def read_type(node: Node) -> Type:
    """Return the type that a document writes."""
    value: Any = node.value
    if isinstance(value, str):
        return _simple_type(value, node)
    if not isinstance(value, dict) or len(value) != 1:
        node.fail("expected a type", hint=TYPE_HINT)
    ((key, inner),) = node.fields(optional=("int", "float", "enum")).items()
    return _enum(inner) if key == "enum" else _range(key, inner)


def _simple_type(word: str, node: Node) -> Type:
    if word == "bool":
        return BoolType()
    if word == "float":
        return FloatType()
    if word in INT_RANGES:
        return IntType(*INT_RANGES[word], written=word)
    raise UnknownNameError.among("type", word, ["bool", "float", *INT_RANGES], where=node.where)


def _range(key: str, node: Node) -> Type:
    ends = node.items()
    if len(ends) != 2:
        node.fail("a range has two ends", hint=TYPE_HINT)
    if key == "int":
        low, high = (end.integer(low=INT_LOW, high=INT_HIGH) for end in ends)
        found: IntType | FloatType = IntType(low, high)
    else:
        found = FloatType(ends[0].number(), ends[1].number())
    if found.low > found.high:
        node.fail(f"the range {found.low:g}..{found.high:g} is empty", hint="the lower end comes first")
    return found


def _enum(node: Node) -> EnumType:
    values = tuple(proper_name(item.text(), item) for item in node.items())
    if not values or len(set(values)) < len(values):
        node.fail("an enumeration needs names, each of them once", hint=TYPE_HINT)
    return EnumType(values)


def _constant(node: Node) -> Value:
    if isinstance(node.value, bool):
        return node.value
    if isinstance(node.value, int):
        return node.integer(low=INT_LOW, high=INT_HIGH)
    return node.number()
