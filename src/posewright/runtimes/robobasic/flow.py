"""Which line of a program follows which: what is reached from its beginning, what comes back by RETURN.

Lines are counted from 0 here, and the one behind the last is the end of the program. What a condition asks is
not looked at: both ways are open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from posewright.runtimes.robobasic.tree import (
    Command,
    Else,
    ElseIf,
    End,
    EndIf,
    For,
    Gosub,
    Goto,
    If,
    Line,
    Name,
    Next,
    On,
    Return,
    Source,
    Statement,
    label_place,
    statements_in,
)


class Use(Enum):
    """What a statement wants of a label that it names."""

    GOES = "GOTO"
    CALLS = "GOSUB"
    POSE = "MOVEPOS"


@dataclass(frozen=True, slots=True)
class Mention:
    """A label that is named on a line."""

    line: int
    label: str
    use: Use


@dataclass(frozen=True, slots=True)
class Loop:
    """A FOR and its NEXT."""

    begin: int
    end: int

    def holds(self, line: int) -> bool:
        """Tell whether a line is inside it; that of FOR itself is not."""
        return self.begin < line <= self.end


class Flow:
    """Which line of a program follows which.

    Attributes:
        n: how many lines there are.
        places: of labels, by name in capitals.
        mentions: of labels, all there are.
        following: by line, those that may come next; a GOSUB is stepped over.
        returns: lines with a RETURN.
        loops: the innermost loop that holds a line, by line.
    """

    def __init__(self, source: Source) -> None:
        lines = source.lines
        self.n = len(lines)
        self.places: dict[str, int] = {}
        for at, line in enumerate(lines):
            if line.label:
                self.places.setdefault(line.label.upper(), at)
        self.mentions = [
            one
            for at, line in enumerate(lines)
            for each in statements_in(line.statement)
            for one in _named(at, each)
        ]
        self.returns = {
            at for at, line in enumerate(lines) if _has(line, lambda one: isinstance(one, Return))
        }
        self._ends = {at for at, line in enumerate(lines) if _has(line, is_end)}
        self.loops = _loops(lines)
        self._otherwise: dict[int, int] = {}
        self._leaves: dict[int, int] = {}
        self._match_blocks(lines)
        self.following = [self._following(at, line.statement) for at, line in enumerate(lines)]
        self._called: dict[int, list[int]] = {}
        for one in self.mentions:
            if one.use is Use.CALLS and (place := self.places.get(one.label.upper())) is not None:
                self._called.setdefault(one.line, []).append(place)

    def _match_blocks(self, lines: Sequence[Line]) -> None:
        """Find where an IF or ELSEIF goes that does not hold, and where who comes down to an ELSE leaves."""
        blocks: list[list[int]] = []
        for at, line in enumerate(lines):
            match line.statement:
                case If(_, None):
                    blocks.append([at])
                case ElseIf() | Else() if blocks:
                    blocks[-1].append(at)
                case EndIf() if blocks:
                    self._close(blocks.pop(), at)
                case _:
                    pass
        for block in blocks:
            self._close(block, self.n)

    def _close(self, block: list[int], end: int) -> None:
        self._otherwise.update(pairwise([*block, end]))
        self._leaves.update(dict.fromkeys(block[1:], end))

    def _below(self, at: int) -> int:
        return self._leaves.get(at + 1, at + 1)

    def _following(self, at: int, statement: Statement | None) -> tuple[int, ...]:
        found = set(self._ways(at, statement))
        if isinstance(statement, If | ElseIf) and at in self._otherwise:
            found.add(self._otherwise[at])
        return tuple(found)

    def _ways(self, at: int, statement: Statement | None) -> Iterator[int]:
        match statement:
            case Goto(label):
                yield self.places.get(label.upper(), self._below(at))
            case Return():
                return
            case If(_, then, otherwise) if then is not None:
                yield from self._ways(at, then)
                yield from self._ways(at, otherwise)
            case ElseIf(_, then) | Else(then) if then is not None:
                yield from self._ways(at, then)
            case _ if statement is None or not is_end(statement):
                labels = (one.label.upper() for one in _named(at, statement) if one.use is Use.GOES)
                yield from (self.places[label] for label in labels if label in self.places)
                yield self._below(at)

    def reached(self, *, calls: bool = True) -> set[int]:
        """Return the lines that are reached from the first; without `calls` those outside of routines."""

        def after(line: int) -> Iterable[int]:
            if line == self.n:
                return ()
            return (*self.following[line], *(self._called.get(line, ()) if calls else ()))

        return _spread([0], after)

    def coming_back(self) -> set[int]:
        """Return the lines from which a RETURN, an END or the last line is reached."""
        before: dict[int, list[int]] = {}
        for at, following in enumerate(self.following):
            for one in following:
                before.setdefault(one, []).append(at)
        return _spread([self.n, *self.returns, *self._ends], lambda line: before.get(line, ()))


def is_end(statement: Statement) -> bool:
    """Tell whether a statement is END or STOP."""
    return isinstance(statement, End) or (isinstance(statement, Command) and statement.key == "STOP")


def _has(line: Line, wanted: Callable[[Statement], bool]) -> bool:
    return any(map(wanted, statements_in(line.statement)))


def _named(at: int, statement: Statement | None) -> Iterator[Mention]:
    """Yield the labels that a statement names itself."""
    match statement:
        case Goto(label):
            yield Mention(at, label, Use.GOES)
        case Gosub(label):
            yield Mention(at, label, Use.CALLS)
        case On(_, gosub, labels):
            yield from (Mention(at, label, Use.CALLS if gosub else Use.GOES) for label in labels)
        case Command() if (place := label_place(statement)) is not None:
            if isinstance(name := statement.arguments[place], Name):
                yield Mention(at, name.name, Use.POSE if statement.key == "MOVEPOS" else Use.GOES)
        case _:
            return


def _loops(lines: Sequence[Line]) -> dict[int, Loop]:
    """Return the innermost loop of each line that is inside one; a FOR without NEXT is none."""
    begun: list[int] = []
    ends: dict[int, int] = {}
    for at, line in enumerate(lines):
        if isinstance(line.statement, For):
            begun.append(at)
        elif isinstance(line.statement, Next) and begun:
            ends[begun.pop()] = at
    found: dict[int, Loop] = {}
    open_: list[Loop] = []
    for at in range(len(lines)):
        if open_:
            found[at] = open_[-1]
            if at == open_[-1].end:
                open_.pop()
        if at in ends:
            open_.append(Loop(at, ends[at]))
    return found


def _spread(first: Iterable[int], after: Callable[[int], Iterable[int]]) -> set[int]:
    """Return what is reached from some lines."""
    found = set(first)
    ahead = list(found)
    while ahead:
        new = [one for one in after(ahead.pop()) if one not in found]
        found.update(new)
        ahead += new
    return found
