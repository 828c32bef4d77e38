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

from posewright.charts.formats.document_fields import MAX_TIME_S
from posewright.charts.formats.scxml.datamodel import data_in, list_assignments, texts_of
from posewright.charts.formats.scxml.names import DocumentEvents, FreeNames
from posewright.documents import PlainData
from posewright.documents.markup import Element

MAX_SLOTS = 8
PROCESSORS = ("", "scxml", "http://www.w3.org/TR/scxml/#SCXMLEventProcessor")
INTERNAL = "#_internal"

COMPUTED = {"eventexpr": "event", "delayexpr": "delay", "sendidexpr": "sendid"}
"""Computed attributes, and the constant attributes that they represent."""

MAX_TEXTS = 50

_DELAY = re.compile(r"(\d{1,9}\.?\d{0,9}|\.\d{1,9})(ms|s)")


@dataclass(frozen=True)
class SendQueue:
    """The queue of sent events; its methods return parts of a native document.

    Attributes:
        entries: the enumeration value of each entry of the queue: an event, and the id that can cancel it.
        slots: the locals that hold the entries.
        due: the locals that hold the ticks until an entry is due; none if no event has a delay.
        longest: ticks of the longest delay.
        tick_s: the sample period [s].
        nothing: the enumeration value of an empty slot.
        lost: the local that is true once there was no free slot.
    """

    entries: Mapping[tuple[str, str], str]
    slots: tuple[str, ...]
    due: tuple[str, ...]
    longest: int
    tick_s: float
    nothing: str
    lost: str

    @property
    def locals(self) -> dict[str, PlainData]:
        """The types of its locals."""
        slots = {name: {"enum": [self.nothing, *self.entries.values()]} for name in self.slots}
        return {**slots, **{name: {"int": [0, self.longest]} for name in self.due}, self.lost: "bool"}

    @property
    def empty(self) -> dict[str, PlainData]:
        """The values of its locals while it is empty."""
        return {**dict.fromkeys(self.slots, self.nothing), **dict.fromkeys(self.due, 0), self.lost: 0}

    def send(self, event: str, send_id: str, wait: int) -> dict[str, PlainData]:
        """Return the action that inserts an event behind all that are due no later.

        Args:
            event: its name in the chart.
            send_id: its id, empty for none.
            wait: ticks until it is due.
        """
        entry = self.entries.get((event, send_id)) or self.entries[event, ""]
        values = {}
        for i in range(len(self.slots)):
            values[self.slots[i]] = self._inserted_value(i, wait, new=entry, variables=self.slots)
            if self.due:
                values[self.due[i]] = self._inserted_value(i, wait, new=str(wait), variables=self.due)
        return {"if": f"{self.slots[-1]} == {self.nothing}", "do": values, "else": {self.lost: "true"}}

    def _inserted_value(self, i: int, wait: int, new: str, variables: tuple[str, ...]) -> str:
        """Return the expression of the value in place `i` once a new one is inserted before later ones."""
        otherwise = f"({new} if {self._goes_first(i - 1, wait)} else {variables[i - 1]})" if i else new
        return f"{variables[i]} if {self._goes_first(i, wait)} else {otherwise}"

    def _goes_first(self, i: int, wait: int) -> str:
        """Return the condition that place `i` holds an entry that is due within `wait` ticks."""
        is_full = f"{self.slots[i]} != {self.nothing}"
        return f"{is_full} and {self.due[i]} <= {wait}" if self.due else is_full

    def cancel(self, send_id: str) -> list[dict[str, PlainData]]:
        """Return the actions that remove all events sent with an id; none if nothing is sent with it."""
        cancelled = [entry for (_, entry_id), entry in self.entries.items() if entry_id == send_id]
        values: dict[str, PlainData] = {}
        conditions: list[str] = []
        for i, (slot, next_value) in enumerate(self._with_next(self.slots, self.nothing)):
            conditions += [f"{slot} == {entry}" for entry in cancelled]
            is_removed = " or ".join(conditions)
            values[slot] = f"{next_value} if {is_removed} else {slot}"
            if self.due:
                due, next_due = self._with_next(self.due, "0")[i]
                values[due] = f"{next_due} if {is_removed} else {due}"
        return [values] * len(self.slots) if cancelled else []  # each repetition removes the first of them

    @staticmethod
    def _with_next(variables: tuple[str, ...], empty: str) -> list[tuple[str, str]]:
        """Return each variable with the one behind it, or the empty value for the last."""
        return list(zip(variables, [*variables[1:], empty], strict=True)) if variables else []

    def region(self, inside: str) -> dict[str, PlainData]:
        """Return the region that raises, at the beginning of each tick, the first event that is due.

        Args:
            inside: name of the only state in the region.
        """
        count_down = {due: f"max({due} - 1, 0)" for due in self.due}
        move_up = dict(self._with_next(self.slots, self.nothing))
        move_up |= {due: f"max({next_due} - 1, 0)" for due, next_due in self._with_next(self.due, "0")}
        raise_first: PlainData = []
        for (event, _), entry in reversed([*self.entries.items()]):
            raise_first = {"if": f"{self.slots[0]} == {entry}", "do": {"raise": event}, "else": raise_first}
        guarded_actions: list[tuple[str, list[PlainData]]] = [
            (self._goes_first(0, 1), [raise_first, move_up])
        ]
        if self.due:
            guarded_actions.append((f"{self.slots[0]} != {self.nothing}", [count_down]))
        transitions: list[PlainData] = [
            {"when": guard, "after_s": self.tick_s, "do": actions, "go": inside}
            for guard, actions in guarded_actions
        ]
        return {"initial": inside, "states": {inside: {"transitions": transitions}}}

    @property
    def promise(self) -> dict[str, str]:
        """The promise that there are enough slots."""
        return {"name": "no_sent_event_is_lost", "never": self.lost}


