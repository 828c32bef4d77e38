"""XML, read as elements that know their lines, and written.

A document of others may do no harm: no document type (so no entities), nothing fetched, and bounds for its
size, the number of its elements and how deep they are nested.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from posewright.documents.files import read_bounded
from posewright.errors import FormatError, Where

INDENT = "  "
_LARGEST_NUMBER = 1e9
_MINUS_SIGNS = ("-", "\u2013", "\u2212")
_BROWSER_HINT = "a '-' before a tag comes from a browser's view of a file: take them out"
_SEPARATOR = " "
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}


@dataclass(frozen=True)
class MarkupRules:
    """What the documents of one format may be, and how their names are read.

    Attributes:
        max_bytes: of a document.
        max_elements: of a document.
        max_levels: how deep elements may be nested.
        lower_case: whether all names are made small, for a format in which they are compared so.
        prefixes: the prefix in names by vocabulary, empty for a document's own; names of other vocabularies
            become `{vocabulary}name`, and attributes of such names are left out. None reads names as they are
            written, prefix included.
    """

    max_bytes: int = 1 << 24
    max_elements: int = 100_000
    max_levels: int = 200
    lower_case: bool = False
    prefixes: Mapping[str, str] | None = None


@dataclass(frozen=True, eq=False)
class Element:
    """An element of a document.

    Attributes:
        name: as `MarkupRules` has names.
        attributes: by name.
        children: the elements right in it, in their order.
        text: what stands in it outside its children, without blanks at its ends.
        line: where it begins, None for one that is to be written.
        path: its file, None where there is none.
    """

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: tuple[Element, ...] = field(default=(), repr=False)
    text: str = field(default="", repr=False)
    line: int | None = None
    path: Path | None = None

    @property
    def where(self) -> Where:
        """Its file and line."""
        return Where(self.path, self.line)

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise a FormatError that says where this element is."""
        raise FormatError(message, where=self.where, hint=hint)

    def all(self, *names: str) -> tuple[Element, ...]:
        """Return the children of these names."""
        return tuple(child for child in self.children if child.name in names)

    def first(self, *names: str) -> Element | None:
        """Return the first child of these names; None where there is none."""
        return next(iter(self.all(*names)), None)

    def last(self, *names: str) -> Element | None:
        """Return the last child of these names, for a format in which what is written later counts."""
        return next(reversed(self.all(*names)), None)

    def walk(self) -> Iterator[Element]:
        """Yield this element and all that are inside it, in the order of the document."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed(element.children)

    def get(self, name: str) -> str | None:
        """Return an attribute, None where it is not there."""
        return self.attributes.get(name)

    def required(self, name: str) -> str:
        """Return an attribute without blanks at its ends; a FormatError where it is missing or empty."""
        value = self.attributes.get(name, "").strip()
        return value or self.fail(f"<{self.name}> without {name!r}", hint=f'write {name}="..."')

    def attribute_numbers(
        self, name: str, count: int, default: tuple[float, ...] | None = None
    ) -> tuple[float, ...]:
        """Return an attribute of `count` finite numbers; a FormatError where it is none."""
        if name not in self.attributes and default is not None:
            return default
        return self._parse_numbers(f"{name} of <{self.name}>", self.required(name), count)

    def attribute_number(self, name: str, default: float | None = None) -> float:
        """Return an attribute that is one finite number; a FormatError where it is none."""
        return self.attribute_numbers(name, 1, None if default is None else (default,))[0]

    def numbers(self, *counts: int) -> tuple[float, ...]:
        """Return the numbers in its text; as many as one of `counts`, where any are given."""
        values = self._parse_numbers(f"<{self.name}>", self.text, *counts)
        if any(abs(value) >= _LARGEST_NUMBER for value in values):
            self.fail(f"<{self.name}> is beyond all measure", f"numbers below {_LARGEST_NUMBER:g}")
        return values

    def number(self, name: str) -> float | None:
        """Return the number in the last child of a name; None where there is no such child."""
        child = self.last(name)
        return None if child is None else child.numbers(1)[0]

    def _parse_numbers(self, subject: str, text: str, *counts: int) -> tuple[float, ...]:
        try:
            values = tuple(float(word) for word in text.split())
        except ValueError:
            self.fail(f"{subject} holds {text!r:.60}", "numbers")
        if not all(map(math.isfinite, values)):
            self.fail(f"{subject} is not finite", "numbers")
        if counts and len(values) not in counts:
            self.fail(f"{subject} has {len(values)} numbers", f"{' or '.join(map(str, counts))} of them")
        return values

    def lines(self, indent: str = "") -> Iterator[str]:
        """Yield the lines of XML that the element takes; its text is not written."""
        attributes = "".join(f' {name}="{_escape(value)}"' for name, value in self.attributes.items())
        if not self.children:
            yield f"{indent}<{self.name}{attributes}/>"
            return
        yield f"{indent}<{self.name}{attributes}>"
        for child in self.children:
            yield from child.lines(indent + INDENT)
        yield f"{indent}</{self.name}>"


def _escape(text: str) -> str:
    """Return text as it may stand in an attribute, without the characters that XML has no place for."""
    allowed = (letter for letter in text if letter >= " " or letter in _ESCAPES)
    return "".join(_ESCAPES.get(letter, letter) for letter in allowed)


def read_markup(path: Path, rules: MarkupRules | None = None) -> Element:
    """Return the root of an XML file.

    Raises:
        FormatError: it cannot be read, is no XML, is too large, or declares a document type.
    """
    rules = rules or MarkupRules()
    return _MarkupReader(path, rules).read(read_bounded(path, rules.max_bytes))


def parse_markup(text: str, path: Path | None = None, rules: MarkupRules | None = None) -> Element:
    """Return the root of an XML document; `path` is only used in messages. Raises as `read_markup`."""
    rules = rules or MarkupRules()
    try:
        raw = text.removeprefix("\ufeff").encode()
    except UnicodeEncodeError as error:
        raise FormatError("not text", where=Where(path), hint="a document is UTF-8") from error
    if len(raw) > rules.max_bytes:
        raise FormatError(f"larger than {rules.max_bytes:,} bytes", where=Where(path))
    return _MarkupReader(path, rules, encoding="utf-8").read(raw)


@dataclass
class _OpenElement:
    """An element whose end has not been read yet."""

    name: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


class _MarkupReader:
    """Builds the elements of one document.

    Args:
        path: for messages.
        rules: of its format.
        encoding: of the bytes, whatever the document says of itself; None where it says it.
    """

    def __init__(self, path: Path | None, rules: MarkupRules, encoding: str | None = None) -> None:
        self._path = path
        self._rules = rules
        self._count = 0
        self._open = [_OpenElement("", {}, 1)]
        separator = None if rules.prefixes is None else _SEPARATOR
        self._parser = expat.ParserCreate(encoding, separator)
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
            dashes = "|".join(_MINUS_SIGNS).encode()
            is_browser_view = re.search(rb"^[ \t]*(" + dashes + rb")[ \t]*<", raw, re.MULTILINE)
            hint = _BROWSER_HINT if is_browser_view else None
            raise FormatError(f"not XML: {expat.ErrorString(error.code)}", where=where, hint=hint) from error
        except (ValueError, LookupError) as error:  # an encoding that nobody knows
            raise FormatError(
                f"not text: {error}", where=Where(self._path, 1), hint="XML in UTF-8"
            ) from error
        return self._open[0].children[0]

    def _fail(self, message: str, hint: str) -> NoReturn:
        raise FormatError(message, where=Where(self._path, self._parser.CurrentLineNumber), hint=hint)

    def _name(self, raw: str) -> str:
        if self._rules.prefixes is not None:
            vocabulary, _, local = raw.rpartition(_SEPARATOR)
            prefix = "" if not vocabulary else self._rules.prefixes.get(vocabulary, f"{{{vocabulary}}}")
            separator = ":" if prefix and not prefix.startswith("{") else ""
            raw = f"{prefix}{separator}{local}"
        return raw.lower() if self._rules.lower_case else raw

    def _start(self, raw_name: str, raw_attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > self._rules.max_elements:
            self._fail("too many elements", f"at most {self._rules.max_elements}")
        if len(self._open) > self._rules.max_levels:
            self._fail("elements nested too deep", f"at most {self._rules.max_levels} levels")
        named = {self._name(raw): value for raw, value in raw_attributes.items()}
        attributes = {name: value for name, value in named.items() if not name.startswith("{")}
        self._open.append(_OpenElement(self._name(raw_name), attributes, self._parser.CurrentLineNumber))

    def _end(self, _name: str) -> None:
        ended = self._open.pop()
        text = "".join(ended.text).strip()
        element = Element(ended.name, ended.attributes, tuple(ended.children), text, ended.line, self._path)
        self._open[-1].children.append(element)

    def _characters(self, text: str) -> None:
        element = self._open[-1]
        is_foreign = element.name.startswith("{")
        if text.strip() in _MINUS_SIGNS and not is_foreign:
            self._fail("a minus sign between the tags", _BROWSER_HINT)
        element.text.append(text)

    def _doctype(self, *_: object) -> None:
        self._fail("a document type is refused", "leave <!DOCTYPE ...> out: entities could do harm")
