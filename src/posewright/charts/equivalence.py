"""Whether two charts behave alike: both are walked side by side through everything that can happen."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from posewright.charts.chart import Chart
from posewright.charts.chart_state import ChartState
from posewright.charts.datatypes import Value
from posewright.charts.exploration import expressions_of
from posewright.charts.interpreter import Interpreter
from posewright.charts.points import Points, points_over
from posewright.errors import InputError

MAX_STEPS = 200_000
"""Ticks walked before the walk is called off."""

Pair = tuple[ChartState, ChartState]
Trail = tuple[Mapping[str, Value], ...]
Situation = tuple[str, int, tuple[tuple[str, Value], ...]]


@dataclass(frozen=True)
class Equivalence:
    """The outcome of walking two charts side by side.

    Attributes:
        equal: whether the charts behave alike; None where not every case was tried and none of those that
            were tried told them apart: then it is not known.
        cases: pairs of states times inputs that were tried.
        start: the pair of states from which the counterexample starts.
        counterexample: inputs, tick by tick, after which the outputs differ; empty where they do not.
        outputs: what the two charts' outputs then are.
    """

    equal: bool | None
    cases: int
    start: tuple[str, str] | None = None
    counterexample: Trail = ()
    outputs: tuple[Mapping[str, Value], Mapping[str, Value]] | None = None

    @property
    def proved(self) -> bool:
        """Whether the answer holds for every case there is."""
        return self.equal is not None

    def __bool__(self) -> bool:
        """Return whether the charts are equal and that is proved."""
        return self.equal is True


def equivalent(a: Chart, b: Chart, *, every_state: bool = False) -> Equivalence:
    """Return whether two charts give the same outputs for the same inputs, tick by tick.

    What is returned is true where they are proved equal, and only there.

    Args:
        a: one chart.
        b: another with the same inputs and outputs.
        every_state: start from every state that both have by name, besides the initial one; a truth table
            is then compared on every row, reachable or not.

    Raises:
        InputError: the charts have different inputs or outputs.
    """
    for word, ours, theirs in (("inputs", a.inputs, b.inputs), ("outputs", a.outputs, b.outputs)):
        if dict(ours) != dict(theirs):
            raise InputError(
                f"{a.name} and {b.name} have different {word}", hint=f"{list(ours)}, {list(theirs)}"
            )
    return _Walk(a, b).run(every_state)


class _Walk:
    def __init__(self, a: Chart, b: Chart) -> None:
        self.charts = (a, b)
        self.runs = (Interpreter(a), Interpreter(b))
        self.long_ago = max(
            (chart.wait_ticks(s, t) for chart in self.charts for s in chart.states for t in s.transitions),
            default=0,
        )
        self.points = self.read_points()
        self.rows = [self.points.at(index) for index in range(self.points.count)]

    def read_points(self) -> Points:
        a, b = self.charts
        expressions = [one for chart in (a, b) for state in chart.states for one in expressions_of(state)]
        return points_over(a.inputs, expressions, limit=MAX_STEPS)

    def starts(self, every_state: bool) -> Iterator[Pair]:
        one, other = self.runs
        yield one.initial(), other.initial()
        if every_state:
            for name in sorted(set(self.charts[0].state_names) & set(self.charts[1].state_names)):
                yield one.entered(name, self.long_ago), other.entered(name, self.long_ago)

    def run(self, every_state: bool) -> Equivalence:
        waiting: deque[tuple[Pair, Pair, Trail]] = deque()
        met, cases = set(), 0
        for pair in self.starts(every_state):
            waiting.append((pair, pair, ()))
        while waiting:
            pair, start, trail = waiting.popleft()
            if (key := self.key(pair)) in met:
                continue
            met.add(key)
            if cases + len(self.rows) > MAX_STEPS:
                return Equivalence(None, cases)
            for row in self.rows:
                cases += 1
                after = (self.runs[0].step(pair[0], row), self.runs[1].step(pair[1], row))
                if after[0].outputs != after[1].outputs:
                    names = start[0].state, start[1].state
                    return Equivalence(
                        False, cases, names, (*trail, row), (after[0].outputs, after[1].outputs)
                    )
                waiting.append((after, start, (*trail, row)))
        return Equivalence(True if self.points.exact else None, cases)

    def key(self, pair: Pair) -> tuple[Situation, ...]:
        """Return what tells situations apart: ticks beyond the longest wait make no difference."""
        return tuple(
            (one.state, min(one.since, self.long_ago + 1), tuple(one.outputs.items())) for one in pair
        )
