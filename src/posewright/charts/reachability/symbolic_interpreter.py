"""Symbolic interpreter: runs ticks of a machine whose inputs are only restricted by a path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

from posewright.charts.expression import Expression
from posewright.charts.machine import (
    MAX_MICROSTEPS,
    CompoundTransition,
    Machine,
    Snapshot,
    TickConditions,
    TickExecution,
)
from posewright.charts.reachability.abstraction import Abstraction, list_assignments, list_conditions
from posewright.charts.reachability.comparisons import Registers, SymbolicFunction
from posewright.charts.reachability.domain import Domain
from posewright.charts.reachability.limits import LOOP_CHECK_AFTER
from posewright.charts.reachability.path import PathCondition
from posewright.charts.reachability.symbolic_compiler import SymbolicCompiler
from posewright.charts.types import BoolType, Type, Value
from posewright.errors import ExpressionError, PosewrightError


@dataclass(frozen=True)
class SymbolicTick:
    """The result of one tick on one path.

    Attributes:
        next_state: state of the chart after it; None if the tick failed.
        taken_transitions: transitions that were taken, in order.
        raised: events that were raised inside, in order.
        variable_values: the value of every output, local and counter at the end.
        condition_values: the values of the conditions that are evaluated after every tick.
        error: why the tick failed.
    """

    next_state: Snapshot | None
    taken_transitions: tuple[CompoundTransition, ...]
    raised: tuple[str, ...]
    variable_values: Mapping[str, Value]
    condition_values: tuple[bool, ...] = ()
    error: PosewrightError | None = None


class _Progress(NamedTuple):
    """How far a tick has come: the number of microsteps, of queued events, and of events raised so far."""

    n_microsteps: int
    queue_length: int
    n_raised: int


class _SymbolicTickExecution(TickExecution):
    """A tick on one path, which detects loops early.

    A tick loops if it returns to an earlier situation and no input was read in between. It also loops if it
    returns with more events in a queue that holds only one kind of event, as the queue is then never empty.

    Attributes:
        path: the path; it is restricted where the tick depends on an input.
        first_visits: how far the tick had come when it was first in a situation, by situation; see
            `_raise_if_endless`.
        n_taken_after_microstep: how many transitions had been taken in all after each microstep, from 0 on.
    """

    def __init__(
        self,
        machine: Machine,
        state: Snapshot,
        path: PathCondition,
        functions: Mapping[int, SymbolicFunction],
    ) -> None:
        """Prepare a tick along a path.

        Args:
            machine: the machine.
            state: its state before the tick.
            path: the path, which is restricted where the tick depends on an input.
            functions: evaluates each expression on a path, by the expression's identity (`id`).
        """

        def evaluate(expression: Expression, registers: Registers) -> Value:
            """Return the value of an expression on the path."""
            path.work += 1
            return functions[id(expression)](registers, path)

        super().__init__(machine, state, evaluate)
        self.path = path
        self.first_visits: dict[object, _Progress] = {}
        self.n_taken_after_microstep = [0]

    def process_queue(self) -> None:
        """Process the queued events as in a concrete tick; the search for loops begins anew."""
        self.first_visits.clear()
        super().process_queue()

    def run_microstep(self, event: str | None) -> bool:
        """Take the transitions that an event enables, as in a concrete tick, and check for loops.

        The check starts only after LOOP_CHECK_AFTER microsteps, since most ticks have few.
        """
        has_transitions = super().run_microstep(event)
        if has_transitions:
            self.n_taken_after_microstep.append(len(self.taken_transitions))
            if self.n_microsteps > LOOP_CHECK_AFTER:
                self._raise_if_endless()
        return has_transitions

    def _raise_if_endless(self) -> None:
        """Raise the error of an endless tick if the tick has returned to an earlier situation.

        A situation is all that decides how the tick goes on: active states, histories, values, queued events,
        and how many questions about inputs were answered. The tick has no end if a situation recurs with as
        many queued events or more. If all queued events are the same event, their number is no part of the
        situation.
        """
        only_event = self.event_queue[0] if len(set(self.event_queue)) == 1 else None
        situation = (
            self.configuration,
            self.history,
            tuple(self.env.values()),
            tuple(self.event_queue) if only_event is None else only_event,
            self.uninterrupted_nodes,
            len(self.path.choices),
        )
        progress = _Progress(self.n_microsteps, len(self.event_queue), len(self.raised_events))
        first_visit = self.first_visits.setdefault(situation, progress)
        is_new_situation = first_visit is progress
        if is_new_situation or progress.queue_length < first_visit.queue_length:
            return  # a queue that has become shorter may become empty
        if only_event is not None:
            events_raised_since = set(self.raised_events[first_visit.n_raised :])
            if events_raised_since & self.machine.handled_events - {only_event}:
                return  # other events are handled in between, so it is no loop
        self._repeat_loop(n_microsteps=progress.n_microsteps - first_visit.n_microsteps)
        self.raise_endless_tick_error()

    def _repeat_loop(self, n_microsteps: int) -> None:
        """Add the transitions of the loop to `taken_transitions` again and again, up to the limit of a tick.

        The error message then names the same transitions as that of a concrete tick.

        Args:
            n_microsteps: the number of microsteps in the loop, which are the last ones of the tick.
        """
        n_taken = self.n_taken_after_microstep
        while len(n_taken) <= MAX_MICROSTEPS:
            # the next microstep takes the same transitions as the one a loop before it
            first_transition = n_taken[-n_microsteps - 1]
            end_transition = n_taken[-n_microsteps]
            self.taken_transitions += self.taken_transitions[first_transition:end_transition]
            n_taken.append(len(self.taken_transitions))


class SymbolicInterpreter:
    """Runs ticks of a machine along paths.

    Args:
        machine: the machine to be run.
        domains: the values of every input and event.
        abstractions: the abstractions of the registers.
        conditions: evaluated after every tick.

    Attributes:
        functions: a function that evaluates each expression of the machine on a path, by the expression's
            identity (`id`).
        condition_functions: such functions for the conditions that are evaluated after every tick.
    """

    def __init__(
        self,
        machine: Machine,
        domains: Mapping[str, Domain],
        abstractions: Mapping[str, Abstraction],
        conditions: TickConditions,
    ) -> None:
        """Compile every guard, condition and assigned value of the machine to a symbolic function."""
        self.machine = machine
        self.conditions = conditions
        types: dict[str, Type] = {**machine.types}
        types |= {name: domain.value_type for name, domain in domains.items()}
        types |= dict.fromkeys(conditions.raised_names, BoolType())
        compiler = SymbolicCompiler(domains, types)
        self.functions: dict[int, SymbolicFunction] = {}  # the machine keeps the expressions alive
        for condition in list_conditions(machine):
            self.functions[id(condition)] = compiler.compile_condition(condition)
        for action in list_assignments(machine):
            for name, value in action.values.items():
                self.functions[id(value)] = compiler.compile_value(value, abstractions[name])
        self.condition_functions = tuple(
            compiler.compile_condition(condition) for condition in conditions.lowered_conditions
        )

    def with_functions(self, functions: Mapping[int, SymbolicFunction]) -> SymbolicInterpreter:
        """Return a copy that evaluates some expressions by other functions, and no conditions after ticks.

        Args:
            functions: the functions for these expressions, by the expression's identity (`id`).
        """
        interpreter = copy(self)
        interpreter.functions = {**self.functions, **functions}
        interpreter.condition_functions = ()
        return interpreter

    def run_tick(self, state: Snapshot, path: PathCondition) -> SymbolicTick:
        """Return the result of one tick from a state along a path, which the tick restricts."""
        tick = _SymbolicTickExecution(self.machine, state, path, self.functions)
        next_state: Snapshot | None = None
        condition_values: tuple[bool, ...] = ()
        tick_error: PosewrightError | None = None
        try:
            # no values of inputs: expressions read them through the path
            next_state = tick.run({}, self._occurring_events(tick, path))
            if self.condition_functions:
                condition_values = self._evaluate_conditions(tick, path)
        except PosewrightError as error:
            next_state = None
            tick_error = error
        return SymbolicTick(
            next_state,
            taken_transitions=tuple(tick.taken_transitions),
            raised=tuple(tick.raised_events),
            variable_values=tick.env,
            condition_values=condition_values,
            error=tick_error,
        )

    def _evaluate_conditions(self, tick: TickExecution, path: PathCondition) -> tuple[bool, ...]:
        """Return the values of the watched conditions after a tick.

        A condition that divides by zero is false, and makes the path incomplete.
        """
        active_nodes = tick.planner.active_nodes(tick.configuration)
        # conditions also read which states are active and which events were raised
        registers = {**tick.env, **self.conditions.evaluate_names(active_nodes, tick.raised_events)}
        condition_values = []
        for evaluate in self.condition_functions:
            try:
                condition_values.append(bool(evaluate(registers, path)))
            except ExpressionError as error:
                path.incomplete_reasons.append(str(error))
                condition_values.append(False)
        return tuple(condition_values)

    def _occurring_events(self, tick: TickExecution, path: PathCondition) -> Iterator[str]:
        """Yield the events that occur on the path; those that no transition waits for are not decided."""
        for event in self.machine.events:
            waiting_leaves = self.machine.transitions_by_event.get(event, {})
            if any(leaf in waiting_leaves for leaf in tick.configuration) and path.holds(event):
                yield event
