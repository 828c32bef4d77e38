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

from posewright.charts.reachability.abstraction import Counts, TimerAbstraction
from posewright.charts.reachability.limits import WORK_PER_NODE, ExplorationLimits, WorkBudget
from posewright.charts.reachability.states import AbstractState, SymbolicStep
from posewright.charts.types import Value

N = TypeVar("N", bound=Hashable)
L = TypeVar("L")

Trace = tuple[Mapping[str, Value], ...]
"""Rows of inputs, tick by tick."""

StateKey = tuple[int, Counts]
"""A state: the number of the untimed state, and the values of the counters."""


class BreadthFirst(Generic[N, L]):
    """A breadth-first search that stores how every node was reached, by a shortest path.

    The caller iterates over it and reports the successors of each node with `reach`.
    """

    def __init__(self, *starts: N) -> None:
        self.predecessors: dict[N, tuple[N, L] | None] = dict.fromkeys(starts)
        self.queue = deque(self.predecessors)

    def __iter__(self) -> Iterator[N]:
        """Yield the nodes in the order in which they are reached, while there are new ones."""
        while self.queue:
            yield self.queue.popleft()

    def __len__(self) -> int:
        """Return how many nodes were reached."""
        return len(self.predecessors)

    def reach(self, node: N, predecessor: N, label: L) -> None:
        """Add a node that is reached from another over an edge with a label."""
        if node not in self.predecessors:
            self.predecessors[node] = predecessor, label
            self.queue.append(node)

    def path(self, node: N) -> tuple[L, ...]:
        """Return the labels of the edges that lead to a node."""
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
        timers: the abstraction of the counters.
        incomplete_reasons: why steps may be missing.
        n_cases: number of steps computed so far.
        budget: the work that may be done.
    """

    timers: TimerAbstraction
    incomplete_reasons: dict[str, None]
    n_cases: int
    budget: WorkBudget

    def abstract_state_at(self, untimed_number: int, counts_number: int) -> AbstractState:
        """Return the abstract state of a state, given by the numbers of its two parts."""


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


class ReachabilityGraph:
    """The nodes that were reached, numbered in the order in which they were.

    Attributes:
        predecessors: for each node, the node it was first reached from and the index of the step; None for
            a start.
        states: the abstract states of the expanded nodes, which are the first ones.
        successor_numbers: for each expanded node, its successors, in the order of
            `AbstractState.successors`.
        stop_reason: why not all nodes were expanded; empty if all were.
    """

    def __init__(self, space: StateSpace) -> None:
        """Start with an empty graph over a state space; `explore` adds nodes."""
        self.space = space
        self.predecessors: list[tuple[int, int] | None] = []
        self.states: list[AbstractState] = []
        self.successor_numbers: list[tuple[int, ...]] = []
        self.stop_reason = ""
        self._nodes: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        """Return how many nodes were reached."""
        return len(self._nodes)

    # Construction

    def explore(
        self,
        starts: Iterable[StateKey],
        limits: ExplorationLimits,
        until: Callable[[AbstractState], bool] | None = None,
    ) -> None:
        """Expand nodes breadth first, as far as the limits allow.

        Args:
            starts: the states in which the exploration begins.
            limits: the limits of the exploration.
            until: ends the exploration at the first expanded state for which it returns True.
        """
        for untimed_number, timer_counts in starts:
            self._add_node((untimed_number, self.space.timers.number(timer_counts)), predecessor=None)
        while len(self.states) < len(self._nodes):
            self.stop_reason = self._check_limits(limits)
            if self.stop_reason:
                return
            state = self._expand_next()
            if until is not None and until(state):
                return

    def _add_node(self, node: tuple[int, int], predecessor: tuple[int, int] | None) -> int:
        """Return the number of a node, given by the numbers of its untimed state and its counters."""
        next_number = len(self._nodes)
        number = self._numbers.setdefault(node, next_number)
        if number == next_number:
            self._nodes.append(node)
            self.predecessors.append(predecessor)
        return number

    def _expand_next(self) -> AbstractState:
        """Compute the abstract state of the next node, and add its successors."""
        number = len(self.states)
        untimed_number, counts_number = self._nodes[number]
        state = self.space.abstract_state_at(untimed_number, counts_number)
        advance_number = self.space.timers.advance_number
        successor_numbers = []
        for successor in state.successors:
            node = (successor.untimed_number, advance_number(counts_number, successor.running))
            successor_numbers.append(self._add_node(node, (number, successor.first_step)))
        self.successor_numbers.append(tuple(successor_numbers))
        self.states.append(state)
        return state

    def _check_limits(self, limits: ExplorationLimits) -> str:
        """Return why the exploration has to stop, "" if it may go on."""
        space = self.space
        if space.budget.spend(WORK_PER_NODE):
            return space.budget.stop_reason
        max_states = limits.incomplete_states if space.incomplete_reasons else limits.states
        if len(self) > max_states:
            return f"more than {len(self) - 1} states"
        if space.n_cases > limits.cases:
            return f"more than {space.n_cases - 1} cases"
        return ""

    # Nodes and edges

    @cached_property
    def state_keys(self) -> tuple[StateKey, ...]:
        """The state of each node; to be used once the graph is built."""
        all_counts = self.space.timers.all_counts
        return tuple(
            (untimed_number, all_counts[counts_number]) for untimed_number, counts_number in self._nodes
        )

    @cached_property
    def numbers(self) -> Mapping[StateKey, int]:
        """The number of each node, by its state."""
        return {key: number for number, key in enumerate(self.state_keys)}

    @cached_property
    def distinct(self) -> tuple[AbstractState, ...]:
        """The abstract states that were explored, each once, in the order in which they were reached."""
        return tuple(dict.fromkeys(self.states))

    def is_complete(self, number: int) -> bool:
        """Return whether every step from a node is in the graph."""
        return number < len(self.states) and self.states[number].is_complete

    def successors(self, number: int) -> Iterator[GraphEdge]:
        """Yield an edge from a node for every successor with every combination of condition values."""
        if number < len(self.states):
            state = self.states[number]
            for target, successor in zip(self.successor_numbers[number], state.successors, strict=True):
                yield GraphEdge(number, state.steps[successor.first_step], target)

    def edges(self, number: int) -> Iterator[GraphEdge]:
        """Yield an edge from a node for every step, including those that fail."""
        if number < len(self.states):
            state = self.states[number]
            targets = self.successor_numbers[number]
            for step, successor in zip(state.steps, state.successor_of, strict=True):
                yield GraphEdge(number, step, None if successor is None else targets[successor])

    # Paths to a node

    def trace(self, number: int) -> Trace:
        """Return the shortest rows of inputs that lead to a node from a start of the graph."""
        return tuple(self.states[node].steps[index].inputs for node, index in self._steps_to(number))

    def start_of(self, number: int) -> int:
        """Return the node with which the trace to a node begins."""
        return next((node for node, _ in self._steps_to(number)), number)

    def depth(self, number: int) -> int:
        """Return how many ticks lead to a node."""
        return len(self._steps_to(number))

    def _steps_to(self, number: int) -> list[tuple[int, int]]:
        """Return the nodes on the path to a node, each with the index of the step taken there."""
        steps = []
        step = self.predecessors[number]
        while step is not None:
            steps.append(step)
            step = self.predecessors[step[0]]
        return steps[::-1]

    @property
    def complete_depth(self) -> int:
        """The number of ticks up to which every node was reached."""
        n_expanded = len(self.states)
        return self.depth(n_expanded) if n_expanded < len(self) else self.depth(n_expanded - 1)

    def find_nearest(
        self, is_target: Callable[[int], bool], *, start: int = 0, max_nodes: int | None = None
    ) -> tuple[int, Trace] | None:
        """Return the nearest target node, and the rows of inputs that lead there.

        Args:
            is_target: whether a node, given by its number, is a target.
            start: node where the search begins.
            max_nodes: number of nodes after which the search ends; None for no limit.

        Returns:
            The node and the rows; None if no target was found.
        """
        search: BreadthFirst[int, SymbolicStep] = BreadthFirst(start)
        for number in search:
            if max_nodes is not None and len(search) > max_nodes:
                return None
            if is_target(number):
                return number, tuple(step.inputs for step in search.path(number))
            for edge in self.successors(number):
                if edge.target is not None:
                    search.reach(edge.target, number, edge.step)
        return None

    def find_shortest_run(
        self,
        is_end: Callable[[GraphEdge], bool],
        *,
        may_pass: Callable[[GraphEdge], bool] | None = None,
        start: int = 0,
    ) -> Trace | None:
        """Return the shortest rows of inputs whose last tick fulfils a condition.

        Args:
            is_end: whether a run may end with a tick.
            may_pass: whether a run may continue after a tick; None if it always may.
            start: node where the run begins.
        """
        search: BreadthFirst[int, SymbolicStep] = BreadthFirst(start)
        for number in search:
            for edge in self.edges(number):
                if is_end(edge):
                    return (*(step.inputs for step in search.path(number)), edge.step.inputs)
                if edge.target is not None and (may_pass is None or may_pass(edge)):
                    search.reach(edge.target, number, edge.step)
        return None

    # Sets of nodes that are never left

    def never_left(self, nodes: Collection[int]) -> set[int]:
        """Return the nodes of a set from which no run leaves the set.

        A run may leave from any node of which not every step is known.
        """
        predecessors: dict[int, list[int]] = {}
        leaving_queue = list[int]()
        for number in nodes:
            if not self.is_complete(number):
                leaving_queue.append(number)
                continue
            for target in self.successor_numbers[number]:
                if target in nodes:
                    predecessors.setdefault(target, []).append(number)
                else:
                    leaving_queue.append(number)
        leaving = set(leaving_queue)
        while leaving_queue:
            for number in predecessors.get(leaving_queue.pop(), ()):
                if number not in leaving:
                    leaving.add(number)
                    leaving_queue.append(number)
        return set(nodes) - leaving

    def components(self) -> list[tuple[int, ...]]:
        """Return the strongly connected components in reverse topological order.

        Source:
            R. E. Tarjan, "Depth-first search and linear graph algorithms", 1972; without recursion.
        """
        order: dict[int, int] = {}
        lowest: dict[int, int] = {}
        stack: list[int] = []
        on_stack: set[int] = set()
        components: list[tuple[int, ...]] = []
        for root in range(len(self)):
            calls = [(root, self._targets(root))] if root not in order else []
            while calls:
                number, targets = calls[-1]
                if number not in order:
                    order[number] = lowest[number] = len(order)
                    stack.append(number)
                    on_stack.add(number)
                target = next((t for t in targets if t not in order or t in on_stack), None)
                if target is not None and target not in order:
                    calls.append((target, self._targets(target)))
                elif target is not None:
                    lowest[number] = min(lowest[number], order[target])
                else:
                    calls.pop()
                    if calls:
                        caller = calls[-1][0]
                        lowest[caller] = min(lowest[caller], lowest[number])
                    if lowest[number] == order[number]:
                        component = [stack.pop()]
                        while component[-1] != number:
                            component.append(stack.pop())
                        on_stack.difference_update(component)
                        components.append(tuple(sorted(component)))
        return components

    def _targets(self, number: int) -> Iterator[int]:
        return iter(self.successor_numbers[number] if number < len(self.states) else ())

    def traps(self) -> list[tuple[int, ...]]:
        """Return the components that no run leaves; only those of which every step is known."""
        return [
            component
            for component in self.components()
            if len(self.never_left(set(component))) == len(component)
        ]
