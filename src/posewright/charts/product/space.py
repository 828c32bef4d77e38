"""The state space of two charts side by side, explored as if they were one chart."""

from __future__ import annotations

from collections.abc import Mapping

from posewright.charts.expression import Expression
from posewright.charts.machine import Interpreter, Machine, Snapshot, TickConditions
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
    Counts,
    ExplorationLimits,
    InputSpace,
    PathCondition,
    StateKey,
    SymbolicStep,
    TimerAbstraction,
    UntimedTarget,
    WorkBudget,
    abstract_registers,
    build_abstract_state,
    explore_paths,
    list_assignments,
)
from posewright.charts.types import FloatType, IntType, Type

TermPair = tuple[Expression, Expression]
"""The terms that an output has in the two charts."""

OutputTerms = tuple[TermPair | None, ...]
"""The terms of each output that is compared by terms; None if it is the same in both, but not known."""

UntimedPair = tuple[int, int, OutputTerms]
"""A state of both charts without the counters: the numbers of the untimed states, and the outputs' terms."""


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
        value_requests: outputs whose values are needed, with the number of requests so far. After the first,
            constants are kept; after the second, the output is no longer compared by terms.
        compare_states: whether different active states are a difference, too; the charts then have the same
            states with the same numbers.

    Attributes:
        timers: the abstraction of both charts' counters.
        incomplete_reasons: why steps may be missing.
        n_cases: number of steps computed so far.
    """

    def __init__(
        self,
        first: Interpreter,
        second: Interpreter,
        limits: ExplorationLimits,
        budget: WorkBudget,
        value_requests: Mapping[str, int],
        *,
        compare_states: bool = False,
    ) -> None:
        """Choose the outputs that are compared by terms, and prepare the state spaces of both charts."""
        outputs = first.chart.outputs
        term_variables = _find_unread_outputs(first.machine) & _find_unread_outputs(second.machine)
        term_variables -= {
            name
            for name, n_requests in value_requests.items()
            if n_requests > 1 or not _has_many_values(outputs[name])
        }
        inputs = InputSpace.of(first.chart)
        self.limits = limits
        self.budget = budget
        self.value_requests = value_requests
        self.compare_states = compare_states
        self.outputs_by_terms = tuple(name for name in outputs if name in term_variables)
        self.outputs_by_value = tuple(name for name in outputs if name not in term_variables)

        def build_state_space(interpreter: Interpreter) -> ChartStateSpace:
            """Return the state space of one of the two charts."""
            machine = interpreter.machine
            tracked = (*self.outputs_by_value, *_names_read_by(machine, term_variables))
            abstractions = abstract_registers(machine, tracked=tracked)
            conditions = TickConditions(machine, ())
            return ChartStateSpace(
                interpreter, inputs, conditions, abstractions, limits=limits, budget=budget
            )

        self.product = Product(build_state_space(first), build_state_space(second), term_variables)
        self.timers = TimerAbstraction(first.machine, second.machine)
        self.comparison = TermComparison(inputs.domains, outputs)
        self.incomplete_reasons: dict[str, None] = {}
        self.n_cases = 0
        self._untimed_pairs: list[UntimedPair] = []
        self._untimed_numbers: dict[UntimedPair, int] = {}
        self._abstract_states: dict[tuple[int, int], AbstractState] = {}

    def start_key(self, pair: StatePair) -> StateKey:
        """Return the key of two states whose outputs are known."""
        output_terms: list[TermPair | None] = []
        for name in self.outputs_by_terms:
            first_value = pair[0].outputs[name]
            second_value = pair[1].outputs[name]
            if first_value == second_value and name not in self.value_requests:
                output_terms.append(None)
            else:
                output_terms.append((constant_term(first_value), constant_term(second_value)))
        return self._state_key(*pair, tuple(output_terms))

    def _state_key(self, first: Snapshot, second: Snapshot, output_terms: OutputTerms) -> StateKey:
        """Return the number of the untimed pair, and the counters of both charts."""
        first_untimed, first_counts = self.product.first.split(first)
        second_untimed, second_counts = self.product.second.split(second)
        untimed_pair = first_untimed, second_untimed, output_terms
        number = self._untimed_numbers.setdefault(untimed_pair, len(self._untimed_pairs))
        if number == len(self._untimed_pairs):
            self._untimed_pairs.append(untimed_pair)
        return number, (*first_counts, *second_counts)

    def abstract_state_at(self, untimed_number: int, counts_number: int) -> AbstractState:
        """Return the abstract state of both charts, given by the numbers of the untimed pair and counters."""
        key = (untimed_number, self.timers.class_numbers[counts_number])
        if key not in self._abstract_states:
            counts = self.timers.all_counts[counts_number]
            abstract_state = self._build_abstract_state(self._untimed_pairs[untimed_number], counts)
            self._abstract_states[key] = abstract_state
            self.n_cases += len(abstract_state.steps)
        return self._abstract_states[key]

    def _build_abstract_state(self, untimed_pair: UntimedPair, counts: Counts) -> AbstractState:
        """Return the abstract state of both charts, with a step for every path of their ticks."""
        first_untimed, second_untimed, output_terms = untimed_pair
        n_first_counters = len(self.product.first.machine.counters)
        first = self.product.first.join(first_untimed, counts[:n_first_counters])
        second = self.product.second.join(second_untimed, counts[n_first_counters:])
        paths = explore_paths(
            self.product.inputs,
            run=lambda path: self._compute_step((first, second), output_terms, path),
            limit=self.limits.cases_of_one,
            budget=self.budget,
        )
        abstract_state = build_abstract_state(first, ((path, *step) for path, step in paths))
        self.incomplete_reasons |= abstract_state.incomplete_reasons
        return abstract_state

    def _compute_step(
        self, pair: StatePair, output_terms: OutputTerms, path: PathCondition
    ) -> tuple[SymbolicStep, UntimedTarget | None]:
        """Return the step on one path, and where it leads."""
        tick = self.product.run_tick(pair, path)
        first = tick.first
        second = tick.second
        target: UntimedTarget | None = None
        differs = first.after is not second.after  # where both fail, they do the same
        if first.after is not None and second.after is not None:
            differs = any(first.env[name] != second.env[name] for name in self.outputs_by_value)
            if self.compare_states:
                differs = differs or first.after.configuration != second.after.configuration
            terms_after = None if differs else self._compute_output_terms(output_terms, tick, path)
            differs = terms_after is None
            if terms_after is not None:
                untimed_number, counts = self._state_key(first.after, second.after, terms_after)
                target = untimed_number, self.timers.running(counts)
        step = SymbolicStep(
            path.inputs(),
            first.after,
            first.taken_transitions,
            first.raised,
            first.error,
            condition_values=(differs,),
        )
        return step, target

    def _compute_output_terms(
        self, terms_before: OutputTerms, tick: PairTick, path: PathCondition
    ) -> OutputTerms | None:
        """Return the terms of the outputs after a tick, None if an output differs.

        Raises:
            ValueNeededError: the comparison needs the value of an output.
        """
        terms_after: list[TermPair | None] = []
        for name, terms in zip(self.outputs_by_terms, terms_before, strict=True):
            first = self._substitute_outputs(tick.first_terms.get(name), terms_before, chart_index=0)
            second = self._substitute_outputs(tick.second_terms.get(name), terms_before, chart_index=1)
            if terms is not None:
                first = first or terms[0]
                second = second or terms[1]
            if first is None and second is None:
                terms_after.append(None)
                continue
            if first is None or second is None:
                raise ValueNeededError(name)
            if first != second:
                for read in (*sorted(first.names), *sorted(second.names)):
                    if read in self.outputs_by_terms:
                        raise ValueNeededError(read)
            if self.comparison.differ(name, first, second, path):
                return None
            terms_after.append(self._keep_needed_constants(name, first, second))
        return tuple(terms_after)

    def _substitute_outputs(
        self, term: Expression | None, output_terms: OutputTerms, chart_index: int
    ) -> Expression | None:
        """Return a term with the known terms of outputs substituted; `chart_index` is 0 or 1."""
        if term is None or term.names.isdisjoint(self.outputs_by_terms):
            return term
        trees = {
            name: terms[chart_index].tree
            for name, terms in zip(self.outputs_by_terms, output_terms, strict=True)
            if terms
        }
        return substitute_terms(term, trees)

    def _keep_needed_constants(self, name: str, first: Expression, second: Expression) -> TermPair | None:
        """Return the terms of an output that is the same in both, if they are constants that are needed."""
        first_value = term_value(first)
        second_value = term_value(second)
        if name not in self.value_requests or first_value is None or second_value is None:
            return None
        value_type = self.comparison.variable_types[name]
        return constant_term(fit_value(value_type, first_value)), constant_term(
            fit_value(value_type, second_value)
        )


def _find_unread_outputs(machine: Machine) -> frozenset[str]:
    """Return the outputs of a machine that can be compared by terms: only outputs of this kind read them."""
    tracked: frozenset[str] = frozenset()
    while True:
        abstractions = abstract_registers(machine, tracked=tracked)
        outputs = frozenset(name for name in machine.chart.outputs if abstractions[name].drops)
        read = _names_read_by(machine, outputs) & abstractions.keys()
        if read <= tracked:
            return outputs
        tracked |= read


def _names_read_by(machine: Machine, outputs: frozenset[str]) -> frozenset[str]:
    """Return the names, other than `outputs`, that the terms of these outputs read."""
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
