"""Where block IFs without ENDIF end.

No document says what the maker's compiler does with them, but it accepts them: public programs have such IFs.
A block ends where a person would say that it does, so that as little as possible of the program is skipped:

* after a GOTO, RETURN or END in its last branch, since what follows could never be reached inside the branch;
* where the indentation returns to that of the branch;
* in the start-up and the main loop, up to the first jump that no IF guards: at the first blank line, or after
  one statement;
* otherwise before a GOTO, RETURN or END above the next label, so that no routine runs into the next one;
* otherwise before the next label or the NEXT of the FOR around it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from posewright.runtimes.robobasic.tree import (
    AUTO,
    Else,
    ElseIf,
    End,
    EndIf,
    For,
    Goto,
    IfStatement,
    Next,
    Return,
    SourceLine,
    Statement,
)

TAB_WIDTH = 4
"""Columns of a tab; that of the maker's editor."""

MAX_SECTIONS = 20
"""So many jumps of the start-up are followed."""

MAX_UNCLOSED_IFS = 100
MAX_BRANCH_LINES = 2_000
"""So many IFs, and so many lines below each, are examined; further blocks end before the next label."""


@dataclass(frozen=True, slots=True)
class UnclosedIf:
    """A block IF without ENDIF. Lines count from 1; end lines are those before which something ends.

    Attributes:
        line: the line of the IF.
        branch_line: the line of its last IF, ELSEIF or ELSE.
        end_line: the line before which the block ends.
        latest_end_line: the line before which it ends at the latest: the next label or NEXT, or one more
            than there are lines.
        end_label: the label on the line `end_line`; empty if it has none.
    """

    line: int
    branch_line: int
    end_line: int
    latest_end_line: int
    end_label: str

    def describe_end(self) -> str:
        """Return a sentence that says where this block IF without ENDIF ends, and what follows from that.

        If lines after the end could have belonged to the block, it says that they run in any case. Otherwise
        it says which lines run only in the block's last branch, if there are any.
        """
        place = f"before the label {self.end_label}" if self.end_label else f"before line {self.end_line}"
        if self.end_line < self.latest_end_line:
            lines_run = _format_lines_run(self.end_line, self.latest_end_line)
            return f"here the block ends {place}: {lines_run} in any case"
        first_line = self.branch_line + 1
        if first_line >= self.end_line:
            return f"here the block ends {place}"
        lines_run = _format_lines_run(first_line, self.end_line)
        return f"here the block ends {place}: {lines_run} only in the branch of line {self.branch_line}"


def _format_lines_run(first_line: int, end_line: int) -> str:
    """Return "line 3 runs", or "lines 3 to 5 run" for the lines from 3 to before 6."""
    if end_line - first_line == 1:
        return f"line {first_line} runs"
    return f"lines {first_line} to {end_line - 1} run"


@dataclass(frozen=True, slots=True)
class _BranchStatement:
    """A statement of a branch, not inside a further block, and whether a blank line precedes it."""

    line: SourceLine
    follows_blank: bool


def find_unclosed_ifs(lines: Sequence[SourceLine]) -> Mapping[int, UnclosedIf]:
    """Return the block IFs without ENDIF by their lines; an ENDIF closes the last open IF before it.

    Args:
        lines: all lines of a program, numbered from 1.
    """
    open_ifs: list[int] = []
    for line in lines:
        match line.statement:
            case IfStatement(_, None):
                open_ifs.append(line.number)
            case EndIf() if open_ifs:
                open_ifs.pop()
            case _:
                pass
    label_lines = [line.number for line in lines if line.label]
    label_lines.append(len(lines) + 1)  # the end of the program
    start_up = [range(1, label_lines[0]), *_find_start_up(lines, frozenset(open_ifs))] if open_ifs else []
    unclosed: dict[int, UnclosedIf] = {}
    for number in reversed(open_ifs):  # inner ones first
        next_label_line = label_lines[bisect_right(label_lines, number)]
        if len(unclosed) < MAX_UNCLOSED_IFS:
            is_start_up = any(number in section for section in start_up)
            unclosed[number] = _find_end(lines, number, unclosed, next_label_line, is_start_up=is_start_up)
        else:
            end_label = _label_of(lines, next_label_line)
            unclosed[number] = UnclosedIf(number, number, next_label_line, next_label_line, end_label)
    return unclosed


