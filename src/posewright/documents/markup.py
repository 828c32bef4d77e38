"""XML read into elements that know their lines, and XML written.

Documents from unknown sources are safe to read: document types (and so entities) are errors, nothing is
fetched, and size, number of elements and nesting are limited.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn
from xml.parsers import expat

from posewright.documents.files import read_bounded
from posewright.errors import FormatError, Where

INDENT = "  "
_SEPARATING_COMMA = re.compile(r",(?=\s)")
"""A comma between numbers; a decimal comma is an error."""

_LARGEST_NUMBER = 1e9
_MINUS_SIGNS = ("-", "\u2013", "\u2212")
_BROWSER_HINT = "the text was copied from a browser's view of a file: delete each '-' before a tag"
_SEPARATOR = " "
_TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""")
"""A tag of a well-formed document, of which a quoted `>` is no end."""

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}


@dataclass(frozen=True)
class MarkupRules:
    """The limits of a format's documents, and how its names are read.

    Attributes:
        max_bytes: largest size of a document.
        max_elements: largest number of elements.
        max_levels: deepest nesting of elements.
        lower_case: whether names are converted to lower case, for a format with case-insensitive names.
        prefixes: the prefix given to the names of each namespace, by its URI; empty for the format's own.
            Names of other namespaces become `{uri}name`, and attributes with such names are kept apart, in
            `Element.foreign_attributes`. None leaves names as they are written, with their prefixes.
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
        name: its name, as `MarkupRules` describes names.
        attributes: values by name.
        children: the elements directly inside it, in order.
        text: its text outside its children, without spaces at both ends.
        line: the line it starts at, None for an element that is to be written.
        path: its file, None if there is none.
        foreign_attributes: its attributes of namespaces without a known prefix, by the name as it is written,
            such as `qt:geometry`.
        source: an element of such a namespace as it is written, from its start tag to its end tag, if the
            document was read from a text; empty for other elements.
        namespaces: the URIs of the prefixes in `source` and `foreign_attributes`, by prefix, that are
            declared outside of them; the default namespace has the prefix "".
    """

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: tuple[Element, ...] = field(default=(), repr=False)
    text: str = field(default="", repr=False)
    line: int | None = None
    path: Path | None = None
    foreign_attributes: Mapping[str, str] = field(default_factory=dict, repr=False)
    source: str = field(default="", repr=False)
    namespaces: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def where(self) -> Where:
        """Its file and line."""
        return Where(self.path, self.line)

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        """Raise a FormatError at this element."""
        raise FormatError(message, where=self.where, hint=hint)

    def all(self, *names: str) -> tuple[Element, ...]:
        """Return the children that have one of the names."""
        return tuple(child for child in self.children if child.name in names)

    def first(self, *names: str) -> Element | None:
        """Return the first child that has one of the names, or None."""
        return next(iter(self.all(*names)), None)

    def last(self, *names: str) -> Element | None:
        """Return the last child that has one of the names, or None; in some formats the last one counts."""
        return next(reversed(self.all(*names)), None)

    def walk(self) -> Iterator[Element]:
        """Yield this element and all its descendants, in document order."""
        pending = [self]
        while pending:
            element = pending.pop()
            yield element
            pending += reversed(element.children)

    def get(self, name: str) -> str | None:
        """Return the value of an attribute, or None."""
        return self.attributes.get(name)

    def required(self, name: str) -> str:
        """Return the stripped value of an attribute; raise FormatError if it is missing or empty."""
        value = self.attributes.get(name, "").strip()
        return value or self.fail(f"<{self.name}> has no attribute {name!r}", hint=f'add {name}="..."')

    def attribute_numbers(
        self, name: str, count: int, default: tuple[float, ...] | None = None
    ) -> tuple[float, ...]:
        """Return the `count` finite numbers of an attribute; raise FormatError if it holds anything else."""
        if name not in self.attributes and default is not None:
            return default
        return self._parse_numbers(f"{name} of <{self.name}>", self.required(name), count)

    def attribute_number(self, name: str, default: float | None = None) -> float:
        """Return the finite number of an attribute; raise FormatError if it holds anything else."""
        defaults = None if default is None else (default,)
        return self.attribute_numbers(name, count=1, default=defaults)[0]

    def numbers(self, *counts: int) -> tuple[float, ...]:
        """Return the numbers in the element's text; if `counts` are given, it must have one of them."""
        values = self._parse_numbers(f"<{self.name}>", self.text, *counts)
        if any(abs(value) >= _LARGEST_NUMBER for value in values):
            self.fail(
                f"<{self.name}> has a number that is too large", f"write numbers below {_LARGEST_NUMBER:g}"
            )
        return values

    def number(self, name: str) -> float | None:
        """Return the number in the text of the last child of a name, or None if there is no such child."""
        child = self.last(name)
        return None if child is None else child.numbers(1)[0]

    def _parse_numbers(self, subject: str, text: str, *counts: int) -> tuple[float, ...]:
        """Return the numbers in a text; `subject` names it in errors."""
        try:
            values = tuple(float(part) for part in _SEPARATING_COMMA.sub(" ", text).split())
        except ValueError:
            self.fail(f"{subject} is {text!r:.60}", "write numbers separated by spaces")
        if not all(map(math.isfinite, values)):
            self.fail(f"{subject} is not finite", "write finite numbers")
        if counts and len(values) not in counts:
            accepted = " or ".join(map(str, counts))
            self.fail(f"{subject} has {len(values)} numbers", f"write {accepted}")
        return values

    def lines(self, indent: str = "") -> Iterator[str]:
        """Yield the element as lines of XML, with its attributes and children but without its text.

        An element that has a `source` is written as that.
        """
        if self.source:
            yield f"{indent}{self.source}"
            return
        attributes = "".join(f' {name}="{_escape(value)}"' for name, value in self.attributes.items())
        if not self.children:
            yield f"{indent}<{self.name}{attributes}/>"
            return
        yield f"{indent}<{self.name}{attributes}>"
        for child in self.children:
            yield from child.lines(indent + INDENT)
        yield f"{indent}</{self.name}>"


