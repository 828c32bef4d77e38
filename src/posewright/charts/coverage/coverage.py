"""Coverage of a chart: what runs have covered, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from posewright.charts.coverage.obligation import (
    Fact,
    Measure,
    TestObligation,
    TestObligations,
    segment_fact,
)
from posewright.charts.drawing import CoverageMark, draw_svg
from posewright.charts.model import Chart
from posewright.display import Lines, align_columns
from posewright.documents import PlainData
from posewright.errors import InputError


@dataclass(frozen=True)
class CoverageRow:
    """The coverage of one measure.

    Attributes:
        covered: number of obligations that are met.
        total: number of obligations, without those that are infeasible.
        infeasible: number of obligations that are proved never to be met.
        missing: obligations that are not met and may be.
    """

    measure: Measure
    covered: int
    total: int
    infeasible: int
    missing: tuple[TestObligation, ...]

    @property
    def covered_fraction(self) -> float:
        """The fraction that is covered, 0..1; 1 if there are no obligations."""
        return self.covered / self.total if self.total else 1.0


@dataclass(frozen=True, eq=False, repr=False)
class Coverage:
    """What runs of a chart have covered; two coverages of one chart can be added.

    Attributes:
        obligations: the obligations of the chart.
        facts: everything that was observed.
        infeasible: obligations that no run can meet, and why.
    """

    obligations: TestObligations
    facts: frozenset[Fact] = field(default=frozenset(), repr=False)
    infeasible: Mapping[TestObligation, str] = field(default_factory=dict)

    @property
    def chart(self) -> Chart:
        """The covered chart."""
        return self.obligations.machine.chart

    def __repr__(self) -> str:
        measures = ", ".join(f"{row.measure.value} {row.covered}/{row.total}" for row in self.rows)
        return f"<Coverage of {self.chart.name!r}: {measures}>"

    def lines(self) -> Lines:
        """Yield the table for a terminal, then what is missing and what cannot be covered."""
        rows = [
            [
                row.measure.value,
                f"{row.covered}/{row.total}",
                f"{row.covered_fraction:.0%}",
                str(row.infeasible),
            ]
            for row in self.rows
        ]
        yield from align_columns([["measure", "covered", "", "cannot be"], *rows])
        for obligation in self.missing:
            yield f"missing: {obligation.measure.value}: {_with_line(obligation)}"
        for obligation, reason in self.infeasible.items():
            yield f"cannot be covered: {obligation.measure.value}: {_with_line(obligation)}: {reason}"

    def __add__(self, other: Coverage) -> Coverage:
        if self.chart != other.chart:
            names = f"{self.chart.name} and {other.chart.name}"
            raise InputError(f"coverage of two charts: {names}", hint="only runs of one chart add up")
        infeasible = {**self.infeasible, **other.infeasible}
        return Coverage(self.obligations, self.facts | other.facts, infeasible)

    @cached_property
    def missing(self) -> tuple[TestObligation, ...]:
        """The obligations that are not met and may be."""
        return tuple(
            obligation
            for obligation in self.obligations.all_obligations
            if obligation not in self.infeasible and not obligation.is_met(self.facts)
        )

    @cached_property
    def rows(self) -> tuple[CoverageRow, ...]:
        """A row for every measure that the chart has obligations of."""
        measures = {obligation.measure for obligation in self.obligations.all_obligations}
        return tuple(self.row(measure) for measure in Measure if measure in measures)

    def row(self, measure: Measure) -> CoverageRow:
        """Return the coverage of a measure; all zero if the chart has no obligations of it."""
        obligations = [
            obligation for obligation in self.obligations.all_obligations if obligation.measure is measure
        ]
        n_feasible = sum(obligation not in self.infeasible for obligation in obligations)
        missing = tuple(obligation for obligation in self.missing if obligation.measure is measure)
        return CoverageRow(
            measure,
            covered=n_feasible - len(missing),
            total=n_feasible,
            infeasible=len(obligations) - n_feasible,
            missing=missing,
        )

    def svg(self) -> str:
        """Return a drawing of the chart, coloured by coverage."""
        return draw_svg(self.chart, marks=coverage_marks(self))

    def _repr_svg_(self) -> str:
        return self.svg()

    def data(self) -> dict[str, PlainData]:
        """Return the coverage as plain data for JSON."""
        return {
            "chart": self.chart.name,
            "measures": {
                row.measure.value: {
                    "covered": row.covered,
                    "total": row.total,
                    "infeasible": row.infeasible,
                    "missing": [
                        {"name": obligation.name, "line": obligation.line} for obligation in row.missing
                    ],
                }
                for row in self.rows
            },
            "infeasible": [
                {
                    "measure": obligation.measure.value,
                    "name": obligation.name,
                    "line": obligation.line,
                    "reason": reason,
                }
                for obligation, reason in self.infeasible.items()
            ],
        }


def coverage_marks(coverage: Coverage) -> dict[str | tuple[str, int], CoverageMark]:
    """Return the drawing marks of a chart's elements.

    The key of a state is its name; that of a transition is the state or junction that it leaves, and its
    index there. A transition is covered if every path that begins with it was taken and all its conditions
    were shown to decide. Obligations (items to be covered) that are infeasible do not count; where there are
    no others, there is no mark.
    """
    marks: dict[str | tuple[str, int], CoverageMark] = {}
    obligations_by_transition: dict[tuple[str, int], list[TestObligation]] = {}
    for obligation in coverage.obligations.all_obligations:
        if obligation in coverage.infeasible:
            continue
        if obligation.measure is Measure.STATES:
            marks[obligation.name] = _mark_of([obligation], coverage)
        elif obligation.owner is not None and obligation.owner.transition_index is not None:
            transition_key = (obligation.owner.state, obligation.owner.transition_index)
            obligations_by_transition.setdefault(transition_key, []).append(obligation)
    for transition_key, obligations in obligations_by_transition.items():
        marks[transition_key] = _mark_of(obligations, coverage)
    for junction, segments in coverage.chart.junctions.items():
        for index, segment in enumerate(segments):
            fact = segment_fact(coverage.obligations.segment_numbers[id(segment)])
            marks[junction, index] = CoverageMark.COVERED if fact in coverage.facts else CoverageMark.MISSED
    return marks


def _mark_of(obligations: Iterable[TestObligation], coverage: Coverage) -> CoverageMark:
    """Return the mark of an element: covered, missed, or partly covered if it was reached or taken."""
    is_reached = False
    is_covered = True
    for obligation in obligations:
        if not obligation.is_met(coverage.facts):
            is_covered = False
        elif obligation.measure in (Measure.STATES, Measure.TRANSITIONS):
            is_reached = True
    if is_covered:
        return CoverageMark.COVERED
    return CoverageMark.PARTLY if is_reached else CoverageMark.MISSED


def _with_line(obligation: TestObligation) -> str:
    """Return the name of an obligation, with its line if it is known."""
    return obligation.name if obligation.line is None else f"{obligation.name} (line {obligation.line})"
