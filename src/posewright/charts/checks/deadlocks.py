"""Checks for charts that get stuck: dead ends, traps, resources that stay on, ticks that never end."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from posewright.charts.checks.analysis import Check
from posewright.charts.checks.finding import Finding, Level, Rule, not_proved
from posewright.charts.machine import CompoundTransition, Snapshot, StateNode
from posewright.charts.model import segments_of
from posewright.charts.reachability import AbstractState, ReachabilityGraph, SymbolicStep
from posewright.charts.types import format_value
from posewright.errors import ExpressionError, InputError, PosewrightError

Configuration = tuple[int, ...]
"""Numbers of the innermost active states."""

MAX_LISTED = 4
"""States that a message lists."""


class Deadlocks(Check):
    """Finds states, and sets of states, that are never left, and outputs that stay switched on."""

    @cached_property
    def graph(self) -> ReachabilityGraph:
        """The explored graph: its nodes are the states of the chart that runs reach."""
        return self.analysis.exploration.graph

    def findings(self) -> Iterator[Finding]:
        """Yield dead ends, traps, and resources that stay on."""
        yield from self._find_dead_ends()
        yield from self._find_traps()
        for name in self.chart.resources:
            yield from self._find_left_on(name)

    # Dead ends

    def _find_dead_ends(self) -> Iterator[Finding]:
        """Yield a finding for each innermost state that no run leaves, for any inputs."""
        idle_states_by_leaf: dict[int, set[AbstractState]] = {}
        for abstract_state in self.graph.distinct_abstract_states:
            if not abstract_state.snapshot.started:
                continue
            for leaf in abstract_state.snapshot.configuration:
                if not self.machine.nodes[leaf].final and self._is_idle(leaf, abstract_state):
                    idle_states_by_leaf.setdefault(leaf, set()).add(abstract_state)
        for leaf in sorted(idle_states_by_leaf):
            if self._has_alternatives(leaf):
                yield from self._check_dead_end(leaf, idle_states_by_leaf[leaf])

    def _is_idle(self, leaf: int, abstract_state: AbstractState) -> bool:
        """Return whether a leaf stays active in every tick, and neither it nor its ancestors act.

        Args:
            leaf: the number of an innermost active state.
            abstract_state: the state of the chart before the tick; all inputs of the tick are considered.

        Returns:
            False if some tick leaves the leaf, takes a transition of it or of one of its ancestors, or fails.
        """
        leaf_and_ancestors = {leaf, *self.machine.nodes[leaf].ancestors}
        for step in abstract_state.steps:
            next_state = step.next_state
            if next_state is None or leaf not in next_state.configuration:
                return False
            if any(transition.source in leaf_and_ancestors for transition in step.taken_transitions):
                return False
        return True

    def _has_alternatives(self, leaf: int) -> bool:
        """Return whether a state or one of its ancestors has siblings that a transition could lead to."""
        nodes = self.machine.nodes
        ancestors_in_chart = nodes[leaf].ancestors[:-1]  # the last is the chart itself
        parents = (nodes[nodes[node_index].parent] for node_index in (leaf, *ancestors_in_chart))
        return any(not parent.parallel and len(parent.children) > 1 for parent in parents)

    def _check_dead_end(self, leaf: int, idle_states: set[AbstractState]) -> Iterator[Finding]:
        """Yield a finding if a run comes to a leaf that it can never leave.

        Args:
            leaf: the number of an innermost state.
            idle_states: the states of the chart in which the leaf is active and no tick leaves it.
        """
        machine_nodes = self.machine.nodes
        # if another region is in its final state, or can reach it, the state has nothing left to wait for
        waiting_states = {
            abstract_state
            for abstract_state in idle_states
            if not any(
                machine_nodes[active_leaf].final for active_leaf in abstract_state.snapshot.configuration
            )
        }
        idle_graph_nodes = {
            graph_node
            for graph_node, abstract_state in enumerate(self.graph.abstract_states)
            if abstract_state in waiting_states
        }
        # a state that is idle for now is no dead end if time leads out of it
        dead_graph_nodes = self.graph.find_inescapable_nodes(idle_graph_nodes)
        if not dead_graph_nodes:
            return
        node = machine_nodes[leaf]
        has_transitions = any(machine_nodes[node_index].transitions for node_index in (leaf, *node.ancestors))
        # without transitions, it is a dead end whatever was explored
        if has_transitions and not self.analysis.has_scanned_all_ticks:
            yield self._build_undecided_finding(f"whether {node.name} is ever left", node)
            return
        message = (
            f"{node.name} is a dead end: no transition leaves it, whatever the inputs are; "
            "add a transition, or set `final: true`"
        )
        yield self._build_finding(Rule.DEAD_END, message, node, graph_node=min(dead_graph_nodes))

    # Traps

    def _find_traps(self) -> Iterator[Finding]:
        """Yield a finding for each set of innermost states of one region that no run leaves again.

        A single state that is never left is a dead end instead.
        """
        if not self.analysis.has_scanned_all_ticks:
            return
        reported_leaves = set[frozenset[int]]()
        traps_in_graph = self.graph.find_traps()  # each of them a set of graph nodes
        for region in self.machine.nodes:
            if region.parallel or len(region.children) <= 1:
                continue
            for trap_nodes in traps_in_graph:
                configurations_in_region = {
                    self._restrict_to_region(region, self.configurations[graph_node])
                    for graph_node in trap_nodes
                }
                is_single_state = len(configurations_in_region) <= 1
                is_sometimes_outside = () in configurations_in_region
                leaves = frozenset[int]().union(*configurations_in_region)
                if is_single_state or is_sometimes_outside or leaves in reported_leaves:
                    continue
                if self._is_trap(region, leaves):
                    reported_leaves.add(leaves)
                    yield self._build_trap_finding(region, leaves, graph_node=min(trap_nodes))

    def _is_trap(self, region: StateNode, leaves: frozenset[int]) -> bool:
        """Return whether a run that enters some innermost states of a region never leaves them again.

        States that are passed only once after the start are no loss: it is a trap only where the states
        outside are on a cycle.

        Args:
            region: the region.
            leaves: the numbers of the innermost states that may be a trap.
        """
        if any(self.machine.nodes[leaf].final for leaf in leaves):
            return False
        successors_outside: dict[Configuration, set[Configuration]] = {}
        for configuration_before, configuration_after in self.configuration_changes:
            source = self._restrict_to_region(region, configuration_before)
            target = self._restrict_to_region(region, configuration_after)
            if not source:
                continue
            starts_inside = leaves.issuperset(source)
            ends_inside = bool(target) and leaves.issuperset(target)
            if starts_inside and not ends_inside:
                return False
            if not starts_inside and target and source != target:
                successors_outside.setdefault(source, set()).add(target)
        return _has_cycle(successors_outside)

    def _restrict_to_region(self, region: StateNode, configuration: Configuration) -> Configuration:
        """Return the part of a configuration that is inside a region."""
        return tuple(leaf for leaf in configuration if leaf in region.descendants)

    @cached_property
    def configurations(self) -> tuple[Configuration, ...]:
        """The configuration (numbers of the innermost active states) of every explored node of the graph."""
        return tuple(abstract_state.snapshot.configuration for abstract_state in self.graph.abstract_states)

    @cached_property
    def configuration_changes(self) -> Collection[tuple[Configuration, Configuration]]:
        """The distinct pairs of the configurations before and after a tick; the first tick does not count."""
        changes = set[tuple[Configuration, Configuration]]()
        for node, successors in enumerate(self.graph.successor_nodes):
            is_before_first_tick = not self.graph.abstract_states[node].snapshot.started
            if not is_before_first_tick:
                before = self.configurations[node]
                changes.update((before, self.configurations[successor]) for successor in successors)
        return changes

    def _build_trap_finding(self, region: StateNode, leaves: frozenset[int], graph_node: int) -> Finding:
        """Return the warning that some leaves of a region only lead to each other.

        Args:
            region: the region.
            leaves: the numbers of these innermost states.
            graph_node: a node of the graph in which one of them is active.
        """
        nodes = self.machine.nodes
        all_leaves = {
            leaf
            for configuration in self.configurations
            for leaf in self._restrict_to_region(region, configuration)
        }
        trap = join_names([nodes[leaf].name for leaf in sorted(leaves)])
        lost_states = join_names([nodes[leaf].name for leaf in sorted(all_leaves - leaves)], "or")
        message = (
            f"{trap} only lead to each other: once there, a run never comes to {lost_states} again; "
            "add a transition that leaves them, or set `final: true`"
        )
        entered_leaf = next(leaf for leaf in self.configurations[graph_node] if leaf in leaves)
        return self._build_finding(
            Rule.TRAP, message, node=nodes[entered_leaf], graph_node=graph_node, level=Level.WARNING
        )

    # Resources

    def _find_left_on(self, name: str) -> Iterator[Finding]:
        """Yield a finding if a run can reach a state in which a resource is on and never switched off.

        A resource is an output that must not stay on; it is off at the default value of its type.
        """
        exploration = self.analysis.exploration
        off_value = self.chart.outputs[name].default
        register_index = list(self.machine.chart.variables).index(name)
        on_graph_nodes = {
            graph_node
            for graph_node, abstract_state in enumerate(self.graph.abstract_states)
            if abstract_state.snapshot.values[register_index] != off_value
        }
        stuck_graph_nodes = self.graph.find_inescapable_nodes(on_graph_nodes)
        if not stuck_graph_nodes:
            return
        state = exploration.reached_states[min(stuck_graph_nodes)]
        first_leaf = state.configuration[0]
        node = self.machine.nodes[first_leaf]
        if not self.analysis.has_scanned_all_ticks:
            yield self._build_undecided_finding(
                f"whether {name} can be {format_value(off_value)} again after {node.name}", node
            )
            return
        value = format_value(state.registers[name])
        message = (
            f"{name} is {value} in {state.state} and can never be {format_value(off_value)} again: "
            "switch it off on every path that ends"
        )
        yield self._build_finding(Rule.LEFT_ON, message, node, graph_node=min(stuck_graph_nodes))

    def _build_undecided_finding(self, question: str, node: StateNode) -> Finding:
        """Return the note that a question about a state, such as "whether it is ever left", is undecided."""
        return not_proved(
            f"it is not known {question}: {self.analysis.incomplete_reason}", node.name, node.line
        )

    def _build_finding(
        self, rule: Rule, message: str, node: StateNode, graph_node: int, level: Level = Level.ERROR
    ) -> Finding:
        """Return a finding about a state, with the run that shows it.

        Args:
            rule: the rule of the finding.
            message: its message.
            node: the state.
            graph_node: the node of the graph to which the run leads.
            level: the level of the finding.
        """
        exploration = self.analysis.exploration
        state = exploration.reached_states[graph_node]
        trace = exploration.trace_to(state)
        registers = state.registers
        last_inputs = trace[-1] if trace else {}
        all_names = registers.keys()
        case = self.analysis.build_counterexample(node.name, last_inputs, env=registers, names=all_names)
        return Finding(
            level, rule, message, state=node.name, counterexample=case, line=node.line, trace=trace
        )


def _has_cycle(successors: Mapping[Configuration, Collection[Configuration]]) -> bool:
    """Return whether some configuration can follow itself, directly or through others."""
    try:
        TopologicalSorter(successors).prepare()
    except CycleError:
        return True
    return False


def _find_repeated(transitions: Sequence[CompoundTransition]) -> CompoundTransition | None:
    """Return the first transition that is taken for the second time, None if there is none."""
    for i, transition in enumerate(transitions):
        if transition in transitions[:i]:
            return transition
    return None


def join_names(names: Sequence[str], conjunction: str = "and") -> str:
    """Return names as an enumeration: "a", "a and b", "a, b and c", "a, b, c, d and 3 more"."""
    items = list(names)
    if len(names) > MAX_LISTED + 1:
        items = [*names[:MAX_LISTED], f"{len(names) - MAX_LISTED} more"]
    if len(items) <= 1:
        return "".join(items)
    return f"{', '.join(items[:-1])} {conjunction} {items[-1]}"


class EndlessTicks(Check):
    """Finds cycles of junctions in the chart, and cycles of transitions within one explored tick."""

    def findings(self) -> Iterator[Finding]:
        """Yield cycles of junctions and of transitions."""
        for cycle in self.machine.junction_cycles:
            yield self._build_junction_finding(cycle)
        reported_messages = set[str]()
        for abstract_state in self.analysis.exploration.graph.distinct_abstract_states:
            for step in abstract_state.steps:
                error = step.error
                is_division_by_zero = isinstance(error, ExpressionError)
                is_endless_tick = isinstance(error, InputError) and not is_division_by_zero
                if error is None or not is_endless_tick:
                    continue
                if error.message not in reported_messages:
                    reported_messages.add(error.message)
                    yield self._build_tick_finding(abstract_state.snapshot, step, error)

    def _build_junction_finding(self, cycle: tuple[str, ...]) -> Finding:
        """Return the finding for junctions that lead back to the first of them."""
        path = " -> ".join((*cycle, cycle[0]))
        message = f"the junctions {path} form a cycle: a transition through them never ends"
        segments = segments_of(self.chart.junctions[cycle[-1]])
        line = next((segment.line for segment in segments if segment.junction == cycle[0]), None)
        return Finding(Level.ERROR, Rule.CYCLE, message, line=line)

    def _build_tick_finding(self, state: Snapshot, step: SymbolicStep, error: PosewrightError) -> Finding:
        """Return the finding for a tick that fails because its transitions go in a cycle.

        It is attributed to the source of the first transition that is taken twice, if there is one.

        Args:
            state: the state before the tick.
            step: the step that fails.
            error: its error.
        """
        state_name = state.state
        line = None
        repeated_transition = _find_repeated(step.taken_transitions)
        if repeated_transition is not None:
            state_name = self.analysis.source_of(repeated_transition).name
            line = repeated_transition.line
        trace = (*self.analysis.exploration.trace_to(state), step.inputs)
        case = self.analysis.build_counterexample(state_name, step.inputs, state.registers, names=())
        message = f"{error.message}; {error.hint}" if error.hint else error.message
        return Finding(
            Level.ERROR, Rule.CYCLE, message, state=state_name, counterexample=case, line=line, trace=trace
        )
