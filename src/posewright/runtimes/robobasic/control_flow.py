"""The control flow of a program: which lines can be reached, and from where.

Conditions are not evaluated: both branches count as possible, unless the caller evaluates the condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from posewright.runtimes.robobasic.step_builder import LabelReference, StepBuilder
from posewright.runtimes.robobasic.tree import Expression, SourceLine

MAX_LOOPS = 100
"""Largest number of FOR loops for which `jumps_into_loops` searches paths around; programs have some ten."""

Evaluate = Callable[[Expression], int | None]
"""Returns the value of a condition, or None if it is unknown."""


def _unknown(_: Expression) -> None:
    """Evaluate no condition."""


@dataclass(frozen=True)
class ControlFlow:
    """The control flow of one program.

    Attributes:
        builder: the steps of the program.
        lines: the lines of the source.
        addresses: the addresses by line number, from 1, of the first step of the line or of the step that
            follows.
    """

    builder: StepBuilder
    lines: tuple[SourceLine, ...]
    addresses: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        address = 0
        for line in self.lines:
            while address < self.builder.next_address and self.builder.lines[address] < line.number:
                address += 1
            self.addresses[line.number] = address

    def successors(self, address: int, evaluate: Evaluate = _unknown) -> Iterator[int]:
        """Yield the addresses that may follow a step; after a call, the routine is left out.

        Args:
            address: the address of the step.
            evaluate: a known condition leaves only one branch.
        """
        exits = self.builder.exits[address]
        condition = None if exits.condition is None else evaluate(exits.condition)
        if exits.falls_through and (condition is None or condition):
            yield address + 1
        if not exits.is_call and not condition:
            yield from (target[0] for target in exits.targets)

    def called_routines(self) -> set[int]:
        """Return the addresses of all routines that are called."""
        return {target[0] for exits in self.builder.exits if exits.is_call for target in exits.targets}

    def reachable(
        self,
        starts: Iterable[int] = (0,),
        evaluate: Evaluate = _unknown,
        *,
        follow_calls: bool = False,
        avoid: int = -1,
    ) -> set[int]:
        """Return the addresses that can be reached from some addresses.

        Args:
            starts: addresses to begin at.
            evaluate: evaluates conditions; see `successors`.
            follow_calls: whether to include routines that are called.
            avoid: an address through which no path leads.
        """
        visited = {*starts, avoid}
        frontier = list(visited - {avoid})
        while frontier:
            address = frontier.pop()
            if address >= self.builder.next_address:
                continue
            following = set(self.successors(address, evaluate))
            if follow_calls:
                following |= {target[0] for target in self.builder.exits[address].targets}
            new = following - visited
            visited |= new
            frontier += new
        return visited - {avoid}

    def is_entered_from_above(self, line: SourceLine) -> bool:
        """Whether the step before a line may lead to it."""
        address = self.addresses[line.number]
        return address > 0 and address in self.successors(address - 1)

    def jumps_into_loops(self) -> Iterator[tuple[LabelReference, int]]:
        """Yield each jump from outside into a FOR, with the line of the FOR.

        A jump that can only be reached through the FOR itself is allowed: it goes back after leaving the FOR.
        """
        loops = self._innermost_loops()
        label_lines: dict[str, int] = {}
        for line in self.lines:
            label_lines.setdefault(line.label.upper(), line.number)
        reached_around: dict[int, set[int]] = {}  # by line of a FOR, what can be reached without passing it
        for reference in self.builder.references:
            label_line = label_lines.get(reference.label.upper(), 0)
            begin, end = loops.get(label_line, (0, len(self.lines)))
            if begin < reference.line <= end or reference.keyword == "MOVEPOS":
                continue
            if begin not in reached_around and len(reached_around) < MAX_LOOPS:
                avoid = self.addresses[begin]
                reached_around[begin] = self.reachable(follow_calls=True, avoid=avoid)
            if begin not in reached_around or self.addresses[reference.line] in reached_around[begin]:
                yield reference, begin

    def _innermost_loops(self) -> dict[int, tuple[int, int]]:
        """Return the lines of the innermost FOR and its NEXT, by line inside the loop; NEXT is inside."""
        ends = dict(sorted(self.builder.loops))
        innermost: dict[int, tuple[int, int]] = {}
        open_loops: list[tuple[int, int]] = []
        for line in self.lines:
            if open_loops:
                innermost[line.number] = open_loops[-1]
                if open_loops[-1][1] == line.number:
                    open_loops.pop()
            if line.number in ends:
                open_loops.append((line.number, ends[line.number]))
        return innermost
