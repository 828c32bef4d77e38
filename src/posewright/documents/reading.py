"""Reading: bytes to text to a tree of nodes, refused early where no honest document would be so."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from posewright.documents.files import open_ordinary
from posewright.documents.placed import Placed, Places
from posewright.errors import DocumentError, InputError, UnknownNameError, Where

if TYPE_CHECKING:
    from yaml import Mark

TOO_LARGE = "a number too large"
MAX_BITS = 1024
"""Bits of the largest number that anybody may write: that of the largest float."""


@dataclass(frozen=True)
class Node:
    """A value inside a document that knows where it stands.

    Its `value` is `Any`: what a document holds is known once a method below has looked.
    """

    value: Any
    path: Path | None = None
    trail: str = ""
    line: int | None = None

    def __repr__(self) -> str:
        return f"Node({self.trail or 'document'}: {describe(self.value)}, {self.where})"

    @property
    def where(self) -> Where:
        """The file and line of this value."""
        return Where(path=self.path, line=self.line)

    def fail(self, message: str, *, hint: str | None = None) -> NoReturn:
        """Raise a DocumentError that points at this value."""
        subject = f"{self.trail}: " if self.trail else ""
        raise DocumentError(f"{subject}{message}", where=self.where, hint=hint)

    @contextmanager
    def located(self) -> Iterator[None]:
        """Let an error that knows no place, raised while this value is made into something, point at it."""
        try:
            yield
        except InputError as error:
            if error.where is not None:
                raise
            self.fail(error.message, hint=error.hint)

    def _is(self, kind: str, right: bool) -> None:
        if not right:
            self.fail(f"expected {kind}, found {describe(self.value)}")

    def text(self) -> str:
        """Return the value as text, or fail."""
        self._is("text", isinstance(self.value, str))
        return str(self.value)

    def boolean(self) -> bool:
        """Return the value as true or false, or fail."""
        self._is("true or false", isinstance(self.value, bool))
        return bool(self.value)

    def integer(self, *, low: int | None = None, high: int | None = None) -> int:
        """Return the value as an integer within `low`..`high`, or fail."""
        self._is("a whole number", isinstance(self.value, int) and not isinstance(self.value, bool))
        return int(self._within(int(self.value), low, high))

    def number(self, *, low: float | None = None, high: float | None = None) -> float:
        """Return the value as a finite number within `low`..`high`, or fail."""
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        self._is("a number", is_number)
        try:
            number = float(self.value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail(f"expected a finite number, found {describe(self.value)}")
        return self._within(number, low, high)

    def _within(self, number: float, low: float | None, high: float | None) -> float:
        if (low is not None and number < low) or (high is not None and number > high):
            bounds = f"{'' if low is None else f'{low:g}'}..{'' if high is None else f'{high:g}'}"
            shown = describe(number)
            message = shown if shown == TOO_LARGE else f"{shown} is out of range"
            self.fail(message, hint=f"the range is {bounds}")
        return number

    def choice(self, kind: str, known: Collection[str]) -> str:
        """Return the value as one of the `known` names, or fail naming the nearest."""
        name = self.text()
        if name not in known:
            raise UnknownNameError.among(kind, name, known, where=self.where)
        return name

    def items(self) -> list[Node]:
        """Return the elements of a list, or fail."""
        self._is("a list", isinstance(self.value, list))
        return [
            Node(element, self.path, f"{self.trail}[{i}]", self._line_of(i))
            for i, element in enumerate(self.value)
        ]

    def fields(
        self, *, required: Collection[str] = (), optional: Collection[str] | None = None
    ) -> dict[str, Node]:
        """Return the entries of a mapping by key.

        Args:
            required: keys that must be there.
            optional: keys that may be there besides; None allows any key.

        Raises:
            DocumentError: not a mapping, a key is missing, or a key is unknown.
        """
        self._is("a mapping", isinstance(self.value, dict))
        found = dict(self._entries())
        for key in required:
            if key not in found:
                self.fail(f"{key!r} is missing", hint=f"needed here: {', '.join(required)}")
        if optional is not None:
            allowed = {*required, *optional}
            for key, node in found.items():
                if key not in allowed:
                    raise UnknownNameError.among("key here", key, allowed, where=node.where)
        return found

    def _entries(self) -> Iterator[tuple[str, Node]]:
        for key, element in self.value.items():
            if not isinstance(key, str):
                self.fail(f"the key {describe(key)} is not text", hint="put it in quotes")
            trail = f"{self.trail}.{key}" if self.trail else key
            yield key, Node(element, self.path, trail, self._line_of(key))

    def where_of(self, key: str | int) -> Where:
        """Return where the text of the value at `key` begins; without a column where it is a paragraph."""
        place = self._places().get(key)
        return self.where if place is None else Where(self.path, place[1], place[2])

    @property
    def in_brackets(self) -> bool:
        """Whether this is a mapping written as `{...}` or a list as `[...]`."""
        return isinstance(self.value, Placed) and self.value.in_brackets

    def _line_of(self, key: str | int) -> int | None:
        place = self._places().get(key)
        return self.line if place is None else place[0]

    def _places(self) -> Places:
        return self.value.places if isinstance(self.value, Placed) else Placed.places


def describe(value: object) -> str:
    """Return what a value is, as people would say it, in a few words."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return TOO_LARGE  # Python does not even write it out
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


