"""From a chart to its machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from posewright.charts.expression import constant
from posewright.charts.machine.machine import Machine
from posewright.charts.machine.node import ROOT, CompoundTransition, Node, ResolvedTarget
from posewright.charts.machine.routes import routes_of
from posewright.charts.machine.timing import Clock
from posewright.charts.model import Actions, Chart, Kind, Memory, State, Target, assign


def lower(chart: Chart) -> Machine:
    """Return the machine of a chart."""
    return _Lowering(chart).machine()


@dataclass
class _Place:
    """A state with its number and those of its parent and children."""

    state: State | None
    parent: int
    children: list[int]


class _Lowering:
    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.places = [_Place(None, -1, [])]
        for state in chart.states:
            self.place(state, ROOT)
        self.number_of = {p.state.name: i for i, p in enumerate(self.places) if p.state is not None}
        self.around = [tuple(self.around_of(i)) for i in range(len(self.places))]
        self.cycles: list[tuple[str, ...]] = []

    def place(self, state: State, parent: int) -> None:
        number = len(self.places)
        self.places.append(_Place(state, parent, []))
        self.places[parent].children.append(number)
        for child in state.states:
            self.place(child, number)

    def around_of(self, number: int) -> Iterator[int]:
        while (number := self.places[number].parent) >= 0:
            yield number

    def machine(self) -> Machine:
        nodes = [self.node(number) for number in range(len(self.places))]
        nodes = self.with_memories(nodes)
        heard = frozenset(event for node in nodes for way in node.ways for event in way.events)
        cycles = tuple(dict.fromkeys(self.cycles))
        return Machine(self.chart, tuple(nodes), self.chart.events, heard, cycles, self.number_of)

    def node(self, number: int) -> Node:
        place = self.places[number]
        within = frozenset(i for i, around in enumerate(self.around) if number in around)
        if place.state is None:
            chart = self.chart
            goals = tuple(self.goal(target) for target in chart.initial)
            children = tuple(place.children)
            return Node(ROOT, chart.name, None, -1, (), children, within, chart.parallel, False, goals)
        state, clock = place.state, Clock(self.chart, place.state.name)
        ways = tuple(self.ways(state, number, clock))
        entry, during, leaving = (clock.actions(one) for one in (state.entry, state.during, state.exit))
        return Node(
            index=number,
            name=state.name,
            state=state,
            parent=place.parent,
            around=self.around[number],
            children=tuple(place.children),
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
        for index, route in enumerate(routes):
            first, last = route.segments[0], route.segments[-1]
            goals = tuple(self.goal(target) for target in last.go)
            guards = tuple(clock.lowered(segment.when) for segment in route.segments)
            domain = self.domain(number, goals, local=any(one.local for one in route.segments))
            yield CompoundTransition(
                source=number,
                index=index,
                transition=route.transition,
                segments=route.segments,
                events=first.on,
                wait=clock.wait(self.chart.wait_ticks(state, first, leaves=domain not in (None, number))),
                guards=guards,
                guard=clock.all_of(guards),
                do=tuple(action for segment in route.segments for action in clock.actions(segment.do)),
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
        place = self.places[number]
        if place.state is None:
            return not self.chart.parallel
        return place.state.is_compound

    def inside(self, goal: ResolvedTarget, number: int) -> bool:
        return number in self.around[goal.node] or (goal.memory is not None and goal.node == number)

    def with_memories(self, nodes: list[Node]) -> list[Node]:
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
