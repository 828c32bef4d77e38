"""Lowering of charts to machines: junctions become compound transitions, times become counters of ticks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from posewright.charts.expression import (
    Binary,
    Expression,
    InState,
    Literal,
    Name,
    Operator,
    TemporalCondition,
    TemporalOperator,
    Tree,
    constant,
)
from posewright.charts.machine.machine import IN_STATE_PREFIX, Machine
from posewright.charts.machine.node import ROOT, CompoundTransition, Counter, ResolvedTarget, StateNode
from posewright.charts.model import (
    ALWAYS,
    Action,
    Actions,
    Assign,
    Branch,
    Chart,
    ChartKind,
    HistoryKind,
    Raise,
    State,
    StateTarget,
    Transition,
    assign,
)
from posewright.charts.types import BoolType, IntType
from posewright.errors import InputError, Where

MAX_SEGMENTS = 20_000
"""Segments on all routes out of one state; junctions that branch and join grow them exponentially."""


Route = tuple[int, tuple[Transition, ...]]
"""The index of a state's transition, and the segments of one path from it through junctions."""


def find_routes(chart: Chart, state: State) -> tuple[list[Route], list[tuple[str, ...]]]:
    """Return the routes out of a state in the order in which they are tried, and the cycles of junctions.

    A route that would pass a junction twice is left out.

    Raises:
        InputError: the routes have more than `MAX_SEGMENTS` segments.
    """
    routes: list[Route] = []
    cycles: list[tuple[str, ...]] = []
    stack: list[tuple[int, tuple[Transition, ...], tuple[str, ...]]] = [
        (index, (first,), ()) for index, first in reversed([*enumerate(state.transitions)])
    ]
    n_segments = 0
    while stack:
        index, segments, passed_junctions = stack.pop()
        n_segments += 1
        if n_segments > MAX_SEGMENTS:
            message = f"more than {MAX_SEGMENTS} routes lead out of {state.name} through junctions"
            hint = "use fewer junctions, or a truth table"
            raise InputError(message, where=Where(chart.path, state.line), hint=hint)
        last = segments[-1]
        following = last.then
        if last.junction is not None:
            if last.junction in passed_junctions:
                cycles.append(passed_junctions[passed_junctions.index(last.junction) :])
                continue
            passed_junctions = (*passed_junctions, last.junction)
            following = chart.junctions[last.junction]
        elif not following:
            routes.append((index, segments))
        stack += [(index, (*segments, segment), passed_junctions) for segment in reversed(following)]
    return routes, cycles