MAX_DOCUMENT_BYTES = 4_000_000
"""No native document written by a person or by us comes near this size."""

_HINTS = (
    (
        "mapping values are not allowed",
        "a text with a colon in it needs quotes; `key: value` a line of its own",
    ),
    ("could not find expected ':'", "write `key: value`"),
    ("expected ',' or '}'", "close the { of a mapping; a text with , : [ ] { } in it needs quotes"),
    ("expected ',' or ']'", "close the [ of a list; a text with , : [ ] { } in it needs quotes"),
    ("that cannot start any token", "a text that begins with such a sign needs quotes"),
    ("did not find expected key", "entries that belong together begin in the same column"),
    ("did not find expected '-'", "entries that belong together begin in the same column"),
    ("expected <document start>", "entries that belong together begin in the same column"),
    ("sequence entries are not allowed", "the - of a list begins a line of its own"),
    ("unexpected end of stream", "a quote is not closed"),
    ("expected node content", "a value is missing; a text of signs only needs quotes"),
    ("comment or line break", "a text after > or | begins on the next line; or put it in quotes"),
)
"""What will be right where libyaml complains."""

_BRACKETS = re.compile(
    r"""(?:^|(?<=[\s\[{,:]))(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*)|[\[\]{}\n]""", re.MULTILINE
)
_COLON = re.compile(r":(?:\s|$)")
_FLOW_START = re.compile(r"(?:^|[:\-?]) *\Z|^ *\Z")


def read_document(path: Path | str) -> Node:
    """Read a native document, or raise DocumentError."""
    path = Path(path)
    return parse_document(read_text(path), path)


def read_text(path: Path) -> str:
    """Return the text of a native document, for whoever keeps it beside what is parsed from it.

    Raises:
        DocumentError: the file cannot be read, is too large, or is not text.
    """
    try:
        with open_ordinary(path) as file:
            raw = file.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as error:
        raise DocumentError(error.strerror or str(error), where=Where(path=path)) from error
    except ValueError as error:  # a NUL in its name
        raise DocumentError("no file can be called so", where=Where(path=path)) from error
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise DocumentError(f"larger than {MAX_DOCUMENT_BYTES} bytes", where=Where(path=path))
    return decode_document(raw, path)


