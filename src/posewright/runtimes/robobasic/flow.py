"""Which line of a program follows which: what is reached from its beginning, and what from a routine.

Lines are counted from 0 here, and the one behind the last is the end of the program. What a condition asks is
not looked at: both ways are open, unless one is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import pairwise

from posewright.runtimes.robobasic.tree import (
    Command,
    Else,
    ElseIf,
    End,
    EndIf,
    Expression,
    For,
    Gosub,
    Goto,
    If,
    Line,
    Next,
    On,
    Return,
    Source,
    Statement,
    label_of,
    label_place,
    statements_in,
    unclosed_ifs,
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


BACK, OVER = -1, -2
"""What comes after RETURN, and after END or STOP, in the place of a line."""


class Flow:
    """Which line of a program follows which.

    Attributes:
        n: how many lines there are.
        places: of labels, by name in capitals.
        mentions: of labels, all there are.
        following: by line, those that may come next, BACK or OVER; a GOSUB is stepped over.
        loops: the innermost loop that holds a line, by line.
    """

    def __init__(self, source: Source, known: Callable[[Expression], int | None] = lambda _: None) -> None:
        """Find it out.

        Args:
            source: the program.
            known: says what a condition is, where that is known; then one way only is open.
        """
        lines = source.lines
        self.n = len(lines)
        self.places: dict[str, int] = {}
        for at, line in enumerate(lines):
            if line.label:
                self.places.setdefault(line.label.upper(), at)
        self.mentions = [
            mention
            for at, line in enumerate(lines)
            for one in statements_in(line.statement)
            for mention in _named(at, one)
        ]
        self.loops = _loops(lines)
        self._known = known
        self._otherwise: dict[int, int] = {}
        self._leaves: dict[int, int] = {}
        self._match_blocks(lines)
        self.following = [tuple(set(self._ways(at, line.statement))) for at, line in enumerate(lines)]

    def _match_blocks(self, lines: Sequence[Line]) -> None:
        """Find where an IF or ELSEIF goes that does not hold, and where who comes down to an ELSE leaves."""
        blocks: list[list[int]] = []  # lines of an IF, its ELSEIFs and ELSE; none of a FOR
        self._unclosed = unclosed_ifs(lines)
        for at, line in enumerate(lines):
            if line.label or isinstance(line.statement, Next):
                self._close_open_ifs(blocks, at)
            match line.statement:
                case If(_, None):
                    blocks.append([at])
                case For():
                    blocks.append([])
                case ElseIf() | Else() if blocks and blocks[-1]:
                    blocks[-1].append(at)
                case EndIf() if blocks and blocks[-1]:
                    self._close(blocks.pop(), at)
                case Next() if blocks and not blocks[-1]:
                    blocks.pop()
                case _:
                    pass
        for block in blocks:
            self._close(block, self.n)

    def _close_open_ifs(self, blocks: list[list[int]], at: int) -> None:
        """Close what has no ENDIF anywhere, as compiling does."""
        while blocks and blocks[-1] and blocks[-1][0] + 1 in self._unclosed:
            self._close(blocks.pop(), at)

    def _close(self, block: list[int], end: int) -> None:
        self._otherwise.update(pairwise([*block, end]))
        self._leaves.update(dict.fromkeys(block[1:], end))

    def _below(self, at: int) -> int:
        return self._leaves.get(at + 1, at + 1)

    def _ways(self, at: int, statement: Statement | None) -> Iterator[int]:
        match statement:
            case Goto(label):
                yield self.places.get(label.upper(), self._below(at))
            case Return():
                yield BACK
            case If(condition, then, otherwise):
                known = self._known(condition)
                if known is None or known:
                    yield from self._ways(at, then)
                if not known:
                    yield from (
                        [self._otherwise.get(at, self.n)] if then is None else self._ways(at, otherwise)
                    )
            case ElseIf(_, then):
                yield from self._ways(at, then)
                yield self._otherwise.get(at, self._below(at))
            case Else(then):
                yield from self._ways(at, then)
            case _ if statement is not None and _is_end(statement):
                yield OVER
            case Next() if at in self.loops and self.loops[at].end == at:
                yield from (self._below(at), self._below(self.loops[at].begin))
            case _:
                labels = (one.label.upper() for one in _named(at, statement) if one.use is Use.GOES)
                yield from (self.places[label] for label in labels if label in self.places)
                yield self._below(at)

    def called(self, line: int | None = None) -> Iterator[int]:
        """Yield where GOSUBs go, all or those of a line."""
        for one in self.mentions if line is None else self._calls.get(line, ()):
            if one.use is Use.CALLS and (place := self.places.get(one.label.upper())) is not None:
                yield place

    @cached_property
    def _calls(self) -> dict[int, list[Mention]]:
        found: dict[int, list[Mention]] = {}
        for one in self.mentions:
            found.setdefault(one.line, []).append(one)
        return found

    def reached(self, first: Iterable[int] = (0,), *, calls: bool = False) -> set[int]:
        """Return the lines that are reached from some, what is called there only if one asks for it."""
        found = set(first)
        ahead = list(found)
        while ahead:
            line = ahead.pop()
            if not 0 <= line < self.n:
                continue
            following = [*self.following[line], *(self.called(line) if calls else ())]
            new = [one for one in following if one not in found]
            found.update(new)
            ahead += new
        return found


def _is_end(statement: Statement) -> bool:
    """Tell whether a statement is END or STOP."""
    return isinstance(statement, End) or (isinstance(statement, Command) and statement.key == "STOP")


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
            if (named := label_of(statement.arguments[place])) is not None:
                yield Mention(at, named, Use.POSE if statement.key == "MOVEPOS" else Use.GOES)
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
