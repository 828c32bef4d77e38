"""The data of an SCXML document: variables, constants and lists; types that are not stated are inferred.

They become the sections of a native document that declare names, which the native reader checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from posewright.charts.expression import Function, Scope, SourceText, names_in, parse, parse_expression
from posewright.charts.formats.declarations import VARIABLES, read_function, read_type
from posewright.charts.formats.native_nodes import LineList, LineMapping, flow_node
from posewright.charts.formats.native_writer import constant_data, type_data, value_data
from posewright.charts.formats.scxml.expressions import (
    DataToken,
    NamesInChart,
    tokens_of,
    translate_expression,
)
from posewright.charts.formats.scxml.names import FreeNames, StateNames
from posewright.charts.formats.scxml.vocabulary import UNSET, build_mapping, extension_name
from posewright.charts.model import Declarations, scope_of
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type, Value
from posewright.documents import Node
from posewright.documents.markup import Element

SECTIONS = {"input": "inputs", "output": "outputs", "local": "locals", "constant": "constants"}
"""The section of a native document for each role of a <data>."""

MAX_LIST = 100
"""Elements in a list; a <foreach> is unrolled over them."""

MAX_ROUNDS = 20
"""Rounds of type inference: how long a chain of assignments between variables may be."""

_LIST = re.compile(r"\[(.*)\]", re.DOTALL)
_EQUALITY_SIGNS = frozenset({"==", "!=", "===", "!=="})


@dataclass(frozen=True)
class Assignment:
    """An assignment of a value to a variable, anywhere in a document.

    Attributes:
        location: the variable, as in the document.
        text: the expression, as in the document.
    """

    location: str
    text: str
    element: Element

    @cached_property
    def tokens(self) -> list[DataToken]:
        """The tokens of the expression."""
        return list(tokens_of(self.text, self.element))


@dataclass(frozen=True)
class DataModel:
    """The data of a document in its chart.

    Attributes:
        sections: the sections of a native document.
        declared: the same declarations, as a value.
        names: the names in the chart.
        lists: constant lists by id, which a <foreach> may iterate over.
        free_names: hands out names that are still unused.
    """

    sections: Mapping[str, LineMapping]
    declared: Declarations
    names: NamesInChart
    lists: Mapping[str, tuple[str, ...]]
    free_names: FreeNames = field(repr=False)


def read_data(root: Element, states: StateNames) -> DataModel:
    """Read every <data> of a document, and the functions of the extension namespace."""
    return _DataReader(root, states).read()


def find_data_elements(root: Element) -> dict[str, Element]:
    """Return every <data> that is a variable by its id, including those that a <foreach> declares.

    Raises:
        FormatError: two <data> have the same id.
    """
    elements: dict[str, Element] = {}
    for element in root.walk():
        if element.name == "data":
            name = element.required("id")
            if name in elements:
                element.fail(f"there are two <data> called {name!r}", hint="rename one")
            elements[name] = element
    foreach_elements = [element for element in root.walk() if element.name == "foreach"]
    for element in foreach_elements:
        for variable in (element.get("item"), element.get("index")):
            if variable is not None:
                data = Element("data", {"id": variable}, line=element.line, path=element.path)
                elements.setdefault(variable, data)
    return {name: element for name, element in elements.items() if _read_list(element) is None}


def _lists_in(root: Element) -> dict[str, tuple[str, ...]]:
    """Return the elements of every <data> that is a list, by its id."""
    lists = {element.required("id"): _read_list(element) for element in root.walk() if element.name == "data"}
    return {name: items for name, items in lists.items() if items is not None}


def _read_list(element: Element) -> tuple[str, ...] | None:
    """Return the texts of a list's elements, such as `[1, 2]`; None if a <data> is not a list."""
    match = _LIST.fullmatch(_value_text(element) or "")
    if match is None:
        return None
    items = tuple(item.strip() for item in match[1].split(",") if item.strip())
    if len(items) > MAX_LIST:
        element.fail(f"a list of {len(items)} elements", hint=f"at most {MAX_LIST}")
    return items


