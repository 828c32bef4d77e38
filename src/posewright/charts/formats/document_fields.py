"""Readers of the fields of a chart document, such as times and expressions, and the collector of errors."""

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

MAX_ERRORS = 20
"""Errors of one document that are reported together."""

_IDENTIFIER = re.compile(r"\w+")
_QUOTE = re.compile(r"`[^`]*`|'[^']*'")


class ReadingStoppedError(Exception):
    """Raised to stop reading once MAX_ERRORS errors were collected."""


class ErrorCollector:
    """Collects the errors of a document, so that an error in one part does not hide those of others.

    Attributes:
        errors: the errors so far.
        unread_names: names that are declared in parts with errors; errors about their use elsewhere are not
            collected.
    """

    def __init__(self) -> None:
        self.errors: list[InputError] = []
        self.unread_names: set[str] = set()

    @contextmanager
    def collect(self, declared_names: object = None) -> Iterator[None]:
        """Collect the InputError that a `with` block raises, which reads one part of the document.

        Args:
            declared_names: the names that the part declares: a name, or plain data in which they occur. If
                the part has an error, it is not reported that such a name is unknown elsewhere.

        Raises:
            ReadingStoppedError: MAX_ERRORS were collected before.
        """
        if len(self.errors) >= MAX_ERRORS:
            raise ReadingStoppedError
        try:
            yield
        except InputError as error:
            self.add(error, declared_names)

    def add(self, error: InputError, declared_names: object = None) -> None:
        """Add an error, unless it is a duplicate or follows from another.

        It follows from another if its message quotes a name whose declaration could not be read.

        Args:
            error: the error.
            declared_names: the names that the part with the error declares: a name, or plain data in which
                they occur; None for none.
        """
        quoted_texts = _QUOTE.findall(error.message)
        quoted_names = {name for text in quoted_texts for name in _IDENTIFIER.findall(text)}
        is_about_names = isinstance(error, ExpressionError | UnknownNameError)
        is_consequence = is_about_names and bool(self.unread_names & quoted_names)
        if not is_consequence and error not in self.errors:
            self.errors.append(error)
        if declared_names is not None:  # all words in the data, as any of them may be a name
            self.unread_names.update(_IDENTIFIER.findall(repr(declared_names)))

    def raise_first(self) -> None:
        """Raise the first error in the document, with the others attached; do nothing if there is none."""
        if not self.errors:
            return

        def line_of(error: InputError) -> int:
            """Return the line of an error; one without a line comes first."""
            if error.where is None or error.where.line is None:
                return 0
            return error.where.line

        first, *later_errors = sorted(self.errors, key=line_of)
        if len(self.errors) >= MAX_ERRORS:
            later_errors.append(InputError(f"only the first {MAX_ERRORS} errors are reported"))
        first.other_errors = tuple(later_errors)
        raise first


MAX_NUMBER_LENGTH = 18
"""Digits of a number in an expression; a longer one is written with an exponent."""

MIN_PERIOD_S = 1e-4
"""The shortest sample period of a chart [s]."""

MAX_TIME_S = 86_400.0
"""The longest time in a chart [s]."""

Choice = TypeVar("Choice", bound=Enum)


def optional_choice(fields: Mapping[str, Node], key: str, kind: type[Choice]) -> Choice | None:
    """Return the enumeration member named at `key`, None if there is no such key."""
    return kind(fields[key].choice(key, [member.value for member in kind])) if key in fields else None


def optional_text(fields: Mapping[str, Node], key: str) -> str:
    """Return the text at `key`, empty if there is no such key."""
    return fields[key].text().strip() if key in fields else ""


def optional_seconds(fields: Mapping[str, Node], key: str) -> float:
    """Return the time at `key` [s], 0 if there is no such key."""
    return fields[key].number(low=0.0, high=MAX_TIME_S) if key in fields else 0.0


def optional_flag(fields: Mapping[str, Node], key: str) -> bool:
    """Return the truth value at `key`, false if there is no such key."""
    return key in fields and fields[key].boolean()


def read_quantity(node: Node) -> tuple[float, str]:
    """Return a number and its unit, from a text such as `36 cm`."""
    try:
        return parse_quantity(node.text())
    except InputError as error:
        node.fail(error.message, hint=error.hint)


