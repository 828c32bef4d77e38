"""The writer of SCXML, which adds what SCXML cannot express in an XML namespace of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from posewright.charts.expression import (
    Call,
    Expression,
    Function,
    FunctionRow,
    InState,
    TemporalCondition,
    constant,
    nodes_of,
    parse_expression,
)
from posewright.charts.formats.native_nodes import flow_text
from posewright.charts.formats.native_writer import type_data
from posewright.charts.formats.scxml.expressions import (
    Renaming,
    python_guard,
    python_text,
    python_value,
    python_value_text,
    translated,
)
from posewright.charts.formats.scxml.names import FreeNames
from posewright.charts.formats.scxml.vocabulary import (
    AT_ONCE,
    DEFAULT,
    INITIAL_STATES,
    MOORE,
    OWN,
    PREFIX,
    SCXML,
    posewright_name,
    tag,
)
from posewright.charts.model import (
    DONE_PREFIX,
    Actions,
    Assign,
    Branch,
    Chart,
    ChartKind,
    HistoryKind,
    Promise,
    PromiseKind,
    Raise,
    State,
    StateTarget,
    StepMode,
    TableForm,
    Transition,
    expressions_in,
    iterate_actions,
    segments_of,
    walk_states,
)
from posewright.charts.types import BoolType, Type, Value
from posewright.documents import write_atomically
from posewright.documents.markup import Element
from posewright.errors import InputError

TICK = "tick"
"""The event that represents a tick, in charts that try transitions without a trigger once per tick."""


def save_scxml(chart: Chart, path: Path | str) -> None:
    """Write a chart as an SCXML document, atomically.

    Raises:
        OutputError: the file cannot be written.
    """
    write_atomically(Path(path), scxml_text(chart).encode())


def scxml_text(chart: Chart) -> str:
    """Return the text of a chart's SCXML document; it reads back as the same chart.

    What SCXML cannot express is written in a namespace that other readers ignore; `beyond_scxml` lists it.
    """
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *_build_root(chart).lines(), ""])


def tick_event(chart: Chart) -> str | None:
    """Return the event that represents a tick; None in a chart that runs to completion."""
    if chart.steps is StepMode.COMPLETION:
        return None
    return FreeNames((*chart.events, *chart.local_events)).take(TICK, "event")


def _build_root(chart: Chart) -> Element:
    """Return the <scxml> element of a chart."""
    tick = tick_event(chart)
    writer = _ScxmlWriter(chart, tick)
    children = [*_build_datamodel(chart)]
    children += map(_build_function, chart.functions.values())
    children += map(_build_promise, chart.promises)
    if chart.declared_table_form is not None and chart.declared_table_form.state_bits:
        children.append(_build_table(chart.declared_table_form))
    for name, segments in chart.junctions.items():
        elements = tuple(writer.build_transition(segment) for segment in segments)
        children.append(tag(posewright_name("junction"), {"id": name}, elements))
    states = tuple(writer.build_state(state) for state in chart.states)
    initial = writer.format_targets(chart.initial)
    if chart.parallel:  # the root of an SCXML document cannot have regions, so they are put into a state
        regions_id = writer.free_names.take_state("regions")
        states = (tag("parallel", {"id": regions_id, posewright_name("regions"): "true"}, states),)
        initial = initial or regions_id
    return tag("scxml", {**_root_attributes(chart, tick), "initial": initial}, (*children, *states))


def _root_attributes(chart: Chart, tick: str | None) -> dict[str, str | None]:
    """Return the attributes of the <scxml> element, extension attributes included."""
    is_default_otherwise = chart.stays_by_default and chart.kind is ChartKind.STATECHART
    return {
        "xmlns": SCXML,
        f"xmlns:{PREFIX}": OWN,
        "version": "1.0",
        "datamodel": "python",
        "name": chart.name,
        posewright_name("kind"): chart.kind.value,
        posewright_name("period_s"): repr(chart.period_s),
        posewright_name("steps"): chart.steps.value,
        posewright_name("tick"): tick,
        posewright_name("priority"): chart.priority.value,
        posewright_name("otherwise"): None if is_default_otherwise else chart.otherwise.value,
        posewright_name("events"): " ".join(chart.events) or None,
        posewright_name("local_events"): " ".join(chart.local_events) or None,
        posewright_name("resources"): " ".join(chart.resources) or None,
        posewright_name("description"): chart.description or None,
        posewright_name("source"): chart.source or None,
    }


def _build_datamodel(chart: Chart) -> Iterator[Element]:
    """Yield the <datamodel>, unless it is empty."""
    start_values = chart.start_values()
    elements = []
    for name, input_type in chart.inputs.items():
        elements.append(_build_data(name, value=input_type.default, role="input", value_type=input_type))
    for role, types in (("output", chart.outputs), ("local", chart.locals)):
        for name, variable_type in types.items():
            unset = None if name in chart.initial_values else "unset"
            attributes = {posewright_name("initial"): unset}
            elements.append(
                _build_data(
                    name, start_values[name], role, value_type=variable_type, extra_attributes=attributes
                )
            )
    for name, value in chart.constants.items():
        elements.append(
            _build_data(
                name,
                value,
                role="constant",
                value_type=None,
                extra_attributes={posewright_name("unit"): chart.units.get(name)},
            )
        )
    if elements:
        yield tag("datamodel", {}, tuple(elements))


def _build_data(
    name: str,
    value: Value,
    role: str,
    value_type: Type | None,
    extra_attributes: Mapping[str, str | None] | None = None,
) -> Element:
    """Return the <data> element of a variable or a constant.

    Args:
        name: its name.
        value: its initial value.
        role: `input`, `output`, `local` or `constant`.
        value_type: the type that is written; None for a constant.
        extra_attributes: further attributes; those that are None are left out.
    """
    type_text = None if value_type is None else flow_text(type_data(value_type))
    attributes = {
        "id": name,
        "expr": python_value(value),
        posewright_name("role"): role,
        posewright_name("type"): type_text,
    }
    return tag("data", {**attributes, **(extra_attributes or {})})


def _build_function(function: Function) -> Element:
    """Return the element of a function: its parameters and rows."""
    parameters = [
        tag(posewright_name("takes"), {"name": name, "type": flow_text(type_data(parameter_type))})
        for name, parameter_type in function.parameters.items()
    ]
    attributes = {"name": function.name, "gives": flow_text(type_data(function.return_type))}
    return tag(
        posewright_name("function"), attributes, (*parameters, *map(_build_function_row, function.rows))
    )


def _build_function_row(row: FunctionRow) -> Element:
    condition = {"cells": " | ".join(row.cells)} if row.cells else {"when": str(row.when)}
    return tag(posewright_name("row"), {**condition, "give": str(row.value)})


def _build_promise(promise: Promise) -> Element:
    """Return the extension element of a promise."""
    if promise.kind is not PromiseKind.LEADS_TO or promise.goal is None:
        return tag(posewright_name("promise"), {"name": promise.name, promise.kind.value: str(promise.when)})
    attributes = {
        "name": promise.name,
        "when": str(promise.when),
        "leads_to": str(promise.goal),
        "within": repr(promise.within_s),
    }
    return tag(posewright_name("promise"), attributes)


def _build_table(table_form: TableForm) -> Element:
    """Return the extension element of the columns of a truth table."""
    inputs = [
        tag(posewright_name("column"), {"name": column, "input": name})
        for column, name in table_form.inputs.items()
    ]
    outputs = [
        tag(posewright_name("column"), {"name": column, "output": name})
        for column, name in table_form.outputs.items()
    ]
    codes = [
        tag(posewright_name("code"), {"state": name, "bits": bits}) for name, bits in table_form.codes.items()
    ]
    return tag(
        posewright_name("table"), {"state_bits": " ".join(table_form.state_bits)}, (*inputs, *outputs, *codes)
    )


class _ScxmlWriter:
    """Builds the elements of one chart's states and transitions.

    Attributes:
        chart: the chart.
        tick_event: the event that triggers transitions without one; None in a chart that runs to completion.
        scope: the names that its expressions may use.
        names: the names of the chart, which the document has unchanged.
        free_names: hands out unused names, for the ids of histories.
        history_ids: the id of every history that is a target.
    """

    def __init__(self, chart: Chart, tick_event: str | None) -> None:
        """Give every history that is a target an id of its own."""
        self.chart = chart
        self.tick_event = tick_event
        self.scope = chart.scope
        declared = [*chart.inputs, *chart.variables, *chart.constants]
        self.names = Renaming(
            {name: name for name in declared},
            {value: value for value in self.scope.values},
            {name: name for name in chart.state_names},
        )
        self.free_names = FreeNames(chart.state_names)
        self.history_ids: dict[StateTarget, str] = {}
        for target in _list_targets(chart):
            if target.history is not None and target not in self.history_ids:
                kind = "history" if target.history is HistoryKind.SHALLOW else "deep_history"
                self.history_ids[target] = self.free_names.take_state(f"{target.state}_{kind}")

    def format_targets(self, targets: Iterable[StateTarget]) -> str | None:
        """Return the ids of targets as in the attribute `target`; None if there are none."""
        return " ".join(self.history_ids.get(target, target.state) for target in targets) or None

    def build_state(self, state: State) -> Element:
        """Return the element of a state with everything in it."""
        name = "parallel" if state.parallel else "final" if state.final else "state"
        initial = self.format_targets(state.initial)
        attributes = {
            "id": state.name,
            "initial": None if state.parallel else initial,
            posewright_name("enters"): initial if state.parallel else None,
            posewright_name("min_s"): repr(state.min_s) if state.min_s else None,
            posewright_name("priority"): state.priority and state.priority.value,
            posewright_name("otherwise"): state.otherwise and state.otherwise.value,
            posewright_name("description"): state.description or None,
        }
        return tag(name, attributes, tuple(self._build_children(state)))

    def _build_children(self, state: State) -> Iterator[Element]:
        """Yield the children of a state's element: transitions, actions, histories and states."""
        for transition in state.transitions:
            yield self.build_transition(transition, state)
        if self.chart.kind is ChartKind.MOORE:
            yield self._build_moore_outputs(state)
        yield from self._build_block("onentry", state.entry)
        yield from self._build_block(posewright_name("during"), state.during)
        yield from self._build_block("onexit", state.exit)
        for target, history_id in self.history_ids.items():
            if target.state == state.name:
                yield self._build_history(state, target, history_id)
        for child in state.states:
            yield self.build_state(child)

    def _build_block(self, name: str, actions: Actions) -> Iterator[Element]:
        """Yield the element of a name with the actions in it, unless there are none."""
        if actions:
            yield tag(name, {}, tuple(self._build_actions(actions)))

    def _build_moore_outputs(self, state: State) -> Element:
        """Return the <onentry> that sets all outputs of a Moore state, also those that it does not name."""
        start_values = {name: constant(value) for name, value in self.chart.start_outputs().items()}
        action = Assign({**start_values, **state.do})
        elements = []
        for name in action.values:
            is_default = _true_or_none(name not in state.do)
            value_attributes = self._value_attributes(name, action)
            elements.append(tag("assign", {"location": name, **value_attributes, DEFAULT: is_default}))
        return tag("onentry", {MOORE: "true"}, elements)

    def _build_history(self, state: State, target: StateTarget, history_id: str) -> Element:
        """Return the <history> of a state.

        SCXML requires a default. If the chart names none, it is the initial states, or the first states
        inside if the initial state is itself a history; an extension attribute marks it.

        Args:
            state: the state.
            target: the target that enters the history.
            history_id: the id of the <history>.
        """
        children = [child.name for child in state.states]
        initial_states = [initial.state for initial in state.initial] or children
        if any(initial.history is not None for initial in state.initial):
            initial_states = children if state.parallel else children[:1]
        default = " ".join(target.default or initial_states)
        attributes = {
            "id": history_id,
            "type": "deep" if target.history is HistoryKind.DEEP else "shallow",
            posewright_name("default"): None if target.default else INITIAL_STATES,
        }
        return tag("history", attributes, (tag("transition", {"target": default}),))

    def build_transition(self, transition: Transition, source: State | None = None) -> Element:
        """Return the element of a transition or of a segment of a junction.

        What SCXML cannot express is in extension attributes: an `else`, a guard whose Python text does not
        read back as the same guard, times, and a local transition that SCXML does not have.

        Args:
            transition: the transition or the segment.
            source: the state that the transition leaves; None for a segment.
        """
        is_internal = transition.local and self._is_internal(transition, source)
        has_target = bool(transition.go or transition.leads_to_junction)
        min_s = 0.0 if source is None or is_internal or not has_target else source.min_s
        wait_s = max(min_s, transition.after_s)
        condition = python_guard(transition.when, wait_s, self.scope.values)
        is_complete = condition is None or (
            not wait_s and self._reads_back(condition, transition.when, BoolType())
        )
        attributes = {
            "event": None if source is None else self._event_names(transition),
            "cond": condition,
            posewright_name("else"): _true_or_none(transition.is_else),
            posewright_name("when"): None if transition.is_else or is_complete else str(transition.when),
            posewright_name("after_s"): repr(transition.after_s) if transition.after_s else None,
            "type": "internal" if is_internal else None,
            posewright_name("local"): _true_or_none(transition.local and not is_internal),
            "target": self.format_targets(transition.go),
            posewright_name("description"): transition.description or None,
        }
        children = [*self._build_actions(transition.do), *map(self.build_transition, transition.then)]
        if transition.junction is not None:
            children.append(tag(posewright_name("to"), {"junction": transition.junction}))
        return tag("transition" if source is not None else posewright_name("way"), attributes, children)

    def _is_internal(self, transition: Transition, source: State | None) -> bool:
        """Return whether SCXML can express a local transition: from a compound state to states inside it."""
        if source is None or not source.is_compound:
            return False
        names_inside = {state.name for state in walk_states(source.states)}
        for target in transition.go:
            is_own_history = target.history is not None and target.state == source.name
            if target.state not in names_inside and not is_own_history:
                return False
        return True

    def _event_names(self, transition: Transition) -> str | None:
        """Return the events of a transition as SCXML writes them; without events, the event of every tick."""
        if not transition.on:
            return self.tick_event
        names = []
        for event in transition.on:
            is_done = event.startswith(DONE_PREFIX)
            names.append(f"done.state.{event.removeprefix(DONE_PREFIX)}" if is_done else event)
        return " ".join(names)

    def _build_actions(self, actions: Actions) -> Iterator[Element]:
        """Yield the elements of executable content."""
        for action in actions:
            if isinstance(action, Raise):
                yield tag("raise", {"event": action.event})
            elif isinstance(action, Assign):
                yield from self._build_assignments(action)
            else:
                yield self._build_branch(action)

    def _build_assignments(self, action: Assign) -> Iterator[Element]:
        """Yield an <assign> per value; if possible, none reads a variable that an earlier one sets."""
        for i, name in enumerate(_order_assignments(action.values)):
            value_attributes = self._value_attributes(name, action)
            yield tag("assign", {"location": name, **value_attributes, AT_ONCE: _true_or_none(i > 0)})

    def _value_attributes(self, name: str, action: Assign) -> dict[str, str | None]:
        """Return the attributes of an <assign> for its value: in Python; in our notation if that differs."""
        value = action.values[name]
        variable_type = self.chart.variables[name]
        text = python_value_text(value, variable_type, self.scope.values)
        own_text = None if self._reads_back(text, value, variable_type) else str(value)
        return {"expr": text, posewright_name("value"): own_text}

    def _reads_back(self, text: str, expression: Expression, target: Type) -> bool:
        """Return whether the text in Python reads back as this very expression."""
        try:
            translation = translated(text, self.names, Element("scxml"))
            return parse_expression(translation, self.scope, target) == expression
        except InputError:
            return False

    def _condition_attributes(self, when: Expression) -> dict[str, str | None]:
        """Return the attributes of an <if> for its condition: in Python; in our notation if that differs."""
        text = python_text(when.tree, self.scope.values)
        return {
            "cond": text,
            posewright_name("when"): None if self._reads_back(text, when, BoolType()) else str(when),
        }

    def _build_branch(self, action: Branch) -> Element:
        """Return the <if> of a branch; a branch that is all of the alternative becomes an <elseif>."""
        children = list(self._build_actions(action.then))
        else_actions = action.otherwise
        while len(else_actions) == 1 and isinstance(else_actions[0], Branch):
            branch = else_actions[0]
            children.append(tag("elseif", self._condition_attributes(branch.when)))
            children += self._build_actions(branch.then)
            else_actions = branch.otherwise
        if else_actions:
            children += [tag("else"), *self._build_actions(else_actions)]
        return tag("if", self._condition_attributes(action.when), tuple(children))


