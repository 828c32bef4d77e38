"""Events that a document sends to itself, at once or after a while: kept in locals, let out by a region.

SCXML has a second queue for them. Here they wait in a few slots, the one that is due first in the first
slot, and a region of its own raises one of them as each tick begins. What waits is data like any other, so
the checks see it: the promise `no_sent_event_is_lost` says that the slots suffice.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from posewright.charts.action import Action, Actions, Assign, Branch, Raise
from posewright.charts.datatypes import BoolType, EnumType, IntType, Type
from posewright.charts.expression import Expression, Scope
from posewright.charts.promise import Promise, Vow
from posewright.charts.scxml.data import required
from posewright.charts.scxml.events import Events
from posewright.charts.scxml.markup import Element
from posewright.charts.scxml.names import Names
from posewright.charts.state import State
from posewright.charts.transition import Transition, to

MOST_SLOTS = 8
PROCESSORS = ("", "scxml", "http://www.w3.org/TR/scxml/#SCXMLEventProcessor")
INTERNAL = "#_internal"
LONGEST_S = 86_400.0

_DELAY = re.compile(r"(\d{1,9}\.?\d{0,9}|\.\d{1,9})(ms|s)")

Read = Callable[[str, Type | None], Expression]
"""From the text of an expression, and the type that is wanted, to the expression."""


@dataclass(frozen=True)
class Mail:
    """What waits to be dealt with in later ticks.

    Attributes:
        sorts: every sort of thing that waits: the event and the id it can be cancelled by, and its name.
        slots: how many may wait at once.
        longest: ticks of the longest delay; 0 where there is none.
        ticks: from a time [s] to ticks.
        tick_s: the sample period [s].
        names: what `sent`, `due`, `nothing` and `sent_lost` are called in this chart.
    """

    sorts: Mapping[tuple[str, str], str]
    slots: int
    longest: int
    tick_s: float
    names: Mapping[str, str]

    @property
    def variables(self) -> dict[str, Type]:
        """The locals that it takes."""
        sent = EnumType((self.names["nothing"], *self.sorts.values()))
        due = IntType(0, self.longest)
        numbers = range(1, self.slots + 1)
        kinds: dict[str, Type] = {self.sent(i): sent for i in numbers}
        if self.longest:
            kinds |= {self.due(i): due for i in numbers}
        return {**kinds, self.names["lost"]: BoolType()}

    def sent(self, slot: int) -> str:
        """Return the name of what says what is in a slot."""
        return self.names[f"sent {slot}"]

    def due(self, slot: int) -> str:
        """Return the name of what says in how many ticks a slot is due."""
        return self.names[f"due {slot}"]

    def send(self, element: Element, event: str, read: Read) -> Actions:
        """Return what puts an event into its slot: behind all that is due no later."""
        sort = self.sorts.get((event, element.get("id") or "")) or self.sorts[event, ""]
        wait = ticks_of(element, self.tick_s)
        values = {}
        for i in range(1, self.slots + 1):
            values[self.sent(i)] = self.put(i, wait, sort, self.sent)
            if self.longest:
                values[self.due(i)] = self.put(i, wait, str(wait), self.due)
        fits = read(f"{self.sent(self.slots)} == {self.names['nothing']}", BoolType())
        lost = self.assign({self.names["lost"]: "true"}, read)
        return (Branch(fits, (self.assign(values, read),), (lost,), element.line),)

    def put(self, slot: int, wait: int, new: str, name: Callable[[int], str]) -> str:
        """Return what a slot holds once `new` is put among the others."""
        otherwise = new if slot == 1 else f"({new} if {self.earlier(slot - 1, wait)} else {name(slot - 1)})"
        return f"{name(slot)} if {self.earlier(slot, wait)} else {otherwise}"

    def earlier(self, slot: int, wait: int) -> str:
        """Return the condition that a slot holds what goes before something that waits so long."""
        full = f"{self.sent(slot)} != {self.names['nothing']}"
        return f"{full} and {self.due(slot)} <= {wait}" if self.longest else full

    def cancel(self, element: Element, read: Read) -> Actions:
        """Return what takes out all that was sent with an id."""
        name = required(element, "sendid")
        sorts = [sort for (_, known), sort in self.sorts.items() if known == name]
        if not sorts:
            element.fail(f"nothing is sent with the id {name!r}", hint="give a <send> this id")
        return (self.take_out(sorts, read),) * self.slots

    def take_out(self, sorts: Iterable[str], read: Read) -> Action:
        """Return what takes the first of these sorts out, and moves up what is behind it."""
        values = {}
        for i in range(1, self.slots + 1):
            gone = " or ".join(f"{self.sent(j)} == {sort}" for j in range(1, i + 1) for sort in sorts)
            for name, none in self.kept:
                values[name(i)] = f"{self.behind(i, name, none)} if {gone} else {name(i)}"
        return self.assign(values, read)

    @property
    def kept(self) -> list[tuple[Callable[[int], str], str]]:
        """What is kept of each slot, and what it is where there is nothing."""
        return [(self.sent, self.names["nothing"]), *([(self.due, "0")] if self.longest else [])]

    def behind(self, slot: int, name: Callable[[int], str], none: str) -> str:
        return name(slot + 1) if slot < self.slots else none

    def assign(self, values: Mapping[str, str], read: Read) -> Assign:
        kinds = self.variables
        return Assign({name: read(text, kinds[name]) for name, text in values.items()})

    def region(self, name: str, inside: str, read: Read) -> State:
        """Return the region that lets out, as each tick begins, the first thing that is due."""
        full = f"{self.sent(1)} != {self.names['nothing']}"
        due = f"{full} and {self.due(1)} <= 1" if self.longest else full
        out = Transition(
            read(due, BoolType()), (*self.raised(read), self.moved_up(read)), to(inside), after_s=self.tick_s
        )
        ways = [out]
        if self.longest:
            later = (self.later(read),)
            ways.append(Transition(read(full, BoolType()), later, to(inside), after_s=self.tick_s))
        return State(name, states=(State(inside, tuple(ways)),), initial=to(inside))

    def raised(self, read: Read) -> Actions:
        """Return what raises the event of the first slot."""
        actions: Actions = ()
        for (event, _), sort in reversed([*self.sorts.items()]):
            when = read(f"{self.sent(1)} == {sort}", BoolType())
            actions = (Branch(when, (Raise(event),), actions),)
        return actions

    def moved_up(self, read: Read) -> Assign:
        numbers = range(1, self.slots + 1)
        values = {self.sent(i): self.behind(i, self.sent, self.names["nothing"]) for i in numbers}
        if self.longest:
            values |= {self.due(i): f"max({self.behind(i, self.due, '0')} - 1, 0)" for i in numbers}
        return self.assign(values, read)

    def later(self, read: Read) -> Assign:
        """Return what counts down a tick."""
        values = {self.due(i): f"max({self.due(i)} - 1, 0)" for i in range(1, self.slots + 1)}
        return self.assign(values, read)

    def promise(self, read: Read) -> Promise:
        """Return the promise that there are slots enough."""
        return Promise("no_sent_event_is_lost", Vow.NEVER, read(self.names["lost"], BoolType()))


def mail_of(root: Element, events: Events, names: Names, tick_s: float) -> Mail | None:
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
        event, name = events.called[required(element, "event")], element.get("id") or ""
        key = (event, name if name in cancelled else "")
        if key not in sorts:
            sorts[key] = names.take(f"{event}_sent", "sort")
    slots = min(len(sends) + 1, MOST_SLOTS)
    longest = max(ticks_of(element, tick_s) for element in sends)
    return Mail(sorts, slots, longest, tick_s, _names_in(names, slots))


def _names_in(names: Names, slots: int) -> dict[str, str]:
    """Return what the locals of a mail are called."""
    of_slots = {
        f"{what} {i}": names.take(f"{what}_{i}", "slot")
        for what in ("sent", "due")
        for i in range(1, slots + 1)
    }
    return {**of_slots, "nothing": names.take("nothing", "sent"), "lost": names.take("sent_lost", "event")}


def is_mail(element: Element) -> bool:
    """Return whether a <send> goes into the queue of events from outside, rather than the internal one.

    Raises:
        FormatError: it goes elsewhere.
    """
    target, kind = element.get("target") or "", element.get("type") or ""
    if kind not in PROCESSORS:
        element.fail(
            f"<send> of type {kind!r} is outside the subset of SCXML", hint="a chart sends to itself alone"
        )
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


def scope_with(scope: Scope, mail: Mail) -> Scope:
    """Return a scope that knows the locals of a mail as well."""
    kinds = mail.variables
    sent = kinds[mail.sent(1)]
    values = {value: sent for value in sent.values} if isinstance(sent, EnumType) else {}
    return Scope(
        {**scope.variables, **kinds},
        scope.constants,
        {**scope.values, **values},
        scope.units,
        scope.functions,
        scope.states,
    )
