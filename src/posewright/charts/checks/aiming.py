"""Searches that no run answered, aimed: at the values for which, as a proof says, the answer would be yes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from posewright.charts.checks.journey import Journeys
from posewright.charts.checks.search import Search
from posewright.charts.checks.survey import look_through
from posewright.charts.reachability import Exploration
from posewright.charts.types import Value

MAX_AIMED = 12
"""Searches that are aimed."""

Marks = Mapping[str, Collection[Value]]
"""Values of variables that an exploration is to try."""


def aim_at_cases(searches: Sequence[Search], explore: Callable[[Marks], Exploration]) -> None:
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


def is_open(search: Search) -> bool:
    """Return whether ticks came by the place of a search, and none answered it."""
    return search.witness is None and search.met > 0 and bool(search.registers)


def case_of(search: Search) -> dict[str, Value]:
    """Return numbers that variables may stand at for the answer to be yes; none where there are none."""
    answer = search.solver.ask(search.question.claims)
    variables = search.interpreter.chart.variables
    case = {name: value for name, value in (answer.case or {}).items() if name in variables}
    return {name: value for name, value in case.items() if not isinstance(value, bool | str)}
