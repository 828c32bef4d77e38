"""What a chart declares, read and written: names and their types, constants, and truth tables of cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from posewright.charts.expression import Function, FunctionRow, Scope, Source, parse_expression
from posewright.charts.formats.csv_rows import ANY, Cell, cells_of_list, cells_of_table
from posewright.charts.formats.entries import (
    condition_in,
    expression_in,
    keyed,
    number_text,
    one_or_more,
    quantity_in,
    scalar,
    scalar_of,
)
from posewright.charts.formats.known import ErrorCollector
from posewright.charts.model import Declarations, TableForm, proper_name, scope_of
from posewright.charts.types import (
    INT_HIGH,
    INT_LOW,
    INT_RANGES,
    UNITS,
    BoolType,
    EnumType,
    FloatType,
    IntType,
    Numeric,
    Type,
    Value,
    unit_hint,
)
from posewright.documents import Node, one_line
from posewright.errors import UnknownNameError, Where

TYPE_HINT = "a type is bool, int, int8..int32, uint8, float, float32, {int: [0, 3]} or {enum: [a, b]}"
WORDS = ("bool", *INT_RANGES, "float", "float32")
FORMS = ("int", "float", "float32", "enum", "type")


def read_type(node: Node) -> Type:
    """Return the type that a document writes."""
    if isinstance(node.value, str):
        return _word(node)
    if not isinstance(node.value, dict):
        node.fail("expected a type", hint=TYPE_HINT)
    fields = node.fields(optional=(*FORMS, "unit"))
    forms = [key for key in FORMS if key in fields]
    if len(forms) != 1:
        node.fail("expected a type" if not forms else f"both {forms[0]!r} and {forms[1]!r}", hint=TYPE_HINT)
    key, entry = forms[0], fields[forms[0]]
    found = _word(entry) if key == "type" else _enum(entry) if key == "enum" else _range(key, entry)
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
    unit = node.text()
    if unit not in UNITS:
        raise UnknownNameError(f"no unit is called {unit!r}", where=node.where, hint=unit_hint(unit))
    return replace(found, unit=unit)


def type_data(kind: Type) -> str | dict[str, Any]:
    """Return a type as the document writes it."""
    if isinstance(kind, BoolType):
        return "bool"
    if isinstance(kind, EnumType):
        return one_line({"enum": list(kind.values)})
    data = _number_data(kind)
    if kind.unit is not None:
        return one_line({**data, "unit": kind.unit})
    return str(data["type"]) if "type" in data else one_line(data)


def _number_data(kind: IntType | FloatType) -> dict[str, Any]:
    if isinstance(kind, IntType):
        as_word = kind.written is not None and INT_RANGES.get(kind.written) == (kind.low, kind.high)
        return {"type": kind.written} if as_word else {"int": [kind.low, kind.high]}
    word = "float32" if kind.single else "float"
    return {"type": word} if kind.open else {word: list(kind.ends)}


MAX_ROWS = 4096
ROW_HINT = "a cell for each parameter, then what it gives: [0, 1, X, left]"

_COMPARED = re.compile(r"(<=|>=|<|>|==|!=)\s*(.+)")
_PLAIN = re.compile(r"-?[\w.]+(?: [^\W\d]\S*)?")  # a number, one with a unit, or a constant
_BETWEEN = re.compile(r"(.+?)\s*\.\.\s*(.+)")


@dataclass(frozen=True)
class _Head:
    """A function without its rows.

    Attributes:
        scope: what cells may use: constants, names of values, and the parameters.
    """

    takes: Mapping[str, Type]
    gives: Type
    scope: Scope


def read_function(name: str, node: Node, declared: Declarations) -> Function:
    """Read a function of a chart."""
    fields = node.fields(required=("takes", "gives"), optional=("rows", "table"))
    if ("rows" in fields) == ("table" in fields):
        node.fail("a function needs its rows", hint="write either `rows:` or `table: file.csv`")
    takes = {
        _parameter(name, entry, declared): read_type(entry)
        for name, entry in fields["takes"].fields().items()
    }
    if not takes:
        fields["takes"].fail("it takes nothing", hint="a value that never changes is a constant")
    gives = read_type(fields["gives"])
    of_types = scope_of({**takes, "": gives}, {})
    head = _Head(takes, gives, Scope(takes, declared.constants, of_types.values, declared.units))
    if "rows" in fields:
        items = fields["rows"].items()
        if not items or len(items) > MAX_ROWS:
            fields["rows"].fail(f"{len(items)} rows", hint=f"a function has 1..{MAX_ROWS}")
        rows = [_row(item, head) for item in items]
    else:
        rows = [_row_of_cells(cells, head) for cells in cells_of_table(fields["table"], tuple(takes))]
    return Function(name, takes, gives, tuple(rows), line=node.line)


def _parameter(name: str, node: Node, declared: Declarations) -> str:
    if name in declared.constants:
        node.fail(f"{name!r} is a constant", hint="give the parameter another name")
    return proper_name(name, node)


def _row(node: Node, head: _Head) -> FunctionRow:
    """Read one row: a list of cells, or a mapping that says its condition in full."""
    if isinstance(node.value, dict):
        fields = keyed(node, (), required=("when", "give"))
        when = condition_in(node, "when", fields["when"], head.scope)
        give = expression_in(node, "give", fields["give"], head.scope, head.gives)
        return FunctionRow(when, give, line=node.line)
    return _row_of_cells(cells_of_list(node), head)


def _row_of_cells(cells: list[Cell], head: _Head) -> FunctionRow:
    where = cells[0].where
    if len(cells) != len(head.takes) + 1:
        wanted = f"{', '.join(head.takes)} and what it gives"
        cells[-1].fail(f"{len(cells)} cells where {len(head.takes) + 1} are needed ({wanted})", hint=ROW_HINT)
    *asked, given = cells
    texts = [
        text
        for cell, (name, kind) in zip(asked, head.takes.items(), strict=True)
        if (text := _condition(name, kind, cell, head.scope)) is not None
    ]
    line = Where(where.path, where.line)
    return FunctionRow(
        when=parse_expression(Source(" and ".join(texts) or "true", line), head.scope, BoolType()),
        give=parse_expression(Source(given.text, given.where), head.scope, head.gives),
        cells=tuple(cell.text for cell in asked),
        line=where.line,
    )


def _condition(name: str, kind: Type, cell: Cell, scope: Scope) -> str | None:
    """Return the condition that a cell is, None where it does not matter."""
    if cell.text in ANY:
        return None
    if isinstance(kind, BoolType):
        return name if _truth(cell, scope) else f"not {name}"
    if isinstance(kind, EnumType):
        if cell.text not in kind.values:
            raise UnknownNameError.among("value here", cell.text, kind.values, where=cell.where)
        return f"{name} == {cell.text}"
    return _comparison(name, cell, scope)


def _truth(cell: Cell, scope: Scope) -> bool:
    found = parse_expression(Source(cell.text, cell.where), scope, BoolType())
    if found.names:
        cell.fail(f"{cell.text!r} is no cell", hint="write 0, 1 or X")
    return bool(found.constant)


def _comparison(name: str, cell: Cell, scope: Scope) -> str:
    between = _BETWEEN.fullmatch(cell.text)
    if between is not None:
        low, high = (_number(end, cell, scope) for end in between.groups())
        return f"{name} >= {low} and {name} <= {high}"
    compared = _COMPARED.fullmatch(cell.text)
    sign, end = compared.groups() if compared is not None else ("==", cell.text)
    return f"{name} {sign} {_number(end, cell, scope)}"


def _number(text: str, cell: Cell, scope: Scope) -> str:
    """Return the text of a number that a cell compares with, once it is known to read."""
    column = cell.where.column
    at = column + cell.text.find(text) if column is not None else None
    found = parse_expression(Source(text, Where(cell.where.path, cell.where.line, at)), scope)
    if not isinstance(found.type, Numeric) or found.names:
        cell.fail(f"{cell.text!r} is no cell", hint="write a number, `< 5`, `2..4` or X")
    return text if _PLAIN.fullmatch(text) else f"({text})"


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
    of_events = ((item.value, item) for item in node.items()) if section in EVENTS else None
    return {
        str(word): entry
        for word, entry in of_events or node.fields().items()
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
