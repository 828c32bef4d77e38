"""The data of a document: its variables, constants and lists, with the types that it does not say.

They become the sections of a native document that declare names, which the native reader checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from posewright.charts.expression import Scope, SourceText, names_in, parse, parse_expression
from posewright.charts.formats.declarations import VARIABLES, read_function, read_type
from posewright.charts.formats.native_nodes import Entries, Items, flow_node
from posewright.charts.formats.native_writer import constant_data, type_data, value_data
from posewright.charts.formats.scxml.expressions import DataToken, Renaming, tokens_of, translated
from posewright.charts.formats.scxml.names import FreeNames, StateNames
from posewright.charts.formats.scxml.vocabulary import UNSET, mapping_at, own
from posewright.charts.model import Declarations, scope_of
from posewright.charts.types import BoolType, EnumType, FloatType, IntType, Type, Value
from posewright.documents import Node
from posewright.documents.markup import Element

SECTIONS = {"input": "inputs", "output": "outputs", "local": "locals", "constant": "constants"}
"""Roles of a <data>, and the sections of a native document that they stand for."""

MAX_LIST = 100
"""Elements in a list: a <foreach> does its actions once for each."""

MAX_ROUNDS = 20
"""How far a type may follow from another that follows from another."""

_LIST = re.compile(r"\[(.*)\]", re.DOTALL)
_SAME = frozenset({"==", "!=", "===", "!=="})


@dataclass(frozen=True)
class Setting:
    """That some place of the document sets a variable to a value.

    Attributes:
        text: the expression, in the document's words.
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
    """What the data of a document are in its chart.

    Attributes:
        sections: what they are in a native document.
        declared: the same as the chart has it.
        names: what names are called.
        lists: constant lists, by id: what a <foreach> may go over.
        free: gives out the names that are still free.
    """

    sections: Mapping[str, Entries]
    declared: Declarations
    names: Renaming
    lists: Mapping[str, tuple[str, ...]]
    free: FreeNames = field(repr=False)


def read_data(root: Element, states: StateNames) -> DataModel:
    """Read every <data> of a document, and the functions of our vocabulary."""
    return _DataReader(root, states).read()


def data_in(root: Element) -> dict[str, Element]:
    """Return every <data> that is a variable, by its id; also those declared by a <foreach>."""
    found: dict[str, Element] = {}
    for element in root.walk():
        if element.name == "data":
            name = element.required("id")
            if name in found:
                element.fail(f"a <data> {name!r} is there twice", hint="rename one")
            found[name] = element
    for element in root.walk():
        for key in ("item", "index") if element.name == "foreach" else ():
            item = element.get(key)
            if item is not None:
                found.setdefault(item, Element("data", {"id": item}, line=element.line, path=element.path))
    return {name: element for name, element in found.items() if _list_in(element) is None}


def _lists_in(root: Element) -> dict[str, tuple[str, ...]]:
    lists = {one.required("id"): _list_in(one) for one in root.walk() if one.name == "data"}
    return {name: items for name, items in lists.items() if items is not None}


def _list_in(element: Element) -> tuple[str, ...] | None:
    match = _LIST.fullmatch(_value_text(element) or "")
    if match is None:
        return None
    items = tuple(item.strip() for item in match[1].split(",") if item.strip())
    if len(items) > MAX_LIST:
        element.fail(f"a list of {len(items)} elements", hint=f"at most {MAX_LIST}")
    return items


def _value_text(element: Element) -> str | None:
    """Return what a <data> or an <assign> writes as its value: its `expr`, else the text inside."""
    expr = element.get("expr")
    return (element.text.strip() or None) if expr is None else expr.strip()


def assigned(element: Element) -> str:
    """Return the value that an <assign> writes."""
    text = _value_text(element)
    if text is None:
        element.fail(f"<{element.name}> without a value", hint="write it in `expr`")
    return text


def settings_in(root: Element, data: Mapping[str, Element]) -> list[Setting]:
    """Return every place that sets a variable: first those of `data`, then all others of the document."""
    texts = {name: _value_text(element) for name, element in data.items()}
    first = [Setting(name, text, data[name]) for name, text in texts.items() if text is not None]
    return [*first, *_later_settings(root, _lists_in(root))]


def _later_settings(root: Element, lists: Mapping[str, tuple[str, ...]]) -> Iterator[Setting]:
    for element in root.walk():
        if element.name == "assign":
            yield Setting(element.required("location"), assigned(element), element)
        elif element.name == "foreach":
            items = lists.get(element.get("array") or "", ())
            for text in items if element.get("item") else ():
                yield Setting(element.required("item"), text, element)
            if element.get("index"):
                yield Setting(element.required("index"), str(max(len(items) - 1, 0)), element)