def build_send_queue(
    root: Element, events: DocumentEvents, free: FreeNames, tick_s: float
) -> SendQueue | None:
    """Return the queue of the events that a document sends; None if it sends nothing.

    Args:
        root: the document.
        events: the names of its events.
        free: hands out names that are still unused.
        tick_s: the sample period [s].
    """
    sends = [element for element in root.walk() if element.name == "send" and is_queued(element)]
    if not sends:
        return None
    cancelled = {element.get("sendid") for element in root.walk() if element.name == "cancel"}
    entries: dict[tuple[str, str], str] = {}
    for element in sends:
        event = events.called[element.required("event")]
        send_id = element.get("id") or ""
        key = (event, send_id if send_id in cancelled else "")
        if key not in entries:
            entries[key] = free.take(f"{event}_sent", "sort")
    numbers = range(1, min(len(sends) + 1, MAX_SLOTS) + 1)
    longest = max(delay_ticks(element, tick_s) for element in sends)
    slots = tuple(free.take(f"sent_{i}", "slot") for i in numbers)
    due = tuple(free.take(f"due_{i}", "slot") for i in numbers)
    nothing = free.take("nothing", "sent")
    lost = free.take("sent_lost", "event")
    return SendQueue(
        entries, slots, due=due if longest else (), longest=longest, tick_s=tick_s, nothing=nothing, lost=lost
    )


def is_queued(element: Element) -> bool:
    """Return whether a <send> goes to the queue of events from outside, not to the internal queue.

    Raises:
        FormatError: it goes to another program, or has a delay in the internal queue.
    """
    target = element.get("target") or ""
    processor = element.get("type") or ""
    if processor not in PROCESSORS:
        message = f"<send> of type {processor!r} is not in the supported subset of SCXML"
        element.fail(message, hint="a chart sends to itself alone")
    if target not in ("", INTERNAL):
        hint = f"a chart sends to itself alone: leave 'target' out, or write {INTERNAL}"
        element.fail(f"<send> to {target!r} is not in the supported subset of SCXML", hint=hint)
    if target and element.get("delay"):
        element.fail("<send> into the internal queue has no delay", hint="leave 'target' out")
    return not target


def delay_ticks(element: Element, tick_s: float) -> int:
    """Return the delay of a <send> in ticks."""
    text = element.get("delay")
    if text is None or text.strip() == "0":
        return 0
    match = _DELAY.fullmatch(text.strip())
    seconds = float(match[1]) / (1000 if match[2] == "ms" else 1) if match else math.inf
    if seconds > MAX_TIME_S:
        element.fail(
            f"the delay {text[:40]!r} is not a time", hint="write it like 2s or 500ms, a day at most"
        )
    return math.ceil(seconds / tick_s - 1e-9)


def expand_computed_attributes(root: Element) -> Element:
    """Return a document in which branches over constant attributes replace computed attributes.

    Raises:
        FormatError: an attribute is computed from anything but a <data> of texts.
    """
    if not any(key in element.attributes for element in root.walk() for key in COMPUTED):
        return root
    data = data_in(root)
    send_ids = {element.get("id") for element in root.walk() if element.name == "send"}
    return _AttributeExpander(texts_of(root, list_assignments(root, data), data), send_ids).expand(root)


@dataclass(frozen=True)
class _AttributeExpander:
    """Replaces computed attributes.

    Attributes:
        texts: the texts that each <data> of texts may hold.
        send_ids: the ids of all <send> elements.
    """

    texts: Mapping[str, list[str]]
    send_ids: Collection[str | None]

    def expand(self, element: Element) -> Element:
        children = tuple(self._expand_attributes(self.expand(child)) for child in element.children)
        return replace(element, children=children)

    def _expand_attributes(self, element: Element) -> Element:
        """Return an element with constants in place of computed attributes, or branches over their values."""
        key = next((key for key in COMPUTED if key in element.attributes), None)
        if key is None:
            return element
        name = element.attributes[key].strip()
        is_quoted = name[:1] in ("'", '"') and name[-1:] == name[:1]
        if is_quoted:
            return self._expand_attributes(_with_constant(element, key, name[1:-1]))
        if name not in self.texts:
            hint = f"write {COMPUTED[key]!r}, or the name of a <data> that holds texts"
            element.fail(f"{key}={name!r} is not in the supported subset of SCXML", hint=hint)
        n_texts = len(self.texts[name])
        if n_texts > MAX_TEXTS:
            element.fail(f"{name} may hold {n_texts} texts", hint=f"at most {MAX_TEXTS} here")
        return self._build_branches(element, key, name)

    def _build_branches(self, element: Element, key: str, name: str) -> Element:
        """Return an <if> with one branch for each text that a <data> may hold."""
        elements: list[Element] = []
        for text in self.texts[name]:
            quote = '"' if "'" in text else "'"
            condition = {"cond": f"{name} == {quote}{text}{quote}"}
            elements.append(Element("elseif", condition, line=element.line, path=element.path))
            if key != "sendidexpr" or text in self.send_ids:  # cancelling an unknown id has no effect
                elements.append(self._expand_attributes(_with_constant(element, key, text)))
        return replace(elements[0], name="if", children=tuple(elements[1:]))


def _with_constant(element: Element, key: str, text: str) -> Element:
    """Return an element with a constant attribute in place of the computed attribute `key`."""
    attributes = {name: value for name, value in element.attributes.items() if name != key}
    return replace(element, attributes={**attributes, COMPUTED[key]: text})
