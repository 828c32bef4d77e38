"""The syntax tree of a RoboBASIC program: lines, statements and expressions; and the findings about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from posewright import display
from posewright.errors import Where


@dataclass(frozen=True, slots=True)
class Number:
    """A number: its value, and its text, for example `&H1F`."""

    value: int
    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """A quoted text; a single character stands for its code."""

    text: str


@dataclass(frozen=True, slots=True)
class Identifier:
    """A variable, a constant, a group, a label, or a word such as SETON; `bit` is that of `A.3`."""

    name: str
    bit: int | None = None

    @property
    def key(self) -> str:
        """The name in capitals: names are not case-sensitive."""
        return self.name.upper()


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function call, `AD(5)`; an empty argument is None."""

    name: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """Operands with operators between them: arithmetic, then comparisons, then logic, each left to right."""

    operands: tuple[Operand, ...]
    operators: tuple[str, ...]


Operand = Number | Identifier | FunctionCall | Text
Expression = Operand | Chain
Argument = Expression | None


@dataclass(frozen=True, slots=True)
class Dim:
    """`DIM A AS BYTE, B AS INTEGER`: pairs of name and type."""

    declarations: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Const:
    """`CONST ID = 0`."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class Let:
    """`A = B + 1`, `A.3 = 0`."""

    target: Identifier
    value: Expression


@dataclass(frozen=True, slots=True)
class IfStatement:
    """`IF A > 3 THEN GOTO there ELSE RETURN`; begins a block if nothing follows THEN."""

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
    """`ON A GOTO l0, l1`: jumps to the label whose index is A; goes on if there is none."""

    value: Expression
    gosub: bool
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class End:
    """`END`."""


@dataclass(frozen=True, slots=True)
class CommandStatement:
    """Any other statement: its keyword and its arguments; an empty argument is None."""

    name: str
    arguments: tuple[Argument, ...] = ()

    @property
    def key(self) -> str:
        """The keyword in capitals."""
        return self.name.upper()


Statement = (
    Dim
    | Const
    | Let
    | IfStatement
    | ElseIf
    | Else
    | EndIf
    | For
    | Next
    | Goto
    | Gosub
    | Return
    | On
    | End
    | CommandStatement
)


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a program.

    Attributes:
        number: counted from 1.
        text: without the line ending.
        code: the text before the comment.
        comment: the comment with its `'` or REM; may be empty.
        label: the name before the colon; may be empty.
        statement: None if there is none or it cannot be parsed.
        problem: why it cannot be parsed, or, with a statement, what is wrong although it was parsed; may be
            empty.
        hint: what would be accepted instead.
        column: the column of the problem, from 1.
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
class BasicSource:
    """The source of a program.

    Attributes:
        name: the name of the file.
        encoding: `utf-8`, `cp949` or `latin-1`.
        newline: its line ending.
        path: the path of the file; None for text from memory.
    """

    name: str
    lines: tuple[SourceLine, ...]
    encoding: str = "utf-8"
    newline: str = "\n"
    path: Path | None = None

    @property
    def text(self) -> str:
        """The text with line feeds as line endings."""
        return "".join(f"{line.text}\n" for line in self.lines)

    def where(self, number: int, column: int | None = None) -> Where:
        """Return the location of a line and column in the file."""
        return Where(self.path or Path(self.name), line=number, column=column)


def statements_in(statement: Statement | None) -> Iterator[Statement]:
    """Yield a statement and, recursively, those after its THEN and ELSE."""
    if statement is not None:
        yield statement
        if isinstance(statement, IfStatement | ElseIf | Else):
            yield from statements_in(statement.then)
        if isinstance(statement, IfStatement):
            yield from statements_in(statement.otherwise)


def expressions_in(statement: Statement) -> Iterator[Expression]:
    """Yield the expressions of a statement itself, not those of statements after its THEN."""
    match statement:
        case Const(_, value) | Let(_, value) | On(value, _, _):
            yield value
        case IfStatement(condition) | ElseIf(condition):
            yield condition
        case For(_, first, last):
            yield first
            yield last
        case CommandStatement(_, arguments):
            for argument in arguments:
                if argument is not None and not isinstance(argument, Text):
                    yield argument
        case _:
            return


def operands_in(expression: Expression) -> Iterator[Operand]:
    """Yield the operands of an expression, including those in the arguments of calls."""
    if isinstance(expression, Chain):
        for operand in expression.operands:
            yield from operands_in(operand)
        return
    yield expression
    if isinstance(expression, FunctionCall):
        for argument in expression.arguments:
            if argument is not None and not isinstance(argument, Text):
                yield from operands_in(argument)


def find_calls(statement: Statement, function: str) -> Iterator[FunctionCall]:
    """Yield the calls of a function in a statement itself; `function` is in capitals."""
    for expression in expressions_in(statement):
        for operand in operands_in(expression):
            if isinstance(operand, FunctionCall) and operand.name.upper() == function:
                yield operand


AUTO = "AUTO"
"""A label of the controller itself: GOTO AUTO, the first line of templates, goes on below (assumed)."""

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
"""Usage of the statements for control flow and declarations, by keyword."""


def label_of_argument(argument: Argument) -> str | None:
    """Return the label that an argument names, which may be a number; None if it cannot be a label."""
    match argument:
        case Identifier(name, None) | Number(_, name):
            return name
    return None


LABEL_INDEXES = {"ERX": 2, "RX": 2, "MOVEPOS": 0}
"""Index of the argument that is a label, by keyword."""


def find_label_index(command: CommandStatement) -> int | None:
    """Return the index of the argument of a statement that is a label; None if it has none."""
    index = LABEL_INDEXES.get(command.key)
    return index if index is not None and index < len(command.arguments) else None


class Severity(Enum):
    """Severity of a finding; a program with an error cannot run."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


@dataclass(frozen=True, slots=True)
class BasicFinding:
    """A finding of the compiler or linter about a line of a program.

    Attributes:
        line: the line, from 1.
        rule: identifier of the check, for example `unknown-label`.
        hint: what would be accepted or better instead; may be empty.
        column: the column, from 1.
    """

    line: int
    rule: str
    message: str
    hint: str = ""
    severity: Severity = Severity.ERROR
    column: int = 1

    def to_dict(self) -> dict[str, object]:
        """Return the finding as JSON data."""
        return {
            "line": self.line,
            "column": self.column,
            "severity": self.severity.value,
            "rule": self.rule,
            "message": self.message,
            "hint": self.hint,
        }

    def display_line(self, name: str) -> display.Line:
        """Return the finding as a line of output; `name` is that of the file."""
        hint = f" ({self.hint})" if self.hint else ""
        location = f"{name}:{self.line}:{self.column}: "
        level = display.style_level(self.severity.value)
        return display.build_line(location, level, f": {self.message}{hint} [{self.rule}]")
