"""What comes into a chart at a tick: inputs and events, each with the values it may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from posewright.charts.model import Chart
from posewright.charts.proof import SolverBudget
from posewright.charts.reachability.axis import Domain, Spans, plainest
from posewright.charts.reachability.deciding import decider_for
from posewright.charts.reachability.relation import Solver
from posewright.charts.types import BoolType, Value


@dataclass(frozen=True, eq=False)
class InputSpace:
    """All inputs and events of a chart.

    Attributes:
        axes: the values of each.
        solver: finds inputs that are related in a certain way.
    """

    axes: Mapping[str, Domain]
    solver: Solver

    @classmethod
    def of(cls, chart: Chart, pool: SolverBudget | None = None) -> InputSpace:
        """Return those of a chart; what asks the prover of them shares its effort with others."""
        axes = {name: Domain(kind) for name, kind in chart.inputs.items()}
        axes |= {name: Domain(BoolType()) for name in chart.events}
        return cls(axes, Solver(decider_for(axes, pool)))

    @cached_property
    def whole(self) -> Mapping[str, Spans]:
        """The set of all values of each."""
        return {name: axis.whole for name, axis in self.axes.items()}

    @cached_property
    def plain(self) -> Mapping[str, Value]:
        """Each as plain as may be: false, zero."""
        return {name: plainest(axis, axis.whole) for name, axis in self.axes.items()}
