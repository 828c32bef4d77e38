"""The reader of native documents, `*.chart.yaml`, which reports all errors with their lines.

`chart_of_document` reads the sections of a document, the names they declare, then everything that uses names.
Each part is read inside `with errors.collect():`, so the errors of all parts are reported together.

The actions in a mapping are simultaneous; those in a list run one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from posewright.charts.expression import Expression, Scope
from posewright.charts.formats.declarations import (
    SECTIONS,
    read_declarations,
    read_initial_values,
    read_resources,
    read_table_form,
)
from posewright.charts.formats.document_fields import (
    MAX_TIME_S,
    MIN_PERIOD_S,
    ErrorCollector,
    ReadingStoppedError,
    one_or_more,
    optional_choice,
    optional_flag,
    optional_seconds,
    optional_text,
    read_condition,
    read_expression,
    read_fields,
    read_seconds,
)
from posewright.charts.model import (
    ALWAYS,
    DONE_PREFIX,
    ELSE,
    MAX_NAME,
    Action,
    Actions,
    Assign,
    Branch,
    Chart,
    ChartKind,
    Declarations,
    HistoryKind,
    Otherwise,
    Priority,
    Promise,
    PromiseKind,
    Raise,
    State,
    StateTarget,
    StepMode,
    Transition,
    else_guard,
    find_name_fault,
    has_alternatives,
    read_chart_name,
    read_title,
)
from posewright.documents import Node, parse_document
from posewright.errors import InputError, UnknownNameError, Where

REQUIRED_CHART_KEYS = ("chart", "period_s")
CHART_KEYS = (
    *REQUIRED_CHART_KEYS,
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
STATECHART_SECTIONS = ("events", "local_events", "steps", "regions")
"""Keys of a chart that are allowed only if it is a statechart."""

FLAT_KEYS = ("description", "transitions", "min_s", "priority", "otherwise", "final")
STATECHART_KEYS = ("entry", "during", "exit", "initial", "states", "regions")
"""Keys of a state that are allowed only in a statechart."""

STATE_KEYS = (*FLAT_KEYS, "do", *STATECHART_KEYS)
DESTINATION_KEYS = ("go", "then", "junction")
SEGMENT_KEYS = ("when", "do", *DESTINATION_KEYS, "local", "description")
TRANSITION_KEYS = ("on", "after_s", *SEGMENT_KEYS)
HISTORY_KEYS = {"history": HistoryKind.SHALLOW, "deep_history": HistoryKind.DEEP}
PROMISE_KINDS = ("never", "always", "leads_to")
PROMISE_KEYS = (*PROMISE_KINDS, "when", "within", "name")

MAX_JUNCTIONS = 200
"""Named junctions in a chart."""

INVALID_TRANSITION = Transition()
"""Stands for a transition with an error that has been collected."""

STATE_HINT = "use letters a-z, digits and _"
ACTION_HINT = "an action is {output: value}, {raise: event} or {if: condition, do: ..., else: ...}"
TARGET_HINT = "write a state, [one, a region] or {history: state}"
PROMISE_HINT = "write {never: x}, {always: x} or {when: x, leads_to: y, within: 2 s}"

_ARROW = re.compile(r"(.*?)\s*[-=]>\s*(\w+)")


def parse_chart(text: str, path: Path | None = None) -> Chart:
    """Read a chart from the text of its document.

    Args:
        text: the document.
        path: its file, for messages, and to find the tables of functions beside it.

    Raises:
        DocumentError: the document, or a field in it, is not valid.
        ExpressionError: a guard or an action does not parse or type check.
        UnknownNameError: a state, an event, a key or a type does not exist.

    If there are several errors, the first in the document is raised, with the others attached.
    """
    return chart_of_document(parse_document(text, path))


def chart_of_document(root: Node) -> Chart:
    """Return the chart of a parsed document; it raises the errors of `parse_chart`."""
    errors = ErrorCollector()
    with suppress(ReadingStoppedError), errors.collect():
        fields = _read_sections(root, errors)
        names = _read_names(root, fields, errors)
        declared = names.declared
        reader = _PartReader(names, errors)
        with errors.collect():
            name = read_chart_name(fields["chart"])
        with errors.collect():
            period_s = fields["period_s"].number(low=MIN_PERIOD_S, high=MAX_TIME_S)
        with errors.collect():
            initial = read_targets(fields["initial"], names.states) if "initial" in fields else ()
        with errors.collect():
            states = reader.read_states(fields)
        with errors.collect():
            initial_values = read_initial_values(fields, declared, errors)
        with errors.collect():
            junctions = reader.read_junctions(fields)
        with errors.collect():
            steps = optional_choice(fields, "steps", StepMode) or StepMode.ONE
        with errors.collect():
            priority = optional_choice(fields, "priority", Priority) or Priority.EXCLUSIVE
        with errors.collect():
            default_otherwise = Otherwise.STAY if names.kind is ChartKind.STATECHART else Otherwise.REFUSE
            otherwise = optional_choice(fields, "otherwise", Otherwise) or default_otherwise
        with errors.collect():
            promises = reader.read_promises(fields)
        with errors.collect():
            resources = read_resources(fields, declared)
        with errors.collect():
            table_form = (
                read_table_form(fields["table"], [*names.states], declared) if "table" in fields else None
            )
        with errors.collect():
            description = optional_text(fields, "description")
        with errors.collect():
            source = optional_text(fields, "source")
    errors.raise_first()
    try:
        return Chart(
            name=name,
            kind=names.kind,
            period_s=period_s,
            inputs=declared.inputs,
            outputs=declared.outputs,
            initial=initial,
            states=states,
            parallel="regions" in fields,
            events=declared.events,
            local_events=declared.local_events,
            locals=declared.locals,
            constants=declared.constants,
            units=declared.units,
            functions=declared.functions,
            initial_values=initial_values,
            junctions=junctions,
            steps=steps,
            priority=priority,
            otherwise=otherwise,
            promises=promises,
            resources=resources,
            declared_table_form=table_form,
            otherwise_is_explicit="otherwise" in fields,
            description=description,
            source=source,
            path=root.path,
            lines=declared.lines,
        )
    except InputError as error:
        if error.where is None or error.where.line is None:  # the model lacks some lines
            error.where = fields.get("initial", fields.get("states", root)).where
        raise


def _read_sections(root: Node, errors: ErrorCollector) -> dict[str, Node]:
    """Return the top-level fields of a document; raise an error if a required one is missing.

    Unknown keys are collected as errors. If a required field is missing, they are raised first.
    """
    fields = root.fields()
    for key, node in fields.items():
        if key not in CHART_KEYS:
            unknown = UnknownNameError.among("key", key, CHART_KEYS, where=node.where)
            errors.add(unknown, node.value)
    if not fields.keys() >= {*REQUIRED_CHART_KEYS}:
        errors.raise_first()  # a misspelt key explains a missing one
    root.fields(required=REQUIRED_CHART_KEYS)
    _reject_states_with_regions(fields)
    if "regions" not in fields:
        if not fields.keys() >= {"initial", "states"}:
            errors.raise_first()
        root.fields(required=(*REQUIRED_CHART_KEYS, "initial", "states"))
    states = fields["regions"] if "regions" in fields else fields["states"]
    if not states.fields():
        states.fail("there is no state", hint="a chart has at least one state")
    return fields


def _reject_states_with_regions(fields: Mapping[str, Node]) -> None:
    """Raise a DocumentError if a chart or a state has both `states` and `regions`."""
    if "states" in fields and "regions" in fields:
        hint = "of states one is active, of regions all are: put the states into a region"
        fields["regions"].fail("both 'states' and 'regions'", hint=hint)


@dataclass(frozen=True)
class _ChartNames:
    """The names that states, transitions, actions and promises may use.

    Attributes:
        kind: the kind of the chart.
        declared: the variables, events, constants and functions.
        states: all states, on any level, and their nodes.
        junctions: the named junctions.
        states_with_done_event: states that raise `done.S`: a child is final, or they have regions.
    """

    kind: ChartKind
    declared: Declarations
    states: Mapping[str, Node]
    junctions: tuple[str, ...]
    states_with_done_event: frozenset[str]

    @cached_property
    def scope(self) -> Scope:
        """The names that guards and actions may use."""
        return self.declared.scope(tuple(self.states))

    @cached_property
    def promise_scope(self) -> Scope:
        """The names that promises may use: events as well, true in the tick in which they occur."""
        scope = self.declared.scope(tuple(self.states), events=True)
        return replace(scope, in_state=False)


def _read_names(root: Node, fields: Mapping[str, Node], errors: ErrorCollector) -> _ChartNames:
    """Read the names of all states, junctions, variables, events, constants and functions of a chart.

    Args:
        root: the document.
        fields: its sections by key.
        errors: collects the errors. If the name of a state is not valid, they are raised here, since all
            transitions to that state would be errors as well.
    """
    kind = optional_choice(fields, "kind", ChartKind) or ChartKind.STATECHART
    if kind is not ChartKind.STATECHART:
        for key in STATECHART_SECTIONS:
            if key in fields:
                fields[key].fail(f"a {kind.value} chart has no {key}", hint="use kind: statechart")
    n_errors_before = len(errors.errors)
    states: dict[str, Node] = {}
    for name, node in _states_below(root):
        with errors.collect():
            if not _is_state_name(name):
                node.fail(f"{name[:MAX_NAME]!r} is not a valid name for a state", hint=STATE_HINT)
            if name in states:
                first_line = states[name].line
                first_place = f" (first in line {first_line})" if first_line else ""
                hint = "a state's name is unique in the whole chart: rename one"
                node.fail(f"there are two states called {name!r}{first_place}", hint=hint)
            states[name] = node
    has_misnamed_states = len(errors.errors) > n_errors_before
    states_with_done_event = frozenset(
        name for name, node in states.items() if _raises_done_event(node.value)
    )
    declared = read_declarations(fields, errors)
    if has_misnamed_states:
        errors.raise_first()
    return _ChartNames(
        kind=kind,
        declared=declared,
        states=states,
        junctions=_junction_names(fields, states),
        states_with_done_event=states_with_done_event,
    )


def _states_below(parent: Node) -> Iterator[tuple[str, Node]]:
    """Yield the names and nodes of all states inside a chart or a state."""
    if not isinstance(parent.value, dict):
        return
    for key, node in parent.fields().items():
        if key in ("states", "regions"):
            for name, state in node.fields().items():
                yield name, state
                yield from _states_below(state)


def _raises_done_event(value: object) -> bool:
    """Return whether a state S raises the event `done.S`: one of its children is final, or it has regions.

    Args:
        value: the value of the state's field in the document, which may be of any kind.
    """
    if not isinstance(value, dict):
        return False
    states = value.get("states")
    if isinstance(states, dict):
        return any(isinstance(state, dict) and state.get("final") is True for state in states.values())
    return isinstance(value.get("regions"), dict)


def _junction_names(fields: Mapping[str, Node], states: Mapping[str, Node]) -> tuple[str, ...]:
    """Return the names of the junctions; raise an error if one is not valid, or is a state's name too."""
    nodes = fields["junctions"].fields() if "junctions" in fields else {}
    if len(nodes) > MAX_JUNCTIONS:
        hint = f"at most {MAX_JUNCTIONS}; a truth table can replace many junctions"
        fields["junctions"].fail(f"{len(nodes)} junctions", hint=hint)
    for name, node in nodes.items():
        if not _is_state_name(name):
            node.fail(f"{name[:80]!r} is not a valid name for a junction", hint=STATE_HINT)
        if name in states:
            states[name].fail(f"{name!r} is a state and a junction", hint="rename one")
    return tuple(nodes)


