"""Coverage: what runs of a chart have seen of it, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from posewright.charts.coverage.goal import Fact, Goals, Measure, TestObligation
from posewright.charts.coverage.watching import Evaluation
from posewright.charts.model import Chart
from posewright.errors import InputError


@dataclass(frozen=True)
class CoverageRow:
    """One measure.

    Attributes:
        covered: goals that were met.
        total: goals there are, those that cannot be met left out.
        infeasible: goals that cannot be met, as was proved.
        missing: goals that were not met and may be.
    """

    measure: Measure
    covered: int
    total: int
    infeasible: int
    missing: tuple[TestObligation, ...]

    @property
    def part(self) -> float:
        """How much of it is covered, 0..1; all of nothing is all."""
        return self.covered / self.total if self.total else 1.0


@dataclass(frozen=True, eq=False)
class Coverage:
    """What was seen of a chart; two of one chart can be added.

    Attributes:
        visited: numbers of the states that were active.
        taken: state and index of the ways that were taken.
        evaluations: how decisions went.
        infeasible: goals that no run can meet, and why.
    """

    goals: Goals
    visited: frozenset[int] = frozenset()
    taken: frozenset[tuple[int, int]] = frozenset()
    evaluations: frozenset[Evaluation] = frozenset()
    infeasible: Mapping[TestObligation, str] = field(default_factory=dict)

    @property
    def chart(self) -> Chart:
        """The chart that was run."""
        return self.goals.chart

    def __add__(self, other: Coverage) -> Coverage:
        if self.chart != other.chart:
            names = f"{self.chart.name} and {other.chart.name}"
            raise InputError(f"coverage of two charts: {names}", hint="only runs of one chart add up")
        return Coverage(
            self.goals,
            self.visited | other.visited,
            self.taken | other.taken,
            self.evaluations | other.evaluations,
            {**self.infeasible, **other.infeasible},
        )

    @cached_property
    def facts(self) -> frozenset[Fact]:
        """Everything that was seen, as goals ask for it."""
        return frozenset(self._facts())

    def _facts(self) -> Iterator[Fact]:
        for number in self.visited:
            yield "state", number
        for source, index in self.taken:
            yield "way", source, index
            for segment in self.goals.machine.nodes[source].ways[index].segments[1:]:
                yield "segment", self.goals.segments[id(segment)]
        for evaluation in self.evaluations:
            yield from facts_of(evaluation)

    @cached_property
    def missing(self) -> tuple[TestObligation, ...]:
        """The goals that were not met and may be."""
        return tuple(
            goal for goal in self.goals.every if goal not in self.infeasible and not goal.met(self.facts)
        )

    @cached_property
    def rows(self) -> tuple[CoverageRow, ...]:
        """The table: a row for every measure that the chart has anything of."""
        return tuple(self._row(measure) for measure in Measure if self._goals(measure))

    def row(self, measure: Measure) -> CoverageRow:
        """Return the row of a measure; of one that the chart has nothing of, an empty one."""
        return self._row(measure)

    def _goals(self, measure: Measure) -> list[TestObligation]:
        return [goal for goal in self.goals.every if goal.measure is measure]

    def _row(self, measure: Measure) -> CoverageRow:
        goals = [goal for goal in self._goals(measure) if goal not in self.infeasible]
        missing = tuple(goal for goal in self.missing if goal.measure is measure)
        excluded = len(self._goals(measure)) - len(goals)
        return CoverageRow(measure, len(goals) - len(missing), len(goals), excluded, missing)

    def data(self) -> dict[str, Any]:
        """Return the coverage as plain data."""
        return {
            "chart": self.chart.name,
            "measures": {
                row.measure.value: {
                    "covered": row.covered,
                    "total": row.total,
                    "infeasible": row.infeasible,
                    "missing": [{"name": goal.name, "line": goal.line} for goal in row.missing],
                }
                for row in self.rows
            },
            "infeasible": [
                {"measure": goal.measure.value, "name": goal.name, "line": goal.line, "reason": reason}
                for goal, reason in self.infeasible.items()
            ],
        }


def facts_of(evaluation: Evaluation) -> Iterator[Fact]:
    """Yield what an evaluation of a decision shows."""
    decision, outcome, seen, brought = evaluation
    yield "decision", decision, outcome
    for bit in _bits(seen):
        yield "condition", decision, bit
    for bit in _bits(brought):
        yield "effect", decision, bit, outcome


def _bits(number: int) -> Iterator[int]:
    while number:
        bit = number & -number
        yield bit
        number ^= bit
