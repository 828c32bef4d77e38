"""OpenRAVE's XML read safely: no document types, no entities, and each element knows its file and line."""

from __future__ import annotations

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

MAX_BYTES = 4_000_000
MAX_ELEMENTS = 100_000
MAX_LEVELS = 60
_MINUS = ("-", "+", "\u2013", "\u2212")
_BROWSERS_MINUS = "a '-' before a tag comes from a browser's view of a file: take them out"


@dataclass(frozen=True, slots=True)
class Tag:
    """An element: its name and those of its attributes are in small letters, as OpenRAVE compares them."""

    name: str
    path: Path
    line: int
    attributes: dict[str, str]
    children: list[Tag] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What stands in it outside its children."""
        return "".join(self.words).strip()

    @property
    def where(self) -> Where:
        """Its file and line."""
        return Where(self.path, self.line)

    def all(self, *names: str) -> Iterator[Tag]:
        """Yield the children of these names."""
        return (child for child in self.children if child.name in names)

    def first(self, *names: str) -> Tag | None:
        """Return the last child of these names: what is said later counts."""
        found = list(self.all(*names))
        return found[-1] if found else None

    def numbers(self, *counts: int) -> Floats:
        """Return the numbers in it; as many as one of `counts`, where any are given."""
        words = self.text.split()
        try:
            values = np.array([float(word) for word in words], dtype=np.float64)
        except ValueError:
            self.fail(f"<{self.name}> holds {self.text[:60]!r}", "numbers")
        if not (np.isfinite(values).all() and (np.abs(values) < 1e9).all()):
            self.fail(f"<{self.name}> is not finite, or beyond all measure")
        if counts and len(values) not in counts:
            self.fail(f"<{self.name}> has {len(values)} numbers", f"{' or '.join(map(str, counts))} of them")
        return values

    def number(self, name: str) -> float | None:
        """Return the number in a child; None where there is no such child."""
        child = self.first(name)
        return None if child is None else float(child.numbers(1)[0])

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise a FormatError that points here."""
        raise FormatError(message, where=self.where, hint=hint)


def read_tags(path: Path) -> Tag:
    """Return the root of an XML file.

    Raises:
        FormatError: it is no XML, has a document type, or is too large or too deep.
    """
    reader, data = _Reader(path), read_bounded(path, MAX_BYTES)
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        where = Where(path, error.lineno, error.offset + 1)
        dashes = "|".join(map(re.escape, _MINUS)).encode()
        hint = (
            _BROWSERS_MINUS if re.search(rb"^[ \t]*(" + dashes + rb")[ \t]*<", data, re.MULTILINE) else None
        )
        raise FormatError(f"not XML: {expat.ErrorString(error.code)}", where=where, hint=hint) from error
    except (ValueError, LookupError) as error:  # an encoding that nobody knows
        raise FormatError(f"not text: {error}", where=Where(path, 1), hint="XML in UTF-8") from error
    return reader.open[0].children[0]


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path, self.count = path, 0
        self.open = [Tag("", path, 1, {})]
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype

    def fail(self, message: str, hint: str) -> NoReturn:
        raise FormatError(message, where=Where(self.path, self.parser.CurrentLineNumber), hint=hint)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MAX_ELEMENTS:
            self.fail("too many elements", f"at most {MAX_ELEMENTS}")
        if len(self.open) > MAX_LEVELS:
            self.fail("elements nested too deep", f"at most {MAX_LEVELS} levels")
        told = {key.lower(): value for key, value in attributes.items()}
        tag = Tag(name.lower(), self.path, self.parser.CurrentLineNumber, told)
        self.open[-1].children.append(tag)
        self.open.append(tag)

    def end(self, _name: str) -> None:
        self.open.pop()

    def characters(self, text: str) -> None:
        if text.strip() in _MINUS:
            self.fail("a minus sign between the tags", _BROWSERS_MINUS)
        self.open[-1].words.append(text)

    def doctype(self, *_: object) -> None:
        self.fail("a document type is refused", "leave <!DOCTYPE ...> out: entities are not read")
