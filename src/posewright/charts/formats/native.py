"""Native charts, `*.chart.yaml`: read with the line of everything that is wrong.

`chart_of_document` reads a document from top to bottom: its sections, the names they declare, then everything
that uses names. Each part is read inside `with errors.collect():`, so all errors are reported at once.

Actions in a mapping are all done at once; those in a list one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from posewright.charts.expression import Expression, Scope
from posewright.charts.formats.declarations import (
    SECTIONS,
    read_declarations,
    read_form,
    read_initial_values,
    read_resources,
)
from posewright.charts.formats.entries import (
    LONGEST_S,
    SHORTEST_S,
    ErrorCollector,
    ReadingStoppedError,
    choice_of,
    condition_in,
    expression_in,
    keyed,
    one_or_more,
    optional_text,
    seconds_in,
    seconds_of,
    truth_of,
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

REQUIRED = ("chart", "period_s")
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
STATECHART_SECTIONS = ("events", "local_events", "steps", "regions")
"""Keys of a chart that only a statechart has."""

FLAT_KEYS = ("description", "transitions", "min_s", "priority", "otherwise", "final")
STATECHART_KEYS = ("entry", "during", "exit", "initial", "states", "regions")
"""Keys of a state that only a statechart has."""

STATE_KEYS = (*FLAT_KEYS, "do", *STATECHART_KEYS)
ENDS = ("go", "then", "junction")
SEGMENT_KEYS = ("when", "do", *ENDS, "local", "description")
TRANSITION_KEYS = ("on", "after_s", *SEGMENT_KEYS)
MEMORIES = {"history": HistoryKind.SHALLOW, "deep_history": HistoryKind.DEEP}
VOWS = ("never", "always", "leads_to")
PROMISE_KEYS = (*VOWS, "when", "within", "name")

MAX_JUNCTIONS = 200
"""Named junctions in a chart; one may lead to the next."""

UNREAD = Transition()
"""Stands for a transition that does not read, whose error is collected already."""

STATE_HINT = "use letters a-z, digits and _"
ACTION_HINT = "an action is {output: value}, {raise: event} or {if: condition, do: ..., else: ...}"
TARGET_HINT = "write a state, [one, a region] or {history: state}"
PROMISE_HINT = "write {never: x}, {always: x} or {when: x, leads_to: y, within: 2 s}"

_ARROW = re.compile(r"(.*?)\s*[-=]>\s*(\w+)")


def parse_chart(text: str, path: Path | None = None) -> Chart:
    """Read a chart from the text of its document.

    Args:
        text: the document.
        path: where it stands: for messages, and to find the tables of functions beside it.

    Raises:
        DocumentError: the document, or an entry in it, is not what it should be.
        ExpressionError: a guard or an action does not parse or does not type.
        UnknownNameError: a state, an event, a key or a type that does not exist.

    Where several things are wrong, the first is raised, and has the `others`.
    """
    return chart_of_document(parse_document(text, path))


def chart_of_document(root: Node) -> Chart:
    """Return the chart that a document's tree holds; as `parse_chart`."""
    errors = ErrorCollector()
    with suppress(ReadingStoppedError), errors.collect():
        fields = _read_sections(root, errors)
        names = _read_names(root, fields, errors)
        declared = names.declared
        reader = _PartReader(names, errors)
        with errors.collect():
            name = read_chart_name(fields["chart"])
        with errors.collect():
            period_s = fields["period_s"].number(low=SHORTEST_S, high=LONGEST_S)
        with errors.collect():
            initial = read_targets(fields["initial"], names.states) if "initial" in fields else ()
        with errors.collect():
            states = reader.states(fields)
        with errors.collect():
            initial_values = read_initial_values(fields, declared, errors)
        with errors.collect():
            junctions = reader.junctions(fields)
        with errors.collect():
            steps = choice_of(fields, "steps", StepMode) or StepMode.ONE
        with errors.collect():
            priority = choice_of(fields, "priority", Priority) or Priority.EXCLUSIVE
        with errors.collect():
            usual = Otherwise.STAY if names.kind is ChartKind.STATECHART else Otherwise.REFUSE
            otherwise = choice_of(fields, "otherwise", Otherwise) or usual
        with errors.collect():
            promises = reader.promises(fields)
        with errors.collect():
            resources = read_resources(fields, declared)
        with errors.collect():
            form = read_form(fields["table"], [*names.states], declared) if "table" in fields else None
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
            form=form,
            otherwise_is_explicit="otherwise" in fields,
            description=description,
            source=source,
            path=root.path,
            lines=declared.lines,
        )
    except InputError as error:
        if error.where is None or error.where.line is None:  # the model knows not every line
            error.where = fields.get("initial", fields.get("states", root)).where
        raise


