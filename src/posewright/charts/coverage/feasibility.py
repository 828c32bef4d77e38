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
        completes: whether the tick does not fail.
    """

    inputs: Mapping[str, Value]
    facts: frozenset[Fact]
    completes: bool


@dataclass(frozen=True, eq=False)
class FeasibleCoverage:
    """What the steps of an exploration cover.

    Attributes:
        exploration: the exploration of the chart.
        coverage: the coverage of all steps, with infeasible obligations if the exploration is complete.
        ticks: what ticks from each distinct state cover.
    """

    exploration: Exploration
    coverage: Coverage
    ticks: Mapping[Snapshot, tuple[TickCoverage, ...]] = field(repr=False)

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
    obligations that no tick meets are infeasible; only those on decisions for which inputs may be missing are
    left open.
    """
    recorder = CoverageRecorder(exploration.interpreter)
    complete_evaluation = _CompleteEvaluation(exploration, recorder.obligations)
    ticks: dict[Snapshot, tuple[TickCoverage, ...]] = {}
    for state in exploration.distinct_states:
        rows = [step.inputs for step in exploration.steps_from(state)]
        rows += [row for row in complete_evaluation.generate_rows(state) if row not in rows]
        ticks[state] = tuple(_run_tick(recorder, state, row) for row in rows)
    coverage = recorder.coverage
    if exploration.complete:
        unsure_decisions = frozenset[int]()
        if complete_evaluation.is_incomplete:
            unsure_decisions = complete_evaluation.decisions
        reasons = _InfeasibilityReasons(exploration, coverage, unsure_decisions)
        coverage = replace(coverage, infeasible=dict(reasons.list_all()))
    return FeasibleCoverage(exploration, coverage, ticks)


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
        outcome = recorder.outcome(state, inputs)
    except PosewrightError:
        return TickCoverage(inputs, recorder.tick_facts(None), completes=False)
    return TickCoverage(inputs, recorder.tick_facts(outcome), completes=True)


