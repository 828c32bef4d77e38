"""Traces of one tick: every expression it evaluated, every microstep it took, every variable it set."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from posewright.charts.expression import Expression
from posewright.charts.machine import CompoundTransition, Env, Interpreter, Machine, Snapshot, TickExecution
from posewright.charts.model import Assign
from posewright.charts.types import Value
from posewright.errors import ExpressionError, PosewrightError

InputRows = tuple[Mapping[str, Value], ...]
"""Inputs and events of every tick, from the start of a run."""


class EvaluatedExpression(NamedTuple):
    """One evaluation of an expression.

    Attributes:
        env: value of every name at that time.
        value: what the expression evaluated to; None if it divided by zero.
    """

    expression: Expression
    env: Mapping[str, Value]
    value: Value | None


class MicrostepTrace(NamedTuple):
    """The choice of transitions in one microstep.

    Attributes:
        event: the event that is processed; None for transitions without an event.
        active_nodes: numbers of the active states.
        env: value of every name before the choice.
        n_evaluated: number of expressions that the tick had evaluated before.
        n_evaluated_before_state: the same before the transitions of a state were evaluated, by its number;
            only for states whose transitions were evaluated.
        transitions: the transitions that were taken.
    """

    event: str | None
    active_nodes: frozenset[int]
    env: Mapping[str, Value]
    n_evaluated: int
    n_evaluated_before_state: Mapping[int, int]
    transitions: tuple[CompoundTransition, ...]


class VariableWrite(NamedTuple):
    """One assignment to a variable.

    Attributes:
        evaluation_index: index, in `TickTrace.evaluations`, of the expression whose value was assigned.
        n_evaluated: number of expressions that had been evaluated when it was assigned.
    """

    name: str
    action: Assign
    evaluation_index: int
    n_evaluated: int


class TickTrace(TickExecution):
    """A tick that records its evaluations, microsteps and writes.

    Attributes:
        evaluations: all evaluated expressions, in order.
        microstep_traces: the microsteps, in order.
        writes: the assignments, in order.
        next_state: state of the chart after the tick; None if it failed, or has not been run.
    """

    def __init__(self, machine: Machine, state: Snapshot) -> None:
        """Prepare a tick from a snapshot that records what it does."""
        super().__init__(machine, state, self._evaluate)
        self.evaluations: list[EvaluatedExpression] = []
        self.microstep_traces: list[MicrostepTrace] = []
        self.writes: list[VariableWrite] = []
        self.next_state: Snapshot | None = None
        # of the current microstep, as in `MicrostepTrace`
        self._n_evaluated_before_state: dict[int, int] = {}
        self._env_copy: Mapping[str, Value] = {}  # the last copy of `env`, shared while nothing changes

    def _copy_env(self) -> Mapping[str, Value]:
        """Return a copy of the environment; the same object for as long as nothing changes."""
        if self._env_copy != self.env:
            self._env_copy = dict(self.env)
        return self._env_copy

    def _evaluate(self, expression: Expression, env: Env) -> Value:
        """Return the value of an expression, and record the evaluation; also one that divides by zero."""
        env_copy = self._copy_env()
        try:
            value: Value = expression.evaluate(env)
        except ExpressionError:
            self.evaluations.append(EvaluatedExpression(expression, env_copy, value=None))
            raise
        self.evaluations.append(EvaluatedExpression(expression, env_copy, value))
        return value

    def choose_transitions(self, event: str | None) -> list[CompoundTransition]:
        """Return the transitions that an event enables, as in any tick, and record the microstep.

        Of these transitions, the trace has only those that are taken: one may prevent another.

        Args:
            event: the event; None for transitions without a trigger.
        """
        active_nodes = self.planner.active_nodes(self.configuration)
        env = self._copy_env()
        n_evaluated = len(self.evaluations)
        self._n_evaluated_before_state = {}  # `is_enabled` fills it
        chosen = super().choose_transitions(event)
        taken: tuple[CompoundTransition, ...] = ()
        if chosen:
            taken = self.planner.plan_microstep(self.configuration, self.history, tuple(chosen)).transitions
        trace = MicrostepTrace(
            event,
            active_nodes,
            env,
            n_evaluated,
            n_evaluated_before_state=self._n_evaluated_before_state,
            transitions=taken,
        )
        self.microstep_traces.append(trace)
        return chosen

    def is_enabled(self, transition: CompoundTransition) -> bool:
        """Return whether a transition is enabled; records when its state was first evaluated."""
        self._n_evaluated_before_state.setdefault(transition.source, len(self.evaluations))
        return super().is_enabled(transition)

    def assign(self, action: Assign) -> None:
        """Assign variables and record the writes; the assigned values are evaluated in their order."""
        first_index = len(self.evaluations)
        super().assign(action)
        n_evaluated = len(self.evaluations)
        for index, name in enumerate(action.values, start=first_index):
            self.writes.append(VariableWrite(name, action, evaluation_index=index, n_evaluated=n_evaluated))


def trace_tick(interpreter: Interpreter, state: Snapshot, inputs: Mapping[str, Value]) -> TickTrace:
    """Return the trace of one tick, up to its end or its failure.

    Args:
        interpreter: the interpreter of the chart.
        state: the state before the tick.
        inputs: value of every input; true for the events that occur.
    """
    chart = interpreter.chart
    tick = TickTrace(interpreter.machine, state)
    input_values = {name: inputs[name] for name in chart.inputs}
    events = [event for event in chart.events if inputs.get(event)]
    with suppress(PosewrightError):
        tick.next_state = tick.run(input_values, events)
    return tick
