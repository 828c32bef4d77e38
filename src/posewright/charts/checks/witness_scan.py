"""Scans of explored ticks for witnesses, and further explorations for searches that need them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

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
    """Trace every explored tick that an observer or a search needs, then solve the open situations."""
    interpreter = exploration.interpreter
    for state in exploration.graph.distinct_states:
        if budget.stop_reason:
            break
        for step in state.steps:
            summary = TickSummary.of(state, step, interpreter.machine)
            relevant = [search for search in searches if search.is_relevant(summary)]
            if not relevant and not observers:
                continue
            trace = trace_tick(interpreter, state.snapshot, step.inputs)
            for observe in observers:
                observe(ExploredTick(state.snapshot, step, trace))
            for search in relevant:
                search.examine(ExploredTick(state.snapshot, step, trace))
            n_observers = len(observers) + len(relevant)
            if budget.spend(len(trace.evaluations) + WORK_PER_OBSERVER * n_observers):
                break
    for search in searches:
        search.solve_open_situations()
        if search.witness is not None:
            search.witness = _rerun_from_start(exploration, search, search.witness)
        elif budget.stop_reason:
            search.undecided_reason = budget.stop_reason


def _rerun_from_start(exploration: Exploration, search: WitnessSearch, witness: Witness) -> Witness | None:
    """Return a witness with its trace from the start; None if the claims do not hold at its end.

    The abstract state of a witness may represent others: the values of all names are those of the actual run.
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

    All these variables are explored together or, where that is too much, those of each search on their own.
    Searches that still have no witness are tried in long runs.

    Args:
        searches: the searches with the variables whose exact values each of them needs.
        tracked: variables that are tracked anyway.
        explore: explores the chart.
        budget: work that is left for the check.
    """
    all_names = tracked.union(*searches.values())
    exploration = explore(all_names)
    scan_ticks(exploration, searches, budget)
    if exploration.complete and not budget.stop_reason:
        return
    groups: dict[frozenset[str], list[WitnessSearch]] = {}
    for search, merged_names in searches.items():
        if not _search_in_long_run(search, merged_names, exploration, budget):
            own_names = frozenset(search.names & exploration.state_space.abstractions.keys())
            groups.setdefault(own_names, []).append(search)
    for own_names, group in list(groups.items())[:MAX_GROUPS]:
        if own_names == all_names or budget.stop_reason:
            continue
        exploration = explore(own_names)
        for search in group:
            search.reset()
        scan_ticks(exploration, group, budget)
        if not exploration.complete or budget.stop_reason:
            for search in group:
                _search_in_long_run(search, searches[search], exploration, budget)


def _search_in_long_run(
    search: WitnessSearch, merged_names: Collection[str], exploration: Exploration, budget: WorkBudget
) -> bool:
    """Return whether a search has a witness, if need be in a long run; without one it is undecided."""
    if search.witness is None:
        search.witness = find_witness_in_long_run(exploration, search, budget)
    if search.witness is None:
        search.undecided_reason = (
            budget.stop_reason or f"too many values of {', '.join(sorted(merged_names))}"
        )
    return search.witness is not None


def find_witness_in_long_run(
    exploration: Exploration, search: WitnessSearch, budget: WorkBudget
) -> Witness | None:
    """Return a witness at the end of a run that repeats a cycle of the graph, None if none was found.

    Where a counter has too many values to explore them all, a run in which it keeps counting is simulated.
    """
    for start, rows in _cycles_through(exploration, search, budget):
        witness = _repeat_cycle(exploration, search, start, rows, budget)
        if witness is not None:
            return witness
    return None


def _repeat_cycle(
    exploration: Exploration, search: WitnessSearch, start: int, rows: InputRows, budget: WorkBudget
) -> Witness | None:
    """Repeat the rows of a cycle from node `start` until a tick is a witness or the registers repeat."""
    interpreter = exploration.interpreter
    trace = list(exploration.trace(start))
    state = interpreter.initial()
    for row in trace:
        state = interpreter.step(state, row)
    visited = set[object]()
    while state.values not in visited and len(visited) * len(rows) < MAX_TICKS and not budget.stop_reason:
        visited.add(state.values)
        for row in rows:
            tick = trace_tick(interpreter, state, row)
            budget.spend(len(tick.evaluations))
            trace.append(row)
            point = search.question.find_point(tick)
            if point is not None:
                return Witness(state, row, point, trace=tuple(trace))
            if tick.next_state is None:
                return None
            state = tick.next_state
    return None


def _cycles_through(
    exploration: Exploration, search: WitnessSearch, budget: WorkBudget
) -> Iterator[tuple[int, InputRows]]:
    """Yield cycles that pass the point of a question: the node where one starts, and its rows of inputs.

    A cycle leads back to the same active states; of each configuration, the first node is tried.
    """
    graph = exploration.graph
    configurations = [state.snapshot.configuration for state in graph.abstract_states]
    visited = set[object]()
    n_cycles = 0

    def find_return_path(node: int, configuration: object) -> tuple[int, InputRows] | None:
        """Return the nearest node with a configuration, and the rows that lead there from a node."""
        return graph.find_nearest(
            lambda number: number < len(configurations) and configurations[number] == configuration,
            start=node,
            max_nodes=MAX_NODES_BACK,
        )

    for node, state in enumerate(graph.abstract_states):
        configuration = configurations[node]
        if configuration in visited or n_cycles >= MAX_CYCLES or budget.stop_reason:
            continue
        edges = [edge for edge in graph.edges(node) if _reaches_point(exploration, search, state, edge.step)]
        if edges:
            visited.add(configuration)
        for edge in edges:
            if edge.target is None:
                continue
            return_path = find_return_path(edge.target, configuration)
            if return_path is not None:
                n_cycles += 1
                yield node, (edge.step.inputs, *return_path[1])


def _reaches_point(
    exploration: Exploration, search: WitnessSearch, state: AbstractState, step: SymbolicStep
) -> bool:
    """Return whether an explored step passes the point of a question."""
    if not search.is_relevant(TickSummary.of(state, step, exploration.machine)):
        return False
    tick = trace_tick(exploration.interpreter, state.snapshot, step.inputs)
    return next(search.question.location.points(tick), None) is not None


# Explorations directed at certain values


def scan_directed(
    searches: Sequence[WitnessSearch], explore: Callable[[ValuesToTry], Exploration], budget: WorkBudget
) -> None:
    """Repeat searches without a witness in runs that give variables the values of a possible case.

    Args:
        searches: searches of an exploration that is not complete. The solver names values of the variables
            for which the answer would be yes.
        explore: explores the chart and tries the given values.
        budget: work that is left for the check.
    """
    candidates = [
        search
        for search in searches
        if search.witness is None and search.n_reached > 0 and search.register_names
    ]
    cases = {search: _solve_for_variables(search) for search in candidates[:MAX_DIRECTED]}
    values_to_try: dict[str, dict[Value, None]] = {}  # the inner dictionaries are ordered sets
    for case in cases.values():
        for name, value in case.items():
            values_to_try.setdefault(name, {})[value] = None
    if not values_to_try:
        return
    undecided_reasons = {search: search.undecided_reason for search, case in cases.items() if case}
    for search in undecided_reasons:
        search.open_situations.clear()
    scan_ticks(explore(values_to_try), undecided_reasons, budget)
    for search, reason in undecided_reasons.items():
        search.undecided_reason = reason


def _solve_for_variables(search: WitnessSearch) -> dict[str, Value]:
    """Return numbers of the variables with which the claims of a search hold; empty if there are none."""
    answer = search.solver.solve(search.question.claims)
    variables = search.interpreter.chart.variables
    return {
        name: value
        for name, value in (answer.case or {}).items()
        if name in variables and not isinstance(value, bool | str)
    }
