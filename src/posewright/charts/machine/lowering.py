"""From a chart to its machine: junctions laid out as ways, times as counters of ticks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from posewright.charts.expression import (
    Binary,
    Expression,
    Inside,
    Literal,
    Name,
    Operator,
    Timed,
    Timing,
    Tree,
    constant,
)
from posewright.charts.machine.machine import INSIDE, Machine
from posewright.charts.machine.node import ROOT, CompoundTransition, Counter, ResolvedTarget, StateNode
from posewright.charts.model import (
    ALWAYS,
    Action,
    Actions,
    Assign,
    Branch,
    Chart,
    Kind,
    Memory,
    Raise,
    State,
    Target,
    Transition,
    assign,
)
from posewright.charts.types import BoolType, IntType
from posewright.errors import InputError, Where

MAX_SEGMENTS = 20_000
"""Segments on all routes out of one state; junctions that part and meet again would make them endless."""


Route = tuple[int, tuple[Transition, ...]]
"""Which of a state's transitions it begins with, and that one with the segments after it."""


def routes_of(chart: Chart, state: State) -> tuple[list[Route], list[tuple[str, ...]]]:
    """Return the routes out of a state, in the order in which they are tried, and circles of junctions met.

    A route that would come by a junction twice ends there and is left out.

    Raises:
        InputError: there are more than `MAX_SEGMENTS` segments on them.
    """
    routes: list[Route] = []
    cycles: list[tuple[str, ...]] = []
    waiting: list[tuple[int, tuple[Transition, ...], tuple[str, ...]]] = [
        (number, (first,), ()) for number, first in reversed([*enumerate(state.transitions)])
    ]
    met = 0
    while waiting:
        number, segments, passed = waiting.pop()
        met += 1
        if met > MAX_SEGMENTS:
            message = f"too many ways lead out of {state.name} by junctions: over {MAX_SEGMENTS}"
            hint = "ask fewer questions, or use a truth table"
            raise InputError(message, where=Where(chart.path, state.line), hint=hint)
        last = segments[-1]
        following = last.then
        if last.junction is not None:
            if last.junction in passed:
                cycles.append(passed[passed.index(last.junction) :])
                continue
            passed = (*passed, last.junction)
            following = chart.junctions[last.junction]
        elif not following:
            routes.append((number, segments))
        waiting += [(number, (*segments, segment), passed) for segment in reversed(following)]
    return routes, cycles


class Clock:
    """Lowers what is written in one state, and collects the counters that this takes."""

    def __init__(self, chart: Chart, state: str) -> None:
        self.chart = chart
        self.state = state
        self.furthest = 0
        self.held: dict[tuple[Tree, int], Counter] = {}
        self.every: dict[int, Counter] = {}

    def counters(self) -> tuple[Counter, ...]:
        """Return the counters of what was lowered so far."""
        since = (Counter(f"since.{self.state}", self.furthest),) if self.furthest else ()
        return (*since, *self.every.values(), *self.held.values())  # a condition may ask the others

    def wait(self, ticks: int) -> int:
        """Return `ticks`, having made sure that the state's time is counted so far."""
        self.furthest = max(self.furthest, ticks)
        return ticks

    def lowered(self, expression: Expression) -> Expression:
        """Return an expression that reads counters and `in.S` where it asked for time and states."""
        return expression.rewritten(lambda node: self._asked(node, expression))

    def all_of(self, guards: Sequence[Expression]) -> Expression:
        """Return the one guard that holds where all of these hold."""
        if len(guards) == 1:
            return guards[0]
        asked = [guard for guard in guards if guard != ALWAYS] or [ALWAYS]
        tree = reduce(lambda one, other: Binary(Operator.AND, one, other), (guard.tree for guard in asked))
        fixed = {name: value for guard in asked for name, value in guard.fixed.items()}
        return replace(asked[0].with_tree(tree), fixed=fixed)

    def actions(self, actions: Actions) -> Actions:
        """Return actions with all their expressions lowered."""
        return tuple(self._action(action) for action in actions)

    def _action(self, action: Action) -> Action:
        if isinstance(action, Assign):
            return replace(action, values={name: self.lowered(one) for name, one in action.values.items()})
        if isinstance(action, Raise):
            return action
        return Branch(
            self.lowered(action.when), self.actions(action.then), self.actions(action.otherwise), action.line
        )

    def _asked(self, node: Tree, within: Expression) -> Tree | None:
        if isinstance(node, Inside):
            return Name(INSIDE + node.state, node.at, BoolType())
        return self._timed(node, within) if isinstance(node, Timed) else None

    def _timed(self, tree: Timed, within: Expression) -> Tree:
        ticks = max(self.chart.ticks(tree.seconds), 1)
        if tree.timing is Timing.EVERY:
            counter = self.every.setdefault(
                ticks, Counter(f"every.{self.state}.{len(self.every)}", ticks, again=True)
            )
            return Binary(Operator.EQUAL, counter.read, Literal(ticks), tree.at)
        if tree.timing is Timing.HELD and tree.condition is not None:
            return self._held_for(tree, ticks + 1, within)
        asked = Operator.LESS if tree.timing is Timing.BEFORE else Operator.GREATER_EQUAL
        return Binary(asked, Name(f"since.{self.state}", known=IntType()), Literal(self.wait(ticks)), tree.at)

    def _held_for(self, tree: Timed, samples: int, within: Expression) -> Tree:
        asked = ALWAYS.tree if tree.condition is None else tree.condition
        alone = replace(
            within.with_tree(asked), type=ALWAYS.type, arguments=()
        )  # those are `within`'s to tell
        condition = self.lowered(alone)
        key = (condition.tree, samples)
        if key not in self.held:
            self.held[key] = Counter(f"held.{self.state}.{len(self.held)}", samples, condition)
        return Binary(Operator.EQUAL, self.held[key].read, Literal(samples), tree.at)