def _value_text(element: Element) -> str | None:
    """Return the value of a <data> or <assign>: its `expr`, else the text inside; None for none."""
    expr = element.get("expr")
    return (element.text.strip() or None) if expr is None else expr.strip()


def assigned_text(element: Element) -> str:
    """Return the expression of the value of an <assign>; raise a FormatError if it has none."""
    text = _value_text(element)
    if text is None:
        element.fail(f"<{element.name}> without a value", hint="write it in `expr`")
    return text


def list_assignments(root: Element, data: Mapping[str, Element]) -> list[Assignment]:
    """Return all assignments of a document: first those of `data`, then the others."""
    texts = {name: _value_text(element) for name, element in data.items()}
    first = [Assignment(name, text, data[name]) for name, text in texts.items() if text is not None]
    return [*first, *_list_assignments_outside_data(root, _lists_in(root))]


def _list_assignments_outside_data(
    root: Element, lists: Mapping[str, tuple[str, ...]]
) -> Iterator[Assignment]:
    """Yield the assignments in the actions of a document, those that <foreach> makes included."""
    for element in root.walk():
        if element.name == "assign":
            yield Assignment(element.required("location"), assigned_text(element), element)
        elif element.name == "foreach":
            items = lists.get(element.get("array") or "", ())
            item_variable = element.get("item")
            index_variable = element.get("index")
            if item_variable:
                for text in items:
                    yield Assignment(item_variable, text, element)
            if index_variable:  # the greatest index is enough to infer the type of the variable
                yield Assignment(index_variable, str(max(len(items) - 1, 0)), element)