def _escape(text: str) -> str:
    """Return text escaped for an attribute, without the control characters that XML cannot hold."""
    allowed = (character for character in text if character >= " " or character in _ESCAPES)
    return "".join(_ESCAPES.get(character, character) for character in allowed)


def read_markup(path: Path, rules: MarkupRules | None = None) -> Element:
    """Return the root element of an XML file.

    Raises:
        FormatError: the file cannot be read, is no XML, exceeds a limit, or has a document type.
    """
    rules = rules or MarkupRules()
    return _MarkupReader(path, rules).read(read_bounded(path, rules.max_bytes))


def parse_markup(
    document: str | bytes, path: Path | None = None, rules: MarkupRules | None = None
) -> Element:
    """Return the root element of an XML document.

    Args:
        document: its text or bytes.
        path: its file, for messages.
        rules: the limits, and the known namespaces; None for the rules by default.

    Raises:
        FormatError: the document is no XML, exceeds a limit, or has a document type.
    """
    rules = rules or MarkupRules()
    try:
        raw = document if isinstance(document, bytes) else document.removeprefix("\ufeff").encode()
    except UnicodeEncodeError as error:
        raise FormatError("not text", where=Where(path), hint="save it as UTF-8") from error
    if len(raw) > rules.max_bytes:
        raise FormatError(f"larger than {rules.max_bytes:,} bytes", where=Where(path))
    encoding = None if isinstance(document, bytes) else "utf-8"
    return _MarkupReader(path, rules, encoding).read(raw)


class _SplitName(NamedTuple):
    """A name in a document with namespaces; the namespace and the prefix are empty where there is none."""

    namespace: str
    local: str
    prefix: str


def _split_name(raw: str) -> _SplitName:
    """Return the parts of a name as expat has it: `local`, `uri local`, or `uri local prefix`."""
    parts = raw.split(_SEPARATOR)
    if len(parts) == 1:
        return _SplitName("", raw, "")
    return _SplitName(parts[0], parts[1], parts[2] if len(parts) > 2 else "")


