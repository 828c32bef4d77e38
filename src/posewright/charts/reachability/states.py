"""Abstract states of a chart: what can happen in one tick, for all states that a tick cannot distinguish."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from posewright.charts.machine import CompoundTransition, Interpreter, Snapshot, TickConditions
from posewright.charts.reachability.abstraction import Abstraction, CounterAbstraction, CounterValues
from posewright.charts.reachability.limits import ExplorationLimits, WorkBudget
from posewright.charts.reachability.path import InputSpace, PathCondition, explore_paths
from posewright.charts.reachability.symbolic_interpreter import SymbolicInterpreter, SymbolicTick
from posewright.charts.types import Value
from posewright.errors import PosewrightError


@dataclass(frozen=True, eq=False)
class SymbolicStep:
    """One possible course of a tick; it represents all inputs with the same effect.

    Attributes:
        inputs: the simplest of these inputs: a value for every input, and a Boolean for every event.
        next_state: state of the chart after these inputs; None if the tick fails.
        taken_transitions: transitions that are taken, in order.
        raised: events that are raised inside, in order.
        error: why the tick fails: a division by zero, or a loop.
        condition_values: the values of the watched conditions after the tick; empty if it fails.
    """

    inputs: Mapping[str, Value]
    next_state: Snapshot | None
    taken_transitions: tuple[CompoundTransition, ...]
    raised: tuple[str, ...] = ()
    error: PosewrightError | None = None
    condition_values: tuple[bool, ...] = ()


class UntimedState(NamedTuple):
    """A state of a chart without its counters.

    Attributes:
        started: whether the first tick has run.
        configuration: the numbers of the innermost active states.
        values: the values of the outputs and locals.
        history: for each history of the machine, the states that it stores.
    """

    started: bool
    configuration: tuple[int, ...]
    values: tuple[Value, ...]
    history: tuple[tuple[int, ...], ...]


class StateKey(NamedTuple):
    """What identifies a state: its untimed state, given by a number, and its counters.

    Attributes:
        untimed_id: the number of the untimed state: the state without its counters.
        counter_values: the values of the counters, in the order of the registers.
    """

    untimed_id: int
    counter_values: CounterValues


class StepTarget(NamedTuple):
    """Where a step leads, whatever the values of the counters are.

    Attributes:
        untimed_id: the number of the untimed state after the tick.
        running_counters: the indices of the counters that ran; all others are reset.
    """

    untimed_id: int
    running_counters: tuple[int, ...]


@dataclass(frozen=True)
class Successor:
    """Where steps from an abstract state lead, for any counters.

    Attributes:
        untimed_id: number of the untimed state after the tick.
        running_counters: indices of the counters that ran.
        condition_values: the values of the watched conditions.
        first_step_index: index of the first step that leads there, among those of the abstract state.
    """

    untimed_id: int
    running_counters: tuple[int, ...]
    condition_values: tuple[bool, ...]
    first_step_index: int


@dataclass(frozen=True, eq=False)
class AbstractState:
    """All states in which a tick has the same steps.

    Attributes:
        snapshot: one of these states.
        steps: the steps from that state.
        successors: where they lead, each only once.
        successor_indices: for each step, the index of its successor; None if the tick fails.
        incomplete_reasons: why steps may be missing.
    """

    snapshot: Snapshot
    steps: tuple[SymbolicStep, ...]
    successors: tuple[Successor, ...]
    successor_indices: tuple[int | None, ...]
    incomplete_reasons: Mapping[str, None]

    @property
    def is_complete(self) -> bool:
        """Whether the steps cover all inputs."""
        return not self.incomplete_reasons


class ExploredPath(NamedTuple):
    """One path of a tick, with the step that it takes.

    Attributes:
        path: the path, with the reasons why other paths may be missing.
        step: the step.
        target: where the step leads; None if the tick fails.
    """

    path: PathCondition
    step: SymbolicStep
    target: StepTarget | None


def build_abstract_state(snapshot: Snapshot, explored_paths: Iterable[ExploredPath]) -> AbstractState:
    """Return the abstract state of a state, with the steps of all paths of a tick from it.

    Steps with the same target and the same condition values share a successor.

    Args:
        snapshot: the state before the tick.
        explored_paths: every path of the tick.
    """
    steps: list[SymbolicStep] = []
    successors: list[Successor] = []
    successor_indices: list[int | None] = []
    incomplete_reasons: dict[str, None] = {}
    index_by_target_and_conditions: dict[object, int] = {}
    for path, step, target in explored_paths:
        successor_index = None
        if target is not None:
            next_index = len(successors)
            target_and_conditions = (*target, step.condition_values)
            successor_index = index_by_target_and_conditions.setdefault(target_and_conditions, next_index)
            is_new = successor_index == next_index
            if is_new:
                successors.append(
                    Successor(
                        target.untimed_id,
                        target.running_counters,
                        step.condition_values,
                        first_step_index=len(steps),
                    )
                )
        steps.append(step)
        successor_indices.append(successor_index)
        incomplete_reasons |= dict.fromkeys(
            f"{snapshot.state}: {reason}" for reason in path.incomplete_reasons
        )
    return AbstractState(
        snapshot,
        steps=tuple(steps),
        successors=tuple(successors),
        successor_indices=tuple(successor_indices),
        incomplete_reasons=incomplete_reasons,
    )


class ChartStateSpace:
    """The abstract states of one chart, each computed once.

    Args:
        interpreter: the interpreter of the chart.
        inputs: its inputs and events.
        conditions: evaluated after every tick.
        abstractions: the abstractions of its outputs and locals, in their order; see `abstract_registers`.
        limits: the limits of the exploration.
        budget: the work that may be done.

    Attributes:
        counter_abstraction: the abstraction of its counters.
        n_variables: number of outputs and locals; in a snapshot, the counters follow them.
        incomplete_reasons: why steps may be missing.
        n_cases: number of steps computed so far.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        inputs: InputSpace,
        conditions: TickConditions,
        abstractions: Mapping[str, Abstraction],
        *,
        limits: ExplorationLimits,
        budget: WorkBudget,
    ) -> None:
        """Compile the chart's expressions for symbolic ticks; no state is computed yet."""
        self.interpreter = interpreter
        self.machine = interpreter.machine
        self.inputs = inputs
        self.limits = limits
        self.budget = budget
        self.counter_abstraction = CounterAbstraction(self.machine)
        self.abstractions = abstractions
        self.symbolic_interpreter = SymbolicInterpreter(
            self.machine, inputs.domains, abstractions, conditions
        )
        self.n_variables = len(self.machine.chart.variables)
        self.incomplete_reasons: dict[str, None] = {}
        self.n_cases = 0
        self._merges_values = any(abstraction.merges_values for abstraction in abstractions.values())
        self._untimed_states: list[UntimedState] = []  # by untimed_id
        self._untimed_ids: dict[UntimedState, int] = {}
        # by the untimed_id and the number of the classes of the counters
        self._abstract_states: dict[tuple[int, int], AbstractState] = {}

    def split_counters(self, snapshot: Snapshot) -> StateKey:
        """Return a state in two parts: the number of its untimed state, and the values of its counters.

        In the untimed state, outputs and locals have the values that represent theirs: of all values that the
        chart cannot tell apart, one. An untimed state that occurs for the first time gets the next number.
        """
        values = snapshot.values[: self.n_variables]
        if self._merges_values:
            pairs = zip(self.abstractions.values(), values, strict=True)
            values = tuple([abstraction.representative_of(value) for abstraction, value in pairs])
        untimed_state = UntimedState(snapshot.started, snapshot.configuration, values, snapshot.history)
        next_id = len(self._untimed_states)
        untimed_id = self._untimed_ids.setdefault(untimed_state, next_id)
        is_new = untimed_id == next_id
        if is_new:
            self._untimed_states.append(untimed_state)
        return StateKey(untimed_id, self.counters_of(snapshot))

    def counters_of(self, snapshot: Snapshot) -> CounterValues:
        """Return the values of the counters in a state."""
        return snapshot.values[self.n_variables :]  # type: ignore[return-value]  # counters are integers

    def join_counters(self, untimed_id: int, counter_values: CounterValues) -> Snapshot:
        """Return the state that consists of an untimed state and values of the counters."""
        started, configuration, values, history = self._untimed_states[untimed_id]
        return Snapshot(
            self.machine, started, configuration, values=(*values, *counter_values), history=history
        )

    def abstract_state(self, untimed_id: int, counter_values: CounterValues) -> AbstractState:
        """Return the abstract state of an untimed state with these values of the counters."""
        return self.abstract_state_at(untimed_id, self.counter_abstraction.id_of_values(counter_values))

    def abstract_state_at(self, untimed_id: int, counter_values_id: int) -> AbstractState:
        """Return the steps of a state, as the abstract state that it belongs to.

        It is computed at the first call, and shared by all states whose counters no tick can distinguish.

        Args:
            untimed_id: the number of the state without its counters.
            counter_values_id: the number of the values of its counters.
        """
        key = (untimed_id, self.counter_abstraction.class_id_of_values[counter_values_id])
        abstract_state = self._abstract_states.get(key)
        if abstract_state is None:
            counter_values = self.counter_abstraction.values_of_id[counter_values_id]
            snapshot = self.join_counters(untimed_id, counter_values)
            abstract_state = build_abstract_state(snapshot, self._explore_tick(snapshot))
            self.incomplete_reasons |= abstract_state.incomplete_reasons
            self.n_cases += len(abstract_state.steps)
            self._abstract_states[key] = abstract_state
        return abstract_state

    def _explore_tick(self, snapshot: Snapshot) -> Iterator[ExploredPath]:
        """Yield every path of a tick from a state, with its step and where that leads."""

        def run_tick(path: PathCondition) -> SymbolicTick:
            """Return the result of the tick on a path."""
            return self.symbolic_interpreter.run_tick(snapshot, path)

        for path, tick in explore_paths(
            self.inputs, run=run_tick, max_paths=self.limits.max_cases_per_state, budget=self.budget
        ):
            inputs = path.inputs()
            next_state = tick.next_state
            if path.has_representative_values and next_state is not None:
                # some values only represent those of their cell: a concrete tick computes the actual ones
                next_state = self.interpreter.outcome(snapshot, inputs).after
            target = None
            if next_state is not None:
                untimed_id, counter_values = self.split_counters(next_state)
                target = StepTarget(untimed_id, self.counter_abstraction.running_counters(counter_values))
            step = SymbolicStep(
                inputs, next_state, tick.taken_transitions, tick.raised, tick.error, tick.condition_values
            )
            yield ExploredPath(path, step, target)

    def steps_from(self, snapshot: Snapshot) -> tuple[SymbolicStep, ...]:
        """Return the steps from any state; the states after them have its own counters, advanced."""
        untimed_id, counter_values = self.split_counters(snapshot)
        abstract_state = self.abstract_state(untimed_id, counter_values)
        if self.counters_of(abstract_state.snapshot) == counter_values:
            return abstract_state.steps
        return tuple(self._with_counters(step, counter_values) for step in abstract_state.steps)

    def _with_counters(self, step: SymbolicStep, counter_values: CounterValues) -> SymbolicStep:
        """Return a step of an abstract state as it is from a state with other counter values.

        Args:
            step: the step.
            counter_values: the values of the counters before it.
        """
        next_state = step.next_state
        if next_state is None:
            return step
        running_counters = self.counter_abstraction.running_counters(self.counters_of(next_state))
        next_counter_values = self.counter_abstraction.advance(counter_values, running_counters)
        values = (*next_state.values[: self.n_variables], *next_counter_values)
        next_state_with_counters = Snapshot(
            self.machine, next_state.started, next_state.configuration, values, next_state.history
        )
        return replace(step, next_state=next_state_with_counters)