class StateLowering:
    """Lowers the expressions of one state, and collects the counters that these need.

    Args:
        chart: the chart.
        state: name of the state; empty for conditions outside of states.
    """

    def __init__(self, chart: Chart, state: str) -> None:
        """Start without counters; lowering expressions adds those that they need."""
        self.chart = chart
        self.state = state
        self.max_wait = 0
        self.held_counters: dict[tuple[Tree, int], Counter] = {}
        self.every_counters: dict[int, Counter] = {}

    def counters(self) -> tuple[Counter, ...]:
        """Return the counters of the expressions lowered so far."""
        since = (Counter(f"since.{self.state}", self.max_wait),) if self.max_wait else ()
        # the conditions of `held` counters may read the others, so these count first
        return (*since, *self.every_counters.values(), *self.held_counters.values())

    def require_count(self, ticks: int) -> int:
        """Return `ticks`, and make the counter of the time since entry reach at least that value."""
        self.max_wait = max(self.max_wait, ticks)
        return ticks

    def lower_expression(self, expression: Expression) -> Expression:
        """Return an expression with counters in place of times, and names `in.S` in place of state tests."""

        def lower_node(node: Tree) -> Tree | None:
            """Return the replacement of a state test or of a temporal condition; None for other nodes."""
            if isinstance(node, InState):
                return Name(IN_STATE_PREFIX + node.state, node.offset, BoolType())
            return self._lower_temporal(node, expression) if isinstance(node, TemporalCondition) else None

        return expression.rewrite(lower_node)

    def join_guards(self, guards: Sequence[Expression]) -> Expression:
        """Return the conjunction of guards, without those that are always true; true for no others."""
        if len(guards) == 1:
            return guards[0]
        conditions = [guard for guard in guards if guard != ALWAYS] or [ALWAYS]
        tree = reduce(
            lambda joined, condition: Binary(Operator.AND, joined, condition),
            (condition.tree for condition in conditions),
        )
        constant_values = {
            name: value for condition in conditions for name, value in condition.constant_values.items()
        }
        return replace(conditions[0].with_tree(tree), constant_values=constant_values)

    def lower_actions(self, actions: Actions) -> Actions:
        """Return actions with all their expressions lowered."""
        return tuple(self._lower_action(action) for action in actions)

    def _lower_action(self, action: Action) -> Action:
        """Return an action with its expressions lowered."""
        if isinstance(action, Assign):
            values = {name: self.lower_expression(value) for name, value in action.values.items()}
            return replace(action, values=values)
        if isinstance(action, Raise):
            return action
        return Branch(
            self.lower_expression(action.when),
            then=self.lower_actions(action.then),
            otherwise=self.lower_actions(action.otherwise),
            line=action.line,
        )

    def _lower_temporal(self, tree: TemporalCondition, within: Expression) -> Tree:
        """Return the comparison of a counter that a temporal condition represents.

        Args:
            tree: the temporal condition.
            within: the expression that it is in.
        """
        ticks = max(self.chart.ticks(tree.seconds), 1)
        if tree.operator is TemporalOperator.EVERY:
            name = f"every.{self.state}.{len(self.every_counters)}"
            counter = self.every_counters.setdefault(ticks, Counter(name, ticks, restarts=True))
            return Binary(Operator.EQUAL, counter.read, Literal(ticks), tree.offset)
        if tree.operator is TemporalOperator.HELD and tree.condition is not None:
            return self._lower_held(tree, tree.condition, samples=ticks + 1, within=within)
        comparison = Operator.LESS if tree.operator is TemporalOperator.BEFORE else Operator.GREATER_EQUAL
        since = Name(f"since.{self.state}", declared_type=IntType())
        return Binary(comparison, since, Literal(self.require_count(ticks)), tree.offset)

    def _lower_held(self, tree: TemporalCondition, condition: Tree, samples: int, within: Expression) -> Tree:
        """Return the comparison that replaces `held`: its counter has reached `samples`."""
        # the clamped arguments in the condition are already among those of `within`
        condition_alone = replace(within.with_tree(condition), type=ALWAYS.type, arguments=())
        lowered = self.lower_expression(condition_alone)
        key = (lowered.tree, samples)
        if key not in self.held_counters:
            name = f"held.{self.state}.{len(self.held_counters)}"
            self.held_counters[key] = Counter(name, samples, lowered)
        return Binary(Operator.EQUAL, self.held_counters[key].read, Literal(samples), tree.offset)


def lower(chart: Chart) -> Machine:
    """Return the machine of a chart.

    Raises:
        InputError: junctions of the chart make too many routes.
    """
    return _ChartLowering(chart).build_machine()


