"""Looks through explored ticks for witnesses, and where they do not tell, explores more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from posewright.charts.checks.question import Rows, TickTrace, record
from posewright.charts.checks.search import ExploredTick, Stage, Witness, WitnessSearch
from posewright.charts.machine import Interpreter, Snapshot
from posewright.charts.reachability import AbstractState, Exploration, SymbolicStep, WorkBudget
from posewright.charts.types import Value

MAX_TICKS = 10_000
"""Ticks of one long run."""

MAX_ROUNDS = 6
"""Rounds that are tried for one question."""

MAX_BACK = 2_000
"""Nodes that are looked at for a way back."""

MAX_APART = 8
"""Groups of variables that are followed each by itself, where together they have too many values."""

MAX_AIMED = 12
"""Searches that are aimed."""

Watcher = Callable[[ExploredTick], None]
"""Looks at every explored tick."""

Explore = Callable[[Collection[str]], Exploration]
"""Explores a chart while it tells some variables apart by their values."""

WORK_FOR_LOOK = 20
"""Expressions that are computed in the time in which one watcher or search looks at a tick."""

Marks = Mapping[str, Collection[Value]]
"""Values of variables that an exploration is to try."""


def look_through(
    explored: Exploration,
    searches: Collection[WitnessSearch],
    budget: WorkBudget,
    watchers: Collection[Watcher] = (),
) -> None:
    """Look at every explored tick that somebody still wants to see, and settle the searches."""
    interpreter = explored.interpreter
    for state in explored.graph.distinct:
        if budget.over:
            break
        for case in state.cases:
            stage = Stage.of(state, case, interpreter.machine)
            wanted = [search.see for search in searches if search.wants(stage)]
            if wanted or watchers:
                tick = record(interpreter, state.state, case.inputs)
                for look in (*watchers, *wanted):
                    look(ExploredTick(state.state, case, tick))
                if budget.spend(len(tick.asked) + WORK_FOR_LOOK * (len(watchers) + len(wanted))):
                    break
    for search in searches:
        search.settle()
        if search.witness is not None:
            search.witness = from_the_start(explored, search, search.witness)
        elif budget.over:
            search.undecided = budget.over


def from_the_start(explored: Exploration, search: WitnessSearch, witness: Witness) -> Witness | None:
    """Return a witness with what every name stands at when its trace is run; None if that shows nothing."""
    trace = (*explored.trace_to(witness.state), witness.inputs)
    before, tick = last_tick(explored.interpreter, trace)
    standing = search.question.shown_by(tick)
    if standing is None:
        search.undecided = "a run that seemed to come there does not"
        return None
    return Witness(before, witness.inputs, standing, trace)


def last_tick(interpreter: Interpreter, trace: Rows) -> tuple[Snapshot, TickTrace]:
    """Return where a chart stands before the last tick of a trace, and that tick."""
    state = interpreter.initial()
    for row in trace[:-1]:
        state = interpreter.step(state, row)
    return state, record(interpreter, state, trace[-1])


# Where not all values can be told apart


def look_deeper(
    searches: Mapping[WitnessSearch, frozenset[str]],
    kept: frozenset[str],
    explore: Explore,
    budget: WorkBudget,
) -> None:
    """Settle searches that need to know more values than a chart tells apart by itself.

    Args:
        searches: with the variables whose values each of them needs: all are followed at once, or where
            that is too much, those of each search by themselves.
        kept: variables that are followed anyway.
        explore: explores the chart.
        budget: of all that is done for the check.
    """
    names = kept.union(*searches.values())
    together = explore(names)
    look_through(together, searches, budget)
    if together.complete and not budget.over:
        return
    groups: dict[frozenset[str], list[WitnessSearch]] = {}
    for search, missed in searches.items():
        if not _shown(search, missed, together, budget):
            groups.setdefault(frozenset(search.names & together.looked.keeps.keys()), []).append(search)
    for own, group in list(groups.items())[:MAX_APART]:
        if own != names and not budget.over:
            explored = explore(own)
            for search in group:
                search.begin_again()
            look_through(explored, group, budget)
            if not explored.complete or budget.over:
                for search in group:
                    _shown(search, searches[search], explored, budget)


def _shown(search: WitnessSearch, missed: Collection[str], explored: Exploration, budget: WorkBudget) -> bool:
    """Return whether a search has a witness, be it in a long run; where it has none, it is undecided."""
    if search.witness is None:
        search.witness = shown_by_repeating(explored, search, budget)
    if search.witness is None:
        search.undecided = budget.over or f"too many values of {', '.join(sorted(missed))}"
    return search.witness is not None


def shown_by_repeating(explored: Exploration, search: WitnessSearch, budget: WorkBudget) -> Witness | None:
    """Return a tick of a long run that answers a question with yes, None where none was found.

    Where a counter has too many values for all of them to be explored, a run in which it goes on counting is
    tried by itself: a few ticks that lead back to where they began, again and again.
    """
    rounds = (taken(explored, search, *one, budget) for one in rounds_by(explored, search, budget))
    return next((witness for witness in rounds if witness is not None), None)


def taken(
    explored: Exploration, search: WitnessSearch, node: int, rows: Rows, budget: WorkBudget
) -> Witness | None:
    """Return what a round from a node shows that is taken again and again, until it comes to nothing new."""
    interpreter, trace = explored.interpreter, list(explored.trace(node))
    state = interpreter.initial()
    for row in trace:
        state = interpreter.step(state, row)
    met = set[object]()
    while state.values not in met and len(met) * len(rows) < MAX_TICKS and not budget.over:
        met.add(state.values)
        for row in rows:
            tick = record(interpreter, state, row)
            budget.spend(len(tick.asked))
            trace.append(row)
            standing = search.question.shown_by(tick)
            if standing is not None:
                return Witness(state, row, standing, tuple(trace))
            if tick.after is None:
                return None
            state = tick.after
    return None


def rounds_by(explored: Exploration, search: WitnessSearch, budget: WorkBudget) -> Iterator[tuple[int, Rows]]:
    """Yield rounds that come by the place of a question: the node where one begins, and inputs."""
    graph, met, found = explored.graph, set[object](), 0
    at = [state.state.configuration for state in graph.states]

    def back(start: int, to: object) -> tuple[int, Rows] | None:
        return graph.shortest(lambda one: one < len(at) and at[one] == to, start=start, most=MAX_BACK)

    for number, state in enumerate(graph.states):
        if at[number] in met or found >= MAX_ROUNDS or budget.over:
            continue
        came = [edge for edge in graph.edges(number) if _comes_by(explored, search, state, edge.step)]
        met.update([at[number]] if came else ())
        for edge in came:
            way = back(edge.target, at[number]) if edge.target is not None else None
            if way is not None:
                found += 1
                yield number, (edge.step.inputs, *way[1])


def _comes_by(explored: Exploration, search: WitnessSearch, state: AbstractState, step: SymbolicStep) -> bool:
    if not search.wants(Stage.of(state, step, explored.machine)):
        return False
    tick = record(explored.interpreter, state.state, step.inputs)
    return next(search.question.place.standings(tick), None) is not None


# Where not all values can be tried


def aim_at_cases(
    searches: Sequence[WitnessSearch], explore: Callable[[Marks], Exploration], budget: WorkBudget
) -> None:
    """Search once more for what has no witness, in runs that give variables the values of a case.

    Args:
        searches: what was searched for, where not everything that can happen was tried; aimed at are values
            for which, as a proof says, the answer would be yes.
        explore: explores the chart while it tries some values.
        budget: of all that is done for the check.
    """
    came = [one for one in searches if one.witness is None and one.met > 0 and one.registers]
    cases = {search: case_of(search) for search in came[:MAX_AIMED]}
    marks: dict[str, dict[Value, None]] = {}
    for case in cases.values():
        for name, value in case.items():
            marks.setdefault(name, {})[value] = None
    if not marks:
        return
    aimed = {search: search.undecided for search, case in cases.items() if case}
    for search in aimed:
        search.waiting.clear()
    look_through(explore(marks), aimed, budget)
    for search, reason in aimed.items():
        search.undecided = reason


def case_of(search: WitnessSearch) -> dict[str, Value]:
    """Return numbers that variables may stand at for the answer to be yes; none where there are none."""
    answer = search.solver.ask(search.question.claims)
    variables = search.interpreter.chart.variables
    case = {name: value for name, value in (answer.case or {}).items() if name in variables}
    return {name: value for name, value in case.items() if not isinstance(value, bool | str)}
