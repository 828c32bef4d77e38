"""Reads the source of a RoboBASIC program line by line; a line with a syntax error keeps the error's text."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from posewright.errors import FormatError, Where
from posewright.runtimes.robobasic.tree import FLOW_WORDS, BasicSource, SourceLine, Statement

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput

MAX_BYTES = 1_000_000
MAX_LINE_LENGTH = 4_000
"""The longest lines of templates have some 250 characters."""

MAX_NESTING = 30
"""Largest number of opening brackets, and of THENs and ELSEs, in a line, since each may nest in the last."""


def decode_source(data: bytes) -> tuple[str, str]:
    """Return the text of a program and its encoding: UTF-8, or CP949, which Korean programs use.

    Bytes that fit neither, for example a comment in another alphabet, are decoded as Latin-1.
    """
    for encoding in ("utf-8-sig", "cp949"):
        try:
            return data.decode(encoding), encoding.removesuffix("-sig")
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1"), "latin-1"


def read_source(data: bytes | str, name: str = "program.bas", path: Path | None = None) -> BasicSource:
    """Read a program; a line with a syntax error has a `problem` and does not affect the others.

    Raises:
        FormatError: the program is larger than `MAX_BYTES`, or is not text.
    """
    where = Where(path or Path(name))
    if len(data) > MAX_BYTES:
        hint = f"expected at most {MAX_BYTES:,}; the board's memory has 64 KB"
        raise FormatError(f"the program has {len(data):,} bytes", where=where, hint=hint)
    text, encoding = (data, "utf-8") if isinstance(data, str) else decode_source(data)
    if "\0" in text:
        raise FormatError("not a text file: it contains a zero byte", where=where)
    newline = next((ending for ending in ("\r\n", "\n", "\r") if ending in text), "\n")
    rows = re.split(r"\r\n|\n|\r", text)
    if rows and not rows[-1].strip("\x1a"):  # DOS ends a text with this character
        rows.pop()
    lines = tuple(_read_line(number, row) for number, row in enumerate(rows, 1))
    return BasicSource(name, lines, encoding, newline, path)


_CODE_AND_COMMENT = re.compile(r"""((?:[^"']|"[^"]*(?:"|$))*)(.*)""", re.DOTALL)
_REM = re.compile(r"(?i)^(\s*(?:\w+[ \t]*:\s*)?)(REM(?:\s.*)?)$", re.DOTALL)


def _read_line(number: int, text: str) -> SourceLine:
    """Return a line of the source: code and comment apart, and the code parsed."""
    match = _REM.match(text) or _CODE_AND_COMMENT.match(text)
    code, comment = (match[1], match[2]) if match else (text, "")
    parsed = parse_line(code)
    return SourceLine(
        number,
        text,
        code,
        comment,
        label=parsed.label,
        statement=parsed.statement,
        problem=parsed.problem,
        hint=parsed.hint,
        column=parsed.column,
    )


_NESTING = re.compile(r"(?i)THEN|ELSE")


class ParsedLine(NamedTuple):
    """The content of a line, or what is wrong with it, or both; see `SourceLine` for the fields."""

    label: str = ""
    statement: Statement | None = None
    problem: str = ""
    hint: str = ""
    column: int = 1


@lru_cache(maxsize=4096)
def parse_line(code: str) -> ParsedLine:
    """Return the label and statement of a line without its comment; after a syntax error, its description."""
    from lark.exceptions import UnexpectedInput

    from posewright.runtimes.robobasic.parser import parse  # imports Lark only when a program is read

    if not code.strip():
        return ParsedLine()
    if len(code) > MAX_LINE_LENGTH:
        problem = f"the line has {len(code):,} characters"
        return ParsedLine(problem=problem, hint=f"expected at most {MAX_LINE_LENGTH:,}")
    if code.count("(") > MAX_NESTING or len(_NESTING.findall(code)) > MAX_NESTING:
        problem = "brackets or statements are nested too deeply"
        return ParsedLine(problem=problem, hint="give each its own line")
    try:
        label, statement = parse(code)
    except UnexpectedInput as error:
        return _parse_with_commas(code) or _describe_syntax_error(code, error)
    except FormatError as error:
        return ParsedLine(_find_label(code), problem=error.message, hint=error.hint or "")
    return ParsedLine(label, statement)


def _describe_syntax_error(code: str, error: UnexpectedInput) -> ParsedLine:
    """Return a line with the description of the error that the parser found in it."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    token = error.token if isinstance(error, UnexpectedToken) else None
    ends_too_early = token is not None and token.type == "$END"
    column = len(code.rstrip()) + 1 if ends_too_early else max(error.column, 1)
    unexpected = str(token or "")
    if isinstance(error, UnexpectedCharacters) and column <= len(code):
        unexpected = code[column - 1]
    problem = f"{unexpected!r} is not expected here" if unexpected else "the statement is not complete"
    hint = _syntax_hint(code, unexpected, column)
    return ParsedLine(_find_label(code), problem=problem, hint=hint, column=column)


_FIELD_STATEMENT = re.compile(
    r"(?i)(?<!\w)(?:MOVE\d*|POS|DIR|GETMOTORSET|GYROSET|GYRODIR|GYROSENSE|ZERO|OFFSET|INIT|MOTORMODE)(?!\w)"
)
"""The keyword of a statement with a field for each servo."""

_MISSING_COMMA = re.compile(r"(?i)(?<![\w&])(?:\d+|G\d+[A-E]?)(?P<blank>[ \t]+)(?=\d)")


def _parse_with_commas(code: str) -> ParsedLine | None:
    """Return a line in which commas between the fields of servos are missing; None for any other line.

    `MOVE G6D,107  85, 137` is in a template of the maker that many public programs copy, so the original
    compiler accepts it.
    """
    from lark.exceptions import UnexpectedInput

    from posewright.runtimes.robobasic.parser import parse

    keyword = _FIELD_STATEMENT.search(code)
    gaps = [] if keyword is None else list(_MISSING_COMMA.finditer(code, keyword.end()))
    if not gaps:
        return None
    completed = code
    for gap in reversed(gaps):
        completed = f"{completed[: gap.start('blank')]},{completed[gap.start('blank') :]}"
    try:
        label, statement = parse(completed)
    except (UnexpectedInput, FormatError):
        return None
    column = gaps[0].end() + 1
    problem = "a comma is missing here" if len(gaps) == 1 else f"{len(gaps)} commas are missing from here on"
    hint = "the line is read as if it were there, as the maker's compiler does"
    return ParsedLine(label, statement, problem, hint, column)


def _find_label(code: str) -> str:
    """Return the label of a line that cannot be parsed, so that jumps to it are no errors."""
    match = re.match(r"\s*(\w+)\s*:", code)
    return match[1] if match else ""


_RULER = re.compile(r"[-,.=*~#+/\s]+")


def is_stray(code: str) -> bool:
    """Whether a line is treated as a comment although it is none: it begins with a comma, or is a ruler.

    Public templates have both.
    """
    return code.lstrip().startswith(",") or _RULER.fullmatch(code) is not None


_HINTS_BY_CHARACTER = {
    "(": "expressions have no brackets; use one line per step",
    "-": "there are no negative numbers",
    '"': 'a text ends with " on its line',
    ".": "there are no fractions; A.3 is a bit of a variable",
    "&": "&H1F, &B101 or &O17",
    ":": "write one statement per line",
}


def _syntax_hint(code: str, unexpected: str, column: int) -> str:
    """Return what would be accepted instead of an unexpected token; empty if there is no hint.

    Args:
        code: the line without its comment.
        unexpected: the text of the token; empty at the end of the line.
        column: the column of the token, from 1.
    """
    before = code[: column - 1]
    if is_stray(code):
        return "a comment begins with '; this line is treated as one"
    if re.match(r"\s*\d+\s+\w", code):
        return "a label ends with a colon: 10:"
    if unexpected == "=" and re.search(r"=\s*$", before):
        return "compare with a single ="
    if re.fullmatch(r"\d+", unexpected) and re.search(r"\w\s+$", before):
        return "is a comma missing before it?"
    if unexpected in _HINTS_BY_CHARACTER:
        return _HINTS_BY_CHARACTER[unexpected]
    has_label = re.match(r"\s*\w+\s*:", code)
    statement = code.partition(":")[2] if has_label else code
    keyword = re.search(r"[^\W\d]\w*", statement)
    return FLOW_WORDS.get(keyword[0].upper(), "") if keyword else ""
