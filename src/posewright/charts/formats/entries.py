"""Entries of a chart's document: words, times, expressions and one-line data, read and written."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from posewright.charts.expression import Expression, Scope, Source, parse_expression
from posewright.charts.types import INT_HIGH, BoolType, Type, Value, conversion, exactly, parse_quantity
from posewright.documents import Node, parse_document, to_plain
from posewright.documents.reading import TOO_LARGE, Placed, Places, describe
from posewright.errors import DocumentError, InputError, Where

SHORTEST_S, LONGEST_S = 1e-4, 86_400.0
"""Bounds of every time in a chart [s]: a tick is no shorter, a wait no longer."""

Word = TypeVar("Word", bound=Enum)


def choice_of(fields: Mapping[str, Node], key: str, kind: type[Word]) -> Word | None:
    """Return the member that `key` names, None where there is no such key."""
    return kind(fields[key].choice(key, [member.value for member in kind])) if key in fields else None


def text_of(fields: Mapping[str, Node], key: str) -> str:
    """Return the text at `key`, or none."""
    return fields[key].text().strip() if key in fields else ""


def seconds_of(fields: Mapping[str, Node], key: str) -> float:
    """Return the time at `key` [s], or 0."""
    return fields[key].number(low=0.0, high=LONGEST_S) if key in fields else 0.0


def truth_of(fields: Mapping[str, Node], key: str) -> bool:
    """Return whether `key` is there and true."""
    return key in fields and fields[key].boolean()


def quantity_in(node: Node) -> tuple[float, str]:
    """Return a number with its unit, such as `36 cm`."""
    try:
        return parse_quantity(node.text())
    except InputError as error:
        node.fail(error.message, hint=error.hint)


def seconds_in(node: Node, constants: Mapping[str, Value], units: Mapping[str, str]) -> float:
    """Return a time [s]: a number of seconds, a number with a unit of time, or a constant of the chart."""
    hint, unit = "a time is 0.5, `500 ms` or a constant of the chart", "s"
    if not isinstance(node.value, str):
        number: Value = node.number()
    elif node.value in constants:
        number, unit = constants[node.value], units.get(node.value, "s")
    else:
        number, unit = quantity_in(node)
    factor = conversion(unit, "s")
    if isinstance(number, bool | str):
        node.fail(f"{node.value} is no time", hint=hint)
    if factor is None:
        node.fail(f"{node.value} is no time: {unit} is no unit of time", hint=hint)
    seconds = exactly(number) * factor
    if not 0 <= seconds <= LONGEST_S:
        node.fail(f"{number * float(factor):g} s is out of range", hint=f"the range is 0..{LONGEST_S:g} s")
    return float(seconds)


def keyed(node: Node, keys: Collection[str] | None, *, required: Collection[str] = ()) -> dict[str, Node]:
    """Return the entries of a mapping that has expressions in it; None allows any key."""
    found = node.fields()
    for entry in found.values():
        _refuse_cut(node, entry)
    if keys is not None and not found.keys() <= {*keys, *required}:
        node.fields(optional=(*keys, *required))
    return found if found.keys() >= {*required} else node.fields(required=required)


def _refuse_cut(parent: Node, node: Node) -> None:
    """Refuse an expression that YAML cut in two at a comma: `{when: min(a, b) > 1}`."""
    text = node.value
    if type(text) is not str or text.count("(") <= text.count(")"):
        return
    if parent.in_brackets:
        hint = "inside { } and [ ] put an expression with a comma in quotes"
        node.fail(f"the expression `{text[:60]}` ends at a comma", hint=hint)


def one_or_more(node: Node) -> list[Node]:
    """Return the elements of a list, or the value itself where it is not one."""
    return node.items() if isinstance(node.value, list) else [node]


def condition_in(parent: Node, key: str, node: Node, scope: Scope) -> Expression:
    """Return the condition at `key`."""
    return expression_in(parent, key, node, scope, BoolType())


def expression_in(
    parent: Node, key: str | int, node: Node, scope: Scope, wanted: Type | None = None
) -> Expression:
    """Return the expression at `key` of a mapping, or at that place in a list."""
    _refuse_cut(parent, node)
    return parse_expression(Source(written(node), parent.where_of(key)), scope, wanted)


def written(node: Node) -> str:
    """Return a scalar as the text of an expression."""
    value = node.value
    if not isinstance(value, str | int | float):
        node.fail("expected an expression, such as `front and not left`")
    if isinstance(value, bool):
        return "true" if value else "false"
    if describe(value) == TOO_LARGE:
        node.fail(TOO_LARGE, hint=f"whole numbers go up to {INT_HIGH}")
    if not isinstance(value, float):
        return str(value)
    text = repr(float(value))
    return text if len(text) <= 18 else f"{value:.16e}"  # an expression's numbers have 18 digits at most


_TRUTHS = {"true": True, "false": False}


def few(items: Sequence[Any]) -> Any:
    """Return the one element where there is one, else a list."""
    return items[0] if len(items) == 1 else list(items)


def without_gaps(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries that say something."""
    return {key: value for key, value in data.items() if value not in (None, "", {}, [])}


