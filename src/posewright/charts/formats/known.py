"""What is known while a chart's document is read: the names in it, and what was found wrong so far."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NoReturn, TypeVar

from posewright.charts.expression import Scope
from posewright.charts.model import MAX_NAME, Declarations, Kind, name_fault
from posewright.documents import Node
from posewright.errors import ExpressionError, InputError, UnknownNameError

MOST_ERRORS = 20
"""Errors of one document that are told at once."""

STATE_HINT = "use letters a-z, digits and _"


Part = TypeVar("Part")
_WORD = re.compile(r"\w+")
_QUOTE = re.compile(r"`[^`]*`|'[^']*'")


class ErrorCollector:
    """Collects what is wrong with a document, so that one part that does not read hides no other."""

    def __init__(self) -> None:
        self.errors: list[InputError] = []
        self.unread: set[str] = set()

    def tried(self, read: Callable[[], Part], instead: Part, *, names: object = None) -> Part:
        """Return what `read` returns; where it fails, note the error and return `instead`.

        Once there are MOST_ERRORS, nothing more is read.

        Args:
            read: reads one part of the document.
            instead: stands for the part so that the others can be read.
            names: data with the names that the part declares. That such a name is unknown elsewhere is no
                error of its own.
        """
        if len(self.errors) >= MOST_ERRORS:
            return instead
        try:
            return read()
        except InputError as error:
            self.note(error, names)
            return instead

    def note(self, error: InputError, names: object = None) -> None:
        """Note an error, unless it is noted already or follows from another."""
        quoted = {word for text in _QUOTE.findall(error.message) for word in _WORD.findall(text)}
        follows = isinstance(error, ExpressionError | UnknownNameError) and self.unread & quoted
        if not follows and error not in self.errors:
            self.errors.append(error)
        if names is not None:
            self.unread.update(_WORD.findall(repr(names)))

    def require_none(self) -> None:
        """Raise the first error in the document, which knows the others."""
        if not self.errors:
            return
        first, *others = sorted(
            self.errors, key=lambda one: one.where.line or 0 if one.where is not None else 0
        )
        if len(self.errors) >= MOST_ERRORS:
            others.append(InputError(f"no more is told than {MOST_ERRORS} errors at once"))
        first.others = tuple(others)
        raise first


@dataclass(frozen=True)
class Known:
    """Names that any state, transition, action or promise of a chart may use.

    Attributes:
        states: every state, on whatever level, and where it stands.
        done: states that say so when they are done: a child of theirs is final, or they have regions.
        errors: what is wrong with the parts that were read.
    """

    kind: Kind
    declared: Declarations
    states: Mapping[str, Node]
    junctions: tuple[str, ...]
    done: frozenset[str]
    errors: ErrorCollector = field(default_factory=ErrorCollector, compare=False)

    @cached_property
    def scope(self) -> Scope:
        """What guards and actions may use."""
        return self.declared.scope(tuple(self.states))

    @cached_property
    def promise_scope(self) -> Scope:
        """What promises may use: events as well, true at the tick at which they come."""
        return self.declared.scope(tuple(self.states), events=True)

    def refuse(self, node: Node, what: str) -> NoReturn:
        """Fail at something that only a statechart has."""
        node.fail(f"a {self.kind.value} chart has no {what}", hint="say kind: statechart")


def states_named(parent: Node, errors: ErrorCollector) -> tuple[dict[str, Node], frozenset[str]]:
    """Return all states below a chart or a state, and those that can be done; a wrong name is collected."""
    found: dict[str, Node] = {}
    for name, node in _below(parent):
        errors.tried(partial(_add_state, found, name, node), None)
    return found, frozenset(name for name, node in found.items() if _can_be_done(node.value))


def _add_state(found: dict[str, Node], name: str, node: Node) -> None:
    if not is_state_name(name):
        node.fail(f"{name[:MAX_NAME]!r} is no name for a state", hint=STATE_HINT)
    if name in found:
        first = f" (first in line {found[name].line})" if found[name].line else ""
        hint = "a state's name is its own, wherever it stands: rename one"
        node.fail(f"a state {name!r} is there twice{first}", hint=hint)
    found[name] = node


def is_state_name(name: str) -> bool:
    """Return whether a state or a junction may be called so."""
    return name_fault(f"_{name}") is None and len(name) < MAX_NAME


def _below(parent: Node) -> Iterator[tuple[str, Node]]:
    if not isinstance(parent.value, dict):
        return
    inner = [node for key, node in parent.fields().items() if key in ("states", "regions")]
    for node in inner:
        for name, state in node.fields().items():
            yield name, state
            yield from _below(state)


def _can_be_done(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    inside = value.get("states")
    if isinstance(inside, dict):
        return any(isinstance(state, dict) and state.get("final") is True for state in inside.values())
    return isinstance(value.get("regions"), dict)
