"""The values of a document as `Node`s, which know their file, line and path in the document."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from posewright.documents.kinds import document_kind_with, find_document_kind
from posewright.documents.positions import Positioned, Positions
from posewright.errors import DocumentError, InputError, UnknownNameError, Where

TOO_LARGE = "a number too large"
MAX_DESCRIPTION_LENGTH = 60
"""Longest description of a value in messages, in characters."""

MAX_BITS = 1024
"""Bits of the largest number in a document: those of the largest float."""


@dataclass(frozen=True)
class Node:
    """A value of a document with its position.

    Attributes:
        value: the value; `Any`, because its type is known only after one of the methods below has checked it.
        path: the file, None if there is none.
        trail: the path in the document, `states.walking[0].when`; empty at the root.
        line: the line of the value.
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
        """Raise a DocumentError at this value."""
        subject = f"{self.trail}: " if self.trail else ""
        raise DocumentError(f"{subject}{message}", where=self.where, hint=hint)

    @contextmanager
    def locate_errors(self) -> Iterator[None]:
        """Give every InputError without a place that the body raises the place of this value."""
        try:
            yield
        except InputError as error:
            if error.where is not None:
                raise
            self.fail(error.message, hint=error.hint)

    def _require(self, condition: bool, expected: str) -> None:
        if not condition:
            self.fail(f"expected {expected}, found {describe(self.value)}")

    def text(self) -> str:
        """Return the value as text; raise DocumentError if it is not text."""
        self._require(isinstance(self.value, str), "text")
        return str(self.value)

    def boolean(self) -> bool:
        """Return the value as a boolean; raise DocumentError if it is not true or false."""
        self._require(isinstance(self.value, bool), "true or false")
        return bool(self.value)

    def integer(self, *, low: int | None = None, high: int | None = None) -> int:
        """Return the value as an integer in `low`..`high`; raise DocumentError if it is anything else."""
        is_integer = isinstance(self.value, int) and not isinstance(self.value, bool)
        self._require(is_integer, "a whole number")
        return int(self._require_range(int(self.value), low, high))

    def number(self, *, low: float | None = None, high: float | None = None) -> float:
        """Return the value as a finite number in `low`..`high`; else raise DocumentError."""
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        self._require(is_number, "a number")
        try:
            number = float(self.value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail(f"expected a finite number, found {describe(self.value)}")
        return self._require_range(number, low, high)

    def _require_range(self, number: float, low: float | None, high: float | None) -> float:
        """Return a number if it is in a range, otherwise raise a DocumentError."""
        is_too_low = low is not None and number < low
        is_too_high = high is not None and number > high
        if is_too_low or is_too_high:
            low_text = "" if low is None else f"{low:g}"
            high_text = "" if high is None else f"{high:g}"
            number_text = describe(number)
            message = number_text if number_text == TOO_LARGE else f"{number_text} is out of range"
            self.fail(message, hint=f"the range is {low_text}..{high_text}")
        return number

    def choice(self, kind: str, choices: Collection[str]) -> str:
        """Return the value as one of the choices.

        Args:
            kind: the kind of the choices, a noun for the message.
            choices: the texts that are accepted.

        Raises:
            DocumentError: the value is no text.
            UnknownNameError: it is none of the choices.
        """
        name = self.text()
        if name not in choices:
            raise UnknownNameError.among(kind, name, choices, where=self.where)
        return name

    def items(self) -> list[Node]:
        """Return the elements of a list; raise DocumentError if the value is not a list."""
        self._require(isinstance(self.value, list), "a list")
        return [
            Node(element, self.path, trail=f"{self.trail}[{i}]", line=self._line_of(i))
            for i, element in enumerate(self.value)
        ]

    def fields(
        self, *, required: Collection[str] = (), optional: Collection[str] | None = None
    ) -> dict[str, Node]:
        """Return the entries of a mapping by key.

        Args:
            required: keys that must be present.
            optional: further keys that are accepted; None accepts any key.

        Raises:
            DocumentError: the value is not a mapping, or a key is missing or no text.
            UnknownNameError: a key is not accepted.
        """
        self._require(isinstance(self.value, dict), "a mapping")
        entries: dict[str, Node] = {}
        for key, element in self.value.items():
            if not isinstance(key, str):
                self.fail(f"the key {describe(key)} is not text", hint="put it in quotes")
            trail = f"{self.trail}.{key}" if self.trail else key
            entries[key] = Node(element, self.path, trail, line=self._line_of(key))
        if not self.trail and not entries.keys() >= {*required}:
            self._require_document_kind(required, entries)
        for key in required:
            if key not in entries:
                self.fail(f"{key!r} is missing", hint=f"required: {', '.join(required)}")
        if optional is not None:
            accepted = {*required, *optional}
            for key, node in entries.items():
                if key not in accepted:
                    raise UnknownNameError.among("key", key, accepted, where=node.where)
        return entries

    def _require_document_kind(self, required: Collection[str], keys: Collection[str]) -> None:
        """Raise a DocumentError for a document of another kind than the one whose key is required."""
        expected = next(filter(None, map(document_kind_with, required)), None)
        kind = find_document_kind(keys)
        if kind is not None and expected is not None and kind is not expected:
            self.fail(f"this is {kind.title}, not {expected.title}", hint=kind.usage)

    def where_of(self, key: str | int) -> Where:
        """Return where the text of the value at `key` begins; a block text (`>`, `|`) has no column."""
        position = self._positions().get(key)
        if position is None:
            return self.where
        _, value_line, value_column = position
        return Where(self.path, value_line, value_column)

    @property
    def in_brackets(self) -> bool:
        """Whether this is a mapping written as `{...}` or a list written as `[...]`."""
        return isinstance(self.value, Positioned) and self.value.in_brackets

    def _line_of(self, key: str | int) -> int | None:
        """Return the line of an entry, by its key or index; the line of this value if that is not known."""
        position = self._positions().get(key)
        if position is None:
            return self.line
        line, _, _ = position
        return line

    def _positions(self) -> Positions:
        return self.value.positions if isinstance(self.value, Positioned) else Positioned.positions


def describe(value: object) -> str:
    """Return a short description of a value for messages."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return TOO_LARGE  # Python refuses to format very long integers
    text = repr(value)
    if len(text) <= MAX_DESCRIPTION_LENGTH:
        return text
    ellipsis = "..."
    return text[: MAX_DESCRIPTION_LENGTH - len(ellipsis)] + ellipsis
