"""Names that differ only in case: people mix them up, and so do file systems and other languages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from posewright.charts.checks.finding import Finding, Level, Rule
from posewright.charts.checks.inspection import Inspection
from posewright.charts.types import EnumType


class Named(NamedTuple):
    """Something with a name.

    Attributes:
        sort: what it is, as messages call it.
    """

    name: str
    sort: str
    line: int | None = None

    def __str__(self) -> str:
        place = f" (line {self.line})" if self.line is not None else ""
        return f"the {self.sort} {self.name}{place}"


class CaseCollisions:
    """Looks for names that differ only in case."""

    def __init__(self, inspection: Inspection) -> None:
        self.chart = inspection.chart

    def findings(self) -> Iterator[Finding]:
        """Yield what was found."""
        alike: dict[str, list[Named]] = {}
        for one in dict.fromkeys(self.names()):
            alike.setdefault(one.name.lower(), []).append(one)
        for group in alike.values():
            for one, other in combinations(group, 2):
                if one.name != other.name and {one.sort, other.sort} != {"state", "value"}:
                    yield self.found(one, other)

    def names(self) -> Iterator[Named]:
        """Yield everything that has a name."""
        chart, line = self.chart, self.chart.lines.get
        yield from (Named(name, "input", line(name)) for name in chart.inputs)
        yield from (Named(name, "output", line(name)) for name in chart.outputs)
        yield from (Named(name, "local", line(name)) for name in chart.locals)
        yield from (Named(name, "constant", line(name)) for name in chart.constants)
        yield from (Named(name, "event", line(name)) for name in (*chart.events, *chart.local_events))
        yield from (Named(one.name, "function", one.line) for one in chart.functions.values())
        yield from (Named(name, "junction") for name in chart.junctions)
        yield from (Named(state.name, "state", state.line) for state in chart.every_state)
        kinds = [*chart.inputs.values(), *chart.variables.values()]
        for function in chart.functions.values():
            kinds += [*function.takes.values(), function.gives]
        for kind in kinds:
            if isinstance(kind, EnumType):
                yield from (Named(value, "value", line(value)) for value in kind.values)

    def found(self, one: Named, other: Named) -> Finding:
        """Return what to say of two names."""
        message = f"{one} and {other} differ only in case: rename one"
        state = next((named.name for named in (other, one) if named.sort == "state"), None)
        return Finding(Level.ERROR, Rule.CASE_TWINS, message, state, None, other.line or one.line)
