"""XML read safely: no document type, no entities, nothing fetched; every element knows its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from posewright.charts.formats.scxml.namespaces import OWN, PREFIX, SCXML
from posewright.errors import FormatError, Where

MAX_BYTES = 1_000_000
MAX_ELEMENTS = 20_000
MAX_LEVELS = 100
"""Bounds of a document: a chart of hundreds of states stays far below them."""

_SEPARATOR = " "


@dataclass(frozen=True)
class Element:
    """An element of a document.

    Attributes:
        name: without a prefix where it is SCXML's, `pw:...` where it is ours, else `{vocabulary}name`.
        attributes: by name, named likewise; those of other vocabularies are left out.
        text: what stands in it outside its children.
    """

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: tuple[Element, ...] = ()
    text: str = ""
    line: int | None = None
    path: Path | None = None

    @property
    def where(self) -> Where:
        """Where it begins."""
        return Where(self.path, self.line)

    def get(self, name: str) -> str | None:
        """Return an attribute, None where it is not there."""
        return self.attributes.get(name)

    def all(self, *names: str) -> tuple[Element, ...]:
        """Return the children of these names."""
        return tuple(child for child in self.children if child.name in names)

    def walk(self) -> Iterator[Element]:
        """Yield the element and all that is inside it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def fail(self, message: str, *, hint: str | None = None) -> NoReturn:
        """Raise a FormatError that points at the element."""
        raise FormatError(message, where=self.where, hint=hint)


def parse_markup(text: str, path: Path | None = None) -> Element:
    """Return the root of an XML document; `path` is only used in messages.

    Raises:
        FormatError: it is not well formed, is too large or too deep, or declares a document type.
    """
    if len(text) > MAX_BYTES:
        raise FormatError(f"larger than {MAX_BYTES} bytes", where=Where(path), hint="no honest chart is")
    builder = _Builder(path)
    try:
        builder.parser.Parse(text.removeprefix("\ufeff"), True)
    except expat.ExpatError as error:
        where = Where(path, error.lineno, error.offset + 1)
        raise FormatError(f"not XML: {expat.ErrorString(error.code)}", where=where) from error
    except UnicodeEncodeError as error:
        raise FormatError("not text", where=Where(path), hint="a document is UTF-8") from error
    return builder.root()


@dataclass
class _Open:
    """An element whose end was not seen yet."""

    name: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


class _Builder:
    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.count = 0
        self.waiting = [_Open("", {}, 1)]
        self.parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype

    def start(self, name: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        self.count += 1
        if self.count > MAX_ELEMENTS:
            where = Where(self.path, line)
            raise FormatError("too many elements", where=where, hint=f"at most {MAX_ELEMENTS}")
        if len(self.waiting) > MAX_LEVELS:
            where = Where(self.path, line)
            raise FormatError("elements nested too deep", where=where, hint=f"at most {MAX_LEVELS} levels")
        known = {key: value for raw, value in attributes.items() if (key := _short(raw))[0] != "{"}
        self.waiting.append(_Open(_short(name), known, line))

    def end(self, _name: str) -> None:
        done = self.waiting.pop()
        text = "".join(done.text)
        element = Element(done.name, done.attributes, tuple(done.children), text, done.line, self.path)
        self.waiting[-1].children.append(element)

    def characters(self, text: str) -> None:
        self.waiting[-1].text.append(text)

    def doctype(self, *_: object) -> None:
        where = Where(self.path, self.parser.CurrentLineNumber)
        hint = "leave <!DOCTYPE ...> out: nothing in a chart needs it"
        raise FormatError("a document type is refused", where=where, hint=hint)

    def root(self) -> Element:
        found = self.waiting[0].children
        if not found or found[0].name != "scxml":
            what = f"<{found[0].name}>" if found else "no <scxml>"
            raise FormatError(f"{what} is no SCXML", where=Where(self.path, 1), hint="the root is <scxml>")
        return found[0]


def _short(name: str) -> str:
    """Return a name as `Element` has it."""
    space, _, local = name.rpartition(_SEPARATOR)
    if space in ("", SCXML):
        return local
    return f"{PREFIX}:{local}" if space == OWN else f"{{{space}}}{local}"