def read_seconds(node: Node, constants: Mapping[str, Value], units: Mapping[str, str]) -> float:
    """Return a time [s]: a number of seconds, a number with a unit of time, or a constant of the chart.

    Args:
        node: the time.
        constants: values of constants by name.
        units: units of constants by name.
    """
    hint = "a time is 0.5, `500 ms` or a constant of the chart"
    unit = "s"
    if not isinstance(node.value, str):
        number: Value = node.number()
    elif node.value in constants:
        number = constants[node.value]
        unit = units.get(node.value, "s")
    else:
        number, unit = read_quantity(node)
    if isinstance(number, bool | str):
        node.fail(f"{node.value} is not a time", hint=hint)
    seconds_per_unit = conversion_factor(unit, "s")
    if seconds_per_unit is None:
        node.fail(f"{node.value} is not a time: {unit} is not a unit of time", hint=hint)
    seconds = to_fraction(number) * seconds_per_unit
    if not 0 <= seconds <= MAX_TIME_S:
        message = f"{number * float(seconds_per_unit):g} s is out of range"
        node.fail(message, hint=f"the range is 0..{MAX_TIME_S:g} s")
    return float(seconds)


def read_fields(
    node: Node, keys: Collection[str] | None, *, required: Collection[str] = ()
) -> dict[str, Node]:
    """Return the fields of a mapping with expressions in it, by key.

    Args:
        node: the mapping.
        keys: keys that may occur; None for any.
        required: keys that must occur.

    Raises:
        DocumentError: a key is unknown or missing, or YAML split an expression at a comma.
    """
    fields = node.fields()
    if required and not fields.keys() >= {*required}:
        node.fields(required=required)  # raises the error for the missing key
    for field in fields.values():
        _require_complete_expression(node, field)
    if keys is not None and not fields.keys() <= {*keys, *required}:
        node.fields(optional=(*keys, *required))  # raises the error for the unknown key
    return fields


def _require_complete_expression(parent: Node, node: Node) -> None:
    """Raise a DocumentError for an expression that YAML split at a comma: `{when: min(a, b) > 1}`.

    In braces and brackets of YAML a comma ends a value, so an expression with an open parenthesis is left.

    Args:
        parent: the mapping or list.
        node: a value in it.
    """
    text = node.value
    is_unquoted_text = type(text) is str  # quoted texts are of a subclass
    if not is_unquoted_text or text.count("(") <= text.count(")"):
        return
    if parent.in_brackets:
        hint = "inside { } and [ ] put an expression with a comma in quotes"
        node.fail(f"the expression `{text[:60]}` ends at a comma", hint=hint)


def one_or_more(node: Node) -> list[Node]:
    """Return the elements of a list, or the node itself if it is not a list."""
    return node.items() if isinstance(node.value, list) else [node]


def read_condition(parent: Node, key: str, node: Node, scope: Scope) -> Expression:
    """Return the condition at `key` of a mapping."""
    return read_expression(parent, key, node, scope, target=BoolType())


def read_expression(
    parent: Node, key: str | int, node: Node, scope: Scope, target: Type | None = None
) -> Expression:
    """Return the expression at `key` of a mapping, or at that index of a list.

    Args:
        parent: the mapping or list.
        key: its key or index.
        node: the expression.
        scope: the names it may use.
        target: the type of the variable it is assigned to.
    """
    _require_complete_expression(parent, node)
    return parse_expression(SourceText(expression_text(node), parent.where_of(key)), scope, target)


def expression_text(node: Node) -> str:
    """Return a scalar (text, number or truth value) as the text of an expression.

    Raises:
        DocumentError: it is no scalar, or an integer with too many digits.
    """
    value = node.value
    if not isinstance(value, str | int | float):
        node.fail("expected an expression, such as `front and not left`")
    if isinstance(value, bool):
        return "true" if value else "false"
    if describe(value) == TOO_LARGE:  # Python refuses to print such an integer
        node.fail(TOO_LARGE, hint=f"integers go up to {INT_HIGH}")
    if not isinstance(value, float):
        return str(value)
    text = repr(float(value))
    return text if len(text) <= MAX_NUMBER_LENGTH else f"{value:.16e}"
