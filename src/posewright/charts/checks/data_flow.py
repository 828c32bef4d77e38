"""Variables that are read before anything wrote them, left unwritten, or written by two regions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from itertools import combinations
from typing import Any, NamedTuple

from posewright.charts.checks.arithmetic import uses_in
from posewright.charts.checks.finding import Finding, Level, Rule
from posewright.charts.checks.inspection import Check
from posewright.charts.checks.question import Rows, TickTrace, Write, record
from posewright.charts.checks.search import ExploredTick
from posewright.charts.expression import Expression
from posewright.charts.machine import all_actions
from posewright.charts.model import Actions, Assign, ChartKind, iterate_actions, names_set
from posewright.charts.reachability import Exploration, SymbolicStep
from posewright.charts.types import Value, format_value
from posewright.errors import ExpressionError


class WriteEffect(NamedTuple):
    """What a tick does with the variables that are looked at.

    Attributes:
        reads: those that it reads before it writes them.
        writes: those that it writes.
        tells: those that it gives a value worth telling: not zero, or on a transition that says so itself.
    """

    reads: Collection[str]
    writes: Collection[str]
    tells: Collection[str]


class Unwritten:
    """Runs on which a variable has not been written yet."""

    def __init__(self, explored: Exploration, effects: Mapping[SymbolicStep, WriteEffect]) -> None:
        self.effects = effects
        self.graph = explored.graph
        self.kind = explored.chart.kind
        self.before = self.graph.states[0].state.configuration

    def to_reading(self, name: str) -> Rows | None:
        """Return the shortest rows to a tick that reads a variable that nothing has written."""
        return self._run(name, lambda step: step in self.effects and name in self.effects[step].reads)

    def to_unset(self, name: str) -> Rows | None:
        """Return the shortest rows to states in which an output ought to have been set and was not."""
        told = {
            step.after.configuration
            for step, effect in self.effects.items()
            if step.after is not None and (name in effect.tells or self.kind is not ChartKind.STATECHART)
        }

        def ends(step: SymbolicStep) -> bool:
            if step.after is None or not self._keeps(name, step):
                return False
            return step.after.configuration != self.before and step.after.configuration in told

        return self._run(name, ends)

    def _keeps(self, name: str, step: SymbolicStep) -> bool:
        """Return whether it is known that a tick leaves a variable unwritten."""
        return step in self.effects and name not in self.effects[step].writes

    def _run(self, name: str, ends: Callable[[SymbolicStep], bool]) -> Rows | None:
        return self.graph.shortest_run(
            lambda edge: ends(edge.step), goes=lambda edge: self._keeps(name, edge.step)
        )


class DataFlow(Check):
    """Follows locals and outputs of which it is not declared what they hold at the start."""

    def watch(self) -> None:
        """Look at what ticks read and write of the variables that a first tick may leave open."""
        chart, machine = self.chart, self.machine
        read = frozenset[str]().union(*(one.names for one in machine.expressions))
        written = frozenset[str]().union(*map(names_set, all_actions(machine)))
        open_ones = [name for name in chart.variables if name not in chart.initial_values]
        self.locals = [name for name in open_ones if name in chart.locals and name in read]
        # an output that the chart itself reads is a memory, and begins at zero like one
        self.outputs = [name for name in open_ones if name in chart.outputs and name in written - read]
        self.spoken = {
            id(one)
            for way in machine.transitions
            for one in iterate_actions(way.do)
            if isinstance(one, Assign)
        }
        self.effects: dict[SymbolicStep, WriteEffect] = {}
        self.names = self.left_open()
        if self.names:
            self.inspection.watchers.append(self.see)

    def left_open(self) -> frozenset[str]:
        """Return the variables of interest that not every first tick writes before it reads them."""
        names = frozenset((*self.locals, *self.outputs))
        start = next(iter(self.inspection.exploration.graph.states), None)
        if start is None:  # the time was over before
            return frozenset()
        ticks = [record(self.inspection.interpreter, start.state, case.inputs) for case in start.cases]
        effects = [self._effect(tick, names) for tick in ticks]
        return frozenset(
            name for name in names if any(name in e.reads or name not in e.writes for e in effects)
        )

    def see(self, step: ExploredTick) -> None:
        """Keep note of what a tick does."""
        self.effects[step.case] = self._effect(step.tick, self.names)

    def _effect(self, tick: TickTrace, names: frozenset[str]) -> WriteEffect:
        first: dict[str, int] = {}
        tells = set[str]()
        for write in tick.writes:
            if write.name in names:
                first.setdefault(write.name, write.after)
                if write.name not in tells and self._tells(tick, write):
                    tells.add(write.name)
        return WriteEffect(frozenset(self.reads(tick, names, first)), frozenset(first), frozenset(tells))

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

    def _tells(self, tick: TickTrace, write: Write) -> bool:
        kind = self.chart.variables[write.name]
        value: Any = tick.asked[write.passed].value  # of the kind's own sort
        return id(write.action) in self.spoken or kind.clamp(value) != kind.default

    def findings(self) -> Iterator[Finding]:
        """Yield early readings and unset outputs, each with the shortest run."""
        if not self.names:
            return
        paths = Unwritten(self.inspection.exploration, self.effects)
        for name in self.locals:
            rows = paths.to_reading(name) if name in self.names else None
            if rows is not None:
                yield self._early_reading(name, rows)
        for name in self.outputs:
            rows = paths.to_unset(name) if name in self.names else None
            if rows is not None:
                yield self._unset(name, rows)

    def _early_reading(self, name: str, rows: Rows) -> Finding:
        before, tick = self.inspection.last_tick(rows)
        asked = next(one for one in tick.asked if name in reads_of(one.expression, one.held))
        zero = format_value(self.chart.variables[name].default)
        message = f"{name} is read by `{asked.expression}` before anything sets it"
        message += f": it is {zero} there, as nothing says otherwise; give it a value in `initial_values`"
        active = {*before.active_nodes, *(tick.after.active_nodes if tick.after is not None else ())}
        uses = [use for use in uses_in(self.machine) if use.expression is asked.expression]
        use = next((one for one in uses if one.node.index in active), uses[0])
        place, line = use.node.name, asked.expression.source.where.line or use.line
        case = self.inspection.counterexample(place, rows[-1], asked.held, {name})
        return Finding(Level.WARNING, Rule.READ_BEFORE_WRITE, message, place, case, line, rows)

    def _unset(self, name: str, rows: Rows) -> Finding:
        before, tick = self.inspection.last_tick(rows)
        place = tick.after.state if tick.after is not None else before.state
        zero = format_value(self.chart.outputs[name].default)
        message = (
            f"nothing has set {name} on the way to {place}: it is {zero} there, as nothing says otherwise"
        )
        message += "; set it on every way, or give it a value in `initial_values`"
        case = self.inspection.counterexample(before.state, rows[-1], tick.env, {name})
        line = tick.taken_transitions[-1].line if tick.taken_transitions else None
        place = self.inspection.one_of(place)
        return Finding(Level.WARNING, Rule.OUTPUT_UNSET, message, place, case, line, rows)


class _Spy(dict[str, Value]):
    """Names and what they stand at; notes which were asked for."""

    def __init__(self, held: Mapping[str, Value]) -> None:
        super().__init__(held)
        self.read = set[str]()

    def __getitem__(self, name: str) -> Value:
        self.read.add(name)
        return super().__getitem__(name)


def reads_of(expression: Expression, held: Mapping[str, Value]) -> set[str]:
    """Return the names that computing an expression really reads: `and`, `or` and `if` may stop before."""
    spy = _Spy(held)
    with suppress(ExpressionError):
        expression.evaluate(spy)
    return spy.read


class Conflict(NamedTuple):
    """Two states that set one variable in the same tick."""

    earlier: int
    later: int
    step: ExploredTick


class Conflicts(Check):
    """Looks for ticks in which two regions set one variable."""

    def watch(self) -> None:
        """Look at what ticks write of the variables that two regions may write."""
        self.nodes = self.machine.nodes
        self.owners: dict[int, int] = {}
        self.writers: dict[str, set[int]] = {}
        for node in self.nodes:
            for actions in (*node.actions, *(way.do for way in node.transitions)):
                self._note(actions, node.index)
        pairs = {name: combinations(sorted(found), 2) for name, found in self.writers.items()}
        self.names = {name for name, both in pairs.items() if any(self.regions(a, b) for a, b in both)}
        self.first: dict[tuple[str, tuple[int, int]], Conflict] = {}
        if self.names:
            self.inspection.watchers.append(self.see)

    def _note(self, actions: Actions, owner: int) -> None:
        for action in iterate_actions(actions):
            if isinstance(action, Assign):
                self.owners[id(action)] = owner
                for name in action.values:
                    self.writers.setdefault(name, set()).add(owner)

    def regions(self, one: int, other: int) -> tuple[int, int] | None:
        """Return the regions in which two states are active side by side; None where they are not."""
        ways = [(*reversed(self.nodes[number].ancestors), number) for number in (one, other)]
        for a, b in zip(*ways, strict=False):
            if a != b:
                return (min(a, b), max(a, b)) if self.nodes[self.nodes[a].parent].parallel else None
        return None

    def see(self, step: ExploredTick) -> None:
        """Keep note of the first tick of every conflict."""
        writers: dict[str, list[int]] = {}
        for write in step.tick.writes:
            if write.name in self.names:
                owner = self.owners[id(write.action)]
                earlier = writers.setdefault(write.name, [])
                for other in earlier:
                    regions = self.regions(owner, other)
                    if regions is not None:
                        self.first.setdefault((write.name, regions), Conflict(other, owner, step))
                earlier.append(owner)

    def findings(self) -> Iterator[Finding]:
        """Yield the variables that two regions set."""
        for (name, _), conflict in self.first.items():
            yield self._found(name, conflict)

    def _found(self, name: str, conflict: Conflict) -> Finding:
        one, other = self.nodes[conflict.earlier], self.nodes[conflict.later]
        message = f"{one.name} and {other.name} both set {name} in one tick: it holds what {other.name} says"
        trace = (*self.inspection.exploration.trace_to(conflict.step.state), conflict.step.case.inputs)
        _, tick = self.inspection.last_tick(trace)
        case = self.inspection.counterexample(other.name, trace[-1], tick.env, {name})
        return Finding(Level.WARNING, Rule.WRITE_CONFLICT, message, other.name, case, other.line, trace)
