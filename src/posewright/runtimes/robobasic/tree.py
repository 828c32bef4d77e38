"""The parts of a RoboBASIC program, lines, statements, expressions, and what is found wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from posewright import display
from posewright.errors import Where


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it was written, `&H1F` say, and what it is."""

    value: int
    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """What stands between quotation marks; a single sign of it is a number, its code."""

    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """A variable, a constant, a group, a label, or a word such as SETON; `bit` is that of `A.3`."""

    name: str
    bit: int | None = None

    @property
    def key(self) -> str:
        """The name as it is looked up: upper and lower case are alike."""
        return self.name.upper()


@dataclass(frozen=True, slots=True)
class Call:
    """`AD(5)`; what stands between the commas, None where nothing does."""

    name: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """Operands with operators between them: arithmetic, then comparisons, then logic, each left to right."""

    operands: tuple[Operand, ...]
    operators: tuple[str, ...]


Operand = Number | Name | Call | Text
Expression = Operand | Chain
Argument = Expression | None


@dataclass(frozen=True, slots=True)
class Dim:
    """`DIM A AS BYTE, B AS INTEGER`: names and types."""

    declared: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Const:
    """`CONST ID = 0`."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Let:
    """`A = B + 1`, `A.3 = 0`."""

    place: Name
    value: Expression


@dataclass(frozen=True, slots=True)
class If:
    """`IF A > 3 THEN GOTO there ELSE RETURN`; a block begins where nothing follows THEN."""

    condition: Expression
    then: Statement | None = None
    otherwise: Statement | None = None


@dataclass(frozen=True, slots=True)
class ElseIf:
    """`ELSEIF A > 2 THEN`; a statement may follow."""

    condition: Expression
    then: Statement | None = None


@dataclass(frozen=True, slots=True)
class Else:
    """`ELSE`; a statement may follow."""

    then: Statement | None = None


@dataclass(frozen=True, slots=True)
class EndIf:
    """`ENDIF`."""


@dataclass(frozen=True, slots=True)
class For:
    """`FOR I = 1 TO 3`."""

    name: str
    first: Expression
    last: Expression


@dataclass(frozen=True, slots=True)
class Next:
    """`NEXT I`."""

    name: str | None


@dataclass(frozen=True, slots=True)
class Goto:
    """`GOTO label`."""

    label: str


@dataclass(frozen=True, slots=True)
class Gosub:
    """`GOSUB label`."""

    label: str


@dataclass(frozen=True, slots=True)
class Return:
    """`RETURN`."""


@dataclass(frozen=True, slots=True)
class On:
    """`ON A GOTO l0, l1`: the first for 0; goes on where there is none of that number."""

    value: Expression
    gosub: bool
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class End:
    """`END`."""


@dataclass(frozen=True, slots=True)
class Command:
    """Any other statement: its word, and what stands between the commas, None where nothing does."""

    name: str
    arguments: tuple[Argument, ...] = ()

    @property
    def key(self) -> str:
        """The word as it is looked up."""
        return self.name.upper()


Statement = (
    Dim | Const | Let | If | ElseIf | Else | EndIf | For | Next | Goto | Gosub | Return | On | End | Command
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a program.

    Attributes:
        number: counted from 1.
        text: as it was written, without the end of the line.
        code: what is written in it before the comment.
        comment: with its sign; empty where there is none.
        label: the name before the colon; empty where there is none.
        problem: why it cannot be read; then it has no statement.
        column: where the problem is, from 1.
    """

    number: int
    text: str
    code: str
    comment: str
    label: str
    statement: Statement | None
    problem: str = ""
    hint: str = ""
    column: int = 1


@dataclass(frozen=True, slots=True)
class Source:
    """A program as it is written.

    Attributes:
        name: of the file, for people.
        encoding: `utf-8`, `cp949` or `latin-1`, as it was found.
        newline: what ended its lines.
    """

    name: str
    lines: tuple[Line, ...]
    encoding: str = "utf-8"
    newline: str = "\n"
    path: Path | None = None

    @property
    def text(self) -> str:
        """The whole of it, its lines ended by line feeds."""
        return "".join(f"{line.text}\n" for line in self.lines)

    def where(self, number: int, column: int | None = None) -> Where:
        """Return a place in it."""
        return Where(self.path or Path(self.name), line=number, column=column)


