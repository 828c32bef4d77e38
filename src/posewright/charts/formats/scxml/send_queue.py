"""Events that a document sends to itself, with or without a delay, as locals and a region of the chart.

SCXML has a second queue for these. In a chart they wait in a few slots, the one due first in the first slot,
and a region of its own raises one of them at the beginning of each tick. The slots are data like any other,
so the checks see them: the promise `no_sent_event_is_lost` states that there are enough slots.

A <send> or <cancel> with an attribute computed from a <data> of texts becomes a branch per possible text:
<send eventexpr="next"/>  becomes  <if cond="next == 'go'"><send event="go"/><elseif .../> ... </if>
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from posewright.charts.formats.document_fields import MAX_TIME_S
from posewright.charts.formats.scxml.datamodel import (
    find_data_elements,
    find_texts_of_variables,
    list_assignments,
)
from posewright.charts.formats.scxml.names import DocumentEvents, FreeNames
from posewright.documents import PlainData
from posewright.documents.markup import Element

MAX_SLOTS = 8
SUPPORTED_PROCESSORS = ("", "scxml", "http://www.w3.org/TR/scxml/#SCXMLEventProcessor")
INTERNAL_TARGET = "#_internal"

CONSTANT_FORM_OF_COMPUTED = {"eventexpr": "event", "delayexpr": "delay", "sendidexpr": "sendid"}
"""The attribute with a constant value that each computed attribute (with an expression) stands for."""

MAX_TEXTS = 50

TICK_TOLERANCE = 1e-9
"""A delay of so little more than a number of ticks is that number: it differs only by rounding."""

_DELAY = re.compile(r"(\d{1,9}\.?\d{0,9}|\.\d{1,9})(ms|s)")


class QueuedEvent(NamedTuple):
    """An event as the queue stores it.

    Attributes:
        event: its name in the chart.
        send_id: the id by which a <cancel> can remove it; empty if none does.
    """

    event: str
    send_id: str


@dataclass(frozen=True)
class SendQueue:
    """The queue of sent events, as locals of the chart; its methods return parts of a native document.

    The queue is a row of slots. A slot is a local of an enumeration type: its value says which event waits in
    it, or that it is empty. The event that is due first is in the first slot, and the empty slots are the
    last ones. Beside each slot there is a countdown, a local with the ticks until its event is due.

    Attributes:
        enum_value_of_event: the value of a slot for each event that it may hold.
        slots: the names of the slots.
        countdowns: the names of the countdowns, one for each slot; none if no event has a delay.
        max_delay: the longest delay [ticks].
        tick_s: the sample period [s].
        empty_value: the value of an empty slot.
        lost_flag: name of the local that is true once there was no free slot.
    """

    enum_value_of_event: Mapping[QueuedEvent, str]
    slots: tuple[str, ...]
    countdowns: tuple[str, ...]
    max_delay: int
    tick_s: float
    empty_value: str
    lost_flag: str

    @property
    def local_types(self) -> dict[str, PlainData]:
        """The types of the locals that hold the queue, by name, as plain data of a native document."""
        types: dict[str, PlainData] = {}
        for slot in self.slots:
            types[slot] = {"enum": [self.empty_value, *self.enum_value_of_event.values()]}
        for countdown in self.countdowns:
            types[countdown] = {"int": [0, self.max_delay]}
        types[self.lost_flag] = "bool"
        return types

    @property
    def initial_values(self) -> dict[str, PlainData]:
        """The values of its locals while it is empty."""
        slot_values = dict.fromkeys(self.slots, self.empty_value)
        return {**slot_values, **dict.fromkeys(self.countdowns, 0), self.lost_flag: 0}

    def build_send_action(self, event: str, send_id: str, delay: int) -> dict[str, PlainData]:
        """Return the action that inserts an event behind all that are due no later.

        If the last slot is occupied, the event is lost, and the action sets `lost_flag` instead.

        Args:
            event: the name of the event in the chart.
            send_id: the id of the <send>; empty for none.
            delay: ticks until the event is due.
        """
        # of an id that no <cancel> names, only the event is stored
        event_with_id = QueuedEvent(event, send_id)
        event_without_id = QueuedEvent(event, send_id="")
        enum_value = self.enum_value_of_event.get(event_with_id) or self.enum_value_of_event[event_without_id]
        new_values: dict[str, PlainData] = {}
        for i in range(len(self.slots)):
            new_values[self.slots[i]] = self._value_after_insertion(
                i, delay, inserted_value=enum_value, variables=self.slots
            )
            if self.countdowns:
                new_values[self.countdowns[i]] = self._value_after_insertion(
                    i, delay, inserted_value=str(delay), variables=self.countdowns
                )
        has_free_slot = f"{self.slots[-1]} == {self.empty_value}"
        return {"if": has_free_slot, "do": new_values, "else": {self.lost_flag: "true"}}

    def _value_after_insertion(
        self, slot_index: int, delay: int, *, inserted_value: str, variables: tuple[str, ...]
    ) -> str:
        """Return, as text, the expression for the value of a slot or a countdown after an event was inserted.

        Events that are due no later keep their slots, the new one follows them, and the others move back by
        one slot. So a slot keeps its value, gets the new event, or gets the value of the slot before it.

        Args:
            slot_index: index of the slot.
            delay: ticks until the new event is due.
            inserted_value: what the slot of the new event gets: its enumeration value, or its delay.
            variables: the names of all slots, or of all countdowns.
        """
        unmoved_value = variables[slot_index]
        slot_stays = self._is_due_within(delay, slot_index=slot_index)
        value_if_not = inserted_value
        if slot_index > 0:
            previous_slot_stays = self._is_due_within(delay, slot_index=slot_index - 1)
            previous_value = variables[slot_index - 1]
            value_if_not = f"({inserted_value} if {previous_slot_stays} else {previous_value})"
        return f"{unmoved_value} if {slot_stays} else {value_if_not}"

    def _is_due_within(self, delay: int, *, slot_index: int) -> str:
        """Return the condition that a slot holds an event that is due within `delay` ticks."""
        is_occupied = f"{self.slots[slot_index]} != {self.empty_value}"
        if not self.countdowns:
            return is_occupied
        return f"{is_occupied} and {self.countdowns[slot_index]} <= {delay}"

    def build_cancel_actions(self, send_id: str) -> list[dict[str, PlainData]]:
        """Return the actions that remove all events sent with an id; none if nothing is sent with it.

        Each action removes the first such event: from its slot on, every slot gets the value of the next. The
        action is repeated as often as there are slots, since all of them may hold such events.
        """
        cancelled_values = [
            enum_value for queued, enum_value in self.enum_value_of_event.items() if queued.send_id == send_id
        ]
        if not cancelled_values:
            return []
        new_values: dict[str, PlainData] = {}
        conditions: list[str] = []
        for i, (slot, next_value) in enumerate(_pairs_with_following(self.slots, self.empty_value)):
            conditions += [f"{slot} == {enum_value}" for enum_value in cancelled_values]
            is_here_or_before = " or ".join(conditions)  # this slot or one before it holds such an event
            new_values[slot] = f"{next_value} if {is_here_or_before} else {slot}"
            if self.countdowns:
                countdown, next_countdown = _pairs_with_following(self.countdowns, last_value="0")[i]
                new_values[countdown] = f"{next_countdown} if {is_here_or_before} else {countdown}"
        return [new_values] * len(self.slots)

    def build_region(self, state: str) -> dict[str, PlainData]:
        """Return the region that raises, at the beginning of each tick, the first event that is due.

        Its only state has two transitions to itself, of which one is taken per tick. If the event in the
        first slot is due, the first transition raises it, moves all other events one slot forward and counts
        them down. Else, if an event waits, the second transition only counts down.

        Args:
            state: name of the region's only state.
        """
        first_slot = self.slots[0]
        move_forward = dict(_pairs_with_following(self.slots, self.empty_value))
        for countdown, next_countdown in _pairs_with_following(self.countdowns, last_value="0"):
            move_forward[countdown] = f"max({next_countdown} - 1, 0)"
        transitions: list[PlainData] = [
            {
                "when": self._is_due_within(delay=1, slot_index=0),
                "after_s": self.tick_s,
                "do": [self._raise_first_event(), move_forward],
                "go": state,
            }
        ]
        if self.countdowns:
            count_down = {countdown: f"max({countdown} - 1, 0)" for countdown in self.countdowns}
            is_occupied = f"{first_slot} != {self.empty_value}"
            transitions.append({"when": is_occupied, "after_s": self.tick_s, "do": [count_down], "go": state})
        return {"initial": state, "states": {state: {"transitions": transitions}}}

    def _raise_first_event(self) -> PlainData:
        """Return the action that raises the event in the first slot: `if` it is a, raise a, `else` ..."""
        action: PlainData = []  # the last `else`: the slot is empty
        for queued, enum_value in reversed(
            [*self.enum_value_of_event.items()]
        ):  # from the innermost `if` outwards
            is_in_slot = f"{self.slots[0]} == {enum_value}"
            action = {"if": is_in_slot, "do": {"raise": queued.event}, "else": action}
        return action

    @property
    def promise(self) -> dict[str, str]:
        """The promise that there are enough slots."""
        return {"name": "no_sent_event_is_lost", "never": self.lost_flag}


def _pairs_with_following(variables: tuple[str, ...], last_value: str) -> list[tuple[str, str]]:
    """Return each variable with the one that follows it, the last variable with `last_value`."""
    return list(zip(variables, [*variables[1:], last_value], strict=True)) if variables else []


def build_send_queue(
    root: Element, events: DocumentEvents, free_names: FreeNames, tick_s: float
) -> SendQueue | None:
    """Return the queue of the events that a document sends; None if it sends nothing.

    It has one slot more than there are <send> elements, as far as `MAX_SLOTS` allows.

    Args:
        root: the document.
        events: the names of its events.
        free_names: hands out unused names, for the locals and values of the queue.
        tick_s: the sample period [s].
    """
    sends = [element for element in root.walk() if element.name == "send" and is_sent_to_event_queue(element)]
    if not sends:
        return None
    cancelled_ids = {element.get("sendid") for element in root.walk() if element.name == "cancel"}
    enum_value_of_event: dict[QueuedEvent, str] = {}
    for element in sends:
        event = events.name_by_event[element.required("event")]
        send_id = element.get("id") or ""
        queued = QueuedEvent(event, send_id if send_id in cancelled_ids else "")
        if queued not in enum_value_of_event:
            enum_value_of_event[queued] = free_names.take_name(f"{event}_sent", suffix="sort")
    n_slots = min(len(sends) + 1, MAX_SLOTS)
    slot_numbers = range(1, n_slots + 1)
    max_delay = max(delay_ticks(element, tick_s) for element in sends)
    # names are taken also if they are not used, so that those of other data do not depend on the delays
    slots = tuple(free_names.take_name(f"sent_{i}", suffix="slot") for i in slot_numbers)
    countdowns = tuple(free_names.take_name(f"due_{i}", suffix="slot") for i in slot_numbers)
    empty_value = free_names.take_name("nothing", suffix="sent")
    lost_flag = free_names.take_name("sent_lost", suffix="event")
    return SendQueue(
        enum_value_of_event,
        slots,
        countdowns=countdowns if max_delay > 0 else (),
        max_delay=max_delay,
        tick_s=tick_s,
        empty_value=empty_value,
        lost_flag=lost_flag,
    )


def is_sent_to_event_queue(element: Element) -> bool:
    """Return whether a <send> goes to the queue of events from outside, not to the internal queue.

    Raises:
        FormatError: it goes to another program, or has a delay in the internal queue.
    """
    target = element.get("target") or ""
    processor = element.get("type") or ""
    if processor not in SUPPORTED_PROCESSORS:
        message = f"<send> of type {processor!r} is not in the supported subset of SCXML"
        element.fail(message, hint="a chart sends to itself alone")
    if target not in ("", INTERNAL_TARGET):
        hint = f"a chart sends to itself alone: leave 'target' out, or write {INTERNAL_TARGET}"
        element.fail(f"<send> to {target!r} is not in the supported subset of SCXML", hint=hint)
    if target and element.get("delay"):
        element.fail("<send> into the internal queue has no delay", hint="leave 'target' out")
    return not target


def delay_ticks(element: Element, tick_s: float) -> int:
    """Return the delay of a <send> in ticks, rounded up; raise a FormatError if it is not a valid time."""
    text = element.get("delay")
    if text is None or text.strip() == "0":
        return 0
    match = _DELAY.fullmatch(text.strip())
    delay_s = math.inf  # for a text that is not a time
    if match is not None:
        number, unit = match.groups()
        delay_s = float(number) / (1000 if unit == "ms" else 1)
    if delay_s > MAX_TIME_S:
        hint = "write it like 2s or 500ms, a day at most"
        element.fail(f"the delay {text[:40]!r} is not a time", hint=hint)
    return math.ceil(delay_s / tick_s - TICK_TOLERANCE)


def expand_computed_attributes(root: Element) -> Element:
    """Return a document in which branches over constant attributes replace computed attributes.

    A computed attribute such as `eventexpr="next"` has the value of a <data>. For each text that the <data>
    may hold, there is a branch with the constant attribute `event`.

    Raises:
        FormatError: an attribute is computed from anything but a <data> of texts.
    """
    if not any(key in element.attributes for element in root.walk() for key in CONSTANT_FORM_OF_COMPUTED):
        return root
    data = find_data_elements(root)
    texts_by_data_id = find_texts_of_variables(root, list_assignments(root, data), data)
    ids_of_sends = {element.get("id") for element in root.walk() if element.name == "send"}
    return _AttributeExpander(texts_by_data_id, ids_of_sends).expand(root)


@dataclass(frozen=True)
class _AttributeExpander:
    """Replaces computed attributes.

    Attributes:
        texts_by_data_id: the texts that each <data> of texts may hold.
        ids_of_sends: the ids of all <send> elements.
    """

    texts_by_data_id: Mapping[str, list[str]]
    ids_of_sends: Collection[str | None]

    def expand(self, element: Element) -> Element:
        """Return an element whose content, on all levels, has no computed attributes."""
        children = tuple(self._expand_attributes(self.expand(child)) for child in element.children)
        return replace(element, children=children)

    def _expand_attributes(self, element: Element) -> Element:
        """Return an element with constant attributes in place of computed ones, or an <if> over their values.

        Raises:
            FormatError: an attribute is computed from anything but a quoted text or a <data> of texts, or the
                <data> may hold too many texts.
        """
        key = next((key for key in CONSTANT_FORM_OF_COMPUTED if key in element.attributes), None)
        if key is None:
            return element
        expression = element.attributes[key].strip()
        is_quoted = expression[:1] in ("'", '"') and expression[-1:] == expression[:1]
        if is_quoted:
            return self._expand_attributes(_with_constant(element, key, expression[1:-1]))
        if expression not in self.texts_by_data_id:
            hint = f"write {CONSTANT_FORM_OF_COMPUTED[key]!r}, or the name of a <data> that holds texts"
            element.fail(f"{key}={expression!r} is not in the supported subset of SCXML", hint=hint)
        n_texts = len(self.texts_by_data_id[expression])
        if n_texts > MAX_TEXTS:
            element.fail(f"{expression} may hold {n_texts} texts", hint=f"at most {MAX_TEXTS} here")
        return self._build_branches(element, key, expression)

    def _build_branches(self, element: Element, key: str, data_id: str) -> Element:
        """Return an <if> with one branch for each text that a <data> may hold.

        Args:
            element: the element with the computed attribute.
            key: the computed attribute, such as `eventexpr`.
            data_id: the <data> that the attribute names.
        """
        # in SCXML the <if> contains all branches: the elements of the first one, then an <elseif> without
        # content and the elements of its branch, and so on
        if_attributes: dict[str, str] = {}
        content: list[Element] = []
        for text in self.texts_by_data_id[data_id]:
            quote = '"' if "'" in text else "'"
            condition = {"cond": f"{data_id} == {quote}{text}{quote}"}
            if not if_attributes:
                if_attributes = condition
            else:
                content.append(Element("elseif", condition, line=element.line, path=element.path))
            is_id_of_no_send = key == "sendidexpr" and text not in self.ids_of_sends
            if not is_id_of_no_send:  # to cancel an unknown id does nothing, so its branch is empty
                content.append(self._expand_attributes(_with_constant(element, key, text)))
        return Element("if", if_attributes, tuple(content), line=element.line, path=element.path)


def _with_constant(element: Element, key: str, text: str) -> Element:
    """Return an element with a constant attribute in place of the computed attribute `key`."""
    attributes = {name: value for name, value in element.attributes.items() if name != key}
    return replace(element, attributes={**attributes, CONSTANT_FORM_OF_COMPUTED[key]: text})
