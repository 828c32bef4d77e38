"""Events that a document sends to itself, at once or after a while: kept in locals, let out by a region.

SCXML has a second queue for them. Here they wait in a few slots, the one that is due first in the first
slot, and a region of its own raises one of them as each tick begins. What waits is data like any other, so
the checks see it: the promise `no_sent_event_is_lost` says that the slots suffice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from posewright.charts.expression import Expression, Scope
from posewright.charts.model import (
    Action,
    Actions,
    Assign,
    Branch,
    Promise,
    PropertyKind,
    Raise,
    State,
    Transition,
    to,
)
from posewright.charts.types import BoolType, EnumType, IntType, Type, Value

Read = Callable[[str, Type | None], Expression]
"""From the text of an expression, and the type that is wanted, to the expression."""


@dataclass(frozen=True)
class Mail:
    """What waits to be dealt with in later ticks.

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
    def variables(self) -> dict[str, Type]:
        """The locals that it takes."""
        sent = EnumType((self.names["nothing"], *self.sorts.values()))
        due = IntType(0, self.longest)
        numbers = range(1, self.slots + 1)
        kinds: dict[str, Type] = {self.sent(i): sent for i in numbers}
        if self.longest:
            kinds |= {self.due(i): due for i in numbers}
        return {**kinds, self.names["lost"]: BoolType()}

    @property
    def empty(self) -> dict[str, Value]:
        """What the locals hold while nothing waits."""
        return {name: kind.zero for name, kind in self.variables.items()}

    def sent(self, slot: int) -> str:
        """Return the name of what says what is in a slot."""
        return self.names[f"sent {slot}"]

    def due(self, slot: int) -> str:
        """Return the name of what says in how many ticks a slot is due."""
        return self.names[f"due {slot}"]

    def send(self, event: str, name: str, wait: int, read: Read) -> Actions:
        """Return what puts an event into its slot, behind all that is due no later.

        Args:
            event: as the chart calls it.
            name: the id it is sent with, none without one.
            wait: ticks until it is due.
            read: reads expressions.
        """
        sort = self.sorts.get((event, name)) or self.sorts[event, ""]
        values = {}
        for i in range(1, self.slots + 1):
            values[self.sent(i)] = self.put(i, wait, sort, self.sent)
            if self.longest:
                values[self.due(i)] = self.put(i, wait, str(wait), self.due)
        fits = read(f"{self.sent(self.slots)} == {self.names['nothing']}", BoolType())
        lost = self._assign({self.names["lost"]: "true"}, read)
        return (Branch(fits, (self._assign(values, read),), (lost,)),)

    def put(self, slot: int, wait: int, new: str, name: Callable[[int], str]) -> str:
        """Return what a slot holds once `new` is put among the others."""
        otherwise = new if slot == 1 else f"({new} if {self.earlier(slot - 1, wait)} else {name(slot - 1)})"
        return f"{name(slot)} if {self.earlier(slot, wait)} else {otherwise}"

    def earlier(self, slot: int, wait: int) -> str:
        """Return the condition that a slot holds what goes before something that waits so long."""
        full = f"{self.sent(slot)} != {self.names['nothing']}"
        return f"{full} and {self.due(slot)} <= {wait}" if self.longest else full

    def cancel(self, name: str, read: Read) -> Actions:
        """Return what takes out all that was sent with an id; nothing where nothing is sent with it."""
        sorts = [sort for (_, known), sort in self.sorts.items() if known == name]
        if not sorts:
            return ()
        return (self.take_out(sorts, read),) * self.slots

    def take_out(self, sorts: Iterable[str], read: Read) -> Action:
        """Return what takes the first of these sorts out, and moves up what is behind it."""
        values = {}
        for i in range(1, self.slots + 1):
            gone = " or ".join(f"{self.sent(j)} == {sort}" for j in range(1, i + 1) for sort in sorts)
            for name, none in self.kept:
                values[name(i)] = f"{self._behind(i, name, none)} if {gone} else {name(i)}"
        return self._assign(values, read)

    @property
    def kept(self) -> list[tuple[Callable[[int], str], str]]:
        """What is kept of each slot, and what it is where there is nothing."""
        return [(self.sent, self.names["nothing"]), *([(self.due, "0")] if self.longest else [])]

    def _behind(self, slot: int, name: Callable[[int], str], none: str) -> str:
        return name(slot + 1) if slot < self.slots else none

    def _assign(self, values: Mapping[str, str], read: Read) -> Assign:
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
        """Return what takes out the first slot and counts down a tick."""
        numbers = range(1, self.slots + 1)
        values = {self.sent(i): self._behind(i, self.sent, self.names["nothing"]) for i in numbers}
        if self.longest:
            values |= {self.due(i): f"max({self._behind(i, self.due, '0')} - 1, 0)" for i in numbers}
        return self._assign(values, read)

    def later(self, read: Read) -> Assign:
        """Return what counts down a tick."""
        values = {self.due(i): f"max({self.due(i)} - 1, 0)" for i in range(1, self.slots + 1)}
        return self._assign(values, read)

    def promise(self, read: Read) -> Promise:
        """Return the promise that there are slots enough."""
        return Promise("no_sent_event_is_lost", PropertyKind.NEVER, read(self.names["lost"], BoolType()))


def scope_with(scope: Scope, mail: Mail) -> Scope:
    """Return a scope that knows the locals of a mail as well."""
    kinds = mail.variables
    sent = kinds[mail.sent(1)]
    values = dict.fromkeys(sent.values, sent) if isinstance(sent, EnumType) else {}
    return replace(scope, variables={**scope.variables, **kinds}, values={**scope.values, **values})
