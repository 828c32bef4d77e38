"""Feasible coverage: what can be covered in a chart at all, and why the rest cannot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from posewright.charts.coverage.coverage import Coverage
from posewright.charts.coverage.obligation import (
    DecisionSite,
    Fact,
    Measure,
    TestObligation,
    TestObligations,
    conditions_of,
    decision_fact,
    decisions_in,
    joins_by_choice,
    state_fact,
    transition_fact,
)
from posewright.charts.coverage.recorder import CoverageRecorder, cover_run
from posewright.charts.expression import Expression, Tree, names_in
from posewright.charts.machine import CompoundTransition, Snapshot
from posewright.charts.model import Chart
from posewright.charts.reachability import (
    Exploration,
    PathCondition,
    Registers,
    SymbolicCompiler,
    SymbolicFunction,
    explore,
    explore_paths,
)
from posewright.charts.running import to_rows
from posewright.charts.scenarios import Scenario
from posewright.charts.types import Type, Value
from posewright.errors import ExpressionError, PosewrightError


class TickCoverage(NamedTuple):
    """The facts that one tick covers.

    Attributes:
        inputs: the inputs of the tick.
        facts: the facts that it covers; of a failing tick, those before its error.
        ends_without_error: whether the tick does not fail.
    """

    inputs: Mapping[str, Value]
    facts: frozenset[Fact]
    ends_without_error: bool


@dataclass(frozen=True, eq=False)
class FeasibleCoverage:
    """What the steps of an exploration cover.

    Attributes:
        exploration: the exploration of the chart.
        coverage: the coverage of all steps, with infeasible obligations if the exploration is complete.
        ticks_by_state: what ticks from each distinct state cover.
    """

    exploration: Exploration
    coverage: Coverage
    ticks_by_state: Mapping[Snapshot, tuple[TickCoverage, ...]] = field(repr=False)

    @property
    def infeasible_transitions(self) -> dict[CompoundTransition, str]:
        """The transitions that no run can take, and why."""
        reasons_by_fact = {
            obligation.only_fact: reason
            for obligation, reason in self.coverage.infeasible.items()
            if obligation.measure is Measure.TRANSITIONS
        }
        return {
            transition: reasons_by_fact[transition_fact(transition)]
            for transition in self.exploration.machine.transitions
            if transition_fact(transition) in reasons_by_fact
        }


def compute_feasible_coverage(exploration: Exploration) -> FeasibleCoverage:
    """Run every step of every state of an exploration, and return what can be covered.

    Further ticks are run in which conditions are evaluated that a step skips. If the exploration is complete,
    an obligation (an item to be covered) that no tick meets is infeasible. Decisions for which inputs may be
    missing are an exception: nothing is claimed about them.
    """
    recorder = CoverageRecorder(exploration.interpreter)
    complete_evaluation = _CompleteEvaluation(exploration, recorder.obligations)
    ticks_by_state: dict[Snapshot, tuple[TickCoverage, ...]] = {}
    for state in exploration.distinct_states:
        rows = [step.inputs for step in exploration.steps_from(state)]
        rows += [row for row in complete_evaluation.generate_rows(state) if row not in rows]
        ticks_by_state[state] = tuple(_run_tick(recorder, state, row) for row in rows)
    coverage = recorder.coverage
    if exploration.complete:
        unproved_decisions = frozenset[int]()
        if complete_evaluation.may_miss_inputs:
            unproved_decisions = complete_evaluation.skipping_decisions
        reasons = _InfeasibilityReasons(exploration, coverage, unproved_decisions)
        coverage = replace(coverage, infeasible=dict(reasons.list_all()))
    return FeasibleCoverage(exploration, coverage, ticks_by_state)


def exclude_infeasible(coverage: Coverage, feasible_coverage: FeasibleCoverage) -> Coverage:
    """Return a coverage with the infeasible obligations excluded."""
    return replace(coverage, infeasible=feasible_coverage.coverage.infeasible)


def coverage_of(chart: Chart, runs: Iterable[Scenario | Path | str]) -> Coverage:
    """Return the coverage of several runs of a chart together, with infeasible obligations excluded.

    Args:
        chart: the chart to be run.
        runs: scenarios, or paths of scenarios or of CSV files of inputs.

    Raises:
        InputError: there is no run, or a run is not valid.
        ExpressionError: a guard or an action divides by zero.
    """
    feasible_coverage = compute_feasible_coverage(explore(chart))
    coverage = cover_run(chart, [])
    for run in runs:
        coverage += cover_run(chart, to_rows(chart, run))
    return exclude_infeasible(coverage, feasible_coverage)


def _run_tick(recorder: CoverageRecorder, state: Snapshot, inputs: Mapping[str, Value]) -> TickCoverage:
    """Run a tick and return what it covers; of a failing tick, what it covers before its error."""
    try:
        outcome = recorder.run_tick(state, inputs)
    except PosewrightError:
        return TickCoverage(inputs, recorder.tick_facts(None), ends_without_error=False)
    return TickCoverage(inputs, recorder.tick_facts(outcome), ends_without_error=True)


class _CompleteEvaluation:
    """Generates ticks in which every condition of a decision is evaluated, needed or not.

    A tick never evaluates the other branch of an `a if c else b`, nor does an exploration evaluate a
    condition next to one that has decided. Its steps only split where something is evaluated: of the inputs
    that one step represents, some may show that a condition decides, and others not.

    Attributes:
        skipping_decisions: numbers of the decisions in which conditions may be skipped.
        complete_interpreter: an interpreter that evaluates all conditions of these decisions; None if there
            are no such decisions.
        may_miss_inputs: whether there may be inputs that were not generated.
    """

    def __init__(self, exploration: Exploration, obligations: TestObligations) -> None:
        """Find the decisions in which conditions may be skipped, and wrap the functions of their expressions.

        A decision site is an expression with decisions in it.
        """
        self.exploration = exploration
        self.state_space = exploration.state_space
        self.may_miss_inputs = False
        skipping_decisions = set[int]()
        interpreter = self.state_space.symbolic_interpreter
        complete_functions: dict[int, SymbolicFunction] = {}  # by the identity of the expression
        for site in obligations.decision_sites:
            skipping_decisions_of_site = [
                decision_number
                for decision_number, tree in enumerate(site.decisions, start=site.first_decision)
                if self._may_skip_conditions(tree)
            ]
            if not skipping_decisions_of_site:
                continue
            skipping_decisions.update(skipping_decisions_of_site)
            for expression in site.lowered_expressions:
                function = interpreter.functions[id(expression)]
                complete_function = self._evaluate_all_conditions(expression, site, function)
                complete_functions[id(expression)] = complete_function
        self.skipping_decisions = frozenset(skipping_decisions)
        self.complete_interpreter = (
            interpreter.with_functions(complete_functions) if complete_functions else None
        )

    def _may_skip_conditions(self, tree: Tree) -> bool:
        """Return whether an exploration may skip conditions of a decision, given by its tree.

        It skips those of the branch not taken of an `if`, and those next to a condition that reads no input
        and has decided: of `near and after(1 s)`, it need not evaluate `near` in the first second.
        """
        if joins_by_choice(tree):
            return True
        conditions = list(conditions_of(tree))
        input_names = self.exploration.chart.inputs.keys()
        has_condition_without_inputs = any(not names_in(condition) & input_names for condition in conditions)
        return len(conditions) > 1 and has_condition_without_inputs

    def _evaluate_all_conditions(
        self, expression: Expression, site: DecisionSite, function: SymbolicFunction
    ) -> SymbolicFunction:
        """Return a function that first evaluates all conditions of the decisions in an expression.

        Each path through a tick then has one value of every condition.

        Args:
            expression: the expression, as the machine evaluates it.
            site: the same expression as written, with its decisions.
            function: evaluates the expression symbolically, for given registers and on a path.
        """
        domains = self.state_space.inputs.domains
        input_types: dict[str, Type] = {name: domain.value_type for name, domain in domains.items()}
        compiler = SymbolicCompiler(domains, {**self.exploration.machine.types, **input_types})
        condition_functions = []
        for decision_tree in decisions_in(expression.tree, is_decision=site.is_decision):
            if self._may_skip_conditions(decision_tree):
                for condition_tree in conditions_of(decision_tree):
                    condition = expression.with_tree(condition_tree)
                    condition_functions.append(compiler.compile_condition(condition))

        def evaluate(registers: Registers, path: PathCondition) -> Value:
            for evaluate_condition in condition_functions:
                with suppress(ExpressionError):  # a division that the tick itself may never reach
                    evaluate_condition(registers, path)
            return function(registers, path)

        return evaluate

    def generate_rows(self, state: Snapshot) -> Iterator[Mapping[str, Value]]:
        """Yield inputs for every path that a tick can take through all its conditions, also the skipped ones.

        Args:
            state: the state before the tick.
        """
        interpreter = self.complete_interpreter
        if interpreter is None:  # no condition is ever skipped
            return
        paths_with_results = explore_paths(
            self.state_space.inputs,
            run=lambda path: interpreter.run_tick(state, path),
            max_paths=self.state_space.limits.max_cases_per_state,
        )
        for path, _ in paths_with_results:
            self.may_miss_inputs = self.may_miss_inputs or bool(path.incomplete_reasons)
            yield path.inputs()


class _InfeasibilityReasons:
    """Gives the reasons why obligations cannot be met.

    Args:
        exploration: a complete exploration.
        coverage: the coverage of all its steps.
        unproved_decisions: numbers of decisions about which nothing is claimed, as inputs may be missing.

    Attributes:
        decision_sites: the expressions with decisions in them.
        nodes: the nodes of the machine, by number.
        decision_by_guard_id: the number of the decision that a guard makes, by the identity of the guard.
        raised_events: the events that occur, from outside or raised by some step.
    """

    def __init__(
        self, exploration: Exploration, coverage: Coverage, unproved_decisions: frozenset[int]
    ) -> None:
        """Collect the decisions of guards, and the events that occur in explored steps."""
        self.exploration = exploration
        self.coverage = coverage
        self.unproved_decisions = unproved_decisions
        self.decision_sites = coverage.obligations.decision_sites
        self.nodes = exploration.machine.nodes
        self.decision_by_guard_id = {
            id(site.written_expression): site.first_decision
            for site in self.decision_sites
            if site.is_decision
        }
        self.raised_events = set(exploration.chart.events)
        for state in exploration.distinct_states:
            for step in exploration.steps_from(state):
                self.raised_events.update(step.raised)

    def list_all(self) -> Iterator[tuple[TestObligation, str]]:
        """Yield every infeasible obligation with its reason."""
        unproved_decisions = self._list_decisions_in_dropped_values() | self.unproved_decisions
        for obligation in self.coverage.missing:
            if obligation.decision_number is None or obligation.decision_number not in unproved_decisions:
                yield obligation, self._explain(obligation)

    def _list_decisions_in_dropped_values(self) -> set[int]:
        """Return the numbers of the decisions inside assigned values; none if no register was dropped.

        An exploration that drops a register does not compute the values assigned to it, so it does not
        explore all outcomes of the decisions in them.
        """
        abstractions = self.exploration.state_space.abstractions
        if not any(abstraction.is_unread for abstraction in abstractions.values()):
            return set()
        decision_numbers = set[int]()
        for site in self.decision_sites:
            is_assigned_value = not site.is_decision
            if is_assigned_value:
                n_decisions = len(site.decisions)
                decision_numbers.update(range(site.first_decision, site.first_decision + n_decisions))
        return decision_numbers

    def _explain(self, obligation: TestObligation) -> str:
        """Return why an obligation cannot be met."""
        if obligation.measure is Measure.STATES:
            return "no transition that can be taken leads there"
        if obligation.measure is Measure.TRANSITIONS:
            return self._explain_transition(obligation)
        if obligation.measure is Measure.SEGMENTS:
            return "no transition through it can be taken"
        if obligation.decision_number is not None and not self._is_evaluated(obligation.decision_number):
            return "it is never evaluated"
        if obligation.measure is Measure.MCDC:
            return "whenever it is evaluated, another condition decides"
        return "whenever it is evaluated, it has the other value"

    def _is_evaluated(self, decision_number: int) -> bool:
        """Return whether some tick evaluates a decision."""
        facts = {decision_fact(decision_number, outcome=True), decision_fact(decision_number, outcome=False)}
        return not facts.isdisjoint(self.coverage.facts)

    def _explain_transition(self, obligation: TestObligation) -> str:
        """Return why the transition of an obligation can never be taken."""
        _, source_number, transition_index = obligation.only_fact  # as `transition_fact` builds it
        transition = self.nodes[int(source_number)].transitions[int(transition_index)]
        if state_fact(transition.source) not in self.coverage.facts:
            return f"{self.nodes[transition.source].name} is never active"
        if transition.events and not any(event in self.raised_events for event in transition.events):
            return f"{' or '.join(transition.events)} is never raised"
        for segment in transition.segments:
            decision_number = self.decision_by_guard_id.get(id(segment.when))
            if decision_number is None:  # the guard is constant, or an `else`
                continue
            if decision_fact(decision_number, outcome=True) in self.coverage.facts:
                continue
            if self._is_evaluated(decision_number):
                return f"`{segment.when}` never holds when it is evaluated"
            return "it is never evaluated: a transition before it is always taken first"
        return "a transition before it is always taken first"
