"""Charts to SCXML: in the W3C's words what they can say, in ours the rest, so that nothing is lost."""

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
    MOORE,
    OWN,
    PREFIX,
    SCXML,
    WHOLE,
    own,
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
"""The event that stands for a tick in charts that ask transitions without an event once a tick."""


def save_scxml(chart: Chart, path: Path | str) -> None:
    """Write a chart as an SCXML document, atomically.

    Raises:
        OutputError: it cannot be written there.
    """
    write_atomically(Path(path), scxml_text(chart).encode())


def scxml_text(chart: Chart) -> str:
    """Return a chart as the text of an SCXML document; read again, it is the same chart.

    What SCXML has no word for is written in our vocabulary, which other readers pass over: `beyond_scxml`
    names it.
    """
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *_root(chart).lines(), ""])


def tick_event(chart: Chart) -> str | None:
    """Return the event that asks transitions without an event; None where they are asked by themselves."""
    if chart.steps is StepMode.COMPLETION:
        return None
    return FreeNames((*chart.events, *chart.local_events)).take(TICK, "event")


def _root(chart: Chart) -> Element:
    tick = tick_event(chart)
    writer = _ScxmlWriter(chart, tick)
    children = [*_datamodel(chart), *map(_function, chart.functions.values()), *map(_promise, chart.promises)]
    children += [_table(chart.form)] if chart.form is not None and chart.form.state_bits else []
    for name, ways in chart.junctions.items():
        segments = tuple(writer.transition(way) for way in ways)
        children.append(tag(own("junction"), {"id": name}, segments))
    states = tuple(writer.state(state) for state in chart.states)
    initial = writer.targets(chart.initial)
    if chart.parallel:
        regions = writer.free.take_state("regions")
        states = (tag("parallel", {"id": regions, own("regions"): "true"}, states),)
        initial = initial or regions
    return tag("scxml", {**_head(chart, tick), "initial": initial}, (*children, *states))


def _head(chart: Chart, tick: str | None) -> dict[str, str | None]:
    usual = chart.stays_by_default and chart.kind is ChartKind.STATECHART
    return {
        "xmlns": SCXML,
        f"xmlns:{PREFIX}": OWN,
        "version": "1.0",
        "datamodel": "python",
        "name": chart.name,
        own("kind"): chart.kind.value,
        own("period_s"): repr(chart.period_s),
        own("steps"): chart.steps.value,
        own("tick"): tick,
        own("priority"): chart.priority.value,
        own("otherwise"): None if usual else chart.otherwise.value,
        own("events"): " ".join(chart.events) or None,
        own("local_events"): " ".join(chart.local_events) or None,
        own("resources"): " ".join(chart.resources) or None,
        own("description"): chart.description or None,
        own("source"): chart.source or None,
    }


def _datamodel(chart: Chart) -> Iterator[Element]:
    start = chart.start_values()
    tags = [_datum(name, kind.default, "input", kind) for name, kind in chart.inputs.items()]
    for role, kinds in (("output", chart.outputs), ("local", chart.locals)):
        for name, kind in kinds.items():
            unset = None if name in chart.initial_values else "unset"
            tags.append(_datum(name, start[name], role, kind, {own("initial"): unset}))
    for name, value in chart.constants.items():
        tags.append(_datum(name, value, "constant", None, {own("unit"): chart.units.get(name)}))
    if tags:
        yield tag("datamodel", {}, tuple(tags))


def _datum(
    name: str, value: Value, role: str, kind: Type | None, more: Mapping[str, str | None] | None = None
) -> Element:
    said = None if kind is None else flow_text(type_data(kind))
    attributes = {"id": name, "expr": python_value(value), own("role"): role, own("type"): said}
    return tag("data", {**attributes, **(more or {})})


def _function(function: Function) -> Element:
    kinds = {name: flow_text(type_data(kind)) for name, kind in function.takes.items()}
    takes = (tag(own("takes"), {"name": name, "type": said}) for name, said in kinds.items())
    head = {"name": function.name, "gives": flow_text(type_data(function.gives))}
    return tag(own("function"), head, (*takes, *map(_row, function.rows)))


def _row(row: FunctionRow) -> Element:
    asked = {"cells": " | ".join(row.cells)} if row.cells else {"when": str(row.when)}
    return tag(own("row"), {**asked, "give": str(row.give)})


def _promise(promise: Promise) -> Element:
    if promise.kind is not PromiseKind.LEADS_TO or promise.goal is None:
        return tag(own("promise"), {"name": promise.name, promise.kind.value: str(promise.when)})
    said = {"when": str(promise.when), "leads_to": str(promise.goal), "within": repr(promise.within_s)}
    return tag(own("promise"), {"name": promise.name, **said})


def _table(form: TableForm) -> Element:
    inputs = (tag(own("column"), {"name": name, "input": one}) for name, one in form.inputs.items())
    outputs = (tag(own("column"), {"name": name, "output": one}) for name, one in form.outputs.items())
    codes = (tag(own("code"), {"state": name, "bits": bits}) for name, bits in form.codes.items())
    return tag(own("table"), {"state_bits": " ".join(form.state_bits)}, (*inputs, *outputs, *codes))


