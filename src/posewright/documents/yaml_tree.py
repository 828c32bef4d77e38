"""The YAML parser: libyaml's events become a tree that knows its lines, in YAML 1.2's core schema.

Events are read one at a time, so that every limit is checked before anything grows.
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

from posewright.documents.positions import Positioned
from posewright.errors import DocumentError, Where

MAX_NESTING = 64
"""Deepest nesting of indentation, or of brackets; our deepest own document has seven levels."""

MAX_VALUES = 200_000
"""Largest number of keys and values: a motion of 20 joints with 9,000 keyframes has fewer."""

MAX_EXPANDED = 10_000
"""Largest number of entries after aliases are expanded; or twice the number without expansion, if more."""

_MAX_TAG_LENGTH = 40
"""Characters of a tag that a message quotes."""

_UNUSUAL_SIZE = "real documents are never that large"

_NAMED_SCALARS: dict[str, bool | float | None] = {
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
    """A text that was written in quotes, or as a block after `>` or `|`."""

    __slots__ = ()


class TreeMap(dict[object, object], Positioned):
    """A mapping that knows where its entries are in the text."""

    __slots__ = ("in_brackets", "positions")

    def __init__(self, in_brackets: bool) -> None:
        super().__init__()
        self.positions: dict[object, tuple[int, int, int | None]] = {}
        self.in_brackets = in_brackets


class TreeList(list[object], Positioned):
    """A list that knows where its elements are in the text."""

    __slots__ = ("in_brackets", "positions")

    def __init__(self, in_brackets: bool) -> None:
        super().__init__()
        self.positions: dict[object, tuple[int, int, int | None]] = {}
        self.in_brackets = in_brackets


def parse_tree(text: str, path: Path | None) -> object:
    """Return the mapping, list or scalar of a YAML document, None if it is empty.

    Raises:
        DocumentError: the document exceeds a limit, or has a tag or a duplicate key.
        YAMLError: libyaml cannot parse it.
    """
    separator = _SEPARATOR.search(text)
    if separator is not None:  # text in YAML 1.2, but the end of a line for libyaml
        message = f"the line separator {separator[0]!r} is not supported"
        where = Where(path, text.count("\n", 0, separator.start()) + 1)
        raise DocumentError(message, where=where, hint="write it in double quotes, escaped as it is here")
    return _TreeBuilder(path).build(CSafeLoader(text))


class _TreeBuilder:
    """Builds a tree from libyaml's events.

    Attributes:
        path: the file, for messages.
        root: the value of the document.
        open_containers: the containers around the current event, outermost first.
        pending_keys: by open container, the key whose value comes next and its line; None in lists and before
            keys.
        n_expanded_at_start: by open container, `n_expanded` at its start.
        container_anchors: by open container, its anchor; None without one.
        anchored_values: by anchor, the value and its number of expanded entries.
        depth_by_in_brackets: how many collections are open, by whether they are in brackets.
        n_values: number of keys and values so far.
        n_expanded: the same with every alias expanded.
        first_alias_line: line of the first alias.
    """

    def __init__(self, path: Path | None) -> None:
        """Begin outside of all containers; `path` is for messages."""
        self.path = path
        self.root: object = None
        self.open_containers: list[TreeMap | TreeList] = []
        self.pending_keys: list[tuple[object, int] | None] = []
        self.n_expanded_at_start: list[int] = []
        self.container_anchors: list[str | None] = []
        self.anchored_values: dict[str, tuple[object, int]] = {}
        self.depth_by_in_brackets = {False: 0, True: 0}
        self.n_values = 0
        self.n_expanded = 0
        self.first_alias_line: int | None = None

    def fail(self, line: int, message: str, hint: str | None = None, column: int | None = None) -> NoReturn:
        raise DocumentError(message, where=Where(self.path, line, column), hint=hint)

    def build(self, parser: CSafeLoader) -> object:
        """Return the value of a document; raise a DocumentError if it is not valid."""
        n_documents = 0
        while True:
            event: Any = parser.get_event()  # the stubs declare events and marks as optional
            mark = event.start_mark
            line = mark.line + 1
            column = mark.column + 1
            if isinstance(event, ScalarEvent):
                value = self._read_scalar(event, line)
                is_quoted = type(value) is QuotedText
                is_block = is_quoted and str(event.style) in "|>"  # a text of several lines, indented
                text_column = column + 1 if is_quoted else column  # after the quote
                self._add(value, line, None if is_block else text_column)
            elif isinstance(event, AliasEvent):
                self._add(self._resolve_alias(str(event.anchor), line, column), line, column)
            elif isinstance(event, CollectionStartEvent):
                self._open_container(event, line, column)
            elif self.open_containers:
                self._close_container(line)
            elif isinstance(event, DocumentStartEvent):
                n_documents += 1
                if n_documents > 1:
                    self.fail(line, "not valid YAML: another document", "write one document per file")
            elif isinstance(event, StreamEndEvent):
                return self.root

    def _open_container(self, event: CollectionStartEvent, line: int, column: int) -> None:
        """Begin a mapping or a list."""
        self._require_no_tag(event.tag, line)
        in_brackets = bool(event.flow_style)
        is_mapping = isinstance(event, MappingStartEvent)
        container = TreeMap(in_brackets) if is_mapping else TreeList(in_brackets)
        self._add(container, line, column)
        if event.anchor is not None:
            self.anchored_values[event.anchor] = container, 0  # its size is known at its end
        self.open_containers.append(container)
        self.pending_keys.append(None)
        self.container_anchors.append(event.anchor)
        self.n_expanded_at_start.append(self.n_expanded)
        self.depth_by_in_brackets[in_brackets] += 1
        if self.depth_by_in_brackets[in_brackets] > MAX_NESTING:
            self.fail(line, f"nested deeper than {MAX_NESTING} levels", "real documents are never that deep")

    def _close_container(self, line: int) -> None:
        """End the innermost mapping or list, and merge what its `<<` refers to."""
        container = self.open_containers.pop()
        self.pending_keys.pop()
        self.depth_by_in_brackets[container.in_brackets] -= 1
        anchor = self.container_anchors.pop()
        n_expanded_before = self.n_expanded_at_start.pop()
        if anchor is not None:
            self.anchored_values[anchor] = container, self.n_expanded - n_expanded_before
        if isinstance(container, TreeMap) and _MERGE in container:
            self._merge(container, line)
        if not self.open_containers and self.n_expanded > max(MAX_EXPANDED, 2 * self.n_values):
            message = f"more than {MAX_EXPANDED} entries after its aliases are expanded"
            self.fail(self.first_alias_line or line, message, _UNUSUAL_SIZE)

    def _merge(self, container: TreeMap, line: int) -> None:
        """Add the entries of the mappings after `<<`, where the mapping has no such key itself."""
        merged = container.pop(_MERGE)
        line, *_ = container.positions.pop(_MERGE)
        for mapping in merged if isinstance(merged, TreeList) else [merged]:
            if not isinstance(mapping, TreeMap):
                self.fail(line, "expected a mapping, or a list of mappings, after <<")
            self.n_expanded += len(mapping)
            if self.n_expanded > max(MAX_EXPANDED, 2 * self.n_values):
                self.fail(line, f"more than {MAX_EXPANDED} entries after << is expanded", _UNUSUAL_SIZE)
            for key, value in mapping.items():
                container.setdefault(key, value)
                container.positions.setdefault(key, mapping.positions[key])

    def _add(self, value: object, line: int, column: int | None) -> None:
        """Add a value to the innermost container: as an element, as a key, or as the value of a key."""
        self.n_values += 1
        self.n_expanded += 1
        if self.n_values > MAX_VALUES:
            self.fail(line, f"more than {MAX_VALUES} keys and values", _UNUSUAL_SIZE)
        if not self.open_containers:
            self.root = value
            return
        container = self.open_containers[-1]
        if isinstance(container, TreeList):
            container.positions[len(container)] = line, line, column
            container.append(value)
            return
        pending_key = self.pending_keys[-1]
        if pending_key is not None:
            key, key_line = pending_key
            container[key] = value
            container.positions[key] = key_line, line, column
            self.pending_keys[-1] = None
        elif isinstance(value, TreeMap | TreeList):
            self.fail(
                line,
                message="not valid YAML: a list or a mapping as a key",
                hint="use a text as the key",
                column=column,
            )
        elif value in container:
            key_text = "<<" if value is _MERGE else value
            hint = "rename one of the two, or combine their values"
            self.fail(line, f'not valid YAML: found duplicate key "{key_text}"', hint, column)
        else:
            self.pending_keys[-1] = value, line

    def _resolve_alias(self, anchor: str, line: int, column: int) -> object:
        """Return the value of an anchor."""
        if anchor not in self.anchored_values:
            hint = "a text that begins with * needs quotes"
            self.fail(line, f"not valid YAML: found undefined alias '{anchor}'", hint, column)
        value, size = self.anchored_values[anchor]
        if any(value is container for container in self.open_containers):
            self.fail(line, "an alias inside the value it refers to", "write the value out")
        self.first_alias_line = self.first_alias_line or line
        self.n_expanded += size
        return value

    def _read_scalar(self, event: ScalarEvent, line: int) -> object:
        """Return the value of a scalar: a text in quotes, or what an unquoted word means."""
        self._require_no_tag(event.tag, line)
        text = event.value
        value: object
        is_plain, _ = event.implicit
        if not is_plain:
            value = QuotedText(text)
        elif text == "<<" and self._expects_key():
            value = _MERGE
        else:
            value = self._interpret_scalar(text, line)
        if event.anchor is not None:
            self.anchored_values[event.anchor] = value, 0
        return value

    def _expects_key(self) -> bool:
        """Return whether the next value is a key of a mapping."""
        if not self.open_containers:
            return False
        return isinstance(self.open_containers[-1], TreeMap) and self.pending_keys[-1] is None

    def _interpret_scalar(self, text: str, line: int) -> object:
        """Return the value of an unquoted word in YAML 1.2's core schema."""
        if text in _NAMED_SCALARS:
            return _NAMED_SCALARS[text]
        if text[0] not in "+-.0123456789":  # no number begins like this
            return text
        if _INT.fullmatch(text):
            try:
                return int(text, _BASES.get(text[:2], 10))
            except ValueError:  # more digits than Python reads
                self.fail(line, "a number too large", "the range is -1.8e308..1.8e308")
        if _FLOAT.fullmatch(text):
            return float(text.replace(".i", "i").replace(".I", "I"))
        return text

    def _require_no_tag(self, tag: str | None, line: int) -> None:
        """Raise DocumentError for a tag: types of objects are never taken from a document."""
        if tag is None:
            return
        short_tag = tag.replace("tag:yaml.org,2002:", "!!")[:_MAX_TAG_LENGTH]
        tag_name = short_tag.lstrip("!(")
        if short_tag.startswith("!!"):
            hint = "leave it out"
        else:
            hint = f"write `not {tag_name}` for a condition; any other text that begins with ! needs quotes"
        self.fail(line, f"the tag {short_tag} is not supported", hint)


_MERGE = object()
"""The key `<<` in a mapping; no text equals it."""
