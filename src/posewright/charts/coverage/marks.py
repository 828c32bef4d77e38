"""Coverage as marks in a picture of the chart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from posewright.charts.coverage.coverage import Coverage
from posewright.charts.coverage.goal import Measure, TestObligation
from posewright.charts.drawing import Mark


def marks(coverage: Coverage) -> dict[str | tuple[str, int], Mark]:
    """Return a mark for every state, and for every transition of a state or a junction by its number.

    A transition is covered where each way that begins with it was taken and all its conditions were seen to
    decide. What cannot be covered, as was proved, is not asked for; where that is all, there is no mark.
    """
    found: dict[str | tuple[str, int], Mark] = dict(_of_states(coverage))
    asked: dict[tuple[str, int], list[TestObligation]] = {}
    for goal in coverage.goals.every:
        if goal.owner is not None and goal.owner[1] is not None and goal not in coverage.infeasible:
            asked.setdefault((goal.owner[0], goal.owner[1]), []).append(goal)
    return (
        found | {way: _mark(goals, coverage) for way, goals in asked.items()} | dict(_of_junctions(coverage))
    )


def _of_states(coverage: Coverage) -> Iterator[tuple[str, Mark]]:
    for goal in coverage.goals.every:
        if goal.measure is Measure.STATES and goal not in coverage.infeasible:
            yield goal.name, _mark([goal], coverage)


def _of_junctions(coverage: Coverage) -> Iterator[tuple[tuple[str, int], Mark]]:
    goals = coverage.goals
    for name, segments in coverage.chart.junctions.items():
        for index, segment in enumerate(segments):
            taken = ("segment", goals.segments[id(segment)]) in coverage.facts
            yield (name, index), Mark.COVERED if taken else Mark.MISSED


def _mark(goals: Iterable[TestObligation], coverage: Coverage) -> Mark:
    met = [goal.met(coverage.facts) for goal in goals]
    taken = [
        goal.met(coverage.facts) for goal in goals if goal.measure in (Measure.STATES, Measure.TRANSITIONS)
    ]
    if all(met):
        return Mark.COVERED
    return Mark.PARTLY if any(taken) else Mark.MISSED
