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
        next_chart_state: state of the chart after it; None if the tick fails.
        next_mutant_state: state of the mutant after it; None if the tick fails.
        assigns_same_terms: whether both set the same of the variables that are not compared by value, to the
            same terms.
        is_incomplete: whether there may be other inputs that were not followed.
    """

    inputs: Mapping[str, Value]
    next_chart_state: Snapshot | None
    next_mutant_state: Snapshot | None
    assigns_same_terms: bool
    is_incomplete: bool


class MutantPair:
    """An explored chart and a mutant with the same states, inputs, events and outputs.

    Args:
        exploration: the exploration of the chart.
        mutant: the interpreter of the mutant.

    Attributes:
        chart: the interpreter of the chart.
        mutant: the interpreter of the mutant.
        chart_space: the states of the chart.
        mutant_space: the states of the mutant.
        merged_variables: variables of which several values are merged into one, so that terms are compared.
        product: runs ticks of both.
    """

    def __init__(self, exploration: Exploration, mutant: Interpreter) -> None:
        """Prepare the states of the mutant, and ticks of both.

        A variable is abstracted where the exploration merges some of its values into one, or drops it
        (records no value, since nothing reads it). The mutant's variables are abstracted like the chart's,
        unless the mutant reads them otherwise. The variables that are abstracted in the chart are compared
        as terms.
        """
        self.chart_space = exploration.state_space
        self.chart = exploration.interpreter
        self.mutant = mutant
        self.n_outputs = len(exploration.chart.outputs)
        self.n_variables = len(exploration.chart.variables)
        self.chart_abstractions = self.chart_space.abstractions
        exact_variables = [
            name for name, abstraction in self.chart_abstractions.items() if not abstraction.merges_values
        ]
        mutant_abstractions = abstract_registers(mutant.machine, tracked=exact_variables)
        # a variable that is dropped starts with the initial value of the chart in both
        self.mutant_abstractions = {
            name: replace(abstraction, start_value=self.chart_abstractions[name].start_value)
            for name, abstraction in mutant_abstractions.items()
        }
        self.term_variables = frozenset(self.mutant_abstractions) - frozenset(exact_variables)
        self.mutant_space = ChartStateSpace(
            mutant,
            self.chart_space.inputs,
            conditions=TickConditions(mutant.machine, conditions=()),
            abstractions=self.mutant_abstractions,
            limits=DEFAULT_LIMITS,
            budget=WorkBudget(),
        )
        self.product = Product(self.chart_space, self.mutant_space, self.term_variables)

    # What both have in common

    @cached_property
    def mutant_counters(self) -> Mapping[str, Counter]:
        """The counters of the mutant by name, without their conditions."""
        return _counters_without_conditions(self.mutant.machine)

    @property
    def have_same_counters(self) -> bool:
        """Whether both have the same counters and histories, so each state of one is one of the other."""
        chart_counters = _counters_without_conditions(self.chart.machine)
        have_same_histories = self.chart.machine.histories == self.mutant.machine.histories
        return chart_counters == self.mutant_counters and have_same_histories

    @property
    def have_same_start(self) -> bool:
        """Whether both begin with the same values, and the explorations of both merge the same values.

        The initial values matter only of variables that something reads and that are not compared by value.
        """
        chart_start_values = self.chart.chart.start_values()
        mutant_start_values = self.mutant.chart.start_values()
        expressions = (*self.chart.machine.expressions, *self.mutant.machine.expressions)
        read_names = frozenset[str]().union(*(expression.names for expression in expressions))
        for name in self.term_variables & read_names:
            if chart_start_values[name] != mutant_start_values[name]:
                return False
        pairs = zip(self.chart_abstractions.values(), self.mutant_abstractions.values(), strict=True)
        return all(
            _cells_of(chart_abstraction) == _cells_of(mutant_abstraction)
            for chart_abstraction, mutant_abstraction in pairs
        )

    @property
    def compares_counters_alike(self) -> bool:
        """Whether both compare their counters with the same numbers, so that they tell the same values apart.

        If so, states of the chart whose counters a tick cannot distinguish are such states of the mutant.
        """
        return (
            self.chart_space.counter_abstraction.class_tables
            == self.mutant_space.counter_abstraction.class_tables
        )

    @cached_property
    def compared_registers(self) -> list[tuple[int, int]]:
        """The indices, in chart and mutant, of the registers that are compared by value."""
        chart_registers = self.chart.machine.registers
        mutant_registers = self.mutant.machine.registers
        compared_names = [
            name for name in chart_registers if name in mutant_registers and name not in self.term_variables
        ]
        return [(chart_registers.index(name), mutant_registers.index(name)) for name in compared_names]

    # Pairs of states

    def corresponding_mutant_state(self, state: Snapshot) -> Snapshot:
        """Return the state of the mutant with the same active states and values as a state of the chart.

        A counter above the limit that it has in the mutant is set to that limit. A counter that only the
        mutant has is zero, and such a history is empty.
        """
        if not state.started:
            return self.mutant.initial()
        mutant_machine = self.mutant.machine
        chart_registers = state.registers
        values: list[Value] = []
        for name in mutant_machine.registers:
            if name in self.mutant_counters:
                values.append(min(int(chart_registers.get(name, 0)), self.mutant_counters[name].limit))
            else:
                values.append(chart_registers[name])
        chart_history = dict(zip(state.machine.histories, state.history, strict=True))
        history = tuple(chart_history.get(history_key, ()) for history_key in mutant_machine.histories)
        return Snapshot(
            mutant_machine, state.started, state.configuration, values=tuple(values), history=history
        )

    def iterate_steps(self, pair: StatePair) -> Iterator[PairStep]:
        """Yield every way in which a tick of both can go from a pair of states."""

        def run_symbolic_tick(path: PathCondition) -> PairTick:
            """Return the result of a tick of both on a path."""
            return self.product.run_tick(pair, path)

        for path, tick in explore_paths(self.product.inputs, run_symbolic_tick, MAX_PRODUCT_PATHS):
            inputs = path.inputs()
            if path.has_representative_values:
                # some values only represent those of their cell: a concrete tick computes the actual ones
                next_chart_state, next_mutant_state = self.run_tick(pair, inputs)
            else:
                next_chart_state = tick.first.next_state
                next_mutant_state = tick.second.next_state
            yield PairStep(
                inputs,
                next_chart_state,
                next_mutant_state,
                assigns_same_terms=have_same_terms(tick.first_terms, tick.second_terms),
                is_incomplete=bool(path.incomplete_reasons),
            )

    def run_tick(
        self, pair: StatePair, inputs: Mapping[str, Value]
    ) -> tuple[Snapshot | None, Snapshot | None]:
        """Run one tick of both; return the states after it, None if a tick fails."""
        next_chart_state = _step_or_none(self.chart, pair.first, inputs)
        next_mutant_state = _step_or_none(self.mutant, pair.second, inputs)
        return next_chart_state, next_mutant_state

    def shows_difference(self, chart_state: Snapshot | None, mutant_state: Snapshot | None) -> bool:
        """Return whether active states or outputs differ, or only one tick failed.

        Args:
            chart_state: the state of the chart after a tick; None if the tick failed.
            mutant_state: the state of the mutant after the same tick; None if its tick failed.
        """
        if chart_state is None or mutant_state is None:
            return chart_state is not mutant_state  # unless both are None
        if chart_state.configuration != mutant_state.configuration:
            return True
        # the outputs are the first of a snapshot's values
        return chart_state.values[: self.n_outputs] != mutant_state.values[: self.n_outputs]

    def is_same_after(self, step: PairStep) -> bool:
        """Return whether chart and mutant are in the same state after a step.

        Compared are the active states, the histories, the registers that both have, and the terms that they
        assign to variables which are not compared by value. If both ticks fail, they are the same.
        """
        chart_state = step.next_chart_state
        mutant_state = step.next_mutant_state
        if chart_state is None or mutant_state is None:
            return chart_state is None and mutant_state is None
        if not step.assigns_same_terms:
            return False
        if chart_state.configuration != mutant_state.configuration:
            return False
        if chart_state.history != mutant_state.history:
            return False
        return all(
            chart_state.values[chart_index] == mutant_state.values[mutant_index]
            for chart_index, mutant_index in self.compared_registers
        )


def _step_or_none(interpreter: Interpreter, state: Snapshot, inputs: Mapping[str, Value]) -> Snapshot | None:
    """Return the state after a tick, None if the tick fails."""
    try:
        return interpreter.step(state, inputs)
    except PosewrightError:
        return None


def _cells_of(abstraction: Abstraction) -> tuple[object, ...]:
    """Return which values an abstraction keeps apart."""
    return abstraction.is_unread, abstraction.is_exact, abstraction.cell_bounds, abstraction.cell_values


def _counters_without_conditions(machine: Machine) -> dict[str, Counter]:
    """Return the counters of a machine by name, without the conditions under which they run."""
    return {counter.name: replace(counter, condition=None) for counter in machine.counters}
