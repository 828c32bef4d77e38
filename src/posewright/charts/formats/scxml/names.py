"""Names of an SCXML document and their unique names in a chart, of letters, digits and `_`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import NamedTuple

from posewright.charts.formats.scxml.vocabulary import DEFAULT, INITIAL_STATES, STATES, posewright_name
from posewright.charts.model import DONE_PREFIX, MAX_NAME, RESERVED
from posewright.documents import PlainData
from posewright.documents.markup import Element

MAX_STATE_NAME = MAX_NAME - 1
SUFFIX_LENGTH = 16
"""Characters reserved for a suffix that makes a name unique."""

DONE_STATE = "done.state."
MAX_EVENTS = 500
HISTORY_KEYS = {"shallow": "history", "deep": "deep_history"}
"""Types of a <history>, and their keys in native documents."""

_PLATFORM_EVENTS = ("error", "done")
"""First words of events that the platform raises."""

_INVALID_CHARACTERS = re.compile(r"[^A-Za-z0-9_]+")


class FreeNames:
    """Hands out unique names.

    Attributes:
        used: all names that are in use, including those that were handed out.
    """

    def __init__(self, used: Iterable[str] = ()) -> None:
        self.used = set(used)

    def take(self, name: str, kind: str) -> str:
        """Return an unused name for a variable, a value or an event, as similar to `name` as possible.

        Args:
            name: its name in the document.
            kind: appended if the name is used or a reserved word.
        """
        valid = _INVALID_CHARACTERS.sub("_", name)[:MAX_NAME] or kind
        if valid[0].isdigit():
            valid = f"{kind}_{valid}"[:MAX_NAME]
        return self._take_unused(valid, f"{valid[: MAX_NAME - SUFFIX_LENGTH]}_{kind}", RESERVED)

    def take_state(self, name: str) -> str:
        """Return an unused name for a state, which may begin with a digit or be a reserved word."""
        valid = _INVALID_CHARACTERS.sub("_", name)[:MAX_STATE_NAME] or "state"
        return self._take_unused(valid, f"{valid[: MAX_NAME - SUFFIX_LENGTH]}_2", ())

    def _take_unused(self, name: str, alternative: str, reserved: Collection[str]) -> str:
        """Return the first suitable name, and add it to the names in use.

        Candidates are `name`, then `alternative`, then the alternative with the numbers 2, 3, ... at its end,
        in place of any number that is there.

        Args:
            name: the preferred name.
            alternative: the name to use if the preferred one is in use or reserved.
            reserved: reserved words, in lower case; a name may not be one of them in any case.
        """
        stem = alternative.rstrip("0123456789").rstrip("_")
        numbered_alternatives = (f"{stem}_{number}" for number in count(2))
        unused_name = next(
            candidate
            for candidate in chain([name, alternative], numbered_alternatives)
            if candidate not in self.used and candidate.lower() not in reserved
        )
        self.used.add(unused_name)
        return unused_name


class HistoryElement(NamedTuple):
    """A <history> and the state that it is in."""

    history: Element
    parent: Element


@dataclass(frozen=True)
class StateNames:
    """The names of the states of a document in its chart.

    Attributes:
        root: the document.
        names: the unique name of each state, by its id in the document.
        name_by_element: the same names by the identity (`id()`) of the element, also of states without an id.
        histories: every <history> by its id, with the state that it is in.
        free_names: hands out names that are still unused.
    """

    root: Element
    names: Mapping[str, str]
    name_by_element: Mapping[int, str]
    histories: Mapping[str, HistoryElement]
    free_names: FreeNames

    def name(self, element: Element) -> str:
        """Return the name of a state."""
        return self.name_by_element[id(element)]

    def targets(self, element: Element, key: str = "target") -> PlainData:
        """Return the targets that an attribute lists, as a native document writes them; None for none."""
        targets = [self._target(state_id, element) for state_id in (element.get(key) or "").split()]
        return targets[0] if len(targets) == 1 else targets or None

    def _target(self, state_id: str, element: Element) -> PlainData:
        """Return the plain data of a target: a state's name, or the history of a state."""
        if state_id in self.names:
            return self.names[state_id]
        if state_id not in self.histories:
            hint = f"the states are {', '.join([*self.names][:12])}"
            element.fail(f"unknown state {state_id!r}", hint=hint)
        history, parent = self.histories[state_id]
        kind = history.get("type") or "shallow"
        if kind not in HISTORY_KEYS:
            history.fail(f"{kind!r} is not a type of history", hint="use shallow or deep")
        state = self.names[parent.required("id")]
        return {HISTORY_KEYS[kind]: state, "default": self._history_default(history)}

    def _history_default(self, history: Element) -> list[PlainData]:
        """Return the targets of a history while it is empty; none enters the initial states.

        Raises:
            FormatError: the <history> has not exactly one plain <transition>, or leads to another history.
        """
        transitions = history.all("transition")
        if len(transitions) != 1 or not transitions[0].get("target"):
            hint = 'write <transition target="..."/> in it'
            history.fail("a <history> needs exactly one <transition>", hint=hint)
        (transition,) = transitions
        if transition.children or transition.get("event") or transition.get("cond"):
            message = "a <history> with actions or conditions is not in the supported subset of SCXML"
            transition.fail(message, hint="give it nothing but a target")
        if history.get(DEFAULT) == INITIAL_STATES:
            return []
        state_ids = transition.required("target").split()
        if any(state_id in self.histories for state_id in state_ids):
            message = "a <history> that leads to another is not in the supported subset of SCXML"
            transition.fail(message, hint="name states")
        return [self._target(state_id, transition) for state_id in state_ids]

    def is_entered_only_by_initial(self, element: Element) -> bool:
        """Return whether a state is entered only by its <initial>: nothing outside leads to a state in it."""
        own_transitions = {id(transition) for transition in element.all("transition")}  # they leave the state
        inner_elements = {id(inner) for inner in element.walk()} - own_transitions
        inner_ids = {inner.get("id") for inner in element.walk() if inner is not element}
        for source in self.root.walk():
            target_ids = {*(source.get("target") or "").split(), *(source.get("initial") or "").split()}
            stays_inside = target_ids <= inner_ids and id(source) in inner_elements
            if target_ids & inner_ids and not stays_inside:
                return False
        for history, parent in self.histories.values():
            restores_inner_states = history.get("type") == "deep"
            if restores_inner_states and any(inner is element for inner in parent.walk()):
                return False
        return True