def _is_state_name(name: str) -> bool:
    """Return whether a name is valid for a state or a junction."""
    return find_name_fault(f"_{name}") is None and len(name) < MAX_NAME


class _PartReader:
    """Reads states, junctions and promises, and collects their errors.

    Attributes:
        names: the names that they may use.
        declared: the variables, events, constants and functions.
        kind: the kind of the chart.
        errors: collects the errors.
    """

    def __init__(self, names: _ChartNames, errors: ErrorCollector) -> None:
        self.names = names
        self.declared = names.declared
        self.kind = names.kind
        self.errors = errors

    # States

    def read_states(self, fields: Mapping[str, Node]) -> tuple[State, ...]:
        """Read the states under `states` or `regions` of a chart or a state; invalid ones are left out."""
        key = "regions" if "regions" in fields else "states"
        states: list[State] = []
        for name, node in fields[key].fields().items():
            with self.errors.collect():
                states.append(self._read_state(name, node))
        return tuple(states)

    def _read_state(self, name: str, node: Node) -> State:
        """Read a state and the states inside it; errors are collected, field by field.

        A state that is a list, or empty, has only transitions.
        """
        if isinstance(node.value, list) or node.value is None:
            return State(name, self._read_transitions(node, TRANSITION_KEYS), line=node.line)
        errors = self.errors
        fields = node.fields()
        for key, entry in fields.items():
            with errors.collect():
                self._require_state_key(key, entry)
        states: tuple[State, ...] = ()
        transitions: tuple[Transition, ...] = ()
        moore_outputs: dict[str, Expression] = {}
        actions: dict[str, Actions] = {"entry": (), "during": (), "exit": ()}
        with errors.collect():
            states = self._read_states_inside(node, fields)
        with errors.collect():
            transitions = self._read_transitions(fields.get("transitions"), TRANSITION_KEYS)
        with errors.collect():
            if "do" in fields and self.kind is ChartKind.MOORE:
                moore_outputs = self._read_values(fields["do"], self.declared.fixed_scope)
        for key in actions:
            with errors.collect():
                actions[key] = self._read_actions(fields.get(key))
        return State(
            name,
            transitions,
            do=moore_outputs,
            min_s=optional_seconds(fields, "min_s"),
            priority=optional_choice(fields, "priority", Priority),
            otherwise=optional_choice(fields, "otherwise", Otherwise),
            entry=actions["entry"],
            during=actions["during"],
            exit=actions["exit"],
            states=states,
            initial=read_targets(fields["initial"], self.names.states) if "initial" in fields else (),
            parallel="regions" in fields,
            final=optional_flag(fields, "final"),
            description=optional_text(fields, "description"),
            line=node.line,
        )

    def _require_state_key(self, key: str, node: Node) -> None:
        """Raise an error unless a state of this kind of chart may have a key."""
        if key not in STATE_KEYS:
            raise UnknownNameError.among("key", key, STATE_KEYS, where=node.where)
        if key in STATECHART_KEYS and self.kind is not ChartKind.STATECHART:
            self._fail_statechart_only(node, f"{key!r} in its states")
        if key == "do" and self.kind is ChartKind.MEALY:
            node.fail("a Mealy state sets no outputs", hint="set them on transitions, or use kind: moore")
        if key == "do" and self.kind is ChartKind.STATECHART:
            node.fail("only a Moore state has 'do'", hint="write `entry:`, `during:` or `exit:`")

    def _fail_statechart_only(self, node: Node, feature: str) -> NoReturn:
        """Raise the DocumentError for something that only a statechart has."""
        node.fail(f"a {self.kind.value} chart has no {feature}", hint="use kind: statechart")

    def _read_states_inside(self, node: Node, fields: Mapping[str, Node]) -> tuple[State, ...]:
        """Read the states or regions inside a state; return an empty tuple if there are none."""
        _reject_states_with_regions(fields)
        inside = fields.get("states") or fields.get("regions")
        if inside is None:
            return ()
        if not inside.fields():
            inside.fail("there is no state", hint="leave the key out, or add a state")
        if "initial" not in fields and "states" in fields:
            node.fail("'initial' is missing", hint="write which of its states is entered first")
        return self.read_states(fields)

    # Transitions

    def read_junctions(self, fields: Mapping[str, Node]) -> dict[str, tuple[Transition, ...]]:
        """Read the segments of every named junction, by the junction's name."""
        if "junctions" not in fields:
            return {}
        junctions: dict[str, tuple[Transition, ...]] = {}
        for name, node in fields["junctions"].fields().items():
            with self.errors.collect():
                junctions[name] = self._read_segments(node)
        return junctions

    def _read_segments(self, node: Node) -> tuple[Transition, ...]:
        """Read the segments of a junction."""
        if not node.items():
            hint = "write [{when: guard, go: state}, {when: else, ...}]"
            node.fail("a junction needs segments", hint=hint)
        return self._read_transitions(node, SEGMENT_KEYS)

    def _read_transitions(self, node: Node | None, allowed_keys: Collection[str]) -> tuple[Transition, ...]:
        """Read a list of transitions; an invalid one is replaced by a placeholder and its error collected.

        Args:
            node: the list; None or an empty field if there are no transitions.
            allowed_keys: the keys that each may have: TRANSITION_KEYS, or SEGMENT_KEYS for segments, the
                parts of a transition after a junction.
        """
        if node is None or node.value is None:
            return ()
        transitions: list[Transition] = []
        for item in node.items():
            transition = INVALID_TRANSITION
            with self.errors.collect():
                transition = self._read_transition(item, allowed_keys, earlier_transitions=transitions)
            transitions.append(transition)
        return tuple(transitions)

    def _read_transition(
        self, node: Node, allowed_keys: Collection[str], earlier_transitions: list[Transition]
    ) -> Transition:
        """Read a transition of a state, or a segment of a junction.

        Args:
            node: the transition.
            allowed_keys: the keys that it may have: TRANSITION_KEYS, or SEGMENT_KEYS for a segment.
            earlier_transitions: those before it in the list; an `else` means that none of them is enabled.
        """
        self._require_notation(node, allowed_keys)
        fields = read_fields(node, allowed_keys)
        # first, so that a misspelt state is reported first
        targets = read_targets(fields["go"], self.names.states) if "go" in fields else ()
        if allowed_keys is TRANSITION_KEYS:
            self._require_trigger_or_guard(node, fields)
        _require_destination(node, fields)
        event_nodes = one_or_more(fields["on"]) if "on" in fields else []
        events = tuple(self._read_event(item) for item in event_nodes)
        is_else = "when" in fields and fields["when"].value == ELSE
        guard = ALWAYS
        if is_else:
            guard = _read_else(fields["when"], Where(node.path, node.line), earlier_transitions, events)
        elif "when" in fields:
            guard = read_condition(node, key="when", node=fields["when"], scope=self.names.scope)
        junction: str | None = None
        if "junction" in fields:
            junction = fields["junction"].choice("junction", self.names.junctions)
        return Transition(
            when=guard,
            do=self._read_transition_actions(fields),
            go=targets,
            on=tuple(dict.fromkeys(events)),
            after_s=optional_seconds(fields, "after_s"),
            local=optional_flag(fields, "local"),
            then=self._read_segments(fields["then"]) if "then" in fields else (),
            junction=junction,
            is_else=is_else,
            description=optional_text(fields, "description"),
            line=node.line,
        )

    def _require_notation(self, node: Node, allowed_keys: Collection[str]) -> None:
        """Raise an error for notations that people try, with the right one as a hint.

        They are `near -> open`, a state alone, a key without its colon (`go open`), and `near: open`.
        """
        states = self.names.states
        arrow = _ARROW.fullmatch(node.value) if isinstance(node.value, str) else None
        if arrow is not None:
            guard, target = arrow.groups()
            guard_entry = f"when: {guard}, " if guard else ""
            node.fail(f"`{node.value[:60]}` is not a transition", hint=f"write {{{guard_entry}go: {target}}}")
        if not isinstance(node.value, dict):
            node.fail("expected a transition", hint="write {when: guard, go: state}")
        for key, entry in node.fields().items():
            if key in allowed_keys:
                continue
            if entry.value is None and key in states:
                node.fail(f"`{key}` is not a key of a transition", hint=f"write `go: {key}`")
            first_word, _, later_words = key.strip().partition(" ")
            if entry.value is None and later_words and first_word in allowed_keys:
                node.fail(f"`{key}` has no colon", hint=f"write `{first_word}: {later_words.strip()}`")
            if isinstance(entry.value, str) and entry.value in states:
                hint = f"write {{when: {key}, go: {entry.value}}}"
                node.fail(f"`{key}` is not a key of a transition", hint=hint)

    def _require_trigger_or_guard(self, node: Node, fields: Mapping[str, Node]) -> None:
        """Raise an error unless a transition has a cause that this kind of chart allows."""
        for key in ("on", "local"):
            if key in fields and self.kind is not ChartKind.STATECHART:
                self._fail_statechart_only(fields[key], "events" if key == "on" else "local transitions")
        if not fields.keys() & {"on", "when", "after_s", "then", "junction"}:
            causes = (
                "`when`, `on` or `after_s`" if self.kind is ChartKind.STATECHART else "`when` or `after_s`"
            )
            hint = "write the guard, as in `when: front and not left`; `when: true` for always"
            node.fail(f"'when' is missing: a transition needs {causes}", hint=hint)

    def _read_event(self, node: Node) -> str:
        """Return the name of the event that triggers a transition: a declared event, or `done.S`.

        Raises:
            DocumentError: there is no such event, or it is an input, or the state S is never done.
            UnknownNameError: `done.S` names no state.
        """
        name = node.text()
        events = self.declared.every_event
        if name not in events and name.startswith(DONE_PREFIX):
            state = name.removeprefix(DONE_PREFIX)
            if state not in self.names.states:
                raise UnknownNameError.among("state", state, self.names.states, where=node.where)
            if state not in self.names.states_with_done_event:
                alternative = f"or wait for one of {sorted(self.names.states_with_done_event)}"
                hint = f"give it a final state, as in `over: {{final: true}}`, {alternative}"
                node.fail(f"{state} is never done, since no state in it is final", hint=hint)
            return name
        if name in self.declared.inputs:
            node.fail(f"{name!r} is an input, not an event", hint=f"write `when: {name}`")
        return node.choice("event", events)

    # Actions

    def _read_transition_actions(self, fields: Mapping[str, Node]) -> Actions:
        """Read the `do` of a transition: actions of a statechart, outputs of a Mealy machine."""
        if "do" not in fields or fields["do"].value == {}:
            return ()
        node = fields["do"]
        if self.kind is ChartKind.STATECHART:
            return self._read_actions(node)
        if self.kind is ChartKind.MOORE:
            hint = "set them in the state, or use kind: mealy"
            node.fail("a Moore transition sets no outputs", hint=hint)
        values = self._read_values(node, self.names.scope)
        return (Assign(values, line=node.line),) if values else ()

    def _read_actions(self, node: Node | None) -> Actions:
        """Read an action or a list of actions; empty ones are left out."""
        if node is None or node.value is None:
            return ()
        items = node.items() if isinstance(node.value, list) else [node]
        return tuple(self._read_action(item) for item in items if item.value != {})

    def _read_action(self, node: Node) -> Action:
        """Read an action: `{if: ...}`, `{raise: ...}`, or a mapping of assignments."""
        if not isinstance(node.value, dict):
            node.fail("expected an action", hint=ACTION_HINT)
        fields = node.fields()
        if "if" in fields:
            fields = read_fields(node, ("else",), required=("if", "do"))
            return Branch(
                when=read_condition(node, key="if", node=fields["if"], scope=self.names.scope),
                then=self._read_actions(fields["do"]),
                otherwise=self._read_actions(fields.get("else")),
                line=node.line,
            )
        if "raise" in fields:
            if len(fields) > 1:
                hint = "write a list: [{x: 1}, {raise: event}]"
                node.fail("'raise' cannot be combined with other keys", hint=hint)
            return Raise(self._read_raised_event(fields["raise"]), line=fields["raise"].line)
        return Assign(self._read_values(node, self.names.scope), line=node.line)

    def _read_raised_event(self, node: Node) -> str:
        """Return the event that an action raises; a `done` event is an error."""
        name = node.text()
        events = self.declared.every_event
        if name not in events and name.startswith(DONE_PREFIX):
            hint = "it is raised automatically when a final state is entered"
            node.fail(f"{name!r} cannot be raised", hint=hint)
        return node.choice("event", events)

    def _read_values(self, node: Node, scope: Scope) -> dict[str, Expression]:
        """Read the values that variables are set to; raise an error for a name that is no output or local.

        Args:
            node: a mapping from variables to expressions.
            scope: the names that the expressions may use.
        """
        declared = self.declared
        variables = declared.variables
        values: dict[str, Expression] = {}
        for name, entry in read_fields(node, keys=None).items():
            if name in variables:
                values[name] = read_expression(
                    node, key=name, node=entry, scope=scope, target=variables[name]
                )
                continue
            if name in declared.inputs:
                hint = "inputs come from outside: set an output or a local"
                entry.fail(f"{name!r} is an input", hint=hint)
            if name in declared.constants:
                entry.fail(f"{name!r} is a constant", hint="declare a value that changes under `locals`")
            if name in declared.every_event:
                entry.fail(f"{name!r} is an event", hint=f"write {{raise: {name}}}")
            kind = "output or local" if declared.locals else "output"
            raise UnknownNameError.among(kind, name, variables, where=entry.where)
        return values

    # Promises

    def read_promises(self, fields: Mapping[str, Node]) -> tuple[Promise, ...]:
        """Read the promises."""
        if "promises" not in fields:
            return ()
        promises: dict[str, Promise] = {}
        for number, item in enumerate(fields["promises"].items(), start=1):
            with self.errors.collect():
                promise = self._read_promise(item, number, earlier_names=promises.keys())
                promises[promise.name] = promise
        return tuple(promises.values())

    def _read_promise(self, node: Node, number: int, earlier_names: Collection[str]) -> Promise:
        """Read a promise: `{never: x}`, `{always: x}`, or `{when: x, leads_to: y, within: 2 s}`.

        Args:
            node: the promise.
            number: its number in the list, from 1; a promise without a name is named after its kind and
                number.
            earlier_names: the names of the promises before it.
        """
        fields = read_fields(node, PROMISE_KEYS)
        kinds = [key for key in PROMISE_KINDS if key in fields]
        if not kinds:
            node.fail("the promise has no condition", hint=PROMISE_HINT)
        if len(kinds) > 1:
            node.fail(f"both {kinds[0]!r} and {kinds[1]!r}", hint=PROMISE_HINT)
        kind = PromiseKind(kinds[0])
        is_response = kind is PromiseKind.LEADS_TO
        required = ("when", "leads_to", "within") if is_response else (kind.value,)
        node.fields(required=required, optional=("name",))
        name = read_title(fields["name"]) if "name" in fields else ""
        name = name or default_promise_name(kind, number)
        if name in earlier_names:
            node.fail(f"there are two promises called {name!r}", hint="rename one")
        scope = self.names.promise_scope
        within_s = 0.0
        goal: Expression | None = None
        condition_key = kind.value
        if is_response:
            within_s = read_seconds(fields["within"], self.declared.constants, self.declared.units)
            condition_key = "when"
        condition = read_condition(node, condition_key, node=fields[condition_key], scope=scope)
        if is_response:
            goal = read_condition(node, key="leads_to", node=fields["leads_to"], scope=scope)
        return Promise(name=name, kind=kind, when=condition, goal=goal, within_s=within_s, line=node.line)


