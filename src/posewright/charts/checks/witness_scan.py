"""Scans of explored ticks for witnesses, and further explorations for searches that need them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from posewright.charts.checks.tick_trace import InputRows, TickTrace, trace_tick
from posewright.charts.checks.witness_search import ExploredTick, TickSummary, Witness, WitnessSearch
from posewright.charts.machine import Interpreter, Snapshot
from posewright.charts.reachability import AbstractState, Exploration, SymbolicStep, WorkBudget
from posewright.charts.types import Value

MAX_TICKS = 10_000
"""Ticks of one long run."""

MAX_CYCLES = 6
"""Cycles of the graph that are repeated for one question."""

MAX_NODES_BACK = 2_000
"""Nodes that are searched for a path back to the start of a cycle."""

MAX_GROUPS = 8
"""Groups of variables that are each explored with exact values, where all together have too many values."""

MAX_DIRECTED = 12
"""Searches for which an exploration is directed at values."""

TickObserver = Callable[[ExploredTick], None]
"""Receives every explored tick."""

Explore = Callable[[Collection[str]], Exploration]
"""Explores a chart with the exact values of some variables."""

WORK_PER_OBSERVER = 20
"""Work of one observer or search with one tick, in evaluated expressions."""

ValuesToTry = Mapping[str, Collection[Value]]
"""Values of variables that an exploration is to try."""


def scan_ticks(
    exploration: Exploration,
    searches: Collection[WitnessSearch],
    budget: WorkBudget,
    observers: Collection[TickObserver] = (),
) -> None:
    """Run searches over the explored ticks; their results are stored in them.

    Every tick that an observer or a search needs is traced and passed to them. Then each search solves its
    open situations, and its witness is run again from the start, to get the trace that leads to it.

    Args:
        exploration: the exploration of the chart.
        searches: the searches.
        budget: the work that may be done; a search that it cuts short is undecided.
        observers: receive every explored tick.
    """
    interpreter = exploration.interpreter
    for abstract_state in exploration.graph.distinct_abstract_states:
        if budget.stop_reason:
            break
        for step in abstract_state.steps:
            summary = TickSummary.of(abstract_state, step, interpreter.machine)
            relevant_searches = [search for search in searches if search.is_relevant(summary)]
            if not relevant_searches and not observers:
                continue
            tick_trace = trace_tick(interpreter, abstract_state.snapshot, step.inputs)
            tick = ExploredTick(abstract_state.snapshot, step, tick_trace)
            for observe in observers:
                observe(tick)
            for search in relevant_searches:
                search.examine(tick)
            n_receivers = len(observers) + len(relevant_searches)
            if budget.add_work(len(tick_trace.evaluations) + WORK_PER_OBSERVER * n_receivers):
                break
    for search in searches:
        search.solve_open_situations()
        if search.witness is not None:
            search.witness = _rerun_from_start(exploration, search, search.witness)
        elif budget.stop_reason:
            search.undecided_reason = budget.stop_reason


def _rerun_from_start(exploration: Exploration, search: WitnessSearch, witness: Witness) -> Witness | None:
    """Return a witness with its trace from the start, and the values of all names in that run.

    In an exploration one state may represent several that differ in registers, so a run may come to another
    state than that of the witness. If the claims do not hold at the end of the run, the result is None, and
    the search is undecided.

    Args:
        exploration: the exploration of the chart.
        search: the search that has found the witness.
        witness: the witness, still without a trace.
    """
    trace = (*exploration.trace_to(witness.start_state), witness.inputs)
    state_before, tick = run_to_last_tick(exploration.interpreter, trace)
    point = search.question.find_point(tick)
    if point is None:
        search.undecided_reason = "a run that seemed to come there does not"
        return None
    return Witness(state_before, witness.inputs, point, trace)


def run_to_last_tick(interpreter: Interpreter, trace: InputRows) -> tuple[Snapshot, TickTrace]:
    """Run a chart along a trace; return the state before the last tick, and the trace of that tick."""
    state = interpreter.initial()
    for row in trace[:-1]:
        state = interpreter.step(state, row)
    return state, trace_tick(interpreter, state, trace[-1])


# Explorations with the exact values of some variables


def scan_with_exact_values(
    searches: Mapping[WitnessSearch, frozenset[str]],
    tracked: frozenset[str],
    explore: Explore,
    budget: WorkBudget,
) -> None:
    """Run searches that need exact values of variables that the chart itself only compares.

    An exploration merges such values unless it is told to track the variable. First all these variables are
    tracked together and, where that is too much, those of each search on their own. Searches that still have
    no witness are tried in long runs.

    Args:
        searches: the searches, each with the variables whose exact values it needs.
        tracked: variables that are tracked anyway.
        explore: explores the chart with the exact values of the given variables.
        budget: work that is left for the check.
    """
    all_variables = tracked.union(*searches.values())
    exploration = explore(all_variables)
    scan_ticks(exploration, searches, budget)
    if exploration.complete and not budget.stop_reason:
        return
    searches_by_variables: dict[frozenset[str], list[WitnessSearch]] = {}
    for search, exact_variables in searches.items():
        if not _search_in_long_run(search, exact_variables, exploration, budget):
            own_variables = frozenset(search.claim_names & exploration.state_space.abstractions.keys())
            searches_by_variables.setdefault(own_variables, []).append(search)
    for own_variables, group in list(searches_by_variables.items())[:MAX_GROUPS]:
        was_explored_before = own_variables == all_variables
        if was_explored_before or budget.stop_reason:
            continue
        own_exploration = explore(own_variables)
        for search in group:
            search.reset()
        scan_ticks(own_exploration, group, budget)
        if not own_exploration.complete or budget.stop_reason:
            for search in group:
                _search_in_long_run(search, searches[search], own_exploration, budget)


def _search_in_long_run(
    search: WitnessSearch, exact_variables: Collection[str], exploration: Exploration, budget: WorkBudget
) -> bool:
    """Look for a witness in long runs unless a search has one, and return whether it has one then.

    Sets the witness, or the reason why the search is undecided.

    Args:
        search: the search.
        exact_variables: the variables whose exact values it needs, for the reason.
        exploration: an exploration of the chart.
        budget: the work that may be done.
    """
    if search.witness is None:
        search.witness = find_witness_in_long_run(exploration, search, budget)
    if search.witness is None:
        search.undecided_reason = (
            budget.stop_reason or f"too many values of {', '.join(sorted(exact_variables))}"
        )
    return search.witness is not None


def find_witness_in_long_run(
    exploration: Exploration, search: WitnessSearch, budget: WorkBudget
) -> Witness | None:
    """Return a witness at the end of a run that repeats a cycle of the graph, None if none was found.

    Where a counter has too many values to explore them all, a run in which it keeps counting is simulated.
    """
    for cycle in _cycles_through(exploration, search, budget):
        witness = _repeat_cycle(exploration, search, cycle, budget)
        if witness is not None:
            return witness
    return None


class _Cycle(NamedTuple):
    """Ticks that lead back to the same active states.

    Attributes:
        start_node: number of the graph's node where they begin.
        rows: the inputs of the ticks.
    """

    start_node: int
    rows: InputRows


def _repeat_cycle(
    exploration: Exploration, search: WitnessSearch, cycle: _Cycle, budget: WorkBudget
) -> Witness | None:
    """Repeat a cycle until one of its ticks is a witness, and return that.

    Returns None if the registers repeat, a tick fails, or there were too many ticks.

    Args:
        exploration: the exploration of the chart.
        search: the search whose question a tick has to answer.
        cycle: the cycle; the run first leads to its start.
        budget: the work that may be done.
    """
    interpreter = exploration.interpreter
    trace = list(exploration.trace(cycle.start_node))
    state = interpreter.initial()
    for row in trace:
        state = interpreter.step(state, row)
    visited_values = set[object]()
    while state.values not in visited_values:
        n_ticks = len(visited_values) * len(cycle.rows)
        if n_ticks >= MAX_TICKS or budget.stop_reason:
            return None
        visited_values.add(state.values)
        for row in cycle.rows:
            tick = trace_tick(interpreter, state, row)
            budget.add_work(len(tick.evaluations))
            trace.append(row)
            point = search.question.find_point(tick)
            if point is not None:
                return Witness(state, row, point, trace=tuple(trace))
            if tick.next_state is None:
                return None
            state = tick.next_state
    return None


def _cycles_through(exploration: Exploration, search: WitnessSearch, budget: WorkBudget) -> Iterator[_Cycle]:
    """Yield cycles with a tick that passes a point of a question.

    A cycle is a sequence of ticks that leads back to the same active states. It begins with the tick that
    passes the point. Of each configuration, the first node with such a tick is tried.

    Args:
        exploration: the exploration of the chart.
        search: the search with the question.
        budget: the work that may be done; when it is used up, no more cycles are yielded.
    """
    graph = exploration.graph
    configurations = [abstract_state.snapshot.configuration for abstract_state in graph.abstract_states]
    tried_configurations = set[object]()
    n_cycles = 0

    def find_rows_back(node: int, configuration: object) -> InputRows | None:
        """Return the inputs from a node to the nearest one in a configuration; None if none is near."""

        def has_configuration(candidate: int) -> bool:
            is_expanded = candidate < len(configurations)  # the last nodes may not be expanded
            return is_expanded and configurations[candidate] == configuration

        nearest = graph.find_nearest(has_configuration, start=node, max_nodes=MAX_NODES_BACK)
        return None if nearest is None else nearest.rows

    for node, abstract_state in enumerate(graph.abstract_states):
        configuration = configurations[node]
        if configuration in tried_configurations or n_cycles >= MAX_CYCLES or budget.stop_reason:
            continue
        edges_at_point = [
            edge
            for edge in graph.edges(node)
            if _reaches_point(exploration, search, abstract_state, edge.step)
        ]
        if edges_at_point:
            tried_configurations.add(configuration)
        for edge in edges_at_point:
            if edge.target is None:  # the tick fails
                continue
            rows_back = find_rows_back(edge.target, configuration)
            if rows_back is not None:
                n_cycles += 1
                yield _Cycle(node, (edge.step.inputs, *rows_back))


def _reaches_point(
    exploration: Exploration, search: WitnessSearch, abstract_state: AbstractState, step: SymbolicStep
) -> bool:
    """Return whether an explored step from a state passes the point of a question."""
    if not search.is_relevant(TickSummary.of(abstract_state, step, exploration.machine)):
        return False
    tick = trace_tick(exploration.interpreter, abstract_state.snapshot, step.inputs)
    first_point = next(search.question.location.points(tick), None)
    return first_point is not None


# Explorations directed at certain values


def scan_directed(
    searches: Sequence[WitnessSearch], explore: Callable[[ValuesToTry], Exploration], budget: WorkBudget
) -> None:
    """Repeat searches without a witness in an exploration that tries certain values of variables.

    The solver finds values of the variables for which the claims of a search would hold. The chart is
    explored once more with these values. That may find witnesses; the reasons why searches without one are
    undecided stay as they were.

    Args:
        searches: searches of an exploration that is not complete.
        explore: explores the chart and tries the given values.
        budget: work that is left for the check.
    """
    candidates = [
        search
        for search in searches
        if search.witness is None and search.n_points_reached > 0 and search.claim_registers
    ]
    cases = {search: _solve_for_variables(search) for search in candidates[:MAX_DIRECTED]}
    values_to_try: dict[str, dict[Value, None]] = {}  # the inner dictionaries are ordered sets
    for case in cases.values():
        for name, value in case.items():
            values_to_try.setdefault(name, {})[value] = None
    if not values_to_try:
        return
    repeated_searches = [search for search, case in cases.items() if case]
    previous_reasons = [search.undecided_reason for search in repeated_searches]
    for search in repeated_searches:
        search.open_situations.clear()
    scan_ticks(explore(values_to_try), repeated_searches, budget)
    for search, reason in zip(repeated_searches, previous_reasons, strict=True):
        search.undecided_reason = reason


def _solve_for_variables(search: WitnessSearch) -> dict[str, Value]:
    """Return values of number variables with which the claims of a search hold; empty if there are none."""
    answer = search.solver.solve(search.question.claims)
    variables = search.interpreter.chart.variables
    return {
        name: value
        for name, value in (answer.case or {}).items()
        if name in variables and not isinstance(value, bool | str)
    }