def statements_in(statement: Statement | None) -> Iterator[Statement]:
    """Yield a statement, and those after its THEN and ELSE."""
    if statement is not None:
        yield statement
        if isinstance(statement, If | ElseIf | Else):
            yield from statements_in(statement.then)
        if isinstance(statement, If):
            yield from statements_in(statement.otherwise)


def expressions_in(statement: Statement) -> Iterator[Expression]:
    """Yield the expressions of a statement itself, not those of statements after its THEN."""
    match statement:
        case Const(_, value) | Let(_, value) | On(value, _, _):
            yield value
        case If(condition) | ElseIf(condition):
            yield condition
        case For(_, first, last):
            yield first
            yield last
        case Command(_, arguments):
            yield from (one for one in arguments if one is not None and not isinstance(one, Text))
        case _:
            return


def operands_in(expression: Expression) -> Iterator[Operand]:
    """Yield the operands of an expression, and those between the brackets of a call."""
    if isinstance(expression, Chain):
        for one in expression.operands:
            yield from operands_in(one)
        return
    yield expression
    if isinstance(expression, Call):
        for argument in expression.arguments:
            if argument is not None and not isinstance(argument, Text):
                yield from operands_in(argument)


def calls_of(statement: Statement, function: str) -> Iterator[Call]:
    """Yield the calls of a function, whose name is given in capitals, in a statement itself."""
    for expression in expressions_in(statement):
        for one in operands_in(expression):
            if isinstance(one, Call) and one.name.upper() == function:
                yield one


FLOW_WORDS = {
    "IF": "IF condition THEN statement",
    "ELSEIF": "ELSEIF condition THEN",
    "FOR": "FOR variable = first TO last",
    "DIM": "DIM name AS BYTE or AS INTEGER",
    "CONST": "CONST name = value",
    "ON": "ON value GOTO label0, label1, ...",
    "GOTO": "GOTO label",
    "GOSUB": "GOSUB label",
    "NEXT": "NEXT variable",
    "RETURN": "RETURN alone",
    **dict.fromkeys(("THEN", "ELSE", "ENDIF", "END"), ""),
}
"""The words of statements that are flow or declare something, and how they are used."""


def label_of(argument: Argument) -> str | None:
    """Return the label that an argument names, which may be a number; None where it names none."""
    match argument:
        case Name(name, None) | Number(_, name):
            return name
    return None


LABEL_PLACES = {"ERX": 2, "RX": 2, "MOVEPOS": 0}


def label_place(command: Command) -> int | None:
    """Return which argument of a statement is a label, if any of them is one."""
    place = LABEL_PLACES.get(command.key)
    return place if place is not None and place < len(command.arguments) else None


def unclosed_ifs(lines: Iterable[Line]) -> frozenset[int]:
    """Return the lines of IFs that no ENDIF closes: each closes the last before it that is open."""
    opened: list[int] = []
    for line in lines:
        match line.statement:
            case If(_, None):
                opened.append(line.number)
            case EndIf() if opened:
                opened.pop()
            case _:
                pass
    return frozenset(opened)


class Severity(Enum):
    """How bad something is: a program with an error is not run."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a program.

    Attributes:
        rule: a short name for the kind of thing, `unknown-label`.
    """

    line: int
    rule: str
    message: str
    hint: str = ""
    severity: Severity = Severity.ERROR
    column: int = 1

    def to_dict(self) -> dict[str, object]:
        """Return it fit for JSON."""
        return {
            "line": self.line,
            "column": self.column,
            "severity": self.severity.value,
            "rule": self.rule,
            "message": self.message,
            "hint": self.hint,
        }

    def line_in(self, name: str) -> display.Line:
        """Return it as a line for people, of a file of that name."""
        hint = f" ({self.hint})" if self.hint else ""
        place = f"{name}:{self.line}:{self.column}: "
        level = display.style_level(self.severity.value)
        return display.build_line(place, level, f": {self.message}{hint} [{self.rule}]")
