"""The execution of one tick, which defines the semantics of charts; in words: docs/chart-semantics.md.

The selection of transitions, and the order in which states are left and entered, follow the W3C's SCXML
(Appendix D); ticks, sampled inputs and `during` are extensions.
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

MAX_TRANSITIONS_IN_ERROR = 50
"""Transitions whose source states are named when a tick does not end; a cycle is rarely longer."""

Env = dict[str, Any]
"""The environment: the current value of every name."""

Compute = Callable[[Expression, Env], Any]


def evaluate_expression(expression: Expression, env: Env) -> Any:
    """Return the value of an expression in an environment that has a value for every name."""
    return expression.evaluate(env)


class TickExecution:
    """The execution of one tick.

    Args:
        machine: the machine.
        state: the snapshot before the tick.
        compute: returns the value of an expression. Coverage records the values of guards with it, and the
            exploration follows both values of a condition.

    Attributes:
        planner: computes the states that transitions leave and enter.
        state_before: the snapshot before the tick.
        configuration: the active leaves at present.
        history: what each history stores at present.
        env: the value at present of every name that expressions read.
        event_queue: events that were raised inside and wait to be processed.
        taken_transitions: transitions that were taken, in order.
        raised_events: events that the chart raised, in order.
        uninterrupted_nodes: the nodes with `during` actions that have been active since the tick began.
        n_microsteps: number of microsteps so far.
    """

    # class attributes, as a tick rarely changes them
    uninterrupted_nodes: frozenset[int] = frozenset()
    n_microsteps = 0

    def __init__(self, machine: Machine, state: Snapshot, compute: Compute = evaluate_expression) -> None:
        """Prepare a tick from a snapshot; `run` executes it."""
        self.machine = machine
        self.planner = machine.planner
        self.state_before = state
        self.compute = compute
        self.configuration = state.configuration
        self.history = state.history
        self.env: Env = dict(zip(machine.registers, state.values))  # noqa: B905 -- strict doubles the time
        self.event_queue: list[str] = []
        self.taken_transitions: list[CompoundTransition] = []
        self.raised_events: list[str] = []

    def run(self, inputs: Mapping[str, Value], events: Iterable[str] = ()) -> Snapshot:
        """Run the tick and return the snapshot after it.

        Args:
            inputs: the value of every input, within its range.
            events: events from outside, in the order in which the chart declares them.

        Raises:
            InputError: the tick does not end: its transitions form an endless cycle.
            ExpressionError: a guard or an action divides by zero.
        """
        machine = self.machine
        if inputs:
            self.env.update(inputs)
        is_first_tick = not self.state_before.started
        if is_first_tick:
            self.env.update(dict.fromkeys(machine.nodes_tested_by_in, False))
            self.enter_nodes(self.planner.enter_chart())
        elif machine.nodes_tested_by_in or machine.counting_nodes:
            self.update_counters()
        if machine.during_nodes:  # each of them acts at the end of the tick, unless it is left before
            self.uninterrupted_nodes = machine.during_nodes & self.planner.active_nodes(self.configuration)
        runs_to_completion = machine.runs_to_completion
        if not runs_to_completion:
            has_eventless_transitions = None in machine.transitions_by_event
            # a subclass with a `compute` of its own records the microstep even if it can take nothing
            is_recorded = self.compute is not evaluate_expression
            if has_eventless_transitions or is_recorded:
                self.run_microstep(None)
        if runs_to_completion or self.event_queue:
            self.process_queue()
        for event in events:
            self.run_microstep(event)
            if runs_to_completion or self.event_queue:
                self.process_queue()
        if self.uninterrupted_nodes:
            self.run_during_actions()
        if not is_first_tick and not self.taken_transitions and machine.is_constant_when_idle:
            return self.state_before  # nothing was set and no time is counted
        return Snapshot(
            machine,
            started=True,
            configuration=self.configuration,
            values=machine.read_registers(self.env),
            history=self.history,
        )

    def update_counters(self) -> None:
        """Update the names `in.S`, and count the tick in the counters of active states.

        A counter stops at its limit, or restarts there with 1; one with a condition returns to 0 when the
        condition is false.
        """
        self.update_state_names()
        env = self.env
        active = self.planner.active_nodes(self.configuration)
        for node in self.machine.counting_nodes:
            for counter in node.counters if node.index in active else ():
                count = env[counter.name]
                if counter.condition is not None and not self.compute(counter.condition, env):
                    env[counter.name] = 0
                elif count < counter.limit:
                    env[counter.name] = count + 1
                elif counter.restarts:
                    env[counter.name] = 1

    def process_queue(self) -> None:
        """Process the events in the queue, and those raised by that, until the queue is empty.

        In a chart that runs to completion, transitions without an event are taken first, before each event
        and at the end, until none is enabled.
        """
        runs_to_completion = self.machine.runs_to_completion
        while runs_to_completion or self.event_queue:
            has_taken_eventless = runs_to_completion and self.run_microstep(None)
            if has_taken_eventless:
                continue
            if not self.event_queue:
                return
            self.run_microstep(self.event_queue.pop(0))

    def run_during_actions(self) -> None:
        """Run the `during` actions of the states that were active all the tick."""
        for node_index in sorted(self.uninterrupted_nodes):
            self.run_actions(self.machine.nodes[node_index].during)
        if self.event_queue:
            self.process_queue()

    def run_microstep(self, event: str | None) -> bool:
        """Take the transitions that an event enables, and return whether there were any.

        States are left, then the actions of the transitions run, then states are entered.

        Args:
            event: the event; None for transitions without a trigger.
        """
        enabled_transitions = self.choose_transitions(event)
        if not enabled_transitions:
            return False
        self.n_microsteps += 1
        if self.n_microsteps > MAX_MICROSTEPS:
            self.raise_endless_tick_error()
        microstep = self.planner.plan_microstep(self.configuration, self.history, tuple(enabled_transitions))
        # leaving a state may run actions, reset counters, or interrupt its `during` actions
        if microstep.has_effects or self.uninterrupted_nodes:
            for node in microstep.leaving:
                self.exit_node(node)
        for transition in microstep.transitions:
            self.taken_transitions.append(transition)
            if transition.do:
                self.run_actions(transition.do)
        if microstep.leaving:
            self.enter_nodes(microstep)
        return True

    def choose_transitions(self, event: str | None) -> list[CompoundTransition]:
        """Return the first transition of each active leaf that an event enables, each transition once.

        A leaf's own transitions are tried before those of its ancestors, which leaves may share.

        Args:
            event: the event; None for transitions without a trigger.
        """
        chosen: list[CompoundTransition] = []
        transitions_by_leaf = self.machine.transitions_by_event.get(event)
        if transitions_by_leaf is None:
            return chosen
        for leaf in self.configuration:
            for transition in transitions_by_leaf.get(leaf, ()):
                if self.is_enabled(transition):
                    if not chosen or transition not in chosen:
                        chosen.append(transition)
                    break
        return chosen

    def is_enabled(self, transition: CompoundTransition) -> bool:
        """Return whether the minimum time of a transition is over and its guards are true."""
        env = self.env
        if transition.wait_ticks and env[transition.since_register] < transition.wait_ticks:
            return False
        compute = self.compute
        if compute is evaluate_expression:  # nothing records the guards, so the compiled ones are called
            for evaluate_guard in transition.compiled_guards:  # noqa: SIM110 -- called a dozen times a tick: a generator costs more than a guard
                if not evaluate_guard(env):
                    return False
            return True
        return all(compute(guard, env) for guard in transition.guards)

    def exit_node(self, node: StateNode) -> None:
        """Run the exit actions of a state and reset its counters."""
        self.run_actions(node.exit)
        if node.index in self.uninterrupted_nodes:
            self.uninterrupted_nodes -= {node.index}
        for counter in node.counters:
            self.env[counter.name] = 0

    def enter_nodes(self, microstep: Microstep) -> None:
        """Enter the states of a microstep: run their entry actions and raise their `done` events.

        Then the configuration, the histories and the names `in.S` are those after the microstep.
        """
        if microstep.has_effects:  # else the nodes have no entry actions and raise no events
            for node, done_events in microstep.entering:
                self.run_actions(node.entry)
                for event in done_events:
                    self.raise_event(event)
        self.configuration = microstep.configuration
        self.history = microstep.history
        if self.machine.nodes_tested_by_in:  # some expression reads a name `in.S`
            self.update_state_names()

    def update_state_names(self) -> None:
        """Set the names `in.S` that expressions read: true if the state S is active."""
        active = self.planner.active_nodes(self.configuration)
        for name, node_index in self.machine.nodes_tested_by_in.items():
            self.env[name] = node_index in active

    def run_actions(self, actions: Actions) -> None:
        """Run actions, one after the other: they set variables, raise events, or branch on a condition."""
        for action in actions:
            if isinstance(action, Assign):
                self.assign(action)
            elif isinstance(action, Raise):
                self.raise_event(action.event)
            elif isinstance(action, Branch):
                self.run_actions(action.then if self.compute(action.when, self.env) else action.otherwise)

    def assign(self, action: Assign) -> None:
        """Set variables simultaneously, each clamped to the range of its type."""
        env = self.env
        compute = self.compute
        types = self.machine.chart.variables
        env.update([(name, types[name].clamp(compute(value, env))) for name, value in action.values.items()])

    def raise_event(self, event: str) -> None:
        """Put an event into the queue if a transition is triggered by it."""
        self.raised_events.append(event)
        if event in self.machine.handled_events:
            self.event_queue.append(event)
            if len(self.event_queue) > MAX_MICROSTEPS:
                self.raise_endless_tick_error()

    def raise_endless_tick_error(self) -> None:
        """Raise the InputError for a tick that does not end; it names the states of the last transitions."""
        last_transitions = self.taken_transitions[-MAX_TRANSITIONS_IN_ERROR:]
        sources = (self.machine.nodes[transition.source].name for transition in last_transitions)
        source_names = ", ".join(dict.fromkeys(sources))
        raise InputError(
            f"a tick of {self.machine.chart.name} does not end: it cycles through {source_names}",
            hint="let a transition of the cycle wait for an event or for time",
        )
