"""States and transitions, their targets and their actions, read and written.

Actions in a mapping are all done at once; those in a list one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, NoReturn

from posewright.charts.expression import Expression, Scope
from posewright.charts.formats.entries import (
    choice_of,
    condition_in,
    expression_in,
    few,
    keyed,
    one_or_more,
    scalar,
    seconds_of,
    text_of,
    truth_of,
    without_gaps,
)
from posewright.charts.formats.known import Known
from posewright.charts.model import (
    ALWAYS,
    DONE,
    ELSE,
    Action,
    Actions,
    Assign,
    Branch,
    Kind,
    Memory,
    Otherwise,
    Priority,
    Raise,
    State,
    Target,
    Transition,
    else_guard,
    has_elders,
)
from posewright.charts.types import Value
from posewright.documents import Node, one_line
from posewright.errors import UnknownNameError, Where

ENDS = ("go", "then", "junction")
SEGMENT_KEYS = ("when", "do", *ENDS, "local", "description")
TRANSITION_KEYS = ("on", "after_s", *SEGMENT_KEYS)
MEMORIES = {"history": Memory.SHALLOW, "deep_history": Memory.DEEP}
UNREAD = Transition()
"""Stands for a transition that does not read, which is told already."""

SHORT = 90
"""Characters of a transition that stands on one line."""

ACTION_HINT = "an action is {output: value}, {raise: event} or {if: condition, do: ..., else: ...}"
TARGET_HINT = "write a state, [one, a region] or {history: state}"

_ARROW = re.compile(r"(.*?)\s*[-=]>\s*(\w+)")


def _actions(node: Node | None, known: Known) -> Actions:
    if node is None or node.value is None:
        return ()
    items = node.items() if isinstance(node.value, list) else [node]
    return tuple(_action(item, known) for item in items if item.value != {})


def _action(node: Node, known: Known) -> Action:
    if not isinstance(node.value, dict):
        node.fail("expected an action", hint=ACTION_HINT)
    fields = node.fields()
    if "if" in fields:
        return _branch(node, known)
    if "raise" in fields:
        if len(fields) > 1:
            node.fail("'raise' stands alone", hint="write a list: [{x: 1}, {raise: event}]")
        return Raise(_raised(fields["raise"], known), line=fields["raise"].line)
    return Assign(_values(node, known, known.scope), line=node.line)


def _branch(node: Node, known: Known) -> Branch:
    fields = keyed(node, ("else",), required=("if", "do"))
    return Branch(
        when=condition_in(node, "if", fields["if"], known.scope),
        then=_actions(fields["do"], known),
        otherwise=_actions(fields.get("else"), known),
        line=node.line,
    )


def _raised(node: Node, known: Known) -> str:
    name, events = node.text(), known.declared.every_event
    if name not in events and name.startswith(DONE):
        node.fail(f"{name!r} comes by itself", hint="it is raised when a final state is entered")
    return node.choice("event", events)


def _values(node: Node, known: Known, scope: Scope) -> dict[str, Expression]:
    variables = known.declared.variables
    found: dict[str, Expression] = {}
    for name, entry in keyed(node, None).items():
        if name not in variables:
            _refuse_setting(name, entry, known)
        found[name] = expression_in(node, name, entry, scope, variables[name])
    return found


def _refuse_setting(name: str, node: Node, known: Known) -> NoReturn:
    declared = known.declared
    if name in declared.inputs:
        node.fail(f"{name!r} is an input", hint="inputs come from outside: set an output or a local")
    if name in declared.constants:
        node.fail(f"{name!r} is a constant", hint="what changes is a local: declare it under `locals`")
    if name in declared.every_event:
        node.fail(f"{name!r} is an event", hint=f"write {{raise: {name}}}")
    sort = "output or local" if declared.locals else "output"
    raise UnknownNameError.among(sort, name, declared.variables, where=node.where)


def read_segments(node: Node, known: Known) -> tuple[Transition, ...]:
    """Return the ways on from a junction."""
    if not node.items():
        node.fail("a junction without a way on", hint="write [{when: guard, go: state}, {when: else, ...}]")
    return _transitions(node, known, SEGMENT_KEYS)


def _transitions(node: Node | None, known: Known, keys: Collection[str]) -> tuple[Transition, ...]:
    found: list[Transition] = []
    for item in node.items() if node is not None and node.value is not None else ():
        found.append(known.errors.tried(partial(_transition, item, known, keys, found), UNREAD))
    return tuple(found)


def _transition(node: Node, known: Known, keys: Collection[str], elders: list[Transition]) -> Transition:
    _refuse_other_notation(node, known, keys)
    fields = keyed(node, keys)
    go = read_targets(fields["go"], known.states) if "go" in fields else ()  # a misspelt state comes first
    if keys is TRANSITION_KEYS:
        _require_cause(node, fields, known)
    _require_end(node, fields)
    on = tuple(_event(item, known) for item in one_or_more(fields["on"])) if "on" in fields else ()
    is_else = "when" in fields and fields["when"].value == ELSE
    if is_else:
        when = _else(fields["when"], Where(node.path, node.line), elders, on)
    else:
        when = condition_in(node, "when", fields["when"], known.scope) if "when" in fields else ALWAYS
    return Transition(
        when=when,
        do=_do(fields, known),
        go=go,
        on=tuple(dict.fromkeys(on)),
        after_s=seconds_of(fields, "after_s"),
        local=truth_of(fields, "local"),
        then=read_segments(fields["then"], known) if "then" in fields else (),
        junction=fields["junction"].choice("junction", known.junctions) if "junction" in fields else None,
        is_else=is_else,
        description=text_of(fields, "description"),
        line=node.line,
    )


def _refuse_other_notation(node: Node, known: Known, keys: Collection[str]) -> None:
    """Refuse other notations, `near -> open` or `{when: near, open}`, and say how it is written here."""
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
        if entry.value is None and key in known.states:
            node.fail(f"`{key}` is no key of a transition", hint=f"write `go: {key}`")
        if entry.value is None and len(words) == 2 and words[0] in keys:
            node.fail(f"`{key}` has no colon", hint=f"write `{words[0]}: {words[1]}`")
        if isinstance(entry.value, str) and entry.value in known.states:
            node.fail(f"`{key}` is no key of a transition", hint=f"write {{when: {key}, go: {entry.value}}}")


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
        hint = "a transition leads to a state or to a junction"
        fields[ends[1]].fail(f"both {ends[0]!r} and {ends[1]!r}", hint=hint)
    if not ends and "do" not in fields:
        node.fail("neither 'go' nor 'do': it changes nothing", hint="write the state to go to")
    if "local" in fields and "go" not in fields:
        fields["local"].fail("it goes nowhere", hint="`local` is of a transition that goes to a state")


def _event(node: Node, known: Known) -> str:
    name, events = node.text(), known.declared.every_event
    if name not in events and name.startswith(DONE):
        _require_done(name.removeprefix(DONE), node, known)
        return name
    if name in known.declared.inputs:
        node.fail(f"{name!r} is an input, not an event", hint=f"write `when: {name}`")
    return node.choice("event", events)


def _require_done(state: str, node: Node, known: Known) -> None:
    if state not in known.states:
        raise UnknownNameError.among("state", state, known.states, where=node.where)
    if state not in known.done:
        others = f"or wait for one of {sorted(known.done)}"
        hint = f"give it a final state, as in `over: {{final: true}}`, {others}"
        node.fail(f"{state} is never done: no state in it is final", hint=hint)


def _else(node: Node, where: Where, elders: list[Transition], on: tuple[str, ...]) -> Expression:
    if any(elder is UNREAD for elder in elders):
        return ALWAYS
    if not has_elders(elders, on):
        same = " with the same events" if elders else ""
        message = f"nothing{same} stands before this `else`"
        node.fail(message, hint="write `when: true`, or put it last")
    if any(elder.is_else and has_elders([elder], on) for elder in elders):
        node.fail("an `else` stands before this one", hint="what comes after it never happens")
    return else_guard(elders, on, where)


def _do(fields: Mapping[str, Node], known: Known) -> Actions:
    if "do" not in fields or fields["do"].value == {}:
        return ()
    node = fields["do"]
    if known.kind is Kind.STATECHART:
        return _actions(node, known)
    if known.kind is Kind.MOORE:
        node.fail("a Moore transition sets no outputs", hint="set them in the state, or say kind: mealy")
    values = _values(node, known, known.scope)
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


def _actions_data(actions: Actions) -> Any:
    return few([_action_data(action) for action in actions])


def _values_data(values: Mapping[str, Expression]) -> dict[str, Value]:
    return one_line({name: scalar(value) for name, value in values.items()})


def _action_data(action: Action) -> dict[str, Any]:
    if isinstance(action, Assign):
        return _values_data(action.values)
    if isinstance(action, Raise):
        return one_line({"raise": action.event})
    data: dict[str, Any] = {"if": scalar(action.when), "do": _actions_data(action.then)}
    if action.otherwise:
        data["else"] = _actions_data(action.otherwise)
    return one_line(data)


def _transition_data(transition: Transition, *, in_state: bool) -> dict[str, Any]:
    """Return a transition; one of a state may leave out a guard that its events or time imply."""
    caused = transition.on or transition.after_s or transition.leads_on
    obvious = transition.when == ALWAYS and (not in_state or bool(caused))
    data = without_gaps(
        {
            "description": transition.description,
            "on": few(transition.on),
            "when": ELSE if transition.is_else else None if obvious else scalar(transition.when),
            "after_s": transition.after_s or None,
            "do": _actions_data(transition.do),
            "go": targets_data(transition.go),
            "local": transition.local or None,
            "then": segments_data(transition.then),
            "junction": transition.junction,
        }
    )
    if not data.keys() & {"do", "go", "then", "junction"}:
        data["do"] = one_line({})
    return one_line(data) if "then" not in data and len(str(data)) <= SHORT else data


def segments_data(segments: tuple[Transition, ...]) -> list[dict[str, Any]]:
    """Return the ways on from a junction."""
    return [_transition_data(segment, in_state=False) for segment in segments]


def targets_data(targets: tuple[Target, ...]) -> Any:
    """Return the states to go to: a name, a history, or a list; nothing where there are none."""
    return few([_target_data(target) for target in targets])


def _target_data(target: Target) -> str | dict[str, Any]:
    if target.memory is None:
        return target.state
    words = {memory: word for word, memory in MEMORIES.items()}
    return one_line(without_gaps({words[target.memory]: target.state, "default": few(target.default)}))


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
        return State(name, _transitions(node, known, TRANSITION_KEYS), line=node.line)
    tried = known.errors.tried
    fields = node.fields()
    for key, entry in fields.items():
        tried(partial(_require_key, key, entry, known), None)
    inside = tried(partial(_inside, node, fields, known), tuple[State, ...]())
    return State(
        name,
        tried(partial(_transitions, fields.get("transitions"), known, TRANSITION_KEYS), ()),
        do=tried(partial(_moore, fields, known), {}),
        min_s=seconds_of(fields, "min_s"),
        priority=choice_of(fields, "priority", Priority),
        otherwise=choice_of(fields, "otherwise", Otherwise),
        entry=tried(partial(_actions, fields.get("entry"), known), ()),
        during=tried(partial(_actions, fields.get("during"), known), ()),
        exit=tried(partial(_actions, fields.get("exit"), known), ()),
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
    return _values(fields["do"], known, known.declared.fixed_scope)


def state_data(state: State) -> dict[str, Any] | list[dict[str, Any]]:
    """Return a state: a list where it has transitions only, else a mapping."""
    transitions = [_transition_data(transition, in_state=True) for transition in state.transitions]
    data = without_gaps(
        {
            "description": state.description,
            "min_s": state.min_s or None,
            "priority": state.priority and state.priority.value,
            "otherwise": state.otherwise and state.otherwise.value,
            "transitions": transitions,
            "do": _values_data(state.do),
            "entry": _actions_data(state.entry),
            "during": _actions_data(state.during),
            "exit": _actions_data(state.exit),
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
