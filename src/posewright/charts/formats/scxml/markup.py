"""SCXML's markup: read safely, with the line of each element; what there may be in a document; written.

No document type, no entities, nothing fetched. What is not in the tables below is refused by name:
docs/scxml.md says the same in words.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

from posewright.charts.formats.entries import Entries
from posewright.errors import FormatError, Where

SCXML = "http://www.w3.org/2005/07/scxml"
OWN = "urn:posewright:chart"
PREFIX = "pw"
"""What our vocabulary, `OWN`, is called in the documents that we write: it has what SCXML has no word for."""

MAX_BYTES = 1_000_000
MAX_ELEMENTS = 20_000
MAX_LEVELS = 100
"""Bounds of a document: a chart of hundreds of states stays far below them."""

INDENT = "  "
_SEPARATOR = " "
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}


def own(name: str) -> str:
    """Return the key of one of our attributes, as `Element.attributes` has it.

    None is called like an attribute that SCXML gives the same element: there are readers that take off
    prefixes before they look.
    """
    return f"{PREFIX}:{name}"


AT_ONCE = own("at_once")
"""Marks an <assign> that is set at once with the one before it."""

MOORE, DEFAULT = own("moore"), own("default")
"""Mark the outputs of a Moore state, set as it is entered, and those that it leaves as they began."""

WHOLE = "whole"
"""What `pw:default` says of a history that leads, at first, to its state as a whole."""

UNSET = "unset"
"""What `pw:initial` says of a variable that holds nothing in particular at first."""

STATES = ("state", "parallel", "final")
"""Elements that are states."""

_DONE = frozenset({"raise", "assign", "if", "log", "send", "cancel", "foreach"})
_INSIDE_IF = _DONE | {"elseif", "else"}
_OWN_WAYS = frozenset({"pw:way", "pw:to"})
_OF_STATES = frozenset({"onentry", "onexit", "transition", "datamodel", "pw:during"})
_ACTING = frozenset({"onentry", "onexit", "transition", "if", "foreach", "pw:during", "pw:way"})
"""Elements that hold executable content, in which nothing may be passed over."""

CHILDREN: dict[str, frozenset[str]] = {
    "scxml": frozenset({*STATES, "datamodel", "pw:junction", "pw:function", "pw:promise", "pw:table"}),
    "state": _OF_STATES | {*STATES, "initial", "history"},
    "parallel": _OF_STATES | {"state", "parallel", "history"},
    "final": frozenset({"onentry", "onexit", "pw:during"}),
    "initial": frozenset({"transition"}),
    "history": frozenset({"transition"}),
    "datamodel": frozenset({"data"}),
    "onentry": _DONE,
    "onexit": _DONE,
    "transition": _DONE | _OWN_WAYS,
    "if": _INSIDE_IF,
    "foreach": _DONE - {"foreach"},
    "pw:during": _DONE,
    "pw:way": _DONE | _OWN_WAYS,
    "pw:junction": frozenset({"pw:way"}),
    "pw:function": frozenset({"pw:takes", "pw:row"}),
    "pw:table": frozenset({"pw:column", "pw:code"}),
}

ATTRIBUTES: dict[str, frozenset[str]] = {
    "scxml": frozenset({"initial", "name", "version", "datamodel", "binding"}),
    "state": frozenset({"id", "initial"}),
    "parallel": frozenset({"id"}),
    "final": frozenset({"id"}),
    "transition": frozenset({"event", "cond", "target", "type"}),
    "pw:way": frozenset({"event", "cond", "target", "type"}),
    "history": frozenset({"id", "type"}),
    "data": frozenset({"id", "expr"}),
    "raise": frozenset({"event"}),
    "assign": frozenset({"location", "expr"}),
    "if": frozenset({"cond"}),
    "elseif": frozenset({"cond"}),
    "log": frozenset({"label", "expr"}),
    "send": frozenset({"event", "eventexpr", "delay", "delayexpr", "id", "target", "type"}),
    "cancel": frozenset({"sendid", "sendidexpr"}),
    "foreach": frozenset({"array", "item", "index"}),
}

MOST = {"state": 2000, "data": 500, "send": 200, "foreach": 50, "history": 500, "pw:promise": 1000}
"""How many elements of a sort there may be: more than any person keeps in view."""

REASONS = {
    "invoke": "a chart starts no other process",
    "finalize": "a chart starts no other process",
    "script": "no document can run code",
    "donedata": "events carry no data",
    "param": "events carry no data",
    "content": "events carry no data",
    "src": "nothing is fetched: write the value in `expr`",
    "targetexpr": "a chart sends to itself alone",
    "typeexpr": "a chart sends to itself alone",
    "idlocation": "give the <send> an `id`",
    "namelist": "events carry no data",
}


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

    def required(self, name: str) -> str:
        """Return an attribute that has to be there, or fail."""
        value = self.get(name)
        if value is None or not value.strip():
            self.fail(f"<{self.name}> without {name!r}", hint=f'write {name}="..."')
        return value.strip()

    def fail(self, message: str, *, hint: str | None = None) -> NoReturn:
        """Raise a FormatError that points at the element."""
        raise FormatError(message, where=self.where, hint=hint)

    def mapping(self, **entries: Any) -> Entries:
        """Return a mapping of a native document that stands here; an entry that is None is left out."""
        return Entries(entries, self.line)

    def lines(self, indent: str = "") -> Iterable[str]:
        """Yield the lines of text that the element takes."""
        said = "".join(f' {key}="{_escaped(text)}"' for key, text in self.attributes.items())
        if not self.children:
            yield f"{indent}<{self.name}{said}/>"
            return
        yield f"{indent}<{self.name}{said}>"
        for child in self.children:
            yield from child.lines(indent + INDENT)
        yield f"{indent}</{self.name}>"


def tag(
    name: str, attributes: Mapping[str, str | None] | None = None, children: Iterable[Element] = ()
) -> Element:
    """Return an element to be written; an attribute that is None is left out."""
    said = {key: text for key, text in (attributes or {}).items() if text is not None}
    return Element(name, said, tuple(children))


def _escaped(text: str) -> str:
    """Return text as it may stand in an attribute, without the signs that XML has no place for."""
    kept = (letter for letter in text if letter >= " " or letter in _ESCAPES)
    return "".join(_ESCAPES.get(letter, letter) for letter in kept)


def parse_markup(text: str, path: Path | None = None) -> Element:
    """Return the root of an XML document; `path` is only used in messages."""
    if len(text) > MAX_BYTES:
        raise FormatError(f"larger than {MAX_BYTES} bytes", where=Where(path), hint="no honest chart is")
    builder = _MarkupReader(path)
    try:
        builder.parser.Parse(text.removeprefix("\ufeff"), True)
    except expat.ExpatError as error:
        where = Where(path, error.lineno, error.offset + 1)
        raise FormatError(f"not XML: {expat.ErrorString(error.code)}", where=where) from error
    except UnicodeEncodeError as error:
        raise FormatError("not text", where=Where(path), hint="a document is UTF-8") from error
    root = builder.root()
    _require_subset(root)
    return root


@dataclass
class _OpenElement:
    name: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


class _MarkupReader:
    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.count = 0
        self.waiting = [_OpenElement("", {}, 1)]
        self.parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
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
        if len(self.waiting) > MAX_LEVELS:
            self.fail("elements nested too deep", f"at most {MAX_LEVELS} levels")
        known = {key: value for raw, value in attributes.items() if (key := _short(raw))[0] != "{"}
        self.waiting.append(_OpenElement(_short(name), known, self.parser.CurrentLineNumber))

    def end(self, _name: str) -> None:
        done = self.waiting.pop()
        inside, text = tuple(done.children), "".join(done.text)
        element = Element(done.name, done.attributes, inside, text, done.line, self.path)
        self.waiting[-1].children.append(element)

    def characters(self, text: str) -> None:
        self.waiting[-1].text.append(text)

    def doctype(self, *_: object) -> None:
        self.fail("a document type is refused", "leave <!DOCTYPE ...> out: nothing in a chart needs it")

    def root(self) -> Element:
        found = self.waiting[0].children
        if not found or found[0].name != "scxml":
            what = f"<{found[0].name}>" if found else "no <scxml>"
            raise FormatError(f"{what} is no SCXML", where=Where(self.path, 1), hint="the root is <scxml>")
        return found[0]


def _short(name: str) -> str:
    space, _, local = name.rpartition(_SEPARATOR)
    if space in ("", SCXML):
        return local
    return f"{PREFIX}:{local}" if space == OWN else f"{{{space}}}{local}"


def _require_subset(root: Element) -> None:
    """Refuse what is not read: by its name, with its line and with what there is instead."""
    counted: dict[str, int] = {}
    for element in root.walk():
        counted[element.name] = counted.get(element.name, 0) + 1
        if element.name in MOST and counted[element.name] > MOST[element.name]:
            element.fail(f"too many <{element.name}>", hint=f"at most {MOST[element.name]}")
        if not element.name.startswith("{"):
            _require_attributes(element)
            _require_children(element)


def _require_children(element: Element) -> None:
    allowed = CHILDREN.get(element.name, frozenset())
    for child in element.children:
        if child.name in allowed or (child.name.startswith("{") and element.name not in _ACTING):
            continue
        if child.name in CHILDREN or child.name in ATTRIBUTES:
            child.fail(f"<{child.name}> does not belong in <{element.name}>", hint=_instead(allowed))
        reason = REASONS.get(child.name) or _nearest(child.name, allowed)
        child.fail(f"<{child.name}> is outside the subset of SCXML", hint=reason)


def _require_attributes(element: Element) -> None:
    allowed = ATTRIBUTES.get(element.name, frozenset())
    for name in element.attributes:
        if name in allowed or name.startswith(f"{PREFIX}:") or element.name.startswith(f"{PREFIX}:"):
            continue
        where = f"{name!r} of <{element.name}> is outside the subset of SCXML"
        element.fail(where, hint=REASONS.get(name) or _nearest(name, allowed))


def _nearest(name: str, allowed: frozenset[str]) -> str:
    near = difflib.get_close_matches(name, sorted(allowed), n=1)
    return f"did you mean {near[0]!r}?" if near else _instead(allowed)


def _instead(allowed: frozenset[str]) -> str:
    shown = sorted(name for name in allowed if not name.startswith(PREFIX))
    return f"there may be {', '.join(shown)}" if shown else "nothing may be there"
