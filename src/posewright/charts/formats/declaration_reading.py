"""What a chart's document declares, in order: inputs, events, outputs, locals, constants, functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from posewright.charts.formats.fields import expression_in, one_or_more, quantity_in
from posewright.charts.formats.function_reading import read_function
from posewright.charts.formats.type_reading import read_type
from posewright.charts.model import Declarations, proper_name
from posewright.charts.types import INT_HIGH, INT_LOW, EnumType, Type, Value
from posewright.documents import Node
from posewright.errors import UnknownNameError

VARIABLES = ("inputs", "outputs", "locals")
EVENTS = ("events", "local_events")
SECTIONS = (*VARIABLES, *EVENTS, "constants", "functions")


def read_declarations(fields: Mapping[str, Node]) -> Declarations:
    """Read the sections that declare names.

    Raises:
        DocumentError: a name or a type is not one, or two names are the same.
    """
    nodes = {key: dict(_named(key, fields[key])) if key in fields else {} for key in SECTIONS}
    seen: dict[str, str] = {}
    for section, entries in nodes.items():
        for name, node in entries.items():
            _note(name, section, seen, node)
    kinds = {key: {name: read_type(node) for name, node in nodes[key].items()} for key in VARIABLES}
    constants = {name: _constant(node) for name, node in nodes["constants"].items()}
    found = Declarations(
        inputs=kinds["inputs"],
        events=tuple(nodes["events"]),
        local_events=tuple(nodes["local_events"]),
        outputs=kinds["outputs"],
        locals=kinds["locals"],
        constants={name: value for name, (value, _) in constants.items()},
        units={name: unit for name, (_, unit) in constants.items() if unit is not None},
    )
    functions = {name: read_function(name, node, found) for name, node in nodes["functions"].items()}
    found = replace(found, functions=functions)
    values = _refuse_shared_values(found, nodes, seen)
    places = {name: node for entries in (*nodes.values(), values) for name, node in entries.items()}
    return replace(found, lines={name: node.line for name, node in places.items() if node.line is not None})


def _named(section: str, node: Node) -> Iterator[tuple[str, Node]]:
    """Yield the names of a section and where they stand: events are a list, all others a mapping."""
    if section not in EVENTS:
        for name, entry in node.fields().items():
            yield proper_name(name, entry), entry
        return
    seen: set[str] = set()
    for item in node.items():
        name = proper_name(item.text(), item)
        if name in seen:
            item.fail(f"{name!r} is there twice", hint="once is enough")
        seen.add(name)
        yield name, item


def _note(name: str, section: str, seen: dict[str, str], node: Node) -> None:
    """Note in `seen` of which section a name is; fail where it is there already."""
    if name in seen:
        other = f"in {seen[name]} and in {section}" if seen[name] != section else f"in {section}"
        node.fail(f"{name!r} is there twice, {other}", hint="one name, one meaning: rename one")
    seen[name] = section


def _refuse_shared_values(
    found: Declarations, nodes: Mapping[str, Mapping[str, Node]], seen: dict[str, str]
) -> dict[str, Node]:
    """Refuse a value that two enumerations have, or that is a name of something else too.

    Returns:
        Where each value stands.
    """
    values: dict[str, Node] = {}
    places: dict[Type, Node] = {}
    for section in VARIABLES:
        for name, kind in getattr(found, section).items():
            places.setdefault(kind, nodes[section][name])
    for name, function in found.functions.items():
        for kind in (*function.takes.values(), function.gives):
            places.setdefault(kind, nodes["functions"][name])
    for kind, node in places.items():
        for value in kind.values if isinstance(kind, EnumType) else ():
            _note(value, f"the values of {kind}", seen, node)
            values[value] = node
    return values


def _constant(node: Node) -> tuple[Value, str | None]:
    value = node.value
    if isinstance(value, bool):
        return value, None
    if isinstance(value, str):
        return quantity_in(node)
    return (node.integer(low=INT_LOW, high=INT_HIGH) if isinstance(value, int) else node.number()), None


def read_initial_values(fields: Mapping[str, Node], declared: Declarations) -> dict[str, Value]:
    """Read what outputs and locals hold before anything sets them; the old key knew of outputs only."""
    old, new = "initial_outputs", "initial_values"
    if old in fields and new in fields:
        fields[old].fail(f"both {new!r} and {old!r}", hint=f"write {new!r}: it is of locals as well")
    key, known = (old, declared.outputs) if old in fields else (new, declared.variables)
    found: dict[str, Value] = {}
    for name, node in (fields[key].fields() if key in fields else {}).items():
        if name not in known:
            raise UnknownNameError.among("output or local", name, known, where=node.where)
        value = expression_in(fields[key], name, node, declared.fixed_scope, known[name])
        found[name] = known[name].fit(value.constant)
    return found


def read_resources(fields: Mapping[str, Node], declared: Declarations) -> tuple[str, ...]:
    """Read the outputs that must go off again."""
    nodes = one_or_more(fields["resources"]) if "resources" in fields else []
    return tuple(dict.fromkeys(node.choice("output", declared.outputs) for node in nodes))
