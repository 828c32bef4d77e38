"""One look at every explored tick, for all who want to see it."""

from __future__ import annotations

from collections.abc import Callable, Collection

from posewright.charts.checks.journey import Journeys
from posewright.charts.checks.recorder import Rows, TickTrace, record
from posewright.charts.checks.search import Search, Stage, Step, Witness
from posewright.charts.machine import Interpreter, Snapshot

Watcher = Callable[[Step], None]


def look_through(journeys: Journeys, searches: Collection[Search], watchers: Collection[Watcher]) -> None:
    """Look at every explored tick that somebody still wants to see, and settle the searches."""
    interpreter = journeys.exploration.interpreter
    for situation in journeys.situations:
        for number, case in enumerate(situation.cases):
            stage = Stage.of(situation, case, interpreter.machine)
            wanted = [search.see for search in searches if search.wants(stage)]
            if wanted or watchers:
                step = Step(situation, number, record(interpreter, situation.state, case.inputs))
                for look in (*watchers, *wanted):
                    look(step)
    for search in searches:
        search.settle()
        if search.witness is not None:
            search.witness = from_the_start(journeys, search, search.witness)


def from_the_start(journeys: Journeys, search: Search, witness: Witness) -> Witness | None:
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
