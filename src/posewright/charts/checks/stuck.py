"""Where a chart gets stuck: ticks without end, dead ends, traps, resources that stay on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from posewright.charts.checks.finding import Finding, Level, Rule, not_proved
from posewright.charts.checks.inspection import Check
from posewright.charts.machine import Snapshot, StateNode
from posewright.charts.model import segments_of
from posewright.charts.reachability import AbstractState, ReachabilityGraph, SymbolicStep
from posewright.charts.types import format_value
from posewright.errors import ExpressionError, InputError, PosewrightError

Configuration = tuple[int, ...]

SHOWN = 4
"""States that a message lists."""


class Deadlocks(Check):
    """Looks for states, and sets of states, that are never left, and for outputs that stay switched on."""

    @cached_property
    def graph(self) -> ReachabilityGraph:
        """What was explored."""
        return self.inspection.exploration.graph

    def findings(self) -> Iterator[Finding]:
        """Yield dead ends, traps, and resources that stay on."""
        yield from self._dead_ends()
        yield from self._traps()
        for name in self.chart.resources:
            yield from self._left_on(name)

    # Dead ends

    def _dead_ends(self) -> Iterator[Finding]:
        stuck: dict[int, set[AbstractState]] = {}
        for situation in self.graph.distinct:
            if situation.state.started:
                for leaf in situation.state.configuration:
                    if not self.machine.nodes[leaf].final and self._is_still(leaf, situation):
                        stuck.setdefault(leaf, set()).add(situation)
        for leaf in sorted(stuck):
            if self.leads_somewhere(leaf):
                yield from self.dead_end(leaf, stuck[leaf])

    def _is_still(self, leaf: int, situation: AbstractState) -> bool:
        """Return whether nothing happens to a state in a tick, whatever the inputs are."""
        own = {leaf, *self.machine.nodes[leaf].ancestors}
        return all(
            case.after is not None
            and leaf in case.after.configuration
            and own.isdisjoint(way.source for way in case.taken)
            for case in situation.cases
        )

    def leads_somewhere(self, leaf: int) -> bool:
        """Return whether there is any state that a way could lead to from there."""
        nodes = self.machine.nodes
        around = (nodes[nodes[number].parent] for number in (leaf, *nodes[leaf].ancestors[:-1]))
        return any(not one.parallel and len(one.children) > 1 for one in around)

    def dead_end(self, leaf: int, still: set[AbstractState]) -> Iterator[Finding]:
        """Yield that a state is a dead end, if it is; `still` is where nothing happens to it."""
        # where another region is at its end, or comes to it, there is nothing left to wait for
        still = {
            one for one in still if not any(self.machine.nodes[i].final for i in one.state.configuration)
        }
        inside = {number for number, one in enumerate(self.graph.states) if one in still}
        # a place that is still for now is no end if time leads out of it
        dead = self.graph.never_left(inside)
        if dead:
            node, number = self.machine.nodes[leaf], min(dead)
            message = f"{node.name} is a dead end: nothing leads on from there"
            message += ", whatever the inputs are; give it a transition, or say `final: true`"
            if self.inspection.complete or not any(
                self.machine.nodes[i].transitions for i in (leaf, *node.ancestors)
            ):
                yield self._found(Rule.DEAD_END, message, node, number)
            else:
                yield self._open_note("whether anything leads on", node)

    # Traps

    def _traps(self) -> Iterator[Finding]:
        told = set[frozenset[int]]()
        ends = self.graph.traps() if self.inspection.complete else []
        for region in self.machine.nodes:
            for end in ends if not region.parallel and len(region.children) > 1 else ():
                places = {self._inside(region, self.configurations[number]) for number in end}
                leaves = frozenset[int]().union(*places)
                is_new = len(places) > 1 and () not in places and leaves not in told
                if is_new and self.is_trap(region, leaves):
                    told.add(leaves)
                    yield self._trap(region, leaves, min(end))

    def is_trap(self, region: StateNode, leaves: frozenset[int]) -> bool:
        """Return whether a run never leaves some innermost states of a region, and that is not meant.

        What is left for good when a chart starts is no loss: there is a trap only where other states come
        again and again.
        """
        if any(self.machine.nodes[leaf].final for leaf in leaves):
            return False
        onward: dict[Configuration, set[Configuration]] = {}
        for before, after in self.moves:
            one, other = self._inside(region, before), self._inside(region, after)
            if leaves.issuperset(one) and one and not (other and leaves.issuperset(other)):
                return False
            if one and other and one != other and not leaves.issuperset(one):
                onward.setdefault(one, set()).add(other)
        try:
            TopologicalSorter(onward).prepare()
        except CycleError:
            return True
        return False

    def _inside(self, region: StateNode, configuration: Configuration) -> Configuration:
        return tuple(leaf for leaf in configuration if leaf in region.descendants)

    @cached_property
    def configurations(self) -> tuple[Configuration, ...]:
        """The innermost active states of every explored node."""
        return tuple(one.state.configuration for one in self.graph.states)

    @cached_property
    def moves(self) -> Collection[tuple[Configuration, Configuration]]:
        """The innermost active states before and after all ticks but the first, each pair once."""
        at = self.configurations
        return {
            (at[i], at[target])
            for i, targets in enumerate(self.graph.following)
            for target in targets
            if self.graph.states[i].state.started
        }

    def _trap(self, region: StateNode, leaves: frozenset[int], number: int) -> Finding:
        names = [self.machine.nodes[leaf].name for leaf in sorted(leaves)]
        others = {leaf for one in self.configurations for leaf in self._inside(region, one)} - leaves
        text = f"{listed(names)} only lead to each other: once there, a run never comes to "
        text += f"{listed([self.machine.nodes[leaf].name for leaf in sorted(others)], 'or')} again"
        message = f"{text}; give one of them a way out, or say `final: true`"
        first = next(leaf for leaf in self.configurations[number] if leaf in leaves)
        node = self.machine.nodes[first]
        return self._found(Rule.TRAP, message, node, number, Level.WARNING)

    # Resources

    def _left_on(self, name: str) -> Iterator[Finding]:
        explored = self.inspection.exploration
        zero = self.chart.outputs[name].default
        at = list(self.machine.chart.variables).index(name)
        on = {number for number, one in enumerate(self.graph.states) if one.state.values[at] != zero}
        left = self.graph.never_left(on)
        if left:
            state = explored.reached[min(left)]
            value = format_value(state.registers[name])
            message = f"{name} is {value} in {state.state} and can never be {format_value(zero)} again"
            message += ": switch it off on every way that ends"
            leaf = self.machine.nodes[state.configuration[0]]
            if self.inspection.complete:
                yield self._found(Rule.LEFT_ON, message, leaf, min(left))
            else:
                yield self._open_note(f"whether {name} can be {format_value(zero)} again", leaf)

    def _open_note(self, question: str, node: StateNode) -> Finding:
        text = f"{question} after {node.name} is not known: {self.inspection.why}"
        return not_proved(text, node.name, node.line)

    def _found(
        self, rule: Rule, message: str, node: StateNode, number: int, level: Level = Level.ERROR
    ) -> Finding:
        """Return a finding with the run that leads to an explored node."""
        explored = self.inspection.exploration
        state = explored.reached[number]
        trace, held = explored.trace_to(state), state.registers
        case = self.inspection.counterexample(node.name, trace[-1] if trace else {}, held, held)
        return Finding(level, rule, message, node.name, case, node.line, trace)


def listed(names: Sequence[str], word: str = "and") -> str:
    """Return names as a sentence lists them."""
    shown = [*names[:SHOWN], f"{len(names) - SHOWN} more"] if len(names) > SHOWN + 1 else list(names)
    return f" {word} ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


class Endless(Check):
    """Looks for circles: of junctions in what is written, of transitions in what was explored."""

    def findings(self) -> Iterator[Finding]:
        """Yield circles of junctions and of transitions."""
        for cycle in self.machine.cycles:
            yield self._of_junctions(cycle)
        told = set[str]()
        for situation in self.inspection.exploration.graph.distinct:
            for case in situation.cases:
                error = case.error
                is_endless = isinstance(error, InputError) and not isinstance(error, ExpressionError)
                if error is not None and is_endless and error.message not in told:
                    told.add(error.message)
                    yield self._of_ticks(situation.state, case, error)

    def _of_junctions(self, cycle: tuple[str, ...]) -> Finding:
        text = " -> ".join((*cycle, cycle[0]))
        message = f"the junctions {text} lead back to themselves: a way through them never ends"
        return Finding(Level.ERROR, Rule.CYCLE, message, None, None, self._line_of(cycle))

    def _line_of(self, cycle: tuple[str, ...]) -> int | None:
        segments = segments_of(self.chart.junctions[cycle[-1]])
        return next((one.line for one in segments if one.junction == cycle[0]), None)

    def _of_ticks(self, state: Snapshot, case: SymbolicStep, error: PosewrightError) -> Finding:
        # the first way that comes again names the circle
        again = next((way for i, way in enumerate(case.taken) if way in case.taken[:i]), None)
        place = self.inspection.node_of(again).name if again is not None else state.state
        trace = (*self.inspection.exploration.trace_to(state), case.inputs)
        shown = self.inspection.counterexample(place, case.inputs, state.registers, set())
        message = f"{error.message}: {error.hint}" if error.hint else error.message
        line = again.line if again is not None else None
        return Finding(Level.ERROR, Rule.CYCLE, message, place, shown, line, trace)
