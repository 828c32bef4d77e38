"""Entries of a chart's document: words, times, and expressions that know where they stand."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import TypeVar

from posewright.charts.expression import Expression, Scope, Source, parse_expression
from posewright.charts.types import INT_HIGH, BoolType, Type, parse_quantity
from posewright.documents import Node
from posewright.documents.reading import TOO_LARGE, describe
from posewright.errors import InputError

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
    """Return the expression at `key` of a mapping, or at that place in a list.

    Raises:
        ExpressionError: it does not parse, or is not of the type that is wanted.
    """
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
