"""A node: a cursor into a document that knows where it stands."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from posewright.errors import DocumentError, InputError, UnknownNameError, Where

TOO_LARGE = "a number too large"
_NOWHERE: Mapping[Any, tuple[Any, ...]] = {}
MAX_BITS = 1024
"""Bits of the largest number that anybody may write: that of the largest float."""


@dataclass(frozen=True)
class Node:
    """A value inside a document that knows where it stands."""

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
        places, line = self._places(), (self.line,)
        return [
            Node(element, self.path, f"{self.trail}[{i}]", places.get(i, line)[0])
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
        places, line = self._places(), (self.line,)
        for key, element in self.value.items():
            if not isinstance(key, str):
                self.fail(f"the key {describe(key)} is not text", hint="put it in quotes")
            trail = f"{self.trail}.{key}" if self.trail else key
            yield key, Node(element, self.path, trail, places.get(key, line)[0])

    def where_of(self, key: str | int) -> Where:
        """Return where the text of the value at `key` begins; without a column where it is a paragraph."""
        place = self._places().get(key)
        return self.where if place is None else Where(self.path, place[1], place[2])

    @property
    def in_brackets(self) -> bool:
        """Whether this is a mapping written as `{...}` or a list as `[...]`."""
        return bool(getattr(self.value, "in_brackets", False))

    def _places(self) -> Mapping[Any, tuple[Any, ...]]:
        """Return the line of each entry, and line and column of its value, where the value knows them."""
        return getattr(self.value, "places", _NOWHERE)


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
