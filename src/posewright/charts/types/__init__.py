"""Types: what a value of a chart may be, and units."""

from __future__ import annotations

from posewright.charts.types.datatypes import (
    INT_HIGH,
    INT_LOW,
    INT_RANGES,
    SINGLE_MAX,
    BoolType,
    EnumType,
    FloatType,
    IntType,
    Numeric,
    Type,
    Value,
    accept,
    show,
    to_single,
    type_of,
)
from posewright.charts.types.quantities import (
    UNITS,
    conversion,
    exactly,
    parse_quantity,
    parse_value,
    unit_hint,
    unit_of,
)

__all__ = [
    "INT_HIGH",
    "INT_LOW",
    "INT_RANGES",
    "SINGLE_MAX",
    "UNITS",
    "BoolType",
    "EnumType",
    "FloatType",
    "IntType",
    "Numeric",
    "Type",
    "Value",
    "accept",
    "conversion",
    "exactly",
    "parse_quantity",
    "parse_value",
    "show",
    "to_single",
    "type_of",
    "unit_hint",
    "unit_of",
]
