"""A RoboBASIC program is read, line by line, into its parts; what cannot be read is told with its line."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from posewright.errors import FormatError, Where
from posewright.runtimes.robobasic.tree import FLOW_WORDS, Line, Source, Statement

MOST_BYTES = 1_000_000
MOST_LINE = 4_000
"""The longest lines of templates have some 250 signs."""

MOST_NESTED = 30
"""So many brackets, and so many THENs and ELSEs, a line has at most: they may stand in one another."""


def decode_source(data: bytes) -> tuple[str, str]:
    """Return the text of a program and its encoding: UTF-8, or else CP949, in which Korean ones are written.

    Bytes that are neither, in a comment of another alphabet say, are kept as what Latin-1 has for them.
    """
    for encoding in ("utf-8-sig", "cp949"):
        try:
            return data.decode(encoding), encoding.removesuffix("-sig")
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1"), "latin-1"


def read_source(data: bytes | str, name: str = "program.bas", path: Path | None = None) -> Source:
    """Read a program; a line that cannot be read has a `problem`, and the others are read all the same.

    Raises:
        FormatError: it is too long to be a program, or is no text.
    """
    if len(data) > MOST_BYTES:
        hint = f"at most {MOST_BYTES:,}; the board's memory has 64 KB"
        raise FormatError(f"a program of {len(data):,} bytes", where=Where(path or Path(name)), hint=hint)
    text, encoding = (data, "utf-8") if isinstance(data, str) else decode_source(data)
    if "\0" in text:
        raise FormatError("not a text file: it holds a zero byte", where=Where(path or Path(name)))
    newline = next((end for end in ("\r\n", "\n", "\r") if end in text), "\n")
    rows = re.split(r"\r\n|\n|\r", text)
    if rows and not rows[-1].strip("\x1a"):  # what DOS put at the end of a text
        rows.pop()
    lines = tuple(_line(number, row) for number, row in enumerate(rows, 1))
    return Source(name, lines, encoding, newline, path)


_NESTING = re.compile(r"(?i)THEN|ELSE")
_CODE = re.compile(r"""((?:[^"']|"[^"]*(?:"|$))*)(.*)""", re.DOTALL)
_REM = re.compile(r"(?i)^(\s*(?:\w+[ \t]*:\s*)?)(REM(?:\s.*)?)$", re.DOTALL)


def _line(number: int, text: str) -> Line:
    if found := _REM.match(text):
        code, comment = found[1], found[2]
    else:
        split = _CODE.match(text)
        code, comment = (split[1], split[2]) if split else (text, "")
    label, statement, problem, hint, column = read_line(code)
    return Line(number, text, code, comment, label, statement, problem, hint, column)


Read = tuple[str, Statement | None, str, str, int]


@lru_cache(maxsize=4096)
def read_line(code: str) -> Read:
    """Return label and statement of a line without its comment, or what is wrong, a hint, and the column."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

    from posewright.runtimes.robobasic.statements import parse  # Lark is read once a program is

    if not code.strip():
        return "", None, "", "", 1
    if len(code) > MOST_LINE:
        return "", None, f"a line of {len(code):,} signs", f"at most {MOST_LINE:,}", 1
    if code.count("(") > MOST_NESTED or len(_NESTING.findall(code)) > MOST_NESTED:
        return "", None, "brackets or statements nested too deeply", "give each its own line", 1
    try:
        label, statement = parse(code)
    except UnexpectedInput as error:
        token = error.token if isinstance(error, UnexpectedToken) else None
        ends = token is not None and token.type == "$END"
        at = len(code.rstrip()) + 1 if ends else max(error.column, 1)
        sign = isinstance(error, UnexpectedCharacters)
        word = code[at - 1] if sign and at <= len(code) else str(token or "")
        return _label(code), None, *_told(code, word, at)
    except FormatError as error:
        return _label(code), None, error.message, error.hint or "", 1
    return label, statement, "", "", 1


def _label(code: str) -> str:
    """Return the label of a line that cannot be read: whoever goes there has made no mistake."""
    found = re.match(r"\s*(\w+)\s*:", code)
    return found[1] if found else ""


_RULER = re.compile(r"[-,.=*~#+/\s]+")


def is_stray(code: str) -> bool:
    """Tell whether a line is taken for a comment: a comma for its sign, or a ruler; templates have both."""
    return code.lstrip().startswith(",") or _RULER.fullmatch(code) is not None


def _told(code: str, word: str, at: int) -> tuple[str, str, int]:
    """Return what is wrong at a sign of a line, what would be right, and where."""
    rest = code.partition(":")[2] if re.match(r"\s*\w+\s*:", code) else code
    first = (re.findall(r"[^\W\d]\w*", rest) or [""])[0].upper()
    hint = FLOW_WORDS.get(first, "")
    if is_stray(code):
        hint = "a comment begins with '; this line is treated as one"
    elif re.match(r"\s*\d+\s+\w", code):
        hint = "a label ends with a colon: 10:"
    elif word == "=" and re.search(r"=\s*$", code[: at - 1]):
        hint = "compare with a single ="
    elif re.fullmatch(r"\d+", word) and re.search(r"\w\s+$", code[: at - 1]):
        hint = "is a comma missing before it?"
    elif word == "(":
        hint = "expressions have no brackets; use one line per step"
    elif word == "-":
        hint = "there are no negative numbers"
    elif word == '"':
        hint = 'a text ends with " on its line'
    elif word == ".":
        hint = "there are no fractions; A.3 is a bit of a variable"
    elif word == "&":
        hint = "&H1F, &B101 or &O17"
    elif word == ":":
        hint = "write one statement per line"
    what = f"{word!r} is not expected here" if word else "the statement is not complete"
    return what, hint, at
