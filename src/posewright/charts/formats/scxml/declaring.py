"""What a document declares: its variables and constants with their types, and the functions of ours in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from posewright.charts.expression import Function, Scope, Source, parse_expression
from posewright.charts.formats.flow import LinedList, flow_node
from posewright.charts.formats.function_reading import read_function
from posewright.charts.formats.scxml.data import (
    data_in,
    first_settings,
    is_typed,
    lists_in,
    required,
    settings_in,
    value_text,
)
from posewright.charts.formats.scxml.expressions import Words, translated
from posewright.charts.formats.scxml.inference import infer_types, texts_of
from posewright.charts.formats.scxml.markup import Element
from posewright.charts.formats.scxml.names import Names
from posewright.charts.formats.scxml.namespaces import own
from posewright.charts.formats.scxml.states import Places
from posewright.charts.formats.type_reading import read_type
from posewright.charts.model import Declarations, scope_of
from posewright.charts.types import EnumType, Type, Value
from posewright.documents import Node

ROLES = ("input", "output", "local", "constant")
UNSET = "unset"
"""What `pw:initial` says of a variable that holds nothing in particular at first."""


@dataclass(frozen=True)
class Declared:
    """What the data of a document are in its chart.

    Attributes:
        words: what names are called.
        lists: constant lists, by id: what a <foreach> may go over.
        names: gives out the names that are still free.
    """

    declarations: Declarations
    initial_values: Mapping[str, Value]
    words: Words
    lists: Mapping[str, tuple[str, ...]]
    names: Names = field(repr=False)


def declared_in(root: Element, places: Places) -> Declared:
    """Read every <data> of a document, and the functions of our vocabulary.

    Raises:
        FormatError: a <data> is none, or nothing says its type.
        ExpressionError: a value does not read, or is of another type.
    """
    return _Declaring(root, places).declared()


class _Declaring:
    def __init__(self, root: Element, places: Places) -> None:
        self.root = root
        self.names = Names()
        self.lists = lists_in(root)
        self.data = data_in(root)
        variables = {name: self.names.take(name, "data") for name in self.data}
        self.words = Words(variables, {}, places.names, places.histories, root.get("datamodel") or "")
        self.settings = list(settings_in(root, self.lists))

    def declared(self) -> Declared:
        kinds = self.kinds()
        constants = {name: self.value(name, Scope()) for name in self.data if self.role(name) == "constant"}
        roles: dict[str, dict[str, Type]] = {role: {} for role in ROLES}
        for name in self.data:
            if name not in constants:
                roles[self.role(name)][self.words.variables[name]] = kinds[self.words.variables[name]]
        declarations = Declarations(
            inputs=roles["input"],
            outputs=roles["output"],
            locals=roles["local"],
            constants={self.words.variables[name]: value for name, value in constants.items()},
            units=self.units(constants),
        )
        found = replace(declarations, functions=self.functions(declarations))
        return Declared(found, self.initial_values(found), self.words, self.lists, self.names)

    def role(self, name: str) -> str:
        role = self.data[name].get(own("role")) or "output"
        if role not in ROLES:
            self.data[name].fail(f"{role!r} is no role of a <data>", hint=f"one of {', '.join(ROLES)}")
        return role

    def kinds(self) -> dict[str, Type]:
        """Return the types of all variables, and note what their texts are called."""
        typed = {name: element for name, element in self.data.items() if is_typed(element)}
        known = {
            self.words.variables[name]: read_type(_flow(element, own("type")))
            for name, element in typed.items()
            if element.get(own("type")) is not None
        }
        kinds = [*known.values(), *self.kinds_of_functions()]
        self.take_values(value for kind in kinds if isinstance(kind, EnumType) for value in kind.values)
        untyped = {name: element for name, element in self.data.items() if name not in typed}
        settings = [*first_settings(untyped), *self.settings]
        texts = texts_of(self.root, settings, untyped)
        self.take_values(text for found in texts.values() for text in found)
        for name, found in texts.items():
            known[self.words.variables[name]] = EnumType(tuple(self.words.values[text] for text in found))
        unknown = {name: element for name, element in untyped.items() if name not in texts}
        return {**known, **infer_types(known, unknown, settings, self.words)}

    def kinds_of_functions(self) -> Iterator[Type]:
        """Yield the types that truth tables take and give."""
        for element in self.root.all("pw:function"):
            yield read_type(_flow(element, "gives"))
            yield from (read_type(_flow(one, "type")) for one in element.all("pw:takes"))

    def take_values(self, texts: Any) -> None:
        fresh = [text for text in dict.fromkeys(texts) if text not in self.words.values]
        values = {text: self.names.take(text, "value") for text in fresh}
        self.words = replace(self.words, values={**self.words.values, **values})

    def value(self, name: str, scope: Scope, wanted: Type | None = None) -> Value:
        """Return what a <data> holds at first."""
        element = self.data[name]
        text = value_text(element)
        if text is None:
            element.fail(f"the constant {name} has no value", hint="write it in `expr`")
        source = Source(translated(text, self.words, element), element.where)
        found = parse_expression(source, scope, wanted)
        if found.names:
            element.fail(f"{name} begins with what changes", hint="write a number, a truth value or a text")
        value: Value = found.constant
        return value if wanted is None else wanted.fit(value)  # type: ignore[arg-type]

    def units(self, constants: Mapping[str, Value]) -> dict[str, str]:
        units = {self.words.variables[name]: self.data[name].get(own("unit")) for name in constants}
        return {name: unit for name, unit in units.items() if unit is not None}

    def initial_values(self, declared: Declarations) -> dict[str, Value]:
        found: dict[str, Value] = {}
        scope = declared.fixed_scope
        for name, element in self.data.items():
            variable = self.words.variables[name]
            if variable not in declared.variables or element.get(own("initial")) == UNSET:
                continue
            if value_text(element) is not None:
                found[variable] = self.value(name, scope, declared.variables[variable])
                scope = replace(scope, constants={**scope.constants, variable: found[variable]})
        return found

    def functions(self, declared: Declarations) -> dict[str, Function]:
        """Return the truth tables of our vocabulary."""
        found = {}
        for element in self.root.all("pw:function"):
            name, takes = required(element, "name"), element.all("pw:takes")
            data = {
                "takes": {required(one, "name"): _flow(one, "type").value for one in takes},
                "gives": _flow(element, "gives").value,
                "rows": LinedList([(_row(row), row.line) for row in element.all("pw:row")]),
            }
            found[name] = read_function(name, Node(data, element.path, "", element.line), declared)
        return found


def _flow(element: Element, name: str) -> Node:
    """Return an attribute that is in the notation of native documents."""
    return flow_node(required(element, name), element.path, element.line)


def _row(element: Element) -> Any:
    """Return the row of a function as native documents write it."""
    give = required(element, "give")
    cells = element.get("cells")
    if cells is None:
        return {"when": required(element, "when"), "give": give}
    return [*(cell.strip() for cell in cells.split("|")), give]


def scope_for(declarations: Declarations, states: Mapping[str, str]) -> Scope:
    """Return what guards and actions of a document may use."""
    return scope_of(
        {**declarations.inputs, **declarations.variables},
        declarations.constants,
        units=declarations.units,
        functions=declarations.functions,
        states=frozenset(states.values()),
    )
