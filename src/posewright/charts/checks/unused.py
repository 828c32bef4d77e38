"""What is declared and makes no difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from posewright.charts.checks.conditions import all_of, any_of, condition, negated
from posewright.charts.checks.finding import Finding, Level, Rule
from posewright.charts.checks.inspection import Inspection
from posewright.charts.checks.solver import OTHER, claims
from posewright.charts.checks.ways import divides, outcome_differs
from posewright.charts.expression import Expression, Name, rewritten
from posewright.charts.machine import CompoundTransition, Node
from posewright.charts.model import events_raised, expressions_in, names_set

MANY = 100
"""Ways of one state beyond which each is an outcome of its own."""


class Unused:
    """Looks for inputs, outputs, locals and events that nobody reads, sets, raises or waits for."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        self.chart, self.machine = inspection.chart, inspection.machine
        machine = self.machine
        self.blocks = [way.do for way in machine.ways] + [
            one for node in machine.nodes for one in node.actions
        ]
        self.read = frozenset[str]().union(*(one.names for one in machine.expressions))
        self.written = frozenset[str]().union(*map(names_set, self.blocks))
        self.raised = frozenset[str]().union(*map(events_raised, self.blocks))
        goals = (promise.goal for promise in self.chart.promises if promise.goal is not None)
        asked = (*(promise.when for promise in self.chart.promises), *goals)
        self.promised = frozenset[str]().union(*(one.names for one in asked))

    def findings(self) -> Iterator[Finding]:
        """Yield what was found."""
        yield from self.inputs()
        for name in self.chart.outputs:
            if name not in self.written:
                yield self.warning(name, Rule.UNUSED_OUTPUT, f"nothing ever sets the output {name}")
        for name in self.chart.locals:
            if name not in self.read | self.promised:
                message = f"the local {name} is read by no guard and no action"
                yield self.warning(name, Rule.UNUSED_LOCAL, message)
            elif name not in self.written:
                yield self.warning(name, Rule.UNUSED_LOCAL, f"nothing ever sets the local {name}")
        yield from self.events()

    def inputs(self) -> Iterator[Finding]:
        """Yield what is wrong with inputs."""
        for name in self.chart.inputs:
            if name not in self.read | self.promised:
                message = f"the input {name} is read by no guard and no action"
                yield self.warning(name, Rule.UNUSED_INPUT, message)
            elif name in self.read and not self.matters(name):
                message = f"the input {name} makes no difference in any state"
                yield self.warning(name, Rule.UNUSED_INPUT, message)

    def events(self) -> Iterator[Finding]:
        """Yield what is wrong with events."""
        heard = self.machine.heard | self.promised
        for name in self.chart.events:
            if name not in heard:
                yield self.warning(name, Rule.UNUSED_EVENT, f"no transition waits for the event {name}")
        for name in self.chart.local_events:
            if name not in heard:
                yield self.warning(name, Rule.UNUSED_EVENT, f"no transition waits for the local event {name}")
            elif name not in self.raised:
                yield self.warning(name, Rule.UNUSED_EVENT, f"nothing raises the local event {name}")

    def warning(self, name: str, rule: Rule, message: str) -> Finding:
        """Return a warning about a name."""
        return Finding(Level.WARNING, rule, message, line=self.chart.lines.get(name))

    # Whether an input makes a difference

    def matters(self, name: str) -> bool:
        """Return whether an input can make a difference, or whether that cannot be told."""
        acted = frozenset[str]().union(*(self.read_in_actions(node) for node in self.machine.nodes))
        conditions = (one.condition for one in self.machine.counters if one.condition is not None)
        if name in acted or any(name in one.names for one in conditions):
            return True
        reading = [n for n in self.machine.nodes if any(name in way.guard.names for way in n.ways)]
        return any(self.matters_in(node, name) for node in reading)

    def read_in_actions(self, node: Node) -> frozenset[str]:
        """Return what the actions of a state read, those on its ways included."""
        blocks = (*node.actions, *(way.do for way in node.ways))
        return frozenset[str]().union(*(one.names for block in blocks for one in expressions_in(block)))

    def matters_in(self, node: Node, name: str) -> bool:
        """Return whether, in one state, another value of the input can bring another outcome."""
        for outcome in outcomes_of(node.ways):
            if name not in outcome.names:
                continue
            if divides(outcome) or not self.inspection.solver.excludes(
                claims([outcome], [renamed(outcome, name)])
            ):
                return True
        return False


def outcomes_of(ways: Sequence[CompoundTransition]) -> list[Expression]:
    """Return the conditions on which different things are done in a state, or more of them than that."""
    if len(ways) > MANY or any(way.events or way.wait for way in ways):
        return [way.guard for way in ways]
    kinds: list[tuple[CompoundTransition, list[Expression]]] = []
    before: list[Expression] = []
    for way in ways:
        taken = all_of([way.guard, *map(negated, before)])
        before.append(way.guard)
        for other, conditions in kinds:
            if outcome_differs(other, way) is False:
                conditions.append(taken)
                break
        else:
            kinds.append((way, [taken]))
    return [any_of(conditions) for _, conditions in kinds]


def renamed(one: Expression, name: str) -> Expression:
    """Return a condition that asks for another value of an input."""
    tree = rewritten(one.tree, lambda node: replace(node, name=OTHER + name) if node == Name(name) else None)
    return condition(tree, [one])
