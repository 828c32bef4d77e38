"""Native documents: YAML 1.2, read with line numbers, saved with a person's comments kept.

`Document.read(path)` gives a `Node`, a cursor that knows its line and its trail
(`states.walking[0].when`), so that whoever reads a document can say precisely what is wrong with it.
`save_document` writes atomically; over an existing document it changes only what changed.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from posewright.errors import DocumentError, UnknownNameError, Where

MAX_DOCUMENT_BYTES = 4_000_000
"""No native document written by a person or by us comes near this size."""

MAX_NESTING = 64
"""Levels of nesting; our deepest own document has seven."""


@dataclass(frozen=True)
class Node:
    """A value inside a document that knows where it stands."""

    value: Any
    path: Path | None = None
    trail: str = ""
    line: int | None = None

    @property
    def where(self) -> Where:
        """The file and line of this value."""
        return Where(path=self.path, line=self.line)

    def fail(self, message: str, *, hint: str | None = None) -> NoReturn:
        """Raise a DocumentError that points at this value."""
        subject = f"{self.trail}: " if self.trail else ""
        raise DocumentError(f"{subject}{message}", where=self.where, hint=hint)

    def _is(self, kind: str, right: bool) -> None:
        if not right:
            self.fail(f"expected {kind}, found {_describe(self.value)}")

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
        if not math.isfinite(self.value):
            self.fail(f"expected a finite number, found {self.value}")
        return float(self._within(float(self.value), low, high))

    def _within(self, number: float, low: float | None, high: float | None) -> float:
        if (low is not None and number < low) or (high is not None and number > high):
            bounds = f"{'' if low is None else f'{low:g}'}..{'' if high is None else f'{high:g}'}"
            self.fail(f"{number:g} is out of range", hint=f"the range is {bounds}")
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
        lines = getattr(self.value, "lc", None)
        return [
            Node(element, self.path, f"{self.trail}[{i}]", _line_of(lines, i, self.line))
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
        lines = getattr(self.value, "lc", None)
        for key, element in self.value.items():
            if not isinstance(key, str):
                self.fail(f"the key {key!r} is not text", hint="put it in quotes")
            trail = f"{self.trail}.{key}" if self.trail else key
            yield key, Node(element, self.path, trail, _line_of(lines, key, self.line))


def _line_of(lines: Any, key: object, fallback: int | None) -> int | None:
    """Return the line, counted from 1, at which ruamel saw `key`."""
    position = (getattr(lines, "data", None) or {}).get(key)
    return fallback if position is None else int(position[0]) + 1


def _describe(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _yaml() -> YAML:
    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = 4096
    yaml.allow_duplicate_keys = False
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def read_document(path: Path | str) -> Node:
    """Read a native document.

    Returns:
        The root of the document, which is a mapping.

    Raises:
        DocumentError: the file cannot be read, is too large or too deep, or is not YAML.
    """
    path = Path(path)
    try:
        raw = _read_at_most(path, MAX_DOCUMENT_BYTES)
        text = raw.decode("utf-8-sig")
    except OSError as error:
        raise DocumentError(error.strerror or str(error), where=Where(path=path)) from error
    except UnicodeDecodeError as error:
        raise DocumentError(
            "not a text file", where=Where(path=path, offset=error.start), hint="documents are UTF-8 YAML"
        ) from error
    return parse_document(text, path)


def _read_at_most(path: Path, limit: int) -> bytes:
    with path.open("rb") as file:
        raw = file.read(limit + 1)
    if len(raw) > limit:
        raise DocumentError(f"larger than {limit} bytes", where=Where(path=path))
    return raw


def parse_document(text: str, path: Path | None = None) -> Node:
    """Parse the text of a native document; `path` is only used in messages."""
    _refuse_deep_nesting(text, path)
    try:
        tree = _yaml().load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = Where(path=path, line=mark.line + 1, column=mark.column + 1) if mark else Where(path=path)
        raise DocumentError(f"not valid YAML: {error.problem or error.context}", where=where) from error
    except (YAMLError, RecursionError, ValueError) as error:
        raise DocumentError(f"not valid YAML: {error}", where=Where(path=path)) from error
    root = Node(tree, path, "", 1)
    if not isinstance(tree, dict):
        root.fail(f"expected a document with named entries, found {_describe(tree)}")
    return root


def _refuse_deep_nesting(text: str, path: Path | None) -> None:
    """Refuse brackets or indentation deeper than any honest document, before a parser recurses."""
    for number, line in enumerate(text.splitlines(), 1):
        indent = len(line) - len(line.lstrip(" -"))
        depth = max(line.count("["), line.count("{"))
        if (depth > MAX_NESTING and _bracket_depth(line) > MAX_NESTING) or indent > 4 * MAX_NESTING:
            raise DocumentError(
                f"nested deeper than {MAX_NESTING} levels", where=Where(path=path, line=number)
            )


def _bracket_depth(line: str) -> int:
    depth = deepest = 0
    for sign in line:
        depth += (sign in "[{") - (sign in "]}")
        deepest = max(deepest, depth)
    return deepest


def save_document(path: Path | str, data: Mapping[str, Any]) -> None:
    """Write a native document atomically.

    Where `path` already holds a document, its comments, order and layout survive and only changed
    values change; if nothing changed, not a byte does.
    """
    path = Path(path)
    write_atomically(path, render_document(data, over=path if path.exists() else None).encode())


def render_document(data: Mapping[str, Any], *, over: Path | None = None) -> str:
    """Return the YAML text of `data`, laid over the document at `over` where one is given."""
    if over is not None:
        text = over.read_text(encoding="utf-8")
        tree = parse_document(text, over).value
        if not _merge(tree, data):
            return text
    else:
        tree = _commented(data)
    stream = io.StringIO()
    _yaml().dump(tree, stream)
    return stream.getvalue()


def _commented(value: Any) -> Any:
    """Return `value` as ruamel containers; lists of plain values are written on one line."""
    if isinstance(value, Mapping):
        mapping = CommentedMap()
        for key, element in value.items():
            mapping[key] = _commented(element)
        return mapping
    if isinstance(value, Sequence) and not isinstance(value, str):
        sequence = CommentedSeq([_commented(element) for element in value])
        if not any(isinstance(element, Mapping | list | tuple) for element in value):
            sequence.fa.set_flow_style()
        return sequence
    return value


def _merge(old: Any, new: Any) -> bool:
    """Change `old` in place until it equals `new`; return whether anything changed."""
    if isinstance(old, dict) and isinstance(new, Mapping):
        return _merge_mapping(old, new)
    changed = False
    for i, element in enumerate(new):
        if i >= len(old):
            old.append(_commented(element))
            changed = True
        elif _mergeable(old[i], element):
            changed |= _merge(old[i], element)
        elif not _same(old[i], element):
            old[i] = _commented(element)
            changed = True
    changed |= len(old) > len(new)
    del old[len(new) :]
    return changed


def _merge_mapping(old: Any, new: Mapping[str, Any]) -> bool:
    changed = False
    for key in [key for key in old if key not in new]:
        del old[key]
        changed = True
    for key, element in new.items():
        if key in old and _mergeable(old[key], element):
            changed |= _merge(old[key], element)
        elif key not in old or not _same(old[key], element):
            old[key] = _commented(element)
            changed = True
    return changed


def _mergeable(old: Any, new: Any) -> bool:
    both_mappings = isinstance(old, dict) and isinstance(new, Mapping)
    return both_mappings or (isinstance(old, list) and isinstance(new, list | tuple))


def _same(old: Any, new: Any) -> bool:
    return isinstance(old, bool) == isinstance(new, bool) and bool(old == new)


def write_atomically(path: Path, content: bytes) -> None:
    """Write `content` to `path` so that a crash leaves either the old file or the new one."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise DocumentError(
            f"cannot write here: {error.strerror or error}", where=Where(path=path)
        ) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(_mode_for(path))
        Path(name).replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        if isinstance(error, OSError):
            raise DocumentError(f"cannot write: {error.strerror or error}", where=Where(path=path)) from error
        raise


def _mode_for(path: Path) -> int:
    """Return the permissions a file at `path` has, or would get from an ordinary open()."""
    with contextlib.suppress(OSError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
