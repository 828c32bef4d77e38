"""Long runs: a few ticks that lead back to where they began, taken again and again until something shows.

Where a counter has too many values for all of them to be explored, the run in which it goes on counting is
tried by itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from posewright.charts.checks.journey import Journeys
from posewright.charts.checks.recorder import Rows, record
from posewright.charts.checks.search import Search, Stage, Witness

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


def shown_by_repeating(journeys: Journeys, search: Search) -> Witness | None:
    """Return a tick of a long run that answers a question with yes, None where none was found."""
    rounds = (taken(journeys, search, one) for one in rounds_by(journeys, search))
    return next((witness for witness in rounds if witness is not None), None)


def taken(journeys: Journeys, search: Search, one: Round) -> Witness | None:
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


def rounds_by(journeys: Journeys, search: Search) -> Iterator[Round]:
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


def comes_by(journeys: Journeys, search: Search, number: int, case: int) -> bool:
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
