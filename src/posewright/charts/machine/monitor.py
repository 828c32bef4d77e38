"""The monitor of a running chart, which evaluates the chart's promises after every tick."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from posewright.charts.expression import Binary, Expression, Name, Operator, Tree, rewrite
from posewright.charts.machine.interpreter import Interpreter
from posewright.charts.machine.lowering import StateLowering, lower
from posewright.charts.machine.machine import IN_STATE_PREFIX, Machine, Snapshot, all_actions
from posewright.charts.model import DONE_PREFIX, Chart, Promise, PromiseKind, events_raised
from posewright.charts.types import BoolType, Value, convert_value


def format_promise(promise: Promise) -> str:
    """Return the text of a promise, such as `near leads to stopped within 2 s`."""
    if promise.kind is PromiseKind.LEADS_TO:
        return f"{promise.when} leads to {promise.goal} within {promise.within_s:g} s"
    return f"{promise.kind.value} {promise.when}"


def format_broken_promise(promise: Promise, ticks: int, state: str, waited_ticks: int = 0) -> str:
    """Return the message that says when and why a promise is broken.

    Args:
        promise: the broken promise.
        ticks: number of ticks up to and including the one that broke it; the text counts from 0.
        state: the active states after that tick.
        waited_ticks: ticks since the condition of a `leads to` was true.
    """
    last_tick = ticks - 1
    intro = f"`{format_promise(promise)}` is broken after tick {last_tick}, in {state}"
    if promise.kind is PromiseKind.LEADS_TO:
        since = f"at tick {last_tick - waited_ticks}" if waited_ticks else "at that tick"
        return f"{intro}: `{promise.when}` was true {since}, and `{promise.goal}` has not been true since"
    verdict = "is true" if promise.kind is PromiseKind.NEVER else "is false"
    return f"{intro}: `{promise.when}` {verdict}"


RAISED_PREFIX = "came."
"""Prefix of the name `came.E`, which is true if the event E was raised in the tick."""


class TickConditions:
    """Conditions that are evaluated after a tick.

    Attributes:
        machine: the machine whose ticks they are about.
        lowered_conditions: over inputs, events from outside, registers, `in.S` and `came.E`.
    """

    def __init__(self, machine: Machine, conditions: Sequence[Expression]) -> None:
        self.machine = machine
        self.lowered_conditions = tuple(lower_condition(machine, condition) for condition in conditions)

    @cached_property
    def names(self) -> frozenset[str]:
        """All names that the conditions read."""
        return frozenset[str]().union(*(condition.names for condition in self.lowered_conditions))

    @cached_property
    def nodes_tested_by_in(self) -> Mapping[str, int]:
        """The number of each state S whose name `in.S` is read, by that name `in.S`."""
        return {
            name: self.machine.node_index_by_name[name.removeprefix(IN_STATE_PREFIX)]
            for name in sorted(self.names)
            if name.startswith(IN_STATE_PREFIX)
        }

    @cached_property
    def raised_names(self) -> Mapping[str, str]:
        """Each event E whose name `came.E` is read, by that name `came.E`."""
        return {
            name: name.removeprefix(RAISED_PREFIX)
            for name in sorted(self.names)
            if name.startswith(RAISED_PREFIX)
        }

    def evaluate_names(self, active: Collection[int], raised: Collection[str]) -> dict[str, bool]:
        """Return the values of the names `in.S` and `came.E` after a tick.

        `in.S` is true if the state S is active, `came.E` if the event E was raised.

        Args:
            active: numbers of the active nodes.
            raised: events that were raised in the tick.
        """
        in_values = {name: node_index in active for name, node_index in self.nodes_tested_by_in.items()}
        came_values = {name: event in raised for name, event in self.raised_names.items()}
        return in_values | came_values


def lower_condition(machine: Machine, condition: Expression) -> Expression:
    """Return a condition that reads `in.S` for a state test and `came.E` for an event that a chart raises.

    An event that may also come from outside is true if it came, or was raised inside.
    """
    chart = machine.chart
    raisable_events = {*chart.local_events, *(DONE_PREFIX + name for name in chart.state_names)}
    raisable_events.update(*map(events_raised, all_actions(machine)))

    def replace_event(tree: Tree) -> Tree | None:
        """Return the replacement of the name of an event that may be raised; None for other trees."""
        if not isinstance(tree, Name) or tree.name not in raisable_events:
            return None
        was_raised = Name(RAISED_PREFIX + tree.name, tree.offset, BoolType())
        may_come_from_outside = tree.name in chart.events
        return Binary(Operator.OR, tree, was_raised, tree.offset) if may_come_from_outside else was_raised

    lowered = StateLowering(chart, state="").lower_expression(condition)
    return lowered.with_tree(rewrite(lowered.tree, replace_event))


@dataclass(frozen=True)
class BrokenPromise:
    """A promise that was broken in a run.

    Attributes:
        tick: the tick after which it is broken, counted from 1.
        message: when and why, as text.
    """

    promise: Promise
    tick: int
    message: str


class Monitor:
    """Evaluates the promises of a chart after every tick of one run.

    Args:
        chart: the chart that runs.
        start: the snapshot before the first tick; None for the initial one.

    Attributes:
        tick_conditions: for each promise, its condition and, for `leads to`, its goal.
        ticks_due: for each promise of the kind `leads to`, the ticks for which its goal has been due, the
            tick of the condition included.
        broken_indices: indices of the promises that are broken at present.
        n_ticks: number of ticks so far.
        previous_snapshot: the snapshot after the last tick; None for the initial one.
    """

    def __init__(self, chart: Chart, start: Snapshot | None = None) -> None:
        """Prepare the conditions of every promise, before the first tick."""
        self.chart = chart
        machine = start.machine if start is not None else lower(chart)
        self.tick_conditions = [
            TickConditions(machine, [promise.when] if promise.goal is None else [promise.when, promise.goal])
            for promise in chart.promises
        ]
        self.ticks_due = [0] * len(self.tick_conditions)
        self.broken_indices: set[int] = set()
        self.n_ticks = 0
        self.previous_snapshot = start

    def check_tick(self, inputs: Mapping[str, object], state: Snapshot) -> tuple[BrokenPromise, ...]:
        """Return the promises that a tick broke, without those that were broken before it.

        Args:
            inputs: the inputs of the tick; events that are left out did not occur.
            state: the snapshot after the tick.

        Raises:
            ExpressionError: a promise divides by zero.
        """
        self.n_ticks += 1
        values = {
            name: convert_value(name, value_type, inputs[name])
            for name, value_type in self.chart.inputs.items()
        }
        events = {name: bool(inputs.get(name, False)) for name in self.chart.events}
        env = {**values, **events, **state.registers}
        raised = self._find_raised_events(inputs, state)
        broken_promises = []
        for index in range(len(self.tick_conditions)):
            broken_promise = self._check_promise(index, state, env, raised)
            if broken_promise is not None:
                broken_promises.append(broken_promise)
        self.previous_snapshot = state
        return tuple(broken_promises)

    def _find_raised_events(self, inputs: Mapping[str, object], state: Snapshot) -> tuple[str, ...]:
        """Return the events that the chart raised in the tick, by running it again if a promise reads one."""
        if not any(conditions.raised_names for conditions in self.tick_conditions):
            return ()
        interpreter = Interpreter(self.chart, state.machine)
        return interpreter.outcome(self.previous_snapshot or interpreter.initial(), inputs).raised

    def _check_promise(
        self, index: int, state: Snapshot, env: dict[str, Value], raised: Collection[str]
    ) -> BrokenPromise | None:
        """Return the promise if the tick broke it and it was not broken after the tick before.

        `never x` is broken by a tick after which x is true, `always x` by one after which it is false, and
        `x leads to y within t` if y has not become true in that time since x was. It updates `ticks_due` and
        `broken_indices`.

        Args:
            index: index of the promise.
            state: the snapshot after the tick.
            env: the values of inputs, events and registers.
            raised: events that the chart raised in the tick.
        """
        promise = self.chart.promises[index]
        tick_conditions = self.tick_conditions[index]
        ticks_due = self.ticks_due[index]
        complete_env = {**env, **tick_conditions.evaluate_names(state.active_nodes, raised)}
        condition_holds, *goal_values = [
            bool(condition.evaluate(complete_env)) for condition in tick_conditions.lowered_conditions
        ]
        if promise.kind is PromiseKind.LEADS_TO:
            (goal_holds,) = goal_values
            is_due = ticks_due > 0 or condition_holds
            if goal_holds:
                ticks_due = 0
            elif is_due:
                ticks_due += 1
            is_broken = ticks_due > self.chart.ticks_within(promise.within_s)
        else:
            is_broken = condition_holds is (promise.kind is PromiseKind.NEVER)
        self.ticks_due[index] = ticks_due
        was_broken = index in self.broken_indices
        if not is_broken:
            self.broken_indices.discard(index)
            return None
        if was_broken:
            return None
        self.broken_indices.add(index)
        waited_ticks = max(ticks_due - 1, 0)
        message = format_broken_promise(promise, self.n_ticks, state.state, waited_ticks)
        return BrokenPromise(promise, self.n_ticks, message)
