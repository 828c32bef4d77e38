"""Schema: dataclasses read from documents by the names and types of their fields.

```python
@dataclass(frozen=True)
class JamRules:
    lasting_s: Annotated[float, Bounds(0.0, 3600.0)]
    turn_rad: Annotated[float, Bounds(0.0, math.pi)]       # written `turn_deg: 90`
    points: tuple[float, ...] = ()                         # may be left out

rules = read_record(document.fields()["jam"], JamRules)
```

Types: float, int, bool, str, enums (by value), tuples, `Mapping[str, ...]`, `... | None`, dataclasses, and
anything with `Annotated[..., FieldReader(function)]`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import cache, partial
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from posewright.documents.node import Node
from posewright.units import RAD_PER_DEG

T = TypeVar("T")

_DOCUMENT_UNITS = {"_rad": ("_deg", RAD_PER_DEG), "_rad_s": ("_deg_s", RAD_PER_DEG)}
"""By ending of a field's name: the ending of its key in documents, and the factor from that unit."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The smallest and largest value of a number, in the unit of its field; None for no bound."""

    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class FieldReader:
    """Annotates a field with the function that reads its value."""

    read: Callable[[Node], object]


@dataclass(frozen=True, slots=True)
class _NumberRules:
    """How the numbers of a field are read.

    Attributes:
        degrees: whether angles are written in degrees.
        factor: what a number in the document is multiplied by.
        bounds: the bounds of the product.
    """

    degrees: bool
    factor: float = 1.0
    bounds: Bounds = field(default_factory=Bounds)


@dataclass(frozen=True, slots=True)
class _SchemaEntry:
    """A field as it is in documents: its key, whether the key is required, and what reads its value."""

    key: str
    required: bool
    read: Callable[[Node], object]


def read_record(
    node: Node,
    kind: type[T],
    *,
    extra_keys: Collection[str] = (),
    default_fields: Collection[str] = (),
    degrees: bool = True,
    **values: object,
) -> T:
    """Return the dataclass that a mapping of a document describes.

    Args:
        node: the mapping.
        kind: the dataclass; fields with a default may be left out.
        extra_keys: keys that the mapping may have although no field has that name.
        default_fields: fields that are not read and keep their defaults.
        degrees: whether angles are written in degrees; False reads radians, as `to_plain` writes them.
        values: values of fields that are not read from the document.

    Raises:
        DocumentError: a key is missing, a value has the wrong type or is out of its bounds, or the class
            raises an InputError for the values.
        UnknownNameError: a key or a choice does not exist.
    """
    hashable_kind: Any = kind  # mypy does not know that a type variable's class is hashable
    entries = _schema_entries(hashable_kind, degrees, frozenset({*values, *default_fields}))
    required = [entry.key for entry in entries.values() if entry.required]
    optional = [entry.key for entry in entries.values() if not entry.required]
    nodes = node.fields(required=required, optional=[*optional, *extra_keys])
    read_values = {
        name: entry.read(nodes[entry.key]) for name, entry in entries.items() if entry.key in nodes
    }
    with node.locate_errors():
        return kind(**(read_values | values))


@cache
def _schema_entries(kind: type, degrees: bool, excluded: frozenset[str]) -> Mapping[str, _SchemaEntry]:
    """Return the entries of a dataclass's fields by field name, without the excluded fields."""
    hints = get_type_hints(kind, include_extras=True)
    entries: dict[str, _SchemaEntry] = {}
    for dataclass_field in fields(kind):
        name = dataclass_field.name
        if dataclass_field.init and name not in excluded:
            entries[name] = _build_entry(dataclass_field, hints[name], degrees)
    return entries


def _build_entry(dataclass_field: Field[object], hint: object, degrees: bool) -> _SchemaEntry:
    """Return how a field of a dataclass is read: its key, whether it is required, and its reader."""
    key = dataclass_field.name
    rules = _NumberRules(degrees)
    for ending, (document_ending, factor) in _DOCUMENT_UNITS.items():
        if degrees and key.endswith(ending):
            key = key.removesuffix(ending) + document_ending
            rules = _NumberRules(degrees, factor)
    has_default = dataclass_field.default is not MISSING or dataclass_field.default_factory is not MISSING
    return _SchemaEntry(key, required=not has_default, read=_build_reader(key, hint, rules))


def _build_reader(  # noqa: PLR0911 -- a case for each type
    key: str, hint: object, rules: _NumberRules
) -> Callable[[Node], object]:
    """Return the function that reads a value of the hinted type.

    Args:
        key: the key in documents, for messages.
        hint: the type of a field, or a part of it such as the type of a tuple's elements.
        rules: the unit and bounds of numbers in it.

    Raises:
        TypeError: documents have no notation for the type.
    """
    origin = get_origin(hint)
    arguments = get_args(hint)
    if origin is Annotated:
        for annotation in arguments[1:]:
            if isinstance(annotation, FieldReader):
                return annotation.read
            if isinstance(annotation, Bounds):
                rules = replace(rules, bounds=annotation)
        return _build_reader(key, arguments[0], rules)
    if origin in (Union, types.UnionType):
        types_but_none = [argument for argument in arguments if argument is not type(None)]
        if len(types_but_none) == 1:
            read = _build_reader(key, types_but_none[0], rules)
            return lambda node: None if node.value is None else read(node)
    if origin is tuple and arguments[-1] is Ellipsis:  # tuple[float, ...]
        return partial(_read_sequence, _build_reader(key, arguments[0], rules))
    if origin is tuple:
        return partial(_read_tuple, [_build_reader(key, argument, rules) for argument in arguments])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        read_value = _build_reader(key, arguments[1], rules)
        return lambda node: {name: read_value(entry) for name, entry in node.fields().items()}
    if isinstance(hint, type):
        return _build_class_reader(key, hint, rules)
    raise TypeError(f"{key}: documents have no notation for a {hint}")


def _build_class_reader(key: str, kind: type, rules: _NumberRules) -> Callable[[Node], object]:
    """Return the function that reads a number, boolean, text, enum or dataclass.

    Args:
        key: the key in documents, for messages.
        kind: the type of the value.
        rules: the unit and bounds of a number.

    Raises:
        TypeError: documents have no notation for the type.
    """
    factor = rules.factor
    bounds = (rules.bounds.low, rules.bounds.high)
    # in the document's unit, without the digits that the division adds: 90, not 90.00000000000001
    low, high = (None if bound is None else round(bound / factor, 9) for bound in bounds)
    if issubclass(kind, Enum):
        choices = [member.value for member in kind]
        return lambda node: kind(node.choice(key.replace("_", " "), choices))
    if kind is float:
        return lambda node: node.number(low=low, high=high) * factor
    if kind is int:
        int_low, int_high = (None if bound is None else int(bound) for bound in (low, high))
        return lambda node: node.integer(low=int_low, high=int_high)
    if kind is bool:
        return Node.boolean
    if kind is str:
        return Node.text
    if is_dataclass(kind):
        return lambda node: read_record(node, kind, degrees=rules.degrees)
    raise TypeError(f"{key}: documents have no notation for a {kind.__name__}")


def _read_sequence(read: Callable[[Node], object], node: Node) -> tuple[object, ...]:
    return tuple(read(element) for element in node.items())


def _read_tuple(readers: Collection[Callable[[Node], object]], node: Node) -> tuple[object, ...]:
    elements = node.items()
    if len(elements) != len(readers):
        node.fail(f"expected a list of {len(readers)}, found {len(elements)}")
    return tuple(read(element) for read, element in zip(readers, elements, strict=True))
