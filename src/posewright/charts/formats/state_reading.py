"""States: each reads its transitions, then its actions, then the states inside."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.charts.expression import Expression
from posewright.charts.formats.action_reading import read_actions, read_values
from posewright.charts.formats.fields import choice_of, seconds_of, text_of, truth_of
from posewright.charts.formats.known import Known
from posewright.charts.formats.transition_reading import read_targets, read_transitions
from posewright.charts.model import Kind, Otherwise, Priority, State
from posewright.documents import Node

FLAT_KEYS = ("description", "transitions", "min_s", "priority", "otherwise", "final")
STATECHART_KEYS = ("entry", "during", "exit", "initial", "states", "regions")
STATE_KEYS = (*FLAT_KEYS, "do", *STATECHART_KEYS)


def read_states(fields: Mapping[str, Node], known: Known) -> tuple[State, ...]:
    """Return the states under `states` or `regions` of a chart or a state.

    Raises:
        DocumentError: one of them is not what it should be.
        UnknownNameError: no such key, event, state or output.
        ExpressionError: a guard or a value does not read.
    """
    nodes = fields["regions" if "regions" in fields else "states"].fields()
    return tuple(_state(name, node, known) for name, node in nodes.items())


def _state(name: str, node: Node, known: Known) -> State:
    if isinstance(node.value, list) or node.value is None:
        return State(name, read_transitions(node, known), line=node.line)
    fields = node.fields(optional=STATE_KEYS)
    _refuse_misplaced(node, fields, known)
    return State(
        name,
        read_transitions(fields.get("transitions"), known),
        do=_moore(fields["do"], known) if "do" in fields else {},
        min_s=seconds_of(fields, "min_s"),
        priority=choice_of(fields, "priority", Priority),
        otherwise=choice_of(fields, "otherwise", Otherwise),
        entry=read_actions(fields.get("entry"), known),
        during=read_actions(fields.get("during"), known),
        exit=read_actions(fields.get("exit"), known),
        states=read_states(fields, known) if fields.keys() & {"states", "regions"} else (),
        initial=read_targets(fields["initial"], known.states) if "initial" in fields else (),
        parallel="regions" in fields,
        final=truth_of(fields, "final"),
        description=text_of(fields, "description"),
        line=node.line,
    )


def _refuse_misplaced(node: Node, fields: Mapping[str, Node], known: Known) -> None:
    if known.kind is not Kind.STATECHART:
        for key in STATECHART_KEYS:
            if key in fields:
                known.refuse(fields[key], f"{key!r} in its states")
    if "do" in fields and known.kind is Kind.MEALY:
        fields["do"].fail("a Mealy state sets no outputs", hint="set them on transitions, or say kind: moore")
    if "do" in fields and known.kind is Kind.STATECHART:
        fields["do"].fail("only a Moore state has 'do'", hint="write `entry:`, `during:` or `exit:`")
    refuse_both(fields)
    inside = fields.get("states") or fields.get("regions")
    if inside is not None and not inside.fields():
        inside.fail("there is no state", hint="leave it out, or name one")
    if "initial" not in fields and "states" in fields:
        node.fail("'initial' is missing", hint="which of its states is entered first")


def refuse_both(fields: Mapping[str, Node]) -> None:
    """Refuse states and regions side by side."""
    if "states" in fields and "regions" in fields:
        hint = "regions are active all at once, of states one is: put the states into a region"
        fields["regions"].fail("both 'states' and 'regions'", hint=hint)


def _moore(node: Node, known: Known) -> dict[str, Expression]:
    return read_values(node, known, known.fixed_scope)
