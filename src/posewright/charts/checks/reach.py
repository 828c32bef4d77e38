"""States that a chart never comes into."""

from __future__ import annotations

from collections.abc import Iterator

from posewright.charts.checks.entering import entered_by
from posewright.charts.checks.finding import Counterexample, Finding, Level, Rule
from posewright.charts.checks.inspection import Inspection
from posewright.charts.checks.solver import claims
from posewright.charts.checks.undecided import not_proved, why
from posewright.charts.checks.ways import guard_text
from posewright.charts.machine import CompoundTransition, Node

SHOWN = 3
"""Ways towards a state that a message tells of."""


class Unreachable:
    """Looks for states that no run enters; of those inside one another, the outermost is named."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.machine = inspection.machine

    def findings(self) -> Iterator[Finding]:
        """Yield what was found."""
        explored = self.inspection.entered
        missed = [node for node in self.machine.nodes[1:] if node.index not in explored]
        missed = [node for node in missed if node.parent not in {one.index for one in missed}]
        possible = frozenset[int]() if self.inspection.complete else self.by_types()
        for node in missed:
            line = node.state.line if node.state is not None else None
            if node.index in possible:
                text = f"whether {node.name} is ever entered is not known: {why(self.inspection)}"
                yield not_proved(text, node.name, line)
            else:
                yield self.found(node, line)

    def found(self, node: Node, line: int | None) -> Finding:
        """Return what to say of a state that is never entered."""
        towards = [way for way in self.machine.ways if self.leads_to(way, node)]
        reason = "no transition leads there"
        if towards:
            names = [(self.machine.nodes[way.source].name, way) for way in towards[:SHOWN]]
            ways = "; ".join(
                f"from {name} {'' if way.events else 'when '}{guard_text(way)}" for name, way in names
            )
            reason = f"it is never entered ({ways})"
        start = self.inspection.interpreter.initial().state
        message = f"{node.name} cannot be reached from {start}: {reason}"
        return Finding(Level.ERROR, Rule.UNREACHABLE, message, node.name, Counterexample(node.name, {}), line)

    def leads_to(self, way: CompoundTransition, node: Node) -> bool:
        """Return whether a way goes to a state, or into it, from outside."""
        inside = node.within | {node.index}
        return way.source not in inside and any(goal.node in inside for goal in way.goals)

    def by_types(self) -> frozenset[int]:
        """Return the states to which a chain of ways leads of which no guard is known never to hold."""
        found = set(self.inspection.entered)
        passable = [w for w in self.machine.ways if not self.inspection.solver.excludes(claims([w.guard]))]
        while True:
            more = {
                n
                for way in passable
                if way.source in found
                for n in entered_by(self.machine, way, remembered=True)
            } - found
            if not more:
                return frozenset(found)
            found |= more
