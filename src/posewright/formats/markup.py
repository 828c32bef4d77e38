"""XML of others, read as elements that know their lines; what a document could do harm with is refused."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

import numpy as np

from posewright.arrays import Floats
from posewright.documents import read_bounded
from posewright.errors import FormatError, Where

MAX_BYTES = 1 << 24
MAX_ELEMENTS = 100_000
MAX_LEVELS = 200
_MOST = 1e9
_MINUS = ("-", "\u2013", "\u2212")
_BROWSERS_MINUS = "a '-' before a tag comes from a browser's view of a file: take them out"


@dataclass
class Element:
    """An element: its name, its attributes, what stands in it, and where it begins."""

    name: str
    attributes: dict[str, str]
    line: int
    path: Path
    children: list[Element] = field(default_factory=list, repr=False)
    words: list[str] = field(default_factory=list, repr=False)

    @property
    def where(self) -> Where:
        """Its file and line."""
        return Where(self.path, self.line)

    @property
    def text(self) -> str:
        """What stands in it outside its children."""
        return "".join(self.words).strip()

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise a FormatError that says where this element is."""
        raise FormatError(message, where=self.where, hint=hint)

    def all(self, *names: str) -> list[Element]:
        """Return the elements of these names that stand right in this one."""
        return [child for child in self.children if child.name in names]

    def first(self, *names: str) -> Element | None:
        """Return the first element of these names that stands right in this one; None where none does."""
        return next(iter(self.all(*names)), None)

    def last(self, *names: str) -> Element | None:
        """Return the last one: where what is said later counts."""
        return next(reversed(self.all(*names)), None)

    def walk(self) -> Iterator[Element]:
        """Yield this element and all that stand in it, however deep."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed(element.children)

    def attribute(self, key: str) -> str:
        """Return an attribute; a FormatError where it is missing or empty."""
        value = self.attributes.get(key, "")
        return value or self.fail(f"<{self.name}> has no {key}")

    def attribute_numbers(
        self, key: str, count: int, default: tuple[float, ...] | None = None
    ) -> tuple[float, ...]:
        """Return an attribute of so many finite numbers; a FormatError where it is none."""
        if key not in self.attributes and default is not None:
            return default
        return tuple(self._numbers(f"{key} of <{self.name}>", self.attribute(key), count))

    def attribute_number(self, key: str, default: float | None = None) -> float:
        """Return an attribute that is one finite number; a FormatError where it is none."""
        return self.attribute_numbers(key, 1, None if default is None else (default,))[0]

    def numbers(self, *counts: int) -> Floats:
        """Return the numbers that stand in it; as many as one of `counts`, where any are given."""
        values = np.array(self._numbers(f"<{self.name}>", self.text, *counts), dtype=np.float64)
        if (np.abs(values) >= _MOST).any():
            self.fail(f"<{self.name}> is beyond all measure", f"numbers below {_MOST:g}")
        return values

    def number(self, name: str) -> float | None:
        """Return the number that stands in the last child of a name; None where there is no such child."""
        child = self.last(name)
        return None if child is None else float(child.numbers(1)[0])

    def _numbers(self, what: str, text: str, *counts: int) -> list[float]:
        try:
            values = [float(word) for word in text.split()]
        except ValueError:
            self.fail(f"{what} holds {text!r:.60}", "numbers")
        if not all(map(math.isfinite, values)):
            self.fail(f"{what} is not finite", "numbers")
        if counts and len(values) not in counts:
            self.fail(f"{what} has {len(values)} numbers", f"{' or '.join(map(str, counts))} of them")
        return values


def read_markup(path: Path, *, small_letters: bool = False) -> Element:
    """Return the root of an XML file.

    Args:
        path: the file.
        small_letters: make all names small, for a format in which they are compared so.

    Raises:
        FormatError: it cannot be read, is no XML, is too large, or declares a document type.
    """
    return _Reader(path, small_letters=small_letters).read(read_bounded(path, MAX_BYTES))


class _Reader:
    def __init__(self, path: Path, *, small_letters: bool) -> None:
        self._path, self._count = path, 0
        self._named = str.lower if small_letters else str
        self._open = [Element("", {}, 1, path)]
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype

    def read(self, raw: bytes) -> Element:
        """Return the root."""
        try:
            self._parser.Parse(raw, True)
        except expat.ExpatError as error:
            where = Where(self._path, error.lineno, error.offset + 1)
            dashes = "|".join(_MINUS).encode()
            is_view = re.search(rb"^[ \t]*(" + dashes + rb")[ \t]*<", raw, re.MULTILINE)
            hint = _BROWSERS_MINUS if is_view else None
            raise FormatError(f"not XML: {expat.ErrorString(error.code)}", where=where, hint=hint) from error
        except (ValueError, LookupError) as error:  # an encoding that nobody knows
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
        told = {self._named(key): value for key, value in attributes.items()}
        element = Element(self._named(name), told, self._parser.CurrentLineNumber, self._path)
        self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, _name: str) -> None:
        self._open.pop()

    def _characters(self, text: str) -> None:
        if text.strip() in _MINUS:
            self._fail("a minus sign between the tags", _BROWSERS_MINUS)
        self._open[-1].words.append(text)

    def _doctype(self, *_: object) -> None:
        self._fail("a document type is refused", "leave <!DOCTYPE ...> out: entities could do harm")