class _ScxmlWriter:
    """Writes the states of one chart, and what it does and asks.

    Attributes:
        tick: the event that asks transitions without an event once; None asks them again and again.
        names: of the chart, which the document has unchanged.
        free: gives out ids of histories.
        histories: every history that something leads to, and its id.
    """

    def __init__(self, chart: Chart, tick: str | None) -> None:
        self.chart = chart
        self.tick = tick
        self.scope = chart.scope
        every = (chart.inputs, chart.variables, chart.constants)
        self.names = Renaming(
            {name: name for names in every for name in names},
            {value: value for value in self.scope.values},
            {name: name for name in chart.state_names},
        )
        self.free = FreeNames(chart.state_names)
        self.histories: dict[StateTarget, str] = {}
        for target in _targets_of(chart):
            if target.history is not None and target not in self.histories:
                kind = "history" if target.history is HistoryKind.SHALLOW else "deep_history"
                self.histories[target] = self.free.take_state(f"{target.state}_{kind}")

    def targets(self, targets: Iterable[StateTarget]) -> str | None:
        return " ".join(self.histories.get(one, one.state) for one in targets) or None

    def state(self, state: State) -> Element:
        name = "parallel" if state.parallel else "final" if state.final else "state"
        initial = self.targets(state.initial)
        attributes = {
            "id": state.name,
            "initial": None if state.parallel else initial,
            own("enters"): initial if state.parallel else None,
            own("min_s"): repr(state.min_s) if state.min_s else None,
            own("priority"): state.priority and state.priority.value,
            own("otherwise"): state.otherwise and state.otherwise.value,
            own("description"): state.description or None,
        }
        return tag(name, attributes, tuple(self.inside(state)))

    def inside(self, state: State) -> Iterator[Element]:
        for transition in state.transitions:
            yield self.transition(transition, state)
        if self.chart.kind is ChartKind.MOORE:
            yield self.moore(state)
        yield from self._block("onentry", state.entry)
        yield from self._block(own("during"), state.during)
        yield from self._block("onexit", state.exit)
        for target, name in self.histories.items():
            if target.state == state.name:
                yield self.history(state, target, name)
        for child in state.states:
            yield self.state(child)

    def _block(self, name: str, actions: Actions) -> Iterator[Element]:
        if actions:
            yield tag(name, {}, tuple(self.actions(actions)))

    def moore(self, state: State) -> Element:
        begun = {name: constant(value) for name, value in self.chart.start_outputs().items()}
        every = Assign({**begun, **state.do})
        said = ((name, self.value(name, every), _yes(name not in state.do)) for name in every.values)
        tags = [tag("assign", {"location": name, **value, DEFAULT: default}) for name, value, default in said]
        return tag("onentry", {MOORE: "true"}, tags)

    def history(self, state: State, target: StateTarget, name: str) -> Element:
        deep = target.history is HistoryKind.DEEP
        inside = [child.name for child in state.states]
        first = [one.state for one in state.initial] or inside
        if any(one.history is not None for one in state.initial):
            first = inside if state.parallel else inside[:1]
        plain = " ".join(target.default or first)
        attributes = {
            "id": name,
            "type": "deep" if deep else "shallow",
            own("default"): None if target.default else WHOLE,
        }
        return tag("history", attributes, (tag("transition", {"target": plain}),))

    def transition(self, transition: Transition, source: State | None = None) -> Element:
        name = "transition" if source is not None else own("way")
        inner = transition.local and self.stays_inside(transition, source)
        leaves = source is not None and not inner and bool(transition.go or transition.leads_to_junction)
        wait_s = max(source.min_s if source is not None and leaves else 0.0, transition.after_s)
        guard = python_guard(transition.when, wait_s, self.scope.values)
        said = guard is None or (not wait_s and self.reads_back(guard, transition.when, BoolType()))
        attributes = {
            "event": self.events(transition) if name == "transition" else None,
            "cond": guard,
            own("else"): _yes(transition.is_else),
            own("when"): None if transition.is_else or said else str(transition.when),
            own("after_s"): repr(transition.after_s) if transition.after_s else None,
            "type": "internal" if inner else None,
            own("local"): _yes(transition.local and not inner),
            "target": self.targets(transition.go),
            own("description"): transition.description or None,
        }
        inside = [*self.actions(transition.do), *map(self.transition, transition.then)]
        if transition.junction is not None:
            inside.append(tag(own("to"), {"junction": transition.junction}))
        return tag(name, attributes, inside)

    def stays_inside(self, transition: Transition, source: State | None) -> bool:
        """Return whether a local transition is what SCXML calls internal: to states inside a compound one."""
        if source is None or not source.is_compound:
            return False
        inside = {one.name for one in walk_states(source.states)}
        return all(one.state in inside or (one.history and one.state == source.name) for one in transition.go)

    def events(self, transition: Transition) -> str | None:
        if not transition.on:
            return self.tick
        return " ".join(
            f"done.state.{one.removeprefix(DONE_PREFIX)}" if one.startswith(DONE_PREFIX) else one
            for one in transition.on
        )

    def actions(self, actions: Actions) -> Iterator[Element]:
        for action in actions:
            if isinstance(action, Raise):
                yield tag("raise", {"event": action.event})
            elif isinstance(action, Assign):
                yield from self.assign(action)
            else:
                yield self.branch(action)

    def assign(self, action: Assign) -> Iterator[Element]:
        """Yield an <assign> for each value, such that none reads what one before it has set, if possible."""
        for i, name in enumerate(_in_order(action.values)):
            yield tag("assign", {"location": name, **self.value(name, action), AT_ONCE: _yes(i > 0)})

    def value(self, name: str, action: Assign) -> dict[str, str | None]:
        value, kind = action.values[name], self.chart.variables[name]
        text = python_value_text(value, kind, self.scope.values)
        return {"expr": text, own("value"): None if self.reads_back(text, value, kind) else str(value)}

    def reads_back(self, text: str, expression: Expression, kind: Type) -> bool:
        """Return whether Python's text, read as that of any document, is this very expression."""
        try:
            return (
                parse_expression(translated(text, self.names, Element("scxml")), self.scope, kind)
                == expression
            )
        except InputError:
            return False

    def condition(self, when: Expression) -> dict[str, str | None]:
        text = python_text(when.tree, self.scope.values)
        return {"cond": text, own("when"): None if self.reads_back(text, when, BoolType()) else str(when)}

    def branch(self, action: Branch) -> Element:
        """Return the <if> that a branch is; where all that is left over is a branch, it becomes <elseif>."""
        inside = list(self.actions(action.then))
        rest = action.otherwise
        while len(rest) == 1 and isinstance(rest[0], Branch):
            inside += [tag("elseif", self.condition(rest[0].when)), *self.actions(rest[0].then)]
            rest = rest[0].otherwise
        if rest:
            inside += [tag("else"), *self.actions(rest)]
        return tag("if", self.condition(action.when), tuple(inside))


