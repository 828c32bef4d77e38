"""A program is laid out anew; what every line means, and every comment, is kept.

Keywords are capitals, names as they are declared; labels stand at the margin, what is below them is set in,
and so is what is inside IF and FOR. The counts of MOVE stand below one another. A line that cannot be read
stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from posewright.runtimes.robobasic import tree
from posewright.runtimes.robobasic.compiling import WORDS
from posewright.runtimes.robobasic.expressions import FUNCTIONS, GIVEN, RANDOM, TYPES
from posewright.runtimes.robobasic.peripherals import PLAIN_WORDS
from posewright.runtimes.robobasic.servos import group_of
from posewright.runtimes.robobasic.steps import as_group
from posewright.runtimes.robobasic.syntax import MOST_LINE

INDENT = "    "
DEEPEST = 24
"""What is inside of more blocks than these is not set in any deeper."""

MOST_BLANK = 2
"""So many empty lines follow one another at most."""

WIDE = 40
"""A comment behind a longer statement stands two blanks behind it, not below its neighbours."""

COUNT_SIGNS = 3
_ALIGNED = re.compile(r"MOVE\d*|POS|ZERO|OFFSET|INIT")
_OTHER_FUNCTIONS = {"MOTORIN", "PEEK", "ROMPEEK", "FORMAT"}


@dataclass(slots=True)
class _Row:
    """A line as it will be: label and statement set in so deep, or a comment alone.

    Attributes:
        joins: whether its comment stands below those of its neighbours.
    """

    text: str = ""
    comment: str = ""
    depth: int = 0
    joins: bool = False

    def written(self, width: int = 0) -> str:
        if not self.text:
            return INDENT * self.depth + self.comment if self.comment else ""
        return f"{self.text:<{width}}  {self.comment}" if self.comment else self.text


def formatted(source: tree.Source) -> str:
    """Return the text of a program laid out anew, its lines ended by line feeds."""
    rows = list(_aligned(_rows(source)))
    kept: list[str] = []
    blanks = 0
    for row in rows:
        blanks = 0 if row else blanks + 1
        if row or (kept and blanks <= MOST_BLANK):
            kept.append(row)
    while kept and not kept[-1]:
        kept.pop()
    return "".join(f"{row}\n" for row in kept)


def _rows(source: tree.Source) -> list[_Row]:
    """Return the lines of a program, each set in as its place says."""
    writer, unclosed, below = _Writer(source), tree.unclosed_ifs(source.lines), 0
    opened: list[int] = []  # lines of IFs, 0 for a FOR
    rows: list[_Row] = []
    for line in source.lines:
        statement = line.statement
        code = writer.code(line)
        comment = line.comment.rstrip(" \t")
        if line.problem or len(code) > MOST_LINE - len(INDENT) * DEEPEST:
            rows.append(_Row(line.text, depth=-1))
            continue
        while (line.label or isinstance(statement, tree.Next)) and opened and opened[-1] in unclosed:
            opened.pop()  # an IF that nothing closes ends here
        inner = below + len(opened)
        if isinstance(statement, tree.EndIf | tree.Next) and opened:
            opened.pop()
        if line.label:
            below = below if _is_pose(statement) else 1
            rows.append(_Row(code, comment))
        elif statement is not None:
            out = isinstance(statement, tree.ElseIf | tree.Else) and bool(opened)
            depth = min(below + len(opened) - out, DEEPEST)
            rows.append(_Row(INDENT * depth + code, comment, min(inner, DEEPEST), joins=True))
        else:
            rows.append(_Row("", comment, depth=-1))
        if isinstance(statement, tree.For):
            opened.append(0)
        elif isinstance(statement, tree.If) and statement.then is None:
            opened.append(line.number)
    _set_in(rows)
    return rows


def _is_pose(statement: tree.Statement | None) -> bool:
    return isinstance(statement, tree.Command) and statement.key == "POS"


def _set_in(rows: Sequence[_Row]) -> None:
    """Set comments in as deep as the statement or label they stand before; at the end, not at all."""
    depth = 0
    for row in reversed(rows):
        if row.depth >= 0:
            depth = row.depth
        elif not row.text:
            row.depth = depth


def _aligned(rows: Iterable[_Row]) -> Iterable[str]:
    """Yield rows as they are written: comments behind statements that follow one another are aligned."""
    for joins, together in groupby(rows, key=lambda row: row.joins):
        group = list(together)
        short = [len(row.text) for row in group if row.comment and len(row.text) <= WIDE]
        width = max(short, default=0) if joins else 0
        yield from (row.written(width if len(row.text) <= WIDE else 0) for row in group)


class _Writer:
    """Writes the statements of one program, its names as they are first declared."""

    def __init__(self, source: tree.Source) -> None:
        self._names: dict[str, str] = {name: name for name in (*GIVEN, RANDOM)}
        self._labels: dict[str, str] = {}
        for line in source.lines:
            if line.label:
                self._labels.setdefault(line.label.upper(), line.label)
            match line.statement:
                case tree.Dim(declared):
                    for name, _ in declared:
                        self._names.setdefault(name.upper(), name)
                case tree.Const(name, _):
                    self._names.setdefault(name.upper(), name)
                case _:
                    pass

    def code(self, line: tree.Line) -> str:
        """Return label and statement of a line."""
        statement = "" if line.statement is None else self._statement(line.statement)
        return f"{self._label(line.label)}: {statement}".rstrip() if line.label else statement

    def _label(self, label: str) -> str:
        return self._labels.get(label.upper(), label)

    def _name(self, name: str) -> str:
        key = name.upper()
        if (declared := self._names.get(key)) is not None:
            return declared
        return key if key in PLAIN_WORDS or group_of(key) is not None else name

    def _statement(self, statement: tree.Statement) -> str:
        match statement:
            case tree.Dim(declared):
                return f"DIM {', '.join(f'{self._name(name)} AS {_type(kind)}' for name, kind in declared)}"
            case tree.Const(name, value):
                return f"CONST {self._name(name)} = {self._expression(value)}"
            case tree.Let(place, value):
                return f"{self._expression(place)} = {self._expression(value)}"
            case tree.Command():
                return self._command(statement)
            case _:
                return self._flow(statement)

    def _flow(self, statement: tree.Statement) -> str:
        told = self._expression
        match statement:
            case tree.If(condition, then, otherwise):
                text = f"IF {told(condition)} THEN{self._behind(then)}"
                text += "" if otherwise is None else f" ELSE{self._behind(otherwise)}"
            case tree.ElseIf(condition, then):
                text = f"ELSEIF {told(condition)} THEN{self._behind(then)}"
            case tree.Else(then):
                text = f"ELSE{self._behind(then)}"
            case tree.For(name, first, last):
                text = f"FOR {self._name(name)} = {told(first)} TO {told(last)}"
            case tree.Next(name):
                text = "NEXT" if name is None else f"NEXT {self._name(name)}"
            case tree.Goto(label) | tree.Gosub(label):
                text = f"{type(statement).__name__.upper()} {self._label(label)}"
            case tree.On(value, gosub, labels):
                word = "GOSUB" if gosub else "GOTO"
                text = f"ON {told(value)} {word} {', '.join(map(self._label, labels))}"
            case _:
                text = type(statement).__name__.upper()  # ENDIF, RETURN, END
        return text

    def _behind(self, statement: tree.Statement | None) -> str:
        return "" if statement is None else f" {self._statement(statement)}"

    def _command(self, command: tree.Command) -> str:
        word = command.key if command.key in WORDS or as_group(command).key in WORDS else command.name
        fields = [self._argument(one) for one in command.arguments]
        if (place := tree.label_place(command)) is not None:
            label = command.arguments[place]
            fields[place] = self._label(label.name) if isinstance(label, tree.Name) else fields[place]
        if _ALIGNED.fullmatch(word):
            first = command.arguments[0] if fields else None
            begin = 1 if isinstance(first, tree.Name) and group_of(first.name) is not None else 0
            last = max((place for place, field in enumerate(fields, 1) if field), default=0)
            fields[begin:last] = [field.rjust(COUNT_SIGNS) for field in fields[begin:last]]
        return f"{word} {', '.join(fields)}".rstrip(" ")

    def _argument(self, argument: tree.Argument) -> str:
        return "" if argument is None else self._expression(argument)

    def _expression(self, expression: tree.Expression) -> str:
        match expression:
            case tree.Number(_, text):
                return text.upper()
            case tree.Text(text):
                return f'"{text}"'
            case tree.Name(name, bit):
                return self._name(name) if bit is None else f"{self._name(name)}.{bit}"
            case tree.Call(name, arguments):
                word = name.upper() if name.upper() in FUNCTIONS.keys() | _OTHER_FUNCTIONS else name
                return f"{word}({', '.join(map(self._argument, arguments))})"
            case tree.Chain(operands, operators):
                first, *others = map(self._expression, operands)
                pairs = zip(operators, others, strict=True)
                return " ".join([first, *(f"{operator} {operand}" for operator, operand in pairs)])


def _type(kind: str) -> str:
    return kind.upper() if kind.upper() in TYPES else kind
