"""Counters of time while a machine is explored: which of their values can be told apart, and how they go on.

A tick looks at a counter only to ask whether it has come to some number. States that differ in counters for
which all these answers are the same go the same ways; only afterwards do their counters differ again.
"""

from __future__ import annotations

from collections.abc import Iterator

from posewright.charts.expression import Binary, Literal, Name, Operator, Tree, nodes_of
from posewright.charts.machine import Counter, Machine

Counts = tuple[int, ...]


class TimerAbstraction:
    """The counters of one machine.

    Attributes:
        names: of the counters, in the order of the registers.
        every: the values met so far, by their number.
        looked: for each, the number of what a tick can tell of it.
    """

    def __init__(self, machine: Machine) -> None:
        counters = machine.counters
        self.names = tuple(counter.name for counter in counters)
        asked = _asked(machine)
        self.later = tuple(_later(counter) for counter in counters)
        self.classes = tuple(
            _classes(later, asked.get(counter.name))
            for counter, later in zip(counters, self.later, strict=True)
        )
        self.every: list[Counts] = []
        self.numbers: dict[Counts, int] = {}
        self.looked: list[int] = []
        self.look_numbers: dict[Counts, int] = {}
        self.tables: dict[tuple[int, ...], dict[int, int]] = {}

    def number(self, counts: Counts) -> int:
        """Return a number for these values of the counters, the same for the same."""
        found = self.numbers.setdefault(counts, len(self.every))
        if found == len(self.every):
            self.every.append(counts)
            looks = self.looks(counts)
            self.looked.append(self.look_numbers.setdefault(looks, len(self.look_numbers)))
        return found

    def number_onward(self, number: int, running: tuple[int, ...]) -> int:
        """Return the same as `onward`, number for number."""
        table = self.tables.setdefault(running, {})
        found = table.get(number)
        if found is None:
            found = table[number] = self.number(self.onward(self.every[number], running))
        return found

    def looks(self, counts: Counts) -> Counts:
        """Return what a tick can tell of counters."""
        return tuple([classes[count] for classes, count in zip(self.classes, counts, strict=True)])

    def running(self, after: Counts) -> tuple[int, ...]:
        """Return which counters went on in a tick that left these; the others begin again."""
        return tuple([i for i, count in enumerate(after) if count])

    def onward(self, counts: Counts, running: tuple[int, ...]) -> Counts:
        """Return counters after a tick in which just these went on."""
        if not running:
            return (0,) * len(counts)
        found = [0] * len(counts)
        for i in running:
            found[i] = self.later[i][counts[i]]
        return tuple(found)


def _later(counter: Counter) -> tuple[int, ...]:
    """Return what follows every value of a counter that goes on: never zero."""
    last = 1 if counter.again else counter.limit
    return (*range(1, counter.limit + 1), last)


def _classes(later: tuple[int, ...], asked: set[int] | None) -> tuple[int, ...]:
    """Return the class of every value: how many of the numbers asked for the next value has come to."""
    if asked is None:
        return tuple(range(len(later)))
    edges = sorted(asked | {number + 1 for number in asked})
    return tuple(sum(edge <= value for edge in edges) for value in later)


def _asked(machine: Machine) -> dict[str, set[int] | None]:
    """Return the numbers with which each counter is compared; None where more than that is done with it."""
    names = {counter.name for counter in machine.counters}
    found: dict[str, set[int] | None] = {name: set() for name in names}
    for way in machine.ways:
        known = found.get(way.since) if way.wait else None
        if known is not None:
            known.add(way.wait)
    for expression in machine.expressions:
        compared: dict[str, int] = {}
        for name, number in _comparisons(expression.tree):
            compared[name] = compared.get(name, 0) + 1
            known = found.get(name)
            if known is not None:
                known.add(number)
        for node in nodes_of(expression.tree):
            if isinstance(node, Name) and node.name in names:
                compared[node.name] = compared.get(node.name, 0) - 1
        found |= {name: None for name, left in compared.items() if left < 0}
    return found


def _comparisons(tree: Tree) -> Iterator[tuple[str, int]]:
    for node in nodes_of(tree):
        if not isinstance(node, Binary) or not isinstance(node.left, Name):
            continue
        wanted = node.operator in (Operator.EQUAL, Operator.LESS, Operator.GREATER_EQUAL)
        if wanted and isinstance(node.right, Literal) and type(node.right.value) is int:
            yield node.left.name, node.right.value
