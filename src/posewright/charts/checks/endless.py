"""Ticks that do not end, and junctions that lead back to themselves."""

from __future__ import annotations

from collections.abc import Iterator

from posewright.charts.checks.finding import Finding, Level, Rule
from posewright.charts.checks.inspection import Inspection
from posewright.charts.model import segments_of
from posewright.charts.reachability import AbstractState
from posewright.errors import ExpressionError, InputError


class Endless:
    """Looks for circles: of junctions in what is written, of transitions in what was explored."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection

    def findings(self) -> Iterator[Finding]:
        """Yield what was found."""
        for cycle in self.inspection.machine.cycles:
            yield self.of_junctions(cycle)
        told = set[str]()
        for situation in self.inspection.journeys.situations:
            for number, case in enumerate(situation.cases):
                error = case.error
                if not isinstance(error, InputError) or isinstance(error, ExpressionError):
                    continue
                if error.message not in told:
                    told.add(error.message)
                    yield self.of_ticks(situation, number, error)

    def of_junctions(self, cycle: tuple[str, ...]) -> Finding:
        """Return what to say of a circle of junctions."""
        text = " -> ".join((*cycle, cycle[0]))
        message = f"the junctions {text} lead back to themselves: a way through them never ends"
        return Finding(Level.ERROR, Rule.CYCLE, message, None, None, self.line_of(cycle))

    def line_of(self, cycle: tuple[str, ...]) -> int | None:
        """Return where the last junction of a circle leads back to the first."""
        segments = segments_of(self.inspection.chart.junctions[cycle[-1]])
        return next((one.line for one in segments if one.junction == cycle[0]), None)

    def of_ticks(self, situation: AbstractState, number: int, error: InputError) -> Finding:
        """Return what to say of a tick that does not end."""
        case, state = situation.cases[number], situation.state
        names = self.inspection.machine.nodes
        # the first way that comes again names the circle
        again = next((way for i, way in enumerate(case.taken) if way in case.taken[:i]), None)
        place = names[again.source].name if again is not None else state.state
        trace = (*self.inspection.exploration.trace_to(state), case.inputs)
        shown = self.inspection.counterexample(place, case.inputs, state.registers, set())
        message = f"{error.message}: {error.hint}" if error.hint else error.message
        return Finding(
            Level.ERROR, Rule.CYCLE, message, place, shown, again.line if again is not None else None, trace
        )