def lower(chart: Chart) -> Machine:
    """Return the machine of a chart."""
    return _Lowering(chart).machine()


class _Lowering:
    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.states: list[State | None] = [None, *chart.every_state]
        self.number_of = {name: number for number, name in enumerate(chart.state_names, 1)}
        self.parents = [-1]
        self.around: list[tuple[int, ...]] = [()]
        for name in chart.state_names:
            outer = chart.parents[name]
            parent = ROOT if outer is None else self.number_of[outer]
            self.parents.append(parent)
            self.around.append((parent, *self.around[parent]))
        self.cycles: list[tuple[str, ...]] = []

    def machine(self) -> Machine:
        nodes = [self.node(number) for number in range(len(self.states))]
        nodes = self.with_memories(nodes)
        heard = frozenset(event for node in nodes for way in node.ways for event in way.events)
        cycles = tuple(dict.fromkeys(self.cycles))
        return Machine(self.chart, tuple(nodes), self.chart.events, heard, cycles, self.number_of)

    def node(self, number: int) -> StateNode:
        state, children = self.states[number], tuple(i for i, one in enumerate(self.parents) if one == number)
        within = frozenset(i for i, around in enumerate(self.around) if number in around)
        if state is None:
            chart = self.chart
            goals = tuple(self.goal(target) for target in chart.initial)
            return StateNode(ROOT, chart.name, None, -1, (), children, within, chart.parallel, False, goals)
        clock = Clock(self.chart, state.name)
        ways = tuple(self.ways(state, number, clock))
        entry, during, leaving = (clock.actions(one) for one in (state.entry, state.during, state.exit))
        return StateNode(
            index=number,
            name=state.name,
            state=state,
            parent=self.parents[number],
            around=self.around[number],
            children=children,
            within=within,
            parallel=state.parallel,
            final=state.final,
            initial=tuple(self.goal(target) for target in state.initial),
            entry=self.moore_outputs(state) if self.chart.kind is Kind.MOORE else entry,
            during=during,
            exit=leaving,
            ways=ways,
            counters=clock.counters(),
        )

    def moore_outputs(self, state: State) -> Actions:
        """Return what sets a Moore state's outputs: its own, the others to what they start with."""
        start = {name: constant(value) for name, value in self.chart.start_outputs().items()}
        return assign({**start, **state.do})

    def goal(self, target: Target) -> ResolvedTarget:
        default = tuple(self.number_of[name] for name in target.default)
        return ResolvedTarget(self.number_of[target.state], target.memory, default)

    def ways(self, state: State, number: int, clock: Clock) -> Iterator[CompoundTransition]:
        routes, cycles = routes_of(self.chart, state)
        self.cycles += cycles
        for index, (transition, segments) in enumerate(routes):
            first, last = segments[0], segments[-1]
            goals = tuple(self.goal(target) for target in last.go)
            guards = tuple(clock.lowered(segment.when) for segment in segments)
            domain = self.domain(number, goals, local=any(one.local for one in segments))
            yield CompoundTransition(
                source=number,
                index=index,
                transition=transition,
                segments=segments,
                events=first.on,
                wait=clock.wait(self.chart.wait_ticks(state, first, leaves=domain not in {None, number})),
                guards=guards,
                guard=clock.all_of(guards),
                do=tuple(action for segment in segments for action in clock.actions(segment.do)),
                goals=goals,
                domain=domain,
                since=f"since.{state.name}",
            )

    def domain(self, source: int, goals: tuple[ResolvedTarget, ...], *, local: bool) -> int | None:
        """Return the node in which everything is left: the least around source and goals with one child.

        That is the domain of a transition in the W3C's SCXML algorithm.
        """
        if not goals:
            return None
        above = (source, *self.around[source]) if local and self.is_compound(source) else self.around[source]
        for number in above:
            if self.is_compound(number) and all(self.inside(goal, number) for goal in goals):
                return number
        return ROOT

    def is_compound(self, number: int) -> bool:
        state = self.states[number]
        return not self.chart.parallel if state is None else state.is_compound

    def inside(self, goal: ResolvedTarget, number: int) -> bool:
        return number in self.around[goal.node] or (goal.memory is not None and goal.node == number)

    def with_memories(self, nodes: list[StateNode]) -> list[StateNode]:
        """Return the nodes with a note of which of their history are asked for."""
        asked: dict[int, set[Memory]] = {}
        goals = [goal for node in nodes for goal in node.initial]
        goals += [goal for node in nodes for way in node.ways for goal in way.goals]
        for goal in goals:
            if goal.memory is not None:
                asked.setdefault(goal.node, set()).add(goal.memory)
        return [
            replace(node, remembers=tuple(sorted(asked.get(node.index, ()), key=lambda one: one.value)))
            for node in nodes
        ]