def _list_targets(chart: Chart) -> Iterator[StateTarget]:
    """Yield the targets of initial states and of all transitions."""
    yield from chart.initial
    for state in chart.every_state:
        yield from state.initial
    for segment in _list_segments(chart):
        yield from segment.go


def _list_segments(chart: Chart) -> list[Transition]:
    groups = [*(state.transitions for state in chart.every_state), *chart.junctions.values()]
    return [segment for transitions in groups for segment in segments_of(transitions)]


def _order_assignments(values: Mapping[str, Expression]) -> list[str]:
    """Return names in an order in which each is set after all values that read it, as far as possible."""
    remaining = list(values)
    ordered = list[str]()
    while remaining:
        next_name = remaining[0]  # if the values read each other in a cycle
        for name in remaining:
            readers = {reader for reader in remaining if name in values[reader].names}
            if readers <= {name}:
                next_name = name
                break
        remaining.remove(next_name)
        ordered.append(next_name)
    return ordered


def beyond_scxml(chart: Chart) -> tuple[str, ...]:
    """Return what another reader of the chart's SCXML document would treat differently, as text.

    Inputs are not listed: they are data that the driver of the document sets before each tick.
    """
    return tuple(feature for feature, is_used in _list_features(chart) if is_used)


def _list_features(chart: Chart) -> Iterator[tuple[str, bool]]:
    """Yield the features that SCXML lacks, each with whether the chart uses it."""
    states = chart.every_state
    segments = _list_segments(chart)
    state_blocks = [block for state in states for block in (state.entry, state.during, state.exit)]
    blocks = [*state_blocks, *(segment.do for segment in segments)]
    values = [value for block in blocks for value in expressions_in(block)]
    expressions = [*values, *(segment.when for segment in segments)]
    has_min_s = any(state.min_s for state in states)
    has_after_s = any(segment.after_s for segment in segments)
    yield (
        "times: after, before, every, held and minimum times",
        _contain(expressions, TemporalCondition) or has_min_s or has_after_s,
    )
    yield "actions at every tick (during)", any(state.during for state in states)
    yield "junctions", any(segment.leads_to_junction for segment in segments)
    yield "simultaneous assignments that read each other's values", any(map(_has_cyclic_assignment, blocks))
    yield (
        "in(...) in actions, which SCXML evaluates while states are left and entered",
        _contain(values, InState),
    )
    calls = [node for value in expressions for node in nodes_of(value.tree) if isinstance(node, Call)]
    yield "numbers rounded to 32 bits", any(call.function == "single" for call in calls)
    yield (
        "an initial state of each region that the parallel state names",
        any(state.parallel and state.initial for state in states),
    )


def _contain(expressions: list[Expression], kind: type) -> bool:
    """Return whether a node of this kind occurs in some expression."""
    return any(isinstance(node, kind) for expression in expressions for node in nodes_of(expression.tree))


def _has_cyclic_assignment(actions: Actions) -> bool:
    """Return whether values set simultaneously read each other in a cycle, so that no order is equivalent."""
    for action in iterate_actions(actions):
        values = action.values if isinstance(action, Assign) else {}
        order = _order_assignments(values)
        for i, name in enumerate(order):
            if any(name in values[later].names for later in order[i + 1 :]):
                return True
    return False


def _true_or_none(condition: bool) -> str | None:
    return "true" if condition else None