def name_states(root: Element) -> StateNames:
    """Return names for all states of a document.

    Raises:
        FormatError: two elements have the same id.
    """
    free_names = FreeNames()
    names: dict[str, str] = {}
    name_by_element: dict[int, str] = {}
    histories: dict[str, HistoryElement] = {}
    line_of_id: dict[str, int | None] = {}
    elements_without_id: list[Element] = []
    for element, parent in _with_parents(root):
        if element.name not in (*STATES, "history"):
            continue
        state_id = element.get("id")
        if not state_id:
            elements_without_id.append(element)
            continue
        if state_id in line_of_id:
            message = f"the id {state_id!r} occurs twice (first in line {line_of_id[state_id]})"
            element.fail(message, hint="rename one")
        line_of_id[state_id] = element.line
        if element.name == "history":
            parent.required("id")  # a target names the history by the id of its state
            histories[state_id] = HistoryElement(element, parent)
        else:
            name = free_names.take_state(state_id)
            names[state_id] = name
            name_by_element[id(element)] = name
    for element in elements_without_id:
        name_by_element[id(element)] = free_names.take_state(f"{element.name}_{element.line}")
    return StateNames(root, names, name_by_element, histories, free_names)


def _with_parents(element: Element) -> Iterator[tuple[Element, Element]]:
    """Yield all elements inside an element, each with its parent."""
    for child in element.children:
        yield child, element
        yield from _with_parents(child)


