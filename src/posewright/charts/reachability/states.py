"""Abstract states of a chart: what can happen in one tick, for all states that a tick cannot distinguish."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from posewright.charts.machine import CompoundTransition, Interpreter, Snapshot, TickConditions
from posewright.charts.reachability.abstraction import Abstraction, Counts, TimerAbstraction
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
        after: state of the chart after these inputs; None if the tick fails.
        taken_transitions: transitions that are taken, in order.
        raised: events that are raised inside, in order.
        error: why the tick fails: a division by zero, or a loop.
        condition_values: the values of the watched conditions after the tick; empty if it fails.
    """

    inputs: Mapping[str, Value]
    after: Snapshot | None
    taken_transitions: tuple[CompoundTransition, ...]
    raised: tuple[str, ...] = ()
    error: PosewrightError | None = None
    condition_values: tuple[bool, ...] = ()


UntimedState = tuple[bool, tuple[int, ...], tuple[Value, ...], tuple[tuple[int, ...], ...]]
"""A state without its counters: started, configuration, outputs and locals, history."""

UntimedTarget = tuple[int, tuple[int, ...]]
"""Where a step leads: the number of the untimed state, and the indices of the counters that run."""


@dataclass(frozen=True)
class Successor:
    """Where steps from an abstract state lead, for any counters.

    Attributes:
        untimed_number: number of the untimed state after the tick.
        running: indices of the counters that ran.
        condition_values: the values of the watched conditions.
        first_step: index of the first step that leads there, among those of the abstract state.
    """

    untimed_number: int
    running: tuple[int, ...]
    condition_values: tuple[bool, ...]
    first_step: int


@dataclass(frozen=True, eq=False)
class AbstractState:
    """All states in which a tick has the same steps.

    Attributes:
        state: one of these states.
        steps: the steps from that state.
        successors: where they lead, each only once.
        successor_of: for each step, the index of its successor; None if the tick fails.
        incomplete_reasons: why steps may be missing.
    """

    state: Snapshot
    steps: tuple[SymbolicStep, ...]
    successors: tuple[Successor, ...]
    successor_of: tuple[int | None, ...]
    incomplete_reasons: Mapping[str, None]

    @property
    def is_complete(self) -> bool:
        """Whether the steps cover all inputs."""
        return not self.incomplete_reasons


def build_abstract_state(
    state: Snapshot, paths: Iterable[tuple[PathCondition, SymbolicStep, UntimedTarget | None]]
) -> AbstractState:
    """Return the abstract state of a state; steps with the same target share a successor.

    Args:
        state: the state before the tick.
        paths: every path with its step, and where it leads; None if the tick fails.
    """
    steps: list[SymbolicStep] = []
    successors: list[Successor] = []
    successor_of: list[int | None] = []
    incomplete_reasons: dict[str, None] = {}
    indices: dict[object, int] = {}
    for path, step, target in paths:
        index = None
        if target is not None:
            index = indices.setdefault((*target, step.condition_values), len(successors))
            if index == len(successors):
                successors.append(Successor(*target, step.condition_values, len(steps)))
        steps.append(step)
        successor_of.append(index)
        incomplete_reasons |= dict.fromkeys(f"{state.state}: {reason}" for reason in path.incomplete_reasons)
    return AbstractState(
        state,
        steps=tuple(steps),
        successors=tuple(successors),
        successor_of=tuple(successor_of),
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
        timers: the abstraction of its counters.
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
        self.timers = TimerAbstraction(self.machine)
        self.abstractions = abstractions
        self.symbolic_interpreter = SymbolicInterpreter(
            self.machine, inputs.domains, abstractions, conditions
        )
        self.n_variables = len(self.machine.chart.variables)
        self.incomplete_reasons: dict[str, None] = {}
        self.n_cases = 0
        self._merges_values = any(abstraction.merges_values for abstraction in abstractions.values())
        self._untimed_states: list[UntimedState] = []
        self._untimed_numbers: dict[UntimedState, int] = {}
        self._abstract_states: dict[tuple[int, int], AbstractState] = {}

    def split(self, state: Snapshot) -> tuple[int, Counts]:
        """Return the number of a state without its counters, and its counters."""
        values = state.values[: self.n_variables]
        if self._merges_values:
            pairs = zip(self.abstractions.values(), values, strict=True)
            values = tuple([abstraction.canonical(value) for abstraction, value in pairs])
        untimed_state = (state.started, state.configuration, values, state.history)
        number = self._untimed_numbers.setdefault(untimed_state, len(self._untimed_states))
        if number == len(self._untimed_states):
            self._untimed_states.append(untimed_state)
        return number, state.values[self.n_variables :]  # type: ignore[return-value]  # counters are integers

    def join(self, untimed_number: int, counts: Counts) -> Snapshot:
        """Return the state with the parts that `split` returns."""
        started, configuration, values, history = self._untimed_states[untimed_number]
        return Snapshot(self.machine, started, configuration, values=(*values, *counts), history=history)

    def abstract_state(self, untimed_number: int, counts: Counts) -> AbstractState:
        """Return the abstract state of a state, given as `split` returns it."""
        return self.abstract_state_at(untimed_number, self.timers.number(counts))

    def abstract_state_at(self, untimed_number: int, counts_number: int) -> AbstractState:
        """Return the abstract state of a state, given by the numbers of its two parts."""
        key = (untimed_number, self.timers.class_numbers[counts_number])
        abstract_state = self._abstract_states.get(key)
        if abstract_state is None:
            state = self.join(untimed_number, self.timers.all_counts[counts_number])
            abstract_state = build_abstract_state(state, self._compute_steps(state))
            self.incomplete_reasons |= abstract_state.incomplete_reasons
            self.n_cases += len(abstract_state.steps)
            self._abstract_states[key] = abstract_state
        return abstract_state

    def _compute_steps(
        self, state: Snapshot
    ) -> Iterator[tuple[PathCondition, SymbolicStep, UntimedTarget | None]]:
        """Yield every path of a tick from a state, with its step and where it leads."""

        def run_tick(path: PathCondition) -> SymbolicTick:
            return self.symbolic_interpreter.run_tick(state, path)

        for path, tick in explore_paths(
            self.inputs, run=run_tick, limit=self.limits.cases_of_one, budget=self.budget
        ):
            inputs = path.inputs()
            after = tick.after
            target = None
            if path.is_approximate and after is not None:
                after = self.interpreter.outcome(state, inputs).after
            if after is not None:
                untimed_number, counts = self.split(after)
                target = untimed_number, self.timers.running(counts)
            step = SymbolicStep(
                inputs, after, tick.taken_transitions, tick.raised, tick.error, tick.condition_values
            )
            yield path, step, target

    def steps_from(self, state: Snapshot) -> tuple[SymbolicStep, ...]:
        """Return the steps from any state, with its own counters."""
        untimed_number, counts = self.split(state)
        abstract_state = self.abstract_state(untimed_number, counts)
        if abstract_state.state.values[self.n_variables :] == counts:
            return abstract_state.steps
        return tuple(self._with_counts(step, counts) for step in abstract_state.steps)

    def _with_counts(self, step: SymbolicStep, counts: Counts) -> SymbolicStep:
        """Return a step from a state with other counters."""
        after = step.after
        if after is None:
            return step
        running = self.timers.running(after.values[self.n_variables :])  # type: ignore[arg-type]
        values = (*after.values[: self.n_variables], *self.timers.advance(counts, running))
        after_with_counts = Snapshot(self.machine, after.started, after.configuration, values, after.history)
        return replace(step, after=after_with_counts)
