"""What faults are made with: the names, events and states of a chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from posewright.charts.expression import Expression, Scope
from posewright.charts.model import Chart
from posewright.charts.mutation.expression_faults import expression_faults
from posewright.charts.mutation.fault import Fault
from posewright.charts.types import BoolType, Type


@dataclass(frozen=True, eq=False)
class Ground:
    """The chart in which faults are made."""

    chart: Chart

    @property
    def scope(self) -> Scope:
        """The names that expressions may use."""
        return self.chart.scope

    @property
    def period_s(self) -> float:
        """The time between two ticks [s]."""
        return self.chart.period_s

    @property
    def variables(self) -> Mapping[str, Type]:
        """What actions may set."""
        return self.chart.variables

    def conditions(self, when: Expression) -> Iterator[Fault[Expression]]:
        """Yield a condition with every single fault."""
        return expression_faults(when, self.scope, BoolType(), self.period_s)

    def values(self, name: str, value: Expression) -> Iterator[Fault[Expression]]:
        """Yield what an output or a local is set to, with every single fault."""
        return expression_faults(value, self.scope, self.variables[name], self.period_s)

    def sibling(self, state: str) -> str | None:
        """Return the state after that one inside the same, the first after the last; None of an only one."""
        parent = self.chart.parents[state]
        inside = self.chart.states if parent is None else self.chart.state(parent).states
        names = [one.name for one in inside]
        return _next(state, names)

    def other_event(self, event: str) -> str | None:
        """Return the event declared after that one; None where there is no other."""
        known = [*self.chart.events, *self.chart.local_events]
        return _next(event, known) if event in known else next(iter(known), None)


def _next(name: str, names: list[str]) -> str | None:
    return names[(names.index(name) + 1) % len(names)] if len(names) > 1 else None