@dataclass(frozen=True)
class DocumentEvents:
    """The events of a document and their names in its chart.

    Attributes:
        names: the name in the chart of every event, by its name in the document.
        external: names in the chart of the events that come from outside.
        internal: names in the chart of the events that only the document raises.
        tick: the event that represents a tick, if the document declares one.
    """

    names: Mapping[str, str]
    external: tuple[str, ...]
    internal: tuple[str, ...]
    tick: str | None = None

    def matching(self, descriptors: str) -> tuple[str, ...]:
        """Return the names of the events that match a list of SCXML event descriptors: `error.* go`."""
        matching_names: dict[str, None] = {}  # a set that keeps the order
        for descriptor in descriptors.split():
            prefix = _descriptor_prefix(descriptor)
            matching_names |= {name: None for event, name in self.names.items() if _matches(prefix, event)}
        return tuple(matching_names)


def name_events(root: Element, states: Mapping[str, str], free_names: FreeNames) -> DocumentEvents:
    """Return names for all events of a document.

    These are the events that are raised or sent, those that trigger transitions, and `done.state.S` of every
    state that can be done. A descriptor that matches a raised event is not an event of its own.

    Args:
        root: the document.
        states: the names of states by id.
        free_names: hands out names that are still unused.

    Raises:
        FormatError: there are too many events.
    """
    declared_external = (root.get(posewright_name("events")) or "").split()
    declared_internal = (root.get(posewright_name("local_events")) or "").split()
    raised = [
        element.required("event")
        for element in root.walk()
        if element.name in ("raise", "send") and element.get("event")
    ]
    tick = root.get(posewright_name("tick"))
    # dictionaries without values, as sets that keep the order
    done = dict.fromkeys(DONE_STATE + state for state in _states_with_done_event(root) if state in states)
    internal = dict.fromkeys(
        [*declared_internal, *(event for event in raised if event not in declared_external)]
    )
    external = dict.fromkeys(declared_external)
    known_events = [*declared_external, *internal, *done]
    for prefix in _trigger_prefixes(root):
        is_own_event = prefix != tick and not any(_matches(prefix, event) for event in known_events)
        if is_own_event and prefix.split(".")[0] not in _PLATFORM_EVENTS:
            external[prefix] = None
    n_events = len(external) + len(internal)
    if n_events > MAX_EVENTS:
        root.fail(f"{n_events} events", hint=f"at most {MAX_EVENTS}")
    names = {event: free_names.take(event, "event") for event in (*external, *internal)}
    done_names = {event: DONE_PREFIX + states[event.removeprefix(DONE_STATE)] for event in done}
    return DocumentEvents(
        {**names, **done_names},
        external=tuple(names[event] for event in external),
        internal=tuple(names[event] for event in internal),
        tick=tick,
    )


def _trigger_prefixes(root: Element) -> Iterable[str]:
    """Return the prefixes of all event descriptors of transitions, each once."""
    prefixes: dict[str, None] = {}
    for element in root.walk():
        if element.name in ("transition", "pw:way"):  # a way is a segment of a junction
            for descriptor in (element.get("event") or "").split():
                prefixes[_descriptor_prefix(descriptor)] = None
    return [prefix for prefix in prefixes if prefix]


def _descriptor_prefix(descriptor: str) -> str:
    """Return the event that a descriptor `event`, `event.` or `event.*` names; empty for `*`."""
    return descriptor.removesuffix("*").removesuffix(".")


def _matches(prefix: str, event: str) -> bool:
    """Return whether an event is that of a descriptor or begins with it; an empty prefix matches all."""
    return not prefix or event == prefix or event.startswith(f"{prefix}.")


def _states_with_done_event(root: Element) -> Iterator[str]:
    """Yield the ids of states that raise `done.state`: with a final child, or parallel with regions."""
    for element in root.walk():
        state_id = element.get("id")
        child_names = {"state": ("final",), "parallel": STATES}.get(element.name, ())
        if state_id is not None and element.all(*child_names):
            yield state_id
