"""What comes into a chart at a tick: inputs and events, each with the values it may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from posewright.charts.chart import Chart
from posewright.charts.datatypes import BoolType, Value
from posewright.charts.exploration.axis import Axis, Spans, plainest
from posewright.charts.exploration.deciding import decider_for
from posewright.charts.exploration.relation import Solver
from posewright.charts.proof import Pool


@dataclass(frozen=True, eq=False)
class Inputs:
    """All inputs and events of a chart.

    Attributes:
        axes: the values of each.
        solver: finds inputs that are related in a certain way.
    """

    axes: Mapping[str, Axis]
    solver: Solver

    @classmethod
    def of(cls, chart: Chart, pool: Pool | None = None) -> Inputs:
        """Return those of a chart; what asks the prover of them shares its effort with others."""
        axes = {name: Axis(kind) for name, kind in chart.inputs.items()}
        axes |= {name: Axis(BoolType()) for name in chart.events}
        return cls(axes, Solver(decider_for(axes, pool)))

    @cached_property
    def whole(self) -> Mapping[str, Spans]:
        """The set of all values of each."""
        return {name: axis.whole for name, axis in self.axes.items()}

    @cached_property
    def plain(self) -> Mapping[str, Value]:
        """Each as plain as may be: false, zero."""
        return {name: plainest(axis, axis.whole) for name, axis in self.axes.items()}
