"""The writer of SCXML, which adds what SCXML cannot express in an XML namespace of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
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
    NamesInChart,
    python_guard,
    python_text,
    python_value,
    python_value_text,
    translate_expression,
)
from posewright.charts.formats.scxml.names import FreeNames
from posewright.charts.formats.scxml.vocabulary import (
    AT_ONCE_ATTRIBUTE,
    DEFAULT_ATTRIBUTE,
    EXTENSION_NAMESPACE,
    EXTENSION_PREFIX,
    INITIAL_STATES,
    JUNCTION_TARGET_ELEMENT,
    MOORE_ATTRIBUTE,
    SCXML_NAMESPACE,
    SEGMENT_ELEMENT,
    UNSET,
    extension_name,
    tag,
)
from posewright.charts.model import (
    DONE_PREFIX,
    Actions,
    Assign,
    Branch,
    Chart,
    ChartKind,
    ForeignMarkup,
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
    return FreeNames((*chart.events, *chart.local_events)).take_name(TICK, suffix="event")


def _build_root(chart: Chart) -> Element:
    """Return the <scxml> element of a chart, with everything in it."""
    tick_name = tick_event(chart)
    writer = _ScxmlWriter(chart, tick_name)
    children = [*_build_datamodel(chart)]
    children += map(_build_function, chart.functions.values())
    children += map(_build_promise, chart.promises)
    if chart.declared_table_form is not None and chart.declared_table_form.state_bits:
        children.append(_build_table(chart.declared_table_form))
    for name, segments in chart.junctions.items():
        segment_elements = tuple(writer.build_transition(segment) for segment in segments)
        children.append(tag(extension_name("junction"), {"id": name}, segment_elements))
    states = tuple(writer.build_state(state) for state in chart.states)
    initial = writer.format_targets(chart.initial)
    if chart.parallel:  # the root of an SCXML document cannot have regions, so they are put into a state
        regions_id = writer.free_names.take_state_name("regions")
        states = (tag("parallel", {"id": regions_id, extension_name("regions"): "true"}, states),)
        initial = initial or regions_id
    attributes = {**_root_attributes(chart, tick_name), "initial": initial}
    root = tag("scxml", attributes, (*children, *states))
    markup = chart.document_markup
    if markup is None:
        return root
    declarations = {f"xmlns:{prefix}": uri for prefix, uri in markup.namespaces.items()}
    root = replace(root, attributes={**root.attributes, **declarations})
    return _with_foreign_markup(root, markup.of_root)


def _with_foreign_markup(element: Element, markup: ForeignMarkup | None) -> Element:
    """Return an element that also holds what other tools kept in it; their elements come first."""
    if markup is None:
        return element
    foreign_elements = [Element("", source=source) for source in markup.elements]
    return replace(
        element,
        attributes={**element.attributes, **markup.attributes},
        children=(*foreign_elements, *element.children),
    )


def _root_attributes(chart: Chart, tick_name: str | None) -> dict[str, str | None]:
    """Return the attributes of the <scxml> element, extension attributes included.

    Args:
        chart: the chart.
        tick_name: the event that represents a tick; None in a chart that runs to completion.
    """
    is_default_otherwise = chart.stays_by_default and chart.kind is ChartKind.STATECHART
    return {
        "xmlns": SCXML_NAMESPACE,
        f"xmlns:{EXTENSION_PREFIX}": EXTENSION_NAMESPACE,
        "version": "1.0",
        "datamodel": "python",
        "name": chart.name,
        extension_name("kind"): chart.kind.value,
        extension_name("period_s"): repr(chart.period_s),
        extension_name("steps"): chart.steps.value,
        extension_name("tick"): tick_name,
        extension_name("priority"): chart.priority.value,
        extension_name("otherwise"): None if is_default_otherwise else chart.otherwise.value,
        extension_name("events"): " ".join(chart.events) or None,
        extension_name("local_events"): " ".join(chart.local_events) or None,
        extension_name("resources"): " ".join(chart.resources) or None,
        extension_name("description"): chart.description or None,
        extension_name("source"): chart.source or None,
    }


def _build_datamodel(chart: Chart) -> Iterator[Element]:
    """Yield the <datamodel>, unless it is empty."""
    start_values = chart.start_values()
    elements = []
    for name, input_type in chart.inputs.items():
        elements.append(_build_data(name, value=input_type.default, role="input", value_type=input_type))
    for role, types in (("output", chart.outputs), ("local", chart.locals)):
        for name, variable_type in types.items():
            unset_mark = None if name in chart.initial_values else UNSET
            attributes = {extension_name("initial"): unset_mark}
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
                extra_attributes={extension_name("unit"): chart.units.get(name)},
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
        extension_name("role"): role,
        extension_name("type"): type_text,
    }
    return tag("data", {**attributes, **(extra_attributes or {})})


def _build_function(function: Function) -> Element:
    """Return the element of a function: its parameters and rows."""
    parameters = [
        tag(extension_name("takes"), {"name": name, "type": flow_text(type_data(parameter_type))})
        for name, parameter_type in function.parameters.items()
    ]
    attributes = {"name": function.name, "gives": flow_text(type_data(function.return_type))}
    return tag(
        extension_name("function"), attributes, (*parameters, *map(_build_function_row, function.rows))
    )


def _build_function_row(row: FunctionRow) -> Element:
    condition = {"cells": " | ".join(row.cells)} if row.cells else {"when": str(row.when)}
    return tag(extension_name("row"), {**condition, "give": str(row.value)})


def _build_promise(promise: Promise) -> Element:
    """Return the extension element of a promise."""
    if promise.kind is not PromiseKind.LEADS_TO or promise.goal is None:
        return tag(extension_name("promise"), {"name": promise.name, promise.kind.value: str(promise.when)})
    attributes = {
        "name": promise.name,
        "when": str(promise.when),
        "leads_to": str(promise.goal),
        "within": repr(promise.within_s),
    }
    return tag(extension_name("promise"), attributes)


def _build_table(table_form: TableForm) -> Element:
    """Return the extension element of a truth table's form: its columns, and the code of each state."""
    inputs = [
        tag(extension_name("column"), {"name": column, "input": name})
        for column, name in table_form.input_of_column.items()
    ]
    outputs = [
        tag(extension_name("column"), {"name": column, "output": name})
        for column, name in table_form.output_of_column.items()
    ]
    codes = [
        tag(extension_name("code"), {"state": name, "bits": bits})
        for name, bits in table_form.code_of_state.items()
    ]
    return tag(
        extension_name("table"), {"state_bits": " ".join(table_form.state_bits)}, (*inputs, *outputs, *codes)
    )


