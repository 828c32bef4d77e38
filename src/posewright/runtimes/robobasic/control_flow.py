"""The control flow of a program: which lines can be reached, and from where.

Conditions are not evaluated: both branches count as possible, unless the caller evaluates the condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from posewright.runtimes.robobasic.step_builder import LabelReference, LoopLines, StepBuilder
from posewright.runtimes.robobasic.tree import Expression, SourceLine

MAX_LOOPS = 100
"""Largest number of FOR loops for which `jumps_into_loops` searches paths around; programs have some ten."""

Evaluate = Callable[[Expression], int | None]
"""Returns the value of a condition, or None if it is unknown."""


def _unknown(_: Expression) -> None:
    """Evaluate no condition."""


class JumpIntoLoop(NamedTuple):
    """A jump to a label inside a FOR from outside, and the line of the FOR."""

    reference: LabelReference
    for_line: int


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
            while (
                address < self.builder.next_address
                and self.builder.line_number_of_step[address] < line.number
            ):
                address += 1
            self.addresses[line.number] = address

    def successors(self, address: int, evaluate: Evaluate = _unknown) -> Iterator[int]:
        """Yield the addresses that may follow a step; after a call, the routine is left out.

        Args:
            address: the address of the step.
            evaluate: a known condition leaves only one branch.
        """
        exits = self.builder.exits_of_step[address]
        condition = None if exits.condition is None else evaluate(exits.condition)
        if exits.falls_through and (condition is None or condition):
            yield address + 1
        if not exits.is_call and not condition:
            yield from (target.address for target in exits.targets)

    def called_routines(self) -> set[int]:
        """Return the addresses of all routines that are called."""
        callers = (exits for exits in self.builder.exits_of_step if exits.is_call)
        return {target.address for exits in callers for target in exits.targets}

    def reachable(
        self,
        starts: Iterable[int] = (0,),
        evaluate: Evaluate = _unknown,
        *,
        follow_calls: bool = False,
        avoid: int | None = None,
    ) -> set[int]:
        """Return the addresses that can be reached from some addresses.

        Args:
            starts: addresses to begin at.
            evaluate: evaluates conditions; see `successors`.
            follow_calls: whether to include routines that are called.
            avoid: an address through which no path leads; None for no such address.
        """
        avoided = set() if avoid is None else {avoid}
        visited = {*starts, *avoided}
        frontier = list(visited - avoided)
        while frontier:
            address = frontier.pop()
            if address >= self.builder.next_address:
                continue
            following = set(self.successors(address, evaluate))
            if follow_calls:
                following |= {target.address for target in self.builder.exits_of_step[address].targets}
            new = following - visited
            visited |= new
            frontier += new
        return visited - avoided

    def is_entered_from_above(self, line: SourceLine) -> bool:
        """Whether the step before a line may lead to it."""
        address = self.addresses[line.number]
        return address > 0 and address in self.successors(address - 1)

    def jumps_into_loops(self) -> Iterator[JumpIntoLoop]:
        """Yield each jump from outside into a FOR, with the line of the FOR.

        A jump that can only be reached through the FOR itself is allowed: it goes back after leaving the FOR.
        For each FOR, the addresses that can be reached without passing it are searched once.
        """
        loops = self._innermost_loops()
        label_lines: dict[str, int] = {}
        for line in self.lines:
            label_lines.setdefault(line.label.upper(), line.number)
        # by line of a FOR, the addresses that can be reached without passing it
        reachable_without: dict[int, set[int]] = {}
        for reference in self.builder.label_references:
            label_line = label_lines.get(reference.label.upper(), 0)
            loop = loops.get(label_line)
            if loop is None or reference.keyword == "MOVEPOS":
                continue  # the label is in no FOR, or the statement does not jump
            if loop.for_line < reference.line <= loop.next_line:
                continue  # a jump inside the FOR
            if loop.for_line not in reachable_without and len(reachable_without) < MAX_LOOPS:
                for_address = self.addresses[loop.for_line]
                reachable_without[loop.for_line] = self.reachable(follow_calls=True, avoid=for_address)
            addresses = reachable_without.get(loop.for_line)  # None: not searched, so any jump counts
            if addresses is None or self.addresses[reference.line] in addresses:
                yield JumpIntoLoop(reference, loop.for_line)

    def _innermost_loops(self) -> dict[int, LoopLines]:
        """Return, by line, the innermost FOR around it; only for lines that are in one.

        The line of a NEXT is inside its loop, and that of the FOR itself outside.
        """
        # sorted, so that of several NEXTs of one FOR the last counts
        next_lines = {loop.for_line: loop.next_line for loop in sorted(self.builder.loop_lines)}
        innermost: dict[int, LoopLines] = {}
        open_loops: list[LoopLines] = []
        for line in self.lines:
            if open_loops:
                innermost[line.number] = open_loops[-1]
                if open_loops[-1].next_line == line.number:
                    open_loops.pop()
            if line.number in next_lines:
                open_loops.append(LoopLines(line.number, next_lines[line.number]))
        return innermost
