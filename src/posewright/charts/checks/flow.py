"""Variables that are read before anything wrote them, or that some path leaves unwritten."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from posewright.charts.action import Assign, every_action, names_set
from posewright.charts.chart import Kind
from posewright.charts.checks.inspection import Inspection
from posewright.charts.checks.journey import Edge
from posewright.charts.checks.recorder import Recorder, Rows, Write, record
from posewright.charts.checks.search import Step
from posewright.charts.datatypes import Value
from posewright.charts.exploration.situations import Situation
from posewright.charts.expression import Expression
from posewright.charts.finding import Finding, Level, Rule, show
from posewright.errors import ExpressionError


class Effect(NamedTuple):
    """What a tick does with the variables that are looked at.

    Attributes:
        reads: those that it reads before it writes them.
        writes: those that it writes.
        tells: those that it gives a value worth telling: not zero, or on a transition that says so itself.
    """

    reads: frozenset[str]
    writes: frozenset[str]
    tells: frozenset[str]


class Flow:
    """Follows locals and outputs of which it is not declared what they hold at the start."""

    def __init__(self, inspection: Inspection) -> None:
        self.inspection = inspection
        chart, machine = inspection.chart, inspection.machine
        read = frozenset[str]().union(*(one.names for one in machine.expressions))
        blocks = [way.do for way in machine.ways] + [one for node in machine.nodes for one in node.actions]
        written = frozenset[str]().union(*map(names_set, blocks))
        open_ones = [name for name in chart.variables if name not in chart.initial_values]
        self.locals = [name for name in open_ones if name in chart.locals and name in read]
        # an output that the chart itself reads is a memory, and begins at zero like one
        self.outputs = [name for name in open_ones if name in chart.outputs and name in written - read]
        self.spoken = {
            id(one) for way in machine.ways for one in every_action(way.do) if isinstance(one, Assign)
        }
        self.effects: dict[tuple[Situation, int], Effect] = {}
        self.names = self.left_open()
        if self.names:
            inspection.watchers.append(self.see)

    def left_open(self) -> frozenset[str]:
        """Return the variables of interest that not every first tick writes before it reads them."""
        names = frozenset((*self.locals, *self.outputs))
        explored = self.inspection.exploration
        start = explored.reached[0]
        effects = [
            self.effect(record(explored.interpreter, start, case.inputs), names)
            for case in explored.cases(start)
        ]
        return frozenset(
            name for name in names if any(name in e.reads or name not in e.writes for e in effects)
        )

    def see(self, step: Step) -> None:
        """Keep note of what a tick does."""
        self.effects[step.situation, step.number] = self.effect(step.tick, self.names)

    def effect(self, tick: Recorder, names: frozenset[str]) -> Effect:
        first: dict[str, int] = {}
        for write in tick.writes:
            if write.name in names:
                first.setdefault(write.name, write.after)
        reads, end = set[str](), len(tick.asked) + 1
        for place, asked in enumerate(tick.asked):
            early = [name for name in asked.expression.names & names if place < first.get(name, end)]
            if early:
                reads |= reads_of(asked.expression, asked.held).intersection(early)
        tells = {write.name for write in tick.writes if write.name in names and self.tells(tick, write)}
        return Effect(frozenset(reads), frozenset(first), frozenset(tells))

    def tells(self, tick: Recorder, write: Write) -> bool:
        kind = self.inspection.chart.variables[write.name]
        return id(write.action) in self.spoken or kind.fit(tick.asked[write.passed].value) != kind.zero

    def findings(self) -> Iterator[Finding]:
        """Yield what was found."""
        if not self.names:
            return
        paths = Unwritten(self.inspection, self.effects)
        for name in self.locals:
            rows = paths.to_reading(name) if name in self.names else None
            if rows is not None:
                yield self.early_reading(name, rows)
        for name in self.outputs:
            rows = paths.to_unset(name) if name in self.names else None
            if rows is not None:
                yield self.unset(name, rows)

    def early_reading(self, name: str, rows: Rows) -> Finding:
        before, tick = self.inspection.last_tick(rows)
        asked = next(one for one in tick.asked if name in reads_of(one.expression, one.held))
        zero = show(self.inspection.chart.variables[name].zero)
        message = f"{name} is read by `{asked.expression}` before anything sets it"
        message += f": it is {zero} there, as nothing says otherwise; give it a value in `initial_values`"
        active = {*before.numbers, *(tick.after.numbers if tick.after is not None else ())}
        uses = self.inspection.uses[id(asked.expression)]
        use = next((one for one in uses if one.node.index in active), uses[0])
        place, line = use.node.name, asked.expression.source.where.line or use.line
        case = self.inspection.counterexample(place, rows[-1], asked.held, {name})
        return Finding(Level.WARNING, Rule.READ_BEFORE_WRITE, message, place, case, line, rows)

    def unset(self, name: str, rows: Rows) -> Finding:
        before, tick = self.inspection.last_tick(rows)
        place = tick.after.state if tick.after is not None else before.state
        zero = show(self.inspection.chart.outputs[name].zero)
        message = (
            f"nothing has set {name} on the way to {place}: it is {zero} there, as nothing says otherwise"
        )
        message += "; set it on every way, or give it a value in `initial_values`"
        case = self.inspection.counterexample(before.state, rows[-1], tick.env, {name})
        line = tick.taken[-1].line if tick.taken else None
        place = self.inspection.one_of(place)
        return Finding(Level.WARNING, Rule.OUTPUT_UNSET, message, place, case, line, rows)


class Unwritten:
    """Paths on which a variable has not been written yet."""

    def __init__(self, inspection: Inspection, effects: Mapping[tuple[Situation, int], Effect]) -> None:
        self.inspection = inspection
        self.effects = effects
        self.journeys = inspection.journeys
        self.start = self.journeys.walk.places[0][0]

    def to_reading(self, name: str) -> Rows | None:
        """Return the shortest rows to a tick that reads a variable that nothing has written."""
        return self.path(name, lambda situation, edge: name in self.of(situation, edge).reads)

    def to_unset(self, name: str) -> Rows | None:
        """Return the shortest rows to states in which an output ought to have been set and was not."""
        start = self.journeys.leaves(self.start)
        told = self.told(name) if self.inspection.chart.kind is Kind.STATECHART else None

        def ends(situation: Situation, edge: Edge) -> bool:
            if edge.rest is None or name in self.of(situation, edge).writes:
                return False
            leaves = self.journeys.leaves(edge.rest)
            return leaves != start and (told is None or leaves in told)

        return self.path(name, ends)

    def told(self, name: str) -> set[tuple[int, ...]]:
        """Return the innermost states that some tick ends in having given the output a value worth telling."""
        return {
            self.journeys.leaves(edge.rest)
            for situations in self.journeys.situations_at.values()
            for situation in situations
            for edge in self.journeys.edges(situation)
            if edge.rest is not None and name in self.of(situation, edge).tells
        }

    def path(self, name: str, ends: Callable[[Situation, Edge], bool]) -> Rows | None:
        if not self.is_likely(name, ends):
            return None
        return self.journeys.shortest(lambda one, edge: name not in self.of(one, edge).writes, ends)

    def is_likely(self, name: str, ends: Callable[[Situation, Edge], bool]) -> bool:
        """Return whether there is such a path if time were not counted; that is found out much faster."""
        met, waiting = {self.start}, [self.start]
        while waiting:
            for situation in self.journeys.situations_at.get(waiting.pop(), ()):
                for edge in self.journeys.edges(situation):
                    if ends(situation, edge):
                        return True
                    open_end = edge.rest is not None and name not in self.of(situation, edge).writes
                    if open_end and edge.rest not in met:
                        met.add(edge.rest)
                        waiting.append(edge.rest)
        return False

    def of(self, situation: Situation, edge: Edge) -> Effect:
        return self.effects[situation, edge.case]


class _Spy(dict[str, Any]):
    """Names and what they stand at; notes which were asked for."""

    def __init__(self, held: Mapping[str, Any]) -> None:
        super().__init__(held)
        self.read = set[str]()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)


def reads_of(expression: Expression, held: Mapping[str, Value]) -> set[str]:
    """Return the names that computing an expression really reads: `and`, `or` and `if` may stop before."""
    spy = _Spy(held)
    with suppress(ExpressionError):
        expression.evaluate(spy)
    return spy.read