def scalar(expression: Expression) -> Value:
    """Return an expression as the scalar that reads as its text."""
    return scalar_of(str(expression))


def scalar_of(text: str) -> Value:
    """Return the number or the truth value that reads as this text, else the text."""
    if text in _TRUTHS:
        return _TRUTHS[text]
    if not text[:1].isdigit() and text[:1] != "-":  # a variable may be called nan
        return text
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if str(number) == text else text
    return text


def number_text(number: float) -> str:
    """Return a number as short as a person would write it, with no digit lost."""
    text = str(int(number)) if float(number).is_integer() else repr(float(number))
    return text if len(text) <= 18 else f"{number:.16e}"


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_ ()+*/<>=.-]*")
_WORDS = frozenset({"true", "false", "null", "True", "False", "Null"})


class Entries(dict[str, Any], Placed):
    """A mapping of a native document that stands in `line`; an entry that is None is left out.

    An entry stands where `lines` or itself says, else where the mapping does.
    """

    def __init__(
        self, entries: Mapping[str, Any], line: int | None, lines: Mapping[str, int | None] | None = None
    ) -> None:
        super().__init__({key: value for key, value in entries.items() if value is not None})
        self.line = line
        self.lines = {key: getattr(value, "line", line) for key, value in self.items()} | {**(lines or {})}
        self.places = _places(self.lines)

    def joined(self, other: Entries) -> Entries:
        """Return both in one, each entry with its line."""
        return Entries({**self, **other}, self.line, {**self.lines, **other.lines})


class Items(list[Any], Placed):
    """A list of a native document, likewise."""

    def __init__(self, items: Iterable[Any], line: int | None) -> None:
        super().__init__(items)
        self.line = line
        self.places = _places({i: getattr(item, "line", line) for i, item in enumerate(self)})


def _places(lines: Mapping[str, int | None] | Mapping[int, int | None]) -> Places:
    """Return lines as the native reader asks for them; no column is known."""
    return {key: (line, line, None) for key, line in lines.items() if line is not None}


def flow_text(data: Any) -> str:
    """Return plain data as text; `flow_node` reads it back."""
    if isinstance(data, Mapping):
        return f"{{{', '.join(f'{key}: {flow_text(value)}' for key, value in data.items())}}}"
    if isinstance(data, list | tuple):
        return f"[{', '.join(map(flow_text, data))}]"
    if not isinstance(data, str):
        return json.dumps(data)
    plain = _PLAIN.fullmatch(data) and data not in _WORDS and not data.endswith(" ")
    return str(data) if plain else json.dumps(data, ensure_ascii=False)


def flow_node(text: str, path: Path | None, line: int | None) -> Node:
    """Return what a text says, as a part of a native document that stands in that line."""
    try:
        plain = to_plain(parse_document(f"value: {text.strip()}").fields()["value"].value)
    except InputError as error:
        raise DocumentError(error.message, where=Where(path, line), hint=error.hint) from error
    return Node(plain, path, "", line)