def decode_document(raw: bytes, path: Path | None = None) -> str:
    """Return the text of a native document, or raise DocumentError where it is none."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(
            "not a text file", where=Where(path=path, offset=error.start), hint="right is text in UTF-8"
        ) from error


def parse_document(text: str, path: Path | None = None) -> Node:
    """Parse the text of a native document (`path` is for messages only), or raise DocumentError."""
    import yaml  # not before there is a document to read

    from posewright.documents.parsing import parse_tree

    try:
        tree = parse_tree(text, path)
    except yaml.MarkedYAMLError as error:
        raise _invalid(error, text, path) from error
    except yaml.reader.ReaderError as error:
        line = text.encode()[: error.position].count(b"\n") + 1
        message = f"not valid YAML: special characters are not allowed (character {error.character:#x})"
        raise DocumentError(message, where=Where(path, line)) from error
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise DocumentError("half a character", where=Where(path, line)) from error
    root = Node(tree, path, "", 1)
    if not isinstance(tree, dict):
        root.fail(f"expected a document with named entries, found {describe(tree)}")
    return root


def _invalid(error: Any, text: str, path: Path | None) -> DocumentError:
    """Return the error for what libyaml cannot read, with a hint where we know one.

    `Any`: it is a MarkedYAMLError, of whose marks the stubs say that there may be none.
    """
    if "flow" in (error.context or ""):
        place = open_bracket(text)  # libyaml only says where it gave up
        if place is not None:
            sign = text.splitlines()[place[0] - 1][place[1] - 1 : place[1]]
            message = f"not valid YAML: the {sign} is never closed"
            close = f"close it with {']' if sign == '[' else '}'}"
            return DocumentError(message, where=Where(path, *place), hint=close)
    mark, problem = error.problem_mark or error.context_mark, str(error.problem)
    where = Where(path, mark.line + 1, mark.column + 1)
    escape = re.compile(r"\\\w+").match(text, max(mark.index - 2, 0))
    if "invalid Unicode" in problem and escape is not None:
        message = f"{escape[0]} is half a character, or none"
        return DocumentError(message, where=where, hint="write the character itself")
    bare = _without_colon(error, text)
    if bare is not None:
        return _no_colon(bare, text, path)
    hint = _logic_hint(text, mark) or next((right for sign, right in _HINTS if sign in problem), None)
    if "\t" in text[mark.index : mark.index + 1]:
        hint = "indent with blanks, not with tabs"
    return DocumentError(f"not valid YAML: {problem}", where=where, hint=hint)


def _logic_hint(text: str, mark: Mark) -> str | None:
    """Return how the condition that ends where libyaml gave up, `!near && far`, is written in words."""
    signs = text[max(mark.index - 1, 0) : mark.index + 2]
    if "&&" not in signs and "||" not in signs:
        return None
    line = text.splitlines()[mark.line]
    denied = re.search(r"!\s*\(?\s*(\w+)", line)
    first = f"not {denied[1]}" if denied is not None else "near"
    return f"write `{first} {'and' if '&&' in signs else 'or'} ...`, with the words not, and, or"


def _without_colon(error: Any, text: str) -> int | None:
    """Return the line, from 0, of a key without its colon, which libyaml misses a line later; else None."""
    problem, mark = str(error.problem), error.problem_mark
    if "could not find expected ':'" in problem and error.context_mark is not None:
        return int(error.context_mark.line)
    lines = text.splitlines()
    if "mapping values are not allowed" not in problem or _COLON.search(lines[mark.line][: mark.column]):
        return None
    above = [number for number in range(mark.line) if lines[number].split("#")[0].strip()]
    return above[-1] if above and not _COLON.search(lines[above[-1]]) else None


def _no_colon(number: int, text: str, path: Path | None) -> DocumentError:
    line = text.splitlines()[number]
    entry = line.strip().lstrip("- ")
    words = entry.split()
    right = f"`{words[0]}: {words[1]}`" if len(words) == 2 else f"`{words[0]}:`" if len(words) == 1 else None
    hint = f"write {right}" if right else "write `key: value`; a text of several lines needs quotes"
    where = Where(path, number + 1, line.find(entry) + 1)
    return DocumentError(f"not valid YAML: `{entry[:60]}` has no colon", where=where, hint=hint)


def open_bracket(text: str) -> tuple[int, int] | None:
    """Return the line and column of a bracket that is never closed, None where every one is.

    In a word outside of brackets they mean nothing: only what begins a value counts there.
    """
    stack: list[tuple[str, int, int]] = []
    line, start = 1, 0
    for match in _BRACKETS.finditer(text):
        sign = match[0]
        if sign == "\n":
            line, start = line + 1, match.end()
        elif sign in "[{" and (stack or _FLOW_START.search(text[start : match.start()])):
            stack.append((sign, line, match.start() - start + 1))
        elif sign in "]}" and stack:
            if stack[-1][0] + sign not in ("[]", "{}"):
                return stack[-1][1:]
            stack.pop()
    return stack[0][1:] if stack else None