class _DataReader:
    def __init__(self, root: Element, states: StateNames) -> None:
        self.root = root
        self.free = FreeNames()
        self.data = data_in(root)
        self.called = {name: self.free.take(name, "data") for name in self.data}
        self.names = Renaming(self.called, {}, states.names, states.histories, root.get("datamodel") or "")

    def read(self) -> DataModel:
        kinds = self.kinds()
        types: dict[str, dict[str, Type]] = {section: {} for section in VARIABLES}
        constants: dict[str, Value] = {}
        for name, element in self.data.items():
            role = self.role(name)
            called = self.called[name]
            if role == "constant":
                constants[called] = self.value(name, element, Scope())
            else:
                types[SECTIONS[role]][called] = kinds[called]
        said = {self.called[name]: one.get(own("unit")) for name, one in self.data.items()}
        units = {name: unit for name, unit in said.items() if unit is not None and name in constants}
        declared = Declarations(
            inputs=types["inputs"],
            outputs=types["outputs"],
            locals=types["locals"],
            constants=constants,
            units=units,
        )
        functions = {one.required("name"): _function(one) for one in self.root.all("pw:function")}
        nodes = {name: Node(one, self.root.path, "", one.line) for name, one in functions.items()}
        read = {name: read_function(name, node, declared) for name, node in nodes.items()}
        written: dict[str, Mapping[str, object]] = {
            **{key: {name: type_data(kind) for name, kind in types[key].items()} for key in VARIABLES},
            "constants": {
                name: constant_data(one, units.get(name)) for name, one in declared.constants.items()
            },
            "initial_values": self.initial_values(declared),
            "functions": functions,
        }
        lines = {self.called[name]: element.line for name, element in self.data.items()}
        sections = {key: Entries(entries, self.root.line, lines) for key, entries in written.items()}
        return DataModel(
            sections, replace(declared, functions=read), self.names, _lists_in(self.root), self.free
        )

    def role(self, name: str) -> str:
        role = self.data[name].get(own("role")) or "output"
        if role not in SECTIONS:
            self.data[name].fail(f"{role!r} is no role of a <data>", hint=f"one of {', '.join(SECTIONS)}")
        return role

    def kinds(self) -> dict[str, Type]:
        typed = {name: one for name, one in self.data.items() if one.get(own("type")) is not None}
        known = {self.called[name]: read_type(_flow(one, own("type"))) for name, one in typed.items()}
        said = [*known.values(), *map(read_type, _types_of_functions(self.root))]
        self.take_values(value for kind in said if isinstance(kind, EnumType) for value in kind.values)
        untyped = {
            name: one
            for name, one in self.data.items()
            if name not in typed and self.role(name) != "constant"
        }
        settings = settings_in(self.root, untyped)
        texts = texts_of(self.root, settings, untyped)
        self.take_values(text for found in texts.values() for text in found)
        for name, found in texts.items():
            known[self.called[name]] = EnumType(tuple(self.names.values[text] for text in found))
        unknown = {name: element for name, element in untyped.items() if name not in texts}
        return {**known, **_infer_types(known, unknown, settings, self.names)}

    def take_values(self, texts: Iterable[str]) -> None:
        fresh = [text for text in dict.fromkeys(texts) if text not in self.names.values]
        values = {text: self.free.take(text, "value") for text in fresh}
        self.names = replace(self.names, values={**self.names.values, **values})

    def value(self, name: str, element: Element, scope: Scope, wanted: Type | None = None) -> Value:
        text = _value_text(element)
        if text is None:
            element.fail(f"the constant {name} has no value", hint="write it in `expr`")
        found = parse_expression(
            SourceText(translated(text, self.names, element), element.where), scope, wanted
        )
        if found.names:
            element.fail(f"{name} begins with what changes", hint="write a number, a truth value or a text")
        value: Value = found.constant
        return value if wanted is None else wanted.clamp(value)  # type: ignore[arg-type]

    def initial_values(self, declared: Declarations) -> dict[str, Value]:
        """Return what variables hold at first; a value may be computed from those before it."""
        found: dict[str, Value] = {}
        for name, element in self.data.items():
            variable, fixed = self.called[name], declared.fixed_scope
            if variable not in declared.variables or element.get(own("initial")) == UNSET:
                continue
            if _value_text(element) is not None:
                scope = replace(fixed, constants={**fixed.constants, **found})
                found[variable] = self.value(name, element, scope, declared.variables[variable])
        return {name: value_data(value) for name, value in found.items()}