def default_promise_name(kind: PromiseKind, number: int) -> str:
    """Return the name of a promise that the document does not name."""
    return f"{kind.value} {number}"


def _require_destination(node: Node, fields: Mapping[str, Node]) -> None:
    """Raise an error unless a transition has exactly one destination, or none but actions."""
    destination_keys = [key for key in DESTINATION_KEYS if key in fields]
    if len(destination_keys) > 1:
        first_key, second_key, *_ = destination_keys
        hint = "a transition leads to a state or to a junction"
        fields[second_key].fail(f"both {first_key!r} and {second_key!r}", hint=hint)
    if not destination_keys and "do" not in fields:
        node.fail("neither 'go' nor 'do': it has no effect", hint="write the state to go to")
    if "local" in fields and "go" not in fields:
        fields["local"].fail("`local` without `go`", hint="use `local` on a transition that goes to a state")


def _read_else(
    node: Node, where: Where, earlier_transitions: list[Transition], events: tuple[str, ...]
) -> Expression:
    """Return the guard of a transition with `when: else`: no earlier one with its events is enabled.

    Args:
        node: the guard.
        where: the position of the transition in the document.
        earlier_transitions: the transitions before it.
        events: its triggers.

    Raises:
        DocumentError: no transition with its events comes before it, or another `else` does.
    """
    if any(transition is INVALID_TRANSITION for transition in earlier_transitions):
        return ALWAYS  # its true guard is unknown, and an error has been collected
    if not has_alternatives(earlier_transitions, events):
        same_events = " with the same events" if earlier_transitions else ""
        message = f"no transition{same_events} comes before this `else`"
        node.fail(message, hint="write `when: true`, or put it last")
    if any(
        transition.is_else and has_alternatives([transition], events) for transition in earlier_transitions
    ):
        node.fail("another `else` comes before this one", hint="remove it: it would never be taken")
    return else_guard(earlier_transitions, events, where)


def read_targets(node: Node, states: Collection[str]) -> tuple[StateTarget, ...]:
    """Read the targets of a transition or of `initial`."""
    targets = tuple(_read_target(item, states) for item in one_or_more(node))
    if not targets:
        node.fail("there is no target", hint=TARGET_HINT)
    return targets


def _read_target(node: Node, states: Collection[str]) -> StateTarget:
    """Read a target: a state, or the history of a state with an optional default."""
    if not isinstance(node.value, dict):
        return StateTarget(node.choice("state", states))
    fields = node.fields(optional=(*HISTORY_KEYS, "default"))
    history_keys = [key for key in HISTORY_KEYS if key in fields]
    if len(history_keys) != 1:
        node.fail("expected a state, or its history", hint=TARGET_HINT)
    (key,) = history_keys
    state = fields[key].choice("state", states)
    default_nodes = one_or_more(fields["default"]) if "default" in fields else []
    default_states = tuple(item.choice("state", states) for item in default_nodes)
    return StateTarget(state, HISTORY_KEYS[key], default_states)
