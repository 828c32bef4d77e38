"""What a chart declares: names and their types, constants, and truth tables of cells."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from posewright.charts.expression import Function, FunctionRow, Scope, SourceText, parse_expression
from posewright.charts.formats.csv_rows import ANY, Cell, cells_of_list, cells_of_table
from posewright.charts.formats.entries import (
    ErrorCollector,
    condition_in,
    expression_in,
    keyed,
    one_or_more,
    quantity_in,
)
from posewright.charts.model import Declarations, TableForm, require_name, scope_of
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
from posewright.documents import Node
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
        return IntType(*INT_RANGES[word], keyword=word)
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
    values = tuple(require_name(item.text(), item) for item in node.items())
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
    return require_name(name, node)


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
        when=parse_expression(SourceText(" and ".join(texts) or "true", line), head.scope, BoolType()),
        give=parse_expression(SourceText(given.text, given.where), head.scope, head.gives),
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
    found = parse_expression(SourceText(cell.text, cell.where), scope, BoolType())
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
    found = parse_expression(SourceText(text, Where(cell.where.path, cell.where.line, at)), scope)
    if not isinstance(found.type, Numeric) or found.names:
        cell.fail(f"{cell.text!r} is no cell", hint="write a number, `< 5`, `2..4` or X")
    return text if _PLAIN.fullmatch(text) else f"({text})"


VARIABLES = ("inputs", "outputs", "locals")
EVENTS = ("events", "local_events")
SECTIONS = (*VARIABLES, *EVENTS, "constants", "functions")


def read_declarations(fields: Mapping[str, Node], errors: ErrorCollector) -> Declarations:
    """Read the sections that declare names; what is wrong with a declaration is collected."""
    sections_by_name: dict[str, str] = {}
    nodes: dict[str, dict[str, Node]] = {section: {} for section in SECTIONS}
    for section in SECTIONS:
        if section in fields:
            with errors.collect(fields[section].value):
                nodes[section] = _declared_names(section, fields[section], sections_by_name, errors)
    types: dict[str, dict[str, Type]] = {section: {} for section in VARIABLES}
    for section in VARIABLES:
        for name, node in nodes[section].items():
            with errors.collect(_names_declared(name, node)):
                types[section][name] = read_type(node)
    constants: dict[str, Value] = {}
    units: dict[str, str] = {}
    for name, node in nodes["constants"].items():
        with errors.collect(_names_declared(name, node)):
            constants[name], unit = _constant(node)
            if unit is not None:
                units[name] = unit
    declared = Declarations(
        inputs=types["inputs"],
        events=tuple(nodes["events"]),
        local_events=tuple(nodes["local_events"]),
        outputs=types["outputs"],
        locals=types["locals"],
        constants=constants,
        units=units,
    )
    functions: dict[str, Function] = {}
    for name, node in nodes["functions"].items():
        with errors.collect(_names_declared(name, node)):
            functions[name] = read_function(name, node, declared)
    declared = replace(declared, functions=functions)
    values = _enumeration_values(declared, nodes, sections_by_name, errors)
    places = {name: node for entries in (*nodes.values(), values) for name, node in entries.items()}
    lines = {name: node.line for name, node in places.items() if node.line is not None}
    return replace(declared, lines=lines)


def _enumeration_values(
    declared: Declarations,
    nodes: Mapping[str, Mapping[str, Node]],
    sections_by_name: dict[str, str],
    errors: ErrorCollector,
) -> dict[str, Node]:
    """Return where the values of enumerations stand, each of which is a name that nothing else has."""
    places: dict[Type, Node] = {}
    for section, types in zip(VARIABLES, (declared.inputs, declared.outputs, declared.locals), strict=True):
        for name, kind in types.items():
            places.setdefault(kind, nodes[section][name])
    for name, function in declared.functions.items():
        for kind in (*function.takes.values(), function.gives):
            places.setdefault(kind, nodes["functions"][name])
    values: dict[str, Node] = {}
    for kind, node in places.items():
        for value in kind.values if isinstance(kind, EnumType) else ():
            with errors.collect(value):
                _require_unused(value, f"the values of {kind}", sections_by_name, node)
                values[value] = node
    return values


def _names_declared(name: str, node: Node) -> tuple[str, object]:
    """Return the names that a declaration brings: its own, and those of the values of an enumeration."""
    return name, node.value.get("enum") if isinstance(node.value, dict) else None


def _declared_names(
    section: str, node: Node, sections_by_name: dict[str, str], errors: ErrorCollector
) -> dict[str, Node]:
    """Return the names of a section and where they stand: events are a list, all others a mapping."""
    of_events = ((item.value, item) for item in node.items()) if section in EVENTS else None
    found: dict[str, Node] = {}
    for word, entry in of_events or node.fields().items():
        with errors.collect(word):
            name = require_name(word if isinstance(word, str) else entry.text(), entry)
            if section in EVENTS and sections_by_name.get(name) == section:
                entry.fail(f"{name!r} is there twice", hint="once is enough")
            _require_unused(name, section, sections_by_name, entry)
            found[name] = entry
    return found


def _require_unused(name: str, section: str, sections_by_name: dict[str, str], node: Node) -> None:
    """Note of which section a name is; fail where another declaration has it."""
    if name in sections_by_name:
        other = sections_by_name[name]
        sections = f"in {other} and in {section}" if other != section else f"in {section}"
        node.fail(f"{name!r} is there twice, {sections}", hint="one name, one meaning: rename one")
    sections_by_name[name] = section


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

    values: dict[str, Value] = {}
    for name, node in fields[key].fields().items() if key in fields else ():
        with errors.collect(_names_declared(name, node)):
            if name not in known:
                raise UnknownNameError.among("output or local", name, known, where=node.where)
            value = expression_in(fields[key], name, node, declared.fixed_scope, known[name]).constant
            values[name] = known[name].clamp(value)
    return values


def read_resources(fields: Mapping[str, Node], declared: Declarations) -> tuple[str, ...]:
    """Read the outputs that must go off again."""
    nodes = one_or_more(fields["resources"]) if "resources" in fields else []
    return tuple(dict.fromkeys(node.choice("output", declared.outputs) for node in nodes))


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
