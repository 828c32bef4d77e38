"""Watches a running chart: the promises that are proved of it are asked after every tick as well."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from posewright.charts.expression import Binary, Expression, Name, Operator, Tree, rewritten
from posewright.charts.machine.interpreter import Interpreter
from posewright.charts.machine.lowering import Clock, lower
from posewright.charts.machine.machine import INSIDE, Machine, Snapshot, every_actions
from posewright.charts.model import DONE, Chart, Promise, PropertyKind, events_raised
from posewright.charts.types import BoolType, Value, accept


def text_of(promise: Promise) -> str:
    """Return a promise as a person would write it."""
    if promise.vow is PropertyKind.LEADS_TO:
        return f"{promise.when} leads to {promise.goal} within {promise.within_s:g} s"
    return f"{promise.vow.value} {promise.when}"


def how_broken(promise: Promise, ticks: int, state: str, waited: int = 0) -> str:
    """Return how a promise is broken after some ticks.

    Args:
        promise: that is broken.
        ticks: how many went by until it is; they are counted from 0 in the text, as in a run.
        state: the states active then.
        waited: ticks for which an answer has been owed, that of the question not counted.
    """
    last = ticks - 1
    after = f"after tick {last}, in {state}"
    if promise.vow is PropertyKind.LEADS_TO:
        since = f"at tick {last - waited}" if waited else "at that tick"
        why = f"`{promise.when}` held {since}, and `{promise.goal}` has not since"
        return f"`{text_of(promise)}` is broken {after}: {why}"
    holds = "holds" if promise.vow is PropertyKind.NEVER else "does not hold"
    return f"`{text_of(promise)}` is broken {after}: `{promise.when}` {holds}"


CAME = "came."
"""What precedes the name of an event that was raised in the tick."""


class TickConditions:
    """Conditions made ready to be asked after a tick.

    Attributes:
        conditions: over inputs, events that came from outside, registers, `in.S` and `came.E`.
    """

    def __init__(self, machine: Machine, conditions: Sequence[Expression]) -> None:
        self.machine = machine
        self.conditions = tuple(lowered(machine, one) for one in conditions)

    @cached_property
    def names(self) -> frozenset[str]:
        """All that the conditions read."""
        return frozenset[str]().union(*(one.names for one in self.conditions))

    @cached_property
    def inside(self) -> Mapping[str, int]:
        """The names `in.S` that are read, and the node of each."""
        return {
            name: self.machine.number_of[name[len(INSIDE) :]]
            for name in sorted(self.names)
            if name.startswith(INSIDE)
        }

    @cached_property
    def came(self) -> Mapping[str, str]:
        """The names `came.E` that are read, and the event of each."""
        return {name: name[len(CAME) :] for name in sorted(self.names) if name.startswith(CAME)}

    def standing(self, active: Collection[int], raised: Collection[str]) -> dict[str, bool]:
        """Return what these names are after a tick."""
        found = {name: number in active for name, number in self.inside.items()}
        return found | {name: event in raised for name, event in self.came.items()}


def lowered(machine: Machine, condition: Expression) -> Expression:
    """Return a condition that reads `in.S` for a state and `came.E` for an event that was raised inside."""
    chart = machine.chart
    raised = {*chart.local_events, *(DONE + name for name in chart.state_names)}
    raised.update(*map(events_raised, every_actions(machine)))

    def put_in(node: Tree) -> Tree | None:
        if not isinstance(node, Name) or node.name not in raised:
            return None
        came = Name(CAME + node.name, node.at, BoolType())
        return Binary(Operator.OR, node, came, node.at) if node.name in chart.events else came

    found = Clock(chart, "").lowered(condition)
    return found.with_tree(rewritten(found.tree, put_in))


@dataclass(frozen=True)
class Broken:
    """A promise that was broken in a run.

    Attributes:
        tick: counted from 1: the tick after which it is broken.
        message: in words.
    """

    promise: Promise
    tick: int
    message: str


class Monitor:
    """Asks the promises of a chart after every tick of one run.

    Args:
        chart: what runs.
        start: where the run starts; None for the very start.
    """

    def __init__(self, chart: Chart, start: Snapshot | None = None) -> None:
        self.chart = chart
        machine = start.machine if start is not None else lower(chart)
        self.asked = [
            TickConditions(machine, [one for one in (promise.when, promise.goal) if one is not None])
            for promise in chart.promises
        ]
        self.ages = [0] * len(self.asked)  # ticks for which an answer has been owed, that of the question too
        self.broken: set[int] = set()
        self.ticks = 0
        self.before = start

    def see(self, inputs: Mapping[str, object], state: Snapshot) -> tuple[Broken, ...]:
        """Return the promises that a tick broke; one that stays broken tick after tick is told once.

        Args:
            inputs: of the tick; events that are not there did not come.
            state: after it.

        Raises:
            ExpressionError: a promise divides by zero.
        """
        self.ticks += 1
        given = {name: accept(name, kind, inputs[name]) for name, kind in self.chart.inputs.items()}
        came = {name: bool(inputs.get(name, False)) for name in self.chart.events}
        env = {**given, **came, **state.registers}
        raised = self.raised(inputs, state)
        found = [self.ask(number, state, env, raised) for number in range(len(self.asked))]
        self.before = state
        return tuple(one for one in found if one is not None)

    def raised(self, inputs: Mapping[str, object], state: Snapshot) -> tuple[str, ...]:
        """Return the events raised in the tick, where a promise asks for one: the tick is taken once more."""
        if not any(asked.came for asked in self.asked):
            return ()
        interpreter = Interpreter(self.chart, state.machine)
        return interpreter.outcome(self.before or interpreter.initial(), inputs).raised

    def ask(
        self, number: int, state: Snapshot, env: dict[str, Value], raised: Collection[str]
    ) -> Broken | None:
        """Return how a promise is broken, if it was not before."""
        promise, asked, age = self.chart.promises[number], self.asked[number], self.ages[number]
        standing = {**env, **asked.standing(state.numbers, raised)}
        when, *goals = [bool(one.evaluate(standing)) for one in asked.conditions]
        if promise.vow is PropertyKind.LEADS_TO:
            age = 0 if goals[0] else age + (age > 0 or when)
            broken = age > self.chart.ticks_within(promise.within_s)
        else:
            broken = when is (promise.vow is PropertyKind.NEVER)
        self.ages[number] = age
        if not broken:
            self.broken.discard(number)
            return None
        if number in self.broken:
            return None
        self.broken.add(number)
        return Broken(promise, self.ticks, how_broken(promise, self.ticks, state.state, max(age - 1, 0)))
