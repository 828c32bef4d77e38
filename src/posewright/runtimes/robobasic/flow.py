"""Which lines of a program are reached, and from where: its steps say where each of them leads.

What a condition asks is not looked at: both ways are open, unless one is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from posewright.runtimes.robobasic.steps import Mention, Steps
from posewright.runtimes.robobasic.tree import Expression, Line

MOST_LOOPS = 100
"""Of so many it is found out who can come there only through them; programs have some ten."""


def _unknown(_: Expression) -> None:
    """Say of no condition what it is."""


@dataclass(frozen=True)
class Flow:
    """What leads where in one program.

    Attributes:
        lines: of the program; a line is told by its number, from 1.
        addresses: by line, of the step that it begins with, or that comes next.
    """

    steps: Steps
    lines: tuple[Line, ...]
    addresses: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        at = 0
        for line in self.lines:
            while at < self.steps.at and self.steps.lines[at] < line.number:
                at += 1
            self.addresses[line.number] = at

    def next(self, at: int, known: Callable[[Expression], int | None] = _unknown) -> Iterator[int]:
        """Yield the addresses to which a step leads; who calls a routine comes to the next.

        Args:
            at: its address.
            known: says what a condition is, where that is known; then one way only is open.
        """
        exits = self.steps.exits[at]
        holds = None if exits.condition is None else known(exits.condition)
        if exits.falls and (holds is None or holds):
            yield at + 1
        if not exits.calls and not holds:
            yield from (target[0] for target in exits.to)

    def called(self) -> set[int]:
        """Return the addresses of all routines that are called."""
        return {target[0] for exits in self.steps.exits if exits.calls for target in exits.to}

    def reached(
        self,
        first: Iterable[int] = (0,),
        known: Callable[[Expression], int | None] = _unknown,
        *,
        calls: bool = False,
        without: int = -1,
    ) -> set[int]:
        """Return the addresses that are reached from some.

        Args:
            first: where it begins.
            known: as of `next`.
            calls: whether routines that are called count, too.
            without: an address that nobody passes.
        """
        found = {*first, without}
        ahead = list(found - {without})
        while ahead:
            if (at := ahead.pop()) < self.steps.at:
                called = (target[0] for target in self.steps.exits[at].to) if calls else ()
                new = {*self.next(at, known), *called} - found
                found |= new
                ahead += new
        return found - {without}

    def comes_down(self, line: Line) -> bool:
        """Tell whether the step above a line leads to it."""
        at = self.addresses[line.number]
        return at > 0 and at in self.next(at - 1)

    def into_loops(self) -> Iterator[tuple[Mention, int]]:
        """Yield where a label inside a FOR is named outside of it, and the line of that FOR.

        Who has left the FOR may go back in.
        """
        within = self._loops()
        others: dict[int, set[int]] = {}
        places: dict[str, int] = {}
        for line in self.lines:
            places.setdefault(line.label.upper(), line.number)
        for one in self.steps.mentions:
            begin, end = within.get(places.get(one.label.upper(), 0), (0, len(self.lines)))
            if begin < one.line <= end or one.word == "MOVEPOS":
                continue
            if begin not in others and len(others) < MOST_LOOPS:
                others[begin] = self.reached(calls=True, without=self.addresses[begin])
            if begin not in others or self.addresses[one.line] in others[begin]:
                yield one, begin

    def _loops(self) -> dict[int, tuple[int, int]]:
        """Return the innermost FOR and NEXT by the lines inside, of which that of NEXT is one."""
        begun = dict(sorted(self.steps.loops))
        found: dict[int, tuple[int, int]] = {}
        open_: list[tuple[int, int]] = []
        for line in self.lines:
            if open_:
                found[line.number] = open_[-1]
                if open_[-1][1] == line.number:
                    open_.pop()
            if line.number in begun:
                open_.append((line.number, begun[line.number]))
        return found
