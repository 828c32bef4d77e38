"""Lowering of charts to machines: junctions become compound transitions, times become counters of ticks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

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
from posewright.charts.machine.node import (
    NO_PARENT,
    ROOT,
    CompoundTransition,
    Counter,
    ResolvedTarget,
    StateNode,
)
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


class Route(NamedTuple):
    """A path from a state through junctions to a target.

    Attributes:
        transition_index: index of its first segment among the transitions of the state.
        segments: the transition, and the segments that follow it from junction to junction.
    """

    transition_index: int
    segments: tuple[Transition, ...]


def find_routes(chart: Chart, state: State) -> tuple[list[Route], list[tuple[str, ...]]]:
    """Return the routes out of a state in the order in which they are tried, and the cycles of junctions.

    It is a depth-first search; the last route of the stack is the next to be followed, so alternatives are
    pushed in reverse. A route that would pass a junction twice is left out.

    Returns:
        The routes, and for each that was left out the names of the junctions in its cycle.

    Raises:
        InputError: the routes have more than `MAX_SEGMENTS` segments.
    """
    routes: list[Route] = []
    cycles: list[tuple[str, ...]] = []
    stack: list[tuple[Route, tuple[str, ...]]] = []  # beginnings of routes, and the junctions they pass
    for index, transition in reversed([*enumerate(state.transitions)]):
        stack.append((Route(index, (transition,)), ()))
    n_segments = 0
    while stack:
        route, passed_junctions = stack.pop()
        n_segments += 1
        if n_segments > MAX_SEGMENTS:
            message = f"more than {MAX_SEGMENTS} routes lead out of {state.name} through junctions"
            hint = "use fewer junctions, or a truth table"
            raise InputError(message, where=Where(chart.path, state.line), hint=hint)
        last_segment = route.segments[-1]
        next_segments = last_segment.then
        if last_segment.junction is not None:
            if last_segment.junction in passed_junctions:
                cycle_start = passed_junctions.index(last_segment.junction)
                cycles.append(passed_junctions[cycle_start:])
                continue
            passed_junctions = (*passed_junctions, last_segment.junction)
            next_segments = chart.junctions[last_segment.junction]
        elif not next_segments:  # it ends at its targets
            routes.append(route)
        for segment in reversed(next_segments):
            stack.append((route._replace(segments=(*route.segments, segment)), passed_junctions))
    return routes, cycles


class StateLowering:
    """Lowers the expressions of one state, and collects the counters that these need.

    Attributes:
        chart: the chart.
        state: name of the state; empty for conditions outside of states.
        max_wait_ticks: how far the counter of the time since entry must count; 0 if it is not needed.
        held_counters: the counters of `held`, by their lowered condition and the count that they must reach.
        every_counters: the counters of `every`, by their number of ticks.
    """

    def __init__(self, chart: Chart, state: str) -> None:
        """Start without counters; lowering expressions adds those that they need."""
        self.chart = chart
        self.state = state
        self.max_wait_ticks = 0
        self.held_counters: dict[tuple[Tree, int], Counter] = {}
        self.every_counters: dict[int, Counter] = {}

    def counters(self) -> tuple[Counter, ...]:
        """Return the counters of the expressions lowered so far."""
        counters = [*self.every_counters.values(), *self.held_counters.values()]
        # the conditions of `held` counters may read the others, so these count first
        if self.max_wait_ticks > 0:
            counters.insert(0, Counter(f"since.{self.state}", self.max_wait_ticks))
        return tuple(counters)

    def extend_since_counter(self, ticks: int) -> None:
        """Make the counter of the ticks since the state was entered count up to at least `ticks`."""
        self.max_wait_ticks = max(self.max_wait_ticks, ticks)

    def lower_expression(self, expression: Expression) -> Expression:
        """Return an expression with counters in place of times, and names `in.S` in place of state tests.

        The counters that the expression needs are added to those of the state.
        """

        def lower_node(node: Tree) -> Tree | None:
            """Return the replacement of a state test or of a temporal condition; None for other nodes."""
            if isinstance(node, InState):
                return Name(IN_STATE_PREFIX + node.state, node.offset, BoolType())
            return self._lower_temporal(node, expression) if isinstance(node, TemporalCondition) else None

        return expression.rewrite(lower_node)

    def join_guards(self, guards: Sequence[Expression]) -> Expression:
        """Return the conjunction of guards, without those that are always true; `true` if all are.

        The result knows the values of all named constants that the guards read.
        """
        if len(guards) == 1:
            return guards[0]
        conditions = [guard for guard in guards if guard != ALWAYS] or [ALWAYS]
        first_condition, *further_conditions = conditions
        tree = first_condition.tree
        constant_values = dict(first_condition.constant_values)
        for condition in further_conditions:
            tree = Binary(Operator.AND, tree, condition.tree)
            constant_values |= condition.constant_values
        return replace(first_condition.with_tree(tree), constant_values=constant_values)

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
        """Return the comparison that replaces a temporal condition, and add the counter that it reads.

        `every` and `held` have counters of their own, which have reached the time; `after` and `before`
        compare the counter of the time since the state was entered.

        Args:
            tree: the temporal condition.
            within: the expression that it is in.
        """
        ticks = max(self.chart.ticks(tree.seconds), 1)
        if tree.operator is TemporalOperator.EVERY:
            name = f"every.{self.state}.{len(self.every_counters)}"
            counter = self.every_counters.setdefault(ticks, Counter(name, ticks, restarts=True))
            return Binary(Operator.EQUAL, counter.name_tree, Literal(ticks), tree.offset)
        if tree.operator is TemporalOperator.HELD and tree.condition is not None:
            return self._lower_held(tree, tree.condition, n_required_ticks=ticks + 1, within=within)
        self.extend_since_counter(ticks)
        comparison = Operator.LESS if tree.operator is TemporalOperator.BEFORE else Operator.GREATER_EQUAL
        since_counter = Name(f"since.{self.state}", declared_type=IntType())
        return Binary(comparison, since_counter, Literal(ticks), tree.offset)

    def _lower_held(
        self, tree: TemporalCondition, condition: Tree, n_required_ticks: int, within: Expression
    ) -> Tree:
        """Return the comparison that replaces `held`: its counter has reached `n_required_ticks`.

        Args:
            tree: the temporal condition.
            condition: the condition that must be true all the time.
            n_required_ticks: number of ticks in a row at which it must be true: one more than the ticks
                between them.
            within: the expression that it is in.
        """
        # the clamped arguments in the condition are already among those of `within`
        condition_alone = replace(within.with_tree(condition), type=ALWAYS.type, clamped_arguments=())
        lowered_condition = self.lower_expression(condition_alone)
        counter_key = (lowered_condition.tree, n_required_ticks)
        if counter_key not in self.held_counters:
            name = f"held.{self.state}.{len(self.held_counters)}"
            self.held_counters[counter_key] = Counter(
                name, limit=n_required_ticks, condition=lowered_condition
            )
        counter = self.held_counters[counter_key]
        return Binary(Operator.EQUAL, counter.name_tree, Literal(n_required_ticks), tree.offset)


def lower(chart: Chart) -> Machine:
    """Return the machine of a chart.

    Raises:
        InputError: junctions of the chart make too many routes.
    """
    return _ChartLowering(chart).build_machine()


class _ChartLowering:
    """Lowers a chart; nodes are numbered with the chart as 0, then the states as they are written.

    The lists are parallel: their index is the number of a node.

    Attributes:
        chart: the chart.
        states: the state of each node; None for the chart itself.
        node_index_by_name: the number of each state by its name.
        parents: the parent of each node; NO_PARENT for the chart itself.
        ancestors: the ancestors of each node, the nearest first, the chart itself last.
        junction_cycles: the cycles of junctions found so far.
    """

    def __init__(self, chart: Chart) -> None:
        """Number the states, and record the parent and the ancestors of each."""
        self.chart = chart
        self.states: list[State | None] = [None, *chart.every_state]
        self.node_index_by_name = {name: node_index for node_index, name in enumerate(chart.state_names, 1)}
        self.parents = [NO_PARENT]
        self.ancestors: list[tuple[int, ...]] = [()]
        for name in chart.state_names:
            parent_name = chart.parents[name]
            parent = ROOT if parent_name is None else self.node_index_by_name[parent_name]
            self.parents.append(parent)
            self.ancestors.append((parent, *self.ancestors[parent]))
        self.junction_cycles: list[tuple[str, ...]] = []

    def build_machine(self) -> Machine:
        """Return the machine: all nodes, the events that trigger transitions, and the cycles of junctions."""
        nodes = self._with_history_kinds(
            [self._build_node(node_index) for node_index in range(len(self.states))]
        )
        transitions = [transition for node in nodes for transition in node.transitions]
        return Machine(
            self.chart,
            nodes=tuple(nodes),
            events=self.chart.events,
            handled_events=frozenset(event for transition in transitions for event in transition.events),
            junction_cycles=tuple(dict.fromkeys(self.junction_cycles)),
            node_index_by_name=self.node_index_by_name,
        )

    def _build_node(self, node_index: int) -> StateNode:
        """Return the node with an index, with its lowered actions and transitions; 0 is the chart itself."""
        state = self.states[node_index]
        children = tuple(child for child, parent in enumerate(self.parents) if parent == node_index)
        descendants = frozenset(
            descendant for descendant, ancestors in enumerate(self.ancestors) if node_index in ancestors
        )
        if state is None:  # the chart itself
            return StateNode(
                index=ROOT,
                name=self.chart.name,
                state=None,
                parent=NO_PARENT,
                ancestors=(),
                children=children,
                descendants=descendants,
                parallel=self.chart.parallel,
                final=False,
                initial=tuple(self._resolve_target(target) for target in self.chart.initial),
            )
        lowering = StateLowering(self.chart, state.name)
        transitions = tuple(self._compound_transitions(state, node_index, lowering))
        entry = lowering.lower_actions(state.entry)
        during = lowering.lower_actions(state.during)
        exit_actions = lowering.lower_actions(state.exit)
        if self.chart.kind is ChartKind.MOORE:  # its states have outputs instead of entry actions
            entry = self._build_moore_entry(state)
        return StateNode(
            index=node_index,
            name=state.name,
            state=state,
            parent=self.parents[node_index],
            ancestors=self.ancestors[node_index],
            children=children,
            descendants=descendants,
            parallel=state.parallel,
            final=state.final,
            initial=tuple(self._resolve_target(target) for target in state.initial),
            entry=entry,
            during=during,
            exit=exit_actions,
            transitions=transitions,
            counters=lowering.counters(),
        )

    def _build_moore_entry(self, state: State) -> Actions:
        """Return the action that sets all outputs of a Moore state; unnamed ones return to their start."""
        start_values = {name: constant(value) for name, value in self.chart.start_outputs().items()}
        return assign({**start_values, **state.do})

    def _resolve_target(self, target: StateTarget) -> ResolvedTarget:
        """Return a target with numbers in place of the names of states."""
        default = tuple(self.node_index_by_name[name] for name in target.default)
        return ResolvedTarget(self.node_index_by_name[target.state], target.history, default)

    def _compound_transitions(
        self, state: State, node_index: int, lowering: StateLowering
    ) -> Iterator[CompoundTransition]:
        """Yield the compound transitions of a state: one for each path through junctions to a target.

        Args:
            state: the state.
            node_index: its number.
            lowering: lowers its expressions, and collects its counters.
        """
        routes, cycles = find_routes(self.chart, state)
        self.junction_cycles += cycles
        for index, (transition_index, segments) in enumerate(routes):
            first_segment = segments[0]  # only the first has events and a waiting time
            last_segment = segments[-1]  # only the last has targets
            targets = tuple(self._resolve_target(target) for target in last_segment.go)
            guards = tuple(lowering.lower_expression(segment.when) for segment in segments)
            domain = self._compute_domain(
                node_index, targets, local=any(segment.local for segment in segments)
            )
            leaves_source = domain not in {None, node_index}
            wait_ticks = self.chart.wait_ticks(state, first_segment, leaves=leaves_source)
            lowering.extend_since_counter(wait_ticks)
            actions = [action for segment in segments for action in lowering.lower_actions(segment.do)]
            yield CompoundTransition(
                source=node_index,
                index=index,
                transition_index=transition_index,
                segments=segments,
                events=first_segment.on,
                wait_ticks=wait_ticks,
                guards=guards,
                guard=lowering.join_guards(guards),
                do=tuple(actions),
                targets=targets,
                domain=domain,
                since_register=f"since.{state.name}",
            )

    def _compute_domain(self, source: int, targets: tuple[ResolvedTarget, ...], *, local: bool) -> int | None:
        """Return the number of the transition's domain, the node inside which everything is left.

        As in the W3C's SCXML algorithm, it is the innermost compound node around the source and all targets;
        None without targets. A local transition of a compound state has the state itself as its domain, if
        all targets are in it.

        Args:
            source: index of the source node.
            targets: the targets of the transition.
            local: whether the transition is declared as local.
        """
        if not targets:
            return None
        is_local = local and self._is_compound(source)
        candidates = (source, *self.ancestors[source]) if is_local else self.ancestors[source]
        for node_index in candidates:
            contains_targets = all(self._is_inside(target, node_index) for target in targets)
            if self._is_compound(node_index) and contains_targets:
                return node_index
        return ROOT

    def _is_compound(self, node_index: int) -> bool:
        state = self.states[node_index]
        return not self.chart.parallel if state is None else state.is_compound

    def _is_inside(self, target: ResolvedTarget, node_index: int) -> bool:
        """Return whether a target is inside a node; the history of a node counts as inside it."""
        is_own_history = target.history is not None and target.node == node_index
        return node_index in self.ancestors[target.node] or is_own_history

    def _with_history_kinds(self, nodes: list[StateNode]) -> list[StateNode]:
        """Return the nodes with `history_kinds` set: the kinds of their histories that are entered.

        A history is entered if it is a target of some transition, or initial in some node.
        """
        targets = [target for node in nodes for target in node.initial]
        targets += [
            target for node in nodes for transition in node.transitions for target in transition.targets
        ]
        kinds_by_node: dict[int, set[HistoryKind]] = {}
        for target in targets:
            if target.history is not None:
                kinds_by_node.setdefault(target.node, set()).add(target.history)
        new_nodes = []
        for node in nodes:
            kinds = sorted(kinds_by_node.get(node.index, ()), key=lambda kind: kind.value)
            new_nodes.append(replace(node, history_kinds=tuple(kinds)))
        return new_nodes
