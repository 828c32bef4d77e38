"""Entries of a chart's document: words, times and expressions, and a collector of what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import TypeVar

from posewright.charts.expression import Expression, Scope, SourceText, parse_expression
from posewright.charts.types import (
    INT_HIGH,
    BoolType,
    Type,
    Value,
    conversion_factor,
    parse_quantity,
    to_fraction,
)
from posewright.documents import Node
from posewright.documents.node import TOO_LARGE, describe
from posewright.errors import ExpressionError, InputError, UnknownNameError

MOST_ERRORS = 20
"""Errors of one document that are reported at once."""

_WORD = re.compile(r"\w+")
_QUOTE = re.compile(r"`[^`]*`|'[^']*'")


class ReadingStoppedError(Exception):
    """Raised where a part is begun although MOST_ERRORS were collected; nothing more is read."""


class ErrorCollector:
    """Collects what is wrong with a document, so that one part that does not read hides no other."""

    def __init__(self) -> None:
        self.errors: list[InputError] = []
        self.unread: set[str] = set()

    @contextmanager
    def collect(self, names: object = None) -> Iterator[None]:
        """Read a part of the document inside a `with` block; an InputError ends the block and is collected.

        Args:
            names: data with the names that the part declares. That such a name is unknown elsewhere is no
                error of its own.

        Raises:
            ReadingStoppedError: MOST_ERRORS were collected before.
        """
        if len(self.errors) >= MOST_ERRORS:
            raise ReadingStoppedError
        try:
            yield
        except InputError as error:
            self.add(error, names)

    def add(self, error: InputError, names: object = None) -> None:
        """Add an error, unless it is there already or follows from another; `names` as in `collect`."""
        quoted = {word for text in _QUOTE.findall(error.message) for word in _WORD.findall(text)}
        follows = isinstance(error, ExpressionError | UnknownNameError) and self.unread & quoted
        if not follows and error not in self.errors:
            self.errors.append(error)
        if names is not None:
            self.unread.update(_WORD.findall(repr(names)))

    def raise_first(self) -> None:
        """Raise the first error in the document, which knows the others; do nothing where there is none."""
        if not self.errors:
            return

        def line_of(error: InputError) -> int:
            return error.where.line or 0 if error.where is not None else 0

        first, *others = sorted(self.errors, key=line_of)
        if len(self.errors) >= MOST_ERRORS:
            others.append(InputError(f"no more is told than {MOST_ERRORS} errors at once"))
        first.other_errors = tuple(others)
        raise first


SHORTEST_S, LONGEST_S = 1e-4, 86_400.0
"""Bounds of every time in a chart [s]: a tick is no shorter, a wait no longer."""

Word = TypeVar("Word", bound=Enum)


def choice_of(fields: Mapping[str, Node], key: str, kind: type[Word]) -> Word | None:
    """Return the member that `key` names, None where there is no such key."""
    return kind(fields[key].choice(key, [member.value for member in kind])) if key in fields else None


def optional_text(fields: Mapping[str, Node], key: str) -> str:
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
    factor = conversion_factor(unit, "s")
    if isinstance(number, bool | str):
        node.fail(f"{node.value} is no time", hint=hint)
    if factor is None:
        node.fail(f"{node.value} is no time: {unit} is no unit of time", hint=hint)
    seconds = to_fraction(number) * factor
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
    return parse_expression(SourceText(expression_text(node), parent.where_of(key)), scope, wanted)


def expression_text(node: Node) -> str:
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