@dataclass
class _OpenElement:
    """An element whose end tag has not been read yet.

    Attributes:
        name: the name, with a known prefix or `{URI}` before it.
        attributes: the attributes without a namespace or with a known prefix.
        line: the line of its start tag.
        start_byte: where its start tag begins in the document.
        foreign_attributes: the other attributes, by prefix and name.
        declared_prefixes: the prefixes that its start tag declares.
        used_prefixes: those that it or, in a foreign element, its children use.
        children: the children so far.
        text: the pieces of its text so far.
    """

    name: str
    attributes: dict[str, str]
    line: int
    start_byte: int = 0
    foreign_attributes: dict[str, str] = field(default_factory=dict)
    declared_prefixes: frozenset[str] = frozenset()
    used_prefixes: set[str] = field(default_factory=set)
    children: list[Element] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    @property
    def is_foreign(self) -> bool:
        """Whether its namespace has no known prefix."""
        return self.name.startswith("{")


class _MarkupReader:
    """Builds the elements of one document.

    Args:
        path: the file, for messages.
        rules: the rules of its format.
        encoding: the encoding of the bytes; None takes it from the document's XML declaration.
    """

    def __init__(self, path: Path | None, rules: MarkupRules, encoding: str | None = None) -> None:
        """Create expat's parser, and let it call the methods of this reader."""
        self._path = path
        self._rules = rules
        self._n_elements = 0
        self._document = b""
        # positions in the document are known only if its bytes are those of the text
        self._keeps_source = encoding == "utf-8"
        self._uris_by_prefix: dict[str, list[str]] = {}  # the innermost declaration last
        self._new_prefixes: list[str] = []  # declared by the start tag that is read next
        # the innermost open element last; the first one stands for the document, whose child is the root
        self._open_elements = [_OpenElement("", {}, line=1)]
        separator = None if rules.prefixes is None else _SEPARATOR
        self._parser = expat.ParserCreate(encoding, separator)
        self._parser.buffer_text = True
        self._parser.namespace_prefixes = rules.prefixes is not None
        self._parser.StartNamespaceDeclHandler = self._open_namespace
        self._parser.EndNamespaceDeclHandler = self._close_namespace
        self._parser.StartElementHandler = self._start_element
        self._parser.EndElementHandler = self._end_element
        self._parser.CharacterDataHandler = self._add_text
        self._parser.StartDoctypeDeclHandler = self._reject_document_type

    def read(self, raw: bytes) -> Element:
        """Return the root element."""
        self._document = raw
        try:
            self._parser.Parse(raw, True)
        except expat.ExpatError as error:
            where = Where(self._path, error.lineno, error.offset + 1)
            # browsers show a minus sign before each tag that can be folded
            dashes = "|".join(_MINUS_SIGNS).encode()
            is_browser_view = re.search(rb"^[ \t]*(" + dashes + rb")[ \t]*<", raw, re.MULTILINE)
            hint = _BROWSER_HINT if is_browser_view else None
            raise FormatError(f"not XML: {expat.ErrorString(error.code)}", where=where, hint=hint) from error
        except (ValueError, LookupError) as error:  # an unknown encoding
            raise FormatError(
                f"not text: {error}", where=Where(self._path, 1), hint="save it as UTF-8"
            ) from error
        (document,) = self._open_elements
        return document.children[0]

    def _fail(self, message: str, hint: str) -> NoReturn:
        raise FormatError(message, where=Where(self._path, self._parser.CurrentLineNumber), hint=hint)

    def _convert_name(self, raw: str) -> str:
        """Return a name with the known prefix of its namespace, or with the namespace in braces.

        Args:
            raw: the name as expat has it: if `MarkupRules.prefixes` is set, between the URI of its namespace
                and its prefix in the document.
        """
        if self._rules.prefixes is not None:
            namespace, local, _ = _split_name(raw)
            prefix = self._rules.prefixes.get(namespace, f"{{{namespace}}}") if namespace else ""
            separator = ":" if prefix and not prefix.startswith("{") else ""
            raw = f"{prefix}{separator}{local}"
        return raw.lower() if self._rules.lower_case else raw

    def _start_element(self, raw_name: str, raw_attributes: dict[str, str]) -> None:
        """Open an element; expat calls this at each start tag.

        Names and attributes whose namespace has no known prefix are foreign: the element notes the prefixes
        that they use in the document.

        Args:
            raw_name: the name as expat has it, with namespace and prefix; see `_split_name`.
            raw_attributes: the values of the attributes, by such names.

        Raises:
            FormatError: there are too many elements, or they are nested too deep.
        """
        self._n_elements += 1
        if self._n_elements > self._rules.max_elements:
            self._fail("too many elements", f"at most {self._rules.max_elements} are read")
        if len(self._open_elements) > self._rules.max_levels:
            self._fail("elements nested too deep", f"at most {self._rules.max_levels} levels are read")
        opened = _OpenElement(
            self._convert_name(raw_name),
            attributes={},
            line=self._parser.CurrentLineNumber,
            start_byte=self._parser.CurrentByteIndex,
            declared_prefixes=frozenset(self._new_prefixes),
        )
        self._new_prefixes.clear()
        if opened.is_foreign:
            opened.used_prefixes.add(_split_name(raw_name).prefix)
        for raw_attribute_name, value in raw_attributes.items():
            name = self._convert_name(raw_attribute_name)
            is_foreign_attribute = name.startswith("{")
            if not is_foreign_attribute:
                opened.attributes[name] = value
                continue
            _, local, prefix = _split_name(raw_attribute_name)
            opened.foreign_attributes[f"{prefix}:{local}"] = value
            opened.used_prefixes.add(prefix)
        self._open_elements.append(opened)

    def _end_element(self, _name: str) -> None:
        """Close the open element and add it to its parent."""
        closed = self._open_elements.pop()
        parent = self._open_elements[-1]
        outer_prefixes = closed.used_prefixes  # those that are declared around it
        source = ""
        if closed.is_foreign:  # with everything in it, it can be copied if its outer prefixes are declared
            outer_prefixes = closed.used_prefixes - closed.declared_prefixes
            if parent.is_foreign:
                parent.used_prefixes |= outer_prefixes
            elif self._keeps_source:
                source = self._read_source(closed)
        uris_by_prefix = {prefix: self._uris_by_prefix.get(prefix) for prefix in sorted(outer_prefixes)}
        element = Element(
            closed.name,
            closed.attributes,
            children=tuple(closed.children),
            text="".join(closed.text).strip(),
            line=closed.line,
            path=self._path,
            foreign_attributes=closed.foreign_attributes,
            source=source,
            namespaces={prefix: uris[-1] for prefix, uris in uris_by_prefix.items() if uris},
        )
        parent.children.append(element)

    def _read_source(self, closed: _OpenElement) -> str:
        """Return the source of the element whose end has just been read; empty if no end tag is found."""
        first_tag = _TAG.match(self._document, closed.start_byte)
        is_empty = first_tag is not None and first_tag[0].endswith(b"/>")
        last_tag = first_tag if is_empty else _TAG.match(self._document, self._parser.CurrentByteIndex)
        if last_tag is None:
            return ""
        return self._document[closed.start_byte : last_tag.end()].decode()

    def _open_namespace(self, prefix: str | None, uri: str) -> None:
        """Take up the declaration of a prefix, or of the default namespace, by the start tag that follows."""
        self._uris_by_prefix.setdefault(prefix or "", []).append(uri)
        self._new_prefixes.append(prefix or "")

    def _close_namespace(self, prefix: str | None) -> None:
        """Drop the innermost declaration of a prefix, whose element has ended."""
        self._uris_by_prefix[prefix or ""].pop()

    def _add_text(self, text: str) -> None:
        """Add a text to the innermost open element; a lone minus sign is an error, as of a browser's view."""
        element = self._open_elements[-1]
        if text.strip() in _MINUS_SIGNS and not element.is_foreign:
            self._fail("a minus sign between the tags", _BROWSER_HINT)
        element.text.append(text)

    def _reject_document_type(self, *_: object) -> None:
        self._fail("a document type is not allowed", "delete <!DOCTYPE ...>: its entities could do harm")
