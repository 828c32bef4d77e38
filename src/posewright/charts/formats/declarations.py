"""What a chart's document declares, read and written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from posewright.charts.expression import Function, FunctionRow
from posewright.charts.formats.entries import (
    expression_in,
    number_text,
    one_or_more,
    quantity_in,
    scalar,
    scalar_of,
)
from posewright.charts.formats.functions import read_function, read_type, type_data
from posewright.charts.formats.known import ErrorCollector
from posewright.charts.model import Declarations, TableForm, proper_name
from posewright.charts.types import INT_HIGH, INT_LOW, EnumType, Type, Value
from posewright.documents import Node, one_line
from posewright.errors import UnknownNameError

VARIABLES = ("inputs", "outputs", "locals")
EVENTS = ("events", "local_events")
Declared = TypeVar("Declared")
SECTIONS = (*VARIABLES, *EVENTS, "constants", "functions")


def read_declarations(fields: Mapping[str, Node], errors: ErrorCollector) -> Declarations:
    """Read the sections that declare names; what is wrong with a declaration is collected."""
    seen: dict[str, str] = {}
    nodes = {key: dict[str, Node]() for key in SECTIONS}
    for key in (key for key in SECTIONS if key in fields):
        read = partial(_named, key, fields[key], seen, errors)
        nodes[key] = errors.tried(read, nodes[key], names=fields[key].value)
    kinds = {key: _each(nodes[key], lambda _, node: read_type(node), errors) for key in VARIABLES}
    constants = _each(nodes["constants"], lambda _, node: _constant(node), errors)
    found = Declarations(
        inputs=kinds["inputs"],
        events=tuple(nodes["events"]),
        local_events=tuple(nodes["local_events"]),
        outputs=kinds["outputs"],
        locals=kinds["locals"],
        constants={name: value for name, (value, _) in constants.items()},
        units={name: unit for name, (_, unit) in constants.items() if unit is not None},
    )
    functions = _each(nodes["functions"], lambda name, node: read_function(name, node, found), errors)
    found = replace(found, functions=functions)
    values = _values(found, nodes, seen, errors)
    places = {name: node for entries in (*nodes.values(), values) for name, node in entries.items()}
    return replace(found, lines={name: node.line for name, node in places.items() if node.line is not None})


def _named(section: str, node: Node, seen: dict[str, str], errors: ErrorCollector) -> dict[str, Node]:
    """Return the names of a section and where they stand: events are a list, all others a mapping."""
    if section in EVENTS:
        entries = [(item.value, item) for item in node.items()]
    else:
        entries = list(node.fields().items())
    return {
        str(word): entry
        for word, entry in entries
        if errors.tried(partial(_declare, word, section, seen, entry), False, names=word)
    }


def _declare(word: object, section: str, seen: dict[str, str], node: Node) -> bool:
    name = proper_name(word if isinstance(word, str) else node.text(), node)
    if section in EVENTS and seen.get(name) == section:
        node.fail(f"{name!r} is there twice", hint="once is enough")
    return _note(name, section, seen, node)


def _note(name: str, section: str, seen: dict[str, str], node: Node) -> bool:
    """Note in `seen` of which section a name is; fail where it is there already."""
    if name in seen:
        other = f"in {seen[name]} and in {section}" if seen[name] != section else f"in {section}"
        node.fail(f"{name!r} is there twice, {other}", hint="one name, one meaning: rename one")
    seen[name] = section
    return True


def _each(
    nodes: Mapping[str, Node], read: Callable[[str, Node], Declared], errors: ErrorCollector
) -> dict[str, Declared]:
    found: dict[str, Declared] = {}
    for name, node in nodes.items():
        values = node.value.get("enum") if isinstance(node.value, dict) else None
        one = errors.tried(partial(read, name, node), None, names=(name, values))
        if one is not None:
            found[name] = one
    return found


def _values(
    found: Declarations,
    nodes: Mapping[str, Mapping[str, Node]],
    seen: dict[str, str],
    errors: ErrorCollector,
) -> dict[str, Node]:
    """Return where the values of enumerations stand, each of which is a name that nothing else has."""
    places: dict[Type, Node] = {}
    for section in VARIABLES:
        for name, kind in getattr(found, section).items():
            places.setdefault(kind, nodes[section][name])
    for name, function in found.functions.items():
        for kind in (*function.takes.values(), function.gives):
            places.setdefault(kind, nodes["functions"][name])
    return {
        value: node
        for kind, node in places.items()
        for value in (kind.values if isinstance(kind, EnumType) else ())
        if errors.tried(partial(_note, value, f"the values of {kind}", seen, node), False, names=value)
    }


def _constant(node: Node) -> tuple[Value, str | None]:
    value = node.value
    if isinstance(value, bool):
        return value, None
    if isinstance(value, str):
        return quantity_in(node)
    return (node.integer(low=INT_LOW, high=INT_HIGH) if isinstance(value, int) else node.number()), None


def read_initial_values(
    fields: Mapping[str, Node], declared: Declarations, errors: ErrorCollector
) -> dict[str, Value]:
    """Read what outputs and locals hold before anything sets them; the old key knew of outputs only."""
    old, new = "initial_outputs", "initial_values"
    if old in fields and new in fields:
        fields[old].fail(f"both {new!r} and {old!r}", hint=f"write {new!r}: it is of locals as well")
    key, known = (old, declared.outputs) if old in fields else (new, declared.variables)

    def read(name: str, node: Node) -> Value:
        if name not in known:
            raise UnknownNameError.among("output or local", name, known, where=node.where)
        value = expression_in(fields[key], name, node, declared.fixed_scope, known[name])
        return known[name].fit(value.constant)

    return _each(fields[key].fields(), read, errors) if key in fields else {}


def read_resources(fields: Mapping[str, Node], declared: Declarations) -> tuple[str, ...]:
    """Read the outputs that must go off again."""
    nodes = one_or_more(fields["resources"]) if "resources" in fields else []
    return tuple(dict.fromkeys(node.choice("output", declared.outputs) for node in nodes))


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
        "rows": [_row_data(row) for row in function.rows],
    }


def _row_data(row: FunctionRow) -> list[Value] | dict[str, Any]:
    if not row.cells:
        return one_line({"when": scalar(row.when), "give": scalar(row.give)})
    return [*map(scalar_of, row.cells), scalar(row.give)]


def read_form(node: Node, states: Collection[str], declared: Declarations) -> TableForm:
    """Read how the source's truth table writes the chart."""
    fields = node.fields(required=("state_bits", "codes", "inputs"), optional=("outputs",))
    bits = tuple(bit.text() for bit in fields["state_bits"].items())
    nodes = fields["codes"].fields(required=states, optional=())
    codes = {name: _code(code, len(bits)) for name, code in nodes.items()}
    if len(set(codes.values())) < len(codes):
        fields["codes"].fail("two states have the same code", hint="every state has its own")
    outputs = {name: name for name in declared.outputs}
    if "outputs" in fields:
        outputs = _columns(fields["outputs"], declared.outputs, "output")
    return TableForm(_columns(fields["inputs"], declared.inputs, "input"), outputs, bits, codes)


def _columns(node: Node, known: Mapping[str, Type], kind: str) -> dict[str, str]:
    found = {column: name.choice(kind, list(known)) for column, name in node.fields().items()}
    for name in known:
        if list(found.values()).count(name) != 1:
            node.fail(f"the {kind} {name!r} needs just one column", hint=f"write it as `column: {name}`")
    return found


def _code(node: Node, length: int) -> str:
    code = node.text()
    if len(code) != length or set(code) - {"0", "1"}:
        node.fail(f"{code!r} is no code of {length} bits", hint='write it in quotes, as in "01"')
    return code
