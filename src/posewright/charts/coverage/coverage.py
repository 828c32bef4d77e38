"""Coverage: what runs of a chart have seen of it, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from posewright.charts.coverage.obligation import Fact, Measure, TestObligation, TestObligations
from posewright.charts.drawing import CoverageMark, draw_svg
from posewright.charts.model import Chart
from posewright.display import Lines, align_columns
from posewright.documents import PlainData
from posewright.errors import InputError


@dataclass(frozen=True)
class CoverageRow:
    """One measure.

    Attributes:
        covered: obligations that were met.
        total: obligations there are, those that cannot be met left out.
        infeasible: obligations that cannot be met, as was proved.
        missing: obligations that were not met and may be.
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


@dataclass(frozen=True, eq=False, repr=False)
class Coverage:
    """What was seen of a chart; two of one chart can be added.

    Attributes:
        facts: everything that was seen, as obligations ask for it.
        infeasible: obligations that no run can meet, and why.
    """

    obligations: TestObligations
    facts: frozenset[Fact] = field(default=frozenset(), repr=False)
    infeasible: Mapping[TestObligation, str] = field(default_factory=dict)

    @property
    def chart(self) -> Chart:
        """The chart that was run."""
        return self.obligations.machine.chart

    def __repr__(self) -> str:
        measures = ", ".join(f"{row.measure.value} {row.covered}/{row.total}" for row in self.rows)
        return f"<Coverage of {self.chart.name!r}: {measures}>"

    def lines(self) -> Lines:
        """Yield the table for people, what is missing, and what cannot be covered."""
        rows = [
            [row.measure.value, f"{row.covered}/{row.total}", f"{row.part:.0%}", str(row.infeasible)]
            for row in self.rows
        ]
        yield from align_columns([["measure", "covered", "", "cannot be"], *rows])
        for obligation in self.missing:
            yield f"missing: {obligation.measure.value}: {_placed(obligation)}"
        for obligation, reason in self.infeasible.items():
            yield f"cannot be covered: {obligation.measure.value}: {_placed(obligation)}: {reason}"

    def __add__(self, other: Coverage) -> Coverage:
        if self.chart != other.chart:
            names = f"{self.chart.name} and {other.chart.name}"
            raise InputError(f"coverage of two charts: {names}", hint="only runs of one chart add up")
        infeasible = {**self.infeasible, **other.infeasible}
        return Coverage(self.obligations, self.facts | other.facts, infeasible)

    @cached_property
    def missing(self) -> tuple[TestObligation, ...]:
        """The obligations that were not met and may be."""
        every = self.obligations.every
        return tuple(one for one in every if one not in self.infeasible and not one.met(self.facts))

    @cached_property
    def rows(self) -> tuple[CoverageRow, ...]:
        """The table: a row for every measure that the chart has anything of."""
        found = {one.measure for one in self.obligations.every}
        return tuple(self.row(measure) for measure in Measure if measure in found)

    def row(self, measure: Measure) -> CoverageRow:
        """Return the row of a measure; of one that the chart has nothing of, an empty one."""
        every = [one for one in self.obligations.every if one.measure is measure]
        total = sum(one not in self.infeasible for one in every)
        missing = tuple(one for one in self.missing if one.measure is measure)
        return CoverageRow(measure, total - len(missing), total, len(every) - total, missing)

    def svg(self) -> str:
        """Return the picture of the chart, coloured by what was covered."""
        return draw_svg(self.chart, marks=marks(self))

    def _repr_svg_(self) -> str:
        return self.svg()

    def data(self) -> dict[str, PlainData]:
        """Return the coverage as plain data."""
        return {
            "chart": self.chart.name,
            "measures": {
                row.measure.value: {
                    "covered": row.covered,
                    "total": row.total,
                    "infeasible": row.infeasible,
                    "missing": [{"name": one.name, "line": one.line} for one in row.missing],
                }
                for row in self.rows
            },
            "infeasible": [
                {"measure": one.measure.value, "name": one.name, "line": one.line, "reason": reason}
                for one, reason in self.infeasible.items()
            ],
        }


def marks(coverage: Coverage) -> dict[str | tuple[str, int], CoverageMark]:
    """Return a mark for every state, and for every transition of a state or a junction by its number.

    A transition is covered where each way that begins with it was taken and all its conditions were seen to
    decide. What cannot be covered, as was proved, is not asked for; where that is all, there is no mark.
    """
    found: dict[str | tuple[str, int], CoverageMark] = {}
    asked: dict[tuple[str, int], list[TestObligation]] = {}
    for one in coverage.obligations.every:
        if one in coverage.infeasible:
            continue
        if one.measure is Measure.STATES:
            found[one.name] = _mark([one], coverage)
        elif one.owner is not None and one.owner[1] is not None:
            asked.setdefault((one.owner[0], one.owner[1]), []).append(one)
    found |= {way: _mark(obligations, coverage) for way, obligations in asked.items()}
    for name, segments in coverage.chart.junctions.items():
        for index, segment in enumerate(segments):
            taken = ("segment", coverage.obligations.segments[id(segment)]) in coverage.facts
            found[name, index] = CoverageMark.COVERED if taken else CoverageMark.MISSED
    return found


def _mark(obligations: Iterable[TestObligation], coverage: Coverage) -> CoverageMark:
    met = {one: one.met(coverage.facts) for one in obligations}
    if all(met.values()):
        return CoverageMark.COVERED
    taken = any(is_met for one, is_met in met.items() if one.measure in (Measure.STATES, Measure.TRANSITIONS))
    return CoverageMark.PARTLY if taken else CoverageMark.MISSED


def _placed(obligation: TestObligation) -> str:
    return obligation.name if obligation.line is None else f"{obligation.name} (line {obligation.line})"