def _targets_of(chart: Chart) -> Iterator[StateTarget]:
    yield from chart.initial
    for state in chart.every_state:
        yield from state.initial
    for segment in _segments(chart):
        yield from segment.go


def _segments(chart: Chart) -> list[Transition]:
    every = [*(state.transitions for state in chart.every_state), *chart.junctions.values()]
    return [segment for transitions in every for segment in segments_of(transitions)]


def _in_order(values: Mapping[str, Expression]) -> list[str]:
    """Return names in an order in which each is set after all that read it, as far as there is one."""
    waiting, found = list(values), list[str]()
    while waiting:
        readers = {one: [other for other in waiting if one in values[other].names] for one in waiting}
        taken = next((one for one in waiting if set(readers[one]) <= {one}), waiting[0])
        waiting.remove(taken)
        found.append(taken)
    return found


def beyond_scxml(chart: Chart) -> tuple[str, ...]:
    """Return what another reader of the chart's SCXML document would do otherwise, in words.

    Inputs are not among it: they are data that whoever drives the document sets before each tick.
    """
    return tuple(text for text, there in _features(chart) if there)


def _features(chart: Chart) -> Iterator[tuple[str, bool]]:
    states, segments = chart.every_state, _segments(chart)
    blocks = [block for state in states for block in (state.entry, state.during, state.exit)]
    acting = [value for block in blocks for value in expressions_in(block)]
    acting += [value for one in segments for value in expressions_in(one.do)]
    every = [*acting, *(one.when for one in segments)]
    yield (
        "times: after, before, every, held and least times",
        _asks(every, TemporalCondition)
        or any(one.min_s for one in states)
        or any(one.after_s for one in segments),
    )
    yield "actions at every tick (during)", any(state.during for state in states)
    yield "junctions", any(one.leads_to_junction for one in segments)
    yield (
        "values set at once that read each other",
        any(map(_tangled, [*blocks, *(one.do for one in segments)])),
    )
    yield (
        "in(...) in actions, which SCXML asks between two steps of leaving and entering",
        _asks(acting, InState),
    )
    calls = (node for one in every for node in nodes_of(one.tree) if isinstance(node, Call))
    yield "numbers rounded to 32 bits", any(call.function == "single" for call in calls)
    yield (
        "an initial state in each region, said by the state around them",
        any(state.parallel and state.initial for state in states),
    )


def _asks(expressions: list[Expression], kind: type) -> bool:
    return any(isinstance(node, kind) for one in expressions for node in nodes_of(one.tree))


def _tangled(actions: Actions) -> bool:
    """Return whether values set at once read each other in a circle, so that no order would do."""
    for action in iterate_actions(actions):
        values = action.values if isinstance(action, Assign) else {}
        order = _in_order(values)
        if any(name in values[later].names for i, name in enumerate(order) for later in order[i + 1 :]):
            return True
    return False


def _yes(holds: bool) -> str | None:
    return "true" if holds else None
