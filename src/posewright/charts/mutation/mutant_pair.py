"""A chart and its mutant side by side: pairs of states, and ticks of both for all inputs.

The exploration of the chart does not keep all values of all variables apart. Two charts that set such a
variable to the same term, from the same values, store the same value in it; so terms are compared as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from posewright.charts.machine import Counter, Interpreter, Machine, Snapshot, TickConditions
from posewright.charts.product import PairTick, Product, StatePair, have_same_terms
from posewright.charts.reachability import (
    DEFAULT_LIMITS,
    Abstraction,
    ChartStateSpace,
    Exploration,
    PathCondition,
    WorkBudget,
    abstract_registers,
    explore_paths,
)
from posewright.charts.types import Value
from posewright.errors import PosewrightError

MAX_PRODUCT_PATHS = 5_000
"""Paths of one tick of both charts that are followed."""


@dataclass(frozen=True, eq=False)
class PairStep:
    """One way in which a tick of both charts can go.

    Attributes:
        inputs: the simplest inputs that go this way.
        chart_after: state of the chart after it; None if the tick fails.
        mutant_after: state of the mutant after it; None if the tick fails.
        has_same_terms: whether both set the variables that are not compared by value to the same terms.
        is_incomplete: whether there may be other inputs that were not followed.
    """

    inputs: Mapping[str, Value]
    chart_after: Snapshot | None
    mutant_after: Snapshot | None
    has_same_terms: bool
    is_incomplete: bool


class MutantPair:
    """An explored chart and a mutant with the same states, inputs, events and outputs.

    Args:
        exploration: the exploration of the chart.
        mutant: the interpreter of the mutant.

    Attributes:
        chart: the interpreter of the chart.
        merged_variables: variables of which several values are merged into one, so that terms are compared.
    """

    def __init__(self, exploration: Exploration, mutant: Interpreter) -> None:
        self.chart_states = exploration.state_space
        self.chart = exploration.interpreter
        self.mutant = mutant
        self.n_outputs = len(exploration.chart.outputs)
        self.n_variables = len(exploration.chart.variables)
        self.chart_abstractions = self.chart_states.abstractions
        exact_variables = [
            name for name, abstraction in self.chart_abstractions.items() if not abstraction.merges_values
        ]
        # a dropped variable has the initial value of the chart in both
        self.mutant_abstractions = {
            name: replace(abstraction, start=self.chart_abstractions[name].start)
            for name, abstraction in abstract_registers(mutant.machine, (), exact_variables).items()
        }
        self.merged_variables = frozenset(self.mutant_abstractions) - frozenset(exact_variables)
        self.mutant_states = ChartStateSpace(
            mutant,
            self.chart_states.inputs,
            conditions=TickConditions(mutant.machine, ()),
            abstractions=self.mutant_abstractions,
            limits=DEFAULT_LIMITS,
            budget=WorkBudget(),
        )
        self.product = Product(self.chart_states, self.mutant_states, self.merged_variables)

    # What both have in common

    @cached_property
    def counters(self) -> tuple[Mapping[str, Counter], Mapping[str, Counter]]:
        """The counters of the chart and of the mutant, by name, without their conditions."""
        return _counters_without_conditions(self.chart.machine), _counters_without_conditions(
            self.mutant.machine
        )

    @property
    def have_same_counters(self) -> bool:
        """Whether both have the same counters and histories, so each state of one is one of the other."""
        chart_counters, mutant_counters = self.counters
        same_history = self.chart.machine.history == self.mutant.machine.history
        return chart_counters == mutant_counters and same_history

    @property
    def have_same_start(self) -> bool:
        """Whether both begin with the same values, and keep the same values of all variables apart."""
        chart_values = self.chart.chart.start_values()
        mutant_values = self.mutant.chart.start_values()
        expressions = (*self.chart.machine.expressions, *self.mutant.machine.expressions)
        read_names = frozenset[str]().union(*(expression.names for expression in expressions))
        for name in self.merged_variables & read_names:
            if chart_values[name] != mutant_values[name]:
                return False
        pairs = zip(self.chart_abstractions.values(), self.mutant_abstractions.values(), strict=True)
        return all(_cells_of(first) == _cells_of(second) for first, second in pairs)

    @property
    def compare_same_counts(self) -> bool:
        """Whether both compare their counters with the same numbers."""
        return self.chart_states.timers.classes == self.mutant_states.timers.classes

    @cached_property
    def compared_registers(self) -> list[tuple[int, int]]:
        """The indices, in chart and mutant, of the registers that are compared by value."""
        chart_registers = self.chart.machine.registers
        mutant_registers = self.mutant.machine.registers
        shared = [
            name for name in chart_registers if name in mutant_registers and name not in self.merged_variables
        ]
        return [(chart_registers.index(name), mutant_registers.index(name)) for name in shared]

    # Pairs of states

    def mutant_state_of(self, state: Snapshot) -> Snapshot:
        """Return the state of the mutant that corresponds to one of the chart, as far as it can."""
        if not state.started:
            return self.mutant.initial()
        machine = self.mutant.machine
        registers = state.registers
        counters = self.counters[1]
        values: list[Value] = []
        for name in machine.registers:
            if name in counters:
                values.append(min(int(registers.get(name, 0)), counters[name].limit))
            else:
                values.append(registers[name])
        stored_history = dict(zip(state.machine.history, state.history, strict=True))
        history = tuple(stored_history.get(key, ()) for key in machine.history)
        return Snapshot(machine, state.started, state.configuration, values=tuple(values), history=history)

    def steps(self, pair: StatePair) -> Iterator[PairStep]:
        """Yield every way in which a tick of both can go from a pair of states."""

        def run_tick(path: PathCondition) -> PairTick:
            return self.product.run_tick(pair, path)

        for path, tick in explore_paths(self.product.inputs, run_tick, MAX_PRODUCT_PATHS):
            inputs = path.inputs()
            if path.is_approximate:  # the states after it hold values that represent others
                chart_after, mutant_after = self.step(pair, inputs)
            else:
                chart_after = tick.first.after
                mutant_after = tick.second.after
            same_terms = have_same_terms(tick.first_terms, tick.second_terms)
            yield PairStep(
                inputs, chart_after, mutant_after, same_terms, is_incomplete=bool(path.incomplete_reasons)
            )

    def step(self, pair: StatePair, inputs: Mapping[str, Value]) -> tuple[Snapshot | None, Snapshot | None]:
        """Run one tick of both; return the states after it, None if a tick fails."""
        return _step_or_none(self.chart, pair[0], inputs), _step_or_none(self.mutant, pair[1], inputs)

    def shows_difference(self, chart_state: Snapshot | None, mutant_state: Snapshot | None) -> bool:
        """Return whether active states or outputs differ, or only one tick failed."""
        if chart_state is None or mutant_state is None:
            return chart_state is not mutant_state
        if chart_state.configuration != mutant_state.configuration:
            return True
        return chart_state.values[: self.n_outputs] != mutant_state.values[: self.n_outputs]

    def is_same(self, step: PairStep) -> bool:
        """Return whether nothing differs after a step in what both have."""
        chart_state = step.chart_after
        mutant_state = step.mutant_after
        if chart_state is None or mutant_state is None:
            return chart_state is mutant_state
        if not step.has_same_terms:
            return False
        if (chart_state.configuration, chart_state.history) != (
            mutant_state.configuration,
            mutant_state.history,
        ):
            return False
        return all(chart_state.values[i] == mutant_state.values[j] for i, j in self.compared_registers)


def _step_or_none(interpreter: Interpreter, state: Snapshot, inputs: Mapping[str, Value]) -> Snapshot | None:
    try:
        return interpreter.step(state, inputs)
    except PosewrightError:
        return None


def _cells_of(abstraction: Abstraction) -> tuple[object, ...]:
    """Return which values an abstraction keeps apart."""
    return abstraction.drops, abstraction.is_exact, abstraction.bounds, abstraction.values


def _counters_without_conditions(machine: Machine) -> dict[str, Counter]:
    return {counter.name: replace(counter, condition=None) for counter in machine.counters}
