"""Looks through explored ticks for witnesses, and where they do not tell, explores more."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from posewright.charts.checks.journey import Journeys
from posewright.charts.checks.question import Rows, TickTrace, record
from posewright.charts.checks.search import ExploredTick, Stage, Witness, WitnessSearch
from posewright.charts.machine import Interpreter, Snapshot
from posewright.charts.reachability import Exploration
from posewright.charts.types import Value

Watcher = Callable[[ExploredTick], None]


def look_through(
    journeys: Journeys, searches: Collection[WitnessSearch], watchers: Collection[Watcher]
) -> None:
    """Look at every explored tick that somebody still wants to see, and settle the searches."""
    interpreter = journeys.exploration.interpreter
    for situation in journeys.situations:
        for number, case in enumerate(situation.cases):
            stage = Stage.of(situation, case, interpreter.machine)
            wanted = [search.see for search in searches if search.wants(stage)]
            if wanted or watchers:
                step = ExploredTick(situation, number, record(interpreter, situation.state, case.inputs))
                for look in (*watchers, *wanted):
                    look(step)
    for search in searches:
        search.settle()
        if search.witness is not None:
            search.witness = from_the_start(journeys, search, search.witness)


def from_the_start(journeys: Journeys, search: WitnessSearch, witness: Witness) -> Witness | None:
    """Return a witness with what every name stands at when its trace is run; None if that shows nothing."""
    exploration = journeys.exploration
    trace = (*exploration.trace_to(witness.state), witness.inputs)
    before, tick = last_tick(exploration.interpreter, trace)
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


MAX_TICKS = 10_000
"""Ticks of one long run."""

MAX_ROUNDS = 6
"""Rounds that are tried for one question."""

MAX_BACK = 2_000
"""Places that are looked at for a way back."""


class Round(NamedTuple):
    """Ticks that lead from a reached place to one with the same active states.

    Attributes:
        place: number of the place.
        rows: inputs of the ticks.
    """

    place: int
    rows: Rows


def shown_by_repeating(journeys: Journeys, search: WitnessSearch) -> Witness | None:
    """Return a tick of a long run that answers a question with yes, None where none was found."""
    rounds = (taken(journeys, search, one) for one in rounds_by(journeys, search))
    return next((witness for witness in rounds if witness is not None), None)


def taken(journeys: Journeys, search: WitnessSearch, one: Round) -> Witness | None:
    """Return what a round shows that is taken again and again, until it comes to nothing new."""
    interpreter, trace = journeys.exploration.interpreter, list(journeys.exploration.trace(one.place))
    state = interpreter.initial()
    for row in trace:
        state = interpreter.step(state, row)
    met = set[object]()
    while state.values not in met and len(met) * len(one.rows) < MAX_TICKS:
        met.add(state.values)
        for row in one.rows:
            tick = record(interpreter, state, row)
            trace.append(row)
            standing = search.question.shown_by(tick)
            if standing is not None:
                return Witness(state, row, standing, tuple(trace))
            if tick.after is None:
                return None
            state = tick.after
    return None


def rounds_by(journeys: Journeys, search: WitnessSearch) -> Iterator[Round]:
    """Yield rounds that come by the place of a question, each from the first state where it begins."""
    met, found = set[object](), 0
    for number, situation in enumerate(journeys.walk.situations):
        if situation.state.configuration in met or found >= MAX_ROUNDS:
            continue
        came = False
        for edge in journeys.edges(situation):
            if comes_by(journeys, search, number, edge.case):
                came = True
                following = journeys.onward(number, edge)
                back = (
                    way_back(journeys, following, situation.state.configuration) if following >= 0 else None
                )
                if back is not None:
                    found += 1
                    yield Round(number, (situation.cases[edge.case].inputs, *back))
        if came:
            met.add(situation.state.configuration)


def comes_by(journeys: Journeys, search: WitnessSearch, number: int, case: int) -> bool:
    """Return whether a tick comes by the place of a question."""
    situation, interpreter = journeys.walk.situations[number], journeys.exploration.interpreter
    stage = Stage.of(situation, situation.cases[case], interpreter.machine)
    if not search.wants(stage):
        return False
    tick = record(interpreter, situation.state, situation.cases[case].inputs)
    return next(search.question.place.standings(tick), None) is not None


def way_back(journeys: Journeys, start: int, configuration: tuple[int, ...]) -> Rows | None:
    """Return the fewest rows of inputs that lead from a place to one with these active states."""
    before: dict[int, tuple[int, int] | None] = {start: None}
    waiting = deque(before)
    while waiting and len(before) < MAX_BACK:
        number = waiting.popleft()
        situation = journeys.walk.situations[number]
        if situation.state.configuration == configuration:
            return tuple(reversed([*journeys.back(number, before)]))
        for edge in journeys.edges(situation):
            following = journeys.onward(number, edge)
            if following >= 0 and following not in before:
                before[following] = (number, edge.case)
                waiting.append(following)
    return None


MAX_APART = 8
"""Groups of variables that are followed each by itself, where together they have too many values."""

Explore = Callable[[Collection[str]], Exploration]
"""Explores a chart while it tells some variables apart by their values."""


def look_deeper(
    searches: Mapping[WitnessSearch, frozenset[str]], kept: frozenset[str], explore: Explore
) -> None:
    """Settle searches, as far as that goes: of all variables at once, or else of each group by itself.

    Args:
        searches: with the variables whose values each of them needs.
        kept: variables that are followed anyway.
        explore: explores the chart.
    """
    names = kept.union(*searches.values())
    together = explore(names)
    look_through(Journeys(together), searches, ())
    if together.complete:
        return
    groups: dict[frozenset[str], list[WitnessSearch]] = {}
    for search, missed in searches.items():
        if not _shown(search, missed, together):
            own = frozenset(search.names & together.looked.keeps.keys())
            groups.setdefault(own, []).append(search)
    for own, group in list(groups.items())[:MAX_APART]:
        if own != names:
            _look_again({search: searches[search] for search in group}, explore(own))


def _look_again(searches: Mapping[WitnessSearch, Collection[str]], explored: Exploration) -> None:
    """Settle searches in what was explored for them alone."""
    for search in searches:
        search.waiting.clear()
        search.undecided = ""
    look_through(Journeys(explored), searches, ())
    if not explored.complete:
        for search, missed in searches.items():
            _shown(search, missed, explored)


def _shown(search: WitnessSearch, missed: Collection[str], explored: Exploration) -> bool:
    """Return whether a search has a witness, be it in a long run; where it has none, it is undecided."""
    if search.witness is None:
        search.witness = shown_by_repeating(Journeys(explored), search)
    if search.witness is None:
        search.undecided = f"too many values of {', '.join(sorted(missed))}"
    return search.witness is not None


MAX_AIMED = 12
"""Searches that are aimed."""

Marks = Mapping[str, Collection[Value]]
"""Values of variables that an exploration is to try."""


def aim_at_cases(searches: Sequence[WitnessSearch], explore: Callable[[Marks], Exploration]) -> None:
    """Search once more for what has no witness, in runs that give variables the values of a case.

    Args:
        searches: what was searched for, where not everything that can happen was tried.
        explore: explores the chart while it tries some values.
    """
    cases = {search: case_of(search) for search in [one for one in searches if is_open(one)][:MAX_AIMED]}
    marks: dict[str, dict[Value, None]] = {}
    for case in cases.values():
        for name, value in case.items():
            marks.setdefault(name, {})[value] = None
    if not marks:
        return
    aimed = [search for search, case in cases.items() if case]
    reasons = [search.undecided for search in aimed]
    for search in aimed:
        search.waiting.clear()
    look_through(Journeys(explore(marks)), aimed, ())
    for search, reason in zip(aimed, reasons, strict=True):
        search.undecided = reason


def is_open(search: WitnessSearch) -> bool:
    """Return whether ticks came by the place of a search, and none answered it."""
    return search.witness is None and search.met > 0 and bool(search.registers)


def case_of(search: WitnessSearch) -> dict[str, Value]:
    """Return numbers that variables may stand at for the answer to be yes; none where there are none."""
    answer = search.solver.ask(search.question.claims)
    variables = search.interpreter.chart.variables
    case = {name: value for name, value in (answer.case or {}).items() if name in variables}
    return {name: value for name, value in case.items() if not isinstance(value, bool | str)}
