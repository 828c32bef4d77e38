"""Variables that are read before anything wrote them, or that some path leaves unwritten."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from posewright.charts.checks.finding import Finding, Level, Rule, show
from posewright.charts.checks.inspection import Inspection
from posewright.charts.checks.recorder import Rows, TickTrace, Write, record
from posewright.charts.checks.search import Step
from posewright.charts.checks.unwritten import Effect, Unwritten
from posewright.charts.expression import Expression
from posewright.charts.model import Assign, every_action, names_set
from posewright.charts.reachability import AbstractState
from posewright.charts.types import Value
from posewright.errors import ExpressionError


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
        self.effects: dict[tuple[AbstractState, int], Effect] = {}
        self.names = self.left_open()
        if self.names:
            inspection.watchers.append(self.see)

    def left_open(self) -> frozenset[str]:
        """Return the variables of interest that not every first tick writes before it reads them."""
        names = frozenset((*self.locals, *self.outputs))
        start = self.inspection.journeys.situations[0]
        ticks = [record(self.inspection.interpreter, start.state, case.inputs) for case in start.cases]
        effects = [self.effect(tick, names) for tick in ticks]
        return frozenset(
            name for name in names if any(name in e.reads or name not in e.writes for e in effects)
        )

    def see(self, step: Step) -> None:
        """Keep note of what a tick does."""
        self.effects[step.situation, step.number] = self.effect(step.tick, self.names)

    def effect(self, tick: TickTrace, names: frozenset[str]) -> Effect:
        """Return what a tick does with some variables."""
        first: dict[str, int] = {}
        tells = set[str]()
        for write in tick.writes:
            if write.name in names:
                first.setdefault(write.name, write.after)
                if write.name not in tells and self.tells(tick, write):
                    tells.add(write.name)
        return Effect(frozenset(self.reads(tick, names, first)), frozenset(first), frozenset(tells))

    def reads(self, tick: TickTrace, names: frozenset[str], first: Mapping[str, int]) -> set[str]:
        """Return the variables that a tick reads before it writes them."""
        found, end = set[str](), len(tick.asked) + 1
        for place, asked in enumerate(tick.asked):
            mine = asked.expression.names
            if not mine.isdisjoint(names):
                early = [name for name in mine & names if place < first.get(name, end)]
                if early:
                    found |= reads_of(asked.expression, asked.held).intersection(early)
        return found

    def tells(self, tick: TickTrace, write: Write) -> bool:
        """Return whether a variable is given a value worth telling."""
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
        """Return that a variable is read before anything sets it."""
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
        """Return that an output is not set on some path."""
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
