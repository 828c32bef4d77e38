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
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from posewright.charts.formats.document_fields import MAX_TIME_S
from posewright.charts.formats.scxml.datamodel import data_in, settings_in, texts_of
from posewright.charts.formats.scxml.names import DocumentEvents, FreeNames
from posewright.documents import PlainData
from posewright.documents.markup import Element

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
        sent: locals that say what is in each slot.
        due: those that say in how many ticks it is due; none where all is due at once.
        longest: ticks of the longest delay.
        tick_s: the sample period [s].
        nothing: what is in an empty slot.
        lost: the local that says that there was no slot left.
    """

    sorts: Mapping[tuple[str, str], str]
    sent: tuple[str, ...]
    due: tuple[str, ...]
    longest: int
    tick_s: float
    nothing: str
    lost: str

    @property
    def locals(self) -> dict[str, PlainData]:
        """The locals that it takes, with their types."""
        sent = {name: {"enum": [self.nothing, *self.sorts.values()]} for name in self.sent}
        return {**sent, **{name: {"int": [0, self.longest]} for name in self.due}, self.lost: "bool"}

    @property
    def empty(self) -> dict[str, PlainData]:
        """What the locals hold while nothing waits."""
        return {**dict.fromkeys(self.sent, self.nothing), **dict.fromkeys(self.due, 0), self.lost: 0}

    def send(self, event: str, name: str, wait: int) -> dict[str, PlainData]:
        """Return what puts an event into its slot, behind all that is due no later.

        Args:
            event: as the chart calls it.
            name: the id it is sent with, none without one.
            wait: ticks until it is due.
        """
        sort = self.sorts.get((event, name)) or self.sorts[event, ""]
        values = {}
        for i in range(len(self.sent)):
            values[self.sent[i]] = self._put(i, wait, sort, self.sent)
            if self.due:
                values[self.due[i]] = self._put(i, wait, str(wait), self.due)
        return {"if": f"{self.sent[-1]} == {self.nothing}", "do": values, "else": {self.lost: "true"}}

    def _put(self, i: int, wait: int, new: str, slots: tuple[str, ...]) -> str:
        otherwise = f"({new} if {self._earlier(i - 1, wait)} else {slots[i - 1]})" if i else new
        return f"{slots[i]} if {self._earlier(i, wait)} else {otherwise}"

    def _earlier(self, i: int, wait: int) -> str:
        """Return the condition that a slot holds what goes before something that waits so long."""
        full = f"{self.sent[i]} != {self.nothing}"
        return f"{full} and {self.due[i]} <= {wait}" if self.due else full

    def cancel(self, name: str) -> list[dict[str, PlainData]]:
        """Return what takes out all that was sent with an id; nothing where nothing is sent with it."""
        sorts = [sort for (_, known), sort in self.sorts.items() if known == name]
        values: dict[str, PlainData] = {}
        asked: list[str] = []
        for i, (sent, behind) in enumerate(self._moved_up(self.sent, self.nothing)):
            asked += [f"{sent} == {sort}" for sort in sorts]
            gone = " or ".join(asked)
            values[sent] = f"{behind} if {gone} else {sent}"
            if self.due:
                due, later = self._moved_up(self.due, "0")[i]
                values[due] = f"{later} if {gone} else {due}"
        return [values] * len(self.sent) if sorts else []  # each time the first of them goes

    @staticmethod
    def _moved_up(slots: tuple[str, ...], empty: str) -> list[tuple[str, str]]:
        return list(zip(slots, [*slots[1:], empty], strict=True)) if slots else []

    def region(self, inside: str) -> dict[str, PlainData]:
        """Return the region that lets out, as each tick begins, the first thing that is due."""
        later = {due: f"max({due} - 1, 0)" for due in self.due}
        moved_up = dict(self._moved_up(self.sent, self.nothing))
        moved_up |= {due: f"max({behind} - 1, 0)" for due, behind in self._moved_up(self.due, "0")}
        raised: PlainData = []
        for (event, _), sort in reversed([*self.sorts.items()]):
            raised = {"if": f"{self.sent[0]} == {sort}", "do": {"raise": event}, "else": raised}
        ways: list[tuple[str, list[PlainData]]] = [(self._earlier(0, 1), [raised, moved_up])]
        if self.due:
            ways.append((f"{self.sent[0]} != {self.nothing}", [later]))
        transitions: list[PlainData] = [
            {"when": when, "after_s": self.tick_s, "do": do, "go": inside} for when, do in ways
        ]
        return {"initial": inside, "states": {inside: {"transitions": transitions}}}

    @property
    def promise(self) -> dict[str, str]:
        """The promise that there are slots enough."""
        return {"name": "no_sent_event_is_lost", "never": self.lost}


def mail_of(root: Element, events: DocumentEvents, free: FreeNames, tick_s: float) -> Mail | None:
    """Return what a document needs for what it sends; None where it sends nothing."""
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
    numbers = range(1, min(len(sends) + 1, MOST_SLOTS) + 1)
    longest = max(ticks_of(element, tick_s) for element in sends)
    sent, due = (tuple(free.take(f"{what}_{i}", "slot") for i in numbers) for what in ("sent", "due"))
    nothing, lost = free.take("nothing", "sent"), free.take("sent_lost", "event")
    return Mail(sorts, sent, due if longest else (), longest, tick_s, nothing, lost)


def is_mail(element: Element) -> bool:
    """Return whether a <send> goes into the queue of events from outside, rather than the internal one."""
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
    """Return the ticks that a <send> waits."""
    text = element.get("delay")
    if text is None or text.strip() == "0":
        return 0
    match = _DELAY.fullmatch(text.strip())
    seconds = float(match[1]) / (1000 if match[2] == "ms" else 1) if match else math.inf
    if seconds > MAX_TIME_S:
        element.fail(f"the delay {text[:40]!r} is no time", hint="write it like 2s or 500ms, a day at most")
    return math.ceil(seconds / tick_s - 1e-9)


def laid_out(root: Element) -> Element:
    """Return a document without attributes that compute."""
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
    attributes = {name: value for name, value in element.attributes.items() if name != key}
    return replace(element, attributes={**attributes, COMPUTED[key]: text})
