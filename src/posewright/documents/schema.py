"""Schema: a frozen dataclass is read from a document by the names and types of its fields.

```python
@dataclass(frozen=True)
class JamRules:
    lasting_s: Annotated[float, Bounds(0.0, 3600.0)]
    turn_rad: Annotated[float, Bounds(0.0, math.pi)]       # written `turn_deg: 90`
    points: tuple[float, ...] = ()                         # may be left out

rules = read_record(document.fields()["jam"], JamRules)
```

Types: float, int, bool, str, enums (by value), tuples, `Mapping[str, ...]`, `... | None`, dataclasses, and
whatever an `Annotated[..., Reader(function)]` reads.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import cache, partial
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from posewright.documents.reading import Node
from posewright.units import RAD_PER_DEG

T = TypeVar("T")

_WRITTEN = {"_rad": ("_deg", RAD_PER_DEG), "_rad_s": ("_deg_s", RAD_PER_DEG)}
"""Endings of fields whose numbers are written in another unit: the ending in documents, and the factor."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the most a number may be, in the unit of its field; None for no bound."""

    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Reader:
    """How the value of a field is read, where its type does not say."""

    read: Callable[[Node], object]


@dataclass(frozen=True, slots=True)
class _How:
    """How numbers are read: whether angles are degrees, what they are multiplied by, and their bounds."""

    degrees: bool
    factor: float = 1.0
    bounds: Bounds = field(default_factory=Bounds)


@dataclass(frozen=True, slots=True)
class _Entry:
    key: str
    required: bool
    read: Callable[[Node], object]


def read_record(
    node: Node,
    kind: type[T],
    *,
    besides: Collection[str] = (),
    without: Collection[str] = (),
    degrees: bool = True,
    **given: object,
) -> T:
    """Return the dataclass that a mapping of a document describes.

    Args:
        node: the mapping.
        kind: the dataclass; a field with a default may be left out.
        besides: keys that the mapping may have and no field has.
        without: fields that no key has: they keep their defaults.
        degrees: whether angles are written in degrees, as people do, and not as `to_plain` gives them.
        given: fields that the document does not tell.

    Raises:
        DocumentError: a key is missing, a value is of another type or out of its bounds, or the class
            itself refuses the values.
        UnknownNameError: a key or a choice that does not exist.
    """
    hashable: Any = kind  # as every class is, but mypy does not know it of a type variable
    entries = _entries(hashable, degrees, frozenset({*given, *without}))
    required = [entry.key for entry in entries.values() if entry.required]
    optional = [entry.key for entry in entries.values() if not entry.required]
    parts = node.fields(required=required, optional=[*optional, *besides])
    values = {name: entry.read(parts[entry.key]) for name, entry in entries.items() if entry.key in parts}
    with node.located():
        return kind(**(values | given))


@cache
def _entries(kind: type, degrees: bool, given: frozenset[str]) -> Mapping[str, _Entry]:
    hints, told = get_type_hints(kind, include_extras=True), (entry for entry in fields(kind) if entry.init)
    return {one.name: _entry(one, hints[one.name], degrees) for one in told if one.name not in given}


def _entry(entry: Field[object], hint: object, degrees: bool) -> _Entry:
    key, how = entry.name, _How(degrees)
    for ending, (written, factor) in _WRITTEN.items():
        if degrees and key.endswith(ending):
            key, how = key.removesuffix(ending) + written, _How(degrees, factor)
    required = entry.default is MISSING and entry.default_factory is MISSING
    return _Entry(key, required, _reader(key, hint, how))


def _reader(key: str, hint: object, how: _How) -> Callable[[Node], object]:
    """Return what reads a value of that type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        for extra in arguments[1:]:
            if isinstance(extra, Reader):
                return extra.read
            how = replace(how, bounds=extra) if isinstance(extra, Bounds) else how
        return _reader(key, arguments[0], how)
    if origin in (Union, types.UnionType):
        others = [kind for kind in arguments if kind is not type(None)]
        if len(others) == 1:
            read = _reader(key, others[0], how)
            return lambda node: None if node.value is None else read(node)
    if origin is tuple:
        reads = [_reader(key, kind, how) for kind in arguments if kind is not Ellipsis]
        return partial(_sequence, reads[0]) if arguments[-1] is Ellipsis else partial(_exactly, reads)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        value = _reader(key, arguments[1], how)
        return lambda node: {name: value(entry) for name, entry in node.fields().items()}
    if isinstance(hint, type):
        return _plain_reader(key, hint, how)
    raise TypeError(f"{key}: no document says how a {hint} is written")


def _plain_reader(key: str, kind: type, how: _How) -> Callable[[Node], object]:
    factor, ends = how.factor, (how.bounds.low, how.bounds.high)
    low, high = (None if end is None else round(end / factor, 9) for end in ends)
    if issubclass(kind, Enum):
        known = [member.value for member in kind]
        return lambda node: kind(node.choice(key.replace("_", " "), known))
    if kind is float:
        return lambda node: node.number(low=low, high=high) * factor
    if kind is int:
        whole = [None if end is None else int(end) for end in (low, high)]
        return lambda node: node.integer(low=whole[0], high=whole[1])
    if kind in (bool, str):
        return Node.boolean if kind is bool else Node.text
    if is_dataclass(kind):
        return lambda node: read_record(node, kind, degrees=how.degrees)
    raise TypeError(f"{key}: no document says how a {kind.__name__} is written")


def _sequence(read: Callable[[Node], object], node: Node) -> tuple[object, ...]:
    return tuple(read(item) for item in node.items())


def _exactly(reads: Collection[Callable[[Node], object]], node: Node) -> tuple[object, ...]:
    items = node.items()
    if len(items) != len(reads):
        node.fail(f"expected a list of {len(reads)}, found {len(items)}")
    return tuple(read(item) for read, item in zip(reads, items, strict=True))
