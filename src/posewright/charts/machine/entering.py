"""Which states are entered on the way to a goal: those around it, and those it brings along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from posewright.charts.machine.node import Node, ResolvedTarget
from posewright.charts.model import Memory


class Entering:
    """Collects the states to be entered in one microstep; the W3C's computeEntrySet.

    Attributes:
        found: their numbers.
    """

    def __init__(self, nodes: Sequence[Node], history: Mapping[tuple[int, Memory], tuple[int, ...]]) -> None:
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

    def back_in(self, goal: ResolvedTarget, node: Node) -> None:
        """Add what a history leads back to."""
        back = (self.history[goal.node, goal.memory] if goal.memory else ()) or goal.default
        for number in back:
            self.with_inside(self.nodes[number])
        for number in back:
            self.with_around(self.nodes[number], node.index)
        if not back:
            self.whole(node)

    def with_inside(self, node: Node) -> None:
        """Add a state that is entered as a whole."""
        self.add(node.index)
        self.whole(node)

    def whole(self, node: Node) -> None:
        """Add what is first active inside a state: its initial states, or all its regions."""
        self.goals(node.initial, node.index)
        if node.parallel:
            self.regions(node)

    def with_around(self, node: Node, top: int) -> None:
        """Add what is around a state up to the node `top`, with the other regions on the way."""
        for number in node.around:
            if number == top:
                return
            self.add(number)
            if self.nodes[number].parallel:
                self.regions(self.nodes[number])

    def regions(self, node: Node) -> None:
        """Add the regions that nothing was added of yet."""
        for number in node.children:
            child = self.nodes[number]
            if number not in self.found and not (child.within & self.found):
                self.with_inside(child)

    def add(self, number: int) -> None:
        """Add one state; the chart itself is none."""
        if number:
            self.found.add(number)
