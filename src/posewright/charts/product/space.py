"""The state space of two charts side by side, explored as if they were one chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from posewright.charts.expression import Expression, Tree
from posewright.charts.machine import Interpreter, Machine, TickConditions
from posewright.charts.product.product import PairTick, Product, StatePair
from posewright.charts.product.terms import (
    TermComparison,
    constant_term,
    fit_value,
    substitute_terms,
    term_value,
)
from posewright.charts.reachability import (
    MAX_ENUMERATED,
    AbstractState,
    ChartStateSpace,
    CounterAbstraction,
    CounterValues,
    ExplorationLimits,
    ExploredPath,
    InputSpace,
    PathCondition,
    StateKey,
    StepTarget,
    SymbolicStep,
    WorkBudget,
    abstract_registers,
    build_abstract_state,
    explore_paths,
    list_assignments,
)
from posewright.charts.types import FloatType, IntType, Type


class TermPair(NamedTuple):
    """The terms that an output has in each of the two charts."""

    first: Expression
    second: Expression


OutputTerms = tuple[TermPair | None, ...]
"""The terms of each output that is compared by terms; None if it is the same in both, but not known."""


class UntimedPair(NamedTuple):
    """A state of both charts without the counters.

    Attributes:
        first_untimed_id: number of the untimed state of the first chart.
        second_untimed_id: number of the untimed state of the second chart.
        output_terms: the terms of the outputs that are compared by terms.
    """

    first_untimed_id: int
    second_untimed_id: int
    output_terms: OutputTerms


class ValueNeededError(Exception):
    """Raised within this package: one chart sets an output that the other does not, so its values are needed.

    The exploration then begins again.
    """

    def __init__(self, output: str) -> None:
        super().__init__(output)
        self.output = output


class ProductSpace:
    """The state space of two charts with the same inputs, events and outputs.

    A step of both is a `SymbolicStep` of the first chart with one condition value: whether the charts differ
    after it, because their outputs do or only one of the ticks fails. Such a step has no successor.

    Outputs that nothing reads and that have many values are compared by the terms they are set to. Their
    values need not be enumerated, and in a chart that does not set one it stays as it was.

    Args:
        first: the interpreter of the first chart.
        second: the interpreter of the second chart.
        limits: the limits of the exploration.
        budget: the work that may be done.
        n_requests_by_output: outputs whose values are needed, with the number of requests so far. After the
            first, constants are kept; after the second, the output is no longer compared by terms.
        compare_states: whether different active states are a difference, too; the charts then have the same
            states with the same numbers.

    Attributes:
        product: runs ticks of both charts.
        outputs_by_terms: the outputs that are compared by the terms they are set to.
        outputs_by_value: the other outputs.
        term_comparison: decides whether two terms differ.
        counter_abstraction: the abstraction of both charts' counters.
        incomplete_reasons: why steps may be missing.
        n_cases: number of steps computed so far.
    """

    def __init__(
        self,
        first: Interpreter,
        second: Interpreter,
        limits: ExplorationLimits,
        budget: WorkBudget,
        n_requests_by_output: Mapping[str, int],
        *,
        compare_states: bool = False,
    ) -> None:
        """Choose the outputs that are compared by terms, and prepare the state spaces of both charts."""
        outputs = first.chart.outputs
        term_variables = _find_unread_outputs(first.machine) & _find_unread_outputs(second.machine)
        # outputs whose values the comparison has turned out to need
        term_variables -= {
            name
            for name, n_requests in n_requests_by_output.items()
            if n_requests > 1 or not _has_many_values(outputs[name])
        }
        inputs = InputSpace.of(first.chart)
        self.limits = limits
        self.budget = budget
        self.n_requests_by_output = n_requests_by_output
        self.compare_states = compare_states
        self.outputs_by_terms = tuple(name for name in outputs if name in term_variables)
        self.outputs_by_value = tuple(name for name in outputs if name not in term_variables)

        def build_state_space(interpreter: Interpreter) -> ChartStateSpace:
            """Return the state space of one of the two charts.

            It records the exact values of outputs that are compared by value, and of all that the terms of
            the other outputs read.
            """
            machine = interpreter.machine
            tracked = (*self.outputs_by_value, *_names_read_by(machine, term_variables))
            abstractions = abstract_registers(machine, tracked=tracked)
            conditions = TickConditions(machine, conditions=())
            return ChartStateSpace(
                interpreter, inputs, conditions, abstractions, limits=limits, budget=budget
            )

        self.product = Product(build_state_space(first), build_state_space(second), term_variables)
        self.counter_abstraction = CounterAbstraction(first.machine, second.machine)
        self.term_comparison = TermComparison(inputs.domains, outputs)
        self.incomplete_reasons: dict[str, None] = {}
        self.n_cases = 0
        self._untimed_pairs: list[UntimedPair] = []  # by untimed_id
        self._untimed_ids: dict[UntimedPair, int] = {}
        # by the untimed_id and the number of the classes of the counters
        self._abstract_states: dict[tuple[int, int], AbstractState] = {}

    def start_key(self, pair: StatePair) -> StateKey:
        """Return the key of a pair of states before the first tick; the values of their outputs are known."""
        output_terms: list[TermPair | None] = []
        for name in self.outputs_by_terms:
            first_value = pair.first.outputs[name]
            second_value = pair.second.outputs[name]
            if first_value == second_value and name not in self.n_requests_by_output:
                output_terms.append(None)  # the same in both, which is all that has to be known
            else:
                output_terms.append(TermPair(constant_term(first_value), constant_term(second_value)))
        return self._key_of_pair(pair, tuple(output_terms))

    def _key_of_pair(self, pair: StatePair, output_terms: OutputTerms) -> StateKey:
        """Return the key of a pair of states: the number of the untimed pair, and both charts' counters.

        An untimed pair, the states without their counters, gets the next number when it occurs first.

        Args:
            pair: a state of each chart.
            output_terms: the terms of the outputs that are compared by terms.
        """
        first_key = self.product.first_space.split_counters(pair.first)
        second_key = self.product.second_space.split_counters(pair.second)
        untimed_pair = UntimedPair(first_key.untimed_id, second_key.untimed_id, output_terms)
        next_id = len(self._untimed_pairs)
        untimed_id = self._untimed_ids.setdefault(untimed_pair, next_id)
        is_new = untimed_id == next_id
        if is_new:
            self._untimed_pairs.append(untimed_pair)
        return StateKey(untimed_id, (*first_key.counter_values, *second_key.counter_values))

    def abstract_state_at(self, untimed_id: int, counter_values_id: int) -> AbstractState:
        """Return the steps of both charts from a pair of states, as the abstract state that it belongs to.

        It is computed at the first call, and shared by all pairs whose counters no tick can distinguish.

        Args:
            untimed_id: the number of the pair of states without their counters.
            counter_values_id: the number of the values of both charts' counters.
        """
        key = (untimed_id, self.counter_abstraction.class_id_of_values[counter_values_id])
        if key not in self._abstract_states:
            counter_values = self.counter_abstraction.values_of_id[counter_values_id]
            abstract_state = self._build_abstract_state(self._untimed_pairs[untimed_id], counter_values)
            self._abstract_states[key] = abstract_state
            self.n_cases += len(abstract_state.steps)
        return self._abstract_states[key]

    def _build_abstract_state(
        self, untimed_pair: UntimedPair, counter_values: CounterValues
    ) -> AbstractState:
        """Return an abstract state of both charts, with a step for every path of their ticks.

        Args:
            untimed_pair: the state of both charts without the counters.
            counter_values: the values of the first chart's counters, then of the second's.
        """
        first_space = self.product.first_space
        second_space = self.product.second_space
        n_first_counters = len(first_space.machine.counters)
        first_counter_values = counter_values[:n_first_counters]
        second_counter_values = counter_values[n_first_counters:]
        pair = StatePair(
            first_space.join_counters(untimed_pair.first_untimed_id, first_counter_values),
            second_space.join_counters(untimed_pair.second_untimed_id, second_counter_values),
        )
        explored_paths = explore_paths(
            self.product.inputs,
            run=lambda path: self._compute_step(pair, untimed_pair.output_terms, path),
            max_paths=self.limits.max_cases_per_state,
            budget=self.budget,
        )
        abstract_state = build_abstract_state(
            pair.first, (ExploredPath(path, step, target) for path, (step, target) in explored_paths)
        )
        self.incomplete_reasons |= abstract_state.incomplete_reasons
        return abstract_state

    def _compute_step(
        self, pair: StatePair, output_terms: OutputTerms, path: PathCondition
    ) -> tuple[SymbolicStep, StepTarget | None]:
        """Return the step on one path, and where it leads; None if the charts differ or both ticks fail.

        Args:
            pair: the states before the tick.
            output_terms: the terms of the outputs before the tick.
            path: the path, which the tick restricts.
        """
        tick = self.product.run_tick(pair, path)
        first_state = tick.first.next_state
        second_state = tick.second.next_state
        target = None
        if first_state is None or second_state is None:
            both_fail = first_state is None and second_state is None
            differs = not both_fail
        elif self._shows_difference(tick):
            differs = True
        else:
            next_terms = self._compute_output_terms(output_terms, tick, path)
            differs = next_terms is None
            if next_terms is not None:
                next_key = self._key_of_pair(StatePair(first_state, second_state), next_terms)
                running_counters = self.counter_abstraction.running_counters(next_key.counter_values)
                target = StepTarget(next_key.untimed_id, running_counters)
        step = SymbolicStep(
            path.inputs(),
            tick.first.next_state,
            tick.first.taken_transitions,
            tick.first.raised,
            tick.first.error,
            condition_values=(differs,),
        )
        return step, target

    def _shows_difference(self, tick: PairTick) -> bool:
        """Return whether the ticks of both charts differ in an output that is compared by value.

        With `compare_states`, also whether other states are active after them.
        """
        first_values = tick.first.variable_values
        second_values = tick.second.variable_values
        if any(first_values[name] != second_values[name] for name in self.outputs_by_value):
            return True
        if not self.compare_states or tick.first.next_state is None or tick.second.next_state is None:
            return False
        return tick.first.next_state.configuration != tick.second.next_state.configuration

    def _compute_output_terms(
        self, previous_terms: OutputTerms, tick: PairTick, path: PathCondition
    ) -> OutputTerms | None:
        """Return the terms of the outputs after a tick, None if an output differs.

        An output that a chart does not set in the tick has the term that it had before. If neither chart sets
        it, and its term was not known, it stays the same in both.

        Args:
            previous_terms: the terms before the tick, in the order of `outputs_by_terms`.
            tick: the tick, with the terms that it assigns.
            path: the path; it is restricted where only some inputs make an output differ.

        Raises:
            ValueNeededError: the comparison needs the value of an output.
        """
        known_terms: dict[str, TermPair] = {
            name: term_pair
            for name, term_pair in zip(self.outputs_by_terms, previous_terms, strict=True)
            if term_pair is not None
        }
        first_trees = {name: term_pair.first.tree for name, term_pair in known_terms.items()}
        second_trees = {name: term_pair.second.tree for name, term_pair in known_terms.items()}
        next_terms: list[TermPair | None] = []
        for name in self.outputs_by_terms:
            first_term = self._substitute_outputs(tick.first_terms.get(name), first_trees)
            second_term = self._substitute_outputs(tick.second_terms.get(name), second_trees)
            if name in known_terms:
                first_term = first_term or known_terms[name].first
                second_term = second_term or known_terms[name].second
            if first_term is None and second_term is None:
                next_terms.append(None)
                continue
            if first_term is None or second_term is None:  # only one chart sets the output
                raise ValueNeededError(name)
            if first_term != second_term:
                self._require_no_outputs((*sorted(first_term.names), *sorted(second_term.names)))
            if self.term_comparison.differ(name, first_term, second_term, path):
                return None
            next_terms.append(self._constant_terms_if_requested(name, first_term, second_term))
        return tuple(next_terms)

    def _require_no_outputs(self, names: Iterable[str]) -> None:
        """Raise a ValueNeededError if some name in a term is an output, whose value is not known."""
        for name in names:
            if name in self.outputs_by_terms:
                raise ValueNeededError(name)

    def _substitute_outputs(
        self, term: Expression | None, output_trees: Mapping[str, Tree]
    ) -> Expression | None:
        """Return a term in which outputs are replaced by the terms that they have.

        Args:
            term: the term that a chart assigns to an output; None, which is returned, if it assigns none.
            output_trees: the trees of the known terms, by output.
        """
        if term is None or term.names.isdisjoint(self.outputs_by_terms):
            return term
        return substitute_terms(term, output_trees)

    def _constant_terms_if_requested(
        self, name: str, first: Expression, second: Expression
    ) -> TermPair | None:
        """Return the terms of an output that is the same in both charts, if they are to be stored.

        They are stored if they are constants and the value of the output was requested; else the result is
        None, for an output that is the same in both but not known.

        Args:
            name: the output.
            first: its term in the first chart.
            second: its term in the second chart.
        """
        first_value = term_value(first)
        second_value = term_value(second)
        if name not in self.n_requests_by_output or first_value is None or second_value is None:
            return None
        value_type = self.term_comparison.variable_types[name]
        return TermPair(
            constant_term(fit_value(value_type, first_value)),
            constant_term(fit_value(value_type, second_value)),
        )


def _find_unread_outputs(machine: Machine) -> frozenset[str]:
    """Return the outputs of a machine that can be compared by terms: those that nothing has to read.

    The variables that the terms of these outputs read have to be tracked, so they are not among them. As
    there may be outputs among these variables, the search is repeated until no further ones are read.
    """
    tracked: frozenset[str] = frozenset()
    while True:
        abstractions = abstract_registers(machine, tracked=tracked)
        unread_outputs = frozenset(name for name in machine.chart.outputs if abstractions[name].is_unread)
        names_read = _names_read_by(machine, unread_outputs) & abstractions.keys()
        if names_read <= tracked:
            return unread_outputs
        tracked |= names_read


def _names_read_by(machine: Machine, outputs: frozenset[str]) -> frozenset[str]:
    """Return the names that the assigned values of some outputs read, without these outputs themselves."""
    names = set[str]()
    for action in list_assignments(machine):
        for name, value in action.values.items():
            if name in outputs:
                names |= value.names
    return frozenset(names) - outputs


def _has_many_values(value_type: Type) -> bool:
    """Return whether a type has more values than are enumerated."""
    if isinstance(value_type, FloatType):
        return True
    return isinstance(value_type, IntType) and value_type.high - value_type.low >= MAX_ENUMERATED
