"""The formatter: lays a program out anew; the meaning of every line and all comments stay.

Keywords are in capitals, names as they are declared, and missing commas are added. Labels stand at the
margin; the lines below them, and the lines inside IF and FOR, are indented. Counts of MOVE are aligned. A
line with a syntax error stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from posewright.runtimes.robobasic import tree
from posewright.runtimes.robobasic.compiler import STATEMENTS
from posewright.runtimes.robobasic.expressions import PORT_FUNCTIONS, PREDEFINED_VARIABLES, RANDOM, TYPES
from posewright.runtimes.robobasic.peripheral_statements import KEYWORD_ARGUMENTS
from posewright.runtimes.robobasic.servos import find_group
from posewright.runtimes.robobasic.step_builder import normalize_move
from posewright.runtimes.robobasic.syntax import MAX_LINE_LENGTH
from posewright.runtimes.robobasic.unclosed_ifs import find_unclosed_ifs

INDENT = "    "
MAX_DEPTH = 24
"""Deeper blocks are not indented any further."""

MAX_BLANK_LINES = 2
"""Largest number of empty lines in a row."""

MAX_ALIGNED_WIDTH = 40
"""A comment behind a longer statement is not aligned with those of the lines around it."""

_FOR_BLOCK = 0
"""Stands for the line of an open FOR, which is not needed."""

COUNT_WIDTH = 3
"""Digits of a count; shorter ones are padded."""

_WITH_COUNTS = re.compile(r"MOVE\d*|POS|ZERO|OFFSET|INIT")
_FUNCTIONS = PORT_FUNCTIONS.keys() | {"MOTORIN", "PEEK", "ROMPEEK", "FORMAT"}


@dataclass(slots=True)
class _FormattedLine:
    """A line of the new layout: an indented statement with its comment, or a comment alone.

    Attributes:
        code: label and statement with indentation; may be empty.
        comment: may be empty.
        depth: the depth of the indentation; -1 until `_indent_comments` sets it.
        aligns_comment: whether the comment is aligned with those of the lines around it.
    """

    code: str = ""
    comment: str = ""
    depth: int = 0
    aligns_comment: bool = False

    def render(self, comment_column: int = 0) -> str:
        """Return the text of the line, its code padded to a column if a comment follows; 0 pads nothing."""
        if not self.code:
            return INDENT * self.depth + self.comment if self.comment else ""
        return f"{self.code:<{comment_column}}  {self.comment}" if self.comment else self.code


def format_source(source: tree.BasicSource) -> str:
    """Return the text of a program in the new layout, with line feeds as line endings."""
    rows: list[str] = []
    n_blank = 0
    for row in _render(_format_lines(source)):
        n_blank = 0 if row else n_blank + 1
        if row or (rows and n_blank <= MAX_BLANK_LINES):
            rows.append(row)
    while rows and not rows[-1]:
        rows.pop()
    return "".join(f"{row}\n" for row in rows)


def _format_lines(source: tree.BasicSource) -> list[_FormattedLine]:
    """Return the lines of a program with their indentation.

    Lines below the first label are indented by one level, and those inside of each open block by one more.
    ELSE and ELSEIF stand like their IF. A line with a syntax error stays as it is.
    """
    formatter = _StatementFormatter(source)
    unclosed_ifs = find_unclosed_ifs(source.lines)
    label_depth = 0  # 1 below the first label
    open_blocks: list[int] = []  # the line of each IF; _FOR_BLOCK for a FOR
    lines: list[_FormattedLine] = []
    for line in source.lines:
        statement = line.statement
        code = formatter.format_line(line)
        comment = line.comment.rstrip(" \t")
        cannot_be_parsed = line.problem and statement is None
        if cannot_be_parsed or len(code) > MAX_LINE_LENGTH - len(INDENT) * MAX_DEPTH:
            lines.append(_FormattedLine(line.text, depth=-1))
            continue
        while (
            open_blocks
            and open_blocks[-1] in unclosed_ifs
            and unclosed_ifs[open_blocks[-1]].end_line <= line.number
        ):
            open_blocks.pop()
        comment_depth = min(label_depth + len(open_blocks), MAX_DEPTH)
        if isinstance(statement, tree.EndIf | tree.Next) and open_blocks:
            open_blocks.pop()
        if line.label:
            is_pose = isinstance(statement, tree.CommandStatement) and statement.key == "POS"
            if not is_pose:
                label_depth = 1
            lines.append(_FormattedLine(code, comment))
        elif statement is None:
            lines.append(_FormattedLine("", comment, depth=-1))
        else:
            depth = label_depth + len(open_blocks)
            if isinstance(statement, tree.ElseIf | tree.Else) and open_blocks:
                depth -= 1
            indentation = INDENT * min(depth, MAX_DEPTH)
            lines.append(_FormattedLine(indentation + code, comment, comment_depth, aligns_comment=True))
        if isinstance(statement, tree.For):
            open_blocks.append(_FOR_BLOCK)
        elif isinstance(statement, tree.IfStatement) and statement.then is None:
            open_blocks.append(line.number)
    _indent_comments(lines)
    return lines


def _indent_comments(lines: Sequence[_FormattedLine]) -> None:
    """Indent comment lines like the statement or label below them; not at all at the end of the program."""
    depth = 0
    for line in reversed(lines):
        if line.depth >= 0:
            depth = line.depth
        elif not line.code:
            line.depth = depth


def _render(lines: Iterable[_FormattedLine]) -> Iterator[str]:
    """Yield the text of lines; comments behind consecutive statements are aligned.

    The comment of a statement longer than `MAX_ALIGNED_WIDTH` follows it at once.
    """
    for aligns_comment, consecutive_lines in groupby(lines, key=lambda line: line.aligns_comment):
        group = list(consecutive_lines)
        comment_column = _find_comment_column(group) if aligns_comment else 0
        for line in group:
            is_aligned = len(line.code) <= MAX_ALIGNED_WIDTH
            yield line.render(comment_column if is_aligned else 0)


def _find_comment_column(lines: Iterable[_FormattedLine]) -> int:
    """Return the length of the longest statement whose comment is aligned; 0 if there is none."""
    lengths = [len(line.code) for line in lines if line.comment]
    return max((length for length in lengths if length <= MAX_ALIGNED_WIDTH), default=0)


class _StatementFormatter:
    """Formats the statements of one program, with names as they are first declared."""

    def __init__(self, source: tree.BasicSource) -> None:
        # variables and constants, and labels, as they are first written, by their names in capitals
        self._names: dict[str, str] = {name: name for name in (*PREDEFINED_VARIABLES, RANDOM)}
        self._labels: dict[str, str] = {}
        for line in source.lines:
            if line.label:
                self._labels.setdefault(line.label.upper(), line.label)
            match line.statement:
                case tree.Dim(declarations):
                    for name, _ in declarations:
                        self._names.setdefault(name.upper(), name)
                case tree.Const(name, _):
                    self._names.setdefault(name.upper(), name)
                case _:
                    pass

    def format_line(self, line: tree.SourceLine) -> str:
        """Return label and statement of a line."""
        statement = "" if line.statement is None else self._format_statement(line.statement)
        return f"{self._format_label(line.label)}: {statement}".rstrip() if line.label else statement

    def _format_label(self, label: str) -> str:
        return self._labels.get(label.upper(), label)

    def _format_name(self, name: str) -> str:
        """Return a name as it is first declared; keywords and groups of servos in capitals."""
        key = name.upper()
        declared = self._names.get(key)
        if declared is not None:
            return declared
        return key if key in KEYWORD_ARGUMENTS or find_group(key) is not None else name

    def _format_statement(self, statement: tree.Statement) -> str:
        """Return a statement in the official spelling."""
        match statement:
            case tree.Dim(declarations):
                pairs = [f"{self._format_name(name)} AS {_format_type(kind)}" for name, kind in declarations]
                return f"DIM {', '.join(pairs)}"
            case tree.Const(name, value):
                return f"CONST {self._format_name(name)} = {self._format_expression(value)}"
            case tree.Let(target, value):
                return f"{self._format_expression(target)} = {self._format_expression(value)}"
            case tree.CommandStatement():
                return self._format_command(statement)
            case _:
                return self._format_flow(statement)

    def _format_flow(self, statement: tree.Statement) -> str:  # noqa: PLR0911 -- one case for each statement
        """Return a statement that controls the flow, such as IF, FOR or GOTO."""
        match statement:
            case tree.IfStatement(condition, then, otherwise):
                text = f"IF {self._format_expression(condition)} THEN{self._format_inner(then)}"
                if otherwise is not None:
                    text += f" ELSE{self._format_inner(otherwise)}"
                return text
            case tree.ElseIf(condition, then):
                return f"ELSEIF {self._format_expression(condition)} THEN{self._format_inner(then)}"
            case tree.Else(then):
                return f"ELSE{self._format_inner(then)}"
            case tree.For(name, first, last):
                values = f"{self._format_expression(first)} TO {self._format_expression(last)}"
                return f"FOR {self._format_name(name)} = {values}"
            case tree.Next(name):
                return "NEXT" if name is None else f"NEXT {self._format_name(name)}"
            case tree.Goto(label) | tree.Gosub(label):
                return f"{type(statement).__name__.upper()} {self._format_label(label)}"
            case tree.On(value, gosub, labels):
                keyword = "GOSUB" if gosub else "GOTO"
                targets = ", ".join(map(self._format_label, labels))
                return f"ON {self._format_expression(value)} {keyword} {targets}"
            case _:
                return type(statement).__name__.upper()  # ENDIF, RETURN, END

    def _format_inner(self, statement: tree.Statement | None) -> str:
        """Return the statement after THEN or ELSE, with a space before it."""
        return "" if statement is None else f" {self._format_statement(statement)}"

    def _format_command(self, command: tree.CommandStatement) -> str:
        """Return a command with its arguments; counts of servos are padded so that they align in columns."""
        is_known = command.key in STATEMENTS or normalize_move(command).key in STATEMENTS
        keyword = command.key if is_known else command.name
        texts = [self._format_argument(argument) for argument in command.arguments]
        label_index = tree.find_label_index(command)
        if label_index is not None:
            label = command.arguments[label_index]
            if isinstance(label, tree.Identifier):
                texts[label_index] = self._format_label(label.name)
        if _WITH_COUNTS.fullmatch(keyword):
            first_argument = command.arguments[0] if texts else None
            begins_with_group = (
                isinstance(first_argument, tree.Identifier) and find_group(first_argument.name) is not None
            )
            first_count = 1 if begins_with_group else 0
            # empty arguments at the end are not padded
            end = max((index + 1 for index, text in enumerate(texts) if text), default=0)
            texts[first_count:end] = [text.rjust(COUNT_WIDTH) for text in texts[first_count:end]]
        return f"{keyword} {', '.join(texts)}".rstrip(" ")

    def _format_argument(self, argument: tree.Argument) -> str:
        return "" if argument is None else self._format_expression(argument)

    def _format_expression(self, expression: tree.Expression) -> str:
        """Return an expression with one blank around each operator."""
        match expression:
            case tree.Number(_, text):
                return text.upper()
            case tree.Text(text):
                return f'"{text}"'
            case tree.Identifier(name, bit):
                return self._format_name(name) if bit is None else f"{self._format_name(name)}.{bit}"
            case tree.FunctionCall(name, arguments):
                function = name.upper() if name.upper() in _FUNCTIONS else name
                return f"{function}({', '.join(map(self._format_argument, arguments))})"
            case tree.Chain(operands, operators):
                first, *following = map(self._format_expression, operands)
                parts = [first]
                for operator, operand in zip(operators, following, strict=True):
                    parts += [operator, operand]
                return " ".join(parts)


def _format_type(kind: str) -> str:
    return kind.upper() if kind.upper() in TYPES else kind
