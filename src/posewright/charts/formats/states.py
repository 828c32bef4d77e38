"""States: each reads its transitions, then its actions, then the states inside."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from posewright.charts.expression import Expression
from posewright.charts.formats.entries import choice_of, seconds_of, text_of, truth_of, without_gaps
from posewright.charts.formats.known import Known
from posewright.charts.formats.transitions import (
    actions_data,
    read_actions,
    read_targets,
    read_transitions,
    read_values,
    targets_data,
    transition_data,
    values_data,
)
from posewright.charts.model import Kind, Otherwise, Priority, State
from posewright.documents import Node, one_line
from posewright.errors import UnknownNameError

FLAT_KEYS = ("description", "transitions", "min_s", "priority", "otherwise", "final")
STATECHART_KEYS = ("entry", "during", "exit", "initial", "states", "regions")
STATE_KEYS = (*FLAT_KEYS, "do", *STATECHART_KEYS)


def read_states(fields: Mapping[str, Node], known: Known) -> tuple[State, ...]:
    """Return the states under `states` or `regions` of a chart or a state.

    What is wrong with one of them is collected in `known`.
    """
    nodes = fields["regions" if "regions" in fields else "states"].fields()
    tried = known.errors.tried
    return tuple(tried(partial(_state, name, node, known), State(name)) for name, node in nodes.items())


def _state(name: str, node: Node, known: Known) -> State:
    if isinstance(node.value, list) or node.value is None:
        return State(name, read_transitions(node, known), line=node.line)
    tried = known.errors.tried
    fields = node.fields()
    for key, entry in fields.items():
        tried(partial(_require_key, key, entry, known), None)
    inside = tried(partial(_inside, node, fields, known), tuple[State, ...]())
    return State(
        name,
        tried(partial(read_transitions, fields.get("transitions"), known), ()),
        do=tried(partial(_moore, fields, known), {}),
        min_s=seconds_of(fields, "min_s"),
        priority=choice_of(fields, "priority", Priority),
        otherwise=choice_of(fields, "otherwise", Otherwise),
        entry=tried(partial(read_actions, fields.get("entry"), known), ()),
        during=tried(partial(read_actions, fields.get("during"), known), ()),
        exit=tried(partial(read_actions, fields.get("exit"), known), ()),
        states=inside,
        initial=read_targets(fields["initial"], known.states) if "initial" in fields else (),
        parallel="regions" in fields,
        final=truth_of(fields, "final"),
        description=text_of(fields, "description"),
        line=node.line,
    )


def _require_key(key: str, node: Node, known: Known) -> None:
    """Fail where a state has no such key, or none in a chart of this kind."""
    if key not in STATE_KEYS:
        raise UnknownNameError.among("key here", key, STATE_KEYS, where=node.where)
    if key in STATECHART_KEYS and known.kind is not Kind.STATECHART:
        known.refuse(node, f"{key!r} in its states")
    if key == "do" and known.kind is Kind.MEALY:
        node.fail("a Mealy state sets no outputs", hint="set them on transitions, or say kind: moore")
    if key == "do" and known.kind is Kind.STATECHART:
        node.fail("only a Moore state has 'do'", hint="write `entry:`, `during:` or `exit:`")


def _inside(node: Node, fields: Mapping[str, Node], known: Known) -> tuple[State, ...]:
    refuse_both(fields)
    inside = fields.get("states") or fields.get("regions")
    if inside is None:
        return ()
    if not inside.fields():
        inside.fail("there is no state", hint="leave it out, or name one")
    if "initial" not in fields and "states" in fields:
        node.fail("'initial' is missing", hint="which of its states is entered first")
    return read_states(fields, known)


def refuse_both(fields: Mapping[str, Node]) -> None:
    """Refuse states and regions side by side."""
    if "states" in fields and "regions" in fields:
        hint = "regions are active all at once, of states one is: put the states into a region"
        fields["regions"].fail("both 'states' and 'regions'", hint=hint)


def _moore(fields: Mapping[str, Node], known: Known) -> dict[str, Expression]:
    if "do" not in fields or known.kind is not Kind.MOORE:
        return {}
    return read_values(fields["do"], known, known.declared.fixed_scope)


def state_data(state: State) -> dict[str, Any] | list[dict[str, Any]]:
    """Return a state: a list where it has transitions only, else a mapping."""
    transitions = [transition_data(transition, in_state=True) for transition in state.transitions]
    data = without_gaps(
        {
            "description": state.description,
            "min_s": state.min_s or None,
            "priority": state.priority and state.priority.value,
            "otherwise": state.otherwise and state.otherwise.value,
            "transitions": transitions,
            "do": values_data(state.do),
            "entry": actions_data(state.entry),
            "during": actions_data(state.during),
            "exit": actions_data(state.exit),
            "final": state.final or None,
            "initial": targets_data(state.initial),
        }
    )
    if state.states:
        inside = {child.name: state_data(child) for child in state.states}
        data["regions" if state.parallel else "states"] = inside
    return (
        one_line(data) if data == {"final": True} else transitions if data.keys() <= {"transitions"} else data
    )