def _flow(element: Element, name: str) -> Node:
    return flow_node(element.required(name), element.path, element.line)


def _types_of_functions(root: Element) -> Iterator[Node]:
    for element in root.all("pw:function"):
        yield _flow(element, "gives")
        yield from (_flow(one, "type") for one in element.all("pw:takes"))


def _function(element: Element) -> Entries:
    takes = {one.required("name"): _flow(one, "type").value for one in element.all("pw:takes")}
    rows = Items((_row(row) for row in element.all("pw:row")), element.line)
    return mapping_at(element, takes=takes, gives=_flow(element, "gives").value, rows=rows)


def _row(element: Element) -> Entries | Items:
    give, cells = element.required("give"), element.get("cells")
    if cells is None:
        return mapping_at(element, when=element.required("when"), give=give)
    return Items([*(cell.strip() for cell in cells.split("|")), give], element.line)


# Types that the document does not say


def texts_of(root: Element, settings: Iterable[Setting], variables: Iterable[str]) -> dict[str, list[str]]:
    """Return, for each variable that holds texts, all texts that it may be asked for or set to.

    Variables that share a text share all of them.
    """
    found: dict[str, list[str]] = {}
    asked = []
    for setting in settings:
        asked.append(setting.tokens)
        for text in _texts_given(setting.tokens):
            found.setdefault(setting.location, []).append(text)
    asked += [list(tokens_of(one.get("cond") or "", one)) for one in root.walk()]
    for tokens in asked:
        _note_compared(tokens, found)
    return _shared({name: texts for name, texts in found.items() if name in set(variables)})


def _texts_given(tokens: list[DataToken]) -> Iterator[str]:
    """Yield the texts that an expression may give: not what it compares with, nor what `In` asks for."""
    for i, token in enumerate(tokens):
        compared = any(one.text in _SAME for one in tokens[max(i - 1, 0) : i + 2])
        of_state = i >= 2 and tokens[i - 2].text == "In"
        if token.sort == "string" and not compared and not of_state:
            yield token.text[1:-1]


def _note_compared(tokens: list[DataToken], found: dict[str, list[str]]) -> None:
    for one, sign, other in zip(tokens, tokens[1:], tokens[2:], strict=False):
        name, text = (one, other) if one.sort == "name" else (other, one)
        if sign.text in _SAME and name.sort == "name" and text.sort == "string" and name.text in found:
            found[name.text].append(text.text[1:-1])


def _shared(found: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the same with the texts of variables that share one put together."""
    groups: list[dict[str, None]] = []
    for texts in found.values():
        together = dict.fromkeys(texts)
        apart = []
        for group in groups:
            if group.keys() & together.keys():
                together = {**group, **together}
            else:
                apart.append(group)
        groups = [*apart, together]
    return {name: list(next(group for group in groups if texts[0] in group)) for name, texts in found.items()}


def _infer_types(
    known: Mapping[str, Type], unknown: Mapping[str, Element], settings: list[Setting], names: Renaming
) -> dict[str, Type]:
    """Return the types of the `unknown` variables, from the `known` ones of others, by the chart's names."""
    found: dict[str, Type] = {}
    for _ in range(MAX_ROUNDS):
        before = dict(found)
        for setting in settings:
            if setting.location in unknown:
                _learn(setting, known, found, names)
        if found == before:
            break
    for name, element in unknown.items():
        if names.variables[name] not in found:
            hint = "write its value, as in <data id=... expr='0'/>"
            element.fail(f"nothing says what {name} holds", hint=hint)
    return found


def _learn(setting: Setting, known: Mapping[str, Type], found: dict[str, Type], names: Renaming) -> None:
    """Note the type of what is assigned, where the types of all it reads are known."""
    source = SourceText(translated(setting.text, names, setting.element), setting.element.where)
    scope = scope_of({**known, **found}, {}, states=frozenset(names.states.values()))
    if not names_in(parse(source)) <= set(scope.names):
        return
    kind = parse_expression(source, scope).type
    name = names.variables[setting.location]
    found[name] = _joined(found.get(name, kind), kind, setting)


def _joined(one: Type, other: Type, setting: Setting) -> Type:
    if isinstance(one, BoolType) != isinstance(other, BoolType):
        what = f"{setting.location} holds a truth value in one place and a number in another"
        setting.element.fail(what, hint="a <data> holds one sort of value")
    if isinstance(one, EnumType) or isinstance(other, EnumType) or isinstance(one, BoolType):
        return one
    return FloatType() if isinstance(one, FloatType) or isinstance(other, FloatType) else IntType()
