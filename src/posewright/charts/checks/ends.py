"""Where a chart gets stuck: dead ends, and resources that can never be switched off again."""

from __future__ import annotations

from collections.abc import Iterator

from posewright.charts.checks.finding import Finding, Level, Rule, show
from posewright.charts.checks.inspection import Inspection
from posewright.charts.checks.recorder import Rows
from posewright.charts.checks.undecided import not_proved, why
from posewright.charts.machine import Snapshot
from posewright.charts.reachability import AbstractState


class Deadlocks:
    """Looks for states of which nothing is left again, and for outputs that stay switched on."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.machine = inspection.machine

    def findings(self) -> Iterator[Finding]:
        """Yield what was found."""
        yield from self.dead_ends()
        for name in self.inspection.chart.resources:
            yield from self.left_on(name)

    # Dead ends

    def dead_ends(self) -> Iterator[Finding]:
        """Yield the states of which nothing is left again."""
        stuck: dict[int, set[AbstractState]] = {}
        for situation in self.inspection.journeys.situations:
            if situation.state.started:
                for leaf in situation.state.configuration:
                    if not self.machine.nodes[leaf].final and self.is_still(leaf, situation):
                        stuck.setdefault(leaf, set()).add(situation)
        for leaf in sorted(stuck):
            if self.leads_somewhere(leaf):
                yield from self.dead_end(leaf, stuck[leaf])

    def is_still(self, leaf: int, situation: AbstractState) -> bool:
        """Return whether nothing happens to a state in a tick, whatever the inputs are."""
        own = {leaf, *self.machine.nodes[leaf].around}
        for case in situation.cases:
            if case.after is None or leaf not in case.after.configuration:
                return False
            if any(way.source in own for way in case.taken):
                return False
        return True

    def leads_somewhere(self, leaf: int) -> bool:
        """Return whether there is any state that a way could lead to from there."""
        for number in (leaf, *self.machine.nodes[leaf].around[:-1]):
            around = self.machine.nodes[self.machine.nodes[number].parent]
            if not around.parallel and len(around.children) > 1:
                return True
        return False

    def dead_end(self, leaf: int, still: set[AbstractState]) -> Iterator[Finding]:
        """Yield that a state is a dead end, if it is; `still` is where nothing happens to it."""
        explored, journeys = self.inspection.exploration, self.inspection.journeys
        # where another region is at its end, or comes to it, there is nothing left to wait for
        still = {
            one for one in still if not any(self.machine.nodes[i].final for i in one.state.configuration)
        }
        inside = {number for number, one in enumerate(journeys.walk.situations) if one in still}
        # a place that is still for now is no end if time leads out of it
        dead = journeys.never_out_of(inside)
        if dead:
            node, number = self.machine.nodes[leaf], min(dead)
            message = f"{node.name} is a dead end: nothing leads on from there"
            message += ", whatever the inputs are; give it a transition, or say `final: true`"
            line = node.state.line if node.state is not None else None
            if self.inspection.complete or not any(self.machine.nodes[i].ways for i in (leaf, *node.around)):
                yield self.found(Rule.DEAD_END, message, node.name, explored.reached[number], line)
            else:
                yield self.open_note("whether anything leads on", node.name, line)

    # Resources

    def left_on(self, name: str) -> Iterator[Finding]:
        """Yield that a resource stays on, if it does."""
        explored = self.inspection.exploration
        zero = self.inspection.chart.outputs[name].zero
        at = list(self.machine.chart.variables).index(name)
        rests = explored.looked.rests
        on = {number for number, (rest, _) in enumerate(explored.walk.places) if rests[rest][2][at] != zero}
        left = self.inspection.journeys.never_out_of(on)
        if left:
            state = explored.reached[min(left)]
            value = show(state.registers[name])
            message = f"{name} is {value} in {state.state} and can never be {show(zero)} again"
            message += ": switch it off on every way that ends"
            leaf = self.machine.nodes[state.configuration[0]]
            line = leaf.state.line if leaf.state is not None else None
            if self.inspection.complete:
                yield self.found(Rule.LEFT_ON, message, leaf.name, state, line)
            else:
                yield self.open_note(f"whether {name} can be {show(zero)} again", leaf.name, line)

    def open_note(self, question: str, name: str, line: int | None) -> Finding:
        """Return the note that it is not known, because not every way on was tried."""
        return not_proved(f"{question} after {name} is not known: {why(self.inspection)}", name, line)

    def found(self, rule: Rule, message: str, name: str, state: Snapshot, line: int | None) -> Finding:
        """Return a finding with the run that leads to a state."""
        trace: Rows = self.inspection.exploration.trace_to(state)
        held = state.registers
        case = self.inspection.counterexample(name, trace[-1] if trace else {}, held, set(held))
        return Finding(Level.ERROR, rule, message, name, case, line, trace)
