"""What a chart's document has named before its first transition is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

from posewright.charts.expression import Scope
from posewright.charts.model import MAX_NAME, Declarations, Kind, name_fault
from posewright.documents import Node

STATE_HINT = "use letters a-z, digits and _"


@dataclass(frozen=True)
class Known:
    """Names that any state, transition, action or promise of a chart may use.

    Attributes:
        states: every state, on whatever level, and where it stands.
        done: states that say so when they are done: a child of theirs is final, or they have regions.
    """

    kind: Kind
    declared: Declarations
    states: Mapping[str, Node]
    junctions: tuple[str, ...]
    done: frozenset[str]

    @cached_property
    def scope(self) -> Scope:
        """What guards and actions may use."""
        return self.declared.scope(tuple(self.states))

    @cached_property
    def fixed_scope(self) -> Scope:
        """What may be used where nothing may change."""
        return self.declared.fixed_scope

    @cached_property
    def promise_scope(self) -> Scope:
        """What promises may use: events as well, true at the tick at which they come."""
        return self.declared.scope(tuple(self.states), events=True)

    def refuse(self, node: Node, what: str) -> NoReturn:
        """Fail at something that only a statechart has."""
        node.fail(f"a {self.kind.value} chart has no {what}", hint="say kind: statechart")


def states_named(parent: Node) -> tuple[dict[str, Node], frozenset[str]]:
    """Return all states below a chart or a state, and those that can be done.

    Raises:
        DocumentError: a name is none, or is there twice.
    """
    found: dict[str, Node] = {}
    done: set[str] = set()
    for name, node in _below(parent):
        if not is_state_name(name):
            node.fail(f"{name[:MAX_NAME]!r} is no name for a state", hint=STATE_HINT)
        if name in found:
            first = f" (first in line {found[name].line})" if found[name].line else ""
            hint = "a state's name is its own, wherever it stands: rename one"
            node.fail(f"a state {name!r} is there twice{first}", hint=hint)
        found[name] = node
        if _can_be_done(node.value):
            done.add(name)
    return found, frozenset(done)


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