def _find_start_up(lines: Sequence[SourceLine], unclosed: Collection[int]) -> Sequence[range]:
    """Return the lines of start-up and main loop: those that a program runs through without its IFs.

    They begin at the first line and end with a GOTO, RETURN or END outside all closed IFs; after a GOTO they
    go on at its label.

    Args:
        lines: all lines of the program.
        unclosed: the lines of the IFs without ENDIF.
    """
    label_lines = {line.label.upper(): line.number for line in reversed(lines) if line.label}
    sections: list[range] = []
    start: int | None = 1
    while start is not None and len(sections) < MAX_SECTIONS:
        end = _find_jump(lines, start, unclosed)
        sections.append(range(start, end + 1))
        jump = lines[end - 1].statement if end <= len(lines) else None
        start = label_lines.get(jump.label.upper()) if isinstance(jump, Goto) else None
        if start is not None and any(start in section for section in sections):
            break
    return sections


def _find_jump(lines: Sequence[SourceLine], start: int, unclosed: Collection[int]) -> int:
    """Return the first line from `start` on that is a GOTO, RETURN or END outside all closed IFs.

    GOTO AUTO does not count. Without such a line, it is one more than there are lines.
    """
    depth = 0
    for line in lines[start - 1 :]:
        match line.statement:
            case IfStatement(_, None) if line.number not in unclosed:
                depth += 1
            case EndIf():
                depth = max(0, depth - 1)
            case Goto(label) if label.upper() == AUTO:
                pass
            case Goto() | Return() | End() if depth == 0:
                return line.number
            case _:
                pass
    return len(lines) + 1


def _label_of(lines: Sequence[SourceLine], number: int) -> str:
    """Return the label of a line; empty without one, and for the end of the program."""
    return lines[number - 1].label if number <= len(lines) else ""


def _find_end(
    lines: Sequence[SourceLine],
    number: int,
    inner: Mapping[int, UnclosedIf],
    next_label_line: int,
    *,
    is_start_up: bool,
) -> UnclosedIf:
    """Return where the IF of a line ends.

    Args:
        lines: all lines of the program.
        number: the line of the IF.
        inner: the unclosed IFs below it, by line.
        next_label_line: the line of the next label, or one more than there are lines.
        is_start_up: whether the IF is in the start-up or in the main loop.
    """
    branch = lines[number - 1]
    body: list[_BranchStatement] = []  # of the last branch
    depth = 0  # of closed blocks inside the branch
    follows_blank = False
    latest_end = next_label_line
    next_line = number + 1
    while next_line < min(next_label_line, number + MAX_BRANCH_LINES):
        line = lines[next_line - 1]
        if depth == 0 and isinstance(line.statement, Next):
            latest_end = line.number
            break
        next_line += 1
        if line.statement is None:
            follows_blank = follows_blank or not line.text.strip()
            continue
        match line.statement:
            case ElseIf() | Else() if depth == 0:
                branch = line
                body = [] if line.statement.then is None else [_BranchStatement(line, follows_blank)]
            case EndIf() | Next():
                depth = max(0, depth - 1)
            case _:
                if depth == 0:
                    body.append(_BranchStatement(line, follows_blank))
                if line.number in inner:
                    next_line = inner[line.number].end_line
                elif isinstance(line.statement, For) or _opens_block(line):
                    depth += 1
        follows_blank = False
    end = _choose_end(branch, body, is_start_up=is_start_up) or latest_end
    return UnclosedIf(number, branch.number, end, latest_end, end_label=_label_of(lines, end))


def _opens_block(line: SourceLine) -> bool:
    return isinstance(line.statement, IfStatement) and line.statement.then is None


def _choose_end(branch: SourceLine, body: Sequence[_BranchStatement], *, is_start_up: bool) -> int | None:
    """Return the line before which the last branch of an IF ends; None for the latest possible end.

    Args:
        branch: the line of the branch: its IF, ELSEIF or ELSE.
        body: the statements that may belong to it.
        is_start_up: whether the IF is in the start-up or in the main loop.
    """
    if not body:
        return None
    branch_column = _indentation(branch)
    is_body_indented = _indentation(body[0].line) > branch_column
    for previous, statement in pairwise(body):
        is_unreachable_inside = _is_jump(previous.line.statement)
        is_outdented = is_body_indented and _indentation(statement.line) <= branch_column
        if is_unreachable_inside or is_outdented:
            return statement.line.number
    if is_start_up and len(body) > 1:
        after_blank = (statement for statement in body[1:] if statement.follows_blank)
        return next(after_blank, body[1]).line.number
    if len(body) > 1 and _is_jump(body[-1].line.statement):
        return body[-1].line.number
    return None


def _is_jump(statement: Statement | None) -> bool:
    """Whether the next line is never reached from a statement; that behind an ELSE on its line counts."""
    if isinstance(statement, ElseIf | Else):
        statement = statement.then
    return isinstance(statement, Goto | Return | End)


def _indentation(line: SourceLine) -> int:
    """Return the column of a line's first character, from 0."""
    text = line.text.expandtabs(TAB_WIDTH)
    return len(text) - len(text.lstrip())
