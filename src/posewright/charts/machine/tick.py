"""One tick of a machine: the only place that says what a chart does; in words: docs/chart-semantics.md.

The selection of transitions, and the order in which states are left and entered, are those of the W3C's
SCXML (Appendix D); ticks, sampled inputs and `during` are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from posewright.charts.expression import Expression
from posewright.charts.machine.machine import MAX_MICROSTEPS, Machine, Snapshot
from posewright.charts.machine.microsteps import Microstep
from posewright.charts.machine.node import CompoundTransition, StateNode
from posewright.charts.model import Actions, Assign, Branch, Raise
from posewright.charts.types import Value
from posewright.errors import InputError

Env = dict[str, Any]
Compute = Callable[[Expression, Env], Any]


def plain(expression: Expression, env: Env) -> Any:
    """Compute an expression from an environment in which every name has its value."""
    return expression.evaluate(env)


class TickExecution:
    """One tick, while it goes on.

    Whoever looks closer hands in a `compute` of its own: the coverage notes what every guard was, the
    exploration follows both answers.

    Attributes:
        taken: ways that were taken, in order.
        raised: events that were raised inside, in order.
    """

    stayed: frozenset[int] = frozenset()
    microsteps = 0

    def __init__(self, machine: Machine, state: Snapshot, compute: Compute = plain) -> None:
        self.machine = machine
        self.moves = machine.moves
        self.before = state
        self.compute = compute
        self.configuration = state.configuration
        self.history = state.history
        self.env: Env = dict(zip(machine.registers, state.values))  # noqa: B905 -- strict takes as long as all the rest
        self.queue: list[str] = []
        self.taken: list[CompoundTransition] = []
        self.raised: list[str] = []

    def run(self, inputs: Mapping[str, Value], events: Iterable[str] = ()) -> Snapshot:
        """Take the tick and return where the chart stands after it.

        Args:
            inputs: the value of every input, within its range.
            events: those that came from outside, in the order in which the chart declares them.

        Raises:
            InputError: the tick does not end: the transitions go round in a circle.
            ExpressionError: a guard or an action divides by zero.
        """
        machine = self.machine
        if inputs:
            self.env.update(inputs)
        if not self.before.started:
            self.env.update(dict.fromkeys(machine.asked_inside, False))
            self.enter(self.moves.first())
        elif machine.asked_inside or machine.counting:
            self.begin()
        if machine.lasting:
            self.stayed = machine.lasting & self.moves.active(self.configuration)
        completes = machine.completes
        if not completes and (None in machine.ways_asked or self.compute is not plain):  # who looks sees it
            self.microstep(None)
        if completes or self.queue:
            self.settle_raised()
        for event in events:
            self.microstep(event)
            if completes or self.queue:
                self.settle_raised()
        if self.stayed:
            self.during()
        if not self.taken and machine.rests and self.before.started:
            return self.before  # nothing has been set, and no time is counted
        return Snapshot(machine, True, self.configuration, machine.values_in(self.env), self.history)

    # What a tick is made of

    def begin(self) -> None:
        """Let expressions know what is active, and time pass for the states that are."""
        self.see_who_is_active()
        env, active = self.env, self.moves.active(self.configuration)
        for node in self.machine.counting:
            for counter in node.counters if node.index in active else ():
                counted = env[counter.name]
                if counter.condition is not None and not self.compute(counter.condition, env):
                    env[counter.name] = 0
                elif counted < counter.limit:
                    env[counter.name] = counted + 1
                elif counter.again:
                    env[counter.name] = 1

    def settle_raised(self) -> None:
        """Deal with the events in the queue; of a chart that runs to completion, until nothing moves."""
        completes = self.machine.completes
        while completes or self.queue:
            if completes and self.microstep(None):
                continue
            if not self.queue:
                return
            self.microstep(self.queue.pop(0))

    def during(self) -> None:
        """Act in the states that were active all the tick."""
        for number in sorted(self.stayed):
            self.act(self.machine.nodes[number].during)
        if self.queue:
            self.settle_raised()

    # A microstep

    def microstep(self, event: str | None) -> bool:
        """Take the transitions that an event, or the tick itself, enables; return whether there were any."""
        chosen = self.choose(event)
        if not chosen:
            return False
        self.microsteps += 1
        if self.microsteps > MAX_MICROSTEPS:
            self.refuse_circle()
        move = self.moves.of(self.configuration, self.history, tuple(chosen))
        if move.acts or self.stayed:
            for node in move.leaving:
                self.leave(node)
        for way in move.ways:
            self.taken.append(way)
            if way.do:
                self.act(way.do)
        if move.leaving:
            self.enter(move)
        return True

    def choose(self, event: str | None) -> list[CompoundTransition]:
        """Return, for every innermost state, the first way that may be taken, its own before outer ones."""
        chosen: list[CompoundTransition] = []
        asked = self.machine.ways_asked.get(event)
        if asked is None:
            return chosen
        for leaf in self.configuration:
            for way in asked.get(leaf, ()):
                if self.holds(way):
                    if not chosen or way not in chosen:
                        chosen.append(way)
                    break
        return chosen

    def holds(self, way: CompoundTransition) -> bool:
        """Return whether the way may be taken."""
        env = self.env
        if way.wait and env[way.since] < way.wait:
            return False
        compute = self.compute
        if compute is plain:
            for test in way.tests:  # noqa: SIM110 -- asked a dozen times a tick: a generator costs more than a guard
                if not test(env):
                    return False
            return True
        return all(compute(guard, env) for guard in way.guards)

    def leave(self, node: StateNode) -> None:
        """Leave a state."""
        self.act(node.exit)
        if node.index in self.stayed:
            self.stayed -= {node.index}
        for counter in node.counters:
            self.env[counter.name] = 0

    def enter(self, move: Microstep) -> None:
        """Enter the states of a move."""
        if move.acts:
            for node, done in move.entering:
                self.act(node.entry)
                for event in done:
                    self.put(event)
        self.configuration, self.history = move.configuration, move.history
        if self.machine.asked_inside:
            self.see_who_is_active()

    def see_who_is_active(self) -> None:
        """Let expressions know what is active."""
        active = self.moves.active(self.configuration)
        for name, number in self.machine.asked_inside.items():
            self.env[name] = number in active

    # Actions

    def act(self, actions: Actions) -> None:
        """Do actions, one after the other."""
        for action in actions:
            if isinstance(action, Assign):
                self.set(action)
            elif isinstance(action, Raise):
                self.put(action.event)
            elif isinstance(action, Branch):
                self.act(action.then if self.compute(action.when, self.env) else action.otherwise)

    def set(self, action: Assign) -> None:
        """Set variables, all at once."""
        env, compute, types = self.env, self.compute, self.machine.chart.variables
        env.update([(name, types[name].fit(compute(one, env))) for name, one in action.values.items()])

    def put(self, event: str) -> None:
        """Put an event into the queue, if anything listens to it."""
        self.raised.append(event)
        if event in self.machine.heard:
            self.queue.append(event)
            if len(self.queue) > MAX_MICROSTEPS:
                self.refuse_circle()

    def refuse_circle(self) -> None:
        """Give up on a tick that does not end."""
        states = dict.fromkeys(self.machine.nodes[way.source].name for way in self.taken[-50:])
        raise InputError(
            f"a tick of {self.machine.chart.name} does not end: it goes round in {', '.join(states)}",
            hint="let a transition of the circle wait for an event or for time",
        )