class _ChartLowering:
    """Lowers a chart; nodes are numbered with the chart as 0, then the states as they are written."""

    def __init__(self, chart: Chart) -> None:
        """Number the states, and record the parent and the ancestors of each."""
        self.chart = chart
        self.states: list[State | None] = [None, *chart.every_state]
        self.number_of = {name: number for number, name in enumerate(chart.state_names, 1)}
        self.parents = [-1]
        self.ancestors: list[tuple[int, ...]] = [()]
        for name in chart.state_names:
            parent_name = chart.parents[name]
            parent = ROOT if parent_name is None else self.number_of[parent_name]
            self.parents.append(parent)
            self.ancestors.append((parent, *self.ancestors[parent]))
        self.cycles: list[tuple[str, ...]] = []

    def build_machine(self) -> Machine:
        """Return the machine with all nodes, handled events and cycles of junctions."""
        nodes = self._with_history_kinds([self._build_node(number) for number in range(len(self.states))])
        handled_events = frozenset(
            event for node in nodes for transition in node.transitions for event in transition.events
        )
        cycles = tuple(dict.fromkeys(self.cycles))
        return Machine(self.chart, tuple(nodes), self.chart.events, handled_events, cycles, self.number_of)

    def _build_node(self, number: int) -> StateNode:
        """Return the node of a state, or of the root, with its lowered actions and transitions."""
        state = self.states[number]
        children = tuple(child for child, parent in enumerate(self.parents) if parent == number)
        descendants = frozenset(i for i, ancestors in enumerate(self.ancestors) if number in ancestors)
        if state is None:
            return StateNode(
                index=ROOT,
                name=self.chart.name,
                state=None,
                parent=-1,
                ancestors=(),
                children=children,
                descendants=descendants,
                parallel=self.chart.parallel,
                final=False,
                initial=tuple(self._resolve(target) for target in self.chart.initial),
            )
        lowering = StateLowering(self.chart, state.name)
        transitions = tuple(self._compound_transitions(state, number, lowering))
        entry = lowering.lower_actions(state.entry)
        during = lowering.lower_actions(state.during)
        leaving = lowering.lower_actions(state.exit)
        if self.chart.kind is ChartKind.MOORE:
            entry = self._moore_outputs(state)
        return StateNode(
            index=number,
            name=state.name,
            state=state,
            parent=self.parents[number],
            ancestors=self.ancestors[number],
            children=children,
            descendants=descendants,
            parallel=state.parallel,
            final=state.final,
            initial=tuple(self._resolve(target) for target in state.initial),
            entry=entry,
            during=during,
            exit=leaving,
            transitions=transitions,
            counters=lowering.counters(),
        )

    def _moore_outputs(self, state: State) -> Actions:
        """Return the action that sets all outputs of a Moore state; unnamed ones return to their start."""
        start = {name: constant(value) for name, value in self.chart.start_outputs().items()}
        return assign({**start, **state.do})

    def _resolve(self, target: StateTarget) -> ResolvedTarget:
        """Return a target with numbers in place of the names of states."""
        default = tuple(self.number_of[name] for name in target.default)
        return ResolvedTarget(self.number_of[target.state], target.history, default)

    def _compound_transitions(
        self, state: State, number: int, lowering: StateLowering
    ) -> Iterator[CompoundTransition]:
        """Yield the compound transitions of a state: one for each path through junctions to a target."""
        routes, cycles = find_routes(self.chart, state)
        self.cycles += cycles
        for index, (transition_index, segments) in enumerate(routes):
            first = segments[0]
            targets = tuple(self._resolve(target) for target in segments[-1].go)
            guards = tuple(lowering.lower_expression(segment.when) for segment in segments)
            domain = self._domain(number, targets, local=any(segment.local for segment in segments))
            leaves = domain not in {None, number}
            wait = lowering.require_count(self.chart.wait_ticks(state, first, leaves=leaves))
            guard = lowering.join_guards(guards)
            actions = [action for segment in segments for action in lowering.lower_actions(segment.do)]
            yield CompoundTransition(
                source=number,
                index=index,
                transition=transition_index,
                segments=segments,
                events=first.on,
                wait=wait,
                guards=guards,
                guard=guard,
                do=tuple(actions),
                targets=targets,
                domain=domain,
                since_register=f"since.{state.name}",
            )

    def _domain(self, source: int, targets: tuple[ResolvedTarget, ...], *, local: bool) -> int | None:
        """Return the transition domain of the W3C's SCXML algorithm, inside which everything is left.

        It is the innermost compound node around the source and all targets; None without targets.
        """
        if not targets:
            return None
        is_local = local and self._is_compound(source)
        candidates = (source, *self.ancestors[source]) if is_local else self.ancestors[source]
        for number in candidates:
            if self._is_compound(number) and all(self._is_inside(target, number) for target in targets):
                return number
        return ROOT

    def _is_compound(self, number: int) -> bool:
        state = self.states[number]
        return not self.chart.parallel if state is None else state.is_compound

    def _is_inside(self, target: ResolvedTarget, number: int) -> bool:
        """Return whether a target is inside a node, as the node's own history is."""
        is_own_history = target.history is not None and target.node == number
        return number in self.ancestors[target.node] or is_own_history

    def _with_history_kinds(self, nodes: list[StateNode]) -> list[StateNode]:
        """Return the nodes with the kinds of history that some target needs of each."""
        targets = [target for node in nodes for target in node.initial]
        targets += [
            target for node in nodes for transition in node.transitions for target in transition.targets
        ]
        kinds: dict[int, set[HistoryKind]] = {}
        for target in targets:
            if target.history is not None:
                kinds.setdefault(target.node, set()).add(target.history)
        return [
            replace(node, history_kinds=tuple(sorted(kinds.get(node.index, ()), key=lambda kind: kind.value)))
            for node in nodes
        ]
