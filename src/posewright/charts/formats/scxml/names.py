"""Names of an SCXML document and their unique names in a chart, of letters, digits and `_`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import NamedTuple

from posewright.charts.formats.scxml.vocabulary import (
    DEFAULT_ATTRIBUTE,
    INITIAL_STATES,
    SEGMENT_ELEMENT,
    STATES,
    extension_name,
)
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
        used_names: all names that are in use, including those that were handed out.
    """

    def __init__(self, used_names: Iterable[str] = ()) -> None:
        self.used_names = set(used_names)

    def take_name(self, preferred: str, suffix: str) -> str:
        """Return an unused name for a variable, a value or an event, and mark it as used.

        Args:
            preferred: the name in the document, to which the result is as similar as possible.
            suffix: a word that is appended if the preferred name is used or reserved, and put before it if it
                begins with a digit.
        """
        valid_name = _INVALID_CHARACTERS.sub("_", preferred)[:MAX_NAME] or suffix
        if valid_name[0].isdigit():
            valid_name = f"{suffix}_{valid_name}"[:MAX_NAME]
        alternative = f"{valid_name[: MAX_NAME - SUFFIX_LENGTH]}_{suffix}"
        return self._take_unused(valid_name, alternative, RESERVED)

    def take_state_name(self, preferred: str) -> str:
        """Return an unused name for a state, and mark it as used.

        It is as similar to `preferred` as possible; it may begin with a digit or be a reserved word.
        """
        valid_name = _INVALID_CHARACTERS.sub("_", preferred)[:MAX_STATE_NAME] or "state"
        return self._take_unused(valid_name, f"{valid_name[: MAX_NAME - SUFFIX_LENGTH]}_2", ())

    def _take_unused(self, preferred: str, alternative: str, reserved: Collection[str]) -> str:
        """Return the first suitable name, and add it to the names in use.

        Candidates are `preferred`, then `alternative`, then the alternative with the numbers 2, 3, ... at its
        end, in place of any number that is there.

        Args:
            preferred: the preferred name.
            alternative: the name to use if the preferred one is in use or reserved.
            reserved: reserved words, in lower case; a name may not be one of them in any case.
        """
        stem = alternative.rstrip("0123456789").rstrip("_")
        numbered_alternatives = (f"{stem}_{number}" for number in count(2))
        unused_name = next(
            candidate
            for candidate in chain([preferred, alternative], numbered_alternatives)
            if candidate not in self.used_names and candidate.lower() not in reserved
        )
        self.used_names.add(unused_name)
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
        name_by_id: the unique name of each state, by its id in the document.
        name_by_element: the same names by the identity (`id()`) of the element, also of states without an id.
        history_by_id: every <history> by its id, with the state that it is in.
        free_names: hands out names that are still unused.
    """

    root: Element
    name_by_id: Mapping[str, str]
    name_by_element: Mapping[int, str]
    history_by_id: Mapping[str, HistoryElement]
    free_names: FreeNames

    def name_of(self, element: Element) -> str:
        """Return the name in the chart of a <state>, <parallel> or <final>."""
        return self.name_by_element[id(element)]

    def read_targets(self, element: Element, key: str = "target") -> PlainData:
        """Return the targets that an attribute lists by their ids, as a native document writes them.

        One target is returned alone, several are a list; None if the attribute is missing or empty.
        """
        targets = [self._target_data(state_id, element) for state_id in (element.get(key) or "").split()]
        return targets[0] if len(targets) == 1 else targets or None

    def _target_data(self, state_id: str, element: Element) -> PlainData:
        """Return the plain data of a target, given by its id: a state's name, or the history of a state.

        Raises:
            FormatError: no state or history has that id; it points at `element`.
        """
        if state_id in self.name_by_id:
            return self.name_by_id[state_id]
        if state_id not in self.history_by_id:
            hint = f"the states are {', '.join([*self.name_by_id][:12])}"
            element.fail(f"unknown state {state_id!r}", hint=hint)
        history, parent = self.history_by_id[state_id]
        kind = history.get("type") or "shallow"
        if kind not in HISTORY_KEYS:
            history.fail(f"{kind!r} is not a type of history", hint="use shallow or deep")
        state = self.name_by_id[parent.required("id")]
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
        if history.get(DEFAULT_ATTRIBUTE) == INITIAL_STATES:
            return []
        state_ids = transition.required("target").split()
        if any(state_id in self.history_by_id for state_id in state_ids):
            message = "a <history> that leads to another is not in the supported subset of SCXML"
            transition.fail(message, hint="name states")
        return [self._target_data(state_id, transition) for state_id in state_ids]

    def is_entered_only_by_initial(self, element: Element) -> bool:
        """Return whether the states inside a state are entered from outside only by its <initial>.

        They may also be entered by a transition from outside whose target is inside, or by a deep history of
        the state or of one around it.
        """
        # the state's own transitions count as outside, since they leave the state
        outer_transitions = {id(transition) for transition in element.all("transition")}
        inner_elements = {id(inner) for inner in element.walk()} - outer_transitions
        ids_of_inner_states = {inner.get("id") for inner in element.walk() if inner is not element}
        for source in self.root.walk():
            target_ids = {*(source.get("target") or "").split(), *(source.get("initial") or "").split()}
            leads_inside = bool(target_ids & ids_of_inner_states)
            comes_from_inside = id(source) in inner_elements and target_ids <= ids_of_inner_states
            if leads_inside and not comes_from_inside:
                return False
        for history, history_parent in self.history_by_id.values():
            is_around_state = any(inner is element for inner in history_parent.walk())
            if history.get("type") == "deep" and is_around_state:
                return False
        return True


def name_states(root: Element) -> StateNames:
    """Return names for all states of a document.

    Raises:
        FormatError: two elements have the same id.
    """
    free_names = FreeNames()
    name_by_id: dict[str, str] = {}
    name_by_element: dict[int, str] = {}
    history_by_id: dict[str, HistoryElement] = {}
    line_of_id: dict[str, int | None] = {}  # of states and histories
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
            history_by_id[state_id] = HistoryElement(element, parent)
        else:
            name = free_names.take_state_name(state_id)
            name_by_id[state_id] = name
            name_by_element[id(element)] = name
    for element in elements_without_id:  # after the others, which should keep their ids as names
        name_by_element[id(element)] = free_names.take_state_name(f"{element.name}_{element.line}")
    return StateNames(root, name_by_id, name_by_element, history_by_id, free_names)


def _with_parents(element: Element) -> Iterator[tuple[Element, Element]]:
    """Yield all elements inside an element, each with its parent."""
    for child in element.children:
        yield child, element
        yield from _with_parents(child)


@dataclass(frozen=True)
class DocumentEvents:
    """The events of a document and their names in its chart.

    Attributes:
        name_by_event: the name in the chart of every event, by its name in the document.
        external_names: names in the chart of the events that come from outside.
        internal_names: names in the chart of the events that only the document raises.
        tick_event: the event that represents a tick, if the document declares one.
    """

    name_by_event: Mapping[str, str]
    external_names: tuple[str, ...]
    internal_names: tuple[str, ...]
    tick_event: str | None = None

    def names_matching(self, descriptors: str) -> tuple[str, ...]:
        """Return the names of the events that match a list of SCXML event descriptors: `error.* go`."""
        matching_names: dict[str, None] = {}  # a set that keeps the order
        for descriptor in descriptors.split():
            prefix = _descriptor_prefix(descriptor)
            matching_names |= {
                name: None for event, name in self.name_by_event.items() if _matches(prefix, event)
            }
        return tuple(matching_names)


def name_events(root: Element, state_by_id: Mapping[str, str], free_names: FreeNames) -> DocumentEvents:
    """Return names in the chart for all events of a document.

    These are the events that are raised or sent, those that trigger transitions, and `done.state.S` of every
    state that can be done. A trigger such as `error.*` that matches one of these adds no event.

    Args:
        root: the document.
        state_by_id: the names of states in the chart by their ids.
        free_names: hands out names that are still unused.

    Raises:
        FormatError: there are too many events.
    """
    declared_external = (root.get(extension_name("events")) or "").split()
    declared_internal = (root.get(extension_name("local_events")) or "").split()
    raised_events = [
        element.required("event")
        for element in root.walk()
        if element.name in ("raise", "send") and element.get("event")
    ]
    tick_event = root.get(extension_name("tick"))
    # dictionaries without values, as sets that keep the order
    done_events = dict.fromkeys(
        DONE_STATE + state_id for state_id in _states_with_done_event(root) if state_id in state_by_id
    )
    internal_events = dict.fromkeys(
        [*declared_internal, *(event for event in raised_events if event not in declared_external)]
    )
    external_events = dict.fromkeys(declared_external)
    known_events = [*declared_external, *internal_events, *done_events]
    for prefix in _trigger_prefixes(root):
        is_new_event = prefix != tick_event and not any(_matches(prefix, event) for event in known_events)
        if is_new_event and prefix.split(".")[0] not in _PLATFORM_EVENTS:
            external_events[prefix] = None
    n_events = len(external_events) + len(internal_events)
    if n_events > MAX_EVENTS:
        root.fail(f"{n_events} events", hint=f"at most {MAX_EVENTS}")
    names = {
        event: free_names.take_name(event, suffix="event") for event in (*external_events, *internal_events)
    }
    done_names = {event: DONE_PREFIX + state_by_id[event.removeprefix(DONE_STATE)] for event in done_events}
    return DocumentEvents(
        {**names, **done_names},
        external_names=tuple(names[event] for event in external_events),
        internal_names=tuple(names[event] for event in internal_events),
        tick_event=tick_event,
    )


def _trigger_prefixes(root: Element) -> Iterable[str]:
    """Return the events that transitions name as triggers, each once; a trigger `error.*` names `error`."""
    prefixes: dict[str, None] = {}  # a set that keeps the order
    for element in root.walk():
        if element.name in ("transition", SEGMENT_ELEMENT):
            for descriptor in (element.get("event") or "").split():
                prefixes[_descriptor_prefix(descriptor)] = None
    return [prefix for prefix in prefixes if prefix]  # the trigger `*` names none


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
