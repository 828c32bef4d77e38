"""The reachability graph: what a chart can come to, and the ticks between; breadth first, with parents.

Its nodes are numbered in the order in which they were reached, so that the first way to a node is a shortest.
Nodes that differ in counted time only, and not so that a tick would notice, share one `AbstractState`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Generic, NamedTuple, Protocol, TypeVar

from posewright.charts.reachability.abstraction import Counts, TimerAbstraction
from posewright.charts.reachability.limits import WORK_FOR_NODE, Limits, WorkBudget
from posewright.charts.reachability.states import AbstractState, SymbolicStep
from posewright.charts.types import Value

N = TypeVar("N", bound=Hashable)
L = TypeVar("L")

Trace = tuple[Mapping[str, Value], ...]
"""Rows of inputs, tick by tick."""

Place = tuple[int, Counts]
"""A state: the number of what it is, its counters aside, and its counters."""


class BreadthFirst(Generic[N, L]):
    """A breadth-first search that remembers how it came to every node: what leads there is the shortest.

    Whoever searches takes the nodes from it, one after the other, and tells what each leads to.
    """

    def __init__(self, *starts: N) -> None:
        self.before: dict[N, tuple[N, L] | None] = dict.fromkeys(starts)
        self.waiting = deque(self.before)

    def __iter__(self) -> Iterator[N]:
        """Yield the nodes, those reached earlier first, while more are told."""
        while self.waiting:
            yield self.waiting.popleft()

    def __len__(self) -> int:
        """Return how many nodes were reached."""
        return len(self.before)

    def reach(self, node: N, before: N, label: L) -> None:
        """Tell that a node can be reached from another, over an edge with a label."""
        if node not in self.before:
            self.before[node] = before, label
            self.waiting.append(node)

    def path(self, node: N) -> tuple[L, ...]:
        """Return the labels of the edges that lead to a node."""
        found = []
        step = self.before[node]
        while step is not None:
            found.append(step[1])
            step = self.before[step[0]]
        return tuple(reversed(found))


class StateSpace(Protocol):
    """What a graph is built of: one chart, or two side by side.

    Attributes:
        clocks: how counters go on.
        doubts: in words, why steps may be missing.
        count: steps looked at so far.
        budget: the work that may be done.
    """

    clocks: TimerAbstraction
    doubts: dict[str, None]
    count: int
    budget: WorkBudget

    def at_number(self, rest: int, number: int) -> AbstractState:
        """Return what can happen in a state; its counters by their number."""


class GraphEdge(NamedTuple):
    """A tick.

    Attributes:
        source: number of the node before it.
        step: the way in which the tick goes.
        target: number of the node after it; None where the tick fails, or leads out of what was explored.
    """

    source: int
    step: SymbolicStep
    target: int | None


class ReachabilityGraph:
    """The nodes that were reached, numbered in the order in which they were.

    Attributes:
        before: for each node, from which it was reached first, and by which step there; None for a start.
        states: of the nodes that were expanded, which are the first ones; many nodes may share a state.
        following: for each of those, the nodes that follow, in the order of `AbstractState.onward`.
        stopped: in words, why it is not all; empty where it came to its end.
    """

    def __init__(self, space: StateSpace) -> None:
        self.space = space
        self.before: list[tuple[int, int] | None] = []
        self.states: list[AbstractState] = []
        self.following: list[tuple[int, ...]] = []
        self.stopped = ""
        self._places: list[tuple[int, int]] = []
        self._numbers: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        """Return how many nodes were reached."""
        return len(self._places)

    # How it is built

    def explore(
        self, starts: Iterable[Place], limits: Limits, until: Callable[[AbstractState], bool] | None = None
    ) -> None:
        """Go to every node, as far as the limits allow, or until an expanded state is what is looked for."""
        for rest, counts in starts:
            self._note((rest, self.space.clocks.number(counts)), None)
        while len(self.states) < len(self._places):
            self.stopped = self._too_far(limits)
            if self.stopped:
                return
            state = self._expand()
            if until is not None and until(state):
                return

    def _note(self, place: tuple[int, int], before: tuple[int, int] | None) -> int:
        number = len(self._places)
        found = self._numbers.setdefault(place, number)
        if found == number:
            self._places.append(place)
            self.before.append(before)
        return found

    def _expand(self) -> AbstractState:
        number = len(self.states)
        rest, counts = self._places[number]
        state = self.space.at_number(rest, counts)
        later, note = self.space.clocks.number_onward, self._note
        steps = [note((one.rest, later(counts, one.running)), (number, one.case)) for one in state.onward]
        self.following.append(tuple(steps))
        self.states.append(state)
        return state

    def _too_far(self, limits: Limits) -> str:
        space = self.space
        if space.budget.spend(WORK_FOR_NODE):
            return space.budget.over
        if len(self) > (limits.doubtful_states if space.doubts else limits.states):
            return f"more than {len(self) - 1} states"
        return f"more than {space.count - 1} cases" if space.count > limits.cases else ""

    # What there is

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """What each node is; to be asked once the graph is built."""
        every = self.space.clocks.every
        return tuple((rest, every[number]) for rest, number in self._places)

    @cached_property
    def numbers(self) -> Mapping[Place, int]:
        """The number of each node."""
        return {place: number for number, place in enumerate(self.places)}

    @cached_property
    def distinct(self) -> tuple[AbstractState, ...]:
        """The states that were explored, each once, those reached earlier first."""
        return tuple(dict.fromkeys(self.states))

    def is_known(self, number: int) -> bool:
        """Return whether every tick from a node is in the graph: it was expanded, with all its steps."""
        return number < len(self.states) and self.states[number].whole

    def successors(self, number: int) -> Iterator[GraphEdge]:
        """Yield the ticks from a node: to every other one, with every combination of answers, once."""
        if number < len(self.states):
            state = self.states[number]
            for target, one in zip(self.following[number], state.onward, strict=True):
                yield GraphEdge(number, state.cases[one.case], target)

    def edges(self, number: int) -> Iterator[GraphEdge]:
        """Yield the ticks from a node, one for each step of its state, those that fail among them."""
        if number < len(self.states):
            state, following = self.states[number], self.following[number]
            for step, onward in zip(state.cases, state.leads_to, strict=True):
                yield GraphEdge(number, step, None if onward is None else following[onward])

    # How to come to a node

    def trace(self, number: int) -> Trace:
        """Return the shortest rows of inputs that lead to a node from where the graph starts."""
        return tuple(self.states[before].cases[case].inputs for before, case in self._steps_to(number))

    def start_of(self, number: int) -> int:
        """Return the node with which the trace to a node begins."""
        return next((before for before, _ in self._steps_to(number)), number)

    def depth(self, number: int) -> int:
        """Return how many ticks lead to a node."""
        return len(self._steps_to(number))

    def _steps_to(self, number: int) -> list[tuple[int, int]]:
        found = []
        step = self.before[number]
        while step is not None:
            found.append(step)
            step = self.before[step[0]]
        return found[::-1]

    @property
    def complete_depth(self) -> int:
        """The number of ticks up to which every node was reached."""
        left = len(self.states)
        return self.depth(left) if left < len(self) else self.depth(left - 1)

    def find_nearest(
        self, is_target: Callable[[int], bool], *, start: int = 0, max_nodes: int | None = None
    ) -> tuple[int, Trace] | None:
        """Return the nearest node that is wanted, and rows of inputs that lead there from another one.

        Args:
            is_target: whether a node, by its number, is one.
            start: where to begin.
            max_nodes: nodes that are looked at; None for all.

        Returns:
            the node and the rows; None where there is none, or none among those looked at.
        """
        search: BreadthFirst[int, SymbolicStep] = BreadthFirst(start)
        for number in search:
            if max_nodes is not None and len(search) > max_nodes:
                return None
            if is_target(number):
                return number, tuple(step.inputs for step in search.path(number))
            if number < len(self.states):
                state = self.states[number]
                for target, one in zip(self.following[number], state.onward, strict=True):
                    search.reach(target, number, state.cases[one.case])
        return None

    def find_shortest_run(
        self,
        ends: Callable[[GraphEdge], bool],
        *,
        may_pass: Callable[[GraphEdge], bool] | None = None,
        start: int = 0,
    ) -> Trace | None:
        """Return the shortest rows of inputs that lead over a tick with which a run may end.

        Args:
            ends: whether it may end with a tick.
            may_pass: whether it may go on over a tick; None: over every one.
            start: where to begin.
        """
        search: BreadthFirst[int, SymbolicStep] = BreadthFirst(start)
        for number in search:
            for edge in self.edges(number):
                if ends(edge):
                    return (*(step.inputs for step in search.path(number)), edge.step.inputs)
                if edge.target is not None and (may_pass is None or may_pass(edge)):
                    search.reach(edge.target, number, edge.step)
        return None

    # What can never be left

    def never_left(self, inside: Collection[int]) -> set[int]:
        """Return those of some nodes from which no run leads out of them.

        Where not every tick of a node is known, one may lead out.
        """
        before: dict[int, list[int]] = {}
        out = list[int]()
        for number in inside:
            if not self.is_known(number):
                out.append(number)
                continue
            for target in self.following[number]:
                if target in inside:
                    before.setdefault(target, []).append(number)
                else:
                    out.append(number)
        leaving = set(out)
        while out:
            for number in before.get(out.pop(), ()):
                if number not in leaving:
                    leaving.add(number)
                    out.append(number)
        return set(inside) - leaving

    def components(self) -> list[tuple[int, ...]]:
        """Return the strongly connected components, those first from which no other can be reached.

        Source:
            R. E. Tarjan, "Depth-first search and linear graph algorithms", 1972; without recursion.
        """
        order: dict[int, int] = {}
        lowest: dict[int, int] = {}
        stack: list[int] = []
        pending: set[int] = set()
        found: list[tuple[int, ...]] = []
        for root in range(len(self)):
            work = [(root, self._targets(root))] if root not in order else []
            while work:
                number, targets = work[-1]
                if number not in order:
                    order[number] = lowest[number] = len(order)
                    stack.append(number)
                    pending.add(number)
                new = next((one for one in targets if one not in order or one in pending), None)
                if new is not None and new not in order:
                    work.append((new, self._targets(new)))
                elif new is not None:
                    lowest[number] = min(lowest[number], order[new])
                else:
                    work.pop()
                    if work:
                        before = work[-1][0]
                        lowest[before] = min(lowest[before], lowest[number])
                    if lowest[number] == order[number]:
                        component = [stack.pop()]
                        while component[-1] != number:
                            component.append(stack.pop())
                        pending.difference_update(component)
                        found.append(tuple(sorted(component)))
        return found

    def _targets(self, number: int) -> Iterator[int]:
        return iter(self.following[number] if number < len(self.states) else ())

    def traps(self) -> list[tuple[int, ...]]:
        """Return the components that no run ever leaves; only such of which every tick is known."""
        return [one for one in self.components() if len(self.never_left(set(one))) == len(one)]