class _CompleteEvaluation:
    """Generates ticks in which every condition of a decision is evaluated, needed or not.

    A tick never evaluates the other branch of an `a if c else b`, nor does an exploration evaluate a
    condition next to one that has decided. Its steps only split where something is evaluated: of the inputs
    that one step represents, some may show that a condition decides, and others not.

    Attributes:
        decisions: numbers of the decisions in which conditions may be skipped.
        is_incomplete: whether there may be inputs that were not found.
    """

    def __init__(self, exploration: Exploration, obligations: TestObligations) -> None:
        """Find the decisions in which conditions may be skipped, and wrap the functions of their expressions.

        `interpreter` is None if there are none; else it evaluates all their conditions.
        """
        self.exploration = exploration
        self.state_space = exploration.state_space
        self.is_incomplete = False
        skipping_decisions = set[int]()
        interpreter = self.state_space.symbolic_interpreter
        functions: dict[int, SymbolicFunction] = {}  # by the identity of the expression
        for site in obligations.decision_sites:
            own_decisions = [
                decision
                for decision, tree in enumerate(site.decisions, start=site.first_decision)
                if self._may_skip_conditions(tree)
            ]
            skipping_decisions.update(own_decisions)
            if not own_decisions:
                continue
            for expression in site.lowered_expressions:
                function = interpreter.functions[id(expression)]
                functions[id(expression)] = self._evaluate_all_conditions(expression, site, function)
        self.decisions = frozenset(skipping_decisions)
        self.interpreter = interpreter.with_functions(functions) if functions else None

    def _may_skip_conditions(self, tree: Tree) -> bool:
        """Return whether an exploration may skip conditions of a decision.

        It skips those of the branch not taken of an `if`, and those next to a condition that reads no input
        and has decided: of `near and after(1 s)`, it need not evaluate `near` in the first second.
        """
        if joins_by_choice(tree):
            return True
        conditions = list(conditions_of(tree))
        inputs = self.exploration.chart.inputs
        return len(conditions) > 1 and any(
            not names_in(condition) & inputs.keys() for condition in conditions
        )

    def _evaluate_all_conditions(
        self, expression: Expression, site: DecisionSite, function: SymbolicFunction
    ) -> SymbolicFunction:
        """Return a function that first evaluates all conditions of the decisions in an expression.

        Each path then has one value of every condition.

        Args:
            expression: the expression.
            site: the site of its decisions.
            function: a function that evaluates the expression.
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
        """Yield inputs for every way in which a tick and its skipped conditions can go."""
        interpreter = self.interpreter
        if interpreter is None:
            return
        paths = explore_paths(
            self.state_space.inputs,
            run=lambda path: interpreter.run_tick(state, path),
            max_paths=self.state_space.limits.max_cases_per_state,
        )
        for path, _ in paths:
            self.is_incomplete = self.is_incomplete or bool(path.incomplete_reasons)
            yield path.inputs()


class _InfeasibilityReasons:
    """Gives the reasons why obligations cannot be met.

    Args:
        exploration: a complete exploration.
        coverage: the coverage of all its steps.
        unsure_decisions: decisions of which nothing is claimed.

    Attributes:
        sites: the sites of all decisions.
        nodes: the nodes of the machine, by number.
        guard_decisions: the number of the decision that a guard makes, by the identity of the guard.
        raised_events: the events that occur, from outside or raised by some step.
    """

    def __init__(
        self, exploration: Exploration, coverage: Coverage, unsure_decisions: frozenset[int]
    ) -> None:
        """Collect the decisions of guards, and the events that occur in explored steps."""
        self.exploration = exploration
        self.coverage = coverage
        self.unsure_decisions = unsure_decisions
        self.sites = coverage.obligations.decision_sites
        self.nodes = exploration.machine.nodes
        self.guard_decisions = {
            id(site.written_expression): site.first_decision for site in self.sites if site.is_decision
        }
        self.raised_events = set(exploration.chart.events)
        for state in exploration.distinct_states:
            for step in exploration.steps_from(state):
                self.raised_events.update(step.raised)

    def list_all(self) -> Iterator[tuple[TestObligation, str]]:
        """Yield every infeasible obligation with its reason."""
        unsure_decisions = self._decisions_of_dropped_values() | self.unsure_decisions
        for obligation in self.coverage.missing:
            if obligation.decision is None or obligation.decision not in unsure_decisions:
                yield obligation, self._explain(obligation)

    def _decisions_of_dropped_values(self) -> set[int]:
        """Return the decisions inside values, if some register is dropped: they were not all explored."""
        abstractions = self.exploration.state_space.abstractions
        if not any(abstraction.is_dropped for abstraction in abstractions.values()):
            return set()
        decisions = set[int]()
        for site in self.sites:
            if not site.is_decision:
                decisions.update(range(site.first_decision, site.first_decision + len(site.decisions)))
        return decisions

    def _explain(self, obligation: TestObligation) -> str:
        """Return why an obligation cannot be met."""
        if obligation.measure is Measure.STATES:
            return "no transition that can be taken leads there"
        if obligation.measure is Measure.TRANSITIONS:
            return self._explain_transition(obligation)
        if obligation.measure is Measure.SEGMENTS:
            return "no transition through it can be taken"
        if obligation.decision is not None and not self._is_evaluated(obligation.decision):
            return "it is never evaluated"
        if obligation.measure is Measure.MCDC:
            return "whenever it is evaluated, another condition decides"
        return "whenever it is evaluated, it has the other value"

    def _is_evaluated(self, decision: int) -> bool:
        """Return whether some tick evaluates a decision."""
        facts = {decision_fact(decision, outcome=True), decision_fact(decision, outcome=False)}
        return not facts.isdisjoint(self.coverage.facts)

    def _explain_transition(self, obligation: TestObligation) -> str:
        """Return why a transition can never be taken."""
        _, source, index = obligation.only_fact  # a `transition_fact`
        transition = self.nodes[int(source)].transitions[int(index)]
        if state_fact(transition.source) not in self.coverage.facts:
            return f"{self.nodes[transition.source].name} is never active"
        if transition.events and not any(event in self.raised_events for event in transition.events):
            return f"{' or '.join(transition.events)} is never raised"
        for segment in transition.segments:
            decision = self.guard_decisions.get(id(segment.when))
            if decision is None or decision_fact(decision, outcome=True) in self.coverage.facts:
                continue
            if self._is_evaluated(decision):
                return f"`{segment.when}` never holds when it is evaluated"
            return "it is never evaluated: a transition before it is always taken first"
        return "a transition before it is always taken first"
