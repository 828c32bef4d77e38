"""The whole of a chart's document: names first, then states, then promises."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from posewright.charts.formats.declaration_reading import (
    SECTIONS,
    read_declarations,
    read_initial_values,
    read_resources,
)
from posewright.charts.formats.fields import LONGEST_S, SHORTEST_S, choice_of, text_of
from posewright.charts.formats.form_reading import read_form
from posewright.charts.formats.known import STATE_HINT, Known, is_state_name, states_named
from posewright.charts.formats.promise_reading import read_promises
from posewright.charts.formats.state_reading import read_states, refuse_both
from posewright.charts.formats.transition_reading import read_segments, read_targets
from posewright.charts.model import Chart, Kind, Otherwise, Priority, Steps, Transition, chart_name
from posewright.documents import Node, parse_document
from posewright.errors import InputError, Where

REQUIRED = ("chart", "period_s")
STATECHART_KEYS = ("events", "local_events", "steps", "regions")

MAX_JUNCTIONS = 200
"""Named junctions in a chart; one may lead to the next."""

CHART_KEYS = (
    *REQUIRED,
    "description",
    "source",
    "kind",
    "steps",
    *SECTIONS,
    "initial_values",
    "initial_outputs",
    "resources",
    "promises",
    "priority",
    "otherwise",
    "table",
    "initial",
    "junctions",
    "states",
    "regions",
)


def parse_chart(text: str, path: Path | None = None) -> Chart:
    """Read a chart from the text of its document.

    Args:
        text: the document.
        path: where it stands: for messages, and to find the tables of functions beside it.

    Raises:
        DocumentError: the document, or an entry in it, is not what it should be.
        ExpressionError: a guard or an action does not parse or does not type.
        UnknownNameError: a state, an event, a key or a type that does not exist.
    """
    root = parse_document(text, path)
    root.fields(optional=CHART_KEYS)  # a misspelt key is worth more than a missing one
    fields = root.fields(required=REQUIRED)
    known = _known(root, fields)
    try:
        return _chart(root, fields, known)
    except InputError as error:  # the model knows not every line
        if error.where is None or error.where.line is None:
            node = fields.get("initial", fields.get("states", root))
            error.where = Where(root.path, node.line)
        raise


def _known(root: Node, fields: Mapping[str, Node]) -> Known:
    """Read every name, before anything that may use it."""
    kind = choice_of(fields, "kind", Kind) or Kind.STATECHART
    if kind is not Kind.STATECHART:
        for key in STATECHART_KEYS:
            if key in fields:
                fields[key].fail(f"a {kind.value} chart has no {key}", hint="say kind: statechart")
    _require_states(root, fields)
    declared = read_declarations(fields)
    states, done = states_named(root)
    return Known(kind, declared, states, _junctions_named(fields, states), done)


def _junctions_named(fields: Mapping[str, Node], states: Mapping[str, Node]) -> tuple[str, ...]:
    nodes = fields["junctions"].fields() if "junctions" in fields else {}
    if len(nodes) > MAX_JUNCTIONS:
        hint = f"at most {MAX_JUNCTIONS}; a truth table asks many questions at once"
        fields["junctions"].fail(f"{len(nodes)} junctions", hint=hint)
    for name, node in nodes.items():
        if not is_state_name(name):
            node.fail(f"{name[:80]!r} is no name for a junction", hint=STATE_HINT)
        if name in states:
            states[name].fail(f"{name!r} is a state and a junction", hint="rename one")
    return tuple(nodes)


def _require_states(root: Node, fields: Mapping[str, Node]) -> None:
    refuse_both(fields)
    if "regions" not in fields:
        root.fields(required=(*REQUIRED, "initial", "states"))
    states = fields["regions"] if "regions" in fields else fields["states"]
    if not states.fields():
        states.fail("there is no state", hint="a chart has at least one")


def _chart(root: Node, fields: Mapping[str, Node], known: Known) -> Chart:
    declared = known.declared
    plain = Otherwise.STAY if known.kind is Kind.STATECHART else Otherwise.REFUSE
    return Chart(
        name=chart_name(fields["chart"]),
        kind=known.kind,
        period_s=fields["period_s"].number(low=SHORTEST_S, high=LONGEST_S),
        inputs=declared.inputs,
        outputs=declared.outputs,
        initial=read_targets(fields["initial"], known.states) if "initial" in fields else (),
        states=read_states(fields, known),
        parallel="regions" in fields,
        events=declared.events,
        local_events=declared.local_events,
        locals=declared.locals,
        constants=declared.constants,
        units=declared.units,
        functions=declared.functions,
        initial_values=read_initial_values(fields, declared),
        junctions=_junctions(fields, known),
        steps=choice_of(fields, "steps", Steps) or Steps.ONE,
        priority=choice_of(fields, "priority", Priority) or Priority.EXCLUSIVE,
        otherwise=choice_of(fields, "otherwise", Otherwise) or plain,
        otherwise_said="otherwise" in fields,
        promises=read_promises(fields, known),
        resources=read_resources(fields, declared),
        form=read_form(fields["table"], list(known.states), declared) if "table" in fields else None,
        description=text_of(fields, "description"),
        source=text_of(fields, "source"),
        path=root.path,
        lines=declared.lines,
    )


def _junctions(fields: Mapping[str, Node], known: Known) -> dict[str, tuple[Transition, ...]]:
    nodes = fields["junctions"].fields() if "junctions" in fields else {}
    return {name: read_segments(node, known) for name, node in nodes.items()}