class _ScxmlWriter:
    """Builds the elements of one chart's states and transitions.

    Attributes:
        chart: the chart.
        tick_event: the event that triggers transitions without one; None in a chart that runs to completion.
        scope: the names that its expressions may use.
        names: what the names in the document mean in the chart: the same, as the writer changes none.
        free_names: hands out unused names, for the ids of histories.
        history_ids: the id of every history that is a target.
    """

    def __init__(self, chart: Chart, tick_event: str | None) -> None:
        """Give every history that is a target an id of its own.

        Args:
            chart: the chart.
            tick_event: the event that triggers transitions without one; None in a chart that runs to
                completion.
        """
        self.chart = chart
        self.tick_event = tick_event
        self.scope = chart.scope
        declared_names = [*chart.inputs, *chart.variables, *chart.constants]
        self.names = NamesInChart(
            variable_by_data_id={name: name for name in declared_names},
            enum_value_by_text={value: value for value in self.scope.enum_of_value},
            state_by_id={name: name for name in chart.state_names},
        )
        self.free_names = FreeNames(chart.state_names)
        self.history_ids: dict[StateTarget, str] = {}
        for target in _list_targets(chart):
            if target.history is not None and target not in self.history_ids:
                kind = "history" if target.history is HistoryKind.SHALLOW else "deep_history"
                self.history_ids[target] = self.free_names.take_state_name(f"{target.state}_{kind}")

    def format_targets(self, targets: Iterable[StateTarget]) -> str | None:
        """Return the ids of targets as in the attribute `target`; None if there are none."""
        return " ".join(self.history_ids.get(target, target.state) for target in targets) or None

    def build_state(self, state: State) -> Element:
        """Return the element of a state with everything in it."""
        element_name = "state"
        if state.parallel:
            element_name = "parallel"
        elif state.final:
            element_name = "final"
        initial = self.format_targets(state.initial)
        attributes = {
            "id": state.name,
            "initial": None if state.parallel else initial,
            # SCXML's <parallel> has no initial states
            extension_name("enters"): initial if state.parallel else None,
            extension_name("min_s"): repr(state.min_s) if state.min_s else None,
            extension_name("priority"): state.priority and state.priority.value,
            extension_name("otherwise"): state.otherwise and state.otherwise.value,
            extension_name("description"): state.description or None,
        }
        element = tag(element_name, attributes, tuple(self._build_children(state)))
        return _with_foreign_markup(element, state.foreign_markup)

    def _build_children(self, state: State) -> Iterator[Element]:
        """Yield the children of a state's element: transitions, actions, histories and states."""
        for transition in state.transitions:
            yield self.build_transition(transition, state)
        if self.chart.kind is ChartKind.MOORE:
            yield self._build_moore_outputs(state)
        yield from self._build_block("onentry", state.entry)
        yield from self._build_block(extension_name("during"), state.during)
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
            elements.append(
                tag("assign", {"location": name, **value_attributes, DEFAULT_ATTRIBUTE: is_default})
            )
        return tag("onentry", {MOORE_ATTRIBUTE: "true"}, elements)

    def _build_history(self, state: State, target: StateTarget, history_id: str) -> Element:
        """Return the <history> of a state.

        SCXML requires a default: states that are entered while the history is empty. If the chart names none,
        these are the initial states, or the first state inside if the initial one is itself a history, and
        the attribute `pw:default` marks that the chart names none.

        Args:
            state: the state.
            target: the target that enters the history.
            history_id: the id of the <history>.
        """
        child_names = [child.name for child in state.states]
        initial_states = [initial.state for initial in state.initial] or child_names
        if any(initial.history is not None for initial in state.initial):
            initial_states = child_names if state.parallel else child_names[:1]
        default = " ".join(target.default or initial_states)
        attributes = {
            "id": history_id,
            "type": "deep" if target.history is HistoryKind.DEEP else "shallow",
            extension_name("default"): None if target.default else INITIAL_STATES,
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
        is_internal = transition.local and self._can_be_internal(transition, source)
        has_target = bool(transition.go or transition.leads_to_junction)
        # the minimum time of the state counts only for transitions that leave it
        min_s = 0.0 if source is None or is_internal or not has_target else source.min_s
        wait_s = max(min_s, transition.after_s)
        cond = python_guard(transition.when, wait_s, self.scope.enum_of_value)
        cond_is_enough = cond is None or (not wait_s and self._reads_back(cond, transition.when, BoolType()))
        attributes = {
            "event": None if source is None else self._event_attribute(transition),
            "cond": cond,
            extension_name("else"): _true_or_none(transition.is_else),
            extension_name("when"): None if transition.is_else or cond_is_enough else str(transition.when),
            extension_name("after_s"): repr(transition.after_s) if transition.after_s else None,
            "type": "internal" if is_internal else None,
            extension_name("local"): _true_or_none(transition.local and not is_internal),
            "target": self.format_targets(transition.go),
            extension_name("description"): transition.description or None,
        }
        children = [*self._build_actions(transition.do), *map(self.build_transition, transition.then)]
        if transition.junction is not None:
            children.append(tag(JUNCTION_TARGET_ELEMENT, {"junction": transition.junction}))
        element = tag("transition" if source is not None else SEGMENT_ELEMENT, attributes, children)
        return _with_foreign_markup(element, transition.foreign_markup)

    def _can_be_internal(self, transition: Transition, source: State | None) -> bool:
        """Return whether a local transition can be an internal one of SCXML.

        SCXML has these only from a compound state, without regions, to states inside it.

        Args:
            transition: a local transition.
            source: the state that it leaves; None for a part of a compound transition, which leaves none.
        """
        if source is None or not source.is_compound:
            return False
        names_inside = {state.name for state in walk_states(source.states)}
        for target in transition.go:
            # a history of the state itself leads to states inside it
            is_own_history = target.history is not None and target.state == source.name
            if target.state not in names_inside and not is_own_history:
                return False
        return True

    def _event_attribute(self, transition: Transition) -> str | None:
        """Return the attribute `event` of a transition: its triggers, or else the event of every tick.

        It is None without triggers in a chart that runs to completion, which has no such event.
        """
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
        """Yield an <assign> for each variable that a simultaneous assignment sets.

        If possible, none reads a variable that an earlier one sets, so that other readers, which run them one
        after the other, get the same values.
        """
        for i, name in enumerate(_order_assignments(action.values)):
            value_attributes = self._value_attributes(name, action)
            yield tag(
                "assign", {"location": name, **value_attributes, AT_ONCE_ATTRIBUTE: _true_or_none(i > 0)}
            )

    def _value_attributes(self, name: str, action: Assign) -> dict[str, str | None]:
        """Return the attributes of an <assign> for its value.

        They are `expr` with the value in Python, and `pw:value` in the notation of charts, which is None if
        `expr` reads back as the same value.
        """
        value = action.values[name]
        variable_type = self.chart.variables[name]
        python = python_value_text(value, variable_type, self.scope.enum_of_value)
        chart_text = None if self._reads_back(python, value, variable_type) else str(value)
        return {"expr": python, extension_name("value"): chart_text}

    def _reads_back(self, python: str, expression: Expression, target: Type) -> bool:
        """Return whether a Python text is read as this very expression, for a variable of the target type."""
        try:
            translation = translate_expression(python, self.names, Element("scxml"))
            return parse_expression(translation, self.scope, target) == expression
        except InputError:
            return False

    def _condition_attributes(self, when: Expression) -> dict[str, str | None]:
        """Return the attributes of an <if> for its condition.

        They are `cond` with the condition in Python, and `pw:when` in the notation of charts, which is None
        if `cond` reads back as the same condition.
        """
        python = python_text(when.tree, self.scope.enum_of_value)
        chart_text = None if self._reads_back(python, when, BoolType()) else str(when)
        return {"cond": python, extension_name("when"): chart_text}

    def _build_branch(self, action: Branch) -> Element:
        """Return the <if> of a branch; an `else` that is just another branch becomes an <elseif>."""
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
    """Return the assigned variables in an order that gives the same result if they are set one by one.

    Each is set after all others whose values read it, as far as that is possible.

    Args:
        values: the assigned values by variable.
    """
    remaining_names = list(values)
    ordered_names = list[str]()
    while remaining_names:
        next_name = remaining_names[0]  # stays so if the values read each other in a cycle
        for name in remaining_names:
            names_that_read_it = {reader for reader in remaining_names if name in values[reader].names}
            if names_that_read_it <= {name}:
                next_name = name
                break
        remaining_names.remove(next_name)
        ordered_names.append(next_name)
    return ordered_names


def beyond_scxml(chart: Chart) -> tuple[str, ...]:
    """Return what another reader of the chart's SCXML document would treat differently, as text.

    Inputs are not listed: they are data that the driver of the document sets before each tick.
    """
    return tuple(feature for feature, is_used in _check_unsupported_features(chart) if is_used)


def _check_unsupported_features(chart: Chart) -> Iterator[tuple[str, bool]]:
    """Yield the features that SCXML lacks, as text, each with whether the chart uses it."""
    states = chart.every_state
    segments = _list_segments(chart)
    actions_of_states = [actions for state in states for actions in (state.entry, state.during, state.exit)]
    action_lists = [*actions_of_states, *(segment.do for segment in segments)]
    values = [value for actions in action_lists for value in expressions_in(actions)]
    expressions = [*values, *(segment.when for segment in segments)]
    has_min_s = any(state.min_s for state in states)
    has_after_s = any(segment.after_s for segment in segments)
    yield (
        "times: after, before, every, held and minimum times",
        _contain(expressions, TemporalCondition) or has_min_s or has_after_s,
    )
    yield "actions at every tick (during)", any(state.during for state in states)
    yield "junctions", any(segment.leads_to_junction for segment in segments)
    yield (
        "simultaneous assignments that read each other's values",
        any(map(_has_cyclic_assignment, action_lists)),
    )
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
        ordered_names = _order_assignments(values)
        for i, name in enumerate(ordered_names):
            later_names = ordered_names[i + 1 :]
            if any(name in values[later_name].names for later_name in later_names):
                return True
    return False


def _true_or_none(condition: bool) -> str | None:
    """Return the text of a flag attribute; None, which leaves the attribute out, if it is false."""
    return "true" if condition else None