def _read_sections(root: Node, errors: ErrorCollector) -> dict[str, Node]:
    fields = root.fields()
    for key, node in fields.items():
        if key not in CHART_KEYS:
            unknown = UnknownNameError.among("key here", key, CHART_KEYS, where=node.where)
            errors.add(unknown, node.value)
    if not fields.keys() >= {*REQUIRED}:
        errors.raise_first()  # a misspelt key is worth more than a missing one
    root.fields(required=REQUIRED)
    _refuse_both(fields)
    if "regions" not in fields:
        if not fields.keys() >= {"initial", "states"}:
            errors.raise_first()
        root.fields(required=(*REQUIRED, "initial", "states"))
    states = fields["regions"] if "regions" in fields else fields["states"]
    if not states.fields():
        states.fail("there is no state", hint="a chart has at least one")
    return fields


def _refuse_both(fields: Mapping[str, Node]) -> None:
    """Refuse states and regions side by side."""
    if "states" in fields and "regions" in fields:
        hint = "regions are active all at once, of states one is: put the states into a region"
        fields["regions"].fail("both 'states' and 'regions'", hint=hint)


# Names


@dataclass(frozen=True)
class _ChartNames:
    """Names that any state, transition, action or promise of a chart may use.

    Attributes:
        states: every state, on whatever level, and where it stands.
        done: states that say so when they are done: a child of theirs is final, or they have regions.
    """

    kind: ChartKind
    declared: Declarations
    states: Mapping[str, Node]
    junctions: tuple[str, ...]
    done: frozenset[str]

    @cached_property
    def scope(self) -> Scope:
        """What guards and actions may use."""
        return self.declared.scope(tuple(self.states))

    @cached_property
    def promise_scope(self) -> Scope:
        """What promises may use: events as well, true at the tick at which they come."""
        return self.declared.scope(tuple(self.states), events=True)


def _read_names(root: Node, fields: Mapping[str, Node], errors: ErrorCollector) -> _ChartNames:
    """Read every name, before anything that may use it."""
    kind = choice_of(fields, "kind", ChartKind) or ChartKind.STATECHART
    if kind is not ChartKind.STATECHART:
        for key in STATECHART_SECTIONS:
            if key in fields:
                fields[key].fail(f"a {kind.value} chart has no {key}", hint="say kind: statechart")
    errors_before = len(errors.errors)
    states: dict[str, Node] = {}
    for name, node in _states_below(root):
        with errors.collect():
            if not _is_state_name(name):
                node.fail(f"{name[:MAX_NAME]!r} is no name for a state", hint=STATE_HINT)
            if name in states:
                first = f" (first in line {states[name].line})" if states[name].line else ""
                hint = "a state's name is its own, wherever it stands: rename one"
                node.fail(f"a state {name!r} is there twice{first}", hint=hint)
            states[name] = node
    is_misnamed = len(errors.errors) > errors_before
    done = frozenset(name for name, node in states.items() if _can_be_done(node.value))
    declared = read_declarations(fields, errors)
    if is_misnamed:  # whatever goes to such a state would be wrong as well
        errors.raise_first()
    return _ChartNames(kind, declared, states, _junction_names(fields, states), done)


