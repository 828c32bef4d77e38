"""Microsteps: what is left and entered when some transitions are taken, worked out once for each situation.

The order in which states are left and entered, and what a history leads back to, are those of the W3C's
SCXML (Appendix D).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from posewright.charts.machine.node import CompoundTransition, ResolvedTarget, StateNode
from posewright.charts.model import DONE, Memory


class Entering:
    """Collects the states to be entered in one microstep; the W3C's computeEntrySet.

    Attributes:
        found: their numbers.
    """

    def __init__(
        self, nodes: Sequence[StateNode], history: Mapping[tuple[int, Memory], tuple[int, ...]]
    ) -> None:
        self.nodes = nodes
        self.history = history
        self.found: set[int] = set()

    def goals(self, goals: Iterable[ResolvedTarget], top: int) -> None:
        """Add goals with all they bring along, and what is around them up to the node `top`."""
        goals = tuple(goals)
        for goal in goals:
            node = self.nodes[goal.node]
            if goal.node != top:
                self.add(goal.node)
            if goal.memory is None:
                self.whole(node)
            else:
                self.back_in(goal, node)
        for goal in goals:  # only now, for what is around one goal brings regions that another goal is in
            if goal.node != top:
                self.with_around(self.nodes[goal.node], top)

    def back_in(self, goal: ResolvedTarget, node: StateNode) -> None:
        """Add what a history leads back to."""
        back = (self.history[goal.node, goal.memory] if goal.memory else ()) or goal.default
        for number in back:
            self.with_inside(self.nodes[number])
        for number in back:
            self.with_around(self.nodes[number], node.index)
        if not back:
            self.whole(node)
        elif node.parallel:  # a default may name states in some of its regions only
            self.regions(node)

    def with_inside(self, node: StateNode) -> None:
        """Add a state that is entered as a whole."""
        self.add(node.index)
        self.whole(node)

    def whole(self, node: StateNode) -> None:
        """Add what is first active inside a state: its initial states, or all its regions."""
        self.goals(node.initial, node.index)
        if node.parallel:
            self.regions(node)

    def with_around(self, node: StateNode, top: int) -> None:
        """Add what is around a state up to the node `top`, with the other regions on the way."""
        for number in node.around:
            if number == top:
                return
            self.add(number)
            if self.nodes[number].parallel:
                self.regions(self.nodes[number])

    def regions(self, node: StateNode) -> None:
        """Add the regions that nothing was added of yet."""
        for number in node.children:
            child = self.nodes[number]
            if number not in self.found and not (child.within & self.found):
                self.with_inside(child)

    def add(self, number: int) -> None:
        """Add one state; the chart itself is none."""
        if number:
            self.found.add(number)


MAX_KEPT = 20_000
"""Moves kept; a chart with many regions has more situations than anybody meets twice."""

Configuration = tuple[int, ...]
History = tuple[Configuration, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Microstep:
    """What taking some ways from some situation comes to.

    Attributes:
        ways: those that are taken, in order.
        leaving: nodes that are left, in order.
        entering: nodes that are entered, in order, each with the events that say what is done with it.
        configuration: the innermost active states afterwards.
        history: what is remembered afterwards.
        acts: whether leaving or entering them does anything: an action, an event, a counter that starts anew.
    """

    ways: tuple[CompoundTransition, ...]
    leaving: tuple[StateNode, ...]
    entering: tuple[tuple[StateNode, tuple[str, ...]], ...]
    configuration: Configuration
    history: History
    acts: bool


class MicrostepPlanner:
    """The moves of one machine.

    Args:
        nodes: of the machine.
        remembered: what it remembers of states that were left.

    Attributes:
        forgotten: states that forget what they remember when they are entered: only from outside is it gone
            back to.
    """

    def __init__(self, nodes: Sequence[StateNode], remembered: Sequence[tuple[int, Memory]]) -> None:
        self.nodes = nodes
        self.remembered = remembered
        self.forgotten = frozenset(number for number, _ in remembered if self._only_from_outside(number))
        self._active: dict[Configuration, frozenset[int]] = {}
        self._kept: dict[tuple[Configuration, History, tuple[CompoundTransition, ...]], Microstep] = {}

    def active(self, configuration: Configuration) -> frozenset[int]:
        """Return the numbers of all active nodes, the chart itself left out."""
        try:
            return self._active[configuration]
        except KeyError:
            around = {number for leaf in configuration for number in (leaf, *self.nodes[leaf].around)}
            return self._active.setdefault(configuration, frozenset(around - {0}))

    def first(self) -> Microstep:
        """Return the move that enters the chart."""
        history = tuple(() for _ in self.remembered)
        entering = Entering(self.nodes, dict.fromkeys(self.remembered, ()))
        entering.whole(self.nodes[0])
        return self._move((), frozenset(), frozenset(), entering.found, history)

    def of(
        self, configuration: Configuration, history: History, chosen: tuple[CompoundTransition, ...]
    ) -> Microstep:
        """Return the move that takes the chosen ways, those that conflict with better ones left out."""
        key = (configuration, history, chosen)
        try:
            return self._kept[key]
        except KeyError:
            if len(self._kept) >= MAX_KEPT:
                self._kept.clear()
            return self._kept.setdefault(key, self._worked_out(*key))

    def _worked_out(
        self, configuration: Configuration, history: History, chosen: tuple[CompoundTransition, ...]
    ) -> Microstep:
        ways, active = self._without_conflicts(chosen), self.active(configuration)
        left = frozenset(number for way in ways for number in self._left_by(way, active))
        held = {
            key: self._remembered(key, configuration, active) if key[0] in left else before
            for key, before in zip(self.remembered, history, strict=True)
        }
        entering = Entering(self.nodes, held)
        for way in ways:
            entering.goals(way.goals, way.domain or 0)
        return self._move(ways, active, left, entering.found, tuple(held.values()))

    def _move(
        self,
        ways: tuple[CompoundTransition, ...],
        active: frozenset[int],
        left: frozenset[int],
        found: set[int],
        history: History,
    ) -> Microstep:
        after = set(active - left)
        entering = []
        for number in sorted(found):
            after.add(number)
            node = self.nodes[number]
            entering.append((node, self._done(node, after) if node.final else ()))
        configuration = tuple(sorted(number for number in after if self.nodes[number].is_leaf))
        history = tuple(
            () if number in after and number in self.forgotten else memory
            for (number, _), memory in zip(self.remembered, history, strict=True)
        )
        leaving = tuple(self.nodes[number] for number in sorted(left, reverse=True))
        acts = any(node.exit or node.counters for node in leaving)
        acts = acts or any(node.entry or done for node, done in entering)
        return Microstep(ways, leaving, tuple(entering), configuration, history, acts)

    def _only_from_outside(self, number: int) -> bool:
        """Return whether no way from inside a state goes back to what it remembers.

        What such a state remembers while it is active is noted anew when it is left: it makes no difference,
        and two situations that differ in it alone are one.
        """
        node = self.nodes[number]
        inside = node.within | {number}
        return not any(
            goal.memory is not None and goal.node == number and way.source in inside
            for other in self.nodes
            for way in other.ways
            for goal in way.goals
        )

    def _left_by(self, way: CompoundTransition, active: frozenset[int]) -> frozenset[int]:
        return frozenset() if way.domain is None else active & self.nodes[way.domain].within

    def _remembered(
        self, key: tuple[int, Memory], configuration: Configuration, active: frozenset[int]
    ) -> Configuration:
        node = self.nodes[key[0]]
        if key[1] is Memory.SHALLOW:
            return tuple(child for child in node.children if child in active)
        return tuple(leaf for leaf in configuration if leaf in node.within)

    def _without_conflicts(self, chosen: Iterable[CompoundTransition]) -> tuple[CompoundTransition, ...]:
        """Return the ways that can be taken together: an inner one goes before an outer, else the earlier."""
        kept: list[CompoundTransition] = []
        for way in chosen:
            rivals = [other for other in kept if self._conflict(way, other)]
            if all(way.source in self.nodes[other.source].within for other in rivals):
                kept = [other for other in kept if other not in rivals]
                kept.append(way)
        return tuple(kept)

    def _conflict(self, one: CompoundTransition, other: CompoundTransition) -> bool:
        a, b = one.domain, other.domain
        if a is None or b is None:
            return False
        return a == b or a in self.nodes[b].around or b in self.nodes[a].around

    def _done(self, final: StateNode, active: set[int]) -> tuple[str, ...]:
        """Return the events that tell which states are done by entering a final one, outwards."""
        number, done = final.parent, []
        while number and self._is_done(number, active):
            done.append(DONE + self.nodes[number].name)
            number = self.nodes[number].parent
            if not self.nodes[number].parallel:
                break
        return tuple(done)

    def _is_done(self, number: int, active: set[int]) -> bool:
        node = self.nodes[number]
        if node.parallel:
            return all(self._is_done(child, active) for child in node.children)
        return any(self.nodes[child].final and child in active for child in node.children)
