"""Transitions and their targets, and the ways on from junctions."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from posewright.charts.expression import Expression
from posewright.charts.formats.action_reading import read_actions, read_values
from posewright.charts.formats.fields import condition_in, keyed, one_or_more, seconds_of, text_of, truth_of
from posewright.charts.formats.known import Known
from posewright.charts.model import (
    ALWAYS,
    DONE,
    ELSE,
    Actions,
    Assign,
    Kind,
    Memory,
    Target,
    Transition,
    else_guard,
    has_elders,
)
from posewright.documents import Node
from posewright.errors import UnknownNameError, Where

ENDS = ("go", "then", "junction")
SEGMENT_KEYS = ("when", "do", *ENDS, "local", "description")
TRANSITION_KEYS = ("on", "after_s", *SEGMENT_KEYS)
MEMORIES = {"history": Memory.SHALLOW, "deep_history": Memory.DEEP}
TARGET_HINT = "write a state, [one, a region] or {history: state}"


def read_transitions(node: Node | None, known: Known) -> tuple[Transition, ...]:
    """Return the transitions of a state.

    Raises:
        DocumentError: one of them is not what it should be.
        UnknownNameError: no such key, event, state or junction.
        ExpressionError: a guard or a value does not read.
    """
    return _siblings(node, known, TRANSITION_KEYS)


def read_segments(node: Node, known: Known) -> tuple[Transition, ...]:
    """Return the ways on from a junction."""
    if not node.items():
        node.fail("a junction without a way on", hint="write [{when: guard, go: state}, {when: else, ...}]")
    return _siblings(node, known, SEGMENT_KEYS)


def _siblings(node: Node | None, known: Known, keys: Collection[str]) -> tuple[Transition, ...]:
    found: list[Transition] = []
    for item in node.items() if node is not None and node.value is not None else ():
        found.append(_transition(item, known, keys, found))
    return tuple(found)


def _transition(node: Node, known: Known, keys: Collection[str], elders: list[Transition]) -> Transition:
    fields = keyed(node, keys)
    go = read_targets(fields["go"], known.states) if "go" in fields else ()  # a misspelt state comes first
    if keys is TRANSITION_KEYS:
        _require_cause(node, fields, known)
    _require_end(node, fields)
    on = tuple(_event(item, known) for item in one_or_more(fields["on"])) if "on" in fields else ()
    return Transition(
        when=_guard(node, fields, known, elders, on),
        do=_do(fields, known),
        go=go,
        on=tuple(dict.fromkeys(on)),
        after_s=seconds_of(fields, "after_s"),
        local=truth_of(fields, "local"),
        then=read_segments(fields["then"], known) if "then" in fields else (),
        junction=fields["junction"].choice("junction", known.junctions) if "junction" in fields else None,
        is_else=_is_else(fields),
        description=text_of(fields, "description"),
        line=node.line,
    )


def _require_cause(node: Node, fields: Mapping[str, Node], known: Known) -> None:
    for key in ("on", "local"):
        if key in fields and known.kind is not Kind.STATECHART:
            known.refuse(fields[key], "events" if key == "on" else "local transitions")
    if not fields.keys() & {"on", "when", "after_s", "then", "junction"}:
        causes = "`when`, `on` or `after_s`" if known.kind is Kind.STATECHART else "`when` or `after_s`"
        hint = "write the guard, as in `when: front and not left`; `when: true` for always"
        node.fail(f"'when' is missing: a transition needs {causes}", hint=hint)


def _require_end(node: Node, fields: Mapping[str, Node]) -> None:
    ends = [key for key in ENDS if key in fields]
    if len(ends) > 1:
        fields[ends[1]].fail(
            f"both {ends[0]!r} and {ends[1]!r}", hint="a transition leads to a state or to a junction"
        )
    if not ends and "do" not in fields:
        node.fail("neither 'go' nor 'do': it changes nothing", hint="write the state to go to")
    if "local" in fields and "go" not in fields:
        fields["local"].fail("it goes nowhere", hint="`local` is of a transition that goes to a state")


def _event(node: Node, known: Known) -> str:
    name, events = node.text(), known.declared.every_event
    if name in events:
        return name
    if name.startswith(DONE):
        return _done(name, node, known)
    if name in known.declared.inputs:
        node.fail(f"{name!r} is an input, not an event", hint=f"write `when: {name}`")
    raise UnknownNameError.among("event", name, events, where=node.where)


def _done(name: str, node: Node, known: Known) -> str:
    state = name.removeprefix(DONE)
    if state not in known.states:
        raise UnknownNameError.among("state", state, known.states, where=node.where)
    if state not in known.done:
        hint = (
            f"give it a final state, as in `over: {{final: true}}`, or wait for one of {sorted(known.done)}"
        )
        node.fail(f"{state} is never done: no state in it is final", hint=hint)
    return name


def _is_else(fields: Mapping[str, Node]) -> bool:
    return "when" in fields and fields["when"].value == ELSE


def _guard(
    node: Node, fields: Mapping[str, Node], known: Known, elders: list[Transition], on: tuple[str, ...]
) -> Expression:
    if "when" not in fields:
        return ALWAYS
    if not _is_else(fields):
        return condition_in(node, "when", fields["when"], known.scope)
    if not has_elders(elders, on):
        same = " with the same events" if elders else ""
        message = f"nothing{same} stands before this `else`"
        fields["when"].fail(message, hint="write `when: true`, or put it last")
    if any(elder.is_else and has_elders([elder], on) for elder in elders):
        fields["when"].fail("an `else` stands before this one", hint="what comes after it never happens")
    return else_guard(elders, on, Where(node.path, node.line))


def _do(fields: Mapping[str, Node], known: Known) -> Actions:
    if "do" not in fields or fields["do"].value == {}:
        return ()
    node = fields["do"]
    if known.kind is Kind.STATECHART:
        return read_actions(node, known)
    if known.kind is Kind.MOORE:
        node.fail("a Moore transition sets no outputs", hint="set them in the state, or say kind: mealy")
    values = read_values(node, known, known.scope)
    return (Assign(values, line=node.line),) if values else ()


def read_targets(node: Node, states: Collection[str]) -> tuple[Target, ...]:
    """Return the states to go to."""
    targets = tuple(_target(item, states) for item in one_or_more(node))
    if not targets:
        node.fail("it goes nowhere", hint=TARGET_HINT)
    return targets


def _target(node: Node, states: Collection[str]) -> Target:
    if not isinstance(node.value, dict):
        return Target(node.choice("state", states))
    fields = node.fields(optional=(*MEMORIES, "default"))
    memories = [key for key in MEMORIES if key in fields]
    if len(memories) != 1:
        node.fail("expected a state, or its history", hint=TARGET_HINT)
    (key,) = memories
    default = one_or_more(fields["default"]) if "default" in fields else []
    return Target(
        fields[key].choice("state", states),
        MEMORIES[key],
        tuple(name.choice("state", states) for name in default),
    )
