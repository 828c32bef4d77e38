"""The analysis of one chart, which all checks share: machine, solver, exploration and searches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from posewright.charts.checks.finding import Counterexample, Finding, Level, Rule, not_proved
from posewright.charts.checks.question import CheckQuestion
from posewright.charts.checks.solver import ALTERNATE_PREFIX, CheckSolver
from posewright.charts.checks.tick_trace import InputRows, TickTrace
from posewright.charts.checks.witness_scan import (
    TickObserver,
    run_to_last_tick,
    scan_directed,
    scan_ticks,
    scan_with_exact_values,
)
from posewright.charts.checks.witness_search import PathConditions, Witness, WitnessSearch
from posewright.charts.expression import Expression
from posewright.charts.machine import (
    ROOT,
    STATE_SEPARATOR,
    CompoundTransition,
    EntrySet,
    Interpreter,
    Machine,
    Snapshot,
    StateNode,
)
from posewright.charts.model import Chart, Promise
from posewright.charts.proof import SolverBudget
from posewright.charts.reachability import DEFAULT_LIMITS, Exploration, ExplorationLimits, WorkBudget, explore
from posewright.charts.types import Value

MAX_REEXPLORED = 20_000
"""Limit of states, and of cases, where a chart is explored again with the exact values of variables."""


def compute_entered_states(
    machine: Machine, transition: CompoundTransition, *, include_history: bool = False
) -> set[int]:
    """Return the numbers of the states that a transition enters; empty if it leaves no state.

    Args:
        machine: the machine of the transition.
        transition: the transition.
        include_history: include every state that a history may restore; else as if no history was stored.
    """
    empty_histories = dict.fromkeys(machine.histories, ())
    entry_set = EntrySet(machine.nodes, empty_histories)
    # a transition without a domain has no targets, so that nothing is entered
    entry_set.add_targets(transition.targets, domain=transition.domain or ROOT)
    if not include_history:
        return entry_set.entered
    restorable_states = [
        machine.nodes[target.node].descendants for target in transition.targets if target.history is not None
    ]
    return entry_set.entered.union(*restorable_states)


class ChartAnalysis:
    """Analyses one chart in four steps; every `Check` contributes to each of them.

    1. `Check.prepare`: the solver decides, over the whole domain of all types, what may go wrong. What it
       does not exclude becomes a search, and names the variables that the exploration has to track for it.
    2. `explore`: the chart is explored, once.
    3. `Check.plan_scan`: adds searches and observers that depend on the exploration; then `scan` traces all
       explored ticks, in one pass.
    4. `Check.findings`.

    Attributes:
        solver_budget: effort of proving, shared by the solver and the exploration.
        work_budget: work of exploring and of scanning what was explored.
        solver: decides claims over the whole domain of all types.
        tracked_variables: outputs and locals whose exact values the exploration keeps, even where nothing
            reads them. The checks add those that their searches need.
        observers: receive every explored tick.
        searches: the searches of all checks.
        scan_stop_reason: why the scan stopped early; empty if it did not.
        exploration: result of step 2; not set before.
    """

    exploration: Exploration

    def __init__(self, chart: Chart, limits: ExplorationLimits = DEFAULT_LIMITS) -> None:
        """Lower the chart and prepare its solver; nothing is decided or explored yet."""
        self.chart = chart
        self.limits = limits
        self.interpreter = Interpreter(chart)
        self.machine: Machine = self.interpreter.machine
        self.solver_budget = SolverBudget()
        self.work_budget = WorkBudget(limits)
        # a second copy of every input, for questions whether two values of it make a difference
        alternate_inputs = {ALTERNATE_PREFIX + name: value_type for name, value_type in chart.inputs.items()}
        types = {**self.machine.types, **alternate_inputs}
        self.solver = CheckSolver(types, self.solver_budget, limits.is_time_over)
        self.path_conditions = PathConditions(chart.inputs)
        self.tracked_variables: set[str] = set(chart.resources)
        self.observers: list[TickObserver] = []
        self.searches: list[WitnessSearch] = []
        self.scan_stop_reason = ""

    def add_search(
        self, question: CheckQuestion, *, exact_variables: frozenset[str] = frozenset()
    ) -> WitnessSearch:
        """Return a new search, which has its result after `scan`.

        Args:
            question: the question to be answered.
            exact_variables: variables whose exact values matter; the exploration may have merged others.
        """
        search = WitnessSearch(
            question, self.interpreter, self.solver, self.path_conditions, exact_variables=exact_variables
        )
        self.searches.append(search)
        return search

    def explore(self) -> None:
        """Explore the chart, and set `exploration`.

        The conditions of all promises are watched if that takes at most half of the allowed work: watched
        conditions keep states apart that are otherwise the same, and these may be too many. The chart is
        then explored again without them, and the check of promises explores it for each promise by itself.
        """
        conditions = promise_conditions(*self.chart.promises)
        if conditions:
            half_budget = WorkBudget(replace(self.limits, max_work=self.limits.max_work // 2))
            watching_exploration = self._explore(
                self.tracked_variables, watched_conditions=conditions, budget=half_budget
            )
            if watching_exploration.complete:
                self.exploration = watching_exploration
                return
        self.exploration = self._explore(self.tracked_variables)

    def _explore(
        self,
        tracked: Collection[str],
        *,
        watched_conditions: Sequence[Expression] = (),
        values_to_try: Mapping[str, Collection[Value]] | None = None,
        limits: ExplorationLimits | None = None,
        budget: WorkBudget | None = None,
    ) -> Exploration:
        """Return an exploration of the chart.

        Args:
            tracked: names of the registers whose exact values are kept; values of others may be merged.
            watched_conditions: conditions that are evaluated after every tick.
            values_to_try: values of registers that are tried even where not all inputs can be.
            limits: the limits; None for those of the analysis.
            budget: the work that may be done; None for the work budget of the analysis.
        """
        return explore(
            self.chart,
            tracked=tracked,
            watched_conditions=watched_conditions,
            values_to_try=values_to_try,
            limits=limits or self.limits,
            interpreter=self.interpreter,
            solver_budget=self.solver_budget,
            budget=budget or self.work_budget,
        )

    def scan(self) -> None:
        """Trace the explored ticks for observers and searches; explore again where a search needs that.

        An exploration merges values of a variable between which the chart makes no difference. The chart is
        explored again, within narrower limits, with the exact values of variables that a search needs and
        the exploration has merged, and with values that the solver has found.
        """
        limits = replace(self.limits, max_states=MAX_REEXPLORED, max_cases=MAX_REEXPLORED)
        tracked_variables = frozenset(self.tracked_variables)

        def explore_exactly(names: Collection[str]) -> Exploration:
            # the chart's resources must return to zero, which is always checked
            resources = tracked_variables.intersection(self.chart.resources)
            return self._explore(resources.union(names), limits=limits)

        def explore_with_values(values_to_try: Mapping[str, Collection[Value]]) -> Exploration:
            variables = tracked_variables.union(values_to_try)
            return self._explore(variables, values_to_try=values_to_try, limits=limits)

        # a search is repeated later if it needs exact values of variables that the exploration has merged
        answerable_searches = []
        merged_variables_by_search = {}
        for search in self.searches:
            merged_variables = self.exploration.merged_variables(search.exact_variables)
            if merged_variables:
                merged_variables_by_search[search] = merged_variables
            else:
                answerable_searches.append(search)
        scan_ticks(self.exploration, answerable_searches, self.work_budget, self.observers)
        self.scan_stop_reason = self.work_budget.stop_reason
        if merged_variables_by_search:
            scan_with_exact_values(
                merged_variables_by_search,
                tracked_variables,
                explore=explore_exactly,
                budget=self.work_budget,
            )
        if not self.has_scanned_all_ticks:
            scan_directed(self.searches, explore=explore_with_values, budget=self.work_budget)

    def run_to_last_tick(self, trace: InputRows) -> tuple[Snapshot, TickTrace]:
        """Run the chart along a trace; return the state before the last tick, and the trace of that tick."""
        return run_to_last_tick(self.interpreter, trace)

    @property
    def has_scanned_all_ticks(self) -> bool:
        """Whether every possible tick was explored and scanned."""
        return self.exploration.complete and not self.scan_stop_reason

    @property
    def incomplete_reason(self) -> str:
        """Why not every possible tick was explored and scanned."""
        reasons = list(self.exploration.incomplete_reasons)
        if self.scan_stop_reason:
            reasons.append(self.scan_stop_reason)
        return "; ".join(dict.fromkeys(reasons)) or "not all runs were explored"

    def is_undecided(self, search: WitnessSearch, node: StateNode) -> bool:
        """Return whether a search about a state that was entered has neither a witness nor a proof.

        There is no proof if the search gave up, or not every possible tick was explored and scanned.
        """
        if node.index not in self.entered_states or search.witness is not None:
            return False
        return bool(search.undecided_reason) or not self.has_scanned_all_ticks

    @cached_property
    def entered_states(self) -> frozenset[int]:
        """Numbers of all states that were active in some run, even for a single microstep."""
        entered = set[int]()
        for state in self.exploration.distinct_states:
            entered.update(state.active_nodes)
        for transition in self.exploration.taken_transitions:
            entered |= compute_entered_states(self.machine, transition)
        return frozenset(entered)

    def describe_witness(
        self, state: str, witness: Witness, names: Collection[str]
    ) -> tuple[Counterexample, Counterexample]:
        """Return the case that a witness shows, and the same with only the inputs in `names`, for a message.

        A case is a state, the inputs of one tick, and the values of variables.

        Args:
            state: name of the state that the case is about.
            witness: a tick that shows a finding.
            names: names that the finding reads.
        """
        env = witness.point.env
        relevant_inputs = {name: value for name, value in witness.inputs.items() if name in names}
        return (
            self.build_counterexample(state, witness.inputs, env, names),
            self.build_counterexample(state, relevant_inputs, env, names),
        )

    def build_counterexample(
        self, state: str, inputs: Mapping[str, Value], env: Mapping[str, Value], names: Collection[str]
    ) -> Counterexample:
        """Return a case: a state, the inputs of a tick, the events that occur, and the variables in `names`.

        Args:
            state: name of the state that the case is about.
            inputs: values of inputs; for events, whether they occur.
            env: value of every variable.
            names: variables that are of interest.
        """
        events = self.chart.events
        occurring_inputs = {name: value for name, value in inputs.items() if name not in events or value}
        variables = {name: env[name] for name in self.chart.variables if name in names}
        return Counterexample(state, occurring_inputs, variables)

    def first_state_name(self, state: str) -> str:
        """Return the first name in the text of a configuration, which joins parallel states."""
        return state.split(STATE_SEPARATOR, maxsplit=1)[0]

    def source_of(self, transition: CompoundTransition) -> StateNode:
        """Return the source state of a transition."""
        return self.machine.nodes[transition.source]


class Check:
    """One family of rules. `ChartAnalysis` describes when its methods are called.

    Attributes:
        analysis: the analysis that the check contributes to.
        chart: the chart to be checked.
        machine: the machine of the chart.
    """

    def __init__(self, analysis: ChartAnalysis) -> None:
        self.analysis = analysis
        self.chart = analysis.chart
        self.machine = analysis.machine

    def prepare(self) -> None:
        """Decide by types what may go wrong and add searches for it; nothing is explored yet."""

    def plan_scan(self) -> None:
        """Add searches and observers that depend on the exploration."""

    def findings(self) -> Iterator[Finding]:
        """Yield the findings."""
        yield from ()


def promise_conditions(*promises: Promise) -> tuple[Expression, ...]:
    """Return the conditions of promises, which an exploration has to watch to decide them."""
    conditions: dict[Expression, None] = {}
    for promise in promises:
        conditions[promise.when] = None
        if promise.goal is not None:
            conditions[promise.goal] = None
    return tuple(conditions)


def build_unproved_finding(
    analysis: ChartAnalysis, search: WitnessSearch, rule: Rule, claim: str, node: StateNode
) -> Finding:
    """Return the finding for an undecided search: no run shows the claim, and no proof excludes it.

    It is an unproved error, with the values for which the claim would be true. If the solver finds no such
    values either, it is a note.

    Args:
        analysis: the analysis of the chart.
        search: a search without a witness.
        rule: the rule of the finding.
        claim: what may be the case, as a sentence without its full stop.
        node: the state it is about.
    """
    chart = analysis.chart
    answer = analysis.solver.solve(search.question.claims)
    reason = search.undecided_reason or analysis.incomplete_reason
    if answer.possible is None or answer.case is None:
        return not_proved(f"it is not known whether {claim}: {answer.reason or reason}", node.name, node.line)
    inputs = {name: answer.case[name] for name in chart.inputs if name in answer.case}
    variables = {name: answer.case[name] for name in chart.variables if name in answer.case}
    case = Counterexample(node.name, inputs, variables)
    values_text = str(replace(case, state=""))  # without the state, which the claim names
    claim_with_values = f"{claim} {values_text}" if values_text else claim
    message = f"{claim_with_values}; it is not known whether a run leads there: {reason}"
    return Finding(
        Level.ERROR, rule, message, state=node.name, counterexample=case, line=node.line, proved=False
    )
