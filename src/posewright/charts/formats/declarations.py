"""Readers of the declarations of a chart: types, constants, and truth tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from posewright.charts.expression import Function, FunctionRow, Scope, SourceText, parse_expression
from posewright.charts.formats.csv_rows import WILDCARDS, TableCell, cells_of_list, cells_of_table
from posewright.charts.formats.document_fields import (
    ErrorCollector,
    one_or_more,
    read_condition,
    read_expression,
    read_fields,
    read_quantity,
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
TYPE_KEYWORDS = ("bool", *INT_RANGES, "float", "float32")
TYPE_KEYS = ("int", "float", "float32", "enum", "type")
"""Keys of a mapping that declares a type, of which it has one."""


def read_type(node: Node) -> Type:
    """Return the type that a document declares by a word (`bool`) or a mapping (`{int: [0, 3]}`)."""
    if isinstance(node.value, str):
        return _read_type_keyword(node)
    if not isinstance(node.value, dict):
        node.fail("expected a type", hint=TYPE_HINT)
    fields = node.fields(optional=(*TYPE_KEYS, "unit"))
    type_keys = [key for key in TYPE_KEYS if key in fields]
    if not type_keys:
        node.fail("expected a type", hint=TYPE_HINT)
    if len(type_keys) > 1:
        node.fail(f"both {type_keys[0]!r} and {type_keys[1]!r}", hint=TYPE_HINT)
    (key,) = type_keys
    field = fields[key]
    if key == "type":
        declared_type = _read_type_keyword(field)
    elif key == "enum":
        declared_type = _read_enum(field)
    else:
        declared_type = _read_range(key, field)
    return _add_unit(declared_type, fields["unit"]) if "unit" in fields else declared_type


def _read_type_keyword(node: Node) -> Type:
    """Return the type of a keyword such as `bool` or `uint8`."""
    keyword = node.text()
    if keyword == "bool":
        return BoolType()
    if keyword in ("float", "float32"):
        return FloatType(single=keyword == "float32")
    if keyword in INT_RANGES:
        return IntType(*INT_RANGES[keyword], keyword=keyword)
    raise UnknownNameError.among("type", keyword, TYPE_KEYWORDS, where=node.where)


def _read_range(key: str, node: Node) -> IntType | FloatType:
    """Return the number type of a range such as `{int: [0, 3]}`."""
    end_nodes = node.items()
    if len(end_nodes) != 2:
        node.fail("a range has two ends", hint=TYPE_HINT)
    low, high = end_nodes
    declared_type: IntType | FloatType
    if key == "int":
        low_integer = low.integer(low=INT_LOW, high=INT_HIGH)
        declared_type = IntType(low_integer, high.integer(low=INT_LOW, high=INT_HIGH))
    else:
        declared_type = FloatType(low.number(), high.number(), single=key == "float32")
    if declared_type.low > declared_type.high:
        message = f"the range {declared_type.low:g}..{declared_type.high:g} is empty"
        node.fail(message, hint="the lower end comes first")
    return declared_type


def _read_enum(node: Node) -> EnumType:
    values = tuple(require_name(item.text(), item) for item in node.items())
    if not values or len(set(values)) < len(values):
        node.fail("an enumeration needs different names", hint=TYPE_HINT)
    return EnumType(values)


def _add_unit(declared_type: Type, node: Node) -> Type:
    """Return the type with the unit in a node, or raise a DocumentError if only numbers may have one."""
    if not isinstance(declared_type, IntType | FloatType):
        node.fail(f"{declared_type} cannot have a unit", hint="only numbers have units")
    unit = node.text()
    if unit not in UNITS:
        raise UnknownNameError(f"unknown unit {unit!r}", where=node.where, hint=unit_hint(unit))
    return replace(declared_type, unit=unit)


MAX_ROWS = 4096
"""Rows of a function."""

ROW_HINT = "write a cell for each parameter, then the value: [0, 1, X, left]"

_COMPARISON = re.compile(r"(<=|>=|<|>|==|!=)\s*(.+)")
_PLAIN_NUMBER = re.compile(r"-?[\w.]+(?: [^\W\d]\S*)?")  # a number, one with a unit, or a constant
_INTERVAL = re.compile(r"(.+?)\s*\.\.\s*(.+)")


@dataclass(frozen=True)
class _FunctionHeader:
    """A function without its rows.

    Attributes:
        parameters: the type of each parameter, in order.
        return_type: the type of its value.
        scope: the names that cells may use: constants, values of enumerations, and the parameters.
    """

    parameters: Mapping[str, Type]
    return_type: Type
    scope: Scope


def read_function(name: str, node: Node, declared: Declarations) -> Function:
    """Read a function of a chart, which is declared by its rows or by a CSV file with them.

    Args:
        name: name of the function.
        node: its declaration.
        declared: the constants and their units.

    Raises:
        InputError: the declaration, a type, or a row is not valid, or the file cannot be read.
    """
    fields = node.fields(required=("takes", "gives"), optional=("rows", "table"))
    if ("rows" in fields) == ("table" in fields):
        node.fail("a function needs its rows", hint="write either `rows:` or `table: file.csv`")
    parameters = {
        _read_parameter_name(parameter, field, declared): read_type(field)
        for parameter, field in fields["takes"].fields().items()
    }
    if not parameters:
        fields["takes"].fail("a function needs parameters", hint="declare a constant instead")
    return_type = read_type(fields["gives"])
    enum_values = scope_of({**parameters, "": return_type}, {}).enum_of_value  # "": the value has no name
    scope = Scope(parameters, declared.constants, enum_values, declared.units)
    header = _FunctionHeader(parameters, return_type, scope)
    if "rows" in fields:
        items = fields["rows"].items()
        if not items or len(items) > MAX_ROWS:
            fields["rows"].fail(f"{len(items)} rows", hint=f"a function has 1..{MAX_ROWS}")
        rows = [_read_row(item, header) for item in items]
    else:
        rows_of_cells = cells_of_table(fields["table"], tuple(parameters))
        rows = [_row_of_cells(cells, header) for cells in rows_of_cells]
    return Function(name, parameters, return_type, rows=tuple(rows), line=node.line)


def _read_parameter_name(name: str, node: Node, declared: Declarations) -> str:
    """Return the name of a parameter; raise a DocumentError if it is not valid, or that of a constant."""
    if name in declared.constants:
        node.fail(f"{name!r} is a constant", hint="give the parameter another name")
    return require_name(name, node)


def _read_row(node: Node, header: _FunctionHeader) -> FunctionRow:
    """Read one row of a function: a list of cells, or a mapping `{when: condition, give: value}`."""
    if isinstance(node.value, dict):
        fields = read_fields(node, (), required=("when", "give"))
        when = read_condition(node, key="when", node=fields["when"], scope=header.scope)
        value = read_expression(
            node, key="give", node=fields["give"], scope=header.scope, target=header.return_type
        )
        return FunctionRow(when, value, line=node.line)
    return _row_of_cells(cells_of_list(node), header)


def _row_of_cells(cells: list[TableCell], header: _FunctionHeader) -> FunctionRow:
    """Return the row of a function that cells represent: one cell per parameter, then one with the value.

    The condition of the row is the conjunction of the conditions that the cells express.

    Args:
        cells: the cells.
        header: the parameters and the type of the value.

    Raises:
        InputError: there are more or fewer cells than needed, or a cell is not valid.
    """
    n_cells = len(header.parameters) + 1
    if len(cells) != n_cells:
        needed_cells = f"{', '.join(header.parameters)} and the value"
        cells[-1].fail(f"{len(cells)} cells where {n_cells} are needed ({needed_cells})", hint=ROW_HINT)
    *parameter_cells, value_cell = cells
    conditions = []
    for cell, (name, parameter_type) in zip(parameter_cells, header.parameters.items(), strict=True):
        condition = _cell_condition(name, parameter_type, cell, header.scope)
        if condition is not None:
            conditions.append(condition)
    first_where = cells[0].where
    row_where = Where(first_where.path, first_where.line)
    condition_source = SourceText(" and ".join(conditions) or "true", row_where)
    value_source = SourceText(value_cell.text, value_cell.where)
    return FunctionRow(
        when=parse_expression(condition_source, header.scope, BoolType()),
        value=parse_expression(value_source, header.scope, header.return_type),
        cells=tuple(cell.text for cell in parameter_cells),
        line=row_where.line,
    )


def _cell_condition(name: str, parameter_type: Type, cell: TableCell, scope: Scope) -> str | None:
    """Return the condition on a parameter that a cell expresses, as text; None if it matches any value.

    Examples are `not near` for `0`, `mode == walk` for `walk`, `n >= 2 and n <= 4` for `2..4`, `n < 5` for `<
    5`.

    Args:
        name: the parameter.
        parameter_type: its type.
        cell: the cell.
        scope: the names that the cell may use.

    Raises:
        InputError: the cell is not valid for the type.
    """
    if cell.text in WILDCARDS:
        return None
    if isinstance(parameter_type, BoolType):
        value = parse_expression(SourceText(cell.text, cell.where), scope, BoolType())
        if value.names:
            cell.fail(f"{cell.text!r} is not a valid cell", hint="write 0, 1 or X")
        return name if value.constant else f"not {name}"
    if isinstance(parameter_type, EnumType):
        if cell.text not in parameter_type.values:
            raise UnknownNameError.among("value", cell.text, parameter_type.values, where=cell.where)
        return f"{name} == {cell.text}"
    interval = _INTERVAL.fullmatch(cell.text)
    if interval is not None:
        low = _read_cell_number(interval[1], cell, scope)
        high = _read_cell_number(interval[2], cell, scope)
        return f"{name} >= {low} and {name} <= {high}"
    comparison = _COMPARISON.fullmatch(cell.text)
    operator, number = comparison.groups() if comparison is not None else ("==", cell.text)
    return f"{name} {operator} {_read_cell_number(number, cell, scope)}"


def _read_cell_number(text: str, cell: TableCell, scope: Scope) -> str:
    """Return a part of a cell that is a constant number, as text, in parentheses where needed.

    Args:
        text: the part of the cell.
        cell: the cell, at which errors point.
        scope: the names that it may use.

    Raises:
        InputError: the part is not a number, or depends on a parameter.
    """
    cell_column = cell.where.column
    text_column = cell_column + cell.text.find(text) if cell_column is not None else None
    where = Where(cell.where.path, cell.where.line, text_column)
    number = parse_expression(SourceText(text, where), scope)
    if not isinstance(number.type, Numeric) or number.names:
        cell.fail(f"{cell.text!r} is not a valid cell", hint="write a number, `< 5`, `2..4` or X")
    return text if _PLAIN_NUMBER.fullmatch(text) else f"({text})"


VARIABLES = ("inputs", "outputs", "locals")
EVENTS = ("events", "local_events")
SECTIONS = (*VARIABLES, *EVENTS, "constants", "functions")
"""Sections of a document that declare names."""


def read_declarations(fields: Mapping[str, Node], errors: ErrorCollector) -> Declarations:
    """Read the sections that declare names: first all names, then types, constants, and functions.

    A declaration with an error is left out, and the error is collected.

    Args:
        fields: the fields of the document.
        errors: collects the errors of the declarations.
    """
    sections_by_name: dict[str, str] = {}
    nodes: dict[str, dict[str, Node]] = {section: {} for section in SECTIONS}
    for section in SECTIONS:
        if section in fields:
            with errors.collect(fields[section].value):
                nodes[section] = _read_names(section, fields[section], sections_by_name, errors)
    types: dict[str, dict[str, Type]] = {section: {} for section in VARIABLES}
    for section in VARIABLES:
        for name, node in nodes[section].items():
            with errors.collect(_list_declared_names(name, node)):
                types[section][name] = read_type(node)
    constants: dict[str, Value] = {}
    units: dict[str, str] = {}
    for name, node in nodes["constants"].items():
        with errors.collect(_list_declared_names(name, node)):
            constants[name], unit = _read_constant(node)
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
        with errors.collect(_list_declared_names(name, node)):
            functions[name] = read_function(name, node, declared)
    declared = replace(declared, functions=functions)
    enum_value_nodes = _read_enum_values(declared, nodes, sections_by_name, errors)
    lines: dict[str, int] = {}
    for nodes_by_name in (*nodes.values(), enum_value_nodes):
        lines |= {name: node.line for name, node in nodes_by_name.items() if node.line is not None}
    return replace(declared, lines=lines)


def _read_enum_values(
    declared: Declarations,
    nodes_by_section: Mapping[str, Mapping[str, Node]],
    sections_by_name: dict[str, str],
    errors: ErrorCollector,
) -> dict[str, Node]:
    """Return the node that first declares each value of an enumeration, by the value.

    A value that is the name of something else is an error, which is collected.

    Args:
        declared: the declarations.
        nodes_by_section: the nodes that declare names, by section and name.
        sections_by_name: the section of each name so far, for messages; the values are added.
        errors: collects the errors.
    """
    node_by_enum: dict[EnumType, Node] = {}  # enumerations with the same values are the same type
    types_by_section = (declared.inputs, declared.outputs, declared.locals)
    for section, types in zip(VARIABLES, types_by_section, strict=True):
        for name, declared_type in types.items():
            if isinstance(declared_type, EnumType):
                node_by_enum.setdefault(declared_type, nodes_by_section[section][name])
    for name, function in declared.functions.items():
        for declared_type in (*function.parameters.values(), function.return_type):
            if isinstance(declared_type, EnumType):
                node_by_enum.setdefault(declared_type, nodes_by_section["functions"][name])
    value_nodes: dict[str, Node] = {}
    for enum, node in node_by_enum.items():
        for value in enum.values:
            with errors.collect(value):
                _register_name(value, f"the values of {enum}", sections_by_name, node)
                value_nodes[value] = node
    return value_nodes


def _list_declared_names(name: str, node: Node) -> tuple[str, object]:
    """Return the names that a declaration introduces: its own, and the values of its enumeration."""
    enum_values = node.value.get("enum") if isinstance(node.value, dict) else None
    return name, enum_values


def _read_names(
    section: str, node: Node, sections_by_name: dict[str, str], errors: ErrorCollector
) -> dict[str, Node]:
    """Return the node of each name in a section, by name; names with errors are left out.

    Args:
        section: the key of the section.
        node: the section: a list of events, or a mapping from names to their declarations.
        sections_by_name: the section of each name so far, for messages; the names of this section are added.
        errors: collects the errors.
    """
    nodes: dict[str, Node] = {}
    if section in EVENTS:
        for item in node.items():
            with errors.collect(item.value):
                name = require_name(item.text(), item)
                if sections_by_name.get(name) == section:
                    item.fail(f"{name!r} occurs twice", hint="remove one of them")
                _register_name(name, section, sections_by_name, node=item)
                nodes[name] = item
        return nodes
    for name, declaration in node.fields().items():
        with errors.collect(name):
            require_name(name, declaration)
            _register_name(name, section, sections_by_name, node=declaration)
            nodes[name] = declaration
    return nodes


def _register_name(name: str, section: str, sections_by_name: dict[str, str], node: Node) -> None:
    """Add a name with its section to `sections_by_name`; raise a DocumentError if it is there already."""
    if name in sections_by_name:
        earlier = sections_by_name[name]
        sections = f"in {earlier} and in {section}" if earlier != section else f"in {section}"
        node.fail(f"{name!r} occurs twice, {sections}", hint="names are unique: rename one")
    sections_by_name[name] = section


def _read_constant(node: Node) -> tuple[Value, str | None]:
    """Return the value of a constant and its unit, which is None if it has none.

    Raises:
        DocumentError: it is no truth value, number or text such as `36 cm`.
    """
    if isinstance(node.value, bool):
        return node.value, None
    if isinstance(node.value, str):
        return read_quantity(node)
    if isinstance(node.value, int):
        return node.integer(low=INT_LOW, high=INT_HIGH), None
    return node.number(), None


def read_initial_values(
    fields: Mapping[str, Node], declared: Declarations, errors: ErrorCollector
) -> dict[str, Value]:
    """Return the declared values of outputs and locals before an action sets them, by name.

    Args:
        fields: the fields of the document. Older documents have the key `initial_outputs`, for outputs only.
        declared: the declarations.
        errors: collects the errors of the values.
    """
    old_key = "initial_outputs"
    key = "initial_values"
    types_by_name: Mapping[str, Type] = declared.variables
    if old_key in fields:
        if key in fields:
            message = f"both {key!r} and {old_key!r}"
            fields[old_key].fail(message, hint=f"use {key!r} for outputs and locals")
        key = old_key
        types_by_name = declared.outputs
    if key not in fields:
        return {}
    section = fields[key]
    values: dict[str, Value] = {}
    for name, node in section.fields().items():
        with errors.collect(_list_declared_names(name, node)):
            if name not in types_by_name:
                raise UnknownNameError.among("output or local", name, types_by_name, where=node.where)
            value_type = types_by_name[name]
            expression = read_expression(section, name, node, declared.fixed_scope, target=value_type)
            values[name] = value_type.clamp(expression.constant)
    return values


def read_resources(fields: Mapping[str, Node], declared: Declarations) -> tuple[str, ...]:
    """Read the outputs that must return to zero."""
    nodes = one_or_more(fields["resources"]) if "resources" in fields else []
    return tuple(dict.fromkeys(node.choice("output", declared.outputs) for node in nodes))


def read_table_form(node: Node, states: Collection[str], declared: Declarations) -> TableForm:
    """Read the form of the chart's truth table: its columns, and the code of each state.

    Args:
        node: the field `table` of the document.
        states: names of the states.
        declared: the inputs and outputs.
    """
    fields = node.fields(required=("state_bits", "codes", "inputs"), optional=("outputs",))
    state_bits = tuple(bit.text() for bit in fields["state_bits"].items())
    code_nodes = fields["codes"].fields(required=states, optional=())
    code_of_state = {name: _read_code(code, len(state_bits)) for name, code in code_nodes.items()}
    if len(set(code_of_state.values())) < len(code_of_state):
        fields["codes"].fail("two states have the same code", hint="give every state its own")
    output_of_column = {name: name for name in declared.outputs}  # unless the document names the columns
    if "outputs" in fields:
        output_of_column = _read_columns(fields["outputs"], declared.outputs, "output")
    input_of_column = _read_columns(fields["inputs"], declared.inputs, "input")
    return TableForm(input_of_column, output_of_column, state_bits, code_of_state)


def _read_columns(node: Node, types: Mapping[str, Type], kind: str) -> dict[str, str]:
    """Return the input or output of each column; raise an error unless each of them has exactly one column.

    Args:
        node: a mapping from columns to names.
        types: the inputs or outputs and their types.
        kind: `input` or `output`, for messages.
    """
    name_of_column = {column: name.choice(kind, list(types)) for column, name in node.fields().items()}
    for name in types:
        if list(name_of_column.values()).count(name) != 1:
            node.fail(f"the {kind} {name!r} needs exactly one column", hint=f"write it as `column: {name}`")
    return name_of_column


def _read_code(node: Node, n_bits: int) -> str:
    """Return the code of a state, as text of 0 and 1; raise a DocumentError if it has other bits."""
    code = node.text()
    if len(code) != n_bits or set(code) - {"0", "1"}:
        node.fail(f"{code!r} is not a code of {n_bits} bits", hint='write it in quotes, as in "01"')
    return code