class _DataReader:
    """Reads the data of a document.

    Attributes:
        root: the document.
        free_names: hands out names that are still unused.
        data: every <data> that is a variable or constant, by its id.
        name_by_data_id: the names of these in the chart, by id.
        names: the names of data, enumeration values and states in the chart.
    """

    def __init__(self, root: Element, states: StateNames) -> None:
        """Give every <data> a name in the chart; types and values are read later."""
        self.root = root
        self.free_names = FreeNames()
        self.data = find_data_elements(root)
        self.name_by_data_id = {
            data_id: self.free_names.take_name(data_id, suffix="data") for data_id in self.data
        }
        # enumeration values are added by `read_types`
        self.names = NamesInChart(
            self.name_by_data_id,
            enum_value_by_text={},
            state_by_id=states.name_by_id,
            history_ids=states.history_by_id,
            datamodel=root.get("datamodel") or "",
        )

    def read(self) -> DataModel:
        """Return the variables, constants and functions of the document."""
        variable_types = self.read_types()
        types: dict[str, dict[str, Type]] = {section: {} for section in VARIABLES}
        constants: dict[str, Value] = {}
        units: dict[str, str] = {}
        for data_id, element in self.data.items():
            role = self.role_of(data_id)
            name = self.name_by_data_id[data_id]
            if role == "constant":
                constants[name] = self.read_value(data_id, element, Scope())
                unit = element.get(extension_name("unit"))
                if unit is not None:
                    units[name] = unit
            else:
                types[SECTIONS[role]][name] = variable_types[name]
        declared = Declarations(
            inputs=types["inputs"],
            outputs=types["outputs"],
            locals=types["locals"],
            constants=constants,
            units=units,
        )
        data_by_function = {
            element.required("name"): _function_data(element) for element in self.root.all("pw:function")
        }
        functions: dict[str, Function] = {}
        for name, data in data_by_function.items():
            node = Node(data, self.root.path, trail="", line=data.line)
            functions[name] = read_function(name, node, declared)
        section_data: dict[str, Mapping[str, object]] = {
            section: {name: type_data(value_type) for name, value_type in types[section].items()}
            for section in VARIABLES
        }
        section_data["constants"] = {
            name: constant_data(value, units.get(name)) for name, value in constants.items()
        }
        section_data["initial_values"] = self.read_initial_values(declared)
        section_data["functions"] = data_by_function
        lines = {self.name_by_data_id[data_id]: element.line for data_id, element in self.data.items()}
        sections = {key: LineMapping(entries, self.root.line, lines) for key, entries in section_data.items()}
        return DataModel(
            sections,
            replace(declared, functions=functions),
            self.names,
            lists=_lists_in(self.root),
            free_names=self.free_names,
        )

    def role_of(self, data_id: str) -> str:
        """Return what a <data> declares: `input`, `output` (the default), `local` or `constant`."""
        element = self.data[data_id]
        role = element.get(extension_name("role")) or "output"
        if role not in SECTIONS:
            element.fail(f"{role!r} is not a role of a <data>", hint=f"use one of {', '.join(SECTIONS)}")
        return role

    def read_types(self) -> dict[str, Type]:
        """Return the type of every variable by its name in the chart, as stated or inferred.

        A variable without a stated type is an enumeration if it is set to texts; the type of any other
        follows from the values that it is set to. The names of enumeration values are added to `names`.
        """
        type_key = extension_name("type")
        typed_ids = [data_id for data_id, element in self.data.items() if element.get(type_key) is not None]
        types = {
            self.name_by_data_id[data_id]: read_type(_yaml_attribute(self.data[data_id], type_key))
            for data_id in typed_ids
        }
        function_types = map(read_type, _types_of_functions(self.root))
        for stated_type in [*types.values(), *function_types]:
            if isinstance(stated_type, EnumType):
                self.add_enum_values(stated_type.values)
        untyped_data = {
            data_id: element
            for data_id, element in self.data.items()
            if data_id not in typed_ids and self.role_of(data_id) != "constant"
        }
        assignments = list_assignments(self.root, untyped_data)
        texts_by_data_id = find_texts_of_variables(self.root, assignments, untyped_data)
        self.add_enum_values(text for texts in texts_by_data_id.values() for text in texts)
        for data_id, texts in texts_by_data_id.items():
            enum_values = tuple(self.names.enum_value_by_text[text] for text in texts)
            types[self.name_by_data_id[data_id]] = EnumType(enum_values)
        # numbers and truth values
        remaining_data = {
            data_id: element for data_id, element in untyped_data.items() if data_id not in texts_by_data_id
        }
        return {**types, **_infer_types(types, remaining_data, assignments, self.names)}

    def add_enum_values(self, texts: Iterable[str]) -> None:
        """Add a new enumeration value to `names` for each text that has none yet."""
        new_texts = [text for text in dict.fromkeys(texts) if text not in self.names.enum_value_by_text]
        new_values = {text: self.free_names.take_name(text, suffix="value") for text in new_texts}
        self.names = replace(self.names, enum_value_by_text={**self.names.enum_value_by_text, **new_values})

    def read_value(self, data_id: str, element: Element, scope: Scope, target: Type | None = None) -> Value:
        """Return the constant value of a <data>.

        Args:
            data_id: its id, for messages.
            element: the <data>.
            scope: the names that its expression may use.
            target: the type that the value must have, to whose range it is clamped; None for any.

        Raises:
            FormatError: it has no value, or the value depends on a variable.
            ExpressionError: the value has another type.
        """
        text = _value_text(element)
        if text is None:
            element.fail(f"the constant {data_id} has no value", hint="write it in `expr`")
        source = SourceText(translate_expression(text, self.names, element), element.where)
        expression = parse_expression(source, scope, target)
        if expression.names:
            hint = "write a number, a truth value or a text"
            element.fail(f"the value of {data_id} reads a variable", hint=hint)
        value: Value = expression.constant
        return value if target is None else target.clamp(value)  # type: ignore[arg-type]

    def read_initial_values(self, declared: Declarations) -> dict[str, Value]:
        """Return the initial values of outputs and locals by their names in the chart.

        A value may be computed from those before it. Variables without an initial value are left out.
        """
        values: dict[str, Value] = {}
        for data_id, element in self.data.items():
            variable = self.name_by_data_id[data_id]
            is_unset = element.get(extension_name("initial")) == UNSET or _value_text(element) is None
            if variable not in declared.variables or is_unset:
                continue
            fixed_scope = declared.fixed_scope
            # the variables before this one are constants for its expression
            scope = replace(fixed_scope, constants={**fixed_scope.constants, **values})
            values[variable] = self.read_value(data_id, element, scope, target=declared.variables[variable])
        return {name: value_data(value) for name, value in values.items()}


