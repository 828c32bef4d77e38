"""XML of others, read as elements that know their lines; what a document could do harm with is refused."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from posewright.documents import read_bounded
from posewright.errors import FormatError, Where

MAX_BYTES = 1 << 24
MAX_ELEMENTS = 100_000
MAX_LEVELS = 200


@dataclass
class Element:
    """An element: its name, its attributes, what stands in it, and where it begins."""

    name: str
    attributes: dict[str, str]
    line: int
    path: Path
    children: list[Element] = field(default_factory=list, repr=False)

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise a FormatError that says where this element is."""
        raise FormatError(message, where=Where(self.path, self.line), hint=hint)

    def all(self, name: str) -> list[Element]:
        """Return the elements of that name that stand right in this one."""
        return [child for child in self.children if child.name == name]

    def one(self, name: str) -> Element | None:
        """Return the first element of that name that stands right in this one; None where there is none."""
        return next(iter(self.all(name)), None)

    def walk(self) -> Iterator[Element]:
        """Yield this element and all that stand in it, however deep."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed(element.children)

    def text(self, key: str) -> str:
        """Return an attribute; a FormatError where it is missing or empty."""
        value = self.attributes.get(key, "")
        return value or self.fail(f"<{self.name}> has no {key}")

    def numbers(self, key: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """Return an attribute of so many finite numbers; a FormatError where it is none."""
        if key not in self.attributes and default is not None:
            return default
        words = self.text(key).split()
        try:
            values = tuple(float(word) for word in words)
        except ValueError:
            self.fail(f"{key} of <{self.name}> is {self.text(key)!r:.60}", f"{count} numbers")
        if len(values) != count or not all(map(math.isfinite, values)):
            self.fail(f"{key} of <{self.name}> is {self.text(key)!r:.60}", f"{count} numbers")
        return values

    def number(self, key: str, default: float | None = None) -> float:
        """Return an attribute that is one finite number; a FormatError where it is none."""
        return self.numbers(key, 1, None if default is None else (default,))[0]


def read_markup(path: Path) -> Element:
    """Return the root of an XML file.

    Raises:
        FormatError: it cannot be read, is no XML, is too large, or declares a document type.
    """
    return _Reader(path).read(read_bounded(path, MAX_BYTES))


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path, self._count = path, 0
        self._open = [Element("", {}, 1, path)]
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._doctype

    def read(self, raw: bytes) -> Element:
        """Return the root."""
        try:
            self._parser.Parse(raw, True)
        except expat.ExpatError as error:
            where = Where(self._path, error.lineno, error.offset + 1)
            raise FormatError(f"not XML: {expat.ErrorString(error.code)}", where=where) from error
        except (ValueError, LookupError) as error:  # an encoding that expat does not read, or nobody knows
            raise FormatError(
                f"not text: {error}", where=Where(self._path, 1), hint="XML in UTF-8"
            ) from error
        return self._open[0].children[0]

    def _fail(self, message: str, hint: str) -> NoReturn:
        raise FormatError(message, where=Where(self._path, self._parser.CurrentLineNumber), hint=hint)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > MAX_ELEMENTS:
            self._fail("too many elements", f"at most {MAX_ELEMENTS}")
        if len(self._open) > MAX_LEVELS:
            self._fail("elements nested too deep", f"at most {MAX_LEVELS} levels")
        element = Element(name, attributes, self._parser.CurrentLineNumber, self._path)
        self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, _name: str) -> None:
        self._open.pop()

    def _doctype(self, *_: object) -> None:
        self._fail("a document type is refused", "leave <!DOCTYPE ...> out: entities could do harm")
