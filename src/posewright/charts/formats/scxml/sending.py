"""Events that a document sends to itself, at once or after a while: kept in locals, let out by a region.

SCXML has a second queue for them. Here they wait in a few slots, the one that is due first in the first
slot, and a region of its own raises one of them as each tick begins. What waits is data like any other, so
the checks see it: the promise `no_sent_event_is_lost` says that the slots suffice.

What a <send> or a <cancel> computes from a <data> of texts becomes a branch for each text it may be:
<send eventexpr="next"/>  becomes  <if cond="next == 'go'"><send event="go"/><elseif .../> ... </if>
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from posewright.charts.formats.entries import LONGEST_S
from posewright.charts.formats.scxml.datamodel import data_in, settings_in, texts_of
from posewright.charts.formats.scxml.markup import Element
from posewright.charts.formats.scxml.names import DocumentEvents, FreeNames

MOST_SLOTS = 8
PROCESSORS = ("", "scxml", "http://www.w3.org/TR/scxml/#SCXMLEventProcessor")
INTERNAL = "#_internal"

COMPUTED = {"eventexpr": "event", "delayexpr": "delay", "sendidexpr": "sendid"}
"""Attributes that compute, and those that they stand for."""

MAX_TEXTS = 50

_DELAY = re.compile(r"(\d{1,9}\.?\d{0,9}|\.\d{1,9})(ms|s)")


@dataclass(frozen=True)
class Mail:
    """What waits to be dealt with in later ticks; its actions are those of a native document.

    Attributes:
        sorts: every sort of thing that waits: the event and the id it can be cancelled by, and its name.
        slots: how many may wait at once.
        longest: ticks of the longest delay; 0 where there is none.
        tick_s: the sample period [s].
        names: what `sent`, `due`, `nothing` and `sent_lost` are called in this chart.
    """

    sorts: Mapping[tuple[str, str], str]
    slots: int
    longest: int
    tick_s: float
    names: Mapping[str, str]

    @property
    def locals(self) -> dict[str, Any]:
        """The locals that it takes, with their types."""
        sent = {"enum": [self.names["nothing"], *self.sorts.values()]}
        due = {"int": [0, self.longest]}
        return self._of_slots(lambda _: sent, lambda _: due) | {self.names["lost"]: "bool"}

    @property
    def empty(self) -> dict[str, Any]:
        """What the locals hold while nothing waits."""
        return self._of_slots(lambda _: self.names["nothing"], lambda _: 0) | {self.names["lost"]: 0}

    def _of_slots(self, sent: Callable[[int], Any], due: Callable[[int], Any]) -> dict[str, Any]:
        """Return something for what each slot holds and, where anything waits, for when it is due."""
        numbers = range(1, self.slots + 1)
        found = {self.sent(i): sent(i) for i in numbers}
        return found | {self.due(i): due(i) for i in numbers} if self.longest else found

    def sent(self, slot: int) -> str:
        """Return the name of what says what is in a slot."""
        return self.names[f"sent {slot}"]

    def due(self, slot: int) -> str:
        """Return the name of what says in how many ticks a slot is due."""
        return self.names[f"due {slot}"]

    def send(self, event: str, name: str, wait: int) -> dict[str, Any]:
        """Return what puts an event into its slot, behind all that is due no later.

        Args:
            event: as the chart calls it.
            name: the id it is sent with, none without one.
            wait: ticks until it is due.
        """
        sort = self.sorts.get((event, name)) or self.sorts[event, ""]
        values = {}
        for i in range(1, self.slots + 1):
            values[self.sent(i)] = self._put(i, wait, sort, self.sent)
            if self.longest:
                values[self.due(i)] = self._put(i, wait, str(wait), self.due)
        fits = f"{self.sent(self.slots)} == {self.names['nothing']}"
        return {"if": fits, "do": values, "else": {self.names["lost"]: "true"}}

    def _put(self, slot: int, wait: int, new: str, name: Callable[[int], str]) -> str:
        """Return what a slot holds once `new` is put among the others."""
        otherwise = new if slot == 1 else f"({new} if {self._earlier(slot - 1, wait)} else {name(slot - 1)})"
        return f"{name(slot)} if {self._earlier(slot, wait)} else {otherwise}"

    def _earlier(self, slot: int, wait: int) -> str:
        """Return the condition that a slot holds what goes before something that waits so long."""
        return f"{self._full(slot)} and {self.due(slot)} <= {wait}" if self.longest else self._full(slot)

    def _full(self, slot: int) -> str:
        return f"{self.sent(slot)} != {self.names['nothing']}"

    def cancel(self, name: str) -> list[dict[str, Any]]:
        """Return what takes out all that was sent with an id; nothing where nothing is sent with it."""
        sorts = [sort for (_, known), sort in self.sorts.items() if known == name]
        return [self._take_out(sorts) for _ in range(self.slots)] if sorts else []

    def _take_out(self, sorts: Iterable[str]) -> dict[str, Any]:
        """Return what takes the first of these sorts out, and moves up what is behind it."""
        values = {}
        for i in range(1, self.slots + 1):
            gone = " or ".join(f"{self.sent(j)} == {sort}" for j in range(1, i + 1) for sort in sorts)
            values[self.sent(i)] = f"{self._sent_behind(i)} if {gone} else {self.sent(i)}"
            if self.longest:
                values[self.due(i)] = f"{self._due_behind(i)} if {gone} else {self.due(i)}"
        return values

    def _sent_behind(self, slot: int) -> str:
        return self.sent(slot + 1) if slot < self.slots else self.names["nothing"]

    def _due_behind(self, slot: int) -> str:
        return self.due(slot + 1) if slot < self.slots else "0"

    def region(self, inside: str) -> dict[str, Any]:
        """Return the region that lets out, as each tick begins, the first thing that is due."""
        moved_up = self._of_slots(self._sent_behind, lambda i: f"max({self._due_behind(i)} - 1, 0)")
        later = {self.due(i): f"max({self.due(i)} - 1, 0)" for i in range(1, self.slots + 1)}
        ways = [(self._earlier(1, 1), [self._raised, moved_up])]
        ways += [(self._full(1), [later])] if self.longest else []
        transitions = [{"when": when, "after_s": self.tick_s, "do": do, "go": inside} for when, do in ways]
        return {"initial": inside, "states": {inside: {"transitions": transitions}}}

    @property
    def _raised(self) -> Any:
        """What raises the event of the first slot."""
        action: Any = []
        for (event, _), sort in reversed([*self.sorts.items()]):
            action = {"if": f"{self.sent(1)} == {sort}", "do": {"raise": event}, "else": action}
        return action

    @property
    def promise(self) -> dict[str, str]:
        """The promise that there are slots enough."""
        return {"name": "no_sent_event_is_lost", "never": self.names["lost"]}


def mail_of(root: Element, events: DocumentEvents, free: FreeNames, tick_s: float) -> Mail | None:
    """Return what a document needs for what it sends; None where it sends nothing.

    Raises:
        FormatError: a <send> is outside the subset.
    """
    sends = [one for one in root.walk() if one.name == "send" and is_mail(one)]
    if not sends:
        return None
    cancelled = {one.get("sendid") for one in root.walk() if one.name == "cancel"}
    sorts: dict[tuple[str, str], str] = {}
    for element in sends:
        event, name = events.called[element.required("event")], element.get("id") or ""
        key = (event, name if name in cancelled else "")
        if key not in sorts:
            sorts[key] = free.take(f"{event}_sent", "sort")
    slots = min(len(sends) + 1, MOST_SLOTS)
    longest = max(ticks_of(element, tick_s) for element in sends)
    numbers = [(what, i) for what in ("sent", "due") for i in range(1, slots + 1)]
    names = {f"{what} {i}": free.take(f"{what}_{i}", "slot") for what, i in numbers}
    names |= {"nothing": free.take("nothing", "sent"), "lost": free.take("sent_lost", "event")}
    return Mail(sorts, slots, longest, tick_s, names)


def is_mail(element: Element) -> bool:
    """Return whether a <send> goes into the queue of events from outside, rather than the internal one.

    Raises:
        FormatError: it goes elsewhere.
    """
    target, kind = element.get("target") or "", element.get("type") or ""
    if kind not in PROCESSORS:
        what = f"<send> of type {kind!r} is outside the subset of SCXML"
        element.fail(what, hint="a chart sends to itself alone")
    if target not in ("", INTERNAL):
        hint = f"a chart sends to itself alone: leave 'target' out, or write {INTERNAL}"
        element.fail(f"<send> to {target!r} is outside the subset of SCXML", hint=hint)
    if target and element.get("delay"):
        element.fail("<send> into the internal queue has no delay", hint="leave 'target' out")
    return not target


def ticks_of(element: Element, tick_s: float) -> int:
    """Return the ticks that a <send> waits.

    Raises:
        FormatError: the delay is no time.
    """
    text = element.get("delay")
    if text is None or text.strip() == "0":
        return 0
    match = _DELAY.fullmatch(text.strip())
    seconds = float(match[1]) / (1000 if match[2] == "ms" else 1) if match else math.inf
    if seconds > LONGEST_S:
        element.fail(f"the delay {text[:40]!r} is no time", hint="write it like 2s or 500ms, a day at most")
    return math.ceil(seconds / tick_s - 1e-9)


def laid_out(root: Element) -> Element:
    """Return a document without attributes that compute.

    Raises:
        FormatError: one computes more than the value of a <data> that holds texts.
    """
    if not any(key in one.attributes for one in root.walk() for key in COMPUTED):
        return root
    data = data_in(root)
    sent = {one.get("id") for one in root.walk() if one.name == "send"}
    return _Layout(texts_of(root, settings_in(root, data), data), sent).within(root)


@dataclass(frozen=True)
class _Layout:
    """Lays out a document.

    Attributes:
        texts: what each <data> of texts may hold.
        sent: ids of what is sent.
    """

    texts: Mapping[str, list[str]]
    sent: Collection[str | None]

    def within(self, element: Element) -> Element:
        return replace(element, children=tuple(self.one(self.within(child)) for child in element.children))

    def one(self, element: Element) -> Element:
        key = next((key for key in COMPUTED if key in element.attributes), None)
        if key is None:
            return element
        name = element.attributes[key].strip()
        if name[:1] in ("'", '"') and name[-1:] == name[:1]:
            return self.one(_said(element, key, name[1:-1]))
        if name not in self.texts:
            hint = f"write {COMPUTED[key]!r}, or the name of a <data> that holds texts"
            element.fail(f"{key}={name!r} is outside the subset of SCXML", hint=hint)
        if len(self.texts[name]) > MAX_TEXTS:
            element.fail(f"{name} may hold {len(self.texts[name])} texts", hint=f"at most {MAX_TEXTS} here")
        return self.branches(element, key, name)

    def branches(self, element: Element, key: str, name: str) -> Element:
        inside: list[Element] = []
        for text in self.texts[name]:
            quote = '"' if "'" in text else "'"
            head = {"cond": f"{name} == {quote}{text}{quote}"}
            inside.append(Element("elseif", head, line=element.line, path=element.path))
            if key != "sendidexpr" or text in self.sent:  # to cancel what nobody sends does nothing
                inside.append(self.one(_said(element, key, text)))
        first, *others = inside
        return replace(first, name="if", children=tuple(others))


def _said(element: Element, key: str, text: str) -> Element:
    """Return an element that says what it would have computed."""
    attributes = {name: value for name, value in element.attributes.items() if name != key}
    return replace(element, attributes={**attributes, COMPUTED[key]: text})