def _states_below(parent: Node) -> Iterator[tuple[str, Node]]:
    """Yield all states below a chart or a state, with their names."""
    if not isinstance(parent.value, dict):
        return
    for key, node in parent.fields().items():
        if key in ("states", "regions"):
            for name, state in node.fields().items():
                yield name, state
                yield from _states_below(state)


def _can_be_done(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    inside = value.get("states")
    if isinstance(inside, dict):
        return any(isinstance(state, dict) and state.get("final") is True for state in inside.values())
    return isinstance(value.get("regions"), dict)


def _junction_names(fields: Mapping[str, Node], states: Mapping[str, Node]) -> tuple[str, ...]:
    nodes = fields["junctions"].fields() if "junctions" in fields else {}
    if len(nodes) > MAX_JUNCTIONS:
        hint = f"at most {MAX_JUNCTIONS}; a truth table asks many questions at once"
        fields["junctions"].fail(f"{len(nodes)} junctions", hint=hint)
    for name, node in nodes.items():
        if not _is_state_name(name):
            node.fail(f"{name[:80]!r} is no name for a junction", hint=STATE_HINT)
        if name in states:
            states[name].fail(f"{name!r} is a state and a junction", hint="rename one")
    return tuple(nodes)


def _is_state_name(name: str) -> bool:
    """Return whether a state or a junction may be called so."""
    return find_name_fault(f"_{name}") is None and len(name) < MAX_NAME


# What uses names


class _PartReader:
    """Reads states, junctions and promises; what is wrong with one of them is collected."""

    def __init__(self, names: _ChartNames, errors: ErrorCollector) -> None:
        self.names = names
        self.declared = names.declared
        self.kind = names.kind
        self.errors = errors

    # States

    def states(self, fields: Mapping[str, Node]) -> tuple[State, ...]:
        """Return the states under `states` or `regions` of a chart or a state."""
        found: list[State] = []
        for name, node in fields["regions" if "regions" in fields else "states"].fields().items():
            with self.errors.collect():
                found.append(self._state(name, node))
        return tuple(found)

    def _state(self, name: str, node: Node) -> State:
        if isinstance(node.value, list) or node.value is None:
            return State(name, self._transitions(node, TRANSITION_KEYS), line=node.line)
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
            states = self._states_inside(node, fields)
        with errors.collect():
            transitions = self._transitions(fields.get("transitions"), TRANSITION_KEYS)
        with errors.collect():
            if "do" in fields and self.kind is ChartKind.MOORE:
                moore_outputs = self._values(fields["do"], self.declared.fixed_scope)
        for key in actions:
            with errors.collect():
                actions[key] = self._actions(fields.get(key))
        return State(
            name,
            transitions,
            do=moore_outputs,
            min_s=seconds_of(fields, "min_s"),
            priority=choice_of(fields, "priority", Priority),
            otherwise=choice_of(fields, "otherwise", Otherwise),
            entry=actions["entry"],
            during=actions["during"],
            exit=actions["exit"],
            states=states,
            initial=read_targets(fields["initial"], self.names.states) if "initial" in fields else (),
            parallel="regions" in fields,
            final=truth_of(fields, "final"),
            description=optional_text(fields, "description"),
            line=node.line,
        )

    def _require_state_key(self, key: str, node: Node) -> None:
        """Fail where a state has no such key, or none in a chart of this kind."""
        if key not in STATE_KEYS:
            raise UnknownNameError.among("key here", key, STATE_KEYS, where=node.where)
        if key in STATECHART_KEYS and self.kind is not ChartKind.STATECHART:
            self._refuse(node, f"{key!r} in its states")
        if key == "do" and self.kind is ChartKind.MEALY:
            node.fail("a Mealy state sets no outputs", hint="set them on transitions, or say kind: moore")
        if key == "do" and self.kind is ChartKind.STATECHART:
            node.fail("only a Moore state has 'do'", hint="write `entry:`, `during:` or `exit:`")

    def _refuse(self, node: Node, feature: str) -> NoReturn:
        """Fail at something that only a statechart has."""
        node.fail(f"a {self.kind.value} chart has no {feature}", hint="say kind: statechart")

    def _states_inside(self, node: Node, fields: Mapping[str, Node]) -> tuple[State, ...]:
        _refuse_both(fields)
        inside = fields.get("states") or fields.get("regions")
        if inside is None:
            return ()
        if not inside.fields():
            inside.fail("there is no state", hint="leave it out, or name one")
        if "initial" not in fields and "states" in fields:
            node.fail("'initial' is missing", hint="which of its states is entered first")
        return self.states(fields)

    # Transitions

    def junctions(self, fields: Mapping[str, Node]) -> dict[str, tuple[Transition, ...]]:
        """Return the ways on from every named junction."""
        found: dict[str, tuple[Transition, ...]] = {}
        for name, node in fields["junctions"].fields().items() if "junctions" in fields else ():
            with self.errors.collect():
                found[name] = self._segments(node)
        return found

    def _segments(self, node: Node) -> tuple[Transition, ...]:
        """Return the ways on from a junction."""
        if not node.items():
            hint = "write [{when: guard, go: state}, {when: else, ...}]"
            node.fail("a junction without a way on", hint=hint)
        return self._transitions(node, SEGMENT_KEYS)

    def _transitions(self, node: Node | None, keys: Collection[str]) -> tuple[Transition, ...]:
        found: list[Transition] = []
        for item in node.items() if node is not None and node.value is not None else ():
            transition = UNREAD
            with self.errors.collect():
                transition = self._transition(item, keys, found)
            found.append(transition)
        return tuple(found)

    def _transition(self, node: Node, keys: Collection[str], elders: list[Transition]) -> Transition:
        self._refuse_other_notation(node, keys)
        fields = keyed(node, keys)
        # a misspelt state comes first
        go = read_targets(fields["go"], self.names.states) if "go" in fields else ()
        if keys is TRANSITION_KEYS:
            self._require_cause(node, fields)
        _require_end(node, fields)
        on = tuple(self._event(item) for item in one_or_more(fields["on"])) if "on" in fields else ()
        is_else = "when" in fields and fields["when"].value == ELSE
        when = ALWAYS
        if is_else:
            when = _else(fields["when"], Where(node.path, node.line), elders, on)
        elif "when" in fields:
            when = condition_in(node, "when", fields["when"], self.names.scope)
        junction: str | None = None
        if "junction" in fields:
            junction = fields["junction"].choice("junction", self.names.junctions)
        return Transition(
            when=when,
            do=self._transition_actions(fields),
            go=go,
            on=tuple(dict.fromkeys(on)),
            after_s=seconds_of(fields, "after_s"),
            local=truth_of(fields, "local"),
            then=self._segments(fields["then"]) if "then" in fields else (),
            junction=junction,
            is_else=is_else,
            description=optional_text(fields, "description"),
            line=node.line,
        )

    def _refuse_other_notation(self, node: Node, keys: Collection[str]) -> None:
        """Refuse other notations, `near -> open` or `{when: near, open}`, and say how it is written here."""
        states = self.names.states
        arrow = _ARROW.fullmatch(node.value) if isinstance(node.value, str) else None
        if arrow is not None:
            guard = f"when: {arrow[1]}, " if arrow[1] else ""
            node.fail(f"`{node.value[:60]}` is no transition", hint=f"write {{{guard}go: {arrow[2]}}}")
        if not isinstance(node.value, dict):
            node.fail("expected a transition", hint="write {when: guard, go: state}")
        for key, entry in node.fields().items():
            if key in keys:
                continue
            words = key.split(maxsplit=1)
            if entry.value is None and key in states:
                node.fail(f"`{key}` is no key of a transition", hint=f"write `go: {key}`")
            if entry.value is None and len(words) == 2 and words[0] in keys:
                node.fail(f"`{key}` has no colon", hint=f"write `{words[0]}: {words[1]}`")
            if isinstance(entry.value, str) and entry.value in states:
                hint = f"write {{when: {key}, go: {entry.value}}}"
                node.fail(f"`{key}` is no key of a transition", hint=hint)

    def _require_cause(self, node: Node, fields: Mapping[str, Node]) -> None:
        for key in ("on", "local"):
            if key in fields and self.kind is not ChartKind.STATECHART:
                self._refuse(fields[key], "events" if key == "on" else "local transitions")
        if not fields.keys() & {"on", "when", "after_s", "then", "junction"}:
            causes = (
                "`when`, `on` or `after_s`" if self.kind is ChartKind.STATECHART else "`when` or `after_s`"
            )
            hint = "write the guard, as in `when: front and not left`; `when: true` for always"
            node.fail(f"'when' is missing: a transition needs {causes}", hint=hint)

    def _event(self, node: Node) -> str:
        name = node.text()
        events = self.declared.every_event
        if name not in events and name.startswith(DONE_PREFIX):
            state = name.removeprefix(DONE_PREFIX)
            if state not in self.names.states:
                raise UnknownNameError.among("state", state, self.names.states, where=node.where)
            if state not in self.names.done:
                others = f"or wait for one of {sorted(self.names.done)}"
                hint = f"give it a final state, as in `over: {{final: true}}`, {others}"
                node.fail(f"{state} is never done: no state in it is final", hint=hint)
            return name
        if name in self.declared.inputs:
            node.fail(f"{name!r} is an input, not an event", hint=f"write `when: {name}`")
        return node.choice("event", events)

    # Actions

    def _transition_actions(self, fields: Mapping[str, Node]) -> Actions:
        if "do" not in fields or fields["do"].value == {}:
            return ()
        node = fields["do"]
        if self.kind is ChartKind.STATECHART:
            return self._actions(node)
        if self.kind is ChartKind.MOORE:
            hint = "set them in the state, or say kind: mealy"
            node.fail("a Moore transition sets no outputs", hint=hint)
        values = self._values(node, self.names.scope)
        return (Assign(values, line=node.line),) if values else ()

    def _actions(self, node: Node | None) -> Actions:
        if node is None or node.value is None:
            return ()
        items = node.items() if isinstance(node.value, list) else [node]
        return tuple(self._action(item) for item in items if item.value != {})

    def _action(self, node: Node) -> Action:
        if not isinstance(node.value, dict):
            node.fail("expected an action", hint=ACTION_HINT)
        fields = node.fields()
        if "if" in fields:
            fields = keyed(node, ("else",), required=("if", "do"))
            return Branch(
                when=condition_in(node, "if", fields["if"], self.names.scope),
                then=self._actions(fields["do"]),
                otherwise=self._actions(fields.get("else")),
                line=node.line,
            )
        if "raise" in fields:
            if len(fields) > 1:
                node.fail("'raise' stands alone", hint="write a list: [{x: 1}, {raise: event}]")
            return Raise(self._raised_event(fields["raise"]), line=fields["raise"].line)
        return Assign(self._values(node, self.names.scope), line=node.line)

    def _raised_event(self, node: Node) -> str:
        name = node.text()
        events = self.declared.every_event
        if name not in events and name.startswith(DONE_PREFIX):
            node.fail(f"{name!r} comes by itself", hint="it is raised when a final state is entered")
        return node.choice("event", events)

    def _values(self, node: Node, scope: Scope) -> dict[str, Expression]:
        """Return what variables are set to."""
        declared = self.declared
        variables = declared.variables
        found: dict[str, Expression] = {}
        for name, entry in keyed(node, None).items():
            if name in variables:
                found[name] = expression_in(node, name, entry, scope, variables[name])
                continue
            if name in declared.inputs:
                hint = "inputs come from outside: set an output or a local"
                entry.fail(f"{name!r} is an input", hint=hint)
            if name in declared.constants:
                entry.fail(
                    f"{name!r} is a constant", hint="what changes is a local: declare it under `locals`"
                )
            if name in declared.every_event:
                entry.fail(f"{name!r} is an event", hint=f"write {{raise: {name}}}")
            sort = "output or local" if declared.locals else "output"
            raise UnknownNameError.among(sort, name, variables, where=entry.where)
        return found

    # Promises

    def promises(self, fields: Mapping[str, Node]) -> tuple[Promise, ...]:
        """Return what the chart promises."""
        found: dict[str, Promise] = {}
        for number, item in enumerate(fields["promises"].items() if "promises" in fields else (), start=1):
            with self.errors.collect():
                promise = self._promise(item, number, found.keys())
                found[promise.name] = promise
        return tuple(found.values())

    def _promise(self, node: Node, number: int, others: Collection[str]) -> Promise:
        fields = keyed(node, PROMISE_KEYS)
        vows = [key for key in VOWS if key in fields]
        if len(vows) != 1:
            fault = f"both {vows[0]!r} and {vows[1]!r}" if vows else "it promises nothing"
            node.fail(fault, hint=PROMISE_HINT)
        (vow,) = vows
        leads = vow == "leads_to"
        node.fields(required=("when", "leads_to", "within") if leads else (vow,), optional=("name",))
        key = "when" if leads else vow
        name = read_title(fields["name"]) if "name" in fields else ""
        name = name or default_promise_name(PromiseKind(vow), number)
        if name in others:
            node.fail(f"a promise {name!r} is there twice", hint="rename one")
        scope = self.names.promise_scope
        within_s = 0.0
        if leads:
            within_s = seconds_in(fields["within"], self.declared.constants, self.declared.units)
        return Promise(
            name=name,
            kind=PromiseKind(vow),
            when=condition_in(node, key, fields[key], scope),
            goal=condition_in(node, vow, fields[vow], scope) if leads else None,
            within_s=within_s,
            line=node.line,
        )


def default_promise_name(vow: PromiseKind, number: int) -> str:
    """Return the name of a promise that is given none."""
    return f"{vow.value} {number}"


def _require_end(node: Node, fields: Mapping[str, Node]) -> None:
    ends = [key for key in ENDS if key in fields]
    if len(ends) > 1:
        hint = "a transition leads to a state or to a junction"
        fields[ends[1]].fail(f"both {ends[0]!r} and {ends[1]!r}", hint=hint)
    if not ends and "do" not in fields:
        node.fail("neither 'go' nor 'do': it changes nothing", hint="write the state to go to")
    if "local" in fields and "go" not in fields:
        fields["local"].fail("it goes nowhere", hint="`local` is of a transition that goes to a state")


def _else(node: Node, where: Where, elders: list[Transition], on: tuple[str, ...]) -> Expression:
    """Return the guard of a transition with `when: else`: that none of those before it can be taken."""
    if any(elder is UNREAD for elder in elders):
        return ALWAYS
    if not has_alternatives(elders, on):
        same = " with the same events" if elders else ""
        message = f"nothing{same} stands before this `else`"
        node.fail(message, hint="write `when: true`, or put it last")
    if any(elder.is_else and has_alternatives([elder], on) for elder in elders):
        node.fail("an `else` stands before this one", hint="what comes after it never happens")
    return else_guard(elders, on, where)


def read_targets(node: Node, states: Collection[str]) -> tuple[StateTarget, ...]:
    """Return the states to go to."""
    targets = tuple(_target(item, states) for item in one_or_more(node))
    if not targets:
        node.fail("it goes nowhere", hint=TARGET_HINT)
    return targets


def _target(node: Node, states: Collection[str]) -> StateTarget:
    if not isinstance(node.value, dict):
        return StateTarget(node.choice("state", states))
    fields = node.fields(optional=(*MEMORIES, "default"))
    memories = [key for key in MEMORIES if key in fields]
    if len(memories) != 1:
        node.fail("expected a state, or its history", hint=TARGET_HINT)
    (key,) = memories
    default = one_or_more(fields["default"]) if "default" in fields else []
    return StateTarget(
        fields[key].choice("state", states),
        MEMORIES[key],
        tuple(name.choice("state", states) for name in default),
    )