def _yaml_attribute(element: Element, name: str) -> Node:
    """Return an attribute that holds YAML as a node of a native document, with the element's line."""
    return flow_node(element.required(name), element.path, element.line)


def _types_of_functions(root: Element) -> Iterator[Node]:
    """Yield the declarations of the types of all functions' values and parameters."""
    for element in root.all("pw:function"):
        yield _yaml_attribute(element, "gives")
        yield from (_yaml_attribute(parameter, "type") for parameter in element.all("pw:takes"))


def _function_data(element: Element) -> LineMapping:
    """Return the declaration of a function as in a native document: `{takes: ..., gives: ..., rows: ...}`."""
    parameters = {
        parameter.required("name"): _yaml_attribute(parameter, "type").value
        for parameter in element.all("pw:takes")
    }
    rows = LineList((_row_data(row) for row in element.all("pw:row")), element.line)
    return build_mapping(element, takes=parameters, gives=_yaml_attribute(element, "gives").value, rows=rows)


def _row_data(element: Element) -> LineMapping | LineList:
    """Return a row of a function as in a native document: a condition and a value, or a list of cells."""
    value = element.required("give")
    cells = element.get("cells")
    if cells is None:
        return build_mapping(element, when=element.required("when"), give=value)
    return LineList([*(cell.strip() for cell in cells.split("|")), value], element.line)


def find_texts_of_variables(
    root: Element, assignments: Iterable[Assignment], variables: Iterable[str]
) -> dict[str, list[str]]:
    """Return the texts that each text variable may hold: those it is set to or compared with.

    A text variable is one that is set to a text in quotes, as in <assign location="speed" expr="'slow'"/>.
    Variables that share a text have all texts in common, as they have the same enumeration type.

    Args:
        root: the document.
        assignments: its assignments.
        variables: the ids of the variables whose type is not stated; others are left out.
    """
    texts_by_variable: dict[str, list[str]] = {}
    tokens_of_expressions = []
    for assignment in assignments:
        tokens_of_expressions.append(assignment.tokens)
        for text in _assigned_texts(assignment.tokens):
            texts_by_variable.setdefault(assignment.location, []).append(text)
    for element in root.walk():
        tokens_of_expressions.append(list(tokens_of(element.get("cond") or "", element)))
    for tokens in tokens_of_expressions:
        _add_compared_texts(tokens, texts_by_variable)
    untyped_variables = set(variables)
    return _merge_shared_texts(
        {name: texts for name, texts in texts_by_variable.items() if name in untyped_variables}
    )


def _assigned_texts(tokens: list[DataToken]) -> Iterator[str]:
    """Yield the texts that may be the value of an expression, not those it compares with or tests by `In`."""
    for i, token in enumerate(tokens):
        is_compared = any(neighbour.text in _EQUALITY_SIGNS for neighbour in tokens[max(i - 1, 0) : i + 2])
        is_state = i >= 2 and tokens[i - 2].text == "In"  # as in In('state')
        if token.kind == "string" and not is_compared and not is_state:
            yield token.quoted_text


