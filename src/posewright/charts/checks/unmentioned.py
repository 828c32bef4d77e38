"""Constants and functions that nothing mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from posewright.charts.checks.finding import Finding, Level, Rule
from posewright.charts.checks.inspection import Inspection
from posewright.charts.expression import Expression, names_in
from posewright.charts.model import Chart, Transition, expressions_in, segments_of

WORD = re.compile(r"[^\W\d]\w*")


class Unmentioned:
    """Looks for constants and functions that no expression names."""

    def __init__(self, inspection: Inspection) -> None:
        self.chart = inspection.chart

    def findings(self) -> Iterator[Finding]:
        """Yield what was found."""
        named = {name for one in expressions_of(self.chart) for name in words_in(one)}
        starts = [*self.chart.initial_values.values()]  # they are known as numbers only, not as written
        for name, value in self.chart.constants.items():
            if name not in named and value not in starts:
                yield self.warning(Rule.UNUSED_CONSTANT, name, f"nothing uses the constant {name}")
        for name in self.chart.functions:
            if name not in named:
                yield self.warning(Rule.UNUSED_FUNCTION, name, f"nothing calls the function {name}")

    def warning(self, rule: Rule, name: str, message: str) -> Finding:
        """Return a warning about a name, with the line that declares it."""
        return Finding(Level.WARNING, rule, message, line=self.chart.lines.get(name))


def words_in(one: Expression) -> frozenset[str]:
    """Return all that an expression names: as written, for functions are gone from its tree."""
    return names_in(one.tree).union(WORD.findall(str(one)))


def expressions_of(chart: Chart) -> Iterator[Expression]:
    """Yield every expression of a chart as it is written."""
    for state in chart.every_state:
        yield from chain(state.do.values(), of_ways(state.transitions))
        for actions in (state.entry, state.during, state.exit):
            yield from expressions_in(actions)
    for ways in chart.junctions.values():
        yield from of_ways(ways)
    for promise in chart.promises:
        yield promise.when
        if promise.goal is not None:
            yield promise.goal
    for function in chart.functions.values():
        for row in function.rows:
            yield from (row.when, row.give)


def of_ways(ways: tuple[Transition, ...]) -> Iterator[Expression]:
    """Yield the guards of ways and of the segments that follow them, and what their actions compute."""
    for segment in segments_of(ways):
        yield segment.when
        yield from expressions_in(segment.do)
