"""The reachability graph: the states that a chart can reach, and the steps between them.

It is built breadth first. Nodes are numbered in the order in which they are reached, so the first path to a
node is a shortest one. Nodes whose counters differ, but not in a way that a tick can distinguish, share one
`AbstractState`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Generic, NamedTuple, Protocol, TypeVar

from posewright.charts.reachability.abstraction import CounterAbstraction
from posewright.charts.reachability.limits import WORK_PER_NODE, ExplorationLimits, WorkBudget
from posewright.charts.reachability.states import AbstractState, StateKey, SymbolicStep
from posewright.charts.types import Value

Node = TypeVar("Node", bound=Hashable)
Label = TypeVar("Label")

Trace = tuple[Mapping[str, Value], ...]
"""Rows of inputs, tick by tick."""

NodeKey = tuple[int, int]
"""What identifies a node: the number of its untimed state, and the number of its counter values.

The untimed state is the state without its counters; the numbers are called `untimed_id` and
`counter_values_id`.
"""


class BreadthFirst(Generic[Node, Label]):
    """A breadth-first search that stores how every node was reached, by a shortest path.

    The caller iterates over it and reports the successors of each node with `add_reached`.

    Attributes:
        predecessors: for each reached node, the node before it and the label of the edge between them; None
            for a start.
        queue: the nodes that were reached and are not yielded yet.
    """

    def __init__(self, *starts: Node) -> None:
        self.predecessors: dict[Node, tuple[Node, Label] | None] = dict.fromkeys(starts)
        self.queue = deque(self.predecessors)

    def __iter__(self) -> Iterator[Node]:
        """Yield the nodes in the order in which they are reached, while there are new ones."""
        while self.queue:
            yield self.queue.popleft()

    def __len__(self) -> int:
        """Return how many nodes were reached."""
        return len(self.predecessors)

    def add_reached(self, node: Node, predecessor: Node, label: Label) -> None:
        """Add a node that is reached from another over an edge with a label."""
        if node not in self.predecessors:
            self.predecessors[node] = predecessor, label
            self.queue.append(node)

    def labels_to(self, node: Node) -> tuple[Label, ...]:
        """Return the labels of the edges on the shortest path to a node, from the start on."""
        labels = []
        edge = self.predecessors[node]
        while edge is not None:
            predecessor, label = edge
            labels.append(label)
            edge = self.predecessors[predecessor]
        return tuple(reversed(labels))


class StateSpace(Protocol):
    """The states of one chart, or of two charts side by side.

    Attributes:
        counter_abstraction: the abstraction of the counters.
        incomplete_reasons: why steps may be missing.
        n_cases: number of steps computed so far.
        budget: the work that may be done.
    """

    counter_abstraction: CounterAbstraction
    incomplete_reasons: dict[str, None]
    n_cases: int
    budget: WorkBudget

    def abstract_state_at(self, untimed_id: int, counter_values_id: int) -> AbstractState:
        """Return the steps of a state, given by the numbers of its untimed state and its counter values."""


class GraphEdge(NamedTuple):
    """A step between two nodes.

    Attributes:
        source: number of the node before it.
        step: a step from the source's abstract state.
        target: number of the node after it; None if the tick fails.
    """

    source: int
    step: SymbolicStep
    target: int | None


class PathSegment(NamedTuple):
    """A step on the shortest path to a node.

    Attributes:
        node: number of the node before the step.
        step_index: index of the step, among the steps of that node's abstract state.
    """

    node: int
    step_index: int


class NearestNode(NamedTuple):
    """The result of a search for the nearest of some nodes.

    Attributes:
        node: its number.
        rows: the inputs of every tick that lead there.
    """

    node: int
    rows: Trace


class ReachabilityGraph:
    """The nodes that were reached, as numbers in the order in which they were reached.

    A node is one state of the chart, with its counters; to expand it is to find its successors. Nodes are
    expanded in the order of their numbers: the first `len(abstract_states)` nodes are expanded, and the
    others are known only as successors. The lists below are parallel: their index is the number of a node.

    Attributes:
        space: computes the abstract state of each node, which has the steps that are possible there.
        predecessors: for each node, the step with which it was reached first; None for a start.
        abstract_states: for each expanded node, its abstract state.
        successor_nodes: for each expanded node, its successors, in the order of `AbstractState.successors`.
        stop_reason: why the exploration ended early; empty if all nodes were expanded.
    """

    def __init__(self, space: StateSpace) -> None:
        """Start with an empty graph over a state space; `explore` adds nodes."""
        self.space = space
        self.stop_reason = ""
        # one item for each node: its untimed_id and its counter_values_id, and the step that leads to it
        self._node_keys: list[NodeKey] = []
        self.predecessors: list[PathSegment | None] = []
        # one item for each expanded node: its steps, and the numbers of the nodes that they lead to
        self.abstract_states: list[AbstractState] = []
        self.successor_nodes: list[tuple[int, ...]] = []
        self._node_by_key: dict[NodeKey, int] = {}

    def __len__(self) -> int:
        """Return how many nodes were reached."""
        return len(self._node_keys)

    # Construction

    def explore(
        self,
        starts: Iterable[StateKey],
        limits: ExplorationLimits,
        until: Callable[[AbstractState], bool] | None = None,
    ) -> None:
        """Expand nodes breadth first, as far as the limits allow.

        Where a limit ends the exploration, `stop_reason` is set.

        Args:
            starts: the states in which the exploration begins.
            limits: the limits of the exploration.
            until: ends the exploration at the first expanded state for which it returns True.
        """
        for untimed_id, counter_values in starts:
            counter_values_id = self.space.counter_abstraction.id_of_values(counter_values)
            self._add_node((untimed_id, counter_values_id), predecessor=None)
        while len(self.abstract_states) < len(self):
            self.stop_reason = self._add_work_of_node(limits)
            if self.stop_reason:
                return
            abstract_state = self._expand_next()
            if until is not None and until(abstract_state):
                return

    def _add_node(self, node_key: NodeKey, predecessor: PathSegment | None) -> int:
        """Return the number of the node with a key, which is added if it is new.

        Args:
            node_key: the numbers of the node's untimed state and of its counter values.
            predecessor: the step that leads to it; stored only for a new node, so that the first path counts.
        """
        next_node = len(self._node_keys)
        node = self._node_by_key.setdefault(node_key, next_node)
        is_new = node == next_node
        if is_new:
            self._node_keys.append(node_key)
            self.predecessors.append(predecessor)
        return node

    def _expand_next(self) -> AbstractState:
        """Expand the first node that is not expanded: add its successors, and return its abstract state."""
        node = len(self.abstract_states)
        untimed_id, counter_values_id = self._node_keys[node]
        abstract_state = self.space.abstract_state_at(untimed_id, counter_values_id)
        id_after_tick = self.space.counter_abstraction.id_after_tick
        successor_nodes = []
        for successor in abstract_state.successors:
            next_counter_values_id = id_after_tick(counter_values_id, successor.running_counters)
            predecessor = PathSegment(node, successor.first_step_index)
            successor_key = (successor.untimed_id, next_counter_values_id)
            successor_nodes.append(self._add_node(successor_key, predecessor))
        self.successor_nodes.append(tuple(successor_nodes))
        self.abstract_states.append(abstract_state)
        return abstract_state

    def _add_work_of_node(self, limits: ExplorationLimits) -> str:
        """Add the work of expanding one node to the budget, and check all limits.

        Returns:
            Why the exploration has to stop before that node; empty if it may go on.
        """
        space = self.space
        if space.budget.add_work(WORK_PER_NODE):
            return space.budget.stop_reason
        max_states = limits.max_states_if_incomplete if space.incomplete_reasons else limits.max_states
        # the reason names the greatest number that is exceeded, not the limit: a node adds several at once
        if len(self) > max_states:
            return f"more than {len(self) - 1} states"
        if space.n_cases > limits.max_cases:
            return f"more than {space.n_cases - 1} cases"
        return ""

    # Nodes and edges

    @cached_property
    def state_keys(self) -> tuple[StateKey, ...]:
        """The state of each node; to be used once the graph is built."""
        values_of_id = self.space.counter_abstraction.values_of_id
        return tuple(
            StateKey(untimed_id, values_of_id[counter_values_id])
            for untimed_id, counter_values_id in self._node_keys
        )

    @cached_property
    def node_by_state_key(self) -> Mapping[StateKey, int]:
        """The node of each state."""
        return {state_key: node for node, state_key in enumerate(self.state_keys)}

    @cached_property
    def distinct_abstract_states(self) -> tuple[AbstractState, ...]:
        """The abstract states that were explored, each once, in the order in which they were reached."""
        return tuple(dict.fromkeys(self.abstract_states))

    def is_complete(self, node: int) -> bool:
        """Return whether every step from a node is in the graph."""
        return node < len(self.abstract_states) and self.abstract_states[node].is_complete

    def successors(self, node: int) -> Iterator[GraphEdge]:
        """Yield an edge from a node for every successor with every combination of condition values."""
        if node < len(self.abstract_states):
            abstract_state = self.abstract_states[node]
            targets = self.successor_nodes[node]
            for target, successor in zip(targets, abstract_state.successors, strict=True):
                yield GraphEdge(node, abstract_state.steps[successor.first_step_index], target)

    def edges(self, node: int) -> Iterator[GraphEdge]:
        """Yield an edge from a node for every step, including those that fail."""
        if node < len(self.abstract_states):
            abstract_state = self.abstract_states[node]
            targets = self.successor_nodes[node]
            for step, index in zip(abstract_state.steps, abstract_state.successor_indices, strict=True):
                yield GraphEdge(node, step, None if index is None else targets[index])

    # Paths to a node

    def trace(self, node: int) -> Trace:
        """Return the shortest rows of inputs that lead to a node from a start of the graph."""
        return tuple(
            self.abstract_states[segment.node].steps[segment.step_index].inputs
            for segment in self._path_to(node)
        )

    def start_of(self, node: int) -> int:
        """Return the node with which the trace to a node begins."""
        return next((segment.node for segment in self._path_to(node)), node)

    def depth(self, node: int) -> int:
        """Return how many ticks lead to a node."""
        return len(self._path_to(node))

    def _path_to(self, node: int) -> list[PathSegment]:
        """Return the steps on the shortest path to a node, from the start on; empty for a start."""
        segments = []
        segment = self.predecessors[node]
        while segment is not None:
            segments.append(segment)
            segment = self.predecessors[segment.node]
        return list(reversed(segments))

    @property
    def complete_depth(self) -> int:
        """The number of ticks up to which every node was reached: the depth of the first node not expanded.

        If all nodes were expanded, it is the depth of the last node, the greatest one.
        """
        n_expanded = len(self.abstract_states)
        is_every_node_expanded = n_expanded == len(self)
        return self.depth(n_expanded - 1 if is_every_node_expanded else n_expanded)

    def find_nearest(
        self, is_target: Callable[[int], bool], *, start: int = 0, max_nodes: int | None = None
    ) -> NearestNode | None:
        """Return the nearest target node with the inputs that lead there, None if no target was found.

        Args:
            is_target: whether a node, given by its number, is a target.
            start: node where the search begins.
            max_nodes: number of nodes after which the search ends; None for no limit.
        """
        search: BreadthFirst[int, SymbolicStep] = BreadthFirst(start)
        for node in search:
            if max_nodes is not None and len(search) > max_nodes:
                return None
            if is_target(node):
                return NearestNode(node, tuple(step.inputs for step in search.labels_to(node)))
            for edge in self.successors(node):
                if edge.target is not None:
                    search.add_reached(edge.target, node, edge.step)
        return None

    def find_shortest_run(
        self,
        is_end: Callable[[GraphEdge], bool],
        *,
        may_pass: Callable[[GraphEdge], bool] | None = None,
        start: int = 0,
    ) -> Trace | None:
        """Return the shortest rows of inputs whose last tick fulfils a condition, None if there are none.

        Args:
            is_end: whether a run may end with a tick.
            may_pass: whether a run may continue after a tick; None if it always may.
            start: node where the run begins.
        """
        search: BreadthFirst[int, SymbolicStep] = BreadthFirst(start)
        for node in search:
            for edge in self.edges(node):
                if is_end(edge):
                    return (*(step.inputs for step in search.labels_to(node)), edge.step.inputs)
                if edge.target is not None and (may_pass is None or may_pass(edge)):
                    search.add_reached(edge.target, node, edge.step)
        return None

    # Sets of nodes that are never left

    def find_inescapable_nodes(self, nodes: Collection[int]) -> set[int]:
        """Return the nodes of a set from which no run leaves the set.

        Nodes from which a run leaves are found first, then all nodes of the set that lead to them. From a
        node of which not every step is known, a run is assumed to leave.
        """
        predecessors: dict[int, list[int]] = {}
        escapable_queue = list[int]()
        for node in nodes:
            if not self.is_complete(node):
                escapable_queue.append(node)
                continue
            for target in self.successor_nodes[node]:
                if target in nodes:
                    predecessors.setdefault(target, []).append(node)
                else:
                    escapable_queue.append(node)
        escapable = set(escapable_queue)
        while escapable_queue:
            for node in predecessors.get(escapable_queue.pop(), ()):
                if node not in escapable:
                    escapable.add(node)
                    escapable_queue.append(node)
        return set(nodes) - escapable

    def find_components(self) -> list[tuple[int, ...]]:
        """Return the strongly connected components in reverse topological order.

        A component is a largest set of nodes with paths between any two of them.

        Source:
            R. E. Tarjan, "Depth-first search and linear graph algorithms", 1972; with a list of calls in
            place of recursion.
        """
        order: dict[int, int] = {}  # position of each visited node in the order of the depth-first search
        lowest: dict[int, int] = {}  # the lowest position that a node is known to lead to
        stack: list[int] = []  # visited nodes that are in no component yet
        on_stack: set[int] = set()
        components: list[tuple[int, ...]] = []
        for root in range(len(self)):
            if root in order:
                continue
            # the calls of the recursive algorithm: a node, and its successors that remain to be visited
            calls = [(root, self._iterate_successors(root))]
            while calls:
                node, remaining_targets = calls[-1]
                if node not in order:
                    order[node] = lowest[node] = len(order)
                    stack.append(node)
                    on_stack.add(node)
                target = next((t for t in remaining_targets if t not in order or t in on_stack), None)
                if target is not None and target not in order:
                    calls.append((target, self._iterate_successors(target)))
                elif target is not None:
                    lowest[node] = min(lowest[node], order[target])
                else:
                    calls.pop()
                    if calls:
                        caller, _ = calls[-1]
                        lowest[caller] = min(lowest[caller], lowest[node])
                    if lowest[node] == order[node]:  # the nodes on the stack from this one on are a component
                        component = [stack.pop()]
                        while component[-1] != node:
                            component.append(stack.pop())
                        on_stack.difference_update(component)
                        components.append(tuple(sorted(component)))
        return components

    def _iterate_successors(self, node: int) -> Iterator[int]:
        """Return an iterator over the successors of a node; it is empty for a node that is not expanded."""
        return iter(self.successor_nodes[node] if node < len(self.abstract_states) else ())

    def find_traps(self) -> list[tuple[int, ...]]:
        """Return the components that no run leaves; only those of which every step is known."""
        return [
            component
            for component in self.find_components()
            if len(self.find_inescapable_nodes(set(component))) == len(component)
        ]
