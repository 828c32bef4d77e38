"""Parsing: libyaml's events become a tree that knows its lines, in YAML 1.2's core schema.

libyaml is read event by event, so that every limit is kept while reading, before anything grows.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NoReturn

from yaml import (
    AliasEvent,
    CollectionStartEvent,
    CSafeLoader,
    DocumentStartEvent,
    MappingStartEvent,
    ScalarEvent,
    StreamEndEvent,
)

from posewright.documents.placed import Placed
from posewright.errors import DocumentError, Where

MAX_NESTING = 64
"""Levels of indentation, or of brackets; our deepest own document has seven."""

MAX_VALUES = 200_000
"""Keys and values of a document: a motion of 20 joints with 9,000 keyframes has fewer."""

MAX_ALIASED = 10_000
"""Values of a document with aliases, every one written out; or twice as many as it has without them."""

_WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)")
_BASES = {"0x": 16, "0o": 8}
_SEPARATOR = re.compile("[\x85\u2028\u2029]")


class QuotedText(str):
    """A text that stood in quotes, or as a paragraph after `>` or `|`."""

    __slots__ = ()


class TreeMap(dict[object, object], Placed):
    """A mapping that knows where its entries stand."""

    __slots__ = ("in_brackets", "places")

    def __init__(self, in_brackets: bool) -> None:
        super().__init__()
        self.places: dict[object, tuple[int, int, int | None]] = {}
        self.in_brackets = in_brackets


class TreeList(list[object], Placed):
    """A list that knows where its elements stand."""

    __slots__ = ("in_brackets", "places")

    def __init__(self, in_brackets: bool) -> None:
        super().__init__()
        self.places: dict[object, tuple[int, int, int | None]] = {}
        self.in_brackets = in_brackets


def parse_tree(text: str, path: Path | None) -> object:
    """Return the mapping, list or scalar that a document is; None where it is empty.

    Raises:
        DocumentError: it is larger or deeper than any honest document, or has a tag, or a key twice.
        YAMLError: libyaml cannot read it.
    """
    separator = _SEPARATOR.search(text)
    if separator is not None:  # YAML 1.2 has them as text, libyaml as the end of a line
        message = f"the separator {separator[0]!r}"
        where = Where(path, text.count("\n", 0, separator.start()) + 1)
        raise DocumentError(message, where=where, hint="in double quotes, as it is written here")
    return _Builder(path).build(CSafeLoader(text))


class _Builder:
    """Builds the tree; `open` holds the containers around the event at hand, each with its waiting key."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.root: object = None
        self.open: list[TreeMap | TreeList] = []
        self.keys: list[tuple[object, int] | None] = []
        self.sizes: list[int] = []
        self.anchors: dict[str, tuple[object, int]] = {}
        self.named: list[str | None] = []
        self.depth = [0, 0]  # of indentation, of brackets
        self.count = 0
        self.written_out = 0
        self.first_alias: int | None = None

    def fail(self, line: int, message: str, hint: str | None = None, column: int | None = None) -> NoReturn:
        raise DocumentError(message, where=Where(self.path, line, column), hint=hint)

    def build(self, parser: CSafeLoader) -> object:
        documents = 0
        while True:
            event: Any = parser.get_event()  # an event with marks: its stubs doubt both
            mark = event.start_mark
            line = mark.line + 1
            if isinstance(event, ScalarEvent):
                value = self._scalar(event, line)
                quoted = type(value) is QuotedText
                column = mark.column + 1 + quoted
                self._add(value, line, None if quoted and str(event.style) in "|>" else column)
            elif isinstance(event, AliasEvent):
                self._add(self._alias(str(event.anchor), line, mark.column + 1), line, mark.column + 1)
            elif isinstance(event, CollectionStartEvent):
                self._begin(event, line, mark.column + 1)
            elif self.open:
                self._end(line)
            elif isinstance(event, DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self.fail(line, "not valid YAML: another document", "one document a file")
            elif isinstance(event, StreamEndEvent):
                return self.root

    def _begin(self, event: CollectionStartEvent, line: int, column: int) -> None:
        self._refuse_tag(event.tag, line)
        flow = bool(event.flow_style)
        container = TreeMap(flow) if isinstance(event, MappingStartEvent) else TreeList(flow)
        self._add(container, line, column)
        if event.anchor is not None:
            self.anchors[event.anchor] = container, 0
        self.open.append(container)
        self.keys.append(None)
        self.named.append(event.anchor)
        self.sizes.append(self.written_out)
        self.depth[flow] += 1
        if self.depth[flow] > MAX_NESTING:
            self.fail(line, f"nested deeper than {MAX_NESTING} levels", "no honest document is as deep")

    def _end(self, line: int) -> None:
        container = self.open.pop()
        self.keys.pop()
        self.depth[container.in_brackets] -= 1
        name, before = self.named.pop(), self.sizes.pop()
        if name is not None:
            self.anchors[name] = container, self.written_out - before
        if isinstance(container, TreeMap) and _MERGE in container:
            self._merge(container, line)
        if not self.open and self.written_out > max(MAX_ALIASED, 2 * self.count):
            message = f"more than {MAX_ALIASED} entries once its aliases are written out"
            self.fail(self.first_alias or line, message, "no honest document is as large")

    def _merge(self, container: TreeMap, line: int) -> None:
        """Put the entries of other mappings behind a mapping's own: `<<: *other`."""
        found, (line, *_) = container.pop(_MERGE), container.places.pop(_MERGE)
        for other in found if isinstance(found, TreeList) else [found]:
            if not isinstance(other, TreeMap):
                self.fail(line, "expected a mapping, or a list of them, after <<")
            self.written_out += len(other)
            if self.written_out > max(MAX_ALIASED, 2 * self.count):
                self.fail(line, f"more than {MAX_ALIASED} entries once they are merged")
            for key, value in other.items():
                container.setdefault(key, value)
                container.places.setdefault(key, other.places[key])

    def _add(self, value: object, line: int, column: int | None) -> None:
        self.count += 1
        self.written_out += 1
        if self.count > MAX_VALUES:
            self.fail(line, f"more than {MAX_VALUES} keys and values", "no honest document is as large")
        if not self.open:
            self.root = value
            return
        container = self.open[-1]
        if isinstance(container, TreeList):
            container.places[len(container)] = line, line, column
            container.append(value)
            return
        key = self.keys[-1]
        if key is not None:
            container[key[0]] = value
            container.places[key[0]] = key[1], line, column
            self.keys[-1] = None
        elif isinstance(value, TreeMap | TreeList):
            self.fail(line, "not valid YAML: a list or a mapping as a key", "a text as the key", column)
        elif value in container:
            hint = "every key once: rename one, or put both together"
            shown = "<<" if value is _MERGE else value
            self.fail(line, f'not valid YAML: found duplicate key "{shown}"', hint, column)
        else:
            self.keys[-1] = value, line

    def _alias(self, name: str, line: int, column: int) -> object:
        if name not in self.anchors:
            hint = "a text that begins with * needs quotes"
            self.fail(line, f"not valid YAML: found undefined alias '{name}'", hint, column)
        value, size = self.anchors[name]
        if any(value is container for container in self.open):
            self.fail(
                line, "an alias stands inside what it stands for", "write out what the alias stands for"
            )
        self.first_alias = self.first_alias or line
        self.written_out += size
        return value

    def _scalar(self, event: ScalarEvent, line: int) -> object:
        self._refuse_tag(event.tag, line)
        word = event.value
        value: object
        if not event.implicit[0]:
            value = QuotedText(word)
        elif word == "<<" and self.open and self.keys[-1] is None and isinstance(self.open[-1], TreeMap):
            value = _MERGE
        else:
            value = self._meaning(word, line)
        if event.anchor is not None:
            self.anchors[event.anchor] = value, 0
        return value

    def _meaning(self, word: str, line: int) -> object:
        """Return what a word without quotes is in YAML 1.2's core schema."""
        if word in _WORDS:
            return _WORDS[word]
        if word[0] not in "+-.0123456789":
            return word
        if _INT.fullmatch(word):
            try:
                return int(word, _BASES.get(word[:2], 10))
            except ValueError:  # of so many digits that Python does not read it
                self.fail(line, "a number too large", "the range is -1.8e308..1.8e308")
        return float(word.replace(".i", "i").replace(".I", "I")) if _FLOAT.fullmatch(word) else word

    def _refuse_tag(self, tag: str | None, line: int) -> None:
        """Refuse a tag: nothing in a document says of which type a thing is made."""
        if tag is not None:
            shown = tag.replace("tag:yaml.org,2002:", "!!")[:40]
            word = shown.lstrip("!(")
            denied = f"write `not {word}` for a condition; any other text that begins with ! needs quotes"
            self.fail(line, f"a tag, {shown}", "leave it out" if shown.startswith("!!") else denied)


_MERGE = object()
"""Stands for the key `<<`, which no text is."""