def _add_compared_texts(tokens: list[DataToken], texts_by_variable: dict[str, list[str]]) -> None:
    """Add to `texts_by_variable` the texts that an expression compares text variables with by == or !=.

    Args:
        tokens: the tokens of the expression.
        texts_by_variable: the texts of each text variable; comparisons of other variables are ignored.
    """
    for left, sign, right in zip(tokens, tokens[1:], tokens[2:], strict=False):
        name, string = (left, right) if left.kind == "name" else (right, left)
        if sign.text not in _EQUALITY_SIGNS or name.kind != "name" or string.kind != "string":
            continue
        if name.text in texts_by_variable:
            texts_by_variable[name.text].append(string.quoted_text)


def _merge_shared_texts(texts_by_variable: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return for each variable the texts of all variables that share texts with it, directly or not."""
    groups: list[dict[str, None]] = []  # sets of texts that keep the order
    for texts in texts_by_variable.values():
        merged_group = dict.fromkeys(texts)
        separate_groups = []
        for group in groups:
            if group.keys() & merged_group.keys():
                merged_group = {**group, **merged_group}
            else:
                separate_groups.append(group)
        groups = [*separate_groups, merged_group]
    merged_texts = {}
    for name, texts in texts_by_variable.items():
        merged_texts[name] = list(next(group for group in groups if texts[0] in group))
    return merged_texts


def _infer_types(
    types: Mapping[str, Type],
    untyped_data: Mapping[str, Element],
    assignments: list[Assignment],
    names: NamesInChart,
) -> dict[str, Type]:
    """Return the types of numbers and truth values without a stated type, by their names in the chart.

    The assignments are visited again and again until nothing new follows, since the type of a variable may
    follow from another variable whose type was inferred in the round before.

    Args:
        types: the types of the other variables, by their names in the chart.
        untyped_data: the <data> elements whose types are inferred, by their ids.
        assignments: the assignments of the document.
        names: what the names of the document mean in the chart.

    Raises:
        FormatError: no type follows for some variable, or a number and a truth value are assigned to one.
    """
    inferred: dict[str, Type] = {}
    for _ in range(MAX_ROUNDS):
        previously_inferred = dict(inferred)
        for assignment in assignments:
            if assignment.location in untyped_data:
                _infer_from_assignment(assignment, types, inferred, names)
        if inferred == previously_inferred:
            break
    for data_id, element in untyped_data.items():
        if names.variable_by_data_id[data_id] not in inferred:
            hint = "write its value, as in <data id=... expr='0'/>"
            element.fail(f"the type of {data_id} cannot be inferred", hint=hint)
    return inferred


def _infer_from_assignment(
    assignment: Assignment, types: Mapping[str, Type], inferred: dict[str, Type], names: NamesInChart
) -> None:
    """Add the type of an assigned variable to `inferred`, if the types of all that its value reads are known.

    The type that is there already is widened: a float is assigned to it as well as integers.
    """
    element = assignment.element
    source = SourceText(translate_expression(assignment.text, names, element), element.where)
    scope = scope_of({**types, **inferred}, {}, states=frozenset(names.state_by_id.values()))
    if not names_in(parse(source)) <= set(scope.names):
        return
    value_type = parse_expression(source, scope).type
    name = names.variable_by_data_id[assignment.location]
    inferred[name] = _common_type(inferred.get(name, value_type), value_type, assignment)


def _common_type(earlier: Type, new: Type, assignment: Assignment) -> Type:
    """Return the type of a variable that is assigned values of two types: a float if one of them is.

    Args:
        earlier: the type that follows from earlier assignments.
        new: the type of the value that is assigned now.
        assignment: the assignment, at which the error points.

    Raises:
        FormatError: one is a truth value and the other is not.
    """
    if isinstance(earlier, BoolType) != isinstance(new, BoolType):
        message = f"{assignment.location} holds a truth value in one place and a number in another"
        assignment.element.fail(message, hint="a <data> holds values of one type")
    if isinstance(earlier, EnumType | BoolType) or isinstance(new, EnumType):
        return earlier  # names and numbers do not mix; the native reader reports that
    return FloatType() if isinstance(earlier, FloatType) or isinstance(new, FloatType) else IntType()
